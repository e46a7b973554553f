//! Every trace in `golden/` is replayed without a difference. To add one is to copy it there.

use std::path::{Path, PathBuf};

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

#[test]
fn every_trace_of_the_project_is_replayed_without_a_difference() {
    let mut files = Vec::new();
    traces(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden"), &mut files);
    assert!(files.len() >= 17, "traces are missing: {files:?}");
    let bad: Vec<_> = files
        .iter()
        .map(|file| goodqueue_conformance::replay(file).unwrap())
        .filter(|outcome| !outcome.is_ok() || outcome.packets < 1000)
        .collect();
    assert!(bad.is_empty(), "{}", serde_json::to_string_pretty(&bad).unwrap());
}
