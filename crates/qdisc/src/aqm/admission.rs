//! Admission of an arrival in PI, REM and BLUE, given its drop probability: overflow, mark, drop or queue.

use super::{mark, unit_interval};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, ECN, LIMIT};
use crate::qdisc::{Backlog, Enqueued};
use crate::signal::{Drop, Mark, Owner};

/// The `limit` and `ecn` of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Admission {
    limit: usize,
    ecn: bool,
}

impl Admission {
    pub(super) fn new(args: &Args) -> Self {
        Self { limit: args.get(&LIMIT) as usize, ecn: args.get(&ECN) }
    }

    pub(super) fn limit(self) -> Backlog {
        Backlog { packets: self.limit as u32, ..Backlog::UNLIMITED }
    }

    pub(super) fn is_full<P: Packet>(self, queue: &Fifo<P>) -> bool {
        queue.len() >= self.limit
    }

    /// Queues `packet`, unless the queue is full or a throw of the dice with probability `p` drops it. With `ecn` the
    /// throw marks an ECN-capable packet and queues it.
    #[inline]
    pub(super) fn enqueue<P: Packet, O: Owner<P>>(
        self,
        p: f64,
        mut packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        if self.is_full(queue) {
            owner.dropped(packet, Drop::Overlimit);
            return Enqueued::Dropped;
        }
        let hit = p > 0.0 && unit_interval(owner.random_u64()) < p;
        if hit && !(self.ecn && mark(&mut packet, Mark::Early, owner)) {
            owner.dropped(packet, Drop::Early);
            return Enqueued::Dropped;
        }
        queue.push(packet);
        Enqueued::Success
    }
}

#[cfg(test)]
mod tests {
    use super::super::dice::NoDice;
    use super::*;
    use crate::packet::Plain;

    /// A throw without effect would shift all later random numbers: runs that differ in one parameter could no longer
    /// be compared in pairs.
    #[test]
    fn at_p_0_no_dice_are_thrown() {
        let (admission, mut queue) = (Admission { limit: 9, ecn: true }, Fifo::default());
        assert_eq!(admission.enqueue(0.0, Plain::new(1514), &mut queue, &mut NoDice), Enqueued::Success);
    }
}
