//! Packets from outside the run: packets of real programs that cross the path in its time.
//!
//! The path sees only those fields of such a packet that a queue discipline may ask for. They stand in an
//! [`Envelope`], to which the packet points on its way. The owner of the packet keeps its bytes, and learns from the
//! envelope when the packet is no longer on its way.

use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::traffic::kind::{Kind, Make};
use goodqueue_qdisc::{IpHeader, TcpHeader};
use goodqueue_units::{Duration, Ecn, Instant};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// The kind of such packets. Only scenarios of [`crate::Scenario::open`] may name it.
pub(crate) const KIND: Kind = Kind {
    is_probe: true, // whoever puts the packets in knows what they belong to
    ..Kind::new("outside", "packets of real programs", Make::Outside)
};

/// The fields of a packet that a path sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// Length in bytes as `tc` counts it: on Ethernet, with the Ethernet header.
    pub len: u16,
    /// ECN codepoint.
    pub ecn: Ecn,
    /// Differentiated services codepoint.
    pub dscp: u8,
    /// Hash of addresses, ports and protocol. `None`: that of the run's flow.
    pub flow_hash: Option<u32>,
    /// Hashes of the source and of the destination host. `None`: the hosts of the run's flow.
    pub host_hashes: Option<(u32, u32)>,
    /// The TCP header, if it is TCP.
    pub tcp: Option<TcpHeader>,
    /// The headers that filters of a tree compare. `None`: those of the run's flow.
    pub ip: Option<IpHeader>,
}

/// The headers of a packet while it is on its way. Packets are copied, so no packet could own its envelope: the run
/// has them ([`Envelopes`]).
#[derive(Debug, Default)]
pub struct Envelope {
    /// Its number within the run.
    number: AtomicU32,
    /// Packets on their way with these headers: 1, more after a wire duplicated the packet, 0 after it arrived or was
    /// lost.
    copies: AtomicU32,
    headers: Mutex<Headers>,
}

impl Envelope {
    /// Returns the number by which the owner knows the packet: from 0, without gaps in a run.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    /// Returns whether no packet with this envelope is on its way.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.copies.load(Ordering::Relaxed) == 0
    }

    /// Returns the headers.
    #[must_use]
    pub fn headers(&self) -> Headers {
        *self.headers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the headers of a packet in, at the start of its way.
    pub(crate) fn fill(&self, headers: Headers) {
        *self.headers.lock().unwrap_or_else(PoisonError::into_inner) = headers;
        self.copies.store(1, Ordering::Relaxed);
    }

    /// Counts a duplicate of the packet.
    pub(crate) fn doubled(&self) {
        self.copies.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the way of one packet: it was lost, or its owner has taken it from the [`Arrival`].
    pub fn over(&self) {
        self.copies.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The envelopes of a run.
#[derive(Default)]
pub(crate) struct Envelopes {
    all: Vec<&'static Envelope>,
    /// Where the search for a free envelope continues.
    next: usize,
}

/// Envelopes that are examined before another one is taken. A run has at most about this many more envelopes than
/// packets under way.
const LOOKS: usize = 32;

/// Envelopes without a run. They are used again by the next run, so that a process has as many as were ever in use at
/// once.
static SHELF: Mutex<Vec<&'static Envelope>> = Mutex::new(Vec::new());

impl Envelopes {
    /// Returns a free envelope.
    pub(crate) fn free(&mut self) -> &'static Envelope {
        for _ in 0..LOOKS.min(self.all.len()) {
            self.next = if self.next + 1 < self.all.len() { self.next + 1 } else { 0 };
            if self.all[self.next].is_free() {
                return self.all[self.next];
            }
        }
        let used = SHELF.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let envelope = used.unwrap_or_else(|| Box::leak(Box::default()));
        envelope.number.store(self.all.len() as u32, Ordering::Relaxed);
        self.all.push(envelope);
        envelope
    }
}

impl Drop for Envelopes {
    /// Puts the envelopes back. The run ends with them, and the packets under way end with the run.
    fn drop(&mut self) {
        self.all.iter().for_each(|envelope| envelope.copies.store(0, Ordering::Relaxed));
        SHELF.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.all);
    }
}

/// The way of packets from outside.
#[derive(Clone, Debug, Default)]
pub struct OutsideRoute {
    /// Base round-trip time, if it differs from the path's.
    pub rtt: Option<Duration>,
    /// The names of the hops that they cross, if they do not cross all.
    pub hops: Option<Vec<String>>,
}

/// A packet that has arrived at the other end.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When it arrived.
    pub time: Instant,
    /// The direction in which it went.
    pub direction: Direction,
    /// The envelope that it was sent with.
    pub envelope: &'static Envelope,
    /// Its ECN codepoint now.
    pub ecn: Ecn,
    /// Its differentiated services codepoint now.
    pub dscp: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run takes three envelopes and ends while the packets are under way. Guards against memory that grows with
    /// each run, and against an envelope of which the next run believes that its packet is still under way.
    #[test]
    fn the_envelopes_of_a_run_serve_the_next_one() {
        let mut known: Vec<*const Envelope> = Vec::new();
        for run in 0..3 {
            let mut envelopes = Envelopes::default();
            for number in 0..3 {
                let envelope = envelopes.free();
                assert!(envelope.is_free() && envelope.number() == number, "run {run}");
                envelope.fill(Headers::default());
                let at = std::ptr::from_ref(envelope);
                assert_eq!(known.contains(&at), run > 0);
                known.extend((run == 0).then_some(at));
            }
        }
    }
}
