//! What a parameter is: its word, what it measures, its range, and how a value is read and printed.

use super::{Args, Error};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use goodqueue_units::{Duration, Rate, parse};

/// What a number measures, and so how it is written.
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
    /// A byte and the mask that it is compared under, kept as `value * 256 + mask`; `0x1/0x3`.
    Masked,
}

/// How a parameter stands in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The parameter's name and a number (`limit 1000`).
    Number(Unit),
    /// The name alone, which is there or not (`ecn`); `no` before it switches it off (`noecn`).
    Flag,
    /// The name and one of several words (`variant draft2013`).
    Choice(&'static [&'static str]),
    /// One of several words that stand by themselves (`drop_enqueue` or `drop_dequeue`), without the parameter's name.
    Word(&'static [&'static str]),
    /// Words that stand for others of the line, each with what it stands for (`docsis`: `noatm overhead +18 mpu 64`). A
    /// value after `+` is added to the one that the line has set; `unset` takes it back. Words of a table that adds may be
    /// combined, those of another exclude each other. What they set, a parameter's own word may change.
    Shorthand(&'static [(&'static str, &'static str)]),
    /// The name, which is `child`, and a discipline's line, which ends this one.
    Child,
    /// Another word of `tc`'s for the parameter of this name.
    Alias(&'static str),
    /// A word that `tc` knows and that has no meaning here, for this reason.
    Refused(&'static str),
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
}

/// The value of a parameter that the line does not set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// This one.
    Always(Value),
    /// One for each word of the parameter `variant`, in their order.
    ByVariant([Option<Value>; MOST_VARIANTS]),
    /// A discipline's line.
    Line(&'static str),
}

/// Words of the parameter `variant`, at most (`codel`, `pie`).
pub(super) const MOST_VARIANTS: usize = 3;

/// One parameter, whatever the type of its value: what [`super::Param`] declares.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    /// The `tc` word.
    pub name: &'static str,
    /// How it stands in a line.
    pub form: Form,
    /// Its default.
    pub default: Default,
    /// The least and the greatest number accepted, in the unit that values are kept in.
    pub range: (f64, f64),
    /// Where the default comes from: RFC and section, paper and equation, or `tc`'s manual.
    pub source: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// Whether it keeps the value that the discipline was made with.
    pub fixed: bool,
    /// The parameter that a change unsets where it names this one and not that one: `tbf latency` unsets `limit`, which
    /// would else go before the new latency.
    pub takes_back: Option<&'static str>,
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
    pub(super) settle: fn(&mut Args),
    pub(super) read_child: fn(&str) -> Result<Args, Error>,
}

impl QdiscSpec {
    /// The discipline `name` with the parameters that [`crate::params!`] lists.
    #[must_use]
    pub const fn new(name: &'static str, params: &'static [ParamSpec]) -> Self {
        Self {
            name,
            summary: "",
            source: "",
            params,
            settle: |_| {},
            read_child: |_| Err(Error(String::new())),
        }
    }

    /// What it does, in one sentence.
    #[must_use]
    pub const fn summary(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// The RFC or the paper.
    #[must_use]
    pub const fn source(self, source: &'static str) -> Self {
        Self { source, ..self }
    }

    /// `settle` puts in place what follows from other parameters, so that the line printed is the line that runs.
    /// Parameters that contradict each other stay, for the discipline to refuse.
    #[must_use]
    pub const fn settle(self, settle: fn(&mut Args)) -> Self {
        Self { settle, ..self }
    }

    /// It holds another discipline, of which `read_child` understands the line.
    #[must_use]
    pub const fn holds(self, read_child: fn(&str) -> Result<Args, Error>) -> Self {
        Self { read_child, ..self }
    }

    /// The parameter `name`.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&'static ParamSpec> {
        self.params.iter().find(|param| param.name == name)
    }
}

impl Unit {
    /// The unit in a word or two, for tables.
    const fn name(self) -> &'static str {
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
            Self::Masked => "value/mask",
        }
    }

    /// Reads `text`; `None`: it is no number at all.
    fn read(self, text: &str) -> Result<Option<Value>, String> {
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
            Self::Real => text.parse().ok().map(Value::Real),
            Self::Percent => text.strip_suffix('%').unwrap_or(text).parse().ok().map(Value::Real),
            Self::Masked => masked(text),
        })
    }

    /// `value`, which is set, as `tc` would print it.
    fn show(self, value: Value) -> String {
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
            (Value::Unset | Value::Flag(_), _) => "?".to_string(),
        }
    }
}

