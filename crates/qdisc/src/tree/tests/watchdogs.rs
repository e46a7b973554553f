//! Tests of when an idle link asks a tree: the departures are those of Linux 6.1.192 (user mode, virtual clock), whose
//! only calls are an arrival, the end of a transmission, and a watchdog.

use crate::packet::Plain;
use crate::registry::AnyQdisc;
use crate::sched::Noted;
use crate::{Link, Qdisc};
use alloc::vec::Vec;
use goodqueue_units::{Instant, Rate};

/// 5 Mbit/s: a full frame takes 2 422 400 ns.
const LINK: Link = Link { rate: Rate::from_bps(5_000_000).unwrap(), mtu: 1514 };

/// Returns when each of `arrivals`, full frames with their times and codepoints, leaves a link with `tree`. At equal
/// times the timer is first, then the end of a transmission, then the arrival.
fn departures(tree: &str, arrivals: &[(u64, u8)]) -> Vec<(u64, u64)> {
    let (mut qdisc, mut owner) = (AnyQdisc::parse(tree, &LINK).unwrap(), Noted::default());
    let mut left = Vec::new();
    let mut coming = arrivals.iter().enumerate().peekable();
    let mut free_at = None;
    while left.len() < arrivals.len() {
        let timer = qdisc.next_timer().map(Instant::as_nanos);
        let arrival = coming.peek().map(|(_, (time, _))| *time);
        let now = [timer, free_at, arrival].into_iter().flatten().min().unwrap();
        let at = Instant::from_nanos(now);
        if timer == Some(now) {
            qdisc.on_timer(at, &mut owner);
        } else if free_at == Some(now) {
            free_at = None;
        } else if let Some((id, (_, dscp))) = coming.next() {
            qdisc.enqueue(at, Plain { id: id as u64, dscp: *dscp, ..Plain::new(1514) }, &mut owner);
        }
        if free_at.is_none()
            && let Some(packet) = qdisc.dequeue(at, &mut owner)
        {
            left.push((now, packet.id));
            free_at = Some(now + LINK.rate.transmission_time(1514).as_nanos());
        }
    }
    left
}

/// While class 1:1 is chosen and its `tbf` has no tokens, `hfsc` gets nothing. Its watchdog for class 1:2 must stand:
/// the time of that class comes 3 120 040 ns before that of `tbf`.
#[test]
fn hfsc_keeps_its_watchdog_while_a_child_gives_nothing() {
    let tree = "tc qdisc add dev e root handle 1: hfsc default 2; \
        tc class add dev e parent 1: classid 1:1 hfsc ls rate 1mbit; \
        tc class add dev e parent 1: classid 1:2 hfsc rt rate 100kbit; \
        tc qdisc add dev e parent 1:1 handle 11: tbf rate 100kbit burst 1600 limit 30000; \
        tc filter add dev e parent 1: protocol ip prio 1 u32 match ip tos 0x04 0xfc flowid 1:1";
    let left = departures(tree, &[(1000, 0), (1000, 0), (10_001_000, 1), (10_001_000, 1)]);
    // Linux's clock was 10.016 s ahead, which is a whole number of ticks.
    assert_eq!(left, [(1000, 0), (10_001_000, 2), (121_120_960, 1), (124_241_000, 3)]);
}

/// `pie` first ticks at 512 ms, and class 1:2 gave a packet when an idle link asked then. Linux does not ask:
/// the packet waits for the watchdogs of `tbf` and `hfsc`.
#[test]
fn an_idle_link_does_not_ask_at_the_tick_of_a_law() {
    let tree = "tc qdisc add dev e root handle 1: hfsc default 2; \
        tc class add dev e parent 1: classid 1:1 hfsc sc rate 500kbit ul rate 700kbit; \
        tc class add dev e parent 1: classid 1:2 hfsc ls rate 100kbit ul rate 600kbit; \
        tc class add dev e parent 1: classid 1:3 hfsc rt rate 50kbit ls rate 100kbit; \
        tc qdisc add dev e parent 1:1 handle 11: tbf rate 200kbit burst 2000 limit 30000; \
        tc qdisc add dev e parent 1:3 handle 13: pie; \
        tc filter add dev e parent 1: protocol ip prio 1 u32 match ip tos 0x04 0xfc flowid 1:1";
    let [first, second, third, fourth] = [490_957_171, 490_957_173, 490_957_175, 490_957_178];
    let arrivals = [
        (1000, 0),
        (first, 0),
        (first, 0),
        (first, 1),
        (second, 0),
        (third, 1),
        (third, 1),
        (fourth, 0),
        (fourth, 0),
    ];
    let left = departures(tree, &arrivals);
    let linux =
        [(1000, 0), (490_957_171, 1), (493_379_571, 3), (532_077_171, 5), (534_499_571, 2), (592_637_171, 6)];
    assert_eq!(left[..6], linux);
}

/// An owner may offer a packet and ask only after a law's clock has ticked. The link was not idle then, so the packet
/// must not wait for the next tick.
#[test]
fn a_packet_that_nobody_asked_for_leaves_after_a_tick() {
    let tree = "tc qdisc add dev e root handle 1: hfsc default 1; \
        tc class add dev e parent 1: classid 1:1 hfsc ls m2 1mbit; tc qdisc add dev e parent 1:1 pie";
    let (mut qdisc, mut owner) = (AnyQdisc::parse(tree, &LINK).unwrap(), Noted::default());
    qdisc.enqueue(Instant::ZERO, Plain::new(1514), &mut owner);
    let tick = qdisc.next_timer().unwrap();
    qdisc.on_timer(tick, &mut owner);
    assert!(qdisc.dequeue(tick, &mut owner).is_some());
}

/// An owner that oversleeps may ask once after several timers. A watchdog among them is not forgotten, because nothing
/// else would make the link ask again.
#[test]
fn a_watchdog_stands_until_the_link_asks() {
    let tree = "tc qdisc add dev e root handle 1: htb default 1; \
        tc class add dev e parent 1: classid 1:1 htb rate 1mbit burst 1b cburst 1b; \
        tc class add dev e parent 1: classid 1:2 htb rate 1mbit; tc qdisc add dev e parent 1:2 pie";
    let (mut qdisc, mut owner) = (AnyQdisc::parse(tree, &LINK).unwrap(), Noted::default());
    for _ in 0..2 {
        qdisc.enqueue(Instant::ZERO, Plain::new(1514), &mut owner);
    }
    let mut now = Instant::ZERO;
    let mut asked = [(); 2].map(|()| qdisc.dequeue(now, &mut owner).is_some());
    assert_eq!(asked, [true, false]);
    for _ in 0..3 {
        now = qdisc.next_timer().unwrap(); // htb's watchdog, and ticks of pie
        qdisc.on_timer(now, &mut owner);
    }
    asked = [(); 2].map(|()| qdisc.dequeue(now, &mut owner).is_some());
    assert_eq!(asked, [true, false]);
}
