//! Where a capture is taken.

use goodqueue_capture::Medium;
use goodqueue_netsim::Event;
use goodqueue_netsim::scenario::Direction;

/// A place at which packets are seen; its name is that of the capture's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Point {
    /// At each flow's own sending host, both ways.
    Sender,
    /// At each flow's own receiving host, both ways.
    Receiver,
    /// What is offered to the queue down.
    DownIn,
    /// What leaves the queue down, at the start of its transmission.
    DownOut,
    /// What the queue down drops, when it does.
    DownDrop,
    /// As [`Point::DownIn`], on the way up.
    UpIn,
    /// As [`Point::DownOut`], on the way up.
    UpOut,
    /// As [`Point::DownDrop`], on the way up.
    UpDrop,
    /// On the air of a Wi-Fi cell: each frame with its radio's header, those that collide among them.
    Air,
}

impl Point {
    /// Every point; the index of one is `point as usize`.
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

    /// Its name.
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

    /// The name of its interface, and what frames look like there.
    pub(crate) const fn interface(self) -> (&'static str, Medium) {
        (self.name(), if matches!(self, Self::Air) { Medium::Wifi } else { Medium::Ethernet })
    }

    /// The point with that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|point| point.name() == name)
    }

    /// Where `event` is seen of a packet that goes `way` and is of a flow whose data go `data`: at the bottleneck, at a
    /// host.
    pub(crate) fn of(event: Event, way: Direction, data: Direction) -> [Option<Self>; 2] {
        let bottleneck = match (event, way) {
            (Event::Offered, Direction::Down) => Some(Self::DownIn),
            (Event::Started, Direction::Down) => Some(Self::DownOut),
            (Event::Dropped(_), Direction::Down) => Some(Self::DownDrop),
            (Event::Offered, Direction::Up) => Some(Self::UpIn),
            (Event::Started, Direction::Up) => Some(Self::UpOut),
            (Event::Dropped(_), Direction::Up) => Some(Self::UpDrop),
            (Event::Arrived, _) => None,
        };
        let host = match (event, way == data) {
            (Event::Offered, true) | (Event::Arrived, false) => Some(Self::Sender),
            (Event::Offered, false) | (Event::Arrived, true) => Some(Self::Receiver),
            (Event::Started | Event::Dropped(_), _) => None,
        };
        [bottleneck, host]
    }
}
