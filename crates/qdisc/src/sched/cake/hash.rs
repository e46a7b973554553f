//! The assignment of flows to queues: a set-associative hash, and a count of busy flows per host.
//!
//! Source: "Piece of CAKE", 2018, "Flow isolation". A hash picks a set of eight queues. The flow keeps the queue that
//! has its tag. Otherwise it takes an unused queue of the set. Only if all eight are in use does it share the queue
//! that its hash points at, and the tag becomes its own. So two flows seldom meet before hundreds are active. Hosts
//! are found in the same way.
//!
//! When all eight queues are in use, a flow whose tag was taken is assigned anew at its next packet. It may then
//! overtake its own packets that still wait in the old queue. Linux reorders packets in this way, and so does this
//! implementation.

use super::sparse::{Entry, Sparse};
use super::tin::{Flow, QUEUES, Set};

/// Number of queues in a set.
const WAYS: usize = 8;

/// The entities that share fairly, in Linux's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Isolation(pub(super) u8);

impl Isolation {
    const SRC: u8 = 1;
    const DST: u8 = 2;
    const FLOWS: u8 = 4;

    fn has(self, bits: u8) -> bool {
        self.0 & bits == bits
    }

    /// Returns whether hosts count for anything.
    #[cfg(feature = "complete")]
    pub(super) fn has_hosts(self) -> bool {
        self.0 & (Self::SRC | Self::DST) != 0
    }

    /// Returns the hash that distinguishes flows.
    #[inline]
    fn tag(self, hashes: Hashes) -> u32 {
        if self.has(Self::FLOWS) {
            return hashes.flow;
        }
        // Linux mixes the hosts into the flow's own hash, which it has not computed here. A number that a filter has
        // chosen it has (`cake_hash`).
        let (src, dst) = hashes.hosts;
        let flow = if hashes.is_flow_chosen { hashes.flow } else { 0 };
        flow ^ (if self.has(Self::SRC) { src } else { 0 }) ^ (if self.has(Self::DST) { dst } else { 0 })
    }

    fn counts_src(self) -> bool {
        self.has(Self::SRC | Self::FLOWS)
    }

    fn counts_dst(self) -> bool {
        self.has(Self::DST | Self::FLOWS)
    }
}

/// What a packet is known by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hashes {
    pub(super) flow: u32,
    /// Of its source and its destination.
    pub(super) hosts: (u32, u32),
    /// Whether a filter has chosen the number of the flow.
    pub(super) is_flow_chosen: bool,
}

impl Hashes {
    pub(super) const fn new(flow: u32, hosts: (u32, u32)) -> Self {
        Self { flow, hosts, is_flow_chosen: false }
    }

    /// Returns what is left after a filter has said `classid`: the minor number stands for the flow, and the major
    /// number for both hosts. Numbers beyond those of the queues count for nothing, as 0 does (`cake_classify`).
    #[cfg(feature = "complete")]
    pub(super) fn chosen(self, classid: crate::tree::Id) -> Self {
        let queue = |number: u16| u32::from(number).checked_sub(1).filter(|queue| *queue < QUEUES as u32);
        let (flow, host) = (queue(classid.minor()), queue(classid.major()));
        Self {
            flow: flow.unwrap_or(self.flow),
            hosts: host.map_or(self.hosts, |host| (host, host)),
            is_flow_chosen: flow.is_some(),
        }
    }
}

/// A host's tag, as source or as destination, and the number of its bulk flows.
#[derive(Clone, Copy, Debug, Default)]
struct Host {
    tag: u32,
    bulk: u32,
}

impl Entry for [Host; WAYS] {
    fn at(_place: u16) -> Self {
        Self::default()
    }
}

/// The hosts of a tin, in sets of [`WAYS`] that share a cache line. A host is known by its number: the position of its
/// set, and its place in the set. So a packet does not look its set up.
#[derive(Clone, Debug)]
struct Hosts(Sparse<[Host; WAYS]>);

impl Hosts {
    fn new() -> Self {
        Self(Sparse::new())
    }

    #[inline]
    fn get(&self, number: u16) -> Option<&Host> {
        let number = usize::from(number);
        Some(&self.0.at(number / WAYS)?[number % WAYS])
    }

    fn get_mut(&mut self, number: u16) -> Option<&mut Host> {
        let number = usize::from(number);
        Some(&mut self.0.at_mut(number / WAYS)?[number % WAYS])
    }

    /// Returns the number of a host: that of the entry with its tag, otherwise of one without bulk flows, otherwise of
    /// the entry that the hash points at.
    fn find(&mut self, hash: u32) -> u16 {
        let (place, mut number) = (hash as usize % QUEUES, 0);
        let at = self.0.position(place / WAYS);
        if let Some(set) = self.0.at_mut(at) {
            let mut ways = (0..WAYS).map(|step| (place + step) % WAYS);
            let known = ways.clone().find(|way| set[*way].tag == hash);
            let way = known.or_else(|| ways.find(|way| set[*way].bulk == 0)).unwrap_or(place % WAYS);
            set[way].tag = hash;
            number = (at * WAYS + way) as u16;
        }
        number
    }
}

