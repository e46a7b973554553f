//! When an end sends AccECN's option (RFC 9768, 3.2.3.2 and 3.2.3.3; Linux 7.3 `tcp_established_options`,
//! `tcp_ecn_received_counters` and `tcp_rcv_spurious_retrans`).

use crate::{Segment, SeqNumber};
use goodqueue_units::{Duration, Ecn, Instant};

/// The segments on which an end sends AccECN's option: the values of Linux's `tcp_ecn_option`, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptionUse {
    /// None.
    Never,
    /// Two segments after a change of codepoint or a mark, one per 4 MiB, and three per round trip.
    OnDemand,
    /// All that have room, except after ACKs with the option seem to be lost on the way.
    #[default]
    Always,
    /// All that have room.
    Persistent,
}

/// How often a round trip has the option at least (Linux `tcp_ecn_option_beacon`).
const BEACONS: u64 = 3;
/// The segments that tell a change: the first one has two counters that grow, and the second one says which of them.
const OF_CHANGE: u8 = 2;
/// The option is due as often as a counter passes a multiple of this number.
const EVERY_BYTES: u32 = 1 << 22;

/// An end's decision.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    option: OptionUse,
    /// How many of the next segments must have the option.
    demand: u8,
    /// The codepoint that arrived last.
    came: Ecn,
    told_at: Option<Instant>,
    /// The start of the DSACK in the last segment, if that had the option.
    told_twice: Option<SeqNumber>,
    /// The peer repeated data although an ACK with the option had reported it as received twice: something on the way
    /// drops such ACKs.
    is_lost: bool,
}

impl Policy {
    /// Builds the decision of an end whose handshake has just ended. The peer's SYN or SYN-ACK was not ECT.
    pub(super) fn new(option: OptionUse) -> Self {
        Self { option, demand: OF_CHANGE, came: Ecn::NotEct, told_at: None, told_twice: None, is_lost: false }
    }

    /// Takes note that `segment` arrived. The counter of its codepoint was `before`, and is `after`.
    pub(super) fn on_arrival(&mut self, segment: &Segment, before: u32, after: u32) {
        if before / EVERY_BYTES != after / EVERY_BYTES {
            self.demand = self.demand.max(1);
        }
        if segment.ecn != self.came || segment.ecn == Ecn::Ce {
            self.came = segment.ecn;
            self.demand = OF_CHANGE;
        }
        self.is_lost |= segment.payload_len > 0 && self.told_twice == Some(segment.seq);
    }

    /// Returns whether the segment that leaves at `now` is to have the option. `srtt` is the round-trip time.
    pub(super) fn asks(&self, now: Instant, srtt: Duration) -> bool {
        let is_time = |at: Instant| now.since(at) * BEACONS >= srtt;
        (self.option == OptionUse::Persistent || !self.is_lost)
            && (self.option >= OptionUse::Always || self.demand > 0 || self.told_at.is_none_or(is_time))
    }

    /// Takes note of `segment`, which leaves at `now`, with the option or without.
    pub(super) fn on_departure(&mut self, segment: &Segment, now: Instant) {
        let has_option = segment.accecn().is_some();
        let first = segment.sack_blocks().first().filter(|block| has_option && block.end <= segment.ack);
        self.told_twice = first.map(|block| block.start);
        if has_option {
            self.demand = self.demand.saturating_sub(1);
            self.told_at = Some(now);
        }
    }
}
