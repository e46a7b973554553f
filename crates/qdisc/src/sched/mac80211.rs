//! mac80211's own queues: FQ-CoDel for each station and traffic identifier, with no queue discipline above.
//!
//! Source: Linux 6.1, `net/mac80211/tx.c` and `sta_info.c`, `include/net/fq_impl.h`; Høiland-Jørgensen et al. 2017,
//! "Ending the Anomaly" (section 3.1). It differs from `fq_codel` in these points:
//!
//! - packets are asked for by station, so that a whole aggregate can be for one station. The driver knows whose turn
//!   it is;
//! - the quantum is 300 bytes, and the target is 20 ms, because a frame that was lost on the air is sent again. Before
//!   Linux 6.12.35, a station that is too slow for these values has 50 and 300 ms without ECN;
//! - CoDel's small-backlog guard looks only at the flow, and lets only its last packet pass;
//! - overflow drops half the bytes of the fattest flow of all stations, at most 32 packets.
//!
//! In Linux all stations share 4096 buckets. A collision between stations goes to a separate queue of the station.
//! Here each station has its own buckets, so stations do not collide. Within a station flows collide as in Linux.

use super::drr::{Drr, FlowQueue};
use crate::aqm::codel::{INTERVAL, Linux, Params, Source, TARGET, Vars, Verdict};
use crate::packet::Packet;
use crate::param::{Args, ECN, Link, Param, QdiscSpec, ms};
use crate::params;
use crate::qdisc::Backlog;
use crate::sched::fq_codel::{FLOWS, LIMIT, MEMORY_LIMIT, QUANTUM};
use crate::signal::{Drop, Owner};
use alloc::vec::Vec;
use goodqueue_units::{Duration, Instant, Release};

/// Whether stations share the air by time.
pub const AIRTIME: Param<bool> = Param::flag("airtime", "stations share the air by time, not by aggregates")
    .default(true)
    .source("Høiland-Jørgensen et al. 2017, 3.2");
const SLOW_TARGET: Duration = ms(50);
const SLOW_INTERVAL: Duration = ms(300);
/// The largest number of packets that one overflow drops.
const DROP_BATCH: u32 = 32;

/// The parameters of the line.
pub const SPEC: QdiscSpec = QdiscSpec::new(
    "mac80211",
    params! {
        LIMIT.default(8192).source("Linux 6.1, fq_impl.h"),
        FLOWS.default(4096).source("Linux 6.1, mac80211/tx.c"),
        QUANTUM.default(300).source("Linux 6.1, fq_impl.h"),
        TARGET.default(ms(20)).source("Linux 6.1, mac80211/sta_info.c"),
        INTERVAL,
        ECN.default(true).source("Linux 6.1, mac80211/tx.c"),
        MEMORY_LIMIT.default(16 << 20).source("Linux 6.1, mac80211/tx.c"),
        AIRTIME,
    },
)
.changes(&[
    (Release::Linux6_12, "slow stations have no other target and interval (since 6.12.35)"),
    (Release::Linux7_3, "CoDel: at most 256 drops per call, and gaps of at least a tick of 1024 ns"),
])
.summary("Wi-Fi alone: FQ-CoDel for each station, in place of a discipline above the driver")
.source("Linux 6.1, net/mac80211; Høiland-Jørgensen et al. 2017");

/// The queues of all stations of an interface.
#[derive(Clone, Debug)]
pub struct Txqs<P> {
    /// Queues by number. `None`: the queue never had a packet.
    queues: Vec<Option<Queue<P>>>,
    params: Params,
    slow: Params,
    flows: u32,
    quantum: u32,
    limit: u32,
    memory_limit: u64,
    backlog: Backlog,
    memory: u64,
}

/// The flows of one station and traffic identifier.
#[derive(Clone, Debug)]
struct Queue<P> {
    flows: Drr<P, Vars>,
    is_slow: bool,
}

/// A flow whose CoDel sees only the flow's own backlog.
struct Alone<'a, P>(FlowQueue<'a, P>);

impl<P: Packet> Source<P> for Alone<'_, P> {
    fn pull(&mut self) -> Option<P> {
        self.0.pull()
    }
    fn backlog_bytes(&self) -> u64 {
        self.0.bytes()
    }
}

impl<P: Packet> Txqs<P> {
    /// Builds the queues from `args`, which must be of [`SPEC`].
    #[must_use]
    pub fn new(args: &Args, link: &Link) -> Self {
        // Behind a flow's last packet nothing waits, so a guard of 0 bytes lets only the last packet pass.
        let link = Link { mtu: 0, ..*link };
        let release = args.release();
        let params = Params::with(args.get(&TARGET), args.get(&INTERVAL), args.get(&ECN), &link, release);
        // 6.12.35 took the rule for slow stations back.
        let slow = if release < Release::Linux6_12 {
            Params::with(SLOW_TARGET, SLOW_INTERVAL, false, &link, release)
        } else {
            params
        };
        Self {
            queues: Vec::new(),
            params,
            slow,
            flows: args.get(&FLOWS),
            quantum: args.get(&QUANTUM) as u32,
            limit: args.get(&LIMIT),
            memory_limit: args.get(&MEMORY_LIMIT),
            backlog: Backlog::default(),
            memory: 0,
        }
    }

