//! Which flow holds most.
//!
//! Linux's fq_codel looks through all flows when it overflows. Here a tree of maxima answers: its leaves are the flows'
//! bytes, each inner node the largest of its eight children, which share a cache line. The tree is built when the first
//! overflow asks and kept up to date from then on, a step upwards only where a maximum changes. When nothing overflowed
//! for as many changes as there are flows it is put away, so a scheduler that does not overflow pays one branch a
//! packet, and building it again is paid for by the changes in between.
//!
//! The steps are logarithmic, six for 65536 flows: see docs/decisions/007-fattest-by-tree.md.

use alloc::vec::Vec;

/// Children of a node.
const WIDTH: usize = 8;

/// A tree of maxima over the flows' bytes, there only while it is needed.
#[derive(Clone, Debug)]
pub(crate) struct Fattest {
    /// What the children of each node hold at most, from the root on, level by level: child `slot` of node `i` is node
    /// `WIDTH * i + slot + 1`. Empty while the tree is put away.
    nodes: Vec<[u64; WIDTH]>,
    flows: usize,
    /// The node that is flow 0's leaf.
    first_leaf: usize,
    /// Changes until it is put away.
    patience: usize,
}

impl Fattest {
    /// For `flows` flows; takes all the memory that it will need.
    pub(crate) fn new(flows: usize) -> Self {
        let (mut first_leaf, mut leaves) = (0, 1);
        while leaves < flows {
            (first_leaf, leaves) = (first_leaf + leaves, leaves * WIDTH);
        }
        let mut this = Self { nodes: Vec::new(), flows, first_leaf, patience: 0 };
        this.nodes.reserve_exact(this.inner_nodes());
        this
    }

    /// Up to the parent of the last leaf.
    fn inner_nodes(&self) -> usize {
        (self.first_leaf + self.flows - 1).div_ceil(WIDTH)
    }

    /// Flow `index` holds `bytes` now.
    #[inline]
    pub(crate) fn update(&mut self, index: u32, bytes: u64) {
        if !self.nodes.is_empty() {
            self.climb(index as usize, bytes);
        }
    }

    #[inline(never)] // so that those who do not overflow do not carry it about
    fn climb(&mut self, index: usize, mut most: u64) {
        if self.patience == 0 {
            self.nodes.clear();
            return;
        }
        self.patience -= 1;
        let mut at = self.first_leaf + index;
        while let Some((parent, slot)) = above(at) {
            let was = core::mem::replace(&mut self.nodes[parent][slot], most);
            if was == most {
                return;
            }
            let Some((above_parent, slot)) = above(parent) else { return }; // nobody asks what the root holds
            let known = self.nodes[above_parent][slot];
            most = if was < known || was < most { most.max(known) } else { largest(&self.nodes[parent]) };
            if most == known {
                return;
            }
            at = parent;
        }
    }

    /// The flow that holds most, the lowest index where several do; `bytes` are all flows' bytes in order, looked
    /// at only when the tree must be built.
    pub(crate) fn find(&mut self, bytes: impl Iterator<Item = u64>) -> u32 {
        if self.nodes.is_empty() {
            self.build(bytes);
        }
        self.patience = self.flows;
        let most = self.nodes.first().map_or(0, largest);
        let mut at = 0;
        while at < self.first_leaf {
            let slot = self.nodes[at].iter().position(|bytes| *bytes == most);
            at = WIDTH * at + 1 + slot.unwrap_or(0);
        }
        (at - self.first_leaf) as u32
    }

    fn build(&mut self, bytes: impl Iterator<Item = u64>) {
        self.nodes.resize(self.inner_nodes(), [0; WIDTH]);
        for (index, bytes) in bytes.enumerate() {
            if let Some((parent, slot)) = above(self.first_leaf + index) {
                self.nodes[parent][slot] = bytes;
            }
        }
        for at in (1..self.nodes.len()).rev() {
            if let Some((parent, slot)) = above(at) {
                self.nodes[parent][slot] = largest(&self.nodes[at]);
            }
        }
    }
}

/// The parent of a node, and which of its children the node is; `None`: the root's.
#[inline]
fn above(at: usize) -> Option<(usize, usize)> {
    let before = at.checked_sub(1)?;
    Some((before / WIDTH, before % WIDTH))
}

#[inline]
fn largest(bytes: &[u64; WIDTH]) -> u64 {
    bytes.iter().fold(0, |most, bytes| most.max(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The tree finds what a search through all flows finds, whenever it is asked, and after a rest too.
        #[test]
        fn the_tree_agrees_with_a_search(
            flows in 1..200_usize,
            ops in proptest::collection::vec((0..200_usize, 0..5_u64, 0..12_u8), 0..300),
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
