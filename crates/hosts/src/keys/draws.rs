//! The distributions from which a scenario draws times, sizes or counts. A distribution is given by the name of its
//! family, or as points of the inverse of its distribution function.

mod text;

use super::line::line_through;
use goodqueue_units::{Stream, parse};
use std::marker::PhantomData;

type Read<T> = Result<T, String>;

/// The quantity that is drawn.
pub trait Unit: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// How its values are written.
    const SCALE: Scale;
}

/// How the values of a quantity are written, and which there are.
pub struct Scale {
    /// The name of a distribution in the reference.
    name: &'static str,
    /// An example of one value.
    example: &'static str,
    /// The greatest value, in base units. Greater draws are cut to this value.
    most: f64,
    /// Reads one value, in base units.
    read: fn(&str) -> Read<f64>,
    /// Returns the value as text that `read` reads.
    write: fn(f64) -> String,
}

/// Times, in seconds.
#[derive(Clone, Debug)]
pub struct Seconds;
/// Sizes, in bytes.
#[derive(Clone, Debug)]
pub struct Bytes;
/// Numbers of something.
#[derive(Clone, Debug)]
pub struct Count;

impl Unit for Seconds {
    const SCALE: Scale = Scale {
        name: "distribution of times",
        example: "2s",
        most: 1e6,
        read: |text| parse::duration_with_unit(text).map(|time| time.as_secs_f64()),
        write: |value| format!("{value}s"),
    };
}

impl Unit for Bytes {
    const SCALE: Scale = Scale {
        name: "distribution of sizes",
        example: "10kB",
        most: 1e9,
        read: |text| parse::bytes_with_unit(text).map(|bytes| bytes as f64),
        write: |value| format!("{value}B"),
    };
}

impl Unit for Count {
    const SCALE: Scale = Scale {
        name: "distribution of counts",
        example: "3",
        most: 1e6,
        read: |text| {
            let value = text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
            value.ok_or_else(|| format!("found {text:?}; accepted: a number such as 3"))
        },
        write: |value| value.to_string(),
    };
}

/// A distribution of values of `U`.
#[derive(Clone, Debug)]
pub struct Draws<U> {
    shape: Shape,
    unit: PhantomData<U>,
}

/// A family with its parameters, in base units.
#[derive(Clone, Debug)]
enum Shape {
    Constant(f64),
    Exponential {
        mean: f64,
    },
    /// With the parameters of the natural logarithm.
    Lognormal {
        mu: f64,
        sigma: f64,
    },
    Pareto {
        least: f64,
        alpha: f64,
    },
    Weibull {
        scale: f64,
        shape: f64,
    },
    /// Probability and value, both ascending. The value is linear between the points.
    Points(Vec<(f64, f64)>),
    /// −log₂(1 − probability), ascending, and log₂(value), linear between the points: for long tails.
    Tail(Vec<(f64, f64)>),
    /// Several distributions, each with its share of all draws.
    Mixture(Vec<(f64, Shape)>),
}

impl<U: Unit> Draws<U> {
    /// Builds a distribution that always gives `value`.
    pub(crate) const fn constant(value: f64) -> Self {
        Self { shape: Shape::Constant(value), unit: PhantomData }
    }

    /// Builds a distribution from points of the inverse of its distribution function: probability and value, both
    /// ascending.
    pub(crate) fn points(points: &[(f64, f64)]) -> Self {
        Self { shape: Shape::Points(points.to_vec()), unit: PhantomData }
    }

    /// Builds a distribution from points in logarithms: −log₂(1 − probability) and log₂(value), both ascending.
    pub(crate) fn tail(points: &[(f64, f64)]) -> Self {
        Self { shape: Shape::Tail(points.to_vec()), unit: PhantomData }
    }

    /// Builds a mixture of the parts, each with its share of all draws.
    pub(crate) fn mixture(parts: impl IntoIterator<Item = (f64, Self)>) -> Self {
        let parts = parts.into_iter().map(|(share, part)| (share, part.shape));
        Self { shape: Shape::Mixture(parts.collect()), unit: PhantomData }
    }

    /// Draws a value, in base units.
    pub(crate) fn draw(&self, random: &mut Stream) -> f64 {
        self.shape.draw(random).clamp(0.0, U::SCALE.most)
    }
}

impl Shape {
    fn draw(&self, random: &mut Stream) -> f64 {
        match self {
            Self::Constant(value) => *value,
            // The shares add up to 1, except for rounding. The last part gets the rest.
            Self::Mixture(parts) => {
                let mut left = random.next_f64();
                let part = parts.iter().find(|(share, _)| {
                    left -= share;
                    left < 0.0
                });
                part.or(parts.last()).map_or(0.0, |(_, shape)| shape.draw(random))
            }
            Self::Lognormal { mu, sigma } => libm::exp(mu + sigma * normal(random)),
            _ => self.inverse(random.next_f64()),
        }
    }

