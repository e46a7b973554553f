//! Arithmetic of the shell: `$((…))` (POSIX.1-2017, Shell Command Language, 2.6.4), with signed integers of 64 bits
//! that wrap, as dash and bash have them.

use super::expand::{Trouble, unknown};
use super::value::Value;
use super::{Shell, is_name};
use alloc::format;
use alloc::string::{String, ToString};
use goodqueue_units::number;

/// The most brackets and signs inside each other.
const DEEPEST: usize = 16;

/// Operators of two sides with their strength. Longer ones are tried first.
const BINARY: [(&str, u8); 19] = [
    ("||", 1),
    ("&&", 2),
    ("==", 6),
    ("!=", 6),
    ("<<", 8),
    (">>", 8),
    ("<=", 7),
    (">=", 7),
    ("**", 11),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("<", 7),
    (">", 7),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
    ("%", 10),
];

type Computed<T> = Result<T, Trouble>;

/// An expression that is being computed.
struct Expression<'s, 'a, 'd> {
    shell: &'s mut Shell<'a, 'd>,
    text: &'s str,
    at: usize,
    line: usize,
    depth: usize,
    /// Above 0: in a part that `&&`, `||` or `?:` leave out.
    left_out: usize,
}

/// Computes `text`, whose expansions are done.
pub(super) fn compute(shell: &mut Shell<'_, '_>, text: &str, line: usize) -> Computed<i64> {
    let mut expression = Expression { shell, text, at: 0, line, depth: 0, left_out: 0 };
    if expression.rest().is_empty() {
        return Ok(0);
    }
    let result = expression.choice()?;
    if expression.rest().is_empty() { Ok(result) } else { Err(expression.refused()) }
}

impl<'s> Expression<'s, '_, '_> {
    fn rest(&mut self) -> &'s str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn take(&mut self, word: &str) -> bool {
        let is = self.rest().starts_with(word);
        self.at += if is { word.len() } else { 0 };
        is
    }

    fn refused(&self) -> Trouble {
        let found = super::shortened(self.text);
        Trouble::Refused((self.line, format!("found $(({found})); accepted: arithmetic of integers")))
    }

    /// Computes an assignment, or `a ? b : c`, or less.
    fn choice(&mut self) -> Computed<i64> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.refused());
        }
        let condition = self.binary(1)?;
        let mut result = condition;
        if self.take("?") {
            let first = self.part(condition == 0, Self::choice)?;
            if !self.take(":") {
                return Err(self.refused());
            }
            let second = self.part(condition != 0, Self::choice)?;
            result = if condition != 0 { first } else { second };
        }
        self.depth -= 1;
        Ok(result)
    }

    /// Computes a part, which may be left out.
    fn part(&mut self, is_left_out: bool, read: impl FnOnce(&mut Self) -> Computed<i64>) -> Computed<i64> {
        self.left_out += usize::from(is_left_out);
        let result = read(self);
        self.left_out -= usize::from(is_left_out);
        result
    }

    /// Computes operators of at least this strength.
    fn binary(&mut self, weakest: u8) -> Computed<i64> {
        let mut left = self.unary()?;
        loop {
            let rest = self.rest();
            let found = BINARY.iter().find(|(word, _)| rest.starts_with(word));
            let Some((word, strength)) = found.filter(|(_, strength)| *strength >= weakest) else {
                return Ok(left);
            };
            self.at += word.len();
            let is_left_out = matches!((*word, left), ("&&", 0)) || *word == "||" && left != 0;
            // ** is computed from the right.
            let next = if *word == "**" { *strength } else { strength + 1 };
            let right = self.part(is_left_out, |own| own.binary(next))?;
            left = match operate(word, left, right) {
                Some(result) => result,
                None if self.left_out > 0 => 0,
                None => return Err(self.refused()),
            };
        }
    }

    fn unary(&mut self) -> Computed<i64> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.refused());
        }
        let rest = self.rest();
        let result = match rest.as_bytes().first() {
            Some(b'(') => {
                self.at += 1;
                let inner = self.choice()?;
                if !self.take(")") {
                    return Err(self.refused());
                }
                inner
            }
            Some(b'+' | b'-') if rest.starts_with("++") || rest.starts_with("--") => self.stepped()?,
            Some(sign @ (b'-' | b'+' | b'!' | b'~')) => {
                self.at += 1;
                let inner = self.unary()?;
                match sign {
                    b'-' => inner.wrapping_neg(),
                    b'!' => i64::from(inner == 0),
                    b'~' => !inner,
                    _ => inner,
                }
            }
            _ => self.operand(rest)?,
        };
        self.depth -= 1;
        Ok(result)
    }

    /// Computes `++NAME` or `--NAME`.
    fn stepped(&mut self) -> Computed<i64> {
        let step = if self.take("++") { 1 } else { -1 };
        self.at += if step < 0 { 2 } else { 0 };
        let rest = self.rest();
        let name = word(rest);
        if !is_name(name) {
            return Err(self.refused());
        }
        self.at += name.len();
        let value = self.value(name)?.wrapping_add(step);
        self.assign(name, value)
    }

    /// Computes a number, a variable, or an assignment to one.
    fn operand(&mut self, rest: &'s str) -> Computed<i64> {
        let word = word(rest);
        self.at += word.len();
        if !is_name(word) {
            return integer(word).ok_or_else(|| self.refused());
        }
        let after = self.rest();
        if after.starts_with("++") || after.starts_with("--") {
            self.at += 2;
            let value = self.value(word)?;
            self.assign(word, value.wrapping_add(if after.starts_with('+') { 1 } else { -1 }))?;
            return Ok(value);
        }
        if after.starts_with('=') && !after.starts_with("==") {
            self.at += 1;
            let value = self.choice()?;
            return self.assign(word, value);
        }
        let assigning = BINARY.iter().find(|(operator, _)| {
            after
                .strip_prefix(operator)
                .is_some_and(|after| after.starts_with('=') && !after.starts_with("=="))
        });
        let Some((operator, _)) = assigning.filter(|(_, strength)| !matches!(strength, 1 | 2 | 6 | 7)) else {
            return self.value(word);
        };
        self.at += operator.len() + 1;
        let (left, right) = (self.value(word)?, self.choice()?);
        let value = operate(operator, left, right).ok_or_else(|| self.refused())?;
        self.assign(word, value)
    }

    /// Returns the value of a variable. One that is not set, or empty, is 0.
    fn value(&mut self, name: &str) -> Computed<i64> {
        let text = match self.shell.text_of(name) {
            Err(_) if self.left_out > 0 => return Ok(0),
            text => text?,
        };
        let text = text.trim();
        if text.is_empty() || self.left_out > 0 {
            return Ok(0);
        }
        integer(text).ok_or_else(|| {
            unknown(format!("${name} of {:?} as a number (line {})", super::shortened(text), self.line))
        })
    }

    fn assign(&mut self, name: &str, value: i64) -> Computed<i64> {
        if self.left_out == 0 {
            let known = Value::known(value.to_string());
            self.shell.assign(name, known)?;
        }
        Ok(value)
    }
}

