//! Which shard of hosts has which flow, when a run is cut into parts.

use super::Simulation;
use crate::ids::FlowId;
use crate::lists::PerFlow;
use goodqueue_hosts::direction::Direction;

/// The work for a packet and its ACK: of the link of the data, of the link of the ACKs, and of both hosts. In cases
/// (iii) and (iv) of `goodqueue bench` these parts work for 108, 37 and 257 ms, and for 73, 22 and 278 ms.
const DATA: usize = 5;
const ACKS: usize = 2;
const HOSTS: usize = 13;

/// The shard of each flow.
#[derive(Clone)]
pub(super) struct Shards {
    of_flow: PerFlow<u32>,
    count: usize,
}

impl Shards {
    /// Shares the flows of `run` among one shard per thread. The first parts of the run have the links of `links`, the
    /// others are the shards, and the `threads` threads take the parts in turn. A thread that has a link gets fewer
    /// flows, so that all threads have about the same work. With two shards per thread, cases (iii) and (iv) of
    /// `goodqueue bench` take 3 and 4 % longer.
    pub(super) fn new(run: &Simulation, threads: usize, links: &[&[Direction]]) -> Self {
        let flows = run.flows.len();
        let count = threads.min(flows);
        let mut of_links = vec![0; threads];
        for (part, directions) in links.iter().enumerate() {
            let of_flow = |own: Direction| -> usize {
                directions.iter().map(|way| if *way == own { DATA } else { ACKS }).sum()
            };
            of_links[part % threads] += run.flows.iter().map(|flow| of_flow(flow.direction)).sum::<usize>();
        }
        // A thread whose links take its whole share gets some flows all the same, which others can take from it.
        let all = flows * (DATA + ACKS + HOSTS);
        let thread = |shard: usize| (links.len() + shard) % threads;
        let weight = |shard: usize| all.saturating_sub(threads * of_links[thread(shard)]).max(all / 4);
        let weights: Vec<_> = (0..count).map(|shard| weight(shard) as i64).collect();
        let total: i64 = weights.iter().sum();
        // Each flow goes to the shard that is furthest behind its share.
        let mut behind = vec![0; count];
        let mut next = || {
            behind.iter_mut().zip(&weights).for_each(|(behind, weight)| *behind += weight);
            let shard = (0..count).max_by_key(|shard| (behind[*shard], count - shard)).unwrap_or(0);
            behind[shard] -= total;
            shard as u32
        };
        Self { of_flow: (0..flows).map(|_| next()).collect(), count }
    }

    /// Returns the number of shards.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the shard that has `flow`.
    #[inline]
    pub(super) fn of(&self, flow: FlowId) -> usize {
        self.of_flow[flow] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    /// A thread with a costly link and as many flows as the others would be the one that all wait for.
    #[test]
    fn each_thread_has_the_same_work() {
        let scenario = r#"{"duration": "1s", "warmup": "0s", "seed": 1, "path": {"rtt": "20ms"},
            "bottleneck": {"rate": "10mbit", "qdisc": "pfifo"}, "traffic": [{"kind": "bulk", "count": 240}]}"#;
        let run = Simulation::new(Scenario::from_json(scenario).unwrap()).unwrap();
        let flows = |threads: usize, links: &[&[Direction]]| {
            let shards = Shards::new(&run, threads, links);
            let mut flows = vec![0; shards.count()];
            run.flows.numbers().for_each(|flow| flows[shards.of(flow)] += 1);
            flows
        };
        let [down, up] = [&[Direction::Down][..], &[Direction::Up][..]];
        // 5 + 13 * 92 / 240 and 2 + 13 * 148 / 240 are 10.
        assert_eq!(flows(2, &[down, up]), [92, 148]);
        // One part has both links, so the first shard belongs to the second thread.
        assert_eq!(flows(2, &[&Direction::ALL]), [185, 55]);
        // The last two of four shards belong to the threads of the links down and up.
        let four = flows(4, &[down, up]);
        assert!(four[2] < four[3] && four[3] < four[0], "{four:?}");
        assert_eq!(four.iter().sum::<i32>(), 240);
    }
}
