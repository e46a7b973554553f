//! CAKE's parameters, in the order in which `tc` prints them.
//!
//! Source: tc-cake(8), and what `tc` makes of its words before Linux sees them. Words for a link's framing and for a
//! round-trip time are shorthands: a line keeps the values that they stand for, as `tc qdisc show` does. As in `tc`,
//! framing words add up (`pppoe-ptm ether-vlan`), and `raw` before them counts from the frame, not from the IP
//! packet.
//!
//! Two words have no effect here: `split-gso`, which is for the caller, who cuts merged packets before it offers them,
//! and `via-ethernet`, which `tc` itself ignores.

use super::shaper::Cells;
use crate::param::{Args, Digits, Param, ParamSpec, QdiscSpec, bps, ms, us};
use crate::{params, words};
use goodqueue_units::{Duration, Rate, Release};

/// `tc` sends 1000 s for `interplanetary`; its manual says 3600 s.
const PRESETS: &[(&str, &str)] = &[
    ("datacentre", "rtt 100us"),
    ("lan", "rtt 1ms"),
    ("metro", "rtt 10ms"),
    ("regional", "rtt 30ms"),
    ("internet", "rtt 100ms"),
    ("oceanic", "rtt 300ms"),
    ("satellite", "rtt 1s"),
    ("interplanetary", "rtt 1000s"),
];

/// tc-cake(8), "Overhead compensation parameters".
const FRAMINGS: &[(&str, &str)] = &[
    ("raw", "raw noatm overhead 0"),
    ("conservative", "atm overhead 48"),
    // ADSL: packets in ATM cells.
    ("pppoa-vcmux", "atm overhead +10"),
    ("pppoa-llc", "atm overhead +14"),
    ("pppoe-vcmux", "atm overhead +32"),
    ("pppoe-llcsnap", "atm overhead +40"),
    ("bridged-vcmux", "atm overhead +24"),
    ("bridged-llcsnap", "atm overhead +32"),
    ("ipoa-vcmux", "atm overhead +8"),
    ("ipoa-llcsnap", "atm overhead +16"),
    // VDSL2: packets in 64 of 65 bytes.
    ("pppoe-ptm", "ptm overhead +30"),
    ("bridged-ptm", "ptm overhead +22"),
    // The head end of a cable modem counts frames with their checksum.
    ("docsis", "noatm overhead +18 mpu 64"),
    // Preamble, gap, header and checksum. `tc` does not change the cells, although its manual says so.
    ("ethernet", "overhead +38 mpu 84"),
    ("ether-vlan", "overhead +4"),
    ("via-ethernet", ""),
];

words! {
    pub(super) enum Autorate { Ingress = "autorate-ingress" }
    pub(super) enum Diffserv {
        BestEffort = "besteffort",
        Precedence = "precedence",
        Three = "diffserv3",
        Four = "diffserv4",
        Eight = "diffserv8",
    }
    /// The values are in the order of Linux's bits.
    pub(super) enum Isolate {
        Nothing = "flowblind",
        Source = "srchost",
        Destination = "dsthost",
        Hosts = "hosts",
        Flows = "flows",
        DualSource = "dual-srchost",
        DualDestination = "dual-dsthost",
        Triple = "triple-isolate",
    }
    pub(super) enum AckFilter {
        Off = "no-ack-filter",
        Careful = "ack-filter",
        Aggressive = "ack-filter-aggressive",
    }
    pub(super) enum Gso { Split = "split-gso", Whole = "no-split-gso" }
    pub(super) enum Base { Raw = "raw" }
    pub(super) enum Direction { Egress = "egress", Ingress = "ingress" }
}

/// The rate of the shaper. `tc` ends the estimation when it sends a bandwidth.
const BANDWIDTH: Param<Option<Rate>> =
    Param::rate("bandwidth", "rate to shape to; unset: no shaping, the link below sets the rate")
        .shapes()
        .range(bps(8), bps(1_000_000_000_000))
        .no_percent()
        .zero_is_unset()
        .ends(&AUTORATE);
pub(super) const AUTORATE: Param<Option<Autorate>> = Param::optional_word(
    "autorate",
    "shape to 15/16 of the rate at which bursts arrive; bandwidth is the first guess",
);
// Linux changes this and the isolation, too, and packets and hosts may fall between two layouts. Here tins are laid
// out once.
pub(super) const DIFFSERV: Param<Diffserv> =
    Param::word("diffserv", "how codepoints are sorted into tins", "diffserv3").fixed();
