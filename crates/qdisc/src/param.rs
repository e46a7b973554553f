//! Parameters as data, and the `tc` line that sets them.
//!
//! A discipline declares a [`QdiscSpec`]. From it come the parser of its `tc` words, range checks, the canonical
//! line in results, `--help`, the documentation's tables and the tests' strategies. A constant and its source are
//! written once.
//!
//! A discipline that holds another one (`tbf`, `htb`) names it behind the word `child`, which ends its own parameters:
//! `htb rate 10mbit child codel target 5ms`.

use crate::registry;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use goodqueue_units::{Duration, Rate, parse};

/// What a discipline may know about the link below it when it is set up.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The rate, for disciplines that derive parameters from it (ARED).
    pub rate: Rate,
    /// Bytes of a full frame as `tc` counts it: 1514 on Ethernet (Linux's "psched mtu").
    pub mtu: u32,
}

/// A refused `tc` line: the word that offends, what was found, what is accepted; one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

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
    fn read(&self, text: &str) -> Result<Value, String> {
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
    fn begins_with(&self, text: &str) -> bool {
        match self.unit {
            Unit::Word(words) => words.contains(&text),
            Unit::Shorthand(table) => table.iter().any(|(word, _)| *word == text),
            _ => self.name == text,
        }
    }

    /// Whether the line may name it more than once: see [`Unit::Shorthand`].
    fn may_repeat(&self) -> bool {
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

/// A discipline's parameters, each with a value: the `tc` line, understood.
#[derive(Clone, Debug)]
pub struct Args {
    /// The discipline.
    pub spec: &'static QdiscSpec,
    /// A value a parameter, in the order of `spec.params`.
    values: Vec<Value>,
    /// Which of them the line set, in the same order.
    given: Vec<bool>,
    /// The discipline inside this one.
    child: Option<Box<Self>>,
}

/// Disciplines in each other, at most.
const DEEPEST: usize = 8;

impl Args {
    /// The defaults of `spec`.
    #[must_use]
    pub fn defaults(spec: &'static QdiscSpec) -> Self {
        let values = spec.params.iter().map(|param| param.default).collect();
        let mut args = Self { spec, values, given: alloc::vec![false; spec.params.len()], child: None };
        args.settle();
        args
    }

    /// Gives each default that depends on the variant the value that it has for the one chosen.
    fn settle(&mut self) {
        let variant = self.integer("variant").unwrap_or(0) as usize;
        for ((param, value), given) in self.spec.params.iter().zip(&mut self.values).zip(&self.given) {
            if let (Value::PerVariant(values), false) = (param.default, *given) {
                *value = values.get(variant).copied().unwrap_or(Value::Unset);
            }
            if let (Value::Line(line), false) = (param.default, *given) {
                self.child = registry::parse_line(line).ok().map(Box::new);
            }
        }
    }

    /// Reads the words that follow the discipline's name in a `tc` line.
    ///
    /// # Errors
    /// An unknown word (the nearest known one is named), a missing, ill-formed or out-of-range value, a parameter
    /// given twice.
    pub fn parse(spec: &'static QdiscSpec, words: &str) -> Result<Self, Error> {
        let mut args = Self::defaults(spec);
        args.read(words.split_whitespace(), |_, line| registry::parse_line(line))?;
        args.settle();
        Ok(args)
    }

    /// These parameters with those of `line` in place of their own, as `tc qdisc change` takes them: what the line does
    /// not name stays as it is, in the discipline behind `child` too.
    ///
    /// # Errors
    /// As [`Args::parse`]; another discipline's name; another value of `variant`, or of what the registry lists as
    /// [fixed](registry::Discipline::FIXED).
    pub fn changed(&self, line: &str) -> Result<Self, Error> {
        let name = self.spec.name;
        let mut words = line.split_whitespace();
        let found = words.next().unwrap_or("");
        if found != name {
            return Err(Error(format!(
                "found {found:?}; accepted: {name}, which cannot become another qdisc"
            )));
        }
        let mut args = self.clone();
        let set = args.read(words, |child, line| match child {
            Some(child) => child.changed(line),
            None => Err(Error("found one; accepted: none, as the qdisc was made without".to_string())),
        })?;
        for (named, taken_back) in registry::takes_back(name) {
            if args.position(named).is_some_and(|index| set[index])
                && let Some(index) = args.position(taken_back).filter(|&index| !set[index])
            {
                (args.values[index], args.given[index]) = (Value::Unset, false);
            }
        }
        let fixed = registry::fixed(name);
        for ((param, before), after) in self.spec.params.iter().zip(&self.values).zip(&args.values) {
            if before != after && (param.name == "variant" || fixed.contains(&param.name)) {
                let (before, after) = (param.show(*before), param.show(*after));
                let accepted = format!("accepted: {before}, which cannot change while the qdisc lives");
                return Err(Error(format!("{name} {}: found {after}; {accepted}", param.name)));
            }
        }
        if args.values != self.values {
            registry::settle(&mut args); // where nothing changes, nothing follows
        }
        Ok(args)
    }

    /// Reads `words` over the values that are there, and returns which parameters they set; `read_child` makes the
    /// discipline of a line out of the one that is there.
    fn read<'a>(
        &mut self,
        mut words: impl Iterator<Item = &'a str>,
        read_child: impl Fn(Option<&Self>, &str) -> Result<Self, Error>,
    ) -> Result<Vec<bool>, Error> {
        let spec = self.spec;
        let mut seen = alloc::vec![false; spec.params.len()];
        let mut set = seen.clone();
        while let Some(word) = words.next() {
            let (index, switched_on) = self.find(word)?;
            let param = &spec.params[index];
            let refuse = |why: String| Error(format!("{} {}: {why}", spec.name, param.name));
            if seen[index] && !param.may_repeat() {
                return Err(refuse("given twice".to_string()));
            }
            self.values[index] = match param.unit {
                Unit::Shorthand(table) => {
                    for (_, stands_for) in table.iter().filter(|(known, _)| *known == word) {
                        self.expand(stands_for, &mut set)?;
                    }
                    Value::Unset
                }
                Unit::Flag => Value::Flag(switched_on),
                Unit::Word(_) => param.read(word).map_err(refuse)?,
                Unit::Line => {
                    let line = child_line(param, words.by_ref()).map_err(refuse)?;
                    let child = read_child(self.child(), &line).map_err(|error| refuse(error.0))?;
                    self.child = Some(Box::new(child));
                    Value::Unset
                }
                _ => {
                    let text = words
                        .next()
                        .ok_or_else(|| refuse(format!("no value; accepted: {}", param.accepted())))?;
                    param.read(text).map_err(refuse)?
                }
            };
            (seen[index], set[index], self.given[index]) = (true, true, true);
        }
        Ok(set)
    }

    /// Sets what a shorthand stands for, as if the line had not said it itself, and notes it in `set`. What is added is
    /// added to what the same line has set: a change of framing starts anew.
    fn expand(&mut self, words: &str, set: &mut [bool]) -> Result<(), Error> {
        let spec = self.spec;
        let mut words = words.split_whitespace();
        while let Some(word) = words.next() {
            let named =
                |param: &ParamSpec| !matches!(param.unit, Unit::Shorthand(_)) && param.begins_with(word);
            let Some(index) = spec.params.iter().position(named) else {
                return Err(Error(format!(
                    "{}: a shorthand stands for the unknown word {word:?}",
                    spec.name
                )));
            };
            let param = &spec.params[index];
            let text = if matches!(param.unit, Unit::Word(_)) { word } else { words.next().unwrap_or("") };
            let there = if set[index] { self.real(param.name).unwrap_or(0.0) } else { 0.0 };
            let value = match text.strip_prefix('+').and_then(|more| more.parse::<f64>().ok()) {
                _ if text == "unset" => Ok(Value::Unset),
                Some(more) => param.read(&(there + more).to_string()),
                None => param.read(text),
            };
            self.values[index] =
                value.map_err(|why| Error(format!("{} {}: {why}", spec.name, param.name)))?;
            set[index] = true;
        }
        Ok(())
    }

    /// The parameter that `word` names, and for a flag whether it is switched on.
    fn find(&self, word: &str) -> Result<(usize, bool), Error> {
        let position = |name: &str| self.spec.params.iter().position(|param| param.begins_with(name));
        if let Some(index) = position(word) {
            return match self.spec.params[index].unit {
                Unit::Alias(name) => Ok((position(name).unwrap_or(index), true)),
                Unit::Refused(why) => Err(Error(format!("{} {word}: {why}", self.spec.name))),
                _ => Ok((index, true)),
            };
        }
        // tc writes `noecn` but `no_dq_rate_estimator`.
        let negated =
            word.strip_prefix("no").and_then(|rest| position(rest.strip_prefix('_').unwrap_or(rest)));
        if let Some(index) = negated.filter(|&index| self.spec.params[index].unit == Unit::Flag) {
            return Ok((index, false));
        }
        let mut known: Vec<&str> = Vec::new();
        for param in self.spec.params {
            match param.unit {
                Unit::Word(words) => known.extend(words),
                Unit::Shorthand(table) => known.extend(table.iter().map(|(word, _)| *word)),
                Unit::Alias(_) | Unit::Refused(_) => {}
                _ => known.push(param.name),
            }
        }
        let hint = match parse::nearest(word, known.iter().copied()) {
            Some(near) => format!("did you mean {near:?}? "),
            None => String::new(),
        };
        let known = if known.is_empty() { "no parameters".to_string() } else { known.join(", ") };
        Err(Error(format!("{}: unknown word {word:?}; {hint}accepted: {known}", self.spec.name)))
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.spec.params.iter().position(|param| param.name == name)
    }

    fn get(&self, name: &str) -> Value {
        self.position(name).map_or(Value::Unset, |index| self.values[index])
    }

    /// The discipline inside this one, if it has one that a line names.
    #[must_use]
    pub fn child(&self) -> Option<&Self> {
        self.child.as_deref()
    }

    /// As [`Args::child`], to set what its line left out.
    #[must_use]
    pub fn child_mut(&mut self) -> Option<&mut Self> {
        self.child.as_deref_mut()
    }

    /// Whether the line itself set `name`.
    #[must_use]
    pub fn is_given(&self, name: &str) -> bool {
        self.position(name).is_some_and(|index| self.given[index])
    }

    /// Sets `name`, whatever the line says: how values that follow from others come to stand in the canonical line.
    pub(crate) fn put(&mut self, name: &str, value: Value) {
        if let Some(index) = self.position(name) {
            self.values[index] = value;
        }
    }

    /// Sets `name` where the line did not: how a scenario's `buffer` becomes a queue's `limit`.
    pub fn set_default(&mut self, name: &str, value: Value) {
        if let Some(index) = self.position(name)
            && !self.given[index]
        {
            self.values[index] = value;
        }
    }

    /// The parameter `name` as an integer of its unit (bytes, packets, count, bit/s, index of a choice), if set.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<u64> {
        match self.get(name) {
            Value::Integer(integer) => Some(integer),
            _ => None,
        }
    }

    /// The parameter `name` as packets, if set so where a time could be.
    #[must_use]
    pub fn packets(&self, name: &str) -> Option<u64> {
        match self.get(name) {
            Value::Packets(packets) => Some(packets),
            _ => None,
        }
    }

    /// The parameter `name` as a time, if set.
    #[must_use]
    pub fn time(&self, name: &str) -> Option<Duration> {
        self.integer(name).map(Duration::from_nanos)
    }

    /// The parameter `name` as a real number, if set.
    #[must_use]
    pub fn real(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Value::Real(real) => Some(real),
            _ => None,
        }
    }

    /// Whether the flag `name` is on.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.get(name) == Value::Flag(true)
    }

    /// The word chosen for `name`, or the empty word.
    #[must_use]
    pub fn choice(&self, name: &str) -> &'static str {
        let spec = self.spec.params.iter().find(|param| param.name == name);
        match (spec.map(|param| param.unit), self.integer(name)) {
            (Some(Unit::Choice(words) | Unit::Word(words)), Some(index)) => {
                words.get(index as usize).copied().unwrap_or("")
            }
            _ => "",
        }
    }
}

