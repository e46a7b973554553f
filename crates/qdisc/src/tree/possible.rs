//! Which filters of a tree no packet can match, as far as it is known which packets come.

use super::chain::Rule;
use super::fields::{FLAGS, IP, IPV6, MARK, PORTS, PRIORITY, PROTOCOLS, WORDS, Words};
use crate::ip::IpHeader;
use crate::packet::priority_of_dscp;
use crate::param::Args;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Packets that come to a tree: what is known of their headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Possible {
    words: Words,
    /// The bits that may be anything.
    open: Words,
}

impl Possible {
    /// Returns packets with this header, codepoint (or with any, if it is `None`) and mark. The bits of `open_ports` of
    /// their ports may be anything. So may what differs from packet to packet: lengths, ECN, TCP's flags.
    #[must_use]
    pub fn of(header: &IpHeader, dscp: Option<u8>, mark: u32, open_ports: u32) -> Self {
        let (mut words, mut open) = ([0; WORDS], [0; WORDS]);
        words[..header.words.len()].copy_from_slice(&header.words);
        words[0] |= u32::from(dscp.unwrap_or(0)) << 18;
        open[0] = 0x0003_ffff | if dscp.is_none() { 0x00fc_0000 } else { 0 };
        (open[1], open[2]) = (0xffff_0000, 0x0000_ffff); // the identification, and the checksum
        words[PROTOCOLS] = u32::from(IP) << 16 | u32::from(header.protocol) << 8;
        (words[PORTS], words[MARK]) = (header.ports, mark);
        (open[5], open[PORTS]) = (open_ports, if header.ports == 0 { 0 } else { open_ports });
        if header.protocol == 6 {
            open[8] = 0xffff_0000; // the data offset, and the flags
        }
        if header.protocol == 1 {
            open[5] |= 0xffff; // ICMP's checksum
        }
        match dscp {
            Some(dscp) => words[PRIORITY] = priority_of_dscp(dscp).into(),
            None => open[PRIORITY] = u32::MAX,
        }
        open[FLAGS] = if header.protocol == 6 { u32::MAX } else { 0 };
        Self { words, open }
    }

    /// Returns packets of IPv4 and of IPv6 of which nothing is known but that they have no mark.
    #[must_use]
    pub fn unmarked() -> [Self; 2] {
        [IP, IPV6].map(|protocol| {
            let (mut words, mut open) = ([0; WORDS], [u32::MAX; WORDS]);
            words[PROTOCOLS] = u32::from(protocol) << 16;
            (open[PROTOCOLS], open[MARK]) = (0xffff, 0);
            Self { words, open }
        })
    }

    /// Returns whether one of these packets may have `value` in the bits of `mask`.
    fn may_fit(&self, (mask, value): &(Words, Words), words: impl IntoIterator<Item = usize>) -> bool {
        words.into_iter().all(|at| (self.words[at] ^ value[at]) & mask[at] & !self.open[at] == 0)
    }
}

/// How many pairs of a filter and of packets are compared at most. Nobody writes more filters by hand.
const MOST: usize = 20_000_000;

/// Returns a sentence for each filter of the tree in `args` that does not what its words seem to say, and for each that
/// none of `packets` can match.
#[must_use]
pub fn notes_on_filters(args: &Args, packets: &[Possible]) -> Vec<String> {
    let Some(plan) = args.plan() else { return Vec::new() };
    let packets: BTreeSet<_> = packets.iter().copied().collect();
    let filters = plan.filters();
    if filters.len().saturating_mul(packets.len()) > MOST {
        return plan.notes();
    }
    let may_match = |rule: &Rule, words: &[usize]| {
        let fits = |bits| packets.iter().any(|packet| packet.may_fit(bits, words.iter().copied()));
        rule.any_of.iter().any(fits)
    };
    let all: Vec<usize> = (0..WORDS).collect();
    let (mut notes, mut of_ipv6) = (plan.notes(), 0);
    for filter in filters {
        let rule = &filter.rule;
        if filter.has_note() || rule.any_of.is_empty() || may_match(rule, &all) {
            continue;
        }
        let protocol = rule.any_of[0].1[PROTOCOLS] >> 16;
        if protocol == u32::from(IPV6) && !may_match(rule, &[PROTOCOLS]) {
            of_ipv6 += 1;
            continue;
        }
        notes.push(format!(
            "no packet of the scenario matches the filter \"{}\"{}",
            filter.words(),
            because(rule, &may_match)
        ));
    }
    if of_ipv6 > 0 {
        let filters = if of_ipv6 == 1 { "the filter".to_string() } else { format!("{of_ipv6} filters") };
        notes.push(format!(
            "no packet of the scenario matches {filters} of protocol ipv6, as all packets are of IPv4"
        ));
    }
    notes
}

