//! CUBIC as in Linux: RFC 9438, with HyStart.
//!
//! Linux differs from RFC 9438 in three points:
//! - The window falls from cwnd, not from the segments in flight (4.6).
//! - The Reno-friendly estimate grows by whole segments with a constant α. Section 4.3 raises α to 1 once the estimate
//!   passes the old window.
//! - The window grows by at most one segment per two segments delivered. This is the RFC's limit of 1.5× per round trip
//!   (4.2).
//!
//! All values are integers: windows in segments, and time in 1/1024 s, of whole ticks of Linux's clock (`wheel`).

use super::hystart::HyStart;
use super::hystart_plus_plus::HyStartPlusPlus;
use super::line::{ABE, HYSTART_PLUS_PLUS, NO_HYSTART};
use super::{Ack, Cause, CcWord, Congestion, CongestionControl};
use crate::{Config, CongestionState, Stack, Window, wheel};
use alloc::boxed::Box;
use core::mem::offset_of;
use goodqueue_units::{Duration, Instant, processor::select};

/// β = 0.7 (section 4.6) as a fraction of `SCALE`.
const BETA: u64 = 717;
const SCALE: u64 = 1024;
/// RFC 8511, section 3.1: beta_ecn = 0.85, in hundredths.
const BETA_ECN: u64 = 85;
/// C = 0.4 (section 5) in 1/1024 segments per second cubed.
const C: u64 = 410;
/// Fraction bits of C (10) and of a time cubed (3 × 10).
const CUBE_BITS: u32 = 40;
/// The estimate of Reno's window grows by one segment per `cwnd * 15 / 8` segments: 1/α, α = 3 (1 − β) / (1 + β) = 0.53
/// (4.3).
const FRIENDLY_EIGHTHS: u32 = (8 * (SCALE + BETA) / 3 / (SCALE - BETA)) as u32;
/// The least time between two computations of the formula while the window is unchanged.
const SAME_WINDOW_INTERVAL: Duration = Duration::from_nanos(1_000_000_000 / 32);
/// The ticks of a stack whose timers are exact.
const FINEST: Duration = Duration::from_millis(1);
/// How far Linux's first guess of a cube root, in 1/64, is above the whole part of 64 times the cube root of 8 to 63.
/// Each was found by hand (`cubic_root`). One step of Newton's method follows, so K depends on the guess by up to 1 %.
const GUESS: [u8; 56] = [
    5, 6, 7, 6, 7, 7, 7, 9, 6, 7, 7, 8, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 9, 8, 7, 7, 7, 7, 8, 8, 8, 8, 9, 9, 9,
    8, 9, 8, 8, 9, 9, 8, 9, 9, 9, 9, 9, 9, 10, 9, 9, 9, 10, 10, 9, 10,
];
/// The time after a loss during which RTT samples are ignored: they show the full queue and not the path.
const DISTRUST: Duration = Duration::from_secs(1);
/// Segments per ACK, in sixteenths: the value before the first measurement.
const FIRST_RATIO: u32 = 2 << 4;
/// Segments per ACK, in sixteenths: the largest value.
const MAX_RATIO: u32 = 32 << 4;

#[derive(Clone, Debug)]
#[repr(C)] // see `Connection`
pub(crate) struct Cubic {
    stack: Stack,
    abe: bool,
    /// HyStart has ended slow start, or is switched off.
    found: bool,
    /// Segments delivered per segment of growth.
    cnt: u32,
    /// When this stage of congestion avoidance began.
    epoch: Option<Instant>,
    last_update: Instant,
    last_cwnd: u32,
    acked: u32,
    /// The smallest RTT. Zero before the first sample.
    delay_min: Duration,
    /// The estimate of Reno's window, W_est, in segments. `acked` segments count towards its next segment.
    w_est: u32,
    /// W_max: the window before the last reduction, in segments. 0 after a timeout.
    w_max: u32,
    /// The window at the plateau of the cubic, in segments.
    origin: u32,
    /// Segments per ACK, in sixteenths, smoothed (Linux 3.10 and 3.14).
    ratio: u32,
    /// K, in 1/1024 s.
    k: u64,
    /// HyStart++, which replaces HyStart if the configuration asks for it.
    plus_plus: Option<Box<HyStartPlusPlus>>,
    hystart: HyStart,
}

#[cfg(target_pointer_width = "64")] // shorter pointers make another layout, as in WebAssembly
const _: () = assert!(Cubic::HOT_BYTES == 80);

impl CongestionControl for Cubic {
    const NAME: &'static str = "cubic";
    const SUMMARY: &'static str =
        "Linux's default: the window is a cubic function of the time since the last congestion; with HyStart";
    const SOURCE: &'static str = "RFC 9438; Ha & Rhee 2011 (HyStart)";
    const DIFFERS: &'static str =
        "reduces cwnd, not the data in flight; the Reno-friendly region has a constant gain (both as Linux)";

