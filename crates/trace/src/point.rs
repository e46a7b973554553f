//! The points of a capture.

use goodqueue_capture::Medium;
use goodqueue_netsim::{Direction, Event};

/// A place at which packets are seen. Its name is the name of the capture's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Point {
    /// At each flow's own sending host, both directions.
    Sender,
    /// At each flow's own receiving host, both directions.
    Receiver,
    /// Packets offered to the queue down.
    DownIn,
    /// Packets that leave the queue down, at the start of their transmission.
    DownOut,
    /// Packets that the queue down drops, at the time of the drop.
    DownDrop,
    /// As [`Point::DownIn`], for the queue up.
    UpIn,
    /// As [`Point::DownOut`], for the queue up.
    UpOut,
    /// As [`Point::DownDrop`], for the queue up.
    UpDrop,
    /// On the air of a Wi-Fi cell: each frame with its radiotap header, including frames that collide.
    Air,
}

impl Point {
    /// Every point, in declaration order: the index of a point is `point as usize`.
    pub const ALL: [Self; 9] = [
        Self::Sender,
        Self::Receiver,
        Self::DownIn,
        Self::DownOut,
        Self::DownDrop,
        Self::UpIn,
        Self::UpOut,
        Self::UpDrop,
        Self::Air,
    ];

    /// Returns the point's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::DownIn => "down-in",
            Self::DownOut => "down-out",
            Self::DownDrop => "down-drop",
            Self::UpIn => "up-in",
            Self::UpOut => "up-out",
            Self::UpDrop => "up-drop",
            Self::Air => "air",
        }
    }

    /// Returns the name of the point's interface, and the format of its frames.
    pub(crate) const fn interface(self) -> (&'static str, Medium) {
        (self.name(), if matches!(self, Self::Air) { Medium::Wifi } else { Medium::Ethernet })
    }

    /// Returns the point with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|point| point.name() == name)
    }

    /// Returns the points that see `event` for a packet that goes `direction`, of a flow whose data go `data`: one at
    /// the bottleneck and one at a host.
    pub(crate) fn of(event: Event, direction: Direction, data: Direction) -> [Option<Self>; 2] {
        let bottleneck = match (event, direction) {
            (Event::Offered, Direction::Down) => Some(Self::DownIn),
            (Event::Started, Direction::Down) => Some(Self::DownOut),
            (Event::Dropped(_), Direction::Down) => Some(Self::DownDrop),
            (Event::Offered, Direction::Up) => Some(Self::UpIn),
            (Event::Started, Direction::Up) => Some(Self::UpOut),
            (Event::Dropped(_), Direction::Up) => Some(Self::UpDrop),
            (Event::Arrived, _) => None,
        };
        let host = match (event, direction == data) {
            (Event::Offered, true) | (Event::Arrived, false) => Some(Self::Sender),
            (Event::Offered, false) | (Event::Arrived, true) => Some(Self::Receiver),
            (Event::Started | Event::Dropped(_), _) => None,
        };
        [bottleneck, host]
    }
}
