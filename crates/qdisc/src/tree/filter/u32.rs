//! `u32`: bytes at places of the packet.
//!
//! Source: tc/f_u32.c (iproute2 6.1) and `u32_classify` (net/sched/cls_u32.c, Linux 6.1). `match tcp`, `udp`, `icmp`
//! and `at nexthdr+N` compare behind an offset that only a filter with `link` and `offset` sets. Without one it is 0,
//! so they compare bytes of the IP header.

use super::{ADDRESS, ADDRESS_OF_IPV6, ALL, Bits, Filter, IP, Lack, Read, by_tc, class, prefix, refuse};
use crate::tree::chain::{Rule, Target};
use crate::tree::fields::MARK;
use crate::tree::id::{Id, strtoul};
use crate::tree::words::{Line, hexadecimal, number};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Bytes of a packet that filters can see: the header of IPv6, and a word behind it.
const VISIBLE: u32 = 44;
/// The bits of words 6 to 10 that simulated packets of IPv4 have: data offset and flags of TCP.
const BEHIND_IPV4: [u32; 5] = [0, 0, 0xffff_0000, 0, 0];

/// Bits of a word of the packet that a selector compares.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    word: u32,
    /// Whether the word counts from the next header.
    is_relative: bool,
    value: u32,
    mask: u32,
}

/// What a filter compares.
#[derive(Default)]
struct Selector {
    keys: Vec<Key>,
    /// The last `match mark`, which replaces earlier ones.
    mark: Option<(u32, u32)>,
    has_match: bool,
    /// The protocol whose packets the filter sees.
    protocol: u16,
    has_ip6: bool,
}

fn illegal(found: &str, accepted: &str) -> String {
    by_tc(found, accepted, "Illegal \"match\"")
}

impl Selector {
    /// Adds `bytes` bytes at an offset (`pack_key`). Two bytes at an odd offset are those of an even one: the first two
    /// of a word, or the last two.
    fn add(&mut self, offset: u32, is_relative: bool, bytes: u32, value: u32, mask: u32) -> Read<()> {
        if bytes < 4 && (value | mask) >> (8 * bytes) != 0 {
            return Err(illegal(&format!("{value:#x} {mask:#x}"), &format!("numbers of {bytes} bytes")));
        }
        let within = offset % 4;
        if bytes == 4 && within != 0 {
            return Err(illegal(&format!("4 bytes at {offset}"), "a multiple of 4"));
        }
        let shift = match (bytes, within) {
            (4, _) => 0,
            (2, 0) => 16,
            (2, _) => 0,
            _ => 24 - 8 * within,
        };
        let key = Key { word: offset / 4, is_relative, value: (value & mask) << shift, mask: mask << shift };
        let same = |known: &&mut Key| (known.word, known.is_relative) == (key.word, key.is_relative);
        match self.keys.iter_mut().find(same) {
            Some(known) if (known.value ^ key.value) & known.mask & key.mask != 0 => {
                let accepted = "matches that a packet can fit";
                return Err(illegal("two matches that exclude each other", accepted));
            }
            Some(known) => {
                known.value |= key.value;
                known.mask |= key.mask;
            }
            None => self.keys.push(key),
        }
        Ok(())
    }

    /// Returns the bits of all keys. `None`: no packet has them.
    fn bits(&self) -> Option<Bits> {
        let mut bits = Bits::default();
        let mut fits = self.keys.iter().all(|key| bits.add(key.word as usize, key.value, key.mask));
        if let Some((value, mask)) = self.mark {
            fits &= bits.add(MARK, value, mask);
        }
        fits.then_some(bits)
    }

    /// Returns whether it compares bytes that no packet here has.
    fn is_hidden(&self) -> bool {
        self.keys.iter().any(|key| key.word >= VISIBLE / 4)
    }

    /// Returns whether it compares bytes of IPv4 that real packets have, and simulated ones do not.
    fn is_of_real_packets(&self) -> bool {
        // If it sees both, it is made for IPv6.
        let is_of_ipv4 = self.protocol == IP || matches!(self.protocol, ALL | 0) && !self.has_ip6;
        let behind = |key: &Key| key.word.checked_sub(6).and_then(|at| BEHIND_IPV4.get(at as usize));
        is_of_ipv4 && self.keys.iter().any(|key| behind(key).is_some_and(|known| key.mask & !known != 0))
    }

