//! Jitter: how much the delay of a packet differs from that of the packet before it.

use super::rounded;
use goodqueue_units::Duration;

/// The jitter of the packets that arrived, in the order of their arrival.
#[derive(Clone, Copy, Debug, Default)]
pub struct Jitter {
    /// The delay of the last packet, in nanoseconds.
    last: Option<i64>,
    /// The number of differences between successive delays, and their sum.
    differences: u64,
    sum: Duration,
    /// J of RFC 3550 (6.4.1), in nanoseconds.
    smoothed: f64,
}

impl Jitter {
    /// Takes the delay of the next packet, in nanoseconds. A delay between two clocks may be negative.
    pub fn took(&mut self, delay: i64) {
        if let Some(last) = self.last.replace(delay) {
            let difference = delay.abs_diff(last);
            self.differences += 1;
            self.sum = self.sum + Duration::from_nanos(difference);
            self.smoothed += (difference as f64 - self.smoothed) / 16.0;
        }
    }

    /// Returns the mean difference, without signs, and RFC 3550's jitter as it is now, both in milliseconds. `None`
    /// for fewer than two packets.
    #[must_use]
    pub fn in_ms(&self) -> Option<(f64, f64)> {
        let mean = self.sum.as_millis_f64() / self.differences as f64;
        (self.differences > 0).then(|| (rounded(mean), rounded(self.smoothed / 1e6)))
    }
}
