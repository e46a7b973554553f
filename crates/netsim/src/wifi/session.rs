//! What a sender keeps for one receiver and access category: the frames on their way, in order, and the packets that
//! wait behind them.
//!
//! Source: IEEE 802.11-2012, 9.21 (BlockAck). A receiver hands frames up in order. So a frame that arrived behind a
//! lost frame waits at the receiver until the lost frame has arrived or was given up. A sender is never more than 64
//! frames ahead of the oldest open frame.

use super::airtime::Waiting;
use crate::packet::Packet;
use goodqueue_units::{Duration, Instant};
use std::collections::VecDeque;

/// The most frames that a sender may be ahead of the oldest open frame.
const WINDOW: usize = 64;

/// A packet, and when it left the queue discipline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    pub(crate) packet: Packet,
    pub(crate) since: Instant,
    /// The airtime that the packet counts with in the [firmware](super::firmware), if there is one.
    pub(super) estimate: Duration,
}

/// A frame that has a number.
#[derive(Clone, Copy, Debug)]
struct Frame {
    queued: Queued,
    state: State,
    /// How often the hardware was done with a transmission in which this frame did not arrive.
    rounds: u8,
    was_sent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is to be sent again.
    Waiting,
    /// It is in the hardware.
    InHardware,
    Arrived,
    /// It was given up after all tries.
    Lost,
    /// It was given up because it was too old.
    TooOld,
}

/// Frames of one sender to one receiver, in one category.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// Packets that the driver holds and that have no number yet.
    pub(crate) queue: VecDeque<Queued>,
    /// The frames from the oldest open frame on.
    window: VecDeque<Frame>,
    /// The number of the first frame of the window.
    first: u32,
    /// The number of frames that are to be sent again.
    retries: u32,
}

/// The fate of a packet that leaves a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The receiver hands it up.
    Delivered,
    /// It was given up after all tries.
    Lost,
    /// It was given up because it was too old.
    TooOld,
}

impl Session {
    /// Returns the number of frames that are to be sent again.
    pub(crate) fn retries(&self) -> u32 {
        self.retries
    }

    /// Returns the bytes of the packet that would be the next frame: one that is to be sent again, else the first
    /// that waits.
    pub(crate) fn next_bytes(&self) -> Option<u32> {
        use goodqueue_qdisc::Packet as _;
        if self.retries > 0 {
            let next = self.window.iter().find(|frame| frame.state == State::Waiting);
            return next.map(|frame| frame.queued.packet.len());
        }
        self.queue.front().filter(|_| self.has_room()).map(|queued| queued.packet.len())
    }

    /// Returns whether a new frame may get a number.
    pub(crate) fn has_room(&self) -> bool {
        self.window.len() < WINDOW
    }

    /// Returns whether there is something to send. `above` says whether packets wait above the driver.
    pub(crate) fn waiting(&self, above: bool) -> Waiting {
        let is_new = above || !self.queue.is_empty();
        match (self.retries > 0, is_new, self.has_room()) {
            (true, _, _) | (_, true, true) => Waiting::Ready,
            (_, true, false) => Waiting::Blocked,
            (_, false, _) => Waiting::Nothing,
        }
    }

    /// Moves the next frame to the hardware, and returns the frame's number.
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

    /// Returns the packet of frame `number`.
    pub(crate) fn packet(&mut self, number: u32) -> &Packet {
        &self.frame(number).queued.packet
    }

    /// Marks frame `number` as sent. Returns its packet if it was not sent before.
    pub(crate) fn sends(&mut self, number: u32) -> Option<Queued> {
        let frame = self.frame(number);
        let is_first = !frame.was_sent;
        frame.was_sent = true;
        is_first.then_some(frame.queued)
    }

    /// Marks frame `number` as arrived.
    pub(crate) fn arrived(&mut self, number: u32) {
        self.frame(number).state = State::Arrived;
    }

