//! FQ: one queue per flow in rounds, with pacing per flow and three bands of priorities.
//!
//! Source: tc-fq(8), and `net/sched/sch_fq.c` as Linux decides since 6.7 (golden traces of 7.3). Since 7.3 an earlier
//! packet also moves the timer of its throttled flow. The fq of Linux 6.1 is not here: it has one band, no fast path,
//! `limit` holds for all packets together, and control packets bypass the queues. A line of release 6.1 gets the fq of
//! 6.12, without its words `priomap` and `weights`.
//!
//! - A packet's band is `priomap[priority]`. A band with `limit` packets drops arrivals.
//! - A packet's flow is its socket. A packet without one (forwarded) has the flow `hash & orphan_mask`.
//! - Flows of a band are served in rounds of `quantum` bytes, flows that just began first. Bands share by `weights`.
//! - A packet waits for its earliest departure time, and for the rate of its flow: `maxrate`, or its socket's. A flow
//!   that waits for a time is *throttled*: it is in no list, but in an order by time.
//! - While nobody competes, packets take a FIFO that is served before all flows, the *fast path*.
//!
//! A packet's band follows its own priority, a flow's band that of its last packet. The flow joins the list of its new
//! band when it is next moved.
//!
//! How this implementation differs: throttled flows and packets with earlier departure times than a flow's last packet
//! are in B-trees, flows of one bucket in a plain search tree (see `flows`). A device that holds packets until they
//! are due is not modelled, so `offload_horizon` can only be 0. On a change of `priomap`, Linux and this file move only
//! later packets.

mod flows;
mod pacing;
mod params;
mod queue;
mod rounds;
#[cfg(test)]
mod tests;

use super::prio::BAND_NAMES;
use super::slab::Slab;
use crate::discipline::Discipline;
use crate::fifo::Fifo;
use crate::kept::Look;
use crate::packet::Packet;
use crate::param::{Args, Error, Link, QdiscSpec};
use crate::qdisc::{Backlog, Enqueued, Measure, Moment, Probe, Qdisc};
use crate::signal::{Drop, Mark, Owner};
use alloc::collections::BTreeMap;
use alloc::format;
use flows::{Flows, List};
use goodqueue_units::{Ecn, Instant, Release};
pub use params::PRIOMAP;
use params::{PARAMS, Settings, settle};
use queue::Waiting;
use rounds::list_of;

/// Bands of priorities.
const BANDS: usize = 3;
/// Most packets in the fast path while other packets wait.
const MOST_FAST: usize = 8;
/// No time: [`Fq::time_next_delayed_flow`] while no flow is throttled.
const NEVER: u64 = u64::MAX;

/// A band: the lists of its flows, and its share of the link.
#[derive(Clone, Copy, Debug)]
struct Band {
    /// Flows that began to wait since their last round.
    new: List,
    old: List,
    /// Bytes that the band may still send in this round.
    credit: i32,
    packets: u32,
    drops: u64,
}

/// Counters that `tc -s qdisc` shows.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    throttled: u64,
    flows_plimit: u64,
    ce_mark: u64,
    horizon_drops: u64,
    horizon_caps: u64,
    fastpath: u64,
}

/// Numbers in an order. One type serves packets and flows, so that the page's module holds its code once.
type Order = BTreeMap<(u32, u64, u64), u32>;

/// `tc`'s `fq`.
#[derive(Clone, Debug)]
pub struct Fq<P> {
    settings: Settings,
    flows: Flows,
    packets: Slab<Waiting<P>>,
    /// The places of packets whose time to send is before that of their flow's last packet: by flow, time, and order
    /// of arrival.
    early: Order,
    /// The throttled flows, by 0, time, and order of arrival.
    delayed: Order,
    /// Number of entries that `early` and `delayed` ever had, which keeps equal times in order.
    order: u64,
    bands: [Band; BANDS],
    /// The band whose turn it is.
    band: usize,
    /// The fast path.
    fast: Fifo<P>,
    backlog: Backlog,
    /// The time of the first throttled flow, or [`NEVER`]. It may be past until the next dequeue.
    time_next_delayed_flow: u64,
    /// The time for which the timer is set. The timer fires `timer_slack` later.
    wake: Option<u64>,
    counts: Counts,
    kept: Option<P>,
}

