#![doc = include_str!("../README.md")]
//!
//! # What is where
//! The folders are the layers:
//!
//! - [`Packet`], [`Owner`], [`Drop`], [`Mark`]: what a discipline asks of a packet and tells about it;
//! - [`Fifo`]: the ring that packets wait in;
//! - [`aqm`]: control laws over one FIFO (CoDel, PIE, RED …), one file each;
//! - [`sched`]: containers that hold several queues (FQ-CoDel, SFQ …) or none of a law's wits (FIFO);
//! - [`Discipline`]: what the registry can list;
//! - [`param`]: parameters as data, and the `tc` line that sets them;
//! - [`registry`]: the one line that each discipline is listed by, and [`AnyQdisc`], which it makes.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod aqm;
mod discipline;
mod fifo;
pub mod packet;
pub mod param;
mod qdisc;
pub mod registry;
pub mod sched;
mod signal;
mod tcp;

pub use discipline::Discipline;
pub use fifo::Fifo;
pub use packet::Packet;
pub use param::{Args, Error, Link, QdiscSpec};
pub use qdisc::{Backlog, Enqueued, Head, Measure, Moment, Probe, Qdisc, Raw};
pub use registry::AnyQdisc;
pub use signal::{Drop, Mark, Owner};
pub use tcp::TcpHeader;

// What the calls above take and return, so that who uses this crate need not name another.
pub use goodqueue_units::{Duration, Ecn, Instant, Rate};
