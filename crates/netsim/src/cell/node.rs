//! An interface of a cell, the access point's or a station's: the discipline, the driver's queues, and what the
//! hardware has.

use super::aggregate::{Aggregate, Tried};
use super::lane::Lane;
use super::session::{Queued, Session};
use super::watch::Mpdu;
use crate::foreign::Discipline;
use crate::link::Fates;
use crate::packet::Packet;
use crate::path::wifi::contention::ContenderId;
use crate::path::wifi::driver::Limits;
use crate::path::wifi::mode::Mode;
use crate::path::wifi::rate_control::{Chain, RateControl, Stage};
use crate::path::wifi::standard::{Category, Timing};
use goodqueue_qdisc::sched::mac80211::Txqs;
use goodqueue_qdisc::{Packet as _, Qdisc};
use goodqueue_units::{Duration, Instant};

/// A station below so many Mbit/s for each station is too slow for CoDel's usual target (Linux 6.1,
/// `mac80211/sta_info.c`).
const SLOW_MBPS: f64 = 6.0;

/// What stands above the driver.
pub(crate) enum Above {
    /// A discipline, and the packet that it gave though its category's queue was full: it blocks the others, as in
    /// Linux.
    Qdisc(Discipline, Option<Packet>),
    /// mac80211's own queues.
    Txqs(Txqs<Packet>),
}

/// An interface.
pub(crate) struct Node {
    pub(crate) above: Above,
    pub(crate) limits: Limits,
    /// A peer each: of the access point its stations, of a station the access point.
    pub(crate) rates: Vec<RateControl>,
    /// What each category has; none where nothing was ever sent in it.
    categories: [Option<Box<Lane>>; 4],
    by_airtime: bool,
    /// Bytes of the largest aggregate by mode, as far as asked for.
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

    /// Begins to use `category`, as `contender`.
    pub(crate) fn open(&mut self, category: Category, contender: ContenderId) {
        let has_firmware = self.limits.has_firmware && matches!(self.above, Above::Txqs(_));
        let lane = Lane::new(contender, self.rates.len(), self.by_airtime, has_firmware);
        self.categories[category as usize] = Some(Box::new(lane));
    }

    /// Takes `packet`, which is for `peer`.
    pub(crate) fn enqueue(
        &mut self,
        now: Instant,
        peer: u32,
        category: Category,
        packet: Packet,
        fates: &mut Fates,
    ) {
        match &mut self.above {
            Above::Qdisc(qdisc, _) => {
                qdisc.enqueue(now, packet, fates);
            }
            Above::Txqs(txqs) => {
                txqs.enqueue(now, place(peer, category), packet, fates);
                if let Some(lane) = &mut self.categories[category as usize] {
                    lane.wake(now, peer, true);
                }
            }
        }
    }

    /// Fills the driver's queues from the discipline, and what the hardware has ahead from these. `peer_of` says whom a
    /// packet is for.
    pub(crate) fn fill(
        &mut self,
        now: Instant,
        timing: &Timing,
        fates: &mut Fates,
        peer_of: impl Fn(&Packet) -> u32,
    ) {
        self.fill_driver(now, timing, fates, &peer_of);
        for category in Category::ALL {
            while self.make_aggregate(now, category, timing, fates) {
                self.fill_driver(now, timing, fates, &peer_of);
            }
        }
    }

    /// Takes from the discipline what the driver has room for.
    fn fill_driver(
        &mut self,
        now: Instant,
        timing: &Timing,
        fates: &mut Fates,
        peer_of: impl Fn(&Packet) -> u32,
    ) {
        self.fill_firmware(now, fates);
        let Above::Qdisc(qdisc, held) = &mut self.above else { return };
        loop {
            let Some(packet) = held.take().or_else(|| {
                let has_room = self.categories.iter().flatten().any(|lane| lane.has_room(self.limits));
                has_room.then(|| qdisc.dequeue(now, fates)).flatten()
            }) else {
                return;
            };
            let lane = &mut self.categories[timing.category(packet.dscp()) as usize];
            let lane = match lane {
                Some(lane) => lane,
                // The discipline has given it a codepoint that nobody sent with.
                None => match &mut self.categories[Category::BestEffort as usize] {
                    Some(lane) => lane,
                    None => unreachable!("best effort is always there"),
                },
            };
            if !lane.has_room(self.limits) {
                *held = Some(packet);
                return;
            }
            lane.push(now, peer_of(&packet), packet, self.limits);
        }
    }

