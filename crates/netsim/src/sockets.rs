//! Every TCP connection of a run: those of bulk transfers, which are there from its beginning to its end, and those that
//! applications open and close in its course: a slab, whose slots are used again.

use crate::traffic::bulk::Bulk;
use goodqueue_tcp::{Config, Connection};
use goodqueue_units::Instant;

/// The index of the user's end in [`Socket::ends`]: an end stands where the direction does that it hears.
pub(crate) const USER: usize = 0;
/// The index of the far end.
pub(crate) const REMOTE: usize = 1;

/// The number of a connection's slot; another connection may get it once this one is over.
pub(crate) type SocketId = u32;

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
    pub(crate) ends: [Connection; 2],
    /// When each end's timer fires, which the agenda would not tell as fast.
    pub(crate) timers: [Instant; 2],
    /// Of each end, what the application was told last.
    stages: [Stage; 2],
    /// Of each end, whether it is to close once it is established and has sent what it may.
    closing: [bool; 2],
    /// The flow whose application it is of.
    pub(crate) flow: u32,
    /// What a classifier computes for its packets, a direction each; what tells it from the flow's other connections.
    pub(crate) hash: [u32; 2],
}

impl Socket {
    /// The stage of `end` when this was asked last, and now.
    pub(crate) fn advance(&mut self, end: usize) -> (Stage, Stage) {
        let connection = &self.ends[end];
        let stage = match (connection.is_established(), connection.is_peer_finished()) {
            (false, _) => Stage::Opening,
            (true, false) => Stage::Established,
            (true, true) => Stage::Ending,
        };
        (std::mem::replace(&mut self.stages[end], stage), stage)
    }

    /// `end` writes no more. A program's last write is segmented before its close is heard of (RFC 9293, 3.10.4, CLOSE), so
    /// FIN goes with the last byte only if that had to wait; else a tail that is lost has one segment more, and a probe
    /// of it repairs nothing.
    pub(crate) fn close(&mut self, end: usize) {
        self.closing[end] = true;
    }

    /// What `end` may send has left: whether it closes now, and so has a FIN to send.
    pub(crate) fn closes(&mut self, end: usize) -> bool {
        let closes = self.closing[end] && self.ends[end].is_established();
        if closes {
            self.closing[end] = false;
            self.ends[end].close();
        }
        closes
    }
}

/// Every connection. They stand apart from their flows because with each packet nothing else of a flow is asked for.
#[derive(Default)]
pub(crate) struct Sockets {
    /// Those of bulk transfers, by the number of their flow, so that a packet tells without a second look where its connection
    /// is; of flows that are none, one that is never opened.
    pub(crate) bulk: Vec<Bulk>,
    slots: Vec<Socket>,
    free: Vec<SocketId>,
}

impl Sockets {
    /// A new connection between two ends of `config`, which the end `opener` opens.
    pub(crate) fn open(&mut self, config: &Config, opener: usize, flow: u32, hash: [u32; 2]) -> SocketId {
        let end = |end| {
            let make = if end == opener { Connection::client } else { Connection::server };
            make(config.clone())
        };
        let (ends, timers) = ([end(USER), end(REMOTE)], [Instant::MAX; 2]);
        let socket = Socket { ends, timers, stages: [Stage::Opening; 2], closing: [false; 2], flow, hash };
        if let Some(id) = self.free.pop() {
            self[id] = socket;
            return id;
        }
        self.slots.push(socket);
        self.slots.len() as SocketId - 1
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
        &self.slots[id as usize]
    }
}

impl std::ops::IndexMut<SocketId> for Sockets {
    #[inline]
    fn index_mut(&mut self, id: SocketId) -> &mut Socket {
        &mut self.slots[id as usize]
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
