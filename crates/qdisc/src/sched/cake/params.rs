//! CAKE's parameters, as tc-cake(8) has them.
//!
//! Not here: `nat` (there is no connection tracking to look through), `split-gso` (packets come one by one),
//! `ack-filter` (packets do not show their TCP header), `autorate-ingress`, `fwmark`.

use crate::param::{Args, Error, ParamSpec, QdiscSpec, Unit, Value};
use alloc::format;
use goodqueue_units::Duration;

/// The words of `preset`, and the round-trip time that each stands for, in microseconds.
const PRESETS: [u64; 8] = [100, 1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_600_000_000];

const BANDWIDTH: ParamSpec = ParamSpec {
    name: "bandwidth",
    unit: Unit::Rate,
    default: Value::Unset,
    range: (512.0, 1e12),
    source: "tc-cake(8)",
    help: "rate to shape to; unset: no shaping, the link below paces",
};
const DIFFSERV: ParamSpec = ParamSpec {
    name: "diffserv",
    unit: Unit::Word(&["besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8"]),
    default: Value::Integer(2),
    range: (0.0, 0.0),
    source: "tc-cake(8)",
    help: "how codepoints are sorted into tins",
};
const ISOLATION: ParamSpec = ParamSpec {
    name: "isolation",
    unit: Unit::Word(&[
        "flowblind",
        "srchost",
        "dsthost",
        "hosts",
        "flows",
        "dual-srchost",
        "dual-dsthost",
        "triple-isolate",
    ]),
    default: Value::Integer(7),
    range: (0.0, 0.0),
    source: "tc-cake(8)",
    help: "what shares fairly: one queue for all, hosts, flows, or flows and with them their hosts",
};
const RTT: ParamSpec = ParamSpec {
    name: "rtt",
    unit: Unit::Time,
    default: Value::Unset,
    range: (1e3, 4e12),
    source: "tc-cake(8)",
    help: "round-trip time that COBALT's interval is set to; unset: that of the preset",
};
const PRESET: ParamSpec = ParamSpec {
    name: "preset",
    unit: Unit::Word(&[
        "datacentre",
        "lan",
        "metro",
        "regional",
        "internet",
        "oceanic",
        "satellite",
        "interplanetary",
    ]),
    default: Value::Integer(4),
    range: (0.0, 0.0),
    source: "tc-cake(8)",
    help: "round-trip time by a word: 100us, 1ms, 10ms, 30ms, 100ms, 300ms, 1s, 3600s",
};
const TARGET: ParamSpec = ParamSpec {
    name: "target",
    unit: Unit::Time,
    default: Value::Unset,
    range: (1e3, 4e12),
    source: "Linux's netlink attribute; tc sets rtt/20",
    help: "acceptable standing queue delay; unset: a twentieth of rtt",
};
const OVERHEAD: ParamSpec = ParamSpec {
    name: "overhead",
    unit: Unit::Real,
    default: Value::Unset,
    range: (-64.0, 256.0),
    source: "tc-cake(8)",
    help: "whole bytes that the link adds to an IP packet; unset: lengths count as they are (raw)",
};
const MPU: ParamSpec = ParamSpec {
    name: "mpu",
    unit: Unit::Bytes,
    default: Value::Integer(0),
    range: (0.0, 256.0),
    source: "tc-cake(8)",
    help: "bytes that a packet occupies at least, overhead included",
};
const CELLS: ParamSpec = ParamSpec {
    name: "cells",
    unit: Unit::Word(&["noatm", "atm", "ptm"]),
    default: Value::Integer(0),
    range: (0.0, 0.0),
    source: "tc-cake(8)",
    help: "cells that the link cuts packets into: none, 48 of 53 bytes, 64 of 65",
};
const DIRECTION: ParamSpec = ParamSpec {
    name: "direction",
    unit: Unit::Word(&["egress", "ingress"]),
    default: Value::Integer(0),
    range: (0.0, 0.0),
    source: "tc-cake(8)",
    help: "ingress: the bottleneck is before us, so drops are charged too, and many flows may wait longer",
};
const WASH: ParamSpec = ParamSpec {
    name: "wash",
    unit: Unit::Flag,
    default: Value::Flag(false),
    range: (0.0, 0.0),
    source: "tc-cake(8)",
    help: "clear the codepoint of what passes, once it was sorted by",
};
const MEMLIMIT: ParamSpec = ParamSpec {
    name: "memlimit",
    unit: Unit::Bytes,
    default: Value::Unset,
    range: (1.0, 4_294_967_295.0),
    source: "tc-cake(8)",
    help: "memory that all queues hold at most; unset: 4 x bandwidth x rtt, at least 4 MB, at most 10240 frames",
};

