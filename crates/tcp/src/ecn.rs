//! ECN in TCP: the negotiation, the receiver's echo, and the sender's reading of the echo.
//!
//! There are three kinds of feedback:
//! - Classic (RFC 3168, 6.1): one signal per round trip.
//! - DCTCP's (RFC 8257, 3.2): ECE in each ACK says whether the segments that it covers were marked.
//! - Accurate (RFC 9768, AccECN): a counter of CE packets, modulo 8, in the bits AE, CWR and ECE of every segment.
//!
//! Stacks that have AccECN's option (`bytes`) also count the marked bytes.
//!
//! Not modelled from RFC 9768: a response to a CE mark on SYN or SYN-ACK, and the tests for mangled IP headers
//! (3.2.2.3), because nothing here mangles them.

mod bytes;
mod feedback;
mod policy;

pub(crate) use bytes::{Bytes, Wrapped};
pub(crate) use feedback::Feedback;
pub use policy::OptionUse;

use crate::{Flags, Segment, SeqNumber};
use goodqueue_units::Ecn;

/// The feedback that an endpoint asks for, or agrees to. An endpoint that supports more gives less to a peer that asks
/// for less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EcnMode {
    /// No ECN.
    #[default]
    Off,
    /// RFC 3168, or DCTCP's feedback if both ends run DCTCP.
    Classic,
    /// RFC 9768, AccECN.
    Accurate,
}

/// How a congestion control uses ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnUse {
    /// As in RFC 3168: ECT(0) on new data only. With accurate feedback, on everything except SYN and SYN-ACK.
    Classic,
    /// As DCTCP: ECT(0) on all packets, including SYN, ACKs and retransmissions (RFC 8257, 3.5), with its own echo.
    Dctcp,
    /// As L4S requires: ECT(1) on all packets, with accurate feedback (RFC 9331, 4.1 and 4.2).
    L4s,
}

impl EcnMode {
    /// Returns the flags with which a SYN asks (RFC 3168, 6.1.1; RFC 9768, 3.1.1).
    pub(crate) fn syn_flags(self) -> Flags {
        match self {
            Self::Off => Flags::NONE,
            Self::Classic => Flags::CWR | Flags::ECE,
            Self::Accurate => Flags::ACE,
        }
    }

    /// Returns the feedback that a server supporting `self` agrees to when a SYN has `flags` (RFC 9768, table 2).
    /// Combinations without a meaning yet count as a request for accurate feedback (3.1.3).
    pub(crate) fn answer(self, flags: Flags) -> Self {
        let asks_classic = flags.contains(Flags::CWR | Flags::ECE);
        match self {
            Self::Accurate if (flags & Flags::ACE) == (Flags::CWR | Flags::ECE) => Self::Classic,
            Self::Accurate if flags.intersects(Flags::ACE) => Self::Accurate,
            Self::Classic if asks_classic => Self::Classic,
            _ => Self::Off,
        }
    }

    /// Returns the flags of a SYN-ACK if `self` is agreed and the SYN arrived with the codepoint `syn` (RFC 9768, table
    /// 2).
    pub(crate) fn syn_ack_flags(self, syn: Ecn) -> Flags {
        match self {
            Self::Off => Flags::NONE,
            Self::Classic => Flags::ECE,
            Self::Accurate => handshake_flags(syn),
        }
    }

    /// Returns the agreed feedback of a client that asked for `self` when the SYN-ACK has `flags` (RFC 9768, table 2).
    pub(crate) fn agreed(self, flags: Flags) -> Self {
        let said = flags & Flags::ACE;
        match self {
            Self::Accurate if said == Flags::ECE => Self::Classic,
            Self::Accurate if said != Flags::NONE && said != Flags::ACE => Self::Accurate,
            Self::Classic if flags.contains(Flags::ECE) && !flags.contains(Flags::CWR) => Self::Classic,
            _ => Self::Off,
        }
    }