pub(super) const ISOLATION: Param<Isolate> = Param::word(
    "isolation",
    "fairness: none (one queue), between hosts, between flows, or between flows and between their hosts",
    "triple-isolate",
)
.fixed();
pub(super) const NAT: Param<bool> =
    Param::flag("nat", "use the addresses behind NAT to tell flows and hosts apart, if the packet has them");
pub(super) const WASH: Param<bool> = Param::flag("wash", "clear the codepoint after it has selected the tin");
pub(super) const ACK_FILTER: Param<AckFilter> = Param::word(
    "ack_filter",
    "drop ACKs that a later ACK in the queue makes superfluous: the second and later ones, or all",
    "no-ack-filter",
);
pub(super) const GSO: Param<Gso> = Param::word(
    "gso",
    "whether packets that a card has merged (`gro`) are cut before they are queued",
    "split-gso",
);
const PRESET: Param<()> = Param::shorthand(
    "preset",
    "rtt as a word: 100us, 1ms, 10ms, 30ms, 100ms, 300ms, 1s, 1000s (as tc sends it)",
    PRESETS,
)
.once();
const RTT: Param<Duration> = Param::time("rtt", "round-trip time: the interval of COBALT")
    .default(ms(100))
    .range(us(1), us(u32::MAX as u64));
const TARGET: Param<Option<Duration>> =
    Param::time("target", "acceptable standing queue delay; unset: a twentieth of rtt")
        .range(us(1), us(u32::MAX as u64))
        .source("Linux's netlink attribute; tc sets rtt/20");
const FRAMING: Param<()> = Param::shorthand(
    "framing",
    "cells, overhead and mpu by the name of the link; the overheads add up",
    FRAMINGS,
);
pub(super) const BASE: Param<Option<Base>> =
    Param::optional_word("base", "raw: overhead is added to the frame as it is, its link header included");
pub(super) const CELLS: Param<Cells> = Param::word(
    "cells",
    "cells into which the link cuts packets: none, 48 of 53 bytes (atm), 64 of 65 bytes (ptm)",
    "noatm",
);
/// Bytes added to an IP packet. Linux counts from the IP packet if it gets an overhead.
const OVERHEAD: Param<Option<i32>> =
    Param::signed("overhead", "bytes that the link adds to an IP packet; unset: lengths count unchanged")
        .range(-64, 256)
        .digits(Digits::Decimal)
        .takes_back(&BASE);
pub(super) const MPU: Param<u64> =
    Param::bytes("mpu", "least bytes that a packet occupies, overhead included")
        .default(0)
        .range(0, 256)
        .digits(Digits::Decimal)
        .zero_is_unset();
const MEMLIMIT: Param<Option<u64>> = Param::bytes(
    "memlimit",
    "most memory that all queues hold together; unset: 4 x bandwidth x rtt, at least 4 MB, at most 10240 frames",
)
.range(1, u32::MAX as u64)
.zero_is_unset();
pub(super) const FWMARK: Param<Option<u32>> = Param::count(
    "fwmark",
    "mask of the firewall mark; if the masked mark is not zero, it is the number of the tin",
)
.range(1, u32::MAX)
.zero_is_unset();
pub(super) const DIRECTION: Param<Direction> = Param::word(
    "direction",
    "ingress: the bottleneck is before this qdisc, so dropped packets count against the rate too, and many flows may wait longer",
    "egress",
);
const SYNONYM: Param<()> = Param::shorthand(
    "synonym",
    "other words of tc: unlimited is no bandwidth, diffserv is diffserv4",
    &[("unlimited", "bandwidth unset"), ("diffserv", "diffserv4")],
);

pub(super) const PARAMS: &[ParamSpec] = params! { from "tc-cake(8)" =>
    BANDWIDTH, AUTORATE, DIFFSERV, ISOLATION, NAT, WASH, ACK_FILTER, GSO, PRESET, RTT, TARGET, FRAMING, BASE, CELLS,
    OVERHEAD, MPU, MEMLIMIT, FWMARK, DIRECTION, SYNONYM,
};

