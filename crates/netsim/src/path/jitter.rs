//! The jitter of a wire: netem's distributions, or that of a crowded Wi-Fi channel ([`Crowded`]).

use super::complete::{Crowded, with_crowded};
use goodqueue_qdisc::distribution::Distribution;
use goodqueue_units::{Duration, Stream};

/// How the delay of a wire varies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Jitter {
    /// Around the mean, in units of the jitter.
    Netem(Distribution),
    /// Above the delay.
    #[allow(dead_code, reason = "without the feature `complete` there are none")]
    Wifi(Crowded),
}

impl Default for Jitter {
    fn default() -> Self {
        Self::Netem(Distribution::default())
    }
}

impl Jitter {
    /// Returns every distribution with its name in a scenario.
    pub(crate) fn all() -> impl Iterator<Item = (&'static str, Self)> {
        let of_netem = Distribution::ALL.into_iter().map(|(name, one)| (name, Self::Netem(one)));
        with_crowded(of_netem)
    }

    /// Returns the table from which netem takes the delays, if there is one.
    pub(crate) fn table(self) -> Vec<i16> {
        match self {
            Self::Netem(distribution) => distribution.table(),
            Self::Wifi(_) => Vec::new(),
        }
    }

    /// Draws how far a delay is from the wire's own, in nanoseconds, for a jitter of `jitter`. `table` is that of
    /// [`Self::table`]. With the same random numbers Linux's netem draws the same delays: it has no jitter above 2.1 s.
    pub(crate) fn draw(self, table: &[i16], jitter: Duration, random: &mut Stream) -> i64 {
        let most = i32::MAX as u64;
        let drawn = match self {
            Self::Netem(distribution) if jitter.as_nanos() <= most => {
                return distribution.deviation(table, jitter.as_nanos() as i64, random.next_u32());
            }
            Self::Netem(distribution) => distribution.draw(random) * jitter.as_nanos() as f64,
            Self::Wifi(crowded) => 1e6 * crowded.draw_ms(jitter.as_millis_f64(), random),
        };
        libm::round(drawn) as i64
    }
}
