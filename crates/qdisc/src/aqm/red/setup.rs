//! `tc`'s part of RED's set-up: it computes thresholds, weight and idle table before the kernel sees the line.

use super::Params;
use crate::param::{Args, Error, Param, bps};
use alloc::format;
use goodqueue_units::{Duration, Rate};

/// The largest rate that 32 bits of bytes per second hold, in bit/s.
const MOST_RATE: u64 = 8 * (u32::MAX as u64);

/// The decay of the average while the link is idle, as one shift for each of 256 cells of time (section 4).
#[derive(Clone, Debug)]
pub struct Idle {
    /// Binary logarithm of a cell's length in microseconds.
    cell_log: u32,
    shifts: [u8; 256],
}

impl Idle {
    /// Computes the table for a weight of 2^-`wlog` and one average packet every `packet_us` microseconds. It is
    /// `tc`'s table: the shift grows by one with each time in which (1 - weight)^packets falls to 1/e, although a
    /// shift only halves.
    fn new(wlog: u32, packet_us: f64) -> Self {
        let decay_per_us = -libm::log(1.0 - 1.0 / (1_u64 << wlog) as f64) / packet_us;
        let longest = 31.0 / decay_per_us;
        // iproute2 tries 31 cells, too, where its `1 << 31` is negative and passes the test whatever the longest time
        // is. So it refuses nothing here (`choke limit 16`), and an idle time below 35 minutes stays in the first cell.
        let cell_log = (0..31).find(|log| longest / ((1_u64 << log) as f64) < 512.0).unwrap_or(31);
        let mut shifts = [0; 256];
        for (cell, shift) in shifts.iter_mut().enumerate() {
            *shift = (((cell as u64) << cell_log) as f64 * decay_per_us).min(31.0) as u8;
        }
        shifts[255] = 31;
        Self { cell_log, shifts }
    }

    /// Returns the rest of the average after `idle`.
    pub(super) fn decay(&self, average: u64, idle: Duration) -> u64 {
        let us = (idle.as_nanos() / 1_000).min(255 << self.cell_log);
        match self.shifts[(us >> self.cell_log) as usize & 255] {
            // Within the first cells the decay is linear, but to no less than a half.
            0 => match ((u128::from(average) * u128::from(us)) >> self.cell_log) as u64 {
                lost if lost < average >> 1 => average - lost,
                _ => average >> 1,
            },
            shift => average >> shift,
        }
    }
}

/// Returns the weight's logarithm for which `tc` lets a burst of `burst` packets pass an empty queue: the smallest
/// for which the average of the burst stays below `min` (section 4, equation 3). `None`: `burst` is too small for
/// `min`, or too large.
fn wlog(min: u64, burst: u64, avpkt: u64) -> Option<u32> {
    let needed = burst as f64 + 1.0 - min as f64 / avpkt as f64;
    if needed < 1.0 {
        return None;
    }
    (1..32).find(|log| {
        let weight = 1.0 / (1_u64 << log) as f64;
        needed <= (1.0 - libm::pow(1.0 - weight, burst as f64)) / weight
    })
}

/// The unit of thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Bytes (`red`, and each queue of `sfq`).
    Bytes,
    /// Packets of `avpkt` bytes (`choke`).
    Packets,
}

pub(crate) const AVPKT: Param<u64> =
    Param::bytes("avpkt", "average packet").default(1000).range(1, u32::MAX as u64);
pub(crate) const BURST: Param<Option<u32>> =
    Param::packets("burst", "packets that may arrive at once").range(1, u32::MAX).zero_is_unset();
pub(crate) const BANDWIDTH: Param<Rate> =
    Param::rate("bandwidth", "rate at which the average decays while the link is idle")
        .default(bps(10_000_000))
        .range(bps(8), bps(MOST_RATE))
        .zero_is_unset();
pub(crate) const PROBABILITY: Param<f64> =
    Param::real("probability", "drop probability when the average reaches max")
        .default(0.02)
        .range(1e-9, 0.999_999);

pub(crate) const HARDDROP: Param<bool> = Param::flag("harddrop", "with ecn: drop from max on nevertheless");

/// Returns whether `tc` can hold the slope of the probability over the `distance` of the thresholds: tc_red_eval_P in
/// iproute2.
fn is_in_32_bits(probability: f64, distance: u64) -> bool {
    distance == 0 || probability / distance as f64 * (1_u64 << 31) as f64 > 1.0
}