/// `tc`'s `cake`.
pub(super) const SPEC: QdiscSpec = QdiscSpec::new("cake", PARAMS)
    .changes(&[
        (
            Release::Linux6_12,
            "1/sqrt(count) comes from an exact table: the second gap of dropping is 40 us longer per 100 ms of interval",
        ),
        (Release::Linux7_3, "BLUE draws no random number for a packet that CoDel drops"),
        (Release::Linux7_3, "autorate-ingress changes the rate at most every 250 ms, not at the end of each train"),
    ])
    .summary("Tins by codepoint, fairness between hosts and between flows, COBALT in each flow, and a shaper")
    .source("Høiland-Jørgensen, Täht, Morton, Piece of CAKE, 2018; tc-cake(8)");

/// Returns the round-trip time and the target of a line.
#[must_use]
pub fn times(args: &Args) -> (Duration, Duration) {
    let rtt = args.get(&RTT);
    // tc counts in whole microseconds.
    let twentieth = Duration::from_micros((rtt.as_nanos() / 1000 / 20).max(1));
    (rtt, args.get(&TARGET).unwrap_or(twentieth))
}

/// Returns the memory limit of a line, or Linux's default if the line has none.
#[must_use]
pub fn memory_limit(args: &Args, mtu: u32) -> u64 {
    Memory::new(args, mtu).limit(bytes_per_s(args))
}

/// Returns the rate of a line in bytes per second; 0: unlimited.
pub(super) fn bytes_per_s(args: &Args) -> u64 {
    args.get(&BANDWIDTH).map_or(0, Rate::as_bps) / 8
}

/// The inputs of the limit on memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    given: Option<u64>,
    rtt: Duration,
    mtu: u32,
}

impl Memory {
    pub(super) fn new(args: &Args, mtu: u32) -> Self {
        Self { given: args.get(&MEMLIMIT), rtt: times(args).0, mtu }
    }

    /// Returns the limit at a rate in bytes per second; 0: unlimited.
    pub(super) fn limit(&self, bytes_per_s: u64) -> u64 {
        const LEAST: u64 = 4 << 20;
        /// A limit in packets, as other disciplines have one. It is used only in this product.
        const PACKETS: u64 = 10_240;
        let interval_us = self.rtt.as_nanos() / 1000;
        let wanted = match bytes_per_s {
            0 => u64::MAX,
            rate => (rate.saturating_mul(interval_us) / 250_000).max(LEAST),
        };
        self.given.unwrap_or_else(|| wanted.min(PACKETS * u64::from(self.mtu)))
    }
}

