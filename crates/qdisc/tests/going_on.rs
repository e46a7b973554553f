//! The state that a discipline shows, and that a change does not reset it: each line on one fixed load, sampled as it
//! runs.

use goodqueue_qdisc::packet::Plain;
use goodqueue_qdisc::param::Form;
use goodqueue_qdisc::registry::ALL;
use goodqueue_qdisc::{AnyQdisc, Drop, Link, Mark, Measure, Owner, Probe, Qdisc, Raw};
use goodqueue_units::{Duration, Ecn, Instant, Rate, Stream, Streams};
use std::collections::BTreeMap;

const LINK: Link = Link { rate: Rate::from_bps(8_000_000).unwrap(), mtu: 1514 };

/// Lines whose parameters reach code that the defaults do not, beside each discipline and each variant by name.
const LINES: &[&str] = &[
    "codel ecn target 1ms interval 5ms",
    "pie dq_rate_estimator",
    "pie ecn limit 60",
    "fq_pie ecn limit 60",
    "red limit 60000 min 3000 max 20000 burst 4 probability 0.3 adaptive",
    "red limit 90000 min 9000 max 30000 burst 20 ecn harddrop",
    "red limit 90000 min 9000 max 30000 burst 20 ecn nodrop",
    "choke limit 60 min 5 max 30 burst 10 probability 0.3 ecn",
    "blue limit 20 d1 0.25 d2 0.125 freeze_time 20ms",
    "pi limit 90 q_ref 10 a 0.01 b 0.009 w 50",
    "rem limit 90 bstar 10 gamma 0.05 interval 20ms",
    "sfb max 9 target 4 increment 0.4 decrement 0.1 penalty_rate 100 rehash 300 db 200",
    "sfq limit 40 redflowlimit 36000 min 1500 max 6000 burst 3 probability 0.5 ecn",
    "fq_codel limit 40 flows 8 target 1ms interval 5ms",
    "dualpi2 limit 60",
    "dualpi2 variant rfc9332 limit 60",
    "cake bandwidth 6mbit",
    "tbf rate 6mbit burst 20000 child codel",
    "htb rate 6mbit child blue limit 20 d1 0.25 d2 0.125 freeze_time 20ms",
];

fn lines() -> Vec<String> {
    let variants = ALL.iter().flat_map(|spec| match spec.param("variant").map(|variant| variant.form) {
        Some(Form::Choice(words)) => {
            words.iter().map(|word| format!("{} variant {word}", spec.name)).collect()
        }
        _ => vec![spec.name.to_string()],
    });
    variants.chain(LINES.iter().map(ToString::to_string)).collect()
}

/// An owner that notes what became of the packets. Its random numbers repeat in each run.
struct Log {
    dice: Stream,
    fates: Vec<String>,
}

impl Owner<Plain> for Log {
    fn dropped(&mut self, packet: Plain, why: Drop) {
        self.fates.push(format!("{} dropped: {why}", packet.id));
    }
    fn marked(&mut self, packet: &Plain, why: Mark) {
        self.fates.push(format!("{} marked: {why}", packet.id));
    }
    fn random_u32(&mut self) -> u32 {
        self.dice.next_u32()
    }
    fn random_u64(&mut self) -> u64 {
        self.dice.next_u64()
    }
}

/// All variables that a discipline shows, by name.
#[derive(Default)]
struct Shown {
    measured: BTreeMap<&'static str, (Raw, Measure)>,
    plain: BTreeMap<&'static str, String>,
}

impl Probe for Shown {
    fn measured(&mut self, name: &'static str, raw: Raw, measure: Measure) {
        self.measured.insert(name, (raw, measure));
    }
    fn integer(&mut self, name: &'static str, value: i128) {
        self.plain.insert(name, value.to_string());
    }
    fn real(&mut self, name: &'static str, value: f64) {
        self.plain.insert(name, value.to_string());
    }
    fn text(&mut self, name: &'static str, value: String) {
        self.plain.insert(name, value);
    }
}

fn shown(qdisc: &AnyQdisc<Plain>) -> Shown {
    let mut shown = Shown::default();
    qdisc.probe(&mut shown);
    shown
}

