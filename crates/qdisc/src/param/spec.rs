//! Parameters and disciplines as data: words, defaults, ranges and sources.

use super::rules::Rules;
use super::unit::Unit;
use super::{Args, Error};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use goodqueue_units::{Duration, Release, parse};

/// The form of a parameter in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The parameter's name and a number (`limit 1000`).
    Number(Unit),
    /// The name alone, present or absent (`ecn`); `no` before the name switches the flag off (`noecn`).
    Flag,
    /// The name and one of several words (`variant draft2013`).
    Choice(&'static [&'static str]),
    /// One of several words, without the parameter's name (`drop_enqueue` or `drop_dequeue`).
    Word(&'static [&'static str]),
    /// Words that each stand for other words of the line (`docsis`: `noatm overhead +18 mpu 64`). A value after `+`
    /// is added to the value that the line has set. `unset` takes a value back.
    Shorthand(&'static [(&'static str, &'static str)]),
    /// The name and whole decimal numbers (`weights 589824 196608 65536`): exactly `most` of them, or, with `fewer`,
    /// at most `most`. Numbers that the line leaves out keep their value.
    Numbers {
        /// The largest count.
        most: usize,
        /// Whether a line may give fewer.
        fewer: bool,
    },
    /// The name `child`, followed by a discipline's line, which ends this line.
    Child,
    /// Another word that `tc` has for the parameter of this name.
    Alias(&'static str),
    /// A word that `tc` knows and that has no meaning here, with the reason.
    Refused(&'static str),
}

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Off, or derived from other parameters, as the parameter's help says.
    Unset,
    /// Time in ns, size in bytes, packets, count, rate in bit/s, or the index of a choice.
    Integer(u64),
    /// A real number.
    Real(f64),
    /// Packets, for a parameter that may also be a time.
    Packets(u64),
    /// A rate in percent of the rate of the link: see [`Args::resolve`].
    Share(f64),
    /// A flag.
    Flag(bool),
    /// Whole numbers.
    Numbers(Numbers),
}

/// The numbers of a [`Form::Numbers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    numbers: [u32; MOST_NUMBERS],
    count: usize,
}

/// The largest count of numbers after a name: one per priority of Linux (`priomap`).
pub const MOST_NUMBERS: usize = 16;

impl Numbers {
    /// Returns these numbers, of which there are at most [`MOST_NUMBERS`].
    #[must_use]
    pub const fn of<const N: usize>(numbers: [u32; N]) -> Self {
        let mut all = [0; MOST_NUMBERS];
        let mut at = 0;
        while at < N {
            all[at] = numbers[at];
            at += 1;
        }
        Self { numbers: all, count: N }
    }

    /// Returns the numbers.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.numbers[..self.count]
    }

    /// Replaces the first numbers. `first` has at most [`MOST_NUMBERS`].
    pub(super) fn with_first(mut self, first: &[u32]) -> Self {
        self.numbers[..first.len()].copy_from_slice(first);
        self.count = self.count.max(first.len());
        self
    }
}

/// The value of a parameter that the line does not set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// This one.
    Always(Value),
    /// One value for each word of the parameter `variant`, in the order of the words.
    ByVariant([Option<Value>; MOST_VARIANTS]),
    /// A discipline's line, for a `child`.
    Line(&'static str),
}

/// The largest number of words of the parameter `variant` (`codel`, `pie`).
pub(super) const MOST_VARIANTS: usize = 3;

/// One parameter without the type of its value: the data that [`super::Param`] declares.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    /// The `tc` word, or two words with a space between them (`loss state`).
    pub name: &'static str,
    /// Its form in a line.
    pub form: Form,
    /// Its default.
    pub default: Default,
    /// The smallest and the largest number accepted, in the unit in which values are kept.
    pub range: (f64, f64),
    /// Where the default comes from: RFC and section, paper and equation, or `tc`'s manual.
    pub source: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// Whether the parameter keeps the value that the discipline was made with.
    pub fixed: bool,
    /// Another parameter, which a change unsets if it names this parameter and not the other. So `tbf latency` unsets
    /// `limit`, which would otherwise take precedence over the new latency.
    pub takes_back: Option<&'static str>,
    /// The parameter after whose value this parameter's value may stand. This parameter then has no word of its own:
    /// see [`super::Param::follows`].
    pub follows: Option<&'static str>,
    /// How `tc` reads the word.
    pub rules: Rules,
}

