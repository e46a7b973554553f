//! Looking ahead: a pipe and the calendar tell whose turn is next, and so what the processor should fetch meanwhile
//! ([`processor`](goodqueue_units::processor)).

use super::Simulation;
use crate::component::Actor;
use crate::direction::{Direction, Side};
use crate::ids::{FlowId, LinkId, PipeId, Timer};
use goodqueue_qdisc::Qdisc;
use goodqueue_units::{Duration, processor::prefetch};

/// So many flows' connections stay in a cache, and need not be asked for before their turn comes.
const CACHED: usize = 256;

impl Simulation {
    /// Whether the connections do not stay in a cache.
    #[inline]
    pub(super) fn is_crowded(&self) -> bool {
        self.sockets.bulk.len() > CACHED
    }

    /// Asks the processor for what the packets behind the next one out of `pipe` are going to touch, in stages: what a
    /// packet, a connection, or a record is found by was asked for before.
    ///
    /// Gain: not measured as a whole; [`prefetch`] has that of its parts.
    #[inline(never)]
    pub(super) fn look_ahead(&self, direction: Direction, pipe: PipeId) {
        let (pipes, end) = (&self.links[LinkId::bottleneck(direction)].pipes, direction.receiver());
        pipes.prefetch(pipe, 4);
        if let Some(packet) = pipes.behind(pipe, 2) {
            let flow = packet.flow;
            // Who gets an ACK is the sender; the way says so, too, but would have to be waited for.
            let sends = packet.segment().is_some_and(|segment| segment.payload_len == 0);
            prefetch(&self.ways[flow]);
            self.sockets.bulk[flow].prefetch(end, sends);
        }
        if let Some(packet) = pipes.behind(pipe, 1) {
            self.ask_for_answer(packet.flow, end);
        }
    }

    /// The same, of flows whose timers are going to fire.
    ///
    /// Gain: with the calendar 1.2 times as many packets a CPU second with 10,000 flows, 1.4 times with 100,000
    /// (`537df8e`).
    #[inline(never)]
    pub(super) fn look_ahead_of_timers(&self) {
        let flow_behind = |places| match self.components.actor(self.agenda.behind(places)?) {
            Actor::Flow(flow, timer) => Some((flow, timer)),
            _ => None,
        };
        if let Some((flow, _)) = flow_behind(3) {
            prefetch(&self.ways[flow]);
        }
        if let Some((flow, timer)) = flow_behind(2) {
            let (end, bulk) = (self.ways[flow].end_of(timer), &self.sockets.bulk[flow]);
            match timer {
                Timer::Sender => prefetch(&bulk.ends[end]), // after a retransmission timeout, all of a sender is touched
                Timer::Receiver => bulk.prefetch(end, false),
            }
        }
        if let Some((flow, timer)) = flow_behind(1) {
            self.ask_for_answer(flow, self.ways[flow].end_of(timer));
        }
    }

    /// Asks the processor for the oldest segment that the end `end` of `flow` waits for, and for where what it sends is
    /// queued.
    #[inline(always)]
    fn ask_for_answer(&self, flow: FlowId, end: Side) {
        let way = end.sends();
        self.sockets.bulk[flow].ends[end].prefetch_oldest();
        self.links[LinkId::bottleneck(way)].qdisc.prefetch(self.ways[flow].hash[way]);
    }

    /// Asks the processor for what the sample `rtt` of `flow` is going to be counted in.
    ///
    /// Gain: not measured.
    #[inline(never)]
    pub(super) fn ask_for_cell(&self, flow: FlowId, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.sockets.bulk[flow].rtt.prefetch(rtt);
        }
    }
}
