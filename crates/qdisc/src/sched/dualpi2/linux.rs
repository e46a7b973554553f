//! The coupled AQMs as Linux runs them, with integers and dice.

use super::params::{
    COUPLING_FACTOR, Control, DROP_AT, DropAt, MIN_QLEN_STEP, ON_OVERLOAD, OnOverload, STEP_THRESH,
    linux_gain,
};
use super::{Left, Side};
use crate::aqm::mark;
use crate::packet::Packet;
use crate::param::{Args, TimeOrPackets};
use crate::qdisc::{Measure, Probe};
use crate::signal::{Mark, Owner};
use goodqueue_units::Duration;

/// Probability one.
const MAX_PROB: u32 = u32::MAX;
/// Number of bits that the gains have more than the probability.
const GAIN_BITS: u32 = 6;

/// The threshold above which each packet of the L4S queue is marked.
#[derive(Clone, Copy, Debug)]
enum Step {
    Time(Duration),
    Packets(usize),
}

/// The law and its state, under Linux's names.
#[derive(Clone, Debug)]
pub(super) struct Linux {
    /// p', as a part of [`MAX_PROB`].
    pub(super) prob: u32,
    /// The delay at the last update, in ns.
    last_qdelay: u64,
    target: u64,
    alpha: u64,
    beta: u64,
    coupling_factor: u32,
    drop_overload: bool,
    /// Whether packets are judged on arrival.
    pub(super) drop_early: bool,
    step: Step,
    /// Packets that an L4S packet must meet on arrival for the step to apply to it.
    pub(super) min_qlen_step: usize,
    /// No dice are thrown below this number of bytes in both queues.
    small: u64,
    ecn_mark: u64,
    step_marks: u64,
}

impl Linux {
    pub(super) fn new(args: &Args, control: &Control, mtu: u32) -> Self {
        let step = match args.get(&STEP_THRESH) {
            Some(TimeOrPackets::Packets(packets)) => Step::Packets(packets as usize),
            Some(TimeOrPackets::Time(time)) => Step::Time(time),
            None => Step::Time(Duration::ZERO),
        };
        Self {
            prob: 0,
            last_qdelay: 0,
            target: control.target.as_nanos(),
            alpha: linux_gain(control.alpha),
            beta: linux_gain(control.beta),
            coupling_factor: args.get(&COUPLING_FACTOR),
            drop_overload: args.get(&ON_OVERLOAD) == Some(OnOverload::Drop),
            drop_early: args.get(&DROP_AT) == Some(DropAt::Enqueue),
            step,
            min_qlen_step: args.get(&MIN_QLEN_STEP).unwrap_or(0) as usize,
            small: 2 * u64::from(mtu),
            ecn_mark: 0,
            step_marks: 0,
        }
    }

    /// Takes the parameters of `fresh` and keeps its state.
    pub(super) fn change(&mut self, fresh: Self) {
        let Self { prob, last_qdelay, ecn_mark, step_marks, .. } = *self;
        *self = Self { prob, last_qdelay, ecn_mark, step_marks, ..fresh };
    }

    /// Marks `packet` and counts the mark, even if the packet had it already.
    fn mark<P: Packet, O: Owner<P>>(&mut self, packet: &mut P, why: Mark, owner: &mut O) -> bool {
        let marked = mark(packet, why, owner);
        self.ecn_mark += u64::from(marked);
        marked
    }

    /// Returns whether `packet` is to be dropped, with `bytes` waiting beside it. It may be marked instead.
    pub(super) fn condemns<P: Packet, O: Owner<P>>(
        &mut self,
        packet: &mut P,
        side: Side,
        bytes: u64,
        owner: &mut O,
    ) -> bool {
        if bytes < self.small {
            return false;
        }
        let prob = u64::from(self.prob);
        let coupled = prob * u64::from(self.coupling_factor);
        let overload = coupled > u64::from(MAX_PROB);
        let mut hit = |prob: u64| u64::from(owner.random_u32()) <= prob;
        let (told, may_mark) = match side {
            Side::Classic => (hit(prob) && hit(prob), !overload),
            Side::Low if !overload => (hit(coupled), true),
            // L4S drops with the probability of classic, and marks all other packets.
            Side::Low => (true, !(self.drop_overload && hit(prob) && hit(prob))),
        };
        told && !(may_mark && self.mark(packet, Mark::Early, owner))
    }

    /// Returns whether `packet`, which has just left its queue, is delivered.
    pub(super) fn passes<P: Packet, O: Owner<P>>(
        &mut self,
        packet: &mut P,
        left: &Left,
        owner: &mut O,
    ) -> bool {
        if !self.drop_early && self.condemns(packet, left.side, left.bytes, owner) {
            return false;
        }
        let beyond = match self.step {
            Step::Time(thresh) => left.sojourn > thresh,
            Step::Packets(thresh) => left.low_packets > thresh,
        };
        if left.side == Side::Classic || !left.steps || !beyond {
            return true;
        }
        let marked = self.mark(packet, Mark::CeThreshold, owner);
        self.step_marks += u64::from(marked);
        marked
    }

    /// Makes the periodic update of p', for the longer of the queues' delays (A.1). As in the kernel, the step is cut
    /// to 32 bits before it is added. So a fall of the delay by more than some 300 ms lowers p' by too little. (This
    /// was read in the kernel's code. No golden trace goes that far.)
    pub(super) fn update(&mut self, delay: Duration) {
        let delay = delay.as_nanos();
        let times = |gain: u64, from: u64| (delay.wrapping_sub(from) as i64).wrapping_mul(gain as i64);
        let delta = times(self.alpha, self.target).wrapping_add(times(self.beta, self.last_qdelay));
        self.last_qdelay = delay;
        let step = (delta.unsigned_abs() >> GAIN_BITS) as u32;
        self.prob = if delta > 0 {
            Some(self.prob.wrapping_add(step)).filter(|prob| *prob >= self.prob).unwrap_or(MAX_PROB)
        } else {
            Some(self.prob.wrapping_sub(step)).filter(|prob| *prob <= self.prob).unwrap_or(0)
        };
        if !self.drop_overload {
            self.prob = self.prob.min(MAX_PROB / self.coupling_factor);
        }
    }

    pub(super) fn probe(&self, probe: &mut dyn Probe) {
        let base = f64::from(self.prob) / f64::from(MAX_PROB);
        probe.measured("prob", self.prob.into(), Measure::Number(Some(base)));
        let delay = Measure::Time(Some(self.last_qdelay as f64 / 1e9));
        probe.measured("last_qdelay", self.last_qdelay.into(), delay);
        probe.integer("ecn_mark", self.ecn_mark.into());
        probe.integer("step_marks", self.step_marks.into());
        probe.real("drop_probability", base * base);
        probe.real("coupled_probability", (base * f64::from(self.coupling_factor)).min(1.0));
    }
}
