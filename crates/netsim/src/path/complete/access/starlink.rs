//! Starlink: the network assigns satellites and capacity anew every 15 s, for all terminals at once.
//!
//! What is published, and what this model has of it:
//!
//! - A new assignment takes place at 12, 27, 42 and 57 s after each full minute (Mohan et al., "A Multifaceted Look at
//!   Starlink Performance", WWW 2024). A run begins at a full minute.
//! - With each assignment the least RTT is another one (Huston, "A transport protocol's view of Starlink", APNIC 2024),
//!   and so is the rate. It is an assumption that both are uniform: `jump` and `spread` say within what.
//! - Within an assignment, successive RTTs differ by 6.7 ms on average (Huston). Here a packet waits for the next of
//!   the terminal's turns, which are `turn` apart, in each direction. RTTs of packets at random times then differ by
//!   7/15 of `turn` on average: 7 ms at 15 ms. The phase of the turns is drawn anew with each assignment.
//! - At an assignment, the RTT is 74 ms longer for about 215 ms, and the rate is half for about 500 ms. Each direction
//!   takes half of the delay.
//! - 0.13 % of the packets are lost, and about 1 % near an assignment. Here this is eight times `loss` for 500 ms.
//!
//! Packets keep their order: a packet that would overtake another one comes out together with it. The delays are
//! drawn from one stream for all links of a run, because both directions cross the same satellite.

use super::{Channel, Draws, Kind};
use crate::path::capacity::Served;
use crate::path::steps::Steps;
use goodqueue_qdisc::param::{Args, Param, QdiscSpec, ms};
use goodqueue_qdisc::params;
use goodqueue_units::{Duration, Instant, Rate, Stream};

const SPREAD: Param<f64> =
    Param::real("spread", "largest distance of a rate from the mean, as a share of the mean")
        .default(0.5)
        .source("an assumption");
const JUMP: Param<Duration> =
    Param::time("jump", "range within which the base RTT moves with each assignment")
        .range(Duration::ZERO, ms(1000))
        .default(ms(10))
        .source("an assumption");
const TURN: Param<Duration> =
    Param::time("turn", "time between two turns of the terminal, in each direction")
        .range(Duration::ZERO, ms(1000))
        .default(ms(15))
        .source("a mean difference of 7 ms between RTTs");
const STALL: Param<Duration> = Param::time("stall", "added to the RTT for 215 ms at an assignment")
    .range(Duration::ZERO, ms(10_000))
    .default(ms(74))
    .source("measurements");
const LOSS: Param<f64> =
    Param::percent("loss", "share of lost packets; eight times as many at an assignment")
        .default(0.13)
        .source("measurements");

const SPEC: QdiscSpec = QdiscSpec::new("starlink", params! { SPREAD, JUMP, TURN, STALL, LOSS })
    .not_in_linux()
    .summary("a satellite link: other rate and RTT every 15 s, with a stall")
    .source("Mohan et al. 2024; Huston 2024");

pub(super) const KIND: Kind =
    Kind { spec: &SPEC, make: |args, rate, draws| Starlink::make(args, rate, draws) };

/// The time between two assignments.
const EVERY: Duration = Duration::from_secs(15);
/// The time that the assignment of a full minute has lasted already.
const BEFORE: Duration = Duration::from_secs(3);
/// How long the RTT is longer after an assignment.
const STALLED: Duration = ms(215);
/// How long the rate is half and losses are more frequent after an assignment.
const UNSETTLED: Duration = ms(500);
/// How much more frequent losses are then.
const LOSS_FACTOR: f64 = 8.0;
/// Assignments that are drawn: an hour of them, which then repeats.
const ASSIGNMENTS: u64 = 240;

/// The delay of one assignment in one direction.
#[derive(Clone, Copy, Debug)]
struct Assignment {
    offset: Duration,
    phase: Duration,
}

#[derive(Debug)]
struct Starlink {
    /// The rate in the long run.
    rate: Rate,
    served: Served<Steps>,
    assignments: Vec<Assignment>,
    turn: Duration,
    stall: Duration,
    loss: f64,
    losses: Stream,
    /// When the last packet came out.
    latest: Instant,
}

