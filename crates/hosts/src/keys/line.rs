//! Lines between points.

/// Returns the value at `x` of the lines between two or more `points`, whose x ascends. The first and the last line
/// continue beyond the ends.
pub(crate) fn line_through(points: &[(f64, f64)], x: f64) -> f64 {
    let place = points.partition_point(|&(known, _)| known <= x).clamp(1, points.len() - 1);
    let ((x0, y0), (x1, y1)) = (points[place - 1], points[place]);
    y0 + (x - x0) / (x1 - x0) * (y1 - y0)
}
