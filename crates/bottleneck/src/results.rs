//! What the path did to the datagrams of each flow.

use goodqueue_hosts::probe::delay::{FlowDelays, Summary};
use goodqueue_hosts::probe::{percent, ratio, rounded};
use goodqueue_netsim::Direction;
use goodqueue_netsim::record::FlowRecord;
use goodqueue_units::{Duration, Instant};
use serde::Serialize;

/// What the path did to a flow. Datagrams that were sent during the warm-up do not count.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FlowResult {
    /// The name in the scenario, `/`, and a number from 0.
    pub name: String,
    /// Its datagrams to the user.
    pub down: Way,
    /// Its datagrams from the user.
    pub up: Way,
}

/// What the path did to the datagrams of one direction.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Way {
    /// Datagrams sent.
    pub sent: u64,
    /// Payload bytes sent.
    pub sent_bytes: u64,
    /// Datagrams that arrived. Copies that a wire made do not count.
    pub delivered: u64,
    /// Payload bytes that arrived.
    pub delivered_bytes: u64,
    /// Datagrams that a queue dropped or a hop lost.
    pub lost: u64,
    /// Datagrams that arrived with a CE mark and were sent without.
    pub marked: u64,
    /// Datagrams that are still on the path.
    pub under_way: u64,
    /// Payload bits that arrived, per measured time, in Mbit/s.
    pub goodput_mbps: f64,
    /// The one-way delay from sending to arrival, in milliseconds. None: nothing arrived.
    pub delay_ms: Option<Summary>,
}

/// The counters of one direction of a flow.
pub(crate) struct Half {
    pub(crate) sent: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) delivered: u64,
    pub(crate) delivered_bytes: u64,
    pub(crate) marked: u64,
    pub(crate) delays: FlowDelays,
    pub(crate) first: Option<Instant>,
}

impl Half {
    pub(crate) fn new() -> Self {
        let delays = FlowDelays::new();
        Self { sent: 0, sent_bytes: 0, delivered: 0, delivered_bytes: 0, marked: 0, delays, first: None }
    }

    /// Returns the result. `under_way` is how many of its datagrams are on the path, `measured` the measured time.
    pub(crate) fn way(&self, under_way: u64, measured: Duration) -> Way {
        let bits = self.delivered_bytes as f64 * 8e-6;
        Way {
            sent: self.sent,
            sent_bytes: self.sent_bytes,
            delivered: self.delivered,
            delivered_bytes: self.delivered_bytes,
            lost: self.sent - self.delivered - under_way,
            marked: self.marked,
            under_way,
            goodput_mbps: rounded(ratio(bits, measured.as_secs_f64())),
            delay_ms: self.delays.summary(),
        }
    }
}

impl FlowResult {
    /// Returns the flow's entry among a record's flows: the direction of most of its bytes. `first` is when the flow
    /// first sent in each direction.
    pub(crate) fn record(&self, first: [Option<Instant>; 2]) -> FlowRecord {
        let direction =
            if self.up.sent_bytes > self.down.sent_bytes { Direction::Up } else { Direction::Down };
        let way = if direction == Direction::Up { &self.up } else { &self.down };
        FlowRecord {
            name: self.name.clone(),
            kind: "udp",
            direction,
            cc: None,
            start_s: rounded(
                first[direction as usize].unwrap_or_default().since(Instant::ZERO).as_secs_f64(),
            ),
            goodput_mbps: way.goodput_mbps,
            rtt_ms: None,
            bytes_sent: None,
            bytes_retrans: None,
            retransmitted: None,
            timeouts: None,
            tlp_probes: None,
            spurious_retransmissions: None,
            undos: None,
            loss_percent: (way.sent > 0).then(|| percent(way.lost, way.sent)),
            completion_ms: None,
            goodput_5s_mbps: None,
        }
    }
}