fn share(random: &mut Stream, of: Duration) -> Duration {
    Duration::from_nanos((of.as_nanos() as f64 * random.next_f64()) as u64)
}

impl Starlink {
    fn make(args: &Args, rate: Rate, draws: Draws) -> Result<Box<dyn Channel>, String> {
        let (turn, jump) = (args.get(&TURN), args.get(&JUMP) / 2);
        let mut paths = draws.streams.stream("starlink path", 0);
        let mut phases = draws.streams.stream("starlink turns", draws.link);
        let assignments = (0..ASSIGNMENTS)
            .map(|_| Assignment { offset: share(&mut paths, jump), phase: share(&mut phases, turn) })
            .collect();
        let random = draws.streams.stream("starlink rates", draws.link);
        let rates = rates(rate, args.get(&SPREAD), random);
        let steps = Steps::new(&rates, Some(EVERY * ASSIGNMENTS)).map_err(|refusal| refusal.why)?;
        Ok(Box::new(Self {
            rate,
            served: Served::new(steps),
            assignments,
            turn,
            stall: args.get(&STALL) / 2,
            loss: args.get(&LOSS) / 100.0,
            losses: draws.streams.stream("starlink losses", draws.link),
            latest: Instant::ZERO,
        }))
    }
}

/// Returns the rates of all assignments, each with the time from which it holds. Their mean is `mean`.
fn rates(mean: Rate, spread: f64, mut random: Stream) -> Vec<(Duration, u64)> {
    let shares: Vec<f64> = (0..ASSIGNMENTS).map(|_| 1.0 + spread * (2.0 * random.next_f64() - 1.0)).collect();
    // The rate is half for a 30th of the time, so the other rates are a little higher than the mean.
    let half = 0.5 * UNSETTLED.as_secs_f64() / EVERY.as_secs_f64();
    let sum: f64 = shares.iter().sum();
    let scale = mean.as_bps() as f64 * ASSIGNMENTS as f64 / sum / (1.0 - half);
    let mut rates = Vec::with_capacity(2 * shares.len() + 1);
    for (number, share) in (0..).zip(&shares) {
        let bps = (scale * share) as u64;
        if number == 0 {
            rates.push((Duration::ZERO, bps.max(1)));
        } else {
            let begins = (EVERY * number).saturating_sub(BEFORE);
            rates.extend([(begins, (bps / 2).max(1)), (begins + UNSETTLED, bps.max(1))]);
        }
    }
    // The last 3 s of the hour are of the assignment with which the list begins again.
    let first = rates[0].1;
    let again = EVERY * ASSIGNMENTS - BEFORE;
    rates.extend([(again, (first / 2).max(1)), (again + UNSETTLED, first)]);
    rates
}

impl Channel for Starlink {
    fn start(&mut self, now: Instant) -> Instant {
        self.served.start(now)
    }

    fn occupy(&mut self, now: Instant, bytes: u32) -> Duration {
        self.served.occupy(now, bytes)
    }

    fn idle(&mut self) {
        self.served.idle();
    }

    fn crosses(&mut self, sent: Instant) -> Option<Instant> {
        let nanos = sent.as_nanos() + BEFORE.as_nanos();
        let (number, since) = (nanos / EVERY.as_nanos(), Duration::from_nanos(nanos % EVERY.as_nanos()));
        let Assignment { offset, phase } = self.assignments[(number % ASSIGNMENTS) as usize];
        let factor = if since < UNSETTLED { LOSS_FACTOR } else { 1.0 };
        if self.losses.next_f64() < self.loss * factor {
            return None;
        }
        let mut out = sent + offset + if since < STALLED { self.stall } else { Duration::ZERO };
        if self.turn > Duration::ZERO {
            let (turn, now) =
                (self.turn.as_nanos(), out.as_nanos() + self.turn.as_nanos() - phase.as_nanos());
            out += Duration::from_nanos((turn - now % turn) % turn);
        }
        self.latest = self.latest.max(out);
        Some(self.latest)
    }

    fn capacity_bits(&self, from: Instant, to: Instant) -> f64 {
        self.served.bits(from, to)
    }

    fn mean_rate(&self) -> Rate {
        self.rate
    }
}

#[cfg(test)]
mod tests;
