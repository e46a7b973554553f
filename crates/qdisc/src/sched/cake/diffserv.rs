//! CAKE's tins: the codepoints of each tin, and its share of the link.
//!
//! Source: tc-cake(8), "Priority queue parameters", and Linux's tables; "Piece of CAKE", 2018, "DiffServ handling". A
//! tin's share is a threshold, not a limit: up to its rate the tin goes first, above it the tin waits for the others.

use super::params::{DIFFSERV, Diffserv};
use super::shaper::Pace;
use crate::aqm::cobalt::{P_DEC, P_INC, Params, Rules};
use crate::param::Args;
use goodqueue_units::Duration;

/// Bytes of a round: without a shaper, and the largest number with one.
const QUANTUM: u32 = 1514;
const LEAST_QUANTUM: u64 = 300;

/// A tin's set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) pace: Pace,
    /// The parameters of each flow's COBALT.
    pub(super) law: Params,
    /// Bytes that a flow may send per round.
    pub(super) flow_quantum: u32,
    /// Bytes that the tin may send per round if there is no shaper.
    pub(super) tin_quantum: i32,
}

/// Video and voice (2) before best effort (0) before bulk (1).
const DIFFSERV3: [u8; 64] = [
    0, 1, 0, 0, 2, 0, 0, 0, // CS0, LE, and TOS 0x10 of old
    1, 0, 0, 0, 0, 0, 0, 0, // CS1
    0, 0, 0, 0, 0, 0, 0, 0, //
    0, 0, 0, 0, 0, 0, 0, 0, //
    0, 0, 0, 0, 0, 0, 0, 0, //
    0, 0, 0, 0, 2, 0, 2, 0, // VA, EF
    2, 0, 0, 0, 0, 0, 0, 0, // CS6
    2, 0, 0, 0, 0, 0, 0, 0, // CS7
];

/// Voice (3), video and other streams (2), best effort (0), bulk (1).
const DIFFSERV4: [u8; 64] = [
    0, 1, 0, 0, 2, 0, 0, 0, // CS0, LE, and TOS 0x10 of old
    1, 0, 0, 0, 0, 0, 0, 0, // CS1
    2, 0, 2, 0, 2, 0, 2, 0, // CS2, AF2x
    2, 0, 2, 0, 2, 0, 2, 0, // CS3, AF3x
    3, 0, 2, 0, 2, 0, 2, 0, // CS4, AF4x
    3, 0, 0, 0, 3, 0, 3, 0, // CS5, VA, EF
    3, 0, 0, 0, 0, 0, 0, 0, // CS6
    3, 0, 0, 0, 0, 0, 0, 0, // CS7
];

/// From background (0) to network control (7).
const DIFFSERV8: [u8; 64] = [
    2, 0, 1, 2, 4, 2, 2, 2, // CS0, LE, and TOS of old
    1, 2, 1, 2, 1, 2, 1, 2, // CS1, AF1x
    5, 2, 4, 2, 4, 2, 4, 2, // CS2, AF2x
    3, 2, 3, 2, 3, 2, 3, 2, // CS3, AF3x
    6, 2, 3, 2, 3, 2, 3, 2, // CS4, AF4x
    6, 2, 2, 2, 6, 2, 6, 2, // CS5, VA, EF
    7, 2, 2, 2, 2, 2, 2, 2, // CS6
    7, 2, 2, 2, 2, 2, 2, 2, // CS7
];

/// The three bits of IP precedence, which came before DiffServ.
const PRECEDENCE: [u8; 64] = {
    let mut tins = [0; 64];
    let mut dscp = 0;
    while dscp < 64 {
        tins[dscp] = (dscp >> 3) as u8;
        dscp += 1;
    }
    tins
};

/// The way in which a tin's share follows from the whole rate.
#[derive(Clone, Copy, Debug)]
enum Split {
    /// One tin for all.
    Whole,
    /// Each tin has seven eighths of the rate of the tin before.
    Eighths,
    /// Each tin has the whole rate, shifted right by its entry.
    Shifted(&'static [u8]),
}

/// A mode, and the settings that its tins share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) of_dscp: &'static [u8; 64],
    split: Split,
    rtt: Duration,
    target: Duration,
    mtu: u32,
    rules: Rules,
}

