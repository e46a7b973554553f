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
use alloc::format;
use autorate::Estimate;
use diffserv::Plan;
use goodqueue_units::Instant;
#[cfg(feature = "complete")]
use goodqueue_units::processor::prefetch;
use hash::{Hashes, Isolation};
use heap::Longest;
use params::{
    ACK_FILTER, AUTORATE, AckFilter, DIRECTION, Direction, FWMARK, GSO, Gso, ISOLATION, Memory, NAT, WASH,
};
pub use params::{memory_limit, times};
use shaper::{Framing, Shaper};
use tin::{QUEUES, Tin, Tins, Turn};

/// Returns whether the major number of a classid that a filter says is a host to a `cake` with these parameters.
#[cfg(feature = "complete")]
pub(crate) fn is_host(args: &Args, major: u16) -> bool {
    Isolation(args.get(&ISOLATION) as u8).has_hosts() && (1..=QUEUES as u16).contains(&major)
}

/// `tc`'s `cake`.
// For the processor: what each packet needs comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Cake<P> {
    tins: Tins,
    packets: Slab<P>,
    backlog: Backlog,
    memory: u64,
    memory_limit: u64,
    shaper: Shaper,
    /// Time at which to ask for a packet again.
    wake: Option<Instant>,
    plan: Plan,
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
    current_tin: usize,
    current_flow: u16,
    turns: [Turn; heap::MAX_TINS],
    longest: Longest,
    kept: Option<P>,
    /// Estimate of the arriving rate, if the shaper is to follow it.
    estimate: Option<Estimate>,
    memory_plan: Memory,
    /// Rate of the shaper in bytes per second; 0: unlimited.
    rate: u64,
}

impl<P: Packet> Discipline<P> for Cake<P> {
    const SPEC: QdiscSpec = params::SPEC;

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let (plan, memory_plan) = (Plan::new(args, link.mtu), Memory::new(args, link.mtu));
        let rate = params::bytes_per_s(args);
        let isolation = Isolation(args.get(&ISOLATION) as u8);
        let tins = Tins::new(Tin::new(plan.share(0, rate), isolation), plan.tins());
        let mut turns = [Turn::default(); heap::MAX_TINS];
        for (number, turn) in turns.iter_mut().enumerate().take(plan.tins()) {
            turn.quantum = plan.share(number, rate).tin_quantum;
        }
        let mut cake = Self {
            shaper: Shaper { pace: tins[0].share.pace, ..Shaper::default() },
            turns,
            tins,
            plan,
            packets: Slab::default(),
            backlog: Backlog::default(),
            longest: Longest::default(),
            memory: 0,
            memory_limit: memory_plan.limit(rate),
            memory_plan,
            rate,
            estimate: args.get(&AUTORATE).map(|_| Estimate::new(rate, args.release())),
            framing: Framing::new(args),
            wake: None,
            ingress: args.get(&DIRECTION) == Direction::Ingress,
            wash: args.get(&WASH),
            splits: args.get(&GSO) == Gso::Split,
            nat: args.get(&NAT),
            fwmark: args.get(&FWMARK).unwrap_or(0),
            ack_filter: args.get(&ACK_FILTER),
            current_tin: 0,
            current_flow: 0,
            kept: None,
        };
        if rate > 0 {
            cake.make_tins(); // their shares follow the rate
        }
        Ok(cake)
    }

    fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error> {
        let fresh = Self::build(args, link)?;
        let unlimited = self.shaper.pace.is_unlimited();
        (self.plan, self.memory_plan) = (fresh.plan, fresh.memory_plan);
        let estimated = self.estimate.filter(|_| fresh.estimate.is_some());
        self.estimate = estimated.or(fresh.estimate);
        self.shape(if estimated.is_some() { self.rate } else { fresh.rate });
        if unlimited && !self.shaper.pace.is_unlimited() {
            // The shaper's clocks did not run before: they begin now.
            self.tins.iter_mut().for_each(|tin| tin.next = tin.next.max(now));
            self.shaper.freshen(now);
        }
        (self.framing, self.ingress, self.wash) = (fresh.framing, fresh.ingress, fresh.wash);
        (self.nat, self.fwmark, self.ack_filter) = (fresh.nat, fresh.fwmark, fresh.ack_filter);
        self.splits = fresh.splits;
        while self.memory > self.memory_limit {
            self.overflow(now, owner);
        }
        Ok(())
    }

    fn look(&mut self) -> Look<'_, P> {
        Look::Beside(&mut self.kept, &mut self.backlog)
    }
}

