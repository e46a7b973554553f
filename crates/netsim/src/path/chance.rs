//! Probabilities as in tc-netem(8): percentages, and correlated random draws.

use crate::keys::{Json, Quantity, describe};
use goodqueue_units::Stream;
use serde_json::json;
use std::fmt;

/// How often something happens to a packet, and the correlation of each draw with the draw before it. Both are from 0
/// to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Chance {
    pub(crate) probability: f64,
    pub(crate) correlation: f64,
}

impl Chance {
    /// Builds a chance without correlation.
    pub(crate) const fn of(probability: f64) -> Self {
        Self { probability, correlation: 0.0 }
    }
}

/// Draws with a [`Chance`].
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    chance: Chance,
    last: f64,
}

impl Dice {
    pub(crate) fn new(chance: Chance, random: &mut Stream) -> Self {
        let last = if chance.correlation > 0.0 { random.next_f64() } else { 0.0 };
        Self { chance, last }
    }

    /// Returns whether the event happens to the next packet. A probability of 0 draws no random number.
    ///
    /// With a correlation c, the number that is compared is c times the number before plus 1 - c times a new draw, as
    /// in NIST Net and netem (`get_crandom`, net/sched/sch_netem.c). Such numbers gather around 0.5, so an event with
    /// a probability below 0.5 happens less often than it should. This is the "bad behaviour" for which tc-netem(8)
    /// calls the correlation deprecated.
    #[inline]
    pub(crate) fn hit(&mut self, random: &mut Stream) -> bool {
        let Chance { probability, correlation } = self.chance;
        if probability <= 0.0 {
            return false;
        }
        let mut drawn = random.next_f64();
        if correlation > 0.0 {
            drawn = correlation * self.last + (1.0 - correlation) * drawn;
            self.last = drawn;
        }
        drawn < probability
    }
}

/// Reads a probability in percent: `1%`, `0.1%`.
///
/// # Errors
/// A message that says what was found and what is accepted. The caller adds the key.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    share(text, 100.0)
}

/// Reads a share in percent, from 0% to `most` percent.
///
/// # Errors
/// As [`percent`].
pub(crate) fn share(text: &str, most: f64) -> Result<f64, String> {
    let refuse = || format!("found {text:?}; accepted: 0% to {most}%");
    let number = text.strip_suffix('%').ok_or_else(refuse)?;
    // `parse` would accept a sign, an exponent, "inf" and "NaN".
    if !number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(refuse());
    }
    let number: f64 = number.parse().map_err(|_| refuse())?;
    if number <= most { Ok(number / 100.0) } else { Err(refuse()) }
}

/// A share, where 1 is all. It is written in the form that [`percent`] reads, with up to ten decimals. Further
/// decimals would only be rounding errors of the product with 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Percent(pub(crate) f64);

impl Quantity for Percent {
    const TYPE: &'static str = "share";
    fn read(found: &Json) -> Result<Self, String> {
        let text =
            found.as_str().ok_or_else(|| format!("found {}; accepted: 0% to 100%", describe(found)))?;
        percent(text).map(Self)
    }
    fn write(&self) -> Json {
        json!(self.to_string())
    }
    fn schema() -> Json {
        json!({"type": "string", "pattern": "^[0-9.]+%$"})
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.10}", self.0 * 100.0);
        write!(f, "{}%", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Streams;
    use proptest::prelude::*;

    #[test]
    fn percent_is_read_and_everything_else_is_refused() {
        for (text, value) in [("1%", 0.01), ("0.1%", 0.001), ("100%", 1.0), ("0%", 0.0), ("7.25%", 0.0725)] {
            assert_eq!(percent(text), Ok(value));
            assert_eq!(Percent(value).to_string(), text);
        }
        for text in ["101%", "-1%", "1", "%", "", "NaN%", "inf%", "1e1%", "1 %", "1%%", ".%", "+1%", "1.2.3%"]
        {
            assert_eq!(percent(text), Err(format!("found {text:?}; accepted: 0% to 100%")));
        }
    }

    proptest! {
        /// A record must reproduce the scenario that it came from.
        #[test]
        fn what_is_written_reads_as_the_same_number(millionths in 0_u32..=100_000_000) {
            let value = percent(&format!("{}%", f64::from(millionths) / 1e6)).unwrap();
            prop_assert_eq!(percent(&Percent(value).to_string()), Ok(value));
        }
    }

    /// Returns the fraction of hits, and the fraction of hits directly after a hit.
    fn fractions(chance: Chance) -> (f64, f64) {
        let mut random = Streams::new(5).stream("test", 0);
        let mut dice = Dice::new(chance, &mut random);
        let hits: Vec<bool> = (0..200_000).map(|_| dice.hit(&mut random)).collect();
        let count = hits.iter().filter(|hit| **hit).count() as f64;
        let again = hits.windows(2).filter(|two| two[0] && two[1]).count() as f64;
        (count / hits.len() as f64, again / count)
    }

    #[test]
    fn independent_draws_hit_as_often_as_they_say() {
        let (often, again) = fractions(Chance::of(0.1));
        // Standard error: sqrt(0.1 * 0.9 / 200000) = 0.00067; over the tenth of the draws that follow a hit 0.0021.
        assert!((often - 0.1).abs() < 3.0 * 0.00067 && (again - 0.1).abs() < 3.0 * 0.0021, "{often} {again}");
        assert_eq!(fractions(Chance::of(1.0)).0, 1.0);
    }

    /// The numbers are an exponential moving average with mean 1/2 and variance (1 - c) / (1 + c) / 12. Each number
    /// depends on the number before.
    #[test]
    fn correlated_draws_come_in_a_row_and_are_fewer_than_they_say() {
        let (often, again) = fractions(Chance { probability: 0.2, correlation: 0.5 });
        assert!(often < 0.15 && again > 2.0 * often, "{often} {again}");
    }
}