/// `tc`'s `cake`.
pub(super) const SPEC: QdiscSpec = QdiscSpec {
    name: "cake",
    summary: "Tins by codepoint, fairness of hosts and flows, COBALT in each flow, and a shaper",
    source: "Høiland-Jørgensen, Täht, Morton, Piece of CAKE, 2018; tc-cake(8)",
    params: &[
        BANDWIDTH, DIFFSERV, ISOLATION, RTT, PRESET, TARGET, OVERHEAD, MPU, CELLS, DIRECTION, WASH, MEMLIMIT,
    ],
};

/// The round-trip time and the target of a line.
#[must_use]
pub fn times(args: &Args) -> (Duration, Duration) {
    let preset = args.integer("preset").and_then(|index| PRESETS.get(index as usize)).copied().unwrap_or(0);
    let rtt = args.time("rtt").unwrap_or(Duration::from_micros(preset));
    // tc counts in whole microseconds.
    let twentieth = Duration::from_micros((rtt.as_nanos() / 1000 / 20).max(1));
    (rtt, args.time("target").unwrap_or(twentieth))
}

/// The memory limit of a line: Linux's own where it has none.
#[must_use]
pub fn memory_limit(args: &Args, mtu: u32) -> u64 {
    const LEAST: u64 = 4 << 20;
    /// Packets, as other disciplines count; nothing but this product is made of it.
    const PACKETS: u64 = 10_240;
    if let Some(limit) = args.integer("memlimit") {
        return limit;
    }
    let bytes_per_s = args.integer("bandwidth").map(|bps| bps / 8);
    let wanted = bytes_per_s.map_or(u64::MAX, |rate| {
        let interval_us = times(args).0.as_nanos() / 1000;
        (rate.saturating_mul(interval_us) / 250_000).max(LEAST)
    });
    wanted.min(PACKETS * u64::from(mtu))
}

/// The overhead of a line, in whole bytes.
pub(super) fn overhead(args: &Args) -> Result<Option<i64>, Error> {
    let Some(bytes) = args.real("overhead") else { return Ok(None) };
    let whole = bytes as i64;
    if whole as f64 == bytes {
        return Ok(Some(whole));
    }
    Err(Error(format!("cake overhead: found \"{bytes}\"; accepted: a whole number, {}", OVERHEAD.accepted())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(words: &str) -> Args {
        Args::parse(&SPEC, words).unwrap()
    }

    #[test]
    fn rtt_is_preset_or_given_and_target_a_twentieth() {
        let table = [
            ("", 100_000, 5_000),
            ("metro", 10_000, 500),
            ("metro rtt 30ms", 30_000, 1_500),
            ("datacentre", 100, 5),
            ("rtt 15us", 15, 1),
            ("rtt 30ms target 5ms", 30_000, 5_000),
            ("interplanetary", 3_600_000_000, 180_000_000),
        ];
        for (words, rtt, target) in table {
            let expected = (Duration::from_micros(rtt), Duration::from_micros(target));
            assert_eq!(times(&args(words)), expected, "{words}");
        }
    }

    #[test]
    fn memory_is_four_times_the_path() {
        let table = [
            ("", 10_240 * 1514),
            ("bandwidth 9mbit", 4 << 20),       // 4 x 1.125 MB/s x 0.1 s = 450 kB
            ("bandwidth 200mbit", 10_000_000),  // 4 x 25 MB/s x 0.1 s
            ("bandwidth 1gbit", 10_240 * 1514), // 50 MB
            ("bandwidth 1gbit memlimit 32mb", 32 << 20),
        ];
        for (words, limit) in table {
            assert_eq!(memory_limit(&args(words), 1514), limit, "{words}");
        }
    }

    #[test]
    fn half_a_byte_of_overhead_is_refused() {
        assert_eq!(overhead(&args("overhead -14")), Ok(Some(-14)));
        let error = overhead(&args("overhead 1.5")).unwrap_err();
        assert_eq!(error.0, "cake overhead: found \"1.5\"; accepted: a whole number, -64 to 256");
    }
}
