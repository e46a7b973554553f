//! DOCSIS-PIE: the PIE of cable modems.
//!
//! Source: RFC 8034, appendix A (A.1.2 constants, A.2 control path, A.3 data path), and section 4 for the reasons. It
//! computes with real numbers, as the RFC does. It differs from RFC 8033 (`pie`) in these points:
//!
//! - the delay is predicted. It is neither measured nor taken from time stamps: the queue drains at `peak_rate` while
//!   the token bucket of `msr` has credit, and at `msr` after that (4.2);
//! - there are three states (4.3). INACTIVE lasts until a third of the buffer waits. In QUIESCENT the first drop may
//!   come at once. It makes the state ACTIVE, with p held at 0 for 142 ms. The state returns to QUIESCENT when all is
//!   quiet, and to INACTIVE after a further second;
//! - a packet's probability is p times its size in units of 1024 bytes, at most 0.85 (4.6). So p may be up to 13.6.
//!   The gains double from 0.1 on, and are 8 and 32 times as large from 1 and from 10 on (4.4);
//! - p decays by 2 % while both delays are below 5 ms, not 0 (4.5), and rises by 2 points more above 200 ms;
//! - the target is 10 ms, an update comes every 16 ms, and the gains are 0.25 and 2.5, twice those of PIE;
//! - there is no ECN (4.7).
//!
//! Decided here, where the RFC leaves it to the operator or to the modem:
//!
//! - unless set, `msr` and `peak_rate` are the link's rate: then the delay is backlog over rate. The law follows the
//!   bucket's credit from the packets that leave, but shapes nothing: an `msr` below the link's rate is true only
//!   under a shaper. Credit does not fall below 0;
//! - the buffer holds the bytes that `msr` sends in 250 ms, but at least ten full frames. It is full when a packet
//!   does not fit;
//! - sizes are not rounded to the modem's steps (A.3 allows either), and are counted as `tc` does.

use super::{Aqm, Periodic};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, Error, Link, Param, QdiscSpec, ms};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Measure, Probe, Raw};
use crate::signal::{Drop, Owner};
use alloc::string::ToString;
use goodqueue_units::{Duration, Instant, Rate};

// Constants under the names of A.1.2. Times that are compared with delays are in seconds.
const A: f64 = 0.25;
const B: f64 = 2.5;
const INTERVAL: Duration = Duration::from_millis(16);
const BURST_RESET_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_BURST: Duration = Duration::from_millis(142);
const MEAN_PKTSIZE: f64 = 1024.0;
const MIN_PKTSIZE: f64 = 64.0;
const PROB_LOW: f64 = 0.85;
const PROB_HIGH: f64 = 8.5;
const LATENCY_LOW: f64 = 0.005;
const LATENCY_HIGH: f64 = 0.2;
/// Below a probability of `.0`, a step is multiplied by `.1` (A.2).
const LADDER: [(f64, f64); 8] = [
    (1e-6, 1.0 / 2048.0),
    (1e-5, 1.0 / 512.0),
    (1e-4, 1.0 / 128.0),
    (1e-3, 1.0 / 32.0),
    (1e-2, 1.0 / 8.0),
    (0.1, 0.5),
    (1.0, 2.0),
    (10.0, 8.0),
];
const LAST_RUNG: f64 = 32.0;

/// The operator's parameters (A.1.1) and the bucket's size, in seconds, bytes and bytes per second.
#[derive(Clone, Copy, Debug)]
struct Params {
    target: f64,
    msr: f64,
    peak_rate: f64,
    burst: f64,
    limit: u64,
}

impl Params {
    fn new(args: &Args, link: &Link) -> Result<Self, Error> {
        let bytes = |rate: Rate| rate.as_bps() as f64 / 8.0;
        let (peak_rate, link_rate) = (args.get(&PEAK_RATE).map(bytes), bytes(link.rate));
        let msr = args.get(&MSR).map_or_else(|| link_rate.min(peak_rate.unwrap_or(link_rate)), bytes);
        let peak_rate = peak_rate.unwrap_or(link_rate.max(msr));
        if peak_rate < msr {
            return Err(Error("docsis_pie: peak_rate must not be less than msr".to_string()));
        }
        let buffer = ((msr * 0.25) as u64).max(10 * u64::from(link.mtu));
        Ok(Self {
            target: args.get(&TARGET).as_secs_f64(),
            msr,
            peak_rate,
            burst: args.get(&BURST) as f64,
            limit: args.get(&LIMIT).unwrap_or(buffer),
        })
    }
}

/// The credit of the Maximum Sustained Traffic Rate (section 3).
#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    since: Instant,
}

