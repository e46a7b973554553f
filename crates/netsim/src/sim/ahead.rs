//! Looking ahead: a pipe tells whose turn is next, and so what the processor should fetch meanwhile.

use super::Simulation;
use goodqueue_qdisc::Qdisc;
use goodqueue_units::{Duration, prefetch};

/// So many flows' connections stay in a cache, and need not be asked for before their turn comes.
const CACHED: usize = 256;

impl Simulation {
    /// Whether the connections do not stay in a cache.
    #[inline]
    pub(super) fn is_crowded(&self) -> bool {
        self.sockets.bulk.len() > CACHED
    }

    /// Asks the processor for what the packets behind the next one out of `pipe` are going to touch, in stages: what a packet, a
    /// connection, or a record is found by was asked for before.
    #[inline(never)]
    pub(super) fn look_ahead(&self, pipe: usize) {
        let (pipes, end) = (&self.links[pipe % 2].pipes, pipe % 2);
        pipes.prefetch(pipe / 2, 4);
        if let Some(packet) = pipes.behind(pipe / 2, 2) {
            let flow = packet.flow as usize;
            // Who gets an ACK is the sender; the way says so, too, but would have to be waited for.
            let sends = packet.segment().is_some_and(|segment| segment.payload_len == 0);
            prefetch(&self.ways[flow]);
            self.sockets.bulk[flow].prefetch(end, sends);
        }
        if let Some(packet) = pipes.behind(pipe / 2, 1) {
            let flow = packet.flow as usize;
            self.sockets.bulk[flow].ends[end].prefetch_oldest();
            self.links[1 - end].qdisc.prefetch(self.ways[flow].hash[1 - end]);
        }
    }

    /// The same, of flows whose timers are going to fire.
    #[inline(never)]
    pub(super) fn look_ahead_of_timers(&self) {
        let flow_behind = |places| {
            let timer = self.agenda.behind(places)?.checked_sub(self.timer(0, 0))? as usize;
            (timer < 2 * self.flows.len()).then_some((timer / 2, timer % 2))
        };
        if let Some((flow, _)) = flow_behind(3) {
            prefetch(&self.ways[flow]);
        }
        if let Some((flow, timer)) = flow_behind(2) {
            let (end, bulk) = (self.ways[flow].end_of(timer), &self.sockets.bulk[flow]);
            match timer {
                0 => prefetch(&bulk.ends[end]), // after a retransmission timeout, all of a sender is touched
                _ => bulk.prefetch(end, false),
            }
        }
        if let Some((flow, timer)) = flow_behind(1) {
            let end = self.ways[flow].end_of(timer);
            self.sockets.bulk[flow].ends[end].prefetch_oldest();
            self.links[1 - end].qdisc.prefetch(self.ways[flow].hash[1 - end]);
        }
    }

    /// Asks the processor for what the sample `rtt` of flow `index` is going to be counted in.
    #[inline(never)]
    pub(super) fn ask_for_cell(&self, index: usize, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.sockets.bulk[index].rtt.prefetch(rtt);
        }
    }
}
