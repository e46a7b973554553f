//! The components of a row of hops, and their places in the agenda.

use crate::component::Component;
use crate::ids::{CardId, HopId, PartId};
use crate::link::Parts;
use crate::lists::List;
use goodqueue_hosts::direction::Direction;

/// The meaning of a row's component.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// Packets go on from a bottleneck.
    BottleneckOnward(Direction),
    /// The wire of a gate; its discipline has no timer.
    GateWire(Direction),
    /// Packets go on from a gate to their first hop.
    GateOnward(Direction),
    /// The timer of a hop's discipline.
    Timer(HopId),
    /// A hop's wire.
    Wire(HopId),
    /// Packets go on from a hop that is a link.
    Onward(HopId),
    /// Packets come out of a hop that is not a link.
    Release(HopId),
    /// The cell.
    Cell,
    /// The interrupt of a card.
    #[allow(dead_code, reason = "without the feature `complete` there are none")]
    Card(CardId),
}

/// The components of a row, in their order in the agenda.
pub(super) struct Places {
    /// The number of pipes per direction. Pipes come before the row in the agenda.
    pipes: usize,
    parts: List<PartId, Part>,
}

impl Places {
    /// Starts behind `pipes` pipes per direction.
    pub(super) fn new(pipes: usize) -> Self {
        Self { pipes, parts: List::default() }
    }

    fn add(&mut self, part: Part) -> Component {
        Component::part(self.pipes, self.parts.push(part))
    }

    /// Returns the components.
    pub(super) fn into_parts(self) -> List<PartId, Part> {
        self.parts
    }

    /// Returns the number of components.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Adds the components of the bottleneck of `direction`, in a row.
    pub(super) fn bottleneck(&mut self, direction: Direction) -> Parts {
        Parts::of_bottleneck(direction, self.add(Part::BottleneckOnward(direction)))
    }

    /// Adds the components of the gate of `direction`.
    pub(super) fn gate(&mut self, direction: Direction) -> Parts {
        let wire = self.add(Part::GateWire(direction));
        Parts { timer: wire, wire, onward: self.add(Part::GateOnward(direction)) }
    }

    /// Adds the components of `hop`, if it is a link.
    pub(super) fn link(&mut self, hop: HopId) -> Parts {
        Parts {
            timer: self.add(Part::Timer(hop)),
            wire: self.add(Part::Wire(hop)),
            onward: self.add(Part::Onward(hop)),
        }
    }

    /// Adds the component of the cell.
    pub(super) fn cell(&mut self) -> Component {
        self.add(Part::Cell)
    }

    /// Adds the component of `card`.
    #[allow(dead_code, reason = "without the feature `complete` there are none")]
    pub(super) fn card(&mut self, card: CardId) -> Component {
        self.add(Part::Card(card))
    }

    /// Adds the component of `hop`, if it is not a link.
    pub(super) fn element(&mut self, hop: HopId) -> Component {
        self.add(Part::Release(hop))
    }
}
