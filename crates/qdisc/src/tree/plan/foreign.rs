//! Words of one kind for a class of another. Linux ignores the kind that a command about a class says, and reads the
//! numbers that `tc` has made of the words as those of the qdisc's own kind.
//!
//! Source: `tc_ctl_tclass` and the `change_class` functions (Linux 6.1), and the `parse_copt` functions of iproute2 6.1,
//! which put the numbers into attributes 1, 2, 3 and so on of the message.

use super::refusal::{INVALID, TOO_SHORT, by_linux};
use super::{Node, Plan, Read};
use crate::param::Args;
use crate::psched::ticks;
use crate::sched::bucket::{LINKLAYER, LinkLayer, MPU, OVERHEAD, in_cells};
use crate::sched::htb::{CEIL, MTU};
use crate::tree::curve::Spec;
use crate::tree::params::{Class, RATE};
use crate::tree::rounds::QUANTA;
use alloc::format;
use alloc::string::String;
use goodqueue_units::{Rate, Release};

impl Plan {
    /// Returns what Linux makes of the words of a class of the qdisc at `place`.
    pub(super) fn fitting(&self, place: usize, asked: Option<Class>) -> Read<Asked> {
        let name = self.at(place).name();
        let asked = asked.ok_or_else(|| {
            let linux = match name {
                "drr" => "DRR options are required for this operation.",
                "ets" => "ETS options are required for this operation.",
                _ => INVALID,
            };
            by_linux("a class without a kind", &format!("{name} and its words"), linux)
        })?;
        let refused = |linux: &str| {
            let found = format!("words of {} for a class of {name}", asked.kind());
            Err(by_linux(&found, &format!("{name} and its words"), linux))
        };
        let words = asked.words();
        let own = match (name, &asked) {
            _ if asked.kind() == name => Ok(asked),
            ("htb", Class::Drr(None) | Class::Ets(_)) => refused(INVALID),
            ("htb", _) => refused(self.since_7_3("Attribute failed policy validation.", TOO_SHORT)),
            ("hfsc", Class::Htb(args)) => Ok(Class::Hfsc(curves(args, self.release))),
            ("hfsc", Class::Drr(Some(_))) => refused(TOO_SHORT),
            ("hfsc", _) => Ok(Class::Hfsc([None; 3])),
            ("drr", Class::Htb(args)) => Ok(Class::Drr(Some(sizes(args).clamp(QUANTA.0, QUANTA.1)))),
            ("drr", Class::Hfsc([Some(rt), ..])) => match rt.m1 {
                0 => refused("Specified DRR quantum cannot be zero."),
                m1 => Ok(Class::Drr(Some(m1.clamp(QUANTA.0, QUANTA.1)))),
            },
            ("drr", _) => Ok(Class::Drr(None)),
            // Alone of these, ets asks for a flag that tc sets in its own words only.
            _ => refused("NLA_F_NESTED is missing."),
        }?;
        Ok(Asked { own, words })
    }
}

/// What a command asks of a class: as its qdisc reads it, and the words of the command.
pub(super) struct Asked {
    pub(super) own: Class,
    pub(super) words: String,
}

impl Class {
    /// Returns the kind whose words these are.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Htb(_) => "htb",
            Self::Hfsc(_) => "hfsc",
            Self::Drr(_) => "drr",
            Self::Ets(_) | Self::Band | Self::Closed => "ets",
        }
    }
}

/// Returns the first four bytes of what `tc` sends of a class of `htb` (`tc_ratespec`): the binary logarithm of the
/// cells of its table, the link layer and the overhead.
fn sizes(args: &Args) -> u32 {
    let layer = if args.get(&LINKLAYER) == LinkLayer::Ethernet { 1 } else { 2 };
    cell_log(args) | layer << 8 | (args.get(&OVERHEAD) as u32 & 0xffff) << 16
}

/// Returns the binary logarithm of the cells of the table of 256 times that `tc` makes (`tc_calc_rtable`).
fn cell_log(args: &Args) -> u32 {
    let mtu = match args.get(&MTU) {
        0 => 2047,
        mtu => mtu,
    };
    (0..32).find(|log| mtu >> log <= 255).unwrap_or(0)
}

/// Returns the curves that `hfsc` reads from the words of a class of `htb`. The real-time curve is the first twelve
/// bytes of the class, of which the last four are its rate. The upper limit is the first three times of the table of
/// the ceiling.
fn curves(args: &Args, release: Release) -> [Option<Spec>; 3] {
    let bytes = |rate: Option<Rate>| rate.map_or(0, |rate| (rate.as_bps() / 8).min(u32::MAX.into()) as u32);
    let rate = bytes(args.get(&RATE));
    let ceil = args.get(&CEIL).map_or(rate, |ceil| bytes(Some(ceil)));
    let mpu = args.get(&MPU) as u32;
    let rt = Spec { m1: sizes(args), d: 0xffff | (mpu & 0xffff) << 16, m2: rate };
    let [m1, d, m2] = [1_u32, 2, 3].map(|cell| {
        let size = u64::from((cell << cell_log(args)).max(mpu));
        let size = if args.get(&LINKLAYER) == LinkLayer::Ethernet { size } else { in_cells(size) };
        Rate::from_bps(8 * u64::from(ceil)).map_or(u32::MAX, |rate| ticks(rate, size, release))
    });
    [Some(rt), None, Some(Spec { m1, d, m2 }).filter(|_| (m1, m2) != (0, 0))]
}

/// Returns whether a class of `hfsc` has an upper limit and no link-sharing curve. The words of `hfsc` cannot say that.
pub(super) const fn has_hidden_limit(own: &Class) -> bool {
    matches!(own, Class::Hfsc([_, None, Some(_)]))
}

impl Node {
    /// Returns the words of a command that makes the class, and those of another one that completes it.
    pub(super) fn words(&self) -> (String, Option<String>) {
        let (Some(words), Class::Hfsc([rt, ..])) =
            (self.words.as_ref().filter(|_| has_hidden_limit(&self.own)), &self.own)
        else {
            return (self.own.words(), None);
        };
        (words.clone(), Some(Class::Hfsc([*rt, None, None]).words()))
    }
}
