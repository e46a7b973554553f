//! The flows of `fq`: a table of buckets, and the lists in which flows wait for their turn.
//!
//! As in Linux, each bucket holds a search tree, and a lookup removes the flows on its way that have been empty for
//! three seconds. Linux's trees are balanced (red-black). Here they are ordered by a hash, which balances them well
//! enough.

use super::super::slab::{Chain, NIL};
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
use goodqueue_units::processor::prefetch;

/// Mark of a flow that is empty and in no list. [`NIL`] marks the end of a list.
const DETACHED: u32 = u32::MAX - 1;
/// Mark of a flow that waits for a time.
const THROTTLED: u32 = u32::MAX - 2;
/// HZ = 250, as in the traces.
pub(super) const JIFFY_NS: u64 = crate::aqm::jiffies::JIFFY.as_nanos();
/// Jiffies after which an empty flow is forgotten: three seconds.
const FORGOTTEN_AFTER: u64 = 750;
/// Most flows that one lookup forgets.
const MOST_FORGOTTEN: usize = 8;

/// Returns the kernel's clock of coarse time.
pub(super) const fn jiffies(now: u64) -> u64 {
    now / JIFFY_NS
}

/// Returns the key of the flow of packets without a socket and with this masked hash. The number is odd, as the
/// kernel's, which no socket's key is.
pub(super) const fn orphan(hash: u32) -> u64 {
    spread((hash as u64) << 1 | 1)
}

/// Returns the key of a socket's flow.
pub(super) const fn socket(id: u64) -> u64 {
    spread(id << 1)
}

/// Spreads numbers over 64 bits, as the kernel's `hash_64` does: multiplicative hashing with the golden ratio (Knuth,
/// The Art of Computer Programming, volume 3, 6.4). Different numbers stay different.
const fn spread(number: u64) -> u64 {
    number.wrapping_mul(0x61c8_8646_80b5_83eb)
}

/// One flow.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    key: u64,
    /// Its children in the tree of its bucket.
    children: [u32; 2],
    /// The next flow in the list, or a mark.
    next: u32,
    pub(super) band: u8,
    /// Its packets in order of time to send, except the early ones.
    pub(super) queue: Chain,
    /// All its packets.
    pub(super) packets: u32,
    /// Its packets in `Fq::early`.
    pub(super) early: u32,
    /// Bytes that the flow may still send in this round.
    pub(super) credit: i32,
    /// The jiffy, made odd, in which the flow was detached.
    age: u64,
    /// Time before which the flow sends nothing, in ns. 0: none.
    pub(super) time_next_packet: u64,
    /// The part of `time_next_packet` that follows from a rate, and not from a packet's departure time.
    pub(super) paced_until: u64,
    /// Its number in the order of throttled flows.
    pub(super) order: u64,
}

impl Flow {
    pub(super) fn is_detached(&self) -> bool {
        self.next == DETACHED
    }

    pub(super) fn is_throttled(&self) -> bool {
        self.next == THROTTLED
    }

    pub(super) fn set_throttled(&mut self) {
        self.next = THROTTLED;
    }

    /// Notes that the flow is empty and in no list.
    pub(super) fn detach(&mut self, jiffies: u64) {
        self.next = DETACHED;
        self.age = jiffies | 1;
    }

    /// Returns whether the flow has been detached for more than `delay` jiffies.
    pub(super) fn has_been_empty(&self, jiffies: u64, delay: u64) -> bool {
        jiffies > self.age + delay
    }
}

/// A list of flows, served from the head.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    head: u32,
    /// Meaningless while the list is empty.
    tail: u32,
}

impl List {
    pub(super) const EMPTY: Self = Self { head: NIL, tail: NIL };

    pub(super) fn is_empty(self) -> bool {
        self.head == NIL
    }

    /// Returns the first flow of a list that is not empty.
    pub(super) fn head(self) -> u32 {
        self.head
    }

    pub(super) fn push(&mut self, flows: &mut Flows, index: u32) {
        flows[index].next = NIL;
        if self.head == NIL {
            self.head = index;
        } else {
            flows[self.tail].next = index;
        }
        self.tail = index;
    }

    /// Takes the head off a list that is not empty. Its flow must then be listed, throttled or detached.
    pub(super) fn shift(&mut self, flows: &mut Flows) {
        self.head = flows[self.head].next;
    }
}

/// All flows.
#[derive(Clone, Debug)]
pub(super) struct Flows {
    flows: Vec<Flow>,
    /// Places of forgotten flows.
    free: Vec<u32>,
    /// The root of each bucket's tree. Their number is a power of two.
    roots: Vec<u32>,
    /// Number of flows that hold packets.
    pub(super) waiting: u32,
}

impl Index<u32> for Flows {
    type Output = Flow;
    fn index(&self, index: u32) -> &Flow {
        &self.flows[index as usize]
    }
}

