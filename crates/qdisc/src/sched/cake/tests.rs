//! CAKE as a whole, in small cases worked by hand. What Linux does is in the golden traces.

use super::*;
use crate::packet::Plain;
use crate::sched::Noted;
use goodqueue_units::{Duration, Rate};

fn cake(words: &str) -> Cake<Plain> {
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
    Cake::build(&Args::parse(&params::SPEC, words).unwrap(), &link).unwrap()
}

/// A packet of the flow `id / 100`.
fn packet(id: u64) -> Plain {
    Plain { id, flow_hash: (id / 100) as u32, ..Plain::new(1514) }
}

fn offer(
    cake: &mut Cake<Plain>,
    owner: &mut Noted,
    packets: impl IntoIterator<Item = Plain>,
) -> Vec<Enqueued> {
    packets.into_iter().map(|packet| cake.enqueue(Instant::ZERO, packet, owner)).collect()
}

fn drain(cake: &mut Cake<Plain>, owner: &mut Noted) -> Vec<u64> {
    core::iter::from_fn(|| cake.dequeue(Instant::ZERO, owner)).map(|packet| packet.id).collect()
}

/// "Piece of CAKE", "Flow isolation": a flow that just began goes before those that stand.
#[test]
fn a_sparse_flow_goes_first() {
    let (mut cake, mut owner) = (cake("besteffort flows"), Noted::default());
    offer(&mut cake, &mut owner, [0, 1, 2, 100, 101, 102].map(packet));
    let taken = [0, 100].map(|_| cake.dequeue(Instant::ZERO, &mut owner).unwrap().id);
    assert_eq!(taken, [0, 100]);
    offer(&mut cake, &mut owner, [packet(200)]);
    assert_eq!(drain(&mut cake, &mut owner)[0], 200);
}

/// Host 1 has three flows, host 2 one, and all stand. By flows each gets a quarter of what is sent; by hosts, host 2
/// gets half.
#[test]
fn hosts_share_before_their_flows_do() {
    for (words, of_host_2) in [("besteffort flows", 30), ("besteffort dual-srchost", 60), ("besteffort", 60)]
    {
        let (mut cake, mut owner) = (cake(words), Noted::default());
        for id in 0..100 {
            for flow in 0..4 {
                let host_hashes = (if flow < 3 { 1 } else { 2 }, flow as u32);
                offer(&mut cake, &mut owner, [Plain { host_hashes, ..packet(flow * 100 + id) }]);
            }
        }
        let sent = (0..120).filter_map(|_| cake.dequeue(Instant::ZERO, &mut owner));
        let count = sent.filter(|packet| packet.flow_hash == 3).count();
        assert!(count.abs_diff(of_host_2) <= 2, "{words}: {count}");
    }
}

/// Shaped, a tin within its rate goes before the others, the last one first; EF is voice (tin 2 of diffserv3).
#[test]
fn a_tin_within_its_rate_goes_first() {
    let (mut cake, mut owner) = (cake("diffserv3 bandwidth 10mbit"), Noted::default());
    offer(
        &mut cake,
        &mut owner,
        [packet(0), Plain { dscp: 8, ..packet(100) }, Plain { dscp: 46, ..packet(200) }],
    );
    let mut now = Instant::ZERO;
    let mut sent = Vec::new();
    while cake.backlog().packets > 0 {
        match cake.dequeue(now, &mut owner) {
            Some(packet) => sent.push(packet.id),
            None => now = cake.next_timer().unwrap(),
        }
    }
    assert_eq!(sent, [200, 100, 0]);
}

/// 1514 bytes at 10 Mbit/s take 1.2112 ms: the second packet has to wait for that, and the timer says so.
#[test]
fn a_shaped_packet_waits_and_the_timer_says_until_when() {
    let (mut cake, mut owner) = (cake("besteffort bandwidth 10mbit"), Noted::default());
    let start = Instant::from_nanos(1_000_000_000);
    for id in 0..2 {
        cake.enqueue(start, packet(id), &mut owner);
    }
    assert_eq!(cake.next_timer(), None);
    assert_eq!(cake.dequeue(start, &mut owner).map(|packet| packet.id), Some(0));
    let due = start + Duration::from_nanos(1_211_200);
    assert_eq!(cake.next_timer(), Some(due));
    assert_eq!(cake.dequeue(start, &mut owner), None);
    assert_eq!(cake.next_timer(), Some(due));
    cake.on_timer(due, &mut owner);
    assert_eq!(cake.next_timer(), None);
    assert_eq!(cake.dequeue(due, &mut owner).map(|packet| packet.id), Some(1));
}

/// A full frame weighs 256 + 2048 bytes of memory, so 5000 hold two; the third drops the longest queue's oldest.
#[test]
fn overflow_drops_from_the_longest_queue() {
    let (mut cake, mut owner) = (cake("besteffort flows memlimit 5000"), Noted::default());
    let told = offer(&mut cake, &mut owner, [0, 1, 100, 101].map(packet));
    assert_eq!(owner.dropped, [0, 100]);
    // The third packet was not of the flow that paid, the fourth was.
    assert_eq!(told[2..], [Enqueued::Success, Enqueued::Congestion]);
}

#[test]
fn wash_clears_the_codepoint_after_the_tin_was_chosen() {
    for (words, left) in [("diffserv3 wash", 0), ("diffserv3", 46)] {
        let (mut cake, mut owner) = (cake(words), Noted::default());
        offer(&mut cake, &mut owner, [Plain { dscp: 46, ..packet(0) }]);
        assert_eq!(cake.tins[2].bytes, 1514);
        assert_eq!(cake.dequeue(Instant::ZERO, &mut owner).unwrap().dscp, left);
    }
}

/// Unlimited diffserv3 under load: tins of 1024, 64 and 256 bytes a round share 16 : 1 : 4.
#[test]
fn without_a_shaper_tins_share_by_their_quanta() {
    let (mut cake, mut owner) = (cake("diffserv3"), Noted::default());
    for (flow, dscp) in [(1, 0), (2, 8), (3, 46)] {
        let packets = (0..1000).map(|_| Plain { dscp, ..packet(flow * 100) });
        offer(&mut cake, &mut owner, packets);
    }
    let mut counts = [0_u32; 4];
    for _ in 0..840 {
        counts[cake.dequeue(Instant::ZERO, &mut owner).unwrap().flow_hash as usize] += 1;
    }
    assert!(
        counts[1].abs_diff(640) < 5 && counts[2].abs_diff(40) < 5 && counts[3].abs_diff(160) < 5,
        "{counts:?}"
    );
}
