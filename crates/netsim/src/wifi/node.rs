//! An interface of a cell (the access point's or a station's): the discipline, the driver's queues, and the frames in
//! the hardware.

use super::aggregate::{Aggregate, Tried};
use super::contention::ContenderId;
use super::driver::Limits;
use super::lane::Lane;
use super::mode::Mode;
use super::rate_control::{Chain, RateControl, Stage};
use super::session::{Queued, Session};
use super::standard::{Category, Timing};
use super::watch::Mpdu;
use crate::foreign::Discipline;
use crate::ledger::Fates;
use crate::packet::Packet;
use goodqueue_hosts::direction::Direction;
use goodqueue_qdisc::sched::mac80211::Txqs;
use goodqueue_qdisc::{Drop, Enqueued, Owner, Qdisc};
use goodqueue_units::{Duration, Instant};

/// A station that expects fewer Mbit/s than this, times the number of stations, is too slow for CoDel's usual target
/// (Linux 6.1, `mac80211/sta_info.c`).
const SLOW_MBPS: f64 = 6.0;

/// An interface of a cell: its place among those that send in the same direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeId {
    pub(super) direction: Direction,
    pub(super) index: usize,
}

/// The queues above the driver.
pub(crate) enum Above {
    /// A discipline, and the packet that it gave although the queue of the packet's category was full. This packet
    /// blocks the others, as in Linux.
    Qdisc(Discipline, Option<Packet>),
    /// mac80211's own queues.
    Txqs(Txqs<Packet>),
}

/// An interface.
pub(crate) struct Node {
    pub(crate) above: Above,
    pub(crate) limits: Limits,
    /// One rate control per peer. The access point's peers are its stations; a station's peer is the access point.
    pub(crate) rates: Vec<RateControl>,
    /// The lane of each category; none if nothing was ever sent in the category.
    categories: [Option<Box<Lane>>; 4],
    by_airtime: bool,
    /// The bytes of the largest aggregate by mode, for the modes that were used. A cache: they are computed once per
    /// mode.
    most_bytes: Vec<(Mode, u32)>,
}

impl Node {
    pub(crate) fn new(above: Above, limits: Limits, rates: Vec<RateControl>, by_airtime: bool) -> Self {
        Self { above, limits, rates, categories: [const { None }; 4], by_airtime, most_bytes: Vec::new() }
    }

    pub(crate) fn lane(&mut self, category: Category) -> Option<&mut Lane> {
        self.categories[category as usize].as_deref_mut()
    }

    pub(crate) fn lanes(&self) -> impl Iterator<Item = &Lane> {
        self.categories.iter().flatten().map(|lane| &**lane)
    }

    /// Begins to use `category`, which contends as `contender`.
    pub(crate) fn open(&mut self, category: Category, contender: ContenderId) {
        let has_firmware = self.limits.has_firmware && matches!(self.above, Above::Txqs(_));
        let lane = Lane::new(contender, self.rates.len(), self.by_airtime, has_firmware);
        self.categories[category as usize] = Some(Box::new(lane));
    }

    /// Takes `packet`, which is for `peer`. Returns the discipline's answer. mac80211's own queues report no drops.
    pub(crate) fn enqueue(
        &mut self,
        now: Instant,
        peer: u32,
        category: Category,
        packet: Packet,
        fates: &mut Fates,
    ) -> Enqueued {
        match &mut self.above {
            Above::Qdisc(qdisc, _) => qdisc.enqueue(now, packet, fates),
            Above::Txqs(txqs) => {
                txqs.enqueue(now, place(peer, category), packet, fates);
                if let Some(lane) = &mut self.categories[category as usize] {
                    lane.wake(now, peer, true);
                }
                Enqueued::Success
            }
        }
    }

    /// Returns whether [`fill`](Self::fill) would change nothing, because there is no room for a frame.
    fn is_full(&self) -> bool {
        let Self { above, limits, .. } = self;
        let takes = |lane: &Lane| match above {
            Above::Qdisc(..) => lane.has_room(*limits),
            Above::Txqs(_) => limits.has_firmware, // room is its own question per station
        };
        self.lanes().all(|lane| lane.hardware.len() >= limits.ahead && !takes(lane))
    }

