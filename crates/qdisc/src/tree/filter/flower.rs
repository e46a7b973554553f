//! `flower`: fields of the headers.
//!
//! Source: `flower_parse_opt` (tc/f_flower.c, iproute2 6.1) and `fl_set_key` (net/sched/cls_flower.c, Linux 6.1). `tc`
//! sends each word as an attribute, and a later one replaces an earlier one. Linux then reads only those attributes
//! that fit the protocols, and the others match everything.

use super::{
    ADDRESS, ADDRESS_OF_IPV6, ALL, Bits, Filter, IP, IPV6, Read, by_linux, by_tc, class, prefix, refuse,
    u32::prefix6,
};
use crate::tree::chain::{Rule, Target};
use crate::tree::fields::{FLAGS, PORTS, PROTOCOLS, SOURCE};
use crate::tree::id::Id;
use crate::tree::words::Line;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use goodqueue_units::number as numbers;

const TCP: u8 = 6;
const WITH_PORTS: [u8; 3] = [TCP, 17, 132];

/// An attribute and that of its mask. `None`: `tc` has not sent it.
#[derive(Clone, Copy, Default)]
struct Attribute {
    value: Option<u32>,
    mask: Option<u32>,
}

impl Attribute {
    fn set(&mut self, value: u32, mask: Option<u32>) {
        self.value = Some(value);
        self.mask = mask.or(self.mask);
    }

    /// Returns the masked value and the mask. Without a mask, all bits of `full` count (`fl_set_key_val`).
    fn bits(&self, full: u32) -> (u32, u32) {
        let mask = self.value.map_or(0, |_| self.mask.unwrap_or(full));
        (self.value.unwrap_or(0) & mask, mask)
    }
}

/// The attributes that `tc` sends. Of a pair, the first is that of the source.
#[derive(Default)]
struct Sent {
    protocol: Option<u8>,
    tos: Attribute,
    ttl: Attribute,
    /// The words with an address, each with a value and a mask: one of IPv4, four of IPv6.
    addresses: [Option<Vec<(usize, u32, u32)>>; 2],
    /// By the protocol that was the last one before the ports.
    ports: [[Attribute; 2]; 3],
    /// The first port and the last one.
    ranges: [Option<(u32, u32)>; 2],
    flags: Attribute,
}

/// Returns a refusal by `tc` of the value of a word.
fn illegal(word: &str, text: &str, accepted: &str) -> String {
    by_tc(&format!("{word} {text:?}"), accepted, &format!("Illegal {word:?}"))
}

/// Reads a number of at most `most` in a base.
fn within(base: u32, text: &str, most: u32) -> Option<u32> {
    numbers::whole_in(base, text)
        .and_then(|number| u32::try_from(number).ok())
        .filter(|number| *number <= most)
}

/// Returns whether a number of these digits differs as a decimal and as a hexadecimal number.
fn is_ambiguous(text: &str) -> bool {
    text.len() > 1 && text.bytes().all(|digit| digit.is_ascii_digit()) && !text.starts_with('0')
}

impl Sent {
    /// Reads the value of `word`. Returns false if it is no word of a field.
    fn read(
        &mut self,
        word: &str,
        line: &mut Line<'_>,
        protocol: u16,
        notes: &mut Vec<String>,
    ) -> Read<bool> {
        if !matches!(
            word,
            "ip_proto" | "src_ip" | "dst_ip" | "ip_tos" | "ip_ttl" | "src_port" | "dst_port" | "tcp_flags"
        ) {
            return Ok(false);
        }
        let text = line.value(word)?;
        let side = usize::from(word.starts_with("dst"));
        match word {
            "ip_proto" => self.read_protocol(text, protocol, notes)?,
            "src_ip" | "dst_ip" => {
                let accepted = "protocol ip or ipv6 in front of flower";
                let found = format!("{word} {text:?}");
                if !matches!(protocol, IP | IPV6) {
                    return Err(illegal(word, text, accepted));
                }
                if matches!(text, "any" | "default" | "all") {
                    let said = "Numerical result out of range";
                    return Err(by_linux(&found, "an address, or flower without it", said));
                }
                let (read, family, accepted) = match protocol {
                    IPV6 => {
                        let part =
                            |len: u32, at: u32| u32::MAX.checked_shl((32 * (at + 1)).saturating_sub(len));
                        let words = |(address, len): ([u32; 4], u32)| {
                            let masks = (0..4).map(move |at| part(len, at).unwrap_or(0));
                            let places = 2 + 4 * side..;
                            places
                                .zip(address)
                                .zip(masks)
                                .map(|((at, word), mask)| (at, word, mask))
                                .collect()
                        };
                        (prefix6(text).map(words), "inet6", ADDRESS_OF_IPV6)
                    }
                    _ => {
                        let word = |(value, mask)| vec![(SOURCE + side, value, mask)];
                        (prefix(text, notes).map(word), "inet", ADDRESS)
                    }
                };
                let said = format!("{family} prefix is expected rather than {text:?}");
                self.addresses[side] = Some(read.ok_or_else(|| by_tc(&found, accepted, &said))?);
            }
            "ip_tos" | "ip_ttl" => {
                // `flower_parse_ip_tos_ttl`: decimal if it can be, otherwise hexadecimal. The mask is hexadecimal.
                let (value, mask) = split(text);
                let value_read = within(10, value, 0xff).or_else(|| within(16, value, 0xff));
                let mask = mask.map_or(Some(0xff), |mask| within(16, mask, 0xff));
                let accepted = "a byte, as 0x28, with a hexadecimal mask, as 0x28/0xfc";
                let (value_read, mask) = value_read.zip(mask).ok_or_else(|| illegal(word, text, accepted))?;
                if word == "ip_tos" && is_ambiguous(value) {
                    notes.push(format!(
                        "\"ip_tos {value}\" is decimal in tc, {value_read:#x}; ip_tos 0x{value} is hexadecimal"
                    ));
                }
                let attribute = if word == "ip_tos" { &mut self.tos } else { &mut self.ttl };
                attribute.set(value_read, Some(mask));
            }
            "tcp_flags" => {
                let (value, mask) = split(text);
                let mask = mask.map_or(Some(0xfff), |mask| within(16, mask, 0xfff));
                let read = within(16, value, 0xfff).zip(mask);
                let accepted = "hexadecimal flags, as 0x2/0x12";
                let (value, mask) = read.ok_or_else(|| illegal(word, text, accepted))?;
                self.flags.set(value, Some(mask));
            }
            _ => self.read_ports(word, text, side)?,
        }
        Ok(true)
    }

