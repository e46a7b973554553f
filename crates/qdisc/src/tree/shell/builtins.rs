//! The shell's own commands (POSIX.1-2017, Shell Command Language, 2.14, and `local`, `declare`, `let` of shells).

use super::arithmetic;
use super::script::Command;
use super::simple::{assignment, is_tc};
use super::value::{Flow, Status, Value};
use super::{Read, Shell, is_name, shortened};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

const SUCCESS: Flow = Flow::Next(Status::Known(true));

impl<'a> Shell<'a, '_> {
    /// Carries out the command `name`, if it is one of the shell's own.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        rest: &[&'a str],
        command: &Command<'a>,
    ) -> Read<Option<Flow>> {
        let line = command.line;
        let flow = match name {
            // Its words may set variables: : "${X:=1}".
            ":" => {
                self.values(rest, line, &mut Vec::new())?;
                SUCCESS
            }
            "true" | "trap" | "umask" | "shopt" | "ulimit" | "wait" | "cd" => SUCCESS,
            "exec" if rest.is_empty() => SUCCESS,
            "false" => Flow::Next(Status::Known(false)),
            "set" => {
                let mut values = Vec::new();
                self.values(rest, line, &mut values)?;
                match values.first() {
                    Some(Value::Known(first, _)) if first == "--" => self.arguments = values.split_off(1),
                    Some(Value::Known(first, _)) if first.starts_with(['-', '+']) => {}
                    Some(_) => self.arguments = values,
                    None => {}
                }
                SUCCESS
            }
            "shift" => {
                let count = self.number(rest, line)?.unwrap_or(1);
                let is_there = count <= self.arguments.len();
                self.arguments.drain(..count.min(self.arguments.len()));
                Flow::Next(Status::Known(is_there))
            }
            "local" | "declare" | "typeset" | "export" | "readonly" => {
                self.declare(name, rest, line)?;
                SUCCESS
            }
            "unset" => {
                for name in rest {
                    self.unset(name);
                    self.functions.remove(name);
                }
                SUCCESS
            }
            "return" => Flow::Return(match rest.first() {
                None => match &self.last {
                    Value::Known(text, _) => Status::Known(text == "0"),
                    Value::Unknown(what) => Status::Unknown(what.clone()),
                },
                Some(_) => {
                    let mut values = Vec::new();
                    self.values(&rest[..1], line, &mut values)?;
                    match values.first() {
                        Some(Value::Unknown(what)) => Status::Unknown(what.clone()),
                        Some(Value::Known(text, _)) => Status::Known(text == "0"),
                        None => Status::Known(true),
                    }
                }
            }),
            "exit" => {
                if self.done == 0 && self.printed.is_none() {
                    let accepted =
                        "a script that comes to its commands; set -- WORDS in front gives it arguments";
                    return Err((line, format!("found exit before any command of tc; accepted: {accepted}")));
                }
                Flow::Exit
            }
            "break" => Flow::Break(self.number(rest, line)?.unwrap_or(1)),
            "continue" => Flow::Continue(self.number(rest, line)?.unwrap_or(1)),
            "test" => Flow::Next(self.test(rest, line)?),
            "[" => match rest.split_last() {
                Some((&"]", words)) => Flow::Next(self.test(words, line)?),
                _ => return Err((line, "found [ without ]; accepted: both".to_string())),
            },
            "let" => {
                let mut value = Ok(0);
                for word in rest {
                    let text = self.single(word, line);
                    value = text.and_then(|text| arithmetic::compute(self, &text, line));
                }
                Flow::Next(super::run::status_of(value.map(|value| value != 0))?)
            }
            "read" => {
                for name in rest.iter().filter(|name| is_name(name)) {
                    self.assign(
                        name,
                        Value::Unknown(format!("what is read into ${name} (line {line})").into()),
                    )?;
                }
                self.skip(name);
                Flow::Next(Status::Unknown(format!("what there is to read (line {line})").into()))
            }
            "getopts" => return self.getopts(rest, line).map(Some),
            "eval" => return self.eval(rest, line).map(Some),
            "echo" | "printf" | "expr" | "seq" | "which" | "command" | "type" | "cat"
                if self.printed.is_some() =>
            {
                return self.printing(name, rest, line);
            }
            _ => return Ok(None),
        };
        Ok(Some(flow))
    }

    /// Returns the number that the first of `words` is, if there is one.
    fn number(&mut self, words: &[&'a str], line: usize) -> Read<Option<usize>> {
        let Some(word) = words.first() else { return Ok(None) };
        let text = self.single(word, line).unwrap_or_default();
        let refused = || (line, format!("found {:?}; accepted: a number", shortened(word)));
        text.parse().map(Some).map_err(|_| refused())
    }

    /// Carries out `local`, `export` and the like.
    fn declare(&mut self, how: &str, words: &[&'a str], line: usize) -> Read<()> {
        if words.iter().any(|word| word.starts_with('-') && word.contains('A')) {
            return Err((line, format!("found {how} -A; accepted: arrays with numbers")));
        }
        let hides = !matches!(how, "export" | "readonly");
        for word in words.iter().filter(|word| !word.starts_with('-')) {
            let name = assignment(word).map_or(*word, |(name, _)| name);
            if !is_name(name) {
                continue;
            }
            let value = self.variables.get(name).cloned();
            if hides && let Some(hidden) = self.hidden.last_mut() {
                hidden.push((name.to_string(), value));
                // Other shells keep the value from outside.
                if self.is_bash {
                    self.variables.insert(name.to_string(), Value::known(String::new()));
                }
            }
            if assignment(word).is_some() {
                self.set(word, line)?;
            }
        }
        Ok(())
    }

    /// Carries out `eval` of plain words: assignments, or a command of tc.
    fn eval(&mut self, rest: &[&'a str], line: usize) -> Read<Flow> {
        let refused = |found: &str| {
            (line, format!("found eval {:?}; accepted: the command itself, without eval", shortened(found)))
        };
        let mut values = Vec::new();
        self.values(rest, line, &mut values)?;
        let mut words = Vec::new();
        for value in values {
            let Value::Known(text, _) = value else { return Err(refused(&rest.join(" "))) };
            if text.contains(|letter: char| "$`\"'\\;&|<>()#*?\n".contains(letter)) {
                return Err(refused(&text));
            }
            words.extend(text.split_whitespace().map(ToString::to_string));
        }
        if words.first().is_some_and(|word| is_tc(word)) {
            self.tc(&words[1..], line)?;
            return Ok(SUCCESS);
        }
        for word in words.iter().filter(|word| *word != "export") {
            let Some((name, value)) =
                assignment(word).filter(|(name, _)| !word[name.len()..].starts_with('+'))
            else {
                return Err(refused(&words.join(" ")));
            };
            self.assign(name, Value::known(value.to_string()))?;
        }
        Ok(SUCCESS)
    }

    /// Carries out `getopts OPTIONS NAME`: takes one option out of the arguments.
    fn getopts(&mut self, rest: &[&'a str], line: usize) -> Read<Flow> {
        let [options, name] = rest else {
            return Err((
                line,
                "found getopts with arguments of its own; accepted: getopts OPTIONS NAME".to_string(),
            ));
        };
        let options = self.single(options, line).unwrap_or_default();
        let place = match self.value_of("OPTIND") {
            Some(Value::Known(text, _)) => text.parse().unwrap_or(1),
            _ => 1usize,
        };
        let word = match self.arguments.get(place.wrapping_sub(1)) {
            Some(Value::Known(word, _)) => word.clone(),
            Some(Value::Unknown(what)) => return Ok(Flow::Next(Status::Unknown(what.clone()))),
            None => String::new(),
        };
        let mut letters = word.chars().skip(self.option.max(1));
        let letter = letters.next().filter(|_| word.starts_with('-') && word != "--");
        let Some(letter) = letter else {
            let next = if word == "--" { place + 1 } else { place };
            self.assign("OPTIND", Value::known(next.to_string()))?;
            self.assign(name, Value::known("?".to_string()))?;
            return Ok(Flow::Next(Status::Known(false)));
        };
        let after: String = letters.collect();
        let known = options.find(letter).filter(|_| letter != ':');
        let takes = known.is_some_and(|at| options[at + letter.len_utf8()..].starts_with(':'));
        let mut next = place;
        let mut found = if known.is_some() { letter } else { '?' };
        if takes {
            let value = match after.is_empty() {
                true => self.arguments.get(place).cloned(),
                false => Some(Value::known(after.clone())),
            };
            next += 1 + usize::from(after.is_empty());
            match value {
                Some(value) => self.assign("OPTARG", value)?,
                None => found = '?',
            }
        }
        if !takes && after.is_empty() {
            next += 1;
        }
        self.option = if next == place { self.option.max(1) + 1 } else { 0 };
        self.assign("OPTIND", Value::known(next.to_string()))?;
        self.assign(name, Value::known(found.to_string()))?;
        Ok(SUCCESS)
    }
}
