//! A segment in a script's words, `1:1001 ack 1 sack 2001:3001`, and as the connection has it.

use goodqueue_tcp::{AccEcnOption, Flags, SackBlock, Segment, SeqNumber};
use goodqueue_units::{Ecn, Instant};
use std::fmt::Write as _;

/// Words for the bits that a script must state, each with its bit. ACK is stated by its number, PSH only if it matters.
pub const FLAGS: [(&str, Flags); 5] =
    [("syn", Flags::SYN), ("fin", Flags::FIN), ("ae", Flags::AE), ("cwr", Flags::CWR), ("ece", Flags::ECE)];

/// Words for the codepoints. A segment without one is Not-ECT.
pub const CODEPOINTS: [(&str, Ecn); 4] =
    [("not-ect", Ecn::NotEct), ("ect0", Ecn::Ect0), ("ect1", Ecn::Ect1), ("ce", Ecn::Ce)];

/// Acknowledgement numbers `first`, `first + step` … `last`, one per segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acks {
    pub first: u32,
    pub last: u32,
    pub step: u32,
}

/// One or several segments in a row of one line. Sequence numbers count from the SYN, which is 0, so data begins at 1.
#[derive(Clone, Debug, Default)]
pub struct Wire {
    pub flags: Flags,
    /// `Some(true)` if PSH must be set, `Some(false)` if it must not.
    pub psh: Option<bool>,
    /// Payload `start..end`.
    pub range: Option<(u32, u32)>,
    pub acks: Option<Acks>,
    pub sack: Vec<(u32, u32)>,
    pub accecn: Option<AccEcnOption>,
    pub win: Option<u32>,
    /// Timestamp value and echo in milliseconds. This endpoint's are of the script's clock.
    pub ts: Option<(u32, u32)>,
    /// The window shift of a SYN.
    pub wscale: Option<u8>,
    pub ecn: Ecn,
    /// The number of segments in a row.
    pub segments: u32,
}

impl Wire {
    /// Returns the single segments of the line.
    pub fn split(&self, mss: u32) -> Vec<Self> {
        let one = |number: u32| {
            let mut wire = Self { segments: 1, ..self.clone() };
            if let (Some((start, end)), true) = (self.range, self.segments > 1) {
                let start = start + number * mss;
                wire.range = Some((start, end.min(start + mss)));
                if number + 1 < self.segments {
                    wire.flags = without_fin(self.flags);
                }
            }
            if let Some(acks) = self.acks {
                let ack = acks.first + number * acks.step;
                wire.acks = Some(Acks { first: ack, last: ack, step: 0 });
            }
            wire
        };
        (0..self.segments).map(one).collect()
    }

    pub fn ack(&self) -> Option<u32> {
        self.acks.map(|acks| acks.first)
    }

    /// Returns the segment in a script's words, for reports.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if let Some((start, end)) = self.range {
            let _ = write!(text, " {start}:{end}");
        }
        for (word, flag) in FLAGS {
            if self.flags.contains(flag) {
                let _ = write!(text, " {word}");
            }
        }
        if let Some(psh) = self.psh {
            text += if psh { " psh" } else { " no-psh" };
        }
        if let Some(ack) = self.ack() {
            let _ = write!(text, " ack {ack}");
        }
        for (number, (start, end)) in self.sack.iter().enumerate() {
            let word = if number == 0 { " sack" } else { "" };
            let _ = write!(text, "{word} {start}:{end}");
        }
        if let Some(AccEcnOption { is_ect0_first, first, ce, last }) = self.accecn {
            let kind = if is_ect0_first { "accecn0" } else { "accecn1" };
            let last = last.map_or(String::new(), |last| format!(",{last}"));
            let _ = write!(text, " {kind} {first},{ce}{last}");
        }
        if let Some(win) = self.win {
            let _ = write!(text, " win {win}");
        }
        if let Some((value, echo)) = self.ts {
            let _ = write!(text, " ts {value}/{echo}");
        }
        if let Some(wscale) = self.wscale {
            let _ = write!(text, " wscale {wscale}");
        }
        text += codepoint(self.ecn);
        text.trim_start().to_string()
    }

    /// Returns whether `segment`, sent by a connection with these `origins`, is the one that the line describes.
    ///
    /// Flags, SACK blocks, AccECN's option, payload and a codepoint that the line leaves out must be absent. PSH, the
    /// window, the other options and the acknowledgement number of data may be anything if the line leaves them out.
    pub fn is(&self, segment: &Segment, origins: &Origins) -> bool {
        let seq = segment.seq.since(SeqNumber(origins.ours));
        let payload = u32::from(segment.payload_len);
        let range = self.range.map_or(payload == 0, |(start, end)| (start, end) == (seq, seq + payload));
        let flags = FLAGS.iter().all(|&(_, flag)| segment.flags.contains(flag) == self.flags.contains(flag));
        let says_ack = self.ack().is_some() || self.range.is_some();
        let ack = self.ack().is_none_or(|ack| segment.ack == SeqNumber(origins.theirs) + ack);
        let sack = self.sack.iter().map(|&(start, end)| block(origins.theirs, start, end));
        let wscale = segment.syn_options().map(|options| options.window_shift);
        range
            && flags
            && segment.flags.contains(Flags::ACK) == says_ack
            && ack
            && self.psh.is_none_or(|psh| segment.flags.contains(Flags::PSH) == psh)
            && sack.eq(segment.sack_blocks().iter().copied())
            && self.accecn == segment.accecn()
            && self.win.is_none_or(|win| origins.window(segment) == win)
            && self.ts.is_none_or(|ts| origins.timestamps(segment) == ts)
            && (self.wscale.is_none() || self.wscale == wscale)
            && segment.ecn == self.ecn
    }
}

