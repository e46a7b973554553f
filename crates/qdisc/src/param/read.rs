//! Reads the words of a line over the defaults, or over the parameters of a running discipline.
//!
//! iproute2's parsers are loops that assign: a later word replaces an earlier one. What is particular to a parameter
//! stands in its [`super::Rules`].

use super::spec::{Form, ParamSpec, Value};
use super::{Args, Error, QdiscSpec, complete};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::iter::Peekable;
use goodqueue_units::parse;

/// The largest depth of disciplines inside each other.
const DEEPEST: usize = 8;

/// The words of a line, one step per parameter that they set, and what became of them.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The parameters in the order of the words. A parameter may stand here several times.
    pub steps: Vec<Step>,
    /// One sentence per word that a later word replaced, and per filter of a tree that does not do what its words seem
    /// to say.
    pub notes: Vec<String>,
}

/// A parameter that a line sets.
#[derive(Clone, Debug)]
pub struct Step {
    /// The discipline.
    pub qdisc: &'static str,
    /// The parameter.
    pub param: &'static ParamSpec,
    /// The words as they stand in the line: the parameter's word, and the words of its value.
    pub words: String,
}

impl Step {
    /// Returns the words of the value: all of them, for a parameter that has no word of its own.
    #[must_use]
    pub fn value(&self) -> &str {
        let alone =
            self.param.follows.is_some() || matches!(self.param.form, Form::Word(_) | Form::Shorthand(_));
        let own = if self.param.name.contains(' ') { 2 } else { 1 };
        if alone { &self.words } else { self.words.splitn(own + 1, ' ').nth(own).unwrap_or("") }
    }
}

impl Args {
    /// Reads the words that follow the discipline's name in a `tc` line.
    ///
    /// # Errors
    /// Fails at an unknown word (the error names the nearest known word), at a missing, ill-formed or out-of-range
    /// value, and at a parameter that is given twice if `tc` refuses that.
    pub fn parse(spec: &'static QdiscSpec, words: &str) -> Result<Self, Error> {
        Self::parse_noting(spec, words, &mut Reading::default())
    }

    /// Reads words as [`Args::parse`] does, and adds to `reading` what it understood.
    ///
    /// # Errors
    /// As for [`Args::parse`].
    pub fn parse_noting(spec: &'static QdiscSpec, words: &str, reading: &mut Reading) -> Result<Self, Error> {
        let mut args = Self::defaults(spec);
        let mut line = Line::over(&mut args, reading);
        line.read(words.split_whitespace(), |_, line| (spec.read_child)(line))?;
        if let Some(begin_anew) = spec.begins_anew {
            args.named = line.named();
            begin_anew(&mut args, &Self::defaults(spec));
            args.named.clear();
        }
        args.fill_in();
        (spec.settle)(&mut args);
        Ok(args)
    }

    /// Returns these parameters with the values that `line` gives, as `tc qdisc change` does. A parameter that the
    /// line does not name keeps its value, except in a discipline that
    /// [begins anew](super::QdiscSpec::begins_anew). This holds for the discipline after `child`, too. A tree takes
    /// commands: see [`crate::tree`].
    ///
    /// # Errors
    /// Fails as [`Args::parse`] does, at another discipline's name, and at another value of a parameter that is
    /// [fixed](super::Param::fixed).
    pub fn changed(&self, line: &str) -> Result<Self, Error> {
        complete::changed(self, line)
    }

    /// Returns these parameters with the values of `line`, which is the line of a discipline alone.
    #[inline(always)] // the page's first module is smaller without the call
    pub(super) fn changed_alone(&self, line: &str) -> Result<Self, Error> {
        let args = self.rewritten(line)?;
        self.check_fixed(&args)?;
        Ok(args)
    }

    /// Refuses `after`, the parameters after a change, if the discipline cannot take them while it lives.
    pub(crate) fn check_fixed(&self, after: &Self) -> Result<(), Error> {
        for ((param, before), after) in self.spec.params.iter().zip(&self.values).zip(&after.values) {
            if param.fixed && before != after {
                let (before, after) = (param.show(*before), param.show(*after));
                let accepted = format!("accepted: {before}, which cannot change while the qdisc lives");
                return Err(Error(format!("{} {}: found {after}; {accepted}", self.spec.name, param.name)));
            }
        }
        Ok(())
    }

