//! netem's random numbers: correlated ones, a generator with a seed, and the models of loss.
//!
//! Source: net/sched/sch_netem.c (`get_crandom`, `loss_4state`, `loss_gilb_ell`). Probabilities are numbers of 32 bits,
//! of which 2^32 - 1 is certain.

use crate::signal::Owner;

/// Returns `percent` as a number of 32 bits, as tc rounds it.
pub(super) fn share(percent: f64) -> u32 {
    libm::rint(percent / 100.0 * f64::from(u32::MAX)) as u32
}

/// The source of uniform numbers: the owner's dice, or a generator of its own for a line with `seed`.
#[derive(Clone, Debug, Default)]
pub(super) struct Source(Option<[u32; 4]>);

impl Source {
    /// Makes LFSR113 (L'Ecuyer 1999, "Tables of maximally equidistributed combined LFSR generators") with the state
    /// that Linux's `prandom_seed_state` makes of `seed`. Without a seed the numbers are the owner's.
    pub(super) fn new(seed: Option<u64>) -> Self {
        Self(seed.map(|seed| {
            let folded = ((seed >> 32) ^ (seed << 10) ^ seed) as u32;
            // Each component needs a state above these.
            [2, 8, 16, 128].map(|least| if folded < least { folded + least } else { folded })
        }))
    }

    #[cfg(test)]
    pub(super) fn of_state(state: [u32; 4]) -> Self {
        Self(Some(state))
    }

    /// Returns 32 uniform random bits.
    pub(super) fn next<P, O: Owner<P>>(&mut self, owner: &mut O) -> u32 {
        let Some(state) = &mut self.0 else { return owner.random_u32() };
        // The shifts and masks of the four components.
        const STEPS: [(u32, u32, u32, u32); 4] =
            [(6, 13, !1, 18), (2, 27, !7, 2), (13, 21, !15, 7), (3, 12, !127, 13)];
        for (z, (a, b, mask, c)) in state.iter_mut().zip(STEPS) {
            *z = ((*z & mask) << c) ^ (((*z << a) ^ *z) >> b);
        }
        state.iter().fold(0, |all, z| all ^ z)
    }
}

/// Correlated numbers. Each is a mean of a new number and the one before, with the weights 1 - rho and rho in fixed
/// point. So the numbers gather around the middle: an event of less than 50 % happens less often than its probability
/// says, and one of more than 50 % more often.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Correlated {
    rho: u32,
    /// The number before. It is drawn at the first use.
    last: Option<u32>,
}

impl Correlated {
    pub(super) fn new(percent: Option<f64>) -> Self {
        Self { rho: percent.map_or(0, share), last: None }
    }

    pub(super) fn next<P, O: Owner<P>>(&mut self, source: &mut Source, owner: &mut O) -> u32 {
        if self.rho == 0 {
            return source.next(owner);
        }
        // Linux draws the first number when the line is set, and not from the seed.
        let last = self.last.unwrap_or_else(|| owner.random_u32());
        let rho = u64::from(self.rho) + 1;
        // Two products below 2^64 whose sum is below 2^64, too: the weights add up to 2^32.
        let sum = u64::from(source.next(owner)) * ((1 << 32) - rho) + u64::from(last) * rho;
        let answer = (sum >> 32) as u32;
        self.last = Some(answer);
        answer
    }
}

/// Which packets are lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Loss {
    None,
    /// Each packet with this probability. The numbers may be correlated.
    Random(u32),
    /// Four states: packets pass in a gap, are lost alone in a gap, are lost in a burst, pass in a burst.
    State {
        p13: u32,
        p31: u32,
        p32: u32,
        p23: u32,
        p14: u32,
    },
    /// Gilbert and Elliott: a good and a bad state. `h` is the probability that a packet passes in the bad state, `k1`
    /// the one that it is lost in the good state.
    Gemodel {
        p: u32,
        r: u32,
        h: u32,
        k1: u32,
    },
}

/// The state of a [`Loss`] model: for [`Loss::Gemodel`] the first two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Packets pass: a gap between bursts of losses, or the good state.
    #[default]
    Gap,
    /// Packets are lost in a burst, or the bad state.
    Burst,
    /// One packet was lost alone.
    LostAlone,
    /// Packets pass within a burst.
    PassInBurst,
}

impl Loss {
    /// Returns whether the next packet is lost. Each comparison is Linux's, with its odd cases: a number equal to a
    /// bound changes no state.
    pub(super) fn next<P, O: Owner<P>>(
        self,
        state: &mut State,
        correlated: &mut Correlated,
        source: &mut Source,
        owner: &mut O,
    ) -> bool {
        match self {
            Self::None => false,
            Self::Random(probability) => probability > 0 && probability >= correlated.next(source, owner),
            Self::State { p13, p31, p32, p23, p14 } => {
                let drawn = source.next(owner);
                // The sum of two probabilities wraps, as in Linux.
                let (leaves, ends) = (p13.wrapping_add(p14), p31.wrapping_add(p32));
                let next = match *state {
                    State::Gap if drawn < p14 => State::LostAlone,
                    State::Gap if p14 < drawn && drawn < leaves => State::Burst,
                    State::Gap | State::LostAlone => State::Gap,
                    State::PassInBurst if drawn < p23 => State::Burst,
                    State::PassInBurst => State::PassInBurst,
                    State::Burst if drawn < p32 => State::PassInBurst,
                    State::Burst if p32 < drawn && drawn < ends => State::Gap,
                    // A number equal to a bound leaves the state, and the packet passes.
                    State::Burst if drawn == p32 || drawn == ends => return false,
                    State::Burst => State::Burst,
                };
                *state = next;
                matches!(next, State::Burst | State::LostAlone)
            }
            Self::Gemodel { p, r, h, k1 } => {
                let drawn = source.next(owner);
                match *state {
                    State::Burst => {
                        if drawn < r {
                            *state = State::Gap;
                        }
                        source.next(owner) > h
                    }
                    _ => {
                        if drawn < p {
                            *state = State::Burst;
                        }
                        source.next(owner) < k1
                    }
                }
            }
        }
    }
}
