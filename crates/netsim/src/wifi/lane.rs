//! One access category of an interface: the frames for each peer, the turns of the peers, and the frames in the
//! hardware.

use super::aggregate::{Aggregate, BLOCK_ACK_REQ_BYTES, Tried};
use super::airtime::{Turns, Waiting};
use super::contention::ContenderId;
use super::driver::Limits;
use super::firmware::Firmware;
use super::rate_control::{Chain, Outcome};
use super::session::{Queued, Session};
use super::standard::Timing;
use super::watch::Mpdu;
use crate::packet::Packet;
use goodqueue_qdisc::Packet as _;
use goodqueue_units::{Duration, Instant};
use std::collections::VecDeque;

/// The delimiter of a subframe, before its MPDU.
const DELIMITER_BYTES: u32 = 4;

/// One access category of an interface.
pub(crate) struct Lane {
    pub(crate) contender: ContenderId,
    /// One session per peer.
    pub(crate) sessions: Vec<Session>,
    pub(super) turns: Turns,
    /// The frames that the firmware holds, if they are limited by time.
    firmware: Option<Firmware>,
    /// In a driver with one queue: the peers of the frames in the queue, in order.
    order: VecDeque<u32>,
    /// Frames that the driver holds.
    pending: u32,
    is_stopped: bool,
    pub(crate) hardware: VecDeque<Aggregate>,
}

/// The result of a try. If the hardware is done with the transmission, also its peer and the outcome that rate
/// control is told.
pub(super) type TriedLane = (Tried, Option<(u32, Option<Outcome>)>);

impl Lane {
    /// Builds a category that sends to so many `peers` and contends as `contender`.
    pub(super) fn new(contender: ContenderId, peers: usize, by_airtime: bool, has_firmware: bool) -> Self {
        Self {
            contender,
            sessions: (0..peers).map(|_| Session::default()).collect(),
            turns: Turns::new(peers, by_airtime),
            firmware: has_firmware.then(|| Firmware::new(peers)),
            order: VecDeque::new(),
            pending: 0,
            is_stopped: false,
            hardware: VecDeque::new(),
        }
    }

    /// Returns whether the driver takes a frame. A driver that was full takes frames again when it holds fewer than
    /// its mark.
    pub(super) fn has_room(&self, limits: Limits) -> bool {
        self.pending < if self.is_stopped { limits.wakes_below } else { limits.frames }
    }

    /// Takes a packet for `peer` from the discipline.
    pub(super) fn push(&mut self, now: Instant, peer: u32, packet: Packet, limits: Limits) {
        self.sessions[peer as usize].hold(Queued { packet, since: now, estimate: Duration::ZERO });
        self.pending += 1;
        self.is_stopped = self.pending >= limits.frames;
        if limits.by_station { self.turns.wake(peer, now) } else { self.order.push_back(peer) }
    }

    /// Returns the peer whose packet is handed to the firmware next. `above` says for which peers packets wait above
    /// the driver.
    pub(super) fn next_for_firmware(&mut self, now: Instant, above: impl Fn(u32) -> bool) -> Option<u32> {
        let firmware = self.firmware.as_ref()?;
        self.turns.next(now, |peer| match (above(peer), firmware.has_room(peer)) {
            (true, true) => Waiting::Ready,
            (true, false) => Waiting::Blocked,
            (false, _) => Waiting::Nothing,
        })
    }

    /// Hands `packet`, which is for `peer`, to the firmware.
    pub(super) fn hand_over(&mut self, now: Instant, peer: u32, packet: Packet) {
        let Some(firmware) = &mut self.firmware else { return };
        let estimate = firmware.hold(now, peer, packet.len());
        self.sessions[peer as usize].hold(Queued { packet, since: now, estimate });
        self.pending += 1;
    }

    /// Notes that `peer` has something to send. `above` says whether packets for `peer` wait above the driver.
    pub(super) fn wake(&mut self, now: Instant, peer: u32, above: bool) {
        let of_driver = self.sessions[peer as usize].waiting(above && self.firmware.is_none());
        let of_driver = of_driver != Waiting::Nothing;
        match &mut self.firmware {
            Some(firmware) => {
                if of_driver {
                    firmware.turns.wake(peer, now);
                }
                if above {
                    self.turns.wake(peer, now);
                }
            }
            None if of_driver => self.turns.wake(peer, now),
            None => {}
        }
    }

    /// Returns the peer whose turn it is, if the hardware has room. `above` says for which peers packets wait above
    /// the driver, if there is a queue per peer.
    pub(super) fn next_peer(
        &mut self,
        now: Instant,
        limits: Limits,
        above: Option<impl Fn(u32) -> bool>,
    ) -> Option<u32> {
        if self.hardware.len() >= limits.ahead {
            return None;
        }
        if above.is_none() && !limits.by_station {
            return self.order.pop_front();
        }
        let sessions = &self.sessions;
        if let Some(firmware) = &mut self.firmware {
            return firmware.turns.next(now, |peer| sessions[peer as usize].waiting(false));
        }
        let waits = |peer| above.as_ref().is_some_and(|above| above(peer));
        self.turns.next(now, |peer| sessions[peer as usize].waiting(waits(peer)))
    }

