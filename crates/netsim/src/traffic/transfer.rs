//! Transfers of a size: a new connection each, which the user opens; the sender's end writes all and closes.

use super::app::{Application, Host};
use crate::probe::delay::{FlowDelays, Summary};
use crate::record::AppResult;
use crate::sockets::{SocketId, USER};
use goodqueue_units::{Duration, Instant};
use serde::Serialize;

/// The transfers of one flow, one after the other.
pub(crate) struct Transfer {
    size: u64,
    /// From the end of one, as the user knows it, to the start of the next.
    gap: Duration,
    /// How many are yet to begin; none: without end.
    left: Option<u64>,
    current: Option<Current>,
    begun: u64,
    times: FlowDelays,
}

/// The transfer under way.
struct Current {
    socket: SocketId,
    begun: Instant,
    /// Whether it began within the measured time and is yet to be completed.
    counts: bool,
}

/// Transfers that began within the measured time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TransferResult {
    /// From the SYN to the last byte in order at the receiver.
    pub completion_ms: Option<Summary>,
    /// How many began.
    pub count: u64,
    /// How many of them were completed.
    pub completed: u64,
}

impl Transfer {
    pub(crate) fn new(size: u64, repeat: Option<u64>, gap: Duration) -> Self {
        Self { size, gap, left: repeat, current: None, begun: 0, times: FlowDelays::new() }
    }

    fn begin(&mut self, host: &mut Host<'_>) {
        self.left = self.left.map(|left| left - 1);
        self.begun += 1;
        let (socket, sender) = (host.open(USER), host.sender());
        host.write(socket, sender, self.size);
        host.close(socket, sender);
        self.current = Some(Current { socket, begun: host.now, counts: true });
    }
}

impl Application for Transfer {
    fn start(&mut self, host: &mut Host<'_>) {
        self.begin(host);
    }

    fn wake(&mut self, host: &mut Host<'_>) {
        self.begin(host);
    }

    /// An upload's end is known to the user once the far end, which has all, has closed.
    fn notice(&mut self, socket: SocketId, end: usize, host: &mut Host<'_>) {
        let Some(current) = self.current.as_mut().filter(|current| current.socket == socket) else { return };
        if current.counts && end == host.receiver() && host.delivered(socket, end) >= self.size {
            current.counts = false;
            self.times.record(host.now.since(current.begun));
        }
        if end == USER && host.is_peer_finished(socket, end) {
            self.current = None;
            if self.left != Some(0) {
                host.wake_at(host.now + self.gap);
            }
        }
    }

    fn stop(&mut self, _host: &mut Host<'_>) {
        self.left = Some(0);
    }

    fn measure_from(&mut self, _now: Instant) {
        self.begun = 0;
        self.times.reset();
        if let Some(current) = &mut self.current {
            current.counts = false;
        }
    }

    fn result(&self, _now: Instant) -> AppResult {
        AppResult::Transfer(TransferResult {
            completion_ms: self.times.summary(),
            count: self.begun,
            completed: self.times.count(),
        })
    }
}
