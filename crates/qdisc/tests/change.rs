//! `tc qdisc change` for each discipline: refused changes, kept state, dropped packets.

use goodqueue_qdisc::packet::Plain;
use goodqueue_qdisc::param::Value;
use goodqueue_qdisc::registry::parse_line;
use goodqueue_qdisc::{AnyQdisc, Backlog, Drop, Link, Mark, Owner, Probe, Qdisc};
use goodqueue_units::{Duration, Ecn, Instant, Rate};

const LINK: Link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };

#[derive(Default)]
struct Dropped(Vec<(u64, Drop)>);
impl Owner<Plain> for Dropped {
    fn dropped(&mut self, packet: Plain, why: Drop) {
        self.0.push((packet.id, why));
    }
    fn marked(&mut self, _packet: &Plain, _why: Mark) {}
    fn random_u32(&mut self) -> u32 {
        u32::MAX
    }
    fn random_u64(&mut self) -> u64 {
        u64::MAX
    }
}

fn made(line: &str) -> AnyQdisc<Plain> {
    AnyQdisc::parse(line, &LINK).unwrap()
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Offers ten packets of 1000 bytes at the start, spread over `flows` flows.
fn with_ten(line: &str, flows: u64) -> (AnyQdisc<Plain>, Dropped) {
    let (mut qdisc, mut owner) = (made(line), Dropped::default());
    for id in 0..10 {
        let flow_hash = ((id % flows) << 29) as u32;
        qdisc.enqueue(at(0), Plain { id, flow_hash, ..Plain::new(1000) }, &mut owner);
    }
    assert_eq!(qdisc.backlog().packets, 10, "{line}");
    (qdisc, owner)
}

/// One integer of the state.
struct Variable(&'static str, Option<i128>);
impl Probe for Variable {
    fn integer(&mut self, name: &'static str, value: i128) {
        if name == self.0 {
            self.1 = Some(value);
        }
    }
    fn real(&mut self, _name: &'static str, _value: f64) {}
}

fn variable(qdisc: &AnyQdisc<Plain>, name: &'static str) -> i128 {
    let mut variable = Variable(name, None);
    qdisc.probe(&mut variable);
    variable.1.unwrap()
}

/// Returns one real number of the state.
fn real(qdisc: &AnyQdisc<Plain>, wanted: &'static str) -> f64 {
    struct Real(&'static str, Option<f64>);
    impl Probe for Real {
        fn integer(&mut self, _name: &'static str, _value: i128) {}
        fn real(&mut self, name: &'static str, value: f64) {
            if name == self.0 {
                self.1 = Some(value);
            }
        }
    }
    let mut found = Real(wanted, None);
    qdisc.probe(&mut found);
    found.1.unwrap()
}

#[test]
fn a_refused_change_says_what_was_found_and_what_is_accepted() {
    let lives = "which cannot change while the qdisc lives";
    for (line, change, error) in [
        (
            "codel",
            "pie target 5ms",
            "found \"pie\"; accepted: codel, which cannot become another qdisc".to_string(),
        ),
        ("codel", "", "found \"\"; accepted: codel, which cannot become another qdisc".to_string()),
        (
            "codel",
            "codel target 5parsec",
            "codel target: found \"5parsec\"; accepted: a time such as 5ms, 100us or 1.5s".to_string(),
        ),
        ("codel", "codel variant rfc8289", format!("codel variant: found rfc8289; accepted: linux, {lives}")),
        ("fq_codel", "fq_codel flows 8", format!("fq_codel flows: found 8; accepted: 1024, {lives}")),
        ("fq_pie", "fq_pie limit 5 flows 8", format!("fq_pie flows: found 8; accepted: 1024, {lives}")),
        ("sfq", "sfq limit 5", format!("sfq limit: found 5; accepted: 127, {lives}")),
        ("cake", "cake diffserv8", format!("cake diffserv: found diffserv8; accepted: diffserv3, {lives}")),
        ("red", "red min 100 max 50", "red: max must be above zero and not less than min".to_string()),
        (
            "tbf",
            "tbf child pfifo",
            "tbf child: found one; accepted: none, as the qdisc was made without".to_string(),
        ),
        (
            "htb child codel",
            "htb child pie",
            "htb child: found \"pie\"; accepted: codel, which cannot become another qdisc".to_string(),
        ),
        (
            "htb child fq_codel",
            "htb child fq_codel flows 8",
            format!("htb child: fq_codel flows: found 8; accepted: 1024, {lives}"),
        ),
    ] {
        let (mut qdisc, mut owner) = (made(line), Dropped::default());
        let before = qdisc.args().to_string();
        assert_eq!(qdisc.change(at(0), change, &mut owner).unwrap_err().0, error);
        assert_eq!(qdisc.args().to_string(), before);
    }
    // The present value is no change.
    assert!(made("fq_codel").change(at(0), "fq_codel flows 1024", &mut Dropped::default()).is_ok());
}

/// Otherwise a change of one parameter would set all others to their defaults.
#[test]
fn what_a_line_does_not_name_stays_in_the_child_too() {
    let mut qdisc = made("htb rate 2mbit burst 9000 child tbf rate 1mbit child codel target 20ms limit 50");
    for line in ["htb child tbf child codel ecn", "htb burst 8000"] {
        qdisc.change(at(0), line, &mut Dropped::default()).unwrap();
    }
    let wanted = "htb rate 2mbit burst 8000 child tbf rate 1mbit child codel target 20ms limit 50 ecn";
    assert_eq!(qdisc.args().to_string(), parse_line(wanted).unwrap().to_string());
}

/// `tc`'s formulas set `target` and the others as they do in a first line. These values must stay until they are set
/// anew. By hand, for 30 ms: typical 5 ms, tupdate min(5, 10) ms, alpha 0.1 x 0.005 / 0.03^2 = 142.2 / 256, beta 0.3
/// / 0.03.
#[test]
fn what_follows_from_a_round_trip_time_follows_a_change_and_stays() {
    let mut qdisc = made("dualpi2 max_rtt 60ms");
    let mut line = |words| {
        qdisc.change(at(0), words, &mut Dropped::default()).unwrap();
        qdisc.args().to_string()
    };
    let stays = line("dualpi2 limit 50");
    assert!(stays.contains("limit 50 coupling_factor 2 target 10ms tupdate 10ms"), "{stays}");
    let follows = line("dualpi2 max_rtt 30ms");
    assert!(follows.contains("target 5ms tupdate 5ms alpha 0.5546875 beta 10 step_thresh"), "{follows}");
    assert!(line("dualpi2 target 7ms").contains("target 7ms tupdate 5ms"));
}

/// A limit that a scenario's buffer has set is not in the line, and must stay all the same.
#[test]
fn a_default_that_was_set_stays() {
    let mut args = parse_line("htb").unwrap();
    args.child_mut().unwrap().set_default("limit", Value::Integer(7));
    assert!(args.changed("htb rate 5mbit").unwrap().to_string().ends_with("child pfifo limit 7"));
    let mut args = parse_line("dualpi2").unwrap();
    args.set_default("limit", Value::Integer(7));
    assert!(args.changed("dualpi2 target 5ms").unwrap().to_string().starts_with("dualpi2 limit 7 "));
}

/// In each command `tc` counts a framing from nothing. Linux counts from the IP packet again if it gets an overhead,
/// and `tc` ends the estimation with a bandwidth. A new latency would have no effect beside a limit, which takes
/// precedence.
#[test]
fn what_a_line_names_takes_back_what_contradicts_it() {
    for (line, change, wanted) in [
        ("cake docsis", "cake docsis", "cake docsis"),
        ("cake docsis", "cake ethernet ether-vlan", "cake overhead 42 mpu 84"),
        ("cake raw overhead 7", "cake overhead 9", "cake overhead 9"),
        ("cake raw", "cake pppoe-ptm", "cake pppoe-ptm"),
        ("cake raw overhead 7", "cake mpu 64", "cake raw overhead 7 mpu 64"),
        ("cake overhead 7", "cake raw overhead 9", "cake raw overhead 9"),
        ("cake bandwidth 10mbit autorate-ingress", "cake bandwidth 9mbit", "cake bandwidth 9mbit"),
        ("cake bandwidth 10mbit autorate-ingress", "cake unlimited", "cake"),
        (
            "cake bandwidth 10mbit autorate-ingress",
            "cake ack-filter",
            "cake bandwidth 10mbit autorate-ingress ack-filter",
        ),
        ("tbf limit 10000", "tbf latency 10ms", "tbf latency 10ms"),
        ("tbf latency 10ms", "tbf limit 10000", "tbf limit 10000"),
        ("htb child cake docsis", "htb child cake docsis", "htb child cake docsis"),
    ] {
        let mut qdisc = made(line);
        qdisc.change(at(0), change, &mut Dropped::default()).unwrap();
        assert_eq!(qdisc.args().to_string(), parse_line(wanted).unwrap().to_string(), "{line}, {change}");
    }
}

/// Linux's fifos keep the packets above a smaller limit (`fifo_init`, net/sched/sch_fifo.c, 6.1), and take none until
/// enough have left. So does the queue of a tbf (`fifo_set_limit`).
#[test]
fn a_fifo_keeps_what_waits_above_a_smaller_limit() {
    for (name, limit, drops) in [
        ("pfifo", "limit 4", 10),
        ("bfifo", "limit 4500", 10),
        ("pfifo_head_drop", "limit 4", 0),
        ("tbf", "limit 4000", 10),
    ] {
        let (mut qdisc, mut owner) = with_ten(name, 1);
        qdisc.change(at(1), &format!("{name} {limit}"), &mut owner).unwrap();
        assert_eq!((qdisc.backlog().packets, owner.0.len()), (10, 0), "{name}");
        qdisc.enqueue(at(1), Plain { id: 10, ..Plain::new(1000) }, &mut owner);
        let dropped: Vec<u64> = owner.0.iter().map(|(id, _)| *id).collect();
        assert_eq!((qdisc.backlog().packets, dropped), (10, vec![drops]), "{name}");
    }
}

#[test]
fn a_smaller_limit_drops_the_oldest() {
    for (name, limit) in [
        ("codel", "limit 4"),
        ("cobalt", "limit 4"),
        ("pie", "limit 4"),
        ("docsis_pie", "limit 4000"),
        ("red", "limit 4200 max 4000"),
        ("red_gentle", "limit 4"),
        ("ared", "limit 4"),
        ("blue", "limit 4"),
        ("sfb", "limit 4"),
        ("pi", "limit 4"),
        ("rem", "limit 4"),
        ("choke", "limit 4 min 1 max 4 burst 1"),
        ("fq_codel", "limit 4"),
        ("fq_nocodel", "limit 4"),
        ("fq_pie", "limit 4"),
        ("dualpi2", "limit 4"),
    ] {
        let (mut qdisc, mut owner) = with_ten(name, 1);
        qdisc.change(at(1), &format!("{name} {limit}"), &mut owner).unwrap();
        let dropped: Vec<u64> = owner.0.iter().map(|(id, _)| *id).collect();
        assert_eq!(dropped, [0, 1, 2, 3, 4, 5], "{name}");
        assert_eq!(qdisc.backlog(), Backlog { packets: 4, bytes: 4000 }, "{name}");
        let next = qdisc.dequeue(at(1), &mut owner).map(|packet| packet.id);
        assert_eq!(next, Some(6), "{name}");
    }
}

/// Flow queues must lose packets in the order in which they would have been sent: in turns, and not all from one
/// flow.
#[test]
fn flow_queues_drop_in_turns() {
    for name in ["fq_codel", "fq_pie"] {
        let (mut qdisc, mut owner) = with_ten(name, 2);
        qdisc.change(at(1), &format!("{name} limit 6"), &mut owner).unwrap();
        let mut dropped: Vec<u64> = owner.0.iter().map(|(id, _)| *id).collect();
        dropped.sort_unstable();
        assert_eq!(dropped, [0, 1, 2, 3], "{name}");
    }
}

/// A CoDel in the dropping state must continue from its count, at the new pace.
#[test]
fn codel_keeps_its_count() {
    let (mut qdisc, mut owner) = (made("codel"), Dropped::default());
    let mut serve = |qdisc: &mut AnyQdisc<Plain>, ms: u64| {
        for id in 0..2 {
            qdisc.enqueue(at(ms), Plain { id, ..Plain::new(1514) }, &mut owner);
        }
        qdisc.dequeue(at(ms), &mut owner);
        owner.0.len()
    };
    let dropped = (0..500).map(|ms| serve(&mut qdisc, ms)).last().unwrap();
    let count = variable(&qdisc, "count");
    assert!(count > 3);
    qdisc.change(at(500), "codel interval 1s", &mut Dropped::default()).unwrap();
    assert_eq!((variable(&qdisc, "count"), variable(&qdisc, "dropping")), (count, 1));
    let slower = (500..1000).map(|ms| serve(&mut qdisc, ms)).last().unwrap() - dropped;
    assert!((1..4).contains(&slower), "a tenth of the pace: {slower} drops after {dropped}");
}

/// Two flows have packets of 300 bytes. With 1514 bytes per round a flow sends six packets and then owes 286 bytes.
/// With 300 bytes the flows take turns. The rest of a flow's present round must stay, and the next round must have
/// the new size.
#[test]
fn a_new_quantum_counts_from_the_next_round() {
    let turns = |change: Option<&str>| {
        let (mut qdisc, mut owner) = (made("fq_codel quantum 1514"), Dropped::default());
        for id in 0..40 {
            let flow_hash = ((id % 2) << 31) as u32;
            qdisc.enqueue(at(0), Plain { id, flow_hash, ..Plain::new(300) }, &mut owner);
        }
        if let Some(line) = change {
            qdisc.change(at(0), line, &mut owner).unwrap();
        }
        let flow =
            |qdisc: &mut AnyQdisc<Plain>| qdisc.dequeue(at(0), &mut Dropped::default()).unwrap().id % 2;
        (0..16).map(|_| flow(&mut qdisc)).collect::<Vec<_>>()
    };
    assert_eq!(turns(None), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
    assert_eq!(turns(Some("fq_codel quantum 300")), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1]);
}

/// Above max a packet is dropped. With `ecn` it is marked. With `harddrop` it is dropped all the same. With `nodrop`
/// even a packet that cannot be marked stays. The average stays above max throughout, so only the flags make the
/// difference.
#[test]
fn red_s_flags_count_from_the_change_on() {
    let (mut qdisc, mut owner) =
        (made("red limit 400000 min 1000 max 3000 avpkt 1000 burst 1 probability 0.1"), Dropped::default());
    let mut fates = |words: &str, ecn| {
        qdisc.change(at(0), &format!("red {words}"), &mut owner).unwrap();
        let (held, dropped) = (qdisc.backlog().packets, owner.0.len());
        qdisc.enqueue(at(0), Plain { ecn, ..Plain::new(1000) }, &mut owner);
        (qdisc.backlog().packets - held, owner.0.len() - dropped)
    };
    let held = (0..40).map(|_| fates("ecn", Ecn::Ect0).0).sum::<u32>();
    assert_eq!(held, 40, "all are marked, none is dropped");
    assert_eq!(fates("ecn", Ecn::NotEct), (0, 1));
    assert_eq!(fates("harddrop", Ecn::Ect0), (0, 1));
    assert_eq!(fates("noharddrop", Ecn::Ect0), (1, 0));
    assert_eq!(fates("nodrop", Ecn::NotEct), (1, 0));
    assert_eq!(fates("nonodrop", Ecn::NotEct), (0, 1));
    assert_eq!(fates("noecn", Ecn::Ect0), (0, 1));
}

/// Values that a law derives from its parameters must follow a change, and learned state must stay. RED divides max_p
/// by the distance of the thresholds and keeps the reciprocal. The RFC's DualPI2 couples by k.
#[test]
fn what_follows_from_a_parameter_follows_its_change() {
    let red = "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 probability";
    let (mut changed, fresh) = (made(&format!("{red} 0.02")), made(&format!("{red} 0.5")));
    changed.change(at(0), "red probability 0.5", &mut Dropped::default()).unwrap();
    for name in ["max_P", "recip_m", "recip_sh2"] {
        assert_eq!(variable(&changed, name), variable(&fresh, name), "{name}");
    }
    let (mut dual, mut owner) = with_ten("dualpi2 variant rfc9332 coupling_factor 2", 1);
    dual.on_timer(at(20), &mut owner); // 0.15 * 5 ms + 3 * 20 ms
    let before = (real(&dual, "p"), real(&dual, "coupled_probability"));
    assert!(before.0 > 0.05 && before.1 == 2.0 * before.0, "{before:?}");
    dual.change(at(20), "dualpi2 coupling_factor 4", &mut owner).unwrap();
    assert_eq!((real(&dual, "p"), real(&dual, "coupled_probability")), (before.0, 4.0 * before.0));
}

/// A waiting shaper must be asked again at once. Otherwise it would wait for the old rate's time.
#[test]
fn a_faster_shaper_does_not_wait_for_the_slower_one_s_time() {
    for (line, faster) in [
        ("tbf rate 8kbit burst 2000 limit 20000", "tbf rate 8mbit"),
        ("htb rate 8kbit burst 1b cburst 1b", "htb rate 8mbit"),
    ] {
        let (mut qdisc, mut owner) = with_ten(line, 1);
        while qdisc.dequeue(at(1), &mut owner).is_some() {}
        assert!(qdisc.next_timer() > Some(at(900)), "1000 bytes at 8 kbit/s are a second");
        qdisc.change(at(1), faster, &mut owner).unwrap();
        assert_eq!(qdisc.next_timer(), Some(at(1)));
        qdisc.on_timer(at(1), &mut owner);
        assert!(qdisc.dequeue(at(1), &mut owner).is_none(), "{line}: what it owes, it owes still");
        assert!(qdisc.next_timer() <= Some(at(3)), "{line}: {:?}", qdisc.next_timer());
        assert!(qdisc.dequeue(at(3), &mut owner).is_some(), "{line}");
    }
}

/// A packet that no longer fits into the bucket would never leave, and block all packets behind it.
#[test]
fn tbf_drops_what_a_smaller_burst_can_never_send() {
    for line in ["tbf rate 1mbit burst 5000", "tbf rate 1mbit burst 5000 child pfifo"] {
        let (mut qdisc, mut owner) = with_ten(line, 1);
        qdisc.enqueue(at(0), Plain { id: 10, ..Plain::new(100) }, &mut owner);
        qdisc.change(at(0), "tbf burst 500", &mut owner).unwrap();
        assert_eq!(qdisc.dequeue(at(0), &mut owner).map(|packet| packet.id), Some(10), "{line}");
        assert_eq!(owner.0.len(), 10);
    }
}

/// A shaper that begins must not make up for the time before it, nor must one that slows down.
#[test]
fn cake_begins_to_shape_and_slows_down() {
    let (mut qdisc, mut owner) = (made("cake"), Dropped::default());
    let mut sent = |qdisc: &mut AnyQdisc<Plain>, ms: std::ops::Range<u64>| {
        ms.filter(|ms| {
            qdisc.enqueue(at(*ms), Plain::new(1514), &mut owner);
            qdisc.enqueue(at(*ms), Plain::new(1514), &mut owner);
            qdisc.dequeue(at(*ms), &mut owner).is_some()
        })
        .count()
    };
    assert_eq!(sent(&mut qdisc, 0..1000), 1000);
    for (from, line, frames) in [(1000, "cake bandwidth 4mbit", 330), (2000, "cake bandwidth 1mbit", 82)] {
        qdisc.change(at(from), line, &mut Dropped::default()).unwrap();
        let sent = sent(&mut qdisc, from..from + 1000);
        assert!((frames - 2..=frames + 2).contains(&sent), "{line}: {sent} frames a second");
    }
    qdisc.change(at(3000), "cake memlimit 20000", &mut Dropped::default()).unwrap();
    assert!(qdisc.backlog().bytes < 20_000, "{:?}", qdisc.backlog());
}

/// Values that follow from the link's rate must follow its change. Values that the line sets must not.
#[test]
fn the_link_s_rate_is_told() {
    let half = Rate::from_bps(5_000_000).unwrap();
    let mut owner = Dropped::default();
    // 250 ms at 5 Mbit/s are 156250 bytes: 103 full frames.
    for (line, left) in [
        ("docsis_pie", 103),
        ("docsis_pie msr 10mbit", 200),
        ("dualpi2 variant rfc9332", 103),
        ("docsis_lld", 41),
        ("pfifo", 200),
    ] {
        let mut qdisc = made(line);
        for _ in 0..200 {
            qdisc.enqueue(at(0), Plain::new(1514), &mut owner);
        }
        qdisc.set_link_rate(at(0), half, &mut owner).unwrap();
        assert_eq!((qdisc.backlog().packets, qdisc.link().rate), (left, half), "{line}");
    }
    let mut tbf = made("tbf rate 2mbit peakrate 8mbit");
    assert!(tbf.set_link_rate(at(0), half, &mut owner).is_ok());
    let mut tbf = made("tbf peakrate 20mbit");
    let error = tbf.set_link_rate(at(0), Rate::from_bps(30_000_000).unwrap(), &mut owner).unwrap_err();
    assert_eq!((error.0.as_str(), tbf.link().rate), ("tbf: peakrate must be greater than rate", LINK.rate));
}
