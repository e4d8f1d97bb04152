//! Paths with fewer points that look the same: a picture needs no more points than pixels.

use crate::scene::{Point, Rect};

/// Columns per pixel: finer than a screen, so that a figure may be enlarged a little.
const COLUMNS_PER_PIXEL: f64 = 2.0;

/// Of each run of points in the same pixel column, keeps the first, the lowest, the highest and the last, in their order.
pub(crate) fn columns(points: &[Point]) -> Vec<Point> {
    let column = |p: &Point| libm::floor(p.0 * COLUMNS_PER_PIXEL);
    let mut kept = Vec::new();
    for run in points.chunk_by(|a, b| column(a) == column(b)) {
        let by_height = |a: &usize, b: &usize| run[*a].1.total_cmp(&run[*b].1);
        let lowest = (0..run.len()).min_by(by_height).unwrap_or(0);
        let highest = (0..run.len()).max_by(by_height).unwrap_or(0);
        let mut indices = [0, lowest, highest, run.len() - 1];
        indices.sort_unstable();
        for (i, index) in indices.iter().enumerate() {
            if i == 0 || indices[i - 1] != *index {
                kept.push(run[*index]);
            }
        }
    }
    kept
}

/// The part of the segment from a to b inside the rectangle (Liang and Barsky's parametric clipping).
fn clip_segment(a: Point, b: Point, rect: &Rect) -> Option<(Point, Point)> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (direction, distance) in [
        (-dx, a.0 - rect.x),
        (dx, rect.x + rect.width - a.0),
        (-dy, a.1 - rect.y),
        (dy, rect.y + rect.height - a.1),
    ] {
        if direction == 0.0 {
            if distance < 0.0 {
                return None;
            }
        } else if direction < 0.0 {
            enter = enter.max(distance / direction);
        } else {
            leave = leave.min(distance / direction);
        }
    }
    let at = |t: f64| match t {
        0.0 => a,
        1.0 => b,
        t => (a.0 + t * dx, a.1 + t * dy),
    };
    (enter <= leave).then(|| (at(enter), at(leave)))
}

/// The pieces of a path inside a rectangle.
pub(crate) fn clip(path: &[Point], rect: &Rect) -> Vec<Vec<Point>> {
    let mut pieces: Vec<Vec<Point>> = Vec::new();
    for pair in path.windows(2) {
        let Some((a, b)) = clip_segment(pair[0], pair[1], rect) else {
            continue;
        };
        match pieces.last_mut() {
            Some(piece) if piece.last() == Some(&a) => piece.push(b),
            _ => pieces.push(vec![a, b]),
        }
    }
    pieces
}

/// How far, in pixels, a straightened path may lie beside the given one: too little to be seen.
const TOLERANCE: f64 = 0.04;

/// Distance of p from the segment from a to b, squared.
fn distance_squared(p: Point, a: Point, b: Point) -> f64 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (px, py) = (p.0 - a.0, p.1 - a.1);
    let length_squared = dx * dx + dy * dy;
    let t = if length_squared > 0.0 {
        ((px * dx + py * dy) / length_squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let (ex, ey) = (px - t * dx, py - t * dy);
    ex * ex + ey * ey
}

/// Leaves out points that lie within the tolerance of the path without them (the method of Douglas and Peucker).
pub(crate) fn straighten(path: &[Point]) -> Vec<Point> {
    let mut kept = vec![false; path.len()];
    let mut pending = vec![(0, path.len().saturating_sub(1))];
    while let Some((first, last)) = pending.pop() {
        for end in [first, last] {
            if let Some(end) = kept.get_mut(end) {
                *end = true;
            }
        }
        let farthest = (first + 1..last)
            .map(|i| (i, distance_squared(path[i], path[first], path[last])))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((i, distance)) = farthest
            && distance > TOLERANCE * TOLERANCE
        {
            pending.extend([(first, i), (i, last)]);
        }
    }
    path.iter()
        .zip(kept)
        .filter_map(|(point, kept)| kept.then_some(*point))
        .collect()
}

/// The half pixels of a rectangle that something was drawn on.
pub(crate) struct Cover {
    columns: usize,
    cells: Vec<bool>,
}

impl Cover {
    pub fn new(width: f64, height: f64) -> Self {
        let columns = cell(width) + 1;
        Self {
            columns,
            cells: vec![false; columns * (cell(height) + 1)],
        }
    }

    /// Marks the place of a point; true if it was free.
    pub fn take(&mut self, (x, y): Point) -> bool {
        let index = cell(y) * self.columns + cell(x).min(self.columns - 1);
        match self.cells.get_mut(index) {
            Some(taken) if !*taken => {
                *taken = true;
                true
            }
            _ => false,
        }
    }

    /// The pieces of a path that touch a place which was free before: an orbit that runs over itself many times is
    /// drawn once.
    pub fn fresh(&mut self, path: &[Point]) -> Vec<Vec<Point>> {
        let mut pieces: Vec<Vec<Point>> = Vec::new();
        for pair in path.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let mut fresh = false;
            for point in sampled(a, b, 0.25) {
                fresh |= self.take(point);
            }
            if !fresh {
                continue;
            }
            match pieces.last_mut() {
                Some(piece) if piece.last() == Some(&a) => piece.push(b),
                _ => pieces.push(vec![a, b]),
            }
        }
        pieces
    }
}

