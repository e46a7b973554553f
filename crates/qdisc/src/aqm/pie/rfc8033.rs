//! PIE's variant `rfc8033`: RFC 8033 as it is written, with its optional elements (5).
//!
//! Source: RFC 8033, sections 4 and 5. The numbers that differ from `linux` stand in `params.rs`: no 2 points more
//! above 250 ms, a decay of 2 %, p at most 1, marks below p = 10 %. The code here differs from `linux.rs` in
//! these points:
//!
//! - the guard of 4.1 looks at the delay of the last update, and at more than two packets of 1024 bytes;
//! - p decays when both delays are 0, even while packets wait (4.2);
//! - the burst allowance shrinks by `tupdate` per update, and returns with a packet that finds all quiet (4.4);
//! - the departure rate is kept as the time that 16384 bytes take, with a weight of 1/4 for a new measurement (5.2);
//! - PIE is inactive until a third of the limit waits (5.3);
//! - a mark, like a drop, uses up a sum of 8.5 (5.4);
//! - the first update comes after one `tupdate`.
//!
//! The RFC leaves some points open. Decided here:
//!
//! - with time stamps, the delay is 0 from the time when the queue became empty. By the letter it would stay that of
//!   the last packet and raise p while no packet waits. RFC 8034, 4.5, reads that 0 as "the buffer is empty";
//! - where section 5 and appendix B disagree, section 5 holds: quiet is "below half the target" and not "zero", p
//!   decays at zero and not below half the target, and the third is tested before the packet joins;
//! - in three points only appendix B is clear: activation sets p and the delays' memory to 0, nothing is updated
//!   while inactive, and a measurement (5.2) goes on until 16384 bytes have left;
//! - a queue over its third is never quiet. Otherwise PIE would become inactive with the packet that activated it,
//!   because no delay was measured yet.

use super::control::Control;
use super::{MAX_PROB, Params, Shown, tick_at, ticks, waited};
use crate::packet::Packet;
use goodqueue_units::Instant;

/// MEAN_PKTSIZE (4.1) in bytes. RFC 8033 has no number for it. 1024 is that of RFC 8034, by the same authors.
const MEAN_PKTSIZE: u64 = 1024;

/// The law's state. Times are in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vars {
    pub(super) control: Control,
    qdelay: u64,
    qdelay_old: u64,
    /// The rest of the burst allowance (4.4).
    burst_time: u64,
    /// The time at which the measurement of the rate began (5.2).
    dq_tstamp: Option<u64>,
    /// Bytes that left since the measurement of the rate began, if one runs.
    dq_count: Option<u64>,
    /// The average time that [`Rules::dq_threshold`](super::Rules::dq_threshold) bytes take to leave, in ticks with
    /// [`Rules::rate_bits`](super::Rules::rate_bits) fraction bits. 0: not known.
    dq_time: u64,
    backlog_old: u64,
    /// Whether PIE is active (5.3).
    active: bool,
}

impl Vars {
    /// Returns the state at rest.
    pub(super) fn new(params: &Params) -> Self {
        Self {
            control: Control::default(),
            qdelay: 0,
            qdelay_old: 0,
            burst_time: ticks(params.rules.max_burst),
            dq_tstamp: None,
            dq_count: None,
            dq_time: 0,
            backlog_old: 0,
            active: !params.auto_inactive,
        }
    }

    /// Takes over new parameters: without `auto_inactive` PIE is active from now on.
    pub(super) fn changed(&mut self, params: &Params) {
        self.active |= !params.auto_inactive;
    }

