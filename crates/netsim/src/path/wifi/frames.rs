//! The frames of an exchange, one by one and each at its time, as a capture shows them.

use super::mode::Mode;
use super::standard::{Band, Category};
use crate::direction::Direction;
use crate::packet::Packet;
use goodqueue_units::{Duration, Instant};

/// A frame on the air. Interfaces have numbers: the access point 0, and the stations from 1 on.
#[derive(Clone, Copy, Debug)]
pub struct AirFrame {
    /// When it began. The frames of an aggregate have the time of its beginning.
    pub time: Instant,
    /// How its bits were sent.
    pub mode: Mode,
    /// The band.
    pub band: Band,
    /// Who sent it.
    pub from: u32,
    /// For whom it is on the air.
    pub to: u32,
    /// How long others must leave the medium alone after it.
    pub reserved: Duration,
    /// The access category of the exchange; none in a cell without quality of service.
    pub category: Option<Category>,
    /// What it is.
    pub body: AirBody,
    /// What became of it.
    pub fate: AirFate,
}

/// What a frame is.
#[derive(Clone, Copy, Debug)]
pub enum AirBody {
    /// A request to send.
    Rts,
    /// Clear to send; from whom it is for, a CTS to oneself.
    Cts,
    /// A packet.
    Data {
        /// The packet.
        packet: Packet,
        /// Which way it goes.
        way: Direction,
        /// Its number for this receiver and category; its sequence number is that modulo 4096.
        number: u32,
        /// Whether it was sent before.
        is_retry: bool,
        /// Of which aggregate it is, if of one.
        part: Option<Part>,
    },
    /// The answer to a frame.
    Ack,
    /// The answer to an aggregate: which have come from the number `first` on, a bit each, the first the lowest.
    BlockAck {
        /// The number of the first.
        first: u32,
        /// Which have come.
        bitmap: u64,
    },
    /// The question what has come from the number `first` on.
    BlockAckReq {
        /// The number of the first.
        first: u32,
    },
}

/// A frame's place in an aggregate.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The aggregate's number in the run.
    pub aggregate: u32,
    /// Whether the frame is the last in it.
    pub is_last: bool,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AirFate {
    /// It came.
    Came,
    /// It collided, and is sent again.
    Collided,
    /// It did not come, and is sent again.
    Lost,
    /// It did not come, and its sender gives it up.
    GivenUp,
}
