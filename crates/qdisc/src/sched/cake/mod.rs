//! CAKE: common applications kept enhanced.
//!
//! Source: Høiland-Jørgensen, Täht, Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home
//! Gateways", 2018, and tc-cake(8). Where these leave something open, Linux's recorded behaviour decides. One file
//! per part:
//!
//! - `params`: the words of the line;
//! - `diffserv`: tins, their codepoints and shares;
//! - `shaper`: the rate, and the bytes of a packet on the wire;
//! - `autorate`: the estimate of the rate;
//! - `hash`: queues and hosts by hash;
//! - `sparse`: tables of flows and hosts that grow with their use;
//! - `tin`: flows in rounds;
//! - `turns`: which packet leaves next;
//! - `ack_filter`: superfluous ACKs;
//! - `heap`: the longest queue, from which overflow drops;
//! - [`mq`]: one CAKE per transmit queue;
//! - [`cobalt`](crate::aqm::cobalt): the law in each flow.
//!
//! It differs from Linux in these points:
//!
//! - `split-gso` takes packets apart that say what they are merged of ([`Packet::part`]). Of others the caller offers
//!   each piece as a packet of its own;
//! - `nat` asks the packet, not a table of connections;
//! - a sum of length and overhead below zero counts as zero;
//! - a change leaves tins and isolation as they are.

mod ack_filter;
mod autorate;
mod diffserv;
mod hash;
mod heap;
#[cfg(feature = "complete")]
pub mod mq;
mod params;
mod shaper;
mod sparse;
mod tin;
mod turns;

use super::slab::Slab;
use crate::discipline::Discipline;
use crate::kept::Look;
use crate::packet::Packet;
use crate::param::{Args, Error, Link, QdiscSpec};
use crate::qdisc::{Backlog, Enqueued, Measure, Moment, Probe, Qdisc};
use crate::signal::{Drop, Owner};
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use autorate::Estimate;
use diffserv::{Plan, Share};
use goodqueue_units::Instant;
#[cfg(feature = "complete")]
use goodqueue_units::processor::prefetch;
use hash::{Hashes, Isolation};
use heap::Longest;
use params::{
    ACK_FILTER, AUTORATE, AckFilter, DIRECTION, Direction, FWMARK, GSO, Gso, ISOLATION, Memory, NAT, WASH,
};
pub use params::{memory_limit, times};
use shaper::{Framing, Pace, Shaper};
use tin::{QUEUES, Tins};

/// Returns whether the major number of a classid that a filter says is a host to a `cake` with these parameters.
#[cfg(feature = "complete")]
pub(crate) fn is_host(args: &Args, major: u16) -> bool {
    Isolation(args.get(&ISOLATION) as u8).has_hosts() && (1..=QUEUES as u16).contains(&major)
}

/// What a CAKE is set up with. Those that are set up alike share it: ten thousand subscribers have one in the
/// processor's cache.
#[derive(Clone, Copy, Debug)]
struct Setup {
    plan: Plan,
    isolation: Isolation,
    framing: Framing,
    /// Whether drops are charged, too.
    ingress: bool,
    wash: bool,
    /// Whether merged packets are taken apart.
    splits: bool,
    nat: bool,
    /// The bits of a firewall mark that number a tin; 0: no bits.
    fwmark: u32,
    ack_filter: AckFilter,
    memory_plan: Memory,
    memory_limit: u64,
    /// Rate of the shaper in bytes per second; 0: unlimited.
    rate: u64,
    /// The number of tins.
    tins: usize,
    /// What each tin has of the rate.
    shares: [Share; heap::MAX_TINS],
}

impl Setup {
    fn new(args: &Args, link: &Link) -> Self {
        let (plan, memory_plan) = (Plan::new(args, link.mtu), Memory::new(args, link.mtu));
        let rate = params::bytes_per_s(args);
        let mut setup = Self {
            plan,
            isolation: Isolation(args.get(&ISOLATION) as u8),
            framing: Framing::new(args),
            ingress: args.get(&DIRECTION) == Direction::Ingress,
            wash: args.get(&WASH),
            splits: args.get(&GSO) == Gso::Split,
            nat: args.get(&NAT),
            fwmark: args.get(&FWMARK).unwrap_or(0),
            ack_filter: args.get(&ACK_FILTER),
            memory_plan,
            memory_limit: 0,
            rate,
            tins: plan.tins(),
            shares: [plan.share(0, rate); _],
        };
        setup.shape(rate);
        setup
    }

