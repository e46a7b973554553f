//! A device does what Linux's does: scripts of `tc` commands, with what Linux said of each and the state afterwards.

use goodqueue_qdisc::packet::Plain;
use goodqueue_qdisc::tree::{Tried, tried};
use goodqueue_qdisc::{AnyQdisc, Link, Rate};
use goodqueue_units::Release;
use std::collections::BTreeSet;

const TABLES: [(Release, &str); 2] = [
    (Release::Linux6_1, include_str!("../../../golden/scripts/linux-6.1.txt")),
    (Release::Linux7_3, include_str!("../../../golden/scripts/linux-7.3.txt")),
];
const LINK: Link = Link { rate: Rate::from_bps(1_000_000_000).unwrap(), mtu: 1514 };

/// Returns the words of `tc` or Linux that a refusal quotes.
fn quoted(refusal: &str) -> Option<&str> {
    let of_linux = refusal.split_once("(Linux: \"").map(|(_, rest)| rest.trim_end_matches("\")"));
    of_linux.or_else(|| refusal.split_once("(tc: ").map(|(_, rest)| rest.trim_end_matches(')')))
}

/// Returns what differs from Linux in a script.
fn differences(release: Release, script: &str) -> Vec<String> {
    let (state, commands): (Vec<&str>, Vec<&str>) = script.lines().partition(|line| line.starts_with("= "));
    let rows: Vec<(&str, &str)> =
        commands.iter().map(|line| line.split_once('\t').unwrap_or((line, ""))).collect();
    let build = |args: &_| AnyQdisc::<Plain>::build(args, &LINK).map(drop);
    let Tried { said, state: own, .. } = tried(rows.iter().map(|(command, _)| *command), release, build);
    let mut found = Vec::new();
    for ((command, linux), said) in rows.iter().zip(&said) {
        match said {
            None if linux.is_empty() => {}
            None => found.push(format!("{command}: taken, refused by Linux: {linux}")),
            Some(said) if linux.is_empty() => found.push(format!("{command}: {said}")),
            Some(said) => {
                let differs =
                    quoted(said).is_some_and(|words| !words.contains(linux) && !linux.contains(words));
                if differs || said.contains('\n') {
                    found.push(format!("{command}: {said}\n  instead of: {linux}"));
                }
            }
        }
    }
    if own.iter().zip(&state).any(|(own, wanted)| *own != wanted[2..]) || own.len() != state.len() {
        found.push(format!("the state is\n{}\n  instead of\n{}", own.join("\n"), state.join("\n")));
    }
    found
}

#[test]
fn each_command_of_a_script_does_what_it_does_on_linux() {
    for (release, table) in TABLES {
        let scripts: Vec<&str> = table.split("\n\n").skip(1).collect();
        assert!(scripts.len() > 150);
        let found: Vec<String> =
            scripts.iter().flat_map(|script| differences(release, script.trim())).collect();
        assert!(found.is_empty(), "{release:?}: {} differ:\n{}", found.len(), found.join("\n"));
    }
}

/// A sentence that Linux did not say for any command must not be quoted as one of Linux's.
#[test]
fn each_sentence_that_is_quoted_was_said() {
    let said: BTreeSet<&str> = TABLES
        .iter()
        .flat_map(|(_, table)| table.lines())
        .filter_map(|line| line.split_once('\t'))
        .map(|(_, said)| said)
        .collect();
    let sources = [
        include_str!("../../qdisc/src/tree/plan/altered.rs"),
        include_str!("../../qdisc/src/tree/plan/classes.rs"),
        include_str!("../../qdisc/src/tree/plan/filters.rs"),
        include_str!("../../qdisc/src/tree/plan/foreign.rs"),
        include_str!("../../qdisc/src/tree/plan/grafted.rs"),
        include_str!("../../qdisc/src/tree/plan/groups.rs"),
        include_str!("../../qdisc/src/tree/plan/qdiscs.rs"),
    ];
    let code =
        sources.iter().flat_map(|source| source.lines()).filter(|line| !line.trim_start().starts_with("//"));
    // Linux's sentences are the texts in quotes that begin with a capital letter and end with a full stop.
    let sentences = code.flat_map(|line| line.split('"').skip(1).step_by(2));
    let is_sentence =
        |text: &&str| text.starts_with(char::is_uppercase) && text.ends_with('.') && text.contains(' ');
    let sentences: BTreeSet<&str> = sentences.filter(is_sentence).collect();
    assert!(sentences.len() > 30);
    let unsaid: Vec<&&str> = sentences.iter().filter(|words| !said.contains(**words)).collect();
    assert!(unsaid.is_empty(), "{unsaid:?}");
}
