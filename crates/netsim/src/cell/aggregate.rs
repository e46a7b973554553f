//! What a sender sends at a time: a frame, an aggregate of frames, or a question about one.

use crate::path::wifi::mode::Mode;
use crate::path::wifi::rate_control::{Chain, Stage};
use goodqueue_units::Duration;

pub(super) const BLOCK_ACK_REQ_BYTES: u32 = 24;

/// Frames that are sent together, or one.
#[derive(Debug)]
pub(crate) struct Aggregate {
    pub(crate) peer: u32,
    /// Numbers in the session.
    pub(crate) frames: Vec<u32>,
    /// Bytes that are sent, delimiters and padding included.
    pub(crate) bytes: u32,
    pub(crate) chain: Chain,
    /// How often each stage was tried.
    pub(crate) tried: [u8; 4],
    /// What its tries so far took of the air.
    pub(crate) airtime: Duration,
}

/// What became of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tried {
    /// Something of it came, and its receiver said what.
    Answered,
    /// Nobody answered, and the hardware tries again.
    Again,
    /// Nobody answered, and the hardware gives it back.
    GivenUp,
}

impl Aggregate {
    /// Whether RTS and CTS go before it.
    pub(crate) fn has_rts(&self) -> bool {
        self.chain.stages()[self.stage().unwrap_or(0)].has_rts
    }

    /// Whether its answer is a BlockAck.
    pub(crate) fn is_aggregate(&self) -> bool {
        self.frames.len() != 1
    }

    /// Whether it asks what has come of frames before it (BlockAckReq).
    pub(crate) fn asks(&self) -> bool {
        self.frames.is_empty()
    }

    /// What asks what has come of `other`: in the mode of its answers, as often as need be.
    pub(super) fn question(other: &Self) -> Self {
        let stage = other.chain.stages()[0];
        let asked = Stage { mode: stage.mode.control(), tries: u8::MAX, ..stage };
        let chain = Chain::new(&[asked], false);
        let (tried, airtime) = ([0; 4], Duration::ZERO);
        Self { peer: other.peer, frames: Vec::new(), bytes: BLOCK_ACK_REQ_BYTES, chain, tried, airtime }
    }

    /// The stage that is next.
    pub(crate) fn stage(&self) -> Option<usize> {
        let stages = self.chain.stages().iter().zip(self.tried);
        stages.into_iter().position(|(stage, tried)| tried < stage.tries)
    }

    /// The mode of the next try.
    pub(crate) fn mode(&self) -> Mode {
        self.chain.stages()[self.stage().unwrap_or(0)].mode
    }
}
