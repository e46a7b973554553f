//! How a wire loses packets, in the notation of tc-netem(8).

use super::chance::{Chance, Dice, scaled};
use goodqueue_hosts::keys::{Percent, percent};
use goodqueue_units::Stream;
use std::fmt;

/// A loss model of tc-netem(8). Probabilities are from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Loss {
    #[default]
    None,
    /// `loss random`: each packet is lost with a probability. See [`Dice::hit`] for the correlation.
    Random { probability: f64, correlation: f64 },
    /// `loss gemodel`: the model of Gilbert (1960) and Elliott (1963). A channel is good or bad, and good at the
    /// start. Before each packet after the first, a good channel turns bad with probability `p`, and a bad channel
    /// turns good with probability `r`. A bad channel loses a packet with probability `one_minus_h`, a good channel
    /// with `one_minus_k`.
    ///
    /// In the long run the channel is bad for p / (p + r) of the packets. If a bad channel loses all packets and a
    /// good channel none, a run of losses has a mean length of 1 / r packets.
    Gemodel { p: f64, r: f64, one_minus_h: f64, one_minus_k: f64 },
}

const ACCEPTED: &str =
    "a loss such as 1%, 1% 25% (with correlation), or gemodel 1% 10% 70% 0.1% (p, r, 1-h, 1-k)";

impl Loss {
    /// Reads `1%`, `1% 25%`, `random 1% 25%`, or `gemodel` and one to four percentages. Values that are left out have
    /// the defaults of tc-netem(8): r = 1 - p, 1-h = 100%, 1-k = 0%.
    ///
    /// # Errors
    /// A message that says what was found and what is accepted. The caller adds the key.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let (is_gemodel, numbers) = match words.as_slice() {
            ["gemodel", numbers @ ..] => (true, numbers),
            ["random", numbers @ ..] | numbers => (false, numbers),
        };
        let refuse = || format!("found {text:?}; accepted: {ACCEPTED}");
        let starts_as_number =
            |word: &&str| word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        if !numbers.iter().all(starts_as_number) {
            return Err(refuse());
        }
        let numbers: Vec<f64> = numbers.iter().map(|word| percent(word)).collect::<Result<_, _>>()?;
        let number = |index: usize, default: f64| numbers.get(index).copied().unwrap_or(default);
        match (is_gemodel, numbers.len()) {
            (false, 1 | 2) if numbers[0] == 0.0 => Ok(Self::None),
            (false, 1 | 2) => Ok(Self::Random { probability: numbers[0], correlation: number(1, 0.0) }),
            (true, 1..=4) => Ok(Self::Gemodel {
                p: numbers[0],
                r: number(1, 1.0 - numbers[0]),
                one_minus_h: number(2, 1.0),
                one_minus_k: number(3, 0.0),
            }),
            _ => Err(refuse()),
        }
    }
}

impl fmt::Display for Loss {
    /// Writes the canonical form of what [`parse`](Loss::parse) reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::None => f.write_str("0%"),
            Self::Random { probability, correlation: 0.0 } => write!(f, "{}", Percent(probability)),
            Self::Random { probability, correlation } => {
                write!(f, "{} {}", Percent(probability), Percent(correlation))
            }
            Self::Gemodel { p, r, one_minus_h: h, one_minus_k: k } => {
                write!(f, "gemodel {} {} {} {}", Percent(p), Percent(r), Percent(h), Percent(k))
            }
        }
    }
}

/// Decides for each packet whether it is lost, by a [`Loss`].
#[derive(Clone, Debug)]
pub(crate) enum Losses {
    Random(Dice),
    /// The probabilities are those of a good and of a bad channel, times 2^32 - 1.
    Gemodel {
        loss: [u32; 2],
        turn: [u32; 2],
        is_bad: bool,
    },
}

impl Losses {
    pub(crate) fn new(loss: Loss) -> Self {
        match loss {
            Loss::None => Self::Random(Dice::new(Chance::of(0.0))),
            Loss::Random { probability, correlation } => {
                Self::Random(Dice::new(Chance { probability, correlation }))
            }
            Loss::Gemodel { p, r, one_minus_h, one_minus_k } => Self::Gemodel {
                loss: [one_minus_k, one_minus_h].map(scaled),
                turn: [p, r].map(scaled),
                is_bad: false,
            },
        }
    }

    /// Returns whether the next packet is lost.
    #[inline]
    pub(crate) fn next(&mut self, random: &mut Stream) -> bool {
        match self {
            Self::Random(dice) => dice.hit(random),
            // Two numbers per packet, whatever the probabilities are. The state before the transition decides about
            // the packet (`loss_gilb_ell` of sch_netem.c).
            Self::Gemodel { loss, turn, is_bad } => {
                let found = usize::from(*is_bad);
                *is_bad ^= random.next_u32() < turn[found];
                let drawn = random.next_u32();
                if found == 0 { drawn < loss[0] } else { drawn > u32::MAX - loss[1] }
            }
        }
    }
}

#[cfg(test)]
mod tests;
