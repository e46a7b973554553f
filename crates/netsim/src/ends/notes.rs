//! Which filters of a scenario's trees match none of its packets.

use crate::headers::FlowHeaders;
use crate::scenario::{Line, LinkSpec, Scenario};
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::traffic::kind::Make;
use goodqueue_qdisc::IpHeader;
use goodqueue_qdisc::tree::{Possible, TREE, notes_on_filters};
use std::collections::BTreeMap;

impl Scenario {
    /// Returns a sentence for each filter of a tree that does not what its words seem to say, and for each that no
    /// packet of the scenario can match. With `has_real_packets`, packets of real programs come, too.
    #[must_use]
    pub fn notes_on_filters(&self, has_real_packets: bool) -> Vec<String> {
        let links = Direction::ALL.map(|direction| (self.link(direction), direction)).into_iter();
        let hops = self.hops.list.iter().filter_map(|hop| Some((hop.link.as_ref()?, hop.direction)));
        // The tree of subscribers has their addresses.
        let trees = links.chain(hops).filter_map(|(link, direction)| match &link.line {
            Line::Registry(args) if args.spec.name == TREE.name && link.of_leaves.is_none() => {
                Some((args, direction))
            }
            _ => None,
        });
        let mut trees = trees.peekable();
        if trees.peek().is_none() {
            return Vec::new();
        }
        let headers = FlowHeaders::of(self);
        // Both directions may have the same tree, whose filters are then for the packets of either.
        let mut uses: BTreeMap<String, (_, Vec<Possible>)> = BTreeMap::new();
        for (args, direction) in trees {
            let (_, packets) = uses.entry(args.to_string()).or_insert((args, Vec::new()));
            packets.extend(self.packets(&headers, direction));
        }
        let mut notes = Vec::new();
        for (args, mut packets) in uses.into_values() {
            if has_real_packets {
                packets.extend(Possible::unmarked());
            }
            notes.extend(notes_on_filters(args, &packets));
        }
        notes
    }

    /// Returns the packets that may go in `direction`, as far as they are known.
    fn packets(&self, headers: &FlowHeaders, direction: Direction) -> Vec<Possible> {
        let clears = |link: &LinkSpec| matches!(&link.line, Line::Registry(args) if args.is_given("wash"));
        let is_cleared = Direction::ALL.iter().any(|direction| clears(self.link(*direction)))
            || self.hops.list.iter().any(|hop| hop.link.as_ref().is_some_and(clears));
        let mut packets = Vec::new();
        let flows = self.traffic.iter().flat_map(|traffic| (0..traffic.count).map(move |_| traffic));
        for (traffic, ends) in flows.zip(headers.0.iter()) {
            let kinds: &[bool] = match traffic.kind.make {
                Make::Bulk => &[true],
                Make::App(_) => &[true, false],
                _ => &[false],
            };
            let open = match ends.varied {
                None => 0,
                Some(side) if side == direction.sender() => 0xffff_0000,
                Some(_) => 0x0000_ffff,
            };
            let dscp = Some(traffic.dscp()).filter(|_| !is_cleared);
            packets.extend(kinds.iter().map(|is_tcp| {
                let header = IpHeader::of(&ends.addresses(*is_tcp, None, direction), 0);
                Possible::of(&header, dscp, traffic.mark, open)
            }));
        }
        packets
    }
}
