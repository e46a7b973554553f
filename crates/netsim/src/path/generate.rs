//! Random rates over time with the shapes of links whose rate varies. They contain no recordings.
//!
//! The same parameters and seed give the same trace. The trace starts again after its `length`, as recordings do in
//! mahimahi.

use super::rate_file::MOST_LINES;
use super::rate_trace::{Opportunities, RateTrace};
use super::steps::Steps;
use goodqueue_hosts::keys::FRAME_BYTES;
use goodqueue_qdisc::distribution::Distribution;
use goodqueue_units::{Duration, Rate, Stream, Streams};

/// A shape and its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    Cellular(Cellular),
    Starlink(Starlink),
    MmWave(MmWave),
}

/// A cellular link, as delivery opportunities. The logarithm of its rate wanders, it has outages, and opportunities
/// come at random.
///
/// Shape: the statistics of the recordings that come with mahimahi (Netravali et al. 2015). In the recordings of LTE,
/// the rate of single seconds has a standard deviation of 0.56 to 0.78 times its mean. Its autocorrelation is 0.82 to
/// 0.92 after 1 s and 0.37 to 0.76 after 5 s. Outages of more than 100 ms occur 1 to 47 times per minute. Sprout also
/// models such a link as a Poisson process whose rate wanders (Winstein et al. 2013, section 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cellular {
    /// The rate over the whole trace, outages included.
    pub(crate) mean: Rate,
    /// Standard deviation of the logarithm of the rate. The standard deviation of the rate itself is
    /// sqrt(exp(deviation^2) - 1) times its mean.
    pub(crate) deviation: f64,
    /// The time in which the autocorrelation of the logarithm falls by a factor of e. The logarithm is an
    /// Ornstein-Uhlenbeck process, and AR(1) when sampled.
    pub(crate) correlation_time: Duration,
    /// Outages that begin per minute of time without outage.
    pub(crate) outages_per_minute: f64,
    /// Mean length of an outage. The lengths have an exponential distribution.
    pub(crate) outage: Duration,
}

impl Cellular {
    fn outages_per_milli(&self) -> f64 {
        self.outages_per_minute / 60_000.0
    }

    /// Returns the parameters of LTE in a moving car.
    pub(crate) const fn lte(mean: Rate) -> Self {
        Self {
            mean,
            deviation: 0.6,
            correlation_time: Duration::from_secs(10),
            outages_per_minute: 10.0,
            outage: Duration::from_millis(300),
        }
    }
}

/// A satellite link whose rate is assigned anew every 15 s, at 12, 27, 42 and 57 s after each full minute. The trace
/// begins at a full minute, and consists of steps.
///
/// Shape: the interval of 15 s is Starlink's (Mohan et al., "A Multifaceted Look at Starlink Performance", WWW 2024),
/// and the seconds are as they are commonly given. It is an assumption that the rate of an interval is uniform between
/// 0.5 and 1.5 times the mean. A rate cannot show the jump of delay and the losses at the edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Starlink {
    /// The rate over the whole trace.
    pub(crate) mean: Rate,
    /// The largest distance of a rate from the mean, as a share of the mean from 0 to 1. The assumption above is 0.5.
    pub(crate) spread: f64,
}

/// A millimetre wave link of 5G that is in sight of its base station or blocked. The two states alternate. Each has a
/// rate and a length that are uniform within bounds. The trace consists of steps.
///
/// Shape: an assumption about such links, 50 to 200 Mbit/s when blocked and 0.5 to 2 Gbit/s in sight, for 1 to 10 s
/// each ([`MmWave::TYPICAL`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MmWave {
    pub(crate) blocked: (Rate, Rate),
    pub(crate) in_sight: (Rate, Rate),
    pub(crate) dwell: (Duration, Duration),
}

impl MmWave {
    pub(crate) const TYPICAL: Self = Self {
        blocked: (mbit(50), mbit(200)),
        in_sight: (mbit(500), mbit(2000)),
        dwell: (Duration::from_secs(1), Duration::from_secs(10)),
    };
}

const fn mbit(mbit: u64) -> Rate {
    Rate::from_bps(mbit * 1_000_000).expect("above zero")
}

