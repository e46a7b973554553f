//! Situations of one endpoint as readable scripts: `tests/scripts/<topic>/<name>.tcp`. The grammar is in
//! `tests/scripts/README.md`. All tests after the first one test the runner itself. Guards against a runner that lets
//! anything pass.

use crate::runner::{Outcome, run, scripts};
use std::path::Path;

#[test]
#[allow(clippy::print_stdout)] // prints how many scripts wait, and for what
fn the_scripts_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let files = scripts(&folder);
    let (mut waiting, mut failed) = (Vec::new(), Vec::new());
    for file in &files {
        let name = file.strip_prefix(&folder).expect("a file of the folder").display();
        let text = std::fs::read_to_string(file).expect("a text");
        match run(&text) {
            Ok(Outcome::Passed) => {}
            Ok(Outcome::Awaits(what, fault)) => waiting.push(format!("{name} awaits {what}; {fault}")),
            Err(fault) => failed.push(format!("{name}:{fault}")),
        }
    }
    println!("{} scripts, of which {} await a feature", files.len(), waiting.len());
    waiting.iter().for_each(|line| println!("  {line}"));
    assert!(failed.is_empty(), "{} of {} scripts fail:\n{}", failed.len(), files.len(), failed.join("\n"));
    assert!(files.len() > 60, "the scripts are found");
}

/// Ten segments, acknowledged after 100 ms.
const GOOD: &str = "connected 100ms
0ms   write 25000
      > 1:10001 (10 segments)
100ms < ack 10001
      > 10001:25001 (15 segments)
      cwnd 20, state open
      close
      > 25001:25001 fin
200ms < ack 25002
      closed no
";

fn with(line: &str, instead: &str) -> String {
    assert!(GOOD.contains(line));
    GOOD.replacen(line, instead, 1)
}

#[track_caller]
fn fails(text: &str, line: usize, parts: &[&str]) {
    let fault = run(text).expect_err("it fails");
    assert!(fault.line == line && parts.iter().all(|part| fault.text.contains(part)), "{fault}");
}

#[test]
fn a_right_script_passes() {
    assert_eq!(run(GOOD), Ok(Outcome::Passed));
}

#[test]
fn the_example_of_the_readme_passes() {
    let example = include_str!("scripts/README.md").split("```").nth(1).expect("an example");
    assert_eq!(run(example.trim_start()), Ok(Outcome::Passed));
}

#[test]
fn a_wrong_expectation_fails() {
    fails(&with("cwnd 20", "cwnd 19"), 6, &["expected cwnd 19, got 20"]);
    fails(&with("state open", "state loss"), 6, &["expected state loss, got open"]);
    fails(&with("> 1:10001 (10", "> 2:10001 (10"), 3, &["expected > 2:1002 at 0s, got > 1:1001", "at 0s"]);
    fails(
        &with("25001 fin", "25001 fin ece"),
        8,
        &["expected > 25001:25001 fin ece", "got > 25001:25001 fin"],
    );
    fails(&with("25001 fin", "25001 ack 1"), 8, &["got > 25001:25001 fin ack 1"]);
    fails(&with("25001 fin", "25001 fin ack 2"), 8, &["got > 25001:25001 fin ack 1"]);
    fails(&with("> 1:10001 (10 segments)", "> 1:10001 ect0 (10 segments)"), 3, &["1:1001 ect0 at 0s, got"]);
    fails(&with("> 1:10001 (10 segments)", "> 1:10001 win 5 (10 segments)"), 3, &["win 5", "got"]);
    fails(&with("> 1:10001 (10 segments)", "> 1:10001 psh (10 segments)"), 3, &["1:1001 psh at 0s, got"]);
    fails(&with("closed no", "closed yes"), 10, &["expected closed yes, got no"]);
}

#[test]
fn a_sack_block_that_is_not_said_fails() {
    let receiver = "connected 100ms\n0ms < 1001:2001\n    > ack 1 sack 1001:2001\n";
    assert_eq!(run(receiver), Ok(Outcome::Passed));
    fails(
        &receiver.replace(" sack 1001:2001", ""),
        3,
        &["expected > ack 1 at", "got > ack 1 sack 1001:2001"],
    );
    fails(&receiver.replace("sack 1001:2001", "sack 1001:2002"), 3, &["got > ack 1 sack 1001:2001"]);
}

#[test]
fn an_unexpected_segment_fails() {
    fails(&with("      > 10001:25001 (15 segments)\n", ""), 5, &["unexpected > 10001:11001"]);
}

#[test]
fn an_unexpected_segment_after_the_last_line_fails() {
    fails("connected 100ms\n0ms write 1000\n", 2, &["unexpected > 1:1001"]);
    // The timer's retransmission, while the script waits.
    fails(
        &format!("{GOOD}9s silence\n").replace("200ms < ack 25002", "200ms silence"),
        11,
        &["unexpected >"],
    );
}

