//! Quantities as `tc` writes them (iproute2's `tc(8)`, section PARAMETERS), with errors that say what is accepted.
//!
//! If `tc` lets the unit be left out, so do these functions: times are then in microseconds, rates in bits per
//! second, sizes in bytes. As in `tc`, `bps` means *bytes* per second, and `k`, `m`, `g` of a size are powers of
//! 1024, of its bits, too: `1kbit` is 128 bytes. Capitals do not matter.
//!
//! The functions whose names begin with `tc_` are for a line of `tc`: they take what `tc` takes and cut a value where
//! `tc` cuts it. The others are for a scenario. They take no sign and no hexadecimal number, they round, and times
//! and sizes of a scenario need a unit.

use crate::{Duration, Rate, number};
use alloc::format;
use alloc::string::String;

const TIME: &str = "a time such as 5ms, 100us, 1.5s or 2min";
const TC_TIME: &str = "a time such as 5ms, 100us or 1.5s";
const RATE: &str = "a rate above zero such as 10mbit, 512kbit or 1gbit";
const TC_RATE: &str = "a rate such as 10mbit, 512kbit or 1gbit";
const SIZE: &str = "a size such as 1514, 64kb or 32mb";

/// A unit's names, and the factor of each.
type Units = &'static [(&'static str, f64)];

/// iproute2's `get_time64`, in nanoseconds. A number without a unit is in microseconds there only for `get_time`.
const TIMES: Units = &[
    ("s", 1e9),
    ("sec", 1e9),
    ("secs", 1e9),
    ("ms", 1e6),
    ("msec", 1e6),
    ("msecs", 1e6),
    ("us", 1e3),
    ("usec", 1e3),
    ("usecs", 1e3),
    ("ns", 1.0),
    ("nsec", 1.0),
    ("nsecs", 1.0),
];

/// iproute2's `get_rate64`, in bits per second.
const RATES: Units = &[
    ("", 1.0),
    ("bit", 1.0),
    ("kbit", 1e3),
    ("mbit", 1e6),
    ("gbit", 1e9),
    ("tbit", 1e12),
    ("kibit", 1024.0),
    ("mibit", 1_048_576.0),
    ("gibit", 1_073_741_824.0),
    ("tibit", 1_099_511_627_776.0),
    ("bps", 8.0),
    ("kbps", 8e3),
    ("mbps", 8e6),
    ("gbps", 8e9),
    ("tbps", 8e12),
    ("kibps", 8.0 * 1024.0),
    ("mibps", 8.0 * 1_048_576.0),
    ("gibps", 8.0 * 1_073_741_824.0),
    ("tibps", 8.0 * 1_099_511_627_776.0),
];

/// iproute2's `get_size64`, in bytes.
const SIZES: Units = &[
    ("", 1.0),
    ("b", 1.0),
    ("k", 1024.0),
    ("kb", 1024.0),
    ("m", 1_048_576.0),
    ("mb", 1_048_576.0),
    ("g", 1_073_741_824.0),
    ("gb", 1_073_741_824.0),
    ("kbit", 128.0),
    ("mbit", 131_072.0),
    ("gbit", 134_217_728.0),
];

/// Sizes of a scenario.
const SCENARIO_SIZES: Units = &[
    ("b", 1.0),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("kib", 1024.0),
    ("mib", 1_048_576.0),
    ("gib", 1_073_741_824.0),
];

/// Reads a time: `5ms`, `100us`, `1.5s`, `50ns`, `2min`. A number without a unit is in microseconds.
///
/// # Errors
/// Says what was found and what is accepted. The key is not named, because the caller knows it.
pub fn duration(text: &str) -> Result<Duration, String> {
    let scale = |unit: &str| match unit {
        "" => Some(1e3),
        _ if unit.eq_ignore_ascii_case("min") => Some(60e9),
        _ => factor(TIMES, unit),
    };
    rounded(text, TIME, scale).map(Duration::from_nanos)
}

