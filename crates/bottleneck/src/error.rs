//! What the path refuses, in one line each.

use goodqueue_netsim::ScenarioError;
use std::time::Duration;

/// Why a call was refused. The path is as it was before the call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The scenario, or its discipline, is refused.
    #[error("{0}")]
    Scenario(ScenarioError),
    /// A datagram is sent before the time that the path has reached.
    #[error("time: found {found:?}; accepted: {now:?}, the time of the path, or later")]
    Past {
        /// The datagram's time.
        found: Duration,
        /// The path's time.
        now: Duration,
    },
    /// A datagram is sent after the end of the run.
    #[error("time: found {found:?}; accepted: up to {end:?}, the end of the run")]
    Over {
        /// The datagram's time.
        found: Duration,
        /// The scenario's duration.
        end: Duration,
    },
    /// A datagram is empty, or longer than the path's packets.
    #[error("bytes: found {found} bytes; accepted: 1 to {most}, by path.mtu")]
    Size {
        /// The datagram's bytes.
        found: usize,
        /// The most bytes that a datagram can have.
        most: usize,
    },
    /// No differentiated services codepoint.
    #[error("dscp: found {found}; accepted: 0 to 63")]
    Dscp {
        /// The datagram's codepoint.
        found: u8,
    },
    /// The scenario has no such flow.
    #[error("flow: found {found}; accepted: {accepted}")]
    Flow {
        /// The flow that was asked for.
        found: String,
        /// The flows of the scenario.
        accepted: String,
    },
    /// A discipline of the caller's own panicked. The run goes on: the discipline drops what arrives, and delivers
    /// nothing.
    #[error("the discipline {line} panicked: {message}; from now on it drops every packet")]
    Panic {
        /// The discipline's line.
        line: String,
        /// The panic's message.
        message: String,
    },
}

impl From<ScenarioError> for Error {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error)
    }
}