/// Draws a trace of `length`, after which the trace repeats.
///
/// # Errors
/// If the length is 0 or too long, if the trace would have more lines than a file may have, or if a parameter is out
/// of range.
pub(crate) fn generate(shape: Shape, length: Duration, seed: u64) -> Result<RateTrace, String> {
    let millis = u32::try_from(length.as_nanos() / 1_000_000).ok().filter(|millis| *millis > 0);
    let millis = millis.ok_or_else(|| format!("found a length of {length}; accepted: 1ms to 49 days"))?;
    let random = |name| Streams::new(seed).stream(name, 0);
    match shape {
        Shape::Cellular(cellular) => cellular.draw(millis, random("cellular"), random("opportunities")),
        Shape::Starlink(starlink) => starlink.draw(length, random("starlink")),
        Shape::MmWave(wave) => wave.draw(length, random("mmwave")),
    }
}

/// Milliseconds for which a cellular rate stays the same. This is a tick of Sprout.
const TICK: u32 = 20;

/// Draws a number from an exponential distribution of mean 1.
fn exponential(random: &mut Stream) -> f64 {
    -libm::log(1.0 - random.next_f64())
}

fn within(random: &mut Stream, (least, most): (u64, u64)) -> u64 {
    least + ((most - least) as f64 * random.next_f64()) as u64
}

impl Cellular {
    /// Draws the wandering rate, scales it to the mean, and draws as many opportunities as the mean has.
    ///
    /// If the number of events of a Poisson process and the last event are given, the gaps between the events divide
    /// the expected number like as many exponential numbers divide their sum. Both streams are read twice, so that no
    /// list of milliseconds is kept.
    fn draw(self, millis: u32, random: Stream, mut gaps: Stream) -> Result<RateTrace, String> {
        if !(0.0..=2.0).contains(&self.deviation) {
            return Err(format!("found a deviation of {}; accepted: 0 to 2", self.deviation));
        }
        if !(0.0..=600.0).contains(&self.outages_per_minute) {
            return Err(format!("found {} outages a minute; accepted: 0 to 600", self.outages_per_minute));
        }
        let expected = self.mean.as_bps() as f64 / 1e3 / (f64::from(FRAME_BYTES) * 8.0) * f64::from(millis);
        if expected > MOST_LINES as f64 {
            return Err(format!(
                "found {expected:.0} packets at {}; accepted: up to {MOST_LINES}",
                self.mean
            ));
        }
        let count = (libm::round(expected) as usize).max(1);
        let pace = Pace::new(self, random);
        let whole: f64 = pace.clone().take(millis as usize).sum();
        let mut again = gaps.clone();
        let sum: f64 = (0..count).map(|_| exponential(&mut again)).sum();
        let mut list = Vec::with_capacity(count);
        let (mut sent, mut gone) = (0.0, exponential(&mut gaps));
        for (now, pace) in (1..=millis).zip(pace) {
            sent += pace;
            while list.len() < count - 1 && gone / sum * whole <= sent {
                list.push(now);
                gone += exponential(&mut gaps);
            }
        }
        list.resize(count, millis); // the list starts again at its last opportunity
        Opportunities::new(list, FRAME_BYTES).map(RateTrace::Opportunities).map_err(|refusal| refusal.why)
    }
}

/// The wandering rate of a cellular link: the value of each millisecond, without a scale. It is 0 in an outage.
#[derive(Clone)]
struct Pace {
    shape: Cellular,
    random: Stream,
    now: u32,
    /// The logarithm, in standard deviations.
    level: f64,
    /// The value without outage.
    value: f64,
    /// Milliseconds until the next outage.
    up: f64,
    /// Milliseconds that are left of an outage.
    down: f64,
}

impl Pace {
    fn new(shape: Cellular, mut random: Stream) -> Self {
        let level = Distribution::Normal.draw(&mut random);
        let up = exponential(&mut random) / shape.outages_per_milli();
        Self { shape, random, now: 0, level, value: libm::exp(shape.deviation * level), up, down: 0.0 }
    }