    /// Returns the codepoint of packets of a congestion control that uses ECN as `of` does. One that asks for L4S and
    /// gets classic feedback must not mark its packets as L4S (RFC 9331, 4.3).
    pub(crate) fn codepoint(self, of: EcnUse) -> Ecn {
        match (self, of) {
            (Self::Off, _) => Ecn::NotEct,
            (Self::Accurate, EcnUse::L4s) => Ecn::Ect1,
            _ => Ecn::Ect0,
        }
    }
}

/// Returns the flags with which a SYN-ACK, or the ACK of it, reports the codepoint of the packet before it (RFC 9768,
/// tables 2 and 3).
pub(crate) fn handshake_flags(came_as: Ecn) -> Flags {
    match came_as {
        Ecn::NotEct => Flags::CWR,
        Ecn::Ect1 => Flags::CWR | Flags::ECE,
        Ecn::Ect0 => Flags::AE,
        Ecn::Ce => Flags::AE | Flags::CWR,
    }
}

/// The initial value of both counters (RFC 9768, 3.2).
const FIRST_COUNT: u8 = 5;

/// Returns the low three bits of a counter as the bits AE, CWR and ECE.
fn ace_flags(count: u8) -> Flags {
    Flags::AE.when(count & 4 != 0) | Flags::CWR.when(count & 2 != 0) | Flags::ECE.when(count & 1 != 0)
}

/// Returns the counter in `flags`.
fn ace_count(flags: Flags) -> u8 {
    u8::from(flags.contains(Flags::AE)) << 2
        | u8::from(flags.contains(Flags::CWR)) << 1
        | u8::from(flags.contains(Flags::ECE))
}

/// This number of marks is reported at once (RFC 9768, 3.2.2.5.1: from 2 to 6; Linux `TCP_ACCECN_ACE_MAX_DELTA`). Linux
/// reports each change besides, to an unmarked packet, too (`tcp_ecn_received_counters`).
const MOST_UNTOLD: u8 = 6;

/// A receiver's echo.
#[derive(Clone, Debug)]
pub(crate) struct Echo {
    kind: EchoKind,
    /// The flags that every ACK carries now.
    flags: Flags,
    /// The last packet was marked; with classic ECN: a packet was ECN-capable (Linux `TCP_ECN_SEEN`).
    ce: bool,
    /// CE packets that no ACK has reported.
    untold: u8,
    owed: Owed,
}

/// An ACK that must leave before anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owed {
    Nothing,
    /// Of what came before the last segment: its number and its flags (DCTCP).
    Before(SeqNumber, Flags),
    /// Of everything, because what the application sends comes later.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EchoKind {
    Off,
    Classic,
    Dctcp,
    Accurate,
    /// Accurate, with the option.
    AccurateBytes,
}