    /// Fills the driver's queues from the discipline, and the hardware from the driver's queues. `to` returns the
    /// peer and the category of a packet.
    pub(crate) fn fill(
        &mut self,
        now: Instant,
        timing: &Timing,
        fates: &mut Fates,
        to: impl Fn(&Packet) -> (u32, Category),
    ) {
        if self.is_full() {
            return;
        }
        self.fill_driver(now, fates, &to);
        for category in Category::ALL {
            while self.make_aggregate(now, category, timing, fates) {
                self.fill_driver(now, fates, &to);
            }
        }
    }

    /// Takes packets from the discipline as long as the driver has room.
    fn fill_driver(&mut self, now: Instant, fates: &mut Fates, to: impl Fn(&Packet) -> (u32, Category)) {
        self.fill_firmware(now, fates);
        let Above::Qdisc(qdisc, held) = &mut self.above else { return };
        loop {
            let packet = match held.take() {
                None if self.categories.iter().flatten().any(|lane| lane.has_room(self.limits)) => {
                    qdisc.dequeue(now, fates)
                }
                held => held,
            };
            let Some(packet) = packet else { return };
            let (peer, category) = to(&packet);
            let lane = &mut self.categories[category as usize];
            let lane = match lane {
                Some(lane) => lane,
                // The discipline has given the packet a DSCP in whose category nothing was ever sent.
                None => match &mut self.categories[Category::BestEffort as usize] {
                    Some(lane) => lane,
                    None => unreachable!("best effort is always there"),
                },
            };
            if !lane.has_room(self.limits) {
                *held = Some(packet);
                return;
            }
            lane.push(now, peer, packet, self.limits);
        }
    }

    /// Hands packets from mac80211's queues to the firmware, if the firmware is limited by time.
    fn fill_firmware(&mut self, now: Instant, fates: &mut Fates) {
        if !self.limits.has_firmware {
            return;
        }
        for category in Category::ALL {
            while let Some(peer) = self.next_for_firmware(now, category) {
                self.tell_speed(now, peer, category);
                let Self { categories, above: Above::Txqs(txqs), .. } = self else { return };
                let Some(lane) = &mut categories[category as usize] else { return };
                if let Some(packet) = txqs.dequeue(now, place(peer, category), fates) {
                    lane.hand_over(now, peer, packet);
                }
                lane.wake(now, peer, txqs.backlog_of(place(peer, category)).packets > 0);
            }
        }
    }

    /// Returns the peer whose packet is handed to the firmware next.
    fn next_for_firmware(&mut self, now: Instant, category: Category) -> Option<u32> {
        let lane = self.categories[category as usize].as_deref_mut()?;
        let above = &self.above;
        lane.next_for_firmware(now, |peer| above.waits(place(peer, category)))
    }

    /// Tells mac80211's queues whether `peer` is slow. CoDel is more patient with a slow station.
    fn tell_speed(&mut self, now: Instant, peer: u32, category: Category) {
        let least_mbps = SLOW_MBPS * self.rates.len() as f64;
        if let Above::Txqs(txqs) = &mut self.above {
            txqs.set_slow(place(peer, category), self.rates[peer as usize].expected_mbps(now) < least_mbps);
        }
    }

    /// Makes the hardware's next transmission in `category`. Returns whether there is one.
    fn make_aggregate(
        &mut self,
        now: Instant,
        category: Category,
        timing: &Timing,
        fates: &mut Fates,
    ) -> bool {
        while let Some(peer) = self.next_peer(now, category) {
            let rate = &mut self.rates[peer as usize];
            let chain = rate.plan(now);
            let most_bytes = self.most_bytes(&chain, category, timing);
            self.tell_speed(now, peer, category);
            let Self { categories, above, limits, .. } = self;
            let Some(lane) = &mut categories[category as usize] else { return false };
            while let Some(packet) = lane.take_old(now, peer, *limits) {
                fates.dropped(packet, Drop::Lifetime);
            }
            let made = lane.make_aggregate(now, (peer, chain), most_bytes, *limits, timing, || match above {
                Above::Txqs(txqs) if !limits.has_firmware => txqs.dequeue(now, place(peer, category), fates),
                _ => None,
            });
            lane.wake(now, peer, above.waits(place(peer, category)));
            if made {
                return true;
            }
        }
        false
    }