    /// Shares `rate`, in bytes per second, among the tins.
    fn shape(&mut self, rate: u64) {
        for (number, share) in self.shares[..self.tins].iter_mut().enumerate() {
            *share = self.plan.share(number, rate);
        }
        (self.rate, self.memory_limit) = (rate, self.memory_plan.limit(rate));
    }
}

/// `tc`'s `cake`.
// For the processor: what each packet needs comes first, in five cache lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Cake<P> {
    setup: Arc<Setup>,
    backlog: Backlog,
    packets: Slab<P>,
    memory: u64,
    /// Bytes that each tin may still send in this round of the tins.
    deficits: [i32; heap::MAX_TINS],
    /// The tins that may have something to send, as bits. They stand apart from the tins, so that a packet of one tin
    /// touches no other.
    busy: u8,
    current_tin: u8,
    /// The number of the flow that was served last.
    current_flow: u16,
    kept: Option<Box<P>>,
    /// Time at which to ask for a packet again.
    wake: Option<Instant>,
    tins: Tins,
    shaper: Shaper,
    /// Not made before the first overflow.
    longest: Option<Box<Longest>>,
    /// Estimate of the arriving rate, if the shaper is to follow it.
    estimate: Option<Box<Estimate>>,
}

const _: () = {
    let room = core::mem::offset_of!(Cake<u8>, estimate) - core::mem::size_of::<Option<Box<Longest>>>();
    assert!(room == core::mem::offset_of!(Cake<u8>, longest) && room <= 312, "more than five cache lines");
};

impl<P: Packet> Cake<P> {
    /// Returns an empty CAKE of this set-up.
    fn new(setup: Arc<Setup>) -> Self {
        Self {
            setup,
            backlog: Backlog::default(),
            packets: Slab::default(),
            memory: 0,
            deficits: [0; _],
            busy: 0,
            current_tin: 0,
            current_flow: 0,
            kept: None,
            wake: None,
            tins: Tins::new(),
            shaper: Shaper::default(),
            longest: None,
            estimate: None,
        }
    }
}

/// Returns the first estimate of the arriving rate, if the shaper is to follow it.
fn estimate(args: &Args, setup: &Setup) -> Option<Box<Estimate>> {
    args.get(&AUTORATE).map(|_| Box::new(Estimate::new(setup.rate, args.release())))
}

impl<P: Packet> Discipline<P> for Cake<P> {
    const SPEC: QdiscSpec = params::SPEC;

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let setup = Setup::new(args, link);
        let estimate = estimate(args, &setup);
        Ok(Self { estimate, ..Self::new(Arc::new(setup)) })
    }

    fn another(&self, args: &Args, link: &Link) -> Result<Self, Error> {
        if self.estimate.is_some() { Self::build(args, link) } else { Ok(Self::new(self.setup.clone())) }
    }

    fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error> {
        let unlimited = self.pace().is_unlimited();
        let mut setup = Setup::new(args, link);
        (setup.isolation, setup.tins) = (self.setup.isolation, self.setup.tins);
        let fresh = estimate(args, &setup);
        let estimated = self.estimate.take().filter(|_| fresh.is_some());
        setup.shape(if estimated.is_some() { self.setup.rate } else { setup.rate });
        self.estimate = estimated.or(fresh);
        self.setup = Arc::new(setup);
        if unlimited && !self.pace().is_unlimited() {
            // The shaper's clocks did not run before: they begin now.
            self.tins.iter_mut().for_each(|tin| tin.next = tin.next.max(now));
            self.shaper.freshen(now);
        }
        while self.memory > self.setup.memory_limit {
            self.overflow(now, owner);
        }
        Ok(())
    }

    fn look(&mut self) -> Look<'_, P> {
        Look::Boxed(&mut self.kept, &mut self.backlog)
    }
}