/// The origins of a script's numbers in those of the connection.
#[derive(Clone, Copy)]
pub struct Origins {
    /// First sequence numbers of this endpoint and of its peer.
    pub ours: u32,
    pub theirs: u32,
    /// The connection's time when the script's is 0.
    pub time: Instant,
    /// The window shift of this endpoint's SYN.
    pub window_shift: u8,
}

impl Origins {
    /// Returns the timestamp of this endpoint when the script's clock is `ms`. It counts from 1, because 0 means none.
    pub fn timestamp(&self, ms: u32) -> u32 {
        (self.time.as_nanos() / 1_000_000) as u32 + 1 + ms
    }

    /// Returns value and echo of a segment that this endpoint sent.
    fn timestamps(&self, segment: &Segment) -> (u32, u32) {
        (segment.tsval.wrapping_sub(self.timestamp(0)), segment.tsecr)
    }

    /// Returns the window that this endpoint offers, in bytes. The window of a SYN is not shifted.
    fn window(&self, segment: &Segment) -> u32 {
        let shift = if segment.flags.contains(Flags::SYN) { 0 } else { self.window_shift };
        u32::from(segment.window) << shift
    }

    /// Returns `segment` in a script's words.
    pub fn describe(&self, segment: &Segment) -> String {
        let seq = segment.seq.since(SeqNumber(self.ours));
        let end = seq + u32::from(segment.payload_len);
        let theirs = |seq: SeqNumber| seq.since(SeqNumber(self.theirs));
        let ack = theirs(segment.ack);
        let blocks = segment.sack_blocks().iter();
        let wire = Wire {
            flags: segment.flags,
            psh: segment.flags.contains(Flags::PSH).then_some(true),
            range: (end > seq || segment.flags.contains(Flags::FIN)).then_some((seq, end)),
            acks: segment.flags.contains(Flags::ACK).then_some(Acks { first: ack, last: ack, step: 0 }),
            sack: blocks.map(|block| (theirs(block.start), theirs(block.end))).collect(),
            accecn: segment.accecn(),
            win: Some(self.window(segment)),
            ts: Some(self.timestamps(segment)),
            wscale: segment.syn_options().map(|options| options.window_shift),
            ecn: segment.ecn,
            segments: 1,
        };
        wire.text()
    }
}

/// Returns the block of bytes `start..end` of the endpoint whose first sequence number is `initial`.
pub fn block(initial: u32, start: u32, end: u32) -> SackBlock {
    SackBlock { start: SeqNumber(initial) + start, end: SeqNumber(initial) + end }
}

fn without_fin(flags: Flags) -> Flags {
    let kept = FLAGS.iter().filter(|(_, flag)| flags.contains(*flag) && *flag != Flags::FIN);
    kept.fold(Flags::NONE, |all, &(_, flag)| all | flag)
}

fn codepoint(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "",
        Ecn::Ect0 => " ect0",
        Ecn::Ect1 => " ect1",
        Ecn::Ce => " ce",
    }
}
