//! Probabilities as in tc-netem(8): correlated random draws.

use goodqueue_units::Stream;

/// How often something happens to a packet, and the correlation of each draw with the draw before it. Both are from 0
/// to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Chance {
    pub(crate) probability: f64,
    pub(crate) correlation: f64,
}

impl Chance {
    /// Builds a chance without correlation.
    pub(crate) const fn of(probability: f64) -> Self {
        Self { probability, correlation: 0.0 }
    }
}

/// Returns `share` as `tc` writes it: 0 to 2^32 - 1 (`get_percent`, iproute2's q_netem.c).
pub(crate) fn scaled(share: f64) -> u32 {
    libm::rint(share * f64::from(u32::MAX)) as u32
}

/// Draws with a [`Chance`], as netem does: with the same random numbers the same packets are hit.
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    probability: u32,
    correlation: u32,
    /// The number before. Netem draws the first one when the discipline is made.
    last: Option<u32>,
}

impl Dice {
    pub(crate) fn new(Chance { probability, correlation }: Chance) -> Self {
        Self { probability: scaled(probability), correlation: scaled(correlation), last: None }
    }

    /// Returns whether the event happens to the next packet. A probability of 0 draws no random number.
    ///
    /// With a correlation c, the number that is compared is c times the number before plus 1 - c times a new draw, as
    /// in NIST Net and netem (`get_crandom`, net/sched/sch_netem.c). Such numbers gather around the middle, so an event
    /// with a probability below 0.5 happens less often than it should. This is the "bad behaviour" for which
    /// tc-netem(8) calls the correlation deprecated.
    #[inline]
    pub(crate) fn hit(&mut self, random: &mut Stream) -> bool {
        self.probability > 0 && self.probability >= self.number(random)
    }

    fn number(&mut self, random: &mut Stream) -> u32 {
        if self.correlation == 0 {
            return random.next_u32();
        }
        let last = self.last.unwrap_or_else(|| random.next_u32());
        let share = u64::from(self.correlation) + 1;
        let new = u64::from(random.next_u32()) * ((1 << 32) - share);
        let number = ((new + u64::from(last) * share) >> 32) as u32;
        self.last = Some(number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Streams;

    /// Returns the fraction of hits, and the fraction of hits directly after a hit.
    fn fractions(chance: Chance) -> (f64, f64) {
        let mut random = Streams::new(5).stream("test", 0);
        let mut dice = Dice::new(chance);
        let hits: Vec<bool> = (0..200_000).map(|_| dice.hit(&mut random)).collect();
        let count = hits.iter().filter(|hit| **hit).count() as f64;
        let again = hits.windows(2).filter(|two| two[0] && two[1]).count() as f64;
        (count / hits.len() as f64, again / count)
    }

    #[test]
    fn independent_draws_hit_as_often_as_they_say() {
        let (often, again) = fractions(Chance::of(0.1));
        // Standard error: sqrt(0.1 * 0.9 / 200000) = 0.00067; over the tenth of the draws that follow a hit 0.0021.
        assert!((often - 0.1).abs() < 3.0 * 0.00067 && (again - 0.1).abs() < 3.0 * 0.0021, "{often} {again}");
        assert_eq!(fractions(Chance::of(1.0)).0, 1.0);
    }

    /// The numbers are an exponential moving average with mean 1/2 and variance (1 - c) / (1 + c) / 12. Each number
    /// depends on the number before.
    #[test]
    fn correlated_draws_come_in_a_row_and_are_fewer_than_they_say() {
        let (often, again) = fractions(Chance { probability: 0.2, correlation: 0.5 });
        assert!(often < 0.15 && again > 2.0 * often, "{often} {again}");
    }

    /// With the correlation 1/4 each number is a quarter of the number before and three quarters of a draw.
    #[test]
    fn numbers_are_those_of_netem() {
        let mut random = Streams::new(5).stream("test", 0);
        let mut same = random.clone();
        let chance = Chance { probability: 0.5, correlation: 0.25 };
        let mut dice = Dice::new(chance);
        let mut number = f64::from(same.next_u32());
        for _ in 0..1000 {
            number = 0.25 * number + 0.75 * f64::from(same.next_u32());
            assert_eq!(dice.hit(&mut random), number <= f64::from(u32::MAX / 2), "{number}");
        }
    }
}