/// Returns the drop probability at the upper threshold, in Q0.32.
pub(crate) fn max_p(args: &Args) -> u32 {
    (args.get(&PROBABILITY) * (1_u64 << 32) as f64) as u32
}

/// RED's settings in a line. `max` is by default a quarter of `limit`, which in `sfq` is `redflowlimit`. Thresholds
/// are in the unit of `scale`.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    name: &'static str,
    scale: Scale,
    limit: u64,
    min: Option<u64>,
    max: Option<u64>,
    burst: Option<u64>,
    avpkt: u64,
    probability: f64,
}

impl Asked {
    /// Takes the settings of a line that also lists [`AVPKT`] and [`BURST`].
    pub(crate) fn new(args: &Args, scale: Scale, limit: u64, min: Option<u64>, max: Option<u64>) -> Self {
        let (burst, avpkt) = (args.get(&BURST).map(u64::from), args.get(&AVPKT));
        Self {
            name: args.spec.name,
            scale,
            limit,
            min,
            max,
            burst,
            avpkt,
            probability: args.get(&PROBABILITY),
        }
    }

    /// Returns how many bytes a threshold of 1 means.
    fn unit(&self) -> u64 {
        if self.scale == Scale::Packets { self.avpkt } else { 1 }
    }

    /// Returns `min`, `max` and `burst`. Those that the line does not set are derived as `tc` does.
    #[must_use]
    pub fn thresholds(&self) -> (u64, u64, u64) {
        // Only q_red.c takes three times min.
        let min = self.min.filter(|_| self.name == "red");
        let max = self.max.unwrap_or_else(|| min.map_or(self.limit / 4, |min| 3 * min));
        let min = self.min.unwrap_or(max / 3);
        (min, max, self.burst.unwrap_or((2 * min + max) * self.unit() / (3 * self.avpkt)))
    }

