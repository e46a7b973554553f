use super::*;
use crate::packet::{Plain, Socket};
use crate::param::Link;
use crate::registry::{AnyQdisc, parse_line};
use crate::sched::Noted;
use alloc::vec::Vec;
use goodqueue_units::{Rate, Release};
use proptest::prelude::*;
use std::string::ToString;

const LINK: Link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
const MS: u64 = 1_000_000;

/// A packet that this host sends.
#[derive(Clone, Debug)]
struct Sent {
    plain: Plain,
    departure: Option<Instant>,
    socket: Option<Socket>,
}

impl Packet for Sent {
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
    /// Returns the codepoint as the priority, so that tests can reach each.
    fn priority(&self) -> u8 {
        self.plain.dscp
    }
    fn departure(&self) -> Option<Instant> {
        self.departure
    }
    fn socket(&self) -> Option<Socket> {
        self.socket
    }
    fn arrival(&self) -> Instant {
        self.plain.arrival
    }
    fn set_arrival(&mut self, now: Instant) {
        self.plain.arrival = now;
    }
}

#[derive(Default)]
struct Fates(Noted);

impl Owner<Sent> for Fates {
    fn dropped(&mut self, packet: Sent, why: Drop) {
        self.0.dropped(packet.plain, why);
    }
    fn marked(&mut self, packet: &Sent, why: Mark) {
        self.0.marked(&packet.plain, why);
    }
    fn random_u32(&mut self) -> u32 {
        0
    }
    fn random_u64(&mut self) -> u64 {
        0
    }
}

/// An fq with the clock, the link and the owner of a test.
struct Bench {
    fq: Fq<Sent>,
    fates: Fates,
    now: u64,
    next_id: u64,
}

fn bench(words: &str) -> Bench {
    bench_of(words, Release::Linux7_3)
}

fn bench_of(words: &str, release: Release) -> Bench {
    let args = parse_line(&format!("fq {words}")).unwrap().in_release(release);
    Bench { fq: Fq::build(&args, &LINK).unwrap(), fates: Fates::default(), now: 10_000 * MS, next_id: 0 }
}

impl Bench {
    fn offer(&mut self, packet: Sent) -> Enqueued {
        let plain = Plain { id: self.next_id, ..packet.plain };
        self.next_id += 1;
        self.fq.enqueue(Instant::from_nanos(self.now), Sent { plain, ..packet }, &mut self.fates)
    }

    /// Offers forwarded packets of 1514 bytes, of the flows `flows`.
    fn forward(&mut self, flows: &[u32]) {
        for flow in flows {
            self.offer(forwarded(*flow, 0));
        }
    }

    /// Offers a packet of TCP socket 1 that may leave `ms` after the start.
    fn timed(&mut self, ms: u64) -> Enqueued {
        let departure = Some(Instant::from_nanos(10_000 * MS + ms * MS));
        let socket = Some(Socket { id: 1, is_tcp: true, pacing: None });
        self.offer(Sent { departure, socket, ..forwarded(0, 0) })
    }

    fn take(&mut self) -> Option<u64> {
        self.fq.dequeue(Instant::from_nanos(self.now), &mut self.fates).map(|packet| packet.plain.id)
    }

    fn take_all(&mut self) -> Vec<u64> {
        core::iter::from_fn(|| self.take()).collect()
    }

    /// Waits for each timer, and returns what then leaves with its time after the start, in us.
    fn run(&mut self) -> Vec<(u64, u64)> {
        let mut left = Vec::new();
        loop {
            let now = self.now / 1000 - 10_000_000;
            left.extend(self.take_all().into_iter().map(|id| (now, id)));
            let Some(due) = self.fq.next_timer() else { return left };
            self.now = due.as_nanos();
            self.fq.on_timer(due, &mut self.fates);
        }
    }
}

/// Returns a packet of 1514 bytes without a socket.
fn forwarded(flow_hash: u32, priority: u8) -> Sent {
    Sent { plain: Plain { flow_hash, dscp: priority, ..Plain::new(1514) }, departure: None, socket: None }
}

