//! The jitter of a crowded Wi-Fi channel.
//!
//! It is the model of draft-huitema-ccwg-c4-test-04, "Handling of High Jitter Environments". Each packet is
//! deferred N1 times by 1 ms, where N1 is Poisson distributed with mean 1, less a uniform part of 1 ms if N1 is not
//! zero. A share x of the packets is also sent N2 times again, 7.5 ms each, where N2 is Poisson distributed with mean
//! 12. The wire's `jitter` J is about the mean of the sum: x = (J - 1 ms) / 90 ms, between 0 and 1.

use crate::path::jitter::Jitter;
use goodqueue_units::Stream;

/// A crowded channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Crowded;

impl Crowded {
    /// Draws what is above the delay of a wire, in ms, for a jitter of `mean` ms.
    pub(in crate::path) fn draw_ms(self, mean: f64, random: &mut Stream) -> f64 {
        let deferred = poisson(1.0, random);
        let within = if deferred > 0.0 { random.next_f64() } else { 0.0 };
        let share = (mean - 1.0) / 90.0;
        let again = if random.next_f64() < share { poisson(12.0, random) } else { 0.0 };
        deferred - within + 7.5 * again
    }
}

/// Returns `all`, and the jitter of a crowded channel with its name in a scenario.
pub(in crate::path) fn with_crowded(
    all: impl Iterator<Item = (&'static str, Jitter)>,
) -> impl Iterator<Item = (&'static str, Jitter)> {
    all.chain([("wifi", Jitter::Wifi(Crowded))])
}

/// Draws a Poisson distributed number (Knuth, TAOCP 2, 3.4.1).
fn poisson(mean: f64, random: &mut Stream) -> f64 {
    let (least, mut product, mut count) = (libm::exp(-mean), random.next_f64(), 0.0);
    while product > least {
        product *= random.next_f64();
        count += 1.0;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::{Duration, Streams};

    /// The mean of the short part is 1 - (1 - 1/e) / 2 = 0.684 ms, and of the long part 90 ms in a fifteenth of the
    /// packets. Standard errors over 100,000 draws: 0.003 and 0.08 ms.
    #[test]
    fn wifi_has_the_drafts_mean_and_spikes() {
        let mut random = Streams::new(1).stream("jitter", 0);
        let mut draws = |ms: u64| -> Vec<f64> {
            let jitter = Duration::from_millis(ms);
            (0..100_000).map(|_| Jitter::Wifi(Crowded).draw(&[], jitter, &mut random) as f64 / 1e6).collect()
        };
        let mean = |draws: &[f64]| draws.iter().sum::<f64>() / draws.len() as f64;
        let calm = draws(1);
        assert!((mean(&calm) - 0.684).abs() < 0.01, "{}", mean(&calm));
        assert!(calm.iter().all(|ms| (0.0..15.0).contains(ms)));
        let bad = draws(7);
        assert!((mean(&bad) - 6.684).abs() < 0.3, "{}", mean(&bad));
        let spikes = bad.iter().filter(|ms| **ms > 50.0).count() as f64 / 100_000.0;
        // 6/90 of the packets, of which 98 % have N2 of 6 or more.
        assert!((spikes - 0.0655).abs() < 0.003, "{spikes}");
    }
}