    /// Notes that a packet arrives and finds `waiting` of `limit` packets: activates or deactivates PIE, and renews
    /// the burst allowance (4.4, 5.3).
    pub(super) fn arrived(&mut self, params: &Params, now: Instant, waiting: usize, limit: usize) {
        let crowded = params.auto_inactive && waiting.saturating_mul(3) >= limit;
        let calm = self.qdelay < params.target / 2 && self.qdelay_old < params.target / 2;
        if crowded && !self.active {
            *self = Self { active: true, qdelay: self.qdelay, ..Self::new(params) };
            if params.dq_rate_estimator {
                (self.dq_tstamp, self.dq_count) = (Some(tick_at(now)), Some(0));
            }
        } else if !crowded && calm && self.control.prob == 0 {
            self.burst_time = Self::new(params).burst_time;
            self.active = !params.auto_inactive;
        }
    }

    /// Returns whether the dice drop a packet of `len` bytes that meets `backlog` bytes (4.1, 5.4).
    #[inline]
    pub(super) fn drop_early(
        &mut self,
        params: &Params,
        backlog: u64,
        len: u32,
        draw: impl FnOnce() -> u64,
    ) -> bool {
        let guarded = self.burst_time > 0
            || (self.qdelay_old < params.target / 2 && self.control.prob < MAX_PROB / 5)
            || backlog <= 2 * MEAN_PKTSIZE;
        let hit = !guarded && self.control.drops(params, len, draw);
        if hit {
            self.control.restart();
        }
        hit
    }

    /// Notes that a packet left and `backlog` bytes stayed: measures the delay or the rate (4.3, 5.2).
    #[inline]
    pub(super) fn dequeued<P: Packet>(&mut self, params: &Params, now: Instant, packet: &P, backlog: u64) {
        let tick = tick_at(now);
        if params.dq_rate_estimator {
            self.measure_time(params, tick, packet.len(), backlog);
        } else {
            self.qdelay = waited(tick, packet, backlog);
        }
    }

    /// Measures the average time that the threshold's bytes take to leave (5.2). The packet whose departure begins a
    /// measurement is not part of it. A new measurement has the weight 1/4.
    fn measure_time(&mut self, params: &Params, tick: u64, len: u32, backlog: u64) {
        let threshold = params.rules.dq_threshold;
        if let Some(count) = &mut self.dq_count {
            *count += u64::from(len);
            if *count >= threshold {
                let time = tick.saturating_sub(self.dq_tstamp.unwrap_or(tick));
                let time = time.saturating_mul(1 << params.rules.rate_bits);
                let average = self.dq_time;
                self.dq_time = if average == 0 { time } else { average - average / 4 + time / 4 };
                self.dq_count = None;
            }
        }
        if self.dq_count.is_none() && backlog >= threshold {
            (self.dq_tstamp, self.dq_count) = (Some(tick), Some(0));
        }
    }

    /// Makes the periodic update of the probability (4.2), with `backlog` bytes waiting.
    pub(super) fn update(&mut self, params: &Params, backlog: u64) {
        if !self.active {
            return;
        }
        if params.dq_rate_estimator {
            let scaled = u128::from(backlog) * u128::from(self.dq_time);
            let delay = (scaled / u128::from(params.rules.dq_threshold)) >> params.rules.rate_bits;
            self.qdelay = delay.try_into().unwrap_or(u64::MAX);
        }
        self.control.adjust(params, self.qdelay, self.qdelay_old, true);
        self.qdelay_old = self.qdelay;
        self.backlog_old = backlog;
        self.burst_time = self.burst_time.saturating_sub(params.tupdate);
    }

    /// Returns the state for a probe.
    pub(super) fn shown(&self, params: &Params) -> Shown {
        let time = self.dq_time as f64 / (1_u64 << params.rules.rate_bits) as f64;
        Shown {
            control: self.control,
            qdelay: self.qdelay,
            qdelay_old: self.qdelay_old,
            burst_time: self.burst_time,
            dq_tstamp: self.dq_tstamp,
            dq_count: self.dq_count,
            avg_dq_rate: self.dq_time,
            rate: (self.dq_time > 0).then_some(params.rules.dq_threshold as f64 / time),
            backlog_old: self.backlog_old,
            active: self.active,
        }
    }
}

#[cfg(test)]
mod tests;