impl IndexMut<u32> for Flows {
    fn index_mut(&mut self, index: u32) -> &mut Flow {
        &mut self.flows[index as usize]
    }
}

impl Flows {
    /// Builds a table of `buckets` buckets, a power of two above one.
    pub(super) fn new(buckets: u32) -> Self {
        Self { flows: Vec::new(), free: Vec::new(), roots: alloc::vec![NIL; buckets as usize], waiting: 0 }
    }

    /// Returns the number of flows that are known.
    pub(super) fn len(&self) -> u32 {
        (self.flows.len() - self.free.len()) as u32
    }

    fn bucket(&self, key: u64) -> usize {
        (key >> (u64::BITS - self.roots.len().ilog2())) as usize
    }

    pub(super) fn prefetch(&self, key: u64) {
        if let Some(root) = self.flows.get(self.roots[self.bucket(key)] as usize) {
            prefetch(root);
        }
    }

    /// Returns the flow of `key`. A flow that is not known begins detached, with `credit`.
    pub(super) fn find(&mut self, key: u64, jiffies: u64, credit: i32) -> u32 {
        let bucket = self.bucket(key);
        self.forget(bucket, key, jiffies);
        let (mut at, mut link) = (self.roots[bucket], None);
        while at != NIL {
            let flow = &self[at];
            if flow.key == key {
                return at;
            }
            let side = usize::from(key > flow.key);
            (link, at) = (Some((at, side)), flow.children[side]);
        }
        let flow = Flow {
            key,
            children: [NIL; 2],
            next: DETACHED,
            band: 0,
            queue: Chain::default(),
            packets: 0,
            early: 0,
            credit,
            age: jiffies | 1,
            time_next_packet: 0,
            paced_until: 0,
            order: 0,
        };
        let index = match self.free.pop() {
            Some(index) => {
                self[index] = flow;
                index
            }
            None => {
                self.flows.push(flow);
                self.flows.len() as u32 - 1
            }
        };
        self.set_link(bucket, link, index);
        index
    }

    fn set_link(&mut self, bucket: usize, link: Option<(u32, usize)>, to: u32) {
        match link {
            Some((parent, side)) => self[parent].children[side] = to,
            None => self.roots[bucket] = to,
        }
    }

    /// Removes the flows on the way to `key` that have been detached for three seconds.
    fn forget(&mut self, bucket: usize, key: u64, jiffies: u64) {
        let mut found = [NIL; MOST_FORGOTTEN];
        let (mut count, mut at) = (0, self.roots[bucket]);
        while at != NIL && count < MOST_FORGOTTEN {
            let flow = &self[at];
            if flow.key == key {
                break;
            }
            if flow.is_detached() && flow.has_been_empty(jiffies, FORGOTTEN_AFTER) {
                found[count] = at;
                count += 1;
            }
            at = flow.children[usize::from(key > flow.key)];
        }
        for &index in found[..count].iter().rev() {
            self.remove(bucket, index);
            self.free.push(index);
        }
    }

    /// Takes a flow out of the tree of its bucket.
    fn remove(&mut self, bucket: usize, index: u32) {
        let key = self[index].key;
        let (mut at, mut link) = (self.roots[bucket], None);
        while at != index {
            let side = usize::from(key > self[at].key);
            (link, at) = (Some((at, side)), self[at].children[side]);
        }
        let [left, right] = self[index].children;
        let heir = if left == NIL || right == NIL {
            if left == NIL { right } else { left }
        } else {
            // The flow with the next higher key takes its place.
            let (mut heir, mut parent) = (right, NIL);
            while self[heir].children[0] != NIL {
                (parent, heir) = (heir, self[heir].children[0]);
            }
            if parent != NIL {
                self[parent].children[0] = self[heir].children[1];
                self[heir].children[1] = right;
            }
            self[heir].children[0] = left;
            heir
        };
        self.set_link(bucket, link, heir);
    }

    /// Distributes the flows to another number of buckets.
    pub(super) fn resize(&mut self, buckets: u32) {
        let old = core::mem::replace(&mut self.roots, alloc::vec![NIL; buckets as usize]);
        let mut left: Vec<u32> = old.into_iter().filter(|root| *root != NIL).collect();
        while let Some(index) = left.pop() {
            let children = core::mem::replace(&mut self[index].children, [NIL; 2]);
            left.extend(children.into_iter().filter(|child| *child != NIL));
            let key = self[index].key;
            let bucket = self.bucket(key);
            let (mut at, mut link) = (self.roots[bucket], None);
            while at != NIL {
                let side = usize::from(key > self[at].key);
                (link, at) = (Some((at, side)), self[at].children[side]);
            }
            self.set_link(bucket, link, index);
        }
    }
}
