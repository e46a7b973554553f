//! netem: a queue that plays a path. It delays, loses, corrupts, duplicates and reorders packets.
//!
//! Source: tc-netem(8), and net/sched/sch_netem.c and tc's q_netem.c where the page leaves something open. What stands
//! in the code and not on the page:
//!
//! - A packet gets its time to leave when it comes, and leaves in the order of these times. So jitter reorders packets.
//!   A delay may become negative: then the packet overtakes all that would leave now.
//! - A random number is taken modulo the size of the table (or modulo twice the jitter). The modulus keeps the low bits
//!   of the number, and the correlation acts on the high bits. So a delay's correlation has next to no effect.
//! - `rate` counts from the time at which the last packet leaves. The packet's own delay is shortened by the wait for
//!   that time, to zero at the least.
//! - A duplicate enters the whole discipline again, as a packet that cannot be duplicated. It has a loss, a delay and a
//!   corruption of its own. A packet that is both duplicated and lost is sent once.
//! - `reorder` puts a packet in front of all others. Of two such packets the later one leaves first.
//! - A packet that is lost counts as taken ([`Enqueued::Success`]).
//!
//! `limit` counts packets that are held. Linux's default is 1000, which loses packets on a long fat path.

mod params;
mod random;

use crate::aqm::mark;
use crate::discipline::Discipline;
use crate::kept::{Kept, Look};
use crate::packet::Packet;
use crate::param::{Args, Error, Link, QdiscSpec};
use crate::qdisc::{Backlog, Enqueued, Qdisc};
use crate::signal::{Drop, Flipped, Mark, Owner};
use crate::timed::Timed;
use alloc::vec::Vec;
use goodqueue_units::Instant;
use params::{Delay, PARAMS, Setup};
use random::{Correlated, Source, State};

/// A packet, and which of its bits was flipped.
struct Held<P> {
    packet: P,
    flipped: Option<Flipped>,
}

/// A distribution's table.
#[derive(Default)]
struct Table(Vec<i16>);

impl Table {
    fn of(delay: Delay) -> Self {
        Self(if delay.jitter > 0 { delay.distribution.table() } else { Vec::new() })
    }

    /// Returns a delay in ns, for a random number. It may be negative.
    fn delay(&self, delay: Delay, drawn: impl FnOnce() -> u32) -> i64 {
        let jitter = i64::from(delay.jitter);
        if jitter == 0 {
            return delay.mean;
        }
        delay.mean + delay.distribution.deviation(&self.0, jitter, drawn())
    }
}

/// `tc`'s `netem`.
pub struct Netem<P> {
    setup: Setup,
    delays: Table,
    slot_delays: Table,
    source: Source,
    delay: Correlated,
    loss: Correlated,
    corrupt: Correlated,
    duplicate: Correlated,
    reorder: Correlated,
    loss_state: State,
    /// Packets that were delayed since the last one that was sent at once.
    in_turn: u32,
    /// Packets that wait for their time.
    held: Timed<Held<P>>,
    /// Packets that were sent at once and have not left, the latest at the end, each with its time of arrival.
    at_once: Vec<(Instant, Held<P>)>,
    bytes: u64,
    /// When the present slot began or the next begins. None: there are no slots.
    slot: Option<Instant>,
    /// How much may still leave in this slot.
    packets_left: i64,
    bytes_left: i64,
    /// When the next packet may leave.
    wake: Option<Instant>,
    kept: Kept<P>,
}

impl<P: Packet> Discipline<P> for Netem<P> {
    const SPEC: QdiscSpec = QdiscSpec::new("netem", PARAMS)
        .summary("Plays a path: delay with jitter, loss, corruption, duplication, reordering, rate, slots")
        .source("tc-netem(8)")
        .begins_anew(params::begin_anew);