impl<P: Packet> Qdisc<P> for Cake<P> {
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, packet: P, owner: &mut O) -> Enqueued {
        let hashes = self.identify(&packet);
        self.admit(now, packet, hashes, owner)
    }

    #[cfg(feature = "complete")]
    fn enqueue_into<O: Owner<P>>(
        &mut self,
        now: Instant,
        packet: P,
        classid: Option<crate::tree::Id>,
        owner: &mut O,
    ) -> Option<Enqueued> {
        let hashes = self.identify(&packet).chosen(classid.unwrap_or_default());
        Some(self.admit(now, packet, hashes, owner))
    }

    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        self.wake = None;
        let mut first = true;
        while self.backlog.packets > 0 {
            self.wake = self.shaper.wait(now);
            if self.wake.is_some() || !self.choose_tin(now) {
                return None;
            }
            if let Some(packet) = self.serve(now, &mut first, owner) {
                if let Some(longest) = &mut self.longest {
                    longest.sent();
                }
                if self.backlog.packets > 0 {
                    self.wake = self.shaper.wait(now);
                }
                return Some(packet);
            }
        }
        None
    }

    /// Returns false, because a change may set `bandwidth` or `autorate-ingress` later.
    fn queues(&self) -> &'static [&'static str] {
        self.setup.plan.names()
    }

    /// Returns the queue of a packet. A mark that only the owner knows does not count: nobody passes the owner.
    fn queue_of(&self, packet: &P) -> usize {
        self.setup.plan.place(self.tin_of(packet, packet.fwmark()))
    }

    fn is_work_conserving(&self) -> bool {
        false
    }

    fn next_timer(&self) -> Option<Instant> {
        self.wake
    }

    fn on_timer<O: Owner<P>>(&mut self, now: Instant, _owner: &mut O) {
        self.wake = self.wake.filter(|due| *due > now);
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn probe(&self, probe: &mut dyn Probe) {
        const NAMES: [&str; heap::MAX_TINS] =
            ["tin0", "tin1", "tin2", "tin3", "tin4", "tin5", "tin6", "tin7"];
        probe.integer("cur_tin", self.current_tin as i128);
        probe.integer("cur_flow", self.current_flow.into());
        let flow = self.tins.get(self.current_tin.into()).and_then(|tin| tin.flows.get(self.current_flow));
        let flow = flow.copied().unwrap_or_default();
        probe.measured("deficit", flow.deficit.into(), Measure::Bytes(Some(f64::from(flow.deficit))));
        probe.integer("set", flow.set as i128);
        flow.law.probe(probe);
        probe.measured("buffer_used", self.memory.into(), Measure::Bytes(Some(self.memory as f64)));
        let moment = |time: Instant| (time.as_nanos().into(), Measure::Moment(Some(Moment::from(time))));
        let (next, failsafe) = (moment(self.shaper.next), moment(self.shaper.failsafe));
        probe.measured("time_next_packet", next.0, next.1);
        probe.measured("failsafe_next_packet", failsafe.0, failsafe.1);
        for (number, name) in NAMES.into_iter().enumerate().take(self.setup.tins) {
            let tin = self.tins.get(number);
            let tin::Counts { sparse, bulk, decaying, unresponsive } =
                tin.map(|tin| tin.counts).unwrap_or_default();
            let tin::Tally { dropped, marked, collisions } = tin.map(|tin| tin.tally).unwrap_or_default();
            let (bytes, average_delay) = tin.map_or((0, 0), |tin| (tin.bytes, tin.average_delay));
            let deficit = self.deficits[number];
            let flows = format!("{sparse}:{bulk}:{decaying}:{unresponsive}");
            let fates = format!("{dropped}:{marked}:{collisions}:{average_delay}");
            probe.text(name, format!("{deficit}:{bytes}:{flows}:{fates}"));
        }
    }
}

#[cfg(feature = "complete")]
impl<P: Packet> Cake<P> {
    /// Prefetches what `packet` is going to touch, as [`AnyQdisc::approach`](crate::AnyQdisc::approach) does.
    pub(crate) fn approach(&self, packet: &P, step: usize) {
        let Some(tin) = self.tins.get(self.tin_of(packet, 0)) else { return };
        let place = (packet.flow_hash() as usize % QUEUES) as u16;
        match step {
            0 => {
                tin.flows.prefetch_place(place);
                tin.buckets.prefetch_first();
                self.packets.prefetch_free();
            }
            _ => {
                if let Some(flow) = tin.flows.get(place) {
                    prefetch(flow);
                }
            }
        }
    }

