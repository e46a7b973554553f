//! The values of a connection that its user may read: states, counters, times, windows and rates.

use super::{Connection, Phase};
use crate::Stats;
use crate::ecn::EcnMode;
use crate::sender::CongestionState;
use goodqueue_units::{Duration, Rate};

impl Connection {
    /// Returns whether the handshake is over.
    #[must_use]
    pub fn is_established(&self) -> bool {
        self.phase >= Phase::AckDue
    }

    /// Returns whether both directions ended: our FIN is acknowledged, and the peer's FIN has arrived in order.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.sender.is_finished() && self.receiver.is_finished()
    }

    /// Returns whether the peer has ended its direction and all its data is here.
    #[must_use]
    pub fn is_peer_finished(&self) -> bool {
        self.receiver.is_finished()
    }

    /// Returns the payload bytes received in order.
    #[must_use]
    pub fn delivered_bytes(&self) -> u64 {
        self.receiver.delivered()
    }

    /// Returns the payload bytes that the peer has acknowledged.
    #[must_use]
    pub fn acked_bytes(&self) -> u64 {
        self.sender.acked_bytes()
    }

    /// Returns the bytes that the application has written and that are not sent.
    #[must_use]
    pub fn unsent_bytes(&self) -> u64 {
        self.sender.unsent_bytes()
    }

    /// Returns the payload bytes put on the wire, retransmissions included.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.sender.sent_bytes()
    }

    /// Returns the counters since the start.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.sender.stats()
    }

    /// Returns SRTT (RFC 6298), delayed ACKs included. `None` before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.sender.rtt().srtt()
    }

    /// Returns RTTVAR (RFC 6298). `None` before the first sample.
    #[must_use]
    pub fn rttvar(&self) -> Option<Duration> {
        self.srtt().map(|_| self.sender.rtt().rttvar())
    }

    /// Returns the smallest RTT sample of the path.
    #[must_use]
    pub fn min_rtt(&self) -> Option<Duration> {
        self.srtt().map(|_| self.sender.rtt().min())
    }

    /// Returns the last RTT sample of the path.
    #[must_use]
    pub fn latest_rtt(&self) -> Option<Duration> {
        self.sender.rtt().latest()
    }

    /// Returns the retransmission timeout, backoff included.
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.sender.rtt().rto()
    }

    /// Returns the congestion window in segments.
    #[must_use]
    pub fn cwnd(&self) -> u32 {
        self.sender.window().cwnd
    }

    /// Returns the slow-start threshold in segments. It is [`INFINITE_SSTHRESH`](crate::INFINITE_SSTHRESH) before the
    /// first congestion.
    #[must_use]
    pub fn ssthresh(&self) -> u32 {
        self.sender.window().ssthresh
    }

    /// Returns the segments believed to be in the network (RFC 6675's pipe).
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.sender.board().in_flight()
    }

    /// Returns the segments sent that no cumulative ACK has covered.
    #[must_use]
    pub fn unacked(&self) -> u32 {
        self.sender.board().packets_out()
    }

    /// Returns the delivery rate of payload, as `ss` shows it: the last rate that the path limited, or a higher one
    /// since. `None` before the first sample, and if [`Config::delivery_rate`] did not ask for it.
    #[must_use]
    pub fn delivery_rate(&self) -> Option<Rate> {
        self.sender.delivery_rate()
    }

    /// Returns the pacing rate of payload, as `ss` shows it. It also decides how many segments leave together, even if
    /// the sender does not pace.
    #[must_use]
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.sender.pacing_rate()
    }

    /// Returns the congestion state.
    #[must_use]
    pub fn state(&self) -> CongestionState {
        self.sender.state()
    }

    /// Returns whether ECN was agreed.
    #[must_use]
    pub fn is_ecn(&self) -> bool {
        self.ecn() != EcnMode::Off
    }

    /// Returns the agreed ECN feedback.
    #[must_use]
    pub fn ecn(&self) -> EcnMode {
        if self.is_established() { self.ecn } else { EcnMode::Off }
    }

    /// Returns whether every counter equals a recount of the scoreboard. It is slow, and for tests only.
    #[doc(hidden)]
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        self.sender.board().is_consistent()
    }

    /// Shows the congestion control's inner state: name (with its unit) and value.
    pub fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.sender.probe(show);
    }
}
