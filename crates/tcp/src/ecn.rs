//! ECN in TCP: how it is agreed, what a receiver echoes, what a sender reads from the echo.
//!
//! Three feedbacks: classic (RFC 3168, 6.1), one signal a round trip; DCTCP's (RFC 8257, 3.2), in which ECE says of
//! each ACK whether what it covers was marked; and accurate (RFC 9768, AccECN), a counter of CE packets, modulo 8, in
//! the bits AE, CWR and ECE of every segment.
//!
//! Of RFC 9768 not modelled: the AccECN option (so the three-bit counter is all there is), a response to a CE mark on
//! SYN or SYN-ACK, and the tests for mangled IP headers (3.2.2.3); nothing here mangles them.

use crate::{Flags, Segment, SeqNumber};
use goodqueue_units::Ecn;

/// Which feedback an endpoint asks for, or agrees to; one that can give more gives less to a peer that asks for less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EcnMode {
    /// No ECN.
    #[default]
    Off,
    /// RFC 3168; DCTCP's where both ends run it.
    Classic,
    /// RFC 9768, AccECN.
    Accurate,
}

/// How a congestion control uses ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnUse {
    /// As RFC 3168 has it: ECT(0) on new data only; with accurate feedback on all but SYN and SYN-ACK.
    Classic,
    /// As DCTCP: ECT(0) on all packets, SYN, ACKs and retransmissions included (RFC 8257, 3.5), and its own echo.
    Dctcp,
    /// As L4S wants it: ECT(1) on all packets, with accurate feedback (RFC 9331, 4.1 and 4.2).
    L4s,
}

impl EcnMode {
    /// What a SYN asks with (RFC 3168, 6.1.1; RFC 9768, 3.1.1).
    pub(crate) fn syn_flags(self) -> Flags {
        match self {
            Self::Off => Flags::NONE,
            Self::Classic => Flags::CWR | Flags::ECE,
            Self::Accurate => Flags::ACE,
        }
    }

    /// What a server that would give `self` agrees to when a SYN says `flags` (RFC 9768, table 2). Combinations without
    /// a meaning yet count as a request for accurate feedback (3.1.3).
    pub(crate) fn answer(self, flags: Flags) -> Self {
        let asks_classic = flags.contains(Flags::CWR | Flags::ECE);
        match self {
            Self::Accurate if (flags & Flags::ACE) == (Flags::CWR | Flags::ECE) => Self::Classic,
            Self::Accurate if flags.intersects(Flags::ACE) => Self::Accurate,
            Self::Classic if asks_classic => Self::Classic,
            _ => Self::Off,
        }
    }

    /// What a SYN-ACK says where `self` is agreed and the SYN came as `syn` (RFC 9768, table 2).
    pub(crate) fn syn_ack_flags(self, syn: Ecn) -> Flags {
        match self {
            Self::Off => Flags::NONE,
            Self::Classic => Flags::ECE,
            Self::Accurate => handshake_flags(syn),
        }
    }

    /// What a client that asked for `self` has when the SYN-ACK says `flags` (RFC 9768, table 2).
    pub(crate) fn agreed(self, flags: Flags) -> Self {
        let said = flags & Flags::ACE;
        match self {
            Self::Accurate if said == Flags::ECE => Self::Classic,
            Self::Accurate if said != Flags::NONE && said != Flags::ACE => Self::Accurate,
            Self::Classic if flags.contains(Flags::ECE) && !flags.contains(Flags::CWR) => Self::Classic,
            _ => Self::Off,
        }
    }

    /// The codepoint of packets of a congestion control that uses ECN as `of` does. One that wants L4S and gets classic
    /// feedback must not say that it is L4S (RFC 9331, 4.3).
    pub(crate) fn codepoint(self, of: EcnUse) -> Ecn {
        match (self, of) {
            (Self::Off, _) => Ecn::NotEct,
            (Self::Accurate, EcnUse::L4s) => Ecn::Ect1,
            _ => Ecn::Ect0,
        }
    }
}

/// How SYN-ACK, and the ACK of it, tell with which codepoint the other came (RFC 9768, tables 2 and 3).
pub(crate) fn handshake_flags(came_as: Ecn) -> Flags {
    match came_as {
        Ecn::NotEct => Flags::CWR,
        Ecn::Ect1 => Flags::CWR | Flags::ECE,
        Ecn::Ect0 => Flags::AE,
        Ecn::Ce => Flags::AE | Flags::CWR,
    }
}

/// RFC 9768, 3.2: where both counters begin.
const FIRST_COUNT: u8 = 5;

/// The low three bits of a counter in the bits AE, CWR and ECE.
fn ace_flags(count: u8) -> Flags {
    Flags::AE.when(count & 4 != 0) | Flags::CWR.when(count & 2 != 0) | Flags::ECE.when(count & 1 != 0)
}