    /// Reads what follows `match`.
    fn read(&mut self, line: &mut Line<'_>, notes: &mut Vec<String>) -> Read<()> {
        self.has_match = true;
        let of = line.value("match")?;
        let name = match of {
            "u8" | "u16" | "u32" => of,
            "mark" => return self.read_mark(line, notes),
            "ip6" => return self.read_ip6(line),
            "ip" | "tcp" | "udp" | "icmp" => line.value(of)?,
            _ => return Err(refuse("u32 match", of, "ip, ip6, tcp, udp, icmp, u8, u16, u32, mark")),
        };
        let (bytes, offset, is_relative) = match (of, name) {
            ("ip", "src") => (4, 12, false),
            ("ip", "dst") => (4, 16, false),
            ("ip", "nofrag") if line.peek().is_none() => {
                return Err(illegal("\"nofrag\" as the last word", "flowid and a class behind it"));
            }
            ("ip", "nofrag") => return self.add(6, false, 2, 0, 0x3fff),
            ("u8", _) => (1, 0, false),
            ("u16", _) => (2, 0, false),
            ("u32", _) => (4, 0, false),
            ("ip", "ihl") => (1, 0, false),
            ("ip", "tos" | "dsfield" | "precedence") => (1, 1, false),
            ("ip", "protocol") => (1, 9, false),
            ("ip", "sport") => (2, 20, false),
            ("ip", "dport") => (2, 22, false),
            ("ip", "icmp_type") => (1, 20, false),
            ("ip", "icmp_code") => (1, 21, false),
            ("tcp" | "udp", "src") => (2, 0, true),
            ("tcp" | "udp", "dst") => (2, 2, true),
            ("icmp", "type") => (1, 0, true),
            ("icmp", "code") => (1, 1, true),
            _ => return Err(refuse("u32 match", name, "src, dst, sport, dport, protocol, tos, dsfield")),
        };
        let first = line.value(name)?;
        let is_address = of == "ip" && matches!(name, "src" | "dst");
        let (value, mask) = if !is_address {
            (number(first)?, hexadecimal(line.value(name)?)?)
        } else if matches!(first, "any" | "default" | "all") {
            (0, 0)
        } else {
            prefix(first, notes).ok_or_else(|| illegal(&format!("{first:?}"), ADDRESS))?
        };
        let (mut at, mut is_relative) = (offset, is_relative);
        if line.next_if("at") {
            let text = line.value("at")?;
            let behind = text.strip_prefix("nexthdr+");
            let text = match behind {
                Some("") => line.value("nexthdr+")?,
                other => other.unwrap_or(text),
            };
            (at, is_relative) = (number(text)?, is_relative || behind.is_some());
        }
        let label = if of == name { of.into() } else { format!("{of} {name}") };
        if is_relative {
            let of_ports =
                if bytes == 2 { "; accepted for ports: match ip sport or dport, or flower" } else { "" };
            notes.push(format!(
                "\"match {label} {first}\" compares the IP header from byte {at} on, as Linux finds no next header \
                 without a link{of_ports}"
            ));
        } else if bytes == 2 && at % 2 == 1 {
            let from = at / 4 * 4 + 2;
            notes.push(format!(
                "\"match {label} {first} at {at}\" compares bytes {from} and {} in tc",
                from + 1
            ));
        }
        self.add(at, is_relative, bytes, value, mask)
    }

    /// Reads what follows `match ip6` (`parse_ip6`).
    fn read_ip6(&mut self, line: &mut Line<'_>) -> Read<()> {
        self.has_ip6 = true;
        let name = line.value("ip6")?;
        let (bytes, at) = match name {
            "src" | "dst" => {
                let text = line.value(name)?;
                let first = if name == "src" { 8 } else { 24 };
                let refused = || illegal(&format!("{text:?}"), ADDRESS_OF_IPV6);
                let (address, len) = prefix6(text).ok_or_else(refused)?;
                for (at, word) in (0..len.div_ceil(32)).zip(address) {
                    let mask = u32::MAX.checked_shl((32 * (at + 1)).saturating_sub(len)).unwrap_or(0);
                    self.add(first + 4 * at, false, 4, word, mask)?;
                }
                return Ok(());
            }
            "priority" | "flowlabel" => (4, 0),
            "protocol" => (1, 6),
            "sport" => (2, 40),
            "dport" => (2, 42),
            "icmp_type" => (1, 40),
            "icmp_code" => (1, 41),
            _ => return Err(refuse("u32 match ip6", name, "src, dst, sport, dport, protocol, priority")),
        };
        let (value, mask) = (number(line.value(name)?)?, hexadecimal(line.value(name)?)?);
        match name {
            "priority" => self.add(0, false, 4, (value & 0xff) << 20, (mask & 0xff) << 20),
            _ => self.add(at, false, bytes, value, mask),
        }
    }

