//! Matrices of blocks on a fixed pattern: one block row and column for each body of an island.
//!
//! Bodies that influence each other directly share a block; eliminating a body joins its neighbours. The order of elimination (always the
//! body with the fewest neighbours left) and every block that it fills are found once. Rows and lines of bodies fill nothing, so that a
//! factorisation costs as much as the island has bodies.
//!
//! H = L·U block by block: pivots are chosen inside a block only, which suffices for the matrices of the implicit step, whose symmetric
//! part is positive definite but for laws that fall with velocity.

// Formulas with several arrays read best with one index.
#![allow(clippy::needless_range_loop)]

use multiversion::multiversion;
use std::collections::{BTreeMap, BTreeSet};

/// Which blocks a matrix has, where they are stored, and the order of elimination.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// Rows of each block.
    sizes: Vec<usize>,
    /// First row of each block in a vector.
    starts: Vec<usize>,
    /// The blocks in the order of elimination.
    order: Vec<usize>,
    /// Where the diagonal blocks are stored.
    diagonal: Vec<usize>,
    /// For each place in the order: its range in `later`.
    neighbours: Vec<std::ops::Range<usize>>,
    later: Vec<Later>,
    /// For each pair of later neighbours of a block, in order: where their own block is stored.
    fills: Vec<usize>,
    /// First fill of each place in the order.
    first_fill: Vec<usize>,
    /// Where block (row, column) is stored, for those off the diagonal.
    places: BTreeMap<(usize, usize), usize>,
    /// Number of rows, and of stored numbers.
    rows: usize,
    stored: usize,
    largest: usize,
    /// Where the blocks off the diagonal begin.
    behind: usize,
}

/// A neighbour that is eliminated later.
#[derive(Clone, Copy, Debug)]
struct Later {
    block: usize,
    /// Where block (neighbour, pivot) and block (pivot, neighbour) are stored.
    lower: usize,
    upper: usize,
}