    /// Returns thresholds, weight and idle table as `tc` derives them. `bandwidth` is the rate at which the average
    /// decays. `None`: the average does not decay.
    pub(crate) fn set_up(&self, bandwidth: Option<Rate>) -> Result<Params, Error> {
        let refuse = |why: &str| Error(format!("{}: {why}", self.name));
        let (min, max, burst) = self.thresholds();
        if max < min || max == 0 {
            return Err(refuse("max must be above zero and not less than min"));
        }
        // tc refuses max above the limit for choke, too, but Linux takes it, and a decision trace has it.
        if self.name != "red" && (min == max || (self.name == "sfq" && max > self.limit)) {
            return Err(refuse("max must be above min, and for sfq not above the limit"));
        }
        let wlog = wlog(min * self.unit(), burst, self.avpkt).ok_or_else(|| {
            refuse(&format!(
                "no weight lets a burst of {burst} packets pass; burst must be at least min / avpkt"
            ))
        })?;
        if !is_in_32_bits(self.probability, (max - min) * self.unit()) {
            return Err(refuse("probability is too small for the distance of min and max"));
        }
        if max >> (31 - wlog) != 0 {
            return Err(refuse("max is too large for the kernel's 31 bits"));
        }
        let Some(bandwidth) = bandwidth else { return Ok(Params::new(min, max, wlog, None)) };
        let idle = Idle::new(wlog, self.avpkt as f64 / (bandwidth.as_bps() as f64 / 8e6));
        Ok(Params::new(min, max, wlog, Some(idle)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Aqm, Red};
    use super::*;
    use crate::param::{Link, QdiscSpec};
    use crate::qdisc::{Measure, Probe};
    use std::vec::Vec;

    static SPEC: QdiscSpec = Red::SPEC;
    const LINK: Link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };

    fn red(words: &str) -> Result<Red, Error> {
        Red::build(&Args::parse(&SPEC, words)?, &LINK)
    }

    /// Returns for each shift of the table from 1 on the first cell that has it. The last cell, which is always 31,
    /// is left out.
    fn first_cells(idle: &Idle) -> Vec<usize> {
        (1..=idle.shifts[254])
            .map(|shift| idle.shifts.iter().position(|found| *found == shift).unwrap())
            .collect()
    }

    /// The reciprocal with which the kernel divides, as decision traces have it: (m, sh1, sh2).
    #[derive(Default)]
    struct Reciprocal([i128; 3]);

    impl Probe for Reciprocal {
        fn integer(&mut self, name: &'static str, value: i128) {
            let place = ["recip_m", "recip_sh1", "recip_sh2"].iter().position(|known| *known == name);
            place.into_iter().for_each(|place| self.0[place] = value);
        }
        fn real(&mut self, _name: &'static str, _value: f64) {}
    }

    /// The five set-ups in the headers of `golden/red`, and the cells at which their idle tables step. The weight:
    /// `burst 50` over 30 packets needs 21, and (1 - (31/32)^50) * 32 = 25.5 is the first sum that reaches it (the
    /// sum for 16 is 15.4). The cell: -ln(31/32)/800 us = 3.97e-5, so 31 shifts last 781 ms. 2^11 us is the first
    /// cell length of which less than 512 fit into that time. 13 of these cells are 1.06. The last set-up passed no
    /// max_P to the kernel, so max_P follows from Plog 21.
    #[test]
    fn the_set_up_is_that_of_the_golden_headers() {
        const W5: &[usize] =
            &[13, 25, 37, 50, 62, 74, 87, 99, 111, 124, 136, 148, 160, 173, 185, 197, 210, 222, 234, 247];
        const W4: &[usize] =
            &[13, 25, 37, 49, 61, 73, 85, 97, 109, 122, 134, 146, 158, 170, 182, 194, 206, 218, 230, 243];
        const W3: &[usize] = &[
            12, 24, 36, 47, 59, 71, 82, 94, 106, 118, 129, 141, 153, 164, 176, 188, 199, 211, 223, 235, 246,
        ];
        let table = [
            ("min 30000 max 90000 burst 50", 5, 11, (54_000, 66_000), 85_899_345, [1_851_848_234, 1, 10], W5),
            (
                "min 30000 max 90000 probability 0.1",
                5,
                11,
                (54_000, 66_000),
                429_496_729,
                [620_424_167, 1, 12],
                W5,
            ),
            ("min 5000 max 30000 burst 13", 4, 10, (15_000, 20_000), 85_899_345, [826_484_246, 1, 11], W4),
            ("min 5000 max 15000 burst 8", 3, 9, (9_000, 11_000), 85_899_345, [3_897_924_098, 1, 13], W3),
            (
                "min 30000 max 90000 probability 0.028596259653568268",
                5,
                11,
                (54_000, 66_000),
                122_820_000,
                [2_098_177, 1, 10],
                W5,
            ),
        ];
        for (line, wlog, cell_log, band, max_p, reciprocal, cells) in table {
            let Red { params, vars, .. } = red(line).unwrap();
            let idle = params.idle.as_ref().unwrap();
            assert_eq!((params.wlog, idle.cell_log), (wlog, cell_log), "{line}");
            assert_eq!((params.target_min, params.target_max), band, "{line}");
            assert_eq!((first_cells(idle).as_slice(), idle.shifts[255]), (cells, 31), "{line}");
            let mut shown = Reciprocal::default();
            vars.probe(&params, Measure::Bytes, &mut shown);
            assert_eq!((vars.max_p, shown.0), (max_p, reciprocal), "{line}");
        }
    }

    /// tc: max is a quarter of limit or three times min, min is a third of max, burst is (2 min + max) / (3 avpkt).
    #[test]
    fn what_the_line_leaves_out_is_derived_as_tc_derives_it() {
        let limits = |line: &str| {
            let Red { params, .. } = red(line).unwrap();
            (params.qth_min >> params.wlog, params.qth_max >> params.wlog)
        };
        assert_eq!(limits(""), (126_166, 378_500));
        assert_eq!(limits("min 20000"), (20_000, 60_000));
        assert_eq!(limits("max 60000"), (20_000, 60_000));
        // burst = (2 * 30000 + 90000) / 3000 = 50, as if the line had set it.
        let (said, derived) = (red("min 30000 max 90000 burst 50").unwrap(), red("min 30000").unwrap());
        assert_eq!(said.params.wlog, derived.params.wlog);
    }

    #[test]
    fn contradictions_are_refused_in_one_line() {
        let refused = |line| red(line).unwrap_err().0;
        assert_eq!(refused("min 30000 max 20000"), "red: max must be above zero and not less than min");
        assert!(
            red("min 30000 max 30000").is_ok(),
            "tc takes equal thresholds: below pass all, from there drop all"
        );
        assert_eq!(refused("nodrop"), "red nodrop: has a meaning only with ecn");
        assert!(refused("min 30000 burst 10").contains("burst must be at least min / avpkt"));
        assert!(
            refused("limit 2000000000 min 400000000 max 1500000000 probability 0.9 burst 400000")
                .contains("31 bits")
        );
    }
}
