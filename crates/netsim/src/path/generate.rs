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
    /// The long-run rate, outages included.
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
        Shape::Cellular(cellular) => cellular.draw(millis, random("cellular")),
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
    fn draw(self, millis: u32, mut random: Stream) -> Result<RateTrace, String> {
        if !(0.0..=2.0).contains(&self.deviation) {
            return Err(format!("found a deviation of {}; accepted: 0 to 2", self.deviation));
        }
        if !(0.0..=600.0).contains(&self.outages_per_minute) {
            return Err(format!("found {} outages a minute; accepted: 0 to 600", self.outages_per_minute));
        }
        let per_milli = self.mean.as_bps() as f64 / 1e3 / (f64::from(FRAME_BYTES) * 8.0);
        let expected = per_milli * f64::from(millis);
        if expected > 0.5 * MOST_LINES as f64 {
            return Err(format!(
                "found {expected:.0} packets at {}; accepted: up to {}",
                self.mean,
                MOST_LINES / 2
            ));
        }
        // The exponential of a normal number has the mean exp(deviation^2 / 2). Outages take their share of the time.
        let (per_up, outage) = (self.outages_per_minute / 60_000.0, self.outage.as_millis_f64());
        let typical = per_milli * (1.0 + per_up * outage) / libm::exp(self.deviation * self.deviation / 2.0);
        let kept = libm::exp(-f64::from(TICK) / self.correlation_time.as_millis_f64());
        let drawn = libm::sqrt(1.0 - kept * kept);
        let normal = |random: &mut Stream| Distribution::Normal.draw(random);
        let mut level = normal(&mut random); // in standard deviations
        let mut pace = typical * libm::exp(self.deviation * level); // opportunities per millisecond
        let (mut up, mut down) = (exponential(&mut random) / per_up, 0.0); // ms until the next outage, ms left of it
        let mut next = exponential(&mut random); // what is left of the expected number until the next opportunity
        let mut list = Vec::with_capacity(expected as usize);
        for now in 1..=millis {
            if now % TICK == 0 {
                level = kept * level + drawn * normal(&mut random);
                pace = typical * libm::exp(self.deviation * level);
            }
            // Outages may begin and end within one millisecond.
            let (mut left, mut sending) = (1.0_f64, 0.0);
            while left > 0.0 {
                let (step, is_down) = if down > 0.0 { (left.min(down), true) } else { (left.min(up), false) };
                left -= step;
                if is_down {
                    down -= step;
                    continue;
                }
                sending += step;
                up -= step;
                if up <= 0.0 {
                    (down, up) = (exponential(&mut random) * outage, exponential(&mut random) / per_up);
                }
            }
            next -= sending * pace;
            while next <= 0.0 {
                list.push(now);
                next += exponential(&mut random);
            }
            if list.len() > MOST_LINES {
                return Err(format!("found more than {MOST_LINES} packets; accepted: up to as many"));
            }
        }
        if list.last() != Some(&millis) {
            list.push(millis); // the list starts again at its last opportunity
        }
        Opportunities::new(list, FRAME_BYTES).map(RateTrace::Opportunities).map_err(|refusal| refusal.why)
    }
}

impl Starlink {
    fn draw(self, length: Duration, mut random: Stream) -> Result<RateTrace, String> {
        if !(0.0..=1.0).contains(&self.spread) {
            return Err(format!("found a spread of {}; accepted: 0 to 1", self.spread));
        }
        let first = std::iter::once(Duration::ZERO);
        let edges = first.chain((0..).map(|number| Duration::from_secs(12 + 15 * number)));
        let edges = edges.take_while(|edge| *edge < length);
        let mean = self.mean.as_bps() as f64;
        let rates = edges.map(|edge| {
            let off = self.spread * (2.0 * random.next_f64() - 1.0);
            (edge, ((mean * (1.0 + off)) as u64).max(1))
        });
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
