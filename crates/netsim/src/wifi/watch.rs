//! The observers of the air: a log of the transmissions within a window, and an observer that is told of each frame.

use super::cell::Protection;
use super::frames::{AirBody, AirFate, AirFrame, Part, SharedAirObserver};
use super::log::AirLog;
use super::mode::Mode;
use super::session::Session;
use super::standard::Timing;
use super::stations::Transmission;
use crate::packet::Packet;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::sorting::sort_by_key;
use goodqueue_units::{Duration, Instant};
use std::sync::PoisonError;

/// The observers of a cell.
#[derive(Default)]
pub(crate) struct AirWatch {
    pub(crate) log: Option<AirLog>,
    pub(crate) observer: Option<SharedAirObserver>,
    /// The number of the next aggregate. With it a capture says to which aggregate each subframe belongs.
    pub(crate) next_aggregate: u32,
    /// Frames of the transmissions that end now.
    pub(crate) frames: Vec<AirFrame>,
}

/// What must be known of a transmission before its end changes it.
pub(crate) struct Seen {
    pub(crate) mpdus: Vec<Mpdu>,
    /// Bytes on the air, delimiters and padding included.
    pub(crate) bytes: u32,
    pub(crate) before: Protection,
    /// The duration of the exchange if all of it arrives.
    pub(crate) whole: Duration,
    /// Whether the same transmission was tried before.
    pub(crate) was_tried: bool,
    /// Whether each frame arrived, in the order of `mpdus`; of a question, whether the question arrived.
    pub(crate) came: Vec<bool>,
}

/// A frame with a packet in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mpdu {
    pub(crate) packet: Packet,
    /// The frame's number in the session.
    pub(crate) number: u32,
    /// Whether the hardware was done before with a transmission in which this frame did not arrive.
    pub(crate) was_sent: bool,
}

impl Seen {
    /// Returns whether any part of it was on the air before.
    pub(crate) fn is_retry(&self) -> bool {
        self.was_tried || self.mpdus.iter().any(|mpdu| mpdu.was_sent)
    }
}

impl AirWatch {
    /// Notes that `sent` is over. `seen` is what was known before, and `session` knows which of its frames arrived.
    pub(crate) fn saw(&mut self, timing: &Timing, sent: &Transmission, seen: &Seen, session: &Session) {
        if let Some(log) = &mut self.log {
            log.note(sent, seen);
        }
        if self.observer.is_some() {
            self.expand(timing, sent, seen, session);
        }
    }

    /// Tells the observer of the frames of all transmissions that end now, in the order of time.
    pub(crate) fn tell(&mut self) {
        let Some(observer) = &self.observer else { return };
        sort_by_key(&mut self.frames, |frame| frame.time);
        let mut observer = observer.lock().unwrap_or_else(PoisonError::into_inner);
        self.frames.drain(..).for_each(|frame| observer.aired(&frame));
    }
}

impl AirWatch {
    /// Adds the frames of `sent`, each at its time.
    pub(super) fn expand(&mut self, timing: &Timing, sent: &Transmission, seen: &Seen, session: &Session) {
        let ends = match sent.direction {
            Direction::Down => [0, sent.station + 1],
            Direction::Up => [sent.station + 1, 0],
        };
        let over = sent.began + seen.whole;
        let mut push = |time: Instant, mode: Mode, bytes, [from, to]: [u32; 2], body, fate| {
            let until = time + timing.frame(mode, bytes);
            let reserved = if until < over { over.since(until) } else { Duration::ZERO };
            let category = timing.has_qos.then_some(sent.category);
            self.frames.push(AirFrame {
                time,
                mode,
                band: timing.band,
                from,
                to,
                reserved,
                category,
                body,
                fate,
            });
            until
        };
        let all = if sent.is_collision { AirFate::Collided } else { AirFate::Came };
        let [sender, _] = ends;
        let back = [ends[1], sender];
        let control = sent.mode.control();
        let begins = match seen.before {
            Protection::Nothing => sent.began,
            Protection::CtsToSelf => {
                let mode = Timing::CTS_TO_SELF;
                let until = push(sent.began, mode, Timing::CTS_BYTES, [sender; 2], AirBody::Cts, all);
                until + timing.sifs
            }
            Protection::RtsCts => {
                let until = push(sent.began, control, Timing::RTS_BYTES, ends, AirBody::Rts, all);
                if sent.is_collision {
                    return;
                }
                let until =
                    push(until + timing.sifs, control, Timing::CTS_BYTES, back, AirBody::Cts, AirFate::Came);
                until + timing.sifs
            }
        };
        let missed = if sent.is_collision { AirFate::Collided } else { AirFate::Lost };
        let fate = |came: bool| if came { AirFate::Came } else { missed };
        let is_single = seen.mpdus.len() == 1;
        let mut until = begins;
        if seen.mpdus.is_empty() {
            let body = AirBody::BlockAckReq { first: session.first() };
            until = push(begins, sent.mode, seen.bytes, ends, body, fate(seen.came.contains(&true)));
        }
        let last = seen.mpdus.len().saturating_sub(1);
        for (place, (mpdu, came)) in seen.mpdus.iter().zip(&seen.came).enumerate() {
            let part = Part { aggregate: self.next_aggregate, is_last: place == last };
            let body = AirBody::Data {
                packet: mpdu.packet,
                direction: sent.direction,
                number: mpdu.number,
                is_retry: seen.was_tried || mpdu.was_sent,
                part: (!is_single).then_some(part),
            };
            let fate = if session.was_given_up(mpdu.number) { AirFate::GivenUp } else { fate(*came) };
            until = push(begins, sent.mode, seen.bytes, ends, body, fate);
        }
        if seen.came.contains(&true) {
            let body = match seen.mpdus.as_slice() {
                [_] => AirBody::Ack,
                [] => AirBody::BlockAck { first: session.first(), bitmap: session.arrivals() },
                [first, ..] => AirBody::BlockAck { first: first.number, bitmap: seen.bitmap() },
            };
            let bytes = if is_single { Timing::ACK_BYTES } else { Timing::BLOCK_ACK_BYTES };
            push(until + timing.sifs, control, bytes, back, body, AirFate::Came);
        }
        self.next_aggregate += u32::from(seen.mpdus.len() > 1);
    }
}

impl Seen {
    /// Returns which frames of an aggregate arrived, one bit per frame from its first one on: a window has 64 frames.
    fn bitmap(&self) -> u64 {
        let first = self.mpdus.first().map_or(0, |mpdu| mpdu.number);
        let came = self.mpdus.iter().zip(&self.came).filter(|(_, came)| **came);
        came.fold(0, |bitmap, (mpdu, _)| bitmap | 1 << (mpdu.number.wrapping_sub(first) % 64))
    }
}
