//! The parameters in the headers of decision traces, and our disciplines' own, must be those that `tc` and Linux make
//! of the same line. experiments/parameters/parameters.txt has them, read from both by the script beside it. So a
//! trace that was fed with numbers of ours fails here (docs/concepts/oracles.md).

use goodqueue_conformance::record::{Options, Words, record};
use goodqueue_conformance::{line_of, trace::Reader};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Pairs of key and value.
type Pairs = BTreeMap<String, String>;

/// Two names, and the way from a number to another one.
type Way = (&'static str, &'static str, fn(u64) -> u64);

/// Traces whose parameters `tc` cannot send, with the reason.
const NOT_OF_TC: &[(&str, &str)] = &[
    ("dualpi2/ecn_mask2-7.3", "tc has no word for ECT(0) alone"),
    ("choke/limit60", "tc refuses max above limit, and the kernel takes it"),
    ("cake_mq/", "the machine's device has one queue; cake's options are tested with cake"),
    ("pfifo_fast/", "it has no options"),
];

/// Keys that no decision depends on: `tc` sends no idle table for sfq, and the kernel keeps no idle time.
const UNREAD: &[(&str, &str)] = &[("sfq", "cfg_scell_log"), ("sfq", "cfg_stab")];

/// Keys of a header whose unit is the kernel's, the key in the table, and the way to it.
const CONVERTED: &[Way] = &[
    ("target_ns", "target_us", |us| us * 1000),
    ("tupdate_ns", "tupdate_us", |us| us * 1000),
    ("horizon_ns", "horizon_us", |us| us * 1000),
    ("ce_threshold_ns", "ce_threshold_us", |us| us * 1000),
    ("perturb_period_jiffies", "perturb_s", |seconds| seconds * 250),
    ("flow_refill_delay_jiffies", "flow_refill_delay_us", |us| us.div_ceil(4000)),
    // dualpi2_scale_alpha_beta (net/sched/sch_dualpi2.c)
    ("alpha_internal", "alpha_256", |gain| gain * u64::from(u32::MAX) / 4_000_000_000),
    ("beta_internal", "beta_256", |gain| gain * u64::from(u32::MAX) / 4_000_000_000),
    // The greatest number means that there is none, and a header has 0 for it.
    ("flow_max_rate_Bps", "flow_max_rate_Bps", |rate| if rate == u64::from(u32::MAX) { 0 } else { rate }),
    ("Wlog", "cfg_wlog", |wlog| wlog),
    ("Plog", "cfg_plog", |plog| plog),
    ("Scell_log", "cfg_scell_log", |log| log),
];

/// How the kernel shows a number of ours, by algorithm and key. A number that `tc` sent is compared as it is.
const SHOWN: &[Way] = &[
    ("codel", "target_us", in_ticks),
    ("codel", "interval_us", in_ticks),
    ("fq_codel", "target_us", in_ticks),
    ("fq_codel", "interval_us", in_ticks),
    ("pie", "tupdate_us", in_jiffies),
    ("fq_pie", "tupdate_us", in_jiffies),
];

/// CoDel's clock has ticks of 1024 ns, and the kernel shows whole microseconds of them.
fn in_ticks(us: u64) -> u64 {
    ((us * 1000) >> 10 << 10) / 1000
}

/// Debian's jiffies are 4 ms.
fn in_jiffies(us: u64) -> u64 {
    us.div_ceil(4000) * 4000
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the table: the pairs by release and line.
fn table() -> BTreeMap<String, Pairs> {
    let text =
        std::fs::read_to_string(root().join("experiments/parameters/parameters.txt")).expect("the table");
    let mut blocks: BTreeMap<String, Pairs> = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("  ") {
            None => name = line.to_string(),
            Some(pair) => {
                let (key, value) = pair.split_once('=').expect("a pair");
                blocks.entry(name.clone()).or_default().insert(key.to_string(), value.to_string());
            }
        }
    }
    blocks
}

/// Returns what `tc` sent under `key`, or else what the kernel has there, and whether it is the kernel's. `tc` sends 0
/// where it leaves the choice to the kernel.
fn theirs<'a>(block: &'a Pairs, key: &str) -> Option<(&'a str, bool)> {
    let (sent, kept) = (block.get(key), block.get(&format!("kernel_{key}")));
    match (sent, kept) {
        (Some(sent), kept) if sent != "0" || kept.is_none() => Some((sent, false)),
        (_, kept) => kept.map(|kept| (kept.as_str(), true)),
    }
}

