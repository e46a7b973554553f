//! Quantities as `tc` writes them (iproute2's `tc(8)`, section PARAMETERS), with errors that say what is accepted.
//!
//! If `tc` lets the unit be left out, so do these functions: times are then in microseconds, rates in bits per
//! second, sizes in bytes. As in `tc`, `bps` means *bytes* per second, and `k`, `m`, `g` of a size are powers of
//! 1024.

use crate::{Duration, Rate};
use alloc::format;
use alloc::string::String;

/// Reads a time: `5ms`, `100us`, `1.5s`, `50ns`, `2min`. A number without a unit is in microseconds.
///
/// # Errors
/// Says what was found and what is accepted. The key is not named, because the caller knows it.
pub fn duration(text: &str) -> Result<Duration, String> {
    const ACCEPTED: &str = "a time such as 5ms, 100us, 1.5s or 2min";
    let nanos = quantity(text, ACCEPTED, |unit| {
        Some(match unit {
            "ns" | "nsec" | "nsecs" => 1.0,
            "" | "us" | "usec" | "usecs" => 1e3,
            "ms" | "msec" | "msecs" => 1e6,
            "s" | "sec" | "secs" => 1e9,
            "min" => 60e9,
            _ => return None,
        })
    })?;
    Ok(Duration::from_nanos(nanos))
}

/// Reads a time of a scenario as [`duration`] does, but requires the unit. `tc`'s default unit does not apply there.
///
/// # Errors
/// As for [`duration`].
pub fn duration_with_unit(text: &str) -> Result<Duration, String> {
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && text != "0" {
        return Err(format!(
            "found {text:?}, which has no unit; accepted: a time such as 5ms, 100us, 1.5s or 2min"
        ));
    }
    duration(text)
}

/// Reads a rate: `10mbit`, `1gbit`, `512kbit`, `2.5mbit`, or in bytes per second `100kbps`. A number without a unit
/// is in bit/s.
///
/// # Errors
/// As for [`duration`]. Zero is refused.
pub fn rate(text: &str) -> Result<Rate, String> {
    const ACCEPTED: &str = "a rate above zero such as 10mbit, 512kbit or 1gbit";
    let bps = quantity(text, ACCEPTED, |unit| {
        Some(match unit {
            "" | "bit" => 1.0,
            "kbit" => 1e3,
            "mbit" => 1e6,
            "gbit" => 1e9,
            "tbit" => 1e12,
            "kibit" => 1024.0,
            "mibit" => 1_048_576.0,
            "gibit" => 1_073_741_824.0,
            "bps" => 8.0,
            "kbps" => 8e3,
            "mbps" => 8e6,
            "gbps" => 8e9,
            _ => return None,
        })
    })?;
    Rate::from_bps(bps).ok_or_else(|| format!("found {text:?}; accepted: {ACCEPTED}"))
}

/// Reads a size in bytes: `1514`, `1514b`, `32mb`, `64kb`, `10kbit`.
///
/// # Errors
/// As for [`duration`].
pub fn bytes(text: &str) -> Result<u64, String> {
    quantity(text, "a size such as 1514, 64kb or 32mb", |unit| {
        Some(match unit {
            "" | "b" => 1.0,
            "k" | "kb" => 1024.0,
            "m" | "mb" => 1_048_576.0,
            "g" | "gb" => 1_073_741_824.0,
            "kbit" => 125.0,
            "mbit" => 125e3,
            "gbit" => 125e6,
            _ => return None,
        })
    })
}

/// Reads a size of a scenario: `1500B`, `100kB`, `1MB`, `1MiB`. Unlike in `tc`, `k`, `M` and `G` are powers of 1000,
/// and `Ki`, `Mi` and `Gi` are powers of 1024. The unit is required. Capitals do not matter.
///
/// # Errors
/// As for [`duration`].
pub fn bytes_with_unit(text: &str) -> Result<u64, String> {
    quantity(text, "a size with its unit, such as 1500B, 100kB, 1MB or 1MiB", |unit| {
        Some(match unit {
            "b" => 1.0,
            "kb" => 1e3,
            "mb" => 1e6,
            "gb" => 1e9,
            "kib" => 1024.0,
            "mib" => 1_048_576.0,
            "gib" => 1_073_741_824.0,
            _ => return None,
        })
    })
}

/// Reads a non-negative number with a unit. Returns it scaled by `scale(unit)` and rounded to the nearest integer.
fn quantity(text: &str, accepted: &str, scale: impl Fn(&str) -> Option<f64>) -> Result<u64, String> {
    let refuse = || format!("found {text:?}; accepted: {accepted}");
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| refuse())?;
    let scale = scale(unit.to_ascii_lowercase().as_str()).ok_or_else(refuse)?;
    let value = number * scale + 0.5;
    // 2^63 leaves room for sums. No real quantity comes near it.
    if value < 9.2e18 { Ok(value as u64) } else { Err(refuse()) }
}

/// Returns the word of `known` that `unknown` was probably meant to be: the nearest one, with an edit distance of at
/// most a third of the length of `unknown`, rounded up.
#[must_use]
pub fn nearest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let best = known.into_iter().map(|word| (edit_distance(unknown, word), word)).min()?;
    (best.0 <= unknown.chars().count().div_ceil(3)).then_some(best.1)
}

/// Returns the Levenshtein distance, computed with one row of the table at a time.
fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: alloc::vec::Vec<usize> = (0..=b.chars().count()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.chars().enumerate() {
            let substituted = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.pop().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tc_spellings_are_taken() {
        assert_eq!(duration("5ms"), Ok(Duration::from_millis(5)));
        assert_eq!(duration("5000"), Ok(Duration::from_millis(5)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(rate("10Mbit").map(Rate::as_bps), Ok(10_000_000));
        assert_eq!(rate("100kbps").map(Rate::as_bps), Ok(800_000));
        assert_eq!(bytes("32Mb"), Ok(33_554_432));
    }

    /// A megabyte of a download must be that of its server's listing, not `tc`'s.
    #[test]
    fn sizes_of_a_scenario_are_decimal_unless_they_say_otherwise() {
        assert_eq!(bytes_with_unit("1MB"), Ok(1_000_000));
        assert_eq!(bytes_with_unit("1.5kB"), Ok(1500));
        assert_eq!(bytes_with_unit("2KiB"), Ok(2048));
        assert_eq!(bytes_with_unit("7b"), Ok(7));
        for text in ["1000", "1mbit", "1k", "-1MB", ""] {
            assert!(bytes_with_unit(text).unwrap_err().contains("accepted: a size with its unit"), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_what_was_found_and_what_is_accepted() {
        for text in
            ["", "ms", "-5ms", "5 ms", "5parsec", "1e400ms", "99999999999999999999s", "..", "NaN", "inf"]
        {
            let error = duration(text).unwrap_err();
            assert!(error.contains(&format!("{text:?}")) && error.contains("accepted: a time"), "{error}");
        }
        assert!(rate("0mbit").is_err() && rate("-1mbit").is_err() && rate("10parsec").is_err());
        assert!(duration_with_unit("50").unwrap_err().contains("no unit"));
    }

    #[test]
    fn the_nearest_known_word_is_found_and_a_far_one_is_not() {
        let known = ["target", "interval", "limit"];
        assert_eq!(nearest("targte", known), Some("target"));
        assert_eq!(nearest("intervall", known), Some("interval"));
        assert_eq!(nearest("quantum", known), None);
    }
}
