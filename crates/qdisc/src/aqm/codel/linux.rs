//! CoDel as Linux runs it: the variant `linux`.
//!
//! Source: `include/net/codel_impl.h`, `codel_Newton_step`, `codel_control_law` and `codel_should_drop`. It differs
//! from RFC 8289 in these points:
//!
//! - `1/sqrt(count)` is 16-bit fixed point and takes one Newton step per drop instead of the exact root (5.6). So the
//!   second gap is half an interval, and the root is close to exact from about the sixth drop;
//! - the first drop needs `now > first_above_time`, strictly.
//!
//! Linux 7.3 also limits how many packets one call drops, and how short a gap is: `Rules` in `codel.rs`.

use super::law::Law;
use super::ticks::Ticks;
use super::vars::Vars;

/// Linux's CoDel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linux;

impl Law for Linux {
    const EARLY: Ticks = Ticks(0);

    fn interval_next(vars: &Vars, interval: Ticks) -> Ticks {
        let inverse = u64::from(u32::from(vars.rec_inv_sqrt) << 16);
        Ticks(((u64::from(interval.0) * inverse) >> 32) as u32)
    }
}

impl Vars {
    /// Makes one Newton step towards 1/sqrt(count): x(3 - count x^2)/2, in Q0.32 as Linux computes it.
    pub(super) fn newton_step(&mut self) {
        let inverse = u32::from(self.rec_inv_sqrt) << 16;
        let square = ((u64::from(inverse) * u64::from(inverse)) >> 32) as u32;
        let value = (3_u64 << 32).wrapping_sub(u64::from(self.count) * u64::from(square));
        // If `count` has jumped (fq_codel's overflow adds to it), the step misses and the product wraps, as in Linux.
        let value = (value >> 2).wrapping_mul(u64::from(inverse)) >> (32 - 2 + 1);
        self.rec_inv_sqrt = (value >> 16) as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 5.6 asks for interval/sqrt(count). The fixed-point root must be within 1 % of it from the eighth drop
    /// on.
    #[test]
    fn the_newton_steps_approach_the_inverse_square_root() {
        let mut vars = Vars { count: 1, rec_inv_sqrt: u16::MAX, ..Vars::default() };
        for count in 2..=100_u32 {
            vars.count = count;
            vars.newton_step();
            let (got, want) = (f64::from(vars.rec_inv_sqrt) / 65536.0, 1.0 / f64::from(count).sqrt());
            if count == 2 {
                assert!((got - 0.5).abs() < 1e-3, "Linux's second gap is half an interval, not {got}");
            }
            if count >= 8 {
                assert!((got / want - 1.0).abs() < 0.01, "count {count}: {got} is not {want}");
            }
        }
    }
}
