//! Packets from outside the run: packets of real programs that cross the path in its time.
//!
//! The path sees only those fields of such a packet that a queue discipline may ask for. They stand in an
//! [`Envelope`], to which the packet points on its way. The owner of the packet keeps its bytes, and learns from the
//! envelope when the packet is no longer on its way.

use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::traffic::kind::{Kind, Make};
use goodqueue_qdisc::TcpHeader;
use goodqueue_units::{Duration, Ecn, Instant};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// The kind of such packets. No scenario names it: see [`crate::Scenario::open`].
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
    /// Hash of addresses, ports and protocol.
    pub flow_hash: u32,
    /// Hashes of the source and of the destination host.
    pub host_hashes: (u32, u32),
    /// The TCP header, if it is TCP.
    pub tcp: Option<TcpHeader>,
}

/// The headers of a packet while it is on its way. Envelopes are used again and are never freed: packets are copied,
/// so no packet could own its envelope.
#[derive(Debug)]
pub struct Envelope {
    /// The number by which the owner knows the packet.
    pub number: u32,
    /// Packets on their way with these headers: 1, more after a wire duplicated the packet, 0 after it arrived or was
    /// lost.
    copies: AtomicU32,
    headers: Mutex<Headers>,
}

impl Envelope {
    /// Builds a free envelope.
    #[must_use]
    pub fn new(number: u32) -> Self {
        Self { number, copies: AtomicU32::new(0), headers: Mutex::default() }
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