    /// Returns the peer whose turn it is in `category`, if the hardware has room.
    fn next_peer(&mut self, now: Instant, category: Category) -> Option<u32> {
        let lane = self.categories[category as usize].as_deref_mut()?;
        let above = match &self.above {
            Above::Txqs(txqs) => Some(|peer| txqs.backlog_of(place(peer, category)).packets > 0),
            Above::Qdisc(..) => None,
        };
        lane.next_peer(now, self.limits, above)
    }

    /// Returns the bytes of the largest aggregate that every stage of `chain` may send. Returns 0 if frames are sent
    /// singly.
    fn most_bytes(&mut self, chain: &Chain, category: Category, timing: &Timing) -> u32 {
        let is_ht = chain.stages().iter().all(|stage| matches!(stage.mode, Mode::Ht(_)));
        if !is_ht || chain.is_probe || category == Category::Voice || self.limits.most_subframes == 1 {
            return 0;
        }
        let longest = self.limits.longest;
        let of_stage = |stage: &Stage| {
            let known = self.most_bytes.iter().find(|(mode, _)| *mode == stage.mode).map(|(_, bytes)| *bytes);
            known.unwrap_or_else(|| {
                let bytes = stage.mode.bytes_in(longest, timing.extended).min(self.limits.most_bytes);
                self.most_bytes.push((stage.mode, bytes));
                bytes
            })
        };
        chain.stages().iter().map(of_stage).min().unwrap_or(0)
    }

    /// Returns the hardware's next transmission in `category`, if there is one.
    pub(crate) fn aggregate(&self, category: Category) -> Option<&Aggregate> {
        self.categories[category as usize].as_ref()?.hardware.front()
    }

    /// Returns the frames of the next transmission in `category`.
    pub(crate) fn mpdus(&self, category: Category) -> Vec<Mpdu> {
        self.categories[category as usize].as_ref().map_or_else(Vec::new, |lane| lane.mpdus())
    }

    /// Marks the frames of the next transmission in `category` as sent. `first` is called with each packet that was
    /// not sent before.
    pub(crate) fn start(&mut self, category: Category, first: impl FnMut(Queued)) {
        if let Some(lane) = &mut self.categories[category as usize] {
            lane.start(first);
        }
    }

    /// Ends a try of the next transmission in `category`, which took `airtime`. `arrives` returns whether an MPDU of
    /// so many bytes arrived.
    pub(crate) fn tried(
        &mut self,
        now: Instant,
        category: Category,
        timing: &Timing,
        airtime: Duration,
        arrives: impl FnMut(u32) -> bool,
    ) -> Tried {
        let Some(lane) = &mut self.categories[category as usize] else { return Tried::GivenUp };
        let (tried, done) = lane.tried(now, timing, self.limits, airtime, arrives);
        if let Some((peer, outcome)) = done {
            if let Some(outcome) = outcome {
                self.rates[peer as usize].report(now, &outcome);
            }
            lane.wake(now, peer, self.above.waits(place(peer, category)));
        }
        tried
    }

    /// Returns the number of packets that were never on the air.
    pub(crate) fn unsent(&self) -> u64 {
        let above = match &self.above {
            Above::Qdisc(qdisc, held) => u64::from(qdisc.backlog().packets) + u64::from(held.is_some()),
            Above::Txqs(txqs) => txqs.backlog().packets.into(),
        };
        above + self.lanes().flat_map(|lane| &lane.sessions).map(Session::unsent).sum::<u64>()
    }
}

impl Above {
    /// Returns whether packets wait in queue number `place`. Returns false if there are no queues per peer.
    fn waits(&self, place: usize) -> bool {
        match self {
            Self::Txqs(txqs) => txqs.backlog_of(place).packets > 0,
            Self::Qdisc(..) => false,
        }
    }
}

/// Returns the number of mac80211's queue for `peer` in `category`.
fn place(peer: u32, category: Category) -> usize {
    peer as usize * 4 + category as usize
}