/// The urgency of the ACK that an arrival's marks cause, in addition to the usual rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Urgency {
    /// Acknowledge now.
    pub(crate) now: bool,
    /// Acknowledge a few segments at once: the sender's window may be too small for a second segment.
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
        Self { kind: EchoKind::Off, flags: Flags::NONE, ce: false, untold: 0, owed: Owed::Nothing };

    /// Builds the echo of an endpoint that agreed to `mode` and whose congestion control uses ECN as `of` does.
    /// `handshake` is the codepoint with which the peer's SYN, or SYN-ACK, arrived. A marked SYN-ACK counts, a marked
    /// SYN does not (RFC 9768, 3.2.2.2).
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

    /// Takes note that segments carry AccECN's option from now on, if the echo is accurate.
    pub(crate) fn tell_bytes(&mut self) {
        if self.kind == EchoKind::Accurate {
            self.kind = EchoKind::AccurateBytes;
        }
    }

    /// Returns whether segments carry AccECN's option.
    #[inline]
    pub(crate) fn tells_bytes(&self) -> bool {
        self.kind == EchoKind::AccurateBytes
    }

    /// Returns the bits that every segment with an acknowledgement carries.
    #[inline]
    pub(crate) fn flags(&self) -> Flags {
        self.flags
    }

    /// Returns whether [`on_data`](Self::on_data) must see `segment`.
    #[inline]
    pub(crate) fn concerns(&self, segment: &Segment) -> bool {
        match self.kind {
            EchoKind::Off => false,
            EchoKind::Classic => {
                segment.ecn == Ecn::Ce
                    || (segment.ecn == Ecn::NotEct) == self.ce
                    || segment.flags.contains(Flags::CWR)
            }
            EchoKind::Dctcp => (segment.ecn == Ecn::Ce) != self.ce || segment.flags.contains(Flags::CWR),
            EchoKind::Accurate | EchoKind::AccurateBytes => segment.ecn == Ecn::Ce || self.ce,
        }
    }

    /// Takes the marks of `segment`. `in_order` was the next byte expected when it arrived, and `unacked` says whether
    /// a delayed ACK waits.
    #[cold]
    pub(crate) fn on_data(&mut self, segment: &Segment, in_order: SeqNumber, unacked: bool) -> Urgency {
        let ce = segment.ecn == Ecn::Ce;
        match self.kind {
            EchoKind::Off => Urgency::NONE,
            EchoKind::Classic => self.on_classic(segment),
            EchoKind::Dctcp if ce == self.ce => Urgency::NOW, // CWR, as in `on_classic`
            EchoKind::Dctcp => {
                // RFC 8257, 3.2: the state changes, and an ACK reports it at once. A waiting ACK leaves before it with
                // the old state; otherwise its data would count with the new state.
                if unacked && self.owed == Owed::Nothing {
                    self.owed = Owed::Before(in_order, self.flags);
                }
                self.ce = ce;
                self.flags = Flags::ECE.when(ce);
                Urgency::NOW
            }
            EchoKind::Accurate | EchoKind::AccurateBytes => {
                let changes = ce != self.ce;
                self.ce = ce;
                if ce {
                    self.count(segment.parts());
                }
                Urgency::now_if(changes || self.untold >= MOST_UNTOLD)
            }
        }
    }

    /// Takes a segment's bits (RFC 3168, 6.1.3): CE starts the echo, CWR stops it. If both come together, the mark is
    /// newer. On Linux data without ECT behind data with it is probably sent again, and its sender's window small.
    fn on_classic(&mut self, segment: &Segment) -> Urgency {
        let is_capable = segment.ecn != Ecn::NotEct;
        let mut urgency = Urgency { now: false, quick: self.ce && !is_capable && segment.payload_len > 0 };
        self.ce |= is_capable;
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

    /// Takes the mark of a segment without data. Only the accurate counter counts it, and every third mark is
    /// acknowledged (RFC 9768, 3.2.2.5.1).
    #[cold]
    pub(crate) fn on_marked_ack(&mut self) -> Urgency {
        if !matches!(self.kind, EchoKind::Accurate | EchoKind::AccurateBytes) {
            return Urgency::NONE;
        }
        self.ce = true;
        self.count(1);
        Urgency::now_if(self.untold >= 3)
    }

    /// Counts this number of marked `packets`.
    fn count(&mut self, packets: u32) {
        let packets = packets.min(u8::MAX.into()) as u8;
        self.flags = ace_flags(ace_count(self.flags).wrapping_add(packets));
        self.untold = self.untold.saturating_add(packets);
    }

    /// Takes note that an ACK has reported everything.
    #[inline]
    pub(crate) fn on_told(&mut self) {
        self.untold = 0;
    }

    /// Returns whether [`take_owed`](Self::take_owed) has an ACK to send.
    #[inline]
    pub(crate) fn owes(&self) -> bool {
        self.owed != Owed::Nothing
    }

    /// Asks for an ACK of everything before anything else leaves.
    #[cold]
    pub(crate) fn owe_all(&mut self) {
        if self.owed == Owed::Nothing {
            self.owed = Owed::All;
        }
    }

    /// Takes the ACK that must leave first.
    #[cold]
    pub(crate) fn take_owed(&mut self) -> Owed {
        core::mem::replace(&mut self.owed, Owed::Nothing)
    }
}

#[cfg(test)]
mod tests;
