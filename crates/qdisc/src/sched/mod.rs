//! Containers: disciplines that hold their packets in several queues, and the FIFOs without a control law.

pub mod bucket;
pub mod cake;
#[cfg(feature = "complete")]
pub mod docsis_lld;
pub(crate) mod drr;
pub mod dualpi2;
pub(crate) mod fattest;
pub mod fifo;
pub mod fq;
pub mod fq_codel;
pub mod fq_nocodel;
pub mod fq_pie;
pub mod htb;
pub(crate) mod lengths;
pub mod mac80211;
#[cfg(feature = "complete")]
pub mod netem;
pub mod pace;
pub mod pfifo_fast;
pub mod prio;
pub mod sfq;
pub(crate) mod slab;
#[cfg(feature = "complete")]
pub mod stab;
pub mod tbf;

/// An owner for the tests of this folder. It notes drops and marks, and its random numbers are 0.
#[cfg(test)]
#[derive(Default)]
pub(crate) struct Noted {
    pub(crate) dropped: alloc::vec::Vec<u64>,
    pub(crate) marked: alloc::vec::Vec<u64>,
}

#[cfg(test)]
impl crate::Owner<crate::packet::Plain> for Noted {
    fn dropped(&mut self, packet: crate::packet::Plain, _why: crate::Drop) {
        self.dropped.push(packet.id);
    }
    fn marked(&mut self, packet: &crate::packet::Plain, _why: crate::Mark) {
        self.marked.push(packet.id);
    }
    fn random_u32(&mut self) -> u32 {
        0
    }
    fn random_u64(&mut self) -> u64 {
        0
    }
}

/// Checks that the timer of a shaper, which lets one of two packets of 1000 bytes leave at once, is due once. A time at
/// which the timer was called is not due again, and an early call must not lose the time.
#[cfg(test)]
fn assert_timer_is_due_once(mut qdisc: crate::registry::AnyQdisc<crate::packet::Plain>) {
    use crate::Qdisc as _;
    use crate::packet::Plain;
    use goodqueue_units::Instant;
    let mut owner = Noted::default();
    (0..2).for_each(|_| _ = qdisc.enqueue(Instant::ZERO, Plain::new(1000), &mut owner));
    assert!(qdisc.dequeue(Instant::ZERO, &mut owner).is_some());
    assert!(qdisc.dequeue(Instant::ZERO, &mut owner).is_none());
    let due = qdisc.next_timer().unwrap();
    qdisc.on_timer(Instant::from_nanos(due.as_nanos() - 1), &mut owner);
    assert_eq!(qdisc.next_timer(), Some(due));
    qdisc.on_timer(due, &mut owner);
    assert_eq!(qdisc.next_timer(), None);
    assert!(qdisc.dequeue(due, &mut owner).is_some());
}

/// Offers packets of `lens` at 0, then takes them as fast as the shaper `qdisc` gives them. Returns when each left,
/// in ns.
#[cfg(test)]
fn departures(
    mut qdisc: crate::registry::AnyQdisc<crate::packet::Plain>,
    lens: &[u32],
) -> alloc::vec::Vec<u64> {
    use crate::Qdisc as _;
    let (mut owner, mut now) = (Noted::default(), goodqueue_units::Instant::ZERO);
    for len in lens {
        qdisc.enqueue(now, crate::packet::Plain::new(*len), &mut owner);
    }
    let mut left = alloc::vec::Vec::new();
    while qdisc.backlog().packets > 0 {
        match qdisc.dequeue(now, &mut owner) {
            Some(_) => left.push(now.as_nanos()),
            None => {
                now = qdisc.next_timer().unwrap();
                qdisc.on_timer(now, &mut owner);
            }
        }
    }
    left
}