/// Returns the keys of `header` that differ from `block`, and how many were compared.
fn differences(algorithm: &str, header: &Pairs, block: &Pairs) -> (Vec<String>, usize) {
    let (mut different, mut compared) = (Vec::new(), 0);
    for (key, ours) in header {
        let converted = CONVERTED.iter().find(|(known, of, _)| known == key && theirs(block, of).is_some());
        let Some((theirs, is_kept)) = theirs(block, converted.map_or(key, |(_, of, _)| of)) else { continue };
        // The kernel derives cake's limit and shows 0.
        if UNREAD.contains(&(algorithm, key)) || (key == "buffer_limit_bytes" && theirs == "0") {
            continue;
        }
        let theirs = match converted {
            Some((.., way)) => way(theirs.parse().expect("a number")).to_string(),
            None => theirs.to_string(),
        };
        let shown = SHOWN.iter().find(|(of, known, _)| is_kept && *of == algorithm && known == key);
        let shown = shown.map_or(ours.clone(), |(.., way)| way(ours.parse().expect("a number")).to_string());
        compared += 1;
        if shown != theirs {
            different.push(format!("{key}: found {ours}, tc and Linux have {theirs}"));
        }
    }
    (different, compared)
}

/// Returns the pairs in the header of a trace's text.
fn pairs(text: &str) -> Pairs {
    let header = text.lines().map_while(|line| line.strip_prefix("# "));
    header.filter_map(|line| line.split_once('=')).map(|(key, value)| (key.into(), value.into())).collect()
}

#[test]
fn the_headers_of_traces_have_the_numbers_of_tc() {
    let blocks = table();
    let (mut bad, mut compared) = (Vec::new(), 0);
    for folder in std::fs::read_dir(root().join("golden")).unwrap().map(|entry| entry.unwrap().path()) {
        let algorithm = folder.file_name().unwrap().to_string_lossy().into_owned();
        if !folder.is_dir() || ["tc", "filters", "scripts", "trees"].contains(&algorithm.as_str()) {
            continue; // the header of a tree is the commands themselves, and other kinds of answers have none
        }
        for file in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = file.to_string_lossy();
            if NOT_OF_TC.iter().any(|(known, _)| name.contains(known)) {
                continue;
            }
            let reader = BufReader::new(File::open(&file).unwrap());
            let trace = Reader::open(&name, reader).unwrap();
            let release =
                if trace.header().get("kernel").unwrap().starts_with("6.1.") { "6.1" } else { "7.3" };
            let line = format!("{release} {}", line_of(trace.header()).unwrap());
            let Some(block) = blocks.get(&line) else {
                bad.push(format!("{name}: the table has no {line:?}: run python -m experiments.parameters"));
                continue;
            };
            let header = block.keys().map(|key| key.strip_prefix("kernel_").unwrap_or(key));
            let header = header.chain(CONVERTED.iter().map(|(key, ..)| *key));
            let header =
                header.filter_map(|key| Some((key.to_string(), trace.header().get(key)?.to_string())));
            let (different, count) = differences(&algorithm, &header.collect(), block);
            assert!(count > 0, "{name}: nothing was compared");
            bad.extend(different.into_iter().map(|what| format!("{name}: {what}")));
            compared += count;
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    assert!(compared > 300, "only {compared} numbers were compared");
}

/// A load, which the recorder needs to write a header.
const LOAD: Words<'_> = Words {
    pattern: "steady",
    load: 1.1,
    rate: "10mbit",
    packets: 1,
    sizes: "1514",
    flows: 1,
    ecn: "none",
    seed: 1,
};

#[test]
fn our_disciplines_have_the_numbers_of_tc() {
    let (mut bad, mut compared) = (Vec::new(), 0);
    for (name, block) in table() {
        let (release, line) = name.split_once(' ').unwrap();
        let algorithm = line.split_whitespace().next().unwrap();
        if release == "6.1" && algorithm == "fq" {
            continue; // the fq here is that of 6.7 and later
        }
        let mut text = Vec::new();
        let options = Options::parse(&LOAD).unwrap();
        if record(line, &options, false, &mut text).is_err() {
            continue; // htb's and hfsc's words are those of a class
        }
        // Linux's bit for nat stands in a key of its own.
        let text = String::from_utf8(text).unwrap().replace("flow_mode_bits=68", "flow_mode_bits=4\n# nat=1");
        let (different, count) = differences(algorithm, &pairs(&text), &block);
        bad.extend(different.into_iter().map(|what| format!("{name}: {what}")));
        compared += count;
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    assert!(compared > 300, "only {compared} numbers were compared");
}
