//! A segment as a script says it, `1:1001 ack 1 sack 2001:3001`, and as the connection has it.

use goodqueue_tcp::{Flags, SackBlock, Segment, SeqNumber};
use goodqueue_units::Ecn;
use std::fmt::Write as _;

/// Words for the bits that a script must say, each with its bit. ACK is said by its number, PSH only where it matters.
pub const FLAGS: [(&str, Flags); 4] =
    [("syn", Flags::SYN), ("fin", Flags::FIN), ("ece", Flags::ECE), ("cwr", Flags::CWR)];

/// The codepoints' words; a segment without one is Not-ECT.
pub const CODEPOINTS: [(&str, Ecn); 4] =
    [("not-ect", Ecn::NotEct), ("ect0", Ecn::Ect0), ("ect1", Ecn::Ect1), ("ce", Ecn::Ce)];

/// Acknowledgement numbers `first`, `first + step` … `last`, one a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acks {
    pub first: u32,
    pub last: u32,
    pub step: u32,
}

/// A line's segment, or its several in a row. Sequence numbers count from the SYN, which is 0, so data begins at 1.
#[derive(Clone, Debug, Default)]
pub struct Wire {
    pub flags: Flags,
    /// `Some(true)` where PSH must be there, `Some(false)` where it must not.
    pub psh: Option<bool>,
    /// Payload `start..end`.
    pub range: Option<(u32, u32)>,
    pub acks: Option<Acks>,
    pub sack: Vec<(u32, u32)>,
    pub win: Option<u32>,
    /// Timestamp value and echo, in milliseconds.
    pub ts: Option<(u32, u32)>,
    pub wscale: Option<u8>,
    /// AccECN's counter of CE packets, three bits.
    pub ace: Option<u8>,
    /// AccECN's AE bit, on a SYN.
    pub ae: bool,
    pub ecn: Ecn,
    /// How many in a row.
    pub segments: u32,
}

impl Wire {
    /// The segments in a row that the line stands for.
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

    /// The segment in a script's words, for reports.
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
        if let Some(win) = self.win {
            let _ = write!(text, " win {win}");
        }
        text += codepoint(self.ecn);
        text.trim_start().to_string()
    }

    /// What a script says that this TCP has no word for yet.
    pub fn lacks(&self) -> Option<&'static str> {
        match self {
            Self { ts: Some(_), .. } => Some("timestamps"),
            Self { wscale: Some(_), .. } => Some("window scaling"),
            Self { ace: Some(_), .. } | Self { ae: true, .. } => Some("AccECN"),
            _ => None,
        }
    }

    /// Whether `segment`, which a connection with these first sequence numbers sent, is what the line says.
    ///
    /// What the line leaves out must not be there (flags, SACK blocks, payload, a codepoint), but for PSH, the window, and
    /// the acknowledgement number of data, which may be anything.
    pub fn is(&self, segment: &Segment, ecn: Ecn, ours: u32, theirs: u32) -> bool {
        let seq = segment.seq.since(SeqNumber(ours));
        let payload = u32::from(segment.payload_len);
        let range = self.range.map_or(payload == 0, |(start, end)| (start, end) == (seq, seq + payload));
        let flags = FLAGS.iter().all(|&(_, flag)| segment.flags.contains(flag) == self.flags.contains(flag));
        let says_ack = self.ack().is_some() || self.range.is_some();
        let ack = self.ack().is_none_or(|ack| segment.ack == SeqNumber(theirs) + ack);
        let sack = self.sack.iter().map(|&(start, end)| block(theirs, start, end));
        range
            && flags
            && segment.flags.contains(Flags::ACK) == says_ack
            && ack
            && self.psh.is_none_or(|psh| segment.flags.contains(Flags::PSH) == psh)
            && sack.eq(segment.sack_blocks().iter().copied())
            && self.win.is_none_or(|win| segment.window == win)
            && ecn == self.ecn
    }
}

/// Bytes `start..end` of the endpoint whose first sequence number is `initial`.
pub fn block(initial: u32, start: u32, end: u32) -> SackBlock {
    SackBlock { start: SeqNumber(initial) + start, end: SeqNumber(initial) + end }
}

fn without_fin(flags: Flags) -> Flags {
    let kept = FLAGS.iter().filter(|(_, flag)| flags.contains(*flag) && *flag != Flags::FIN);
    kept.fold(Flags::NONE, |all, &(_, flag)| all | flag)
}

/// `segment` as a script would say it.
pub fn describe(segment: &Segment, ecn: Ecn, ours: u32, theirs: u32) -> String {
    let seq = segment.seq.since(SeqNumber(ours));
    let end = seq + u32::from(segment.payload_len);
    let theirs = |seq: SeqNumber| seq.since(SeqNumber(theirs));
    let ack = theirs(segment.ack);
    let wire = Wire {
        flags: segment.flags,
        psh: segment.flags.contains(Flags::PSH).then_some(true),
        range: (end > seq || segment.flags.contains(Flags::FIN)).then_some((seq, end)),
        acks: segment.flags.contains(Flags::ACK).then_some(Acks { first: ack, last: ack, step: 0 }),
        sack: segment.sack_blocks().iter().map(|block| (theirs(block.start), theirs(block.end))).collect(),
        win: Some(segment.window),
        ecn,
        ..Wire::default()
    };
    wire.text()
}

fn codepoint(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "",
        Ecn::Ect0 => " ect0",
        Ecn::Ect1 => " ect1",
        Ecn::Ce => " ce",
    }
}