/// Returns the overhead of a line.
pub(super) fn overhead(args: &Args) -> Option<i64> {
    args.get(&OVERHEAD).map(i64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn args(words: &str) -> Args {
        Args::parse(&SPEC, words).unwrap()
    }

    #[test]
    fn rtt_is_preset_or_given_and_target_a_twentieth() {
        let table = [
            ("", 100_000, 5_000),
            ("metro", 10_000, 500),
            ("metro rtt 30ms", 30_000, 1_500),
            ("rtt 30ms metro", 10_000, 500), // tc: the last one counts
            ("datacentre", 100, 5),
            ("rtt 15us", 15, 1),
            ("rtt 30ms target 5ms", 30_000, 5_000),
            ("interplanetary", 1_000_000_000, 50_000_000),
        ];
        for (words, rtt, target) in table {
            let expected = (Duration::from_micros(rtt), Duration::from_micros(target));
            assert_eq!(times(&args(words)), expected, "{words}");
        }
        let twice = Args::parse(&SPEC, "metro lan").unwrap_err();
        assert_eq!(twice.0, "cake preset: given twice; tc takes it once", "tc refuses two of them, too");
    }

    #[test]
    fn memory_is_four_times_the_path() {
        let table = [
            ("", 10_240 * 1514),
            ("bandwidth 9mbit", 4 << 20),       // 4 x 1.125 MB/s x 0.1 s = 450 kB
            ("bandwidth 200mbit", 10_000_000),  // 4 x 25 MB/s x 0.1 s
            ("bandwidth 1gbit", 10_240 * 1514), // 50 MB
            ("bandwidth 1gbit memlimit 32mb", 32 << 20),
            ("bandwidth 200mbit unlimited", 10_240 * 1514),
        ];
        for (words, limit) in table {
            assert_eq!(memory_limit(&args(words), 1514), limit, "{words}");
        }
    }

    #[test]
    fn half_a_byte_of_overhead_is_refused() {
        assert_eq!(overhead(&args("overhead -14")), Some(-14));
        let error = Args::parse(&SPEC, "overhead 1.5").unwrap_err();
        assert_eq!(error.0, "cake overhead: found \"1.5\"; accepted: -64 to 256");
    }

    /// tc-cake(8), "Overhead compensation parameters": the equivalent of each keyword. VLAN tags must add to it.
    #[test]
    fn a_framing_is_what_the_manual_says() {
        let table = [
            ("conservative", Cells::Atm, 48, 0),
            ("pppoa-vcmux", Cells::Atm, 10, 0),
            ("pppoa-llc", Cells::Atm, 14, 0),
            ("pppoe-vcmux", Cells::Atm, 32, 0),
            ("pppoe-llcsnap", Cells::Atm, 40, 0),
            ("bridged-vcmux", Cells::Atm, 24, 0),
            ("bridged-llcsnap", Cells::Atm, 32, 0),
            ("ipoa-vcmux", Cells::Atm, 8, 0),
            ("ipoa-llcsnap", Cells::Atm, 16, 0),
            ("pppoe-ptm", Cells::Ptm, 30, 0),
            ("bridged-ptm", Cells::Ptm, 22, 0),
            ("docsis", Cells::None, 18, 64),
            ("ethernet", Cells::None, 38, 84),
            ("pppoe-ptm ether-vlan ether-vlan", Cells::Ptm, 38, 0),
            ("via-ethernet pppoe-vcmux", Cells::Atm, 32, 0),
            ("pppoe-vcmux raw ether-vlan", Cells::None, 4, 0),
            ("pppoe-vcmux noatm mpu 64", Cells::None, 32, 64),
        ];
        for (words, cells, bytes, mpu) in table {
            let line = args(words);
            assert_eq!(overhead(&line), Some(bytes), "{words}");
            assert_eq!((line.get(&CELLS), line.get(&MPU)), (cells, mpu), "{words}");
        }
    }

    /// The canonical line, which stands in records, must be a line that `tc` accepts with the same meaning.
    #[test]
    fn the_canonical_line_is_tc_s() {
        let canonical = |words| args(words).to_string();
        let defaults = "diffserv3 triple-isolate nonat nowash no-ack-filter split-gso rtt 100ms";
        assert_eq!(canonical(""), std::format!("cake {defaults} noatm mpu 0 egress"));
        let rich = "bandwidth 10mbit autorate-ingress diffserv4 dual-srchost nat wash ack-filter-aggressive no-split-gso \
                    rtt 30ms raw atm overhead 20 mpu 0 memlimit 4194304 fwmark 255 ingress";
        let words = "ingress fwmark 0xff memlimit 4mb raw atm overhead 20 regional no-split-gso ack-filter-aggressive \
                     wash nat dual-srchost diffserv bandwidth 10mbit autorate-ingress";
        assert_eq!(canonical(words), std::format!("cake {rich}"));
        assert_eq!(canonical(rich), std::format!("cake {rich}"));
    }

    /// q_cake.c assigns in order. The first row is the egress line of sqm-scripts' piece_of_cake.qos with its defaults.
    #[test]
    fn a_later_word_replaces_an_earlier_one_and_ends_what_it_ends_in_tc() {
        for (words, same_as) in [
            (
                "bandwidth 20000kbit overhead 44 mpu 84 diffserv3 nat besteffort",
                "bandwidth 20mbit besteffort nat overhead 44 mpu 84",
            ),
            ("bandwidth 5mbit bandwidth 20mbit", "bandwidth 20mbit"),
            ("bandwidth 5mbit bandwidth 0", ""),
            ("autorate-ingress bandwidth 5mbit", "bandwidth 5mbit"),
            ("bandwidth 5mbit autorate-ingress unlimited", ""),
            ("unlimited bandwidth 5mbit", "bandwidth 5mbit"),
            ("nat nonat wash nowash", ""),
            ("rtt 30ms metro", "rtt 10ms"),
            ("docsis ethernet", "overhead 56 mpu 84"),
            ("docsis conservative", "atm overhead 48 mpu 64"),
            ("overhead 20 ether-vlan", "overhead 24"),
            ("ether-vlan overhead 20", "overhead 20"),
            ("pppoe-ptm raw", "raw overhead 0"),
            ("raw pppoe-ptm", "raw ptm overhead 30"),
            ("ack-filter-aggressive ack-filter no-ack-filter", ""),
            ("ingress egress srchost flows", "flows"),
        ] {
            assert_eq!(args(words).to_string(), args(same_as).to_string(), "{words}");
        }
    }
}