    /// Reads a protocol by the beginning of its name, or as a hexadecimal number (`flower_parse_ip_proto`).
    fn read_protocol(&mut self, text: &str, protocol: u16, notes: &mut Vec<String>) -> Read<()> {
        let refused = |accepted| illegal("ip_proto", text, accepted);
        if !matches!(protocol, IP | IPV6) {
            return Err(refused("protocol ip or ipv6 in front of flower"));
        }
        let names = [("tcp", TCP), ("udp", 17), ("sctp", 132), ("icmp", 1), ("icmpv6", 58)];
        // `tc` takes each ICMP with its own protocol alone, and a beginning of both names is the first.
        let is_here = |number: u8| match number {
            1 => protocol == IP,
            58 => protocol == IPV6 && text.len() > 4,
            _ => true,
        };
        let begins = |(name, number): &&(&str, u8)| name.starts_with(text) && is_here(*number);
        let named = names.iter().find(begins).map(|(_, number)| *number);
        let number = named.or_else(|| within(16, text, 0xff).map(|number| number as u8));
        let number = number.ok_or_else(|| refused("tcp, udp, icmp, sctp, or a hexadecimal number"))?;
        if is_ambiguous(text) {
            notes.push(format!(
                "\"ip_proto {text}\" is hexadecimal in tc, protocol {number}; accepted: tcp, udp, icmp or 0x{:x}",
                numbers::whole_in(10, text).unwrap_or(0)
            ));
        }
        self.protocol = Some(number);
        Ok(())
    }

    /// Reads a port, a port with a mask, or a range (`flower_parse_port`). They are those of the protocol before them.
    fn read_ports(&mut self, word: &str, text: &str, side: usize) -> Read<()> {
        let kind = WITH_PORTS.iter().position(|known| Some(*known) == self.protocol);
        let before = "ip_proto tcp or udp in front of the port";
        let kind = kind.ok_or_else(|| illegal(word, text, before))?;
        let port = |text: &str| within(10, text, 0xffff).filter(|port| *port > 0);
        let of_c = |text: &str| {
            let number = numbers::whole(text).and_then(|number| u32::try_from(number).ok());
            number.filter(|number| *number <= 0xffff)
        };
        let accepted = "1 to 65535, a range as 1000-2000, or a mask as 80/0xfff0";
        let refused = || illegal(word, text, accepted);
        if let (value, Some(mask)) = split(text) {
            let (value, mask) = of_c(value).zip(of_c(mask)).ok_or_else(refused)?;
            self.ports[kind][side].set(value, Some(mask));
        } else if let Some((first, last)) = text.split_once('-') {
            let (first, last) = port(first).zip(port(last)).ok_or_else(refused)?;
            if last <= first {
                let said = "max value should be greater than min value";
                return Err(by_tc(&format!("{word} {text:?}"), "a range as 1000-2000", said));
            }
            self.ranges[side] = Some((first, last));
        } else {
            self.ports[kind][side].set(port(text).ok_or_else(refused)?, None);
        }
        Ok(())
    }