/// tc-fq(8), and what `tc -s qdisc` shows of a new fq on Ethernet.
#[test]
fn the_default_line_is_linuxs() {
    assert_eq!(
        parse_line("fq").unwrap().to_string(),
        "fq limit 10000 flow_limit 100 buckets 1024 orphan_mask 1023 bands 3 \
         priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1 weights 589824 196608 65536 pacing low_rate_threshold 550kbit \
         refill_delay 40ms timer_slack 10us horizon 10s horizon_drop offload_horizon 0s"
    );
    let Settings { quantum, initial_quantum, refill_delay, .. } = bench("").fq.settings;
    assert_eq!((quantum, initial_quantum, refill_delay), (3028, 15_140, 10), "2 and 10 frames, 10 jiffies");
}

#[test]
fn lines_are_read_as_tc_reads_them() {
    let maxrate = parse_line("fq limit 10000 flow_limit 100 maxrate 20mbit").unwrap().to_string();
    assert!(maxrate.contains("maxrate 20mbit"), "{maxrate}");
    assert!(
        parse_line("fq buckets 1000").unwrap().to_string().contains("buckets 1024"),
        "tc sends a logarithm"
    );
    for (line, why) in [
        ("fq bands 4", "fq bands: found \"4\"; accepted: 3 to 3"),
        ("fq priomap 0 1 2 3", "fq priomap: "),
        ("fq weights 1 2 3", "fq weights: found \"1\"; accepted: 3 numbers from 16384 to 2147483647"),
        ("fq offload_horizon 1ms", "fq offload_horizon: found \"1ms\"; accepted: 0s to 0s"),
        ("fq quantum 2000000", "fq quantum: "),
    ] {
        let said = parse_line(line).unwrap_err().0;
        assert!(said.starts_with(why), "{line}: {said}");
    }
}

/// A quantum of 3028 bytes is two packets. A flow begins with 15140 bytes, so the first ten packets leave in its turn.
#[test]
fn flows_share_in_rounds_and_a_new_flow_goes_first() {
    let mut bench = bench("initial_quantum 3028");
    bench.forward(&[9, 9, 9, 9]); // no flow is eligible yet, so that these take the fast path
    bench.forward(&[9, 9, 9, 9, 9]); // the ninth is of a flow
    bench.forward(&[1, 1, 1, 1, 2, 2, 2]);
    assert_eq!(bench.fq.counts.fastpath, 8);
    for id in 0..=8 {
        assert_eq!(bench.take(), Some(id));
    }
    assert_eq!((bench.take(), bench.take()), (Some(9), Some(10)));
    bench.forward(&[3]); // 16
    assert_eq!(bench.take_all(), [13, 14, 16, 11, 12, 15]);
}

/// 8 Mbit/s is 1 MB/s, so that a quantum of 3028 bytes takes 3.028 ms. The timer fires 10 us late, which the next gap
/// makes up for.
#[test]
fn maxrate_paces_each_flow_in_quanta() {
    let mut bench = bench("maxrate 8mbit initial_quantum 3028");
    bench.forward(&[1, 1, 1, 1, 1, 1, 2, 2]);
    let left = bench.run();
    let first = [(0, 0), (0, 1), (0, 6), (0, 7)];
    assert_eq!(left[..4], first);
    assert_eq!(left[4..], [(3038, 2), (3038, 3), (6066, 4), (6066, 5)]);
}

/// At most half of a gap is made up for, and a gap is at most a second.
#[test]
fn a_late_flow_catches_up_by_half_a_gap() {
    let mut late = bench("maxrate 8mbit initial_quantum 1514 quantum 1514");
    late.forward(&[1, 1, 1]);
    assert_eq!(late.take_all(), [0]);
    late.now += 100 * MS;
    assert_eq!(late.take_all(), [1]);
    let next = late.fq.next_timer().unwrap().as_nanos() - late.now;
    assert_eq!(next, 1_514_000 / 2 + 10_000);
    let mut slow = bench("maxrate 8kbit");
    slow.forward(&[1, 1]);
    assert_eq!(slow.run(), [(0, 0), (1_000_010, 1)], "1514 bytes at 1000 byte/s would take 1.514 s");
}

/// At 400 kbit/s, which is not above low_rate_threshold, 1514 bytes take 30.28 ms, and no quantum leaves at once.
#[test]
fn a_slow_flow_sends_one_by_one() {
    let mut bench = bench("maxrate 400kbit");
    bench.forward(&[1, 1, 1]);
    assert_eq!(bench.run(), [(0, 0), (30_290, 1), (60_570, 2)]);
}

