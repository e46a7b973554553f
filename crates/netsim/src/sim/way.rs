//! What every packet of a flow asks for; beside the flows, which are too large to stay in a cache.

use crate::flow::{Flow, Source};
use crate::scenario::Direction;
use goodqueue_units::Instant;

/// A flow's way through the dumbbell: a cache line, asked for with each of its packets.
#[repr(align(64))]
pub(super) struct Way {
    /// Packets offered, a direction each.
    pub(super) offered: [u64; 2],
    /// As [`Flow::hash`].
    pub(super) hash: [u32; 2],
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
    /// The link that its hosts send into, a direction each.
    pub(super) first_link: [u8; 2],
    /// When the timer of each end of a bulk transfer fires, as [`Socket::timers`](crate::sockets::Socket::timers).
    pub(super) timers: [Instant; 2],
}

const _: () = assert!(size_of::<Way>() == 64);

impl Way {
    pub(super) fn of(flow: &Flow, first_link: [u8; 2]) -> Self {
        let &Flow { hash, dscp, stop, direction, .. } = flow;
        let is_bulk = matches!(flow.source, Source::Bulk(_));
        let timers = [Instant::MAX; 2];
        Self { offered: [0; 2], hash, dscp, stop, direction, is_bulk, is_closed: false, first_link, timers }
    }

    /// The end of a bulk transfer whose timer is number `timer`, that of the sender being number 0; and the other way round.
    pub(super) fn end_of(&self, timer: usize) -> usize {
        timer ^ self.direction.reverse().index()
    }
}
