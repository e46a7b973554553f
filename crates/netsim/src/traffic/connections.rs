//! The connections that an application has open, found by what its packets carry.

use crate::direction::Direction;
use crate::ids::SocketId;
use crate::packet::both_ways;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The open connections of one application. Thousands may be open at a time, so none is looked for in a list.
#[derive(Default)]
pub(crate) struct Connections {
    /// By the hash of their packets down: when each was opened, as a number, and where it is.
    by_hash: HashMap<u32, (u64, SocketId), BuildHasherDefault<Spread>>,
    opened: u64,
}

/// Keys are random already; the multiplication is there because a table looks at a hash's highest bits, too.
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
    /// Whether one has the hash `down`.
    pub(crate) fn has(&self, down: u32) -> bool {
        self.by_hash.contains_key(&down)
    }

    /// `socket` is open now; its packets down have the hash `down`.
    pub(crate) fn insert(&mut self, down: u32, socket: SocketId) {
        self.by_hash.insert(down, (self.opened, socket));
        self.opened += 1;
    }

    /// The connection whose packets in `direction` have `hash`.
    pub(crate) fn find(&self, direction: Direction, hash: u32) -> Option<SocketId> {
        let down = if direction == Direction::Down { hash } else { both_ways(hash)[Direction::Up] };
        self.by_hash.get(&down).map(|&(_, socket)| socket)
    }

    /// `socket`, whose hash is `down`, is over; whether it was open.
    pub(crate) fn remove(&mut self, down: u32, socket: SocketId) -> bool {
        let is_open = self.by_hash.get(&down).is_some_and(|&(_, id)| id == socket);
        is_open && self.by_hash.remove(&down).is_some()
    }

    /// All of them, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = SocketId> + '_ {
        self.by_hash.values().map(|&(_, socket)| socket)
    }

    /// The one that was opened last.
    pub(crate) fn last(&self) -> Option<SocketId> {
        self.by_hash.values().max().map(|&(_, socket)| socket)
    }
}
