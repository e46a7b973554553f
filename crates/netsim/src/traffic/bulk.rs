//! Bulk transfers: two connections, one at each side of the bottleneck, for as long as the flow lasts.

use crate::flow::Totals;
use crate::prefetch::prefetch;
use crate::probe::delay::FlowDelays;
use goodqueue_tcp::{CcLine, Config, Connection};

/// The sender's index in [`Bulk::ends`].
pub(crate) const SENDER: usize = 0;
/// The receiver's index in [`Bulk::ends`].
pub(crate) const RECEIVER: usize = 1;

/// A TCP connection that always has data to send.
pub(crate) struct Bulk {
    /// Congestion control.
    pub(crate) cc: CcLine,
    /// The sender and the receiver.
    pub(crate) ends: [Connection; 2],
    /// Round-trip times as the sender measures them.
    pub(crate) rtt: FlowDelays,
    /// Whether the sender has begun to close.
    pub(crate) closed: bool,
}

impl Bulk {
    /// A transfer that always has data to send, once it is started.
    pub(crate) fn new(config: Config) -> Self {
        let mut sender = Connection::client(config.clone());
        sender.write_unlimited();
        let cc = config.cc_line();
        Self { cc, ends: [sender, Connection::server(config)], rtt: FlowDelays::new(), closed: false }
    }

    /// Asks for what a segment for `end` is going to touch.
    #[inline]
    pub(crate) fn prefetch(&self, end: usize) {
        prefetch(&self.ends[end]);
        if end == SENDER {
            prefetch(&self.rtt);
        }
    }

    /// What it has done so far.
    pub(crate) fn totals(&self) -> Totals {
        Totals {
            delivered_bytes: self.ends[RECEIVER].delivered_bytes(),
            ..Totals::of_sender(&self.ends[SENDER])
        }
    }
}
