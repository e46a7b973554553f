//! What must hold for every discipline of the registry, whatever its parameters, its load and its clock.
#![allow(clippy::unwrap_used)] // clippy.toml's exemption covers test functions, not their helpers

use goodqueue_qdisc::packet::Plain;
use goodqueue_qdisc::param::{ParamSpec, Unit};
use goodqueue_qdisc::registry::{ALL, parse_line};
use goodqueue_qdisc::{AnyQdisc, Args, Backlog, Drop, Enqueued, Link, Mark, Owner, Qdisc};
use goodqueue_units::{Duration, Ecn, Instant, Rate, Stream, Streams};
use proptest::prelude::*;
use std::collections::HashMap;

const YEAR: u64 = 365 * 24 * 3600 * 1_000_000_000;
/// Where CoDel's 32 bits of 1024 ns wrap.
const TICKS_WRAP: u64 = 1 << 42;
/// Where PIE's 64 ns ticks leave 32 bits.
const PIE_WRAP: u64 = 1 << 38;

#[derive(Clone, Debug)]
enum Op {
    Enqueue { len: u32, flow: u32, ecn: u8 },
    Dequeue,
    Advance(u64),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let len = prop_oneof![Just(1514_u32), Just(64), 1..9000_u32];
    let span = prop_oneof![
        10 => 0..2_000_000_u64,
        4 => 0..200_000_000_u64,
        1 => 0..20_000_000_000_u64,
        1 => Just(10 * YEAR),
    ];
    let op = prop_oneof![
        6 => (len, 0..8_u32, 0..4_u8).prop_map(|(len, flow, ecn)| Op::Enqueue { len, flow, ecn }),
        4 => Just(Op::Dequeue),
        3 => span.prop_map(Op::Advance),
    ];
    proptest::collection::vec(op, 0..400)
}

fn start() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(10_000_000_000),
        (0..2_000_000_000_u64).prop_map(|back| TICKS_WRAP - back),
        (0..2_000_000_000_u64).prop_map(|back| TICKS_WRAP / 2 - back),
        (0..2_000_000_000_u64).prop_map(|back| PIE_WRAP - back),
    ]
}

/// The words for `param` with a value that is rarely chosen: the least, the greatest, or one so small that 400
/// events meet it.
fn unusual(param: &ParamSpec, which: usize) -> String {
    let (least, greatest) = param.range;
    let small = match param.unit {
        Unit::Time => 1e6,
        Unit::Bytes => 20_000.0,
        Unit::Packets => 20.0,
        Unit::Real => f64::midpoint(least, greatest),
        _ => 8.0,
    };
    let value = [least, greatest, small.clamp(least, greatest)][which % 3];
    let text = match param.unit {
        Unit::Flag if which.is_multiple_of(2) => return format!("no_{}", param.name),
        Unit::Flag => return param.name.to_string(),
        Unit::Choice(words) => words[which % words.len()].to_string(),
        Unit::Word(words) => return words[which % words.len()].to_string(),
        Unit::Masked => ["0x1/0x3", "0xff/0xff"][which % 2].to_string(),
        Unit::Time => format!("{}ns", value as u64),
        Unit::Rate => format!("{}bit", value as u64),
        Unit::Real => value.to_string(),
        _ => (value as u64).to_string(),
    };
    format!("{} {text}", param.name)
}

/// A discipline's line: each parameter at its default, or with luck at an unusual value.
fn line() -> impl Strategy<Value = String> {
    (0..ALL.len(), any::<bool>(), proptest::collection::vec((0..3_u8, 0..60_usize), 32)).prop_map(
        |(which, plain, luck)| {
            let spec = &ALL[which];
            let mut line = spec.name.to_string();
            for (param, (chance, which)) in spec.params.iter().zip(luck) {
                if !plain && chance == 0 {
                    line.push(' ');
                    line.push_str(&unusual(param, which));
                }
            }
            line
        },
    )
}

/// Lines whose parameters hang together, so that 400 events reach what chance rarely does.
const TUNED: &[&str] = &[
    "red limit 60000 min 3000 max 9000 burst 4 probability 0.3 ecn",
    "choke limit 12 min 2 max 8 burst 4 probability 0.3 ecn",
    "choke limit 3 min 1 max 3 burst 1 probability 0.9",
    "sfq limit 40 redflowlimit 36000 min 1500 max 6000 burst 3 probability 0.5 ecn perturb 1",
    "sfq limit 40 redflowlimit 36000 min 1500 max 6000 burst 3 probability 0.5 ecn headdrop harddrop",
    "pfifo_fast txqueuelen 32",
];