    /// Returns the value below which a share `u` of the draws lies, `0 <= u < 1`, for families that have a formula
    /// for it.
    fn inverse(&self, u: f64) -> f64 {
        match self {
            Self::Exponential { mean } => -mean * libm::log(1.0 - u),
            Self::Pareto { least, alpha } => least * libm::pow(1.0 - u, -1.0 / alpha),
            Self::Weibull { scale, shape } => scale * libm::pow(-libm::log(1.0 - u), 1.0 / shape),
            Self::Points(points) => within(points, u),
            Self::Tail(points) => libm::exp2(within(points, -libm::log2(1.0 - u))),
            Self::Constant(_) | Self::Lognormal { .. } | Self::Mixture(_) => {
                unreachable!("these are drawn in their own way")
            }
        }
    }
}

/// Returns [`line_through`] at `x` between the first and the last point; beyond them, the value of the nearest point.
fn within(points: &[(f64, f64)], x: f64) -> f64 {
    line_through(points, x.clamp(points[0].0, points[points.len() - 1].0))
}

/// Returns a standard normal variate (Box and Muller 1958).
pub(crate) fn normal(random: &mut Stream) -> f64 {
    let (u, v) = (1.0 - random.next_f64(), random.next_f64());
    libm::sqrt(-2.0 * libm::log(u)) * libm::cos(std::f64::consts::TAU * v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Quantity;
    use goodqueue_units::Streams;

    fn read<U: Unit>(text: &str) -> Read<Draws<U>> {
        Draws::read(&serde_json::from_str(text).unwrap())
    }

    fn mean_of(draws: &Draws<Seconds>) -> f64 {
        let mut random = Streams::new(1).stream("test", 0);
        (0..400_000).map(|_| draws.draw(&mut random)).sum::<f64>() / 400_000.0
    }

    /// Checks the families by their textbook means.
    #[test]
    fn each_family_has_its_mean() {
        let gamma_3 = 2.0; // Γ(1 + 1/0.5)
        for (text, mean) in [
            (r#""2s""#, 2.0),
            (r#""exponential(3s)""#, 3.0),
            (r#""pareto(1s, 3)""#, 1.5),
            (r#""weibull(2s, 0.5)""#, 2.0 * gamma_3),
            (r#""lognormal(1, 0.5)""#, (1.0_f64 + 0.125).exp()),
            ("[[0, 0], [0.5, 1], [1, 5]]", 0.25 + 1.5),
            (r#"[{"share": 0.25, "of": "4s"}, {"share": 0.75, "of": "exponential(2s)"}]"#, 2.5),
        ] {
            let found = mean_of(&read(text).unwrap());
            assert!((found / mean - 1.0).abs() < 0.01, "{text}: {found}, not {mean}");
        }
    }

    /// A tail has logarithms of both coordinates: half of the draws lie below the value at log2(1 - u) = -1.
    #[test]
    fn a_tail_is_interpolated_in_logarithms() {
        let draws: Draws<Bytes> = read(r#"{"tail": [[0, 8], [-1, 10], [-11, 20]]}"#).unwrap();
        let mut random = Streams::new(1).stream("test", 0);
        let mut drawn: Vec<f64> = (0..100_001).map(|_| draws.draw(&mut random)).collect();
        drawn.sort_by(f64::total_cmp);
        for (share, bytes) in [(0.5, 1024.0), (0.75, 2048.0), (0.875, 4096.0)] {
            let found = drawn[(share * 100_000.0) as usize];
            assert!((found / bytes - 1.0_f64).abs() < 0.05, "{share}: {found}, not {bytes}");
        }
    }

    #[test]
    fn what_is_written_reads_as_the_same() {
        for text in [
            r#""10240B""#,
            r#""pareto(133000B, 1.1)""#,
            "[[0.0,4.6],[1.0,272.2]]",
            r#"{"tail":[[0.0,8.1],[-18.2,25.9]]}"#,
            r#"[{"of":"lognormal(9.357, 1.318)","share":0.93},{"of":"pareto(133000B, 1.1)","share":0.07}]"#,
        ] {
            assert_eq!(read::<Bytes>(text).unwrap().write().to_string(), text);
        }
    }

    #[test]
    fn nonsense_is_refused_with_what_is_accepted() {
        for (text, why) in [
            ("[[0, 1], [0.5, 2], [0.4, 3]]", "[2]: found [0.4, 3] after [0.5, 2]; accepted: ascending"),
            ("[[0, 5], [1, 2]]", "[1]: found [1, 2] after [0, 5]; accepted: ascending"),
            ("[[0, -1], [1, 2]]", "[0]: found the value -1; accepted: 0 to"),
            ("[[0, 1], [1.5, 2]]", "[1]: found the probability 1.5; accepted: 0 to 1"),
            ("[[0, 1]]", "found 1 points; accepted: 2 to"),
            (r#""pareto(1kB)""#, "found \"pareto(1kB)\"; accepted: a value such as"),
            (r#""pareto(1kB, -1)""#, "found \"pareto(1kB, -1)\"; accepted"),
            (r#""gauss(1, 2)""#, "found \"gauss(1, 2)\"; accepted"),
            (
                r#"[{"share": 0.5, "of": "1B"}, {"share": 0.4, "of": "1B"}]"#,
                "found shares that add up to 0.9;",
            ),
            ("true", "found boolean true; accepted"),
        ] {
            let error = read::<Bytes>(text).unwrap_err();
            assert!(error.starts_with(why), "{text}: {error}");
        }
    }
}