    fn read_mark(&mut self, line: &mut Line<'_>, notes: &mut Vec<String>) -> Read<()> {
        let (value, mask) = (number(line.value("mark")?)?, number(line.value("mark")?)?);
        if line.peek().is_none() {
            let accepted = "flowid and a class behind it";
            return Err(by_tc(
                "\"match mark\" as the last words",
                accepted,
                "Command line is not complete. Try option \"help\"",
            ));
        }
        if value & mask != value {
            let said = "Illegal \"mark\" (impossible combination)";
            return Err(by_tc(&format!("mark {value:#x} {mask:#x}"), "a value within its mask", said));
        }
        if self.mark.is_some_and(|known| known != (value, mask)) {
            notes.push(format!(
                "\"match mark {value:#x} {mask:#x}\" replaces the match before it, as in Linux"
            ));
        }
        self.mark = Some((value, mask));
        Ok(())
    }
}

/// Reads the handle of a filter: table, bucket and number (`get_u32_handle`). `None`: `tc` refuses it.
pub(super) fn handle_of(text: &str) -> Option<u32> {
    if !text.contains(':') {
        return text.starts_with("0x").then(|| hexadecimal(text).ok()).flatten();
    }
    let mut parts = text.split(':');
    let mut part = |most: u64| match parts.next() {
        None | Some("") => Some(0),
        Some(text) => match strtoul(text) {
            (Some(number), "") if number < most => Some(number as u32),
            _ => None,
        },
    };
    Some(part(0x1000)? << 20 | part(0x100)? << 12 | part(0x1000)?)
}

/// Reads an IPv6 address with the length of its prefix. `None`: `tc` refuses it.
pub(super) fn prefix6(text: &str) -> Option<([u32; 4], u32)> {
    if matches!(text, "any" | "default" | "all") {
        return Some(([0; 4], 0));
    }
    let (address, len) = text.split_once('/').unwrap_or((text, "128"));
    let address: core::net::Ipv6Addr = address.parse().ok()?;
    let len = number(len).ok().filter(|len| *len <= 128)?;
    let bits = address.to_bits();
    Some((core::array::from_fn(|word| (bits >> (96 - 32 * word)) as u32), len))
}

pub(super) fn read(line: &mut Line<'_>, protocol: u16, notes: &mut Vec<String>) -> Read<Filter> {
    const ACCEPTED: &str = "match and flowid (no hash tables of one's own)";
    let (mut selector, mut target) = (Selector { protocol, ..Selector::default() }, None);
    // Without any words there is only an empty table, which matches nothing.
    let is_empty = line.peek().is_none();
    while let Some(word) = line.next() {
        match word {
            "match" => selector.read(line, notes)?,
            _ => match class(word, line)? {
                None => return Err(refuse("u32", word, ACCEPTED)),
                found => target = found,
            },
        }
    }
    let lacks = match (is_empty, selector.has_match) {
        (true, _) => Some(Lack::Words),
        (false, false) => Some(Lack::Selector),
        (false, true) => None,
    };
    if target.is_none() {
        notes.push("\"u32\" without flowid chooses no class on Linux; accepted: flowid and a class".into());
    }
    if selector.is_hidden() {
        notes.push(format!(
            "\"u32\" compares bytes behind the first {VISIBLE} of a packet, and matches none here"
        ));
    } else if selector.is_of_real_packets() {
        notes.push(
            "\"u32\" compares bytes behind the IPv4 header that simulated packets have as 0, as TCP's numbers".into(),
        );
    }
    let bits = if selector.is_hidden() { None } else { selector.bits() }.filter(|_| target.is_some());
    let any_of = bits.map_or_else(Vec::new, |bits| vec![(bits.mask, bits.value)]);
    let rule = Rule { any_of, target: target.unwrap_or(Target::Class(Id::of(0, 0))) };
    Ok(Filter { lacks, ..Filter::of(rule) })
}