/// A discipline as data.
#[derive(Clone, Copy, Debug)]
pub struct QdiscSpec {
    /// The word after `tc qdisc add dev X root`.
    pub name: &'static str,
    /// What the discipline does, in one sentence.
    pub summary: &'static str,
    /// RFC or paper.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [ParamSpec],
    /// The release from which on Linux has it. `None`: no Linux has it.
    pub since: Option<Release>,
    /// What changed in which release, as sentences without a full stop, in the order of releases.
    pub changes: &'static [(Release, &'static str)],
    pub(super) settle: fn(&mut Args),
    /// Takes back what a change does not keep: see [`QdiscSpec::begins_anew`].
    pub begins_anew: Option<fn(&mut Args, &Args)>,
    pub(super) read_child: fn(&str) -> Result<Args, Error>,
}

impl QdiscSpec {
    /// Returns the specification of the discipline `name` with the parameters that [`crate::params!`] lists.
    #[must_use]
    pub const fn new(name: &'static str, params: &'static [ParamSpec]) -> Self {
        Self {
            name,
            summary: "",
            source: "",
            params,
            since: Some(Release::Linux6_1),
            changes: &[],
            settle: |_| {},
            begins_anew: None,
            read_child: |_| Err(Error(String::new())),
        }
    }

    /// Sets the sentence that says what the discipline does.
    #[must_use]
    pub const fn summary(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// Sets the RFC or the paper. Without the feature `reference` it stays empty.
    #[must_use]
    pub const fn source(self, source: &'static str) -> Self {
        if cfg!(feature = "reference") { Self { source, ..self } } else { self }
    }

    /// Says from which release on Linux has the discipline.
    #[must_use]
    pub const fn since(self, since: Release) -> Self {
        Self { since: Some(since), ..self }
    }

    /// Says that no Linux has the discipline.
    #[must_use]
    pub const fn not_in_linux(self) -> Self {
        Self { since: None, ..self }
    }

    /// Says what changed in which release. Without the feature `reference` the list stays empty.
    #[must_use]
    pub const fn changes(self, changes: &'static [(Release, &'static str)]) -> Self {
        if cfg!(feature = "reference") { Self { changes, ..self } } else { self }
    }

    /// Sets the function that fills in values which follow from other parameters, so that the printed line is the
    /// line that runs. `settle` leaves parameters that contradict each other as they are. The discipline refuses
    /// them.
    #[must_use]
    pub const fn settle(self, settle: fn(&mut Args)) -> Self {
        Self { settle, ..self }
    }

    /// Sets the function that takes back what a change does not keep, for a discipline that does not keep everything
    /// which the line of a change leaves out. It gets the parameters after the line, which say what the line has
    /// [named](Args::is_named), and those before it. A first line follows the defaults.
    #[must_use]
    pub const fn begins_anew(self, begins_anew: fn(&mut Args, &Args)) -> Self {
        Self { begins_anew: Some(begins_anew), ..self }
    }

    /// Says that the discipline holds another one, whose line `read_child` understands.
    #[must_use]
    pub const fn holds(self, read_child: fn(&str) -> Result<Args, Error>) -> Self {
        Self { read_child, ..self }
    }

    /// Returns the indices of the parameters that follow the parameter `name`, in their order.
    pub(super) fn followers(&self, name: &str) -> impl Iterator<Item = usize> {
        let follows = move |(_, param): &(usize, &ParamSpec)| param.follows == Some(name);
        self.params.iter().enumerate().filter(follows).map(|(index, _)| index)
    }

    /// Returns the indices of the parameters that exclude the one at `index`: see [`Rules::excludes`].
    pub(super) fn excluded_by(&self, index: usize) -> impl Iterator<Item = usize> {
        let own = &self.params[index];
        let is_other = |other: &ParamSpec| {
            own.rules.excludes == Some(other.name) || other.rules.excludes == Some(own.name)
        };
        let others = self.params.iter().enumerate();
        others.filter(move |(_, other)| is_other(other)).map(|(index, _)| index)
    }

    /// Returns the parameter `name`.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&'static ParamSpec> {
        self.params.iter().find(|param| param.name == name)
    }
}

