//! Units of numbers, and how numbers are read and printed.

use super::rules::{Digits, Rules};
use super::spec::Value;
use alloc::format;
use alloc::string::{String, ToString};
use goodqueue_units::{Duration, Rate, number, parse};

/// The unit of a number, which determines how the number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A time, kept in nanoseconds; `5ms`. A number without a unit is in microseconds, and the rest below a
    /// microsecond is cut off, as in `tc`.
    Time,
    /// A time, kept in nanoseconds, of whole milliseconds. `tc` reads and prints the number without a unit (`sfb`).
    Milliseconds,
    /// A time as [`Unit::Time`], or packets with the word after the number: `1ms`, `5p`, `5packets`.
    TimeOrPackets,
    /// A size in bytes; `1514`, `32mb`.
    Bytes,
    /// A number of packets.
    Packets,
    /// A number of something else: flows, buckets, an exponent.
    Count,
    /// A rate, kept in bits per second; `10mbit`.
    Rate,
    /// A whole number that may be negative, kept as a real number: bytes that an overhead adds.
    Signed,
    /// A real number, such as a probability or a gain.
    Real,
    /// A percentage as a real number; `10`, `10%`.
    Percent,
    /// A byte and the mask under which it is compared, kept as `value * 256 + mask`; `0x1/0x3`.
    Masked,
}

impl Unit {
    /// Returns the unit's name in a word or two, for tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Milliseconds => "milliseconds",
            Self::TimeOrPackets => "time or packets",
            Self::Bytes => "bytes",
            Self::Packets => "packets",
            Self::Count => "number",
            Self::Rate => "rate",
            Self::Signed => "signed number",
            Self::Real => "real number",
            Self::Percent => "percent",
            Self::Masked => "value/mask",
        }
    }

    /// Reads `text` by the rules of a parameter. `None`: `text` is not a number.
    pub(super) fn read(self, text: &str, rules: &Rules) -> Result<Option<Value>, String> {
        let time = |text: &str| {
            let time = if rules.nanoseconds { parse::tc_time64(text) } else { parse::tc_time(text) };
            time.map(|time| Some(Value::Integer(time.as_nanos())))
        };
        Ok(match self {
            Self::Time => return time(text),
            Self::TimeOrPackets => match packets(text) {
                Some(packets) => Some(Value::Packets(packets)),
                None => return time(text),
            },
            Self::Milliseconds => {
                number::whole(text).map(|ms| Value::Integer(ms.saturating_mul(MILLISECOND)))
            }
            Self::Rate if rules.takes_percent && text.contains('%') => match parse::tc_percent(text) {
                Some(0.0) => Some(Value::Integer(0)),
                percent => percent.map(Value::Share),
            },
            Self::Rate => Some(Value::Integer(parse::tc_rate(text)?)),
            Self::Bytes | Self::Packets | Self::Count => match (rules.digits, self) {
                (Digits::Size, _) | (Digits::OfUnit, Self::Bytes) => size(text, rules),
                (Digits::Decimal, _) => number::whole_in(10, text),
                _ => number::whole(text),
            }
            .map(Value::Integer),
            Self::Signed => {
                let number = match rules.digits {
                    Digits::Decimal => number::whole_in(10, text),
                    _ => number::whole(text),
                };
                // A negative number has wrapped, as in C.
                number
                    .and_then(|number| i32::try_from(number as i64).ok())
                    .map(|it| Value::Real(f64::from(it)))
            }
            Self::Real => {
                number::real(text).filter(|(_, rest)| rest.is_empty()).map(|(real, _)| Value::Real(real))
            }
            Self::Percent => parse::tc_percent(text).map(Value::Real),
            Self::Masked => masked(text),
        })
    }

    /// Returns what to add to a refusal of `text`, if `tc -s` prints the number so.
    pub(super) fn hint(self, text: &str) -> String {
        match text.strip_suffix(['p', 'b']).and_then(number::whole) {
            Some(_) if matches!(self, Self::Packets | Self::Count | Self::Bytes) => {
                format!("; tc -s prints {text}, but tc takes {}", &text[..text.len() - 1])
            }
            _ => String::new(),
        }
    }

    /// Returns `value`, which must not be unset, as `tc` would print it.
    pub(super) fn show(self, value: Value) -> String {
        match (value, self) {
            (Value::Packets(packets), _) => format!("{packets}p"),
            (Value::Share(percent), _) => format!("{percent}%"),
            (Value::Integer(ns), Self::Milliseconds) if ns % MILLISECOND == 0 => {
                (ns / MILLISECOND).to_string()
            }
            (Value::Integer(ns), Self::Time | Self::TimeOrPackets | Self::Milliseconds) => {
                Duration::from_nanos(ns).to_string()
            }
            (Value::Integer(bps), Self::Rate) => {
                Rate::from_bps(bps).map_or_else(|| "0bit".to_string(), |rate| rate.to_string())
            }
            (Value::Integer(pair), Self::Masked) => format!("{:#x}/{:#x}", pair >> 8, pair & 0xff),
            (Value::Integer(integer), _) => integer.to_string(),
            (Value::Real(real), _) => real.to_string(),
            (Value::Unset | Value::Flag(_) | Value::Numbers(_), _) => "?".to_string(),
        }
    }
}

const MILLISECOND: u64 = 1_000_000;

/// Reads a number of packets with its word, as in tc-dualpi2(8).
fn packets(text: &str) -> Option<u64> {
    let words = ["packets", "packet", "pkts", "pkt", "p"];
    let digits = words.iter().find_map(|word| text.strip_suffix(word))?;
    digits.parse::<u32>().ok().map(u64::from)
}

/// Reads a size, with a cell after it if the parameter takes one.
fn size(text: &str, rules: &Rules) -> Option<u64> {
    let (size, cell) = match text.split_once('/') {
        Some((size, cell)) if rules.takes_cell => (size, Some(number::whole(cell)?)),
        _ => (text, None),
    };
    let is_cell = |cell: u64| cell.is_power_of_two() && cell < 1 << 31;
    parse::tc_bytes(size).ok().filter(|_| cell.is_none_or(is_cell))
}

/// Reads `value/mask`, each a byte.
fn masked(text: &str) -> Option<Value> {
    let byte = |text: &str| number::whole(text).filter(|number| *number < 256);
    let (value, mask) = text.split_once('/')?;
    Some(Value::Integer(byte(value)? << 8 | byte(mask)?))
}