    fn build(args: &Args, _link: &Link) -> Result<Self, Error> {
        let setup = Setup::new(args)?;
        let mut netem = Self {
            setup,
            delays: Table::of(setup.delay),
            slot_delays: setup.slots.by_distribution.map(Table::of).unwrap_or_default(),
            source: Source::new(setup.seed),
            delay: Correlated::new(args.get(&params::DELAY_CORRELATION)),
            loss: Correlated::new(args.get(&params::LOSS_CORRELATION)),
            corrupt: Correlated::new(args.get(&params::CORRUPT_CORRELATION)),
            duplicate: Correlated::new(args.get(&params::DUPLICATE_CORRELATION)),
            reorder: Correlated::new(args.get(&params::REORDER_CORRELATION)),
            loss_state: State::default(),
            in_turn: 0,
            held: Timed::default(),
            at_once: Vec::new(),
            bytes: 0,
            slot: None,
            packets_left: 0,
            bytes_left: 0,
            wake: None,
            kept: Kept::default(),
        };
        netem.begin_slots(Instant::ZERO);
        Ok(netem)
    }

    /// Replaces the parameters as `netem_change` does. Packets that wait keep their times, also above a smaller limit.
    /// What the line brings begins anew, and so do the model of losses and the count of `gap`.
    fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: &Args,
        link: &Link,
        _owner: &mut O,
    ) -> Result<(), Error> {
        let fresh = Self::build(args, link)?;
        if !args.is_change() {
            return Ok(()); // another rate of the link, which netem does not use
        }
        let slots = self.setup.slots;
        self.setup = fresh.setup;
        (self.delays, self.source) = (fresh.delays, fresh.source);
        (self.loss_state, self.in_turn) = (State::default(), 0);
        if params::names_correlation(args) {
            (self.delay, self.loss, self.duplicate) = (fresh.delay, fresh.loss, fresh.duplicate);
        }
        if args.is_named(params::CORRUPT.name()) {
            self.corrupt = fresh.corrupt;
        }
        if args.is_named(params::REORDER.name()) {
            self.reorder = fresh.reorder;
        }
        if params::names_slots(args) {
            self.slot_delays = fresh.slot_delays;
            if slots.by_distribution.is_some() {
                // Linux keeps the table of a distribution, and draws from it with the new line's values: 0 and 0, if
                // the line gives times (`get_slot_next`). Then all slots follow one another at once.
                self.setup.slots.by_distribution.get_or_insert_default();
            }
            self.begin_slots(now);
        } else {
            self.setup.slots = slots;
        }
        Ok(())
    }

    fn look(&mut self) -> Look<'_, P> {
        self.kept.look()
    }
}

impl<P: Packet> Netem<P> {
    fn len(&self) -> usize {
        self.held.len() + self.at_once.len() + self.kept.backlog.packets as usize
    }

    /// Begins the first slot at `now`, if there are slots.
    fn begin_slots(&mut self, now: Instant) {
        let slots = self.setup.slots;
        self.slot = slots.exist().then_some(now);
        (self.packets_left, self.bytes_left) = (slots.packets, slots.bytes);
    }