    const WORDS: &'static [CcWord] = &[HYSTART_PLUS_PLUS, ABE, NO_HYSTART];

    fn new(config: &Config) -> Self {
        let options = config.cc_options;
        let plus_plus = options.hystart_plus_plus.then(|| Box::new(HyStartPlusPlus::new()));
        let plain = Self::of(config.stack);
        let hystart = HyStart::new(config.stack, config.pacing);
        Self { abe: options.abe, plus_plus, hystart, found: plain.found || options.no_hystart, ..plain }
    }

    #[inline]
    fn on_delivered(&mut self, ack: &Ack, window: &mut Window) {
        let Some(rtt) = ack.rtt else { return };
        let is_trusted = self.epoch.is_none_or(|epoch| self.is_trusted(ack.now, epoch));
        let is_least = (self.delay_min == Duration::ZERO) | (rtt < self.delay_min);
        // No branch (branch prediction): some flows have just begun an epoch and some have not, which is not
        // predictable.
        self.delay_min = select(is_trusted & is_least, rtt, self.delay_min);
        if !self.found
            && window.in_slow_start()
            && is_trusted
            && self.plus_plus.is_none()
            && self.hystart.on_rtt(ack, window.cwnd, rtt, self.delay_min)
        {
            self.found = true;
            window.ssthresh = window.cwnd;
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !self.stack.era().growth.cong_avoid_by_acked && ack.state == CongestionState::Open {
            self.ratio = (self.ratio - self.ratio / 16 + ack.segments).min(MAX_RATIO);
        }
        if !ack.is_cwnd_limited {
            return;
        }
        let mut counted = ack.counted;
        if window.in_slow_start() {
            counted = match &mut self.plus_plus {
                Some(hystart) => hystart.grow(ack, window),
                None => window.slow_start(counted),
            };
            if counted == 0 {
                return;
            }
        }
        self.update(ack.now, window.cwnd, counted);
        let per = if self.stack.era().growth.cong_avoid_by_acked {
            self.cnt.max(2)
        } else {
            (self.cnt * 16 / self.ratio).max(1)
        };
        window.increase(per, counted);
    }

    /// Returns β of the window (sections 4.6 and 4.7). At marks, with `abe`, the fraction is that of RFC 8511.
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        let cwnd = congestion.cwnd;
        self.epoch = None;
        if let Some(hystart) = &mut self.plus_plus {
            hystart.stop();
        }
        self.w_max = if cwnd < self.w_max {
            // Fast convergence: another flow needs room, so the plateau is W_max = cwnd (1 + β) / 2.
            (u64::from(cwnd) * (SCALE + BETA) / (2 * SCALE)) as u32
        } else {
            cwnd
        };
        let (beta, scale) =
            if self.abe && congestion.cause == Cause::Ecn { (BETA_ECN, 100) } else { (BETA, SCALE) };
        ((u64::from(cwnd) * beta / scale) as u32).max(2)
    }

    /// Forgets everything learnt before the timeout (section 4.8).
    fn on_rto(&mut self) {
        let plus_plus = self.plus_plus.take(); // HyStart++ has stopped
        let hystart = self.hystart.renewed(self.stack);
        *self = Self { abe: self.abe, plus_plus, hystart, ..Self::of(self.stack) };
    }

    /// Leaves idle time out of the epoch (section 5.8, and RFC 9438's definition of t).
    fn on_restart(&mut self, now: Instant, idle: Duration) {
        if let Some(epoch) = self.epoch.as_mut().filter(|_| self.stack.era().growth.cubic_shifts_epoch) {
            *epoch = (*epoch + idle).min(now);
        }
    }

    fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("w_max_segments", f64::from(self.w_max));
        show("w_est_segments", f64::from(self.w_est));
        show("k_s", self.k as f64 / SCALE as f64);
        show("cnt_segments", f64::from(self.cnt));
        show("delay_min_ms", self.delay_min.as_millis_f64());
    }
}

impl Cubic {
    /// Where the part ends that each ACK touches outside of slow start.
    pub(super) const HOT_BYTES: usize = offset_of!(Self, hystart);

    fn of(stack: Stack) -> Self {
        Self {
            stack,
            abe: false,
            cnt: 0,
            w_max: 0,
            origin: 0,
            k: 0,
            epoch: None,
            last_cwnd: 0,
            last_update: Instant::ZERO,
            w_est: 0,
            acked: 0,
            delay_min: Duration::ZERO,
            hystart: HyStart::new(stack, false),
            plus_plus: None,
            found: stack.era().growth.hystart.is_none(),
            ratio: FIRST_RATIO,
        }
    }

