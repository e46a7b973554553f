//! Why a frame gave no TCP segment, and how many frames did so.

use std::collections::BTreeMap;
use std::fmt;

/// Why a frame gave no TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Skip {
    /// The frame holds another protocol, such as UDP, ARP or a beacon.
    NotTcp,
    /// The frame may hold TCP, which was not found.
    NotUnderstood(Reason),
}

/// Why a frame was not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// The snap length ended the frame within its headers.
    Cut,
    /// A header's length or version cannot be.
    Malformed,
    /// The TCP header is in another fragment, which was not captured before.
    Fragment,
    /// A fragment of an 802.11 frame, without the frame's beginning.
    WifiFragment,
    Encrypted(&'static str),
    /// Headers or data that PPP or IPComp compressed.
    Compressed,
    /// A radiotap header says that the frame arrived with a wrong check sequence.
    Damaged,
    /// More headers within each other than there are on any path.
    Nested,
    LinkType(i32),
    EtherType(u16),
    /// What a stack of MPLS labels carries is said by no field. It begins neither like IP nor like a control word.
    Mpls,
}

impl fmt::Display for Reason {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut => to.write_str("cut within the headers"),
            Self::Malformed => to.write_str("malformed"),
            Self::Fragment => to.write_str("IP fragment without the first one"),
            Self::WifiFragment => to.write_str("802.11 fragment"),
            Self::Encrypted(by) => write!(to, "encrypted ({by})"),
            Self::Compressed => to.write_str("compressed"),
            Self::Damaged => to.write_str("wrong check sequence (802.11)"),
            Self::Nested => to.write_str("too many headers"),
            Self::LinkType(number) => write!(to, "link type {number}"),
            Self::EtherType(number) => write!(to, "EtherType 0x{number:04x}"),
            Self::Mpls => to.write_str("unknown within MPLS"),
        }
    }
}

/// The frames of a capture by what was found in them.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// All frames.
    pub frames: u64,
    /// Frames in which TCP was found.
    pub tcp: u64,
    /// Frames of other protocols, such as UDP, ARP or beacons.
    pub other: u64,
    reasons: BTreeMap<Reason, u64>,
}

impl Tally {
    pub(crate) fn count(&mut self, found: Result<(), Skip>) {
        self.frames += 1;
        match found {
            Ok(()) => self.tcp += 1,
            Err(Skip::NotTcp) => self.other += 1,
            Err(Skip::NotUnderstood(reason)) => *self.reasons.entry(reason).or_default() += 1,
        }
    }

    /// Returns the reasons why frames were not understood, each with its number of frames.
    pub fn not_understood(&self) -> impl Iterator<Item = (String, u64)> {
        self.reasons.iter().map(|(reason, frames)| (reason.to_string(), *frames))
    }
}
