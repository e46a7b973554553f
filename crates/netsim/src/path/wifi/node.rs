//! An interface of a cell, the access point's or a station's: the discipline, the driver's queues, and what the hardware has.

use super::airtime::Turns;
use super::contention::ContenderId;
use super::driver::Limits;
use super::mode::Mode;
use super::rate_control::{Chain, Outcome, RateControl, Stage};
use super::session::{Queued, Session};
use super::standard::{Category, Timing};
use super::watch::Mpdu;
use crate::foreign::Discipline;
use crate::link::Fates;
use crate::packet::Packet;
use goodqueue_qdisc::sched::mac80211::Txqs;
use goodqueue_qdisc::{Packet as _, Qdisc};
use goodqueue_units::{Duration, Instant};
use std::collections::VecDeque;

/// What a subframe has before its MPDU.
const DELIMITER_BYTES: u32 = 4;
const BLOCK_ACK_REQ_BYTES: u32 = 24;
/// A station below so many Mbit/s for each station is too slow for CoDel's usual target (Linux 6.1, `mac80211/sta_info.c`).
const SLOW_MBPS: f64 = 6.0;

/// What stands above the driver.
pub(crate) enum Above {
    /// A discipline, and the packet that it gave though its category's queue was full: it blocks the others, as in Linux.
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

/// One category of an interface.
pub(crate) struct Lane {
    pub(crate) contender: ContenderId,
    /// A peer each.
    pub(crate) sessions: Vec<Session>,
    turns: Turns,
    /// In a driver with one queue, whose frame comes when.
    order: VecDeque<u32>,
    /// Frames that the driver holds.
    pending: u32,
    is_stopped: bool,
    pub(crate) hardware: VecDeque<Aggregate>,
}

/// Frames that are sent together, or one.
#[derive(Debug)]
pub(crate) struct Aggregate {
    pub(crate) peer: u32,
    /// Numbers in the session.
    pub(crate) frames: Vec<u32>,
    /// Bytes that are sent, delimiters and padding included.
    pub(crate) bytes: u32,
    pub(crate) chain: Chain,
    /// How often each stage was tried.
    pub(crate) tried: [u8; 4],
    /// What its tries so far took of the air.
    pub(crate) airtime: Duration,
}

/// What became of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tried {
    /// Something of it came, and its receiver said what.
    Answered,
    /// Nobody answered, and the hardware tries again.
    Again,
    /// Nobody answered, and the hardware gives it back.
    GivenUp,
}

impl Aggregate {
    /// Whether RTS and CTS go before it.
    pub(crate) fn has_rts(&self) -> bool {
        self.chain.stages()[self.stage().unwrap_or(0)].has_rts
    }

    /// Whether its answer is a BlockAck.
    pub(crate) fn is_aggregate(&self) -> bool {
        self.frames.len() != 1
    }

    /// Whether it asks what has come of frames before it (BlockAckReq).
    pub(crate) fn asks(&self) -> bool {
        self.frames.is_empty()
    }

    /// What asks what has come of `other`: in the mode of its answers, as often as need be.
    fn question(other: &Self) -> Self {
        let stage = other.chain.stages()[0];
        let asked = Stage { mode: stage.mode.control(), tries: u8::MAX, ..stage };
        let chain = Chain::new(&[asked], false);
        let (tried, airtime) = ([0; 4], Duration::ZERO);
        Self { peer: other.peer, frames: Vec::new(), bytes: BLOCK_ACK_REQ_BYTES, chain, tried, airtime }
    }

    /// The stage that is next.
    pub(crate) fn stage(&self) -> Option<usize> {
        let stages = self.chain.stages().iter().zip(self.tried);
        stages.into_iter().position(|(stage, tried)| tried < stage.tries)
    }

