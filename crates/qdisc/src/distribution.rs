//! The distributions of netem's delays, with the names of tc-netem(8).

use crate::words;
use alloc::vec::Vec;
use goodqueue_units::Stream;

words! {
    /// A distribution of a delay around its mean, in units of its jitter.
    ///
    /// netem looks the numbers up in tables, which iproute2 makes from inverse cumulative distribution functions
    /// (netem/{normal,pareto,paretonormal}.c, from the uncopyrighted NIST Net). Here the functions themselves are used,
    /// within the bounds of the tables. Mean and standard deviation are those of the tables. They can differ from what
    /// the word "jitter" suggests:
    ///
    /// | | mean | standard deviation | least | most |
    /// |---|---|---|---|---|
    /// | uniform | 0 | 0.577 | -1 | 1 |
    /// | normal | 0 | 1 | -4 | 4 |
    /// | pareto | -0.033 | 0.821 | -0.667 | 4 |
    /// | paretonormal | -0.025 | 0.835 | -1.5 | 4 |
    ///
    /// netem takes the uniform distribution if none is given (`tabledist`, sch_netem.c), although tc-netem(8) says that
    /// normal is the default.
    pub enum Distribution {
        Uniform = "uniform",
        Normal = "normal",
        Pareto = "pareto",
        ParetoNormal = "paretonormal",
    }
}

#[allow(clippy::derivable_impls)] // `words!` has no place for the attribute of a variant
impl Default for Distribution {
    fn default() -> Self {
        Self::Uniform
    }
}

/// The number in a table for one jitter (`NETEM_DIST_SCALE`).
const SCALE: i64 = 8192;

/// The largest number in the tables, which hold 16-bit numbers.
const MOST: f64 = 32767.0 / 8192.0;

/// The numbers in a table.
const TABLE_SIZE: u32 = 4096;

