//! FQ-CoDel: flow queues in rounds, each under CoDel.
//!
//! Source: RFC 8290 (section numbers below), in the variant that Linux runs. Linux differs from the RFC in these
//! points:
//!
//! - a flow's CoDel state is never reset, not even when its bucket changes hands;
//! - CoDel's small-backlog guard looks at the whole discipline's backlog, not at the flow's;
//! - overflow drops up to `drop_batch` packets, or half the bytes, from the fattest flow, and CoDel counts them as
//!   its own drops (the RFC also drops from the fattest flow's head: 5.2.3);
//! - a new flow that turns out empty is kept for a round only if there are old flows (4.2);
//! - since Linux 7.3, packets of this host's own sockets count nothing in `memory_limit`, and CoDel has the limits of
//!   that release.
//!
//! An overflow has the same victim as in Linux, but a tree of maxima finds it in O(log flows), not a search.

use super::drr::{Drr, Flow, FlowQueue};
use super::slab::NIL;
use crate::aqm::codel::{CE_THRESHOLD, INTERVAL, Linux, Params, Source, TARGET, Vars, Verdict};
use crate::discipline::Discipline;
use crate::kept::Look;
use crate::packet::Packet;
use crate::param::{Args, Digits, ECN, Error, Link, Masked, Param, ParamSpec, QdiscSpec};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Measure, Probe, Qdisc};
use crate::signal::{Drop, Owner};
use alloc::format;
use goodqueue_units::{Duration, Instant, Release};

/// Linux's smallest quantum: with rounds of a few bytes the scheduler would spin through the flows.
const LEAST_QUANTUM: u32 = 256;

/// Limit in packets. The flow-queueing disciplines share this and the following parameters.
pub const LIMIT: Param<u32> = crate::param::LIMIT
    .default(10_240)
    .source("RFC 8290, 5.2.3")
    .help("most packets that all flows hold together");
/// Number of buckets. See [`LIMIT`].
pub const FLOWS: Param<u32> = Param::count("flows", "number of buckets to which flows are hashed")
    .default(1024)
    .range(1, 65_536)
    .zero_is_unset()
    .fixed()
    .source("RFC 8290, 5.2.5");
/// Bytes of a round. See [`LIMIT`].
pub const QUANTUM: Param<u64> =
    Param::bytes("quantum", "bytes that a flow may send per round; less than 256 counts as 256")
        .default(1514)
        .range(1, 1_048_576)
        .digits(Digits::Any)
        .zero_is_unset()
        .source("RFC 8290, 5.2.4");
/// Limit in memory. See [`LIMIT`].
pub const MEMORY_LIMIT: Param<u64> = Param::bytes(
    "memory_limit",
    "most memory that all flows hold together, with Linux's overhead per packet",
)
.default(32 << 20)
.range(0, u32::MAX as u64)
.source("tc-fq_codel(8)");
const CE_THRESHOLD_SELECTOR: Param<Option<Masked>> = Param::masked(
    "ce_threshold_selector",
    "ce_threshold applies only if the masked DS field has this value; unset: always",
)
.source("tc-fq_codel(8)");
const DROP_BATCH: Param<u32> = Param::packets("drop_batch", "most packets that one overflow drops")
    .default(64)
    .range(1, u32::MAX)
    .zero_is_unset()
    .source("tc-fq_codel(8)");

/// Returns the list of parameters. `fq_nocodel` has another limit and target.
pub(super) const fn params(limit: &Param<u32>, target: &Param<Duration>) -> [ParamSpec; 10] {
    *params! {
        limit, FLOWS, QUANTUM, target, INTERVAL, ECN.default(true).source("RFC 8290, 5.2.6"), CE_THRESHOLD,
        CE_THRESHOLD_SELECTOR, MEMORY_LIMIT, DROP_BATCH,
    }
}

/// `tc`'s `fq_codel`.
#[derive(Clone, Debug)]
pub struct FqCodel<P> {
    flows: Drr<P, Vars>,
    settings: Settings,
    drop_overlimit: u64,
    drop_overmemory: u64,
}

/// The packet that leaves next: the oldest of a flow, or one that the law has taken out, which is in no `bucket`.
struct Head {
    bucket: u32,
    len: u32,
}

/// The settings that may change.
#[derive(Clone, Copy, Debug)]
struct Settings {
    params: Params,
    quantum: u32,
    limit: u32,
    memory_limit: u64,
    drop_batch: u32,
}