    /// Prefetches the flows whose turns are next, and in a later step what they point to.
    pub(crate) fn approach_next(&self, step: usize) {
        let Some(tin) = self.tins.get(self.current_tin.into()) else { return };
        for flow in [true, false].into_iter().filter_map(|first| tin.flows.at(tin.turn(first)?)) {
            if step == 0 {
                prefetch(flow);
            } else {
                self.packets.prefetch(flow.queue);
                tin.buckets.prefetch(flow);
            }
        }
    }
}

impl<P: Packet> Cake<P> {
    /// Takes `packet` into the queue of its `hashes`.
    #[inline]
    fn admit<O: Owner<P>>(&mut self, now: Instant, mut packet: P, hashes: Hashes, owner: &mut O) -> Enqueued {
        packet.set_arrival(now);
        let Setup { isolation, fwmark, wash, splits, ack_filter, .. } = *self.setup;
        let mark = if fwmark == 0 { 0 } else { owner.fwmark(&packet) };
        let tin_index = self.tin_of(&packet, mark);
        if self.tins.get(tin_index).is_none() {
            self.tins.make_others(self.setup.tins);
        }
        if wash {
            packet.set_dscp(0);
        }
        let tin = &mut self.tins[tin_index];
        let hosts = || hashes.hosts.unwrap_or_else(|| owner.host_hashes(&packet));
        let flow_index = tin.classify(isolation, isolation.tag(hashes, hosts), hosts);
        if tin.bytes == 0 {
            tin.next = tin.next.max(now);
            if self.backlog.packets == 0 {
                self.shaper.freshen(now);
                self.wake = self.shaper.wait(now);
            }
        }
        let before = self.backlog.bytes;
        if P::SPLITS
            && splits
            && let Some(merged) = packet.merged()
        {
            // All parts wait before the limit and the heap see the first of them.
            let parts = (0..merged.count).filter_map(|number| packet.part(number));
            parts.for_each(|part| self.push(tin_index, flow_index, part));
        } else {
            self.push(tin_index, flow_index, packet);
            if ack_filter != AckFilter::Off {
                self.thin_acks(now, tin_index, flow_index, owner);
            }
        }
        let key = heap::key(tin_index, self.tins[tin_index].flows[flow_index].place);
        if let Some(longest) = &mut self.longest {
            longest.grew(key, &self.tins);
        }
        self.follow_arrivals(now, self.backlog.bytes as i64 - before as i64);
        self.tins[tin_index].wake(flow_index, &self.setup.shares[tin_index], || owner.random_u16());
        self.note_busy(tin_index);
        let mut told = Enqueued::Success;
        while self.memory > self.setup.memory_limit {
            if self.overflow(now, owner) == key {
                told = Enqueued::Congestion;
            }
        }
        told
    }

    /// Notes whether a tin has something to send.
    #[inline]
    fn note_busy(&mut self, tin: usize) {
        self.busy = self.busy & !(1 << tin) | u8::from(self.tins[tin].is_busy()) << tin;
    }

    /// Returns the pace of the shaper.
    fn pace(&self) -> Pace {
        self.setup.shares[0].pace
    }

    /// Returns the tin of a packet: the tin that its firewall `mark` names, otherwise the tin of its codepoint.
    #[inline]
    fn tin_of(&self, packet: &P, mark: u32) -> usize {
        let Setup { fwmark, plan, .. } = &*self.setup;
        if *fwmark != 0 {
            let mark = (mark & fwmark) >> fwmark.trailing_zeros();
            if let Some(tin) = plan.of_mark(mark) {
                return tin;
            }
        }
        plan.of_dscp[usize::from(packet.dscp() & 63)].into()
    }

    /// Returns the hashes by which a packet is known.
    #[inline]
    fn identify(&self, packet: &P) -> Hashes {
        let inside = if self.setup.nat { packet.translated_from() } else { None };
        inside.map_or_else(
            || Hashes::new(packet.flow_hash(), None),
            |(flow, hosts)| Hashes::new(flow, Some(hosts)),
        )
    }

