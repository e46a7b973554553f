//! A chain of filters: the classid of the first filter that matches, found without asking each of them.
//!
//! Source: `tcf_classify` (net/sched/cls_api.c) asks filters in the order of their preference. Thousands of subscribers
//! have one filter each, and these filters differ in values, not in masks. So filters of the same mask share a table
//! (tuple space search; Srinivasan, Suri and Varghese 1999). A look-up hashes the packet once per mask, as `flower` and
//! the hash tables of `u32` do, and the first filter in the order of the chain wins.

use super::fields::{PRIORITY, WORDS, Words};
use super::id::Id;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What a matching filter says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// This class.
    Class(Id),
    /// The class that a number in the packet gives (`flow map`).
    Computed(Arc<Map>),
}

/// The steps by which `flow map` makes a class of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Map {
    /// The word with the number, how far the number is from the right, and how many bits it has.
    pub(super) word: usize,
    pub(super) at: u32,
    pub(super) bits: u32,
    pub(super) mask: u32,
    pub(super) xor: u32,
    pub(super) shift: u32,
    pub(super) addend: u32,
    pub(super) divisor: u32,
    pub(super) base: Id,
}

impl Map {
    /// Computes the class as `flow_classify` (net/sched/cls_flow.c) does.
    fn class(&self, words: &Words) -> Id {
        let number = words[self.word] >> self.at & u32::MAX >> (32 - self.bits);
        let number = ((number & self.mask ^ self.xor) >> self.shift).wrapping_add(self.addend);
        let number = number.checked_rem(self.divisor).unwrap_or(number);
        Id::of(self.base.major(), (self.base.0.wrapping_add(number)) as u16)
    }
}

/// One filter: what it compares, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// Alternatives: each has a mask and a value per word. A range of ports is several.
    pub(super) any_of: Vec<(Words, Words)>,
    pub(super) target: Target,
}

/// Filters of one qdisc or class, in the order in which they are asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    tables: Vec<Table>,
}

/// Filters of one mask.
#[derive(Clone, Debug)]
struct Table {
    mask: Words,
    /// The words of which the mask has any bits.
    words: Vec<u8>,
    /// The value, the place of the filter in the chain, and what it says.
    rules: Vec<(Words, u32, Target)>,
    /// The hash of a rule and one more than its number, at the place of the hash or behind it. Number 0: free. At most
    /// half of these places are taken.
    places: Vec<(u32, u32)>,
}

impl Table {
    fn new(mask: Words) -> Self {
        let words = (0..WORDS as u8).filter(|word| mask[usize::from(*word)] != 0).collect();
        Self { mask, words, rules: Vec::new(), places: alloc::vec![(0, 0); 4] }
    }

    /// Returns the hash of what the mask leaves of `words`.
    #[inline]
    fn hash(&self, words: &Words) -> u32 {
        let mut hash = 0;
        for &word in &self.words {
            let word = usize::from(word);
            // Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4).
            let mixed = hash ^ u64::from(words[word] & self.mask[word]);
            hash = mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31);
        }
        hash as u32
    }

    /// Returns the entry of `places` with the rule that `words` match, or the free one in which it would be.
    #[inline]
    fn place(&self, hash: u32, words: &Words) -> usize {
        let last = self.places.len() - 1;
        let mut at = hash as usize & last;
        loop {
            let (other, number) = self.places[at];
            let matches = |value: &Words| {
                let mut used = self.words.iter().map(|word| usize::from(*word));
                used.all(|word| value[word] == words[word] & self.mask[word])
            };
            if number == 0 || other == hash && matches(&self.rules[number as usize - 1].0) {
                return at;
            }
            at = (at + 1) & last;
        }
    }

    /// Adds a rule, if there is none for its value yet.
    fn add(&mut self, value: Words, place: u32, target: Target) {
        let hash = self.hash(&value);
        let at = self.place(hash, &value);
        if self.places[at].1 != 0 {
            return;
        }
        self.rules.push((value, place, target));
        self.places[at] = (hash, self.rules.len() as u32);
        if 2 * self.rules.len() > self.places.len() {
            let more = alloc::vec![(0, 0); 2 * self.places.len()];
            for (hash, number) in core::mem::replace(&mut self.places, more) {
                if number != 0 {
                    let at = self.place(hash, &self.rules[number as usize - 1].0);
                    self.places[at] = (hash, number);
                }
            }
        }
    }

    /// Returns the rule that the packet matches.
    #[inline]
    fn find(&self, words: &Words) -> Option<&(Words, u32, Target)> {
        let (_, number) = self.places[self.place(self.hash(words), words)];
        self.rules.get((number as usize).wrapping_sub(1))
    }
}

impl Chain {
    /// Returns the chain of `rules`. Those before others win.
    pub(super) fn new<'a>(rules: impl Iterator<Item = &'a Rule>) -> Self {
        let mut chain = Self::default();
        for (place, rule) in rules.enumerate() {
            for (mask, value) in &rule.any_of {
                let at = chain.tables.iter().position(|table| table.mask == *mask).unwrap_or_else(|| {
                    chain.tables.push(Table::new(*mask));
                    chain.tables.len() - 1
                });
                chain.tables[at].add(masked(value, mask), place as u32, rule.target.clone());
            }
        }
        chain
    }

    /// Returns whether there is no filter.
    pub(super) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Returns the classid that the first matching filter says. `None`: no filter matches.
    pub(super) fn classid(&self, words: &Words) -> Option<Id> {
        let found = self.tables.iter().filter_map(|table| table.find(words));
        let (.., target) = found.min_by_key(|(_, place, _)| *place)?;
        Some(match target {
            Target::Class(id) => *id,
            Target::Computed(map) => map.class(words),
        })
    }
}

/// Returns the classid that the packet itself asks for (`SO_PRIORITY`, iptables CLASSIFY), which is perhaps none.
pub(super) const fn asked(words: &Words) -> Id {
    Id(words[PRIORITY])
}

fn masked(words: &Words, mask: &Words) -> Words {
    core::array::from_fn(|word| words[word] & mask[word])
}
