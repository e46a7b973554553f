use super::super::Noted;
use super::*;
use crate::packet::Plain;
use goodqueue_units::{Ecn, Rate};
use proptest::prelude::*;

const FULL: u32 = 1514;

fn fq_pie(words: &str) -> FqPie<Plain> {
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: FULL };
    FqPie::build(&Args::parse(&FqPie::<Plain>::SPEC, words).unwrap(), &link).unwrap()
}

fn at(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

/// Offers `packet` to the flow that its id's hundreds name, one of eight.
fn offer(qdisc: &mut FqPie<Plain>, owner: &mut Noted, now: Instant, id: u64, packet: Plain) -> Enqueued {
    qdisc.enqueue(now, Plain { id, flow_hash: ((id / 100) << 29) as u32, ..packet }, owner)
}

/// Makes flow 1 wait for 200 ms, long enough to use up the burst allowance and to drive its p up. Flow 0 has one
/// packet, which leaves.
fn congested(words: &str) -> (FqPie<Plain>, Noted) {
    let (mut qdisc, mut owner) = (fq_pie(words), Noted::default());
    for id in 100..140 {
        offer(&mut qdisc, &mut owner, at(0), id, Plain::new(FULL));
    }
    for now in [at(1), at(200)] {
        qdisc.dequeue(now, &mut owner).unwrap();
    }
    offer(&mut qdisc, &mut owner, at(200), 0, Plain::new(FULL));
    while qdisc.dequeue(at(200), &mut owner).unwrap().id != 0 {}
    (0..40).for_each(|_| qdisc.on_timer(at(500), &mut owner));
    assert!((MAX_PROB / 4..MAX_PROB).contains(&prob(&qdisc, 1)), "{}", prob(&qdisc, 1));
    (qdisc, owner)
}

fn prob(qdisc: &FqPie<Plain>, bucket: usize) -> u64 {
    qdisc.flows.flows()[bucket].law.vars.control.prob
}

/// A timer that comes early must not move the schedule. After a late one the schedule must go on from now.
#[test]
fn updates_keep_their_beat() {
    let mut qdisc = fq_pie("flows 8");
    let (first, period) = (qdisc.next_timer().unwrap(), qdisc.settings.period);
    qdisc.on_timer(at(0), &mut Noted::default());
    assert_eq!(qdisc.next_timer(), Some(first + period), "early");
    qdisc.on_timer(at(10_000), &mut Noted::default());
    assert_eq!(qdisc.next_timer(), Some(at(10_000) + period), "late");
}

/// A flow must fit into two cache lines, so that a thousand busy flows stay in a cache.
#[test]
fn a_flow_is_two_cache_lines() {
    assert_eq!(core::mem::size_of::<Flow<Law>>(), 128);
}

/// Otherwise all flows would pay for the congestion of a heavy flow.
#[test]
fn each_flow_has_a_probability_of_its_own() {
    let (mut qdisc, mut owner) = congested("flows 8");
    assert_eq!(prob(&qdisc, 0), 0);
    for id in 1..100 {
        assert_eq!(offer(&mut qdisc, &mut owner, at(500), id, Plain::new(FULL)), Enqueued::Success);
    }
    // Dice of 0 drop each packet of flow 1 once the sum of its p has reached 0.85.
    let told: Vec<_> =
        (140..150).map(|id| offer(&mut qdisc, &mut owner, at(500), id, Plain::new(FULL))).collect();
    assert!(told.contains(&Enqueued::Congestion) && !told.contains(&Enqueued::Dropped), "{told:?}");
    assert!(owner.dropped.iter().all(|id| *id >= 140), "{:?}", owner.dropped);
}

/// Two full frames are 3028 bytes: a flow that holds less must not lose a packet, however much the others hold.
#[test]
fn the_guard_of_two_frames_looks_at_the_flow() {
    let (mut qdisc, mut owner) = congested("flows 8");
    while qdisc.flows.flows()[1].bytes >= 3028 {
        qdisc.dequeue(at(500), &mut owner);
    }
    for id in 1..50 {
        offer(&mut qdisc, &mut owner, at(500), id, Plain::new(FULL));
    }
    // 1514 + 10 * 60 bytes; dice of 0 would drop the fourth at the latest.
    for id in 140..150 {
        assert_eq!(offer(&mut qdisc, &mut owner, at(500), id, Plain::new(60)), Enqueued::Success);
    }
    assert_eq!(owner.dropped, []);
}

/// The limit must refuse the arrival and report it as congestion. A full memory must only be counted. 1514 bytes
/// count as 256 + 2048: the fifth packet meets 9216, which is 6912 + 2304, and the sixth meets more.
#[test]
fn the_limit_refuses_and_memory_only_counts() {
    let (mut qdisc, mut owner) = (fq_pie("flows 8 limit 6 memory_limit 6912"), Noted::default());
    for id in [0, 1, 2, 3, 4] {
        offer(&mut qdisc, &mut owner, at(0), id, Plain::new(FULL));
    }
    assert_eq!((qdisc.stats.overmemory, qdisc.flows.totals().memory), (0, 5 * 2304));
    offer(&mut qdisc, &mut owner, at(0), 5, Plain::new(FULL));
    assert_eq!((qdisc.stats.overmemory, qdisc.backlog().packets), (1, 6));
    assert_eq!(offer(&mut qdisc, &mut owner, at(0), 100, Plain::new(60)), Enqueued::Congestion);
    assert_eq!((owner.dropped.as_slice(), qdisc.stats.overlimit), ([100].as_slice(), 1));
}

/// `ecn_prob` must replace PIE's 10 %.
#[test]
fn marks_stop_at_ecn_prob() {
    let marked = |words| {
        let (mut qdisc, mut owner) = congested(words);
        for id in 140..150 {
            let packet = Plain { ecn: Ecn::Ect0, ..Plain::new(FULL) };
            offer(&mut qdisc, &mut owner, at(500), id, packet);
        }
        (owner.marked.is_empty(), owner.dropped.is_empty())
    };
    assert_eq!(marked("flows 8 ecn ecn_prob 99"), (false, true));
    assert_eq!(marked("flows 8 ecn ecn_prob 10"), (true, false));
    assert_eq!(marked("flows 8 noecn ecn_prob 99"), (true, false));
}

/// 5000 flows take three calls, a jiffy apart. The next update comes after `tupdate`, which is 20 ms in jiffies,
/// from the last call.
#[test]
fn an_update_looks_at_2048_flows_at_a_time() {
    let mut qdisc = fq_pie("flows 5000");
    let mut seen = Vec::new();
    for _ in 0..4 {
        let due = qdisc.next_timer().unwrap();
        qdisc.on_timer(due, &mut Noted::default());
        seen.push((due, qdisc.cursor));
    }
    assert_eq!(seen, [(at(512), 2048), (at(516), 4096), (at(520), 0), (at(540), 2048)]);
}

/// Each call must update its own flows only: a flow that were updated in each of the three calls would move its p
/// three times as fast. Here p falls in every update, because no packet waits.
#[test]
fn a_call_updates_its_own_flows_only() {
    let mut qdisc = fq_pie("flows 5000");
    let watched = [0, 2047, 2048, 4095, 4096, 4999];
    for flow in watched {
        qdisc.flows.split(flow).0.vars.control.prob = MAX_PROB / 2;
    }
    let mut updated = || {
        let before = watched.map(|flow| prob(&qdisc, flow as usize));
        qdisc.on_timer(qdisc.due, &mut Noted::default());
        let after = watched.map(|flow| prob(&qdisc, flow as usize));
        let moved = watched.iter().enumerate().filter(|(at, _)| after[*at] < before[*at]);
        moved.map(|(_, flow)| *flow).collect::<Vec<_>>()
    };
    let calls = [(); 4].map(|()| updated());
    assert_eq!(calls, [[0, 2047], [2048, 4095], [4096, 4999], [0, 2047]]);
}

proptest! {
    /// Skipped flows must not show: a twin that updates all flows, as Linux does, must always be in the same
    /// state.
    #[test]
    fn flows_at_rest_are_passed_over_without_a_trace(
        words in prop_oneof![Just("flows 70 target 1ms"), Just("flows 70 target 1ms dq_rate_estimator bytemode")],
        ops in proptest::collection::vec((0..4_u8, 0..70_u64, 40..1515_u32), 0..1500),
    ) {
        let (mut lazy, mut all) = (fq_pie(words), fq_pie(words));
        let (mut owner, mut now) = (Noted::default(), at(0));
        for (op, flow, len) in ops {
            now += Duration::from_millis(10 * u64::from(op == 3)); // long enough to use up the burst allowance
            for qdisc in [&mut lazy, &mut all] {
                let flow_hash = ((flow << 32) / 70 + 1) as u32;
                match op {
                    0 | 1 => drop(qdisc.enqueue(now, Plain { flow_hash, ..Plain::new(len) }, &mut owner)),
                    2 => drop(qdisc.dequeue(now, &mut owner)),
                    _ => {}
                }
            }
            if op == 3 && flow < 20 {
                all.restless = Restless::new(70);
                lazy.on_timer(now, &mut owner);
                all.on_timer(now, &mut owner);
                let states = |qdisc: &FqPie<Plain>| qdisc.flows.flows().iter().map(|f| f.law.vars).collect::<Vec<_>>();
                prop_assert_eq!(states(&lazy), states(&all));
            }
        }
    }
}
