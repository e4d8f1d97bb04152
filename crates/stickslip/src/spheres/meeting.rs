//! Which spheres are near each other: cells of a grid, sorted.

use super::Ball;
use nalgebra::Vector3;

/// Room to look for pairs.
#[derive(Clone)]
pub(super) struct Meeting {
    diameter: f64,
    /// Cell and number of every sphere, sorted by cell.
    cells: Vec<([i64; 3], u32)>,
}

/// A pair that overlaps by less than this part of the diameter only touches by rounding.
const ROUNDING: f64 = 1e-12;

impl Meeting {
    pub(super) fn new(count: usize, diameter: f64) -> Self {
        Meeting {
            diameter,
            cells: Vec::with_capacity(count),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<([i64; 3], u32)>() * self.cells.capacity()
    }

    /// Smallest distance of two surfaces, or one diameter if it is larger. Two spheres that overlap are an error.
    pub(super) fn closest(&mut self, balls: &[Ball]) -> Result<f64, (usize, usize)> {
        // Centres of surfaces that are within a diameter of each other are in the same cell or in one beside it.
        let width = 2.0 * self.diameter;
        let cell = |position: &Vector3<f64>| [0, 1, 2].map(|i| (position[i] / width).floor() as i64);
        self.cells.clear();
        let numbered = balls.iter().zip(0..);
        self.cells.extend(numbered.map(|(ball, i)| (cell(&ball.position), i)));
        self.cells.sort_unstable();
        let mut apart = self.diameter;
        for (place, &(here, i)) in self.cells.iter().enumerate() {
            let mut look = |others: &[([i64; 3], u32)]| {
                for &(_, j) in others {
                    let between = (balls[i as usize].position - balls[j as usize].position).norm() - self.diameter;
                    if between < -ROUNDING * self.diameter {
                        return Err((i.min(j) as usize, i.max(j) as usize));
                    }
                    apart = apart.min(between.max(0.0));
                }
                Ok(())
            };
            // The rest of its own cell and of the one above, then the cells beside that come later in the order.
            let up_to =
                |first: usize, last: [i64; 3]| first + self.cells[first..].partition_point(|(cell, _)| *cell <= last);
            let [x, y, z] = here;
            look(&self.cells[place + 1..up_to(place + 1, [x, y, z.saturating_add(1)])])?;
            for (dx, dy) in [(0, 1), (1, -1), (1, 0), (1, 1)] {
                let (x, y) = (x.saturating_add(dx), y.saturating_add(dy));
                let low = self
                    .cells
                    .partition_point(|(cell, _)| *cell < [x, y, z.saturating_sub(1)]);
                look(&self.cells[low..up_to(low, [x, y, z.saturating_add(1)])])?;
            }
        }
        Ok(apart)
    }
}