    /// Adds `packet` to the queue with the number `place`. At overflow other packets may be dropped.
    pub fn enqueue<O: Owner<P>>(&mut self, now: Instant, place: usize, mut packet: P, owner: &mut O) {
        packet.set_arrival(now);
        if self.queues.len() <= place {
            self.queues.resize_with(place + 1, || None);
        }
        let make = || Queue { flows: Drr::new(self.flows, self.quantum), is_slow: false };
        let queue = self.queues[place].get_or_insert_with(make);
        let bucket = queue.flows.bucket(packet.flow_hash());
        let before = queue.flows.totals();
        queue.flows.push(bucket, || packet);
        self.book(place, before);
        while self.backlog.packets > self.limit || self.memory > self.memory_limit {
            let why = if self.memory > self.memory_limit { Drop::Memory } else { Drop::Flow };
            self.overflow(why, owner);
        }
    }

    /// Takes the next packet of the queue with the number `place`.
    pub fn dequeue<O: Owner<P>>(&mut self, now: Instant, place: usize, owner: &mut O) -> Option<P> {
        let queue = self.queues.get_mut(place)?.as_mut()?;
        let before = queue.flows.totals();
        let params = if queue.is_slow { &self.slow } else { &self.params };
        let packet = next(&mut queue.flows, params, now, owner);
        self.book(place, before);
        packet
    }

    /// Sets whether the station of the queue `place` is too slow for the usual target.
    pub fn set_slow(&mut self, place: usize, is_slow: bool) {
        if let Some(Some(queue)) = self.queues.get_mut(place) {
            queue.is_slow = is_slow;
        }
    }

    /// Returns the packets and bytes that wait in all queues.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Returns the packets and bytes that wait in the queue with the number `place`.
    #[must_use]
    pub fn backlog_of(&self, place: usize) -> Backlog {
        let queue = self.queues.get(place).and_then(Option::as_ref);
        queue.map_or_else(Backlog::default, |queue| queue.flows.totals().backlog)
    }

    /// Updates the totals after the queue `place` changed from `before`.
    fn book(&mut self, place: usize, before: super::drr::Totals) {
        let Some(Some(queue)) = self.queues.get(place) else { return };
        let after = queue.flows.totals();
        self.backlog.packets = self.backlog.packets + after.backlog.packets - before.backlog.packets;
        self.backlog.bytes = self.backlog.bytes + after.backlog.bytes - before.backlog.bytes;
        self.memory = self.memory + after.memory - before.memory;
    }

    /// Drops from the fattest flow of all stations.
    #[cold]
    fn overflow<O: Owner<P>>(&mut self, why: Drop, owner: &mut O) {
        let fattest =
            |queue: &mut Option<Queue<P>>| queue.as_mut().map_or((0, 0), |queue| queue.flows.fattest());
        let all = self.queues.iter_mut().map(fattest).enumerate();
        let Some((place, (bucket, _))) = all.max_by_key(|(place, (_, bytes))| (*bytes, usize::MAX - place))
        else {
            return;
        };
        let Some(Some(queue)) = self.queues.get_mut(place) else { return };
        let before = queue.flows.totals();
        let (_, mut flow) = queue.flows.split(bucket);
        let half = flow.bytes() / 2;
        let mut dropped = 0;
        while let Some(packet) = flow.pull() {
            owner.dropped(packet, why);
            dropped += 1;
            if dropped == DROP_BATCH || flow.bytes() <= half {
                break;
            }
        }
        queue.flows.settle(bucket);
        self.book(place, before);
    }
}

