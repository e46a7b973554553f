//! The numbers that the real `tc` and Linux make of a line, for tests: experiments/parameters/parameters.txt, which
//! the script beside it reads from both. An expectation from there is not our own computation
//! (docs/concepts/oracles.md).

use goodqueue_units::Release;
use std::collections::BTreeMap;
use std::string::{String, ToString};
use std::vec::Vec;

/// What became of one line.
pub(crate) struct Numbers {
    pub(crate) release: Release,
    pub(crate) line: String,
    pairs: BTreeMap<String, String>,
}

impl Numbers {
    /// Returns the text of `key` as `tc` sent it, or else as the kernel has it.
    pub(crate) fn text(&self, key: &str) -> &str {
        let found = self.pairs.get(key).or_else(|| self.pairs.get(&std::format!("kernel_{key}")));
        found.unwrap_or_else(|| panic!("{}: no {key}", self.line))
    }

    /// Returns the number of `key`.
    pub(crate) fn get(&self, key: &str) -> u64 {
        self.text(key).parse().unwrap()
    }
}

/// Returns the numbers of all lines of the discipline `name` that `tc` took.
pub(crate) fn of(name: &str) -> Vec<Numbers> {
    let mut found: Vec<Numbers> = Vec::new();
    let text = include_str!("../../../experiments/parameters/parameters.txt");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some((key, value)) = line.strip_prefix("  ").and_then(|pair| pair.split_once('=')) {
            let pairs = &mut found.last_mut().unwrap().pairs;
            pairs.insert(key.to_string(), value.to_string());
        } else if let Some((release, line)) = line.split_once(' ') {
            let release = Release::of_kernel(release).unwrap();
            found.push(Numbers { release, line: line.to_string(), pairs: BTreeMap::new() });
        }
    }
    found.retain(|one| one.line.split(' ').next() == Some(name) && !one.pairs.contains_key("refused"));
    found
}
