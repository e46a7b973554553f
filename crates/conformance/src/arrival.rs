//! A packet of a decision trace, from the columns of an arrival.

use goodqueue_qdisc::Packet;
use goodqueue_qdisc::packet::Socket;
use goodqueue_units::{Ecn, Instant};

/// The packet of an `enq` line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) id: u64,
    pub(crate) len: u32,
    pub(crate) ecn: Ecn,
    /// The sender's number, which CHOKe compares.
    pub(crate) flow: u64,
    /// The classifier's hash, without the key that our discipline draws itself.
    pub(crate) hash: u32,
    /// The hosts' hashes.
    pub(crate) hosts: (u32, u32),
    /// The priority (fq, pfifo_fast, prio) or the codepoint (cake).
    pub(crate) prio: u8,
    /// The priority as Linux keeps it, which may be a class of a tree.
    pub(crate) class: u32,
    /// The mark of a firewall (trees).
    pub(crate) mark: u32,
    /// The earliest departure time (fq).
    pub(crate) departure: Option<Instant>,
    /// The socket (fq).
    pub(crate) socket: Option<Socket>,
    pub(crate) arrival: Instant,
}

impl Packet for Arrival {
    fn len(&self) -> u32 {
        self.len
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow_hash(&self) -> u32 {
        self.hash
    }
    fn flow_id(&self) -> u64 {
        self.flow
    }
    fn host_hashes(&self) -> (u32, u32) {
        self.hosts
    }
    fn dscp(&self) -> u8 {
        self.prio
    }
    fn priority(&self) -> u8 {
        self.prio
    }
    fn class(&self) -> u32 {
        self.class
    }
    fn fwmark(&self) -> u32 {
        self.mark
    }
    fn departure(&self) -> Option<Instant> {
        self.departure
    }
    fn socket(&self) -> Option<Socket> {
        self.socket
    }
    fn arrival(&self) -> Instant {
        self.arrival
    }
    fn set_arrival(&mut self, now: Instant) {
        self.arrival = now;
    }
}