impl Pattern {
    /// For blocks of these sizes, of which these pairs influence each other.
    pub fn new(sizes: &[usize], pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let count = sizes.len();
        let mut around: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count];
        for (a, b) in pairs {
            if a != b {
                around[a].insert(b);
                around[b].insert(a);
            }
        }
        let mut pattern = Pattern {
            sizes: sizes.to_vec(),
            largest: sizes.iter().copied().max().unwrap_or(0),
            ..Pattern::default()
        };
        for &size in sizes {
            pattern.starts.push(pattern.rows);
            pattern.rows += size;
            pattern.diagonal.push(pattern.stored);
            pattern.stored += size * size;
        }
        pattern.behind = pattern.stored;
        // Fewest neighbours first; of equals the first, so that the order depends on the scene alone.
        let mut waiting: BTreeSet<(usize, usize)> = (0..count).map(|block| (around[block].len(), block)).collect();
        let mut joined = Vec::with_capacity(count);
        while let Some((_, pivot)) = waiting.pop_first() {
            let others: Vec<usize> = std::mem::take(&mut around[pivot]).into_iter().collect();
            for &a in &others {
                waiting.remove(&(around[a].len(), a));
                around[a].remove(&pivot);
                around[a].extend(others.iter().copied().filter(|&b| b != a));
                waiting.insert((around[a].len(), a));
            }
            pattern.order.push(pivot);
            joined.push(others);
        }
        for (&pivot, others) in pattern.order.iter().zip(&joined) {
            for &other in others {
                for place in [(other, pivot), (pivot, other)] {
                    pattern.places.insert(place, pattern.stored);
                    pattern.stored += sizes[pivot] * sizes[other];
                }
            }
        }
        for (&pivot, others) in pattern.order.iter().zip(&joined) {
            let first = pattern.later.len();
            pattern.first_fill.push(pattern.fills.len());
            for &block in others {
                pattern.later.push(Later {
                    block,
                    lower: pattern.places[&(block, pivot)],
                    upper: pattern.places[&(pivot, block)],
                });
                for &column in others {
                    let place = pattern.place(block, column);
                    pattern.fills.push(place.unwrap_or(usize::MAX));
                }
            }
            pattern.neighbours.push(first..pattern.later.len());
        }
        pattern
    }

    /// Number of blocks on the diagonal.
    pub fn blocks(&self) -> usize {
        self.sizes.len()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many numbers a matrix of this pattern stores.
    pub fn stored(&self) -> usize {
        self.stored
    }

    /// How many of them stand in the blocks on the diagonal, which come first.
    pub fn diagonal(&self) -> usize {
        self.behind
    }

    /// Rows of a block.
    pub fn size(&self, block: usize) -> usize {
        self.sizes[block]
    }

    /// First row of a block in a vector.
    pub fn start(&self, block: usize) -> usize {
        self.starts[block]
    }

    /// Where block (row, column) is stored, row by row.
    pub fn place(&self, row: usize, column: usize) -> Option<usize> {
        if row == column {
            return self.diagonal.get(row).copied();
        }
        self.places.get(&(row, column)).copied()
    }

    /// y += H·x, where H joins bodies or has diagonal blocks only.
    pub fn multiply_add(&self, matrix: &[f64], joined: bool, x: &[f64], y: &mut [f64]) {
        for ((&size, &start), &at) in self.sizes.iter().zip(&self.starts).zip(&self.diagonal) {
            match size {
                1 => y[start] += matrix[at] * x[start],
                6 => add_product(
                    &matrix[at..at + 36],
                    6,
                    6,
                    &x[start..start + 6],
                    &mut y[start..start + 6],
                ),
                _ => add_product(&matrix[at..], size, size, &x[start..], &mut y[start..]),
            }
        }
        if !joined {
            return;
        }
        for (k, &pivot) in self.order.iter().enumerate() {
            let (size, start) = (self.sizes[pivot], self.starts[pivot]);
            for later in &self.later[self.neighbours[k].clone()] {
                let (other, begin) = (self.sizes[later.block], self.starts[later.block]);
                add_product(&matrix[later.lower..], other, size, &x[start..], &mut y[begin..]);
                add_product(&matrix[later.upper..], size, other, &x[begin..], &mut y[start..]);
            }
        }
    }

    /// Rows of the largest block.
    pub fn largest(&self) -> usize {
        self.largest
    }

    /// Factors a matrix in place; `pivots` receives the exchanges of rows, one for each row. False if a pivot is zero or no number.
    ///
    /// Blocks right of the diagonal become H_kk⁻¹·H_kj, those below stay as they are. Triangular factors, not inverses: where a stiff law makes H badly
    /// conditioned, their error stays in the soft directions.
    #[inline(always)]
    pub fn factor(&self, matrix: &mut [f64], pivots: &mut [u32]) -> bool {
        let (diagonal, others) = matrix.split_at_mut(self.behind);
        for (k, &pivot) in self.order.iter().enumerate() {
            let (size, start) = (self.sizes[pivot], self.starts[pivot]);
            let at = self.diagonal[pivot];
            let exchanges = &mut pivots[start..start + size];
            let block = &mut diagonal[at..at + size * size];
            if !factor_block(block, size, exchanges) {
                return false;
            }
            let later = &self.later[self.neighbours[k].clone()];
            let mut fill = self.first_fill[k];
            for column in later {
                let columns = self.sizes[column.block];
                let upper = &mut others[column.upper - self.behind..][..size * columns];
                divide_columns(block, size, exchanges, upper, columns);
            }
            for row in later {
                let rows = self.sizes[row.block];
                for column in later {
                    let sizes = [rows, size, self.sizes[column.block]];
                    let (lower, upper) = (row.lower - self.behind, column.upper - self.behind);
                    let place = self.fills[fill];
                    match place.checked_sub(self.behind) {
                        Some(place) => subtract_inside(others, place, lower, upper, sizes),
                        None => subtract_product(&mut diagonal[place..], &others[lower..], &others[upper..], sizes),
                    }
                    fill += 1;
                }
            }
        }
        true
    }

    /// x = H⁻¹·x with the factors of H.
    pub fn solve(&self, factors: &[f64], pivots: &[u32], x: &mut [f64]) {
        solve_with(self, factors, pivots, x);
    }

    #[inline(always)]
    fn solve_here(&self, factors: &[f64], pivots: &[u32], x: &mut [f64]) {
        for (k, &pivot) in self.order.iter().enumerate() {
            let (size, start) = (self.sizes[pivot], self.starts[pivot]);
            let at = self.diagonal[pivot];
            let (block, exchanges) = (&factors[at..at + size * size], &pivots[start..start + size]);
            divide(block, size, exchanges, &mut x[start..start + size]);
            for later in &self.later[self.neighbours[k].clone()] {
                subtract_from(
                    x,
                    self.starts[later.block],
                    &factors[later.lower..],
                    start,
                    [self.sizes[later.block], size],
                );
            }
        }
        for (k, &pivot) in self.order.iter().enumerate().rev() {
            let (size, start) = (self.sizes[pivot], self.starts[pivot]);
            for later in &self.later[self.neighbours[k].clone()] {
                subtract_from(
                    x,
                    start,
                    &factors[later.upper..],
                    self.starts[later.block],
                    [size, self.sizes[later.block]],
                );
            }
        }
    }

    /// Factors every diagonal block for itself: L·D·Lᵀ with L below the diagonal, 1/D on it and D·Lᵀ above. False if one is not positive definite.
    pub fn factor_diagonal(&self, matrix: &[f64], factors: &mut [f64]) -> bool {
        factors[..self.behind].copy_from_slice(&matrix[..self.behind]);
        self.sizes
            .iter()
            .zip(&self.diagonal)
            .all(|(&size, &at)| factor_definite(&mut factors[at..at + size * size], size))
    }

    /// x = A⁻¹·x for one body alone, with the factors of [`Pattern::factor_diagonal`].
    pub fn divide_diagonal(&self, factors: &[f64], body: usize, x: &mut [f64]) {
        let (n, at) = (self.sizes[body], self.diagonal[body]);
        let a = &factors[at..at + n * n];
        match n {
            1 => x[0] *= a[0],
            6 => divide_definite(a, 6, x),
            _ => divide_definite(a, n, x),
        }
    }
}