impl ParamSpec {
    /// Returns the unit of a number.
    #[must_use]
    pub const fn unit(&self) -> Option<Unit> {
        if let Form::Number(unit) = self.form { Some(unit) } else { None }
    }

    /// Returns the quantity or the form in a word or two, for tables.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self.form {
            Form::Number(unit) => unit.name(),
            Form::Flag => "flag",
            Form::Choice(_) | Form::Word(_) => "word",
            Form::Numbers { .. } => "numbers",
            Form::Shorthand(_) => "shorthand",
            Form::Child => "line",
            Form::Alias(_) => "alias",
            Form::Refused(_) => "refused",
        }
    }

    /// Returns the sentence of help. An alias names the parameter that it stands for.
    #[must_use]
    pub fn about(&self) -> String {
        match self.form {
            Form::Alias(of) => format!("another word for {of}"),
            _ => self.help.to_string(),
        }
    }

    /// Returns the words by which a line names the parameter. There are none if the parameter is an alias, follows
    /// another or has no meaning here.
    #[must_use]
    pub fn words(&self) -> Vec<&'static str> {
        match self.form {
            Form::Word(words) => words.to_vec(),
            Form::Shorthand(table) => table.iter().map(|(word, _)| *word).collect(),
            Form::Alias(_) | Form::Refused(_) => Vec::new(),
            _ if self.follows.is_some() => Vec::new(),
            _ => [self.name].to_vec(),
        }
    }

    /// Reads `text` as a value. Refuses text that has the wrong form or is out of range.
    pub(super) fn read(&self, text: &str) -> Result<Value, String> {
        let refused = || format!("found {text:?}; accepted: {}", self.accepted());
        let unit = match self.form {
            Form::Number(unit) => unit,
            Form::Choice(words) | Form::Word(words) => {
                let index = words.iter().position(|word| *word == text);
                let begins = |word: &&str| self.rules.abbreviates && word.starts_with(text);
                let index = index.or_else(|| words.iter().position(begins)).ok_or_else(refused)?;
                return Ok(Value::Integer(index as u64));
            }
            Form::Flag => return Ok(Value::Flag(true)),
            // The words of a child's line are kept as `Args`, and a shorthand as the values that it sets. The other
            // forms do not reach this function.
            Form::Child | Form::Shorthand(_) | Form::Alias(_) | Form::Refused(_) | Form::Numbers { .. } => {
                return Ok(Value::Unset);
            }
        };
        let value = unit.read(text, &self.rules)?.ok_or_else(|| refused() + &unit.hint(text))?;
        let is_within = |number: f64| (self.range.0..=self.range.1).contains(&number);
        match value {
            Value::Integer(0) | Value::Real(0.0) if self.rules.zero_is_unset => Ok(value),
            Value::Integer(integer) if !is_within(integer as f64) => Err(refused()),
            Value::Real(real) if !is_within(real) => Err(refused()),
            _ => Ok(value),
        }
    }

    /// Returns whether this parameter begins with the word `text`.
    pub(super) fn begins_with(&self, text: &str) -> bool {
        match self.form {
            Form::Word(words) => words.contains(&text),
            Form::Shorthand(table) => table.iter().any(|(word, _)| *word == text),
            _ => self.name == text && self.follows.is_none(),
        }
    }

    /// Reads the numbers at the beginning of `words`, which begin like numbers, over the value `there`.
    pub(super) fn read_numbers(&self, words: &[&str], there: Value) -> Result<Value, String> {
        let Form::Numbers { most, fewer } = self.form else { return Ok(there) };
        let accepted = self.accepted();
        let number = |text: &&str| {
            let number: Option<u32> = text.parse().ok();
            let within = number.filter(|&it| (self.range.0..=self.range.1).contains(&f64::from(it)));
            within.ok_or_else(|| format!("found {text:?}; accepted: {accepted}"))
        };
        let numbers = words.iter().map(number).collect::<Result<Vec<_>, _>>()?;
        if numbers.len() > most || (numbers.len() < most && !fewer) {
            return Err(format!("found {} numbers; accepted: {accepted}", numbers.len()));
        }
        let there = if let Value::Numbers(there) = there { there } else { Numbers::of([]) };
        Ok(Value::Numbers(there.with_first(&numbers)))
    }

    /// Returns whether `word` begins as a value that follows another (iproute2's `NEXT_IS_NUMBER`). A sign counts if
    /// the parameter may be negative.
    pub(super) fn is_begun_by(&self, word: &str) -> bool {
        let unsigned = if self.range.0 < 0.0 { word.strip_prefix('-').unwrap_or(word) } else { word };
        unsigned.starts_with(|c: char| c.is_ascii_digit())
    }

    /// Returns the word that switches a flag off, as `tc` spells it: `noecn`, but `no_dq_rate_estimator`.
    #[must_use]
    pub fn negated(&self) -> String {
        format!("no{}{}", if self.name.contains('_') { "_" } else { "" }, self.name)
    }

    /// Returns a description of the accepted values for a person: `1us to 60s`.
    #[must_use]
    pub fn accepted(&self) -> String {
        let unit = match self.form {
            Form::Number(unit) => unit,
            Form::Flag => return format!("{} or {}", self.name, self.negated()),
            Form::Choice(words) | Form::Word(words) => return words.join(", "),
            Form::Shorthand(table) => {
                return table.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
            }
            Form::Numbers { most, fewer } => {
                let up_to = if fewer { "up to " } else { "" };
                return format!("{up_to}{most} numbers from {} to {}", self.range.0, self.range.1);
            }
            Form::Child => return "a qdisc with its parameters, such as codel target 5ms".to_string(),
            Form::Alias(name) => return format!("as {name}"),
            Form::Refused(_) => return "nothing".to_string(),
        };
        let bound = |number: f64| match unit {
            Unit::Real | Unit::Signed => format!("{number}"),
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

    /// Returns `value` as `tc` would print it.
    #[must_use]
    pub fn show(&self, value: Value) -> String {
        match (value, self.form) {
            (Value::Unset, _) => "unset".to_string(),
            (Value::Integer(index), Form::Choice(words) | Form::Word(words)) => {
                words.get(index as usize).unwrap_or(&"?").to_string()
            }
            (Value::Flag(on), _) => if on { "on" } else { "off" }.to_string(),
            (Value::Numbers(numbers), _) => {
                numbers.as_slice().iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
            }
            // A line that is printed is read again. tc's `get_time` cuts other units to whole microseconds of 32 bits,
            // so that 16755.35ms are a microsecond less: it multiplies fractions. Its `get_time64` cuts nanoseconds,
            // so that 65.463us are one less. To it a number without a unit is in nanoseconds, and tc 6.1 reads no ns
            // there.
            (Value::Integer(ns), Form::Number(unit @ (Unit::Time | Unit::TimeOrPackets))) => {
                let text = unit.show(value);
                let in_nanoseconds = self.rules.nanoseconds;
                let read = if in_nanoseconds { parse::tc_time64(&text) } else { parse::tc_time(&text) };
                if read == Ok(Duration::from_nanos(ns)) {
                    text
                } else {
                    format!("{ns}{}", if in_nanoseconds { "" } else { "ns" })
                }
            }
            (_, Form::Number(unit)) => unit.show(value),
            _ => "?".to_string(),
        }
    }

    /// Returns the default for tables: `15ms`, or `off or by variant on`.
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
