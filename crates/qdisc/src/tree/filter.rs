//! Filters as `tc filter add` writes them: `u32`, `flower`, `fw`, `matchall`, `basic` and `flow map`.
//!
//! Source: tc-u32(8), tc-flower(8), tc-fw(8), tc-matchall(8), tc-flow(8), and iproute2's f_*.c where a page leaves
//! something open. A filter becomes masks and values of the words that [`super::fields`] lists.

use super::chain::{Map, Rule, Target};
use super::fields::{MARK, PORTS, PRIORITY, WORDS, Words};
use super::id::Id;
use super::words::{Line, hexadecimal, number};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

type Read<T> = Result<T, String>;

/// The first byte of the ports, behind an IP header without options.
const NEXT_HEADER: u32 = 20;
/// Bytes of a packet that filters can see.
const VISIBLE: u32 = 24;

/// Masks and values that all have to fit.
#[derive(Clone, Copy, Default)]
struct Bits {
    mask: Words,
    value: Words,
}

impl Bits {
    /// Adds bits of a word, unless they contradict earlier ones.
    fn add(&mut self, word: usize, value: u32, mask: u32) -> Read<()> {
        if (self.value[word] ^ value) & self.mask[word] & mask != 0 {
            return Err(
                "found two matches that exclude each other; accepted: matches that a packet can fit".into()
            );
        }
        self.mask[word] |= mask;
        self.value[word] |= value & mask;
        Ok(())
    }

    /// Adds `bytes` bytes at an offset into the packet.
    fn at(&mut self, offset: u32, bytes: u32, value: u32, mask: u32) -> Read<()> {
        if !offset.is_multiple_of(bytes) || offset.saturating_add(bytes) > VISIBLE {
            return Err(format!(
                "found {bytes} bytes at {offset}; accepted: the first {VISIBLE} bytes of the IP packet, aligned"
            ));
        }
        if bytes < 4 && (value | mask) >> (8 * bytes) != 0 {
            return Err(format!("found {value:#x} {mask:#x}; accepted: numbers of {bytes} bytes"));
        }
        let shift = 32 - 8 * (offset % 4 + bytes);
        self.add((offset / 4) as usize, value << shift, mask << shift)
    }
}

/// Reads the filter of `kind` from its words. `handle` is the word after `handle`. A filter of another protocol than IP
/// matches no packet.
pub(super) fn read(kind: &str, handle: Option<&str>, line: &mut Line<'_>, is_ip: bool) -> Read<Rule> {
    if let Some(handle) = handle.filter(|_| kind != "fw") {
        return Err(format!("found handle {handle:?}; accepted: none, except the mark of fw"));
    }
    let (mut rule, target) = match kind {
        "u32" => u32(line)?,
        "flower" => flower(line)?,
        "fw" => fw(handle, line)?,
        "matchall" | "basic" => (vec![Bits::default()], only_class(line)?),
        "flow" => (vec![Bits::default()], Some(flow(line)?)),
        _ => {
            let accepted = "u32, flower, fw, matchall, basic, flow";
            return Err(format!("found filter {kind:?}; accepted: {accepted}"));
        }
    };
    if !is_ip {
        rule.clear();
    }
    let target = target.ok_or("found no class; accepted: flowid and a class, as flowid 1:10")?;
    Ok(Rule { any_of: rule.into_iter().map(|bits| (bits.mask, bits.value)).collect(), target })
}

/// Reads the class of `flowid` or `classid` if the word is one of them.
fn class(word: &str, line: &mut Line<'_>) -> Read<Option<Target>> {
    match word {
        "flowid" | "classid" => Ok(Some(Target::Class(Id::read(line.value(word)?)?))),
        _ => Ok(None),
    }
}

fn refuse(kind: &str, word: &str, accepted: &str) -> String {
    match word {
        "action" | "police" => {
            format!("found {word:?}; accepted: a filter without actions, which are not simulated")
        }
        _ => format!("{kind}: found {word:?}; accepted: {accepted}"),
    }
}

fn only_class(line: &mut Line<'_>) -> Read<Option<Target>> {
    let mut target = None;
    while let Some(word) = line.next() {
        target = match class(word, line)? {
            None => return Err(refuse("filter", word, "flowid and a class")),
            found => found,
        };
    }
    Ok(target)
}

