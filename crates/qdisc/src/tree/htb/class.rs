//! A class of `htb`, its buckets, and the classes that take turns.

use super::super::chain::Chain;
use super::super::id::Id;
use super::NONE;
use super::members::Members;
use crate::psched::TICK;
use crate::sched::pace::Pace;
use goodqueue_units::{Duration, Instant, processor};

/// `TC_HTB_MAXDEPTH`: levels of classes.
pub(in super::super) const LEVELS: usize = 8;
/// `TC_HTB_NUMPRIO`: priorities of leaves.
pub(in super::super) const PRIORITIES: usize = 8;

pub(super) const SECOND: i64 = 1_000_000_000;
/// The longest time for which a bucket fills, and the largest debt: `mbuffer`.
pub(super) const MINUTE: i64 = 60 * SECOND;

/// `htb_cmode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    CannotSend,
    MayBorrow,
    CanSend,
}

/// The classes at one priority that take turns (`htb_prio`).
#[derive(Clone, Debug, Default)]
pub(super) struct Turn {
    pub(super) members: Members,
    /// Whose turn it is.
    pub(super) at: Option<u32>,
    /// Whose turn it was before it left (`last_ptr_id`).
    pub(super) last: Option<u32>,
}

impl Turn {
    /// Returns whose turn it is, or whose it will be if it is nobody's.
    pub(super) fn next(&self) -> Option<u32> {
        self.at.or_else(|| self.members.next(self.last.unwrap_or(0)))
    }

    /// Passes the turn on.
    pub(super) fn advance(&mut self) {
        self.at = self.at.and_then(|at| self.members.next(at + 1));
    }
}

/// The turns of all priorities.
pub(super) type Turns = [Turn; PRIORITIES];

/// What a class is made from.
pub(in super::super) struct Setup {
    pub(in super::super) id: Id,
    pub(in super::super) parent: Option<u32>,
    pub(in super::super) level: usize,
    pub(in super::super) shape: Shape,
    pub(in super::super) chain: Chain,
}

/// What the words of a class set.
pub(in super::super) struct Shape {
    pub(in super::super) paces: [Pace; 2],
    /// Depths of the buckets in ticks of 64 ns.
    pub(in super::super) depths: [u32; 2],
    pub(in super::super) priority: usize,
    pub(in super::super) quantum: i32,
}

/// A class.
// For the processor: two cache lines, and what not every class has is elsewhere.
#[repr(C, align(64))]
pub(super) struct Class {
    /// The tokens of `rate` and of `ceil` at `since`, in nanoseconds.
    pub(super) tokens: [i64; 2],
    pub(super) since: i64,
    /// As [`Shape::depths`].
    depths: [u32; 2],
    parent: u32,
    pub(super) id: Id,
    pub(super) quantum: i32,
    level: u8,
    priority: u8,
    /// The priorities at which the class has packets, as bits.
    pub(super) active: u8,
    pub(super) mode: Mode,
    pub(super) paces: [Pace; 2],
    pub(super) deficits: [i32; LEVELS],
    /// How long the class held packets back: it may not send, and it or a class below it has packets.
    pub(super) held: Held,
}

const _: () = processor::fills_lines::<Class>(2);

/// How long something held packets back, in nanoseconds.
#[derive(Clone, Copy)]
pub(super) struct Held {
    sum: i64,
    /// [`NOT_HELD`]: nothing is held back.
    since: i64,
}

const NOT_HELD: i64 = i64::MIN;

impl Default for Held {
    fn default() -> Self {
        Self { sum: 0, since: NOT_HELD }
    }
}

impl Held {
    /// Notes whether packets are held back from `now` on.
    pub(super) fn note(&mut self, now: i64, holds: bool) {
        match (self.since, holds) {
            (NOT_HELD, true) => self.since = now,
            (NOT_HELD, false) | (_, true) => {}
            (since, false) => (self.sum, self.since) = (self.sum + (now - since).max(0), NOT_HELD),
        }
    }

    /// Returns the time up to `now`.
    pub(super) fn until(self, now: Instant) -> Duration {
        let now = now.as_nanos() as i64;
        let open = if self.since == NOT_HELD { 0 } else { (now - self.since).max(0) };
        Duration::from_nanos((self.sum + open) as u64)
    }
}

impl Class {
    /// Returns the class with full buckets.
    pub(super) fn new(setup: &Setup) -> Self {
        Self {
            tokens: setup.shape.depths.map(span),
            since: 0,
            depths: setup.shape.depths,
            parent: setup.parent.unwrap_or(NONE),
            id: setup.id,
            quantum: setup.shape.quantum,
            level: setup.level as u8,
            priority: setup.shape.priority as u8,
            active: 0,
            mode: Mode::CanSend,
            paces: setup.shape.paces,
            deficits: [0; LEVELS],
            held: Held::default(),
        }
    }

    /// Sets what a command says. The tokens, the mode and the turn stay (`htb_change_class`): another rate fills the
    /// buckets from the next packet on, and a leaf that has packets keeps its old priority until it is empty.
    pub(super) fn reshape(&mut self, shape: Shape) {
        (self.paces, self.depths) = (shape.paces, shape.depths);
        if self.level == 0 {
            (self.priority, self.quantum) = (shape.priority as u8, shape.quantum);
        }
    }

    /// Returns the class above.
    pub(super) fn parent(&self) -> Option<u32> {
        (self.parent != NONE).then_some(self.parent)
    }

    /// Returns the level; leaves are level 0.
    pub(super) fn level(&self) -> usize {
        self.level.into()
    }

    /// Returns the priority of a leaf.
    pub(super) fn priority(&self) -> usize {
        self.priority.into()
    }

    /// Notes whether the class holds packets back from `now` on.
    pub(super) fn note(&mut self, now: i64) {
        self.held.note(now, self.active != 0 && self.mode == Mode::CannotSend);
    }

    /// Takes a packet's tokens out of a bucket (`htb_accnt_tokens`).
    pub(super) fn account(&mut self, bucket: usize, len: u32, diff: i64) {
        let tokens =
            (self.tokens[bucket] + diff).min(span(self.depths[bucket])) - self.paces[bucket].time(len);
        self.tokens[bucket] = tokens.max(1 - MINUTE);
    }

    /// Returns the mode after `diff`, and the time until it changes (`htb_class_mode`).
    pub(super) fn mode_after(&self, diff: i64) -> (Mode, i64) {
        let (tokens, ceiling) = (self.tokens[0] + diff, self.tokens[1] + diff);
        match (tokens, ceiling) {
            (_, ..0) => (Mode::CannotSend, -ceiling),
            (0.., _) => (Mode::CanSend, diff),
            _ => (Mode::MayBorrow, -tokens),
        }
    }
}

/// Returns the nanoseconds of so many ticks.
fn span(ticks: u32) -> i64 {
    i64::from(ticks) << TICK
}

/// Returns the numbers of the bits that are set.
#[inline]
pub(super) fn bits(mut mask: u8) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (bit < 8).then_some(bit)
    })
}
