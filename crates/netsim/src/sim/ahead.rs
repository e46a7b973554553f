//! Looking ahead: a pipe tells whose turn is next, and so what the processor should fetch meanwhile.

use super::Simulation;
use crate::scenario::Direction;
use goodqueue_qdisc::Qdisc;
use goodqueue_units::Duration;

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
        if let Some(flow) = pipes.flow_behind(pipe / 2, 2) {
            let sends = Direction::ALL[end] != self.ways[flow as usize].direction;
            self.sockets.bulk[flow as usize].prefetch(end, sends);
        }
        if let Some(flow) = pipes.flow_behind(pipe / 2, 1) {
            self.sockets.bulk[flow as usize].ends[end].prefetch_oldest();
            self.links[1 - end].qdisc.prefetch(self.ways[flow as usize].hash[1 - end]);
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