impl Pattern {
    /// J·A⁻¹·Jᵀ of one body for `rows` lines of J, which begin at its velocity `first`; the lower triangle. `room` holds three vectors of the body, at least.
    pub fn compliance(
        &self,
        factors: &[f64],
        (body, first): (usize, usize),
        rows: usize,
        lines: &[f64],
        room: &mut [f64],
    ) -> [[f64; 3]; 3] {
        let (n, at) = (self.sizes[body], self.diagonal[body]);
        let (a, len) = (&factors[at..at + n * n], lines.len() / rows);
        let mut product = [[0.0; 3]; 3];
        if n == 1 {
            for k in 0..rows {
                for l in 0..=k {
                    product[k][l] = lines[k] * (a[0] * lines[l]);
                }
            }
            return product;
        }
        if (n, len) == (6, 6) {
            let mut reached = [[0.0; 6]; 3];
            for k in 0..rows {
                reached[k].copy_from_slice(&lines[k * 6..(k + 1) * 6]);
                reach(a, 6, 0, &mut reached[k]);
            }
            for k in 0..rows {
                for l in 0..=k {
                    product[k][l] = (0..6).map(|i| reached[k][i] * a[i * 7] * reached[l][i]).sum();
                }
            }
            return product;
        }
        for k in 0..rows {
            let reached = &mut room[k * n..(k + 1) * n];
            reached.fill(0.0);
            reached[first..first + len].copy_from_slice(&lines[k * len..(k + 1) * len]);
            reach(a, n, first, reached);
        }
        for k in 0..rows {
            for l in 0..=k {
                product[k][l] = (first..n)
                    .map(|i| room[k * n + i] * a[i * (n + 1)] * room[l * n + i])
                    .sum();
            }
        }
        product
    }
}

/// x = L⁻¹·x for an x that is zero before `first`.
#[inline(always)]
fn reach(a: &[f64], n: usize, first: usize, x: &mut [f64]) {
    let (a, x) = (&a[..n * n], &mut x[..n]);
    for i in first + 1..n {
        let sum: f64 = (first..i).map(|j| a[i * n + j] * x[j]).sum();
        x[i] -= sum;
    }
}

/// See [`Pattern::solve`].
#[multiversion(targets("x86_64+avx2"))]
fn solve_with(pattern: &Pattern, factors: &[f64], pivots: &[u32], x: &mut [f64]) {
    pattern.solve_here(factors, pivots, x);
}

