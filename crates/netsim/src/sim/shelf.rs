//! The shelf: where packets of hosts wait for their link, while hosts and links act one after the other or on different
//! threads.

use super::Simulation;
use crate::calendar::Entry;
use crate::lists::ByDirection;
use crate::packet::Packet;
use goodqueue_hosts::direction::Direction;

/// The packets that hosts have sent, in the order of the run. The arrival of each is the time.
pub(super) enum Shelf {
    /// The links are this simulation's own.
    Own(ByDirection<Vec<Packet>>),
    /// Other parts of the run have the links.
    #[cfg(feature = "threads")]
    Parts(Parts),
}

/// What a shard of hosts has sent.
#[cfg(feature = "threads")]
pub(super) struct Parts {
    /// The latest turn so far of the hosts that send in each direction. A component may act after one with a higher
    /// number, if that one planned it for the same time. On one thread both would come after what other shards do in
    /// between.
    pub(super) turns: ByDirection<Entry>,
    /// What each part with links gets. If there is one such part, it gets both directions.
    pub(super) sent: Vec<Vec<Sent>>,
}

/// A packet that a host has sent. Its arrival is the time.
#[cfg(feature = "threads")]
#[derive(Clone, Copy)]
pub(super) struct Sent {
    /// The turn of the host that sent it, among all that act at that time.
    pub(super) turn: u64,
    pub(super) direction: Direction,
    pub(super) packet: Packet,
}

#[cfg(feature = "threads")]
impl Sent {
    /// Returns when the packet was sent, and the turn.
    #[inline]
    pub(super) fn entry(&self) -> Entry {
        Entry::at(self.packet.arrival, self.turn)
    }
}

/// Where the loop of hosts puts packets.
pub(super) trait Take {
    /// Takes note of the turn of the host that acts now, and sends in `direction`.
    fn turn(&mut self, direction: Direction, turn: Entry);
    /// Takes a packet that it sends.
    fn take(&mut self, direction: Direction, packet: Packet);
}

impl Take for ByDirection<Vec<Packet>> {
    #[inline(always)] // as `Place::put`
    fn turn(&mut self, _direction: Direction, _turn: Entry) {}
    #[inline(always)]
    fn take(&mut self, direction: Direction, packet: Packet) {
        self[direction].push(packet);
    }
}

#[cfg(feature = "threads")]
impl Take for Parts {
    #[inline]
    fn turn(&mut self, direction: Direction, turn: Entry) {
        let latest = &mut self.turns[direction];
        *latest = turn.max(*latest);
    }
    #[inline]
    fn take(&mut self, direction: Direction, packet: Packet) {
        self.place(direction).put(packet);
    }
}

#[cfg(feature = "threads")]
impl Parts {
    #[inline]
    fn place(&mut self, direction: Direction) -> Place<'_> {
        let part = (direction as usize).min(self.sent.len() - 1);
        Place::Part { turn: self.turns[direction].turn(), direction, sent: &mut self.sent[part] }
    }
}

/// The place for packets of one direction.
pub(super) enum Place<'a> {
    Own(&'a mut Vec<Packet>),
    #[cfg(feature = "threads")]
    Part {
        turn: u64,
        direction: Direction,
        sent: &'a mut Vec<Sent>,
    },
}

impl Place<'_> {
    #[inline(always)] // the wire of each segment: most leave by the first arm
    pub(super) fn put(&mut self, packet: Packet) {
        match self {
            Self::Own(sent) => sent.push(packet),
            #[cfg(feature = "threads")]
            Self::Part { turn, direction, sent } => {
                sent.push(Sent { turn: *turn, direction: *direction, packet });
            }
        }
    }
}

/// Returns the place for packets of `direction`, if there is a shelf.
#[inline]
pub(super) fn place(shelf: &mut Option<Box<Shelf>>, direction: Direction) -> Option<Place<'_>> {
    Some(match &mut **shelf.as_mut()? {
        Shelf::Own(sent) => Place::Own(&mut sent[direction]),
        #[cfg(feature = "threads")]
        Shelf::Parts(parts) => parts.place(direction),
    })
}

impl Simulation {
    /// Puts `packet` of `direction` on the shelf and returns true, if there is one.
    pub(super) fn shelve(&mut self, direction: Direction, packet: Packet) -> bool {
        let place = place(&mut self.shelf, direction);
        place.map(|mut place| place.put(packet)).is_some()
    }
}
