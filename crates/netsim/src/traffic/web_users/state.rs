//! What users, their pages and their connections are in the middle of.

use crate::ids::SocketId;
use goodqueue_units::{Duration, Instant, Stream as Random};
use std::collections::VecDeque;

/// What happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Plan {
    /// A user asks for a page.
    Page(u32),
    /// The server of this connection, the so-manieth that was opened, can answer.
    Answer(SocketId, u64),
    /// The user of it asks for the next object there.
    Ask(SocketId, u64),
    /// A user opens a connection for the next object.
    Open(u32),
}

pub(super) struct User {
    pub(super) random: Random,
    pub(super) page: Option<Box<Page>>,
}

/// A page that a user waits for.
pub(super) struct Page {
    pub(super) begun: Instant,
    pub(super) counts: bool,
    pub(super) is_persistent: bool,
    pub(super) servers: u64,
    /// Objects that are known and not asked for, those that are not known yet, and those that are not there of what is
    /// known.
    pub(super) unasked: u64,
    pub(super) unknown: u64,
    pub(super) missing: u64,
    pub(super) waves_left: u64,
    /// Its connections that are in use, with the server of each.
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
    /// Bytes of all requests, and of all responses to them.
    pub(super) asked: u64,
    pub(super) wanted: u64,
    /// Whether the handshake took a retransmission.
    pub(super) lost_syn: bool,
    pub(super) is_established: bool,
}

pub(super) struct Exchange {
    pub(super) begun: Instant,
    pub(super) counts: bool,
    /// Bytes of the requests up to and with this one, and of the responses.
    pub(super) asked: u64,
    pub(super) wanted: u64,
    pub(super) bytes: u64,
    pub(super) delay: Duration,
    pub(super) gap: Duration,
    /// When the server can answer; none: the request is not there.
    pub(super) ready: Option<Instant>,
    pub(super) is_answered: bool,
    /// Timeouts of both ends before it.
    pub(super) timeouts: u64,
}

impl Page {
    /// Connections whose next request is planned: of a page whose connections are used again, one that is free asks by
    /// itself.
    pub(super) fn idle(&self) -> usize {
        if self.is_persistent { self.open.len().saturating_sub(self.under_way()) } else { 0 }
    }

    /// Objects that were asked for and are not there.
    pub(super) fn under_way(&self) -> usize {
        (self.missing - self.unasked) as usize
    }
}
