//! The sender's reading of the echo.

use super::{EcnMode, FIRST_COUNT, ace_count, ace_flags, handshake_flags};
use crate::Flags;
use goodqueue_units::Ecn;

/// The mean number of segments that an ACK delivers. It shows the sender whether ACKs are thinned.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PerAck {
    /// The mean in 64ths of a segment. 0 before the first ACK.
    mean: u16,
}

impl PerAck {
    /// Above this mean long ACKs are the rule, and a long ACK is no sign of lost ACKs with hidden marks.
    const THINNED: u16 = 4 << 6;

    /// Takes note that an ACK delivered `segments`. Each ACK has a weight of 1/64, as on Linux.
    pub(super) fn note(&mut self, segments: u32) {
        let (mean, sample) = (u32::from(self.mean), segments.min(1 << 10) << 6);
        let mean = if mean == 0 { sample } else { (63 * mean + sample) >> 6 };
        self.mean = mean.min(u16::MAX.into()) as u16;
    }

    pub(super) fn is_thinned(self) -> bool {
        self.mean > Self::THINNED
    }
}

/// The sender's reading of the echo.
#[derive(Clone, Debug)]
pub(crate) struct Feedback {
    /// The bits that carry the feedback: none, ECE, or the three of the counter.
    told_by: Flags,
    /// The value of these bits without news: no ECE, or the counter as last heard (s.cep).
    pub(super) known: Flags,
    pub(super) per_ack: PerAck,
}

impl Feedback {
    pub(crate) const OFF: Self =
        Self { told_by: Flags::NONE, known: Flags::NONE, per_ack: PerAck { mean: 0 } };

    /// Builds the reading of `mode`. A server's `handshake` is the ACK of its SYN-ACK, if that came without data. If
    /// its bits are all zero, the peer does without ECN (RFC 9768, table 4).
    pub(crate) fn new(mode: EcnMode, handshake: Option<Flags>) -> Self {
        match mode {
            EcnMode::Off => Self::OFF,
            EcnMode::Classic => Self { told_by: Flags::ECE, ..Self::OFF },
            EcnMode::Accurate => {
                let said = handshake.map(|flags| flags & Flags::ACE);
                if said == Some(Flags::NONE) {
                    return Self::OFF;
                }
                let count = FIRST_COUNT + u8::from(said == Some(handshake_flags(Ecn::Ce)));
                Self { told_by: Flags::ACE, known: ace_flags(count), ..Self::OFF }
            }
        }
    }

    /// Returns the kind of feedback.
    pub(crate) fn mode(&self) -> EcnMode {
        match self.told_by {
            Flags::ACE => EcnMode::Accurate,
            Flags::ECE => EcnMode::Classic,
            _ => EcnMode::Off,
        }
    }

    /// Returns whether reductions are confirmed with CWR. With accurate feedback they are not: the bit belongs to the
    /// counter.
    pub(crate) fn confirms(&self) -> bool {
        self.mode() == EcnMode::Classic
    }

    /// Returns whether `flags`, on an ACK that delivered `segments`, need [`read`](Self::read). They do if they are
    /// new. With the counter every ACK that delivers something needs it: the counter may have wrapped, and `read`
    /// learns the length of ACKs.
    #[inline]
    pub(crate) fn is_news(&self, flags: Flags, segments: u32) -> bool {
        (flags & self.told_by) != self.known || (segments > 0 && self.told_by == Flags::ACE)
    }

    /// Returns whether `flags` may need [`read`](Self::read), for any number of delivered segments.
    #[inline]
    pub(crate) fn may_be_news(&self, flags: Flags) -> bool {
        self.is_news(flags, u32::MAX)
    }

    /// Reads `flags` on an ACK that delivered `segments`, or that `is_newer` than all before by its timestamp. Returns
    /// how many segments were marked, or `None` without news. `resolve` returns the marks that AccECN's option makes of
    /// a counter that may have wrapped, if the option leaves nothing open.
    ///
    /// Classic feedback does not report how many. DCTCP's applies to all segments that the ACK delivered (RFC 8257,
    /// 3.3).
    #[cold]
    pub(crate) fn read(
        &mut self,
        flags: Flags,
        segments: u32,
        is_newer: bool,
        resolve: impl FnOnce(u32, u32) -> Option<u32>,
    ) -> Option<u32> {
        if self.mode() == EcnMode::Classic {
            return flags.contains(Flags::ECE).then_some(segments);
        }
        // An ACK that delivers nothing may be older than the last ACK, unless its timestamp is newer (RFC 9768, A.1).
        // Nothing is lost by skipping it: a later ACK repeats the counter.
        if (segments == 0 && !is_newer) || self.mode() == EcnMode::Off {
            return None;
        }
        if segments > 0 {
            self.per_ack.note(segments);
        }
        let count = u32::from(ace_count(flags).wrapping_sub(ace_count(self.known)) & 7);
        // RFC 9768, A.2: the greatest count that the counter and the delivered segments allow. The RFC asks for "the
        // safest likely case" (3.2.2.5.2): if ACKs are usually that long, none was lost, and as on Linux the counter is
        // taken as it is.
        let most = segments.saturating_sub(segments.wrapping_sub(count) & 7);
        let marked = match resolve(count, most) {
            _ if segments <= 7 => count,
            Some(marked) => marked,
            None if self.per_ack.is_thinned() => count,
            None => most,
        };
        self.known = flags & Flags::ACE;
        (marked > 0).then_some(marked)
    }
}
