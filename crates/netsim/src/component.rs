//! The components of a run: everything that has an entry in the agenda.

use crate::ids::{FlowId, Half, Number, PartId, PipeId, Timer};
use goodqueue_hosts::direction::{Direction, Side};
use goodqueue_hosts::traffic::application::SocketId;
use std::fmt;

/// The number of a component: its index in the agenda. At equal times the component with the lower number acts first.
///
/// As in the decision traces, timers act before ends of transmission, and ends of transmission before arrivals. Of
/// the two directions, `Down` is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Component(u32);

impl Component {
    pub(crate) const METRONOME: Self = Self(0);
    const QDISC_TIMER: u32 = 1;
    const WIRE: u32 = 3;
    /// The pipes of the two directions alternate. After the pipes come the parts of a row of hops, then the timers of
    /// flows, then the timers of applications' connections.
    const PIPE: u32 = 5;
    /// The first component that acts often. The disciplines' timers come first, then the wires, then the first pipes.
    pub(crate) const FIRST_BUSY: Self = Self(Self::QDISC_TIMER);

    /// Returns the timer of the discipline at the bottleneck of `direction`.
    pub(crate) const fn qdisc_timer(direction: Direction) -> Self {
        Self(Self::QDISC_TIMER + direction as u32)
    }

    /// Returns the wire of the bottleneck of `direction`.
    pub(crate) const fn wire(direction: Direction) -> Self {
        Self(Self::WIRE + direction as u32)
    }

    #[inline]
    pub(crate) fn pipe(direction: Direction, pipe: PipeId) -> Self {
        Self(Self::PIPE + 2 * pipe.index() as u32 + direction as u32)
    }

    /// Returns a part of a row of hops, if each direction has `pipes` pipes.
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

/// The part of the simulator that a component stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Actor {
    Metronome,
    /// The timer of a bottleneck's discipline.
    QdiscTimer(Direction),
    /// The wire of a bottleneck.
    Wire(Direction),
    /// A pipe that delivers a packet.
    Pipe(Direction, PipeId),
    /// A part of a row of hops.
    Row(PartId),
    Flow(FlowId, Timer),
    /// The timer of one end of an application's connection.
    Socket(SocketId, Side),
}

/// Returns the first half for an even number, the second half for an odd number.
#[inline]
fn half<K: Half>(number: u32) -> K {
    let [even, odd] = K::BOTH;
    if number.is_multiple_of(2) { even } else { odd }
}

/// The components of a run. Applications' connections come last, because their number grows during the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Components {
    row: u32,
    flows: u32,
    sockets: u32,
}

impl Components {
    /// Numbers the components of a run with this many pipes per direction, parts of a row, and flows.
    pub(crate) fn new(pipes: usize, parts: usize, flows: usize) -> Self {
        let (row, flow_timers) =
            (Component::part(pipes, PartId::at(0)), Component::part(pipes, PartId::at(parts)));
        Self { row: row.0, flows: flow_timers.0, sockets: flow_timers.0 + 2 * flows as u32 }
    }

    /// Returns the number of pipes of each direction.
    pub(crate) fn pipes(&self) -> usize {
        (self.row - Component::PIPE) as usize / 2
    }

    /// Returns the number of parts of a row.
    pub(crate) fn parts(&self) -> usize {
        (self.flows - self.row) as usize
    }

    /// Returns the number of components, with `sockets` connections of applications.
    pub(crate) fn count(&self, sockets: usize) -> usize {
        self.sockets as usize + 2 * sockets
    }

    #[inline]
    pub(crate) fn flow(&self, flow: FlowId, timer: Timer) -> Component {
        Component(self.flows + 2 * flow.number() + timer as u32)
    }

    /// Returns the parts of a row.
    #[cfg(feature = "threads")]
    pub(crate) fn of_row(&self) -> impl Iterator<Item = Component> + use<> {
        (self.row..self.flows).map(Component)
    }

    /// Returns the rank of the connections of the application of `flow`, at equal times.
    pub(crate) fn rank_of_sockets(&self, flow: FlowId) -> u32 {
        self.sockets + flow.number()
    }

    pub(crate) fn socket(&self, socket: SocketId, side: Side) -> Component {
        Component(self.sockets + 2 * socket.index() as u32 + side as u32)
    }

    /// Returns the actor that `component` stands for.
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
