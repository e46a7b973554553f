#![doc = include_str!("../README.md")]
//!
//! # What is where
//! ```text
//!   sender 0 ─┐                                                       ┌─ receiver 0
//!   sender 1 ─┼─▶ [ qdisc ─▶ wire ] ══ half the RTT ══▶ (down) ───────┼─ receiver 1
//!      …      │                                                       │      …
//!             └─◀ (up) ◀══ half the RTT ══ [ wire ◀─ qdisc ] ◀────────┘
//! ```
//!
//! Each direction has a bottleneck of its own: a queue discipline ([`goodqueue_qdisc`]) above a wire. Other hops may
//! stand before and behind it ([`path`]). Hosts have no queues: what a [`goodqueue_tcp`] connection sends arrives at
//! the first hop at once, and propagation follows the last.
//!
//! A run is read ([`Scenario::from_json`]), made ([`Simulation::new`]), run ([`Simulation::advance`]) and summed up
//! ([`Simulation::record`]).

mod agenda;
mod baseline;
mod calendar;
pub mod catalogue;
mod cell;
mod component;
mod direction;
mod flow;
pub mod foreign;
mod ids;
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
pub mod record;
mod ring;
pub mod scenario;
mod sim;
mod sockets;
mod tally;
pub mod traffic;

pub use observer::{Event, Observer, SharedObserver};
pub use outline::FlowOutline;
pub use outside::{Arrival, Envelope, Headers, OutsideWay};
pub use packet::Packet;
pub use probe::delay::{FlowDelays as Delays, Summary};
pub use probe::law::LawSeries;
pub use probe::mos::mos;
pub use record::Record;
pub use scenario::{Scenario, ScenarioError};
pub use sim::Simulation;
pub use sim::outside::Glance;

// What the calls above take and return, so that who uses this crate need not name another.
pub use goodqueue_units::{Duration, Instant};