impl ParamSpec {
    /// The unit of a number.
    #[must_use]
    pub const fn unit(&self) -> Option<Unit> {
        if let Form::Number(unit) = self.form { Some(unit) } else { None }
    }

    /// What it measures or how it is written, in a word or two, for tables.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self.form {
            Form::Number(unit) => unit.name(),
            Form::Flag => "flag",
            Form::Choice(_) | Form::Word(_) => "word",
            Form::Shorthand(_) => "shorthand",
            Form::Child => "line",
            Form::Alias(_) => "alias",
            Form::Refused(_) => "refused",
        }
    }

    /// Reads `text`, refusing what is not of the form or out of range.
    pub(super) fn read(&self, text: &str) -> Result<Value, String> {
        let refused = || format!("found {text:?}; accepted: {}", self.accepted());
        let unit = match self.form {
            Form::Number(unit) => unit,
            Form::Choice(words) | Form::Word(words) => {
                let index = words.iter().position(|word| *word == text).ok_or_else(refused)?;
                return Ok(Value::Integer(index as u64));
            }
            Form::Flag => return Ok(Value::Flag(true)),
            // The words of a line are kept as `Args`, a shorthand as what it stands for; the others never get here.
            Form::Child | Form::Shorthand(_) | Form::Alias(_) | Form::Refused(_) => return Ok(Value::Unset),
        };
        let value = unit.read(text)?.ok_or_else(refused)?;
        let is_within = |number: f64| (self.range.0..=self.range.1).contains(&number);
        match value {
            Value::Integer(integer) if !is_within(integer as f64) => Err(refused()),
            Value::Real(real) if !is_within(real) => Err(refused()),
            _ => Ok(value),
        }
    }

    /// Whether `text` in a line begins this parameter.
    pub(super) fn begins_with(&self, text: &str) -> bool {
        match self.form {
            Form::Word(words) => words.contains(&text),
            Form::Shorthand(table) => table.iter().any(|(word, _)| *word == text),
            _ => self.name == text,
        }
    }

    /// Whether the line may name it more than once: see [`Form::Shorthand`].
    pub(super) fn may_repeat(&self) -> bool {
        matches!(self.form, Form::Shorthand(table) if table.iter().any(|(_, words)| words.contains('+')))
    }

    /// A flag's word where it is off: as `tc` spells them, `noecn` but `no_dq_rate_estimator`.
    #[must_use]
    pub fn negated(&self) -> String {
        format!("no{}{}", if self.name.contains('_') { "_" } else { "" }, self.name)
    }

    /// What is accepted, for a person: `1us to 60s`.
    #[must_use]
    pub fn accepted(&self) -> String {
        let unit = match self.form {
            Form::Number(unit) => unit,
            Form::Flag => return format!("{} or {}", self.name, self.negated()),
            Form::Choice(words) | Form::Word(words) => return words.join(", "),
            Form::Shorthand(table) => {
                return table.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
            }
            Form::Child => return "a qdisc with its parameters, such as codel target 5ms".to_string(),
            Form::Alias(name) => return format!("as {name}"),
            Form::Refused(_) => return "nothing".to_string(),
        };
        let bound = |number: f64| match unit {
            Unit::Real => format!("{number}"),
            Unit::Percent => format!("{number}%"),
            _ => unit.show(Value::Integer(number as u64)),
        };
        let (least, greatest) = (bound(self.range.0), bound(self.range.1));
        match unit {
            Unit::Masked => "a byte and a mask such as 0x1/0x3".to_string(),
            Unit::TimeOrPackets => format!("{least} to {greatest}, or packets such as 5p"),
            _ => format!("{least} to {greatest}"),
        }
    }

    /// `value` as `tc` would print it.
    #[must_use]
    pub fn show(&self, value: Value) -> String {
        match (value, self.form) {
            (Value::Unset, _) => "unset".to_string(),
            (Value::Integer(index), Form::Choice(words) | Form::Word(words)) => {
                words.get(index as usize).unwrap_or(&"?").to_string()
            }
            (Value::Flag(on), _) => if on { "on" } else { "off" }.to_string(),
            (_, Form::Number(unit)) => unit.show(value),
            _ => "?".to_string(),
        }
    }

    /// The default, for tables: `15ms`, or `off or by variant on`.
    #[must_use]
    pub fn show_default(&self) -> String {
        match self.default {
            Default::Always(value) => self.show(value),
            Default::ByVariant(values) => {
                let values = values.into_iter().flatten().map(|value| self.show(value));
                values.collect::<Vec<_>>().join(" or by variant ")
            }
            Default::Line(line) => line.to_string(),
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
