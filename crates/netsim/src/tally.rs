//! The totals of a flow since the run began.

use goodqueue_tcp::Connection;
use std::ops::{Add, AddAssign, Sub};

/// The totals of a flow since the run began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// Bytes that the receiver has, in order.
    pub(crate) delivered_bytes: u64,
    /// Payload bytes that TCP sent, each counted as often as it was sent, and the bytes among them that it
    /// retransmitted.
    pub(crate) sent_bytes: u64,
    pub(crate) retransmitted_bytes: u64,
    pub(crate) retransmitted: u64,
    pub(crate) timeouts: u64,
    pub(crate) tlp_probes: u64,
    pub(crate) spurious_retransmissions: u64,
    pub(crate) undos: u64,
    /// What became of its sender's packets.
    pub(crate) fates: FlowFates,
}

/// A flow's packets in the direction of its data: packets that its sender offered, and packets dropped or lost on the
/// path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowFates {
    pub(crate) offered: u64,
    pub(crate) dropped: u64,
}

impl Totals {
    /// Returns the counters of a connection's sending half.
    pub(crate) fn of_sender(sender: &Connection) -> Self {
        let stats = sender.stats();
        Self {
            sent_bytes: sender.sent_bytes(),
            retransmitted_bytes: stats.bytes_retransmitted,
            retransmitted: stats.retransmitted,
            timeouts: stats.timeouts,
            tlp_probes: stats.tlp_probes.into(),
            spurious_retransmissions: stats.spurious_retransmissions,
            undos: stats.undos.into(),
            ..Self::default()
        }
    }
}

impl Totals {
    /// Combines each number with the same number of `other`.
    fn with(self, other: Self, put: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            delivered_bytes: put(self.delivered_bytes, other.delivered_bytes),
            sent_bytes: put(self.sent_bytes, other.sent_bytes),
            retransmitted_bytes: put(self.retransmitted_bytes, other.retransmitted_bytes),
            retransmitted: put(self.retransmitted, other.retransmitted),
            timeouts: put(self.timeouts, other.timeouts),
            tlp_probes: put(self.tlp_probes, other.tlp_probes),
            spurious_retransmissions: put(self.spurious_retransmissions, other.spurious_retransmissions),
            undos: put(self.undos, other.undos),
            fates: FlowFates {
                offered: put(self.fates.offered, other.fates.offered),
                dropped: put(self.fates.dropped, other.fates.dropped),
            },
        }
    }
}

impl Add for Totals {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Totals {
    type Output = Self;
    fn sub(self, before: Self) -> Self {
        self.with(before, u64::saturating_sub)
    }
}
