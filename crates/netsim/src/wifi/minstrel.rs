//! Minstrel, Linux's rate control for 802.11b, g and a from 2008 to 2019. A tenth of the frames try other modes. Ten
//! times per second Minstrel computes each mode's throughput from the frames that arrived. It sends in the best mode.
//!
//! Source: behaviour of Linux 3.10, `net/mac80211/rc80211_minstrel.c`, with its integers. Time is exact here. Linux
//! counts in ticks, so its intervals are up to one tick longer. For stations of 802.11b Linux halves the samples,
//! which is not modelled here.

use super::mode::Mode;
use super::rate_control::{Chain, Outcome, Stage};
use super::standard::Timing;
use goodqueue_units::{Duration, Instant, Stream};

/// The time between two updates of the statistics.
const INTERVAL: Duration = Duration::from_millis(100);
/// The probability 1.
const ONE: u32 = 1 << 16;
/// The frame whose duration is taken for all frames, in bytes without FCS.
const FRAME_BYTES: u32 = 1200;
const ACK_BYTES: u32 = 10;
/// The longest time of the tries in one mode, if there are more than two tries, and the most tries.
const SEGMENT_US: u32 = 6000;
const MOST_TRIES: u8 = 7;
/// The share of frames that try another mode.
const SAMPLES_PERCENT: i64 = 10;
/// After so many frames the counts of frames and samples begin at zero again.
const FRAMES_COUNTED: i64 = 10_000;
/// The number of intervals without a try after which a slow mode is tried first.
const LONG_UNTRIED: u32 = 20;
/// The most samples per interval in a mode about which enough is known.
const FEW_SAMPLES: u32 = 4;
/// The number of orders in which modes are sampled, one after the other.
pub(super) const SAMPLE_COLUMNS: usize = 10;

/// The statistics of a mode.
#[derive(Clone, Debug)]
struct Rate {
    mode: Mode,
    /// The duration of a frame of `FRAME_BYTES` with the SIFS before it.
    duration_us: u32,
    /// The tries that fit into a segment, and the tries that the mode gets.
    most_tries: u8,
    tries: u8,
    /// Tries, and frames that arrived, since the last update.
    tried: u32,
    arrived: u32,
    /// Moving average of the success probability, times [`ONE`].
    probability: u32,
    /// Frames per second, times [`ONE`].
    throughput: u32,
    /// The number of intervals in a row without a try.
    untried: u32,
    /// Samples left in this interval, if they are limited.
    samples_left: Option<u32>,
}

/// Minstrel for one receiver.
#[derive(Clone, Debug)]
pub(crate) struct Minstrel {
    rates: Vec<Rate>,
    /// The numbers of the modes with the best throughput, best first, and of the surest mode.
    best: [usize; 4],
    surest: usize,
    last_reckoning: Instant,
    frames: i64,
    samples: i64,
    /// Samples under way that come second in their chain.
    deferred: i64,
    order: Vec<Vec<u8>>,
    column: usize,
    row: usize,
}

/// Returns the time that Linux computes for a frame of `bytes` bytes without FCS, and a SIFS. For DSSS Linux takes
/// the short preamble.
pub(super) fn reckoned_us(timing: &Timing, mode: Mode, bytes: u32) -> u32 {
    let shorter = if matches!(mode, Mode::Dsss(_)) { 96 } else { 0 };
    ((timing.sifs + timing.frame(mode, bytes + 4)).as_nanos() / 1000) as u32 - shorter
}

/// Returns how many tries fit into a segment. The first `tries` tries take `time_us`. Each further try takes
/// `each_us` and half of a contention window. The first of these windows has `window` slots.
pub(super) fn tries_in_segment(mut tries: u8, mut time_us: u32, mut window: u32, each_us: u32) -> u8 {
    while tries < MOST_TRIES {
        time_us += each_us + half_window_us(window);
        window = next_window(window);
        if time_us >= SEGMENT_US {
            break;
        }
        tries += 1;
    }
    tries
}

/// Returns the average wait in a contention window. Linux always takes slots of 9 µs.
pub(super) fn half_window_us(window: u32) -> u32 {
    9 * window / 2
}

pub(super) fn next_window(window: u32) -> u32 {
    (2 * window + 1).min(1023)
}

/// Returns columns of the numbers below `rates`, each column in an order of its own.
pub(super) fn sample_orders(rates: u8, random: &mut Stream) -> Vec<Vec<u8>> {
    let column = |_| {
        let mut column: Vec<u8> = (0..rates).collect();
        for left in (1..column.len()).rev() {
            column.swap(left, (random.next_f64() * (left + 1) as f64) as usize);
        }
        column
    };
    (0..SAMPLE_COLUMNS).map(column).collect()
}

const fn percent(percent: u32) -> u32 {
    ONE * percent / 100
}

impl Rate {
    fn new(mode: Mode, timing: &Timing, lowest: Mode) -> Self {
        let duration_us = reckoned_us(timing, mode, FRAME_BYTES);
        let first_us = duration_us + reckoned_us(timing, lowest, ACK_BYTES);
        let each_us = duration_us + reckoned_us(timing, mode, ACK_BYTES);
        let most_tries = tries_in_segment(1, first_us, 15, each_us);
        Self {
            mode,
            duration_us,
            most_tries,
            tries: most_tries,
            tried: 0,
            arrived: 0,
            probability: 0,
            throughput: 0,
            untried: 0,
            samples_left: None,
        }
    }

