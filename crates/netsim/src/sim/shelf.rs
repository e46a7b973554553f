//! The shelf: where packets of the hosts of this thread wait for the thread that has their link.

use super::Simulation;
use crate::component::Component;
use crate::lists::ByDirection;
use crate::packet::Packet;
use goodqueue_hosts::direction::Direction;

/// A packet that a host has sent, and the component that acted then. The packet's arrival is the time.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    /// The component's rank at equal times.
    pub(super) rank: u32,
    pub(super) by: Component,
    pub(super) packet: Packet,
}

/// The packets that the hosts have sent, in the order of the run.
pub(super) struct Shelf {
    /// The component that acts, and its rank.
    pub(super) acting: (u32, Component),
    pub(super) sent: ByDirection<Vec<Sent>>,
}

/// The place for packets of one direction.
pub(super) struct Place<'a> {
    acting: (u32, Component),
    sent: &'a mut Vec<Sent>,
}

impl Place<'_> {
    #[inline]
    pub(super) fn put(&mut self, packet: Packet) {
        let (rank, by) = self.acting;
        self.sent.push(Sent { rank, by, packet });
    }
}

/// Returns the place for packets of `direction`, if there is a shelf.
#[inline]
pub(super) fn place(shelf: &mut Option<Box<Shelf>>, direction: Direction) -> Option<Place<'_>> {
    let shelf = shelf.as_deref_mut()?;
    Some(Place { acting: shelf.acting, sent: &mut shelf.sent[direction] })
}

impl Simulation {
    /// Puts `packet` of `direction` on the shelf and returns true, if there is one.
    pub(super) fn shelve(&mut self, direction: Direction, packet: Packet) -> bool {
        let place = place(&mut self.shelf, direction);
        place.map(|mut place| place.put(packet)).is_some()
    }
}
