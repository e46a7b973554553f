//! HTB with any tree of classes.
//!
//! Source: tc-htb(8), and net/sched/sch_htb.c (6.1; the source of 7.3 decides the same, which no trace has checked).
//! Each class has two buckets, `rate` and `ceil`. A class whose buckets both have tokens may send, one with only `ceil`
//! tokens may borrow from its parent, and any other may not send. Leaves are level 0. Rows hold the classes that may
//! send, by level and priority; a class that borrows is in the feed of its parent. The lowest level goes first, then
//! the lowest priority, and equals share by their quantum in rounds (`htb_lookup_leaf`). A packet is charged to the
//! leaf and to all classes above it.
//!
//! Linux keeps rows, feeds and waiting classes in red-black trees. Here `members` has the rows and feeds as bits of
//! class numbers, which have the order of the classids, and `waiting` is a heap. No work depends on the number of
//! classes that have no packets.

mod change;
mod class;
mod members;
mod turns;
mod waiting;

pub(super) use class::{LEVELS, PRIORITIES, Setup, Shape};

use super::chain::{Chain, asked};
use super::child::{Decision, Offered};
use super::classes::Children;
use super::fields::Words;
use super::id::Id;
use crate::packet::Packet;
use crate::qdisc::{Backlog, Enqueued};
use crate::signal::{Drop, Owner};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use class::{Class, Held, MINUTE, Mode, SECOND, Turns};
use goodqueue_units::processor::{PREFETCHES, prefetch};
use goodqueue_units::{Duration, Instant};
use waiting::{Due, Waiting};

/// How long packets were held back since the beginning, and by whom.
#[derive(Clone, Debug)]
pub struct Limits {
    /// By the wire, while a class might have sent another packet.
    pub wire: Duration,
    /// By each class, in the order of their classids: the class may not send (`HTB_CANT_SEND`), while it or a class
    /// below it has packets.
    pub classes: Vec<(Id, Duration)>,
}

/// So many classes stay in a cache and need no prefetch.
const CACHED: usize = 256;

/// Stands for the place of a class that is not there.
const NONE: u32 = u32::MAX;

/// The `htb` of a tree.
pub(super) struct Htb<P> {
    handle: Id,
    /// In the order of their classids.
    classes: Vec<Class>,
    /// What takes turns below each class that is no leaf.
    feeds: Vec<Option<Box<Turns>>>,
    /// The filters of each class that has any.
    chains: Vec<Option<Box<Chain>>>,
    /// The level of each class. For the processor: a look ahead must not wait for the class.
    levels: Vec<u8>,
    /// The place of each class by its minor number, or [`NONE`].
    places: Vec<u32>,
    children: Children<P>,
    chain: Chain,
    default: Option<u32>,
    /// Packets that no class shapes.
    direct: VecDeque<P>,
    direct_bytes: u64,
    direct_limit: usize,
    rows: Box<[Turns; LEVELS]>,
    /// The priorities that have classes, per row, as bits.
    row_mask: [u8; LEVELS],
    waiting: Waiting,
    /// When classes of a level are looked at next (`near_ev_cache`).
    near: [i64; LEVELS],
    /// Counts the classes that began to wait. Those of the same time leave in this order.
    waits: u64,
    now: i64,
    /// The time of the last call, of arrivals too. Nothing is decided by it.
    clock: i64,
    /// How long the wire held packets back that a class might have sent.
    wire: Held,
    /// The watchdog. As in Linux it stands until it fires or gets another time, whatever is taken before.
    wake: Option<Instant>,
}

impl<P: Packet> Htb<P> {
    /// Returns the discipline of these classes, which are in the order of their classids.
    pub(super) fn new(
        handle: Id,
        classes: Vec<Setup>,
        children: Children<P>,
        chain: Chain,
        default: u16,
        direct_limit: usize,
    ) -> Self {
        let setups = classes;
        let classes: Vec<Class> = setups.iter().map(Class::new).collect();
        let last = classes.last().map_or(0, |class| usize::from(class.id.minor()));
        let mut places = alloc::vec![NONE; last + 1];
        for (at, class) in classes.iter().enumerate() {
            places[usize::from(class.id.minor())] = at as u32;
        }
        let mut htb = Self {
            handle,
            feeds: setups.iter().map(|setup| (setup.level > 0).then(Box::default)).collect(),
            chains: setups
                .into_iter()
                .map(|setup| (!setup.chain.is_empty()).then(|| Box::new(setup.chain)))
                .collect(),
            levels: classes.iter().map(|class| class.level() as u8).collect(),
            waiting: Waiting::new(classes.len()),
            classes,
            places,
            children,
            chain,
            default: None,
            direct: VecDeque::new(),
            direct_bytes: 0,
            direct_limit,
            rows: Box::default(),
            row_mask: [0; LEVELS],
            near: [0; LEVELS],
            waits: 0,
            now: 0,
            clock: 0,
            wire: Held::default(),
            wake: None,
        };
        let default = htb.find(Id::of(handle.major(), default));
        htb.default = default.filter(|at| htb.classes[*at as usize].level() == 0);
        htb
    }