impl<P: Packet> Discipline<P> for Fq<P> {
    const SPEC: QdiscSpec = QdiscSpec::new("fq", PARAMS)
        .changes(&[
            (
                Release::Linux6_12,
                "three bands with priomap and weights, and a fast path (since 6.7); release 6.1 has this law here, too, \
                 without the two words",
            ),
            (Release::Linux7_3, "an earlier packet moves the timer of its throttled flow forward"),
        ])
        .summary("One queue per flow in rounds, with pacing per flow (maxrate) and three bands of priorities")
        .source("tc-fq(8); Linux 7.3 (golden traces)")
        .settle(settle);

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let settings = Settings::new(args, link);
        let band = Band { new: List::EMPTY, old: List::EMPTY, credit: 0, packets: 0, drops: 0 };
        Ok(Self {
            flows: Flows::new(settings.buckets),
            settings,
            packets: Slab::default(),
            early: Order::new(),
            delayed: Order::new(),
            order: 0,
            bands: [band; BANDS],
            band: 0,
            fast: Fifo::default(),
            backlog: Backlog::default(),
            time_next_delayed_flow: NEVER,
            wake: None,
            counts: Counts::default(),
            kept: None,
        })
    }

    fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error> {
        let settings = Settings::new(args, link);
        if settings.buckets != self.settings.buckets {
            self.flows.resize(settings.buckets);
        }
        let is_smaller = settings.limit < self.settings.limit;
        self.settings = settings;
        // As in Linux, all packets together count against the limit of one band, and the packets of throttled flows
        // stay. Linux does it at each change.
        while is_smaller
            && self.backlog.packets > self.settings.limit
            && let Some(packet) = self.look().take().or_else(|| self.dequeue(now, owner))
        {
            owner.dropped(packet, Drop::Overlimit);
        }
        Ok(())
    }

    fn look(&mut self) -> Look<'_, P> {
        Look::Beside(&mut self.kept, &mut self.backlog)
    }
}

impl<P: Packet> Qdisc<P> for Fq<P> {
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, mut packet: P, owner: &mut O) -> Enqueued {
        packet.set_arrival(now);
        let now = now.as_nanos();
        let band = self.band_of(&packet);
        let home = &mut self.bands[usize::from(band)];
        if home.packets >= self.settings.limit {
            home.drops += 1;
            owner.dropped(packet, Drop::Overlimit);
            return Enqueued::Dropped;
        }
        let Some(time_to_send) = self.time_to_send(&packet, now) else {
            owner.dropped(packet, Drop::Overlimit);
            return Enqueued::Dropped;
        };
        if self.is_fast(&packet, time_to_send, now) {
            self.counts.fastpath += 1;
            self.count_in(packet.len());
            self.fast.push(packet);
            return Enqueued::Success;
        }
        let jiffies = flows::jiffies(now);
        let key = self.key(&packet);
        let index = self.flows.find(key, jiffies, self.settings.initial_quantum);
        let flow = &mut self.flows[index];
        if flow.packets >= self.settings.flow_limit {
            self.counts.flows_plimit += 1;
            owner.dropped(packet, Drop::Flow);
            return Enqueued::Dropped;
        }
        if flow.is_detached() {
            // Linux compares as unsigned numbers, so that debts stay.
            let quantum = self.settings.quantum;
            if (0..quantum).contains(&flow.credit) && flow.has_been_empty(jiffies, self.settings.refill_delay)
            {
                flow.credit = quantum;
            }
            let of_flow = usize::from(flow.band);
            self.bands[of_flow].new.push(&mut self.flows, index);
        }
        let flow = &mut self.flows[index];
        flow.band = band;
        flow.packets += 1;
        self.bands[usize::from(band)].packets += 1;
        self.flows.waiting += u32::from(self.flows[index].packets == 1);
        self.count_in(packet.len());
        self.add(index, Waiting { packet, time_to_send, band });
        Enqueued::Success
    }

    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        if self.backlog.packets == 0 {
            return None;
        }
        if let Some(packet) = self.fast.pop() {
            self.count_out(packet.len());
            return Some(packet);
        }
        let now = now.as_nanos();
        self.release(now);
        loop {
            let Some(is_new) = self.choose_list() else {
                self.set_timer();
                return None;
            };
            let band = &mut self.bands[self.band];
            let list = if is_new { &mut band.new } else { &mut band.old };
            let index = list.head();
            let flow = &mut self.flows[index];
            if flow.credit <= 0 {
                flow.credit += self.settings.quantum;
                list.shift(&mut self.flows);
                self.join_old(index);
                continue;
            }
            let Some(time) = self.time_of_head(index) else {
                list_of(&mut self.bands[self.band], is_new).shift(&mut self.flows);
                // A new flow first waits one round of the old flows, so that a trickle of packets cannot starve them.
                if is_new {
                    self.join_old(index);
                } else {
                    self.flows[index].detach(flows::jiffies(now));
                }
                continue;
            };
            let due = time.max(self.flows[index].time_next_packet);
            if now < due {
                list_of(&mut self.bands[self.band], is_new).shift(&mut self.flows);
                self.throttle(index, due);
                continue;
            }
            return self.send(index, now, due, owner);
        }
    }

    fn queues(&self) -> &'static [&'static str] {
        &BAND_NAMES[..BANDS]
    }

    #[inline]
    fn queue_of(&self, packet: &P) -> usize {
        self.band_of(packet).into()
    }

    fn is_work_conserving(&self) -> bool {
        false
    }

    fn paces_sockets(&self) -> bool {
        self.settings.pacing
    }

    fn next_timer(&self) -> Option<Instant> {
        self.wake.map(|time| Instant::from_nanos(time.saturating_add(self.settings.timer_slack)))
    }

    /// Forgets the time, and does nothing else: the link asks for a packet afterwards.
    fn on_timer<O: Owner<P>>(&mut self, now: Instant, _owner: &mut O) {
        if self.next_timer().is_some_and(|due| due <= now) {
            self.wake = None;
        }
    }

    fn prefetch(&self, flow_hash: u32) {
        self.flows.prefetch(flows::orphan(flow_hash & self.settings.orphan_mask));
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn probe(&self, probe: &mut dyn Probe) {
        let Counts { throttled, flows_plimit, ce_mark, horizon_drops, horizon_caps, fastpath } = self.counts;
        probe.integer("flows", self.flows.len().into());
        probe.integer("inactive", (self.flows.len() - self.flows.waiting).into());
        probe.integer("throttled", self.delayed.len() as i128);
        let next = self.time_next_delayed_flow;
        let moment = (next != NEVER).then(|| Moment::from(Instant::from_nanos(next)));
        probe.measured("time_next_delayed_flow", next.into(), Measure::Moment(moment));
        probe.integer("stat_throttled", throttled.into());
        probe.integer("flows_plimit", flows_plimit.into());
        probe.integer("ce_mark", ce_mark.into());
        probe.integer("horizon_drops", horizon_drops.into());
        probe.integer("horizon_caps", horizon_caps.into());
        probe.integer("fastpath", fastpath.into());
        probe.integer("fast_qlen", self.fast.len() as i128);
        probe.integer("band", self.band as i128);
        for (name, band) in ["band0", "band1", "band2"].into_iter().zip(&self.bands) {
            let Band { credit, packets, drops, .. } = band;
            probe.text(name, format!("{credit}:{packets}:{drops}"));
        }
    }
}

