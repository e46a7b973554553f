//! The output of commands that a word takes: `$(…)`, and what the commands print whose output is known.

use super::arithmetic::expr;
use super::expand::{Expanded, Trouble, unknown};
use super::parse::Parser;
use super::value::{Flow, Status, Value};
use super::{Read, Shell, shortened};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The MTU of each device here, as /sys/class/net says it.
const MTU: &str = "1500";

impl<'a> Shell<'a, '_> {
    /// Returns what the commands of `text` print, without the ends of the last lines.
    pub(super) fn output(&mut self, text: &'a str, is_backquoted: bool, line: usize) -> Expanded<String> {
        let what = || unknown(format!("what {:?} prints (line {line})", shortened(text)));
        if is_backquoted && ["\\`", "\\$", "\\\\"].iter().any(|escape| text.contains(escape)) {
            return Err(what());
        }
        let (outer, missing) = (self.copied()?, self.missing.take());
        let printed = self.printed.replace(Value::known(String::new()));
        let done = self.deeper(line, |shell| {
            let mut script = Parser::new(text, line);
            // What cannot be read is a matter of this word alone.
            while let Some(next) = script.and_or().map_err(|_| what())? {
                if let Flow::Exit | Flow::Return(_) = shell.and_or(&next)? {
                    break;
                }
            }
            Ok::<(), Trouble>(())
        });
        let own = core::mem::replace(&mut self.printed, printed);
        self.restore(outer);
        self.missing = missing;
        done?;
        let text = self.text(&own.unwrap_or(Value::known(String::new())))?;
        Ok(text.trim_end_matches('\n').to_string())
    }

    /// Adds `value` to what `$(…)` prints.
    fn print(&mut self, value: Value, line: usize) -> Read<()> {
        let printed = match (self.printed.take(), value) {
            (None, _) => None,
            (Some(Value::Known(before, missing)), Value::Known(text, more)) => {
                self.spend(before.len() + text.len(), line)?;
                Some(Value::Known(before + &text, missing.or(more)))
            }
            (Some(unknown @ Value::Unknown(_)), _) | (_, unknown) => Some(unknown),
        };
        self.printed = printed;
        Ok(())
    }

    /// Carries out a command that prints, if it is one whose output is known.
    pub(super) fn printing(&mut self, name: &str, rest: &[&'a str], line: usize) -> Read<Option<Flow>> {
        let mut values = Vec::new();
        self.values(rest, line, &mut values)?;
        let (mut words, mut missing, mut unknown) = (Vec::new(), None, None);
        for value in values {
            match value {
                Value::Known(text, more) => {
                    words.push(text);
                    missing = missing.or(more);
                }
                Value::Unknown(what) => unknown = unknown.or(Some(what)),
            }
        }
        let text = match name {
            "echo" => echo(&words),
            "printf" => printf(&words),
            "expr" => expr(&words).map(|number| format!("{number}\n")),
            "seq" => seq(&words),
            "which" | "command" | "type" => match &words[..] {
                [program] | [_, program] if !program.starts_with('-') => Some(format!("{program}\n")),
                _ => None,
            },
            "cat" => match &words[..] {
                [file] if file.starts_with("/sys/class/net/") && file.ends_with("/mtu") => {
                    Some(format!("{MTU}\n"))
                }
                _ => None,
            },
            _ => return Ok(None),
        };
        let value = match (text, unknown) {
            (_, Some(what)) => Value::Unknown(what),
            (Some(text), None) => Value::Known(text, missing),
            (None, None) => return Ok(None),
        };
        if self.printed.is_none() && matches!(name, "which" | "command" | "type" | "cat") {
            return Ok(None);
        }
        self.print(value, line)?;
        // expr fails if it prints 0. Nobody asks.
        Ok(Some(Flow::Next(Status::Known(true))))
    }
}

/// Returns what `echo` prints. `None`: shells differ.
fn echo(words: &[String]) -> Option<String> {
    let (words, end) = match words {
        [first, rest @ ..] if first == "-n" => (rest, ""),
        words => (words, "\n"),
    };
    let text = words.join(" ");
    (!text.contains('\\') && !text.starts_with("-e")).then(|| text + end)
}

/// Returns what `printf` prints: of `%s`, `%d`, `%x` with a width. `None`: there is more.
fn printf(words: &[String]) -> Option<String> {
    let (format, words) = words.split_first()?;
    let (mut text, mut words, mut rest) = (String::new(), words.iter(), format.as_str());
    while let Some((before, after)) = rest.split_once(['%', '\\']) {
        text += before;
        let is_escape = rest.as_bytes()[before.len()] == b'\\';
        let end = after.find(|letter: char| !letter.is_ascii_digit())?;
        let (width, letter) = (&after[..end], after[end..].chars().next()?);
        let pad: usize = if width.is_empty() { 0 } else { width.parse().ok().filter(|pad| *pad < 64)? };
        let (fill, mut word) = (if width.starts_with('0') { "0" } else { " " }, String::new());
        match (is_escape, letter) {
            (true, 'n') if end == 0 => word.push('\n'),
            (true, 't') if end == 0 => word.push('\t'),
            (false, '%') if end == 0 => word.push('%'),
            (false, 's') => word += words.next().map_or("", String::as_str),
            (false, 'd' | 'i' | 'u' | 'x' | 'X') => {
                let number = super::arithmetic::integer(words.next().map_or("0", String::as_str))?;
                word = match letter {
                    'x' => format!("{number:x}"),
                    'X' => format!("{number:X}"),
                    _ if number < 0 => return None,
                    _ => number.to_string(),
                };
            }
            _ => return None,
        }
        text += &fill.repeat(pad.saturating_sub(word.len()));
        text += &word;
        rest = &after[end + letter.len_utf8()..];
    }
    // With more words, the format is used again.
    words.next().is_none().then(|| text + rest)
}

/// Returns what `seq` prints. `None`: not integers, or too many.
fn seq(words: &[String]) -> Option<String> {
    let numbers: Vec<i64> = words.iter().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let (first, step, last) = match numbers[..] {
        [last] => (1, 1, last),
        [first, last] => (first, 1, last),
        [first, step, last] if step > 0 => (first, step, last),
        _ => return None,
    };
    let count = last.checked_sub(first)?.checked_div(step)?;
    if count >= 1 << 16 {
        return None;
    }
    Some((0..=count).filter(|_| last >= first).map(|at| format!("{}\n", first + at * step)).collect())
}
