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
    levels: [Vec<(Due, u32)>; LEVELS],
    /// The place of each waiting class in its heap.
    places: Vec<u32>,
}

impl Waiting {
    /// Returns the heaps for this number of classes, none of which waits.
    pub(super) fn new(classes: usize) -> Self {
        Self { levels: Default::default(), places: alloc::vec![0; classes] }
    }

    /// Returns the first class of a level, and when it is due.
    pub(super) fn first(&self, level: usize) -> Option<(i64, u32)> {
        self.levels[level].first().map(|((due, _), at)| (*due, *at))
    }

    /// Adds a class that does not wait yet.
    pub(super) fn insert(&mut self, level: usize, due: Due, at: u32) {
        let heap = &mut self.levels[level];
        heap.push((due, at));
        let last = heap.len() - 1;
        self.places[at as usize] = last as u32;
        self.rise(level, last);
    }

    /// Removes a class that waits.
    pub(super) fn remove(&mut self, level: usize, at: u32) {
        let heap = &mut self.levels[level];
        let place = self.places[at as usize] as usize;
        heap.swap_remove(place);
        let Some(&(_, moved)) = heap.get(place) else { return };
        self.places[moved as usize] = place as u32;
        let place = self.rise(level, place);
        self.sink(level, place);
    }

    fn swap(&mut self, level: usize, one: usize, other: usize) {
        let heap = &mut self.levels[level];
        heap.swap(one, other);
        for place in [one, other] {
            self.places[heap[place].1 as usize] = place as u32;
        }
    }

    /// Moves an entry up as long as it is earlier than the one above. Returns where it is then.
    fn rise(&mut self, level: usize, mut place: usize) -> usize {
        while place > 0 {
            let above = (place - 1) / 2;
            if self.levels[level][above].0 < self.levels[level][place].0 {
                break;
            }
            self.swap(level, place, above);
            place = above;
        }
        place
    }

    /// Moves an entry down as long as one below is earlier.
    fn sink(&mut self, level: usize, mut place: usize) {
        loop {
            let heap = &self.levels[level];
            let below = (2 * place + 1..heap.len().min(2 * place + 3)).min_by_key(|below| heap[*below].0);
            let Some(below) = below.filter(|below| heap[*below].0 < heap[place].0) else { return };
            self.swap(level, place, below);
            place = below;
        }
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
                    waiting.remove(3, at);
                    set.remove(&(due, at));
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
