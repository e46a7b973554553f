//! Numbers with long memory: the sum of a Gaussian fARIMA(0, d, 1) and white noise, and the normal draws that these
//! need.
//!
//! Hosking, "Modeling Persistence in Hydrological Time Series Using Fractional Differencing", Water Resources
//! Research 20(12), 1984: each value of a fARIMA(0, d, 0) is drawn given all values before it, so the first value has
//! the same distribution as any other. Once there are `terms` values, a draw looks back to only that many. The moving
//! average is the sum of two neighbours.

use goodqueue_units::Stream;
use std::collections::VecDeque;

/// A stream of standard normal numbers.
pub(super) struct Normal(pub(super) Stream);

impl Normal {
    /// Returns a draw by Box and Muller 1958. The second number of each pair is not used, so every draw takes two
    /// numbers of the stream.
    pub(super) fn draw(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.0.next_f64()));
        radius * libm::cos(core::f64::consts::TAU * self.0.next_f64())
    }

    /// Returns a gamma number of mean 1, for a shape of at least 1 (Marsaglia and Tsang 2000).
    pub(super) fn gamma(&mut self, shape: f64) -> f64 {
        let d = shape - 1.0 / 3.0;
        loop {
            let x = self.draw();
            let v = 1.0 + x / libm::sqrt(9.0 * d);
            let cube = v * v * v;
            let u = 1.0 - self.0.next_f64();
            if v > 0.0 && libm::log(u) < 0.5 * x * x + d - d * cube + d * libm::log(cube) {
                return d * cube / shape;
            }
        }
    }
}

/// Numbers of mean 0 and variance 1. The share `noise` of the variance is white noise; the rest has long memory.
pub(super) struct Farima {
    d: f64,
    /// How many values a draw looks back to.
    terms: usize,
    /// The values so far, the latest at the end; and their weights in the mean of the next value, once there are
    /// `terms` of them.
    past: VecDeque<f64>,
    weights: Vec<f64>,
    /// Variance of the next value, given the past values.
    variance: f64,
    /// Factors of the fARIMA's value and of the white noise.
    scale: f64,
    noise: f64,
    normal: Normal,
}

/// Returns the weights of the last `t` values in the mean of the next value, the latest first (Hosking 1984, equation
/// 12, as a recursion).
fn weights(d: f64, t: usize) -> impl Iterator<Item = f64> {
    let t = t as f64;
    let mut weight = t * d / (t - d);
    (1..=t as u64).map(move |j| {
        let j = j as f64;
        let this = weight;
        weight *= (t - j) * (j - d) / ((j + 1.0) * (t - d - j));
        this
    })
}

impl Farima {
    /// Makes a generator with memory `d` over `terms` values. White noise is the share `noise` of the variance.
    pub(super) fn new(d: f64, terms: usize, noise: f64, random: Stream) -> Self {
        // The variance of a fARIMA(0, d, 0) with innovations of variance 1, and the variance of the sum of two
        // neighbours, whose correlation is d/(1 - d).
        let variance = libm::tgamma(1.0 - 2.0 * d) / libm::pow(libm::tgamma(1.0 - d), 2.0);
        let of_sum = variance * (2.0 + 2.0 * d / (1.0 - d));
        let mut made = Self {
            d,
            terms,
            past: VecDeque::with_capacity(terms),
            weights: Vec::new(),
            variance,
            scale: libm::sqrt((1.0 - noise) / of_sum),
            noise: libm::sqrt(noise),
            normal: Normal(random),
        };
        made.step(); // the first value's neighbour
        made
    }

    /// Returns the next number.
    pub(super) fn draw(&mut self) -> f64 {
        let before = self.past.back().copied().unwrap_or(0.0);
        let sum = self.step() + before;
        self.scale * sum + self.noise * self.normal.draw()
    }

    /// Returns the next value of the fARIMA(0, d, 0).
    fn step(&mut self) -> f64 {
        let t = self.past.len();
        let mean: f64 = if t == self.terms {
            self.weights.iter().zip(self.past.iter().rev()).map(|(weight, x)| weight * x).sum()
        } else {
            weights(self.d, t).zip(self.past.iter().rev()).map(|(weight, x)| weight * x).sum()
        };
        let x = mean + libm::sqrt(self.variance) * self.normal.draw();
        if t == self.terms {
            self.past.pop_front();
        } else {
            // Levinson and Durbin: the variance falls with each further known value.
            let partial = self.d / (t as f64 + 1.0 - self.d);
            self.variance *= 1.0 - partial * partial;
            if t + 1 == self.terms {
                self.weights = weights(self.d, self.terms).collect();
            }
        }
        self.past.push_back(x);
        x
    }
}

/// Returns the probability that a standard normal number is above `x`.
pub(super) fn above(x: f64) -> f64 {
    0.5 * libm::erfc(x * core::f64::consts::FRAC_1_SQRT_2)
}

/// Returns the inverse of the logit, which is the logarithm of the odds.
pub(super) fn logit_inverse(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Streams;

    /// Returns the autocorrelation of a fARIMA(0, d, 0) at the lags 0 to `most`: the product of (k - 1 + d)/(k - d)
    /// (Hosking 1984).
    fn correlations(d: f64, most: usize) -> Vec<f64> {
        let step = |rho: &mut f64, k: usize| {
            if k > 0 {
                *rho *= (k as f64 - 1.0 + d) / (k as f64 - d);
            }
            Some(*rho)
        };
        (0..=most).scan(1.0, step).collect()
    }

    /// With other correlations, arrivals would come in bursts of another length than the model's.
    #[test]
    fn numbers_are_correlated_as_the_model_says() {
        let (d, noise, n) = (0.33, 0.58, 400_000);
        let mut farima = Farima::new(d, 1000, noise, Streams::new(1).stream("test", 0));
        let draws: Vec<f64> = (0..n).map(|_| farima.draw()).collect();
        let covariance = |lag: usize| {
            draws.iter().zip(&draws[lag..]).map(|(a, b)| a * b).sum::<f64>() / (n - lag) as f64
        };
        let variance = covariance(0);
        assert!((variance - 1.0).abs() < 0.02, "{variance}");
        let rho = correlations(d, 201);
        for lag in [1, 2, 5, 10, 50, 200] {
            // The correlation of sums of two neighbours is (2 rho_k + rho_(k-1) + rho_(k+1)) / (2 + 2 rho_1). It
            // applies to the part that is not noise.
            let of_sum = (2.0 * rho[lag] + rho[lag - 1] + rho[lag + 1]) / (2.0 + 2.0 * rho[1]);
            let want = (1.0 - noise) * of_sum;
            let got = covariance(lag) / variance;
            assert!((got - want).abs() < 0.02, "lag {lag}: {got}, of the model {want}");
        }
    }

    /// A truncated memory forgets: the truncation shows only at lags beyond it.
    #[test]
    fn the_weights_are_those_of_the_first_order() {
        assert_eq!(weights(0.3, 0).count(), 0);
        let one: Vec<f64> = weights(0.3, 1).collect();
        assert!((one[0] - 0.3 / 0.7).abs() < 1e-12, "the mean after one value is rho_1 of it");
        // Two values: phi_22 = d/(2 - d), phi_21 = phi_11 (1 - phi_22) (Durbin).
        let two: Vec<f64> = weights(0.3, 2).collect();
        assert!((two[1] - 0.3 / 1.7).abs() < 1e-12 && (two[0] - one[0] * (1.0 - two[1])).abs() < 1e-12);
    }
}