impl Distribution {
    /// Every distribution with its name in tc-netem(8).
    pub const ALL: [(&'static str, Self); 4] = [
        ("uniform", Self::Uniform),
        ("normal", Self::Normal),
        ("pareto", Self::Pareto),
        ("paretonormal", Self::ParetoNormal),
    ];

    /// Draws how far a delay is from the mean, in units of the jitter. Every distribution takes one number of the
    /// stream.
    pub fn draw(self, random: &mut Stream) -> f64 {
        self.quantile(random.next_f64().max(f64::EPSILON)) // the normal quantile of 0 is NaN
    }

    /// Returns the quantile at `u`, in units of the jitter: the value that is not exceeded with probability `u`, which
    /// is above 0 and below 1.
    #[must_use]
    pub fn quantile(self, u: f64) -> f64 {
        self.quantile_of(u, u)
    }

    /// Returns the quantile at `normal` of a normal distribution and at `pareto` of a Pareto distribution.
    fn quantile_of(self, normal: f64, pareto: f64) -> f64 {
        match self {
            Self::Uniform => 2.0 * normal - 1.0,
            Self::Normal => normal_quantile(normal).clamp(-4.0, MOST),
            Self::Pareto => pareto_quantile(pareto),
            // Both quantiles are taken at the same u, as in NIST Net. It is not a mixture of the two distributions.
            Self::ParetoNormal => {
                ((normal_quantile(normal) + 3.0 * pareto_quantile(pareto)) / 4.0).clamp(-4.0, MOST)
            }
        }
    }

    /// Returns how far a delay is from the mean, in ns, for a `jitter` above 0 ns and the random number `drawn`
    /// (`tabledist`, sch_netem.c). `table` is that of [`Self::table`].
    #[must_use]
    pub fn deviation(self, table: &[i16], jitter: i64, drawn: u32) -> i64 {
        if self == Self::Uniform {
            return i64::from(drawn) % (2 * jitter) - jitter;
        }
        let value = i64::from(table[drawn as usize % table.len()]);
        // The jitter's remainder is rounded to the nearest, away from zero.
        let part = jitter % SCALE * value;
        let half = if part >= 0 { SCALE / 2 } else { -SCALE / 2 };
        (part + half) / SCALE + jitter / SCALE * value
    }

    /// Returns the table that tc hands to netem: numbers in ascending order, in units of 1/8192 of the jitter. The
    /// uniform distribution has no table. Each number is at most 1 from that of iproute2's file.
    #[must_use]
    pub fn table(self) -> Vec<i16> {
        if self == Self::Uniform {
            return Vec::new();
        }
        // iproute2 searches the normal quantiles from below, and finds each an eighth of an entry too late
        // (netem/normal.c).
        let u = |entry: u32, late: f64| (f64::from(entry) + late) / f64::from(TABLE_SIZE);
        let quantile = |entry| self.quantile_of(u(entry, 0.125), u(entry, 0.0));
        (0..TABLE_SIZE).map(|entry| libm::rint(quantile(entry) * SCALE as f64) as i16).collect()
    }
}

/// Returns the quantile at `u` of a Pareto distribution with shape 3 and least value 1, minus its mean 3/2, times 4/3
/// (NIST Net). The factor 4/3 is one over the variance, although one over the standard deviation seems meant. Without
/// the bound, the standard deviation would be 1.155.
fn pareto_quantile(u: f64) -> f64 {
    (4.0 / 3.0 * (1.0 / libm::cbrt(1.0 - u) - 1.5)).min(MOST)
}

/// Returns the quantile at `u` of the standard normal distribution, by P. J. Acklam's rational approximations (2003).
/// Their relative error is below 1.2e-9.
#[allow(clippy::excessive_precision)] // the digits as published
fn normal_quantile(u: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e+01,
        2.209460984245205e+02,
        -2.759285104469687e+02,
        1.383577518672690e+02,
        -3.066479806614716e+01,
        2.506628277459239e+00,
    ];
    const B: [f64; 6] = [
        -5.447609879822406e+01,
        1.615858368580409e+02,
        -1.556989798598866e+02,
        6.680131188771972e+01,
        -1.328068155288572e+01,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-03,
        -3.223964580411365e-01,
        -2.400758277161838e+00,
        -2.549732539343734e+00,
        4.374664141464968e+00,
        2.938163982698783e+00,
    ];
    const D: [f64; 5] =
        [7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00, 1.0];
    const TAIL: f64 = 0.02425;
    let polynomial = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    let in_tail = |p: f64| {
        let q = libm::sqrt(-2.0 * libm::log(p));
        polynomial(&C, q) / polynomial(&D, q)
    };
    if u < TAIL {
        in_tail(u)
    } else if u > 1.0 - TAIL {
        -in_tail(1.0 - u)
    } else {
        let q = u - 0.5;
        q * polynomial(&A, q * q) / polynomial(&B, q * q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Streams;

    #[test]
    fn the_normal_quantile_is_the_inverse_of_the_error_function() {
        for number in 1..10_000 {
            let u = f64::from(number) / 10_000.0;
            let x = normal_quantile(u);
            let back = 0.5 * libm::erfc(-x / core::f64::consts::SQRT_2);
            assert!((back - u).abs() < 2e-9, "{u}: {x} gives {back}");
        }
    }

    /// Compares with the tables of iproute2 6.1, whose numbers were counted there: mean, standard deviation, least,
    /// most and median. A table has 4096 entries. The entries of the normal table are quantiles an eighth of an entry
    /// further on.
    #[test]
    fn quantiles_are_those_of_iproute2s_tables() {
        let tables = [
            (Distribution::Normal, [-0.00078, 1.00005, -4.0, 3.52271, 0.0]),
            (Distribution::Pareto, [-0.03349, 0.81968, -0.66663, 3.99988, -0.32007]),
            (Distribution::ParetoNormal, [-0.02530, 0.83394, -1.50208, 3.88049, -0.23999]),
        ];
        for (distribution, [mean, deviation, least, most, median]) in tables {
            let n = 4096;
            let of = |number: i32| distribution.quantile((f64::from(number) + 0.125) / f64::from(n));
            let (mut sum, mut squares) = (0.0, 0.0);
            for x in (0..n).map(of) {
                sum += x;
                squares += x * x;
            }
            let found = sum / f64::from(n);
            let spread = (squares / f64::from(n) - found * found).sqrt();
            let near = |a: f64, b: f64| (a - b).abs() < 0.001;
            assert!(near(found, mean) && near(spread, deviation), "{distribution:?}: {found} {spread}");
            let (first, last, middle) = (of(0), of(n - 1), of(n / 2));
            assert!(
                near(first, least) && near(last, most) && near(middle, median),
                "{distribution:?}: {first} {last} {middle}"
            );
        }
    }

    /// Entries of iproute2's files, counted there: the first, the 1025th, the 3073rd and the last.
    #[test]
    fn tables_are_those_of_iproute2() {
        let tables = [
            (Distribution::Normal, [-32768, -5525, 5526, 28858]),
            (Distribution::Pareto, [-5461, -4362, 955, 32767]),
            (Distribution::ParetoNormal, [-12305, -4652, 2097, 31789]),
        ];
        for (distribution, entries) in tables {
            let table = distribution.table();
            assert_eq!(table.len(), 4096);
            for (place, entry) in [0, 1024, 3072, 4095].into_iter().zip(entries) {
                assert!((table[place] - entry).abs() <= 1, "{distribution:?} {place}: {}", table[place]);
            }
        }
        assert!(Distribution::Uniform.table().is_empty());
    }

    #[test]
    fn draws_have_the_mean_and_the_standard_deviation_that_the_table_says() {
        let table = [(0.0, 0.57735), (0.0, 1.0), (-0.03292, 0.82085), (-0.02469, 0.83494)];
        for ((name, distribution), (mean, deviation)) in Distribution::ALL.into_iter().zip(table) {
            let mut random = Streams::new(11).stream("test", 0);
            let n = 400_000;
            let draws: Vec<f64> = (0..n).map(|_| distribution.draw(&mut random)).collect();
            let moment = |power: i32, around: f64| {
                draws.iter().map(|x| (x - around).powi(power)).sum::<f64>() / f64::from(n)
            };
            let (found, spread) = (moment(1, 0.0), moment(2, mean).sqrt());
            let error = deviation / f64::from(n).sqrt();
            assert!((found - mean).abs() < 3.0 * error, "{name}: mean {found}");
            // The standard error of a standard deviation follows from the fourth moment.
            let error =
                (moment(4, mean) - deviation.powi(4)).sqrt() / (2.0 * deviation * f64::from(n).sqrt());
            assert!(
                (spread - deviation).abs() < 3.0 * error,
                "{name}: standard deviation {spread} +- {error}"
            );
        }
    }
}