impl<P: Packet> Qdisc<P> for Cake<P> {
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, packet: P, owner: &mut O) -> Enqueued {
        let hashes = self.identify(&packet, owner);
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
        let hashes = self.identify(&packet, owner).chosen(classid.unwrap_or_default());
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
                self.longest.sent();
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
        self.plan.names()
    }

    /// Returns the queue of a packet. A mark that only the owner knows does not count: nobody passes the owner.
    fn queue_of(&self, packet: &P) -> usize {
        self.plan.place(self.tin_of(packet, packet.fwmark()))
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
        let flow = self.tins[self.current_tin].flows.get(usize::from(self.current_flow));
        let flow = flow.copied().unwrap_or_default();
        probe.measured("deficit", flow.deficit.into(), Measure::Bytes(Some(f64::from(flow.deficit))));
        probe.integer("set", flow.set as i128);
        flow.law.probe(probe);
        probe.measured("buffer_used", self.memory.into(), Measure::Bytes(Some(self.memory as f64)));
        let moment = |time: Instant| (time.as_nanos().into(), Measure::Moment(Some(Moment::from(time))));
        let (next, failsafe) = (moment(self.shaper.next), moment(self.shaper.failsafe));
        probe.measured("time_next_packet", next.0, next.1);
        probe.measured("failsafe_next_packet", failsafe.0, failsafe.1);
        for (number, (name, turn)) in NAMES.into_iter().zip(&self.turns).enumerate().take(self.tins.len()) {
            let tin = self.tins.get(number);
            let tin::Counts { sparse, bulk, decaying, unresponsive } =
                tin.map(|tin| tin.counts).unwrap_or_default();
            let tin::Tally { dropped, marked, average_delay } = tin.map(|tin| tin.tally).unwrap_or_default();
            let (bytes, collisions) = tin.map_or((0, 0), |tin| (tin.bytes, tin.buckets.collisions));
            let deficit = turn.deficit;
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
        let queue = packet.flow_hash() as usize % QUEUES;
        match step {
            0 => {
                tin.flows.prefetch_place(queue);
                self.packets.prefetch_free();
            }
            _ => {
                if let Some(flow) = tin.flows.get(queue) {
                    prefetch(flow);
                }
            }
        }
    }

    /// Prefetches what finds the flow whose turn is next.
    pub(crate) fn approach_next(&self) {
        if let Some(tin) = self.tins.get(self.current_tin)
            && let Some(flow) = tin.turn(false)
        {
            tin.flows.prefetch_place(flow.into());
        }
    }
}

impl<P: Packet> Cake<P> {
    /// Takes `packet` into the queue of its `hashes`.
    #[inline]
    fn admit<O: Owner<P>>(&mut self, now: Instant, mut packet: P, hashes: Hashes, owner: &mut O) -> Enqueued {
        packet.set_arrival(now);
        let mark = if self.fwmark == 0 { 0 } else { owner.fwmark(&packet) };
        let tin_index = self.tin_of(&packet, mark);
        if self.tins.get(tin_index).is_none() {
            self.make_tins();
        }
        if self.wash {
            packet.set_dscp(0);
        }
        let tin = &mut self.tins[tin_index];
        let flow_index = tin.classify(hashes);
        if tin.bytes == 0 {
            tin.next = tin.next.max(now);
            if self.backlog.packets == 0 {
                self.shaper.freshen(now);
                self.wake = self.shaper.wait(now);
            }
        }
        let before = self.backlog.bytes;
        if P::SPLITS
            && self.splits
            && let Some(merged) = packet.merged()
        {
            // All parts wait before the limit and the heap see the first of them.
            let parts = (0..merged.count).filter_map(|number| packet.part(number));
            parts.for_each(|part| self.push(tin_index, flow_index, part));
        } else {
            self.push(tin_index, flow_index, packet);
            if self.ack_filter != AckFilter::Off {
                self.thin_acks(now, tin_index, flow_index, owner);
            }
        }
        self.longest.grew(heap::key(tin_index, flow_index), &self.tins);
        self.follow_arrivals(now, self.backlog.bytes as i64 - before as i64);
        self.tins[tin_index].wake(flow_index, || owner.random_u16());
        self.turns[tin_index].is_busy = self.tins[tin_index].is_busy();
        let mut told = Enqueued::Success;
        while self.memory > self.memory_limit {
            if self.overflow(now, owner) == heap::key(tin_index, flow_index) {
                told = Enqueued::Congestion;
            }
        }
        told
    }

    /// Returns the tin of a packet: the tin that its firewall `mark` names, otherwise the tin of its codepoint.
    #[inline]
    fn tin_of(&self, packet: &P, mark: u32) -> usize {
        if self.fwmark != 0 {
            let mark = (mark & self.fwmark) >> self.fwmark.trailing_zeros();
            if let Some(tin) = self.plan.of_mark(mark) {
                return tin;
            }
        }
        self.plan.of_dscp[usize::from(packet.dscp() & 63)].into()
    }

