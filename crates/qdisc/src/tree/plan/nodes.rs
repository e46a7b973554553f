//! The classes of a scheduler, and which is above which.
//!
//! A command of `hfsc` may change the levels of all the classes above one. So each class knows the place of the one
//! above it: a search by the number in each of 256 steps would take longer the more classes there are.

use super::Node;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Classes by their minor numbers.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Classes {
    places: BTreeMap<u16, u32>,
    slots: Vec<Slot>,
    /// Slots of classes that are gone.
    free: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Slot {
    /// `None`: the class is gone.
    node: Option<Node>,
    above: Option<u32>,
    /// How many classes are above it.
    depth: usize,
    below: Vec<u32>,
}

impl Classes {
    pub(in super::super) fn len(&self) -> usize {
        self.places.len()
    }
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
    pub(super) fn contains_key(&self, minor: &u16) -> bool {
        self.places.contains_key(minor)
    }
    pub(super) fn get(&self, minor: &u16) -> Option<&Node> {
        self.slots[*self.places.get(minor)? as usize].node.as_ref()
    }
    pub(super) fn get_mut(&mut self, minor: &u16) -> Option<&mut Node> {
        self.slots[*self.places.get(minor)? as usize].node.as_mut()
    }
    pub(in super::super) fn iter(&self) -> impl Iterator<Item = (&u16, &Node)> {
        self.places.iter().filter_map(|(minor, at)| Some((minor, self.slots[*at as usize].node.as_ref()?)))
    }
    pub(in super::super) fn keys(&self) -> impl Iterator<Item = &u16> {
        self.places.keys()
    }
    pub(in super::super) fn values(&self) -> impl Iterator<Item = &Node> {
        self.iter().map(|(_, node)| node)
    }

    /// Adds a class below that of `node.parent`. No class with this number is there.
    pub(super) fn insert(&mut self, minor: u16, node: Node) {
        let above = node.parent.and_then(|parent| self.places.get(&parent).copied());
        let depth = above.map_or(0, |at| self.slots[at as usize].depth + 1);
        let slot = Slot { node: Some(node), above, depth, below: Vec::new() };
        let at = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(at as usize) {
            Some(free) => *free = slot,
            None => self.slots.push(slot),
        }
        if let Some(above) = above {
            self.slots[above as usize].below.push(at);
        }
        self.places.insert(minor, at);
    }

    /// Removes a class that has none below it.
    pub(super) fn remove(&mut self, minor: &u16) -> Option<Node> {
        let at = self.places.remove(minor)?;
        self.free.push(at);
        let slot = &mut self.slots[at as usize];
        let (node, above) = (slot.node.take(), slot.above.take());
        if let Some(above) = above {
            let below = &mut self.slots[above as usize].below;
            if let Some(place) = below.iter().position(|one| *one == at) {
                below.swap_remove(place);
            }
        }
        node
    }

    /// Returns how many classes are above a new one below `minor`.
    pub(super) fn depth_below(&self, minor: u16) -> usize {
        self.places.get(&minor).map_or(0, |at| self.slots[*at as usize].depth + 1)
    }

    /// Returns whether there are classes below `minor`.
    pub(super) fn is_above_others(&self, minor: u16) -> bool {
        self.places.get(&minor).is_some_and(|at| !self.slots[*at as usize].below.is_empty())
    }

    fn level(&self, at: u32) -> usize {
        self.slots[at as usize].node.as_ref().map_or(0, |node| node.level)
    }

    /// Gives `minor`, which gets a child, and those above it the level above their children (`hfsc_adjust_levels`).
    pub(super) fn raise(&mut self, minor: u16) {
        let (mut next, mut level) = (self.places.get(&minor).copied(), 1);
        // Where a class is as high as this one needs, so are those above it.
        while let Some(at) = next {
            let slot = &mut self.slots[at as usize];
            let Some(node) = slot.node.as_mut().filter(|node| node.level < level) else { break };
            (node.level, next) = (level, slot.above);
            level += 1;
        }
    }

    /// Gives `minor`, which has lost a child, and those above it the level above their children.
    pub(super) fn settle(&mut self, minor: u16) {
        let mut next = self.places.get(&minor).copied();
        while let Some(at) = next {
            let old = self.level(at);
            let levels = self.slots[at as usize].below.iter().map(|child| self.level(*child) + 1);
            if levels.clone().any(|level| level == old) {
                break;
            }
            let level = levels.max().unwrap_or(0);
            let slot = &mut self.slots[at as usize];
            slot.node.iter_mut().for_each(|node| node.level = level);
            next = slot.above;
        }
    }
}

impl FromIterator<(u16, Node)> for Classes {
    fn from_iter<I: IntoIterator<Item = (u16, Node)>>(nodes: I) -> Self {
        let mut classes = Self::default();
        nodes.into_iter().for_each(|(minor, node)| classes.insert(minor, node));
        classes
    }
}

#[cfg(test)]
mod tests {
    use super::super::qdiscs::bands;
    use super::*;

    fn add(classes: &mut Classes, minor: u16, parent: Option<u16>) {
        let (_, node) = bands(1).next().unwrap();
        parent.into_iter().for_each(|parent| classes.raise(parent));
        classes.insert(minor, Node { parent, ..node });
    }

    fn delete(classes: &mut Classes, minor: u16) {
        let parent = classes.remove(&minor).unwrap().parent;
        parent.into_iter().for_each(|parent| classes.settle(parent));
    }

    /// Returns the level of a class, by all that are below it.
    fn height(classes: &Classes, minor: u16) -> usize {
        let children = classes.iter().filter(|(_, node)| node.parent == Some(minor));
        children.map(|(child, _)| height(classes, *child) + 1).max().unwrap_or(0)
    }

    #[test]
    fn after_any_commands_each_class_has_the_level_above_its_children() {
        let (mut classes, mut state) = (Classes::default(), 1_u64);
        let mut below = |most: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % most
        };
        for step in 1..=400 {
            let minors: Vec<u16> = classes.keys().copied().collect();
            let other = minors.get(below(minors.len() + 1)).copied();
            match other.filter(|minor| below(5) < 2 && !classes.is_above_others(*minor)) {
                Some(leaf) => delete(&mut classes, leaf),
                None => add(&mut classes, step, other),
            }
            for (minor, node) in classes.iter().filter(|_| step % 20 == 0) {
                assert_eq!(node.level, height(&classes, *minor), "{minor} after {step} commands");
                let above = node.parent.map_or(0, |parent| classes.depth_below(parent));
                assert_eq!(classes.depth_below(*minor), above + 1);
            }
        }
        assert!(classes.len() > 50);
    }

    /// Each deletion looked at all classes for each of those above it: ten billion looks, where these are a million.
    #[test]
    fn long_rows_of_classes_are_made_and_deleted() {
        let mut classes = Classes::default();
        let rows = 1..=10_000_u16;
        rows.clone().for_each(|minor| add(&mut classes, minor, (minor % 200 != 1).then(|| minor - 1)));
        assert_eq!(classes.get(&1).map(|node| node.level), Some(199));
        rows.rev().for_each(|minor| delete(&mut classes, minor));
        assert!(classes.is_empty());
    }
}
