//! TCP as Linux does it, as a sans-io state machine.
//!
//! No networking code, no clock, no randomness: segments and the time go in, segments and the next deadline come out.
//! The sender is Linux's (initial window 10, SACK scoreboard, RACK-TLP, PRR, undo, RTO with its 200 ms floor, CUBIC
//! with HyStart, ECN), the receiver too (delayed and quick ACKs); [`Stack`] chooses how old a Linux, and
//! [`Difference`] lists what that changes. Windows count in segments, as in Linux; sequence numbers are 32 bits that wrap.
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
//! [`Connection::poll_timeout`], and put on the wire what [`Connection::poll_transmit`] returns, until it is `None`:
//!
//! ```
//! use goodqueue_tcp::{Config, Connection};
//! use goodqueue_units::{Duration, Instant};
//!
//! let mut client = Connection::client(Config::default());
//! let mut server = Connection::server(Config::default());
//! client.write(1_000_000);
//! client.close();
//! server.close();
//!
//! // A pipe of 10 ms each way that loses nothing: what is sent in one step arrives in the next.
//! let mut now = Instant::ZERO;
//! let mut to_client = Vec::new();
//! while !(client.is_closed() && server.is_closed()) {
//!     for segment in to_client.drain(..) {
//!         client.handle_segment(now, &segment);
//!     }
//!     client.handle_timeout(now);
//!     server.handle_timeout(now);
//!     let to_server: Vec<_> = std::iter::from_fn(|| client.poll_transmit(now)).collect();
//!     now += Duration::from_millis(10);
//!     for segment in to_server {
//!         server.handle_segment(now, &segment);
//!         to_client.extend(std::iter::from_fn(|| server.poll_transmit(now)));
//!     }
//!     now += Duration::from_millis(10);
//! }
//! assert_eq!(server.delivered_bytes(), 1_000_000);
//! assert_eq!(client.stats().retransmitted, 0);
//! // The handshake takes a round trip of 20 ms, slow start seven: 10 + 20 + 40 + … segments, 691 in all. The last step
//! // is the one in which the client hears of the end.
//! assert_eq!(now, Instant::ZERO + Duration::from_millis(9 * 20));
//! ```
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