    fn find(&self, id: Id) -> Option<u32> {
        let at = self.places.get(usize::from(id.minor())).filter(|_| id.major() == self.handle.major());
        at.copied().filter(|at| *at != NONE)
    }

    /// Chooses the class (`htb_classify`). `Err`: the direct queue, or none.
    fn classify(&self, words: &Words) -> Result<u32, Decision> {
        let own = asked(words);
        if own == self.handle {
            return Err(Decision::Direct);
        }
        let mut chain = Some(&self.chain);
        if let Some(at) = self.find(own) {
            let class = &self.classes[at as usize];
            if class.level() == 0 {
                return Ok(at);
            }
            chain = self.chains[at as usize].as_deref();
        }
        let mut hops = 0;
        while let Some(id) = chain.and_then(|chain| chain.classid(words)) {
            if id == self.handle {
                return Err(Decision::Direct);
            }
            let Some(at) = self.find(id) else { break };
            let class = &self.classes[at as usize];
            if class.level() == 0 {
                return Ok(at);
            }
            hops += 1;
            if hops > LEVELS {
                return Err(Decision::Dropped);
            }
            chain = self.chains[at as usize].as_deref();
        }
        self.default.ok_or(Decision::Direct)
    }

    /// Returns the class of a packet of these words.
    pub(super) fn decide(&self, words: &Words) -> Decision {
        match self.classify(words) {
            Ok(at) => {
                let id = self.classes[at as usize].id;
                self.children.get(at).map_or(Decision::Dropped, |child| child.decide(words, id))
            }
            Err(decision) => decision,
        }
    }

    /// Returns the place of the leaf of a packet of these words, unless it has to look at a class for that, for which
    /// the processor would have to wait.
    pub(super) fn foresee(&self, words: &Words) -> Option<u32> {
        self.find(self.chain.classid(words)?)
    }

    /// Returns the place of the leaf of a packet of these words, if it has one.
    pub(super) fn leaf_of(&self, words: &Words) -> Option<u32> {
        self.classify(words).ok()
    }

    /// Returns whether the leaf of a packet that asks for no class follows from its addresses, and no leaf has filters.
    pub(super) fn sees_only_addresses(&self) -> bool {
        let mut chains = self.chains.iter().flatten().map(|chain| &**chain).chain([&self.chain]);
        chains.all(Chain::sees_only_addresses) && self.children.have_no_filters()
    }

    /// Does what [`AnyQdisc::approach`](crate::AnyQdisc::approach) does.
    pub(super) fn approach(&self, class: u32, packet: &P, step: usize) {
        if let Some(child) = self.children.get(class) {
            child.approach(NONE, packet, step);
        }
    }

    /// Prefetches a class, and what stands here of its discipline.
    pub(super) fn prefetch_class(&self, at: u32) {
        prefetch(&self.classes[at as usize]);
        self.children.prefetch(at);
    }

    fn approach_next(&self, leaf: u32, step: usize) {
        if let Some(child) = self.children.get(leaf) {
            child.approach_next(step);
        }
    }

    /// Prefetches what the four leaves after the present one are going to touch, whose turns are next at this level
    /// and priority. Each step finds what the one before it has prefetched, when the leaf was a turn further away.
    fn look_ahead(&self, level: usize, priority: usize) {
        if !PREFETCHES || self.classes.len() <= CACHED {
            return;
        }
        let row = &self.rows[level][priority];
        let Some(mut at) = row.next() else { return };
        for step in [Some(2), Some(1), Some(0), None] {
            if let Some(leaf) = self.leaf_below(at, priority) {
                match step {
                    None => self.prefetch_class(leaf),
                    Some(step) => self.approach_next(leaf, step),
                }
            }
            let Some(next) = row.members.next(at + 1).or_else(|| row.members.next(0)) else { return };
            at = next;
        }
    }

