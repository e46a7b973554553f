//! Every TCP connection of a run: those of bulk transfers, which are there from its beginning to its end, and those
//! that applications open and close in its course: a slab, whose slots are used again.

use crate::direction::{Direction, Side};
use crate::ids::{FlowId, SocketId};
use crate::lists::{List, PerFlow, PerSide, PerWay};
use crate::probe::delay::FlowDelays;
use crate::tally::Totals;
use goodqueue_tcp::{Config, Connection};
use goodqueue_units::Instant;
use goodqueue_units::processor::{prefetch, prefetch_bytes};

/// How far an end has come, as far as an application cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Opening,
    Established,
    /// The other end has closed, and all of its data are here.
    Ending,
}

/// A connection of an application, both ends.
pub(crate) struct Socket {
    pub(crate) ends: PerSide<Connection>,
    /// When each end's timer fires, which the agenda would not tell as fast.
    pub(crate) timers: PerSide<Instant>,
    /// What the application was told last of each end.
    stages: PerSide<Stage>,
    /// Whether each end is to close once it is established and has sent what it may.
    closing: PerSide<bool>,
    /// The flow whose application it is of.
    pub(crate) flow: FlowId,
    /// What a classifier computes for its packets, a direction each; what tells it from the flow's other connections.
    pub(crate) hash: PerWay<u32>,
}

impl Socket {
    /// The stage of `end` when this was asked last, and now.
    pub(crate) fn advance(&mut self, end: Side) -> (Stage, Stage) {
        let connection = &self.ends[end];
        let stage = match (connection.is_established(), connection.is_peer_finished()) {
            (false, _) => Stage::Opening,
            (true, false) => Stage::Established,
            (true, true) => Stage::Ending,
        };
        (std::mem::replace(&mut self.stages[end], stage), stage)
    }

    /// `end` writes no more. A program's last write is segmented before its close is heard of (RFC 9293, 3.10.4,
    /// CLOSE), so FIN goes with the last byte only if that had to wait; else a tail that is lost has one segment more,
    /// and a probe of it repairs nothing.
    pub(crate) fn close(&mut self, end: Side) {
        self.closing[end] = true;
    }

    /// What `end` may send has left: whether it closes now, and so has a FIN to send.
    pub(crate) fn closes(&mut self, end: Side) -> bool {
        let closes = self.closing[end] && self.ends[end].is_established();
        if closes {
            self.closing[end] = false;
            self.ends[end].close();
        }
        closes
    }
}

/// A TCP connection that always has data to send.
pub(crate) struct Bulk {
    pub(crate) ends: PerSide<Connection>,
    /// Round-trip times as the sender measures them.
    pub(crate) rtt: FlowDelays,
}

impl Bulk {
    /// A transfer in `direction` that always has data to send, once it is started.
    pub(crate) fn new(config: Config, direction: Direction) -> Self {
        let sender = direction.sender();
        let mut ends = PerSide::of(|_| Connection::server(config.clone()));
        ends[sender] = Connection::client(config);
        ends[sender].write_unlimited();
        Self { ends, rtt: FlowDelays::new() }
    }

    /// One that is never opened, in the place of a flow that is no bulk transfer.
    pub(crate) fn idle() -> Self {
        Self::new(Config::default(), Direction::Down)
    }

    /// The end that sends, of a transfer in `direction`.
    pub(crate) fn sender(&self, direction: Direction) -> &Connection {
        &self.ends[direction.sender()]
    }

    /// Asks the processor for what a segment is going to touch for which `end` is meant, which `sends` or does not.
    #[inline]
    pub(crate) fn prefetch(&self, end: Side, sends: bool) {
        for bytes in Connection::hot_bytes(sends) {
            prefetch_bytes(&self.ends[end], bytes);
        }
        if sends {
            prefetch(&self.rtt);
        }
    }

    /// What a transfer in `direction` has done so far.
    pub(crate) fn totals(&self, direction: Direction) -> Totals {
        Totals {
            delivered_bytes: self.ends[direction.receiver()].delivered_bytes(),
            ..Totals::of_sender(self.sender(direction))
        }
    }
}

/// Every connection. They stand apart from their flows because with each packet nothing else of a flow is asked for.
#[derive(Default)]
pub(crate) struct Sockets {
    /// Those of bulk transfers, by the number of their flow, so that a packet tells without a second look where its
    /// connection is; of flows that are none, one that is never opened.
    pub(crate) bulk: PerFlow<Bulk>,
    slots: List<SocketId, Socket>,
    free: Vec<SocketId>,
}

impl Sockets {
    /// A new connection between two ends of `config`, which the end `opener` opens.
    pub(crate) fn open(
        &mut self,
        config: &Config,
        opener: Side,
        flow: FlowId,
        hash: PerWay<u32>,
    ) -> SocketId {
        let end = |end| {
            let make = if end == opener { Connection::client } else { Connection::server };
            make(config.clone())
        };
        let (ends, timers) = (PerSide::of(end), PerSide::of(|_| Instant::MAX));
        let (stages, closing) = (PerSide::of(|_| Stage::Opening), PerSide::of(|_| false));
        let socket = Socket { ends, timers, stages, closing, flow, hash };
        if let Some(id) = self.free.pop() {
            self[id] = socket;
            return id;
        }
        self.slots.push(socket)
    }

    /// The slot may be used again.
    pub(crate) fn release(&mut self, id: SocketId) {
        self.free.push(id);
    }

    /// How many slots for applications' connections there are.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }
}

impl std::ops::Index<SocketId> for Sockets {
    type Output = Socket;
    #[inline]
    fn index(&self, id: SocketId) -> &Socket {
        &self.slots[id]
    }
}

impl std::ops::IndexMut<SocketId> for Sockets {
    #[inline]
    fn index_mut(&mut self, id: SocketId) -> &mut Socket {
        &mut self.slots[id]
    }
}

#[cfg(test)]
mod tests {
    use crate::{Scenario, Simulation};

    /// Else a day of short transfers would not fit in memory.
    #[test]
    fn thousands_of_transfers_take_turns_in_few_slots() {
        let scenario = Scenario::from_json(
            r#"{"duration": "300s", "bottleneck": {"rate": "10mbit", "qdisc": "fq_codel"}, "path": {"rtt": "10ms"},
                "traffic": [{"kind": "transfer", "size": "1kB", "interval": "1ms", "count": 2}]}"#,
        );
        let mut simulation = Simulation::new(scenario.unwrap()).unwrap();
        simulation.run();
        let begun: u64 = simulation.record().flows.iter().map(|flow| flow.bytes_sent.unwrap() / 1000).sum();
        assert!(begun > 20_000, "{begun}");
        assert!(simulation.sockets.len() <= 6, "{} slots", simulation.sockets.len());
    }

    /// Of 36 000 connections of web traffic in an hour, few are open at a time: those of clients that read for long.
    #[test]
    fn an_hour_of_web_traffic_fits_in_few_slots() {
        let scenario = Scenario::from_json(
            r#"{"duration": "3600s", "bottleneck": {"rate": "10mbit", "qdisc": "fq_codel"}, "path": {"rtt": "10ms"},
                "traffic": [{"kind": "packmime", "rate": 10}]}"#,
        );
        let mut simulation = Simulation::new(scenario.unwrap()).unwrap();
        simulation.run();
        let begun =
            simulation.record().apps[0].result::<crate::record::PackmimeResult>().unwrap().connections;
        assert!((30_000..42_000).contains(&begun), "{begun}");
        assert!(simulation.sockets.len() <= 100, "{} slots", simulation.sockets.len());
    }
}