    /// Returns what Linux makes of the attributes (`fl_set_key`).
    fn key(&self, ethernet: u16, notes: &mut Vec<String>) -> Key {
        let mut key = Key::default();
        let protocol = self.protocol.unwrap_or(0);
        if ethernet != ALL {
            key.put(PROTOCOLS, u32::from(protocol) << 8, self.protocol.map_or(0, |_| 0xff << 8));
            let places = if ethernet == IPV6 { [(0, 20), (1, 0)] } else { [(0, 16), (2, 24)] };
            for (attribute, (word, shift)) in [&self.tos, &self.ttl].into_iter().zip(places) {
                let (value, mask) = attribute.bits(0xff);
                key.put(word, value << shift, mask << shift);
            }
        } else if self.tos.value.or(self.ttl.value).is_some() {
            notes.push(
                "ip_tos and ip_ttl of flower compare nothing with protocol all; accepted: protocol ip".into(),
            );
        }
        let words: Vec<_> = self.addresses.iter().flatten().flatten().collect();
        words.iter().for_each(|(word, value, mask)| key.put(*word, value & mask, *mask));
        key.has_addresses = !words.is_empty();
        if key.has_addresses && words.iter().all(|(.., mask)| *mask == 0) {
            key.is_never = true;
            notes.push(
                "src_ip or dst_ip of flower with a prefix of length 0 matches no packet on Linux; \
                 accepted: flower without it"
                    .into(),
            );
        }
        if let Some(kind) = WITH_PORTS.iter().position(|known| *known == protocol) {
            for (side, shift) in [16, 0].into_iter().enumerate() {
                let (value, mask) = self.ports[kind][side].bits(0xffff);
                key.put(PORTS, value << shift, mask << shift);
            }
            key.ranges = self.ranges;
        }
        match self.flags.bits(0xfff) {
            (value, mask) if protocol == TCP => key.put(FLAGS, value, mask),
            (_, 0) => {}
            _ => notes.push("tcp_flags of flower compares nothing without ip_proto tcp".into()),
        }
        key
    }
}

/// Splits a value from the mask behind it.
fn split(text: &str) -> (&str, Option<&str>) {
    text.split_once('/').map_or((text, None), |(value, mask)| (value, Some(mask)))
}

/// What a filter compares.
#[derive(Default)]
struct Key {
    bits: Bits,
    /// Whether the addresses are those of IPv4, which Linux compares, too.
    has_addresses: bool,
    ranges: [Option<(u32, u32)>; 2],
    /// Linux reads no addresses if it compares none of their bits, and then they are not those of IPv4.
    is_never: bool,
}

impl Key {
    fn put(&mut self, word: usize, value: u32, mask: u32) {
        self.is_never |= !self.bits.add(word, value, mask);
    }

    /// Returns the mask, by which Linux sorts filters.
    fn mask(&self) -> Vec<u32> {
        let mut mask = self.bits.mask.to_vec();
        mask.push(u32::from(self.has_addresses));
        mask.extend(self.ranges.map(|range| range.map_or(0, |_| u32::MAX)));
        mask
    }

    /// Returns mask and value, of which Linux takes each once.
    fn identity(&self) -> Vec<u32> {
        let mut identity = self.mask();
        identity.extend(self.bits.value);
        identity.extend(self.ranges.map(|range| range.map_or(0, |(first, last)| first << 16 | last)));
        identity
    }

    /// Returns alternatives, each a mask and a value.
    fn any_of(&self) -> Vec<(super::Words, super::Words)> {
        let mut all = if self.is_never { Vec::new() } else { vec![self.bits] };
        for (range, shift) in self.ranges.iter().zip([16, 0]) {
            let Some((first, last)) = *range else { continue };
            let parts = covering(first, last);
            let with = |bits: Bits| {
                parts.iter().filter_map(move |(value, mask)| {
                    let mut bits = bits;
                    bits.add(PORTS, value << shift, mask << shift).then_some(bits)
                })
            };
            all = all.into_iter().flat_map(with).collect();
        }
        all.into_iter().map(|bits| (bits.mask, bits.value)).collect()
    }
}

/// Returns the fewest values and masks that cover a range of ports.
fn covering(first: u32, last: u32) -> Vec<(u32, u32)> {
    let (mut all, mut from) = (Vec::new(), first);
    while from <= last {
        let fitting = |bits: &u32| from % (1 << bits) == 0 && from + (1 << bits) - 1 <= last;
        let bits = (0..=16).rev().find(fitting).unwrap_or(0);
        all.push((from, 0xffff & !((1 << bits) - 1)));
        from += 1 << bits;
    }
    all
}

pub(super) fn read(line: &mut Line<'_>, protocol: u16, notes: &mut Vec<String>) -> Read<Filter> {
    const ACCEPTED: &str = "ip_proto, src_ip, dst_ip, src_port, dst_port, ip_tos, ip_ttl, tcp_flags, classid";
    let (mut sent, mut target) = (Sent::default(), None);
    while let Some(word) = line.next() {
        if word == "skip_hw" || sent.read(word, line, protocol, notes)? {
            continue;
        }
        match class(word, line)? {
            None => return Err(refuse("flower", word, ACCEPTED)),
            found => target = found,
        }
    }
    if target.is_none() {
        notes.push(
            "\"flower\" without flowid ends the search without a class on Linux; accepted: flowid and a class".into(),
        );
    }
    let key = sent.key(protocol, notes);
    let rule = Rule { any_of: key.any_of(), target: target.unwrap_or(Target::Class(Id::of(0, 0))) };
    Ok(Filter { identity: key.identity(), mask: key.mask(), ..Filter::of(rule) })
}