    /// Prefetches what the classes of a level touch that change their modes next: a class that may send again does so
    /// at once, and mostly it is a node, below which a leaf has the turn. As a class rises in the heap, each step finds
    /// what the one before it has prefetched.
    fn look_ahead_of_events(&self, level: usize) {
        if !PREFETCHES || self.classes.len() <= CACHED {
            return;
        }
        for (place, at) in self.waiting.soonest(level).enumerate() {
            // The nodes are few, and stay in a cache.
            let priority =
                if level == 0 { 0 } else { self.classes[at as usize].active.trailing_zeros() as usize };
            let leaf = if priority < PRIORITIES { self.leaf_below(at, priority) } else { None };
            match (place, leaf) {
                (0, Some(leaf)) => self.approach_next(leaf, 1),
                (1 | 2, Some(leaf)) => self.approach_next(leaf, 0),
                (_, Some(leaf)) => self.prefetch_class(leaf),
                (_, None) => {}
            }
        }
    }

    /// Returns the leaf whose turn it is below a class, or the class itself if it is a leaf.
    fn leaf_below(&self, at: u32, priority: usize) -> Option<u32> {
        let mut at = at;
        while self.levels[at as usize] > 0 {
            at = self.feeds[at as usize].as_ref()?[priority].next()?;
        }
        Some(at)
    }

    pub(super) fn offer<O: Owner<P>>(
        &mut self,
        now: Instant,
        mut packet: P,
        words: &Words,
        owner: &mut O,
    ) -> Offered {
        self.clock = now.as_nanos() as i64;
        match self.classify(words) {
            Ok(at) => self.offer_to(at, now, packet, words, owner),
            Err(Decision::Direct) => {
                packet.set_arrival(now);
                if self.direct.len() < self.direct_limit {
                    self.direct_bytes += u64::from(packet.len());
                    self.direct.push_back(packet);
                    return Offered::Queued;
                }
                owner.dropped(packet, Drop::Overlimit);
                Offered::Refused(Enqueued::Dropped)
            }
            Err(_) => {
                packet.set_arrival(now);
                Offered::no_class(packet, owner)
            }
        }
    }

    /// Offers `packet` to the leaf at `at`, whose filters see `words`.
    pub(super) fn offer_to<O: Owner<P>>(
        &mut self,
        at: u32,
        now: Instant,
        packet: P,
        words: &Words,
        owner: &mut O,
    ) -> Offered {
        self.clock = now.as_nanos() as i64;
        let offered = self.children.offer(at, now, packet, words, owner);
        if offered == Offered::Queued {
            self.activate(at);
        } else if self.children.packets(at) == 0 {
            self.deactivate(at);
        }
        offered
    }