impl Settings {
    fn new(args: &Args, link: &Link) -> Self {
        Self {
            params: Params::new(args, link).selecting(args.get(&CE_THRESHOLD_SELECTOR)),
            quantum: (args.get(&QUANTUM) as u32).max(LEAST_QUANTUM),
            limit: args.get(&LIMIT),
            memory_limit: if spares_own(args) && args.is_at_sender() {
                u64::MAX
            } else {
                args.get(&MEMORY_LIMIT)
            },
            drop_batch: args.get(&DROP_BATCH),
        }
    }
}

impl<P: Packet> Source<P> for FlowQueue<'_, P> {
    #[inline]
    fn pull(&mut self) -> Option<P> {
        self.pull()
    }
    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.totals().backlog.bytes
    }
}

impl<P: Packet> Discipline<P> for FqCodel<P> {
    const SPEC: QdiscSpec = QdiscSpec::new("fq_codel", &params(&LIMIT, &TARGET))
        .changes(&[
            (Release::Linux7_3, "CoDel: at most 256 drops per call, and gaps of at least a tick of 1024 ns"),
            (Release::Linux7_3, "packets of this host's own sockets count nothing in memory_limit"),
        ])
        .summary("Flow queues in rounds, each under CoDel; sparse flows go first")
        .source("RFC 8290; tc-fq_codel(8)");

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let settings = Settings::new(args, link);
        let flows = Drr::new(args.get(&FLOWS), settings.quantum).sparing_own(spares_own(args));
        Ok(Self { flows, settings, drop_overlimit: 0, drop_overmemory: 0 })
    }

    fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error> {
        self.settings = Settings::new(args, link);
        self.flows.set_quantum(self.settings.quantum);
        // Linux takes out the excess in the same way as packets to send.
        while let Some(why) = self.excess()
            && let Some(packet) = self.look().take().or_else(|| self.dequeue(now, owner))
        {
            owner.dropped(packet, why);
        }
        Ok(())
    }

    fn look(&mut self) -> Look<'_, P> {
        self.flows.look()
    }
}

impl<P: Packet> Qdisc<P> for FqCodel<P> {
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `put`
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, packet: P, owner: &mut O) -> Enqueued {
        let bucket = self.flows.bucket(packet.flow_hash());
        self.put(now, bucket, || packet, owner)
    }

    #[cfg(not(target_family = "wasm"))] // one `put` is enough for the page
    #[inline(always)] // as `put`
    fn enqueue_copy<O: Owner<P>>(&mut self, now: Instant, packet: &P, owner: &mut O) -> Enqueued
    where
        P: Copy,
    {
        let bucket = self.flows.bucket(packet.flow_hash());
        self.put(now, bucket, || *packet, owner)
    }

    #[cfg(feature = "complete")]
    fn enqueue_into<O: Owner<P>>(
        &mut self,
        now: Instant,
        packet: P,
        classid: Option<crate::tree::Id>,
        owner: &mut O,
    ) -> Option<Enqueued> {
        match classid.and_then(|id| id.queue(self.flows.count())) {
            Some(bucket) => Some(self.put(now, bucket, || packet, owner)),
            None => {
                owner.dropped(packet, Drop::Overlimit);
                None
            }
        }
    }

    #[inline]
    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        let mut taken = None;
        let Head { bucket, len } = self.next(now, owner, &mut taken)?;
        taken.or_else(|| self.flows.send(bucket, len))
    }

    #[inline]
    fn dequeue_to<O: Owner<P>, R>(
        &mut self,
        now: Instant,
        owner: &mut O,
        send: impl FnOnce(&P, u32) -> R,
    ) -> Option<R> {
        let mut taken = None;
        let Head { bucket, len } = self.next(now, owner, &mut taken)?;
        let head = match &taken {
            None => self.flows.head(bucket)?,
            Some(packet) => packet,
        };
        // One call for both, so that the compiler puts it into the caller's loop.
        let sent = send(head, len);
        self.flows.sent(bucket, len);
        Some(sent)
    }

    #[inline]
    fn pass(&mut self, _now: Instant, packet: &P) -> Option<u32> {
        let len = packet.len();
        let weight = self.flows.totals().weight(packet, len);
        if self.settings.limit == 0 || weight > self.settings.memory_limit {
            return None;
        }
        self.flows.pass(self.flows.bucket(packet.flow_hash()), len)?.pass();
        Some(len)
    }

    fn prefetch(&self, flow_hash: u32) {
        self.flows.prefetch(flow_hash);
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.flows.totals().backlog
    }

    fn probe(&self, probe: &mut dyn Probe) {
        probe.integer("new_len", self.flows.new_flows().count() as i128);
        probe.integer("old_len", self.flows.old_flows().count() as i128);
        probe.integer("new_flow_count", self.flows.new_flow_count().into());
        let memory = self.flows.totals().memory;
        probe.measured("memory_usage", memory.into(), Measure::Bytes(Some(memory as f64)));
        probe.integer("drop_overlimit", self.drop_overlimit.into());
        probe.integer("drop_overmemory", self.drop_overmemory.into());
        for (name, flow) in ["new0", "new1", "new2"].into_iter().zip(self.flows.new_flows()) {
            probe.text(name, describe(flow));
        }
        for (name, flow) in ["old0", "old1", "old2"].into_iter().zip(self.flows.old_flows()) {
            probe.text(name, describe(flow));
        }
    }
}

