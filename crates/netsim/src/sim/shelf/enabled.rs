//! The shelf: where packets of the hosts of this thread wait for the thread that has their link.

use super::Simulation;
use crate::calendar::Entry;
use crate::packet::Packet;
use goodqueue_hosts::direction::Direction;

/// A packet that a host has sent. Its arrival is the time.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    /// The turn of the host that sent it, among all that act at that time.
    pub(super) turn: u64,
    pub(super) direction: Direction,
    pub(super) packet: Packet,
}

/// The packets that the hosts have sent, in the order of the run.
pub(super) struct Shelf {
    /// The latest turn so far. A component may act after one with a higher number, if that one planned it for the
    /// same time. On one thread both would come after what other shards do in between.
    pub(super) turn: Entry,
    /// What each part with links gets. If there is one such part, it gets both directions.
    pub(super) sent: Vec<Vec<Sent>>,
}

/// The place for packets of one direction.
pub(super) struct Place<'a> {
    turn: u64,
    direction: Direction,
    sent: &'a mut Vec<Sent>,
}

impl Shelf {
    /// Builds a shelf for `parts` parts with links.
    pub(super) fn new(parts: usize) -> Box<Self> {
        Box::new(Self { turn: Entry::FIRST, sent: vec![Vec::new(); parts] })
    }
}

impl Place<'_> {
    #[inline]
    pub(super) fn put(&mut self, packet: Packet) {
        let Self { turn, direction, .. } = *self;
        self.sent.push(Sent { turn, direction, packet });
    }
}

/// Returns the place for packets of `direction`, if there is a shelf.
#[inline]
pub(super) fn place(shelf: &mut Option<Box<Shelf>>, direction: Direction) -> Option<Place<'_>> {
    let Shelf { turn, sent } = shelf.as_deref_mut()?;
    let part = (direction as usize).min(sent.len() - 1);
    Some(Place { turn: turn.turn(), direction, sent: &mut sent[part] })
}

impl Simulation {
    /// Puts `packet` of `direction` on the shelf and returns true, if there is one.
    pub(super) fn shelve(&mut self, direction: Direction, packet: Packet) -> bool {
        let place = place(&mut self.shelf, direction);
        place.map(|mut place| place.put(packet)).is_some()
    }
}