/// Runs four seconds on a link of 1 packet per millisecond: 1.5 s with twice that load, 0.5 s with half of it, 300 ms
/// without packets, and the rest with three times as much. `look` sees the discipline after each millisecond.
fn drive(line: &str, mut look: impl FnMut(u64, &mut AnyQdisc<Plain>, &mut Log)) {
    let mut qdisc = AnyQdisc::<Plain>::parse(line, &LINK).unwrap_or_else(|error| panic!("{line}: {error}"));
    let mut log = Log { dice: Streams::new(20).stream("dice", 0), fates: Vec::new() };
    let mut id = 0;
    for ms in 0..4000 {
        let now = Instant::ZERO + Duration::from_millis(ms);
        while qdisc.next_timer().is_some_and(|due| due <= now) {
            qdisc.on_timer(now, &mut log);
        }
        let arrivals = match ms {
            0..1500 => 2,
            1500..2000 => ms % 2,
            2000..2300 => 0,
            _ => 3,
        };
        for _ in 0..arrivals {
            let flow = (id % 7) as u32;
            let (flow_hash, ecn) = (flow.wrapping_mul(0x9e37_79b1), Ecn::from_bits((id / 5 % 4) as u8));
            qdisc.enqueue(now, Plain { id, flow_hash, ecn, ..Plain::new(1000) }, &mut log);
            id += 1;
        }
        if let Some(packet) = qdisc.dequeue(now, &mut log) {
            log.fates.push(format!("{} sent", packet.id));
        }
        look(ms, &mut qdisc, &mut log);
    }
}

/// `tc qdisc change` with the discipline's own parameters, in the middle of each part of the load, must not change
/// anything that a law has learned. (A shaper wants to be asked again after a change. The same packets must leave.)
#[test]
fn a_change_to_what_it_is_changes_nothing() {
    for line in lines() {
        let run = |changed_at: &[u64]| {
            let mut seen: Vec<Vec<String>> = Vec::new();
            drive(&line, |ms, qdisc, log| {
                if changed_at.contains(&ms) {
                    let same = qdisc.args().to_string();
                    qdisc.change(Instant::ZERO + Duration::from_millis(ms), &same, log).unwrap();
                }
                let mut now = std::mem::take(&mut log.fates);
                if ms % 20 == 19 {
                    let Shown { measured, plain } = shown(qdisc);
                    now.extend(plain.into_iter().map(|(name, value)| format!("{name} {value}")));
                    now.extend(measured.into_iter().map(|(name, value)| format!("{name} {value:?}")));
                }
                seen.push(now);
            });
            seen
        };
        let (without, with) = (run(&[]), run(&[703, 1717, 2150, 3107]));
        let differs = (0..without.len()).find(|&ms| without[ms] != with[ms]);
        if let Some(ms) = differs {
            panic!("{line}: at {ms} ms {:?}, and with the changes {:?}", without[ms], with[ms]);
        }
    }
}

const Q16: f64 = 1.0 / 65_536.0;
const Q32: f64 = 1.0 / 4_294_967_296.0;
/// PIE's probabilities are parts of 2^56 - 1, and its ticks are 64 ns. CoDel's ticks are 1024 ns.
const PIE: f64 = 1.0 / 72_057_594_037_927_935.0;
const PIE_TICK: f64 = 64e-9;

/// The factor from the unit in which the discipline keeps a variable to the unit that people read.
const SCALES: &[(&str, &str, f64)] = &[
    ("codel", "rec_inv_sqrt", Q16),
    ("codel", "ldelay", 1024e-9),
    ("cobalt", "rec_inv_sqrt", Q32),
    ("cobalt", "p_drop", Q32),
    ("cake bandwidth 6mbit", "p_drop", Q32),
    ("cake bandwidth 6mbit", "buffer_used", 1.0),
    ("pie", "prob", PIE),
    ("pie", "accu_prob", PIE),
    ("pie", "qdelay", PIE_TICK),
    ("pie", "qdelay_old", PIE_TICK),
    ("pie", "burst_time", PIE_TICK),
    ("pie", "backlog_old", 1.0),
    ("pie", "maxq", 1.0),
    ("docsis_pie", "burst_allowance", 1e-9),
    ("red limit 60000 min 3000 max 20000 burst 4 probability 0.3 adaptive", "max_P", Q32),
    ("sfb max 9 target 4 increment 0.4 decrement 0.1", "maxqlen", 1.0),
    ("sfb max 9 target 4 increment 0.4 decrement 0.1", "maxprob", 1.0 / 65_535.0),
    ("fq_codel", "memory_usage", 1.0),
    ("fq_pie", "memory_usage", 1.0),
    ("sfq", "cur_depth", 1.0),
    ("dualpi2", "prob", 1.0 / 4_294_967_295.0),
    ("dualpi2", "last_qdelay", 1e-9),
    ("dualpi2", "c_qlen", 1.0),
    ("dualpi2", "l_qlen", 1.0),
    ("dualpi2", "l_backlog", 1.0),
    ("dualpi2", "memory_used", 1.0),
    ("dualpi2 variant rfc9332", "prevq", 1.0),
    ("pi", "q_old", 1.0),
    ("rem", "input", 1.0),
];