/// Returns the letters and digits at the beginning of `text`.
fn word(text: &str) -> &str {
    let end = text.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    &text[..end.unwrap_or(text.len())]
}

/// Reads an integer as C writes it, with a sign.
pub(super) fn integer(text: &str) -> Option<i64> {
    let (sign, digits): (i128, &str) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    if !digits.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let number: u64 = number::whole(digits)?;
    // dash takes the largest number for a larger one, bash wraps: neither is meant.
    i64::try_from(sign * i128::from(number)).ok()
}

/// Computes `left` and `right`. `None`: a division by 0, or a negative power.
fn operate(operator: &str, left: i64, right: i64) -> Option<i64> {
    let truth = |is: bool| Some(i64::from(is));
    let shift = (right & 63) as u32;
    match operator {
        "||" => truth(left != 0 || right != 0),
        "&&" => truth(left != 0 && right != 0),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "&" => Some(left & right),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        "<" => truth(left < right),
        ">" => truth(left > right),
        "<=" => truth(left <= right),
        ">=" => truth(left >= right),
        "<<" => Some(left.wrapping_shl(shift)),
        ">>" => Some(left.wrapping_shr(shift)),
        "+" => Some(left.wrapping_add(right)),
        "-" => Some(left.wrapping_sub(right)),
        "*" => Some(left.wrapping_mul(right)),
        "/" => (right != 0).then(|| left.wrapping_div(right)),
        "%" => (right != 0).then(|| left.wrapping_rem(right)),
        _ => Some(left.wrapping_pow(u32::try_from(right).ok()?)),
    }
}

/// Computes what `expr` computes of these words: two integers, or more of them from the left.
pub(super) fn expr(words: &[String]) -> Option<i64> {
    let joined = words.join(" ");
    let is_plain = words.len() % 2 == 1
        && words.iter().enumerate().all(|(at, word)| match at % 2 {
            0 => word.strip_prefix('-').unwrap_or(word).bytes().all(|byte| byte.is_ascii_digit()),
            _ => matches!(word.as_str(), "+" | "-" | "*" | "/" | "%"),
        });
    if !is_plain || joined.contains('(') {
        return None;
    }
    // Products come first: they are the parts of a sum.
    let decimal = |word: &String| word.parse::<i64>().ok();
    let (mut sum, mut sign, mut product) = (0i64, 1i64, decimal(words.first()?)?);
    for pair in words[1..].chunks_exact(2) {
        let (operator, right) = (pair[0].as_str(), decimal(&pair[1])?);
        if matches!(operator, "+" | "-") {
            sum = sum.checked_add(sign.checked_mul(product)?)?;
            (sign, product) = (if operator == "-" { -1 } else { 1 }, right);
        } else {
            product = match operator {
                "*" => product.checked_mul(right)?,
                "/" => product.checked_div(right)?,
                _ => product.checked_rem(right)?,
            };
        }
    }
    sum.checked_add(sign.checked_mul(product)?)
}
