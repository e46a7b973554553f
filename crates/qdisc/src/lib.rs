#![doc = include_str!("../README.md")]
//!
//! # Parts
//! Each folder is one layer:
//!
//! - [`Packet`], [`Owner`], [`Drop`], [`Mark`]: the questions that a discipline asks about a packet, and its reports;
//! - [`Fifo`]: the ring in which packets wait;
//! - [`aqm`]: control laws over one FIFO (CoDel, PIE, RED …), one file each;
//! - [`sched`]: containers that hold several queues (FQ-CoDel, SFQ …), and the plain FIFOs;
//! - [`Discipline`]: the trait of everything that the registry can list;
//! - [`param`]: parameters as data, and the `tc` line that sets them;
//! - `tree`: trees of classes, as `tc` commands make them;
//! - [`registry`]: the table with one line per discipline, and [`AnyQdisc`], the enum made from that table.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod aqm;
mod discipline;
pub mod distribution;
mod fifo;
mod ip;
mod kept;
mod linux;
pub mod packet;
pub mod param;
mod psched;
mod qdisc;
pub mod registry;
pub mod sched;
mod signal;
#[cfg(test)]
mod tc_numbers;
mod tcp;
pub mod timed;
#[cfg(feature = "complete")]
pub mod tree;

pub use discipline::Discipline;
pub use fifo::Fifo;
pub use ip::IpHeader;
pub use kept::Look;
pub use packet::Packet;
pub use param::{Args, Error, Link, QdiscSpec};
pub use qdisc::{Backlog, Enqueued, Measure, Moment, Probe, Qdisc, Raw};
pub use registry::{AnyQdisc, Visit};
pub use signal::{Drop, Flipped, Mark, Owner};
pub use tcp::TcpHeader;

// Types that the calls above take and return. They are exported here so that a user of this crate needs no other
// crate.
pub use goodqueue_units::{Duration, Ecn, Instant, Rate, Release};
