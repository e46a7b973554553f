//! Link rates.

use crate::Duration;
use core::fmt;
use core::num::NonZeroU64;

/// A rate in bits per second. It is never zero, so that a packet always takes a finite time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(NonZeroU64);

impl Rate {
    /// Returns a rate of `bps` bits per second, or `None` for zero.
    #[must_use]
    pub const fn from_bps(bps: u64) -> Option<Self> {
        match NonZeroU64::new(bps) {
            Some(bps) => Some(Self(bps)),
            None => None,
        }
    }

    /// Returns the bits per second.
    #[must_use]
    pub const fn as_bps(self) -> u64 {
        self.0.get()
    }

    /// Returns how long `bytes` bytes occupy a link of this rate, rounded down to a nanosecond.
    #[must_use]
    pub const fn transmission_time(self, bytes: u32) -> Duration {
        Duration::from_nanos(bytes as u64 * 8_000_000_000 / self.as_bps())
    }

    /// Returns the whole bytes that the rate carries in `span`, rounded down. For an RTT this is the bandwidth-delay
    /// product.
    #[must_use]
    pub const fn bytes_in(self, span: Duration) -> u64 {
        (self.as_bps() as u128 * span.as_nanos() as u128 / 8_000_000_000) as u64
    }
}

impl fmt::Display for Rate {
    /// Writes the rate as `tc` reads it: `10mbit`, `1500kbit`, `999bit`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_bps() {
            bps if bps % 1_000_000_000 == 0 => write!(f, "{}gbit", bps / 1_000_000_000),
            bps if bps % 1_000_000 == 0 => write!(f, "{}mbit", bps / 1_000_000),
            bps if bps % 1_000 == 0 => write!(f, "{}kbit", bps / 1_000),
            bps => write!(f, "{bps}bit"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_full_packet_takes_1211200_ns_at_10_mbit() {
        let rate = Rate::from_bps(10_000_000).unwrap();
        assert_eq!(rate.transmission_time(1514), Duration::from_nanos(1_211_200));
        assert_eq!(rate.to_string(), "10mbit");
        assert_eq!(rate.bytes_in(Duration::from_millis(50)), 62_500);
        assert_eq!(Rate::from_bps(0), None);
    }
}
