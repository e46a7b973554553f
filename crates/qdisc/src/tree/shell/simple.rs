//! Simple commands: assignments, functions, commands of `tc`, the shell's own, and those of other programs.

use super::array::element;
use super::batch::OBJECTS;
use super::expand::Trouble;
use super::script::Command;
use super::value::{Flow, Status, Value};
use super::{COMMAND, Read, Shell, is_name, shortened};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Programs that carry out the command behind their own words.
const BEFORE: [&str; 6] = ["sudo", "doas", "exec", "command", "nice", "env"];
/// Commands among whose words `tc` is only a word.
pub(super) const NAMING: [&str; 7] = ["command", "which", "type", "hash", "echo", "printf", "logger"];
/// Commands of `tc` that change nothing.
const SHOWING: [&str; 6] = ["show", "list", "ls", "get", "monitor", "help"];

/// Returns the name and the rest of a word `NAME=…` or `NAME+=…`.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    (is_name(name) || matches!(element(name), Some((_, _, "")))).then_some((name, value))
}

/// Returns whether `name` is `tc`, perhaps with its folder.
pub(super) fn is_tc(name: &str) -> bool {
    name == "tc" || name.ends_with("/tc")
}

/// Returns whether a command of `tc` with these words only shows something.
pub(super) fn shows<'w>(words: impl Iterator<Item = &'w str>) -> bool {
    let mut words = words.skip_while(|word| word.starts_with('-'));
    match (words.next(), words.next()) {
        (Some(object), _) if SHOWING.contains(&object) => true,
        (Some(object), None) => OBJECTS.contains(&object),
        (_, Some(verb)) => SHOWING.contains(&verb),
        (None, None) => true,
    }
}

