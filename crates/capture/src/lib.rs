//! What a bottleneck did to each packet, from captures on both sides of it.
//!
//! A packet that a router queues is seen twice: it arrives at one of the router's interfaces and leaves by the other. Two
//! captures that share a clock, one an interface, tell its delay, its loss and its mark without asking the queue:
//!
//! ```text
//!   servers 10.9/16 ── r-wan [ router ] r-cli ── clients 10.8/16
//!                        down ──▶  arrives at r-wan, leaves by r-cli
//!                        ◀── up    arrives at r-cli, leaves by r-wan
//! ```
//!
//! [`read`] matches the two sightings of each packet ([`Queue`]: a row a packet) and follows each TCP flow as its
//! sender and receiver must have seen it ([`Transfer`]). A packet that never left was dropped; one that leaves without
//! having arrived is an error, since then a capture is not whole.
//!
//! [`vectors()`] reads one capture, taken anywhere, for what the ends of its TCP connections sent and waited.

mod crossing;
mod file;
mod frames;
mod packet;
mod pcapng;
mod transfer;
mod vectors;

pub use crossing::{Crossing, Flow, Queue, merge, read};
pub use file::Error;
pub use pcapng::{Medium, Writer};
pub use transfer::Transfer;
pub use vectors::{Send, Vector, Vectors, vectors};

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From a server to a client.
    Down,
    /// From a client to a server.
    Up,
}

impl Way {
    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    pub(crate) const fn back(self) -> Self {
        match self {
            Self::Down => Self::Up,
            Self::Up => Self::Down,
        }
    }
}
