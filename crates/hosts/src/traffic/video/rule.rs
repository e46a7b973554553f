//! Rules by which a player chooses the rate of the next segment.

use goodqueue_units::{Duration, Rate};

/// BOLA's weight of full buffers, gamma times the length of a segment: Spiteri et al. 2016, section V.
const GAMMA_P: f64 = 5.0;
/// How many segments the throughput rule remembers: Yin et al. 2015, section 7.1, "RB".
const REMEMBERED: usize = 5;

/// A rule, by its name in a scenario.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    /// The buffer alone decides: BOLA-BASIC.
    Bola,
    /// The throughput of the last segments decides.
    Throughput,
}

crate::word!(Rule);

impl Rule {
    const ALL: [Self; 2] = [Self::Bola, Self::Throughput];

    const fn name(self) -> &'static str {
        match self {
            Self::Bola => "bola",
            Self::Throughput => "throughput",
        }
    }
}

/// What a player knows of its segments.
#[derive(Clone, Debug)]
pub(super) struct Ladder {
    /// The rates that the server has, the lowest first.
    pub rates: Vec<Rate>,
    /// Time that a segment plays.
    pub segment: Duration,
    /// Time that the player's buffer holds.
    pub buffer: Duration,
}

/// Throughputs of the last segments, the latest last.
#[derive(Clone, Debug, Default)]
pub(super) struct Throughputs(Vec<f64>);

impl Throughputs {
    /// Adds a segment that took `time` from its request to its last byte.
    pub(super) fn add(&mut self, bytes: u64, time: Duration) {
        if self.0.len() == REMEMBERED {
            self.0.remove(0);
        }
        self.0.push(bytes as f64 * 8.0 / time.as_secs_f64().max(1e-9));
    }

    /// Returns the harmonic mean in bit/s; none before the first segment.
    fn mean(&self) -> Option<f64> {
        let inverse: f64 = self.0.iter().map(|bps| 1.0 / bps).sum();
        (!self.0.is_empty()).then(|| self.0.len() as f64 / inverse)
    }
}

impl Ladder {
    /// Returns the place of the next segment's rate. `level` is the time that the buffer still plays.
    pub(super) fn choose(&self, rule: Rule, level: Duration, past: &Throughputs) -> usize {
        match rule {
            Rule::Bola => self.bola(level),
            Rule::Throughput => self.below(past.mean().unwrap_or(0.0)),
        }
    }

    /// Returns the place that maximises (V (v + gamma p) - Q) / S, with v = ln(S / least S) and V = (Q max - 1) /
    /// (greatest v + gamma p). Q is in segments: Spiteri et al. 2016, equations 10 and 11.
    fn bola(&self, level: Duration) -> usize {
        let p = self.segment.as_secs_f64();
        let bps = |place: usize| self.rates[place].as_bps() as f64;
        let utility = |place: usize| libm::log(bps(place) / bps(0));
        let v = (self.buffer.as_secs_f64() / p - 1.0) / (utility(self.rates.len() - 1) + GAMMA_P);
        let score = |place: usize| (v * (utility(place) + GAMMA_P) - level.as_secs_f64() / p) / bps(place);
        (0..self.rates.len()).fold(0, |best, place| if score(place) > score(best) { place } else { best })
    }

    /// Returns the place of the greatest rate below `bps`, or the lowest.
    fn below(&self, bps: f64) -> usize {
        self.rates.iter().rposition(|rate| (rate.as_bps() as f64) < bps).unwrap_or(0)
    }

    /// Returns the bytes of a segment at the rate of `place`.
    pub(super) fn bytes(&self, place: usize) -> u64 {
        self.rates[place].bytes_in(self.segment).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder(kbps: &[u64], buffer_s: u64) -> Ladder {
        let rates = kbps.iter().map(|kbps| Rate::from_bps(kbps * 1000).unwrap()).collect();
        Ladder { rates, segment: Duration::from_secs(2), buffer: Duration::from_secs(buffer_s) }
    }

    /// Rates 1 and e, a buffer of 13 segments, V = 12 / (1 + 5) = 2: the scores are equal where
    /// (10 - Q) = (12 - Q) / e, at Q = 10 - 2 / (e - 1) = 8.836 segments, 17.67 s.
    #[test]
    fn bola_changes_where_the_scores_are_equal() {
        let two = ladder(&[1_000_000, 2_718_282], 26);
        let chosen = |ms| two.choose(Rule::Bola, Duration::from_millis(ms), &Throughputs::default());
        assert_eq!((chosen(0), chosen(17_660), chosen(17_680), chosen(26_000)), (0, 0, 1, 1));
    }

    /// 1, 2 and 4 Mbit/s: the harmonic mean is 3 / 1.75 = 1.714 Mbit/s. A sixth segment pushes the first one out.
    #[test]
    fn the_throughput_rule_takes_the_harmonic_mean_of_five() {
        let three = ladder(&[500, 1700, 1720], 30);
        let mut past = Throughputs::default();
        assert_eq!(three.choose(Rule::Throughput, Duration::ZERO, &past), 0, "nothing is known");
        [1, 2, 4].iter().for_each(|mbps| past.add(mbps * 125_000, Duration::from_secs(1)));
        assert_eq!(three.choose(Rule::Throughput, Duration::ZERO, &past), 1);
        (0..5).for_each(|_| past.add(500_000, Duration::from_secs(1)));
        assert_eq!((past.0.len(), past.mean().map(f64::round)), (5, Some(4e6)));
        assert_eq!(three.choose(Rule::Throughput, Duration::ZERO, &past), 2);
    }
}
