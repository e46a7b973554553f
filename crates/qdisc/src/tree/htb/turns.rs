//! Whose turn it is: the rows of classes that may send, and the feeds of those that borrow.

use super::Htb;
use super::class::{LEVELS, Mode, Turn, bits};
use crate::packet::Packet;

impl<P: Packet> Htb<P> {
    /// Passes the turn from the leaf `at` to the next one.
    pub(super) fn pass_on(&mut self, at: u32, level: usize, priority: usize) {
        let parent = self.classes[at as usize].parent().filter(|_| level > 0);
        self.turn(parent, 0, priority).advance();
    }

    /// Returns the turn in the feed of a class, or in the row of a level.
    pub(super) fn turn(&mut self, feed_of: Option<u32>, level: usize, priority: usize) -> &mut Turn {
        match feed_of.and_then(|at| self.feeds[at as usize].as_mut()) {
            Some(feed) => &mut feed[priority],
            None => &mut self.rows[level][priority],
        }
    }

    /// Finds the leaf whose turn it is (`htb_lookup_leaf`).
    pub(super) fn look_up(&mut self, level: usize, priority: usize) -> Option<u32> {
        let mut feeds = [None; LEVELS];
        let mut depth = 0;
        if self.rows[level][priority].members.is_empty() {
            return None;
        }
        for _ in 0..65_535 {
            let turn = self.turn(feeds[depth], level, priority);
            if let (None, Some(last)) = (turn.at, turn.last) {
                turn.at = turn.members.next(last);
            }
            turn.last = None;
            let at = turn.at;
            match at {
                None => {
                    turn.at = turn.members.next(0);
                    if depth > 0 {
                        depth -= 1;
                        self.turn(feeds[depth], level, priority).advance();
                    }
                }
                Some(at) if self.classes[at as usize].level() == 0 => return Some(at),
                Some(at) => {
                    depth += 1;
                    *feeds.get_mut(depth)? = Some(at);
                }
            }
        }
        None
    }

    /// Takes part in the turns: the leaf `at` has packets.
    pub(super) fn activate(&mut self, at: u32) {
        let class = &mut self.classes[at as usize];
        if class.active == 0 {
            class.active = 1 << class.priority();
            self.activate_priorities(at);
            self.classes[at as usize].note(self.clock);
        }
    }

    /// Leaves the turns: the leaf `at` has no packets.
    pub(super) fn deactivate(&mut self, at: u32) {
        if self.classes[at as usize].active != 0 {
            self.deactivate_priorities(at);
            self.classes[at as usize].active = 0;
            self.classes[at as usize].note(self.clock);
        }
    }

    /// Puts a class into its row, or into the feeds of the classes above it (`htb_activate_prios`).
    pub(super) fn activate_priorities(&mut self, at: u32) {
        let mut at = at;
        let mut mask = self.classes[at as usize].active;
        while let (Mode::MayBorrow, Some(parent)) =
            (self.classes[at as usize].mode, self.classes[at as usize].parent())
        {
            if mask == 0 {
                break;
            }
            for priority in bits(mask) {
                let feed = self.turn(Some(parent), 0, priority);
                if !feed.members.is_empty() {
                    mask &= !(1 << priority); // the parent is in use at this priority already
                }
                feed.members.insert(at);
            }
            self.classes[parent as usize].active |= mask;
            self.classes[parent as usize].note(self.clock);
            at = parent;
        }
        let class = &self.classes[at as usize];
        let (mode, level) = (class.mode, class.level());
        if mode == Mode::CanSend && mask != 0 {
            self.row_mask[level] |= mask;
            bits(mask).for_each(|priority| self.rows[level][priority].members.insert(at));
        }
    }

    /// Takes a class out of its row and of all feeds (`htb_deactivate_prios`).
    pub(super) fn deactivate_priorities(&mut self, at: u32) {
        let mut at = at;
        let mut mask = self.classes[at as usize].active;
        while let (Mode::MayBorrow, Some(parent)) =
            (self.classes[at as usize].mode, self.classes[at as usize].parent())
        {
            if mask == 0 {
                break;
            }
            let mut emptied = 0;
            for priority in bits(mask) {
                let feed = self.turn(Some(parent), 0, priority);
                if feed.at == Some(at) {
                    (feed.last, feed.at) = (Some(at), None);
                }
                feed.members.remove(at);
                if feed.members.is_empty() {
                    emptied |= 1 << priority;
                }
            }
            mask = emptied;
            self.classes[parent as usize].active &= !mask;
            self.classes[parent as usize].note(self.clock);
            at = parent;
        }
        let class = &self.classes[at as usize];
        let (mode, level) = (class.mode, class.level());
        if mode == Mode::CanSend {
            for priority in bits(mask) {
                let row = &mut self.rows[level][priority];
                if row.at == Some(at) {
                    row.advance();
                }
                row.members.remove(at);
                if row.members.is_empty() {
                    self.row_mask[level] &= !(1 << priority);
                }
            }
        }
    }
}
