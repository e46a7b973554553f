//! PIE as Linux 6.1 runs it (`linux`), and PIE as the papers of 2013 to 2015 ran it (`draft2013`).
//!
//! Source: RFC 8033 (section numbers below). Linux differs from the RFC in these points:
//!
//! - its clock ticks every 64 ns. Probabilities are fractions of 2^56 - 1 and may grow beyond it;
//! - the delay is the last departed packet's time in the queue, or 0 if that packet emptied the queue (4.3 estimates
//!   it). `dq_rate_estimator` switches the RFC's estimate on (5.2), with a weight of 1/8 instead of 1/4;
//! - the guard of 4.1 looks at the present delay, and at two full frames of backlog;
//! - with a delay of zero the queue is not idle as long as a packet waits (4.2);
//! - it marks up to and including p = 10 % (5.1);
//! - the burst allowance (4.4) shrinks as packets leave, not as updates pass;
//! - while the queue is idle p decays by 1/64, not 1/50 (4.2), and above 250 ms p rises by 2 points more;
//! - there is no inactive state (5.3): when all is quiet, the state starts anew;
//! - a packet that is marked because the sum reached 8.5 does not restart the de-randomisation (5.4). A packet that
//!   is dropped does, for whatever reason;
//! - the kernel's timers count jiffies (`jiffies.rs`). At HZ = 250, which is assumed here, `tupdate 15ms` is 20 ms,
//!   and the first update, which is set for half a second after the start, comes after 512 ms. The gains are not
//!   rescaled, so p moves a quarter more slowly than with updates every 15 ms.
//!
//! `draft2013` differs from `linux` in these points: three levels of gain instead of seven, a cap on every step up, a
//! decay of 2 %, no de-randomisation, 100 ms of burst allowance (all in `pie/params.rs`). Its target (20 ms), its
//! interval (30 ms) and its rate estimator (on) are other defaults. It computes the rate as finely as the drafts do,
//! and not in the kernel's whole multiples of 1/256 byte per tick; at 1 Mbit/s the kernel's rate is 2 of them.
//!
//! The sources of 2013 leave some points open. Decided here:
//!
//! - steps up are capped at any p, as Schwardmann et al. state. Linux 3.14 caps from 10 % on;
//! - the burst allowance returns when both delays are under half the target and p is 0, as in the vendor's code.
//!   Schwardmann et al. do not mention p. `rearm` follows their words; with it 20 AIMD flows of a model drove p to 1;
//! - the departure rate is forgotten when all is quiet, as in Linux 3.14. `keep_rate` keeps it;
//! - marks end at p = 10 %, as in Linux 3.14. `ecn_prob` changes that;
//! - the allowance is used up by the time of rate measurements, so by the time of a busy queue, as in that code;
//! - the rate's average has the weight 1/8 of that code;
//! - their "less than 3000 bytes" is two full frames, including link headers.

use super::control::Control;
use super::{MAX_PROB, Params, Rules, Shown, tick_at, ticks, waited};
use crate::packet::Packet;
use core::fmt;
use goodqueue_units::Instant;

/// The law's state, under Linux's names. Times are in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vars {
    pub(crate) control: Control,
    pub(super) qdelay: u64,
    pub(super) qdelay_old: u64,
    /// The rest of the burst allowance (4.4).
    pub(super) burst_time: u64,
    /// The time of the last departure, or of the start of the rate's measurement.
    pub(super) dq_tstamp: Option<u64>,
    /// Bytes that left since the measurement of the rate began, if one runs.
    pub(super) dq_count: Option<u64>,
    /// Departure rate in bytes per tick with [`Rules::rate_bits`] fraction bits. 0: not known.
    pub(super) avg_dq_rate: u64,
    pub(super) backlog_old: u64,
}

