//! `flow`: a class computed from fields of the packet.
//!
//! Source: tc/f_flow.c (iproute2 6.1), `flow_change` and `flow_classify` (net/sched/cls_flow.c, Linux 6.1).

use super::{Filter, Read, address, by_linux, by_tc, invalid, refuse};
use crate::tree::chain::{Field, How, Map, Rule, Target};
use crate::tree::fields::{DESTINATION, MARK, PORTS, PRIORITY, PROTOCOLS, SOURCE};
use crate::tree::id::Id;
use crate::tree::words::{Line, number};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// The keys in Linux's order, in which a hash takes them, each with its place, and the number of a packet without it.
/// Linux hashes there the address of its socket or route, with a key drawn at the boot: one number for all that it
/// forwards. Ours is the fraction of the golden ratio.
const KEYS: [(&str, Field); 11] = [
    ("src", OF_SOURCE),
    ("dst", OF_DESTINATION),
    ("proto", Field { word: PROTOCOLS, at: 8, bits: 8, absent: 0 }),
    ("proto-src", OF_SOURCE_PORT),
    ("proto-dst", OF_DESTINATION_PORT),
    ("priority", Field { word: PRIORITY, at: 0, bits: 32, absent: 0 }),
    ("mark", Field { word: MARK, at: 0, bits: 32, absent: 0 }),
    // Of the tracked connection, as its first packet had them. A packet without one has its own (`CTTUPLE`), and the
    // two differ where addresses are translated, which nothing here does.
    ("nfct-src", OF_SOURCE),
    ("nfct-dst", OF_DESTINATION),
    ("nfct-proto-src", OF_SOURCE_PORT),
    ("nfct-proto-dst", OF_DESTINATION_PORT),
];
const OF_SOURCE: Field = Field { word: SOURCE, at: 0, bits: 32, absent: ABSENT };
const OF_DESTINATION: Field = Field { word: DESTINATION, at: 0, bits: 32, absent: ABSENT ^ super::IP as u32 };
const OF_SOURCE_PORT: Field = Field { word: PORTS, at: 16, bits: 16, absent: ABSENT };
const OF_DESTINATION_PORT: Field = Field { word: PORTS, at: 0, bits: 16, absent: ABSENT ^ super::IP as u32 };
const ABSENT: u32 = 0x9e37_79b9;

/// Reads a list of keys, as bits.
fn keys(text: &str) -> Read<u16> {
    let mut found = 0;
    for name in text.split(',') {
        let Some(at) = KEYS.iter().position(|(known, _)| *known == name) else {
            let accepted =
                "src, dst, proto, proto-src, proto-dst, mark, priority, and nfct- before src, dst or proto-";
            return Err(format!("flow key: found {name:?}; accepted: {accepted}"));
        };
        found |= 1 << at;
    }
    Ok(found)
}

/// Reads a number with a sign, or an address after `key src`, `dst` or `proto-src` (`get_addend`).
fn addend(text: &str, keys: u16) -> Read<u32> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (u32::MAX, rest),
        None => (1, text),
    };
    let takes_address = keys & 0b1011 != 0;
    let read = number(unsigned).ok().or_else(|| address(unsigned).filter(|_| takes_address));
    let accepted = "a number, or an address after key src or dst";
    let refused = || by_tc(&format!("addend {text:?}"), accepted, "Illegal \"addend\"");
    Ok(read.ok_or_else(refused)?.wrapping_mul(sign))
}

/// Reads the filter. `major` is the number of its qdisc, of which the classes are if `baseclass` does not say.
pub(super) fn read(
    (handle, number_of_filter): (Option<&str>, u32),
    line: &mut Line<'_>,
    major: u16,
) -> Read<Filter> {
    const ACCEPTED: &str = "map key, hash keys, and, or, xor, rshift, addend, divisor, baseclass";
    let (mut found, mut is_hash, mut divisor, mut base) = (0, false, 0, Id::of(0, 1));
    let (mut mask, mut xor, mut shift, mut added) = (u32::MAX, 0, 0, 0);
    // `transfer_bitop`: each word acts on the result of those before it.
    let mut bits = |keeps: u32, flips: u32| {
        xor = flips ^ xor & keeps;
        mask &= keeps;
    };
    while let Some(word) = line.next() {
        match word {
            "map" => is_hash = false,
            "hash" => is_hash = true,
            "key" | "keys" => found = keys(line.value(word)?)?,
            "and" => bits(number(line.value(word)?)?, 0),
            "or" => {
                let set = number(line.value(word)?)?;
                bits(!set, set);
            }
            "xor" => bits(u32::MAX, number(line.value(word)?)?),
            "rshift" => shift = number(line.value(word)?)?,
            "addend" => added = addend(line.value(word)?, found)?,
            "divisor" => divisor = number(line.value(word)?)?,
            "baseclass" => {
                let text = line.value(word)?;
                let accepted = "the first class, as baseclass 1:1";
                let refused = || by_tc(&format!("baseclass {text:?}"), accepted, "Illegal \"baseclass\"");
                base = Id::read(text).filter(|id| id.minor() != 0).ok_or_else(refused)?;
            }
            other => return Err(refuse("flow", other, ACCEPTED)),
        }
    }
    let accepted = "handle and a number, as handle 1 flow map key dst";
    if number_of_filter == 0 {
        let shown =
            handle.map_or_else(|| "flow without a handle".into(), |handle| format!("handle {handle} flow"));
        return Err(invalid(&shown, accepted));
    }
    if shift > 31 {
        let found = format!("rshift {shift}");
        return Err(by_linux(&found, "0 to 31", "Numerical result out of range"));
    }
    let fields: Vec<Field> = KEYS
        .iter()
        .enumerate()
        .filter(|(at, _)| found >> at & 1 == 1)
        .map(|(_, (_, field))| *field)
        .collect();
    match fields.len() {
        0 => return Err(invalid("flow without a key", "key and a field, as flow map key dst")),
        2.. if !is_hash => {
            let said = "Invalid mode \"map\" for multiple keys";
            return Err(by_tc("flow map with several keys", "one key, or flow hash", said));
        }
        _ => {}
    }
    // Linux draws the key of a hash at random. Ours follows from the handle.
    let how = match is_hash {
        true => How::Hash(number_of_filter.wrapping_mul(ABSENT)),
        false => How::Steps { mask, xor, shift, addend: added },
    };
    let base = if base.major() == 0 { Id::of(major, base.minor()) } else { base };
    let target = Target::Computed(Arc::new(Map { fields, how, divisor, base }));
    let rule = Rule { any_of: vec![Default::default()], target };
    Ok(Filter::of(rule))
}
