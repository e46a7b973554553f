//! Reads the words of a line over the defaults, or over the parameters of a running discipline.

use super::spec::{Form, ParamSpec, Value};
use super::{Args, Error, QdiscSpec};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use goodqueue_units::parse;

/// The largest depth of disciplines inside each other.
const DEEPEST: usize = 8;

impl Args {
    /// Reads the words that follow the discipline's name in a `tc` line.
    ///
    /// # Errors
    /// Fails at an unknown word (the error names the nearest known word), at a missing, ill-formed or out-of-range
    /// value, and at a parameter that is given twice.
    pub fn parse(spec: &'static QdiscSpec, words: &str) -> Result<Self, Error> {
        let mut args = Self::defaults(spec);
        args.read(words.split_whitespace(), |_, line| (spec.read_child)(line))?;
        args.fill_in();
        (spec.settle)(&mut args);
        Ok(args)
    }

    /// Returns these parameters with the values that `line` gives, as `tc qdisc change` does. A parameter that the
    /// line does not name keeps its value. This holds for the discipline after `child`, too.
    ///
    /// # Errors
    /// Fails as [`Args::parse`] does, at another discipline's name, and at another value of a parameter that is
    /// [fixed](super::Param::fixed).
    pub fn changed(&self, line: &str) -> Result<Self, Error> {
        let name = self.spec.name;
        #[cfg(feature = "emulation")]
        let (stab, line) = Self::split_stab(line)?;
        #[cfg(feature = "emulation")]
        let (stab, line) = (self.changed_stab(stab)?, &line[..]);
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
        for (index, param) in self.spec.params.iter().enumerate() {
            for taken_back in param.takes_back.into_iter().flatten().filter(|_| set[index]) {
                if let Some(index) = args.position(taken_back).filter(|&index| !set[index]) {
                    (args.values[index], args.given[index]) = (Value::Unset, false);
                }
            }
        }
        for ((param, before), after) in self.spec.params.iter().zip(&self.values).zip(&args.values) {
            if param.fixed && before != after {
                let (before, after) = (param.show(*before), param.show(*after));
                let accepted = format!("accepted: {before}, which cannot change while the qdisc lives");
                return Err(Error(format!("{name} {}: found {after}; {accepted}", param.name)));
            }
        }
        if args.values != self.values {
            (self.spec.settle)(&mut args); // if no value changes, derived values do not change either
        }
        #[cfg(feature = "emulation")]
        let args = args.with_stab(stab);
        Ok(args)
    }

    /// Reads `words` over the present values, and returns which parameters the words set. `read_child` makes the
    /// inner discipline's parameters from its line and from its present parameters.
    fn read<'a>(
        &mut self,
        words: impl Iterator<Item = &'a str>,
        read_child: impl Fn(Option<&Self>, &str) -> Result<Self, Error>,
    ) -> Result<Vec<bool>, Error> {
        let spec = self.spec;
        let mut words = words.peekable();
        let mut seen = alloc::vec![false; spec.params.len()];
        let mut set = seen.clone();
        while let Some(word) = words.next() {
            let (index, switched_on) = match words.peek().and_then(|next| self.find_pair(word, next)) {
                Some(index) => {
                    words.next();
                    (index, true)
                }
                None => self.find(word)?,
            };
            let param = &spec.params[index];
            let refuse = |why: String| Error(format!("{} {}: {why}", spec.name, param.name));
            if seen[index] && !param.may_repeat() {
                return Err(refuse("given twice".to_string()));
            }
            self.values[index] = match param.form {
                Form::Shorthand(table) => {
                    for (_, stands_for) in table.iter().filter(|(known, _)| *known == word) {
                        self.expand(stands_for, &mut set)?;
                    }
                    Value::Unset
                }
                Form::Flag => Value::Flag(switched_on),
                Form::Word(_) => param.read(word).map_err(refuse)?,
                Form::Numbers { .. } => {
                    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
                    let numbers: Vec<&str> = core::iter::from_fn(|| words.next_if(is_number)).collect();
                    param.read_numbers(&numbers, self.values[index]).map_err(refuse)?
                }
                Form::Child => {
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
            for index in spec.followers(param.name) {
                let follower = &spec.params[index];
                let Some(text) = words.next_if(|word| follower.is_begun_by(word)) else { break };
                let refuse = |why: String| Error(format!("{} {}: {why}", spec.name, follower.name));
                self.values[index] = follower.read(text).map_err(refuse)?;
                (seen[index], set[index], self.given[index]) = (true, true, true);
            }
        }
        Ok(set)
    }

    /// Sets the values that a shorthand stands for and notes them in `set`. They do not count as given by the line. A
    /// value after `+` is added to a value that the same line has set, otherwise to 0. So a change of framing starts
    /// anew.
    fn expand(&mut self, words: &str, set: &mut [bool]) -> Result<(), Error> {
        let spec = self.spec;
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
            let there = match self.values[index] {
                Value::Real(there) if set[index] => there,
                _ => 0.0,
            };
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
        // tc writes `noecn` but `no_dq_rate_estimator`.
        let negated =
            word.strip_prefix("no").and_then(|rest| position(rest.strip_prefix('_').unwrap_or(rest)));
        if let Some(index) = negated.filter(|&index| self.spec.params[index].form == Form::Flag) {
            return Ok((index, false));
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
