//! ECN feedback at a sender, and AccECN's option in the segments of its end.

use super::Sender;
use crate::ecn::Wrapped;
use crate::{Segment, SeqNumber};
use alloc::boxed::Box;

impl Sender {
    /// Counts and reads the bytes of each codepoint from now on. Segments have AccECN's option, and so less payload.
    #[cold]
    pub(crate) fn use_bytes(&mut self) {
        self.bytes = Some(Box::default());
        self.board.shorten(Segment::ACCECN_LEN);
        self.fit_segments();
    }

    /// Counts the payload of `segment`, which arrived.
    #[cold]
    pub(crate) fn count_bytes(&mut self, segment: &Segment) {
        if let Some(bytes) = &mut self.bytes {
            bytes.seen.count(segment.ecn, segment.payload_len);
        }
    }

    /// Returns `segment`, which leaves, with the option.
    #[cold]
    pub(crate) fn tell_bytes(&mut self, segment: Segment) -> Segment {
        match &mut self.bytes {
            Some(bytes) => bytes.seen.tell(segment),
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