    /// Hands packets from mac80211's queues to the firmware, as far as that is limited by time.
    fn fill_firmware(&mut self, now: Instant, fates: &mut Fates) {
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

    /// The peer whose turn it is to have a packet handed to the firmware.
    fn next_for_firmware(&mut self, now: Instant, category: Category) -> Option<u32> {
        let lane = self.categories[category as usize].as_deref_mut()?;
        let above = &self.above;
        lane.next_for_firmware(now, |peer| above.waits(place(peer, category)))
    }

    /// Lets mac80211's queues know whether `peer` is slow: then CoDel is more patient with it.
    fn tell_speed(&mut self, now: Instant, peer: u32, category: Category) {
        let least_mbps = SLOW_MBPS * self.rates.len() as f64;
        if let Above::Txqs(txqs) = &mut self.above {
            txqs.set_slow(place(peer, category), self.rates[peer as usize].expected_mbps(now) < least_mbps);
        }
    }

    /// Makes what the hardware sends next in `category`; whether it did.
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

    /// The peer whose turn it is in `category`, if the hardware takes anything.
    fn next_peer(&mut self, now: Instant, category: Category) -> Option<u32> {
        let lane = self.categories[category as usize].as_deref_mut()?;
        let above = match &self.above {
            Above::Txqs(txqs) => Some(|peer| txqs.backlog_of(place(peer, category)).packets > 0),
            Above::Qdisc(..) => None,
        };
        lane.next_peer(now, self.limits, above)
    }

    /// Bytes of the largest aggregate that every stage of `chain` may send; 0 where frames are sent singly.
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

    /// What the hardware sends next in `category`, if anything.
    pub(crate) fn aggregate(&self, category: Category) -> Option<&Aggregate> {
        self.categories[category as usize].as_ref()?.hardware.front()
    }

    /// The frames of that.
    pub(crate) fn mpdus(&self, category: Category) -> Vec<Mpdu> {
        self.categories[category as usize].as_ref().map_or_else(Vec::new, |lane| lane.mpdus())
    }

    /// That goes on the air; `first` is told of each packet that does for the first time.
    pub(crate) fn start(&mut self, category: Category, first: impl FnMut(Queued)) {
        if let Some(lane) = &mut self.categories[category as usize] {
            lane.start(first);
        }
    }

    /// That was tried, which took `airtime`. `arrives` says whether an MPDU of so many bytes came.
    pub(crate) fn tried(
        &mut self,
        now: Instant,
        category: Category,
        timing: &Timing,
        airtime: Duration,
        arrives: impl FnMut(u32) -> bool,
    ) -> Tried {
        let Some(lane) = &mut self.categories[category as usize] else { return Tried::GivenUp };
        let (tried, done) = lane.tried(timing, self.limits, airtime, arrives);
        if let Some((peer, outcome)) = done {
            if let Some(outcome) = outcome {
                self.rates[peer as usize].report(now, &outcome);
            }
            lane.wake(now, peer, self.above.waits(place(peer, category)));
        }
        tried
    }

    /// Packets that were never on the air.
    pub(crate) fn unsent(&self) -> u64 {
        let above = match &self.above {
            Above::Qdisc(qdisc, held) => u64::from(qdisc.backlog().packets) + u64::from(held.is_some()),
            Above::Txqs(txqs) => txqs.backlog().packets.into(),
        };
        above + self.lanes().flat_map(|lane| &lane.sessions).map(Session::unsent).sum::<u64>()
    }
}

impl Above {
    /// Whether anything waits in the queue number `place`, where there is one for each peer.
    fn waits(&self, place: usize) -> bool {
        match self {
            Self::Txqs(txqs) => txqs.backlog_of(place).packets > 0,
            Self::Qdisc(..) => false,
        }
    }
}

/// The queue of mac80211's that holds what is for `peer` in `category`.
fn place(peer: u32, category: Category) -> usize {
    peer as usize * 4 + category as usize
}
