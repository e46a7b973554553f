//! Random trees of classes made from bytes, and what must hold of each. The property test and the fuzz target share
//! this code (`fuzz/` includes this file by its path).
//!
//! Each choice takes one byte. After the last byte every choice is its first option, so a short input is a simple
//! tree. Most commands fit together. Some name what is not there, or have words in a wrong place.

use crate::invariants::{Op, every_packet_has_one_fate};
use goodqueue_qdisc::Link;
use goodqueue_qdisc::registry::parse_tree;
use goodqueue_units::Rate;

const SCHEDULERS: &[&str] = &[
    "htb default 2",
    "htb",
    "hfsc default 3",
    "hfsc",
    "drr",
    "prio",
    "prio bands 2 priomap 0 1 0 1 1 1 1 1 0 0 0 0 1 1 1 1",
    "mq",
    "ets strict 1 quanta 600 1514",
    "ets bands 4",
];
const LEAVES: &[&str] = &[
    "pfifo limit 3",
    "fq_codel limit 8 flows 4",
    "cake bandwidth 2mbit",
    "codel target 1ms interval 5ms",
    "pie limit 9",
    "tbf rate 1mbit burst 20000 limit 30000",
    "sfq",
    "bfifo limit 9000",
    "red limit 60000",
];
const RATES: &[&str] = &["1mbit", "8mbit", "500kbit", "8bit", "20gbit", "0", "fast", ""];
const CURVES: &[&str] = &[
    "ls m2 1mbit",
    "sc rate 1mbit",
    "rt m1 2mbit d 10ms m2 500kbit ls m2 500kbit",
    "sc umax 1500 dmax 5ms rate 1mbit",
    "ls m2 1mbit ul m2 2mbit",
    "ul m2 1mbit",
    "ls m2 0",
    "rt",
];
const FILTERS: &[&str] = &[
    "u32 match ip tos 0x08 0xfc",
    "matchall",
    "handle 1 fw",
    "u32 match ip tos 0 0",
    "handle 1 flow map key dst divisor 3 baseclass 1:1",
    "u32 match ip dst 10.0.0.0/8",
    "flower ip_proto tcp",
    "basic",
    "u32 match ip tos",
    "bpf",
];
const BAD: &[&str] = &[
    "tc qdisc add dev e root fq_codel",
    "tc class add dev e parent 9: classid 9:1 htb rate 1mbit",
    "tc",
    "tc qdisc",
    "tc qdisc del dev e root",
    "ip link",
    "tc qdisc add dev e parent 1:ffff pfifo",
    "$X",
    "tc qdisc add dev f root htb",
    "tc class add dev e parent 1: classid 1:10000 htb rate 1mbit",
    "tc filter add dev e",
    "X=1 \\",
];

/// Choices made from bytes.
struct Draws<'a>(&'a [u8]);

impl Draws<'_> {
    fn below(&mut self, count: usize) -> usize {
        usize::from(self.0.split_off_first().copied().unwrap_or(0)) % count
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    /// Returns one of `choices`. Those from `usual` on are wrong, and rare.
    fn mostly<'a>(&mut self, choices: &[&'a str], usual: usize) -> &'a str {
        if self.below(16) == 15 { self.of(choices) } else { self.of(&choices[..usual]) }
    }

    /// Returns the words of a class below a scheduler of this kind.
    fn class(&mut self, kind: &str) -> String {
        match kind {
            "htb" => {
                let (rate, ceil) = (self.mostly(RATES, 3), self.mostly(RATES, 3));
                let more =
                    self.of(&["", " prio 1", " quantum 300", " burst 1b cburst 1b", " overhead 40 mpu 64"]);
                format!("htb rate {rate} ceil {ceil}{more}")
            }
            "hfsc" => format!("hfsc {}", self.mostly(CURVES, 5)),
            _ => format!("{kind}{}", self.of(&["", " quantum 300", " quantum 3000"])),
        }
    }
}