    /// Returns the hashes of a packet's flow and of its hosts.
    #[inline]
    fn identify<O: Owner<P>>(&self, packet: &P, owner: &O) -> Hashes {
        let inside = if self.nat { packet.translated_from() } else { None };
        let (flow, hosts) = inside.unwrap_or_else(|| (packet.flow_hash(), owner.host_hashes(packet)));
        Hashes::new(flow, hosts)
    }

    /// Drops the ACK that the newest packet of a flow makes superfluous, if there is one.
    fn thin_acks<O: Owner<P>>(&mut self, now: Instant, tin: usize, flow: u16, owner: &mut O) {
        let chain = self.tins[tin].flows[usize::from(flow)].queue;
        let Some((newest, packet)) = self.packets.newest(chain) else { return };
        let (Some(header), connection) = (packet.tcp(), packet.flow_id()) else { return };
        let waiting = self.packets.iter(chain).take_while(|(place, _)| *place != newest);
        let headers =
            waiting.map(|(place, packet)| (place, packet.tcp().filter(|_| packet.flow_id() == connection)));
        let aggressive = self.ack_filter == AckFilter::Aggressive;
        let Some(place) = ack_filter::superfluous(aggressive, &header, headers) else { return };
        let queue = &mut self.tins[tin].flows[usize::from(flow)].queue;
        let Some(packet) = self.packets.take(queue, place) else { return };
        self.forget(tin, flow, &packet);
        if self.ingress {
            self.charge(tin, now, &packet, true);
        }
        owner.dropped(packet, Drop::Ack);
    }

    /// Notes that the queues have grown by `bytes`. If the shaper follows the arriving rate, its rate may change.
    #[inline]
    fn follow_arrivals(&mut self, now: Instant, bytes: i64) {
        let Some(rate) = self.estimate.as_mut().and_then(|estimate| estimate.arrived(now, bytes)) else {
            return;
        };
        self.shape(rate);
    }

    /// Makes the tins that are not made yet.
    #[cold]
    fn make_tins(&mut self) {
        let (plan, rate, isolation) = (self.plan, self.rate, self.tins[0].buckets.isolation);
        self.tins.make_others(|number| Tin::new(plan.share(number, rate), isolation));
    }

    /// Shares `rate`, in bytes per second, among the tins.
    fn shape(&mut self, rate: u64) {
        self.make_tins();
        for (index, tin) in self.tins.iter_mut().enumerate() {
            tin.share = self.plan.share(index, rate);
        }
        self.shaper.pace = self.tins[0].share.pace;
        (self.rate, self.memory_limit) = (rate, self.memory_plan.limit(rate));
    }

    /// Appends `packet` to a flow. The caller updates the heap.
    fn push(&mut self, tin: usize, flow: u16, packet: P) {
        let len = packet.len();
        let tin = &mut self.tins[tin];
        let flow = &mut tin.flows[usize::from(flow)];
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
        let packet = self.packets.pop(&mut self.tins[tin].flows[usize::from(flow)].queue)?;
        self.forget(tin, flow, &packet);
        Some(packet)
    }

    /// Subtracts `packet`, which waits no longer.
    #[inline]
    fn forget(&mut self, tin: usize, flow: u16, packet: &P) {
        let len = packet.len();
        let tin = &mut self.tins[tin];
        tin.bytes -= u64::from(len);
        tin.flows[usize::from(flow)].bytes -= len;
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
        let key = self.longest.find(&self.tins);
        let (index, flow) = (key / QUEUES, (key % QUEUES) as u16);
        let Some(packet) = self.pull(index, flow) else {
            self.longest.distrust();
            return key;
        };
        let tin = &mut self.tins[index];
        let law = &mut tin.flows[usize::from(flow)].law;
        tin.counts.unresponsive += u32::from(law.queue_full(now, &tin.share.law));
        tin.tally.dropped += 1;
        if self.ingress {
            self.charge(index, now, &packet, true);
        }
        owner.dropped(packet, Drop::Memory);
        self.longest.shrank_at_top(&self.tins);
        key
    }

    /// Charges the clocks with a packet, and returns its bytes on the wire.
    #[inline]
    fn charge(&mut self, tin: usize, now: Instant, packet: &P, dropped: bool) -> u32 {
        let bytes = match packet.merged() {
            None => self.framing.weigh(packet.len()),
            Some(merged) => self.framing.weigh_all(merged),
        };
        if !self.shaper.pace.is_unlimited() {
            self.tins[tin].advance(now, bytes);
            self.shaper.charge(bytes, dropped);
        }
        bytes
    }
}

#[cfg(test)]
mod tests;
