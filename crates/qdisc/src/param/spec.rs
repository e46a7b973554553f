//! What a parameter is: its word, its unit, its range, and how a value is read and printed.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use goodqueue_units::{Duration, Rate, parse};

/// What a parameter measures, and so how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A time, kept in nanoseconds; `5ms`. A bare number is microseconds, as in `tc`.
    Time,
    /// A time, kept in nanoseconds, of which `tc` reads and prints a bare number of milliseconds (`sfb`).
    Milliseconds,
    /// A time as [`Unit::Time`], or packets with the word behind them: `1ms`, `5p`, `5packets`.
    TimeOrPackets,
    /// A size in bytes; `1514`, `32mb`.
    Bytes,
    /// A number of packets.
    Packets,
    /// A number of something else: flows, buckets, an exponent.
    Count,
    /// A rate, kept in bits per second; `10mbit`.
    Rate,
    /// A real number, such as a probability or a gain.
    Real,
    /// A real number of hundredths; `10`, `10%`.
    Percent,
    /// A word that is there or not (`ecn`); `no` before it switches it off (`noecn`).
    Flag,
    /// A byte and the mask that it is compared under, kept as `value * 256 + mask`; `0x1/0x3`.
    Masked,
    /// One of several words (`variant draft2013`).
    Choice(&'static [&'static str]),
    /// One of several words that stand by themselves (`drop_enqueue` or `drop_dequeue`), without the parameter's name.
    Word(&'static [&'static str]),
    /// Words that stand for others of the line, each with what it stands for (`docsis`: `noatm overhead +18 mpu 64`). A
    /// value after `+` is added to the one that the line has set; `unset` takes it back. Words of a table that adds may be
    /// combined, those of another exclude each other. What they set, a parameter's own word may change.
    Shorthand(&'static [(&'static str, &'static str)]),
    /// A discipline's line: all that follows the parameter's name, which is `child`.
    Line,
    /// Another word of `tc`'s for the parameter of this name.
    Alias(&'static str),
    /// A word that `tc` knows and that has no meaning here, for this reason.
    Refused(&'static str),
}

impl Unit {
    /// The unit in a word or two, for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Milliseconds => "milliseconds",
            Self::TimeOrPackets => "time or packets",
            Self::Bytes => "bytes",
            Self::Packets => "packets",
            Self::Count => "number",
            Self::Rate => "rate",
            Self::Real => "real number",
            Self::Percent => "percent",
            Self::Flag => "flag",
            Self::Masked => "value/mask",
            Self::Choice(_) | Self::Word(_) => "word",
            Self::Shorthand(_) => "shorthand",
            Self::Line => "line",
            Self::Alias(_) => "alias",
            Self::Refused(_) => "refused",
        }
    }
}

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Off, or derived from other parameters; the help says which.
    Unset,
    /// Time in ns, size in bytes, packets, count, rate in bit/s, or the index of a choice.
    Integer(u64),
    /// A real number.
    Real(f64),
    /// Packets, where a time could be.
    Packets(u64),
    /// A flag.
    Flag(bool),
    /// As a [`ParamSpec::default`] only: one value a word of the parameter `variant`, in the order of its words.
    PerVariant(&'static [Value]),
    /// As a [`ParamSpec::default`] only: a discipline's line.
    Line(&'static str),
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    /// The `tc` word.
    pub name: &'static str,
    /// What it measures.
    pub unit: Unit,
    /// Its default.
    pub default: Value,
    /// The least and the greatest value accepted, in the unit that values are kept in.
    pub range: (f64, f64),
    /// Where the default comes from: RFC and section, paper and equation, or `tc`'s manual.
    pub source: &'static str,
    /// One sentence.
    pub help: &'static str,
}

/// A discipline as data.
#[derive(Clone, Copy, Debug)]
pub struct QdiscSpec {
    /// The word after `tc qdisc add dev X root`.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// RFC or paper.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [ParamSpec],
}

impl ParamSpec {
    /// `name` as another word for the parameter `of`.
    #[must_use]
    pub const fn alias(name: &'static str, of: &'static str, source: &'static str) -> Self {
        let (unit, default) = (Unit::Alias(of), Value::Unset);
        Self { name, unit, default, range: (0.0, 0.0), source, help: "another word for it" }
    }

    /// `name` as a word of `tc`'s that is refused for `why`.
    #[must_use]
    pub const fn refused(name: &'static str, why: &'static str, source: &'static str) -> Self {
        let (unit, default) = (Unit::Refused(why), Value::Unset);
        Self { name, unit, default, range: (0.0, 0.0), source, help: why }
    }

    /// Reads `text`, refusing what is not of the unit or out of range.
    pub(super) fn read(&self, text: &str) -> Result<Value, String> {
        if let (Unit::TimeOrPackets, Some(packets)) = (self.unit, packets(text)) {
            return Ok(Value::Packets(packets));
        }
        let value = match self.unit {
            Unit::Time | Unit::TimeOrPackets => Value::Integer(parse::duration(text)?.as_nanos()),
            Unit::Milliseconds => Value::Integer(match text.parse::<u32>() {
                Ok(bare) => u64::from(bare) * MILLISECOND,
                Err(_) => parse::duration(text)?.as_nanos(),
            }),
            Unit::Bytes => Value::Integer(parse::bytes(text)?),
            Unit::Rate => Value::Integer(parse::rate(text)?.as_bps()),
            Unit::Packets | Unit::Count => Value::Integer(
                whole(text).ok_or_else(|| format!("found {text:?}; accepted: {}", self.accepted()))?,
            ),
            Unit::Real | Unit::Percent => {
                let number = if self.unit == Unit::Percent { text.strip_suffix('%') } else { None };
                let number = number.unwrap_or(text).parse();
                Value::Real(number.map_err(|_| format!("found {text:?}; accepted: {}", self.accepted()))?)
            }
            Unit::Choice(words) | Unit::Word(words) => {
                let index = words.iter().position(|word| *word == text);
                let index = index.ok_or_else(|| format!("found {text:?}; accepted: {}", self.accepted()))?;
                return Ok(Value::Integer(index as u64));
            }
            Unit::Masked => {
                return masked(text).ok_or_else(|| format!("found {text:?}; accepted: {}", self.accepted()));
            }
            Unit::Flag => return Ok(Value::Flag(true)),
            // The words of a line are kept as `Args`, a shorthand as what it stands for; the others never get here.
            Unit::Line | Unit::Shorthand(_) | Unit::Alias(_) | Unit::Refused(_) => return Ok(Value::Unset),
        };
        let number = match value {
            Value::Integer(integer) => integer as f64,
            Value::Real(real) => real,
            _ => return Ok(value),
        };
        if (self.range.0..=self.range.1).contains(&number) {
            Ok(value)
        } else {
            Err(format!("found {text:?}; accepted: {}", self.accepted()))
        }
    }

    /// Whether `text` in a line begins this parameter.
    pub(super) fn begins_with(&self, text: &str) -> bool {
        match self.unit {
            Unit::Word(words) => words.contains(&text),
            Unit::Shorthand(table) => table.iter().any(|(word, _)| *word == text),
            _ => self.name == text,
        }
    }

    /// Whether the line may name it more than once: see [`Unit::Shorthand`].
    pub(super) fn may_repeat(&self) -> bool {
        matches!(self.unit, Unit::Shorthand(table) if table.iter().any(|(_, words)| words.contains('+')))
    }

    /// What is accepted, for a person: `1us to 60s`.
    #[must_use]
    pub fn accepted(&self) -> String {
        if let Unit::Choice(words) | Unit::Word(words) = self.unit {
            return words.join(", ");
        }
        if let Unit::Shorthand(table) = self.unit {
            return table.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        }
        if self.unit == Unit::Masked {
            return "a byte and a mask such as 0x1/0x3".to_string();
        }
        if let Unit::Alias(name) = self.unit {
            return format!("as {name}");
        }
        if let Unit::Refused(_) = self.unit {
            return "nothing".to_string();
        }
        if self.unit == Unit::Line {
            return "a qdisc with its parameters, such as codel target 5ms".to_string();
        }
        if self.unit == Unit::Flag {
            let separator = if self.name.contains('_') { "_" } else { "" };
            return format!("{0} or no{separator}{0}", self.name);
        }
        let bound = |x: f64| match self.unit {
            Unit::Real => format!("{x}"),
            Unit::Percent => format!("{x}%"),
            _ => self.show(Value::Integer(x as u64)),
        };
        let or_packets = if self.unit == Unit::TimeOrPackets { ", or packets such as 5p" } else { "" };
        format!("{} to {}{or_packets}", bound(self.range.0), bound(self.range.1))
    }

    /// `value` as `tc` would print it.
    #[must_use]
    pub fn show(&self, value: Value) -> String {
        match (value, self.unit) {
            (Value::Unset, _) => "unset".to_string(),
            (Value::PerVariant(values), _) => {
                let values: Vec<String> = values.iter().map(|value| self.show(*value)).collect();
                values.join(" or by variant ")
            }
            (Value::Integer(ns), Unit::Milliseconds) if ns % MILLISECOND == 0 => {
                (ns / MILLISECOND).to_string()
            }
            (Value::Packets(packets), _) => format!("{packets}p"),
            (Value::Integer(ns), Unit::Time | Unit::TimeOrPackets | Unit::Milliseconds) => {
                Duration::from_nanos(ns).to_string()
            }
            (Value::Integer(bps), Unit::Rate) => {
                Rate::from_bps(bps).map_or_else(|| "0bit".to_string(), |r| r.to_string())
            }
            (Value::Integer(index), Unit::Choice(words) | Unit::Word(words)) => {
                words.get(index as usize).unwrap_or(&"?").to_string()
            }
            (Value::Integer(pair), Unit::Masked) => format!("{:#x}/{:#x}", pair >> 8, pair & 0xff),
            (Value::Integer(integer), _) => integer.to_string(),
            (Value::Real(real), _) => real.to_string(),
            (Value::Flag(on), _) => if on { "on" } else { "off" }.to_string(),
            (Value::Line(line), _) => line.to_string(),
        }
    }
}

const MILLISECOND: u64 = 1_000_000;

/// A number of packets with a word that says so, as tc-dualpi2(8) has them.
fn packets(text: &str) -> Option<u64> {
    let words = ["packets", "packet", "pkts", "pkt", "p"];
    let digits = words.iter().find_map(|word| text.strip_suffix(word))?;
    digits.parse::<u32>().ok().map(u64::from)
}

/// A whole number, decimal or, as in `tc`, with 0x before it.
fn whole(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// `value/mask`, each a byte.
fn masked(text: &str) -> Option<Value> {
    let byte = |text: &str| whole(text).filter(|number| *number < 256);
    let (value, mask) = text.split_once('/')?;
    Some(Value::Integer(byte(value)? << 8 | byte(mask)?))
}
