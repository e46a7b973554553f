//! `tc`'s part of RED's set-up: it computes thresholds, weight and idle table before the kernel sees the line.

use super::Params;
use crate::param::{Args, Error, Param, bps};
use crate::psched::ticks;
use alloc::format;
use goodqueue_units::{Duration, Rate, Release};

/// The largest rate that 32 bits of bytes per second hold, in bit/s.
const MOST_RATE: u64 = 8 * (u32::MAX as u64);

/// The decay of the average while the link is idle, as one shift for each of 256 cells of time (section 4).
///
/// **On Linux the average decays some 16 times more slowly than section 4 says.** `tc` computes the table for times in
/// its ticks of 64 ns (`tc_red_eval_idle_damping` in iproute2's tc_red.c; 6.1 and 7.1 alike), and the kernel looks
/// times up in it in microseconds (`red_calc_qavg_from_idle_time` in include/net/red.h; 6.1 and 7.3 alike). Neither
/// program is told the other's unit. So a cell lasts 15.625 times as long as the weight asks. Within the first cells
/// the average falls to one half. It then stays there until the table says 2. `tc -d qdisc show` prints the binary
/// logarithm of a cell's microseconds as `Scell_log`.
#[derive(Clone, Debug)]
pub struct Idle {
    /// Binary logarithm of a cell's length: in ticks to `tc`, in microseconds to the kernel.
    cell_log: u32,
    shifts: [u8; 256],
}

impl Idle {
    /// Computes the table for a weight of 2^-`wlog` and one average packet every `packet` ticks. It is `tc`'s table:
    /// the shift grows by one with each time in which (1 - weight)^packets falls to 1/e, although a shift only halves.
    fn new(wlog: u32, packet: u32) -> Self {
        let decay_per_tick = -libm::log(1.0 - 1.0 / (1_u64 << wlog) as f64) / f64::from(packet);
        let longest = 31.0 / decay_per_tick;
        // iproute2 tries 31 cells, too, where its `1 << 31` is negative and passes the test whatever the longest time
        // is. So it refuses nothing here (`choke limit 16`).
        let cell_log = (0..31).find(|log| longest / ((1_u64 << log) as f64) < 512.0).unwrap_or(31);
        let mut shifts = [0; 256];
        for (cell, shift) in shifts.iter_mut().enumerate() {
            // The time has 32 bits and a sign in iproute2. A packet that takes no tick has an infinite product, of
            // which x86-64 makes 0: below 1 us (10 Gbit/s, 1000 bytes) the average only falls to one half.
            let product = f64::from((cell as i32) << cell_log) * decay_per_tick;
            *shift = if product.is_finite() { (product as i32 as u8).min(31) } else { 0 };
        }
        (shifts[0], shifts[255]) = (0, 31);
        Self { cell_log, shifts }
    }

