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
    /// A word that is there or not (`ecn`); `no` before it switches it off (`noecn`).
    Flag,
    /// A byte and the mask that it is compared under, kept as `value * 256 + mask`; `0x1/0x3`.
    Masked,
    /// One of several words (`variant draft2013`).
    Choice(&'static [&'static str]),
    /// One of several words that stand by themselves (`drop_enqueue` or `drop_dequeue`), without the parameter's name.
    Word(&'static [&'static str]),
    /// A discipline's line: all that follows the parameter's name, which is `child`.
    Line,
}

impl Unit {
    /// The unit in a word or two, for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Bytes => "bytes",
            Self::Packets => "packets",
            Self::Count => "number",
            Self::Rate => "rate",
            Self::Real => "real number",
            Self::Flag => "flag",
            Self::Masked => "value/mask",
            Self::Choice(_) | Self::Word(_) => "word",
            Self::Line => "line",
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
    /// Reads `text`, refusing what is not of the unit or out of range.
    fn read(&self, text: &str) -> Result<Value, String> {
        let value = match self.unit {
            Unit::Time => Value::Integer(parse::duration(text)?.as_nanos()),
            Unit::Bytes => Value::Integer(parse::bytes(text)?),
            Unit::Rate => Value::Integer(parse::rate(text)?.as_bps()),
            Unit::Packets | Unit::Count => Value::Integer(
                text.parse().map_err(|_| format!("found {text:?}; accepted: {}", self.accepted()))?,
            ),
            Unit::Real => Value::Real(
                text.parse().map_err(|_| format!("found {text:?}; accepted: {}", self.accepted()))?,
            ),
            Unit::Choice(words) | Unit::Word(words) => {
                let index = words.iter().position(|word| *word == text);
                let index = index.ok_or_else(|| format!("found {text:?}; accepted: {}", self.accepted()))?;
                return Ok(Value::Integer(index as u64));
            }
            Unit::Masked => {
                return masked(text).ok_or_else(|| format!("found {text:?}; accepted: {}", self.accepted()));
            }
            Unit::Flag => return Ok(Value::Flag(true)),
            Unit::Line => return Ok(Value::Unset), // the words are kept as `Args`
        };
        let number = match value {
            Value::Integer(integer) => integer as f64,
            Value::Real(real) => real,
            Value::Unset | Value::Flag(_) | Value::PerVariant(_) | Value::Line(_) => return Ok(value),
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
            _ => self.name == text,
        }
    }

    /// What is accepted, for a person: `1us to 60s`.
    #[must_use]
    pub fn accepted(&self) -> String {
        if let Unit::Choice(words) | Unit::Word(words) = self.unit {
            return words.join(", ");
        }
        if self.unit == Unit::Masked {
            return "a byte and a mask such as 0x1/0x3".to_string();
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
            _ => self.show(Value::Integer(x as u64)),
        };
        format!("{} to {}", bound(self.range.0), bound(self.range.1))
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
            (Value::Integer(ns), Unit::Time) => Duration::from_nanos(ns).to_string(),
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

/// `value/mask`, each a byte, decimal or with 0x before it.
fn masked(text: &str) -> Option<Value> {
    let byte = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let (value, mask) = text.split_once('/')?;
    let (value, mask) = (byte(value)?, byte(mask)?);
    Some(Value::Integer(u64::from(value) << 8 | u64::from(mask)))
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
        args.read(words, |child, line| match child {
            Some(child) => child.changed(line),
            None => Err(Error("found one; accepted: none, as the qdisc was made without".to_string())),
        })?;
        let fixed = registry::fixed(name);
        for ((param, before), after) in self.spec.params.iter().zip(&self.values).zip(&args.values) {
            if before != after && (param.name == "variant" || fixed.contains(&param.name)) {
                let (before, after) = (param.show(*before), param.show(*after));
                let accepted = format!("accepted: {before}, which cannot change while the qdisc lives");
                return Err(Error(format!("{name} {}: found {after}; {accepted}", param.name)));
            }
        }
        Ok(args)
    }

    /// Reads `words` over the values that are there; `read_child` makes the discipline of a line out of the one that is
    /// there.
    fn read<'a>(
        &mut self,
        mut words: impl Iterator<Item = &'a str>,
        read_child: impl Fn(Option<&Self>, &str) -> Result<Self, Error>,
    ) -> Result<(), Error> {
        let spec = self.spec;
        let mut seen = alloc::vec![false; spec.params.len()];
        while let Some(word) = words.next() {
            let (index, switched_on) = self.find(word)?;
            let param = &spec.params[index];
            let refuse = |why: String| Error(format!("{} {}: {why}", spec.name, param.name));
            if seen[index] {
                return Err(refuse("given twice".to_string()));
            }
            self.values[index] = match param.unit {
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
            (seen[index], self.given[index]) = (true, true);
        }
        self.settle();
        Ok(())
    }

    /// The parameter that `word` names, and for a flag whether it is switched on.
    fn find(&self, word: &str) -> Result<(usize, bool), Error> {
        let position = |name: &str| self.spec.params.iter().position(|param| param.begins_with(name));
        if let Some(index) = position(word) {
            return Ok((index, true));
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

    fn get(&self, name: &str) -> Value {
        let index = self.spec.params.iter().position(|param| param.name == name);
        index.map_or(Value::Unset, |index| self.values[index])
    }

    /// The discipline inside this one, if it has one that a line names.
    #[must_use]
    pub fn child(&self) -> Option<&Self> {
        self.child.as_deref()
    }

    /// Whether the line itself set `name`.
    #[must_use]
    pub fn is_given(&self, name: &str) -> bool {
        self.spec.params.iter().zip(&self.given).any(|(param, given)| param.name == name && *given)
    }

    /// Sets `name` where the line did not: how a scenario's `buffer` becomes a queue's `limit`.
    pub fn set_default(&mut self, name: &str, value: Value) {
        if let Some(index) = self.spec.params.iter().position(|param| param.name == name)
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