    /// Returns these parameters with the values of `line`, whether or not a discipline that runs can take them.
    #[inline(always)] // as above
    pub(crate) fn rewritten(&self, line: &str) -> Result<Self, Error> {
        let name = self.spec.name;
        let mut words = line.split_whitespace();
        let found = words.next().unwrap_or("");
        if found != name {
            return Err(Error(format!(
                "found {found:?}; accepted: {name}, which cannot become another qdisc"
            )));
        }
        let mut args = self.clone().unnamed();
        let mut reading = Reading::default();
        let mut line = Line::over(&mut args, &mut reading);
        line.read(words, |child, line| match child {
            Some(child) => child.changed(line),
            None => Err(Error("found one; accepted: none, as the qdisc was made without".to_string())),
        })?;
        let named = line.named();
        let set: Vec<bool> = line.set;
        for (index, param) in self.spec.params.iter().enumerate() {
            let taken_back = param.takes_back.and_then(|name| args.position(name));
            for other in taken_back.into_iter().chain(self.spec.excluded_by(index)) {
                if set[index] && !set[other] {
                    (args.values[other], args.given[other]) = (Value::Unset, false);
                }
            }
        }
        args.named = named;
        if let Some(begin_anew) = self.spec.begins_anew {
            begin_anew(&mut args, self);
        }
        if args.values != self.values {
            (self.spec.settle)(&mut args); // if no value changes, derived values do not change either
        }
        Ok(args.at(self.place)) // a child's line may have made the child anew
    }
}

/// A line that is being read.
struct Line<'a> {
    args: &'a mut Args,
    reading: &'a mut Reading,
    /// The parameters before the line.
    before: Args,
    /// Whether words of the line set each parameter, by its own word or by a shorthand.
    set: Vec<bool>,
    /// The words that set each parameter last.
    said: Vec<Option<String>>,
}

impl<'a> Line<'a> {
    fn over(args: &'a mut Args, reading: &'a mut Reading) -> Self {
        let (before, count) = (args.clone(), args.values.len());
        Self { args, reading, before, set: alloc::vec![false; count], said: alloc::vec![None; count] }
    }

