//! Looking ahead: the pipes and the calendar show which component acts next, and so what the processor should fetch
//! meanwhile ([`processor`](goodqueue_units::processor)).

use super::Simulation;
use crate::component::Actor;
use crate::flow::Source;
use crate::ids::{FlowId, LinkId, PipeId, Timer};
use crate::packet::Packet;
use goodqueue_hosts::direction::{Direction, Side};
use goodqueue_qdisc::Qdisc;
use goodqueue_units::{Duration, processor::prefetch};

/// The connections of this number of flows stay in a cache and need no prefetch.
const CACHED: usize = 256;

impl Simulation {
    /// Returns whether there are too many connections to stay in a cache.
    #[inline]
    pub(super) fn is_crowded(&self) -> bool {
        self.sockets.bulk.len() > CACHED
    }

    /// Prefetches what the packets behind the next one out of `pipe` are going to touch. This works in stages: an
    /// earlier call has prefetched what is needed to find a packet, a connection or a record.
    ///
    /// Gain: not measured as a whole; [`prefetch`] has the gain of its parts. For applications, 3000 subscribers take
    /// about a tenth less of the processor (`docs/benchmarks.md`, "Many subscribers").
    #[inline(never)]
    pub(super) fn look_ahead(&self, direction: Direction, pipe: PipeId) {
        let (pipes, end) = (&self.links[LinkId::bottleneck(direction)].pipes, direction.receiver());
        // The end that gets an ACK is the sender.
        let sends = |packet: &Packet| packet.segment().is_some_and(|segment| segment.payload_len == 0);
        let is_bulk = |packet: &Packet| self.flow_paths[packet.flow].is_bulk;
        let app_of = |packet: &Packet| match &self.flows[packet.flow].source {
            Source::App(app) => Some(app),
            _ => None,
        };
        pipes.prefetch(pipe, 5);
        if let Some(packet) = pipes.behind(pipe, 4) {
            prefetch(&self.flow_paths[packet.flow]);
        }
        if let Some(packet) = pipes.behind(pipe, 3)
            && !is_bulk(packet)
        {
            prefetch(&self.flows[packet.flow].source); // transfers need nothing of their flow
        }
        if let Some(packet) = pipes.behind(pipe, 2) {
            if is_bulk(packet) {
                self.sockets.bulk[packet.flow].prefetch(end, sends(packet));
            } else if let Some(app) = app_of(packet) {
                app.prefetch();
            }
        }
        if let Some(packet) = pipes.behind(pipe, 1) {
            if is_bulk(packet) {
                self.ask_for_answer(packet.flow, end);
            } else if let Some(id) = app_of(packet).and_then(|app| app.socket(direction, packet.hash)) {
                self.sockets[id].prefetch(end, sends(packet));
            }
        }
    }

    /// Does the same for flows whose timers are going to fire.
    ///
    /// Gain: with the calendar 1.2 times as many packets per CPU second with 10,000 flows, 1.4 times with 100,000
    /// (`537df8e`).
    #[inline(never)]
    pub(super) fn look_ahead_of_timers(&self) {
        let flow_behind = |places| match self.components.actor(self.agenda.behind(places)?) {
            Actor::Flow(flow, timer) => Some((flow, timer)),
            _ => None,
        };
        if let Some((flow, _)) = flow_behind(3) {
            prefetch(&self.flow_paths[flow]);
        }
        if let Some((flow, timer)) = flow_behind(2) {
            let (end, bulk) = (self.flow_paths[flow].end_of(timer), &self.sockets.bulk[flow]);
            match timer {
                Timer::Sender => prefetch(&bulk.ends[end]), // a retransmission timeout touches all of a sender
                Timer::Receiver => bulk.prefetch(end, false),
            }
        }
        if let Some((flow, timer)) = flow_behind(1) {
            self.ask_for_answer(flow, self.flow_paths[flow].end_of(timer));
        }
    }

    /// Prefetches the oldest segment for which the end `end` of `flow` waits, and the queue of the packets that it
    /// sends.
    #[inline(always)]
    fn ask_for_answer(&self, flow: FlowId, end: Side) {
        let direction = end.sends();
        self.sockets.bulk[flow].ends[end].prefetch_oldest();
        self.links[LinkId::bottleneck(direction)].qdisc.prefetch(self.flow_paths[flow].hash[direction]);
    }

    /// Prefetches the counter of the sample `rtt` of `flow`.
    ///
    /// Gain: not measured.
    #[inline(never)]
    pub(super) fn ask_for_cell(&self, flow: FlowId, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.sockets.bulk[flow].rtt.prefetch(rtt);
        }
    }
}
