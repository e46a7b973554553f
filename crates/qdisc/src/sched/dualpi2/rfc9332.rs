//! The coupled AQMs of RFC 9332's Appendix A, with real numbers, and sums instead of dice.

use super::params::{COUPLING_FACTOR, Control, MIN_TH, RANGE, SCHEDULER, Scheduler, TH_LEN, TSHIFT};
use super::{Left, Side};
use crate::aqm::mark;
use crate::packet::Packet;
use crate::param::Args;
use crate::qdisc::{Measure, Probe, Raw};
use crate::signal::{Mark, Owner};
use goodqueue_units::Duration;

/// p_Lmax: from this probability on, the L4S queue is saturated.
const P_L_MAX: f64 = 1.0;

/// The law and its state, under the RFC's names. Times are in seconds.
#[derive(Clone, Debug)]
pub(super) struct Rfc9332 {
    k: f64,
    target: f64,
    alpha: f64,
    beta: f64,
    min_th: f64,
    range: f64,
    th_len: usize,
    /// Time by which a packet of the L4S queue counts as older. `None`: the scheduler uses weights instead.
    pub(super) time_shift: Option<Duration>,
    /// p', the base probability.
    pub(super) p: f64,
    prev_q: f64,
    low_count: f64,
    classic_count: f64,
}

/// Returns true as often as `likelihood` says, evenly spaced (A.1, `recur`).
fn recur(count: &mut f64, likelihood: f64) -> bool {
    *count += likelihood.min(1.0);
    let due = *count > 1.0;
    if due {
        *count -= 1.0;
    }
    due
}

impl Rfc9332 {
    pub(super) fn new(args: &Args, control: &Control) -> Self {
        let seconds = |time: Option<Duration>| time.unwrap_or(Duration::ZERO).as_secs_f64();
        Self {
            k: args.get(&COUPLING_FACTOR).into(),
            target: control.target.as_secs_f64(),
            alpha: control.alpha,
            beta: control.beta,
            min_th: seconds(args.get(&MIN_TH)),
            range: seconds(args.get(&RANGE)),
            th_len: args.get(&TH_LEN).unwrap_or(0) as usize,
            time_shift: args
                .get(&TSHIFT)
                .filter(|_| args.get(&SCHEDULER) == Some(Scheduler::TimeShiftedFifo)),
            p: 0.0,
            prev_q: 0.0,
            low_count: 0.0,
            classic_count: 0.0,
        }
    }

    /// Takes the parameters of `fresh` and keeps its state.
    pub(super) fn change(&mut self, fresh: Self) {
        let Self { p, prev_q, low_count, classic_count, .. } = *self;
        *self = Self { p, prev_q, low_count, classic_count, ..fresh };
    }

    /// Returns p_CL: the smallest probability with which the L4S queue marks.
    fn coupled(&self) -> f64 {
        self.k * self.p
    }

    /// Returns p_C, the probability of the classic queue.
    fn classic(&self) -> f64 {
        self.p * self.p
    }

    /// Returns the L4S queue's own probability: a ramp over the delay (A.1, `laqm`).
    fn native(&self, delay: f64) -> f64 {
        if delay >= self.min_th + self.range {
            1.0
        } else if delay > self.min_th {
            (delay - self.min_th) / self.range
        } else {
            0.0
        }
    }

    /// Returns whether `packet`, which has just left its queue, is delivered (A.2).
    pub(super) fn passes<P: Packet, O: Owner<P>>(
        &mut self,
        packet: &mut P,
        left: &Left,
        owner: &mut O,
    ) -> bool {
        let (p_c, p_cl) = (self.classic(), self.coupled());
        if left.side == Side::Classic {
            let p_c_max = (1.0 / (self.k * self.k)).min(1.0);
            return !recur(&mut self.classic_count, p_c)
                || (p_c < p_c_max && mark(packet, Mark::Early, owner));
        }
        let likelihood = if p_cl < P_L_MAX {
            let alone = left.low_packets <= self.th_len;
            let native = if alone { 0.0 } else { self.native(left.sojourn.as_secs_f64()) };
            native.max(p_cl)
        } else if recur(&mut self.low_count, p_c) {
            return false;
        } else {
            p_cl
        };
        !recur(&mut self.low_count, likelihood) || mark(packet, Mark::Early, owner)
    }

    /// Makes the periodic update of p', for the longer of the queues' delays (A.2).
    pub(super) fn update(&mut self, delay: Duration) {
        let delay = delay.as_secs_f64();
        let change = self.alpha * (delay - self.target) + self.beta * (delay - self.prev_q);
        self.p = (self.p + change).clamp(0.0, 1.0);
        self.prev_q = delay;
    }

    pub(super) fn probe(&self, probe: &mut dyn Probe) {
        probe.real("p", self.p);
        probe.measured("prevq", Raw::Real(self.prev_q), Measure::Time(Some(self.prev_q)));
        probe.real("lq_count", self.low_count);
        probe.real("cq_count", self.classic_count);
        probe.real("drop_probability", self.classic());
        probe.real("coupled_probability", self.coupled().min(1.0));
    }
}

#[cfg(test)]
mod tests;