/// The counter that `flags` hold.
fn ace_count(flags: Flags) -> u8 {
    u8::from(flags.contains(Flags::AE)) << 2
        | u8::from(flags.contains(Flags::CWR)) << 1
        | u8::from(flags.contains(Flags::ECE))
}

/// A receiver's echo.
#[derive(Clone, Debug)]
pub(crate) struct Echo {
    kind: EchoKind,
    /// What every ACK says now.
    flags: Flags,
    /// The last packet was marked.
    ce: bool,
    /// CE packets that no ACK has told of.
    untold: u8,
    /// An ACK that is to go out before any other: up to where, and what it says (DCTCP).
    owed: Option<(SeqNumber, Flags)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EchoKind {
    Off,
    Classic,
    Dctcp,
    Accurate,
}

/// What a receiver does about an arrival's marks, beside what it does anyway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Urgency {
    /// Acknowledge now.
    pub(crate) now: bool,
    /// Acknowledge a few segments at once: the sender's window may be too small for a second one to come.
    pub(crate) quick: bool,
}

impl Urgency {
    const NONE: Self = Self { now: false, quick: false };
    const NOW: Self = Self { now: true, quick: false };

    fn now_if(now: bool) -> Self {
        Self { now, ..Self::NONE }
    }
}

impl Echo {
    pub(crate) const OFF: Self =
        Self { kind: EchoKind::Off, flags: Flags::NONE, ce: false, untold: 0, owed: None };

    /// That of an endpoint that agreed to `mode` and whose congestion control uses ECN as `of` does. `handshake` is how
    /// the peer's SYN, or SYN-ACK, came; a marked SYN-ACK counts, a SYN does not (RFC 9768, 3.2.2.2).
    pub(crate) fn new(mode: EcnMode, of: EcnUse, handshake: Ecn, is_client: bool) -> Self {
        let kind = match (mode, of) {
            (EcnMode::Off, _) => EchoKind::Off,
            (EcnMode::Classic, EcnUse::Dctcp) => EchoKind::Dctcp,
            (EcnMode::Classic, _) => EchoKind::Classic,
            (EcnMode::Accurate, _) => EchoKind::Accurate,
        };
        let count = FIRST_COUNT + u8::from(is_client && handshake == Ecn::Ce);
        let flags = if kind == EchoKind::Accurate { ace_flags(count) } else { Flags::NONE };
        Self { kind, flags, ..Self::OFF }
    }

    /// The bits that every segment with an acknowledgement carries.
    #[inline]
    pub(crate) fn flags(&self) -> Flags {
        self.flags
    }

    /// Whether [`on_data`](Self::on_data) has to know of `segment`.
    #[inline]
    pub(crate) fn concerns(&self, segment: &Segment) -> bool {
        match self.kind {
            EchoKind::Off => false,
            EchoKind::Classic => segment.ecn == Ecn::Ce || segment.flags.contains(Flags::CWR),
            EchoKind::Dctcp => (segment.ecn == Ecn::Ce) != self.ce,
            EchoKind::Accurate => segment.ecn == Ecn::Ce || self.ce,
        }
    }

    /// Takes the marks of `segment`, which arrives when `in_order` was the next byte expected, and `unacked` says
    /// whether a delayed ACK waits.
    #[cold]
    pub(crate) fn on_data(&mut self, segment: &Segment, in_order: SeqNumber, unacked: bool) -> Urgency {
        let ce = segment.ecn == Ecn::Ce;
        match self.kind {
            EchoKind::Off => Urgency::NONE,
            EchoKind::Classic => self.on_classic(segment),
            EchoKind::Dctcp => {
                // RFC 8257, 3.2: the state changes, and an ACK tells at once. What waits for an ACK is told first, with
                // the old state, else it would count as the new.
                if unacked && self.owed.is_none() {
                    self.owed = Some((in_order, self.flags));
                }
                self.ce = ce;
                self.flags = Flags::ECE.when(ce);
                Urgency::NOW
            }
            EchoKind::Accurate => {
                let change = ce && !self.ce;
                self.ce = ce;
                if !ce {
                    return Urgency::NONE;
                }
                self.count();
                // RFC 9768, 3.2.2.5.1: change-triggered, and every second mark while data waits for an ACK.
                Urgency::now_if(change || self.untold >= 2)
            }
        }
    }

    /// RFC 3168, 6.1.3: CE starts the echo, CWR stops it; where both come together, the mark is the newer news.
    fn on_classic(&mut self, segment: &Segment) -> Urgency {
        let mut urgency = Urgency::NONE;
        if segment.flags.contains(Flags::CWR) {
            self.flags = Flags::NONE;
            urgency.now = true;
        }
        if segment.ecn == Ecn::Ce && self.flags == Flags::NONE {
            self.flags = Flags::ECE;
            urgency.quick = true;
        }
        urgency
    }

    /// Takes the mark of a segment without data, which only the accurate counter counts; whether to acknowledge it, as
    /// every third one (RFC 9768, 3.2.2.5.1).
    #[cold]
    pub(crate) fn on_marked_ack(&mut self) -> Urgency {
        if self.kind != EchoKind::Accurate {
            return Urgency::NONE;
        }
        self.ce = true;
        self.count();
        Urgency::now_if(self.untold >= 3)
    }

