//! Who looks on at the air: a log of the transmissions within a window, and an observer who is told of each frame.

use super::cell::Protection;
use super::frames::AirFrame;
use super::log::AirLog;
use super::session::Session;
use super::standard::Timing;
use super::stations::Transmission;
use crate::observer::SharedObserver;
use crate::packet::Packet;
use goodqueue_units::Duration;
use std::sync::PoisonError;

/// What looks on at a cell.
#[derive(Default)]
pub(crate) struct AirWatch {
    pub(crate) log: Option<AirLog>,
    pub(crate) observer: Option<SharedObserver>,
    /// The number of the next aggregate, by which a capture tells whose subframe each is.
    pub(crate) next_aggregate: u32,
    /// Frames of the transmissions that end now.
    pub(crate) frames: Vec<AirFrame>,
}

/// What is to be known of a transmission before its end changes it.
pub(crate) struct Seen {
    pub(crate) mpdus: Vec<Mpdu>,
    /// Bytes on the air, delimiters and padding included.
    pub(crate) bytes: u32,
    pub(crate) before: Protection,
    /// How long the exchange is if all of it comes.
    pub(crate) whole: Duration,
    /// Whether it was tried before, as it is.
    pub(crate) was_tried: bool,
    /// What came of it, in the order of `mpdus`; of a question whether it did.
    pub(crate) came: Vec<bool>,
}

/// A frame with a packet in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mpdu {
    pub(crate) packet: Packet,
    /// Its number in the session.
    pub(crate) number: u32,
    /// Whether it was a part of something of which an end was made before.
    pub(crate) was_sent: bool,
}

impl Seen {
    /// Whether any of it was on the air before.
    pub(crate) fn is_retry(&self) -> bool {
        self.was_tried || self.mpdus.iter().any(|mpdu| mpdu.was_sent)
    }
}

impl AirWatch {
    /// `sent` is over, of which `seen` was known; `session` knows what came of its frames.
    pub(crate) fn saw(&mut self, timing: &Timing, sent: &Transmission, seen: &Seen, session: &Session) {
        if let Some(log) = &mut self.log {
            log.note(sent, seen);
        }
        if self.observer.is_some() {
            self.expand(timing, sent, seen, session);
        }
    }

    /// All transmissions of this time are known: the observer is told of their frames in the order of time.
    pub(crate) fn tell(&mut self) {
        let Some(observer) = &self.observer else { return };
        self.frames.sort_by_key(|frame| frame.time);
        let mut observer = observer.lock().unwrap_or_else(PoisonError::into_inner);
        self.frames.drain(..).for_each(|frame| observer.aired(&frame));
    }
}
