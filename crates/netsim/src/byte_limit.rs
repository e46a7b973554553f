//! Byte queue limits: how many bytes a driver's ring takes before the discipline above it must wait.
//!
//! Source: Linux since 3.3 (`lib/dynamic_queue_limits.c`, `netdev_tx_sent_queue`). The limit should be as low as the
//! ring allows without ever running empty. It rises when the ring ran empty although packets waited, and it falls by
//! what was never needed within a second. A packet that begins below the limit may end above it. Here a packet is
//! complete when its transmission ends, one by one; a card that reports several at a time needs a higher limit.

use goodqueue_hosts::keys::{Json, Quantity, Size, describe};
use goodqueue_units::{Duration, Instant};
use serde_json::json;

/// How long the least slack is awaited before the limit falls.
const HOLD: Duration = Duration::from_secs(1);
/// The word for a limit that finds itself.
const DYNAMIC: &str = "dynamic";

/// Byte queue limits as a scenario writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bql {
    /// The limit finds itself.
    Dynamic,
    /// The limit is fixed (Linux `limit_min` and `limit_max`).
    Fixed(Size),
}

impl Quantity for Bql {
    const TYPE: &'static str = "size, or a word";
    fn read(found: &Json) -> Result<Self, String> {
        if found.as_str() == Some(DYNAMIC) {
            return Ok(Self::Dynamic);
        }
        let refused =
            |_| format!("found {}; accepted: \"{DYNAMIC}\", or a size such as \"1514B\"", describe(found));
        Size::read(found).map(Self::Fixed).map_err(refused)
    }
    fn write(&self) -> Json {
        match self {
            Self::Dynamic => json!(DYNAMIC),
            Self::Fixed(size) => size.write(),
        }
    }
    fn schema() -> Json {
        json!({"anyOf": [{"const": DYNAMIC}, Size::schema()]})
    }
}

/// The limit of a ring, and its bytes.
#[derive(Debug)]
pub(crate) struct ByteLimit {
    limit: u64,
    is_dynamic: bool,
    /// Bytes in the ring and on the wire.
    in_ring: u64,
    /// The bytes of the packet that came last.
    last: u64,
    /// At the last completion: the bytes that stayed, what they were above the limit by, and the packet that came last.
    stayed: u64,
    above: u64,
    last_before: u64,
    /// The least slack since the time.
    slack: u64,
    slack_since: Instant,
}

impl ByteLimit {
    pub(crate) fn new(bql: Bql) -> Self {
        let (limit, is_dynamic) = match bql {
            Bql::Dynamic => (0, true),
            Bql::Fixed(size) => (size.0, false),
        };
        let (in_ring, last, stayed, above, last_before) = (0, 0, 0, 0, 0);
        let (slack, slack_since) = (u64::MAX, Instant::ZERO);
        Self { limit, is_dynamic, in_ring, last, stayed, above, last_before, slack, slack_since }
    }

    /// Returns whether the ring takes another packet.
    pub(crate) fn has_room(&self) -> bool {
        self.in_ring <= self.limit
    }

    /// Counts a packet of `bytes` bytes that comes into the ring.
    pub(crate) fn comes(&mut self, bytes: u32) {
        self.last = bytes.into();
        self.in_ring += self.last;
    }

    /// Ends the transmission of a packet of `bytes` bytes.
    pub(crate) fn completes(&mut self, now: Instant, bytes: u32) {
        let bytes = u64::from(bytes);
        let mut above = self.in_ring.saturating_sub(self.limit);
        self.in_ring -= bytes;
        if self.is_dynamic {
            let limit = self.adapted(now, bytes, above);
            if limit != self.limit {
                (self.limit, above) = (limit, 0);
            }
        }
        (self.stayed, self.above, self.last_before) = (self.in_ring, above, self.last);
    }

    /// Returns the limit after `bytes` bytes were completed. Before that the ring was `above` its limit.
    fn adapted(&mut self, now: Instant, bytes: u64, above: u64) -> u64 {
        let is_empty = self.in_ring == 0;
        // Nothing more could come since the last completion, and all that was there then has gone.
        let was_used_up = self.above > 0 && bytes >= self.stayed;
        if above > 0 && is_empty || was_used_up {
            self.wait_for_slack(now);
            return self.limit + bytes.saturating_sub(self.stayed) + self.above;
        }
        if is_empty || bytes >= self.stayed {
            return self.limit;
        }
        let unused = (self.limit + self.above).saturating_sub(2 * bytes);
        let of_last = if self.above > 0 { self.last_before.saturating_sub(self.above) } else { 0 };
        self.slack = self.slack.min(unused.max(of_last));
        if now <= self.slack_since + HOLD {
            return self.limit;
        }
        let lower = self.limit.saturating_sub(self.slack);
        self.wait_for_slack(now);
        lower
    }

    fn wait_for_slack(&mut self, now: Instant) {
        (self.slack, self.slack_since) = (u64::MAX, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Sends full frames for as many milliseconds, one each, with always more to send. Returns the largest number of
    /// packets in the ring within the last second.
    fn ring(bql: Bql, ms: u32) -> usize {
        let (mut limit, mut now, mut most) = (ByteLimit::new(bql), Instant::ZERO, 0);
        let mut packets = 0;
        for number in 0..ms {
            while limit.has_room() {
                limit.comes(1514);
                packets += 1;
            }
            if number + 1000 >= ms {
                most = most.max(packets);
            }
            now += MS;
            limit.completes(now, 1514);
            packets -= 1;
        }
        most
    }

    /// Guards against a limit below which nothing leaves, or that lets no packet end above it.
    #[test]
    fn a_fixed_limit_lets_one_packet_end_above_it() {
        let packets = |bytes| ring(Bql::Fixed(Size(bytes)), 10);
        assert_eq!([packets(0), packets(1513), packets(1514), packets(15_140)], [1, 1, 2, 11]);
    }

    /// Guards against a limit that grows without need, or falls so far that the wire waits.
    #[test]
    fn a_dynamic_limit_settles_at_what_keeps_the_wire_busy() {
        let most = ring(Bql::Dynamic, 5000);
        assert!((2..=4).contains(&most), "{most}");
    }

    /// A ring that ran empty while packets waited gets a higher limit.
    #[test]
    fn the_limit_rises_when_the_ring_runs_empty() {
        let mut limit = ByteLimit::new(Bql::Dynamic);
        limit.comes(1514);
        assert!(!limit.has_room());
        limit.completes(Instant::ZERO + MS, 1514);
        assert_eq!(limit.limit, 1514);
        limit.comes(1514);
        assert!(limit.has_room());
    }

    #[test]
    fn what_is_no_limit_is_refused() {
        assert_eq!(Bql::read(&json!("dynamic")), Ok(Bql::Dynamic));
        assert_eq!(Bql::read(&json!("1514B")).map(|bql| bql.write()), Ok(json!("1514B")));
        let error = Bql::read(&json!(true)).unwrap_err();
        assert_eq!(error, "found boolean true; accepted: \"dynamic\", or a size such as \"1514B\"");
    }
}