/// Owns the packets that a discipline gives back, and knows which it still holds.
struct Ledger {
    dice: Stream,
    /// Offered and not yet seen again: id to the packet as it was offered, or as it was marked.
    held: HashMap<u64, Plain>,
    dropped: Vec<u64>,
    /// By flow, and by codepoint where each has a queue of its own.
    last_delivered: HashMap<(u32, u8), u64>,
    faults: Vec<String>,
}

impl Ledger {
    /// `packet` leaves; it must be held, and the same in all that a discipline may not touch.
    fn leaves(&mut self, packet: &Plain, how: &str) {
        match self.held.remove(&packet.id) {
            Some(known) if known == (Plain { dscp: known.dscp, ..*packet }) => {} // cake may wash the codepoint
            Some(known) => self.faults.push(format!("{how}: {packet:?} was {known:?}")),
            None => self.faults.push(format!("{how}: {packet:?} is not held")),
        }
    }
}

impl Owner<Plain> for Ledger {
    fn dropped(&mut self, packet: Plain, _why: Drop) {
        self.leaves(&packet, "dropped");
        self.dropped.push(packet.id);
    }
    fn marked(&mut self, packet: &Plain, _why: Mark) {
        match self.held.get_mut(&packet.id) {
            Some(known) if known.ecn.is_capable() && known.ecn != Ecn::Ce => known.ecn = Ecn::Ce,
            known => self.faults.push(format!("marked: {packet:?}, known as {known:?}")),
        }
    }
    fn random_u32(&mut self) -> u32 {
        self.dice.next_u32()
    }
    fn random_u64(&mut self) -> u64 {
        self.dice.next_u64()
    }
}

struct Bench {
    qdisc: AnyQdisc<Plain>,
    ledger: Ledger,
    now: Instant,
    next_id: u64,
    /// Packets and bytes that it may hold, where its line has a limit of the kind.
    limit: Backlog,
    /// Whether codepoints have queues of their own, and an early drop is not told (dualpi2).
    dual: bool,
    /// The codepoint of each packet as it was offered.
    codepoints: Vec<u8>,
}

impl Bench {
    fn new(qdisc: AnyQdisc<Plain>, args: &Args, start: u64) -> Self {
        let limit = args.integer("limit").unwrap_or(u64::MAX);
        let unit = args.spec.params.iter().find(|param| param.name == "limit").map(|param| param.unit);
        let limit = match unit {
            Some(Unit::Packets) => Backlog { packets: limit.try_into().unwrap_or(u32::MAX), bytes: u64::MAX },
            Some(Unit::Bytes) => Backlog { packets: u32::MAX, bytes: limit },
            _ => Backlog { packets: u32::MAX, bytes: u64::MAX },
        };
        let ledger = Ledger {
            dice: Streams::new(1).stream("dice", 0),
            held: HashMap::new(),
            dropped: Vec::new(),
            last_delivered: HashMap::new(),
            faults: Vec::new(),
        };
        Self {
            qdisc,
            ledger,
            now: Instant::from_nanos(start),
            next_id: 0,
            limit,
            dual: args.spec.name == "dualpi2",
            codepoints: Vec::new(),
        }
    }

    fn step(&mut self, op: &Op) -> Result<(), TestCaseError> {
        match *op {
            Op::Enqueue { len, flow, ecn } => self.enqueue(len, flow, ecn)?,
            Op::Dequeue => {
                self.dequeue()?;
            }
            Op::Advance(span) => self.advance(span),
        }
        self.check()
    }

    fn enqueue(&mut self, len: u32, flow: u32, ecn: u8) -> Result<(), TestCaseError> {
        let packet = Plain {
            len,
            ecn: Ecn::from_bits(ecn),
            flow_hash: flow.wrapping_mul(0x9e37_79b1),
            host_hashes: (flow % 3, flow % 2),
            dscp: flow as u8, // so that all bands and tins are used, and a flow keeps to its own
            arrival: self.now, // so that the ledger sees whether the discipline noted it
            id: self.next_id,
        };
        self.codepoints.push(ecn);
        self.ledger.dropped.clear();
        self.ledger.held.insert(packet.id, packet);
        self.next_id += 1;
        let offered = Plain { arrival: Instant::MAX, ..packet };
        let told = self.qdisc.enqueue(self.now, offered, &mut self.ledger);
        let gone = self.ledger.dropped.contains(&packet.id);
        prop_assert!(gone || told != Enqueued::Dropped, "told {:?}, but packet {} is held", told, packet.id);
        prop_assert!(
            !gone || told != Enqueued::Success || self.dual,
            "told {:?}, but packet {} was dropped",
            told,
            packet.id
        );
        Ok(())
    }

