//! Rate control and a channel in a closed loop, without contention: what the tests of rate control run on.

use super::{Chain, Outcome, Stage};
use crate::path::wifi::channel::error_rate;
use crate::path::wifi::mode::Mode;
use crate::path::wifi::standard::{Band, Category, Standard, Timing};
use goodqueue_units::{Duration, Instant, Stream, Streams};

/// Bytes of a frame: a packet of 1500 bytes with its headers.
const FRAME_BYTES: u32 = 1538;

/// A sender that always has frames, and a receiver at some distance.
pub(crate) struct ClosedLoop {
    pub(crate) timing: Timing,
    pub(crate) now: Instant,
    pub(crate) random: Stream,
    pub(crate) snr_db: f64,
    /// Frames of an aggregate, at the most.
    pub(crate) aggregate: u32,
}

/// One exchange: what was planned, what became of it, and how much of each mode's time it took.
pub(crate) struct Exchange {
    pub(crate) start: Instant,
    pub(crate) outcome: Outcome,
}

impl ClosedLoop {
    pub(crate) fn new(standard: Standard, band: Band, snr_db: f64, aggregate: u32) -> Self {
        let timing = Timing::new(standard, band, false);
        Self { timing, now: Instant::ZERO, random: Streams::new(1).stream("loop", 0), snr_db, aggregate }
    }

    /// Sends what `chain` says; time passes.
    pub(crate) fn send(&mut self, chain: Chain) -> Exchange {
        let start = self.now;
        // Aggregates are as long as 4 ms at the slowest of the chain allow (ath9k).
        let longest = Duration::from_millis(4);
        let slowest = chain.stages().iter().map(|stage| stage.mode.bytes_in(longest, false)).min();
        let most = slowest.map_or(1, |bytes| bytes / FRAME_BYTES).min(self.aggregate).max(1);
        let frames = if chain.is_probe { 1 } else { most };
        let mut outcome = Outcome { chain, tried: [0; 4], frames, acked: 0 };
        for (number, stage) in chain.stages().iter().enumerate() {
            for _ in 0..stage.tries {
                outcome.tried[number] += 1;
                outcome.acked = self.try_once(stage, frames);
                if outcome.acked > 0 {
                    return Exchange { start, outcome };
                }
            }
        }
        Exchange { start, outcome }
    }

    fn try_once(&mut self, stage: &Stage, frames: u32) -> u32 {
        self.now += self.exchange(stage.mode, stage.has_rts, frames);
        let lost = error_rate(stage.mode, self.snr_db, FRAME_BYTES);
        (0..frames).map(|_| u32::from(self.random.next_f64() >= lost)).sum()
    }

    /// How long one try takes, with the medium access and half of the least window.
    fn exchange(&self, mode: Mode, has_rts: bool, frames: u32) -> Duration {
        let access = self.timing.access(Category::BestEffort);
        let slots = self.timing.slot * u64::from(2 * access.aifsn + access.cw_min) / 2;
        let rts = if has_rts { self.timing.rts_cts(mode) } else { Duration::ZERO };
        let data = self.timing.frame(mode, FRAME_BYTES * frames);
        slots + rts + data + self.timing.sifs * 2 + self.timing.answer(mode, frames > 1)
    }

    /// What `mode` achieves by itself, in frames a second, with as many frames an aggregate as in 4 ms.
    pub(crate) fn goodput(&self, mode: Mode) -> f64 {
        let frames = (mode.bytes_in(Duration::from_millis(4), false) / FRAME_BYTES).clamp(1, self.aggregate);
        let arrive = 1.0 - error_rate(mode, self.snr_db, FRAME_BYTES);
        arrive * f64::from(frames) / self.exchange(mode, false, frames).as_secs_f64()
    }
}
