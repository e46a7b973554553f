//! The state of users, their pages and their connections.

use crate::traffic::application::{LossyWindows, SocketId};
use goodqueue_units::{Duration, Instant, Stream as Random};
use std::collections::VecDeque;

/// What is planned for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Plan {
    /// A user asks for a page.
    Page(u32),
    /// The server of this connection can answer. The number is the connection's serial number.
    Answer(SocketId, u64),
    /// The user of this connection asks for the next object on it.
    Ask(SocketId, u64),
    /// A user opens a connection for the next object.
    Open(u32),
}

pub(super) struct User {
    pub(super) random: Random,
    pub(super) page: Option<Box<Page>>,
    /// Whether any response ever arrived.
    pub(super) has_come: bool,
}

/// A page that a user waits for.
pub(super) struct Page {
    pub(super) begun: Instant,
    pub(super) counts: bool,
    pub(super) is_persistent: bool,
    pub(super) servers: u64,
    /// Objects that are known but not requested yet; objects that are not known yet; and known objects that have not
    /// arrived.
    pub(super) unasked: u64,
    pub(super) unknown: u64,
    pub(super) missing: u64,
    pub(super) waves_left: u64,
    /// The page's connections that are in use, with the server of each.
    pub(super) open: Vec<(SocketId, u64)>,
    /// Connections that are to be opened after a gap.
    pub(super) to_open: usize,
}

/// A connection in use.
pub(super) struct Channel {
    pub(super) user: u32,
    pub(super) serial: u64,
    /// Requests under way, the oldest first.
    pub(super) exchanges: VecDeque<Exchange>,
    /// Bytes of all requests so far, and of all responses to them.
    pub(super) asked: u64,
    pub(super) wanted: u64,
    /// Whether the handshake needed a retransmission, if the host counts them.
    pub(super) lost_syn: Option<bool>,
    pub(super) is_established: bool,
    /// The server's lossy windows that the tally has.
    pub(super) lossy: LossyWindows,
}

pub(super) struct Exchange {
    pub(super) begun: Instant,
    pub(super) counts: bool,
    /// Bytes of all requests up to and including this one, and of the responses to them.
    pub(super) asked: u64,
    pub(super) wanted: u64,
    pub(super) bytes: u64,
    pub(super) gap: Duration,
    pub(super) answer: Answer,
    /// Timeouts at both ends before this exchange, if the host counts them.
    pub(super) timeouts: Option<u32>,
}

/// When the server answers a request.
pub(super) enum Answer {
    /// This time after the request has arrived.
    After(Duration),
    /// From this time on.
    From(Instant),
    /// It has answered.
    Given,
}

impl Page {
    /// Returns how many connections of a persistent page are free. Each of them already has a plan for its next
    /// request.
    pub(super) fn idle(&self) -> usize {
        if self.is_persistent { self.open.len().saturating_sub(self.under_way()) } else { 0 }
    }

    /// Returns how many objects were requested and have not arrived.
    pub(super) fn under_way(&self) -> usize {
        (self.missing - self.unasked) as usize
    }
}
