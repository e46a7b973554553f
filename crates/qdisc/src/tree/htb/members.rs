//! The classes that take turns, in the order of their numbers.
//!
//! Linux has a red-black tree (`htb_add_to_id_tree`). Here 64 neighbouring numbers are the bits of one word: the
//! classes below one node mostly fit into one or two words, and no memory is taken or given back per packet.

use alloc::vec::Vec;

/// A set of numbers. It takes memory by the classes that are in it, and not by those of the tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    /// Words with at least one bit, in ascending order: the number of the word, and its bits.
    words: Vec<(u32, u64)>,
}

impl Members {
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns where a word is, or where it would be. Mostly all words from the first one on are there: those of the
    /// classes below one node, or of nearly all classes.
    #[inline]
    fn place(&self, word: u32) -> Result<usize, usize> {
        let Some((first, _)) = self.words.first() else { return Err(0) };
        let guess = word.wrapping_sub(*first) as usize;
        if self.words.get(guess).is_some_and(|(own, _)| *own == word) {
            return Ok(guess);
        }
        self.words.binary_search_by_key(&word, |(word, _)| *word)
    }

    pub(super) fn insert(&mut self, number: u32) {
        let (word, bit) = (number / 64, 1 << (number % 64));
        match self.place(word) {
            Ok(at) => self.words[at].1 |= bit,
            Err(at) => self.words.insert(at, (word, bit)),
        }
    }

    pub(super) fn remove(&mut self, number: u32) {
        let Ok(at) = self.place(number / 64) else { return };
        let bits = &mut self.words[at].1;
        *bits &= !(1 << (number % 64));
        if *bits == 0 {
            self.words.remove(at);
        }
    }

    /// Returns the least number that is at least `least`.
    pub(super) fn next(&self, least: u32) -> Option<u32> {
        let (word, from) = (least / 64, u64::MAX << (least % 64));
        let at = match self.place(word) {
            Ok(at) if self.words[at].1 & from != 0 => return Some(lowest((word, self.words[at].1 & from))),
            Ok(at) => at + 1,
            Err(at) => at,
        };
        self.words.get(at).copied().map(lowest)
    }
}

fn lowest((word, bits): (u32, u64)) -> u32 {
    64 * word + bits.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    /// The same calls as of an ordered set give the same answers.
    #[test]
    fn it_is_an_ordered_set() {
        let (mut members, mut set, mut dice) = (Members::default(), BTreeSet::new(), 1_u32);
        for _ in 0..20_000 {
            dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let number = (dice >> 8) % 300;
            if dice >> 31 == 0 {
                members.insert(number);
                set.insert(number);
            } else {
                members.remove(number);
                set.remove(&number);
            }
            let least = (dice >> 16) % 300;
            assert_eq!(members.next(least), set.range(least..).next().copied());
            assert_eq!(members.is_empty(), set.is_empty());
        }
    }
}
