//! ECN feedback at a sender, and AccECN's option in the segments of its end.

use super::Sender;
use crate::ecn::{Bytes, OptionUse, Wrapped};
use crate::{Segment, SeqNumber};
use alloc::boxed::Box;
use goodqueue_units::Instant;

impl Sender {
    /// Counts and reads the bytes of each codepoint from now on. Full segments leave room for AccECN's option, whether
    /// or not `option` puts it there: with `tcp_ecn_option` 1 Linux leaves it only while the option is due.
    #[cold]
    pub(crate) fn use_bytes(&mut self, option: OptionUse) {
        self.bytes = Some(Box::new(Bytes::new(option)));
        self.board.shorten(Segment::ACCECN_LEN);
        self.fit_segments();
    }

    /// Counts the payload of `segment`, which arrived.
    #[cold]
    pub(crate) fn count_bytes(&mut self, segment: &Segment) {
        if let Some(bytes) = &mut self.bytes {
            bytes.seen.count(segment);
        }
    }

    /// Returns `segment`, which leaves at `now`, with the option if it is to have it.
    #[cold]
    pub(crate) fn tell_bytes(&mut self, now: Instant, segment: Segment) -> Segment {
        match &mut self.bytes {
            Some(bytes) => bytes.seen.tell(segment, now, self.rtt.srtt().unwrap_or_default()),
            None => segment,
        }
    }

    /// Reads the ECN feedback of an ACK that delivered `segments`. `una` is SND.UNA before it.
    #[cold]
    pub(super) fn read_marks(
        &mut self,
        ack: &Segment,
        una: SeqNumber,
        segments: u32,
        is_newer: bool,
    ) -> Option<u32> {
        let (mss, mut ce) = (self.mss, None);
        let bytes = match ack.blocks() {
            0 if ack.ack > una => ack.ack.since(una),
            _ => segments * u32::from(mss), // SACK: all taken for full
        };
        if let Some(counters) = self.bytes.as_mut().filter(|_| segments > 0 || is_newer) {
            ce = counters.read.read(ack.accecn(), bytes);
        }
        let resolve = |least, most| Some(Wrapped { least, most, segments, bytes, mss }.resolve(ce?));
        self.feedback.read(ack.flags, segments, is_newer, resolve)
    }
}
