//! A chain of filters: the classid of the first filter that matches, found without asking each of them.
//!
//! Source: `tcf_classify` (net/sched/cls_api.c) asks filters in the order of their preference. Thousands of subscribers
//! have one filter each, and these filters differ in values, not in masks. So filters of the same mask share a table
//! (tuple space search; Srinivasan, Suri and Varghese 1999). A look-up hashes the packet once per mask, as `flower` and
//! the hash tables of `u32` do, and the first filter in the order of the chain wins.

use super::fields::{DESTINATION, IPV6, PRIORITY, PROTOCOLS, SOURCE, WORDS, Words};
use super::id::Id;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What a matching filter says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// This class.
    Class(Id),
    /// The class that numbers in the packet give (`flow`).
    Computed(Arc<Map>),
}

/// A number in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// The word with the number, how far the number is from the right, and how many bits it has.
    pub(super) word: usize,
    pub(super) at: u32,
    pub(super) bits: u32,
    /// The number of a packet that lacks the field: its word is 0.
    pub(super) absent: u32,
}

impl Field {
    fn number(&self, words: &Words) -> u32 {
        // `ipv6_addr_hash`: the four words of an address of IPv6 as one number.
        let folded = |from: usize| words[from..from + 4].iter().fold(0, |all, word| all ^ word);
        let word = match self.word {
            SOURCE if is_v6(words) => folded(2),
            DESTINATION if is_v6(words) => folded(6),
            word => words[word],
        };
        match word {
            0 => self.absent,
            word => word >> self.at & u32::MAX >> (32 - self.bits),
        }
    }
}

fn is_v6(words: &Words) -> bool {
    words[PROTOCOLS] >> 16 == u32::from(IPV6)
}

/// How `flow` makes a class of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Map {
    pub(super) fields: Vec<Field>,
    pub(super) how: How,
    /// 0: there is none.
    pub(super) divisor: u32,
    /// The first class.
    pub(super) base: Id,
}

/// What is done with the numbers before the divisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// `flow map`: steps, with the one number.
    Steps { mask: u32, xor: u32, shift: u32, addend: u32 },
    /// `flow hash`: a hash of all numbers, with this key.
    Hash(u32),
}

impl Map {
    /// Computes the class as `flow_classify` (net/sched/cls_flow.c) does.
    fn class(&self, words: &Words) -> Id {
        let mut numbers = self.fields.iter().map(|field| field.number(words));
        let number = match self.how {
            How::Steps { mask, xor, shift, addend } => {
                let number = numbers.next().unwrap_or(0);
                ((number & mask ^ xor) >> shift).wrapping_add(addend)
            }
            How::Hash(key) => lookup3(numbers, self.fields.len() as u32, key),
        };
        let number = number.checked_rem(self.divisor).unwrap_or(number);
        Id::of(self.base.major(), (self.base.0.wrapping_add(number)) as u16)
    }
}

/// Returns the hash of `count` numbers: `hashword` of lookup3.c (Bob Jenkins, 2006), which Linux calls `jhash2`.
fn lookup3(mut numbers: impl Iterator<Item = u32>, count: u32, key: u32) -> u32 {
    let mut state = [0xdead_beef_u32.wrapping_add(count << 2).wrapping_add(key); 3];
    let mut left = count;
    loop {
        for (part, number) in state.iter_mut().zip(numbers.by_ref().take(3)) {
            *part = part.wrapping_add(number);
        }
        if left <= 3 {
            break;
        }
        left -= 3;
        // `mix`: one part after the other gives to the next.
        for (at, turn) in [4, 6, 8, 16, 19, 4].into_iter().enumerate() {
            let [here, last, next] = [at % 3, (at + 2) % 3, (at + 1) % 3];
            state[here] = state[here].wrapping_sub(state[last]) ^ state[last].rotate_left(turn);
            state[last] = state[last].wrapping_add(state[next]);
        }
    }
    // `final`: each part takes from the one before it, beginning with the last.
    for (at, turn) in [14, 11, 25, 16, 4, 14, 24].into_iter().enumerate() {
        let [here, before] = [(at + 2) % 3, (at + 1) % 3];
        state[here] = (state[here] ^ state[before]).wrapping_sub(state[before].rotate_left(turn));
    }
    state[2]
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
    /// What these words are, rule by rule.
    values: Vec<u32>,
    /// The place of each rule's filter in the chain, and what it says.
    targets: Vec<(u32, Target)>,
    /// The hash of a rule and one more than its number, at the place of the hash or behind it. Number 0: free. At most
    /// half of these places are taken.
    places: Vec<(u32, u32)>,
}