impl Bucket {
    /// Returns the RFC's msrtokens(): the credit at `now`, in bytes.
    fn tokens_at(&self, params: &Params, now: Instant) -> f64 {
        (self.tokens + now.since(self.since).as_secs_f64() * params.msr).min(params.burst)
    }

    fn spend(&mut self, params: &Params, now: Instant, len: u32) {
        self.tokens = (self.tokens_at(params, now) - f64::from(len)).max(0.0);
        self.since = now;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Inactive,
    Quiescent,
    Active,
}

/// The law's state, under the RFC's names (A.1.3).
#[derive(Clone, Copy, Debug)]
struct Vars {
    drop_prob: f64,
    accu_prob: f64,
    qdelay_old: f64,
    burst_allowance: Duration,
    burst_reset: Duration,
    state: State,
}

impl Vars {
    /// The initial state: control_path_init() of A.2.
    const INIT: Self = Self {
        drop_prob: 0.0,
        accu_prob: 0.0,
        qdelay_old: 0.0,
        burst_allowance: Duration::ZERO,
        burst_reset: Duration::ZERO,
        state: State::Inactive,
    };

    /// Updates the state: calculate_drop_prob() of A.2, for a delay of `qdelay` seconds.
    fn update(&mut self, params: &Params, qdelay: f64) {
        if self.burst_allowance > Duration::ZERO {
            self.drop_prob = 0.0;
            self.burst_allowance = self.burst_allowance.saturating_sub(INTERVAL);
        } else {
            self.adjust(params, qdelay);
        }
        let half = 0.5 * params.target;
        let quiet = qdelay < half
            && self.qdelay_old < half
            && self.drop_prob <= 0.0
            && self.burst_allowance == Duration::ZERO;
        match self.state {
            State::Active if quiet => {
                self.state = State::Quiescent;
                self.burst_reset = Duration::ZERO;
            }
            State::Quiescent if quiet => {
                let quiet_for = self.burst_reset + INTERVAL;
                (self.state, self.burst_reset) = if quiet_for > BURST_RESET_TIMEOUT {
                    (State::Inactive, Duration::ZERO)
                } else {
                    (State::Quiescent, quiet_for)
                };
            }
            State::Quiescent => self.burst_reset = Duration::ZERO,
            State::Active | State::Inactive => {}
        }
        self.qdelay_old = qdelay;
    }

    /// Moves p (A.2): the controller with its gains tuned to p, the cap, and the special cases.
    fn adjust(&mut self, params: &Params, qdelay: f64) {
        let rung = LADDER.iter().find(|(below, _)| self.drop_prob < *below);
        let gain = rung.map_or(LAST_RUNG, |(_, gain)| *gain);
        let mut p = gain * (A * (qdelay - params.target) + B * (qdelay - self.qdelay_old));
        if self.drop_prob >= 0.1 {
            p = p.min(0.02);
        }
        self.drop_prob += p;
        if qdelay < LATENCY_LOW && self.qdelay_old < LATENCY_LOW {
            self.drop_prob *= 0.98;
        } else if qdelay > LATENCY_HIGH {
            self.drop_prob += 0.02;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, PROB_LOW * MEAN_PKTSIZE / MIN_PKTSIZE);
    }

