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
#[cfg(feature = "complete")]
use goodqueue_units::processor::prefetch;

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

    /// Returns whether all packets share one queue.
    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Returns whether hosts count for anything.
    #[cfg(feature = "complete")]
    pub(super) fn has_hosts(self) -> bool {
        self.0 & (Self::SRC | Self::DST) != 0
    }

    /// Returns the hash that distinguishes flows. `hosts` returns the hashes of the hosts.
    #[inline]
    pub(super) fn tag(self, hashes: Hashes, hosts: impl FnOnce() -> (u32, u32)) -> u32 {
        if self.has(Self::FLOWS) {
            return hashes.flow;
        }
        // Linux mixes the hosts into the flow's own hash, which it has not computed here. A number that a filter has
        // chosen it has (`cake_hash`).
        let (src, dst) = hosts();
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
    /// Of its source and its destination. `None`: the owner knows them, and few packets need them.
    pub(super) hosts: Option<(u32, u32)>,
    /// Whether a filter has chosen the number of the flow.
    pub(super) is_flow_chosen: bool,
}

impl Hashes {
    pub(super) const fn new(flow: u32, hosts: Option<(u32, u32)>) -> Self {
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
            hosts: host.map_or(self.hosts, |host| Some((host, host))),
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
    fn at(_place: u16, _position: u16) -> Self {
        Self::default()
    }
}

/// The sets of sources come first, then those of destinations.
const SETS: usize = QUEUES / WAYS;

/// The hosts of a tin, in sets of [`WAYS`] that share a cache line. A host is known by its number: the position of its
/// set, and its place in the set. So a packet does not look its set up.
#[derive(Clone, Debug)]
struct Hosts(Sparse<[Host; WAYS]>);

impl Hosts {
    /// Returns the number of the bulk flows of a host.
    #[inline]
    fn bulk(&self, number: u16) -> u32 {
        self.0.at(number / WAYS as u16).map_or(0, |set| set[usize::from(number) % WAYS].bulk)
    }

    /// Returns a host; `None`, if it is not counted.
    fn get_mut(&mut self, number: u16) -> Option<&mut Host> {
        (number > 0).then(|| &mut self.0[number / WAYS as u16][usize::from(number) % WAYS])
    }

    /// Returns the number of a host: that of the entry with its tag, otherwise of one without bulk flows, otherwise of
    /// the entry that the hash points at. `first` is the first set.
    fn find(&mut self, first: usize, hash: u32) -> u16 {
        let place = hash as usize % QUEUES;
        let at = self.0.position((first + place / WAYS) as u16);
        let set = &mut self.0[at];
        let mut ways = (0..WAYS).map(|step| (place + step) % WAYS);
        let known = ways.clone().find(|way| set[*way].tag == hash);
        let way = known.or_else(|| ways.find(|way| set[*way].bulk == 0)).unwrap_or(place % WAYS);
        set[way].tag = hash;
        at * WAYS as u16 + way as u16
    }
}

/// The hosts of a tin, and how its flows find their queues.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    hosts: Hosts,
}

/// Returns the places of a set once round, starting where a hash points.
fn set_of(hash: u32) -> impl Iterator<Item = u16> + Clone {
    let place = hash as usize % QUEUES;
    let (set, way) = (place - place % WAYS, place % WAYS);
    (0..WAYS).map(move |step| (set + (way + step) % WAYS) as u16)
}

impl Buckets {
    pub(super) fn new() -> Self {
        Self { hosts: Hosts(Sparse::new()) }
    }

    /// Makes the table of hosts, for the first packet.
    pub(super) fn open(&mut self, isolation: Isolation) {
        if isolation.counts_src() || isolation.counts_dst() {
            self.hosts.0.open();
        }
    }

    /// Searches the set of a packet whose queue is not where its `tag` points, and assigns a queue if none has the tag.
    /// Returns the queue's position, and whether the flow has to share it.
    pub(super) fn search(
        &mut self,
        isolation: Isolation,
        flows: &mut Sparse<Flow>,
        tag: u32,
        hosts: (u32, u32),
    ) -> (u16, bool) {
        let places = set_of(tag);
        if let Some(place) = places.clone().find(|place| flows[flows.find(*place)].tag == tag) {
            let position = flows.position(place);
            if flows[position].set == Set::None {
                self.settle(isolation, &mut flows[position], hosts);
            }
            return (position, false);
        }
        let unused = places.clone().find(|place| flows[flows.find(*place)].set == Set::None);
        let position = flows.position(unused.unwrap_or((tag as usize % QUEUES) as u16));
        let flow = &mut flows[position];
        flow.tag = tag;
        // From now on the queue's bulk flow belongs to the new flow's hosts.
        if flow.set == Set::Bulk {
            self.count_down(flow);
        }
        self.settle(isolation, flow, hosts);
        if flow.set == Set::Bulk {
            self.count_up(flow);
        }
        (position, unused.is_none())
    }

