//! Propagation: a constant delay, in order, without loss.

use crate::packet::Packet;
use goodqueue_units::{Duration, Instant};
use std::collections::VecDeque;

/// A delay line. All flows of one direction and one delay share it, so a run has as many as it has distinct RTTs.
pub(crate) struct Pipe {
    delay: Duration,
    on_the_way: VecDeque<(Instant, Packet)>,
}

impl Pipe {
    pub(crate) fn new(delay: Duration) -> Self {
        Self { delay, on_the_way: VecDeque::new() }
    }

    /// Sends `packet` in at `now`.
    pub(crate) fn push(&mut self, now: Instant, packet: Packet) {
        self.on_the_way.push_back((now + self.delay, packet));
    }

    /// When the next packet comes out; [`Instant::MAX`]: none is on the way.
    pub(crate) fn head_time(&self) -> Instant {
        self.on_the_way.front().map_or(Instant::MAX, |(time, _)| *time)
    }

    /// The next packet to come out.
    pub(crate) fn head(&self) -> Option<&Packet> {
        self.on_the_way.front().map(|(_, packet)| packet)
    }

    /// Takes the next packet out.
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        self.on_the_way.pop_front().map(|(_, packet)| packet)
    }
}
