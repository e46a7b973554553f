//! What a sender keeps for one receiver and access category: frames on their way, in order, and what waits behind them.
//!
//! Source: IEEE 802.11-2012, 9.21 (BlockAck): a receiver hands frames up in order, so one that came behind a lost one
//! waits there until that one has come or was given up; a sender is never more than 64 frames ahead of the oldest that
//! is open.

use super::airtime::Waiting;
use crate::packet::Packet;
use goodqueue_units::{Duration, Instant};
use std::collections::VecDeque;

/// Frames that a sender may be ahead of the oldest that is open.
const WINDOW: usize = 64;

/// A packet, and when it left the queue discipline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    pub(crate) packet: Packet,
    pub(crate) since: Instant,
    /// The airtime that it counts with in the [firmware](super::firmware), if there is one.
    pub(super) estimate: Duration,
}

/// A frame that has its number.
#[derive(Clone, Copy, Debug)]
struct Frame {
    queued: Queued,
    state: State,
    /// How often it was sent as a part of something of which an end was made.
    rounds: u8,
    was_sent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is to be sent again.
    Waiting,
    /// It is in what the hardware has.
    InHardware,
    Arrived,
    /// It was given up.
    Lost,
}

/// Frames of one sender to one receiver, in one category.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// Packets that the driver holds, without a number yet.
    pub(crate) queue: VecDeque<Queued>,
    /// From the oldest that is open.
    window: VecDeque<Frame>,
    /// The number of the first of them.
    first: u32,
    /// Those that are to be sent again.
    retries: u32,
}

/// What leaves a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Its receiver hands it up.
    Delivered,
    /// It was given up.
    Lost,
}

impl Session {
    /// Frames that are to be sent again.
    pub(crate) fn retries(&self) -> u32 {
        self.retries
    }

    /// The bytes of the packet that would be the next frame: one that is to be sent again, else the first that waits.
    pub(crate) fn next_bytes(&self) -> Option<u32> {
        use goodqueue_qdisc::Packet as _;
        if self.retries > 0 {
            let next = self.window.iter().find(|frame| frame.state == State::Waiting);
            return next.map(|frame| frame.queued.packet.len());
        }
        self.queue.front().filter(|_| self.has_room()).map(|queued| queued.packet.len())
    }

    /// Whether a new frame may have a number.
    pub(crate) fn has_room(&self) -> bool {
        self.window.len() < WINDOW
    }

    /// What it has to send; `above`: whether more wait above the driver.
    pub(crate) fn waiting(&self, above: bool) -> Waiting {
        let is_new = above || !self.queue.is_empty();
        match (self.retries > 0, is_new, self.has_room()) {
            (true, _, _) | (_, true, true) => Waiting::Ready,
            (_, true, false) => Waiting::Blocked,
            (_, false, _) => Waiting::Nothing,
        }
    }

    /// Takes the next frame to the hardware, and returns its number.
    pub(crate) fn take(&mut self) -> Option<u32> {
        if self.retries > 0 {
            self.retries -= 1;
            let place = self.window.iter().position(|frame| frame.state == State::Waiting)?;
            self.window[place].state = State::InHardware;
            return Some(self.first.wrapping_add(place as u32));
        }
        let queued = self.queue.pop_front()?;
        self.window.push_back(Frame { queued, state: State::InHardware, rounds: 0, was_sent: false });
        Some(self.first.wrapping_add(self.window.len() as u32 - 1))
    }

    fn frame(&mut self, number: u32) -> &mut Frame {
        &mut self.window[number.wrapping_sub(self.first) as usize]
    }

    /// The packet of frame `number`.
    pub(crate) fn packet(&mut self, number: u32) -> &Packet {
        &self.frame(number).queued.packet
    }

    /// Frame `number` goes on the air: what it is, if that is the first time.
    pub(crate) fn sends(&mut self, number: u32) -> Option<Queued> {
        let frame = self.frame(number);
        let is_first = !frame.was_sent;
        frame.was_sent = true;
        is_first.then_some(frame.queued)
    }

    /// Frame `number` has come.
    pub(crate) fn arrived(&mut self, number: u32) {
        self.frame(number).state = State::Arrived;
    }

    /// Frame `number` has not come: it is to be sent again, unless that was its round number `most`.
    pub(crate) fn missed(&mut self, number: u32, most: u8) {
        let frame = self.frame(number);
        frame.rounds += 1;
        frame.state = if frame.rounds >= most { State::Lost } else { State::Waiting };
        self.retries += u32::from(self.frame(number).state == State::Waiting);
    }

    /// Whether nothing is known of frame `number` yet.
    pub(crate) fn is_in_hardware(&mut self, number: u32) -> bool {
        self.frame(number).state == State::InHardware
    }

    /// The airtime that those of the frames `numbers` count with that are not to be sent again.
    pub(crate) fn estimate_of_done(&mut self, numbers: &[u32]) -> Duration {
        let done =
            numbers.iter().map(|number| *self.frame(*number)).filter(|frame| frame.state != State::Waiting);
        done.fold(Duration::ZERO, |sum, frame| sum + frame.queued.estimate)
    }

    /// How many of the frames `numbers` are to be sent again.
    pub(crate) fn retries_of(&mut self, numbers: &[u32]) -> u32 {
        numbers.iter().filter(|number| self.frame(**number).state == State::Waiting).count() as u32
    }

    /// The packet of frame `number`, and whether it was a part of something of which an end was made.
    pub(crate) fn seen(&self, number: u32) -> (&Packet, bool) {
        let frame = &self.window[number.wrapping_sub(self.first) as usize];
        (&frame.queued.packet, frame.rounds > 0)
    }

    /// Whether frame `number` was given up.
    pub(crate) fn was_given_up(&self, number: u32) -> bool {
        self.window[number.wrapping_sub(self.first) as usize].state == State::Lost
    }

    /// The number of the oldest frame that is open.
    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    /// Which frames have come, from that one on, a bit each.
    pub(crate) fn arrivals(&self) -> u64 {
        let arrived = (0..WINDOW).zip(&self.window).filter(|(_, frame)| frame.state == State::Arrived);
        arrived.fold(0, |bitmap, (place, _)| bitmap | 1 << place)
    }

    /// The next packet that leaves, if nothing before it is open.
    pub(crate) fn leave(&mut self) -> Option<(Packet, Fate)> {
        let fate = match self.window.front()?.state {
            State::Arrived => Fate::Delivered,
            State::Lost => Fate::Lost,
            State::Waiting | State::InHardware => return None,
        };
        self.first = self.first.wrapping_add(1);
        self.window.pop_front().map(|frame| (frame.queued.packet, fate))
    }

    /// Packets of it that were never on the air.
    pub(crate) fn unsent(&self) -> u64 {
        let unsent = self.window.iter().filter(|frame| !frame.was_sent).count();
        (self.queue.len() + unsent) as u64
    }
}