    /// Returns the rest of the average after `idle`.
    pub(super) fn decay(&self, average: u64, idle: Duration) -> u64 {
        let longest = u64::from(255_u32 << self.cell_log); // `Scell_max` has 32 bits
        let us = (idle.as_nanos() / 1_000).min(longest);
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
        .range(1e-9, 1.0);

pub(crate) const HARDDROP: Param<bool> = Param::flag("harddrop", "with ecn: drop from max on nevertheless");

/// Returns Plog, which `tc` sends beside the probability: the times that `probability / distance` must be doubled to
/// exceed 1 (`tc_red_eval_P`). `None`: that is more than 31 times.
fn plog(probability: f64, distance: u64) -> Option<u32> {
    if distance == 0 {
        return Some(0);
    }
    (0..32).find(|log| probability / distance as f64 * (1_u64 << log) as f64 > 1.0)
}

/// RED's settings in a line. `max` is by default a quarter of `limit`, which in `sfq` is `redflowlimit`. Thresholds
/// are in the unit of `scale`.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    name: &'static str,
    scale: Scale,
    pub(crate) limit: u64,
    min: Option<u64>,
    max: Option<u64>,
    burst: Option<u64>,
    avpkt: u64,
    probability: f64,
    release: Release,
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
            release: args.release(),
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
                "no weight lets a burst of {burst} packets pass; burst must be at least min / avpkt \
                 (tc: failed to calculate EWMA constant.)"
            ))
        })?;
        if plog(self.probability, (max - min) * self.unit()).is_none() {
            return Err(refuse(
                "probability is too small for the distance of min and max (tc: failed to calculate probability.)",
            ));
        }
        if max >> (31 - wlog) != 0 {
            return Err(refuse("max is too large for the kernel's 31 bits"));
        }
        let idle = bandwidth.map(|rate| Idle::new(wlog, ticks(rate, self.avpkt, self.release)));
        Ok(Params::new(min, max, wlog, idle))
    }

    /// Returns the drop probability at the upper threshold, in Q0.32, as the kernel has it.
    ///
    /// `tc` multiplies by 2^32 and keeps 32 bits, so a probability of 1 becomes 0 (on x86-64; C leaves it open). To the
    /// kernel 0 means that `tc` sent no probability. The kernel then takes 2^-Plog for each unit of its own thresholds
    /// (`red_set_parms`). `tc` has computed Plog in bytes, and `choke`'s thresholds are packets.
    pub(crate) fn max_p(&self) -> u32 {
        match (self.probability * (1_u64 << 32) as f64) as u64 as u32 {
            0 => {
                let (min, max, _) = self.thresholds();
                let plog = plog(self.probability, (max - min) * self.unit()).unwrap_or(0);
                (u32::MAX >> plog).wrapping_mul((max - min).max(1) as u32)
            }
            given => given,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Aqm, Red};
    use super::*;
    use crate::aqm::choke::{self, Choke};
    use crate::discipline::Discipline;
    use crate::packet::Plain;
    use crate::param::{Link, QdiscSpec};
    use crate::qdisc::{Measure, Probe};
    use std::vec::Vec;

    static SPEC: QdiscSpec = Red::SPEC;
    static CHOKE: QdiscSpec = Choke::<Plain>::SPEC;
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

    /// Set-ups as `tc` 6.1 sent them, from the headers of `golden/red`, with the cells at which their idle tables step.
    /// The weight: `burst 50` over 30 packets needs 21, and (1 - (31/32)^50) * 32 = 25.5 is the first sum that reaches
    /// it (the sum for 16 is 15.4). The cell: 800 us are 12500 ticks and -ln(31/32)/12500 = 2.54e-6, so 31 shifts last
    /// 12.2e6 ticks. 2^15 is the first cell length of which less than 512 fit into that time. 13 of these cells are
    /// 1.08. (A table in microseconds would have cells of 2^11.) The last set-up passed no max_P to the kernel, so
    /// max_P follows from Plog 21.
    #[test]
    fn the_set_up_is_that_of_tc() {
        const W5: &[usize] = &[
            13, 25, 37, 49, 61, 73, 85, 97, 109, 121, 133, 145, 157, 169, 181, 193, 205, 217, 229, 241, 253,
        ];
        const W4: &[usize] = &[
            12, 24, 36, 48, 60, 71, 83, 95, 107, 119, 131, 142, 154, 166, 178, 190, 201, 213, 225, 237, 249,
        ];
        const W3: &[usize] = &[
            12, 23, 35, 46, 58, 69, 80, 92, 103, 115, 126, 138, 149, 160, 172, 183, 195, 206, 218, 229, 240,
            252,
        ];
        let table = [
            ("min 30000 max 90000 burst 50", 5, 15, (54_000, 66_000), 85_899_345, [1_851_848_234, 1, 10], W5),
            (
                "min 30000 max 90000 probability 0.1",
                5,
                15,
                (54_000, 66_000),
                429_496_729,
                [620_424_167, 1, 12],
                W5,
            ),
            ("min 5000 max 30000 burst 13", 4, 14, (15_000, 20_000), 85_899_345, [826_484_246, 1, 11], W4),
            ("min 5000 max 15000 burst 8", 3, 13, (9_000, 11_000), 85_899_345, [3_897_924_098, 1, 13], W3),
            (
                "min 30000 max 90000 probability 0.028596259653568268",
                5,
                15,
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

    /// `tc -d qdisc show` of iproute2 6.1 printed these values of Scell_log for `red limit 60000 min 5000 max 15000
    /// avpkt 1000 burst 10 probability 0.1` on Linux 6.1. At 8 bit/s no cell is long enough, at 1 kbit/s the table's
    /// times exceed 31 bits, and above 8 Gbit/s a packet takes less than a microsecond. Decisions under all of them
    /// were compared with Linux's: 38 traces of 2500 packets.
    #[test]
    fn extreme_bandwidths_have_tc_s_table() {
        let printed = [
            ("8bit", 31),
            ("1kbit", 27),
            ("8kbit", 24),
            ("300kbit", 19),
            ("7mbit", 15),
            ("10mbit", 14),
            ("1gbit", 7),
            ("8gbit", 4),
            ("9gbit", 0),
        ];
        for (bandwidth, cell_log) in printed {
            let line =
                format!("limit 60000 min 5000 max 15000 burst 10 probability 0.1 bandwidth {bandwidth}");
            assert_eq!(red(&line).unwrap().params.idle.unwrap().cell_log, cell_log, "{bandwidth}");
        }
        let fastest = red("min 5000 max 15000 burst 10 bandwidth 20gbit").unwrap().params.idle.unwrap();
        assert_eq!((fastest.shifts[254], fastest.shifts[255]), (0, 31), "one half, whatever the time");
    }

    /// Since iproute2 6.14 the time of a packet is not cut to microseconds: 1000 bytes at 7 Mbit/s take 1142.857 us,
    /// 17858 ticks in place of 17843.
    #[test]
    fn a_later_tc_rounds_the_packet_s_time_up() {
        let rate = Rate::from_bps(7_000_000).unwrap();
        assert_eq!(Release::ALL.map(|release| ticks(rate, 1000, release)), [17_843, 17_858, 17_858]);
    }

    /// 2^32 does not fit 32 bits, so the kernel gets 0 and takes Plog: 5000/2^13 = 0.61 in place of 1. For `choke` `tc`
    /// computes Plog 13 from the 5000 bytes of 5 packets, and the kernel takes 5/2^13 = 0.00061. `sfq` is as `red`.
    #[test]
    fn a_probability_of_1_is_another_one_on_linux() {
        let max_p = |words: &str| red(words).unwrap().vars.max_p;
        assert_eq!(max_p("min 30000 max 35000 burst 40 probability 1"), 524_287 * 5000);
        assert_eq!(max_p("min 30000 max 35000 burst 40 probability 0.99999999999"), u32::MAX);
        assert_eq!(max_p("min 5000 max 5000 burst 8 probability 1"), u32::MAX);
        let choke = Args::parse(&CHOKE, "limit 100 min 30 max 35 burst 40 probability 1").unwrap();
        assert_eq!(choke::asked(&choke).max_p(), 524_287 * 5);
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
