//! CAKE's shaper: the time at which the link may send again, and the bytes of a packet on the wire.
//!
//! Source: "Piece of CAKE", 2018, "Bandwidth shaping", and Linux's arithmetic. The shaper counts in time, not in
//! tokens: each packet delays the next one by its own duration, so there is no burst after an idle time. A rate is
//! kept as nanoseconds per byte, in fixed point.
//!
//! A second clock, the failsafe, runs at two thirds of the rate and is not charged for dropped packets. On a downlink
//! (`ingress`) drops are charged, too. The failsafe prevents a flood that is dropped from stopping the link
//! altogether.

use super::params::{BASE, Base, CELLS, MPU, overhead};
use crate::packet::Merged;
use crate::param::Args;
use crate::words;
use goodqueue_units::{Duration, Instant};

/// The lowest rate to which Linux shapes, in bytes per second.
const LEAST_RATE: u64 = 64;

/// Bytes that precede the IP header in a packet's length: Ethernet's.
const LINK_HEADER: i64 = 14;

/// Nanoseconds per byte, as `ns / 2^shift`; zero: unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pace {
    pub(super) ns: u64,
    pub(super) shift: u8,
}

impl Pace {
    /// Returns the pace of a rate in bytes per second; 0: unlimited.
    pub(super) fn of(bytes_per_s: u64) -> Self {
        if bytes_per_s == 0 {
            return Self::default();
        }
        let mut pace = Self { ns: (1_000_000_000 << 34) / bytes_per_s.max(LEAST_RATE), shift: 34 };
        while pace.ns >> 34 != 0 {
            pace.ns >>= 1;
            pace.shift -= 1;
        }
        pace
    }

    pub(super) fn is_unlimited(self) -> bool {
        self.ns == 0
    }

    /// Returns the time that `bytes` take, in nanoseconds.
    #[inline]
    pub(super) fn time(self, bytes: u32) -> u64 {
        u64::from(bytes).saturating_mul(self.ns) >> self.shift
    }
}

words! {
    /// Cells into which a link cuts packets: none, 48 of 53 bytes, 64 of 65 bytes.
    pub(super) enum Cells { None = "noatm", Atm = "atm", Ptm = "ptm" }
}

/// The link's addition to each packet (tc-cake(8), "Overhead compensation").
#[derive(Clone, Copy, Debug)]
pub(super) struct Framing {
    /// Bytes added to a packet's length, which includes the link header.
    added: i64,
    mpu: i64,
    cells: Cells,
}

impl Framing {
    /// Reads the parameters `base`, `overhead`, `mpu` and `cells`.
    pub(super) fn new(args: &Args) -> Self {
        let added = match (args.get(&BASE), overhead(args)) {
            (Some(Base::Raw), Some(overhead)) => overhead,
            (_, Some(overhead)) => overhead - LINK_HEADER,
            (_, None) => 0,
        };
        Self { added, mpu: args.get(&MPU) as i64, cells: args.get(&CELLS) }
    }

    /// Returns the bytes that a packet occupies on the wire. In Linux the sum wraps if a negative overhead exceeds
    /// the packet. Here it is zero.
    #[inline]
    pub(super) fn weigh(&self, len: u32) -> u32 {
        let bytes = (i64::from(len) + self.added).max(self.mpu).max(0) as u64;
        let bytes = match self.cells {
            Cells::None => bytes,
            Cells::Atm => bytes.div_ceil(48) * 53,
            Cells::Ptm => bytes + bytes.div_ceil(64),
        };
        bytes.try_into().unwrap_or(u32::MAX)
    }

    /// Returns the bytes that the packets of a merged one occupy on the wire, one by one (`cake_overhead`).
    pub(super) fn weigh_all(&self, merged: Merged) -> u32 {
        let others = self.weigh(merged.len).saturating_mul(merged.count.saturating_sub(1));
        others.saturating_add(self.weigh(merged.last))
    }
}

/// The link's two clocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shaper {
    pub(super) next: Instant,
    pub(super) failsafe: Instant,
}

impl Shaper {
    /// Returns when the next packet may leave, if that is after `now`.
    #[inline]
    pub(super) fn wait(&self, now: Instant) -> Option<Instant> {
        (self.next > now && self.failsafe > now).then(|| self.next.min(self.failsafe))
    }

    /// Notes that the discipline was empty: unused time is lost.
    pub(super) fn freshen(&mut self, now: Instant) {
        if self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }

