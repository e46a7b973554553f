//! Files of `tc -batch`: commands without `tc` in front (`batch`, `getcmdline` and `makeargs` of iproute2).

use super::simple::shows;
use super::{Read, Shell};
use alloc::string::String;
use alloc::vec::Vec;

/// What a command of a batch begins with.
pub(super) const OBJECTS: [&str; 3] = ["qdisc", "class", "filter"];

/// Returns whether the first command of `text` has no `tc` in front.
pub(super) fn is_batch(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    first.and_then(|line| line.split_whitespace().next()).is_some_and(|word| OBJECTS.contains(&word))
}

impl Shell<'_, '_> {
    /// Carries out the lines of a batch. The first has the number `line`.
    pub(super) fn batch(&mut self, text: &str, line: usize) -> Read<()> {
        let mut begun = String::new();
        for (at, part) in text.lines().enumerate() {
            // A # begins a comment anywhere, and a backslash before the end of the line continues it.
            let part = part.split('#').next().unwrap_or("");
            if let Some(part) = part.strip_suffix('\\') {
                begun = begun + part + " ";
                continue;
            }
            begun += part;
            let words = words(&begun);
            begun.clear();
            if !shows(words.iter().map(String::as_str)) {
                self.tc(&words, line + at)?;
            }
        }
        Ok(())
    }
}

/// Splits a line at blanks. A word in quotes begins and ends with them.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, after) = match first {
            '"' | '\'' => rest[1..].split_once(first).unwrap_or((&rest[1..], "")),
            _ => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        words.push(word.into());
        rest = after.trim_start();
    }
    words
}
