//! The frames of an exchange, one by one and each at its time, as a capture shows them.

use super::cell::Protection;
use super::mode::Mode;
use super::session::Session;
use super::standard::{Band, Category, Timing};
use super::stations::Transmission;
use super::watch::{AirWatch, Seen};
use crate::direction::Direction;
use crate::packet::Packet;
use goodqueue_units::{Duration, Instant};

/// A frame on the air. Interfaces have numbers: the access point 0, and the stations from 1 on.
#[derive(Clone, Copy, Debug)]
pub struct AirFrame {
    /// When it began. The frames of an aggregate have the time of its beginning.
    pub time: Instant,
    /// How its bits were sent.
    pub mode: Mode,
    /// The band.
    pub band: Band,
    /// Who sent it.
    pub from: u32,
    /// For whom it is on the air.
    pub to: u32,
    /// How long others must leave the medium alone after it.
    pub reserved: Duration,
    /// The access category of the exchange; none in a cell without quality of service.
    pub category: Option<Category>,
    /// What it is.
    pub body: AirBody,
    /// What became of it.
    pub fate: AirFate,
}

/// What a frame is.
#[derive(Clone, Copy, Debug)]
pub enum AirBody {
    /// A request to send.
    Rts,
    /// Clear to send; from whom it is for, a CTS to oneself.
    Cts,
    /// A packet.
    Data {
        /// The packet.
        packet: Packet,
        /// Which way it goes.
        way: Direction,
        /// Its number for this receiver and category; its sequence number is that modulo 4096.
        number: u32,
        /// Whether it was sent before.
        is_retry: bool,
        /// Of which aggregate it is, if of one.
        part: Option<Part>,
    },
    /// The answer to a frame.
    Ack,
    /// The answer to an aggregate: which have come from the number `first` on, a bit each, the first the lowest.
    BlockAck {
        /// The number of the first.
        first: u32,
        /// Which have come.
        bitmap: u64,
    },
    /// The question what has come from the number `first` on.
    BlockAckReq {
        /// The number of the first.
        first: u32,
    },
}

/// A frame's place in an aggregate.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The aggregate's number in the run.
    pub aggregate: u32,
    /// Whether the frame is the last in it.
    pub is_last: bool,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AirFate {
    /// It came.
    Came,
    /// It collided, and is sent again.
    Collided,
    /// It did not come, and is sent again.
    Lost,
    /// It did not come, and its sender gives it up.
    GivenUp,
}

impl AirWatch {
    /// Adds the frames of `sent`.
    pub(super) fn expand(&mut self, timing: &Timing, sent: &Transmission, seen: &Seen, session: &Session) {
        let ends = match sent.way {
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
                way: sent.way,
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
    /// Which frames of an aggregate came, from its first on: a window is of 64.
    fn bitmap(&self) -> u64 {
        let first = self.mpdus.first().map_or(0, |mpdu| mpdu.number);
        let came = self.mpdus.iter().zip(&self.came).filter(|(_, came)| **came);
        came.fold(0, |bitmap, (mpdu, _)| bitmap | 1 << (mpdu.number.wrapping_sub(first) % 64))
    }
}
