//! The search for the flow with the most bytes.
//!
//! Linux's fq_codel searches all flows when it overflows. Here a tree of maxima answers. Its leaves are the flows'
//! bytes. Each inner node is the largest of its eight children, which share a cache line. The first overflow builds
//! the tree. From then on each change keeps it up to date, one step upwards as long as a maximum changes. After as
//! many changes without an overflow as there are flows, the tree is put away. So a scheduler that does not overflow
//! pays one branch per packet, and the changes in between pay for building the tree again.
//!
//! The steps are logarithmic, six for 65536 flows: see docs/decisions/007-fattest-by-tree.md.

use alloc::vec::Vec;

/// Children of a node.
const WIDTH: usize = 8;

/// A tree of maxima over the flows' bytes, which exists only while it is needed.
#[derive(Clone, Debug)]
pub(crate) struct Fattest {
    /// The maximum under each child of each node, from the root on, level by level. Child `slot` of node `i` is node
    /// `WIDTH * i + slot + 1`. Empty while the tree is put away.
    nodes: Vec<[u64; WIDTH]>,
    flows: usize,
    /// The node that is the leaf of flow 0.
    first_leaf: usize,
    /// Number of changes until the tree is put away.
    patience: usize,
}

impl Fattest {
    /// Prepares for `flows` flows, and allocates all the memory that the tree will need.
    pub(crate) fn new(flows: usize) -> Self {
        let (mut first_leaf, mut leaves) = (0, 1);
        while leaves < flows {
            (first_leaf, leaves) = (first_leaf + leaves, leaves * WIDTH);
        }
        let mut this = Self { nodes: Vec::new(), flows, first_leaf, patience: 0 };
        this.nodes.reserve_exact(this.inner_nodes());
        this
    }

    /// Returns the number of inner nodes: up to the parent of the last leaf.
    fn inner_nodes(&self) -> usize {
        (self.first_leaf + self.flows - 1).div_ceil(WIDTH)
    }

    /// Notes that flow `index` now holds `bytes`.
    #[inline]
    pub(crate) fn update(&mut self, index: u32, bytes: u64) {
        if !self.nodes.is_empty() {
            self.climb(index as usize, bytes);
        }
    }

    #[inline(never)] // keeps this code out of schedulers that do not overflow
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
            let Some((above_parent, slot)) = above(parent) else { return }; // the root's maximum is not stored
            let known = self.nodes[above_parent][slot];
            most = if was < known || was < most { most.max(known) } else { largest(&self.nodes[parent]) };
            if most == known {
                return;
            }
            at = parent;
        }
    }

    /// Returns the flow with the most bytes, of several the lowest index. `bytes` are all flows' bytes in order. They
    /// are read only to build the tree.
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

/// Returns the parent of a node, and the node's position among the parent's children. `None`: the node is the root.
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
        /// The tree must find the same flow as a search through all flows, at any time, also after it was put away.
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

    /// A tree with one node too many would take its last node for the leaf of flow 0. This happens only if the lowest
    /// level is full, so with 8, 64 or 512 flows, or with one flow less.
    #[test]
    fn the_first_and_the_last_flow_are_found_in_trees_of_all_shapes() {
        for flows in [1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 513, 1024, 4096, 65_536] {
            for fattest in [0, flows - 1] {
                let mut tree = Fattest::new(flows);
                let bytes = (0..flows).map(|flow| u64::from(flow == fattest));
                assert_eq!(tree.find(bytes), fattest as u32, "of {flows} flows");
            }
        }
    }
}
