//! What an application keeps of each of its connections.
//!
//! The hosts of a run share the numbers of connections. A list with a place for each number would be as long as all
//! connections of the run, once per application: with ten thousand subscribers most of the memory. So a hash table has
//! the connections of this application alone. Numbers that follow one another do not collide.

use super::application::SocketId;
use crate::sorting::sort_by_key;

/// Values by connection. At most half of the places are taken.
pub(super) struct BySocket<T> {
    places: Vec<Option<(SocketId, T)>>,
    taken: usize,
}

impl<T> BySocket<T> {
    pub(super) const fn new() -> Self {
        Self { places: Vec::new(), taken: 0 }
    }

    fn home(&self, socket: SocketId) -> usize {
        socket.index() & (self.places.len() - 1)
    }

    /// Returns the place of `socket`, or the free one in which it would be. There is a free place.
    fn place(&self, socket: SocketId) -> usize {
        let mut at = self.home(socket);
        while self.places[at].as_ref().is_some_and(|(one, _)| *one != socket) {
            at = (at + 1) & (self.places.len() - 1);
        }
        at
    }

    pub(super) fn get(&self, socket: SocketId) -> Option<&T> {
        if self.places.is_empty() {
            return None;
        }
        self.places[self.place(socket)].as_ref().map(|(_, value)| value)
    }

    pub(super) fn get_mut(&mut self, socket: SocketId) -> Option<&mut T> {
        if self.places.is_empty() {
            return None;
        }
        let at = self.place(socket);
        self.places[at].as_mut().map(|(_, value)| value)
    }

    /// Sets the value of `socket`.
    pub(super) fn insert(&mut self, socket: SocketId, value: T) {
        if 2 * self.taken >= self.places.len() {
            let larger = (2 * self.places.len()).max(4);
            let before =
                std::mem::replace(&mut self.places, std::iter::repeat_with(|| None).take(larger).collect());
            for (one, value) in before.into_iter().flatten() {
                let at = self.place(one);
                self.places[at] = Some((one, value));
            }
        }
        let at = self.place(socket);
        self.taken += usize::from(self.places[at].is_none());
        self.places[at] = Some((socket, value));
    }

    /// Forgets `socket`. Later entries move back into the gap (Knuth, The Art of Computer Programming, vol. 3, 6.4,
    /// algorithm R).
    pub(super) fn remove(&mut self, socket: SocketId) {
        if self.get(socket).is_none() {
            return;
        }
        let last = self.places.len() - 1;
        let mut gap = self.place(socket);
        self.places[gap] = None;
        self.taken -= 1;
        let mut at = gap;
        loop {
            at = (at + 1) & last;
            let Some((one, _)) = &self.places[at] else { return };
            // The entry stays if its home is behind the gap.
            if at.wrapping_sub(self.home(*one)) & last >= at.wrapping_sub(gap) & last {
                self.places.swap(gap, at);
                gap = at;
            }
        }
    }

    /// Returns the values, in no particular order.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut().flatten().map(|(_, value)| value)
    }

    /// Returns the values in the order of the numbers of their connections, for an application that acts at all of
    /// them. Their places depend on the connections of other applications, which a part of a run does not have.
    pub(super) fn in_order(&mut self) -> impl Iterator<Item = &mut T> {
        let mut values: Vec<_> = self.places.iter_mut().flatten().collect();
        sort_by_key(&mut values, |(socket, _)| *socket);
        values.into_iter().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// The same calls as of an ordered map give the same answers.
    #[test]
    fn it_is_a_map() {
        let (mut table, mut map, mut dice) = (BySocket::new(), BTreeMap::new(), 1_u32);
        for step in 0..20_000 {
            dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let socket = SocketId::at((dice >> 8) as usize % 60 * 7);
            if dice >> 31 == 0 {
                table.insert(socket, step);
                map.insert(socket, step);
            } else {
                table.remove(socket);
                map.remove(&socket);
            }
            let other = SocketId::at((dice >> 16) as usize % 60 * 7);
            assert_eq!(table.get(other), map.get(&other));
            assert_eq!(table.get_mut(socket).is_some(), map.contains_key(&socket));
        }
        let values: Vec<i32> = table.in_order().map(|value| *value).collect();
        let wanted: Vec<i32> = map.into_values().collect();
        assert_eq!(values, wanted);
    }

    /// On one thread an application's connections stand among those of others, and in a part of the run they do not. An
    /// application that acts at all of them in another order there sends its packets in another order.
    #[test]
    fn the_order_is_the_same_beside_other_connections() {
        let order = |first: usize| {
            let mut table = BySocket::new();
            (0..20).for_each(|number| table.insert(SocketId::at(first + 3 * number), number));
            table.in_order().map(|value| *value).collect::<Vec<usize>>()
        };
        assert_eq!(order(0), order(50));
    }
}
