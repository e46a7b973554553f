//! SFQ's parameters as data: see [`super`].

use crate::param::{ParamSpec, Unit, Value};

const fn of(
    name: &'static str,
    unit: Unit,
    default: Value,
    range: (f64, f64),
    help: &'static str,
) -> ParamSpec {
    ParamSpec { name, unit, default, range, source: "tc-sfq(8)", help }
}

const fn flag(name: &'static str, help: &'static str) -> ParamSpec {
    of(name, Unit::Flag, Value::Flag(false), (0.0, 0.0), help)
}

const fn bytes(name: &'static str, default: Value, help: &'static str) -> ParamSpec {
    of(name, Unit::Bytes, default, (1.0, 2_147_483_647.0), help)
}

/// The names of all parameters.
pub(super) const NAMES: [&str; PARAMS.len()] = {
    let mut names = [""; PARAMS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = PARAMS[at].name;
        at += 1;
    }
    names
};

/// The words of `tc`'s line.
pub(super) const PARAMS: &[ParamSpec] = &[
    of(
        "limit",
        Unit::Packets,
        Value::Integer(127),
        (1.0, 1e9),
        "packets that all flows hold at most; depth times flows, if that is less",
    ),
    of("depth", Unit::Packets, Value::Integer(127), (1.0, 127.0), "packets that one flow holds at most"),
    ParamSpec {
        source: "Linux 6.1 (golden traces); tc-sfq(8) says 127",
        ..of(
            "flows",
            Unit::Count,
            Value::Integer(128),
            (1.0, 65_408.0),
            "flows that hold packets at the same time, at most",
        )
    },
    of(
        "divisor",
        Unit::Count,
        Value::Integer(1024),
        (1.0, 65_536.0),
        "buckets that flows are hashed to; a power of two",
    ),
    of(
        "quantum",
        Unit::Bytes,
        Value::Unset,
        (1.0, 1_048_576.0),
        "bytes that a flow may send a round; unset: a full frame of the link",
    ),
    of(
        "perturb",
        Unit::Count,
        Value::Integer(0),
        (0.0, 1e6),
        "seconds after which flows are hashed anew; 0: never",
    ),
    flag("headdrop", "drop a flow's oldest packet instead of its newest"),
    bytes(
        "redflowlimit",
        Value::Unset,
        "runs RED in each flow, with a quarter of these bytes as max where max is unset; unset: no RED",
    ),
    bytes(
        "min",
        Value::Unset,
        "RED: average above which packets are dropped at random; unset: a third of max",
    ),
    bytes(
        "max",
        Value::Unset,
        "RED: average from which every packet is dropped; unset: 3 min, else a quarter of redflowlimit",
    ),
    of("probability", Unit::Real, Value::Real(0.02), (1e-9, 0.999_999), "RED: drop probability at max"),
    bytes("avpkt", Value::Integer(1000), "RED: average packet, for burst"),
    of(
        "burst",
        Unit::Packets,
        Value::Unset,
        (1.0, 1e6),
        "RED: packets that may arrive at once; unset: (2 min + max) / (3 avpkt)",
    ),
    flag("ecn", "RED: mark ECN-capable packets instead of dropping them"),
    flag("harddrop", "RED: with ecn, drop all the same from max on"),
];