    pub(super) fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        self.clock = now.as_nanos() as i64;
        let packet = self.next(now, owner);
        let may_send = !self.direct.is_empty() || self.row_mask.iter().any(|mask| *mask != 0);
        self.wire.note(self.clock, false);
        self.wire.note(self.clock, packet.is_some() && may_send);
        packet
    }

    fn next<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        if let Some(packet) = self.direct.pop_front() {
            self.direct_bytes -= u64::from(packet.len());
            return Some(packet);
        }
        if self.children.backlog().packets == 0 {
            return None;
        }
        self.now = now.as_nanos() as i64;
        let mut next = self.now + 5 * SECOND;
        for level in 0..LEVELS {
            if self.now >= self.near[level] {
                self.near[level] = self.do_events(level).unwrap_or(self.now + SECOND);
            }
            next = next.min(self.near[level]);
            let mut tried = !self.row_mask[level];
            while tried != u8::MAX {
                let priority = tried.trailing_ones();
                tried |= 1 << priority;
                let packet = self.dequeue_tree(level, priority as usize, now, owner);
                if packet.is_some() {
                    return packet;
                }
            }
        }
        self.wake = Some(Instant::from_nanos(next.max(self.now + 1) as u64));
        None
    }

    /// Moves classes whose time has come into their new mode (`htb_do_events`). Returns when the next one is due.
    fn do_events(&mut self, level: usize) -> Option<i64> {
        while let Some((due, at)) = self.waiting.first(level) {
            if due > self.now {
                self.look_ahead_of_events(level);
                return Some(due);
            }
            let class = &self.classes[at as usize];
            let (mode, delay) = class.mode_after((self.now - class.since).min(MINUTE));
            self.change_mode(at, mode);
            if mode == Mode::CanSend {
                self.waiting.remove(level, at);
            } else {
                let due = self.due(level, delay);
                self.waiting.postpone(level, due, at);
            }
        }
        None
    }

    /// Takes a packet of a class at this level and priority (`htb_dequeue_tree`).
    fn dequeue_tree<O: Owner<P>>(
        &mut self,
        level: usize,
        priority: usize,
        now: Instant,
        owner: &mut O,
    ) -> Option<P> {
        let mut start = self.look_up(level, priority);
        let mut at = start?;
        let packet = loop {
            while self.children.packets(at) == 0 {
                self.deactivate(at);
                if self.row_mask[level] & 1 << priority == 0 {
                    return None;
                }
                let next = self.look_up(level, priority);
                if Some(at) == start {
                    start = next;
                }
                at = next?;
            }
            let (packet, emptied) = self.children.take(at, now, owner);
            if emptied {
                self.deactivate(at);
            }
            if let Some(packet) = packet {
                break packet;
            }
            self.pass_on(at, level, priority);
            let next = self.look_up(level, priority);
            if next == start {
                return None;
            }
            at = next?;
        };
        let class = &mut self.classes[at as usize];
        class.deficits[level] = class.deficits[level].wrapping_sub(packet.len() as i32);
        if class.deficits[level] < 0 {
            class.deficits[level] = class.deficits[level].wrapping_add(class.quantum);
            self.pass_on(at, level, priority);
        }
        if self.children.packets(at) == 0 {
            self.deactivate(at);
        }
        self.charge(at, level, packet.len());
        self.look_ahead(level, priority);
        Some(packet)
    }

    /// Charges a packet to the leaf `at` and to all classes above it (`htb_charge_class`). Those below `level` borrow.
    fn charge(&mut self, at: u32, level: usize, len: u32) {
        let mut next = Some(at);
        while let Some(at) = next {
            let class = &mut self.classes[at as usize];
            let diff = (self.now - class.since).min(MINUTE);
            if class.level() >= level {
                class.account(0, len, diff);
            } else {
                class.tokens[0] += diff;
            }
            class.account(1, len, diff);
            class.since = self.now;
            next = class.parent();
            // `htb_change_class_mode`. Mostly nothing changes.
            let (old, level) = (class.mode, class.level());
            let (mode, delay) = class.mode_after(0);
            if mode != old {
                self.change_mode(at, mode);
                let due = if mode == Mode::CanSend { (0, 0) } else { self.due(level, delay) };
                match (old, mode) {
                    (_, Mode::CanSend) => self.waiting.remove(level, at),
                    (Mode::CanSend, _) => self.waiting.insert(level, due, at),
                    _ => self.waiting.postpone(level, due, at),
                }
            }
        }
    }

    /// Returns when a class of this level is due that begins to wait for `delay` (`htb_add_to_wait_tree`).
    fn due(&mut self, level: usize, delay: i64) -> Due {
        let due = self.now + delay.max(1);
        self.waits += 1;
        self.near[level] = self.near[level].min(due);
        (due, self.waits)
    }

    /// Gives a class another mode (`htb_change_class_mode`).
    fn change_mode(&mut self, at: u32, mode: Mode) {
        let class = &mut self.classes[at as usize];
        let old = core::mem::replace(&mut class.mode, mode);
        if mode == old {
            return;
        }
        let is_active = class.active != 0;
        if is_active && old != Mode::CannotSend {
            class.mode = old;
            self.deactivate_priorities(at);
            self.classes[at as usize].mode = mode;
        }
        self.classes[at as usize].note(self.clock);
        if is_active && mode != Mode::CannotSend {
            self.activate_priorities(at);
        }
    }

    /// Returns how long the wire and each class have held packets back up to `now`.
    pub(super) fn limits(&self, now: Instant) -> Limits {
        let classes = self.classes.iter().map(|class| (class.id, class.held.until(now))).collect();
        Limits { wire: self.wire.until(now), classes }
    }

    pub(super) fn backlog(&self) -> Backlog {
        let Backlog { packets, bytes } = self.children.backlog();
        Backlog { packets: packets + self.direct.len() as u32, bytes: bytes + self.direct_bytes }
    }

    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.wake.into_iter().chain(self.children.next_timer()).min()
    }

    /// Does what [`super::child::Child::on_timer`] says.
    pub(super) fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> bool {
        self.clock = now.as_nanos() as i64;
        let is_awake = self.wake.take_if(|due| *due <= now).is_some();
        let (asks, emptied) = self.children.on_timer(now, owner);
        emptied.into_iter().for_each(|at| self.deactivate(at));
        is_awake || asks
    }
}
