//! The commands of a tree as text: a file of `tc -batch`, or a shell script, which is carried out as a shell would.
//!
//! - `batch`: the lines of `tc -batch`;
//! - `lex`, `parse`, `script`: the script as it stands;
//! - `expand`, `arithmetic`, `array`, `pattern`, `value`: what its words become;
//! - `run`, `simple`, `builtins`, `test`, `output`: its commands, one after the other;
//! - `idle`: what has no effect on queues, and need not be known.
//!
//! Nobody asks another program or reads another file here. The commands of other programs are skipped and counted, and
//! taken to succeed before `&&`, `||` and in `$?`. What they print, and whether a file is there, is unknown. A command
//! of `tc` that needs an unknown value is refused, and so is a condition on such a value, if a branch changes queues.
//!
//! What a script can make grow is bounded: the depth of what is inside each other, the length of a word, and the sum of
//! all that is written, looped over and copied.

mod arithmetic;
mod array;
mod batch;
mod builtins;
mod expand;
mod idle;
mod lex;
mod output;
mod parse;
mod pattern;
mod run;
mod script;
mod simple;
mod test;
#[cfg(test)]
mod tests;
mod value;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use parse::Parser;
use script::Command;
use value::{Flow, Value};

/// The number of a line, and why it is refused.
pub(super) type Refusal = (usize, String);
type Read<T> = Result<T, Refusal>;
/// Carries out one command of `tc`, with the words after `tc`.
type Act<'d> = &'d mut dyn FnMut(&[String]) -> Result<(), String>;

/// The most commands, functions and expansions inside each other.
const DEEPEST: usize = 32;
/// The longest word and the longest value, in bytes: Linux's `MAX_ARG_STRLEN` (include/uapi/linux/binfmts.h).
const LONGEST_WORD: usize = 128 << 10;
/// How much a script may write, loop over and copy, in bytes, besides eight times its own length.
const MOST: usize = 64 << 20;
/// What a command costs of that, and a variable that is copied.
const COMMAND: usize = 128;
/// How many names of other programs a note has.
const NAMED: usize = 8;

/// Carries out the commands of `text`, one by one. Returns notes: sentences on what was skipped.
///
/// # Errors
/// Fails at the first command that `act` refuses, or that cannot be followed, with the number of its line. Of a text of
/// one line the commands are counted.
pub(super) fn carry_out(text: &str, act: Act<'_>) -> Result<Vec<String>, Refusal> {
    let mut shell = Shell::new(text, act);
    if batch::is_batch(text) {
        shell.batch(text, 1)?;
        return Ok(shell.notes());
    }
    let mut script = Parser::new(text, 1);
    while let Some(next) = script.and_or()? {
        if let Flow::Exit | Flow::Return(_) = shell.and_or(&next)? {
            break;
        }
    }
    Ok(shell.notes())
}

/// The state of a shell.
struct Shell<'a, 'd> {
    act: Act<'d>,
    variables: BTreeMap<String, Value>,
    /// What `local` has hidden, by function: names with their values outside.
    hidden: Vec<Vec<(String, Option<Value>)>>,
    functions: BTreeMap<&'a str, Rc<Command<'a>>>,
    arguments: Vec<Value>,
    /// `$?`.
    last: Value,
    /// The first variable in the words of this command that no line sets.
    missing: Option<Rc<str>>,
    /// What `$(…)` has printed up to now, if this is inside one.
    printed: Option<Value>,
    /// The place of `getopts` in its word.
    option: usize,
    is_bash: bool,
    depth: usize,
    /// How many commands of `tc` are carried out.
    done: usize,
    spent: usize,
    limit: usize,
    /// How many commands of other programs are skipped, and the names of the programs.
    skipped: usize,
    names: Vec<String>,
    said: Vec<String>,
}

impl<'a, 'd> Shell<'a, 'd> {
    fn new(text: &str, act: Act<'d>) -> Self {
        Self {
            act,
            variables: BTreeMap::new(),
            hidden: Vec::new(),
            functions: BTreeMap::new(),
            arguments: Vec::new(),
            last: Value::known("0".to_string()),
            missing: None,
            printed: None,
            option: 0,
            is_bash: text
                .lines()
                .next()
                .is_some_and(|first| first.starts_with("#!") && first.contains("bash")),
            depth: 0,
            done: 0,
            spent: 0,
            limit: MOST.saturating_add(text.len().saturating_mul(8)),
            skipped: 0,
            names: Vec::new(),
            said: Vec::new(),
        }
    }

    /// Counts `bytes` that the script has made, and refuses a word that is too long.
    fn spend(&mut self, bytes: usize, line: usize) -> Read<()> {
        self.spent = self.spent.saturating_add(bytes);
        if self.spent > self.limit {
            return Err((
                line,
                format!("found a script that writes more than {MOST} bytes; accepted: at most that"),
            ));
        }
        self.check_length(bytes, line)
    }

    fn check_length(&self, bytes: usize, line: usize) -> Read<()> {
        if bytes > LONGEST_WORD {
            return Err((line, format!("found a word of {bytes} bytes; accepted: at most {LONGEST_WORD}")));
        }
        Ok(())
    }

    /// Does something one step deeper.
    fn deeper<T, E: From<Refusal>>(
        &mut self,
        line: usize,
        what: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.depth == DEEPEST {
            let why = format!(
                "found commands, functions or expansions more than {DEEPEST} deep; accepted: {DEEPEST}"
            );
            return Err((line, why).into());
        }
        self.depth += 1;
        let result = what(self);
        self.depth -= 1;
        result
    }

    fn assign(&mut self, name: &str, value: Value) -> Read<()> {
        self.variables.insert(name.to_string(), value);
        Ok(())
    }

    /// Notes the command of another program.
    fn skip(&mut self, name: &str) {
        self.skipped += 1;
        let name = shortened(name.rsplit('/').next().unwrap_or(name));
        if self.names.len() <= NAMED && !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    /// Adds a note, once.
    fn say(&mut self, note: String) {
        if self.said.len() < NAMED && !self.said.contains(&note) {
            self.said.push(note);
        }
    }

    fn notes(mut self) -> Vec<String> {
        if self.skipped > 0 {
            let more = if self.names.len() > NAMED { ", …" } else { "" };
            self.names.truncate(NAMED);
            let names = self.names.join(", ");
            let commands = if self.skipped == 1 { "1 command that is" } else { "{} commands that are" };
            let commands = commands.replace("{}", &self.skipped.to_string());
            self.said.push(format!("skipped {commands} not tc's: {names}{more}"));
        }
        self.said
    }
}

/// Returns whether `word` may be the name of a variable.
fn is_name(word: &str) -> bool {
    !word.starts_with(|letter: char| letter.is_ascii_digit())
        && !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns `text` as a message quotes it: in one line, and not too long.
fn shortened(text: &str) -> String {
    let mut letters = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let start: String = letters.by_ref().take(40).collect();
    if letters.next().is_some() { start + "…" } else { start }
}
