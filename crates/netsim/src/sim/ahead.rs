//! Looking ahead: the pipes and the calendar show which component acts next, and so what the processor should fetch
//! meanwhile ([`processor`](goodqueue_units::processor)).

use super::Simulation;
use super::flow_path::FlowPath;
use crate::agenda::Agenda;
use crate::component::{Actor, Components};
use crate::flow::Source;
use crate::ids::{FlowId, LinkId, PipeId, Timer};
use crate::lists::PerFlow;
use crate::sockets::Bulk;
use goodqueue_hosts::direction::Direction;
use goodqueue_qdisc::Qdisc;
use goodqueue_units::Duration;
use goodqueue_units::processor::{PREFETCHES, prefetch};

/// The connections of this number of flows stay in a cache and need no prefetch.
const CACHED: usize = 256;

/// So do the connections of applications up to this number of slots, most of which have ended.
const CACHED_SLOTS: usize = 4096;

impl Simulation {
    /// Returns whether there are too many connections to stay in a cache, and a packet tells which one it is for: a
    /// packet of an application has to look that up.
    #[inline]
    pub(super) fn is_crowded(&self) -> bool {
        self.flows.len() > CACHED && self.sockets.len() == 0
    }

    /// Prefetches what the packets behind the next one out of `pipe` are going to touch. This works in stages: an
    /// earlier call has prefetched what is needed to find a packet, a connection or a record.
    ///
    /// Gain: not measured as a whole; [`prefetch`] has the gain of its parts.
    #[inline(never)]
    pub(super) fn look_ahead(&self, direction: Direction, pipe: PipeId) {
        let (pipes, end) = (&self.links[LinkId::bottleneck(direction)].pipes, direction.receiver());
        pipes.prefetch(pipe, 4);
        if let Some(packet) = pipes.behind(pipe, 2) {
            let flow = packet.flow;
            // The end that gets an ACK is the sender. The way has this, too, but the processor would have to wait for
            // it.
            let sends = packet.segment().is_some_and(|segment| segment.payload_len == 0);
            prefetch(&self.flow_paths[flow]);
            if let Some(bulk) = self.sockets.bulk.get(flow) {
                bulk.prefetch(end, sends);
            }
        }
        if let Some(packet) = pipes.behind(pipe, 1) {
            if let Some(bulk) = self.sockets.bulk.get(packet.flow) {
                bulk.ends[end].prefetch_oldest();
            }
            let direction = end.sends();
            let qdisc = &self.links[LinkId::bottleneck(direction)].qdisc;
            qdisc.prefetch(self.flow_paths[packet.flow].hash[direction]);
        }
    }

    /// Returns whether there are too many connections of applications to stay in a cache.
    #[inline]
    pub(super) fn has_many_sockets(&self) -> bool {
        PREFETCHES && self.sockets.len() > CACHED_SLOTS
    }

    /// Does what [`look_ahead`](Self::look_ahead) does, for packets of applications. Each stage finds what the one
    /// before it has prefetched: where the connection is, the connection and its application, and what these point to.
    ///
    /// Gain: see "Many subscribers" in `docs/results/benchmarks.md`.
    #[inline(never)]
    pub(super) fn look_ahead_of_sockets(&self, direction: Direction, pipe: PipeId) {
        let pipes = &self.links[LinkId::bottleneck(direction)].pipes;
        let behind = |places| pipes.behind(pipe, places).map(|packet| (packet, packet.flow, packet.hash));
        pipes.prefetch(pipe, 16);
        if let Some((_, flow, hash)) = behind(7) {
            self.sockets.prefetch_entry(flow, direction, hash);
            prefetch(&self.flow_paths[flow]);
            prefetch(&self.flows[flow].source);
        }
        if let Some((packet, flow, hash)) = behind(4) {
            if let Some(socket) = self.sockets.find(flow, direction, hash).and_then(|id| self.sockets.get(id))
            {
                let sends = packet.segment().is_some_and(|segment| segment.payload_len == 0);
                socket.prefetch(direction.receiver(), sends);
            }
            if let Source::App(app) = &self.flows[flow].source {
                prefetch(&**app);
            }
        }
        if let Some((_, flow, hash)) = behind(2) {
            if let Some(socket) = self.sockets.find(flow, direction, hash).and_then(|id| self.sockets.get(id))
            {
                socket.ends[direction.receiver()].prefetch_oldest();
            }
            if let Source::App(app) = &self.flows[flow].source {
                app.prefetch_program();
            }
        }
    }

    /// Does the same for the connections of applications whose timers are going to fire.
    #[inline(never)]
    pub(super) fn look_ahead_of_socket_timers(&self) {
        let behind = |places| match self.components.actor(self.agenda.behind(places)?) {
            Actor::Socket(id, end) => Some((self.sockets.get(id)?, end)),
            _ => None,
        };
        if let Some((socket, end)) = behind(3) {
            socket.prefetch(end, true);
        }
        if let Some((socket, _)) = behind(2) {
            prefetch(&self.flow_paths[socket.flow]);
            prefetch(&self.flows[socket.flow].source);
        }
        if let Some((socket, end)) = behind(1) {
            socket.ends[end].prefetch_oldest();
            if let Source::App(app) = &self.flows[socket.flow].source {
                prefetch(&**app);
            }
        }
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

/// Prefetches what the flows are going to touch whose timers fire next, as [`Simulation::look_ahead`] does.
///
/// Gain: with the calendar 1.2 times as many packets per CPU second with 10,000 flows, 1.4 times with 100,000
/// (`537df8e`). In the loop of hosts, 1.05 times as many with 10,000 (medians of eleven runs in turns).
#[inline(never)]
pub(super) fn look_ahead_of_timers(
    agenda: &Agenda,
    components: Components,
    flow_paths: &PerFlow<FlowPath>,
    bulk: &PerFlow<Bulk>,
) {
    let behind = |places| match components.actor(agenda.behind(places)?) {
        Actor::Flow(flow, timer) => Some((flow, timer)),
        _ => None,
    };
    if let Some((flow, _)) = behind(3) {
        prefetch(&flow_paths[flow]);
    }
    if let Some((flow, timer)) = behind(2)
        && let Some(bulk) = bulk.get(flow)
    {
        let end = flow_paths[flow].end_of(timer);
        match timer {
            Timer::Sender => prefetch(&bulk.ends[end]), // a retransmission timeout touches all of a sender
            Timer::Receiver => bulk.prefetch(end, false),
        }
    }
    if let Some((flow, timer)) = behind(1)
        && let Some(bulk) = bulk.get(flow)
    {
        bulk.ends[flow_paths[flow].end_of(timer)].prefetch_oldest();
    }
}
