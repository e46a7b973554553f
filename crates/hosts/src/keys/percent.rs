//! Shares in percent, as in tc-netem(8).

use super::key::{Quantity, describe};
use serde_json::{Value as Json, json};
use std::fmt;

/// Reads a probability in percent: `1%`, `0.1%`.
///
/// # Errors
/// A message that says what was found and what is accepted. The caller adds the key.
pub fn percent(text: &str) -> Result<f64, String> {
    share(text, 100.0)
}

/// Reads a share in percent, from 0% to `most` percent.
///
/// # Errors
/// As [`percent`].
pub fn share(text: &str, most: f64) -> Result<f64, String> {
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
pub struct Percent(pub f64);

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
}