    /// Notes the hosts of a flow.
    fn settle(&mut self, isolation: Isolation, flow: &mut Flow, (src, dst): (u32, u32)) {
        if isolation.counts_src() {
            flow.src = self.hosts.find(0, src);
        }
        if isolation.counts_dst() {
            flow.dst = self.hosts.find(SETS, dst);
        }
    }

    /// Counts a flow that became bulk.
    pub(super) fn count_up(&mut self, flow: &Flow) {
        for number in [flow.src, flow.dst] {
            if let Some(host) = self.hosts.get_mut(number) {
                host.bulk = (host.bulk + 1).min(QUEUES as u32);
            }
        }
    }

    /// Uncounts a flow that is no longer bulk.
    pub(super) fn count_down(&mut self, flow: &Flow) {
        for number in [flow.src, flow.dst] {
            if let Some(host) = self.hosts.get_mut(number) {
                host.bulk = host.bulk.saturating_sub(1);
            }
        }
    }

    /// Returns the number of bulk flows of the busier one of a flow's two hosts, at least 1.
    #[inline]
    pub(super) fn load(&self, flow: &Flow) -> u32 {
        self.hosts.bulk(flow.src).max(self.hosts.bulk(flow.dst)).max(1)
    }

    /// Prefetches the first sets. A home has few addresses, and so most of its flows have their hosts there.
    #[cfg(feature = "complete")]
    pub(super) fn prefetch_first(&self) {
        [1, 2].into_iter().filter_map(|set| self.hosts.0.at(set)).for_each(prefetch);
    }

