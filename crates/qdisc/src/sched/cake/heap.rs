//! The search for the longest queue: a binary max-heap over all queues of all tins.
//!
//! Linux builds the heap at the first overflow, keeps it in order for the next 65,535 packets sent, and then leaves
//! it as it is. The layout of the heap decides which of several equal queues loses a packet. So this heap follows
//! Linux in the layout at the start (queue 0 of each tin, then queue 1 …), in how far a change moves an entry, and in
//! that a rebuild starts from the present layout. An entry that shrank sinks by one level at a time, so the victim is
//! nearly, but not always, the longest queue.

use super::tin::{QUEUES, Tins};
use alloc::vec::Vec;

/// Number of tins for which Linux's heap has room, in every mode.
pub(super) const MAX_TINS: usize = 8;
/// Packets sent during which the heap is kept in order after an overflow.
const KEPT_FOR: u16 = u16::MAX;

/// The bytes in each queue.
pub(super) trait Backlogs {
    /// Returns the bytes of the queue with the number `key`. A tin that the mode lacks is empty.
    fn bytes(&self, key: usize) -> u64;
}

impl Backlogs for Tins {
    fn bytes(&self, key: usize) -> u64 {
        let flow = self.get(key / QUEUES).and_then(|tin| tin.flows.get((key % QUEUES) as u16));
        flow.map_or(0, |flow| flow.bytes.into())
    }
}

/// Returns the key of a queue of a tin, in Linux's order.
pub(super) const fn key(tin: usize, queue: u16) -> usize {
    tin * QUEUES + queue as usize
}

/// The heap. It allocates its memory at the first overflow.
#[derive(Clone, Debug, Default)]
pub(super) struct Longest {
    /// Keys of the queues, the longest first.
    heap: Vec<u16>,
    /// The position of each key in `heap`.
    place: Vec<u16>,
    /// Packets to send before the heap is no longer kept in order. 0: it is out of order.
    patience: u16,
}

impl Longest {
    /// Returns the key of the longest queue. Builds the heap if it is not in order. [`Longest::shrank_at_top`] must
    /// follow.
    pub(super) fn find(&mut self, backlogs: &impl Backlogs) -> usize {
        if self.heap.is_empty() {
            self.lay_out();
        }
        if self.patience == 0 {
            for place in (0..self.heap.len() / 2).rev() {
                self.sink(place, backlogs);
            }
        }
        self.patience = KEPT_FOR;
        self.heap[0].into()
    }

    fn lay_out(&mut self) {
        let keys =
            || (0..QUEUES as u16).flat_map(|queue| (0..MAX_TINS).map(move |tin| key(tin, queue) as u16));
        self.heap = keys().collect();
        self.place = alloc::vec![0; MAX_TINS * QUEUES];
        for (place, key) in self.heap.iter().enumerate() {
            self.place[usize::from(*key)] = place as u16;
        }
    }

    /// Notes that the longest queue was shortened.
    pub(super) fn shrank_at_top(&mut self, backlogs: &impl Backlogs) {
        self.sink(0, backlogs);
    }

    /// Notes that the longest queue had no packet: the heap is out of order, and the next search builds it again.
    pub(super) fn distrust(&mut self) {
        self.patience = 0;
    }

    /// Notes that a queue grew.
    #[inline]
    pub(super) fn grew(&mut self, key: usize, backlogs: &impl Backlogs) {
        if self.patience > 0 {
            self.rise(self.place[key].into(), backlogs);
        }
    }

    /// Notes that a queue was shortened.
    #[inline]
    pub(super) fn shrank(&mut self, key: usize, backlogs: &impl Backlogs) {
        if self.patience > 0 {
            self.sink(self.place[key].into(), backlogs);
        }
    }

    /// Notes that a packet was sent.
    #[inline]
    pub(super) fn sent(&mut self) {
        self.patience = self.patience.saturating_sub(1);
    }

    fn bytes(&self, place: usize, backlogs: &impl Backlogs) -> u64 {
        backlogs.bytes(usize::from(self.heap[place]))
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.place[usize::from(self.heap[a])] = a as u16;
        self.place[usize::from(self.heap[b])] = b as u16;
    }