#[test]
fn nopacing_ignores_rates_but_not_departure_times() {
    let mut bench = bench("maxrate 400kbit nopacing");
    bench.forward(&[1, 1, 1]);
    bench.timed(5);
    assert_eq!(bench.run(), [(0, 0), (0, 1), (0, 2), (5010, 3)]);
}

/// A socket with a rate that is not TCP's takes no fast path. Its rate is that of `SO_MAX_PACING_RATE`.
#[test]
fn a_socket_is_held_to_its_own_rate() {
    let mut bench = bench("");
    let socket = Socket { id: 1, is_tcp: false, pacing: Rate::from_bps(400_000) };
    for _ in 0..2 {
        bench.offer(Sent { socket: Some(socket), ..forwarded(0, 0) });
    }
    assert_eq!(bench.fq.counts.fastpath, 0);
    assert_eq!(bench.run(), [(0, 0), (30_290, 1)]);
}

/// Packets leave by departure time. Of equal times the one that came in order leaves first.
#[test]
fn a_flow_keeps_its_packets_by_departure_time() {
    let mut bench = bench("timer_slack 0us");
    for ms in [20, 40, 30, 10, 40, 20] {
        bench.timed(ms);
    }
    let order = [(10_000, 3), (20_000, 0), (20_000, 5), (30_000, 2), (40_000, 1), (40_000, 4)];
    assert_eq!(bench.run(), order);
    assert_eq!(bench.fq.early.len(), 0);
}

/// 7.3: a throttled flow's timer moves forward when an earlier packet comes. A rate still holds.
#[test]
fn an_earlier_packet_moves_the_timer_but_not_before_the_rate_allows() {
    let mut moved = bench("");
    moved.timed(20);
    assert_eq!(moved.take(), None);
    moved.timed(10);
    assert_eq!(moved.fq.time_next_delayed_flow, 10_010 * MS);
    let mut stays = bench_of("", Release::Linux6_12);
    stays.timed(20);
    assert_eq!(stays.take(), None);
    stays.timed(10);
    assert_eq!(stays.fq.time_next_delayed_flow, 10_020 * MS);
    let mut paced = bench("maxrate 400kbit timer_slack 0us");
    paced.timed(0);
    paced.timed(50);
    assert_eq!(paced.take_all(), [0]);
    paced.timed(10);
    assert_eq!(paced.fq.time_next_delayed_flow, 10_030_280_000);
    assert_eq!(paced.run(), [(30_280, 2), (60_560, 1)]);
}

#[test]
fn a_time_beyond_the_horizon_is_dropped_or_capped() {
    let mut drop = bench("horizon 100ms");
    assert_eq!((drop.timed(100), drop.timed(101)), (Enqueued::Success, Enqueued::Dropped));
    assert_eq!((drop.fq.counts.horizon_drops, drop.fates.0.dropped.as_slice()), (1, [1].as_slice()));
    let mut cap = bench("horizon 100ms horizon_cap timer_slack 0us");
    cap.timed(300);
    assert_eq!((cap.fq.counts.horizon_caps, cap.run()), (1, [(100_000, 0)].to_vec()));
}

/// The timer fires at the end of its slack. A flow that waits up to the slack longer needs no other timer.
#[test]
fn a_timer_that_is_due_soon_enough_stays() {
    let mut bench = bench("timer_slack 2ms");
    bench.timed(20);
    assert_eq!(bench.take(), None);
    bench.timed(19);
    assert_eq!(bench.take(), None);
    assert_eq!(bench.fq.next_timer(), Some(Instant::from_nanos(10_022 * MS)));
    bench.timed(10);
    assert_eq!(bench.take(), None);
    assert_eq!(bench.fq.next_timer(), Some(Instant::from_nanos(10_012 * MS)));
}

/// Priority 6 is band 0, 0 is band 1, 2 is band 2. With weights of 3:2:1 quanta the bands share 6 to 4 to 2 packets.
#[test]
fn bands_share_by_weight_and_each_has_the_limit() {
    let mut bench = bench("limit 100 weights 54504 36336 18168 flow_limit 1000 initial_quantum 1514");
    bench.forward(&[90; 9]); // eight of these fill the fast path
    for _ in 0..110 {
        for (flow, priority) in [(1, 6), (2, 0), (3, 2)] {
            bench.offer(forwarded(flow, priority));
        }
    }
    let drops = bench.fq.bands.map(|band| band.drops);
    assert_eq!(drops, [10, 11, 10], "the ninth packet of the first flow is in band 1");
    // A flow is in band 0's list until it is first moved, so that the first round is another one.
    for _ in 0..90 {
        bench.take();
    }
    let mut sent = [0; 3];
    for _ in 0..72 {
        let id = bench.take().unwrap() - 9;
        sent[(id % 3) as usize] += 1;
    }
    assert_eq!(sent, [36, 24, 12]);
}