impl Plan {
    /// Reads the plan of a line.
    pub(super) fn new(args: &Args, mtu: u32) -> Self {
        let (of_dscp, split) = match args.get(&DIFFSERV) {
            Diffserv::BestEffort => (&[0; 64], Split::Whole),
            Diffserv::Precedence => (&PRECEDENCE, Split::Eighths),
            Diffserv::Three => (&DIFFSERV3, Split::Shifted(&[0, 4, 2])),
            Diffserv::Four => (&DIFFSERV4, Split::Shifted(&[0, 4, 1, 2])),
            Diffserv::Eight => (&DIFFSERV8, Split::Eighths),
        };
        let (rtt, target) = super::params::times(args);
        Self { of_dscp, split, rtt, target, mtu, rules: Rules::of(args.release()) }
    }

    /// Returns the number of tins.
    pub(super) fn tins(&self) -> usize {
        match self.split {
            Split::Whole => 1,
            Split::Eighths => 8,
            Split::Shifted(shifts) => shifts.len(),
        }
    }

    /// Returns the names of the tins as `tc` shows them, the most urgent one first. Empty: there is only one.
    pub(super) fn names(&self) -> &'static [&'static str] {
        match self.split {
            Split::Whole => &[],
            Split::Eighths => &["tin 7", "tin 6", "tin 5", "tin 4", "tin 3", "tin 2", "tin 1", "tin 0"],
            Split::Shifted([_, _, _]) => &["voice", "best effort", "bulk"],
            Split::Shifted(_) => &["voice", "video", "best effort", "bulk"],
        }
    }

    /// Returns the place of a tin among [`Self::names`].
    pub(super) fn place(&self, tin: usize) -> usize {
        let last = self.tins() - 1;
        match (self.split, tin) {
            (Split::Shifted(_), 0) => last - 1,
            (Split::Shifted(_), 1) => last,
            _ => last - tin,
        }
    }

    /// Returns the tin of a firewall mark. Marks count tins from 1 in the order in which `tc` shows them, bulk first.
    /// `None`: there is no such tin.
    pub(super) fn of_mark(&self, mark: u32) -> Option<usize> {
        let tin = match (self.split, mark as usize) {
            (Split::Shifted(_), 1) => 1,
            (Split::Shifted(_), 2) => 0,
            (_, number) => number.checked_sub(1)?,
        };
        (tin < self.tins()).then_some(tin)
    }

    /// Returns the share of tin number `tin` of a rate in bytes per second; 0: unlimited.
    pub(super) fn share(&self, tin: usize, rate: u64) -> Share {
        let (rate, tin_quantum) = match self.split {
            Split::Whole => (rate, 65_535),
            Split::Eighths => {
                (0..tin).fold((rate, 256), |(rate, quantum), _| ((rate * 7) >> 3, (quantum * 7) >> 3))
            }
            Split::Shifted(shifts) => (rate >> shifts[tin], 1024 >> shifts[tin]),
        };
        let pace = Pace::of(rate);
        let flow_quantum = match rate {
            0 => QUANTUM,
            rate => (rate >> 12).clamp(LEAST_QUANTUM, QUANTUM.into()) as u32,
        };
        // At low rates a single frame takes longer than the target.
        let mtu_time = Duration::from_nanos(pace.time(self.mtu));
        let target = self.target.max(mtu_time * 3 / 2);
        let interval = (self.rtt + target - self.target).max(target * 2);
        let law = Params { target, interval, mtu_time, p_inc: P_INC, p_dec: P_DEC, rules: self.rules };
        Share { pace, law, flow_quantum, tin_quantum }
    }
}

#[cfg(test)]
mod tests {
    use super::super::params::SPEC;
    use super::*;

    use alloc::vec::Vec;

    fn plan(words: &str) -> Plan {
        Plan::new(&Args::parse(&SPEC, words).unwrap(), 1514)
    }

