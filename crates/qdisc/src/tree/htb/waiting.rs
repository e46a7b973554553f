//! The classes that wait for tokens, each with the time at which its mode changes.
//!
//! Linux has a red-black tree per level (`htb_add_to_wait_tree`), of which it needs only the first class and removals.
//! A binary heap does both, and takes no memory per packet. (Williams, "Algorithm 232: Heapsort", 1964.)

use super::class::LEVELS;
use alloc::vec::Vec;

/// When a class is due. Classes of the same time leave in the order in which they began to wait.
pub(super) type Due = (i64, u64);

/// A heap per level, with the earliest class first.
pub(super) struct Waiting {
    levels: [Vec<Entry>; LEVELS],
    /// The place of each waiting class in its heap.
    places: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Entry {
    /// The time and the order, as one number: comparing two numbers needs no branch.
    key: u128,
    at: u32,
}

impl Entry {
    fn new((due, order): Due, at: u32) -> Self {
        Self { key: u128::from(due as u64) << 64 | u128::from(order), at }
    }
}

impl Waiting {
    /// Returns the heaps for this number of classes, none of which waits.
    pub(super) fn new(classes: usize) -> Self {
        Self { levels: Default::default(), places: alloc::vec![0; classes] }
    }

    /// Returns the first class of a level, and when it is due.
    pub(super) fn first(&self, level: usize) -> Option<(i64, u32)> {
        self.levels[level].first().map(|entry| ((entry.key >> 64) as i64, entry.at))
    }

    /// Returns the first classes of a level: the first one, and then some of the next ones.
    pub(super) fn soonest(&self, level: usize) -> impl Iterator<Item = u32> {
        self.levels[level].iter().take(7).map(|entry| entry.at)
    }

    /// Adds a class that does not wait yet.
    pub(super) fn insert(&mut self, level: usize, due: Due, at: u32) {
        let (entry, last) = (Entry::new(due, at), self.levels[level].len());
        self.levels[level].push(entry);
        self.rise(level, last, entry);
    }

    /// Removes a class that waits.
    pub(super) fn remove(&mut self, level: usize, at: u32) {
        let (place, heap) = (self.places[at as usize] as usize, &mut self.levels[level]);
        let Some(last) = heap.pop() else { return };
        if place < heap.len() {
            self.settle(level, place, last);
        }
    }

    /// Lets a class that waits be due at another time.
    pub(super) fn postpone(&mut self, level: usize, due: Due, at: u32) {
        self.settle(level, self.places[at as usize] as usize, Entry::new(due, at));
    }

    /// Puts an entry into a place whose entry is gone, and then where it belongs.
    fn settle(&mut self, level: usize, place: usize, entry: Entry) {
        let place = self.rise(level, place, entry);
        self.sink(level, place, entry);
    }

    fn put(&mut self, level: usize, place: usize, entry: Entry) {
        self.levels[level][place] = entry;
        self.places[entry.at as usize] = place as u32;
    }

    /// Puts an entry into a place, or above it as long as it is earlier than the one above. Returns where it is then.
    fn rise(&mut self, level: usize, mut place: usize, entry: Entry) -> usize {
        while place > 0 {
            let above = (place - 1) / 2;
            let other = self.levels[level][above];
            if other.key < entry.key {
                break;
            }
            self.put(level, place, other);
            place = above;
        }
        self.put(level, place, entry);
        place
    }

    /// Moves an entry down as long as one below is earlier.
    fn sink(&mut self, level: usize, mut place: usize, entry: Entry) {
        loop {
            let heap = &self.levels[level];
            let Some(left) = heap.get(2 * place + 1) else { break };
            let right = heap.get(2 * place + 2).filter(|right| right.key < left.key);
            let (below, other) = right.map_or((2 * place + 1, *left), |right| (2 * place + 2, *right));
            if entry.key < other.key {
                break;
            }
            self.put(level, place, other);
            place = below;
        }
        self.put(level, place, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    /// The same calls as of an ordered set give the same first class.
    #[test]
    fn the_earliest_is_first() {
        let (mut waiting, mut set, mut dice) = (Waiting::new(50), BTreeSet::new(), 1_u32);
        let mut dues = [None; 50];
        for order in 0..20_000 {
            dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = (dice >> 8) % 50;
            match dues[at as usize].take() {
                Some(due) => {
                    set.remove(&(due, at));
                    if dice >> 31 == 0 {
                        waiting.remove(3, at);
                    } else {
                        let due = (i64::from(dice >> 25), order);
                        waiting.postpone(3, due, at);
                        set.insert((due, at));
                        dues[at as usize] = Some(due);
                    }
                }
                None => {
                    let due = (i64::from(dice >> 24), order);
                    waiting.insert(3, due, at);
                    set.insert((due, at));
                    dues[at as usize] = Some(due);
                }
            }
            assert_eq!(waiting.first(3), set.first().map(|((due, _), at)| (*due, *at)));
        }
    }
}