    /// Charges a packet that is sent, or one that is dropped while drops are charged.
    #[inline]
    pub(super) fn charge(&mut self, pace: Pace, bytes: u32, dropped: bool) {
        let time = pace.time(bytes);
        self.next += Duration::from_nanos(time);
        if !dropped {
            self.failsafe += Duration::from_nanos(time + time / 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::params::SPEC;
    use super::*;

    fn framing(words: &str) -> Framing {
        Framing::new(&Args::parse(&SPEC, words).unwrap())
    }

    /// 1,125,000 bytes/s are 888.9 ns per byte: times 2^24 that is 14,913,080,888.9, the largest product within 34
    /// bits.
    #[test]
    fn a_rate_is_kept_as_time_a_byte() {
        let pace = Pace::of(1_125_000);
        assert_eq!(pace, Pace { ns: 14_913_080_888, shift: 24 });
        assert_eq!(pace.time(1514), 1_345_777); // 1514 / 1,125,000 s
        assert_eq!(Pace::of(1).time(1), 15_625_000); // no slower than 64 bytes/s
        assert!(Pace::of(0).is_unlimited());
    }

    /// tc-cake(8): overhead is added to the IP packet, then mpu applies, then cells.
    #[test]
    fn a_packet_weighs_what_the_wire_carries() {
        let table = [
            ("", 1514, 1514),
            ("mpu 84", 64, 84),
            ("overhead 38", 1514, 1538),
            ("overhead 38 mpu 84", 60, 84),         // 46 + 38
            ("overhead 38 mpu 84 atm", 64, 2 * 53), // 88 bytes are two cells
            ("overhead 0 atm", 1514, 32 * 53),      // 1500 / 48 = 31.25
            ("overhead 0 ptm", 1514, 1500 + 24),    // 1500 / 64 = 23.4
            ("raw overhead 20", 1514, 1534),        // from the frame, not from the IP packet
            ("overhead 20 raw", 1514, 1514),
            ("conservative", 1514, 33 * 53), // 1548 / 48 = 32.25
            ("overhead -64", 40, 0),
        ];
        for (words, len, wire) in table {
            assert_eq!(framing(words).weigh(len), wire, "{words}");
        }
    }

    /// Three segments on the wire each have the overhead, and cells of their own: 1500 + 38, and 100 + 38 bytes; with
    /// 44 bytes and ATM 33 cells (1544 bytes) twice and 3 (144). As one packet of 3142 bytes they would occupy 3166
    /// bytes and 67 cells. Linux 6.1, `cake_overhead`.
    #[test]
    fn each_packet_of_a_merged_one_has_its_overhead() {
        let merged = Merged { count: 3, len: 1514, last: 114 };
        for (words, wire) in
            [("overhead 38", 2 * 1538 + 138), ("overhead 44 atm", (2 * 33 + 3) * 53), ("", 2 * 1514 + 114)]
        {
            assert_eq!(framing(words).weigh_all(merged), wire, "{words}");
        }
    }

    #[test]
    fn only_what_is_sent_is_charged_to_the_failsafe() {
        let (mut shaper, pace) = (Shaper::default(), Pace::of(1_000_000));
        let at = Instant::from_nanos;
        shaper.charge(pace, 1000, false);
        assert_eq!((shaper.next, shaper.failsafe), (at(1_000_000), at(1_500_000)));
        shaper.charge(pace, 1000, true);
        assert_eq!((shaper.next, shaper.failsafe), (at(2_000_000), at(1_500_000)));
        assert_eq!(shaper.wait(at(1_000_000)), Some(at(1_500_000)));
        assert_eq!(shaper.wait(at(1_500_000)), None);
    }

    /// sch_cake.c, `cake_enqueue`: `ktime_before` is strict. A clock that is exactly now is not late, so the failsafe
    /// keeps its debt. One nanosecond later both clocks begin at now.
    #[test]
    fn a_clock_that_is_on_time_is_not_set_anew() {
        let at = Instant::from_nanos;
        let after = |now| {
            let mut shaper = Shaper { next: at(1_000_000), failsafe: at(1_500_000) };
            shaper.freshen(at(now));
            (shaper.next.as_nanos(), shaper.failsafe.as_nanos())
        };
        assert_eq!(after(1_000_000), (1_000_000, 1_500_000));
        assert_eq!(after(1_000_001), (1_000_001, 1_000_001));
    }
}