/// A scheduler of a tree.
struct Scheduler {
    kind: &'static str,
    /// How many classes it has, numbered from 1.
    classes: usize,
    /// Those of them without a discipline, and 0 for the scheduler itself.
    open: Vec<usize>,
}

impl Scheduler {
    fn new(words: &'static str) -> Self {
        Self { kind: words.split(' ').next().unwrap_or(words), classes: 0, open: vec![0] }
    }

    /// Returns how many classes it may have.
    fn most(&self) -> usize {
        match self.kind {
            "mq" => 1,
            "prio" | "ets" => 2,
            _ => 9,
        }
    }
}

/// Returns the commands of a tree.
fn commands(draws: &mut Draws<'_>) -> String {
    let root = draws.of(SCHEDULERS);
    let mut lines = vec![format!("tc qdisc add dev e root handle 1: {root}")];
    let mut all = vec![Scheduler::new(root)];
    for _ in 0..=draws.below(8) {
        let place = draws.below(all.len());
        let major = place + 1;
        let one = &mut all[place];
        if one.classes == one.most() {
            continue;
        }
        one.classes += 1;
        let minor = one.classes;
        if one.most() == 9 {
            let above = if one.kind == "drr" { 0 } else { one.open[draws.below(one.open.len())] };
            let above = if above == 0 { String::new() } else { above.to_string() };
            let words = draws.class(one.kind);
            lines.push(format!("tc class add dev e parent {major}:{above} classid {major}:{minor} {words}"));
        }
        match draws.below(4) {
            0 => one.open.push(minor),
            1 if all.len() < 4 => {
                let inner = draws.of(SCHEDULERS);
                all.push(Scheduler::new(inner));
                lines
                    .push(format!("tc qdisc add dev e parent {major}:{minor} handle {}: {inner}", all.len()));
            }
            _ => lines.push(format!("tc qdisc add dev e parent {major}:{minor} {}", draws.of(LEAVES))),
        }
    }
    for _ in 0..draws.below(4) {
        let (place, filter) = (draws.below(all.len()), draws.mostly(FILTERS, 4));
        let (major, minor) = (place + 1, draws.below(all[place].classes + 2));
        let to = if filter.contains("flow map") { String::new() } else { format!(" flowid {major}:{minor}") };
        lines.push(format!("tc filter add dev e parent {major}: protocol ip {filter}{to}"));
    }
    if draws.below(16) == 15 {
        lines.insert(draws.below(lines.len() + 1), draws.of(BAD).to_string());
    }
    lines.join("\n")
}

/// Checks that the tree of `bytes` is refused in one line, or reads back its own commands and then gives each packet
/// one fate. Returns whether it was accepted.
///
/// # Panics
/// If one of these does not hold.
pub(crate) fn tree_holds(bytes: &[u8]) -> bool {
    let mut draws = Draws(bytes);
    let text = commands(&mut draws);
    let args = match parse_tree(&text) {
        Ok(args) => args,
        Err(error) => {
            assert!(!error.0.is_empty() && !error.0.contains('\n'), "{text}\n{error}");
            return false;
        }
    };
    let printed = args.to_string();
    let again = parse_tree(&printed).unwrap_or_else(|error| panic!("{text}\nprints {printed}\n{error}"));
    assert_eq!(again.to_string(), printed, "of {text}");
    let mut ops = Vec::new();
    while !draws.0.is_empty() && ops.len() < 400 {
        let (kind, value) = (draws.below(8), draws.below(256));
        ops.push(match kind {
            0..=3 => Op::Enqueue { len: [1514, 64][kind % 2], flow: value as u32 % 6, ecn: value as u8 >> 6 },
            4 | 5 => Op::Dequeue,
            6 => Op::Advance(value as u64 * 50_000),
            _ => Op::Oversleep(value as u64 * 1_000_000),
        });
    }
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap_or_else(|| unreachable!()), mtu: 1514 };
    if let Err(why) = every_packet_has_one_fate(&args, &link, 0, &ops) {
        panic!("{text}\n{why}");
    }
    true
}