    /// Drops the ACK that the newest packet of a flow makes superfluous, if there is one.
    fn thin_acks<O: Owner<P>>(&mut self, now: Instant, tin: usize, flow: u16, owner: &mut O) {
        let chain = self.tins[tin].flows[flow].queue;
        let Some((newest, packet)) = self.packets.newest(chain) else { return };
        let (Some(header), connection) = (packet.tcp(), packet.flow_id()) else { return };
        let waiting = self.packets.iter(chain).take_while(|(place, _)| *place != newest);
        let headers =
            waiting.map(|(place, packet)| (place, packet.tcp().filter(|_| packet.flow_id() == connection)));
        let aggressive = self.setup.ack_filter == AckFilter::Aggressive;
        let Some(place) = ack_filter::superfluous(aggressive, &header, headers) else { return };
        let queue = &mut self.tins[tin].flows[flow].queue;
        let Some(packet) = self.packets.take(queue, place) else { return };
        self.forget(tin, flow, &packet);
        if self.setup.ingress {
            self.charge(tin, now, &packet, true);
        }
        owner.dropped(packet, Drop::Ack);
    }

    /// Notes that the queues have grown by `bytes`. If the shaper follows the arriving rate, its rate may change.
    #[inline]
    fn follow_arrivals(&mut self, now: Instant, bytes: i64) {
        if let Some(rate) = self.estimate.as_mut().and_then(|estimate| estimate.arrived(now, bytes)) {
            let mut setup = *self.setup;
            setup.shape(rate);
            self.setup = Arc::new(setup);
        }
    }

    /// Appends `packet` to a flow. The caller updates the heap.
    fn push(&mut self, tin: usize, flow: u16, packet: P) {
        let len = packet.len();
        let tin = &mut self.tins[tin];
        let flow = &mut tin.flows[flow];
        self.memory += packet.memory(len);
        self.packets.push(&mut flow.queue, packet);
        flow.bytes += len;
        tin.bytes += u64::from(len);
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(len);
    }

    /// Takes the oldest packet of a flow. The caller updates the heap.
    #[inline]
    fn pull(&mut self, tin: usize, flow: u16) -> Option<P> {
        let queue = &mut self.tins[tin].flows[flow].queue;
        let packet = self.packets.pop(queue)?;
        self.packets.prefetch(*queue);
        self.forget(tin, flow, &packet);
        Some(packet)
    }

    /// Subtracts `packet`, which waits no longer.
    #[inline]
    fn forget(&mut self, tin: usize, flow: u16, packet: &P) {
        let len = packet.len();
        let tin = &mut self.tins[tin];
        tin.bytes -= u64::from(len);
        tin.flows[flow].bytes -= len;
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(len);
        self.memory -= packet.memory(len);
        if self.backlog.packets == 0 {
            self.packets.empty();
        }
    }

    /// Drops the oldest packet of the longest queue, and returns that queue's key.
    #[cold]
    fn overflow<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> usize {
        let key = self.longest.get_or_insert_default().find(&self.tins);
        let index = key / QUEUES;
        let flow = self.tins.get(index).filter(|tin| tin.flows.is_open());
        let flow = flow.map_or(0, |tin| tin.flows.find((key % QUEUES) as u16));
        let packet = if flow > 0 { self.pull(index, flow) } else { None };
        let longest = self.longest.get_or_insert_default();
        let Some(packet) = packet else {
            longest.distrust();
            return key;
        };
        let tin = &mut self.tins[index];
        let law = &mut tin.flows[flow].law;
        tin.counts.unresponsive += u16::from(law.queue_full(now, &self.setup.shares[index].law));
        tin.tally.dropped += 1;
        longest.shrank_at_top(&self.tins);
        if self.setup.ingress {
            self.charge(index, now, &packet, true);
        }
        owner.dropped(packet, Drop::Memory);
        key
    }

    /// Charges the clocks with a packet, and returns its bytes on the wire.
    #[inline]
    fn charge(&mut self, tin: usize, now: Instant, packet: &P, dropped: bool) -> u32 {
        let bytes = match packet.merged() {
            None => self.setup.framing.weigh(packet.len()),
            Some(merged) => self.setup.framing.weigh_all(merged),
        };
        let pace = self.pace();
        if !pace.is_unlimited() {
            self.tins[tin].advance(now, &self.setup.shares[tin], bytes);
            self.shaper.charge(pace, bytes, dropped);
        }
        bytes
    }
}

#[cfg(test)]
mod tests;
