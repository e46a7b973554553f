//! The open connections of all applications. A connection is found by its flow and by the hash that its packets carry.
//!
//! One table for the run, with a connection's key and number next to each other: a packet finds its connection with
//! one cache miss.

use crate::ids::FlowId;
use crate::packet::both_directions;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::traffic::application::SocketId;
use goodqueue_units::processor::prefetch;

/// A connection, by its flow and by the hash of its packets in the direction down.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry {
    key: u64,
    socket: Option<SocketId>,
}

const FREE: Entry = Entry { key: 0, socket: None };

/// The open connections.
pub(super) struct Open {
    /// Each entry is at the place of its key, or behind it, with no free place between. The number of places is a
    /// power of two, and at most half of them are taken.
    places: Box<[Entry]>,
    taken: usize,
}

impl Default for Open {
    fn default() -> Self {
        Self { places: Box::from([FREE; 4]), taken: 0 }
    }
}

fn key(flow: FlowId, direction: Direction, hash: u32) -> u64 {
    let down = if direction == Direction::Down { hash } else { both_directions(hash)[Direction::Up] };
    u64::from(flow.number()) << 32 | u64::from(down)
}

impl Open {
    /// Returns the place of a key: Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4).
    #[inline]
    fn home(&self, key: u64) -> usize {
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (hash >> 32) as usize & (self.places.len() - 1)
    }

    /// Returns the place that has the key, or the free place in which it would be.
    #[inline]
    fn place(&self, key: u64) -> usize {
        let mut at = self.home(key);
        while self.places[at].socket.is_some() && self.places[at].key != key {
            at = (at + 1) & (self.places.len() - 1);
        }
        at
    }

    /// Returns the connection of `flow` whose packets in `direction` have the hash `hash`.
    #[inline]
    pub(super) fn find(&self, flow: FlowId, direction: Direction, hash: u32) -> Option<SocketId> {
        self.places[self.place(key(flow, direction, hash))].socket
    }

    /// Prefetches the place of a connection.
    #[inline]
    pub(super) fn prefetch(&self, flow: FlowId, direction: Direction, hash: u32) {
        prefetch(&self.places[self.home(key(flow, direction, hash))]);
    }

    /// Adds a connection. Its packets in the direction down have the hash `down`, which no other one of its flow has.
    pub(super) fn insert(&mut self, flow: FlowId, down: u32, socket: SocketId) {
        self.taken += 1;
        if 2 * self.taken > self.places.len() {
            let more = vec![FREE; 2 * self.places.len()].into_boxed_slice();
            let old = std::mem::replace(&mut self.places, more);
            for entry in old.iter().filter(|entry| entry.socket.is_some()) {
                self.places[self.place(entry.key)] = *entry;
            }
        }
        let key = key(flow, Direction::Down, down);
        self.places[self.place(key)] = Entry { key, socket: Some(socket) };
    }

    /// Removes `socket`. Returns whether it was open.
    pub(super) fn remove(&mut self, flow: FlowId, down: u32, socket: SocketId) -> bool {
        let mut free = self.place(key(flow, Direction::Down, down));
        if self.places[free].socket != Some(socket) {
            return false;
        }
        self.taken -= 1;
        // Entries behind it that would not be found any more move up (Knuth, 6.4, algorithm R).
        let last = self.places.len() - 1;
        let mut at = free;
        loop {
            at = (at + 1) & last;
            let entry = self.places[at];
            if entry.socket.is_none() {
                self.places[free] = FREE;
                return true;
            }
            let home = self.home(entry.key);
            if (at.wrapping_sub(home) & last) >= (at.wrapping_sub(free) & last) {
                self.places[free] = entry;
                free = at;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Number;
    use std::collections::BTreeMap;

    /// The same calls as of an ordered map give the same answers, while connections come and go.
    #[test]
    fn it_is_a_map() {
        let (mut open, mut map, mut dice) = (Open::default(), BTreeMap::new(), 1_u32);
        for number in 0..20_000 {
            dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (flow, down) = ((dice >> 8) % 20, (dice >> 16) % 30);
            let id = FlowId::at(flow as usize);
            match map.remove(&(flow, down)) {
                Some(socket) => {
                    assert!(open.remove(id, down, socket), "{flow} {down}");
                    assert!(!open.remove(id, down, socket), "it is gone");
                }
                None => {
                    open.insert(id, down, SocketId::at(number));
                    map.insert((flow, down), SocketId::at(number));
                }
            }
            let (flow, down) = ((dice >> 12) % 20, (dice >> 20) % 30);
            let up = both_directions(down)[Direction::Up];
            let id = FlowId::at(flow as usize);
            assert_eq!(open.find(id, Direction::Down, down), map.get(&(flow, down)).copied());
            assert_eq!(open.find(id, Direction::Up, up), map.get(&(flow, down)).copied());
            assert_eq!(open.taken, map.len());
        }
    }
}
