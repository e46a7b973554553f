//! Pseudo-random traffic for which Linux's decisions are known. Linux's own rate control was driven in user space by
//! the same traffic. Digests of its decisions are in the tests.

use super::{Chain, Outcome, RateControl};
use crate::wifi::mode::Mode;
use goodqueue_units::Instant;

/// Traffic over a link that changes every 400 frames or aggregates.
pub(crate) struct Traffic {
    state: u64,
    now_us: u64,
    level: i64,
    /// Whether there are pauses, and modes that never succeed.
    is_hard: bool,
    /// The most frames per aggregate.
    aggregate: u64,
    /// The link's levels are below this number. The more a mode's load is above the level, the more frames the mode
    /// loses.
    levels: u64,
    load: fn(Mode) -> i64,
}

impl Traffic {
    pub(crate) fn new(is_hard: bool, aggregate: u64, levels: u64, load: fn(Mode) -> i64) -> Self {
        let mut traffic = Self { state: 1, now_us: 1_000_000, level: 0, is_hard, aggregate, levels, load };
        (0..10).for_each(|_| _ = traffic.next());
        traffic
    }

    /// Draws the next number of Knuth's MMIX generator.
    fn next(&mut self) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.state >> 33
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::from_nanos(self.now_us * 1000)
    }

    fn send(&mut self, chain: Chain) -> Outcome {
        let is_aggregate = self.aggregate > 1 && !chain.is_probe;
        let frames = if is_aggregate { 1 + (self.next() % self.aggregate) as u32 } else { 1 };
        let mut outcome = Outcome { chain, tried: [0; 4], frames, acked: 0 };
        for (number, stage) in chain.stages().iter().enumerate() {
            let above = (self.load)(stage.mode) - self.level;
            let per_mille = (1000 - 2 * above).clamp(if self.is_hard { 0 } else { 5 }, 990);
            while outcome.tried[number] < stage.tries && outcome.acked == 0 {
                outcome.tried[number] += 1;
                for _ in 0..frames {
                    outcome.acked += u32::from(((self.next() % 1000) as i64) < per_mille);
                }
            }
        }
        outcome
    }

    /// Returns digests of what `control` decides, after 100, 1000 and 20000 decisions. A digest is FNV-1a over the
    /// `values` of each chain and the expected throughput in kbit/s.
    pub(crate) fn digests(mut self, mut control: RateControl, values: fn(&Chain) -> Vec<u64>) -> Vec<u64> {
        let (mut digest, mut digests) = (0xcbf2_9ce4_8422_2325_u64, Vec::new());
        for number in 0..20_000 {
            if number % 400 == 0 {
                self.level = (self.next() % self.levels) as i64;
            }
            self.now_us += 100 + self.next() % if self.is_hard { 9000 } else { 3000 };
            let chain = control.plan(self.now());
            let outcome = self.send(chain);
            self.now_us += self.next() % 4000;
            control.report(self.now(), &outcome);
            let kbps = (control.expected_mbps(self.now()) * 1000.0).round() as u64;
            for value in values(&chain).into_iter().chain([kbps]) {
                digest = (digest ^ value).wrapping_mul(0x0100_0000_01b3);
            }
            if [99, 999, 19_999].contains(&number) {
                digests.push(digest);
            }
        }
        digests
    }
}
