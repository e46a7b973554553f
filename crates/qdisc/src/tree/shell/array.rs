//! Arrays of bash: `NAME=(…)`, `NAME+=(…)`, `NAME[number]=…`, and what `${NAME[…]}` is of them. An element is a
//! variable of its own, with the number in its name.

use super::arithmetic;
use super::expand::{Expanded, Trouble};
use super::lex::{Lexer, Token};
use super::value::Value;
use super::{Read, Shell, is_name};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Returns the name, the text of the number, and the rest of a word that begins with `NAME[number]`.
pub(super) fn element(word: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = word.split_once('[')?;
    let (number, rest) = rest.split_once(']')?;
    is_name(name).then_some((name, number, rest))
}

impl<'a> Shell<'a, '_> {
    /// Returns the elements of an array in their order. A variable that is none is one element.
    pub(super) fn elements(&self, name: &str) -> Vec<Value> {
        match self.variables.get(name) {
            Some(value) => alloc::vec![value.clone()],
            None => self
                .numbers(name)
                .into_iter()
                .filter_map(|at| self.variables.get(&key(name, at)).cloned())
                .collect(),
        }
    }

    /// Returns the numbers of the elements of an array.
    fn numbers(&self, name: &str) -> Vec<i64> {
        let start = format!("{name}[");
        let own = self.variables.range(start.clone()..).take_while(|(key, _)| key.starts_with(&start));
        let mut numbers: Vec<i64> =
            own.filter_map(|(key, _)| key[start.len()..].trim_end_matches(']').parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Carries out `NAME=(…)`, of which `text` is the inside, or `NAME+=(…)`.
    pub(super) fn set_array(&mut self, name: &str, text: &'a str, adds: bool, line: usize) -> Read<()> {
        let mut values = Vec::new();
        let mut words = Lexer::new(text, line);
        loop {
            match words.next()? {
                Token::Word(word) if element(word).is_some() => {
                    return Err((
                        line,
                        format!("found {word:?} in an array; accepted: its elements in a row"),
                    ));
                }
                Token::Word(word) => self.values(&[word], line, &mut values)?,
                Token::Operator("\n") => {}
                Token::End => break,
                _ => return Err((line, "found an operator in an array; accepted: words".to_string())),
            }
        }
        if !adds {
            self.unset(name);
        }
        let first = self.numbers(name).last().map_or(0, |last| last + 1);
        for (at, value) in (first..).zip(values) {
            self.variables.insert(key(name, at), value);
        }
        Ok(())
    }

    /// Removes a variable, and the elements of an array.
    pub(super) fn unset(&mut self, name: &str) {
        self.variables.remove(name);
        for at in self.numbers(name) {
            self.variables.remove(&key(name, at));
        }
    }

    /// Returns the name under which an element is kept.
    pub(super) fn element_key(&mut self, name: &str, number: &'a str, line: usize) -> Expanded<String> {
        let text = self.single(number, line)?;
        let at = arithmetic::compute(self, &text, line)?;
        if at < 0 {
            let why = format!("found {name}[{at}]; accepted: a number from 0 on");
            return Err(Trouble::Refused((line, why)));
        }
        Ok(if at == 0 && self.variables.contains_key(name) { name.to_string() } else { key(name, at) })
    }
}

fn key(name: &str, at: i64) -> String {
    format!("{name}[{at}]")
}
