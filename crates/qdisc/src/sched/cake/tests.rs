//! CAKE as a whole, in small cases worked by hand. The golden traces cover Linux's decisions.

use super::tin::Tin;
use super::*;
use crate::packet::Plain;
use crate::sched::Noted;
use crate::signal::Mark;
use crate::tcp::TcpHeader;
use alloc::vec::Vec;
use goodqueue_units::{Duration, Ecn, Rate};

fn cake(words: &str) -> Cake<Plain> {
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
    Cake::build(&Args::parse(&params::SPEC, words).unwrap(), &link).unwrap()
}

/// Returns a packet of the flow `id / 100`.
fn packet(id: u64) -> Plain {
    Plain { id, flow_hash: (id / 100) as u32, ..Plain::new(1514) }
}

/// A packet with every property that CAKE may ask for.
#[derive(Clone, Copy, Debug, Default)]
struct Rich {
    plain: Plain,
    tcp: Option<TcpHeader>,
    fwmark: u32,
    inside: Option<(u32, (u32, u32))>,
}

impl Packet for Rich {
    fn len(&self) -> u32 {
        self.plain.len
    }
    fn ecn(&self) -> Ecn {
        self.plain.ecn
    }
    fn set_ce(&mut self) {
        self.plain.set_ce();
    }
    fn flow_hash(&self) -> u32 {
        self.plain.flow_hash
    }
    fn dscp(&self) -> u8 {
        self.plain.dscp
    }
    fn translated_from(&self) -> Option<(u32, (u32, u32))> {
        self.inside
    }
    fn fwmark(&self) -> u32 {
        self.fwmark
    }
    fn tcp(&self) -> Option<TcpHeader> {
        self.tcp
    }
    fn arrival(&self) -> Instant {
        self.plain.arrival
    }
    fn set_arrival(&mut self, now: Instant) {
        self.plain.arrival = now;
    }
}

impl Owner<Rich> for Noted {
    fn dropped(&mut self, packet: Rich, why: Drop) {
        self.dropped(packet.plain, why);
    }
    fn marked(&mut self, packet: &Rich, why: Mark) {
        self.marked(&packet.plain, why);
    }
    fn random_u32(&mut self) -> u32 {
        0
    }
    fn random_u64(&mut self) -> u64 {
        0
    }
}

fn rich_cake(words: &str) -> Cake<Rich> {
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
    Cake::build(&Args::parse(&params::SPEC, words).unwrap(), &link).unwrap()
}

