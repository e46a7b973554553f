//! The data that every packet of a flow needs. They stand apart from the flows, which are too large to stay in a
//! cache.

use crate::flow::{Flow, Source};
use crate::ids::{LinkId, Timer};
use crate::lists::{ByDirection, PerSide};
use goodqueue_hosts::direction::{Direction, Side};
use goodqueue_units::{Instant, processor};

/// A flow's way through the dumbbell: one cache line, which each of its packets needs.
#[repr(align(64))]
pub(super) struct FlowPath {
    /// Packets offered, per direction.
    pub(super) offered: ByDirection<u64>,
    /// As [`Flow::hash`].
    pub(super) hash: ByDirection<u32>,
    /// As [`Flow::dscp`].
    pub(super) dscp: u8,
    /// As [`Flow::stop`].
    pub(super) stop: Instant,
    /// As [`Flow::direction`].
    pub(super) direction: Direction,
    /// Whether it is a bulk transfer.
    pub(super) is_bulk: bool,
    /// Whether the sender of a bulk transfer has begun to close.
    pub(super) is_closed: bool,
    /// Whether the sender of a bulk transfer has nothing to send until its start.
    pub(super) waits: bool,
    /// The link into which its hosts send.
    pub(super) first_link: ByDirection<LinkId>,
    /// When the timer of each end of a bulk transfer fires, as [`Socket::timers`](crate::sockets::Socket::timers).
    pub(super) timers: PerSide<Instant>,
}

const _: () = processor::fills_lines::<FlowPath>(1);

impl FlowPath {
    pub(super) fn of(flow: &Flow, first_link: ByDirection<LinkId>) -> Self {
        let &Flow { hash, dscp, opens, start, stop, direction, .. } = flow;
        let is_bulk = matches!(flow.source, Source::Bulk(_));
        let (offered, timers) = (ByDirection::of(|_| 0), PerSide::of(|_| Instant::MAX));
        let waits = is_bulk && opens < start;
        Self { offered, hash, dscp, stop, direction, is_bulk, is_closed: false, waits, first_link, timers }
    }

    /// Returns the end of a bulk transfer whose timer is `timer`.
    pub(super) fn end_of(&self, timer: Timer) -> Side {
        match timer {
            Timer::Sender => self.direction.sender(),
            Timer::Receiver => self.direction.receiver(),
        }
    }

    /// Returns the timer of the end `end` of a bulk transfer.
    pub(super) fn timer_of(&self, end: Side) -> Timer {
        if end == self.direction.sender() { Timer::Sender } else { Timer::Receiver }
    }
}
