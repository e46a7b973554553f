//! Situations of one endpoint as scripts: `parse` reads them, `play` plays them, `wire` is a segment in a script's
//! words.
//!
//! The grammar, and how to add a script, are in `tests/scripts/README.md`.

#![allow(unreachable_pub)] // a module of a test

mod accecn;
mod parse;
mod play;
mod wire;

use std::fmt;
use std::path::{Path, PathBuf};

/// A fault, and its line of the script.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    pub line: usize,
    pub text: String,
}

impl Fault {
    fn new(line: usize, text: impl Into<String>) -> Self {
        Self { line, text: text.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.text)
    }
}

/// First sequence numbers of this endpoint and of its peer. In the second run both wrap after a few segments.
const INITIAL: [(u32, u32); 2] = [(0, 0), (u32::MAX - 2500, u32::MAX - 3500)];

/// The outcome of a script.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    /// The script awaits this feature, and stops at this fault without it.
    Awaits(String, Fault),
}

/// Plays the script `text`, once per pair of first sequence numbers.
pub fn run(text: &str) -> Result<Outcome, Fault> {
    let script = parse::parse(text)?;
    let played = INITIAL.iter().try_for_each(|&(ours, theirs)| {
        play::play(&script, ours, theirs).map_err(|fault| match ours {
            0 => fault,
            _ => Fault::new(fault.line, format!("where sequence numbers wrap: {}", fault.text)),
        })
    });
    match (script.awaits, played) {
        (None, played) => played.map(|()| Outcome::Passed),
        (Some((_, what)), Err(fault)) => Ok(Outcome::Awaits(what, fault)),
        (Some((line, what)), Ok(())) => {
            Err(Fault::new(line, format!("it awaits {what:?} but passes; take this line out")))
        }
    }
}

/// Returns every script in `folder` and its folders, in the order of their names.
pub fn scripts(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of scripts") {
            let path = entry.expect("an entry of it").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "tcp") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