#[test]
fn a_missing_segment_fails() {
    fails(
        &with("10001:25001 (15", "10001:26001 (16"),
        5,
        &["expected > 25001:26001", "got nothing; the next is"],
    );
    fails("connected 100ms\n5ms > 1:1001\n", 2, &["got nothing, and nothing will come"]);
}

#[test]
fn a_segment_too_early_or_late_fails() {
    let early = with("      > 10001:25001", "150ms > 10001:25001");
    fails(&early, 5, &["expected > 10001:11001 at 150ms, got > 10001:11001", "at 100ms"]);
    // The probe waits for RTO: 25 + 75 ticks of 4 ms end with the next eighth tick, the 104th. Time 0 is tick 25.
    let late = "connected 100ms\n0ms write 1000\n > 1:1001\n250ms > 1:1001\n";
    fails(late, 4, &["at 250ms, got nothing; the next is > 1:1001", "at 316ms"]);
    assert_eq!(run(&late.replace("250ms", "316ms")), Ok(Outcome::Passed));
}

#[test]
fn a_tolerance_counts_both_ways_and_no_further() {
    let at = |ms: u32| {
        run(&format!("tolerance 2ms\nconnected 100ms\n0ms write 1000\n > 1:1001\n{ms}ms > 1:1001\n"))
    };
    assert_eq!([314, 316, 318].map(|ms| at(ms).is_ok()), [true; 3]);
    assert_eq!([313, 319].map(|ms| at(ms).is_ok()), [false; 2]);
}

#[test]
fn a_script_that_awaits_is_counted_and_fails_once_it_passes() {
    let awaits = |text: &str| run(&format!("awaits a miracle\n{text}"));
    let outcome = awaits(&with("cwnd 20", "cwnd 19"));
    assert!(matches!(outcome, Ok(Outcome::Awaits(what, fault)) if what == "a miracle" && fault.line == 7));
    let fault = awaits(GOOD).expect_err("the mark must go");
    assert!(fault.line == 1 && fault.text.contains("\"a miracle\" but passes"), "{fault}");
    assert!(awaits("0ms wriet 5").is_err(), "nonsense does not wait");
}

#[test]
fn nonsense_is_refused_with_its_line_and_what_is_accepted() {
    let table: &[(&str, usize, &[&str])] = &[
        ("", 0, &["no event"]),
        ("# only a comment\n", 1, &["no event"]),
        ("0ms wriet 5", 1, &["\"wriet\"", "did you mean write", "accepted: <, >"]),
        ("mss 1000\n100 close", 2, &["\"100\"", "accepted: a time with its unit"]),
        ("5ms close\n3ms close", 2, &["3ms is before the line above, which is at 5ms"]),
        ("0ms", 1, &["a time alone"]),
        ("0ms <", 1, &["no segment", "START:END"]),
        ("0ms < 5:x", 1, &["\"5:x\"", "two numbers"]),
        ("0ms < 5:1", 1, &["START not after END"]),
        ("0ms < ece", 1, &["a range, an ack number, or syn"]),
        ("0ms < fin ack 5", 1, &["fin needs a range"]),
        ("0ms < ack 1 sack 1:2 3:4 5:6 7:8", 1, &["4 SACK blocks", "three at most"]),
        ("0ms < ack 1..10 by 2", 1, &["STEP divides"]),
        ("0ms < 1:9 quickly", 1, &["\"quickly\"", "accepted: START:END"]),
        ("0ms > 1:3001 (2 segments)", 1, &["3 segments of 1000 bytes, not 2"]),
        ("0ms cwnd ten", 1, &["\"ten\"", "a whole number"]),
        ("0ms cwnd 10 state open", 1, &["comma"]),
        ("0ms state fine", 1, &["\"fine\"", "open, disorder, cwr, recovery, loss"]),
        ("0ms rto 300", 1, &["\"300\"", "no unit"]),
        ("0ms close\nmss 5", 2, &["mss is a setting", "above the first event"]),
        ("mss many\n0ms close", 1, &["\"many\"", "a whole number"]),
        ("role sever\n0ms close", 1, &["did you mean server", "client, server"]),
        ("cc vegan\n0ms close", 1, &["\"vegan\"", "accepted: cubic"]),
        ("stack linux-1\n0ms close", 1, &["\"linux-1\"", "linux-6.1"]),
        ("ecn maybe\n0ms close", 1, &["\"maybe\"", "off, classic, accecn"]),
    ];
    for (text, line, parts) in table {
        fails(text, *line, parts);
    }
}