fn number(measure: Measure) -> Option<f64> {
    match measure {
        Measure::Number(value)
        | Measure::Time(value)
        | Measure::Bytes(value)
        | Measure::Packets(value)
        | Measure::Rate(value) => value,
        Measure::Moment(_) | Measure::Internal => None,
    }
}

#[test]
fn what_people_read_is_what_is_kept_in_their_units() {
    for &(line, name, scale) in SCALES {
        let mut most = 0.0_f64;
        drive(line, |ms, qdisc, _| {
            if ms % 20 != 19 {
                return;
            }
            let found = *shown(qdisc).measured.get(name).unwrap_or_else(|| panic!("{line} shows no {name}"));
            let raw = match found.0 {
                Raw::Integer(raw) => raw as f64,
                Raw::Real(raw) => raw,
            };
            let (read, wanted) = (number(found.1).unwrap(), raw * scale);
            assert!((read - wanted).abs() <= 1e-9 * wanted.abs(), "{line}: {name} {read}, {raw} kept");
            most = most.max(read);
        });
        assert!(most > 0.0, "{line}: {name} was 0 all the time");
    }
}

/// Variables that are points of time: the tick in nanoseconds, and the value that means "none".
const MOMENTS: &[(&str, &str, i128, i128)] = &[
    ("codel", "first_above_time", 1024, 0),
    ("cobalt limit 100", "blue_timer", 1, 0),
    ("fq maxrate 100kbit", "time_next_delayed_flow", 1, u64::MAX as i128),
    ("pie dq_rate_estimator", "dq_tstamp", 64, u64::MAX as i128),
];

/// A time must not be shown when nothing is due, and must be shown when something is.
#[test]
fn a_point_of_time_is_shown_where_there_is_one() {
    for &(line, name, tick, never) in MOMENTS {
        let (mut with, mut without) = (0, 0);
        drive(line, |_, qdisc, _| {
            let found = shown(qdisc).measured.remove(name);
            let Some((Raw::Integer(raw), Measure::Moment(moment))) = found else {
                panic!("{line}: {name} is no point of time");
            };
            assert_eq!(moment.is_none(), raw == never, "{line}: {name} {raw}");
            let nanos = moment.map(|moment| i128::from(moment.nanos_from(Instant::ZERO)));
            assert_eq!(nanos.unwrap_or(raw * tick), raw * tick, "{line}: {name}");
            (with, without) = if moment.is_some() { (with + 1, without) } else { (with, without + 1) };
        });
        assert!(with > 0 && without > 0, "{line}: {name} is set {with} times, {without} times not");
    }
}

/// A discipline that may hold packets back must say so. Otherwise a link would not ask again.
#[test]
fn only_shapers_and_netem_are_not_work_conserving() {
    for spec in ALL {
        let qdisc = AnyQdisc::<Plain>::parse(spec.name, &LINK).unwrap();
        let is_shaper = ["tbf", "htb", "cake", "cake_mq", "fq", "netem"].contains(&spec.name);
        assert_eq!(qdisc.is_work_conserving(), !is_shaper, "{}", spec.name);
    }
}

/// The backlog must count a packet wherever it waits, and a shaper without packets must not set a timer.
#[test]
fn a_shaper_counts_what_it_took_from_its_child() {
    for line in [
        "tbf rate 80kbit burst 1000 child codel",
        "htb rate 80kbit burst 1b cburst 1b",
        "cake bandwidth 80kbit",
    ] {
        let mut qdisc = AnyQdisc::<Plain>::parse(line, &LINK).unwrap();
        let mut log = Log { dice: Streams::new(20).stream("dice", 0), fates: Vec::new() };
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        for id in 0..2 {
            qdisc.enqueue(at(0), Plain { id, ..Plain::new(1000) }, &mut log);
        }
        assert!(qdisc.dequeue(at(0), &mut log).is_some(), "{line}");
        assert!(qdisc.dequeue(at(0), &mut log).is_none(), "{line}: 1000 bytes take 100 ms");
        let held = qdisc.backlog();
        assert_eq!((held.packets, held.bytes), (1, 1000), "{line}");
        assert!(qdisc.next_timer() > Some(at(90)), "{line}");
        qdisc.on_timer(at(101), &mut log);
        assert!(qdisc.dequeue(at(101), &mut log).is_some(), "{line}");
        assert_eq!((qdisc.backlog().packets, qdisc.next_timer()), (0, None), "{line}");
        assert!(qdisc.dequeue(at(101), &mut log).is_none() && qdisc.next_timer().is_none(), "{line}");
    }
}