impl<P: Packet> Fq<P> {
    #[inline]
    fn band_of(&self, packet: &P) -> u8 {
        self.settings.priomap[usize::from(packet.priority() & 15)]
    }

    fn count_in(&mut self, len: u32) {
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(len);
    }

    fn count_out(&mut self, len: u32) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(len);
    }

    /// Returns the key of the packet's flow.
    fn key(&self, packet: &P) -> u64 {
        match packet.socket() {
            Some(socket) => flows::socket(socket.id),
            None => flows::orphan(packet.flow_hash() & self.settings.orphan_mask),
        }
    }

    /// Returns whether the packet may take the fast path: nobody competes, and no rate holds for it.
    fn is_fast(&self, packet: &P, time_to_send: u64, now: u64) -> bool {
        let nobody_competes = || {
            self.flows.waiting as usize == self.delayed.len()
                && self.fast.len() < MOST_FAST
                && self.time_next_delayed_flow > now
        };
        let is_paced = || packet.socket().is_some_and(|socket| !socket.is_tcp && socket.pacing.is_some());
        time_to_send <= now
            && (self.backlog.packets == 0 || nobody_competes())
            && self.settings.maxrate.is_none()
            && !is_paced()
    }

    /// Sends the first packet of the flow whose turn it is, which could leave at `due`.
    fn send<O: Owner<P>>(&mut self, index: u32, now: u64, due: u64, owner: &mut O) -> Option<P> {
        let Waiting { mut packet, band, .. } = self.take(index)?;
        let len = packet.len();
        self.count_out(len);
        if now - due > self.settings.ce_threshold {
            self.counts.ce_mark += 1;
            if packet.ecn().is_capable() && packet.ecn() != Ecn::Ce {
                packet.set_ce();
                owner.marked(&packet, Mark::CeThreshold);
            }
        }
        self.bands[usize::from(band)].packets -= 1;
        self.bands[self.band].credit = self.bands[self.band].credit.saturating_sub_unsigned(len);
        let flow = &mut self.flows[index];
        flow.credit = flow.credit.saturating_sub_unsigned(len);
        self.flows.waiting -= u32::from(self.flows[index].packets == 0);
        if self.settings.pacing {
            self.pace(index, now, &packet);
        }
        Some(packet)
    }
}