/// The line that `words` make.
fn child_line<'a>(param: &ParamSpec, words: impl Iterator<Item = &'a str>) -> Result<String, String> {
    let line: Vec<&str> = words.collect();
    if line.is_empty() {
        return Err(format!("no value; accepted: {}", param.accepted()));
    }
    if line.iter().filter(|word| **word == param.name).count() >= DEEPEST {
        return Err(format!("more disciplines in each other than {DEEPEST}"));
    }
    Ok(line.join(" "))
}

impl fmt::Display for Args {
    /// The canonical line: every parameter that has a value, so that it can be read back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.spec.name)?;
        for (param, value) in self.spec.params.iter().zip(&self.values) {
            match value {
                Value::Unset | Value::PerVariant(_) | Value::Line(_) => {}
                Value::Flag(true) => write!(f, " {}", param.name)?,
                // As tc spells them: `noecn`, but `no_dq_rate_estimator`.
                Value::Flag(false) if param.name.contains('_') => write!(f, " no_{}", param.name)?,
                Value::Flag(false) => write!(f, " no{}", param.name)?,
                value if matches!(param.unit, Unit::Word(_)) => write!(f, " {}", param.show(*value))?,
                value => write!(f, " {} {}", param.name, param.show(*value))?,
            }
        }
        match &self.child {
            Some(child) => write!(f, " child {child}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: QdiscSpec = QdiscSpec {
        name: "toy",
        summary: "",
        source: "",
        params: &[
            ParamSpec {
                name: "target",
                unit: Unit::Time,
                default: Value::Integer(5_000_000),
                range: (1e3, 1e9),
                source: "",
                help: "",
            },
            ParamSpec {
                name: "ecn",
                unit: Unit::Flag,
                default: Value::Flag(false),
                range: (0.0, 0.0),
                source: "",
                help: "",
            },
            ParamSpec {
                name: "variant",
                unit: Unit::Choice(&["a", "b"]),
                default: Value::Integer(0),
                range: (0.0, 0.0),
                source: "",
                help: "",
            },
            ParamSpec {
                name: "quick_start",
                unit: Unit::Flag,
                default: Value::PerVariant(&[Value::Flag(false), Value::Flag(true)]),
                range: (0.0, 0.0),
                source: "",
                help: "",
            },
        ],
    };

    #[test]
    fn a_line_is_read_and_printed_back() {
        let args = Args::parse(&SPEC, "ecn target 10ms").unwrap();
        assert_eq!(args.to_string(), "toy target 10ms ecn variant a no_quick_start");
        assert_eq!(args.time("target"), Some(Duration::from_millis(10)));
        let again = Args::parse(&SPEC, args.to_string().strip_prefix("toy").unwrap()).unwrap();
        assert_eq!(again.to_string(), args.to_string());
        assert!(!Args::parse(&SPEC, "noecn").unwrap().flag("ecn"));
    }

    /// Else a result's line would name a variant beside numbers that it did not run with.
    #[test]
    fn a_default_follows_the_variant_unless_the_line_sets_the_parameter() {
        let line = |words| Args::parse(&SPEC, words).unwrap().to_string();
        assert_eq!(line("variant b"), "toy target 5ms noecn variant b quick_start");
        assert_eq!(line("no_quick_start variant b"), "toy target 5ms noecn variant b no_quick_start");
        assert!(!Args::defaults(&SPEC).flag("quick_start"));
        assert_eq!(SPEC.params[3].show(SPEC.params[3].default), "off or by variant on");
    }

    /// `tc` has words without a name before them: each is known by itself, and two of one parameter exclude each
    /// other.
    #[test]
    fn words_that_stand_by_themselves_are_read_and_printed_back() {
        const ALONE: QdiscSpec = QdiscSpec {
            params: &[ParamSpec {
                name: "drop_at",
                unit: Unit::Word(&["drop_dequeue", "drop_enqueue"]),
                default: Value::Integer(0),
                range: (0.0, 0.0),
                source: "",
                help: "",
            }],
            ..SPEC
        };
        let line = |words| Args::parse(&ALONE, words).map(|args| args.to_string());
        assert_eq!(line("").unwrap(), "toy drop_dequeue");
        assert_eq!(line("drop_enqueue").unwrap(), "toy drop_enqueue");
        assert_eq!(Args::parse(&ALONE, "drop_enqueue").unwrap().choice("drop_at"), "drop_enqueue");
        assert_eq!(line("drop_enqueue drop_dequeue").unwrap_err().0, "toy drop_at: given twice");
        let unknown = line("drop_at").unwrap_err().0;
        assert!(unknown.ends_with("accepted: drop_dequeue, drop_enqueue"), "{unknown}");
    }

    /// As `tc cake` has them: `ethernet` adds to an overhead, `raw` takes it back and is a parameter's own word besides.
    #[test]
    fn a_shorthand_sets_adds_and_takes_back() {
        const fn param(name: &'static str, unit: Unit, range: (f64, f64)) -> ParamSpec {
            ParamSpec { name, unit, default: Value::Unset, range, source: "", help: "" }
        }
        const LINK: QdiscSpec = QdiscSpec {
            params: &[
                param(
                    "preset",
                    Unit::Shorthand(&[("lan", "delay 1ms"), ("never", "delay unset")]),
                    (0.0, 0.0),
                ),
                param(
                    "framing",
                    Unit::Shorthand(&[("vlan", "extra +4"), ("raw", "raw extra 0")]),
                    (0.0, 0.0),
                ),
                param("base", Unit::Word(&["raw"]), (0.0, 0.0)),
                param("delay", Unit::Time, (0.0, 1e9)),
                param("extra", Unit::Real, (-64.0, 10.0)),
            ],
            ..SPEC
        };
        let line = |words| Args::parse(&LINK, words).map_or_else(|error| error.0, |args| args.to_string());
        assert_eq!(line("vlan vlan"), "toy extra 8");
        assert_eq!(line("extra -3 vlan"), "toy extra 1");
        assert_eq!(line("vlan extra -3"), "toy extra -3", "the parameter's own word has the last word");
        assert_eq!(line("vlan raw vlan"), "toy raw extra 4");
        assert_eq!(line("raw extra 4"), "toy raw extra 4", "what is printed is read back");
        assert_eq!(line("delay 5ms never"), "toy");
        assert_eq!(line("lan never"), "toy preset: given twice");
        assert_eq!(line("vlan vlan vlan"), "toy extra: found \"12\"; accepted: -64 to 10");
        assert!(line("vlam").contains("did you mean \"vlan\"? accepted: lan, never, vlan, raw, raw, delay"));
    }

    /// As `tc`'s get_u32 with base 0; `cake fwmark 0xff` is how a mask is written.
    #[test]
    fn a_number_may_be_hexadecimal() {
        const COUNTED: QdiscSpec = QdiscSpec {
            params: &[ParamSpec { unit: Unit::Count, range: (0.0, 255.0), ..SPEC.params[0] }],
            ..SPEC
        };
        let line = |words| Args::parse(&COUNTED, words).map(|args| args.integer("target"));
        assert_eq!(line("target 0xff"), Ok(Some(255)));
        assert_eq!(line("target 0xfg").unwrap_err().0, "toy target: found \"0xfg\"; accepted: 0 to 255");
    }

    /// `tc` has several words for a thing, and words for things that are not here: an unknown word would be a lie.
    #[test]
    fn other_words_for_a_parameter_are_taken_and_words_without_meaning_get_a_reason() {
        const OTHERS: QdiscSpec = QdiscSpec {
            params: &[
                SPEC.params[0],
                ParamSpec::alias("goal", "target", ""),
                ParamSpec::refused("offload", "there is no hardware", ""),
                ParamSpec { name: "share", unit: Unit::Percent, range: (0.0, 100.0), ..SPEC.params[0] },
                ParamSpec { name: "step", unit: Unit::TimeOrPackets, ..SPEC.params[0] },
                ParamSpec { name: "rehash", unit: Unit::Milliseconds, range: (0.0, 1e15), ..SPEC.params[0] },
            ],
            ..SPEC
        };
        let parse = |words: &str| Args::parse(&OTHERS, words);
        let line = |words: &str| parse(words).map_or_else(|error| error.0, |args| args.to_string());
        assert!(line("goal 7ms").starts_with("toy target 7ms"));
        assert!(parse("goal 7ms").unwrap().is_given("target"));
        assert_eq!(line("goal 7ms target 7ms"), "toy target: given twice");
        assert_eq!(line("offload"), "toy offload: there is no hardware");
        assert!(line("of").ends_with("accepted: target, share, step, rehash"));
        assert_eq!((line("share 12.5%"), line("share 12.5")), (line("share 12.5"), line("share 12.5%")));
        assert_eq!(line("share 101%"), "toy share: found \"101%\"; accepted: 0% to 100%");
        for packets in ["5p", "5pkt", "5pkts", "5packet", "5packets"] {
            assert!(line(&format!("step {packets}")).contains(" step 5p"), "{packets}");
        }
        assert_eq!(parse("step 5").unwrap().time("step"), Some(Duration::from_micros(5)));
        assert_eq!(parse("step 5p").unwrap().packets("step"), Some(5));
        assert_eq!(line("step 5pp").split(';').next(), Some("toy step: found \"5pp\""));
        assert_eq!(parse("rehash 600000").unwrap().time("rehash"), Some(Duration::from_secs(600)));
        assert!(line("rehash 10s").ends_with("rehash 10000") && line("rehash 5us").ends_with("rehash 5us"));
    }

    #[test]
    fn each_refusal_names_the_word_what_was_found_and_what_is_accepted() {
        let table = [
            (
                "targte 5ms",
                "toy: unknown word \"targte\"; did you mean \"target\"? accepted: target, ecn, variant, quick_start",
            ),
            ("target", "toy target: no value; accepted: 1us to 1s"),
            (
                "target 5parsec",
                "toy target: found \"5parsec\"; accepted: a time such as 5ms, 100us, 1.5s or 2min",
            ),
            ("target 2s", "toy target: found \"2s\"; accepted: 1us to 1s"),
            ("variant c", "toy variant: found \"c\"; accepted: a, b"),
            ("ecn noecn", "toy ecn: given twice"),
        ];
        for (line, error) in table {
            assert_eq!(Args::parse(&SPEC, line).unwrap_err().to_string(), error);
        }
    }
}
