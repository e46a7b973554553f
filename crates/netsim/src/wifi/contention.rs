//! Who may send next: the contention of DCF and EDCA, from one exchange of frames to the next.
//!
//! Source: IEEE 802.11-2012, 9.3.4 (backoff), 9.19.2 (EDCA). A contender counts its backoff down while the medium is
//! idle, and sends at zero. Slots in which nobody sends cost no work here: the first sender follows from the
//! counters.

use super::standard::Access;
use goodqueue_units::{Duration, Instant, Stream};

/// The number of a contender. A contender is a queue of a station that contends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ContenderId(pub(crate) u32);

/// One contender.
#[derive(Clone, Debug)]
struct Contender {
    access: Access,
    cw: u32,
    /// Backoff slots that are left to count down.
    backoff: u32,
    /// When its slots begin to count, the AIFSN slots first: one SIFS after the medium became idle, or later.
    from: Instant,
    /// Whether it has something to send.
    is_ready: bool,
}

/// All contenders for one medium.
#[derive(Debug)]
pub(crate) struct Contention {
    contenders: Vec<Contender>,
    slot: Duration,
    random: Stream,
    /// Whether somebody sends.
    is_busy: bool,
}

impl Contender {
    /// Returns when it sends if nobody sends before.
    fn start(&self, slot: Duration) -> Instant {
        self.from + slot * u64::from(self.access.aifsn + self.backoff)
    }

    /// Returns how many slots of its backoff were over by `now`.
    fn counted(&self, slot: Duration, now: Instant) -> u32 {
        let slots = now.since(self.from.min(now)).as_nanos() / slot.as_nanos();
        u32::try_from(slots).unwrap_or(u32::MAX).saturating_sub(self.access.aifsn)
    }

    /// Stops the countdown, because the medium is taken at `now`.
    fn freeze(&mut self, slot: Duration, now: Instant) {
        self.backoff = self.backoff.saturating_sub(self.counted(slot, now));
    }

    fn draw(&mut self, random: &mut Stream) {
        // A mask has no modulo bias: the number of values in the window is a power of two.
        self.backoff = random.next_u32() & self.cw;
    }
}

impl Contention {
    /// Returns a medium with slots of `slot`, for which nobody contends yet.
    pub(crate) fn new(slot: Duration, random: Stream) -> Self {
        Self { contenders: Vec::new(), slot, random, is_busy: false }
    }

    /// Adds a contender. The medium is idle since one SIFS before `from`.
    pub(crate) fn join(&mut self, access: Access, from: Instant) -> ContenderId {
        let contender = Contender { access, cw: access.cw_min, backoff: 0, from, is_ready: false };
        self.contenders.push(contender);
        ContenderId(self.contenders.len() as u32 - 1)
    }

    /// Marks `id` as having something to send from `now` on.
    pub(crate) fn ready(&mut self, id: ContenderId, now: Instant) {
        let contender = &mut self.contenders[id.0 as usize];
        if contender.is_ready {
            return;
        }
        contender.is_ready = true;
        if self.is_busy {
            if contender.backoff == 0 {
                contender.draw(&mut self.random);
            }
            return;
        }
        // The contender also counted down while it had nothing to send. If its start is past, it sends at the next
        // slot boundary.
        let late = now.since(contender.start(self.slot).min(now));
        contender.backoff += late.as_nanos().div_ceil(self.slot.as_nanos()) as u32;
    }

    /// Marks `id` as having nothing more to send.
    pub(crate) fn rest(&mut self, id: ContenderId) {
        self.contenders[id.0 as usize].is_ready = false;
    }

    /// Returns when somebody sends next, if the medium is idle and somebody is ready.
    pub(crate) fn next_start(&self) -> Option<Instant> {
        if self.is_busy {
            return None;
        }
        self.contenders.iter().filter(|one| one.is_ready).map(|one| one.start(self.slot)).min()
    }

    /// Takes the medium at `now`. Fills `winners` with the contenders that send, in the order of their numbers. More
    /// than one winner is a collision.
    pub(crate) fn take(&mut self, now: Instant, winners: &mut Vec<ContenderId>) {
        winners.clear();
        self.is_busy = true;
        for (number, one) in (0..).zip(&mut self.contenders) {
            if one.is_ready && one.start(self.slot) == now {
                winners.push(ContenderId(number));
            } else {
                one.freeze(self.slot, now);
            }
        }
    }

    /// Makes the medium idle again. Slots count from `from` on, one SIFS after the end of the exchange.
    pub(crate) fn release(&mut self, from: Instant) {
        self.is_busy = false;
        self.contenders.iter_mut().for_each(|one| one.from = from);
    }

    /// Makes the slots of `id` count from `from` on, rounded up to the next slot boundary of the others. It is called
    /// after [`release`](Self::release) for the senders of a collision, because they wait for an answer first.
    /// Without the rounding, the senders of a collision would miss the others' slots by microseconds and could never
    /// collide with them. Slots are so long because no station senses within one slot that another has begun to send.
    pub(crate) fn resume_at(&mut self, id: ContenderId, from: Instant) {
        let contender = &mut self.contenders[id.0 as usize];
        let slots = from.since(contender.from.min(from)).as_nanos().div_ceil(self.slot.as_nanos());
        contender.from += self.slot * slots;
    }

    /// Draws a backoff from the smallest window: what `id` sent has arrived or was given up.
    pub(crate) fn succeeded(&mut self, id: ContenderId) {
        let contender = &mut self.contenders[id.0 as usize];
        contender.cw = contender.access.cw_min;
        contender.draw(&mut self.random);
    }

    /// Draws a backoff from a window of twice the size: what `id` sent has not arrived.
    pub(crate) fn failed(&mut self, id: ContenderId) {
        let contender = &mut self.contenders[id.0 as usize];
        contender.cw = (2 * contender.cw + 1).min(contender.access.cw_max);
        contender.draw(&mut self.random);
    }
}

#[cfg(test)]
mod tests;