    /// Prefetches the hosts of a flow.
    #[cfg(feature = "complete")]
    pub(super) fn prefetch(&self, flow: &Flow) {
        for number in [flow.src, flow.dst] {
            self.hosts.0.at(number / WAYS as u16).into_iter().for_each(prefetch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tin::Tin;
    use super::*;

    const TRIPLE: Isolation = Isolation(7);
    const HOSTS: (u32, u32) = (1, 2);

    /// Returns the number of the queue of a packet with this hash.
    fn find(tin: &mut Tin, flow: u32) -> (u16, &mut Flow) {
        let position = tin.classify(TRIPLE, flow, || HOSTS);
        let flow = &mut tin.flows[position];
        (flow.place, flow)
    }

    /// Returns hosts of which the first set has tags from 1000 on, and bulk flows except where `free`.
    fn hosts(free: Option<usize>) -> Hosts {
        let mut hosts = Hosts(Sparse::new());
        hosts.0.open();
        let first = hosts.0.position(0);
        for (way, host) in hosts.0[first].iter_mut().enumerate() {
            *host = Host { tag: 1000 + way as u32, bulk: u32::from(Some(way) != free) };
        }
        hosts
    }

    #[test]
    fn a_ninth_flow_of_a_set_shares_and_takes_the_tag() {
        let mut tin = Tin::new();
        // All of these hashes point at queue 13, in the set from 8 to 15.
        let flow = |n: u32| 13 + n * QUEUES as u32;
        for (n, expected) in [13, 14, 15, 8, 9, 10, 11, 12, 13].into_iter().enumerate() {
            let (place, found) = find(&mut tin, flow(n as u32));
            assert_eq!(place, expected);
            found.set = Set::Sparse;
        }
        assert_eq!(tin.tally.collisions, 1);
        // The first flow's tag is gone, the second flow's is not.
        assert_eq!(find(&mut tin, flow(1)).0, 14);
        assert_eq!(find(&mut tin, flow(0)).0, 13);
        assert_eq!(tin.tally.collisions, 2);
    }

    #[test]
    fn a_flow_that_returns_finds_its_queue() {
        let mut tin = Tin::new();
        let (place, flow) = find(&mut tin, 13);
        assert_eq!(place, 13);
        flow.set = Set::Sparse;
        assert_eq!(find(&mut tin, 13 + 1024).0, 14);
        let first = tin.flows.position(13);
        tin.flows[first].set = Set::None; // the flow left, and its tag stays
        assert_eq!(find(&mut tin, 13 + 1024).0, 14);
        assert_eq!(find(&mut tin, 13).0, 13);
    }

    /// Three bulk flows go from one source to three destinations. Under `dual-srchost` each must have a third of the
    /// quantum, under `dual-dsthost` all of it.
    #[test]
    fn the_busier_host_counts() {
        for (isolation, load) in [(5, 3), (6, 1), (7, 3), (4, 1)] {
            let mut tin = Tin::new();
            let mut last = 0;
            for n in 0..3 {
                last = tin.classify(Isolation(isolation), 100 * n, || (77, 100 * n));
                tin.flows[last].set = Set::Bulk;
                tin.buckets.count_up(&tin.flows[last]);
            }
            assert_eq!(tin.buckets.load(&tin.flows[last]), load, "isolation {isolation}");
        }
    }

    /// A filter's minor number 5 is queue 4, and its major number 3 host 2. Numbers up to 1024 count. In a mode without
    /// flows Linux mixes the hosts into the chosen number. Source and destination have the same chosen number, so that
    /// `hosts` does not tell chosen hosts apart (`cake_hash`).
    #[test]
    #[cfg(feature = "complete")]
    fn a_filter_chooses_the_flow_and_the_hosts() {
        let chosen = |classid| Hashes::new(0b100, None).chosen(crate::tree::Id(classid));
        let of = |classid| (chosen(classid).flow, chosen(classid).hosts);
        let own = (0b100, None);
        assert_eq!(
            [0x0003_0005, 5, 0x0003_0000].map(of),
            [(4, Some((2, 2))), (4, None), (own.0, Some((2, 2)))]
        );
        assert_eq!([0x0400_0400, 0x0401_0401, 0].map(of), [(1023, Some((1023, 1023))), own, own]);
        let hosts = |classid| chosen(classid).hosts.unwrap_or((0b001, 0b011));
        let tag = |bits| Isolation(bits).tag(chosen(0x0003_0005), || hosts(0x0003_0005));
        assert_eq!([1, 2, 3, 4, 5, 6, 7].map(tag), [4 ^ 2, 4 ^ 2, 4, 4, 4, 4, 4]);
        let of_host = |bits| Isolation(bits).tag(chosen(0x0003_0000), || hosts(0x0003_0000));
        assert_eq!([1, 2, 3, 7].map(of_host), [2, 2, 0, 0b100]);
    }

    #[test]
    fn a_mode_tells_apart_what_it_names() {
        let tag = |bits| Isolation(bits).tag(Hashes::new(0b100, None), || (0b001, 0b011));
        assert_eq!([1, 2, 3, 4, 5, 6, 7].map(tag), [0b001, 0b011, 0b010, 0b100, 0b100, 0b100, 0b100]);
    }

    /// A host whose own entry is taken must get an entry without bulk flows. With another host's entry the flows of
    /// both would be counted together.
    #[test]
    fn a_host_gets_an_entry_that_is_free() {
        let mut hosts = hosts(Some(2));
        let hash = (3 * QUEUES + 5) as u32;
        let number = hosts.find(0, hash);
        assert_eq!((usize::from(number) % WAYS, hosts.0[1][2].tag, hosts.0[1][5].tag), (2, hash, 1005));
        assert_eq!(hosts.get_mut(number).map(|host| host.tag), Some(hash));
        assert!(hosts.get_mut(0).is_none(), "no host");
    }

    /// If all eight hosts of a set have bulk flows, the new host must take the entry that its hash points at.
    #[test]
    fn a_host_whose_set_is_full_takes_the_entry_that_its_hash_points_at() {
        let mut hosts = hosts(None);
        let hash = (3 * QUEUES + 5) as u32;
        assert_eq!((usize::from(hosts.find(0, hash)) % WAYS, hosts.0[1][5].tag), (5, hash));
    }

    /// A host that is source and destination is counted as both apart.
    #[test]
    fn sources_and_destinations_are_apart() {
        let mut hosts = hosts(None);
        assert_ne!(hosts.find(0, 8), hosts.find(SETS, 8));
    }
}
