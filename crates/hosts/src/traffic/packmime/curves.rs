//! The sizes of PackMime's requests and responses, as inverse distribution functions. The authors' generator in
//! ns-2.35 has 100 points per function. These curves have fewer points, and are nowhere more than 3 % off.

/// A line through points, which are pairs of x and y. The values of x ascend.
pub(in crate::traffic) type Curve = &'static [(f64, f64)];

/// Bytes of a response that only says that a cached copy is valid, as a function of the probability.
#[rustfmt::skip] // in columns
pub(in crate::traffic) const VALIDATION: Curve = &[
    (0.0, 4.6), (0.02, 40.8), (0.03, 53.0), (0.04, 61.5), (0.071, 69.7), (0.101, 74.8), (0.131, 93.6), (0.162, 104.6),
    (0.263, 120.5), (0.657, 157.3), (0.707, 172.7), (0.758, 200.6), (0.929, 261.5), (1.0, 272.2),
];
/// The binary logarithm of a download's bytes, as a function of minus the binary logarithm of the probability of more
/// bytes. Beyond the last point but one it is a Pareto tail (alpha 1.23).
#[rustfmt::skip] // in columns
pub(in crate::traffic) const DOWNLOAD: Curve = &[
    (0.0, 8.108), (0.369, 9.289), (0.736, 10.41), (1.10, 11.41), (1.29, 11.85), (1.65, 12.60), (1.84, 12.90), (2.02, 13.148),
    (2.21, 13.34), (2.94, 13.92), (3.67, 14.69), (4.04, 15.00), (4.22, 15.10), (5.14, 15.38), (5.69, 15.74), (18.18, 25.88),
];
/// Bytes of a request in the smaller half of the requests, as a function of the probability within that half.
#[rustfmt::skip] // in columns
pub(in crate::traffic) const REQUEST: Curve = &[
    (0.0, 51.0), (0.01, 94.0), (0.02, 123.0), (0.04, 169.0), (0.05, 184.0), (0.06, 194.0), (0.10, 218.0), (0.14, 253.0),
    (0.18, 274.0), (0.33, 318.0), (0.43, 340.0), (1.0, 421.8),
];
/// As [`DOWNLOAD`], for the larger half of the requests (tail alpha 1.48).
#[rustfmt::skip] // in columns
pub(in crate::traffic) const LARGE_REQUEST: Curve = &[
    (0.0, 8.73), (0.55, 8.83), (0.91, 8.96), (1.09, 9.05), (1.80, 9.55), (1.98, 9.65), (2.34, 9.77), (3.06, 9.93),
    (3.24, 10.01), (3.60, 10.21), (17.8, 19.76),
];
