//! Parameters as data, and the `tc` line that sets them.
//!
//! A discipline declares a [`QdiscSpec`]. From it come the parser of its `tc` words, range checks, the canonical
//! line in results, `--help`, the documentation's tables and the tests' strategies. A constant and its source are
//! written once.
//!
//! A discipline that holds another one (`tbf`, `htb`) names it behind the word `child`, which ends its own parameters:
//! `htb rate 10mbit child codel target 5ms`.
mod args;
mod read;
mod spec;
#[cfg(test)]
mod tests;

pub use args::Args;
pub use spec::{ParamSpec, QdiscSpec, Unit, Value};

use alloc::string::String;
use goodqueue_units::Rate;

/// What a discipline may know about the link below it when it is set up.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The rate, for disciplines that derive parameters from it (ARED).
    pub rate: Rate,
    /// Bytes of a full frame as `tc` counts it: 1514 on Ethernet (Linux's "psched mtu").
    pub mtu: u32,
}

/// A refused `tc` line: the word that offends, what was found, what is accepted; one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);