/// Reads a time of a scenario as [`duration`] does, but requires the unit. `tc`'s default unit does not apply there.
///
/// # Errors
/// As for [`duration`].
pub fn duration_with_unit(text: &str) -> Result<Duration, String> {
    if text != "0" && number::real(text).is_some_and(|(_, unit)| unit.is_empty()) {
        return Err(format!("found {text:?}, which has no unit; accepted: {TIME}"));
    }
    duration(text)
}

/// Reads a time of a line as iproute2's `get_time` does: whole microseconds, the rest is cut off, at most 2^32 - 1.
/// Unlike it, takes nanoseconds, which are exact: decision traces have Linux's own times.
///
/// # Errors
/// As for [`duration`]. A longer time is refused: there `tc` keeps the lowest 32 bits.
pub fn tc_time(text: &str) -> Result<Duration, String> {
    // The factor of iproute2, per unit of its microseconds, so that both round alike.
    let scale = |unit: &str| match unit {
        "" => Some(1.0),
        _ => factor(TIMES, unit).map(|ns| ns / 1e3),
    };
    if number::real(text).is_some_and(|(_, unit)| unit.to_ascii_lowercase().starts_with('n')) {
        return tc_time64(text);
    }
    let us = cut(text, TC_TIME, scale)?;
    match u32::try_from(us) {
        Ok(us) => Ok(Duration::from_micros(us.into())),
        Err(_) => Err(format!("found {text:?}; accepted: {TC_TIME}, of at most 4294.967295s")),
    }
}

/// Reads a time of a line as iproute2's `get_time64` does: whole nanoseconds. A number without a unit is in
/// nanoseconds, too.
///
/// # Errors
/// As for [`duration`].
pub fn tc_time64(text: &str) -> Result<Duration, String> {
    let scale = |unit: &str| if unit.is_empty() { Some(1.0) } else { factor(TIMES, unit) };
    cut(text, TC_TIME, scale).map(Duration::from_nanos)
}

/// Reads a rate: `10mbit`, `1gbit`, `512kbit`, `2.5mbit`, or in bytes per second `100kbps`. A number without a unit
/// is in bit/s.
///
/// # Errors
/// As for [`duration`]. Zero is refused.
pub fn rate(text: &str) -> Result<Rate, String> {
    let bps = rounded(text, RATE, |unit| factor(RATES, unit))?;
    Rate::from_bps(bps).ok_or_else(|| format!("found {text:?}; accepted: {RATE}"))
}

/// Reads a rate of a line as iproute2's `get_rate64` does. Returns bits per second, of whole bytes: the rest is cut
/// off, so that `7bit` is 0.
///
/// # Errors
/// As for [`duration`].
pub fn tc_rate(text: &str) -> Result<u64, String> {
    cut(text, TC_RATE, |unit| factor(RATES, unit).map(|bps| bps / 8.0)).map(|bytes| bytes.saturating_mul(8))
}

/// Reads a size in bytes as iproute2's `get_size64` does: `1514`, `1514b`, `32mb`, `64kb`, `10kbit` (of 128 bytes).
///
/// # Errors
/// As for [`duration`].
pub fn tc_bytes(text: &str) -> Result<u64, String> {
    cut(text, SIZE, |unit| factor(SIZES, unit))
}

/// Reads a percentage as iproute2's `parse_percent` does: 0 to 100, with or without `%`.
#[must_use]
pub fn tc_percent(text: &str) -> Option<f64> {
    let (percent, rest) = number::real(text)?;
    (matches!(rest, "" | "%") && (0.0..=100.0).contains(&percent)).then_some(percent)
}

/// Reads a size of a scenario: `1500B`, `100kB`, `1MB`, `1MiB`. Unlike in `tc`, `k`, `M` and `G` are powers of 1000,
/// and `Ki`, `Mi` and `Gi` are powers of 1024. The unit is required. Capitals do not matter.
///
/// # Errors
/// As for [`duration`].
pub fn bytes_with_unit(text: &str) -> Result<u64, String> {
    rounded(text, "a size with its unit, such as 1500B, 100kB, 1MB or 1MiB", |unit| {
        factor(SCENARIO_SIZES, unit)
    })
}

fn factor(units: Units, unit: &str) -> Option<f64> {
    units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, factor)| *factor)
}

