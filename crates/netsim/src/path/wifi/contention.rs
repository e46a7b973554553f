//! Who may send next: the contention of DCF and EDCA, from one exchange of frames to the next.
//!
//! Source: IEEE 802.11-2012, 9.3.4 (backoff), 9.19.2 (EDCA). A contender counts its backoff down while the medium is
//! idle and sends at zero. Nothing happens here in a slot that nobody sends in: who sends first follows from the
//! counters.

use super::standard::Access;
use goodqueue_units::{Duration, Instant, Stream};

/// The number of a contender: a queue of frames of a station that contends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ContenderId(pub(crate) u32);

/// One that contends.
#[derive(Clone, Debug)]
struct Contender {
    access: Access,
    cw: u32,
    /// Slots that are left to count down.
    backoff: u32,
    /// When its slots begin to count, its AIFS among them: a SIFS after the medium became idle, or later.
    from: Instant,
    /// Whether it has something to send.
    is_ready: bool,
}

/// All that contend for one medium.
#[derive(Debug)]
pub(crate) struct Contention {
    contenders: Vec<Contender>,
    slot: Duration,
    random: Stream,
    /// Whether somebody sends.
    is_busy: bool,
}

impl Contender {
    /// When it sends, should nobody before it.
    fn start(&self, slot: Duration) -> Instant {
        self.from + slot * u64::from(self.access.aifsn + self.backoff)
    }

    /// Slots of its backoff that were over by `now`.
    fn counted(&self, slot: Duration, now: Instant) -> u32 {
        let slots = now.since(self.from.min(now)).as_nanos() / slot.as_nanos();
        u32::try_from(slots).unwrap_or(u32::MAX).saturating_sub(self.access.aifsn)
    }

    /// The medium is taken at `now`.
    fn freeze(&mut self, slot: Duration, now: Instant) {
        self.backoff = self.backoff.saturating_sub(self.counted(slot, now));
    }

    fn draw(&mut self, random: &mut Stream) {
        // Without the bias of a remainder: the window is a power of two.
        self.backoff = random.next_u32() & self.cw;
    }
}

impl Contention {
    /// A medium with slots of `slot`, for which nobody contends yet.
    pub(crate) fn new(slot: Duration, random: Stream) -> Self {
        Self { contenders: Vec::new(), slot, random, is_busy: false }
    }

    /// One more contends, from `now` on; the medium is idle since `from` less a SIFS.
    pub(crate) fn join(&mut self, access: Access, from: Instant) -> ContenderId {
        let contender = Contender { access, cw: access.cw_min, backoff: 0, from, is_ready: false };
        self.contenders.push(contender);
        ContenderId(self.contenders.len() as u32 - 1)
    }

    /// `id` has something to send from `now` on.
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
        // It counted down with nothing to send, too. What is over is over: it sends at the next boundary of a slot.
        let late = now.since(contender.start(self.slot).min(now));
        contender.backoff += late.as_nanos().div_ceil(self.slot.as_nanos()) as u32;
    }

    /// `id` has nothing more to send.
    pub(crate) fn rest(&mut self, id: ContenderId) {
        self.contenders[id.0 as usize].is_ready = false;
    }

    /// When somebody sends next, if the medium is idle and somebody is ready.
    pub(crate) fn next_start(&self) -> Option<Instant> {
        if self.is_busy {
            return None;
        }
        self.contenders.iter().filter(|one| one.is_ready).map(|one| one.start(self.slot)).min()
    }

    /// The medium is taken at `now`: `winners` become those who send, in order of their numbers. More than one is a
    /// collision.
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

    /// The medium is idle again, and slots count from `from` on: a SIFS after its end.
    pub(crate) fn release(&mut self, from: Instant) {
        self.is_busy = false;
        self.contenders.iter_mut().for_each(|one| one.from = from);
    }

    /// After a collision those who sent wait for an answer: after [`release`](Self::release), the slots of `id` count
    /// from `from` on, or the next boundary of the others' slots. (Else who collided could never collide with the
    /// others, whose slots it would miss by microseconds. Slots are so long because nobody senses within one who else
    /// began.)
    pub(crate) fn resume_at(&mut self, id: ContenderId, from: Instant) {
        let contender = &mut self.contenders[id.0 as usize];
        let slots = from.since(contender.from.min(from)).as_nanos().div_ceil(self.slot.as_nanos());
        contender.from += self.slot * slots;
    }

    /// What `id` sent has come: it draws from its least window.
    pub(crate) fn succeeded(&mut self, id: ContenderId) {
        let contender = &mut self.contenders[id.0 as usize];
        contender.cw = contender.access.cw_min;
        contender.draw(&mut self.random);
    }

    /// What `id` sent has not come: it draws from a window of twice the size.
    pub(crate) fn failed(&mut self, id: ContenderId) {
        let contender = &mut self.contenders[id.0 as usize];
        contender.cw = (2 * contender.cw + 1).min(contender.access.cw_max);
        contender.draw(&mut self.random);
    }
}

#[cfg(test)]
mod tests;
