//! What acts in a run, and the number by which the agenda knows it.

use crate::direction::{Direction, Side};
use crate::ids::{FlowId, Half, Number, PartId, PipeId, SocketId, Timer};
use std::fmt;

/// A component's number: its index in the agenda, and its priority at equal times, lower first.
///
/// As in the golden traces, timers come before ends of transmission, and those before arrivals. Of the two directions,
/// the way down is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Component(u32);

impl Component {
    pub(crate) const METRONOME: Self = Self(0);
    const QDISC_TIMER: u32 = 1;
    const WIRE: u32 = 3;
    /// Pipes of the two directions take turns. After them come the parts of a row of hops, then the flows' timers, then
    /// those of applications' connections.
    const PIPE: u32 = 5;
    /// The first component that acts with every packet: the wires, then the first pipes.
    pub(crate) const FIRST_BUSY: Self = Self(Self::WIRE);

    /// The timer of a bottleneck's discipline.
    pub(crate) const fn qdisc_timer(way: Direction) -> Self {
        Self(Self::QDISC_TIMER + way as u32)
    }

    /// The wire of a bottleneck.
    pub(crate) const fn wire(way: Direction) -> Self {
        Self(Self::WIRE + way as u32)
    }

    #[inline]
    pub(crate) fn pipe(way: Direction, pipe: PipeId) -> Self {
        Self(Self::PIPE + 2 * pipe.index() as u32 + way as u32)
    }

    /// A part of a row of hops, where each direction has `pipes` pipes.
    pub(crate) fn part(pipes: usize, part: PartId) -> Self {
        Self(Self::PIPE + 2 * pipes as u32 + part.index() as u32)
    }
}

impl Number for Component {
    #[inline]
    fn at(index: usize) -> Self {
        Self(index as u32)
    }
    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Who it is that acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Actor {
    Metronome,
    /// The timer of a bottleneck's discipline.
    QdiscTimer(Direction),
    /// The wire of a bottleneck.
    Wire(Direction),
    /// A pipe, out of which a packet comes.
    Pipe(Direction, PipeId),
    /// A part of a row of hops.
    Row(PartId),
    Flow(FlowId, Timer),
    /// The timer of an end of an application's connection.
    Socket(SocketId, Side),
}

/// The half that an even or an odd number stands for.
#[inline]
fn half<K: Half>(number: u32) -> K {
    let [even, odd] = K::BOTH;
    if number.is_multiple_of(2) { even } else { odd }
}

/// Which components a run has. Connections of applications come last: there are ever as many as ever were needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Components {
    row: u32,
    flows: u32,
    sockets: u32,
}

impl Components {
    /// Those of a run with so many pipes in each direction, parts of a row, and flows.
    pub(crate) fn new(pipes: usize, parts: usize, flows: usize) -> Self {
        let (row, flow_timers) =
            (Component::part(pipes, PartId::at(0)), Component::part(pipes, PartId::at(parts)));
        Self { row: row.0, flows: flow_timers.0, sockets: flow_timers.0 + 2 * flows as u32 }
    }

    /// How many there are, with `sockets` connections of applications.
    pub(crate) fn count(&self, sockets: usize) -> usize {
        self.sockets as usize + 2 * sockets
    }

    #[inline]
    pub(crate) fn flow(&self, flow: FlowId, timer: Timer) -> Component {
        Component(self.flows + 2 * flow.number() + timer as u32)
    }

    pub(crate) fn socket(&self, socket: SocketId, side: Side) -> Component {
        Component(self.sockets + 2 * socket.index() as u32 + side as u32)
    }

    /// Who acts at `component`.
    #[inline(always)] // so that the loop branches once
    pub(crate) fn actor(&self, Component(number): Component) -> Actor {
        match number {
            0 => Actor::Metronome,
            Component::QDISC_TIMER..Component::WIRE => {
                Actor::QdiscTimer(half(number - Component::QDISC_TIMER))
            }
            Component::WIRE..Component::PIPE => Actor::Wire(half(number - Component::WIRE)),
            _ if number < self.row => {
                let number = number - Component::PIPE;
                Actor::Pipe(half(number), PipeId::at(number as usize / 2))
            }
            _ if number < self.flows => Actor::Row(PartId::at((number - self.row) as usize)),
            _ if number < self.sockets => {
                let number = number - self.flows;
                Actor::Flow(FlowId::at(number as usize / 2), half(number))
            }
            _ => {
                let number = number - self.sockets;
                Actor::Socket(SocketId::at(number as usize / 2), half(number))
            }
        }
    }
}