impl Vars {
    /// Returns the state at rest.
    #[must_use]
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            control: Control::default(),
            qdelay: 0,
            qdelay_old: 0,
            burst_time: ticks(params.rules.max_burst),
            dq_tstamp: None,
            dq_count: None,
            avg_dq_rate: 0,
            backlog_old: 0,
        }
    }

    /// Returns whether the dice drop a packet of `len` bytes that meets `backlog` bytes (4.1, 5.4).
    #[inline]
    pub(crate) fn drop_early(
        &mut self,
        params: &Params,
        backlog: u64,
        len: u32,
        draw: impl FnOnce() -> u64,
    ) -> bool {
        let guarded = self.burst_time > 0
            || (self.qdelay < params.target / 2 && self.control.prob < MAX_PROB / 5)
            || backlog < 2 * u64::from(params.mtu);
        !guarded && self.control.drops(params, len, draw)
    }

    /// Notes that a packet left and `backlog` bytes stayed. Measures the delay or the rate (4.3, 5.2), and uses up
    /// the burst allowance (4.4).
    #[inline]
    pub(crate) fn dequeued<P: Packet>(&mut self, params: &Params, now: Instant, packet: &P, backlog: u64) {
        let tick = tick_at(now);
        let elapsed = if params.dq_rate_estimator {
            self.measure_rate(params.rules, tick, packet.len(), backlog)
        } else {
            let since = self.dq_tstamp.replace(tick).unwrap_or(tick);
            self.qdelay = waited(tick, packet, backlog);
            tick.saturating_sub(since)
        };
        self.burst_time = self.burst_time.saturating_sub(elapsed);
    }

    /// Measures the departure rate (5.2), but only while enough packets wait to keep the link busy. The packet that
    /// begins a measurement is part of it. A new measurement has the weight 1/8. Returns the length of the
    /// measurement that has just ended, or 0.
    fn measure_rate(&mut self, rules: &Rules, tick: u64, len: u32, backlog: u64) -> u64 {
        if backlog >= rules.dq_threshold && self.dq_count.is_none() {
            self.dq_tstamp = Some(tick);
            self.dq_count = Some(0);
        }
        let Some(count) = &mut self.dq_count else { return 0 };
        *count += u64::from(len);
        let elapsed = tick.saturating_sub(self.dq_tstamp.unwrap_or(tick));
        if *count < rules.dq_threshold || elapsed == 0 {
            return 0;
        }
        let rate = (*count << rules.rate_bits) / elapsed;
        let average = self.avg_dq_rate;
        self.avg_dq_rate = if average == 0 { rate } else { average - (average >> 3) + (rate >> 3) };
        if backlog < rules.dq_threshold {
            self.dq_count = None;
        } else {
            self.dq_count = Some(0);
            self.dq_tstamp = Some(tick);
        }
        elapsed
    }

    /// Makes the periodic update of the probability (4.2), with `backlog` bytes waiting.
    pub(crate) fn update(&mut self, params: &Params, backlog: u64) {
        if params.dq_rate_estimator {
            self.qdelay_old = self.qdelay;
            self.qdelay = (backlog << params.rules.rate_bits).checked_div(self.avg_dq_rate).unwrap_or(0);
        }
        let (delay, old) = (self.qdelay, self.qdelay_old);
        // A delay of 0 with a backlog means that the rate is not known yet. Then p does not decay.
        self.control.adjust(params, delay, old, backlog == 0);
        self.backlog_old = backlog;
        let low = delay < params.target / 2 && old < params.target / 2;
        if low && params.rearms {
            self.burst_time = ticks(params.rules.max_burst);
        }
        let quiet = low && self.control.prob == 0;
        if quiet && (!params.dq_rate_estimator || self.avg_dq_rate > 0) {
            let (qdelay, qdelay_old, backlog_old) = (delay, old, backlog);
            let fresh = Self { qdelay, qdelay_old, backlog_old, ..Self::new(params) };
            let Self { avg_dq_rate, dq_count, dq_tstamp, .. } = *self;
            *self =
                if params.keeps_rate { Self { avg_dq_rate, dq_count, dq_tstamp, ..fresh } } else { fresh };
        }
        if !params.dq_rate_estimator {
            self.qdelay_old = delay;
        }
    }

    /// Returns the state for a probe. This law has no inactive state (5.3), so it is always active.
    pub(super) fn shown(&self, params: &Params) -> Shown {
        let rate = self.avg_dq_rate as f64 / (1_u64 << params.rules.rate_bits) as f64;
        Shown {
            control: self.control,
            qdelay: self.qdelay,
            qdelay_old: self.qdelay_old,
            burst_time: self.burst_time,
            dq_tstamp: self.dq_tstamp,
            dq_count: self.dq_count,
            avg_dq_rate: self.avg_dq_rate,
            rate: (self.avg_dq_rate > 0).then_some(rate),
            backlog_old: self.backlog_old,
            active: true,
        }
    }
}

/// Writes a flow's state as the decision traces of `fq_pie` do: `prob:accu_prob:qdelay:qdelay_old:burst_time`.
impl fmt::Display for Vars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { control: Control { prob, accu_prob }, qdelay, qdelay_old, burst_time, .. } = self;
        write!(f, "{prob}:{accu_prob}:{qdelay}:{qdelay_old}:{burst_time}")
    }
}
