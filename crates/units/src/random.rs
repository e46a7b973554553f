//! Named random streams (common random numbers).
//!
//! Every random source of a run draws from its own stream, which is derived from the run's seed, the source's name
//! and its index. So another probe or another AQM does not change the draws of the other sources, and AQMs are
//! compared on the same arrivals.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// A random stream: PCG XSL 128/64 (MCG) (O'Neill 2014), portable and stable across versions.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64Mcg);

/// The family of streams of one seed.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// Returns the streams of `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Returns the stream called `name` with number `index` of its kind. The same seed, name and index always give
    /// the same draws.
    #[must_use]
    pub fn stream(self, name: &str, index: u64) -> Stream {
        // FNV-1a over the name, then one splitmix64 step each for seed and index, so that similar seeds and similar
        // indices give unrelated states.
        let name = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let low = splitmix64(splitmix64(self.seed ^ name).wrapping_add(index));
        let high = splitmix64(low);
        Stream(Pcg64Mcg::new(u128::from(high) << 64 | u128::from(low)))
    }
}

/// Makes one step of splitmix64 (Steele, Lea, Flood 2014).
const fn splitmix64(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Stream {
    /// Returns the stream that continues from `state`, whose lowest bit counts as set. Linux draws the same numbers if
    /// it was built for that: see `process_changes.py`.
    #[must_use]
    pub fn of_state(state: u128) -> Self {
        Self(Pcg64Mcg::new(state))
    }

    /// Returns the next 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// Returns the next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a uniform number in [0, 1), with 53 bits.
    pub fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_independent_and_repeat() {
        let first = |seed, name, index| Streams::new(seed).stream(name, index).next_u64();
        let base = first(1, "start", 0);
        assert_eq!(base, first(1, "start", 0));
        for other in [first(2, "start", 0), first(1, "aqm", 0), first(1, "start", 1)] {
            assert_ne!(base, other);
        }
    }

    /// Results must be the same bytes on every machine and after every upgrade of a dependency.
    #[test]
    fn the_generator_has_not_changed() {
        let mut stream = Streams::new(1).stream("start", 0);
        assert_eq!(
            [stream.next_u64(), stream.next_u64()],
            [9_396_295_381_012_532_652, 6_717_238_767_891_360_732]
        );
    }

    #[test]
    fn uniform_draws_have_the_mean_and_variance_of_a_uniform() {
        let mut stream = Streams::new(7).stream("test", 0);
        let n = 100_000;
        let draws: std::vec::Vec<f64> = (0..n).map(|_| stream.next_f64()).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n);
        assert!((mean - 0.5).abs() < 0.005 && (variance - 1.0 / 12.0).abs() < 0.002, "{mean} {variance}");
    }
}