    /// Returns whether a packet of `len` bytes that meets `backlog` bytes is dropped: drop_early() of A.3. `draw`
    /// returns a uniform number below 1.
    fn drop_early(&mut self, params: &Params, backlog: u64, len: u32, draw: impl FnOnce() -> f64) -> bool {
        if self.burst_allowance > Duration::ZERO {
            return false;
        }
        if self.drop_prob <= 0.0 {
            self.accu_prob = 0.0;
        }
        if self.state == State::Inactive {
            if backlog < params.limit / 3 {
                return false;
            }
            self.state = State::Quiescent;
        }
        let p1 = (self.drop_prob * f64::from(len) / MEAN_PKTSIZE).min(PROB_LOW);
        self.accu_prob += p1;
        let uncongested = self.qdelay_old < 0.5 * params.target && self.drop_prob < 0.2;
        if uncongested || backlog as f64 <= 2.0 * MEAN_PKTSIZE || self.accu_prob < PROB_LOW {
            return false;
        }
        if self.accu_prob < PROB_HIGH && draw() > p1 {
            return false;
        }
        self.accu_prob = 0.0;
        if self.state == State::Quiescent {
            self.state = State::Active;
            self.burst_allowance = MAX_BURST;
        }
        true
    }
}

/// DOCSIS-PIE over one FIFO.
#[derive(Clone, Debug)]
pub struct DocsisPie {
    params: Params,
    vars: Vars,
    bucket: Bucket,
    timer: Periodic,
}

const LIMIT: Param<Option<u64>> = Param::bytes(
    "limit",
    "most bytes that the queue holds; unset: what msr sends in 250 ms, at least ten full frames",
)
.source("RFC 8034, A.1.1: BUFFER_SIZE");
const TARGET: Param<Duration> = Param::time("target", "queue delay that the controller steers to")
    .default(ms(10))
    .source("RFC 8034, 4.1");
const MSR: Param<Option<Rate>> =
    Param::rate("msr", "Maximum Sustained Traffic Rate; unset: the link's rate").source("RFC 8034, A.1.1");
const PEAK_RATE: Param<Option<Rate>> =
    Param::rate("peak_rate", "Peak Traffic Rate, while there is credit; unset: the link's rate")
        .source("RFC 8034, A.1.1");
const BURST: Param<u64> = Param::bytes("burst", "Maximum Traffic Burst: the largest credit")
    .default(3044)
    .range(0, 4_294_967_295)
    .source("RFC 8034, section 3: B; two frames of 1522 bytes");

impl Aqm for DocsisPie {
    const SPEC: QdiscSpec = QdiscSpec::new("docsis_pie", params! { LIMIT, TARGET, MSR, PEAK_RATE, BURST })
        .not_in_linux()
        .summary("The PIE of cable modems: predicts the delay from the rates, one early drop per burst")
        .source("RFC 8034");

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let params = Params::new(args, link)?;
        Ok(Self {
            params,
            vars: Vars::INIT,
            bucket: Bucket { tokens: params.burst, since: Instant::ZERO },
            timer: Periodic::new(INTERVAL, INTERVAL),
        })
    }

    fn change(&mut self, now: Instant, args: &Args, link: &Link) -> Result<(), Error> {
        let params = Params::new(args, link)?;
        let tokens = self.bucket.tokens_at(&self.params, now).min(params.burst);
        (self.params, self.bucket) = (params, Bucket { tokens, since: now });
        Ok(())
    }

    fn limit(&self) -> Backlog {
        Backlog { bytes: self.params.limit, ..Backlog::UNLIMITED }
    }

    #[inline]
    fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        _now: Instant,
        packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        let draw = || f64::from(owner.random_u32()) / 4_294_967_296.0;
        if queue.bytes() + u64::from(packet.len()) > self.params.limit {
            self.vars.accu_prob = 0.0;
            owner.dropped(packet, Drop::Overlimit);
            Enqueued::Dropped
        } else if self.vars.drop_early(&self.params, queue.bytes(), packet.len(), draw) {
            owner.dropped(packet, Drop::Early);
            Enqueued::Dropped
        } else {
            queue.push(packet);
            Enqueued::Success
        }
    }

    #[inline]
    fn dequeue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        queue: &mut Fifo<P>,
        _owner: &mut O,
    ) -> Option<P> {
        let packet = queue.pop()?;
        self.bucket.spend(&self.params, now, packet.len());
        Some(packet)
    }

    fn next_timer(&self) -> Option<Instant> {
        Some(self.timer.due())
    }

    fn on_timer<P: Packet>(&mut self, now: Instant, queue: &Fifo<P>) {
        self.timer.fired(now);
        let qdelay = self.predict(now, queue.bytes() as f64);
        self.vars.update(&self.params, qdelay);
    }

    fn probe(&self, probe: &mut dyn Probe) {
        let Vars { drop_prob, accu_prob, qdelay_old, burst_allowance, burst_reset, state } = self.vars;
        probe.real("drop_prob", drop_prob);
        probe.real("accu_prob", accu_prob);
        let time = |span: Duration| Measure::Time(Some(span.as_secs_f64()));
        probe.measured("qdelay_old", Raw::Real(qdelay_old), Measure::Time(Some(qdelay_old)));
        probe.measured("burst_allowance", burst_allowance.as_nanos().into(), time(burst_allowance));
        probe.measured("burst_reset", burst_reset.as_nanos().into(), time(burst_reset));
        probe.integer("aqm_state", state as i128);
        probe.real("drop_probability", drop_prob.min(1.0));
    }
}

impl DocsisPie {
    /// Returns the delay of `backlog` bytes in seconds: bytes that have credit leave at the peak rate (A.2).
    fn predict(&self, now: Instant, backlog: f64) -> f64 {
        let Params { msr, peak_rate, .. } = self.params;
        let tokens = self.bucket.tokens_at(&self.params, now);
        if backlog <= tokens { backlog / peak_rate } else { (backlog - tokens) / msr + tokens / peak_rate }
    }
}

#[cfg(test)]
mod tests;
