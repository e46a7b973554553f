//! The effect of a bottleneck on each packet, from captures on both sides of it.
//!
//! A packet that a router queues is seen twice: it arrives at one of the router's interfaces and leaves by the other.
//! Two captures with a common clock, one per interface, give the packet's delay, loss and mark without asking the
//! queue:
//!
//! ```text
//!   servers 10.9/16 ── r-wan [ router ] r-cli ── clients 10.8/16
//!                        down ──▶  arrives at r-wan, leaves by r-cli
//!                        ◀── up    arrives at r-cli, leaves by r-wan
//! ```
//!
//! [`read`] matches the two sightings of each packet ([`Queue`]: one row per packet). It follows each TCP flow as its
//! sender and its receiver must have seen it ([`Transfer`]). A packet that never left was dropped. A packet that
//! leaves without having arrived is an error, because then a capture is incomplete.
//!
//! [`vectors()`] reads one capture, taken at any point, for the data that the ends of its TCP connections sent, and
//! for their waits.

mod connection;
mod crossing;
mod file;
mod frames;
mod input;
mod layers;
mod network;
mod options;
mod packet;
mod pcapng;
mod sightings;
mod skipped;
mod transfer;
mod vectors;
mod wifi;

pub use connection::{Send, Vector};
pub use crossing::{Crossing, Flow, Queue, merge, read};
pub use file::Error;
pub use pcapng::{Medium, Writer};
pub use skipped::Tally;
pub use transfer::Transfer;
pub use vectors::{Vectors, vectors};

/// The direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a server to a client.
    Down,
    /// From a client to a server.
    Up,
}

impl Direction {
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
