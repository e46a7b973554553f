//! Queue disciplines, exact to Linux's own.
//!
//! A discipline is a value. It is told `now` with each call, it draws randomness only from its [`Owner`], it tells
//! the owner the fate of every packet that it does not deliver, and it allocates nothing in the steady state.
//! There is no clock, no I/O and no `std` in here.
//!
//! The folders are the layers:
//!
//! - [`Packet`], [`Owner`], [`Drop`], [`Mark`]: what a discipline asks of a packet and tells about it;
//! - [`Fifo`]: the ring that packets wait in;
//! - [`aqm`]: control laws over one FIFO (CoDel, PIE, RED …), one file each;
//! - [`sched`]: containers that hold several queues (FQ-CoDel, SFQ …) or none of a law's wits (FIFO);
//! - [`Discipline`]: what the registry can list;
//! - [`param`]: parameters as data, and the `tc` line that sets them;
//! - [`registry`]: the one line that each discipline is listed by, and [`AnyQdisc`], which it makes.
//!
//! ```
//! use goodqueue_qdisc::{AnyQdisc, Link, Owner, Qdisc, packet::Plain};
//! use goodqueue_qdisc::{Drop, Mark};
//! use goodqueue_units::{Duration, Instant, Rate};
//!
//! /// Counts drops; has no use for randomness, since CoDel draws none.
//! struct Drops(u32);
//! impl Owner<Plain> for Drops {
//!     fn dropped(&mut self, _packet: Plain, _why: Drop) { self.0 += 1 }
//!     fn marked(&mut self, _packet: &Plain, _why: Mark) {}
//!     fn random_u32(&mut self) -> u32 { 0 }
//!     fn random_u64(&mut self) -> u64 { 0 }
//! }
//!
//! let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
//! let mut codel = AnyQdisc::parse("codel target 5ms limit 1000", &link).unwrap();
//! let (mut now, mut drops) = (Instant::ZERO, Drops(0));
//! for _ in 0..1000 {
//!     codel.enqueue(now, Plain::new(1514), &mut drops);
//!     codel.enqueue(now, Plain::new(1514), &mut drops);
//!     codel.dequeue(now, &mut drops); // half of what arrives: the queue stands, and CoDel drops
//!     now += Duration::from_millis(1);
//! }
//! assert!(drops.0 > 0);
//! ```
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

/// CONTRIBUTING.md's recipe is compiled and run, so that it stays true.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
struct Contributing;

/// So is the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

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