/// Takes the next packet of `flows`, each of which is under CoDel.
fn next<P: Packet, O: Owner<P>>(
    flows: &mut Drr<P, Vars>,
    params: &Params,
    now: Instant,
    owner: &mut O,
) -> Option<P> {
    loop {
        let bucket = flows.next_flow()?;
        let (vars, queue) = flows.split(bucket);
        let mut queue = Alone(queue);
        match vars.judge(params, now, queue.0.head(), queue.backlog_bytes()) {
            Verdict::Passes { len } => return flows.send(bucket, len),
            Verdict::Empty => {}
            Verdict::Acts { drop } => {
                let packet = vars.act::<Linux, _, _>(drop, params, now, &mut queue, owner);
                if packet.is_some() {
                    flows.charge(bucket);
                    return packet;
                }
            }
        }
        flows.retire(bucket);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Noted;
    use super::*;
    use crate::packet::Plain;
    use goodqueue_units::Rate;

    fn txqs(words: &str) -> Txqs<Plain> {
        txqs_of(words, Release::default())
    }

    fn txqs_of(words: &str, release: Release) -> Txqs<Plain> {
        let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
        Txqs::new(&Args::parse(&SPEC, words).unwrap().in_release(release), &link)
    }

    fn offer(txqs: &mut Txqs<Plain>, owner: &mut Noted, place: usize, ids: core::ops::Range<u64>) {
        for id in ids {
            let packet = Plain { id, flow_hash: place as u32, ..Plain::new(1000) };
            txqs.enqueue(Instant::ZERO, place, packet, owner);
        }
    }

    #[test]
    fn packets_come_by_station() {
        let (mut txqs, mut owner) = (txqs(""), Noted::default());
        offer(&mut txqs, &mut owner, 0, 0..3);
        offer(&mut txqs, &mut owner, 5, 10..12);
        let mut take = |place| txqs.dequeue(Instant::ZERO, place, &mut owner).map(|packet| packet.id);
        assert_eq!([take(5), take(0), take(5), take(5), take(3)], [Some(10), Some(0), Some(11), None, None]);
        assert_eq!((txqs.backlog().packets, txqs.backlog_of(0).packets), (2, 2));
    }

    /// A station that holds nearly everything must lose packets, whichever station's packet caused the overflow.
    #[test]
    fn overflow_drops_from_the_fattest_flow_of_all_stations() {
        let (mut txqs, mut owner) = (txqs("limit 100"), Noted::default());
        offer(&mut txqs, &mut owner, 0, 0..95);
        offer(&mut txqs, &mut owner, 1, 1000..1006);
        assert_eq!(owner.dropped, (0..32).collect::<alloc::vec::Vec<_>>());
        assert_eq!(txqs.backlog_of(1).packets, 6);
    }

    /// The last packet of a flow must pass however long it waited. Before that CoDel must drop after an interval
    /// above target. A slow station's interval is three times as long.
    #[test]
    fn codel_spares_the_last_packet_and_is_patient_with_slow_stations() {
        for (release, is_slow, dropped) in [
            (Release::Linux6_1, false, 1),
            (Release::Linux6_1, true, 0),
            (Release::Linux6_12, true, 1), // 6.12.35 took the rule back
            (Release::Linux7_3, true, 1),
        ] {
            let (mut txqs, mut owner) = (txqs_of("noecn", release), Noted::default());
            offer(&mut txqs, &mut owner, 0, 0..10);
            txqs.set_slow(0, is_slow);
            for ms in [100, 210] {
                txqs.dequeue(Instant::from_nanos(ms * 1_000_000), 0, &mut owner);
            }
            assert_eq!(owner.dropped.len(), dropped, "{release:?}, slow: {is_slow}");
        }
        let (mut txqs, mut owner) = (self::txqs("noecn"), Noted::default());
        for at in [0_u64, 1000, 2000] {
            let packet = Plain { id: at, ..Plain::new(1000) };
            txqs.enqueue(Instant::from_nanos(at * 1_000_000), 0, packet, &mut owner);
            assert!(txqs.dequeue(Instant::from_nanos((at + 900) * 1_000_000), 0, &mut owner).is_some());
        }
        assert!(owner.dropped.is_empty());
    }

    /// fq_impl.h, `fq_tin_enqueue`: a drop needs more packets than the limit, or more memory than its limit. A packet
    /// of 1000 bytes takes 256 + 2048 bytes of memory. One overflow drops half of the fattest flow's bytes: with 11
    /// packets that is down to 5 packets, with 3 down to 1.
    #[test]
    fn limits_may_be_reached_and_half_a_flow_pays_for_more() {
        #[derive(Default)]
        struct Why(alloc::vec::Vec<Drop>);
        impl Owner<Plain> for Why {
            fn dropped(&mut self, _packet: Plain, why: Drop) {
                self.0.push(why);
            }
            fn marked(&mut self, _packet: &Plain, _why: crate::Mark) {}
            fn random_u32(&mut self) -> u32 {
                0
            }
            fn random_u64(&mut self) -> u64 {
                0
            }
        }
        for (words, most, why, left) in [
            ("limit 10", 10, Drop::Flow, 5),
            ("memory_limit 4608", 2, Drop::Memory, 1),
            ("limit 1 memory_limit 4608", 1, Drop::Flow, 1),
        ] {
            let (mut txqs, mut owner) = (txqs(words), Why::default());
            let offer = |txqs: &mut Txqs<Plain>, owner: &mut Why| {
                txqs.enqueue(Instant::ZERO, 0, Plain::new(1000), owner);
            };
            (0..most).for_each(|_| offer(&mut txqs, &mut owner));
            assert_eq!((txqs.backlog().packets, owner.0.len()), (most, 0), "{words}");
            offer(&mut txqs, &mut owner);
            assert_eq!(txqs.backlog(), Backlog { packets: left, bytes: 1000 * u64::from(left) }, "{words}");
            assert_eq!(owner.0, alloc::vec![why; (most + 1 - left) as usize], "{words}");
            txqs.dequeue(Instant::ZERO, 0, &mut owner);
            assert_eq!(txqs.backlog().bytes, 1000 * u64::from(left - 1), "{words}");
        }
    }
}
