//! The interfaces of a cell that send in one direction, and what is counted of their packets.

use super::lane::Lane;
use super::node::{Above, Node};
use super::session::Queued;
use super::standard::{Category, Timing};
use crate::foreign::Discipline;
use crate::ledger::{Ledger, Queue};
use crate::packet::Packet;
use goodqueue_hosts::probe::delay::QueueDelays;
use goodqueue_qdisc::{Enqueued, Packet as _, Qdisc};
use goodqueue_units::{Duration, Instant};

/// The access point, or all stations. Their queues count as one.
pub(crate) struct Senders {
    pub(super) nodes: Vec<Node>,
    /// When the discipline of each interface wants to be called.
    timers: Vec<Instant>,
    /// Here a packet's transmission begins when it goes on the air for the first time.
    pub(super) ledger: Ledger,
    /// The part of the packets' delays below the discipline.
    below: QueueDelays,
    /// The time in which frames of this direction, with their answers, were on the air.
    pub(super) airtime: Duration,
}

impl Senders {
    pub(crate) fn new(nodes: Vec<Node>, ledger: Ledger) -> Self {
        let timers = vec![Instant::MAX; nodes.len()];
        Self { nodes, timers, ledger, below: QueueDelays::new(), airtime: Duration::ZERO }
    }

    /// Gives `packet`, which is for `peer`, to the interface `node`. Returns the answer of its discipline.
    pub(super) fn offer(
        &mut self,
        now: Instant,
        node: usize,
        peer: u32,
        category: Category,
        packet: Packet,
    ) -> Enqueued {
        self.ledger.offered += 1;
        if let Some(watch) = &mut self.ledger.fates.watch {
            watch.offered(now, packet);
        }
        self.nodes[node].enqueue(now, peer, category, packet, &mut self.ledger.fates)
    }

    /// Does what [`Node::fill`] does, for the interface `node`.
    pub(super) fn fill(
        &mut self,
        now: Instant,
        node: usize,
        timing: &Timing,
        to: impl Fn(&Packet) -> (u32, Category),
    ) {
        self.ledger.fates.at(now);
        self.nodes[node].fill(now, timing, &mut self.ledger.fates, to);
    }

    /// Returns when a discipline wants to be called next.
    pub(super) fn next_timer(&self) -> Instant {
        self.timers.iter().copied().min().unwrap_or(Instant::MAX)
    }

    pub(super) fn plan_timer(&mut self, now: Instant, node: usize) {
        if let Above::Qdisc(qdisc, _) = &self.nodes[node].above {
            self.timers[node] = qdisc.next_timer().map_or(Instant::MAX, |due| due.max(now));
        }
    }

    /// Calls the discipline of `node`, if it wants that by now. Returns whether it does.
    pub(super) fn on_timer(&mut self, now: Instant, node: usize) -> bool {
        let is_due = self.timers[node] <= now;
        if is_due && let Above::Qdisc(qdisc, _) = &mut self.nodes[node].above {
            self.ledger.fates.at(now);
            qdisc.on_timer(now, &mut self.ledger.fates);
        }
        is_due
    }

    /// Begins the next transmission of `node` in `category`. Counts the packets that go on the air for the first time.
    pub(super) fn start(&mut self, now: Instant, node: usize, category: Category) {
        let Self { nodes, ledger, below, .. } = self;
        nodes[node].start(category, |Queued { packet, since, .. }| {
            let delay = ledger.forwarded.count(now, &packet, packet.len());
            below.record(now.since(since));
            if let Some(watch) = &mut ledger.fates.watch {
                watch.started(now, packet, delay);
            }
        });
    }
}

impl Queue for Senders {
    fn ledger(&self) -> &Ledger {
        &self.ledger
    }
    fn ledger_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
    /// Returns the discipline of the first station. The series shows the packets of all stations.
    fn discipline(&self) -> Option<&Discipline> {
        match &self.nodes.first()?.above {
            Above::Qdisc(qdisc, _) => Some(qdisc),
            Above::Txqs(_) => None,
        }
    }
    fn waiting(&self) -> u32 {
        u32::try_from(self.queued()).unwrap_or(u32::MAX)
    }
    fn queued(&self) -> u64 {
        self.nodes.iter().map(Node::unsent).sum()
    }
    /// Returns the packets that the drivers hold.
    fn below(&self) -> Option<(&QueueDelays, u64)> {
        Some((&self.below, self.nodes.iter().flat_map(Node::lanes).map(Lane::pending).sum()))
    }
    fn below_mut(&mut self) -> Option<&mut QueueDelays> {
        Some(&mut self.below)
    }
    fn busy_until(&self, _now: Instant) -> Duration {
        self.airtime
    }
    /// Returns the percentage of the time in which frames of this direction were on the air.
    fn utilisation_percent(&self, since: Instant, now: Instant) -> f64 {
        let used = self.airtime.saturating_sub(self.ledger.measured.baseline.busy).as_secs_f64();
        let time = now.since(since).as_secs_f64();
        if time > 0.0 { (100.0 * used / time).min(100.0) } else { 0.0 }
    }
}
