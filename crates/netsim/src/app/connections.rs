//! The open connections of an application. A connection is found by the hash that its packets carry.

use crate::packet::both_directions;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::traffic::application::SocketId;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The open connections of one application. Thousands may be open at a time, so a hash table holds them.
#[derive(Default)]
pub(crate) struct Connections {
    /// The key is the hash of the connection's packets in the direction down. The value is the connection's number,
    /// in the order of opening, and its socket.
    by_hash: HashMap<u32, (u64, SocketId), BuildHasherDefault<Spread>>,
    opened: u64,
}

/// Hashes a key by one multiplication. The keys are random already, but a hash table also uses a hash's highest bits.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("keys are numbers of 32 bits")
    }
    fn write_u32(&mut self, key: u32) {
        self.0 = u64::from(key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

impl Connections {
    /// Returns whether an open connection has the hash `down`.
    pub(crate) fn has(&self, down: u32) -> bool {
        self.by_hash.contains_key(&down)
    }

    /// Adds the open connection `socket`. Its packets in the direction down have the hash `down`.
    pub(crate) fn insert(&mut self, down: u32, socket: SocketId) {
        self.by_hash.insert(down, (self.opened, socket));
        self.opened += 1;
    }

    /// Returns the connection whose packets in `direction` have the hash `hash`.
    pub(crate) fn find(&self, direction: Direction, hash: u32) -> Option<SocketId> {
        let down = if direction == Direction::Down { hash } else { both_directions(hash)[Direction::Up] };
        self.by_hash.get(&down).map(|&(_, socket)| socket)
    }

    /// Removes `socket`, whose hash is `down`. Returns whether it was open.
    pub(crate) fn remove(&mut self, down: u32, socket: SocketId) -> bool {
        let is_open = self.by_hash.get(&down).is_some_and(|&(_, id)| id == socket);
        is_open && self.by_hash.remove(&down).is_some()
    }

    /// Returns all open connections, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = SocketId> + '_ {
        self.by_hash.values().map(|&(_, socket)| socket)
    }

    /// Returns the connection that was opened last.
    pub(crate) fn last(&self) -> Option<SocketId> {
        self.by_hash.values().max().map(|&(_, socket)| socket)
    }
}