    fn reckon(&mut self) {
        if self.tried > 0 {
            self.untried = 0;
            let new = (u64::from(self.arrived) * u64::from(ONE) / u64::from(self.tried)) as u32;
            self.probability = (new * 32 + self.probability * 96) / 128;
        } else {
            self.untried += 1;
        }
        (self.tried, self.arrived) = (0, 0);
        let fails = self.probability < percent(10);
        self.throughput = if fails { 0 } else { self.probability * (1_000_000 / self.duration_us) };
        // There is little to learn about modes that hardly ever or nearly always succeed.
        let is_known = fails || self.probability > percent(95);
        self.samples_left = is_known.then_some(FEW_SAMPLES);
        self.tries = match self.most_tries {
            1 if is_known => 2,
            most if is_known => (most / 2).min(2),
            most => most,
        };
    }

    fn stage(&self) -> Stage {
        Stage { mode: self.mode, tries: self.tries, has_rts: false }
    }
}

impl Minstrel {
    /// Returns Minstrel for a receiver of `modes`, slowest first, from `start` on.
    pub(crate) fn new(modes: &[Mode], timing: &Timing, start: Instant, random: &mut Stream) -> Self {
        Self {
            rates: modes.iter().map(|mode| Rate::new(*mode, timing, modes[0])).collect(),
            best: [0; 4],
            surest: 0,
            last_reckoning: start,
            frames: 0,
            samples: 0,
            deferred: 0,
            order: sample_orders(modes.len() as u8, random),
            column: 0,
            row: 0,
        }
    }

    /// Returns the chain of the next frame.
    pub(crate) fn plan(&mut self) -> Chain {
        self.frames += 1;
        let behind = self.frames * SAMPLES_PERCENT / 100 - (self.samples + self.deferred / 2);
        if behind < 0 {
            return self.chain(None, None);
        }
        // A backlog of samples would be sent as a burst, just when the link gets worse.
        let most_behind = 2 * self.rates.len() as i64;
        if self.frames >= FRAMES_COUNTED {
            (self.frames, self.samples, self.deferred) = (0, 0, 0);
        } else if behind > most_behind {
            self.samples += behind - most_behind;
        }
        let number = self.next_sample();
        let best_us = self.rates[self.best[0]].duration_us;
        let sample = &mut self.rates[number];
        if sample.duration_us > best_us && sample.untried < LONG_UNTRIED {
            self.deferred += 1;
            return self.chain(None, Some(number));
        }
        match &mut sample.samples_left {
            Some(0) => return self.chain(None, None),
            Some(left) => *left -= 1,
            None => {}
        }
        self.samples += 1;
        self.chain(Some(number), None)
    }

    /// Returns the chain of the best, second best, surest and slowest mode. `first` or `second` replaces one of the
    /// first two.
    fn chain(&self, first: Option<usize>, second: Option<usize>) -> Chain {
        let stage = |number: usize| self.rates[number].stage();
        let stages = [
            stage(first.unwrap_or(self.best[0])),
            stage(second.unwrap_or(self.best[1])),
            stage(self.surest),
            Stage { tries: MOST_TRIES, ..stage(0) },
        ];
        let is_deferred = second.is_some();
        let chain = Chain::new(&stages, first.is_some() || is_deferred);
        if is_deferred { chain.deferred() } else { chain }
    }

    fn next_sample(&mut self) -> usize {
        let number = usize::from(self.order[self.column][self.row]);
        self.row += 1;
        if self.row == self.rates.len() {
            self.row = 0;
            self.column = (self.column + 1) % SAMPLE_COLUMNS;
        }
        number
    }

    /// Takes the outcome of a frame.
    pub(crate) fn report(&mut self, now: Instant, outcome: &Outcome) {
        let last = outcome.last_stage();
        for (number, (stage, tried)) in outcome.chain.stages().iter().zip(outcome.tried).enumerate() {
            if let Some(rate) = self.rates.iter_mut().find(|rate| rate.mode == stage.mode) {
                rate.tried += u32::from(tried);
                rate.arrived += u32::from(last == Some(number) && outcome.acked > 0);
            }
        }
        // A deferred sample counts even if its mode was not tried.
        self.samples += i64::from(outcome.chain.is_deferred);
        self.deferred = (self.deferred - 1).max(0);
        if now.since(self.last_reckoning) > INTERVAL {
            self.last_reckoning = now;
            self.reckon();
        }
    }

    fn reckon(&mut self) {
        self.rates.iter_mut().for_each(Rate::reckon);
        let (mut best, mut surest) = ([0; 4], 0);
        for (number, rate) in self.rates.iter().enumerate() {
            let place = best.iter().rposition(|other| rate.throughput <= self.rates[*other].throughput);
            let place = place.map_or(0, |behind| behind + 1);
            if place < best.len() {
                best[place..].rotate_right(1);
                best[place] = number;
            }
            // The surest mode has the best throughput of the modes that nearly always succeed, else the highest
            // probability.
            let other = &self.rates[surest];
            let is_surer = if rate.probability >= percent(95) {
                rate.throughput >= other.throughput
            } else {
                rate.probability >= other.probability
            };
            surest = if is_surer { number } else { surest };
        }
        (self.best, self.surest) = (best, surest);
    }

    /// Returns the throughput of frames of 1200 bytes in the best mode, in Mbit/s. As in Linux, a thousandth of this
    /// unit has 1024 bits.
    pub(crate) fn expected_mbps(&self) -> f64 {
        let frames_per_second = self.rates[self.best[0]].throughput / ONE;
        f64::from(frames_per_second * FRAME_BYTES * 8 / 1024) / 1000.0
    }
}

#[cfg(test)]
mod tests;
