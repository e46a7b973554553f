#![doc = include_str!("../README.md")]
//!
//! # Author
//! A congestion control is one file in `cc/` that implements [`CongestionControl`], and one line in the table of
//! `cc/mod.rs`, from which [`Cc`], its names and its static dispatch are made.
//!
//! # Assemble
//! [`Config`] describes an endpoint; [`Connection::client`] and [`Connection::server`] make one.
//!
//! # Run
//! Give segments to [`Connection::handle_segment`], call [`Connection::handle_timeout`] at
//! [`Connection::poll_timeout`], and put on the wire what [`Connection::poll_transmit`] returns, until it is `None`.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod cc;
mod config;
mod connection;
mod delack;
mod ecn;
mod era;
mod idle;
mod offload;
mod pacing;
mod prr;
mod rack;
mod rate;
mod receive_window;
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
mod seq;
mod stats;
mod tlp;
mod undo;
mod usage;
mod wheel;
mod window;

pub use cc::{Ack, Cause, Cc, CcLine, CcOptions, CcWord, Congestion, CongestionControl};
pub use config::{Config, INFINITE_SSTHRESH, Stack};
pub use connection::{Connection, Handled, Wire};
pub use ecn::{EcnMode, EcnUse};
pub use era::Difference;
pub use rate::{LostSegment, RateEstimator, RateSample};
pub use segment::{Flags, SackBlock, Segment, SynOptions};
pub use sender::CongestionState;
pub use seq::SeqNumber;
pub use stats::Stats;
pub use window::Window;

// What the calls above take and return, so that who uses this crate need not name another.
pub use goodqueue_units::{Duration, Ecn, Instant, Rate};
