//! What a sender sends at a time: one frame, an aggregate of frames, or a question about an aggregate (BlockAckReq).

use super::mode::Mode;
use super::rate_control::{Chain, Stage};
use goodqueue_units::Duration;

pub(super) const BLOCK_ACK_REQ_BYTES: u32 = 24;

/// One frame, or frames that are sent together. A question has no frames.
#[derive(Debug)]
pub(crate) struct Aggregate {
    pub(crate) peer: u32,
    /// The numbers of the frames in the session.
    pub(crate) frames: Vec<u32>,
    /// Bytes that are sent, delimiters and padding included.
    pub(crate) bytes: u32,
    pub(crate) chain: Chain,
    /// How often each stage was tried.
    pub(crate) tried: [u8; 4],
    /// The airtime of the tries so far.
    pub(crate) airtime: Duration,
}

/// What became of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tried {
    /// Something of it arrived, and the receiver answered.
    Answered,
    /// Nobody answered, and the hardware tries again.
    Again,
    /// Nobody answered, and the hardware gives it back, or asks anew for frames that are too old.
    GivenUp,
}

impl Aggregate {
    /// Returns whether RTS and CTS go before it.
    pub(crate) fn has_rts(&self) -> bool {
        self.chain.stages()[self.stage().unwrap_or(0)].has_rts
    }

    /// Returns whether its answer is a BlockAck.
    pub(crate) fn is_aggregate(&self) -> bool {
        self.frames.len() != 1
    }

    /// Returns whether it asks which frames of the transmission before have arrived (BlockAckReq).
    pub(crate) fn asks(&self) -> bool {
        self.frames.is_empty()
    }

    /// Returns the question which frames of `other` have arrived. It is sent in the mode of the answers to `other`,
    /// as often as necessary.
    pub(super) fn question(other: &Self) -> Self {
        let stage = other.chain.stages()[0];
        let asked = Stage { mode: stage.mode.control(), tries: u8::MAX, ..stage };
        let chain = Chain::new(&[asked], false);
        let (tried, airtime) = ([0; 4], Duration::ZERO);
        Self { peer: other.peer, frames: Vec::new(), bytes: BLOCK_ACK_REQ_BYTES, chain, tried, airtime }
    }

    /// Returns the number of the next try's stage.
    pub(crate) fn stage(&self) -> Option<usize> {
        let stages = self.chain.stages().iter().zip(self.tried);
        stages.into_iter().position(|(stage, tried)| tried < stage.tries)
    }

    /// Returns the mode of the next try.
    pub(crate) fn mode(&self) -> Mode {
        self.chain.stages()[self.stage().unwrap_or(0)].mode
    }
}
