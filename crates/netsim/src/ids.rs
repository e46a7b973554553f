//! The numbers of a run's parts, a type each: to take one for another does not compile. The [lists](crate::lists) that
//! have an entry for each take that number alone.

use crate::direction::{Direction, Side};

/// A number of something: a place in the lists that have an entry for each.
pub(crate) trait Number: Copy {
    /// The number of the entry at `index`; nothing has more entries than fit the number.
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
    /// A flow: its place in the scenario, from 0.
    FlowId(u32);
    /// The slot of an application's connection; another connection may get it once this one is over.
    SocketId(u32);
    /// A pipe, among those of its direction.
    PipeId(u32);
    /// A [fan](crate::pipe::Fan) of pipes, among those of its direction.
    FanId(u32);
    /// A hop beside the bottlenecks: its place in the scenario's list.
    HopId(u32);
    /// A link that hosts send into: one of the bottlenecks, then one of the gates.
    LinkId(u8);
    /// Something that acts in a row of hops: its place among them.
    PartId(u32);
    /// A way through the hops, which several flows may share.
    RouteId(u32);
}

impl FlowId {
    /// The number as packets show it to others.
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
    pub(crate) const fn bottleneck(way: Direction) -> Self {
        Self(way as u8)
    }

    /// What hosts send into in whose flows' way another hop stands before the bottleneck.
    pub(crate) const fn gate(way: Direction) -> Self {
        Self(2 + way as u8)
    }
}

/// The two timers of a flow. An application, and a source of datagrams, has the first one only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// That of the end which sends the data; it also starts and stops the flow.
    Sender,
    /// That of the end which gets them.
    Receiver,
}

/// One of two.
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
