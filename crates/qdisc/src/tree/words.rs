//! The words of one command.

use alloc::format;
use alloc::string::String;
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

    /// Returns all the words that are left.
    pub(super) fn left(&self) -> &'a [String] {
        &self.words[self.at.min(self.words.len())..]
    }

    /// Takes all the words that are left.
    pub(super) fn rest(&mut self) -> &'a [String] {
        let rest = self.left();
        self.at = self.words.len();
        rest
    }
}