impl Table {
    fn new(mask: Words) -> Self {
        let words = (0..WORDS as u8).filter(|word| mask[usize::from(*word)] != 0).collect();
        Self { mask, words, values: Vec::new(), targets: Vec::new(), places: alloc::vec![(0, 0); 4] }
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

    /// Returns whether `words` match a rule.
    #[inline]
    fn matches(&self, rule: usize, words: &Words) -> bool {
        let values = &self.values[rule * self.words.len()..];
        let mut used = self.words.iter().map(|word| usize::from(*word)).zip(values);
        used.all(|(word, value)| *value == words[word] & self.mask[word])
    }

    /// Returns the entry of `places` with the rule that `words` match, or the free one in which it would be.
    #[inline]
    fn place(&self, hash: u32, words: &Words) -> usize {
        let last = self.places.len() - 1;
        let mut at = hash as usize & last;
        loop {
            let (other, number) = self.places[at];
            if number == 0 || other == hash && self.matches(number as usize - 1, words) {
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
        self.values.extend(self.words.iter().map(|word| value[usize::from(*word)]));
        self.targets.push((place, target));
        self.places[at] = (hash, self.targets.len() as u32);
        if 2 * self.targets.len() > self.places.len() {
            let more = alloc::vec![(0, 0); 2 * self.places.len()];
            let last = more.len() - 1;
            for (hash, number) in core::mem::replace(&mut self.places, more) {
                if number != 0 {
                    let mut at = hash as usize & last;
                    while self.places[at].1 != 0 {
                        at = (at + 1) & last;
                    }
                    self.places[at] = (hash, number);
                }
            }
        }
    }

    /// Returns the rule that the packet matches.
    #[inline]
    fn find(&self, words: &Words) -> Option<&(u32, Target)> {
        let (_, number) = self.places[self.place(self.hash(words), words)];
        self.targets.get((number as usize).wrapping_sub(1))
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

    /// Returns whether all filters compare nothing but the addresses of IPv4, and each says one class.
    pub(super) fn sees_only_addresses(&self) -> bool {
        self.tables.iter().all(|table| {
            let mut others = (0..WORDS).filter(|word| ![SOURCE, DESTINATION].contains(word));
            let masked = |word: usize| {
                if word == PROTOCOLS { table.mask[word] as u16 as u32 } else { table.mask[word] }
            };
            others.all(|word| masked(word) == 0)
                && table.targets.iter().all(|(_, target)| matches!(target, Target::Class(_)))
        })
    }

    /// Returns the classid that the first matching filter says. `None`: no filter matches.
    pub(super) fn classid(&self, words: &Words) -> Option<Id> {
        let found = self.tables.iter().filter_map(|table| table.find(words));
        let (_, target) = found.min_by_key(|(place, _)| *place)?;
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

#[cfg(test)]
mod tests {
    use super::super::fields::MARK;
    use super::*;

    /// A filter that sees more than addresses must keep a packet from the class of the one before it.
    #[test]
    fn filters_of_addresses_are_told_from_others() {
        let rule = |words: &[(usize, u32)], target: &Target| {
            let mut mask = [0; WORDS];
            words.iter().for_each(|(word, bits)| mask[*word] = *bits);
            Rule { any_of: alloc::vec![(mask, [0; WORDS])], target: target.clone() }
        };
        let class = Target::Class(Id(0x0001_0002));
        let of = |rules: &[Rule]| Chain::new(rules.iter()).sees_only_addresses();
        let host = rule(&[(DESTINATION, u32::MAX), (PROTOCOLS, 0xffff_0000)], &class);
        assert!(of(&[]) && of(&[host.clone(), rule(&[(SOURCE, 0xffff_ff00)], &class)]));
        for (word, bits) in [(PROTOCOLS, 0xff00), (0, 0x00ff_0000), (12, 1), (MARK, 1), (PRIORITY, 1), (8, 1)]
        {
            assert!(!of(&[host.clone(), rule(&[(word, bits)], &class)]), "{word}");
        }
        let how = How::Hash(1);
        let map = Map { fields: Vec::new(), how, divisor: 2, base: Id(0x0001_0001) };
        assert!(!of(&[rule(&[(SOURCE, u32::MAX)], &Target::Computed(Arc::new(map)))]));
    }

    /// Linux 6.1.192 drew this key for `flow hash … divisor 3`, and took these packets from 100.64.0.x to 10.9.0.1 to
    /// these classes, counted from the first (`flow_classify`, net/sched/cls_flow.c).
    #[test]
    fn the_hash_is_that_of_linux() {
        let class = |numbers: &[u32]| lookup3(numbers.iter().copied(), numbers.len() as u32, 0x9704_58ca) % 3;
        let (host, to) = (|host: u32| 0x6440_0000 + host, 0x0a09_0001);
        assert_eq!([1, 2, 3, 6].map(|from| class(&[host(from)])), [0, 0, 1, 2], "keys src");
        assert_eq!([1, 2, 3, 6].map(|from| class(&[host(from), to])), [0, 1, 2, 1], "keys src,dst");
        assert_eq!([1, 2, 3, 6].map(|from| class(&[host(from), to, 1])), [0, 0, 1, 1], "keys src,dst,mark");
        let of_ports = |from, at| class(&[host(1), to, 6, from, at]);
        assert_eq!([of_ports(443, 53), of_ports(1000, 53), of_ports(443, 80)], [0, 2, 1], "all keys");
    }
}
