//! Packets in the order of the times at which they leave.

use alloc::collections::{BinaryHeap, VecDeque};
use core::cmp::{Ordering, Reverse};
use goodqueue_units::Instant;

/// A packet and when it leaves.
#[derive(Clone, Debug)]
struct Held<P> {
    release: Instant,
    /// The packet's place in the order of arrival. Packets with the same release time leave in this order.
    number: u64,
    packet: P,
}

impl<P> Held<P> {
    fn key(&self) -> (Instant, u64) {
        (self.release, self.number)
    }
}

impl<P> PartialEq for Held<P> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl<P> Eq for Held<P> {}
impl<P> PartialOrd for Held<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<P> Ord for Held<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Packets in the order of their release times, then of arrival: netem's `tfifo`, and a wire. Packets that overtake
/// nobody cost no search.
#[derive(Clone, Debug)]
pub struct Timed<P> {
    /// Packets in order of release. Mostly these are all packets.
    row: VecDeque<Held<P>>,
    /// Packets that overtake the last packet of `row`.
    ahead: BinaryHeap<Reverse<Held<P>>>,
    /// The number of the next packet.
    next: u64,
}

impl<P> Default for Timed<P> {
    fn default() -> Self {
        Self { row: VecDeque::new(), ahead: BinaryHeap::new(), next: 0 }
    }
}

impl<P> Timed<P> {
    /// Adds `packet`, which leaves at `release`.
    #[inline]
    pub fn push(&mut self, release: Instant, packet: P) {
        let held = Held { release, number: self.next, packet };
        self.next += 1;
        match self.row.back() {
            Some(last) if held < *last => self.ahead.push(Reverse(held)),
            _ => self.row.push_back(held),
        }
    }

    /// Returns the number of packets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.row.len() + self.ahead.len()
    }

    /// Returns whether there is no packet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns when the first packet leaves.
    #[inline]
    #[must_use]
    pub fn next_time(&self) -> Option<Instant> {
        let in_row = self.row.front().map(Held::key);
        let ahead = self.ahead.peek().map(|held| held.0.key());
        [in_row, ahead].into_iter().flatten().min().map(|key| key.0)
    }

    /// Returns when the last packet leaves. No packet of `ahead` leaves later than the last of `row`, behind which it
    /// was put.
    #[must_use]
    pub fn last_time(&self) -> Option<Instant> {
        self.row.back().map(|held| held.release)
    }

    /// Takes the first packet, if it leaves by `now`.
    #[inline]
    pub fn pop(&mut self, now: Instant) -> Option<P> {
        let is_ahead = match (self.ahead.peek(), self.row.front()) {
            (Some(Reverse(ahead)), Some(first)) => ahead < first,
            (ahead, _) => ahead.is_some(),
        };
        let next = if is_ahead { self.ahead.peek().map(|held| &held.0) } else { self.row.front() };
        if next?.release > now {
            return None;
        }
        let held = if is_ahead { self.ahead.pop().map(|held| held.0) } else { self.row.pop_front() };
        held.map(|held| held.packet)
    }
}