    /// The mode of the next try.
    pub(crate) fn mode(&self) -> Mode {
        self.chain.stages()[self.stage().unwrap_or(0)].mode
    }
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
        let peers = self.rates.len();
        self.categories[category as usize] = Some(Box::new(Lane {
            contender,
            sessions: (0..peers).map(|_| Session::default()).collect(),
            turns: Turns::new(peers, self.by_airtime),
            order: VecDeque::new(),
            pending: 0,
            is_stopped: false,
            hardware: VecDeque::new(),
        }));
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
                    lane.turns.wake(peer, now);
                }
            }
        }
    }

    /// Fills the driver's queues from the discipline, and what the hardware has ahead from these. `peer_of` says whom a packet is
    /// for.
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
            let is_slow = rate.expected_mbps().is_some_and(|mbps| mbps < SLOW_MBPS * self.rates.len() as f64);
            if let Above::Txqs(txqs) = &mut self.above {
                txqs.set_slow(place(peer, category), is_slow);
            }
            let most_bytes = self.most_bytes(&chain, category, timing);
            let Some(lane) = self.categories[category as usize].as_deref_mut() else { return false };
            let (frames, bytes) = lane.collect(
                now,
                peer,
                place(peer, category),
                most_bytes,
                self.limits,
                timing,
                &mut self.above,
                fates,
            );
            if lane.sessions[peer as usize].has(self.above.waits(place(peer, category))) {
                lane.turns.wake(peer, now);
            }
            // CoDel may have dropped all that there was.
            if !frames.is_empty() {
                let (tried, airtime) = ([0; 4], Duration::ZERO);
                lane.hardware.push_back(Aggregate { peer, frames, bytes, chain, tried, airtime });
                return true;
            }
        }
        false
    }

    /// The peer whose turn it is in `category`, if the hardware takes anything.
    fn next_peer(&mut self, now: Instant, category: Category) -> Option<u32> {
        let lane = self.categories[category as usize].as_deref_mut()?;
        if lane.hardware.len() >= self.limits.ahead {
            return None;
        }
        if !self.limits.by_station {
            return lane.order.pop_front();
        }
        let (sessions, above) = (&lane.sessions, &self.above);
        lane.turns.next(now, |peer| sessions[peer as usize].has(above.waits(place(peer, category))))
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
        let Some(lane) = &self.categories[category as usize] else { return Vec::new() };
        let Some(aggregate) = lane.hardware.front() else { return Vec::new() };
        let session = &lane.sessions[aggregate.peer as usize];
        let mpdu = |number: &u32| {
            let (packet, was_sent) = session.seen(*number);
            Mpdu { packet: *packet, number: *number, was_sent }
        };
        aggregate.frames.iter().map(mpdu).collect()
    }

    /// That goes on the air; `first` is told of each packet that does for the first time.
    pub(crate) fn start(&mut self, category: Category, mut first: impl FnMut(Queued)) {
        let Some(lane) = &mut self.categories[category as usize] else { return };
        let Lane { hardware, sessions, .. } = &mut **lane;
        let Some(aggregate) = hardware.front() else { return };
        let session = &mut sessions[aggregate.peer as usize];
        aggregate.frames.iter().filter_map(|number| session.sends(*number)).for_each(&mut first);
    }

    /// The first aggregate of `category` was tried, which took `airtime`. `arrives` says whether an MPDU of so many bytes came.
    pub(crate) fn tried(
        &mut self,
        now: Instant,
        category: Category,
        timing: &Timing,
        airtime: Duration,
        mut arrives: impl FnMut(u32) -> bool,
    ) -> Tried {
        let limits = self.limits;
        let Some(lane) = self.categories[category as usize].as_deref_mut() else { return Tried::GivenUp };
        let Some(aggregate) = lane.hardware.front_mut() else { return Tried::GivenUp };
        if let Some(stage) = aggregate.stage() {
            aggregate.tried[stage] += 1;
        }
        aggregate.airtime = aggregate.airtime + airtime;
        let session = &mut lane.sessions[aggregate.peer as usize];
        let mut acked = 0;
        for number in &aggregate.frames {
            if arrives(timing.mpdu_bytes(session.packet(*number).len())) {
                session.arrived(*number);
                acked += 1;
            }
        }
        let arrived = if aggregate.asks() { arrives(BLOCK_ACK_REQ_BYTES) } else { acked > 0 };
        // What came of an aggregate is asked at once; all else the hardware tries again.
        let asks = !arrived && limits.asks && aggregate.is_aggregate() && !aggregate.asks();
        if !arrived && !asks && aggregate.stage().is_some() {
            return Tried::Again;
        }
        let Some(aggregate) = lane.hardware.pop_front() else { return Tried::GivenUp };
        let rounds = if limits.asks && !aggregate.is_aggregate() { 1 } else { limits.rounds };
        for number in &aggregate.frames {
            if session.is_in_hardware(*number) {
                session.missed(*number, rounds);
            }
        }
        lane.pending -= aggregate.frames.len() as u32 - session.retries_of(&aggregate.frames);
        if !aggregate.asks() {
            let frames = aggregate.frames.len() as u32;
            let outcome = Outcome { chain: aggregate.chain, tried: aggregate.tried, frames, acked };
            self.rates[aggregate.peer as usize].report(now, &outcome);
        }
        lane.turns.charge(aggregate.peer, aggregate.airtime);
        if session.retries() > 0 {
            lane.turns.wake(aggregate.peer, now);
        }
        if arrived {
            return Tried::Answered;
        }
        if asks {
            lane.hardware.push_front(Aggregate::question(&aggregate));
            return Tried::Again;
        }
        Tried::GivenUp
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

impl Lane {
    /// Whether the driver takes a frame; one that was full does again when it holds less than its mark.
    fn has_room(&self, limits: Limits) -> bool {
        self.pending < if self.is_stopped { limits.wakes_below } else { limits.frames }
    }

    /// Takes a packet from the discipline.
    fn push(&mut self, now: Instant, peer: u32, packet: Packet, limits: Limits) {
        self.sessions[peer as usize].queue.push_back(Queued { packet, since: now });
        self.pending += 1;
        self.is_stopped = self.pending >= limits.frames;
        if limits.by_station { self.turns.wake(peer, now) } else { self.order.push_back(peer) }
    }

    /// Takes frames for `peer` to the hardware, of at most `most_bytes` together, where that is not 0: their numbers, and bytes on the
    /// air. More come from `above`, out of the queue number `place`, where that has one for each peer.
    #[allow(clippy::too_many_arguments)]
    fn collect(
        &mut self,
        now: Instant,
        peer: u32,
        place: usize,
        most_bytes: u32,
        limits: Limits,
        timing: &Timing,
        above: &mut Above,
        fates: &mut Fates,
    ) -> (Vec<u32>, u32) {
        let session = &mut self.sessions[peer as usize];
        let (mut frames, mut bytes) = (Vec::new(), 0);
        loop {
            if session.retries() == 0 && session.has_room() && session.queue.is_empty() {
                let Above::Txqs(txqs) = above else { break };
                let Some(packet) = txqs.dequeue(now, place, fates) else { break };
                session.queue.push_back(Queued { packet, since: now });
                self.pending += 1;
            }
            let Some(length) = session.next_bytes() else { break };
            let with = u32::next_multiple_of(bytes, 4) + DELIMITER_BYTES + timing.mpdu_bytes(length);
            if !frames.is_empty() && with > most_bytes {
                break;
            }
            frames.extend(session.take());
            bytes = with;
            if most_bytes == 0 || frames.len() == limits.most_subframes {
                break;
            }
        }
        if frames.len() == 1 {
            bytes -= DELIMITER_BYTES;
        }
        (frames, bytes)
    }

    /// Frames that the driver holds.
    pub(crate) fn pending(&self) -> u64 {
        self.pending.into()
    }

    /// `peer` had the air for `airtime` with frames of its own.
    pub(crate) fn charge(&mut self, peer: u32, airtime: Duration) {
        self.turns.charge(peer, airtime);
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