/// Returns whether packets of this host's own sockets count no memory.
fn spares_own(args: &Args) -> bool {
    args.release() >= Release::Linux7_3
}

/// Writes a flow as decision traces do: `bucket:deficit:backlog:` and CoDel's state.
fn describe((bucket, flow): (u32, &Flow<Vars>)) -> alloc::string::String {
    format!("{bucket}:{}:{}:{}", flow.deficit, flow.bytes, flow.law)
}

impl<P: Packet> FqCodel<P> {
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // the packet is then copied once: to its place in the slab
    fn put<O: Owner<P>>(
        &mut self,
        now: Instant,
        bucket: u32,
        make: impl FnOnce() -> P,
        owner: &mut O,
    ) -> Enqueued {
        self.flows.push(bucket, || {
            let mut packet = make();
            packet.set_arrival(now);
            packet
        });
        let Some(why) = self.excess() else { return Enqueued::Success };
        if self.overflow(why, owner) == bucket { Enqueued::Congestion } else { Enqueued::Success }
    }

    /// Returns the packet that the law lets leave next. If the law has taken it out, it is `taken`.
    // A packet in the answer would go through memory.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn next<O: Owner<P>>(&mut self, now: Instant, owner: &mut O, taken: &mut Option<P>) -> Option<Head> {
        loop {
            let bucket = self.flows.next_flow()?;
            let backlog = self.flows.totals().backlog.bytes;
            let (vars, head) = self.flows.law_and_head(bucket);
            match vars.judge(&self.settings.params, now, head, backlog) {
                Verdict::Passes { len } => return Some(Head { bucket, len }),
                Verdict::Empty => {}
                Verdict::Acts { drop } => {
                    if let Some(packet) = self.act(bucket, drop, now, owner) {
                        let len = packet.len();
                        *taken = Some(packet);
                        return Some(Head { bucket: NIL, len });
                    }
                }
            }
            self.flows.retire(bucket);
        }
    }

    /// Takes the next packet of the flow whose turn it is, as the law demands.
    #[cold]
    fn act<O: Owner<P>>(&mut self, bucket: u32, drop: bool, now: Instant, owner: &mut O) -> Option<P> {
        let (vars, mut queue) = self.flows.split(bucket);
        let packet = vars.act::<Linux, _, _>(drop, &self.settings.params, now, &mut queue, owner)?;
        self.flows.charge(bucket);
        Some(packet)
    }

    /// Returns why packets must be dropped. `None`: none must.
    #[inline]
    fn excess(&self) -> Option<Drop> {
        let totals = self.flows.totals();
        if totals.memory > self.settings.memory_limit {
            Some(Drop::Memory)
        } else {
            (totals.backlog.packets > self.settings.limit).then_some(Drop::Flow)
        }
    }

    /// Drops half of the bytes of the fattest flow from its head, but at most `drop_batch` packets. Returns the flow.
    /// It drops in batches, because a flow that overflows will overflow again. The new packet is in the queue already
    /// and may be dropped, too.
    #[cold]
    fn overflow<O: Owner<P>>(&mut self, why: Drop, owner: &mut O) -> u32 {
        let (bucket, bytes) = self.flows.fattest();
        let (vars, mut queue) = self.flows.split(bucket);
        let (mut dropped, mut freed) = (0, 0);
        while let Some(packet) = queue.pull() {
            dropped += 1;
            freed += u64::from(packet.len());
            owner.dropped(packet, why);
            if dropped == self.settings.drop_batch || freed >= bytes / 2 {
                break;
            }
        }
        // CoDel did not ask for these drops, but counts them as its own from now on.
        vars.count = vars.count.wrapping_add(dropped);
        self.flows.settle(bucket);
        self.drop_overlimit += u64::from(dropped);
        self.drop_overmemory += if why == Drop::Memory { u64::from(dropped) } else { 0 };
        bucket
    }
}