/// See [`Pattern::factor_diagonal`].
#[multiversion(targets("x86_64+avx2"))]
fn factor_definite(a: &mut [f64], n: usize) -> bool {
    match n {
        1 => invert_pivot(&mut a[0]),
        3 => eliminate(a, 3),
        6 => eliminate(a, 6),
        _ => eliminate(a, n),
    }
}

/// Replaces a pivot by its inverse; false if it is not positive.
#[inline(always)]
fn invert_pivot(pivot: &mut f64) -> bool {
    let positive = *pivot > 0.0 && pivot.is_finite();
    *pivot = 1.0 / *pivot;
    positive
}

#[inline(always)]
fn eliminate(a: &mut [f64], n: usize) -> bool {
    let a = &mut a[..n * n];
    for k in 0..n {
        if !invert_pivot(&mut a[k * n + k]) {
            return false;
        }
        let inverse = a[k * n + k];
        let (above, below) = a.split_at_mut((k + 1) * n);
        let line = &above[k * n..];
        for row in below.chunks_exact_mut(n) {
            let factor = row[k] * inverse;
            row[k] = factor;
            for j in k + 1..n {
                row[j] -= factor * line[j];
            }
        }
    }
    true
}

#[inline(always)]
fn divide_definite(a: &[f64], n: usize, x: &mut [f64]) {
    let (a, x) = (&a[..n * n], &mut x[..n]);
    for i in 1..n {
        let sum: f64 = (0..i).map(|j| a[i * n + j] * x[j]).sum();
        x[i] -= sum;
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|j| a[i * n + j] * x[j]).sum();
        x[i] = (x[i] - sum) * a[i * n + i];
    }
}

/// x[to..] −= A·x[from..] with A of rows × columns.
#[inline(always)]
fn subtract_from(x: &mut [f64], to: usize, a: &[f64], from: usize, [rows, columns]: [usize; 2]) {
    match (rows, columns) {
        (1, 1) => x[to] -= a[0] * x[from],
        (6, 6) => {
            let (given, a): (&[f64; 6], &[f64; 36]) = match (x[from..from + 6].first_chunk(), a.first_chunk()) {
                (Some(given), Some(a)) => (given, a),
                _ => return,
            };
            let given = *given;
            for (i, entry) in x[to..to + 6].iter_mut().enumerate() {
                let mut sum = 0.0;
                for j in 0..6 {
                    sum += a[i * 6 + j] * given[j];
                }
                *entry -= sum;
            }
        }
        _ => {
            for i in 0..rows {
                let row = &a[i * columns..(i + 1) * columns];
                let sum: f64 = row.iter().zip(&x[from..from + columns]).map(|(a, b)| a * b).sum();
                x[to + i] -= sum;
            }
        }
    }
}

/// y += A·x with A of rows × columns.
#[inline(always)]
fn add_product(a: &[f64], rows: usize, columns: usize, x: &[f64], y: &mut [f64]) {
    for (i, y) in y[..rows].iter_mut().enumerate() {
        let row = &a[i * columns..(i + 1) * columns];
        *y += row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    }
}

/// L·U of a block in place with exchange of rows; false if it is singular or holds no number.
#[inline(always)]
fn factor_block(a: &mut [f64], size: usize, exchanges: &mut [u32]) -> bool {
    // The sizes that are common are known to the compiler.
    match size {
        1 => a[0] != 0.0 && a[0].is_finite(),
        3 => factor_rows(a, 3, exchanges),
        6 => factor_rows(a, 6, exchanges),
        _ => factor_rows(a, size, exchanges),
    }
}

#[inline(always)]
fn factor_rows(a: &mut [f64], n: usize, exchanges: &mut [u32]) -> bool {
    let (a, exchanges) = (&mut a[..n * n], &mut exchanges[..n]);
    for k in 0..n {
        let mut best = k;
        for i in k + 1..n {
            if a[i * n + k].abs() > a[best * n + k].abs() {
                best = i;
            }
        }
        exchanges[k] = best as u32;
        if best != k {
            for j in 0..n {
                a.swap(k * n + j, best * n + j);
            }
        }
        let pivot = a[k * n + k];
        if !(pivot.abs() > 0.0 && pivot.is_finite()) {
            return false;
        }
        let inverse = 1.0 / pivot;
        let (above, below) = a.split_at_mut((k + 1) * n);
        let line = &above[k * n..];
        for row in below.chunks_exact_mut(n) {
            let factor = row[k] * inverse;
            row[k] = factor;
            if factor != 0.0 {
                for j in k + 1..n {
                    row[j] -= factor * line[j];
                }
            }
        }
    }
    true
}

