//! Minstrel-HT, Linux's rate control for 802.11n. Twenty times per second it computes the throughput of each mode
//! from the frames that arrived. Every 20 ms one frame tries a mode that might be better.
//!
//! Source: behaviour of Linux 6.1, `net/mac80211/rc80211_minstrel_ht.c`, with its integers, for a device that reports
//! the number of frames per aggregate and takes four stages (ath9k). Time is exact here. Linux counts in ticks, so
//! its intervals are up to one tick longer. Modes of 802.11b and g are not tried.
//!
//! - [`group`]: modes by streams, guard interval and width, with the statistics of each;
//! - [`sampling`]: the mode that is tried next.

use super::minstrel::{half_window_us, next_window, reckoned_us, tries_in_segment};
use super::mode::Mode;
use super::rate_control::{Chain, Outcome, Stage};
use super::standard::Timing;
use goodqueue_units::{Duration, Instant, Stream};
use group::{Group, ONE, RateId, percent};
use sampling::Sampling;

mod group;
mod sampling;

/// The time between two updates of the statistics, and between two frames that try another mode.
const INTERVAL: Duration = Duration::from_millis(50);
const SAMPLE_INTERVAL: Duration = Duration::from_millis(20);
/// A mode's group is left at once if the mode had more tries than these since the last update and less than a quarter
/// of them succeeded.
const TRIES_OF_A_SUDDEN_DEATH: u32 = 30;
const FRAME_BYTES: u32 = 1200;
const ACK_BYTES: u32 = 10;

/// The costs that give a mode's throughput, together with its duration and probability.
#[derive(Clone, Copy, Debug)]
struct Costs {
    /// The time of an aggregate besides its frames, without and with RTS and CTS.
    overhead_us: u32,
    overhead_rts_us: u32,
    /// Moving average of the frames per aggregate, times [`ONE`].
    aggregate: u32,
}

/// Minstrel-HT for one receiver.
#[derive(Clone, Debug)]
pub(crate) struct MinstrelHt {
    groups: Vec<Group>,
    /// The modes with the best throughput, best first, and the surest mode.
    best: [RateId; 4],
    surest: RateId,
    costs: Costs,
    /// Frames and aggregates since the last update.
    frames: u32,
    aggregates: u32,
    last_reckoning: Instant,
    next_sample: Instant,
    sampling: Sampling,
}

impl Costs {
    fn aggregate_frames(self) -> u32 {
        self.aggregate / ONE
    }

    /// Returns the frames per tenth of a second that arrive in a mode, if each takes `duration_ns` and arrives with
    /// `probability`. Returns zero if less than one frame in ten arrives.
    fn throughput(self, duration_ns: u32, probability: u32) -> u32 {
        if probability < percent(10) {
            return 0;
        }
        // Collisions make the probability vary. Above 0.9 the variation does not come from the mode.
        let probability = probability.min(percent(90));
        let frame_ns = 1000 * self.overhead_us / self.aggregate_frames() + duration_ns;
        100 * (probability * 1_000_000 / frame_ns) / ONE
    }

    /// Returns how often an aggregate is tried in a mode in which each frame takes `duration_ns`.
    fn tries(self, duration_ns: u32, has_rts: bool) -> u8 {
        let overhead_us = if has_rts { self.overhead_rts_us } else { self.overhead_us };
        let each_us = duration_ns * self.aggregate_frames() / 1000 + overhead_us;
        let waits_us = half_window_us(15) + half_window_us(31);
        tries_in_segment(2, waits_us + 2 * each_us, next_window(31), each_us)
    }
}

impl MinstrelHt {
    /// Returns Minstrel-HT from `start` on, for a receiver of so many `streams`, with or without 40 MHz channels and
    /// short guard intervals.
    pub(crate) fn new(
        streams: u8,
        is_wide: bool,
        has_short_guard: bool,
        timing: &Timing,
        start: Instant,
        random: &mut Stream,
    ) -> Self {
        let slowest = RateId { group: 0, place: 0 };
        let ack_us = reckoned_us(timing, Mode::Ofdm(6), ACK_BYTES);
        let overhead_us = reckoned_us(timing, Mode::Ofdm(6), 0) + ack_us;
        let costs = Costs { overhead_us, overhead_rts_us: overhead_us + 2 * ack_us, aggregate: ONE };
        let mut minstrel = Self {
            groups: Group::all(streams, is_wide, has_short_guard),
            best: [slowest; 4],
            surest: slowest,
            costs,
            frames: 0,
            aggregates: 0,
            last_reckoning: start,
            next_sample: start,
            sampling: Sampling::new(random),
        };
        minstrel.reckon(start);
        minstrel
    }

    /// Returns the chain of the next frame or aggregate: the three best modes, then the surest mode.
    pub(crate) fn plan(&mut self, now: Instant) -> Chain {
        let [first, second, third, _] = self.best;
        let mut stages = [first, second, third, self.surest].map(|id| self.stage(id, true));
        stages[0] = self.stage(first, false);
        let Some(sample) = self.sample(now) else {
            return Chain::new(&stages, false);
        };
        stages[0] = Stage { tries: 1, ..self.stage(sample, false) };
        Chain::new(&stages, true)
    }

    /// Returns the mode that the next frame tries, if it is time to try one.
    fn sample(&mut self, now: Instant) -> Option<RateId> {
        if now < self.next_sample {
            return None;
        }
        self.next_sample = now + SAMPLE_INTERVAL;
        self.sampling.take()
    }

