#![doc = include_str!("../README.md")]
//!
//! # Parts
//! - [`Bottleneck`]: the path of a scenario, into which datagrams are put and from which they come out.
//! - [`Datagram`]: one datagram, at one end of the path. [`Flow`]: which flow it belongs to.
//! - [`FlowResult`]: what the path did to a flow's datagrams.
//! - [`observing`]: what is told of every packet at the queues.
//! - [`foreign`]: a queue discipline of your own. If it panics, the run goes on without it.

mod bottleneck;
mod datagram;
mod error;
mod guard;
mod results;

/// What is told of every packet at the queues ([`Bottleneck::observe`]).
pub mod observing {
    pub use goodqueue_netsim::{Event, Observer, Packet, SharedObserver};
}

pub use bottleneck::Bottleneck;
pub use datagram::{Datagram, Flow};
pub use error::Error;
pub use results::{FlowResult, Way};

// Argument and result types of the functions above, so that users of this crate need not depend on another crate.
pub use goodqueue_hosts::probe::delay::Summary;
pub use goodqueue_netsim::{Direction, Record, Scenario, ScenarioError, foreign};
pub use goodqueue_units::Ecn;
