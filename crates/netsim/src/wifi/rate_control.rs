//! The modes that a sender tries for a frame: a fixed one, several by a schedule, or those that rate control found.

use super::minstrel::Minstrel;
use super::minstrel_ht::MinstrelHt;
use super::mode::Mode;
use goodqueue_units::{Duration, Instant};

/// A mode, and how often a frame is tried in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stage {
    pub(crate) mode: Mode,
    pub(crate) tries: u8,
    /// Whether RTS and CTS go before the frame.
    pub(crate) has_rts: bool,
}

/// The multi-rate retry chain of one frame or aggregate: up to four stages, tried in turn until an answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    stages: [Stage; 4],
    len: u8,
    /// Whether the chain tries a mode in order to learn about it. Such a frame is not aggregated.
    pub(crate) is_probe: bool,
    /// Whether the mode to learn about comes second, after the best one.
    pub(crate) is_deferred: bool,
}

impl Chain {
    /// Builds the chain of `stages`. Only the first four count, and there must be one.
    pub(crate) fn new(stages: &[Stage], is_probe: bool) -> Self {
        let mut chain =
            Self { stages: [stages[0]; 4], len: stages.len().min(4) as u8, is_probe, is_deferred: false };
        for (place, stage) in chain.stages.iter_mut().zip(stages) {
            *place = *stage;
        }
        chain
    }

    /// Returns the same chain, marked so that the mode to learn about comes second.
    pub(crate) fn deferred(self) -> Self {
        Self { is_deferred: true, ..self }
    }

    pub(crate) fn stages(&self) -> &[Stage] {
        &self.stages[..usize::from(self.len)]
    }
}

/// What became of a frame or an aggregate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) chain: Chain,
    /// How often each stage was tried.
    pub(crate) tried: [u8; 4],
    /// The number of frames, and how many of them arrived, in the last try.
    pub(crate) frames: u32,
    pub(crate) acked: u32,
}

impl Outcome {
    /// Returns the number of the stage of the last try.
    pub(crate) fn last_stage(&self) -> Option<usize> {
        self.tried.iter().rposition(|tried| *tried > 0)
    }
}

/// How a sender chooses modes for one receiver.
#[derive(Clone, Debug)]
pub(crate) enum RateControl {
    /// One mode.
    Fixed(Stage),
    /// Several modes by a schedule, each from its time on. The first holds from time zero on.
    Steps(Vec<(Duration, Stage)>),
    /// Linux's rate control for 802.11b, g and a.
    Minstrel(Box<Minstrel>),
    /// Linux's rate control for 802.11n.
    MinstrelHt(Box<MinstrelHt>),
}

impl RateControl {
    /// Returns the chain of the next frame or aggregate.
    pub(crate) fn plan(&mut self, now: Instant) -> Chain {
        match self {
            Self::Fixed(stage) => Chain::new(&[*stage], false),
            Self::Steps(steps) => Chain::new(&[step(steps, now)], false),
            Self::Minstrel(minstrel) => minstrel.plan(),
            Self::MinstrelHt(minstrel) => minstrel.plan(now),
        }
    }

    /// Takes the outcome of a frame or an aggregate.
    pub(crate) fn report(&mut self, now: Instant, outcome: &Outcome) {
        match self {
            Self::Fixed(_) | Self::Steps(_) => {}
            Self::Minstrel(minstrel) => minstrel.report(now, outcome),
            Self::MinstrelHt(minstrel) => minstrel.report(now, outcome),
        }
    }

    /// Returns the throughput that the sender expects, in Mbit/s. A rate that rate control did not choose counts as
    /// if no frame were lost: Minstrel-HT then takes a success probability of 0.9.
    pub(crate) fn expected_mbps(&self, now: Instant) -> f64 {
        match self {
            Self::Fixed(stage) => SUREST * stage.mode.mbps(),
            Self::Steps(steps) => SUREST * step(steps, now).mode.mbps(),
            Self::Minstrel(minstrel) => minstrel.expected_mbps(),
            Self::MinstrelHt(minstrel) => minstrel.expected_mbps(),
        }
    }
}

/// The highest success probability that Minstrel-HT takes for a mode.
const SUREST: f64 = 0.9;

/// Returns the step that holds at `now`.
fn step(steps: &[(Duration, Stage)], now: Instant) -> Stage {
    let elapsed = now.since(Instant::ZERO);
    steps.iter().rfind(|(from, _)| *from <= elapsed).unwrap_or(&steps[0]).1
}

#[cfg(test)]
mod tests;
/// Traffic for which Linux's decisions are known.
#[cfg(test)]
pub(crate) mod traffic;
