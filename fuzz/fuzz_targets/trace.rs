//! Replays mangled decision traces: the result is an outcome or an error of one line, never a panic.
#![no_main]

use arbitrary::Arbitrary;
use flate2::read::MultiGzDecoder;
use goodqueue_conformance::replay_reader;
use libfuzzer_sys::fuzz_target;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Lines of each trace in `golden/` that a case replays: about a millisecond of work.
const LINES: usize = 120;

#[derive(Arbitrary, Debug)]
enum Edit<'a> {
    /// The field `.1` of the line `.0` becomes a number.
    Number(u16, u8, u64),
    /// The field becomes a number close to its value.
    Nudge(u16, u8, i8),
    /// The field becomes any text.
    Text(u16, u8, &'a str),
    /// The value of a header line becomes a number.
    Value(u8, u64),
    Remove(u16),
    Repeat(u16),
    Swap(u16, u16),
    Cut(u16),
}

#[derive(Arbitrary, Debug)]
enum Case<'a> {
    Raw(&'a [u8]),
    Mangled { which: u8, edits: Vec<Edit<'a>> },
}

fn traces() -> &'static [Vec<String>] {
    static TRACES: OnceLock<Vec<Vec<String>>> = OnceLock::new();
    TRACES.get_or_init(|| {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden");
        let folders =
            golden.read_dir().expect("golden/ is there").map(|entry| entry.expect("it can be read").path());
        let files =
            folders.filter(|path| path.is_dir()).flat_map(|folder| folder.read_dir().expect("as above"));
        let mut files: Vec<PathBuf> = files.map(|entry| entry.expect("as above").path()).collect();
        files.sort(); // a case means the same on every machine
        let head = |path: &PathBuf| {
            let lines = BufReader::new(MultiGzDecoder::new(File::open(path).expect("it is there"))).lines();
            lines.take(LINES).map(|line| line.expect("it is text")).collect()
        };
        files.iter().filter(|path| path.extension().is_some_and(|end| end == "gz")).map(head).collect()
    })
}

fn mangle(lines: &mut Vec<String>, edit: &Edit) {
    let count = lines.len().max(1);
    let at = |line: u16| usize::from(line) % count;
    match *edit {
        Edit::Number(line, field, number) => replace(&mut lines[at(line)], field, |_| number.to_string()),
        Edit::Nudge(line, field, by) => replace(&mut lines[at(line)], field, |old| {
            old.parse::<i128>().map_or_else(|_| old.to_string(), |old| (old + i128::from(by)).to_string())
        }),
        Edit::Text(line, field, text) => replace(&mut lines[at(line)], field, |_| text.to_string()),
        Edit::Value(line, number) => {
            let header = lines.iter().take_while(|line| line.starts_with("# ")).count();
            let line = &mut lines[usize::from(line) % header.max(1)];
            if let Some((key, _)) = line.split_once('=') {
                *line = format!("{key}={number}");
            }
        }
        Edit::Remove(line) if lines.len() > 1 => drop(lines.remove(at(line))),
        Edit::Remove(_) => {}
        Edit::Repeat(line) => {
            let line = at(line);
            lines.insert(line, lines[line].clone());
        }
        Edit::Swap(a, b) => lines.swap(at(a), at(b)),
        Edit::Cut(line) => lines.truncate(at(line).max(1)),
    }
}

fn replace(line: &mut String, field: u8, with: impl Fn(&str) -> String) {
    let mut fields: Vec<String> = line.split(',').map(str::to_string).collect();
    let at = usize::from(field) % fields.len();
    fields[at] = with(&fields[at]);
    *line = fields.join(",");
}

fuzz_target!(|case: Case| {
    let text;
    let input = match case {
        Case::Raw(bytes) => bytes,
        Case::Mangled { which, edits } => {
            let mut lines = traces()[usize::from(which) % traces().len()].clone();
            edits.iter().take(32).for_each(|edit| mangle(&mut lines, edit));
            text = lines.join("\n");
            text.as_bytes()
        }
    };
    match replay_reader("case", input) {
        Ok(outcome) => assert!(outcome.mismatches <= 1),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
