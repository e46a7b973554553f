//! Rates over time that are drawn: the shapes of links whose rate varies, without anybody's recordings.
//!
//! The same parameters and seed give the same trace. It starts again after its `length`, as recordings do in mahimahi.

use super::distribution::Distribution;
use super::rate_file::MOST_LINES;
use super::rate_trace::{FRAME_BYTES, Opportunities, RateTrace};
use super::steps::Steps;
use goodqueue_units::{Duration, Rate, Stream, Streams};

/// A shape and its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    Cellular(Cellular),
    Starlink(Starlink),
    MmWave(MmWave),
}

/// A cellular link, as delivery opportunities: the logarithm of its rate wanders, it has outages, and opportunities
/// come at random.
///
/// Shape: the recordings that come with mahimahi (Netravali et al. 2015), by their statistics. In those of LTE the
/// rates of single seconds have a standard deviation of 0.56 to 0.78 means, an autocorrelation of 0.82 to 0.92 after 1
/// s and of 0.37 to 0.76 after 5 s, and 1 to 47 outages of more than 100 ms a minute. A Poisson process whose rate
/// wanders is also how Sprout sees such a link (Winstein et al. 2013, section 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cellular {
    /// In the long run, outages included.
    pub(crate) mean: Rate,
    /// Standard deviation of the logarithm of the rate. That of the rate is sqrt(exp(deviation^2) - 1) means.
    pub(crate) deviation: f64,
    /// The logarithm's autocorrelation falls by a factor e in that time: it is an Ornstein-Uhlenbeck process, AR(1) if
    /// sampled.
    pub(crate) correlation_time: Duration,
    /// How many outages begin in a minute without one.
    pub(crate) outages_per_minute: f64,
    /// Mean length of an outage; lengths are exponential.
    pub(crate) outage: Duration,
}

impl Cellular {
    /// LTE in a moving car.
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

/// A satellite link that is assigned anew every 15 s, 12, 27, 42 and 57 s after a full minute, at which the trace
/// begins: steps.
///
/// Shape: the 15 s are Starlink's (Mohan et al., "A Multifaceted Look at Starlink Performance", WWW 2024), the seconds
/// as they are commonly given. That the rate of each interval is anything within half of the mean alike is an
/// assumption. The jump of delay and the losses at the edges are no part of a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Starlink {
    pub(crate) mean: Rate,
    /// How far a rate is from the mean at most, from 0 to 1 of it; 0.5 is what is assumed above.
    pub(crate) spread: f64,
}

/// A millimetre wave link of 5G, in sight of its base station or not: two states take turns, each with a rate and a
/// length that are anything within bounds alike: steps.
///
/// Shape: an assumption about such links, 50 to 200 Mbit/s against 0.5 to 2 Gbit/s for 1 to 10 s each
/// ([`MmWave::TYPICAL`]).
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

/// Draws a trace of `length`, after which it repeats.
///
/// # Errors
/// Where the trace would have no length or more lines than a file may have, or a parameter is beyond its range.
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

/// Milliseconds for which a cellular rate stays the same: a tick of Sprout's.
const TICK: u32 = 20;

/// An exponential number of mean 1.
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
        // The mean of the exponential of a normal number is exp(deviation^2 / 2); outages take their share of the time.
        let (per_up, outage) = (self.outages_per_minute / 60_000.0, self.outage.as_millis_f64());
        let typical = per_milli * (1.0 + per_up * outage) / libm::exp(self.deviation * self.deviation / 2.0);
        let kept = libm::exp(-f64::from(TICK) / self.correlation_time.as_millis_f64());
        let drawn = libm::sqrt(1.0 - kept * kept);
        let normal = |random: &mut Stream| Distribution::Normal.draw(random);
        let mut level = normal(&mut random); // in standard deviations
        let mut pace = typical * libm::exp(self.deviation * level); // opportunities a millisecond
        let (mut up, mut down) = (exponential(&mut random) / per_up, 0.0); // milliseconds until the next outage, and left of one
        let mut next = exponential(&mut random); // of what is expected until the next opportunity, what is left
        let mut list = Vec::with_capacity(expected as usize);
        for now in 1..=millis {
            if now % TICK == 0 {
                level = kept * level + drawn * normal(&mut random);
                pace = typical * libm::exp(self.deviation * level);
            }
            // Outages may begin and end within the millisecond.
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
            list.push(millis); // the last opportunity is where the list starts again
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