/// The hosts of a tin, and how its flows find their queues.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    pub(super) isolation: Isolation,
    src: Hosts,
    dst: Hosts,
    /// Number of times that a flow had to share a queue.
    pub(super) collisions: u64,
}

/// Returns the places of a set once round, starting where a hash points.
fn set_of(hash: u32) -> impl Iterator<Item = usize> + Clone {
    let place = hash as usize % QUEUES;
    let (set, way) = (place - place % WAYS, place % WAYS);
    (0..WAYS).map(move |step| set + (way + step) % WAYS)
}

impl Buckets {
    pub(super) fn new(isolation: Isolation) -> Self {
        Self { isolation, src: Hosts::new(), dst: Hosts::new(), collisions: 0 }
    }

    /// Makes the tables of hosts, for the first packet.
    pub(super) fn open(&mut self) {
        let counted = [self.isolation.counts_src(), self.isolation.counts_dst()];
        for (hosts, counted) in [&mut self.src, &mut self.dst].into_iter().zip(counted) {
            if counted {
                hosts.0.open(QUEUES / WAYS);
            }
        }
    }

    /// Returns the queue for a packet.
    #[inline]
    pub(super) fn find(&mut self, flows: &mut Sparse<Flow>, hashes: Hashes) -> u16 {
        if self.isolation == Isolation(0) {
            return 0;
        }
        let tag = self.isolation.tag(hashes);
        let place = tag as usize % QUEUES;
        let known = &flows[place];
        if known.tag == tag && known.set != Set::None {
            return place as u16;
        }
        self.search(flows, tag, hashes.hosts) as u16
    }

    /// Searches the set, and assigns a queue if none has the tag.
    fn search(&mut self, flows: &mut Sparse<Flow>, tag: u32, hosts: (u32, u32)) -> usize {
        let places = set_of(tag);
        if let Some(place) = places.clone().find(|place| flows[*place].tag == tag) {
            if flows[place].set == Set::None {
                self.settle(&mut flows[place], hosts);
            }
            return place;
        }
        let unused = places.clone().find(|place| flows[*place].set == Set::None);
        let place = unused.unwrap_or_else(|| {
            self.collisions += 1;
            tag as usize % QUEUES
        });
        let flow = &mut flows[place];
        flow.tag = tag;
        // From now on the queue's bulk flow belongs to the new flow's hosts.
        if flow.set == Set::Bulk {
            self.count_down(flow);
        }
        self.settle(flow, hosts);
        if flow.set == Set::Bulk {
            self.count_up(flow);
        }
        place
    }

    /// Notes the hosts of a flow.
    fn settle(&mut self, flow: &mut Flow, (src, dst): (u32, u32)) {
        if self.isolation.counts_src() {
            flow.src = self.src.find(src);
        }
        if self.isolation.counts_dst() {
            flow.dst = self.dst.find(dst);
        }
    }

    /// Returns the entries of a flow's hosts, if the isolation counts hosts.
    fn hosts_of(&mut self, flow: &Flow) -> impl Iterator<Item = &mut Host> {
        let (src, dst) = (self.src.get_mut(flow.src), self.dst.get_mut(flow.dst));
        src.into_iter().chain(dst)
    }

    /// Counts a flow that became bulk.
    pub(super) fn count_up(&mut self, flow: &Flow) {
        for host in self.hosts_of(flow) {
            host.bulk = (host.bulk + 1).min(QUEUES as u32);
        }
    }

    /// Uncounts a flow that is no longer bulk.
    pub(super) fn count_down(&mut self, flow: &Flow) {
        for host in self.hosts_of(flow) {
            host.bulk = host.bulk.saturating_sub(1);
        }
    }

