//! Filters as `tc filter add` writes them: `u32`, `flower`, `fw`, `matchall`, `basic` and `flow`.
//!
//! Source: iproute2 6.1 (tc/f_*.c) for what the words mean, and Linux 6.1 (net/sched/cls_*.c) for what they decide.
//! Both were tried, form by form (`golden/filters`). Where Linux does what few would guess, the filter does the same,
//! and a note says so. A filter becomes masks and values of the words that [`super::fields`] lists.

mod flow;
mod flower;
mod u32;

use super::chain::{Rule, Target};
use super::fields::{IP, IPV6, MARK, PROTOCOLS, Words};
use super::id::Id;
use super::plan::refusal::{by_linux, by_tc};
use super::words::{Line, number};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use goodqueue_units::number as numbers;

type Read<T> = Result<T, String>;

/// Masks and values that all have to fit.
#[derive(Clone, Copy, Default)]
struct Bits {
    mask: Words,
    value: Words,
}

impl Bits {
    /// Adds bits of a word. Returns false if they contradict earlier ones, so that no packet fits.
    #[must_use]
    fn add(&mut self, word: usize, value: u32, mask: u32) -> bool {
        let fits = (self.value[word] ^ value) & self.mask[word] & mask == 0;
        self.mask[word] |= mask;
        self.value[word] |= value & mask;
        fits
    }
}

/// A filter that has been read.
pub(super) struct Filter {
    pub(super) rule: Rule,
    /// The number that the command gives the filter. 0: Linux gives one.
    pub(super) handle: u32,
    /// The mask of `fw`, which filters of the same preference share.
    pub(super) common: u32,
    /// The mask of `flower`, which asks all filters of one mask before those of the next one.
    pub(super) mask: Vec<u32>,
    /// What tells a filter of `flower` from others of its preference: Linux refuses a second one.
    pub(super) identity: Vec<u32>,
    /// What Linux asks for of a new filter of `u32`, and not of one that takes the place of another.
    pub(super) lacks: Option<Lack>,
}

/// What a command about `u32` does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    /// Any word.
    Words,
    /// `match`.
    Selector,
}

impl Filter {
    /// Returns a filter without a handle of its own, and with nothing that others must not have.
    fn of(rule: Rule) -> Self {
        Self { rule, handle: 0, common: 0, mask: Vec::new(), identity: Vec::new(), lacks: None }
    }
}

/// Reads the filter of `kind` from its words. `handle` is the word after `handle`, `major` the number of the qdisc, and
/// `protocol` that of the protocol whose packets the filter sees. Adds to `notes` a sentence where Linux does not what
/// the words seem to say.
pub(super) fn read(
    kind: &str,
    handle: Option<&str>,
    line: &mut Line<'_>,
    (major, protocol): (u16, u16),
    notes: &mut Vec<String>,
) -> Read<Filter> {
    let (number, mask) = handle.map(|text| self::handle(kind, text)).transpose()?.unwrap_or_default();
    let before = notes.len();
    let mut filter = match kind {
        "u32" => u32::read(line, protocol, notes)?,
        "flower" => flower::read(line, protocol, notes)?,
        "fw" => fw((handle, number, mask), line, notes)?,
        "matchall" | "basic" => {
            Filter::of(Rule { any_of: vec![Default::default()], target: only_class(kind, line)? })
        }
        "flow" => flow::read((handle, number), line, major)?,
        _ => {
            let accepted = "u32, flower, fw, matchall, basic, flow";
            return Err(format!("found filter {kind:?}; accepted: {accepted}"));
        }
    };
    filter.handle = number;
    match protocol {
        ALL | 0 => {}
        IP | IPV6 => {
            for (mask, value) in &mut filter.rule.any_of {
                mask[PROTOCOLS] |= 0xffff_0000;
                value[PROTOCOLS] |= u32::from(protocol) << 16;
            }
        }
        _ => {
            filter.rule.any_of.clear();
            notes.truncate(before);
            let name = name(protocol);
            notes.push(format!(
                "\"{kind}\" of protocol {name} matches no packet here: all are of IPv4 or IPv6"
            ));
        }
    }
    Ok(filter)
}

/// Reads the handle of a filter as a number, and the mask of `fw`.
pub(super) fn handle(kind: &str, text: &str) -> Read<(u32, u32)> {
    let refused = |said| by_tc(&format!("handle {text:?}"), "a number", said);
    match kind {
        "fw" => mark(text),
        "u32" => Ok((u32::handle_of(text).ok_or_else(|| refused("Illegal filter ID"))?, 0)),
        _ => Ok((number(text).map_err(|_| refused("Illegal \"handle\""))?, 0)),
    }
}

/// `ETH_P_ALL`: packets of any protocol.
pub(super) const ALL: u16 = 0x0003;
const KNOWN: [(&str, u16); 6] =
    [("all", ALL), ("ip", IP), ("ipv6", IPV6), ("arp", 0x0806), ("802.1q", 0x8100), ("802.1ad", 0x88a8)];

/// Reads a protocol as iproute2's ll_proto_a2n does, with the names that scripts use.
pub(super) fn protocol(text: &str) -> Read<u16> {
    let lower = text.to_ascii_lowercase();
    let lower = if lower == "ipv4" { "ip" } else { &lower };
    let named = KNOWN.iter().find(|(name, _)| *name == lower).map(|(_, number)| *number);
    let known = named.or_else(|| numbers::whole(text).and_then(|number| u16::try_from(number).ok()));
    let accepted = "all, ip, ipv6, arp, 802.1q, 802.1ad, or a number";
    known.ok_or_else(|| {
        let said = format!("argument {text:?} is wrong: invalid protocol");
        by_tc(&format!("protocol {text:?}"), accepted, &said)
    })
}

