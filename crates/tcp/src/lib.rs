#![doc = include_str!("../README.md")]
//!
//! # Author
//! A congestion control is one file in `cc/` that implements [`CongestionControl`], and one line in the table of
//! `cc/mod.rs`. The table makes [`Cc`], the names and the static dispatch.
//!
//! # Assemble
//! [`Config`] describes an endpoint. [`Connection::client`] and [`Connection::server`] make it.
//!
//! # Run
//! Give segments to [`Connection::handle_segment`]. Call [`Connection::handle_timeout`] at
//! [`Connection::poll_timeout`]. Put on the wire what [`Connection::poll_transmit`] returns, until it returns `None`.
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
mod small_queue;
mod stats;
mod tlp;
mod undo;
mod usage;
mod wheel;
mod window;
mod write_queue;

pub use cc::{
    Ack, Cause, Cc, CcLine, CcOptions, CcWord, Congestion, CongestionControl, ForeignCc, MakeCc, OwnCc,
};
pub use config::{Buffer, Config, INFINITE_SSTHRESH, Stack};
pub use connection::{Connection, Handled, Wire};
pub use ecn::{EcnMode, EcnUse, OptionUse};
pub use era::Difference;
pub use rate::{LostSegment, RateEstimator, RateSample};
pub use segment::{AccEcnOption, Flags, SackBlock, Segment, SynOptions};
pub use sender::{CongestionState, LocalCongestion};
pub use seq::SeqNumber;
pub use small_queue::SmallQueues;
pub use stats::Stats;
pub use window::Window;

// Types that the public calls take and return. A user of this crate need not depend on `goodqueue_units` for them.
pub use goodqueue_units::{Duration, Ecn, Instant, Rate};