    fn count(&mut self) {
        self.flags = ace_flags(ace_count(self.flags) + 1);
        self.untold = self.untold.saturating_add(1);
    }

    /// An ACK has told everything.
    #[inline]
    pub(crate) fn on_told(&mut self) {
        self.untold = 0;
    }

    /// Whether [`take_owed`](Self::take_owed) has an ACK to send.
    #[inline]
    pub(crate) fn owes(&self) -> bool {
        self.owed.is_some()
    }

    /// The ACK that is to go out first: its number and its bits.
    #[cold]
    pub(crate) fn take_owed(&mut self) -> Option<(SeqNumber, Flags)> {
        self.owed.take()
    }
}

/// How many segments an ACK delivers, on average: by it a sender knows whether ACKs are thinned.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PerAck {
    /// In 64ths of a segment; 0 before the first ACK.
    mean: u16,
}

impl PerAck {
    /// Above this mean a long ACK is the rule, and tells of no ACKs lost whose marks it would hide.
    const THINNED: u16 = 4 << 6;

    /// An ACK delivered `segments`. Each counts for a 64th, as on Linux.
    fn note(&mut self, segments: u32) {
        let (mean, sample) = (u32::from(self.mean), segments.min(1 << 10) << 6);
        let mean = if mean == 0 { sample } else { (63 * mean + sample) >> 6 };
        self.mean = mean.min(u16::MAX.into()) as u16;
    }

    fn is_thinned(self) -> bool {
        self.mean > Self::THINNED
    }
}

/// What a sender reads from the echo.
#[derive(Clone, Debug)]
pub(crate) struct Feedback {
    /// The bits that tell: none, ECE, or the three of the counter.
    told_by: Flags,
    /// What they say where there is nothing new: no ECE, or the counter as last heard (s.cep).
    known: Flags,
    per_ack: PerAck,
}

impl Feedback {
    pub(crate) const OFF: Self =
        Self { told_by: Flags::NONE, known: Flags::NONE, per_ack: PerAck { mean: 0 } };

    /// That of `mode`. A server's `handshake` is the ACK of its SYN-ACK, where that came without data; all zeros tells
    /// that the peer does without (RFC 9768, table 4).
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

    /// The feedback that is read.
    pub(crate) fn mode(&self) -> EcnMode {
        match self.told_by {
            Flags::ACE => EcnMode::Accurate,
            Flags::ECE => EcnMode::Classic,
            _ => EcnMode::Off,
        }
    }

    /// Whether reductions are confirmed with CWR: not with accurate feedback, whose counter has its bit.
    pub(crate) fn confirms(&self) -> bool {
        self.mode() == EcnMode::Classic
    }

    /// Whether `flags`, on an ACK that delivered `segments`, need [`read`](Self::read): they tell something new, or the
    /// counter may have gone round, and how long ACKs are has to be known for that.
    #[inline]
    pub(crate) fn is_news(&self, flags: Flags, segments: u32) -> bool {
        (flags & self.told_by) != self.known || (segments > 0 && self.told_by == Flags::ACE)
    }

    /// Whether they may, however many it delivered.
    #[inline]
    pub(crate) fn may_be_news(&self, flags: Flags) -> bool {
        self.is_news(flags, u32::MAX)
    }

    /// Reads `flags` on an ACK that delivered `segments`, or at least `is_newer` than all before by its timestamp: how
    /// many were marked, or none where there is no news.
    ///
    /// Classic feedback says nothing of how many; DCTCP's says it of all that the ACK delivered (RFC 8257, 3.3).
    #[cold]
    pub(crate) fn read(&mut self, flags: Flags, segments: u32, is_newer: bool) -> Option<u32> {
        if self.mode() == EcnMode::Classic {
            return flags.contains(Flags::ECE).then_some(segments);
        }
        // One that delivers nothing may be older than the last, unless its timestamp says otherwise (RFC 9768, A.1);
        // the counter will tell it again.
        if (segments == 0 && !is_newer) || self.mode() == EcnMode::Off {
            return None;
        }
        if segments > 0 {
            self.per_ack.note(segments);
        }
        let count = u32::from(ace_count(flags).wrapping_sub(ace_count(self.known)) & 7);
        // RFC 9768, A.2: the greatest count that the counter and what was delivered allow. It asks for "the safest
        // likely case" (3.2.2.5.2): where ACKs are as long as a rule, none was lost, and as on Linux the counter is
        // believed.
        let may_have_gone_round = segments > 7 && !self.per_ack.is_thinned();
        let marked = if may_have_gone_round { segments - (segments.wrapping_sub(count) & 7) } else { count };
        self.known = flags & Flags::ACE;
        (marked > 0).then_some(marked)
    }
}

#[cfg(test)]
mod tests;