    fn stage(&self, id: RateId, has_rts: bool) -> Stage {
        let group = &self.groups[id.group];
        let is_poor = group.rates[id.place].probability < percent(20);
        let tries = if is_poor { 2 } else { self.costs.tries(group.durations_ns[id.place], has_rts) };
        Stage { mode: group.mode(id.place), tries, has_rts }
    }

    /// Takes the outcome of a frame or an aggregate.
    pub(crate) fn report(&mut self, now: Instant, outcome: &Outcome) {
        self.aggregates += 1;
        self.frames += outcome.frames;
        let last = outcome.last_stage();
        for (number, (stage, tried)) in outcome.chain.stages().iter().zip(outcome.tried).enumerate() {
            if tried == 0 {
                continue;
            }
            let rate = self.groups.iter_mut().find_map(|group| group.rate_of(stage.mode));
            if let Some(rate) = rate {
                rate.tried += u32::from(tried) * outcome.frames;
                rate.arrived += if last == Some(number) { outcome.acked } else { 0 };
            }
        }
        for (place, in_group) in [(0, 0), (1, 1)] {
            let id = self.best[place];
            let rate = &self.groups[id.group].rates[id.place];
            if rate.tried > TRIES_OF_A_SUDDEN_DEATH && rate.arrived < rate.tried / 4 {
                self.best[place] = self.lower(id, in_group);
            }
        }
        if now.since(self.last_reckoning) > INTERVAL {
            self.reckon(now);
        }
    }

    /// Returns a mode of the next group below that of `id` with no more streams: the mode at place `in_group` of that
    /// group's best. Returns `id` if there is no such group.
    fn lower(&self, id: RateId, in_group: usize) -> RateId {
        let streams = self.groups[id.group].streams;
        let below = self.groups[..id.group].iter().rfind(|group| group.streams <= streams);
        below.map_or(id, |group| group.best[in_group])
    }

    fn reckon(&mut self, now: Instant) {
        if let Some(mean) = (self.frames * ONE).checked_div(self.aggregates) {
            let (old, new) = (i64::from(self.costs.aggregate), i64::from(mean));
            self.costs.aggregate = (old + 32 * (new - old) / 128) as u32;
            (self.frames, self.aggregates) = (0, 0);
        }
        self.find_best();
        self.find_surest();
        self.sampling.refill(&mut self.groups, &self.best, self.surest);
        self.last_reckoning = now;
        self.next_sample = now;
    }

    fn throughput(&self, id: RateId) -> u32 {
        let group = &self.groups[id.group];
        self.costs.throughput(group.durations_ns[id.place], group.rates[id.place].probability)
    }

    fn probability(&self, id: RateId) -> u32 {
        self.groups[id.group].rates[id.place].probability
    }

    fn duration_ns(&self, id: RateId) -> u32 {
        self.groups[id.group].durations_ns[id.place]
    }

    /// Finds the best modes overall and of each group.
    fn find_best(&mut self) {
        let mut best = [RateId { group: 0, place: 0 }; 4];
        for number in 0..self.groups.len() {
            let mut of_group = [RateId { group: number, place: 0 }; 4];
            let mut faster = 0;
            for id in (0..8).rev().map(|place| RateId { group: number, place }) {
                faster = self.groups[number].reckon(id.place, faster);
                if self.throughput(id) > 0 {
                    self.insert(&mut best, id);
                    self.insert(&mut of_group, id);
                }
            }
            self.groups[number].best = of_group;
        }
        self.best = best;
    }

    /// Puts `id` into its place in `best`, if it is one of the best. Of two modes with equal throughput the surer one
    /// is better.
    fn insert(&self, best: &mut [RateId; 4], id: RateId) {
        let merit = |id: RateId| (self.throughput(id), self.probability(id));
        let place = best.iter().rposition(|other| merit(id) <= merit(*other)).map_or(0, |behind| behind + 1);
        if place < best.len() {
            best[place..].rotate_right(1);
            best[place] = id;
        }
    }

    /// Finds the surest modes overall and of each group: the mode with the best throughput of those that mostly
    /// succeed, else the mode that succeeds most often. Overall, a mode with fewer streams than the best mode is
    /// taken, if there is one.
    fn find_surest(&mut self) {
        let best = self.best[0];
        let mut surest = RateId { group: 0, place: 0 };
        for group in 0..self.groups.len() {
            let mut of_group = RateId { group, place: 0 };
            for id in (0..8).map(|place| RateId { group, place }) {
                let is_faster = self.duration_ns(id) < self.duration_ns(best);
                if is_faster && self.probability(id) < self.probability(best) {
                    continue;
                }
                for surer in [&mut surest, &mut of_group] {
                    let is_surer = if self.probability(id) > percent(75) {
                        self.throughput(id) > self.throughput(*surer)
                    } else {
                        self.probability(id) > self.probability(*surer)
                    };
                    *surer = if is_surer { id } else { *surer };
                }
            }
            self.groups[group].surest = of_group;
        }
        self.surest = surest;
        let mut most = 0;
        for group in &self.groups {
            let throughput = self.throughput(group.surest);
            if throughput > most && group.streams < self.groups[best.group].streams {
                (most, self.surest) = (throughput, group.surest);
            }
        }
    }

    /// Returns the throughput of frames of 1200 bytes in the best mode, in Mbit/s. As in Linux, a thousandth of this
    /// unit has 1024 bits.
    pub(crate) fn expected_mbps(&self) -> f64 {
        let frames_per_second = u64::from(self.throughput(self.best[0])) * 10;
        (frames_per_second * u64::from(FRAME_BYTES) * 8 / 1024) as f64 / 1000.0
    }
}

#[cfg(test)]
mod tests;
