//! Any discipline of the registry under any load. The invariants are in `crates/qdisc/tests/invariants`.
#![no_main]

#[path = "../../crates/qdisc/tests/invariants/mod.rs"]
mod invariants;

use arbitrary::Arbitrary;
use goodqueue_qdisc::Link;
use goodqueue_qdisc::param::{ParamSpec, QdiscSpec, Unit};
use goodqueue_qdisc::registry::{ALL, parse_line};
use goodqueue_units::Rate;
use invariants::{Op, PIE_WRAP, TICKS_WRAP, YEAR, every_packet_has_one_fate, may_join, unusual};
use libfuzzer_sys::fuzz_target;

/// Each event takes one byte or a few, so that libFuzzer's mutations of bytes change events.
#[derive(Arbitrary, Debug)]
enum Event {
    Full { flow: u8 },
    Small { flow: u8 },
    Any { len: u16, flow: u16, ecn: u8 },
    Large { kilobytes: u8, flow: u8 },
    Take,
    TakeMany(u8),
    Burst { flow: u8, packets: u8 },
    Micros(u16),
    Millis(u16),
    Years(u8),
    Nanos(u32),
    Oversleep(u32),
    Change { param: u16, value: u8 },
    LinkRate(u32),
}

#[derive(Arbitrary, Debug)]
struct Case {
    which: u8,
    rate_bps: u64,
    mtu: u16,
    start: (u8, u32),
    values: [(u8, u16); 48],
    events: Vec<Event>,
}

impl Case {
    fn line(&self) -> String {
        let spec = &ALL[usize::from(self.which) % ALL.len()];
        let mut line = spec.name.to_string();
        for (param, &(how, value)) in spec.params.iter().zip(&self.values) {
            match how % 4 {
                _ if !may_join(&line, spec, param) => continue,
                0 | 1 => continue,
                2 => line += &format!(" {}", unusual(spec, param, value.into())),
                _ => line += &format!(" {}", within(spec, param, value)),
            }
        }
        line
    }

    fn start(&self) -> u64 {
        let back = u64::from(self.start.1);
        match self.start.0 % 6 {
            0 => 0,
            1 => back,
            2 => TICKS_WRAP - back,
            3 => TICKS_WRAP / 2 - back,
            4 => PIE_WRAP - back,
            _ => 10 * YEAR + back,
        }
    }

    fn ops(&self) -> Vec<Op> {
        let mut ops = Vec::new();
        for event in &self.events {
            match *event {
                Event::Full { flow } => {
                    ops.push(Op::Enqueue { len: 1514, flow: flow.into(), ecn: flow >> 6 })
                }
                Event::Small { flow } => ops.push(Op::Enqueue { len: 64, flow: flow.into(), ecn: flow >> 6 }),
                Event::Any { len, flow, ecn } => {
                    ops.push(Op::Enqueue { len: u32::from(len).max(1), flow: flow.into(), ecn: ecn & 3 });
                }
                Event::Large { kilobytes, flow } => {
                    // As large as a BIG TCP segment. A round robin with a quantum of 1 byte takes one turn per byte.
                    let len = (u32::from(kilobytes) << 10).max(1);
                    ops.push(Op::Enqueue { len, flow: flow.into(), ecn: flow >> 6 });
                }
                Event::Take => ops.push(Op::Dequeue),
                Event::TakeMany(packets) => (0..packets % 32).for_each(|_| ops.push(Op::Dequeue)),
                Event::Burst { flow, packets } => {
                    let packet = Op::Enqueue { len: 1514, flow: flow.into(), ecn: flow >> 6 };
                    (0..packets % 64).for_each(|_| ops.push(packet.clone()));
                }
                Event::Micros(us) => ops.push(Op::Advance(u64::from(us) * 1_000)),
                Event::Millis(ms) => ops.push(Op::Advance(u64::from(ms) * 1_000_000)),
                Event::Years(years) => ops.push(Op::Advance(u64::from(years % 20) * YEAR)),
                Event::Nanos(ns) => ops.push(Op::Advance(ns.into())),
                Event::Oversleep(ns) => ops.push(Op::Oversleep(u64::from(ns) << 8)),
                Event::Change { param, value } => {
                    ops.push(Op::Change { param: param.into(), value: value.into() });
                }
                Event::LinkRate(bps) => ops.push(Op::LinkRate(u64::from(bps) << (bps % 16))),
            }
            if ops.len() > 600 {
                break; // the check after each step takes time in proportion to the backlog
            }
        }
        ops
    }
}

/// Returns the words for `param` with a value between its bounds, spread over orders of magnitude.
fn within(spec: &QdiscSpec, param: &ParamSpec, value: u16) -> String {
    let (least, greatest) = param.range;
    let share = f64::from(value) / f64::from(u16::MAX);
    let number = (least - 1.0 + (greatest - least + 1.0).powf(share)).clamp(least, greatest);
    match param.unit().filter(|_| param.follows.is_none()) {
        Some(Unit::Time) => format!("{} {}ns", param.name, number as u64),
        Some(Unit::Rate) => format!("{} {}bit", param.name, number as u64),
        Some(Unit::Real | Unit::Percent) => format!("{} {number}", param.name),
        Some(Unit::Bytes | Unit::Packets | Unit::Count) => format!("{} {}", param.name, number as u64),
        _ => unusual(spec, param, value.into()),
    }
}

fuzz_target!(|case: Case| {
    let line = case.line();
    // A line whose parameters are in range is accepted. The discipline decides whether they agree with each other.
    let args = parse_line(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
    let rate = Rate::from_bps(case.rate_bps.max(1)).expect("above zero");
    let link = Link { rate, mtu: u32::from(case.mtu).max(1) };
    if let Err(why) = every_packet_has_one_fate(&args, &link, case.start(), &case.ops()) {
        panic!("{line}\n{link:?} start {}\n{why}", case.start());
    }
});
