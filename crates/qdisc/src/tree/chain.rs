//! A chain of filters: the classid of the first filter that matches, found without asking each of them.
//!
//! Source: `tcf_classify` (net/sched/cls_api.c) asks filters in the order of their preference. Thousands of subscribers
//! have one filter each, and these filters differ in values, not in masks. So filters of the same mask share a table
//! (tuple space search; Srinivasan, Suri and Varghese 1999). A look-up hashes the packet once per mask, as `flower` and
//! the hash tables of `u32` do, and the first filter in the order of the chain wins.

use super::fields::{PRIORITY, Words};
use super::id::Id;
use alloc::vec::Vec;

/// What a matching filter says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// This class.
    Class(Id),
    /// The class that a number in the packet gives (`flow map`).
    Computed(Map),
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
    /// The value, the place of the filter in the chain, and what it says.
    rules: Vec<(Words, u32, Target)>,
    /// One more than the place of each rule, near its hash. 0: free. At most half of these places are taken.
    places: Vec<u32>,
}

impl Table {
    fn new(mask: Words) -> Self {
        Self { mask, rules: Vec::new(), places: alloc::vec![0; 4] }
    }

    /// Returns the entry of `places` with the rule for `value`, or the free one in which it would be.
    fn place(&self, value: &Words) -> usize {
        let last = self.places.len() - 1;
        // Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4).
        let mix = |hash: u64, word: &u32| {
            (hash ^ u64::from(*word)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31)
        };
        let mut at = value.iter().fold(0, mix) as usize & last;
        while self.places[at] != 0 && self.rules[self.places[at] as usize - 1].0 != *value {
            at = (at + 1) & last;
        }
        at
    }

    /// Adds a rule, if there is none for its value yet.
    fn add(&mut self, value: Words, place: u32, target: Target) {
        let at = self.place(&value);
        if self.places[at] != 0 {
            return;
        }
        self.rules.push((value, place, target));
        self.places[at] = self.rules.len() as u32;
        if 2 * self.rules.len() > self.places.len() {
            self.places = alloc::vec![0; 2 * self.places.len()];
            for number in 0..self.rules.len() {
                let at = self.place(&self.rules[number].0);
                self.places[at] = number as u32 + 1;
            }
        }
    }

    /// Returns the rule that the packet matches.
    fn find(&self, words: &Words) -> Option<&(Words, u32, Target)> {
        let number = self.places[self.place(&masked(words, &self.mask))];
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
                chain.tables[at].add(masked(value, mask), place as u32, rule.target);
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
