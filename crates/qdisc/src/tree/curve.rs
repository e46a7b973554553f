//! Service curves of HFSC: two straight lines, and the least of several of them.
//!
//! Source: net/sched/sch_hfsc.c. A curve goes up with slope `m1` for the time `d`, and with `m2` from then on. Time is
//! in ticks of 64 ns. Slopes are scaled by 2^24 (bytes per tick) and their inverses by 2^14 (ticks per byte), so that
//! sums of products come out as in the kernel. Numbers wrap as there.

/// Binary digits behind the point of a slope, and of an inverse slope.
const SLOPE: u32 = 24;
const INVERSE: u32 = 14;
const TICKS_PER_SECOND: u64 = 1_000_000_000 >> 6;
const NEVER: u64 = u64::MAX;

/// A curve as `tc` sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spec {
    /// Bytes per second at first, microseconds, bytes per second from then on.
    pub(super) m1: u32,
    pub(super) d: u32,
    pub(super) m2: u32,
}

/// A curve from the origin (`internal_sc`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Curve {
    slopes: [u64; 2],
    inverses: [u64; 2],
    dx: u64,
    dy: u64,
}

impl Curve {
    pub(super) fn new(spec: Spec) -> Self {
        let slope = |m: u32| (u64::from(m) << SLOPE).div_ceil(TICKS_PER_SECOND);
        let inverse = |m: u32| match u64::from(m) {
            0 => NEVER,
            m => (TICKS_PER_SECOND << INVERSE).div_ceil(m),
        };
        let slopes = [spec.m1, spec.m2].map(slope);
        let dx = (u64::from(spec.d) * TICKS_PER_SECOND).div_ceil(1_000_000);
        Self { slopes, inverses: [spec.m1, spec.m2].map(inverse), dx, dy: rise(dx, slopes[0]) }
    }

    /// Returns whether the curve becomes steeper, or stays as it is.
    pub(super) const fn is_convex(&self) -> bool {
        self.slopes[0] <= self.slopes[1]
    }
}

/// Returns what a slope gives in a time (`seg_x2y`).
fn rise(x: u64, slope: u64) -> u64 {
    let low = x & ((1 << SLOPE) - 1);
    (x >> SLOPE).wrapping_mul(slope).wrapping_add(low.wrapping_mul(slope) >> SLOPE)
}

/// Returns the time in which a slope gives `y` (`seg_y2x`).
fn run(y: u64, inverse: u64) -> u64 {
    match (y, inverse) {
        (0, _) => 0,
        (_, NEVER) => NEVER,
        _ => {
            let low = y & ((1 << INVERSE) - 1);
            (y >> INVERSE).wrapping_mul(inverse).wrapping_add(low.wrapping_mul(inverse) >> INVERSE)
        }
    }
}

/// A curve from a point in time and work on (`runtime_sc`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Running {
    x: u64,
    y: u64,
    curve: Curve,
}

impl Running {
    pub(super) const fn new(curve: Curve, x: u64, y: u64) -> Self {
        Self { x, y, curve }
    }

    /// Returns the line with the second slope alone.
    pub(super) fn without_first(mut self) -> Self {
        (self.curve.dx, self.curve.dy) = (0, 0);
        self
    }

    /// Returns when the curve reaches `y` (`rtsc_y2x`).
    pub(super) fn time(&self, y: u64) -> u64 {
        let Self { x, y: base, curve: Curve { inverses, dx, dy, .. } } = *self;
        if y < base {
            x
        } else if y <= base.wrapping_add(dy) {
            if dy == 0 { x.wrapping_add(dx) } else { x.wrapping_add(run(y - base, inverses[0])) }
        } else {
            x.wrapping_add(dx).wrapping_add(run(y.wrapping_sub(base).wrapping_sub(dy), inverses[1]))
        }
    }

    /// Returns what the curve reaches at `x` (`rtsc_x2y`).
    fn work(&self, x: u64) -> u64 {
        let Self { x: base, y, curve: Curve { slopes, dx, dy, .. } } = *self;
        if x <= base {
            y
        } else if x <= base.wrapping_add(dx) {
            y.wrapping_add(rise(x - base, slopes[0]))
        } else {
            y.wrapping_add(dy).wrapping_add(rise(x.wrapping_sub(base).wrapping_sub(dx), slopes[1]))
        }
    }

    /// Lowers the curve to the least of itself and of `curve` from (`x`, `y`) on (`rtsc_min`).
    pub(super) fn lower_to(&mut self, curve: &Curve, x: u64, y: u64) {
        let here = self.work(x);
        if curve.is_convex() {
            if here >= y {
                (self.x, self.y) = (x, y);
            }
            return;
        }
        if here <= y {
            return;
        }
        if self.work(x.wrapping_add(curve.dx)) >= y.wrapping_add(curve.dy) {
            (self.x, self.y) = (x, y);
            (self.curve.dx, self.curve.dy) = (curve.dx, curve.dy);
            return;
        }
        // The two curves cross. How long is the first part until then?
        let mut dx = (here.wrapping_sub(y) << SLOPE) / (curve.slopes[0] - curve.slopes[1]);
        if self.x.wrapping_add(self.curve.dx) > x {
            dx = dx.wrapping_add(self.x.wrapping_add(self.curve.dx) - x);
        }
        (self.curve.dx, self.curve.dy) = (dx, rise(dx, curve.slopes[0]));
        (self.x, self.y) = (x, y);
    }
}