    /// Reads `words`. `read_child` makes the inner discipline's parameters from its line and from its present
    /// parameters.
    fn read<'w>(
        &mut self,
        words: impl Iterator<Item = &'w str>,
        read_child: impl Fn(Option<&Args>, &str) -> Result<Args, Error>,
    ) -> Result<(), Error> {
        let spec = self.args.spec;
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            let (index, switched_on, name) =
                match words.peek().and_then(|next| self.args.find_pair(word, next)) {
                    Some(index) => (index, true, format!("{word} {}", words.next().unwrap_or(""))),
                    None => {
                        let (index, switched_on) = self.args.find(word)?;
                        (index, switched_on, word.to_owned())
                    }
                };
            let param = &spec.params[index];
            let refuse = |why: String| Error(format!("{} {}: {why}", spec.name, param.name));
            let (value, text) = match param.form {
                Form::Flag => (Value::Flag(switched_on), ""),
                Form::Word(_) => (param.read(word).map_err(refuse)?, ""),
                Form::Shorthand(table) => {
                    self.refuse_twice(index)?;
                    for (_, stands_for) in table.iter().filter(|(known, _)| *known == word) {
                        self.expand(stands_for, word)?;
                    }
                    self.note(index, word.to_owned());
                    self.set[index] = true;
                    continue;
                }
                Form::Numbers { .. } => {
                    let numbers = numbers(&mut words);
                    let value = param.read_numbers(&numbers, self.args.values[index]).map_err(refuse)?;
                    self.note(index, format!("{name} {}", numbers.join(" ")));
                    self.assign(index, value, format!("{name} {}", numbers.join(" ")))?;
                    continue;
                }
                Form::Child => {
                    let line = child_line(param, words.by_ref()).map_err(refuse)?;
                    let child = read_child(self.args.child(), &line).map_err(|error| refuse(error.0))?;
                    self.args.child = Some(Box::new(child));
                    self.note(index, format!("{name} {line}"));
                    (self.set[index], self.args.given[index]) = (true, true);
                    continue;
                }
                _ => {
                    let text = words.next();
                    let text =
                        text.ok_or_else(|| refuse(format!("no value; accepted: {}", param.accepted())))?;
                    (param.read(text).map_err(refuse)?, text)
                }
            };
            let said = if text.is_empty() { name } else { format!("{name} {text}") };
            self.note(index, said.clone());
            self.assign(index, value, said)?;
            self.read_followers(param, &mut words)?;
        }
        Ok(())
    }

    /// Reads the values behind the value of `param`.
    fn read_followers<'w>(
        &mut self,
        param: &ParamSpec,
        words: &mut Peekable<impl Iterator<Item = &'w str>>,
    ) -> Result<(), Error> {
        let spec = self.args.spec;
        for index in spec.followers(param.name) {
            let follower = &spec.params[index];
            let Some(text) = words.next_if(|word| follower.is_begun_by(word)) else { break };
            let refuse = |why: String| Error(format!("{} {}: {why}", spec.name, follower.name));
            let value = follower.read(text).map_err(refuse)?;
            self.note(index, text.to_owned());
            self.assign(index, value, text.to_owned())?;
        }
        Ok(())
    }

    /// Adds a step to the reading.
    fn note(&mut self, index: usize, words: String) {
        let spec = self.args.spec;
        self.reading.steps.push(Step { qdisc: spec.name, param: &spec.params[index], words });
    }

    fn refuse_twice(&self, index: usize) -> Result<(), Error> {
        let (spec, param) = (self.args.spec, &self.args.spec.params[index]);
        if param.rules.once && self.set[index] {
            return Err(Error(format!("{} {}: given twice; tc takes it once", spec.name, param.name)));
        }
        match spec.excluded_by(index).find(|&other| self.set[other]) {
            Some(other) => {
                let (name, other) = (param.name, spec.params[other].name);
                Err(Error(format!("{} {name}: given with {other}; tc takes one of them", spec.name)))
            }
            None => Ok(()),
        }
    }

    /// Returns whether the line names each parameter. A word that `tc` takes once does not count as set while it is
    /// zero, but it is named.
    fn named(&self) -> Vec<bool> {
        self.set.iter().zip(&self.said).map(|(is_set, said)| *is_set || said.is_some()).collect()
    }

    /// Gives the parameter the `value` that the words `said` stand for.
    fn assign(&mut self, index: usize, value: Value, said: String) -> Result<(), Error> {
        self.refuse_twice(index)?;
        let rules = &self.args.spec.params[index].rules;
        let is_zero = matches!(value, Value::Integer(0) | Value::Real(0.0));
        let is_unset = rules.zero_is_unset && is_zero;
        self.replace(index, if is_unset { self.before.values[index] } else { value }, said.clone());
        // tc notices by its value that a word which it takes once was there before.
        self.set[index] = !(is_unset || rules.once && is_zero);
        self.args.given[index] = !is_unset || self.before.given[index];
        if let Some(ended) = rules.ends.and_then(|name| self.args.position(name)) {
            self.replace(ended, Value::Unset, said);
            self.args.given[ended] = false;
        }
        Ok(())
    }

    /// Sets a value, and notes if words of the line had set another one.
    fn replace(&mut self, index: usize, value: Value, said: String) {
        if let Some(earlier) = &self.said[index]
            && *earlier != said
            && self.args.values[index] != value
        {
            let (spec, param) = (self.args.spec, &self.args.spec.params[index]);
            self.reading.notes.push(format!(
                "{} {}: \"{said}\" replaces \"{earlier}\": as in tc, the last word holds",
                spec.name, param.name
            ));
        }
        self.args.values[index] = value;
        self.said[index] = Some(said);
    }

    /// Sets the values that the shorthand `said` stands for. They do not count as given by the line. A value after `+`
    /// is added to a value that the same line has set, otherwise to 0. So a change of framing starts anew.
    fn expand(&mut self, words: &str, said: &str) -> Result<(), Error> {
        let spec = self.args.spec;
        let mut words = words.split_whitespace();
        while let Some(word) = words.next() {
            let named =
                |param: &ParamSpec| !matches!(param.form, Form::Shorthand(_)) && param.begins_with(word);
            let Some(index) = spec.params.iter().position(named) else {
                return Err(Error(format!(
                    "{}: a shorthand stands for the unknown word {word:?}",
                    spec.name
                )));
            };
            let param = &spec.params[index];
            let text = if matches!(param.form, Form::Word(_)) { word } else { words.next().unwrap_or("") };
            let there = match self.args.values[index] {
                Value::Real(there) if self.set[index] => there,
                _ => 0.0,
            };
            let more = text.strip_prefix('+').and_then(|more| more.parse::<f64>().ok());
            let value = match more {
                _ if text == "unset" => Ok(Value::Unset),
                Some(more) => param.read(&(there + more).to_string()),
                None => param.read(text),
            };
            let value = value.map_err(|why| Error(format!("{} {}: {why}", spec.name, param.name)))?;
            if more.is_some() {
                self.said[index] = None; // a sum replaces nothing
            }
            self.replace(index, value, said.to_owned());
            self.set[index] = true;
            if let Some(ended) = param.rules.ends.and_then(|name| self.args.position(name)) {
                self.replace(ended, Value::Unset, said.to_owned());
                self.args.given[ended] = false;
            }
        }
        Ok(())
    }
}