/// Reads a non-negative number with a unit, scaled by `scale(unit)`.
fn quantity(text: &str, accepted: &str, scale: impl Fn(&str) -> Option<f64>) -> Result<f64, String> {
    let read = || {
        let (number, unit) = number::real(text)?;
        Some(number * scale(unit)?)
    };
    // 2^63 leaves room for sums. No real quantity comes near it.
    let scaled = read().filter(|value| (0.0..9.2e18).contains(value));
    scaled.ok_or_else(|| format!("found {text:?}; accepted: {accepted}"))
}

/// Reads a [`quantity`] of a line: cut to a whole number, as C does.
fn cut(text: &str, accepted: &str, scale: impl Fn(&str) -> Option<f64>) -> Result<u64, String> {
    quantity(text, accepted, scale).map(|value| value as u64)
}

/// Reads a [`quantity`] of a scenario: rounded to the nearest whole number, without a sign and not hexadecimal.
fn rounded(text: &str, accepted: &str, scale: impl Fn(&str) -> Option<f64>) -> Result<u64, String> {
    let plain = text.starts_with(|c: char| c.is_ascii_digit() || c == '.') && !text.contains(['x', 'X']);
    let scale = |unit: &str| scale(unit).filter(|_| plain);
    quantity(text, accepted, scale).map(|value| (value + 0.5) as u64)
}

/// Returns whether `line` names a class in a Python file (`path/file.py:Class …`), and not something of ours.
#[must_use]
pub fn names_a_class(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| word.contains(".py:"))
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
        assert_eq!(rate("1GiBps").map(Rate::as_bps), Ok(8 * 1_073_741_824));
        assert_eq!(rate("1e6").map(Rate::as_bps), Ok(1_000_000));
        assert_eq!(tc_bytes("32Mb"), Ok(33_554_432));
    }

    /// The values of iproute2's functions, by hand: it scales a double and cuts it.
    #[test]
    fn a_line_is_read_as_tc_reads_it() {
        let times = [
            ("5ms", 5_000_000),
            ("5", 5_000),
            ("1.9us", 1_000),
            ("1e3", 1_000_000),
            ("0x10", 16_000),
            ("-0", 0),
            ("4294967295", 4_294_967_295_000),
        ];
        for (text, ns) in times {
            assert_eq!(tc_time(text), Ok(Duration::from_nanos(ns)), "{text}");
        }
        assert_eq!(tc_time("1999872ns"), Ok(Duration::from_nanos(1_999_872)));
        for text in ["2min", "5 ms", "-1", "4294967296", "1e400", "inf", "ms", "5msx"] {
            assert!(tc_time(text).is_err(), "{text}");
        }
        assert_eq!(tc_time64("1.5"), Ok(Duration::from_nanos(1)));
        assert_eq!(tc_time64("1.5nsecs"), Ok(Duration::from_nanos(1)));
        let rates = [
            ("10Mbit", 10_000_000),
            ("7bit", 0),
            ("999", 992),
            ("1KiBps", 8192),
            ("1tibit", 1 << 40),
            ("1e6", 1_000_000),
        ];
        for (text, bps) in rates {
            assert_eq!(tc_rate(text), Ok(bps), "{text}");
        }
        let sizes =
            [("12kbit", 1536), ("32kbit", 4096), ("1mbit", 131_072), ("10K", 10_240), ("1.5kb", 1536)];
        for (text, bytes) in sizes {
            assert_eq!(tc_bytes(text), Ok(bytes), "{text}");
        }
        assert!(tc_bytes("10240p").is_err() && tc_bytes("1tb").is_err() && tc_rate("5parsec").is_err());
        assert_eq!(
            (tc_percent("1"), tc_percent("1e-3%"), tc_percent("100.1")),
            (Some(1.0), Some(1e-3), None)
        );
        assert_eq!((tc_percent("1%%"), tc_percent("-1"), tc_percent("x")), (None, None, None));
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
        for text in ["0x10ms", "+5ms", "-0ms", "1e3"] {
            assert!(duration_with_unit(text).is_err(), "{text}");
        }
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