    fn shares(words: &str) -> Vec<Share> {
        let rate = super::super::params::bytes_per_s(&Args::parse(&SPEC, words).unwrap());
        (0..plan(words).tins()).map(|tin| plan(words).share(tin, rate)).collect()
    }

    fn micros_and_quanta(words: &str) -> Vec<(u64, u64, i32)> {
        let micros = |span: Duration| span.as_nanos() / 1000;
        let shares = shares(words).into_iter();
        shares.map(|s| (micros(s.law.target), micros(s.law.interval), s.tin_quantum)).collect()
    }

    /// diffserv4 at 9 Mbit/s: all, 1/16, 1/2 and 1/4 of 1,125,000 bytes/s. A sixteenth is 70,312 bytes/s, so a frame
    /// takes 21.53 ms. The target is one and a half times that, and the interval grows by the growth of the target.
    #[test]
    fn a_slow_tin_has_a_longer_target() {
        let expected = [
            (5_000, 100_000, 1024),
            (32_298, 127_298, 64),
            (5_000, 100_000, 512),
            (8_074, 103_074, 256), // 281,250 bytes/s: 5.383 ms per frame
        ];
        assert_eq!(micros_and_quanta("diffserv4 bandwidth 9mbit"), expected);
        assert_eq!(micros_and_quanta("besteffort"), [(5_000, 100_000, 65_535)]);
        // 64 kbit/s: 189.25 ms per frame, target 283.9 ms. Twice the target is more than 100 + 278.9 ms.
        assert_eq!(micros_and_quanta("besteffort bandwidth 64kbit"), [(283_875, 567_750, 65_535)]);
    }

    #[test]
    fn a_round_follows_the_rate() {
        let quantum = |words| shares(words)[0].flow_quantum;
        assert_eq!(quantum("besteffort"), 1514);
        assert_eq!(quantum("besteffort bandwidth 9mbit"), 300); // 1,125,000 / 4096 = 274
        assert_eq!(quantum("besteffort bandwidth 20mbit"), 610);
        assert_eq!(quantum("besteffort bandwidth 1gbit"), 1514);
    }

    #[test]
    fn eight_tins_shrink_by_an_eighth() {
        let quanta: Vec<_> = micros_and_quanta("diffserv8").into_iter().map(|tin| tin.2).collect();
        assert_eq!(quanta, [256, 224, 196, 171, 149, 130, 113, 98]);
        let paces = shares("diffserv8 bandwidth 9mbit");
        assert_eq!(paces[7].pace, Pace::of(441_782)); // 1,125,000 x (7/8)^7, each step rounded down
    }

    /// tc-cake(8) names the codepoints of diffserv3 and diffserv4. EF is 46, CS1 is 8, LE is 1.
    #[test]
    fn codepoints_go_to_their_tins() {
        for (words, ef, bulk, best_effort) in
            [("diffserv3", 2, 1, 0), ("diffserv4", 3, 1, 0), ("diffserv8", 6, 1, 2), ("precedence", 5, 1, 0)]
        {
            let map = plan(words).of_dscp;
            assert_eq!((map[46], map[8], map[0]), (ef, bulk, best_effort), "{words}");
        }
        assert!(plan("diffserv4").of_dscp.iter().all(|tin| *tin < 4));
    }

    /// tc-cake(8), fwmark: the mark is the number of the tin. `tc -s` lists diffserv3's tins as bulk, best effort,
    /// voice.
    #[test]
    fn a_mark_counts_tins_as_tc_lists_them() {
        let of = |words| [0, 1, 2, 3, 4, 5].map(|mark| plan(words).of_mark(mark));
        assert_eq!(of("diffserv3"), [None, Some(1), Some(0), Some(2), None, None]);
        assert_eq!(of("diffserv4"), [None, Some(1), Some(0), Some(2), Some(3), None]);
        assert_eq!(of("precedence"), [None, Some(0), Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!(of("besteffort"), [None, Some(0), None, None, None, None]);
    }
}
