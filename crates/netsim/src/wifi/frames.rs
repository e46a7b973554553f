//! The frames of an exchange as a capture shows them: one by one, each at its time.

use super::mode::Mode;
use super::standard::{Band, Category};
use crate::packet::Packet;
use goodqueue_hosts::direction::Direction;
use goodqueue_units::{Duration, Instant};
use std::sync::{Arc, Mutex};

/// An observer of the air is told of every frame of a run's cell. It changes nothing.
pub trait AirObserver: Send {
    /// Takes a `frame` that was on the air. The call comes when the frame's exchange has ended.
    fn aired(&mut self, frame: &AirFrame);
}

/// An observer of the air that belongs to the run and to the program that made it.
pub type SharedAirObserver = Arc<Mutex<dyn AirObserver>>;

/// A frame on the air. Interfaces have numbers: 0 for the access point, 1 and above for the stations.
#[derive(Clone, Copy, Debug)]
pub struct AirFrame {
    /// When the frame began. The frames of an aggregate all have the time at which the aggregate began.
    pub time: Instant,
    /// How its bits were sent.
    pub mode: Mode,
    /// The band.
    pub band: Band,
    /// The interface that sent the frame.
    pub from: u32,
    /// The interface that the frame is for.
    pub to: u32,
    /// How long other stations must leave the medium alone after the frame.
    pub reserved: Duration,
    /// The access category of the exchange; none in a cell without QoS.
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
    /// Clear to send. A CTS whose sender is also its receiver is a CTS-to-self.
    Cts,
    /// A packet.
    Data {
        /// The packet.
        packet: Packet,
        /// The direction of the packet.
        direction: Direction,
        /// The frame's number for this receiver and category. The sequence number is this number modulo 4096.
        number: u32,
        /// Whether it was sent before.
        is_retry: bool,
        /// The frame's place in its aggregate; none if the frame is in no aggregate.
        part: Option<Part>,
    },
    /// The answer to a frame.
    Ack,
    /// The answer to an aggregate: one bit per frame from the number `first` on. The lowest bit is that of `first`.
    BlockAck {
        /// The number of the first frame.
        first: u32,
        /// A bit is set if its frame arrived.
        bitmap: u64,
    },
    /// The question which frames have arrived from the number `first` on.
    BlockAckReq {
        /// The number of the first frame.
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
    /// It arrived.
    Came,
    /// It collided, and is sent again.
    Collided,
    /// It did not arrive, and is sent again.
    Lost,
    /// It did not arrive, and its sender gives it up.
    GivenUp,
}