impl<'a> Shell<'a, '_> {
    pub(super) fn simple(&mut self, command: &Command<'a>, words: &[&'a str], minds: bool) -> Read<Flow> {
        let line = command.line;
        let assigned = words.iter().take_while(|word| assignment(word).is_some()).count();
        let (assignments, words) = words.split_at(assigned);
        if words.is_empty() {
            let mut status = Status::Known(true);
            for word in assignments {
                self.set(word, line)?;
                if word.contains("$(") || word.contains('`') {
                    status =
                        Status::Assumed(format!("what {:?} answers (line {line})", shortened(word)).into());
                }
            }
            return Ok(Flow::Next(status));
        }
        self.missing = None;
        let mut first = Vec::new();
        match self.fields(words[0], line, &mut first) {
            Ok(()) => {}
            Err(Trouble::Refused(refusal)) => return Err(refusal),
            // The name of the program is unknown. It may be that of tc.
            Err(Trouble::Unknown(what)) => {
                return match words.iter().any(|word| OBJECTS.contains(word)) {
                    true => Err((line, format!("found a command that is {what}; accepted: tc"))),
                    false => Ok(self.foreign(words[0], line)),
                };
            }
        }
        let rest = &words[1..];
        let Some(name) = first.first().cloned() else {
            // A variable that holds nothing: the next word is the command.
            return match rest {
                [] => Ok(Flow::Next(Status::Known(true))),
                rest => self.simple(command, rest, minds),
            };
        };
        if let Some(function) = self.functions.get(name.as_str()).cloned() {
            let mut arguments: Vec<Value> = first.drain(1..).map(Value::known).collect();
            self.values(rest, line, &mut arguments)?;
            let outer = self.set_for_a_call(assignments, line)?;
            let flow = self.call(&function, arguments, line);
            for (name, value) in outer {
                match value {
                    Some(value) => self.assign(&name, value)?,
                    None => _ = self.variables.remove(&name),
                }
            }
            return flow;
        }
        if BEFORE.contains(&name.as_str()) && first.len() == 1 {
            let own =
                rest.iter().take_while(|word| word.starts_with('-') || assignment(word).is_some()).count();
            if let Some(next) = rest.get(own)
                && !(name == "command" && own > 0)
            {
                // Of sudo -u USER tc the user is the next word, so this is not tc's own line.
                let is_own = super::parse::plain(next).is_none_or(|next| is_tc(&next))
                    || name == "command"
                    || name == "exec";
                if is_own {
                    return self.simple(command, &rest[own..], minds);
                }
            }
        }
        if is_tc(&name) {
            return self.tc_of_script(command, first, rest, minds);
        }
        if OBJECTS.contains(&name.as_str()) {
            return Err((
                line,
                format!("found {name:?} without tc in front, in a script; accepted: tc {name} …"),
            ));
        }
        match self.builtin(&name, rest, command)? {
            Some(flow) => Ok(flow),
            None => {
                let is_word = NAMING.contains(&name.as_str());
                if !is_word && rest.iter().any(|word| is_tc(word)) {
                    let found = shortened(&words.join(" "));
                    return Err((
                        line,
                        format!("found tc inside {found:?}; accepted: tc itself, or sudo tc"),
                    ));
                }
                Ok(self.foreign(&name, line))
            }
        }
    }

    /// Skips the command of another program.
    pub(super) fn foreign(&mut self, name: &str, line: usize) -> Flow {
        self.skip(name);
        let what = format!("what {:?} answers (line {line})", shortened(name));
        if self.printed.is_some() {
            let prints = format!("what {:?} prints (line {line})", shortened(name));
            self.printed = Some(Value::Unknown(prints.into()));
        }
        Flow::Next(Status::Assumed(what.into()))
    }

    /// Adds the values of words. One that depends on an unknown value is a single value.
    pub(super) fn values(&mut self, words: &[&'a str], line: usize, values: &mut Vec<Value>) -> Read<()> {
        for word in words {
            let mut fields = Vec::new();
            let before = self.missing.take();
            match self.fields(word, line, &mut fields) {
                Ok(()) => {
                    let missing = self.missing.take();
                    values.extend(fields.into_iter().map(|field| Value::Known(field, missing.clone())));
                }
                Err(Trouble::Unknown(what)) => values.push(Value::Unknown(what)),
                Err(Trouble::Refused(refusal)) => return Err(refusal),
            }
            self.missing = before;
        }
        Ok(())
    }

    /// Carries out `NAME=value` or `NAME+=value`.
    pub(super) fn set(&mut self, word: &'a str, line: usize) -> Read<()> {
        let Some((name, value)) = assignment(word) else { return Ok(()) };
        let adds = word.as_bytes()[name.len()] == b'+';
        if let Some(inside) = value.strip_prefix('(').and_then(|value| value.strip_suffix(')')) {
            return self.set_array(name, inside, adds, line);
        }
        let key = match element(name).map(|(array, number, _)| self.element_key(array, number, line)) {
            None => name.to_string(),
            Some(Ok(key)) => key,
            Some(Err(Trouble::Refused(refusal))) => return Err(refusal),
            Some(Err(Trouble::Unknown(what))) => {
                return Err((
                    line,
                    format!("found {:?}, with {what}; accepted: a known number", shortened(word)),
                ));
            }
        };
        let name = key.as_str();
        self.missing = None;
        let value = match self.single(value, line) {
            Ok(text) => Value::Known(text, self.missing.take()),
            Err(Trouble::Unknown(what)) => Value::Unknown(what),
            Err(Trouble::Refused(refusal)) => return Err(refusal),
        };
        let value = match (adds, self.value_of(name), value) {
            (true, Some(Value::Known(before, missing)), Value::Known(text, more)) => {
                self.spend(before.len() + text.len(), line)?;
                Value::Known(before + &text, missing.or(more))
            }
            (true, Some(Value::Unknown(what)), _) => Value::Unknown(what),
            (_, _, value) => value,
        };
        if name == "IFS" && !matches!(&value, Value::Known(text, _) if text == " \t\n") {
            return Err((line, "found another IFS; accepted: blanks between words".to_string()));
        }
        self.assign(name, value)
    }

    /// Sets variables for the time of a call. Returns what they were.
    fn set_for_a_call(&mut self, words: &[&'a str], line: usize) -> Read<Vec<(String, Option<Value>)>> {
        let mut outer = Vec::new();
        for word in words {
            let name = assignment(word).map_or("", |(name, _)| name);
            outer.push((name.to_string(), self.variables.get(name).cloned()));
            self.set(word, line)?;
        }
        Ok(outer)
    }

    /// Carries out a command of `tc` in a script, of which the words `begun` are known.
    fn tc_of_script(
        &mut self,
        command: &Command<'a>,
        begun: Vec<String>,
        rest: &[&'a str],
        minds: bool,
    ) -> Read<Flow> {
        let line = command.line;
        let mut words = begun;
        words.remove(0);
        for (at, word) in rest.iter().enumerate() {
            match self.fields(word, line, &mut words) {
                Ok(()) => {}
                Err(Trouble::Refused(refusal)) => return Err(refusal),
                Err(Trouble::Unknown(_)) if shows(rest[..at].iter().copied()) && at > 1 => break,
                Err(Trouble::Unknown(what)) => {
                    let accepted = "a value that the script itself sets, as MTU=1500";
                    return Err((line, format!("found {what}; accepted: {accepted}")));
                }
            }
        }
        let missing = self.missing.take();
        if words.first().is_some_and(|word| word.len() > 1 && "-batch".starts_with(word.as_str())) {
            return match (command.lines, words.get(1).map(String::as_str)) {
                (Some(lines), None | Some("-")) => self.document(lines, line),
                _ => {
                    let accepted = "the lines of that file here, or tc -batch with <<";
                    Err((line, format!("found tc {}; accepted: {accepted}", shortened(&words.join(" ")))))
                }
            };
        }
        let options = words.iter().take_while(|word| word.starts_with('-')).count();
        words.drain(..options);
        if shows(words.iter().map(String::as_str)) {
            let what = format!("what \"tc {}\" shows (line {line})", shortened(&words.join(" ")));
            if self.printed.is_some() {
                self.printed = Some(Value::Unknown(what.clone().into()));
            }
            return Ok(Flow::Next(Status::Assumed(what.into())));
        }
        let unset = |name: &str| format!("${name} (line {line}) is empty, as no line before sets it");
        match (self.tc(&words, line), missing) {
            (Ok(()), None) => {}
            (Ok(()), Some(name)) => self.say(unset(&name)),
            (Err(_), Some(name)) => {
                let accepted = "a variable with a value, as DEV=eth0";
                return Err((
                    line,
                    format!("found ${name}, which no line before sets; accepted: {accepted}"),
                ));
            }
            // What follows a || is for this case, and so is an output that nobody reads.
            (Err((_, why)), None) if minds || command.redirects[1] => {
                self.say(format!("line {line} fails, and the script goes on: {why}"));
                return Ok(Flow::Next(Status::Known(false)));
            }
            (Err(refusal), None) => return Err(refusal),
        }
        Ok(Flow::Next(Status::Known(true)))
    }

    /// Carries out the lines of a here-document that `tc -batch` reads.
    fn document(&mut self, lines: &str, line: usize) -> Read<Flow> {
        if lines.contains(['$', '`']) {
            return Err((line, "found $ in the lines of tc -batch; accepted: lines without".to_string()));
        }
        self.batch(lines, line + 1)?;
        Ok(Flow::Next(Status::Known(true)))
    }

    /// Carries out a command of `tc`, with the words after `tc`.
    pub(super) fn tc(&mut self, words: &[String], line: usize) -> Read<()> {
        self.spend(COMMAND, line)?;
        (self.act)(words).map_err(|why| (line, why))?;
        self.done += 1;
        Ok(())
    }
}