#[cfg(test)]
mod tests {
    use super::super::Noted;
    use super::*;
    use crate::packet::Plain;
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use goodqueue_units::{Ecn, Rate};

    fn fq_codel(words: &str) -> FqCodel<Plain> {
        let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
        FqCodel::build(&Args::parse(&FqCodel::<Plain>::SPEC, words).unwrap(), &link).unwrap()
    }

    /// Offers packets: packet `id` goes to bucket `id / 100` of eight.
    fn offer(qdisc: &mut FqCodel<Plain>, owner: &mut Noted, len: u32, ids: &[u64]) -> Vec<Enqueued> {
        let packet = |id| Plain { id, flow_hash: ((id / 100) << 29) as u32, ..Plain::new(len) };
        ids.iter().map(|id| qdisc.enqueue(Instant::ZERO, packet(*id), owner)).collect()
    }

    fn drain(qdisc: &mut FqCodel<Plain>, owner: &mut Noted) -> Vec<u64> {
        core::iter::from_fn(|| qdisc.dequeue(Instant::ZERO, owner)).map(|packet| packet.id).collect()
    }

    /// RFC 8290, 4.2: a flow that has just begun must go before standing flows.
    #[test]
    fn a_new_flow_goes_first() {
        let (mut qdisc, mut owner) = (fq_codel("flows 8"), Noted::default());
        offer(&mut qdisc, &mut owner, 1514, &[0, 1, 2, 100, 101, 102]);
        for id in [0, 100] {
            assert_eq!(qdisc.dequeue(Instant::ZERO, &mut owner).map(|packet| packet.id), Some(id));
        }
        offer(&mut qdisc, &mut owner, 100, &[200]);
        assert_eq!(drain(&mut qdisc, &mut owner), [200, 1, 101, 2, 102]);
    }

    /// The limit drops half of 17 packets at time 0, which CoDel counts. CoDel's own first drop is at 111 ms (108,398
    /// ticks), one interval after the 10 ms at which a packet had waited for longer than the target. The next one is
    /// due a whole interval later (97,654 ticks by the law), and not 1/sqrt(9) of it: no drop before counts as recent.
    /// Linux 6.1 does so from 1.6 s after boot on.
    #[test]
    fn a_limit_at_the_start_does_not_quicken_the_first_drops() {
        let (mut qdisc, mut owner) = (fq_codel("flows 8 limit 16"), Noted::default());
        offer(&mut qdisc, &mut owner, 1514, &core::array::from_fn::<_, 17, _>(|id| id as u64));
        assert_eq!(owner.dropped.len(), 9);
        for ms in [10, 111] {
            qdisc.dequeue(Instant::from_nanos(ms * 1_000_000), &mut owner);
        }
        assert_eq!(owner.dropped.len(), 10);
        let (vars, _) = qdisc.flows.split(0);
        assert_eq!(vars.to_string(), "1:1:1:65535:107421:206052");
    }

    #[test]
    fn a_flow_is_one_cache_line() {
        assert_eq!(core::mem::size_of::<Flow<Vars>>(), 64);
    }

    #[test]
    fn overflow_drops_half_of_the_fattest_flow_from_its_head() {
        let (mut qdisc, mut owner) = (fq_codel("flows 8 limit 8"), Noted::default());
        let told = offer(&mut qdisc, &mut owner, 1000, &[0, 100, 101, 102, 103, 200, 201, 202, 203]);
        // Flows 1 and 2 hold four packets each: the lower bucket loses packets, although flow 2's packet caused the
        // overflow.
        assert_eq!((owner.dropped.as_slice(), told[8]), ([100, 101].as_slice(), Enqueued::Success));
        let told = offer(&mut qdisc, &mut owner, 1000, &[204, 205]);
        assert_eq!((&owner.dropped[2..], told[1]), ([200, 201, 202].as_slice(), Enqueued::Congestion));
    }

