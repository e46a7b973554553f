//! `match ip6`: bytes at places of the header of IPv6, or of what stands there in another packet (`parse_ip6`).

use super::super::{ADDRESS_OF_IPV6, prefix_of_ipv6, words_of};
use super::{Line, Read, Selector, hexadecimal, illegal, number, refuse};
use alloc::format;

impl Selector {
    /// Reads what follows `match ip6`.
    pub(super) fn read_ipv6(&mut self, line: &mut Line<'_>) -> Read<()> {
        const ACCEPTED: &str = "src, dst, sport, dport, protocol, priority, flowlabel, icmp_type, icmp_code";
        self.has_ip6 = true;
        let name = line.value("ip6")?;
        let (bytes, offset) = match name {
            "src" => return self.read_address(line, 8),
            "dst" => return self.read_address(line, 24),
            "priority" => (1, 0),
            "flowlabel" => (4, 0),
            "protocol" => (1, 6),
            "sport" => (2, 40),
            "dport" => (2, 42),
            "icmp_type" => (1, 40),
            "icmp_code" => (1, 41),
            _ => return Err(refuse("u32 match ip6", name, ACCEPTED)),
        };
        let (value, mask) = (number(line.value(name)?)?, hexadecimal(line.value(name)?)?);
        if name == "priority" {
            // The traffic class begins in the middle of a byte (`parse_ip6_class`).
            if (value | mask) >> 8 != 0 {
                return Err(illegal(&format!("{value:#x} {mask:#x}"), "numbers of 1 byte"));
            }
            return self.add(0, false, 4, value << 20, mask << 20);
        }
        self.add(place(line, offset)?, false, bytes, value, mask)
    }

    fn read_address(&mut self, line: &mut Line<'_>, offset: u32) -> Read<()> {
        let text = line.value("ip6")?;
        let (value, mask) = match text {
            "any" | "default" | "all" => (0, 0),
            _ => prefix_of_ipv6(text).ok_or_else(|| illegal(&format!("{text:?}"), ADDRESS_OF_IPV6))?,
        };
        let offset = place(line, offset)?;
        let words = words_of(value).into_iter().zip(words_of(mask)).zip((offset..).step_by(4));
        words
            .filter(|((_, mask), _)| *mask != 0)
            .try_for_each(|((value, mask), at)| self.add(at, false, 4, value, mask))
    }
}

/// Reads `at` and an offset, which replaces `offset`.
fn place(line: &mut Line<'_>, offset: u32) -> Read<u32> {
    if line.next_if("at") { number(line.value("at")?) } else { Ok(offset) }
}
