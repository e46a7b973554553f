//! The text of commands, and the words of one of them.
//!
//! A file of commands may be a shell script, as people have it: comments, continued lines, assignments (`DEV=eth0`),
//! and commands whose failure does not matter (`2>/dev/null || true`). Loops and functions are not read.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use goodqueue_units::number as numbers;

/// Reads a number as C does: decimal, or hexadecimal after `0x`.
pub(super) fn number(text: &str) -> Result<u32, String> {
    let read = numbers::whole(text).and_then(|number| u32::try_from(number).ok());
    read.ok_or_else(|| format!("found {text:?}; accepted: a number"))
}

/// Reads a hexadecimal number, with or without `0x`.
pub(super) fn hexadecimal(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    u32::from_str_radix(digits, 16).map_err(|_| format!("found {text:?}; accepted: a hexadecimal number"))
}

/// The words of a command, taken from the left.
pub(super) struct Line<'a> {
    words: &'a [String],
    at: usize,
}

impl<'a> Line<'a> {
    pub(super) fn new(words: &'a [String]) -> Self {
        Self { words, at: 0 }
    }

    pub(super) fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at)?;
        self.at += 1;
        Some(word)
    }

    pub(super) fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).map(String::as_str)
    }

    /// Takes the next word if it is `word`.
    pub(super) fn next_if(&mut self, word: &str) -> bool {
        let is = self.peek() == Some(word);
        self.at += usize::from(is);
        is
    }

    /// Returns the word after `name`.
    pub(super) fn value(&mut self, name: &str) -> Result<&'a str, String> {
        self.next().ok_or_else(|| format!("{name}: found nothing after it; accepted: a value"))
    }

    /// Takes all the words that are left.
    pub(super) fn rest(&mut self) -> &'a [String] {
        let rest = &self.words[self.at.min(self.words.len())..];
        self.at = self.words.len();
        rest
    }
}

/// A command of `tc`: its words after `tc`, and the number of its line in the text.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) number: usize,
    pub(super) words: Vec<String>,
}

/// Splits `text` into commands of `tc`. The error has the number of the line.
pub(super) fn commands(text: &str) -> Result<Vec<Command>, (usize, String)> {
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    let mut found = Vec::new();
    let mut begun = String::new();
    // Of a single line the commands are counted.
    let is_single = text.trim_end().lines().count() <= 1;
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        if let Some(part) = line.trim_end().strip_suffix('\\') {
            begun = begun + part + " ";
            continue;
        }
        let line = core::mem::take(&mut begun) + line;
        let without_comment = match line.trim_start().starts_with('#') {
            true => "",
            false => line.split_once(" #").map_or(line.as_str(), |(before, _)| before),
        };
        for (place, part) in without_comment.split(';').enumerate() {
            let number = if is_single { place + 1 } else { number };
            let part = part.split_once("||").map_or(part, |(before, _)| before);
            let mut words: Vec<String> = Vec::new();
            for word in part.split_whitespace() {
                words.push(expanded(word, &variables).map_err(|why| (number, why))?);
            }
            words.retain(|word| !word.contains('>'));
            if let ["set", ..] | [] = words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                continue;
            }
            if let (1, Some((name, value))) = (words.len(), words[0].split_once('=')) {
                variables.insert(name.to_string(), value.to_string());
                continue;
            }
            let own = usize::from(words[0] == "sudo");
            match words.get(own) {
                Some(program) if program == "tc" || program.ends_with("/tc") => {
                    // A variable may hold several words, or none.
                    let words = words[own + 1..].iter().flat_map(|word| word.split_whitespace());
                    let words = words.skip_while(|word| word.starts_with('-')).map(str::to_string).collect();
                    found.push(Command { number, words });
                }
                other => {
                    let other = other.map_or("", |word| word);
                    let why = format!("found {other:?}; accepted: commands of tc, comments, and NAME=value");
                    return Err((number, why));
                }
            }
        }
    }
    Ok(found)
}

/// Replaces the variables in a word, and takes its quotes away.
fn expanded(word: &str, variables: &BTreeMap<String, String>) -> Result<String, String> {
    let word: String = word.chars().filter(|letter| !matches!(letter, '"' | '\'')).collect();
    let mut parts = word.split('$');
    let mut result = parts.next().unwrap_or("").to_string();
    for part in parts {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let (name, rest) = match part.strip_prefix('{').and_then(|part| part.split_once('}')) {
            Some(pair) => pair,
            None => part.split_at(part.find(|letter| !is_name(letter)).unwrap_or(part.len())),
        };
        let value = variables.get(name).ok_or_else(|| {
            format!(
                "found ${name}, which no line before sets; accepted: a variable with a value, as DEV=eth0"
            )
        })?;
        result = result + value + rest;
    }
    Ok(result)
}
