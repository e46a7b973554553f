#![doc = include_str!("../README.md")]
//!
//! # Overview
//! ```text
//!   sender 0 ─┐                                                       ┌─ receiver 0
//!   sender 1 ─┼─▶ [ qdisc ─▶ wire ] ══ half the RTT ══▶ (down) ───────┼─ receiver 1
//!      …      │                                                       │      …
//!             └─◀ (up) ◀══ half the RTT ══ [ wire ◀─ qdisc ] ◀────────┘
//! ```
//!
//! Each direction has its own bottleneck: a queue discipline ([`goodqueue_qdisc`]) above a wire. Other hops may stand
//! before and behind it ([`path`]). A packet that a [`goodqueue_tcp`] connection sends arrives at the first hop at
//! once, unless its host has an interface with a queue. The propagation delay follows the last hop.
//!
//! [`Scenario::from_json`] reads a scenario, [`Simulation::new`] builds the run, [`Simulation::advance`] runs it, and
//! [`Simulation::record`] sums it up.

mod agenda;
mod app;
mod byte_limit;
mod calendar;
pub mod catalogue;
mod complete;
mod component;
mod ends;
mod flipped;
mod flow;
pub mod foreign;
mod freed;
#[cfg_attr(feature = "complete", path = "headers/enabled.rs")]
#[cfg_attr(not(feature = "complete"), path = "headers/disabled.rs")]
mod headers;
mod hosts;
mod ids;
mod ledger;
mod link;
mod lists;
mod metronome;
mod observer;
mod outline;
mod outside;
mod packet;
pub mod path;
mod pipe;
mod probe;
#[cfg_attr(feature = "complete", path = "receive/enabled.rs")]
#[cfg_attr(not(feature = "complete"), path = "receive/disabled.rs")]
mod receive;
pub mod record;
mod ring;
pub mod roofline;
pub mod scenario;
mod sim;
mod sockets;
mod tally;
pub mod wifi;

pub use flow::UNSENT;
pub use observer::{Event, Observer, SharedObserver};
pub use outline::{FlowOutline, Program};
pub use outside::{Arrival, Envelope, Headers, OutsideRoute};
pub use packet::{EPHEMERAL, Packet};
pub use probe::goodput::Quantiles;
pub use probe::law::LawSeries;
pub use record::Record;
pub use scenario::Scenario;
pub use sim::Simulation;
pub use sim::outside::Glance;
#[cfg(feature = "threads")]
pub use sim::threads::{Threaded, Uncut};
#[cfg(feature = "threads")]
pub use sim::trial::{Trial, idle_cores};

// Argument and result types of the functions above, so that users of this crate need not depend on another crate.
pub use goodqueue_hosts::direction::Direction;
pub use goodqueue_hosts::keys::ScenarioError;
pub use goodqueue_units::{Duration, Instant};