/// Takes the words that begin like numbers.
fn numbers<'w>(words: &mut Peekable<impl Iterator<Item = &'w str>>) -> Vec<&'w str> {
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    core::iter::from_fn(|| words.next_if(is_number)).collect()
}

impl Args {
    /// Returns the index of the parameter whose name is two words, `word` and `next`.
    fn find_pair(&self, word: &str, next: &str) -> Option<usize> {
        let is_named = |name: &str| name.split_once(' ') == Some((word, next));
        let index = self.spec.params.iter().position(|param| is_named(param.name))?;
        if let Form::Alias(name) = self.spec.params[index].form { self.position(name) } else { Some(index) }
    }

    /// Returns the index of the parameter that `word` names. For a flag, also returns whether `word` switches it on.
    fn find(&self, word: &str) -> Result<(usize, bool), Error> {
        let position = |name: &str| self.spec.params.iter().position(|param| param.begins_with(name));
        if let Some(index) = position(word) {
            return match self.spec.params[index].form {
                Form::Alias(name) => Ok((position(name).unwrap_or(index), true)),
                Form::Refused(why) => Err(Error(format!("{} {word}: {why}", self.spec.name))),
                _ => Ok((index, true)),
            };
        }
        // tc writes `noecn` but `no_dq_rate_estimator`; here either will do.
        let negated =
            word.strip_prefix("no").and_then(|rest| position(rest.strip_prefix('_').unwrap_or(rest)));
        if let Some(index) = negated.filter(|&index| self.spec.params[index].form == Form::Flag) {
            return Ok((index, false));
        }
        let begins = |param: &ParamSpec| {
            param.rules.abbreviates && param.follows.is_none() && param.name.starts_with(word)
        };
        if let Some(index) = self.spec.params.iter().position(begins) {
            return self.find(self.spec.params[index].name);
        }
        let known: Vec<&str> = self.spec.params.iter().flat_map(ParamSpec::words).collect();
        let hint = match parse::nearest(word, known.iter().copied()) {
            Some(near) => format!("did you mean {near:?}? "),
            None => String::new(),
        };
        let known = if known.is_empty() { "no parameters".to_string() } else { known.join(", ") };
        Err(Error(format!("{}: unknown word {word:?}; {hint}accepted: {known}", self.spec.name)))
    }
}

/// Joins `words` to the child's line. Fails if there are no words, or more than [`DEEPEST`] disciplines inside each
/// other.
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