    fn dequeue(&mut self) -> Result<bool, TestCaseError> {
        let Some(packet) = self.qdisc.dequeue(self.now, &mut self.ledger) else { return Ok(false) };
        self.ledger.leaves(&packet, "delivered");
        let queue = if self.dual { self.codepoints[packet.id as usize] } else { 0 };
        let last = self.ledger.last_delivered.insert((packet.flow_hash, queue), packet.id);
        prop_assert!(last.is_none_or(|last| last < packet.id), "{:?} overtook {:?}", packet, last);
        Ok(true)
    }

    fn advance(&mut self, span: u64) {
        if self.now.as_nanos() < u64::MAX / 2 {
            self.now += Duration::from_nanos(span);
        }
        // A late owner calls a few times; it does not make up for years of ticks.
        for _ in 0..3 {
            if self.qdisc.next_timer().is_some_and(|due| due <= self.now) {
                self.qdisc.on_timer(self.now, &mut self.ledger);
            }
        }
    }

    fn check(&self) -> Result<(), TestCaseError> {
        prop_assert!(self.ledger.faults.is_empty(), "{:?}", self.ledger.faults);
        let held = Backlog {
            packets: self.ledger.held.len() as u32,
            bytes: self.ledger.held.values().map(|packet| u64::from(packet.len)).sum(),
        };
        prop_assert_eq!(self.qdisc.backlog(), held);
        prop_assert!(held.packets <= self.limit.packets && held.bytes <= self.limit.bytes, "{:?}", held);
        Ok(())
    }

    /// Empties the discipline. One that gives nothing yet shapes, and its timer says when it will give.
    fn drain(&mut self) -> Result<(), TestCaseError> {
        while self.qdisc.backlog().packets > 0 {
            let before = self.qdisc.backlog().packets;
            self.dequeue()?;
            self.check()?;
            if self.qdisc.backlog().packets == before {
                let due = self.qdisc.next_timer().filter(|due| *due > self.now);
                prop_assert!(due.is_some(), "it holds packets, gives none, and does not say when it will");
                self.now = due.unwrap_or(self.now);
                self.qdisc.on_timer(self.now, &mut self.ledger);
                self.dequeue()?;
                self.check()?;
                prop_assert!(self.qdisc.backlog().packets < before, "it gives nothing when it said it would");
            }
            self.advance(1_000_000);
        }
        prop_assert!(!self.dequeue()?);
        self.check()
    }
}

fn link() -> Link {
    Link { rate: Rate::from_bps(10_000_000).expect("above zero"), mtu: 1514 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    /// Each packet offered is delivered or dropped, once; the backlog is what is held; no flow is reordered;
    /// only ECN-capable packets are marked; nothing panics.
    #[test]
    fn every_packet_has_one_fate(
        line in prop_oneof![5 => line(), 1 => prop::sample::select(TUNED).prop_map(str::to_string)],
        start in start(),
        ops in ops(),
    ) {
        // Parameters that contradict each other are refused, which is an answer too.
        let args = parse_line(&line).unwrap();
        if let Ok(qdisc) = AnyQdisc::build(&args, &link()) {
            let mut bench = Bench::new(qdisc, &args, start);
            for op in &ops {
                bench.step(op)?;
            }
            bench.drain()?;
            prop_assert!(bench.ledger.held.is_empty());
        }
    }
}

#[test]
fn every_discipline_is_made_from_its_defaults_and_its_line_can_be_read_back() {
    for spec in ALL {
        let line = Args::defaults(spec).to_string();
        AnyQdisc::<Plain>::parse(spec.name, &link()).unwrap_or_else(|error| panic!("{error}"));
        let again = parse_line(&line).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.to_string(), line);
        assert!(!spec.summary.is_empty() && !spec.source.is_empty(), "{}", spec.name);
        for param in spec.params {
            assert!(!param.help.is_empty() && !param.source.is_empty(), "{} {}", spec.name, param.name);
        }
    }
}

#[test]
fn unusual_values_are_accepted_one_at_a_time() {
    for spec in ALL {
        for param in spec.params {
            for which in 0..6 {
                let words = unusual(param, which);
                Args::parse(spec, &words).unwrap_or_else(|error| panic!("{error}"));
            }
        }
    }
}