/// docsis_pie holds 250 ms of its link: 41 full frames at 2 Mbit/s, 165 at the 8 Mbit/s of the link below the shaper.
#[test]
fn a_child_is_told_its_shapers_rate() {
    for (line, held) in [
        ("tbf rate 2mbit burst 20000 child docsis_pie", 41),
        ("htb rate 2mbit child docsis_pie", 41),
        ("docsis_pie", 165),
    ] {
        let mut qdisc = AnyQdisc::parse(line, &LINK).unwrap();
        let mut log = Log { dice: Streams::new(1).stream("dice", 0), fates: Vec::new() };
        for _ in 0..200 {
            qdisc.enqueue(Instant::ZERO, Plain::new(1514), &mut log);
        }
        assert_eq!(qdisc.backlog().packets, held, "{line}");
    }
}

/// A replay compares only the variables that are shown. A law that shows none could never differ from its decision
/// trace.
#[test]
fn laws_within_others_show_themselves() {
    for (line, name) in [
        ("ared", "max_p"),
        ("choke limit 60 min 5 max 30 burst 10", "qcount"),
        ("fq_nocodel", "drop_overlimit"),
        ("red limit 60000 min 3000 max 20000 burst 4", "prob_drop"),
    ] {
        let Shown { plain, .. } = shown(&AnyQdisc::parse(line, &LINK).unwrap());
        assert!(plain.contains_key(name), "{line} shows {plain:?}");
    }
}

/// A law must show its drop probability, at most 1, and it must equal the law's own variable if that is shown, too.
#[test]
fn laws_show_the_probability_that_they_drop_with() {
    let sfb = "sfb max 9 target 4 increment 0.4 decrement 0.1";
    for (line, own) in [
        ("blue limit 20 d1 0.25 d2 0.125 freeze_time 20ms", None),
        ("pi limit 90 q_ref 10 a 0.01 b 0.009 w 50", None),
        ("rem limit 90 bstar 10 gamma 0.05 interval 20ms", None),
        ("red_gentle limit 90 min 5 max 30 weight 0.02", None),
        ("pie", Some("prob")),
        (sfb, None),
    ] {
        let (mut least, mut most) = (f64::MAX, 0.0_f64);
        drive(line, |ms, qdisc, _| {
            if ms % 20 != 19 {
                return;
            }
            let Shown { measured, plain } = shown(qdisc);
            if line == sfb {
                // The mean of 128 bins is kept as an integer and shown exactly.
                let (Raw::Integer(whole), Measure::Number(Some(share))) = measured["avgprob"] else {
                    panic!()
                };
                let parts = share * 65_535.0 - whole as f64;
                assert!((-1e-6..1.0).contains(&parts), "{whole} and {parts}");
                (least, most) = (least.min(share), most.max(share));
                return;
            }
            let p: f64 = plain["drop_probability"].parse().unwrap();
            let own = own.map_or(p, |own| number(measured[own].1).unwrap().min(1.0));
            assert!(p == own && (0.0..=1.0).contains(&p), "{line}: {p}, {own} kept");
            (least, most) = (least.min(p), most.max(p));
        });
        assert!(least < 0.01 && most > 0.05, "{line}: from {least} to {most}");
    }
}

/// A packet of 1000 bytes leaves each millisecond: the rate must be 8 Mbit/s, once it is known.
#[test]
fn pies_rate_is_in_bits_a_second() {
    for line in ["pie dq_rate_estimator", "pie variant draft2013", "pie variant rfc8033 dq_rate_estimator"] {
        let mut rates = Vec::new();
        drive(line, |ms, qdisc, _| {
            let (raw, Measure::Rate(rate)) = shown(qdisc).measured["avg_dq_rate"] else { panic!("no rate") };
            assert_eq!(rate.is_none(), raw == Raw::Integer(0), "{line}");
            if ms < 1400 {
                rates.extend(rate);
            }
        });
        assert!(
            rates.last().is_some_and(|rate| (rate / 8e6 - 1.0).abs() < 0.1),
            "{line}: {:?}",
            rates.last()
        );
    }
}

/// RFC 9332, 2.1: classic packets are dropped with the square of p', L4S packets are marked with k p'.
#[test]
fn dualpi2_shows_its_square_and_its_coupling() {
    let mut most = 0.0_f64;
    drive("dualpi2 coupling_factor 3", |_, qdisc, _| {
        let Shown { measured, plain } = shown(qdisc);
        let base = number(measured["prob"].1).unwrap();
        let of = |name: &str| plain[name].parse::<f64>().unwrap();
        assert_eq!(of("drop_probability"), base * base);
        assert_eq!(of("coupled_probability"), (3.0 * base).min(1.0));
        most = most.max(base);
    });
    assert!(most > 0.1, "p' rose to {most}");
}