    /// Plans the next slot.
    fn next_slot<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) {
        let slots = self.setup.slots;
        let source = &mut self.source;
        let wait = match slots.by_distribution {
            Some(delay) => self.slot_delays.delay(delay, || source.next(owner)),
            // Linux's product of 64 bits overflows from slots on that vary by 2.1 s.
            None => {
                let share = i128::from(source.next(owner)) * i128::from(slots.most - slots.least);
                slots.least + (share >> 32) as i64
            }
        };
        self.slot = Some(after(now, wait));
        (self.packets_left, self.bytes_left) = (slots.packets, slots.bytes);
    }

    /// Takes the packet that is first, if its time has come by `now`.
    fn take(&mut self, now: Instant) -> Option<Held<P>> {
        let held = self.at_once.pop().map(|(_, held)| held).or_else(|| self.held.pop(now))?;
        self.bytes -= u64::from(held.packet.len());
        Some(held)
    }

    /// Returns whether an event of `probability` happens. A probability of 0 draws no number.
    fn hits<O: Owner<P>>(
        probability: u32,
        correlated: &mut Correlated,
        source: &mut Source,
        owner: &mut O,
    ) -> bool {
        probability > 0 && probability >= correlated.next(source, owner)
    }

    /// Takes in `packet`, which may be duplicated or is a duplicate.
    fn admit<O: Owner<P>>(
        &mut self,
        now: Instant,
        mut packet: P,
        may_double: bool,
        owner: &mut O,
    ) -> Enqueued {
        let setup = self.setup;
        let twice = may_double && Self::hits(setup.duplicate, &mut self.duplicate, &mut self.source, owner);
        let mut lost = setup.loss.next(&mut self.loss_state, &mut self.loss, &mut self.source, owner);
        if lost && setup.marks && mark(&mut packet, Mark::Loss, owner) {
            lost = false;
        }
        if lost && !twice {
            owner.dropped(packet, Drop::Loss);
            return Enqueued::Success;
        }
        let mut refused = Enqueued::Dropped;
        if twice
            && !lost
            && let Some(copy) = owner.duplicated(&packet)
        {
            self.admit(now, copy, false, owner);
            refused = Enqueued::Success;
        }
        // Linux draws the byte and the bit from the kernel's generator, in a line with `seed`, too.
        let flipped = Self::hits(setup.corrupt, &mut self.corrupt, &mut self.source, owner)
            .then(|| Flipped { place: owner.random_u32(), bit: owner.random_u32() >> 29 });
        if self.len() >= setup.limit {
            owner.dropped(packet, Drop::Overlimit);
            return refused;
        }
        self.bytes += u64::from(packet.len());
        let len = packet.len();
        let held = Held { packet, flipped };
        let is_delayed = setup.gap == 0
            || self.in_turn < setup.gap - 1
            || setup.reorder < self.reorder.next(&mut self.source, owner);
        if is_delayed {
            let time = self.time_to_send(now, len, owner);
            self.in_turn = self.in_turn.wrapping_add(1);
            self.held.push(time, held);
        } else {
            self.in_turn = 0;
            self.at_once.push((now, held));
        }
        Enqueued::Success
    }

    /// Returns when a packet of `len` bytes that comes now leaves.
    fn time_to_send<O: Owner<P>>(&mut self, now: Instant, len: u32, owner: &mut O) -> Instant {
        let (setup, source) = (self.setup, &mut self.source);
        let delay = self.delays.delay(setup.delay, || self.delay.next(source, owner));
        let Some(pace) = setup.pace else { return after(now, delay) };
        // The packet that leaves last. Of the packets that were sent at once only the oldest is looked at.
        let last = self.held.last_time().max(self.at_once.first().map(|(came, _)| *came));
        let (from, delay) = match last {
            None => (now, delay),
            Some(last) => {
                let ahead = last.as_nanos() as i128 - now.as_nanos() as i128;
                (last, (i128::from(delay) - ahead).clamp(0, i64::MAX.into()) as i64)
            }
        };
        after(from, delay.saturating_add(pace.time(len)))
    }
}

/// Returns the time `delay` ns after `now`. A negative delay leads into the past.
fn after(now: Instant, delay: i64) -> Instant {
    Instant::from_nanos(now.as_nanos().saturating_add_signed(delay))
}

impl<P: Packet> Qdisc<P> for Netem<P> {
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, mut packet: P, owner: &mut O) -> Enqueued {
        packet.set_arrival(now);
        self.admit(now, packet, true, owner)
    }

    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        self.wake = None;
        let is_at_once = !self.at_once.is_empty();
        if !is_at_once {
            let due = self.held.next_time()?;
            if self.slot.is_some_and(|slot| slot < due) {
                self.next_slot(now, owner);
            }
            let opens = self.slot.map_or(due, |slot| slot.max(due));
            if opens > now {
                self.wake = Some(opens);
                return None;
            }
        }
        let Held { packet, flipped } = self.take(now)?;
        if self.slot.is_some() && !is_at_once {
            self.packets_left -= 1;
            self.bytes_left -= i64::from(packet.len());
            if self.packets_left <= 0 || self.bytes_left <= 0 {
                self.next_slot(now, owner);
            }
        }
        if let Some(flipped) = flipped {
            owner.corrupted(&packet, flipped);
        }
        Some(packet)
    }

    fn is_work_conserving(&self) -> bool {
        false
    }

    fn next_timer(&self) -> Option<Instant> {
        self.wake
    }

    fn on_timer<O: Owner<P>>(&mut self, now: Instant, _owner: &mut O) {
        self.wake = self.wake.filter(|due| *due > now);
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.len() as u32, bytes: self.bytes + self.kept.backlog.bytes }
    }
}

#[cfg(test)]
mod tests;
