//! Which flow holds most.
//!
//! Linux's fq_codel looks through all flows when it overflows. Here a winner tree answers: its leaves are the
//! flows' bytes, each inner node the larger of its two children, the root the most that any flow holds. The tree is
//! built when the first overflow asks and kept up to date from then on, a step upwards only where a maximum
//! changes. When nothing overflowed for as many changes as there are flows it is put away, so a scheduler that
//! does not overflow pays one branch a packet, and building it again is paid for by the changes in between.

use alloc::vec::Vec;

/// A winner tree over the flows' bytes, there only while it is needed.
#[derive(Clone, Debug)]
pub(crate) struct Fattest {
    /// Node 1 is the root, node i has the children 2i and 2i+1; empty while the tree is put away.
    nodes: Vec<u64>,
    /// Leaves: a power of two.
    leaves: usize,
    /// Changes until it is put away.
    patience: usize,
}

impl Fattest {
    /// For `flows` flows; takes all the memory that it will need.
    pub(crate) fn new(flows: usize) -> Self {
        let leaves = flows.next_power_of_two();
        Self { nodes: Vec::with_capacity(2 * leaves), leaves, patience: 0 }
    }

    /// Flow `index` holds `bytes` now.
    #[inline]
    pub(crate) fn update(&mut self, index: u32, bytes: u64) {
        if !self.nodes.is_empty() {
            self.climb(index as usize, bytes);
        }
    }

    fn climb(&mut self, index: usize, bytes: u64) {
        if self.patience == 0 {
            self.nodes.clear();
            return;
        }
        self.patience -= 1;
        let mut at = self.leaves + index;
        self.nodes[at] = bytes;
        while at > 1 {
            let larger = self.nodes[at].max(self.nodes[at ^ 1]);
            at /= 2;
            if self.nodes[at] == larger {
                break;
            }
            self.nodes[at] = larger;
        }
    }

    /// The flow that holds most, the lowest index where several do; `bytes` are all flows' bytes in order, looked
    /// at only when the tree must be built.
    pub(crate) fn find(&mut self, bytes: impl Iterator<Item = u64>) -> u32 {
        if self.nodes.is_empty() {
            self.nodes.resize(self.leaves, 0);
            self.nodes.extend(bytes);
            self.nodes.resize(2 * self.leaves, 0);
            for at in (1..self.leaves).rev() {
                self.nodes[at] = self.nodes[2 * at].max(self.nodes[2 * at + 1]);
            }
        }
        self.patience = self.leaves;
        let mut at = 1;
        while at < self.leaves {
            at = 2 * at + usize::from(self.nodes[2 * at] < self.nodes[2 * at + 1]);
        }
        (at - self.leaves) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The tree finds what a search through all flows finds, whenever it is asked, and after a rest too.
        #[test]
        fn the_tree_agrees_with_a_search(
            flows in 1..20_usize,
            ops in proptest::collection::vec((0..20_usize, 0..5_u64, 0..12_u8), 0..300),
        ) {
            let mut tree = Fattest::new(flows);
            let mut bytes = std::vec![0; flows];
            for (flow, value, ask) in ops {
                bytes[flow % flows] = value;
                tree.update((flow % flows) as u32, value);
                if ask == 0 {
                    let most = bytes.iter().max().copied().unwrap_or(0);
                    let first = bytes.iter().position(|b| *b == most).map(|i| i as u32);
                    prop_assert_eq!(Some(tree.find(bytes.iter().copied())), first);
                }
            }
        }
    }
}
