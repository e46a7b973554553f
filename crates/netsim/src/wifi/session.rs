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

/// A frame. All but those that the driver [holds](State::Held) have a number.
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
    /// The driver holds it, and it has no number yet.
    Held,
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
    /// The frames from the oldest open frame on: first those that have a number, then those that the driver holds.
    frames: VecDeque<Frame>,
    /// How many frames have a number.
    numbered: usize,
    /// The number of the first frame.
    first: u32,
    /// The number of frames that are to be sent again.
    retries: u32,
    /// None of the first so many frames is to be sent again.
    searched: usize,
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
    /// Takes a packet, which the driver holds from now on.
    pub(super) fn hold(&mut self, queued: Queued) {
        self.frames.push_back(Frame { queued, state: State::Held, rounds: 0, was_sent: false });
    }

    /// Returns the oldest packet that the driver holds.
    pub(super) fn oldest_held(&self) -> Option<&Queued> {
        self.frames.get(self.numbered).map(|frame| &frame.queued)
    }

    /// Takes the oldest packet that the driver holds out of the session. Swaps bring the packet to the front, which
    /// takes less of the page's module than its removal in place.
    pub(super) fn drop_held(&mut self) -> Option<Queued> {
        self.oldest_held()?;
        (0..self.numbered).rev().for_each(|place| self.frames.swap(place, place + 1));
        self.frames.pop_front().map(|frame| frame.queued)
    }

    /// Returns the number of frames that are to be sent again.
    pub(crate) fn retries(&self) -> u32 {
        self.retries
    }

    /// Returns the bytes of the packet that would be the next frame: one that is to be sent again, else the first
    /// that waits.
    pub(crate) fn next_bytes(&self) -> Option<u32> {
        use goodqueue_qdisc::Packet as _;
        if self.retries > 0 {
            return self.next_retry().map(|place| self.frames[place].queued.packet.len());
        }
        self.oldest_held().filter(|_| self.has_room()).map(|queued| queued.packet.len())
    }

    /// Returns whether a new frame may get a number.
    pub(crate) fn has_room(&self) -> bool {
        self.numbered < WINDOW
    }

    /// Returns whether there is something to send. `above` says whether packets wait above the driver.
    pub(crate) fn waiting(&self, above: bool) -> Waiting {
        let is_new = above || self.oldest_held().is_some();
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
            let place = self.next_retry()?;
            self.searched = place + 1;
            self.frames[place].state = State::InHardware;
            return Some(self.first.wrapping_add(place as u32));
        }
        self.frames.get_mut(self.numbered)?.state = State::InHardware;
        self.numbered += 1;
        Some(self.first.wrapping_add(self.numbered as u32 - 1))
    }

    /// Returns the place of the first frame that is to be sent again.
    fn next_retry(&self) -> Option<usize> {
        (self.searched..self.numbered).find(|place| self.frames[*place].state == State::Waiting)
    }

    fn frame(&mut self, number: u32) -> &mut Frame {
        &mut self.frames[number.wrapping_sub(self.first) as usize]
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

    /// Ends a transmission of the frames `numbers`. One that has not arrived is sent again, unless this was its round
    /// number `most`. Returns how many are sent again, and the sum of the airtime estimates of the others.
    pub(crate) fn close(&mut self, numbers: &[u32], most: u8) -> (u32, Duration) {
        let (mut again, mut estimate) = (0, Duration::ZERO);
        for number in numbers {
            let frame = self.frame(*number);
            if frame.state == State::InHardware {
                frame.rounds += 1;
                frame.state = if frame.rounds >= most { State::Lost } else { State::Waiting };
            }
            if frame.state == State::Waiting {
                again += 1;
            } else {
                estimate = estimate + frame.queued.estimate;
            }
        }
        self.retries += again;
        self.searched = 0;
        (again, estimate)
    }

    /// Returns whether a frame has not arrived yet that came to the driver at a time for which `is_too_old` does not
    /// hold.
    pub(crate) fn has_fresh(&self, is_too_old: impl Fn(Instant) -> bool) -> bool {
        let is_open = |state| matches!(state, State::Waiting | State::InHardware);
        self.frames.iter().any(|frame| is_open(frame.state) && !is_too_old(frame.queued.since))
    }

    /// Gives up the frames that wait to be sent again and came at a time for which `is_too_old` holds. Returns their
    /// number, and the sum of their airtime estimates.
    pub(crate) fn give_up(&mut self, is_too_old: impl Fn(Instant) -> bool) -> (u32, Duration) {
        let (mut count, mut estimate) = (0, Duration::ZERO);
        for frame in &mut self.frames {
            if frame.state == State::Waiting && is_too_old(frame.queued.since) {
                frame.state = State::TooOld;
                (count, estimate) = (count + 1, estimate + frame.queued.estimate);
            }
        }
        self.retries -= count;
        (count, estimate)
    }

    /// Returns the packet of frame `number`, and whether the hardware was done with it before.
    pub(crate) fn seen(&self, number: u32) -> (&Packet, bool) {
        let frame = &self.frames[number.wrapping_sub(self.first) as usize];
        (&frame.queued.packet, frame.rounds > 0)
    }

    /// Returns whether frame `number` was given up.
    pub(crate) fn was_given_up(&self, number: u32) -> bool {
        let state = self.frames[number.wrapping_sub(self.first) as usize].state;
        matches!(state, State::Lost | State::TooOld)
    }

    /// Returns the number of the oldest open frame.
    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    /// Returns which frames have arrived: one bit per frame, from the oldest open frame on.
    pub(crate) fn arrivals(&self) -> u64 {
        let arrived = (0..WINDOW).zip(&self.frames).filter(|(_, frame)| frame.state == State::Arrived);
        arrived.fold(0, |bitmap, (place, _)| bitmap | 1 << place)
    }

    /// Takes the oldest frame out of the session, if it is no longer open. Returns its packet and fate.
    pub(crate) fn leave(&mut self) -> Option<(Packet, Fate)> {
        let fate = match self.frames.front()?.state {
            State::Arrived => Fate::Delivered,
            State::Lost => Fate::Lost,
            State::TooOld => Fate::TooOld,
            State::Held | State::Waiting | State::InHardware => return None,
        };
        self.first = self.first.wrapping_add(1);
        self.searched = self.searched.saturating_sub(1);
        self.numbered -= 1;
        self.frames.pop_front().map(|frame| (frame.queued.packet, fate))
    }

    /// Returns the number of packets that were never on the air.
    pub(crate) fn unsent(&self) -> u64 {
        self.frames.iter().filter(|frame| !frame.was_sent).count() as u64
    }
}
