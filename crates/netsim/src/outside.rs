//! Packets that come from outside the run: those of real programs, which cross the path in its time.
//!
//! The path sees of such a packet what a queue discipline may ask for. That stands in an [`Envelope`], which the packet
//! points to on its way; who owns the packet keeps its bytes, and learns from the envelope when it is no longer under
//! way.

use crate::direction::Direction;
use goodqueue_qdisc::TcpHeader;
use goodqueue_units::{Duration, Ecn, Instant};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// What a path sees of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// Bytes as `tc` counts them: on Ethernet, with its header.
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

/// A packet's headers for the time of its way. Envelopes are used again, and last as long as the program: packets are
/// copied, and none of them could own one.
#[derive(Debug)]
pub struct Envelope {
    /// By it the owner knows the packet.
    pub number: u32,
    /// Packets under way with these headers: 1, more where a wire doubled it, none when it has arrived or is lost.
    copies: AtomicU32,
    headers: Mutex<Headers>,
}

impl Envelope {
    /// One that is free.
    #[must_use]
    pub fn new(number: u32) -> Self {
        Self { number, copies: AtomicU32::new(0), headers: Mutex::default() }
    }

    /// Whether no packet is under way with it.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.copies.load(Ordering::Relaxed) == 0
    }

    /// What is in it.
    #[must_use]
    pub fn headers(&self) -> Headers {
        *self.headers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A packet with these headers sets out.
    pub(crate) fn fill(&self, headers: Headers) {
        *self.headers.lock().unwrap_or_else(PoisonError::into_inner) = headers;
        self.copies.store(1, Ordering::Relaxed);
    }

    /// Two packets are under way where there was one.
    pub(crate) fn doubled(&self) {
        self.copies.fetch_add(1, Ordering::Relaxed);
    }

    /// A packet's way is over: it was lost, or its owner has taken it from the [`Arrival`].
    pub fn over(&self) {
        self.copies.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How packets from outside go.
#[derive(Clone, Debug, Default)]
pub struct OutsideWay {
    /// Base round-trip time, where it is not the path's.
    pub rtt: Option<Duration>,
    /// The hops that they cross, where those are not all.
    pub hops: Option<Vec<String>>,
}

/// A packet that has come to the other end.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When.
    pub time: Instant,
    /// Which way it went.
    pub way: Direction,
    /// What it was put in with.
    pub envelope: &'static Envelope,
    /// Its ECN codepoint now.
    pub ecn: Ecn,
    /// Its differentiated services codepoint now.
    pub dscp: u8,
}