fn fw(handle: Option<&str>, line: &mut Line<'_>) -> Read<(Vec<Bits>, Option<Target>)> {
    let handle =
        handle.ok_or("fw: found no handle; accepted: handle and a mark, as handle 5 fw flowid 1:5")?;
    let (mark, mask) = handle.split_once('/').unwrap_or((handle, "0xffffffff"));
    let mut bits = Bits::default();
    bits.add(MARK, number(mark)?, number(mask)?)?;
    Ok((vec![bits], only_class(line)?))
}

/// Reads an address with the length of its prefix, as a value and a mask.
fn prefix(text: &str) -> Read<(u32, u32)> {
    let refused = || format!("found {text:?}; accepted: an IPv4 address, as 10.0.0.1 or 10.0.0.0/8");
    if matches!(text, "any" | "default" | "all") {
        return Ok((0, 0));
    }
    let (address, len) = text.split_once('/').unwrap_or((text, "32"));
    let address: core::net::Ipv4Addr = address.parse().map_err(|_| refused())?;
    let len = len.parse::<u32>().ok().filter(|len| *len <= 32).ok_or_else(refused)?;
    Ok((address.to_bits(), u32::MAX.checked_shl(32 - len).unwrap_or(0)))
}

fn u32(line: &mut Line<'_>) -> Read<(Vec<Bits>, Option<Target>)> {
    const ACCEPTED: &str = "match and flowid (no hash tables of one's own)";
    let (mut bits, mut target) = (Bits::default(), None);
    while let Some(word) = line.next() {
        match word {
            "match" => u32_match(&mut bits, line)?,
            _ => match class(word, line)? {
                None => return Err(refuse("u32", word, ACCEPTED)),
                found => target = found,
            },
        }
    }
    Ok((vec![bits], target))
}

fn u32_match(bits: &mut Bits, line: &mut Line<'_>) -> Read<()> {
    let of = line.value("match")?;
    let name = match of {
        "u8" | "u16" | "u32" | "mark" => of,
        "ip" | "tcp" | "udp" | "icmp" => line.value(of)?,
        _ => return Err(refuse("u32 match", of, "ip, tcp, udp, icmp, u8, u16, u32, mark")),
    };
    let (bytes, offset) = match (of, name) {
        ("ip", "src" | "dst") => {
            let (value, mask) = prefix(line.value(name)?)?;
            return bits.at(if name == "src" { 12 } else { 16 }, 4, value, mask);
        }
        ("ip", "nofrag") => return bits.at(6, 2, 0, 0x3fff),
        ("mark", _) => {
            let (value, mask) = (number(line.value(name)?)?, number(line.value(name)?)?);
            return bits.add(MARK, value, mask);
        }
        ("u8", _) => (1, 0),
        ("u16", _) => (2, 0),
        ("u32", _) => (4, 0),
        ("ip", "ihl") => (1, 0),
        ("ip", "tos" | "dsfield" | "precedence") => (1, 1),
        ("ip", "protocol") => (1, 9),
        ("ip", "sport") | ("tcp" | "udp", "src") => (2, NEXT_HEADER),
        ("ip", "dport") | ("tcp" | "udp", "dst") => (2, NEXT_HEADER + 2),
        ("ip", "icmp_type") | ("icmp", "type") => (1, NEXT_HEADER),
        ("ip", "icmp_code") | ("icmp", "code") => (1, NEXT_HEADER + 1),
        _ => return Err(refuse("u32 match", name, "src, dst, sport, dport, protocol, tos, dsfield")),
    };
    let (value, mask) = (number(line.value(name)?)?, hexadecimal(line.value(name)?)?);
    let offset = if line.next_if("at") {
        let text = line.value("at")?;
        match text.strip_prefix("nexthdr+") {
            Some(more) => NEXT_HEADER.saturating_add(number(more)?),
            None => number(text)?,
        }
    } else {
        offset
    };
    bits.at(offset, bytes, value, mask)
}

