//! Conditions: `[ … ]`, `test` and `[[ … ]]`.

use super::arithmetic;
use super::expand::{Expanded, Trouble, unknown};
use super::pattern;
use super::run::status_of;
use super::value::{Status, Value};
use super::{DEEPEST, Read, Shell, shortened};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A word of a condition.
struct Operand {
    value: Value,
    /// The pattern that it is, in `[[`.
    pattern: Option<String>,
}

impl Operand {
    fn is(&self, word: &str) -> bool {
        matches!(&self.value, Value::Known(text, _) if text == word)
    }
}

/// A condition that is being decided.
struct Condition<'s, 'a, 'd> {
    shell: &'s mut Shell<'a, 'd>,
    operands: Vec<Operand>,
    is_double: bool,
    at: usize,
    line: usize,
    depth: usize,
}

const BINARY: [&str; 14] =
    ["=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "<", ">", "=~", "-nt", "-ot"];

impl<'a> Shell<'a, '_> {
    /// Decides `[ words ]`.
    pub(super) fn test(&mut self, words: &[&'a str], line: usize) -> Read<Status> {
        let mut values = Vec::new();
        self.values(words, line, &mut values)?;
        let operands = values.into_iter().map(|value| Operand { value, pattern: None }).collect();
        self.decide(operands, false, line)
    }

    /// Decides `[[ words ]]`, whose words are not split.
    pub(super) fn double_test(&mut self, words: &[&'a str], line: usize) -> Read<Status> {
        let mut operands: Vec<Operand> = Vec::new();
        for word in words {
            let is_pattern =
                operands.last().is_some_and(|last| ["=", "==", "!="].iter().any(|sign| last.is(sign)));
            if is_pattern {
                let pattern = self.pattern(word, line);
                let value = match &pattern {
                    Ok(pattern) => Value::known(pattern.clone()),
                    Err(Trouble::Unknown(what)) => Value::Unknown(what.clone()),
                    Err(Trouble::Refused(refusal)) => return Err(refusal.clone()),
                };
                operands.push(Operand { value, pattern: pattern.ok() });
                continue;
            }
            let value = match self.single(word, line) {
                Ok(text) => Value::known(text),
                Err(Trouble::Unknown(what)) => Value::Unknown(what),
                Err(Trouble::Refused(refusal)) => return Err(refusal),
            };
            let value = match *word {
                "&&" => Value::known("-a".to_string()),
                "||" => Value::known("-o".to_string()),
                _ => value,
            };
            operands.push(Operand { value, pattern: None });
        }
        self.decide(operands, true, line)
    }

    fn decide(&mut self, operands: Vec<Operand>, is_double: bool, line: usize) -> Read<Status> {
        let mut condition = Condition { shell: self, operands, is_double, at: 0, line, depth: 0 };
        let result = match condition.operands.len() {
            0 => Ok(false),
            _ => condition.any(),
        };
        // Words that are left over are an error of test, which answers 2.
        let is_whole = condition.at == condition.operands.len() || matches!(result, Err(Trouble::Refused(_)));
        if !is_whole {
            return Ok(Status::Known(false));
        }
        status_of(result)
    }
}

impl Condition<'_, '_, '_> {
    fn next_is(&self, ahead: usize, word: &str) -> bool {
        self.operands.get(self.at + ahead).is_some_and(|operand| operand.is(word))
    }

    fn any(&mut self) -> Expanded<bool> {
        let mut result = self.all();
        while self.next_is(0, "-o") {
            self.at += 1;
            result = either(result, self.all(), true);
        }
        result
    }

    fn all(&mut self) -> Expanded<bool> {
        let mut result = self.one();
        while self.next_is(0, "-a") {
            self.at += 1;
            result = either(result, self.one(), false);
        }
        result
    }

    fn one(&mut self) -> Expanded<bool> {
        let left = self.operands.len() - self.at;
        let operator = self.operands.get(self.at + 1).map(|operand| &operand.value);
        if left >= 3
            && let Some(Value::Known(operator, _)) = operator
            && BINARY.contains(&operator.as_str())
        {
            let operator = operator.clone();
            self.at += 3;
            return self.compare(self.at - 3, &operator);
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Trouble::Refused((
                self.line,
                format!("found a condition more than {DEEPEST} deep; accepted: {DEEPEST}"),
            )));
        }
        let result = self.alone(left);
        self.depth -= 1;
        result
    }

    fn alone(&mut self, left: usize) -> Expanded<bool> {
        if self.next_is(0, "!") && left > 1 {
            self.at += 1;
            return self.one().map(|is| !is);
        }
        if self.next_is(0, "(") && left > 2 {
            self.at += 1;
            let result = self.any();
            self.at += usize::from(self.next_is(0, ")"));
            return result;
        }
        let Some(operand) = self.operands.get(self.at) else { return Ok(false) };
        let word = self.shell.text(&operand.value)?;
        let is_unary =
            left > 1 && word.len() == 2 && word.starts_with('-') && !matches!(word.as_str(), "-a" | "-o");
        self.at += 1;
        if !is_unary {
            return Ok(!word.is_empty());
        }
        let value = &self.operands[self.at].value;
        self.at += 1;
        let text = self.shell.text(value)?;
        match word.as_str() {
            "-z" => Ok(text.is_empty()),
            "-n" => Ok(!text.is_empty()),
            "-v" => Ok(self.shell.value_of(&text).is_some()),
            _ => Err(unknown(format!("the file {:?} (line {})", shortened(&text), self.line))),
        }
    }

    fn compare(&mut self, at: usize, operator: &str) -> Expanded<bool> {
        let (left, right) = (&self.operands[at], &self.operands[at + 2]);
        let (one, other) = (self.shell.text(&left.value)?, self.shell.text(&right.value)?);
        let fits = match &right.pattern {
            Some(pattern) => {
                self.shell.spend(0, self.line)?;
                self.shell.spent += pattern.len().saturating_mul(one.len()) / 64;
                pattern::matches(pattern, &one)
            }
            None => one == other,
        };
        let is_double = self.is_double;
        match operator {
            "=" | "==" => return Ok(fits),
            "!=" => return Ok(!fits),
            "<" => return Ok(one < other),
            ">" => return Ok(one > other),
            "=~" | "-nt" | "-ot" => {
                return Err(unknown(format!("what {operator} says (line {})", self.line)));
            }
            _ => {}
        }
        let mut number = |text: &str| match text.trim().parse::<i64>() {
            Ok(number) => Ok(Some(number)),
            Err(_) if is_double => arithmetic::compute(self.shell, text, self.line).map(Some),
            Err(_) => Ok(None),
        };
        let (Some(one), Some(other)) = (number(&one)?, number(&other)?) else {
            // test prints an error, and answers 2.
            return Ok(false);
        };
        Ok(match operator {
            "-eq" => one == other,
            "-ne" => one != other,
            "-lt" => one < other,
            "-le" => one <= other,
            "-gt" => one > other,
            _ => one >= other,
        })
    }
}

/// Returns `left` or `right` (if `or`), or `left` and `right`, also where only one of them is known.
fn either(left: Expanded<bool>, right: Expanded<bool>, or: bool) -> Expanded<bool> {
    match (left, right) {
        (Ok(left), Ok(right)) => Ok(if or { left || right } else { left && right }),
        (Err(refused @ Trouble::Refused(_)), _) | (_, Err(refused @ Trouble::Refused(_))) => Err(refused),
        (Ok(known), Err(_)) | (Err(_), Ok(known)) if known == or => Ok(or),
        (Err(trouble), _) | (_, Err(trouble)) => Err(trouble),
    }
}