    /// Takes the packets for `peer` that were never on the air out of the driver, if they are too old at `now`.
    pub(super) fn take_old(&mut self, now: Instant, peer: u32, limits: Limits) -> Option<Packet> {
        let session = &mut self.sessions[peer as usize];
        session.oldest_held().filter(|queued| limits.is_too_old(queued.since, now))?;
        let Queued { packet, estimate, .. } = session.drop_held()?;
        self.pending -= 1;
        if let Some(firmware) = &mut self.firmware {
            firmware.release(peer, estimate);
        }
        Some(packet)
    }

    /// Gives the hardware frames for `peer`, of at most `most_bytes` together. If `most_bytes` is 0, it is a single
    /// frame. `more` returns packets that wait above the driver. Returns whether there was a frame: CoDel may have
    /// dropped all packets.
    pub(super) fn make_aggregate(
        &mut self,
        now: Instant,
        (peer, chain): (u32, Chain),
        most_bytes: u32,
        limits: Limits,
        timing: &Timing,
        mut more: impl FnMut() -> Option<Packet>,
    ) -> bool {
        let session = &mut self.sessions[peer as usize];
        let (mut frames, mut bytes) = (Vec::new(), 0);
        loop {
            if session.retries() == 0 && session.has_room() && session.oldest_held().is_none() {
                let Some(packet) = more() else { break };
                session.hold(Queued { packet, since: now, estimate: Duration::ZERO });
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
        let is_any = !frames.is_empty();
        if is_any {
            let (tried, airtime) = ([0; 4], Duration::ZERO);
            self.hardware.push_back(Aggregate { peer, frames, bytes, chain, tried, airtime });
        }
        is_any
    }

    /// Returns the frames of the next transmission.
    pub(super) fn mpdus(&self) -> Vec<Mpdu> {
        let Some(aggregate) = self.hardware.front() else { return Vec::new() };
        let session = &self.sessions[aggregate.peer as usize];
        let mpdu = |number: &u32| {
            let (packet, was_sent) = session.seen(*number);
            Mpdu { packet: *packet, number: *number, was_sent }
        };
        aggregate.frames.iter().map(mpdu).collect()
    }

    /// Marks the frames of the next transmission as sent. `first` is called with each packet that was not sent
    /// before.
    pub(super) fn start(&mut self, mut first: impl FnMut(Queued)) {
        let Some(aggregate) = self.hardware.front() else { return };
        let session = &mut self.sessions[aggregate.peer as usize];
        aggregate.frames.iter().filter_map(|number| session.sends(*number)).for_each(&mut first);
    }

    /// Ends a try of the next transmission at `now`, which took `airtime`. `arrives` returns whether an MPDU of so many
    /// bytes arrived.
    pub(super) fn tried(
        &mut self,
        now: Instant,
        timing: &Timing,
        limits: Limits,
        airtime: Duration,
        mut arrives: impl FnMut(u32) -> bool,
    ) -> TriedLane {
        let Some(aggregate) = self.hardware.front_mut() else { return (Tried::GivenUp, None) };
        if let Some(stage) = aggregate.stage() {
            aggregate.tried[stage] += 1;
        }
        aggregate.airtime = aggregate.airtime + airtime;
        let session = &mut self.sessions[aggregate.peer as usize];
        let mut acked = 0;
        for number in &aggregate.frames {
            if arrives(timing.mpdu_bytes(session.packet(*number).len())) {
                session.arrived(*number);
                acked += 1;
            }
        }
        let arrived = if aggregate.asks() { arrives(BLOCK_ACK_REQ_BYTES) } else { acked > 0 };
        // The sender asks at once which frames of an aggregate arrived. Everything else the hardware tries again.
        let asks = !arrived && limits.asks && aggregate.is_aggregate() && !aggregate.asks();
        // A transmission ends with the lifetime of its frames. Only a question goes on, because the receiver must hear
        // for which frames it is not to wait; but that is a new transmission.
        let is_too_old = |since| limits.is_too_old(since, now);
        let is_over = limits.lifetime.is_some() && !arrived && !session.has_fresh(is_too_old);
        if !arrived && !asks && aggregate.stage().is_some() && (!is_over || aggregate.asks()) {
            return (if is_over { Tried::GivenUp } else { Tried::Again }, None);
        }
        let Some(aggregate) = self.hardware.pop_front() else { return (Tried::GivenUp, None) };
        let rounds = if limits.asks && !aggregate.is_aggregate() { 1 } else { limits.rounds };
        let (open, estimate) = session.close(&aggregate.frames, rounds);
        self.pending -= aggregate.frames.len() as u32 - open;
        let (given_up, estimate_of_old) =
            if limits.lifetime.is_some() { session.give_up(is_too_old) } else { (0, Duration::ZERO) };
        self.pending -= given_up;
        if let Some(firmware) = &mut self.firmware {
            firmware.done(aggregate.peer, estimate + estimate_of_old, aggregate.chain.stages()[0].mode);
        }
        let frames = aggregate.frames.len() as u32;
        let outcome = Outcome { chain: aggregate.chain, tried: aggregate.tried, frames, acked };
        let done = Some((aggregate.peer, (!aggregate.asks()).then_some(outcome)));
        self.turns.charge(aggregate.peer, aggregate.airtime);
        if asks {
            self.hardware.push_front(Aggregate::question(&aggregate));
        }
        let tried = match (arrived, asks) {
            (true, _) => Tried::Answered,
            (_, true) if !is_over => Tried::Again,
            _ => Tried::GivenUp,
        };
        (tried, done)
    }

    /// Returns the number of frames that the driver holds.
    pub(super) fn pending(&self) -> u64 {
        self.pending.into()
    }
}