fn flower(line: &mut Line<'_>) -> Read<(Vec<Bits>, Option<Target>)> {
    const ACCEPTED: &str = "ip_proto, src_ip, dst_ip, src_port, dst_port, ip_tos, ip_ttl, classid";
    let (mut all, mut target) = (vec![Bits::default()], None);
    while let Some(word) = line.next() {
        let mut every =
            |word: usize, value, mask| all.iter_mut().try_for_each(|bits| bits.add(word, value, mask));
        match word {
            "skip_hw" => {}
            "ip_proto" => {
                let text = line.value(word)?;
                let protocol = match text {
                    "tcp" => 6,
                    "udp" => 17,
                    "icmp" => 1,
                    _ => number(text)?,
                };
                every(2, protocol << 16, 0xff << 16)?;
            }
            "src_ip" | "dst_ip" => {
                let (value, mask) = prefix(line.value(word)?)?;
                every(if word == "src_ip" { 3 } else { 4 }, value, mask)?;
            }
            "ip_tos" | "ip_ttl" => {
                let text = line.value(word)?;
                let (value, mask) = text.split_once('/').unwrap_or((text, "ff"));
                let read = if word == "ip_tos" { hexadecimal } else { number };
                let (at, shift) = if word == "ip_tos" { (0, 16) } else { (2, 24) };
                every(at, (read(value)? & 0xff) << shift, (hexadecimal(mask)? & 0xff) << shift)?;
            }
            "src_port" | "dst_port" => {
                let shift = if word == "src_port" { 16 } else { 0 };
                let ranges = ports(line.value(word)?)?;
                let before = core::mem::take(&mut all);
                for bits in before {
                    for (value, mask) in &ranges {
                        let mut bits = bits;
                        bits.add(PORTS, value << shift, mask << shift)?;
                        all.push(bits);
                    }
                }
            }
            _ => match class(word, line)? {
                None => return Err(refuse("flower", word, ACCEPTED)),
                found => target = found,
            },
        }
    }
    Ok((all, target))
}

/// Reads a port or a range of ports, as the fewest values and masks that cover it.
fn ports(text: &str) -> Read<Vec<(u32, u32)>> {
    let port = |text: &str| text.parse::<u16>().map(u32::from);
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (Ok(first), Ok(last)) = (port(first), port(last)) else {
        return Err(format!("found port {text:?}; accepted: a number, or two as 1000-2000"));
    };
    let (mut all, mut from) = (Vec::new(), first);
    while from <= last {
        let fitting = |bits: &u32| from % (1 << bits) == 0 && from + (1 << bits) - 1 <= last;
        let bits = (0..=16).rev().find(fitting).unwrap_or(0);
        all.push((from, 0xffff & !((1 << bits) - 1)));
        from += 1 << bits;
    }
    Ok(all)
}

fn flow(line: &mut Line<'_>) -> Read<Target> {
    const ACCEPTED: &str = "map key, and, xor, rshift, addend, divisor, baseclass";
    let mut map = Map {
        word: WORDS,
        at: 0,
        bits: 32,
        mask: u32::MAX,
        xor: 0,
        shift: 0,
        addend: 0,
        divisor: 0,
        base: Id::of(0, 0),
    };
    while let Some(word) = line.next() {
        match word {
            "map" => {}
            "hash" => {
                return Err(
                    "found \"flow hash\"; accepted: flow map, as the hash of Linux is not simulated".into()
                );
            }
            "key" => {
                (map.word, map.at, map.bits) = match line.value(word)? {
                    "src" => (3, 0, 32),
                    "dst" => (4, 0, 32),
                    "proto" => (2, 16, 8),
                    "proto-src" => (PORTS, 16, 16),
                    "proto-dst" => (PORTS, 0, 16),
                    "mark" => (MARK, 0, 32),
                    "priority" => (PRIORITY, 0, 32),
                    other => {
                        let accepted = "src, dst, proto, proto-src, proto-dst, mark, priority";
                        return Err(format!("flow key: found {other:?}; accepted: {accepted}"));
                    }
                };
            }
            "and" => map.mask = number(line.value(word)?)?,
            "xor" => map.xor = number(line.value(word)?)?,
            "rshift" => map.shift = number(line.value(word)?)?.min(31),
            "addend" => map.addend = number(line.value(word)?)?,
            "divisor" => map.divisor = number(line.value(word)?)?,
            "baseclass" => map.base = Id::read(line.value(word)?)?,
            other => return Err(refuse("flow", other, ACCEPTED)),
        }
    }
    match (map.word, map.base.minor()) {
        (WORDS, _) => {
            Err("flow: found no key; accepted: flow map key dst baseclass 1:1, for example".to_string())
        }
        (_, 0) => Err("flow: found no baseclass; accepted: the first class, as baseclass 1:1".to_string()),
        _ => Ok(Target::Computed(Arc::new(map))),
    }
}