    /// Notes that frame `number` did not arrive. The frame is sent again, unless this was its round number `most`.
    pub(crate) fn missed(&mut self, number: u32, most: u8) {
        let frame = self.frame(number);
        frame.rounds += 1;
        frame.state = if frame.rounds >= most { State::Lost } else { State::Waiting };
        self.retries += u32::from(self.frame(number).state == State::Waiting);
    }

    /// Returns whether a frame has not arrived yet that came to the driver at a time for which `is_too_old` does not
    /// hold.
    pub(crate) fn has_fresh(&self, is_too_old: impl Fn(Instant) -> bool) -> bool {
        let is_open = |state| matches!(state, State::Waiting | State::InHardware);
        self.window.iter().any(|frame| is_open(frame.state) && !is_too_old(frame.queued.since))
    }

    /// Gives up the frames that wait to be sent again and came at a time for which `is_too_old` holds. Returns their
    /// number, and the sum of their airtime estimates.
    pub(crate) fn give_up(&mut self, is_too_old: impl Fn(Instant) -> bool) -> (u32, Duration) {
        let (mut count, mut estimate) = (0, Duration::ZERO);
        for frame in &mut self.window {
            if frame.state == State::Waiting && is_too_old(frame.queued.since) {
                frame.state = State::TooOld;
                (count, estimate) = (count + 1, estimate + frame.queued.estimate);
            }
        }
        self.retries -= count;
        (count, estimate)
    }

    /// Returns whether frame `number` is in the hardware and nothing is known of it yet.
    pub(crate) fn is_in_hardware(&mut self, number: u32) -> bool {
        self.frame(number).state == State::InHardware
    }

    /// Returns the sum of the airtime estimates of those `numbers` that are not to be sent again.
    pub(crate) fn estimate_of_done(&mut self, numbers: &[u32]) -> Duration {
        let done =
            numbers.iter().map(|number| *self.frame(*number)).filter(|frame| frame.state != State::Waiting);
        done.fold(Duration::ZERO, |sum, frame| sum + frame.queued.estimate)
    }

    /// Returns how many of the frames `numbers` are to be sent again.
    pub(crate) fn retries_of(&mut self, numbers: &[u32]) -> u32 {
        numbers.iter().filter(|number| self.frame(**number).state == State::Waiting).count() as u32
    }

    /// Returns the packet of frame `number`, and whether the hardware was done with it before.
    pub(crate) fn seen(&self, number: u32) -> (&Packet, bool) {
        let frame = &self.window[number.wrapping_sub(self.first) as usize];
        (&frame.queued.packet, frame.rounds > 0)
    }

    /// Returns whether frame `number` was given up.
    pub(crate) fn was_given_up(&self, number: u32) -> bool {
        let state = self.window[number.wrapping_sub(self.first) as usize].state;
        matches!(state, State::Lost | State::TooOld)
    }

    /// Returns the number of the oldest open frame.
    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    /// Returns which frames have arrived: one bit per frame, from the oldest open frame on.
    pub(crate) fn arrivals(&self) -> u64 {
        let arrived = (0..WINDOW).zip(&self.window).filter(|(_, frame)| frame.state == State::Arrived);
        arrived.fold(0, |bitmap, (place, _)| bitmap | 1 << place)
    }

    /// Takes the oldest frame out of the window, if it is no longer open. Returns its packet and fate.
    pub(crate) fn leave(&mut self) -> Option<(Packet, Fate)> {
        let fate = match self.window.front()?.state {
            State::Arrived => Fate::Delivered,
            State::Lost => Fate::Lost,
            State::TooOld => Fate::TooOld,
            State::Waiting | State::InHardware => return None,
        };
        self.first = self.first.wrapping_add(1);
        self.window.pop_front().map(|frame| (frame.queued.packet, fate))
    }

    /// Returns the number of packets that were never on the air.
    pub(crate) fn unsent(&self) -> u64 {
        let unsent = self.window.iter().filter(|frame| !frame.was_sent).count();
        (self.queue.len() + unsent) as u64
    }
}