    /// Lets an entry sink. As in Linux, each level compares the children with the largest entry seen so far, not with
    /// the sinking entry. In an ordered heap that is the child that was just raised, so an entry sinks by one level
    /// only.
    fn sink(&mut self, mut at: usize, backlogs: &impl Backlogs) {
        let mut most = self.bytes(at, backlogs);
        loop {
            let mut largest = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.bytes(child, backlogs) > most {
                    (largest, most) = (child, self.bytes(child, backlogs));
                }
            }
            if largest == at {
                return;
            }
            self.swap(at, largest);
            at = largest;
        }
    }

    fn rise(&mut self, mut at: usize, backlogs: &impl Backlogs) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.bytes(at, backlogs) <= self.bytes(parent, backlogs) {
                return;
            }
            self.swap(at, parent);
            at = parent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Backlogs for Vec<u64> {
        fn bytes(&self, key: usize) -> u64 {
            self.get(key).copied().unwrap_or(0)
        }
    }

    #[test]
    fn of_equal_queues_the_one_that_rises_on_the_left_is_found() {
        let mut backlogs = alloc::vec![0; 2 * QUEUES];
        for (tin, queue) in [(1, 5), (0, 6), (0, 9)] {
            backlogs[key(tin, queue)] = 100;
        }
        // The layout goes queue by queue: (1, 5) is entry 41, (0, 6) is 48, (0, 9) is 72. They rise to 20, 9, 4 and
        // to 23, 11, 5, 2 and to 35, 17, 8, 3. At 1 the left child, 3, is taken. At 0 it is the left child, 1.
        assert_eq!(Longest::default().find(&backlogs), key(0, 9));
        backlogs[key(1, 5)] = 101;
        assert_eq!(Longest::default().find(&backlogs), key(1, 5));
    }

    /// When the longest queue becomes empty, its entry must sink by one level only, and so hide longer queues below
    /// it.
    #[test]
    fn an_entry_sinks_by_one_level() {
        let mut backlogs = alloc::vec![0; QUEUES];
        let mut longest = Longest::default();
        longest.lay_out();
        // The heap's first entries are queue 0 of the eight tins. The first seven places get queues 0 to 6 of tin 0.
        for queue in 0..7 {
            longest.swap(usize::from(queue), longest.place[key(0, queue)].into());
            backlogs[key(0, queue)] = [70, 60, 30, 50, 40, 20, 10][usize::from(queue)];
        }
        assert_eq!(longest.find(&backlogs), key(0, 0));
        backlogs[key(0, 0)] = 0;
        longest.shrank_at_top(&backlogs);
        assert_eq!(longest.heap[..4], [1, 0, 2, 3]); // 60, 0, 30, 50: in order it would be 60, 50, 30, 0
        // Now 60 goes, too: 30 rises, and 50 stays hidden. sch_cake.c keeps the heap in order for 65535 packets after
        // an overflow (`overflow_timeout`). The next overflow then builds it anew, and finds 50.
        backlogs[key(0, 1)] = 0;
        longest.shrank_at_top(&backlogs);
        let found_after = |packets| {
            let mut longest = longest.clone();
            (0..packets).for_each(|_| longest.sent());
            longest.find(&backlogs)
        };
        assert_eq!([0, 65_534, 65_535].map(found_after), [key(0, 2), key(0, 2), key(0, 3)]);
    }

    proptest! {
        /// A newly built heap must give a queue as long as any, and each queue must keep exactly one place.
        #[test]
        fn the_longest_is_found(ops in proptest::collection::vec((0..40_u16, 0..6_u64, 0..6_u8), 0..200)) {
            let mut backlogs = alloc::vec![0; QUEUES];
            let mut longest = Longest::default();
            for (queue, bytes, ask) in ops {
                let before = core::mem::replace(&mut backlogs[key(0, queue)], bytes);
                if bytes > before {
                    longest.grew(key(0, queue), &backlogs);
                } else {
                    longest.shrank(key(0, queue), &backlogs);
                }
                if ask == 0 {
                    longest.distrust();
                    let found = longest.find(&backlogs);
                    prop_assert_eq!(backlogs.get(found), backlogs.iter().max());
                    let at_home = |key: usize| usize::from(longest.heap[usize::from(longest.place[key])]) == key;
                    prop_assert!((0..longest.heap.len()).all(at_home));
                }
            }
        }
    }
}