/// x = H⁻¹·x for one block.
#[inline(always)]
fn divide(block: &[f64], size: usize, exchanges: &[u32], x: &mut [f64]) {
    match size {
        1 => x[0] /= block[0],
        3 => divide_column(block, 3, exchanges, x),
        6 => divide_column(block, 6, exchanges, x),
        _ => divide_column(block, size, exchanges, x),
    }
}

#[inline(always)]
fn divide_column(block: &[f64], n: usize, exchanges: &[u32], x: &mut [f64]) {
    let (block, x) = (&block[..n * n], &mut x[..n]);
    for k in 0..n {
        x.swap(k, exchanges[k] as usize);
    }
    for i in 1..n {
        let sum: f64 = (0..i).map(|j| block[i * n + j] * x[j]).sum();
        x[i] -= sum;
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|j| block[i * n + j] * x[j]).sum();
        x[i] = (x[i] - sum) / block[i * n + i];
    }
}

/// B = H⁻¹·B for one block and a matrix of so many columns.
#[inline(always)]
fn divide_columns(block: &[f64], size: usize, exchanges: &[u32], b: &mut [f64], columns: usize) {
    match (size, columns) {
        (1, 1) => b[0] /= block[0],
        (3, 3) => divide_lines(block, 3, exchanges, b, 3),
        (6, 6) => divide_lines(block, 6, exchanges, b, 6),
        _ => divide_lines(block, size, exchanges, b, columns),
    }
}

#[inline(always)]
fn divide_lines(block: &[f64], n: usize, exchanges: &[u32], b: &mut [f64], columns: usize) {
    let (block, exchanges, b) = (&block[..n * n], &exchanges[..n], &mut b[..n * columns]);
    for k in 0..n {
        let other = exchanges[k] as usize;
        if other != k {
            for j in 0..columns {
                b.swap(k * columns + j, other * columns + j);
            }
        }
    }
    for i in 1..n {
        let (done, rest) = b.split_at_mut(i * columns);
        let line = &mut rest[..columns];
        for k in 0..i {
            let factor = block[i * n + k];
            for j in 0..columns {
                line[j] -= factor * done[k * columns + j];
            }
        }
    }
    for i in (0..n).rev() {
        let (above, done) = b.split_at_mut((i + 1) * columns);
        let line = &mut above[i * columns..];
        for k in i + 1..n {
            let factor = block[i * n + k];
            for j in 0..columns {
                line[j] -= factor * done[(k - i - 1) * columns + j];
            }
        }
        let inverse = 1.0 / block[i * n + i];
        for j in 0..columns {
            line[j] *= inverse;
        }
    }
}

/// C −= A·B for blocks of one matrix, none of which is another.
#[inline(always)]
fn subtract_inside(matrix: &mut [f64], c: usize, a: usize, b: usize, sizes: [usize; 3]) {
    let length = sizes[0] * sizes[2];
    // What is eliminated first is stored first: C belongs to a later pivot than A and B.
    let (before, rest) = matrix.split_at_mut(c);
    subtract_product(&mut rest[..length], &before[a..], &before[b..], sizes);
}

/// C −= A·B, A being rows × inner and B inner × columns.
#[inline(always)]
fn subtract_product(c: &mut [f64], a: &[f64], b: &[f64], sizes: [usize; 3]) {
    match sizes {
        [1, 1, 1] => c[0] -= a[0] * b[0],
        [3, 3, 3] => subtract_sized(c, a, b, [3; 3]),
        [6, 6, 6] => subtract_sized(c, a, b, [6; 3]),
        _ => subtract_sized(c, a, b, sizes),
    }
}

#[inline(always)]
fn subtract_sized(c: &mut [f64], a: &[f64], b: &[f64], [rows, inner, columns]: [usize; 3]) {
    let (c, a, b) = (&mut c[..rows * columns], &a[..rows * inner], &b[..inner * columns]);
    for i in 0..rows {
        let line = &mut c[i * columns..(i + 1) * columns];
        for l in 0..inner {
            let factor = a[i * inner + l];
            for j in 0..columns {
                line[j] -= factor * b[l * columns + j];
            }
        }
    }
}
