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

    /// y += H·x.
    pub fn multiply_add(&self, matrix: &[f64], x: &[f64], y: &mut [f64]) {
        for (k, &pivot) in self.order.iter().enumerate() {
            let (size, start) = (self.sizes[pivot], self.starts[pivot]);
            add_product(
                &matrix[self.diagonal[pivot]..],
                size,
                size,
                &x[start..],
                &mut y[start..],
            );
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
    /// Triangular factors, not inverses: where a stiff law makes H badly conditioned, their error stays in the soft directions.
    pub fn factor(&self, matrix: &mut [f64], pivots: &mut [u32]) -> bool {
        for (k, &pivot) in self.order.iter().enumerate() {
            let (size, start) = (self.sizes[pivot], self.starts[pivot]);
            let at = self.diagonal[pivot];
            let exchanges = &mut pivots[start..start + size];
            if !factor_block(&mut matrix[at..at + size * size], size, exchanges) {
                return false;
            }
            let later = &self.later[self.neighbours[k].clone()];
            let mut fill = self.first_fill[k];
            for row in later {
                let rows = self.sizes[row.block];
                // L = H_ik·H_kk⁻¹, in place of H_ik; off-diagonal blocks are stored behind the diagonal.
                let (diagonal, others) = matrix.split_at_mut(self.behind);
                let block = &diagonal[at..at + size * size];
                for line in others[row.lower - self.behind..][..rows * size].chunks_exact_mut(size) {
                    divide_row(block, size, exchanges, line);
                }
                for column in later {
                    let columns = self.sizes[column.block];
                    subtract_product(matrix, self.fills[fill], row.lower, column.upper, [rows, size, columns]);
                    fill += 1;
                }
            }
        }
        true
    }

    /// x = H⁻¹·x with the factors of H.
    pub fn solve(&self, factors: &[f64], pivots: &[u32], x: &mut [f64]) {
        for (k, &pivot) in self.order.iter().enumerate() {
            let (size, start) = (self.sizes[pivot], self.starts[pivot]);
            for later in &self.later[self.neighbours[k].clone()] {
                let (other, begin) = (self.sizes[later.block], self.starts[later.block]);
                for i in 0..other {
                    let row = &factors[later.lower + i * size..later.lower + (i + 1) * size];
                    let sum: f64 = row.iter().zip(&x[start..start + size]).map(|(a, b)| a * b).sum();
                    x[begin + i] -= sum;
                }
            }
        }
        for (k, &pivot) in self.order.iter().enumerate().rev() {
            let (size, start) = (self.sizes[pivot], self.starts[pivot]);
            for later in &self.later[self.neighbours[k].clone()] {
                let (other, begin) = (self.sizes[later.block], self.starts[later.block]);
                for i in 0..size {
                    let row = &factors[later.upper + i * other..later.upper + (i + 1) * other];
                    let sum: f64 = row.iter().zip(&x[begin..begin + other]).map(|(a, b)| a * b).sum();
                    x[start + i] -= sum;
                }
            }
            let at = self.diagonal[pivot];
            let (block, exchanges) = (&factors[at..at + size * size], &pivots[start..start + size]);
            divide(block, size, exchanges, &mut x[start..start + size]);
        }
    }

    /// Inverts every diagonal block for itself, in a room for one block and a column; false if one has no inverse.
    pub fn invert_diagonal(&self, matrix: &[f64], inverses: &mut [f64], room: &mut [f64], pivots: &mut [u32]) -> bool {
        (0..self.blocks()).all(|block| {
            let (size, at) = (self.sizes[block], self.diagonal[block]);
            let (factors, column) = room.split_at_mut(size * size);
            let (column, exchanges) = (&mut column[..size], &mut pivots[..size]);
            factors.copy_from_slice(&matrix[at..at + size * size]);
            if !factor_block(factors, size, exchanges) {
                return false;
            }
            for j in 0..size {
                column.fill(0.0);
                column[j] = 1.0;
                divide(factors, size, exchanges, column);
                for i in 0..size {
                    inverses[at + i * size + j] = column[i];
                }
            }
            true
        })
    }
}

/// y += A·x with A of rows × columns.
fn add_product(a: &[f64], rows: usize, columns: usize, x: &[f64], y: &mut [f64]) {
    for (i, y) in y[..rows].iter_mut().enumerate() {
        let row = &a[i * columns..(i + 1) * columns];
        *y += row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    }
}

/// L·U of a block in place with exchange of rows; false if it is singular or holds no number.
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

/// x = x·H⁻¹ for one block and a row x.
fn divide_row(block: &[f64], size: usize, exchanges: &[u32], x: &mut [f64]) {
    match size {
        1 => x[0] /= block[0],
        3 => divide_line(block, 3, exchanges, x),
        6 => divide_line(block, 6, exchanges, x),
        _ => divide_line(block, size, exchanges, x),
    }
}

#[inline(always)]
fn divide_line(block: &[f64], n: usize, exchanges: &[u32], x: &mut [f64]) {
    let (block, x) = (&block[..n * n], &mut x[..n]);
    // y·U = x, then z·L = y, then the exchanges from the last to the first.
    for i in 0..n {
        x[i] /= block[i * n + i];
        let value = x[i];
        for j in i + 1..n {
            x[j] -= value * block[i * n + j];
        }
    }
    for i in (1..n).rev() {
        let value = x[i];
        for j in 0..i {
            x[j] -= value * block[i * n + j];
        }
    }
    for k in (0..n).rev() {
        x.swap(k, exchanges[k] as usize);
    }
}

/// C −= A·B for blocks of one matrix, A being rows × inner and B inner × columns.
#[inline(always)]
fn subtract_product(matrix: &mut [f64], c: usize, a: usize, b: usize, sizes: [usize; 3]) {
    match sizes {
        [1, 1, 1] => matrix[c] -= matrix[a] * matrix[b],
        [3, 3, 3] => subtract_fixed::<3>(matrix, c, a, b),
        [6, 6, 6] => subtract_fixed::<6>(matrix, c, a, b),
        [rows, inner, columns] => {
            for i in 0..rows {
                for l in 0..inner {
                    let factor = matrix[a + i * inner + l];
                    for j in 0..columns {
                        matrix[c + i * columns + j] -= factor * matrix[b + l * columns + j];
                    }
                }
            }
        }
    }
}

fn subtract_fixed<const N: usize>(matrix: &mut [f64], c: usize, a: usize, b: usize) {
    let block = |at: usize| -> [[f64; N]; N] {
        let stored = &matrix[at..at + N * N];
        std::array::from_fn(|i| std::array::from_fn(|j| stored[i * N + j]))
    };
    let (left, right, mut sum) = (block(a), block(b), block(c));
    for i in 0..N {
        for l in 0..N {
            for j in 0..N {
                sum[i][j] -= left[i][l] * right[l][j];
            }
        }
    }
    let stored = &mut matrix[c..c + N * N];
    for i in 0..N {
        stored[i * N..(i + 1) * N].copy_from_slice(&sum[i]);
    }
}