/// A flow that was empty for more than 40 ms has a quantum again. A flow in debt is not given up before it has paid.
#[test]
fn credit_returns_after_refill_delay() {
    let mut bench = bench("initial_quantum 1600");
    bench.forward(&[9; 100]); // eight of these fill the fast path, and the others keep the discipline busy
    let credit_after = |bench: &mut Bench, wait: u64| {
        bench.now += wait * MS;
        bench.forward(&[1]);
        (0..16).for_each(|_| _ = bench.take());
        assert!(bench.fq.flows[1].is_detached());
        bench.fq.flows[1].credit
    };
    assert_eq!(credit_after(&mut bench, 0), 1600 - 1514);
    assert_eq!(credit_after(&mut bench, 40), 86 - 1514 + 3028, "it was not long enough");
    assert_eq!(credit_after(&mut bench, 48), 3028 - 1514);
}

/// A change to a smaller limit drops, and another number of buckets finds each flow again.
#[test]
fn a_change_keeps_the_flows() {
    let link = LINK;
    let mut fq = AnyQdisc::<Plain>::parse("fq buckets 2 quantum 1514 initial_quantum 1514", &link).unwrap();
    let (mut owner, now) = (Noted::default(), Instant::from_nanos(MS));
    for id in 0..200_u64 {
        let flow_hash = (id % 100) as u32;
        fq.enqueue(now, Plain { id, flow_hash, ..Plain::new(1514) }, &mut owner);
    }
    fq.change(now, "fq buckets 4096", &mut owner).unwrap();
    for id in 200..300_u64 {
        let flow_hash = (id % 100) as u32;
        fq.enqueue(now, Plain { id, flow_hash, ..Plain::new(1514) }, &mut owner);
    }
    let AnyQdisc::Fq(_) = &fq else { panic!("not fq") };
    let mut flows = 0;
    struct Flows<'a>(&'a mut i128);
    impl Probe for Flows<'_> {
        fn integer(&mut self, name: &'static str, value: i128) {
            if name == "flows" {
                *self.0 = value;
            }
        }
        fn real(&mut self, _: &'static str, _: f64) {}
    }
    fq.probe(&mut Flows(&mut flows));
    assert_eq!(flows, 100, "a flow that was not found again would be known twice");
    fq.change(now, "fq limit 120", &mut owner).unwrap();
    assert_eq!((fq.backlog().packets, owner.dropped.len()), (120, 180));
}

proptest! {
    /// The table must find each flow that it knows and forget only flows that were empty for three seconds.
    #[test]
    fn the_table_knows_its_flows(
        log in 1..5_u32,
        ops in proptest::collection::vec((0..60_u32, 0..400_u64, any::<bool>()), 1..400),
    ) {
        let mut flows = Flows::new(1 << log);
        let mut known: BTreeMap<u32, (u32, u64, bool)> = BTreeMap::new();
        let mut now = 1000;
        for (hash, later, busy) in ops {
            now += later;
            let key = flows::orphan(hash);
            let index = flows.find(key, now, 7);
            if let Some((place, since, busy)) = known.get(&hash) {
                let forgotten: bool = *place != index || flows[index].credit == 7;
                prop_assert!(!forgotten || !*busy && now - since >= 750, "flow {} was forgotten", hash);
            }
            flows[index].credit = 8;
            if busy {
                flows[index].set_throttled();
            } else {
                flows[index].detach(now);
            }
            known.insert(hash, (index, now, busy));
            prop_assert!(flows.len() <= known.len() as u32);
        }
        flows.resize(8);
        let count = flows.len();
        for hash in known.iter().filter(|(_, (_, _, busy))| *busy).map(|(hash, _)| *hash) {
            let index = flows.find(flows::orphan(hash), now, 7);
            prop_assert_eq!(flows[index].credit, 8);
        }
        prop_assert!(flows.len() <= count);
    }
}
