//! What a parameter is, and a discipline: their words, defaults, ranges and sources.

use super::unit::Unit;
use super::{Args, Error};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

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

    /// The words by which a line names it; none where it has no meaning here, or another name.
    #[must_use]
    pub fn words(&self) -> Vec<&'static str> {
        match self.form {
            Form::Word(words) => words.to_vec(),
            Form::Shorthand(table) => table.iter().map(|(word, _)| *word).collect(),
            Form::Alias(_) | Form::Refused(_) => Vec::new(),
            Form::Number(_) | Form::Flag | Form::Choice(_) | Form::Child => [self.name].to_vec(),
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
