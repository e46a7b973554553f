//! Units of numbers, and how numbers are read and printed.

use super::spec::Value;
use alloc::format;
use alloc::string::{String, ToString};
use goodqueue_units::{Duration, Rate, parse};

/// The unit of a number, which determines how the number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A time, kept in nanoseconds; `5ms`. A number without a unit is in microseconds, as in `tc`.
    Time,
    /// A time, kept in nanoseconds. `tc` reads and prints it as a number of milliseconds without a unit (`sfb`).
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

    /// Reads `text`. `None`: `text` is not a number.
    pub(super) fn read(self, text: &str) -> Result<Option<Value>, String> {
        if let (Self::TimeOrPackets, Some(packets)) = (self, packets(text)) {
            return Ok(Some(Value::Packets(packets)));
        }
        Ok(match self {
            Self::Time | Self::TimeOrPackets => Some(Value::Integer(parse::duration(text)?.as_nanos())),
            Self::Milliseconds => Some(Value::Integer(match text.parse::<u32>() {
                Ok(bare) => u64::from(bare) * MILLISECOND,
                Err(_) => parse::duration(text)?.as_nanos(),
            })),
            Self::Bytes => Some(Value::Integer(parse::bytes(text)?)),
            Self::Rate => Some(Value::Integer(parse::rate(text)?.as_bps())),
            Self::Packets | Self::Count => whole(text).map(Value::Integer),
            Self::Signed => text.parse::<i32>().ok().map(|signed| Value::Real(f64::from(signed))),
            Self::Real => text.parse().ok().map(Value::Real),
            Self::Percent => text.strip_suffix('%').unwrap_or(text).parse().ok().map(Value::Real),
            Self::Masked => masked(text),
        })
    }

    /// Returns `value`, which must not be unset, as `tc` would print it.
    pub(super) fn show(self, value: Value) -> String {
        match (value, self) {
            (Value::Packets(packets), _) => format!("{packets}p"),
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

/// Reads a whole number, decimal or with `0x` before it as `tc` accepts it.
fn whole(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Reads `value/mask`, each a byte.
fn masked(text: &str) -> Option<Value> {
    let byte = |text: &str| whole(text).filter(|number| *number < 256);
    let (value, mask) = text.split_once('/')?;
    Some(Value::Integer(byte(value)? << 8 | byte(mask)?))
}