    #[test]
    fn a_batch_is_drop_batch_packets_at_most_and_memory_counts() {
        let (mut qdisc, mut owner) = (fq_codel("flows 8 limit 5 drop_batch 1"), Noted::default());
        offer(&mut qdisc, &mut owner, 1000, &[0, 1, 2, 3, 4, 5]);
        assert_eq!(owner.dropped, [0]);
        // 1000 bytes count as 256 + 2048 bytes of memory: two packets fill 4608.
        let (mut qdisc, mut owner) = (fq_codel("flows 8 memory_limit 4608 drop_batch 1"), Noted::default());
        offer(&mut qdisc, &mut owner, 1000, &[0, 1]);
        assert!(owner.dropped.is_empty());
        offer(&mut qdisc, &mut owner, 1000, &[2]);
        assert_eq!(owner.dropped, [0]);
    }

    /// Since 7.3 a packet of this host's own sockets counts nothing in `memory_limit`, and others count as before. On a
    /// host's own interface all packets are such.
    #[test]
    fn since_7_3_own_packets_count_no_memory() {
        struct Sent(Plain);
        impl Packet for Sent {
            fn len(&self) -> u32 {
                1000
            }
            fn ecn(&self) -> Ecn {
                Ecn::NotEct
            }
            fn set_ce(&mut self) {}
            fn flow_hash(&self) -> u32 {
                0
            }
            fn dscp(&self) -> u8 {
                0
            }
            fn socket(&self) -> Option<crate::packet::Socket> {
                (self.0.id % 2 == 1).then_some(crate::packet::Socket { id: 1, is_tcp: true, pacing: None })
            }
            fn arrival(&self) -> Instant {
                Instant::ZERO
            }
            fn set_arrival(&mut self, _now: Instant) {}
        }
        #[derive(Default)]
        struct Lost(u32);
        impl Owner<Sent> for Lost {
            fn dropped(&mut self, _packet: Sent, _why: Drop) {
                self.0 += 1;
            }
            fn marked(&mut self, _packet: &Sent, _why: crate::Mark) {}
            fn random_u32(&mut self) -> u32 {
                0
            }
            fn random_u64(&mut self) -> u64 {
                0
            }
        }
        let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
        for (release, at_sender, lost, memory) in [
            (Release::Linux6_12, false, 4, 4608),
            (Release::Linux6_12, true, 4, 4608),
            (Release::Linux7_3, false, 1, 4608),
            (Release::Linux7_3, true, 0, 6912),
        ] {
            let args = Args::parse(&FqCodel::<Plain>::SPEC, "memory_limit 4608 drop_batch 1").unwrap();
            let args = args.in_release(release);
            let args = if at_sender { args.at_sender() } else { args };
            let (mut qdisc, mut owner) = (FqCodel::<Sent>::build(&args, &link).unwrap(), Lost::default());
            for id in 0..6 {
                qdisc.enqueue(Instant::ZERO, Sent(Plain { id, ..Plain::new(1000) }), &mut owner);
            }
            let found = (owner.0, qdisc.flows.totals().memory);
            assert_eq!(found, (lost, memory), "{release:?}, at the sender: {at_sender}");
            while qdisc.dequeue(Instant::ZERO, &mut owner).is_some() {}
            assert_eq!(qdisc.flows.totals().memory, 0);
        }
    }

    #[test]
    fn the_selector_limits_ce_threshold_to_its_codepoints() {
        let words = "ce_threshold 1ms ce_threshold_selector 0x1/0x3";
        let (mut qdisc, mut owner) = (fq_codel(words), Noted::default());
        for (id, ecn) in [(0, Ecn::Ect0), (1, Ecn::Ect1), (2, Ecn::NotEct)] {
            qdisc.enqueue(Instant::ZERO, Plain { id, ecn, ..Plain::new(100) }, &mut owner);
        }
        while qdisc.dequeue(Instant::from_nanos(2_000_000), &mut owner).is_some() {}
        assert_eq!((owner.marked.as_slice(), owner.dropped.len()), ([1].as_slice(), 0));
    }

    /// tc-fq_codel(8) has these defaults; its 32 MB are 32 * 2^20 bytes.
    #[test]
    fn the_default_line_is_that_of_the_man_page() {
        use crate::registry::parse_line;
        use std::string::ToString;
        assert_eq!(
            parse_line("fq_codel").unwrap().to_string(),
            "fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms ecn memory_limit 33554432 \
             drop_batch 64"
        );
        assert!(parse_line("fq_codel memory_limit 4294967295").is_ok());
        assert!(parse_line("fq_codel memory_limit 4294967296").is_err());
    }
}
