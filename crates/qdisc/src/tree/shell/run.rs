//! Carries out commands that hold others: lists, conditions, loops, functions.

use super::arithmetic;
use super::expand::Trouble;
use super::idle::Effect;
use super::pattern;
use super::script::{AndOr, Command, List, Pipeline, What};
use super::value::{Flow, Status, Value};
use super::{COMMAND, Read, Shell, shortened};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What a command may be conditional on.
const ACCEPTED: &str = "conditions on values that the script itself sets";

impl<'a> Shell<'a, '_> {
    pub(super) fn list(&mut self, list: &List<'a>) -> Read<Flow> {
        let mut flow = Flow::Next(Status::Known(true));
        for item in list {
            flow = self.and_or(item)?;
            if !matches!(flow, Flow::Next(_)) {
                break;
            }
        }
        Ok(flow)
    }

    pub(super) fn and_or(&mut self, list: &AndOr<'a>) -> Read<Flow> {
        let mut flow = self.pipeline(&list.first, !list.rest.is_empty())?;
        for (at, (is_and, next)) in list.rest.iter().enumerate() {
            let Flow::Next(status) = &flow else { break };
            let goes_on = match status {
                Status::Known(is) => is == is_and,
                Status::Assumed(_) => *is_and,
                Status::Unknown(what) => {
                    let what = what.clone();
                    let line = next.commands.first().map_or(0, |command| command.line);
                    // A guard, as `|| exit 1`, is taken not to end the script.
                    match self.effect_of_pipeline(next, line)? {
                        Effect::Guard => flow = Flow::Next(Status::Known(!is_and)),
                        Effect::None => {}
                        Effect::Some => return Err(self.unknown_condition(line, &what)),
                    }
                    continue;
                }
            };
            if goes_on {
                flow = self.pipeline(next, at + 1 < list.rest.len())?;
            }
        }
        Ok(flow)
    }

    fn unknown_condition(&self, line: usize, what: &str) -> (usize, String) {
        (line, format!("found a condition on {what}, before commands of tc; accepted: {ACCEPTED}"))
    }

    /// Carries out a pipeline. `minds`: something follows that asks whether it failed.
    fn pipeline(&mut self, pipeline: &Pipeline<'a>, minds: bool) -> Read<Flow> {
        let flow = match &pipeline.commands[..] {
            [command] => self.command(command, minds)?,
            commands => self.piped(commands)?,
        };
        let Flow::Next(mut status) = flow else { return Ok(flow) };
        if pipeline.is_negated {
            status = match status {
                Status::Known(is) => Status::Known(!is),
                Status::Assumed(what) | Status::Unknown(what) => Status::Unknown(what),
            };
        }
        self.last = match &status {
            Status::Known(is) => Value::known(if *is { "0" } else { "1" }.to_string()),
            Status::Assumed(_) => Value::known("0".to_string()),
            Status::Unknown(what) => Value::Unknown(what.clone()),
        };
        Ok(Flow::Next(status))
    }

    /// Carries out commands with `|` between them, each of which has variables of its own. What the last one prints,
    /// and answers, depends on the others.
    fn piped(&mut self, commands: &[Command<'a>]) -> Read<Flow> {
        let (outer, printed) = (self.copied()?, self.printed.take());
        let mut status = Status::Known(true);
        let mut is_blank = false;
        for command in commands {
            is_blank = matches!(&self.printed, Some(Value::Known(text, _)) if text.trim().is_empty());
            self.printed = printed.is_some().then(|| Value::known(String::new()));
            if let Flow::Next(next) | Flow::Return(next) = self.command(command, false)? {
                status = next;
            }
        }
        self.restore(outer);
        let last = commands.last().map_or_else(String::new, first_word);
        let what: Rc<str> = format!("what {last:?} answers (line {})", commands[0].line).into();
        // grep finds nothing in nothing, and everybody asks it for what is there.
        let is_nothing = is_blank && last == "grep";
        self.printed = printed
            .map(|_| if is_nothing { Value::known(String::new()) } else { Value::Unknown(what.clone()) });
        let answers = matches!(status, Status::Assumed(_) | Status::Unknown(_));
        Ok(Flow::Next(if answers { Status::Unknown(what) } else { status }))
    }

    /// Copies the variables, for a shell inside this one.
    pub(super) fn copied(&mut self) -> Read<(BTreeMap<String, Value>, Vec<Value>)> {
        let size = |value: &Value| if let Value::Known(text, _) = value { text.len() } else { 0 };
        let bytes: usize = self.variables.values().map(|value| COMMAND + size(value)).sum();
        self.spent = self.spent.saturating_add(bytes);
        self.spend(0, 0)?;
        Ok((self.variables.clone(), self.arguments.clone()))
    }

    pub(super) fn restore(&mut self, (variables, arguments): (BTreeMap<String, Value>, Vec<Value>)) {
        (self.variables, self.arguments) = (variables, arguments);
    }

    pub(super) fn command(&mut self, command: &Command<'a>, minds: bool) -> Read<Flow> {
        self.spend(COMMAND, command.line)?;
        let outer = match command.redirects[0] {
            true => self.printed.take(),
            false => None,
        };
        let flow = match &command.what {
            What::Simple(words) => self.simple(command, words, minds),
            _ => self.deeper(command.line, |shell| shell.compound(command)),
        };
        if outer.is_some() {
            self.printed = outer;
        }
        flow
    }

    fn compound(&mut self, command: &Command<'a>) -> Read<Flow> {
        let line = command.line;
        match &command.what {
            What::Simple(_) => Ok(Flow::Next(Status::Known(true))),
            What::Test(words) => Ok(Flow::Next(self.double_test(words, line)?)),
            What::Arithmetic(text) => Ok(Flow::Next(self.computed(text, line)?)),
            What::Count(parts, body) => self.count(*parts, body, line),
            What::Group(list) => self.list(list),
            What::Subshell(list) => {
                let outer = self.copied()?;
                let flow = self.list(list)?;
                self.restore(outer);
                Ok(match flow {
                    Flow::Exit => Flow::Next(Status::Known(true)),
                    flow => flow,
                })
            }
            What::Function(name, body) => {
                self.functions.insert(name, body.clone());
                Ok(Flow::Next(Status::Known(true)))
            }
            What::If(arms, otherwise) => self.condition(arms, otherwise, line),
            What::While { is_until, condition, body } => self.while_loop(*is_until, condition, body, line),
            What::For(name, words, body) => self.for_loop(name, words.as_ref(), body, line),
            What::Case(word, arms) => self.case(word, arms, line),
        }
    }

    fn condition(&mut self, arms: &[(List<'a>, List<'a>)], otherwise: &List<'a>, line: usize) -> Read<Flow> {
        for (at, (condition, body)) in arms.iter().enumerate() {
            let flow = self.list(condition)?;
            let Flow::Next(status) = flow else { return Ok(flow) };
            let what = match status {
                Status::Known(true) => return self.list(body),
                Status::Known(false) => continue,
                Status::Assumed(what) | Status::Unknown(what) => what,
            };
            let after = &arms[at + 1..];
            match (self.effect(body, line)?, self.effect_of_arms(after, otherwise, line)?) {
                // A branch that ends the script is taken not to come.
                (Effect::Guard, _) => continue,
                (_, Effect::Guard) => return self.list(body),
                (Effect::None, Effect::None) => return Ok(Flow::Next(Status::Unknown(what))),
                _ => return Err(self.unknown_condition(line, &what)),
            }
        }
        self.list(otherwise)
    }

    fn while_loop(
        &mut self,
        is_until: bool,
        condition: &List<'a>,
        body: &List<'a>,
        line: usize,
    ) -> Read<Flow> {
        loop {
            self.spend(COMMAND, line)?;
            let flow = self.list(condition)?;
            let Flow::Next(status) = flow else { return Ok(flow) };
            match status {
                Status::Known(is) if is != is_until => {}
                Status::Known(_) => return Ok(Flow::Next(Status::Known(true))),
                Status::Assumed(what) | Status::Unknown(what) => {
                    return match self.effect(body, line)? {
                        Effect::Some => Err(self.unknown_condition(line, &what)),
                        _ => Ok(Flow::Next(Status::Unknown(what))),
                    };
                }
            }
            if let Some(flow) = turned(self.list(body)?) {
                return Ok(flow);
            }
        }
    }

    /// Returns whether an expression is other than 0.
    fn computed(&mut self, text: &'a str, line: usize) -> Read<Status> {
        let value = self.single(text, line).and_then(|text| arithmetic::compute(self, &text, line));
        status_of(value.map(|value| value != 0))
    }

    fn count(&mut self, [first, condition, step]: [&'a str; 3], body: &List<'a>, line: usize) -> Read<Flow> {
        self.computed(first, line)?;
        loop {
            self.spend(COMMAND, line)?;
            // Without a condition the loop goes on.
            match self.computed(condition, line)? {
                Status::Known(false) if !condition.trim().is_empty() => {
                    return Ok(Flow::Next(Status::Known(true)));
                }
                Status::Known(_) => {}
                Status::Assumed(what) | Status::Unknown(what) => {
                    return Err(self.unknown_condition(line, &what));
                }
            }
            if let Some(flow) = turned(self.list(body)?) {
                return Ok(flow);
            }
            self.computed(step, line)?;
        }
    }

    fn for_loop(
        &mut self,
        name: &str,
        words: Option<&Vec<&'a str>>,
        body: &List<'a>,
        line: usize,
    ) -> Read<Flow> {
        let mut items: Vec<Value> = Vec::new();
        match words {
            None => items.clone_from(&self.arguments),
            Some(words) => {
                let mut fields = Vec::new();
                for word in words {
                    if self.is_bash
                        && let Some(range) = range(word)
                    {
                        fields.extend(range);
                        continue;
                    }
                    if is_braces(word) {
                        return Err((
                            line,
                            format!("found {:?}; accepted: the words themselves", shortened(word)),
                        ));
                    }
                    match self.fields(word, line, &mut fields) {
                        Ok(()) => {}
                        Err(Trouble::Refused(refusal)) => return Err(refusal),
                        Err(Trouble::Unknown(what)) => {
                            return match self.effect(body, line)? {
                                Effect::Some => Err(self.unknown_condition(line, &what)),
                                _ => Ok(Flow::Next(Status::Unknown(what))),
                            };
                        }
                    }
                }
                items.extend(fields.into_iter().map(Value::known));
            }
        }
        for item in items {
            self.spend(COMMAND, line)?;
            self.assign(name, item)?;
            if let Some(flow) = turned(self.list(body)?) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next(Status::Known(true)))
    }

    fn case(&mut self, word: &'a str, arms: &[(Vec<&'a str>, List<'a>)], line: usize) -> Read<Flow> {
        let text = match self.single(word, line) {
            Ok(text) => text,
            Err(Trouble::Refused(refusal)) => return Err(refusal),
            Err(Trouble::Unknown(what)) => return self.unknown_case(arms, line, &what),
        };
        for (patterns, body) in arms {
            for pattern in patterns {
                let pattern = match self.pattern(pattern, line) {
                    Ok(pattern) => pattern,
                    Err(Trouble::Refused(refusal)) => return Err(refusal),
                    Err(Trouble::Unknown(what)) => return self.unknown_case(arms, line, &what),
                };
                self.spent = self.spent.saturating_add(pattern.len() * text.len() / 64);
                self.spend(0, line)?;
                if pattern::matches(&pattern, &text) {
                    return self.list(body);
                }
            }
        }
        Ok(Flow::Next(Status::Known(true)))
    }

    fn unknown_case(&mut self, arms: &[(Vec<&'a str>, List<'a>)], line: usize, what: &Rc<str>) -> Read<Flow> {
        for (_, body) in arms {
            if let Effect::Some = self.effect(body, line)? {
                return Err(self.unknown_condition(line, what));
            }
        }
        Ok(Flow::Next(Status::Unknown(what.clone())))
    }

    /// Calls a function.
    pub(super) fn call(
        &mut self,
        function: &Rc<Command<'a>>,
        arguments: Vec<Value>,
        line: usize,
    ) -> Read<Flow> {
        let outer = core::mem::replace(&mut self.arguments, arguments);
        self.hidden.push(Vec::new());
        let flow = self.deeper(line, |shell| shell.command(function, false));
        for (name, value) in self.hidden.pop().into_iter().flatten().rev() {
            match value {
                Some(value) => _ = self.variables.insert(name, value),
                None => _ = self.variables.remove(&name),
            }
        }
        self.arguments = outer;
        Ok(match flow? {
            Flow::Return(status) => Flow::Next(status),
            flow => flow,
        })
    }
}

/// Returns what follows the loop, if a turn of it ended it.
fn turned(flow: Flow) -> Option<Flow> {
    match flow {
        Flow::Next(_) | Flow::Continue(0 | 1) => None,
        Flow::Break(0 | 1) => Some(Flow::Next(Status::Known(true))),
        Flow::Break(loops) => Some(Flow::Break(loops - 1)),
        Flow::Continue(loops) => Some(Flow::Continue(loops - 1)),
        flow => Some(flow),
    }
}

/// Returns the status that a truth is.
pub(super) fn status_of(truth: Result<bool, Trouble>) -> Read<Status> {
    match truth {
        Ok(is) => Ok(Status::Known(is)),
        Err(Trouble::Unknown(what)) => Ok(Status::Unknown(what)),
        Err(Trouble::Refused(refusal)) => Err(refusal),
    }
}

/// Returns the words that `{1..4}` is in bash.
fn range(word: &str) -> Option<Vec<String>> {
    let (first, last) = word.strip_prefix('{')?.strip_suffix('}')?.split_once("..")?;
    // Zeros in front would widen all numbers.
    let number = |text: &str| text.parse::<i64>().ok().filter(|number| number.to_string() == text);
    let (first, last) = (number(first)?, number(last)?);
    let count = usize::try_from(last.abs_diff(first)).ok().filter(|count| *count < 1 << 16)?;
    let step = if last < first { -1 } else { 1 };
    Some((0..=count as i64).map(|at| (first + at * step).to_string()).collect())
}

/// Returns whether bash makes several words of this one: `{1..4}`.
fn is_braces(word: &str) -> bool {
    word.contains('{') && !word.contains("${") && (word.contains("..") || word.contains(','))
}

/// Returns the first word of a command, for a message.
fn first_word(command: &Command<'_>) -> String {
    match &command.what {
        What::Simple(words) => words.first().map_or(String::new(), |word| shortened(word)),
        _ => "a loop".to_string(),
    }
}
