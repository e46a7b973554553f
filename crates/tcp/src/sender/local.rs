//! Congestion in the sender's own host: the first queue drops a packet while TCP hands it down, or says that it is
//! full.
//!
//! Linux: `tcp_transmit_skb`, which calls `tcp_enter_cwr` and `net_xmit_eval`. No release changed this since 3.6.

use super::timer::Wait;
use super::{CongestionState, End, Sender};
use crate::cc::Cause;
use crate::scoreboard::Delivery;
use crate::{Flags, Segment};
use goodqueue_units::{Duration, Instant};

/// How long after a timeout a retransmission waits that the host has refused (Linux `TCP_RESOURCE_PROBE_INTERVAL`).
const RESOURCE_PROBE: Duration = Duration::from_millis(500);

/// What the first queue of a host says of a segment that TCP hands down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalCongestion {
    /// The queue has dropped the segment, and says so: the segment was not sent (Linux `NET_XMIT_DROP`).
    Refused,
    /// The queue asks to send less. TCP takes the segment for sent, and so does the queue if it did not drop it (Linux
    /// `NET_XMIT_CN`).
    Noticed,
}

impl Sender {
    /// Takes note that the host's queue said `congestion` of `segment`, the last one that left. The window falls, once
    /// per window of data. A refused segment waits until something else wakes the sender.
    #[cold]
    pub(crate) fn on_local_congestion(
        &mut self,
        now: Instant,
        segment: &Segment,
        congestion: LocalCongestion,
    ) {
        if !self.era().sending.hears_own_host {
            return;
        }
        let is_new = segment.seq_len() > 0 && segment.seq + segment.seq_len() == self.board.nxt();
        let is_refused = congestion == LocalCongestion::Refused;
        if is_refused && segment.seq_len() > 0 {
            (0..segment.parts()).rev().for_each(|part| self.take_back(now, &segment.part(part)));
        }
        self.recovery.keep_reduced();
        if self.state() < CongestionState::Cwr {
            self.recovery.end_undo();
            self.begin_reduction(&Delivery::new(now, self.rtt.min()), Cause::Loss);
            self.enter(CongestionState::Cwr);
            if is_new {
                self.recovery.set_end(segment.seq); // Linux counts the segment only after the queue has taken it
            }
            if !is_refused {
                self.recovery.on_sent();
            }
        }
    }

    /// Takes back `segment`, which the host refused: it was not sent.
    fn take_back(&mut self, now: Instant, segment: &Segment) {
        if self.board.unsend(segment.seq) {
            self.unsent += u32::from(segment.payload_len);
            self.offload.head.bytes += u32::from(segment.payload_len);
            if segment.flags.contains(Flags::FIN) {
                self.end = End::Closing;
            }
            self.offload.on_taken_back();
            if self.board.packets_out() == 0 {
                self.arm_window_probe(now); // no ACK can come, so the sender tries again then (`tcp_check_probe_timer`)
            }
        } else if self.board.unresend(segment.seq) {
            self.stats.retransmitted -= 1;
            self.stats.bytes_retransmitted -= u64::from(segment.payload_len);
            if self.recovery.timed_out {
                self.rtt.take_back_off();
                self.timer.set(Wait::Rto, now, RESOURCE_PROBE);
            }
        } else {
            return; // an empty window probe
        }
        self.segments_sent -= 1;
        self.recovery.on_taken_back();
        if let Some(brakes) = &mut self.brakes {
            brakes.take_back();
        }
    }
}

#[cfg(test)]
mod tests;