    /// Sets `cnt` to the growth of the larger window: the cubic's or Reno's.
    #[inline]
    fn update(&mut self, now: Instant, cwnd: u32, counted: u32) {
        self.acked += counted;
        // Before the division for a tick, which is earlier: so it is for nearly all ACKs.
        if cwnd == self.last_cwnd && now.since(self.last_update) <= SAME_WINDOW_INTERVAL {
            return;
        }
        let now = self.tick(now);
        let since_update = now.since(self.last_update);
        if cwnd == self.last_cwnd && since_update <= SAME_WINDOW_INTERVAL {
            return;
        }
        if self.epoch.is_none() || since_update > Duration::ZERO {
            self.last_cwnd = cwnd;
            self.last_update = now;
            self.update_cubic(now, cwnd, counted);
        }
        self.update_friendly(cwnd);
    }

    /// Returns whether RTT samples count again, in an epoch that began at `epoch`.
    #[inline]
    fn is_trusted(&self, now: Instant, epoch: Instant) -> bool {
        // Without a division, unless the time is over within a tick or so.
        let since = now.since(epoch);
        since >= DISTRUST && (since >= DISTRUST + wheel::LONGEST || self.tick(now).since(epoch) >= DISTRUST)
    }

    /// Sets `cnt` by the cubic, one round trip ahead: W_cubic(t) = C (t − K)³ + W_max (section 4.2).
    fn update_cubic(&mut self, now: Instant, cwnd: u32, counted: u32) {
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin_epoch(now, cwnd, counted),
        };
        let t = ticks(now.since(epoch) + wheel::ceil(self.tick_length(), self.delay_min));
        // 128 s from the plateau is 840 000 segments from it: further out, the cube would not fit.
        let cube = t.abs_diff(self.k).min(128 << 10).pow(3);
        let delta = ((C * cube) >> CUBE_BITS) as u32;
        let target = if t < self.k { self.origin.saturating_sub(delta) } else { self.origin + delta };
        self.cnt = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.w_max == 0 {
            self.cnt = self.cnt.min(20); // the path is unknown: grow at least 5 % per round trip
        }
    }

    /// Begins an epoch: K = cbrt((W_max − cwnd) / C) (section 4.2). A window already above W_max is itself the plateau
    /// (4.8, 4.10).
    fn begin_epoch(&mut self, now: Instant, cwnd: u32, counted: u32) -> Instant {
        self.epoch = Some(now);
        self.acked = counted;
        self.w_est = cwnd;
        let below = u64::from(self.w_max.saturating_sub(cwnd)).min(1 << 23);
        self.k = root_by_guess((1 << CUBE_BITS) / C * below);
        self.origin = self.w_max.max(cwnd);
        now
    }

    /// Returns the last tick of the clock (`tcp_jiffies32`).
    #[inline]
    fn tick(&self, now: Instant) -> Instant {
        wheel::floor(self.tick_length(), now)
    }

    #[inline]
    fn tick_length(&self) -> Duration {
        self.stack.era().timers.jiffy.max(FINEST)
    }

    /// Limits `cnt` so that the window is not smaller than Reno's with the same β (section 4.3).
    #[inline]
    fn update_friendly(&mut self, cwnd: u32) {
        let per_segment = (cwnd * FRIENDLY_EIGHTHS / 8).max(1);
        while self.acked > per_segment {
            self.acked -= per_segment;
            self.w_est += 1;
        }
        if self.w_est > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.w_est - cwnd));
        }
    }
}

/// Converts a span to 1/1024 s.
fn ticks(span: Duration) -> u64 {
    // 2^53 ns are 104 days; the product stays below 2^63.
    span.as_nanos().min(1 << 53) * SCALE / 1_000_000_000
}

/// Returns about the cube root, as Linux computes it: from the first digit in base 8, and one step of Newton's method.
fn root_by_guess(x: u64) -> u64 {
    let bits = u64::BITS - x.leading_zeros();
    if bits < 7 {
        return cube_root(x);
    }
    let digits = (bits * 84 / 256) - 1;
    let first = x >> (3 * digits); // 8 to 63
    let guess = (cube_root(first << 18) + u64::from(GUESS[first as usize - 8])) << digits >> 6;
    (2 * guess + x / (guess * (guess - 1))) * 341 / 1024
}

/// Returns the integer cube root, rounded down. It finds one bit at a time, once per congestion.
fn cube_root(x: u64) -> u64 {
    let mut root = 0_u64;
    for bit in (0..=(u64::BITS - x.leading_zeros()) / 3).rev() {
        let candidate = root | 1 << bit;
        if candidate.checked_pow(3).is_some_and(|cube| cube <= x) {
            root = candidate;
        }
    }
    root
}

#[cfg(test)]
mod tests;