/// Returns the name of a protocol.
fn name(protocol: u16) -> String {
    let known = KNOWN.iter().find(|(_, number)| *number == protocol);
    known.map_or_else(|| format!("{protocol:#06x}"), |(name, _)| (*name).into())
}

/// Returns a refusal of the netlink message, for which Linux has no words but the error number's.
fn invalid(found: &str, accepted: &str) -> String {
    by_linux(found, accepted, "Invalid argument")
}

/// Reads the class of `flowid` or `classid` if the word is one of them.
fn class(word: &str, line: &mut Line<'_>) -> Read<Option<Target>> {
    match word {
        "flowid" | "classid" => {
            let text = line.value(word)?;
            let refused = || by_tc(&format!("{word} {text:?}"), "a class, as 1:10", "Illegal \"classid\"");
            Id::read(text).map(|id| Some(Target::Class(id))).ok_or_else(refused)
        }
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

/// Reads `flowid` and nothing else. Linux takes neither `fw` nor `matchall` nor `basic` without any words.
fn only_class(kind: &str, line: &mut Line<'_>) -> Read<Target> {
    let mut target = None;
    while let Some(word) = line.next() {
        target = match class(word, line)? {
            None => return Err(refuse(kind, word, "flowid and a class")),
            found => found,
        };
    }
    target.ok_or_else(|| invalid(&format!("{kind} without a class"), "flowid and a class, as flowid 1:10"))
}

/// Returns the mark and the mask of a handle of `fw` (`fw_parse_opt`).
fn mark(handle: &str) -> Read<(u32, u32)> {
    let (mark, mask) = handle.split_once('/').unwrap_or((handle, "0xffffffff"));
    let refused = |said| by_tc(&format!("handle {handle:?}"), "a mark, as 5 or 0x10/0xf0", said);
    let mark = number(mark).map_err(|_| refused("Illegal \"handle\""))?;
    Ok((mark, number(mask).map_err(|_| refused("Illegal \"handle\" mask"))?))
}

fn fw(
    (handle, mark, mask): (Option<&str>, u32, u32),
    line: &mut Line<'_>,
    notes: &mut Vec<String>,
) -> Read<Filter> {
    let accepted = "handle and a mark that is not 0, as handle 5 fw flowid 1:5";
    let handle = match handle {
        Some(handle) => handle,
        // Then the mark is the class.
        None if line.peek().is_none() => return Err(format!("found fw alone; accepted: {accepted}")),
        None => return Err(invalid("fw without a handle", accepted)),
    };
    if mark == 0 {
        return Err(invalid(&format!("handle {handle} fw"), accepted));
    }
    let mut bits = Bits::default();
    // `fw_classify` compares the masked mark of the packet with the whole handle.
    let can_match = mark & mask == mark && bits.add(MARK, mark, mask);
    if !can_match {
        notes.push(format!(
            "\"handle {handle} fw\" matches no packet on Linux, as the handle has bits outside its mask; \
             accepted: handle {:#x}/{mask:#x} fw",
            mark & mask
        ));
    }
    let any_of = if can_match { vec![(bits.mask, bits.value)] } else { Vec::new() };
    let rule = Rule { any_of, target: only_class("fw", line)? };
    Ok(Filter { common: mask, ..Filter::of(rule) })
}

/// Reads an IPv4 address of one to four numbers, as iproute2's get_addr_ipv4 does: those left out are 0.
fn address(text: &str) -> Option<u32> {
    let mut bytes = [0; 4];
    let mut parts = text.split('.');
    for (byte, part) in bytes.iter_mut().zip(parts.by_ref()) {
        let number = numbers::whole(part).filter(|_| part.starts_with(|first: char| first.is_ascii_digit()));
        *byte = u8::try_from(number?).ok()?;
    }
    parts.next().is_none().then(|| u32::from_be_bytes(bytes))
}

/// Reads an address with the length of its prefix or a netmask, as a value and a mask (`get_prefix_1`). `None`: `tc`
/// refuses it.
fn prefix(text: &str, notes: &mut Vec<String>) -> Option<(u32, u32)> {
    let (text, len) = match text.split_once('/') {
        Some((text, len)) => (text, Some(len)),
        None => (text, None),
    };
    let value = address(text)?;
    let Some(len) = len else {
        if text.split('.').count() < 4 {
            let full = core::net::Ipv4Addr::from_bits(value);
            notes.push(format!(
                "\"{text}\" is the address {full} alone in tc; a network has a length, as 10.0.0.0/8"
            ));
        }
        return Some((value, u32::MAX));
    };
    let mask = match numbers::whole(len) {
        Some(len) => {
            u32::MAX.checked_shl(32 - u32::try_from(len).ok().filter(|len| *len <= 32)?).unwrap_or(0)
        }
        None => address(len).filter(|mask| mask.leading_ones() + mask.trailing_zeros() == 32)?,
    };
    Some((value, mask))
}

/// What is accepted as an address of IPv6.
const ADDRESS_OF_IPV6: &str = "an IPv6 address, as 2001:db8::1 or 2001:db8::/32";

/// What is accepted as an address.
const ADDRESS: &str = "an IPv4 address, as 10.0.0.1 or 10.0.0.0/8";
