//! Stands for the shelf in builds without the feature `threads`.

use super::Simulation;
use crate::packet::Packet;
use goodqueue_hosts::direction::Direction;

/// The shelf that this build has not, and a place on it.
pub(super) enum Shelf {}

pub(super) type Place<'a> = Shelf;

impl Shelf {
    pub(super) fn put(&mut self, _packet: Packet) {
        match *self {}
    }
}

pub(super) fn place(_shelf: &mut Option<Box<Shelf>>, _direction: Direction) -> Option<Place<'_>> {
    None
}

impl Simulation {
    pub(super) fn shelve(&mut self, _direction: Direction, _packet: Packet) -> bool {
        false
    }
}