/// Returns an ACK of flow 0 whose id is its number.
fn ack(number: u32) -> Rich {
    let tcp = TcpHeader { ack: number, flags: TcpHeader::ACK, ..TcpHeader::default() };
    Rich { plain: Plain { id: number.into(), ..Plain::new(66) }, tcp: Some(tcp), ..Rich::default() }
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

/// "Piece of CAKE", "Flow isolation": a flow that has just begun must go before standing flows.
#[test]
fn a_sparse_flow_goes_first() {
    let (mut cake, mut owner) = (cake("besteffort flows"), Noted::default());
    offer(&mut cake, &mut owner, [0, 1, 2, 100, 101, 102].map(packet));
    let taken = [0, 100].map(|_| cake.dequeue(Instant::ZERO, &mut owner).unwrap().id);
    assert_eq!(taken, [0, 100]);
    offer(&mut cake, &mut owner, [packet(200)]);
    assert_eq!(drain(&mut cake, &mut owner)[0], 200);
}

/// Host 1 has three flows, host 2 one, and all are standing. By flows each flow must get a quarter of the packets
/// sent. By hosts, host 2 must get half.
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

/// With a shaper a tin within its rate must go before the others, of several the last one. EF is voice (tin 2 of
/// diffserv3).
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

/// 1514 bytes at 10 Mbit/s take 1.2112 ms: the second packet must wait for that time, and the timer must say so.
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

/// A full frame takes 256 + 2048 bytes of memory, so 5000 hold two. The third must drop the oldest of the longest
/// queue.
#[test]
fn overflow_drops_from_the_longest_queue() {
    let (mut cake, mut owner) = (cake("besteffort flows memlimit 5000"), Noted::default());
    let told = offer(&mut cake, &mut owner, [0, 1, 100, 101].map(packet));
    assert_eq!(owner.dropped, [0, 100]);
    // The third packet did not belong to the flow that lost a packet, the fourth did.
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

/// Unlimited diffserv3 under load: tins of 1024, 64 and 256 bytes per round must share 16 : 1 : 4.
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

/// The last of ten ACKs says everything; the careful filter leaves one more. Each ACK of 66 bytes takes 256 + 512 of
/// memory.
#[test]
fn filtered_acks_are_given_back_and_free_what_they_held() {
    for (words, left) in [("no-ack-filter", 10), ("ack-filter", 2), ("ack-filter-aggressive", 1)] {
        let (mut cake, mut owner) = (rich_cake(words), Noted::default());
        for number in 1..=10 {
            assert_eq!(cake.enqueue(Instant::ZERO, ack(number), &mut owner), Enqueued::Success, "{words}");
        }
        assert_eq!(cake.backlog(), Backlog { packets: left, bytes: 66 * u64::from(left) }, "{words}");
        assert_eq!(
            (cake.memory, cake.tins[0].bytes),
            (768 * u64::from(left), 66 * u64::from(left)),
            "{words}"
        );
        let sent =
            core::iter::from_fn(|| cake.dequeue(Instant::ZERO, &mut owner)).map(|packet| packet.plain.id);
        let expected: Vec<u64> = (u64::from(11 - left)..=10).collect();
        assert_eq!(sent.collect::<Vec<_>>(), expected, "{words}");
        assert_eq!(owner.dropped, (1..11 - u64::from(left)).collect::<Vec<_>>(), "{words}");
        assert_eq!(cake.tins[0].tally.dropped, 0, "Linux counts them apart: {words}");
    }
}

/// Flows that share a queue (with `flowblind` all do) must be distinguished by their addresses.
#[test]
fn an_ack_of_another_connection_is_not_filtered() {
    let (mut cake, mut owner) = (rich_cake("flowblind ack-filter-aggressive"), Noted::default());
    for (flow_hash, number) in [(1, 1), (2, 2), (1, 3), (1, 4)] {
        let packet = ack(number);
        let plain = Plain { flow_hash, ..packet.plain };
        cake.enqueue(Instant::ZERO, Rich { plain, ..packet }, &mut owner);
    }
    let sent = core::iter::from_fn(|| cake.dequeue(Instant::ZERO, &mut owner)).map(|packet| packet.plain.id);
    // At 3, the ACK before it belongs to flow 2. At 4, 1 and 3 are superfluous, and the older one is dropped.
    assert_eq!(sent.collect::<Vec<_>>(), [2, 3, 4]);
}

/// On a downlink even a filtered ACK has used the link before: 66 bytes at 1 Mbit/s take 528 us.
#[test]
fn a_filtered_ack_is_charged_at_ingress() {
    for (words, due) in [("egress", 0), ("ingress", 528_000)] {
        let mut cake = rich_cake(&std::format!("besteffort bandwidth 1mbit ack-filter-aggressive {words}"));
        for number in 1..=2 {
            cake.enqueue(Instant::ZERO, ack(number), &mut Noted::default());
        }
        assert_eq!(cake.shaper.next, Instant::from_nanos(due), "{words}");
    }
}

/// tc-cake(8): the mark is masked and shifted right by the mask's unset low bits. If the result is not zero it is the
/// tin's number, otherwise the codepoint decides.
#[test]
fn a_firewall_mark_names_the_tin() {
    for (words, fwmark, tin) in [
        ("fwmark 0xff00", 0x0100, 1), // diffserv3's bulk
        ("fwmark 0xff00", 0x0200, 0),
        ("fwmark 0xff00", 0x0001, 2), // nothing under the mask: EF is voice
        ("fwmark 0xff00", 0x0400, 2), // there is no fourth tin
        ("", 0x0100, 2),
        ("besteffort fwmark 0xff", 3, 0),
    ] {
        let (mut cake, mut owner) = (rich_cake(words), Noted::default());
        let plain = Plain { dscp: 46, ..Plain::new(100) };
        cake.enqueue(Instant::ZERO, Rich { fwmark, plain, ..Rich::default() }, &mut owner);
        assert_eq!(cake.tins[tin].bytes, 100, "{words} {fwmark:#x}");
    }
}

/// Two hosts are behind one address. Without `nat` the link sees one host.
#[test]
fn nat_looks_behind_the_translation() {
    for (words, queues) in [("srchost nat", 2), ("srchost", 1)] {
        let (mut cake, mut owner) = (rich_cake(words), Noted::default());
        for host in 1..=2 {
            let inside = Some((host, (host, 9)));
            let packet = Rich { inside, plain: Plain::new(100), ..Rich::default() };
            cake.enqueue(Instant::ZERO, packet, &mut owner);
        }
        let busy = cake.tins[0].flows.iter().filter(|flow| !flow.queue.is_empty());
        assert_eq!(busy.count(), queues, "{words}");
    }
}

/// Full frames arrive 1.504 ms apart. Each tenth comes after 1.6 ms, which ends a train: 1514 bytes every 1.5136 ms.
/// The shaper must end up at 15/16 of that rate, and the tins at their shares of it.
#[test]
fn the_shaper_follows_what_arrives() {
    let (mut cake, mut owner) = (cake("diffserv4 bandwidth 1mbit autorate-ingress"), Noted::default());
    let mut now = Instant::from_nanos(10_000_000_000);
    for id in 0..4000 {
        now += Duration::from_micros(if id % 10 == 0 { 1_600 } else { 1_504 });
        cake.enqueue(now, packet(id), &mut owner);
        while cake.dequeue(now, &mut owner).is_some() {}
    }
    let wanted = 1514.0 / 0.001_513_6 * 15.0 / 16.0;
    let found = 1e9 / cake.pace().time(1_000_000) as f64 * 1e6;
    assert!((found / wanted - 1.0).abs() < 0.01, "{found} of {wanted} bytes/s");
    let sixteenth = cake.setup.shares[1].pace.time(1_000_000) as f64 / cake.pace().time(1_000_000) as f64;
    assert!((sixteenth - 16.0).abs() < 0.01, "{sixteenth}");
}

/// Linux keeps its estimated rate until the next estimate: a change of another parameter must not affect the rate.
/// The first guess is 1 Mbit/s, 125,000 bytes/s, and no packet has arrived to correct it.
#[test]
fn an_estimated_rate_outlives_a_change() {
    let (mut cake, mut owner) = (cake("bandwidth 1mbit autorate-ingress"), Noted::default());
    let args = Args::parse(&params::SPEC, "bandwidth 1mbit autorate-ingress ack-filter").unwrap();
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
    let before = cake.pace();
    cake.change(Instant::ZERO, &args, &link, &mut owner).unwrap();
    assert_eq!(cake.pace(), before);
    Arc::make_mut(&mut cake.setup).shape(77_000);
    cake.change(Instant::ZERO, &args, &link, &mut owner).unwrap();
    assert_eq!(cake.pace(), shaper::Pace::of(77_000));
}

/// Memory exactly at the limit must hold, on arrival and at a change. One byte less must cost a packet.
#[test]
fn memory_up_to_the_limit_may_be_used() {
    let two = 2 * packet(0).memory(1514);
    for (limit, kept) in [(two, 2), (two - 1, 1)] {
        let (mut qdisc, mut owner) = (cake(&std::format!("memlimit {limit}")), Noted::default());
        (0..2).for_each(|id| _ = qdisc.enqueue(Instant::ZERO, packet(id), &mut owner));
        assert_eq!(qdisc.backlog().packets, kept, "on arrival, {limit}");
        let (mut qdisc, mut owner) = (cake(""), Noted::default());
        (0..2).for_each(|id| _ = qdisc.enqueue(Instant::ZERO, packet(id), &mut owner));
        let args = Args::parse(&params::SPEC, &std::format!("memlimit {limit}")).unwrap();
        let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
        qdisc.change(Instant::ZERO, &args, &link, &mut owner).unwrap();
        assert_eq!(qdisc.backlog().packets, kept, "at a change, {limit}");
    }
}

/// sch_cake.c: a flow that BLUE begins to drop from is counted, and an empty flow whose BLUE has come to rest is
/// counted no longer. One overflow is 1/256, which 16 steps of 1/4096 undo, one for each 5 ms (target).
#[test]
fn a_flow_is_unresponsive_until_its_blue_rests() {
    let (mut cake, at) = (cake(""), |ms: u64| Instant::from_nanos(ms * 1_000_000));
    let (tin, share) = (&mut cake.tins[0], &cake.setup.shares[0]);
    let flow = tin.classify(Isolation(7), 7, || (0, 0));
    let law = &mut tin.flows[flow].law;
    tin.counts.unresponsive += u16::from(law.queue_full(at(1000), &share.law));
    tin.wake(flow, share, || 0);
    let counted: Vec<u16> = (1..=17)
        .map(|step| {
            tin.retire(flow, share, at(1000 + 6 * step));
            tin.counts.unresponsive
        })
        .collect();
    assert_eq!(counted, [[1; 15].as_slice(), [0; 2].as_slice()].concat());
}

/// sch_cake.c, `cake_dequeue`: an empty flow leaves the count of its set, and joins the decaying flows unless its law
/// is at rest. A count that was wrong would keep a tin busy without packets, or divide the quantum by flows that are
/// gone.
#[test]
fn an_empty_flow_leaves_its_set() {
    let (mut cake, at) = (cake(""), |ms: u64| Instant::from_nanos(ms * 1_000_000));
    let (tin, share) = (&mut cake.tins[0], &cake.setup.shares[0]);
    let counts = |tin: &Tin| (tin.counts.sparse, tin.counts.bulk, tin.counts.decaying);
    let flows = [0, 1, 2].map(|flow| tin.classify(Isolation(7), flow, || (0, 0)));
    for flow in flows {
        tin.wake(flow, share, || 0);
        tin.flows[flow].law.queue_full(at(1000), &share.law);
    }
    assert_eq!(counts(tin), (3, 0, 0));
    (tin.flows[flows[2]].set, tin.counts.sparse, tin.counts.bulk) = (tin::Set::Bulk, 2, 1);
    tin.retire(flows[0], share, at(1000));
    assert_eq!(counts(tin), (1, 1, 1), "a sparse flow");
    tin.retire(flows[2], share, at(1000));
    assert_eq!(counts(tin), (1, 0, 2), "a bulk flow");
    tin.retire(flows[0], share, at(1006));
    assert_eq!(counts(tin), (1, 0, 2), "a decaying flow stays one");
    tin.retire(flows[1], share, at(5_000_000)); // BLUE's only step down: it still drops
    assert_eq!(counts(tin), (0, 0, 3));
    tin.flows[flows[1]].law = Default::default();
    tin.retire(flows[1], share, at(5_000_000));
    assert_eq!(
        (counts(tin), tin.flows[flows[1]].set),
        ((0, 0, 2), tin::Set::None),
        "a law at rest is forgotten"
    );
}

/// Flows of two CAKEs that share a set-up do not meet, and a change of one leaves the other alone.
#[test]
fn another_cake_shares_the_set_up_alone() {
    let (mut cake, mut owner) = (cake("besteffort"), Noted::default());
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
    let args = Args::parse(&params::SPEC, "besteffort bandwidth 1mbit").unwrap();
    let mut other = cake.another(&args, &link).unwrap();
    cake.enqueue(Instant::ZERO, packet(0), &mut owner);
    assert_eq!((cake.backlog().packets, other.backlog().packets), (1, 0));
    other.change(Instant::ZERO, &args, &link, &mut owner).unwrap();
    assert_eq!((cake.setup.rate, other.setup.rate), (0, 125_000));
}
