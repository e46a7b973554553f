//! Parameters as data, and the `tc` line that sets them.
//!
//! A discipline declares each parameter as a constant of type [`Param`], and reads its value by the same constant.
//! Its [`QdiscSpec`] lists the constants. The list gives the parser of its `tc` words, the range checks, the
//! canonical line in results, `--help`, the documentation's tables and the tests' strategies. So a constant and its
//! source are written once.
//!
//! A discipline that holds another one (`tbf`, `htb`) names it after the word `child`. The inner line ends the outer
//! one: `htb rate 10mbit child codel target 5ms`.
mod args;
#[cfg_attr(feature = "complete", path = "param/complete/enabled.rs")]
#[cfg_attr(not(feature = "complete"), path = "param/complete/disabled.rs")]
mod complete;
mod kind;
mod place;
mod read;
mod rules;
mod shared;
mod spec;
#[cfg(feature = "complete")]
pub(crate) mod stab;
#[cfg(test)]
mod tests;
mod typed;
mod unit;

pub use args::Args;
pub use kind::{Kind, Masked, TimeOrPackets, Words};
pub use read::{Reading, Step};
pub use rules::{Digits, Rules};
pub use shared::{ECN, LIMIT};
pub use spec::{Default, Form, MOST_NUMBERS, Numbers, ParamSpec, QdiscSpec, Value};
#[cfg(feature = "complete")]
pub use stab::STAB;
pub use typed::{Param, bps, ms, secs, us};
pub use unit::Unit;

use alloc::string::String;
use goodqueue_units::Rate;

/// The properties of the link below a discipline that the discipline may know.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The rate, for disciplines that derive parameters from it (ARED).
    pub rate: Rate,
    /// Bytes of a full frame as `tc` counts it: 1514 on Ethernet (Linux's "psched mtu").
    pub mtu: u32,
}

/// A refused `tc` line, described in one line: the word at fault, what was found, what is accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);