/// Returns what a scenario says about the first thing that no packet has.
fn because(rule: &Rule, may_match: &dyn Fn(&Rule, &[usize]) -> bool) -> &'static str {
    const SAID: [(&[usize], &str); 4] = [
        (&[MARK], "; mark of a [[traffic]] says its mark"),
        (&[3, 4], "; host and server of a [[traffic]] may be addresses"),
        (&[5, PORTS], "; port of a [[traffic]] says its server's port"),
        (&[0], "; dscp of a [[traffic]] says its codepoint"),
    ];
    let is_v4 = rule.any_of[0].1[PROTOCOLS] >> 16 != u32::from(IPV6);
    SAID.iter().find(|(words, _)| is_v4 && !may_match(rule, words)).map_or("", |(_, said)| said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Addresses;
    use crate::registry::parse_tree;

    fn notes(filter: &str, packets: &[Possible]) -> Vec<String> {
        let tree = "tc qdisc add dev e root handle 1: htb default 1; tc class add dev e parent 1: classid 1:1 htb rate 1mbit";
        notes_on_filters(
            &parse_tree(&format!("{tree}; tc filter add dev e parent 1: {filter}")).unwrap(),
            packets,
        )
    }

    /// Returns a packet of TCP from 10.0.0.1 port 80 to 10.0.0.2 with DSCP 46 and mark 3.
    fn one() -> Possible {
        let own = Addresses {
            source: 0x0a00_0001,
            destination: 0x0a00_0002,
            protocol: 6,
            source_port: 80,
            destination_port: 40000,
        };
        Possible::of(&IpHeader::of(&own, 100), Some(46), 3, 0x0000_ffff)
    }

    #[test]
    fn a_filter_that_no_packet_matches_has_a_note() {
        for (filter, why) in [
            ("protocol ip u32 match ip sport 443 0xffff flowid 1:1", "port of a"),
            ("protocol ip u32 match ip src 10.0.0.3 flowid 1:1", "host and server"),
            ("protocol ip u32 match ip tos 0x20 0xfc flowid 1:1", "dscp of a"),
            ("protocol ip handle 4 fw flowid 1:1", "mark of a"),
            (
                "protocol ip flower ip_proto udp dst_port 53 flowid 1:1",
                "\"flower ip_proto udp dst_port 53 flowid 1:1\"",
            ),
            ("protocol ipv6 u32 match ip6 protocol 6 0xff flowid 1:1", "the filter of protocol ipv6"),
        ] {
            let notes = notes(filter, &[one()]);
            assert!(notes.len() == 1 && notes[0].contains(why), "{filter}: {notes:?}");
        }
    }

    #[test]
    fn a_filter_that_a_packet_may_match_has_none() {
        for filter in [
            "protocol ip u32 match ip sport 80 0xffff match ip dport 1 0xffff flowid 1:1",
            "protocol ip flower ip_proto tcp dst_port 1000-2000 tcp_flags 0x2 flowid 1:1",
            "protocol all u32 match ip tos 0xb8 0xfc match u16 60 0xffff at 2 flowid 1:1",
            "protocol ip handle 3 fw flowid 1:1",
            "protocol ip u32 match ip protocol 6 0xff match u8 0x10 0xff at 33 flowid 1:1",
            "matchall flowid 1:1",
        ] {
            assert_eq!(notes(filter, &[one()]), [""; 0], "{filter}");
        }
        assert_eq!(notes("protocol ip u32 match ip dst 1.2.3.4 flowid 1:1", &Possible::unmarked()), [""; 0]);
        assert_eq!(
            notes("protocol ipv6 flower src_ip 2001:db8::/32 flowid 1:1", &Possible::unmarked()),
            [""; 0]
        );
        assert_eq!(notes("protocol ip handle 3 fw flowid 1:1", &Possible::unmarked()).len(), 1);
    }
}