    /// Returns the share of the next millisecond without outage. Outages may begin and end within one millisecond.
    fn sending(&mut self) -> f64 {
        let (mut left, mut sending) = (1.0_f64, 0.0);
        while left > 0.0 {
            if self.down > 0.0 {
                let step = left.min(self.down);
                (left, self.down) = (left - step, self.down - step);
                continue;
            }
            let step = left.min(self.up);
            (left, self.up, sending) = (left - step, self.up - step, sending + step);
            if self.up <= 0.0 {
                self.down = exponential(&mut self.random) * self.shape.outage.as_millis_f64();
                self.up = exponential(&mut self.random) / self.shape.outages_per_milli();
            }
        }
        sending
    }
}

impl Iterator for Pace {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        self.now += 1;
        if self.now.is_multiple_of(TICK) {
            let kept = libm::exp(-f64::from(TICK) / self.shape.correlation_time.as_millis_f64());
            let drawn: f64 = Distribution::Normal.draw(&mut self.random);
            self.level = kept * self.level + libm::sqrt(1.0 - kept * kept) * drawn;
            self.value = libm::exp(self.shape.deviation * self.level);
        }
        Some(self.sending() * self.value)
    }
}

impl Starlink {
    fn draw(self, length: Duration, mut random: Stream) -> Result<RateTrace, String> {
        if !(0.0..=1.0).contains(&self.spread) {
            return Err(format!("found a spread of {}; accepted: 0 to 1", self.spread));
        }
        let first = std::iter::once(Duration::ZERO);
        let edges = first.chain((0..).map(|number| Duration::from_secs(12 + 15 * number)));
        let mut intervals: Vec<(Duration, f64)> = edges
            .take_while(|edge| *edge < length)
            .map(|edge| (edge, 2.0 * random.next_f64() - 1.0))
            .collect();
        // Each rate moves by the same amount, so that the mean over the time is as asked. If one then is too far
        // from the mean, all of them come nearer to it.
        let ends = intervals.iter().skip(1).map(|(edge, _)| *edge).chain([length]);
        let areas = intervals.iter().zip(ends).map(|((edge, off), end)| (end - *edge).as_secs_f64() * off);
        let middle = areas.sum::<f64>() / length.as_secs_f64();
        intervals.iter_mut().for_each(|(_, off)| *off -= middle);
        let furthest = intervals.iter().fold(1.0_f64, |most, (_, off)| most.max(off.abs()));
        let rate = |off: f64| self.mean.as_bps() as f64 * (1.0 + self.spread * off / furthest);
        let rates = intervals.into_iter().map(|(edge, off)| (edge, (libm::round(rate(off)) as u64).max(1)));
        steps(rates.collect(), length)
    }
}

impl MmWave {
    fn draw(self, length: Duration, mut random: Stream) -> Result<RateTrace, String> {
        let dwell = (self.dwell.0.as_nanos(), self.dwell.1.as_nanos());
        for (least, most) in [(self.blocked.0, self.blocked.1), (self.in_sight.0, self.in_sight.1)] {
            if most < least {
                return Err(format!("found rates from {least} to {most}; accepted: the lower one first"));
            }
        }
        if dwell.0 == 0 || dwell.1 < dwell.0 || length / dwell.0 > Duration::from_nanos(MOST_LINES as u64) {
            let (least, most) = self.dwell;
            return Err(format!(
                "found {length} of states of {least} to {most}; accepted: 1 to {MOST_LINES} states"
            ));
        }
        let (mut rates, mut time) = (Vec::new(), Duration::ZERO);
        let mut is_in_sight = random.next_f64() < 0.5;
        while time < length {
            let (least, most) = if is_in_sight { self.in_sight } else { self.blocked };
            rates.push((time, within(&mut random, (least.as_bps(), most.as_bps()))));
            time = time + Duration::from_nanos(within(&mut random, dwell));
            is_in_sight = !is_in_sight;
        }
        steps(rates, length)
    }
}

fn steps(rates: Vec<(Duration, u64)>, length: Duration) -> Result<RateTrace, String> {
    Steps::new(&rates, Some(length)).map(RateTrace::Steps).map_err(|refusal| refusal.why)
}

#[cfg(test)]
mod tests;