fn cell(pixels: f64) -> usize {
    (2.0 * pixels.max(0.0)) as usize
}

/// Points of the segment from a to b, at most `spacing` apart.
pub(crate) fn sampled(a: Point, b: Point, spacing: f64) -> impl Iterator<Item = Point> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let steps = (libm::ceil(dx.abs().max(dy.abs()) / spacing) as u32).max(1);
    (0..=steps).map(move |i| {
        let t = f64::from(i) / f64::from(steps);
        (a.0 + t * dx, a.1 + t * dy)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn extremes(points: &[Point]) -> BTreeMap<i64, (f64, f64)> {
        let mut columns = BTreeMap::new();
        for (x, y) in points {
            let column = (x * COLUMNS_PER_PIXEL).floor() as i64;
            let entry = columns.entry(column).or_insert((*y, *y));
            *entry = (entry.0.min(*y), entry.1.max(*y));
        }
        columns
    }

    proptest! {
        #[test]
        fn every_column_keeps_its_extremes(
            heights in prop::collection::vec(-1e3_f64..1e3, 1..2000), width in 1.0_f64..200.0
        ) {
            let n = heights.len() as f64;
            let points: Vec<Point> = heights.iter().enumerate().map(|(i, y)| (i as f64 / n * width, *y)).collect();
            let kept = columns(&points);
            prop_assert_eq!(extremes(&kept), extremes(&points));
            prop_assert!(kept.len() <= 4 * (width * COLUMNS_PER_PIXEL + 1.0) as usize);
            prop_assert_eq!(kept.first(), points.first());
            prop_assert_eq!(kept.last(), points.last());
        }

        #[test]
        fn a_straightened_path_stays_in_place(
            path in prop::collection::vec((0.0_f64..3.0, 0.0_f64..0.5), 2..60)
        ) {
            let kept = straighten(&path);
            prop_assert_eq!((kept[0], kept[kept.len() - 1]), (path[0], path[path.len() - 1]));
            for point in &path {
                let nearest = kept.windows(2).map(|s| distance_squared(*point, s[0], s[1])).fold(f64::MAX, f64::min);
                prop_assert!(nearest.sqrt() <= TOLERANCE + 1e-12);
            }
        }

        #[test]
        fn clipped_points_lie_inside_and_on_the_path(
            path in prop::collection::vec((-50.0_f64..50.0, -50.0_f64..50.0), 2..40)
        ) {
            let rect = Rect { x: -10.0, y: -5.0, width: 30.0, height: 12.0 };
            let grown = Rect { x: -10.0 - 1e-9, y: -5.0 - 1e-9, width: 30.0 + 2e-9, height: 12.0 + 2e-9 };
            let pieces = clip(&path, &rect);
            prop_assert!(pieces.iter().flatten().all(|p| grown.contains(*p)));
            // A point of the path inside the rectangle is kept as it is.
            for point in path.iter().filter(|p| rect.contains(**p)) {
                prop_assert!(pieces.iter().flatten().any(|p| p == point));
            }
        }
    }

    #[test]
    fn a_segment_across_is_cut_at_the_border() {
        let rect = Rect {
            x: 0.0,
            y: 0.0,
            width: 10.0,
            height: 10.0,
        };
        assert_eq!(clip(&[(-5.0, 5.0), (15.0, 5.0)], &rect), [[(0.0, 5.0), (10.0, 5.0)]]);
        assert!(clip(&[(-5.0, -5.0), (15.0, -5.0)], &rect).is_empty());
    }

    #[test]
    fn plateaus_need_two_points() {
        let path: Vec<Point> = (0..100).map(|i| (f64::from(i), 3.0)).chain([(99.0, 8.0)]).collect();
        assert_eq!(straighten(&path), [(0.0, 3.0), (99.0, 3.0), (99.0, 8.0)]);
        // A reversal is no straight way.
        let spike = [(0.0, 0.0), (0.0, 9.0), (0.0, 1.0)];
        assert_eq!(straighten(&spike), spike);
    }

    #[test]
    fn a_repeated_orbit_is_drawn_once() {
        let orbit = [(1.0, 1.0), (50.0, 1.0), (50.0, 40.0), (1.0, 1.0)];
        let mut cover = Cover::new(60.0, 50.0);
        assert_eq!(cover.fresh(&orbit), [orbit]);
        assert!(cover.fresh(&orbit).is_empty());
    }
}
