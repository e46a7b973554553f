//! Every decision trace in `golden/` must be replayed without a difference. To add one, copy it there.

use std::path::{Path, PathBuf};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden")
}

fn traces(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of traces") {
        let path = entry.expect("a readable folder").path();
        let name = path.to_string_lossy();
        if path.is_dir() {
            traces(&path, into);
        } else if name.ends_with(".csv.gz") || name.ends_with(".csv") {
            into.push(path);
        }
    }
}

/// Returns the traces that `golden/MUTANTS.md` names in its tables of traces and of mutants.
fn listed() -> Vec<PathBuf> {
    let text = std::fs::read_to_string(golden().join("MUTANTS.md")).expect("a list of the traces");
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let quoted = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    let mut names: Vec<_> = quoted.filter(|word| word.contains('/')).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| golden().join(format!("{name}.csv.gz"))).collect()
}

/// If a trace were removed, the mutants that only this trace catches would no longer be caught, and no other test
/// would fail.
#[test]
fn each_listed_trace_is_there() {
    let listed = listed();
    assert!(listed.len() >= 45, "golden/MUTANTS.md names only {} traces", listed.len());
    let missing: Vec<_> = listed.iter().filter(|file| !file.is_file()).collect();
    assert!(missing.is_empty(), "golden/MUTANTS.md names traces that are missing: {missing:?}");
}

#[test]
fn every_trace_of_the_project_is_replayed_without_a_difference() {
    let mut files = Vec::new();
    traces(&golden(), &mut files);
    assert!(!files.is_empty(), "no trace was found, so none was replayed");
    let bad: Vec<_> = files
        .iter()
        .map(|file| goodqueue_conformance::replay(file).unwrap())
        .filter(|outcome| !outcome.is_ok() || outcome.packets < 1000)
        .collect();
    assert!(bad.is_empty(), "{}", serde_json::to_string_pretty(&bad).unwrap());
}
