//! The numbers of a run's parts. Each kind of part has its own type, so a mix-up does not compile. A
//! [list](crate::lists) with one entry per part is indexed only by this type.

use goodqueue_hosts::direction::{Direction, Side};
use goodqueue_hosts::traffic::application::SocketId;

/// The number of a part: its index in each list that has one entry per part.
pub(crate) trait Number: Copy {
    /// Returns the number of the entry at `index`. No list is longer than the number's type allows.
    fn at(index: usize) -> Self;
    fn index(self) -> usize;
}

macro_rules! numbers {
    ($($(#[doc = $doc:literal])+ $name:ident($word:ty);)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) struct $name($word);

        impl Number for $name {
            #[inline]
            fn at(index: usize) -> Self {
                Self(index as $word)
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}

numbers! {
    /// A flow: its index in the scenario, from 0.
    FlowId(u32);
    /// A pipe, among those of its direction.
    PipeId(u32);
    /// A [fan](crate::pipe::Fan) of pipes, among those of its direction.
    FanId(u32);
    /// A hop beside the bottlenecks: its index in the scenario's list.
    HopId(u32);
    /// A link that hosts send into: a bottleneck or a gate. The bottlenecks come first.
    LinkId(u8);
    /// A component of a row of hops: its index in the row.
    PartId(u32);
    /// A card that receives, of a host or in front of a link.
    CardId(u32);
    /// A way through the hops, which several flows may share.
    RouteId(u32);
}

/// The slot of an application's connection. After the connection has ended, another one may use the slot.
impl Number for SocketId {
    #[inline]
    fn at(index: usize) -> Self {
        Self::at(index)
    }
    #[inline]
    fn index(self) -> usize {
        self.index()
    }
}

impl FlowId {
    /// Returns the number that packets show to other crates.
    pub(crate) const fn number(self) -> u32 {
        self.0
    }
}

impl PipeId {
    pub(crate) const FIRST: Self = Self(0);
    /// No pipe: packets go on to another hop.
    pub(crate) const ONWARD: Self = Self(u32::MAX);
}

impl LinkId {
    pub(crate) const fn bottleneck(direction: Direction) -> Self {
        Self(direction as u8)
    }

    /// Returns the link into which hosts send if another hop stands before the bottleneck on the way of their flow.
    pub(crate) const fn gate(direction: Direction) -> Self {
        Self(2 + direction as u8)
    }
}

/// The two timers of a flow. An application or a source of datagrams has only the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// The timer of the end that sends the data. It also starts and stops the flow.
    Sender,
    /// The timer of the end that receives the data.
    Receiver,
}

/// One of two values.
pub(crate) trait Half: Copy {
    const BOTH: [Self; 2];
    fn index(self) -> usize;
}

macro_rules! halves {
    ($($name:ident: $first:ident, $second:ident;)+) => {$(
        impl Half for $name {
            const BOTH: [Self; 2] = [Self::$first, Self::$second];
            #[inline]
            fn index(self) -> usize {
                self as usize
            }
        }
    )+};
}

halves! {
    Direction: Down, Up;
    Side: User, Remote;
    Timer: Sender, Receiver;
}