    /// Returns the number of bulk flows of the busier one of a flow's two hosts, at least 1.
    #[inline]
    pub(super) fn load(&self, flow: &Flow) -> u32 {
        let bulk = |hosts: &Hosts, place: u16| hosts.get(place).map_or(0, |host| host.bulk);
        bulk(&self.src, flow.src).max(bulk(&self.dst, flow.dst)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIPLE: Isolation = Isolation(7);

    fn opened(isolation: Isolation) -> Buckets {
        let mut buckets = Buckets::new(isolation);
        buckets.open();
        buckets
    }

    fn queues() -> Sparse<Flow> {
        let mut flows = Sparse::new();
        flows.open(QUEUES);
        flows
    }

    /// Returns hosts of which the first set has tags from 1000 on, and bulk flows except where `free`.
    fn hosts(free: Option<usize>) -> Hosts {
        let mut hosts = Hosts::new();
        hosts.0.open(QUEUES / WAYS);
        for (way, host) in hosts.0[0].iter_mut().enumerate() {
            *host = Host { tag: 1000 + way as u32, bulk: u32::from(Some(way) != free) };
        }
        hosts
    }

    #[test]
    fn a_ninth_flow_of_a_set_shares_and_takes_the_tag() {
        let (mut buckets, mut flows) = (opened(TRIPLE), queues());
        // All of these hashes point at queue 13, in the set from 8 to 15.
        let flow = |n: u32| 13 + n * QUEUES as u32;
        for (n, expected) in [13, 14, 15, 8, 9, 10, 11, 12, 13].into_iter().enumerate() {
            let place = buckets.find(&mut flows, Hashes::new(flow(n as u32), (1, 2)));
            assert_eq!(place, expected);
            flows[usize::from(place)].set = Set::Sparse;
        }
        assert_eq!(buckets.collisions, 1);
        // The first flow's tag is gone, the second flow's is not.
        assert_eq!(buckets.find(&mut flows, Hashes::new(flow(1), (1, 2))), 14);
        assert_eq!(buckets.find(&mut flows, Hashes::new(flow(0), (1, 2))), 13);
        assert_eq!(buckets.collisions, 2);
    }

    #[test]
    fn a_flow_that_returns_finds_its_queue() {
        let (mut buckets, mut flows) = (opened(TRIPLE), queues());
        assert_eq!(buckets.find(&mut flows, Hashes::new(13, (1, 2))), 13);
        flows[13].set = Set::Sparse;
        assert_eq!(buckets.find(&mut flows, Hashes::new(13 + 1024, (1, 2))), 14);
        flows[13].set = Set::None; // the flow left, and its tag stays
        assert_eq!(buckets.find(&mut flows, Hashes::new(13 + 1024, (1, 2))), 14);
        assert_eq!(buckets.find(&mut flows, Hashes::new(13, (1, 2))), 13);
    }

    /// Three bulk flows go from one source to three destinations. Under `dual-srchost` each must have a third of the
    /// quantum, under `dual-dsthost` all of it.
    #[test]
    fn the_busier_host_counts() {
        for (isolation, load) in [(5, 3), (6, 1), (7, 3), (4, 1)] {
            let (mut buckets, mut flows) = (opened(Isolation(isolation)), queues());
            let mut last = 0;
            for n in 0..3 {
                last = usize::from(buckets.find(&mut flows, Hashes::new(100 * n, (77, 100 * n))));
                flows[last].set = Set::Bulk;
                buckets.count_up(&flows[last]);
            }
            assert_eq!(buckets.load(&flows[last]), load, "isolation {isolation}");
        }
    }

    /// A filter's minor number 5 is queue 4, and its major number 3 host 2. Numbers up to 1024 count. In a mode without
    /// flows Linux mixes the hosts into the chosen number. Source and destination have the same chosen number, so that
    /// `hosts` does not tell chosen hosts apart (`cake_hash`).
    #[test]
    #[cfg(feature = "complete")]
    fn a_filter_chooses_the_flow_and_the_hosts() {
        let chosen = |classid| Hashes::new(0b100, (0b001, 0b011)).chosen(crate::tree::Id(classid));
        let of = |classid| (chosen(classid).flow, chosen(classid).hosts);
        let own = (0b100, (0b001, 0b011));
        assert_eq!([0x0003_0005, 5, 0x0003_0000].map(of), [(4, (2, 2)), (4, own.1), (own.0, (2, 2))]);
        assert_eq!([0x0400_0400, 0x0401_0401, 0].map(of), [(1023, (1023, 1023)), own, own]);
        let tag = |bits| Isolation(bits).tag(chosen(0x0003_0005));
        assert_eq!([1, 2, 3, 4, 5, 6, 7].map(tag), [4 ^ 2, 4 ^ 2, 4, 4, 4, 4, 4]);
        let of_host = |bits| Isolation(bits).tag(chosen(0x0003_0000));
        assert_eq!([1, 2, 3, 7].map(of_host), [2, 2, 0, 0b100]);
    }

    #[test]
    fn a_mode_tells_apart_what_it_names() {
        let tag = |bits| Isolation(bits).tag(Hashes::new(0b100, (0b001, 0b011)));
        assert_eq!([1, 2, 3, 4, 5, 6, 7].map(tag), [0b001, 0b011, 0b010, 0b100, 0b100, 0b100, 0b100]);
    }

    /// A host whose own entry is taken must get an entry without bulk flows. With another host's entry the flows of
    /// both would be counted together.
    #[test]
    fn a_host_gets_an_entry_that_is_free() {
        let mut hosts = hosts(Some(2));
        let hash = (3 * QUEUES + 5) as u32;
        let number = hosts.find(hash);
        assert_eq!((number as usize % WAYS, hosts.0[0][2].tag, hosts.0[0][5].tag), (2, hash, 1005));
        assert_eq!(hosts.get(number).map(|host| host.tag), Some(hash));
    }

    /// If all eight hosts of a set have bulk flows, the new host must take the entry that its hash points at.
    #[test]
    fn a_host_whose_set_is_full_takes_the_entry_that_its_hash_points_at() {
        let mut hosts = hosts(None);
        let hash = (3 * QUEUES + 5) as u32;
        assert_eq!((hosts.find(hash) as usize % WAYS, hosts.0[0][5].tag), (5, hash));
    }
}
