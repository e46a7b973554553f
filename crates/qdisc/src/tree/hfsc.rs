//! HFSC: classes with service curves, for delay (`rt`), for shares (`ls`) and as upper limits (`ul`).
//!
//! Source: tc-hfsc(7), Stoica, Zhang and Ng, "A Hierarchical Fair Service Curve Algorithm" (1997), and
//! net/sched/sch_hfsc.c (6.1). A class whose real-time curve is behind goes first, the earliest deadline before others.
//! Otherwise the tree is walked from the root to the child of the least virtual time that its upper limit lets send.
//!
//! Linux keeps active classes in red-black trees, in which equals have the order in which they came. Here the trees are
//! ordered sets of (key, order, class).

mod change;
mod class;

pub(super) use class::Setup;

use super::chain::asked;
use super::child::{Decision, Offered};
use super::classes::Children;
use super::fields::Words;
use super::id::Id;
use crate::packet::Packet;
use crate::qdisc::Backlog;
use crate::signal::Owner;
use alloc::vec::Vec;
use class::{Class, Order, eligible_of};
use goodqueue_units::{Duration, Instant};

/// `PSCHED_SHIFT`: ticks are 64 ns.
const TICK: u32 = 6;
/// How long ago the machine booted when the link's clock begins, in nanoseconds: a whole number of ticks. In Linux the
/// first curve of a class begins at the boot (`rtsc_init`). If a class got its first packet then, its curves would not
/// begin with that packet, as they do at any later time (`rtsc_min`).
const UPTIME: u64 = 3_600_000_000_000;
/// `HFSC_CLASSIFY_MAX_DRIFT`: hops of a filter that do not go down the tree.
const MOST_DRIFT: u32 = 8;

/// Returns the time of the curves, in ticks since the boot (`psched_get_time`).
fn ticks(now: Instant) -> u64 {
    now.as_nanos().saturating_add(UPTIME) >> TICK
}

/// The `hfsc` of a tree.
pub(super) struct Hfsc<P> {
    handle: Id,
    /// In the order of their classids. The first is the root.
    classes: Vec<Class>,
    children: Children<P>,
    default: u16,
    eligible: Order,
    /// The watchdog. As in Linux it stands until it fires or gets another time, whatever is taken before.
    wake: Option<Instant>,
}

impl<P: Packet> Hfsc<P> {
    pub(super) fn new(handle: Id, setups: Vec<Setup>, children: Children<P>, default: u16) -> Self {
        let classes = setups.into_iter().map(Class::new).collect();
        Self { handle, classes, children, default, eligible: Order::default(), wake: None }
    }

    fn find(&self, id: Id) -> Option<u32> {
        self.classes.binary_search_by_key(&id, |class| class.id).ok().map(|at| at as u32)
    }

    /// Chooses the class (`hfsc_classify`).
    fn classify(&self, words: &Words) -> Option<u32> {
        let level = |at: u32| self.classes[at as usize].level;
        let own = asked(words);
        if let Some(at) = self.find(own).filter(|at| own.major() == self.handle.major() && level(*at) == 0) {
            return Some(at);
        }
        let (mut head, mut drift) = (0, MOST_DRIFT);
        while let Some(id) = self.classes[head as usize].chain.classid(words) {
            let Some(at) = self.find(id) else { break };
            if level(at) == 0 {
                return Some(at);
            }
            if level(at) >= level(head) {
                drift = drift.checked_sub(1)?;
            }
            head = at;
        }
        self.find(Id::of(self.handle.major(), self.default)).filter(|at| level(*at) == 0)
    }

    /// Returns the class of a packet of these words.
    pub(super) fn decide(&self, words: &Words) -> Decision {
        let Some(at) = self.classify(words) else { return Decision::Dropped };
        let id = self.classes[at as usize].id;
        self.children.get(at).map_or(Decision::Dropped, |child| child.decide(words, id))
    }

    pub(super) fn offer<O: Owner<P>>(
        &mut self,
        now: Instant,
        mut packet: P,
        words: &Words,
        owner: &mut O,
    ) -> Offered {
        let Some(at) = self.classify(words) else {
            packet.set_arrival(now);
            return Offered::no_class(packet, owner);
        };
        let (len, is_first) = (packet.len(), self.children.packets(at) == 0);
        let offered = self.children.offer(at, now, packet, words, owner);
        if offered != Offered::Queued {
            if self.children.packets(at) == 0 {
                self.forget(at);
            }
            return offered;
        }
        let class = &self.classes[at as usize];
        let is_listed = class.fsc.is_some() && class.nactive > 0 || class.el_entry.is_some();
        if is_first && !is_listed {
            let (has_rt, has_ls) = (class.rsc.is_some(), class.fsc.is_some());
            let time = ticks(now);
            if has_rt {
                self.init_ed(at, len, time);
            }
            if has_ls {
                self.init_vf(at, time);
            }
            if has_rt {
                // The head stays, so that its deadline stays.
                self.look(at, now, owner);
            }
        }
        offered
    }

    /// Returns the length of the next packet of a class.
    fn look<O: Owner<P>>(&mut self, at: u32, now: Instant, owner: &mut O) -> Option<u32> {
        let (len, emptied) = self.children.peek(at, now, owner);
        if emptied {
            self.forget(at);
        }
        len
    }

    pub(super) fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        if self.children.backlog().packets == 0 {
            return None;
        }
        let time = ticks(now);
        let by_deadline = self.earliest_deadline(time);
        let Some(at) = by_deadline.or_else(|| self.least_virtual_time(time)) else {
            if let Some(tick) = self.next_event() {
                let due = Instant::from_nanos((tick << TICK).saturating_sub(UPTIME));
                self.wake = Some(due.max(now + Duration::from_nanos(1)));
            }
            return None;
        };
        let (packet, emptied) = self.children.take(at, now, owner);
        if emptied {
            self.forget(at);
        }
        let packet = packet?;
        self.update_vf(at, packet.len());
        let class = &mut self.classes[at as usize];
        if by_deadline.is_some() {
            class.cumul = class.cumul.wrapping_add(packet.len().into());
        }
        if class.rsc.is_some() {
            if self.children.packets(at) == 0 {
                self.remove_eligible(at);
            } else {
                let next = self.look(at, now, owner).unwrap_or(0);
                if self.children.packets(at) != 0 {
                    self.update_d(at, next);
                    if by_deadline.is_some() {
                        self.update_e(at);
                    }
                }
            }
        }
        Some(packet)
    }

    /// Returns the eligible class of the earliest deadline (`eltree_get_mindl`).
    fn earliest_deadline(&self, time: u64) -> Option<u32> {
        let eligible = self.eligible.entries.iter().take_while(|(e, ..)| *e <= time);
        eligible.map(|(.., at)| *at).min_by_key(|at| self.classes[*at as usize].d)
    }

    /// Returns the leaf of the least virtual time that may send (`vttree_get_minvt`).
    fn least_virtual_time(&mut self, time: u64) -> Option<u32> {
        if self.classes[0].cfmin > time {
            return None;
        }
        let mut at = 0;
        while self.classes[at as usize].level > 0 {
            let inner = &self.classes[at as usize];
            let mut children = inner.vt_tree.entries.iter().map(|(.., child)| *child);
            let child = children.find(|child| self.classes[*child as usize].f <= time)?;
            let vt = self.classes[child as usize].vt;
            let inner = &mut self.classes[at as usize];
            inner.cvtmin = inner.cvtmin.max(vt);
            at = child;
        }
        Some(at)
    }

    /// Returns when a class may send again (`hfsc_schedule_watchdog`).
    fn next_event(&self) -> Option<u64> {
        let eligible = self.eligible.entries.first().map_or(0, |(e, ..)| *e);
        let fit = self.classes[0].cfmin;
        [eligible, fit].into_iter().filter(|tick| *tick != 0).min()
    }

    /// Forgets an empty class (`hfsc_qlen_notify`).
    fn forget(&mut self, at: u32) {
        if self.classes[at as usize].nactive > 0 {
            self.update_vf(at, 0);
        }
        self.remove_eligible(at);
    }

    fn remove_eligible(&mut self, at: u32) {
        if let Some(entry) = self.classes[at as usize].el_entry.take() {
            self.eligible.remove(entry, at);
        }
    }

    /// Makes a class eligible, whose first packet has come (`init_ed`).
    fn init_ed(&mut self, at: u32, len: u32, time: u64) {
        let class = &mut self.classes[at as usize];
        let Some(curve) = class.rsc else { return };
        class.deadline.lower_to(&curve, time, class.cumul);
        class.eligible = eligible_of(class.deadline, Some(&curve));
        self.update_d(at, len);
        self.update_e(at);
    }

    fn update_d(&mut self, at: u32, len: u32) {
        let class = &mut self.classes[at as usize];
        class.d = class.deadline.time(class.cumul.wrapping_add(len.into()));
    }

    /// Computes the time from which on the class is eligible (`update_ed`).
    fn update_e(&mut self, at: u32) {
        self.remove_eligible(at);
        let class = &mut self.classes[at as usize];
        class.e = class.eligible.time(class.cumul);
        class.el_entry = Some(self.eligible.insert(class.e, at));
    }

    /// Makes a class and those above it active (`init_vf`).
    fn init_vf(&mut self, at: u32, time: u64) {
        let (mut at, mut goes_active) = (at, true);
        while let Some(parent) = self.classes[at as usize].parent {
            let (own, above) = (at as usize, parent as usize);
            if goes_active {
                goes_active = self.classes[own].nactive == 0;
                self.classes[own].nactive += 1;
            }
            if goes_active {
                let last =
                    self.classes[above].vt_tree.entries.last().map(|(.., at)| self.classes[*at as usize].vt);
                match last {
                    Some(mut vt) => {
                        let Class { cvtmin, vtperiod, .. } = self.classes[above];
                        if cvtmin != 0 {
                            vt = cvtmin.wrapping_add(vt) / 2;
                        }
                        let class = &mut self.classes[own];
                        if vtperiod != class.parentperiod || vt > class.vt {
                            class.vt = vt;
                        }
                    }
                    None => {
                        self.classes[own].vt = self.classes[above].cvtoff;
                        self.classes[above].cvtmin = 0;
                    }
                }
                let Class { vtperiod, nactive, .. } = self.classes[above];
                let class = &mut self.classes[own];
                let curve = class.fsc.unwrap_or_default();
                class.virtual_.lower_to(&curve, class.vt, class.total);
                class.vtadj = 0;
                class.vtperiod = class.vtperiod.wrapping_add(1);
                class.parentperiod = vtperiod.wrapping_add(u32::from(nactive == 0));
                class.f = 0;
                if let Some(curve) = class.usc {
                    class.ulimit.lower_to(&curve, time, class.total);
                    class.myf = class.ulimit.time(class.total);
                }
                let vt = class.vt;
                self.classes[own].vt_entry = self.classes[above].vt_tree.insert(vt, at);
                self.classes[own].cf_entry = self.classes[above].cf_tree.insert(0, at);
            }
            self.update_f(at, parent);
            self.update_cfmin(parent);
            at = parent;
        }
    }

    /// Computes when a class may send by its upper limit and by those of its children. Returns whether that changed.
    fn update_f(&mut self, at: u32, parent: u32) -> bool {
        let class = &self.classes[at as usize];
        let (f, entry) = (class.myf.max(class.cfmin), class.cf_entry);
        if f == class.f {
            return false;
        }
        let tree = &mut self.classes[parent as usize].cf_tree;
        tree.remove(entry, at);
        let entry = tree.insert(f, at);
        let class = &mut self.classes[at as usize];
        (class.f, class.cf_entry) = (f, entry);
        true
    }

    fn update_cfmin(&mut self, at: u32) {
        let class = &mut self.classes[at as usize];
        class.cfmin = class.cf_tree.entries.first().map_or(0, |(f, ..)| *f);
    }

    /// Counts `len` bytes of a class and of those above it (`update_vf`).
    fn update_vf(&mut self, at: u32, len: u32) {
        let class = &self.classes[at as usize];
        let mut goes_passive = self.children.packets(at) == 0 && class.fsc.is_some() && class.nactive > 0;
        let mut at = at;
        while let Some(parent) = self.classes[at as usize].parent {
            let (own, above) = (at as usize, parent as usize);
            self.classes[own].total = self.classes[own].total.wrapping_add(len.into());
            if self.classes[own].fsc.is_none() || self.classes[own].nactive == 0 {
                at = parent;
                continue;
            }
            if goes_passive {
                self.classes[own].nactive -= 1;
                goes_passive = self.classes[own].nactive == 0;
            }
            let cvtmin = self.classes[above].cvtmin;
            let class = &mut self.classes[own];
            class.vt = class.virtual_.time(class.total).wrapping_add(class.vtadj);
            if class.vt < cvtmin {
                class.vtadj = class.vtadj.wrapping_add(cvtmin - class.vt);
                class.vt = cvtmin;
            }
            let Class { vt, vt_entry, cf_entry, .. } = *class;
            self.classes[above].vt_tree.remove(vt_entry, at);
            if goes_passive {
                let inner = &mut self.classes[above];
                inner.cvtoff = inner.cvtoff.max(vt);
                inner.cf_tree.remove(cf_entry, at);
                self.update_cfmin(parent);
                at = parent;
                continue;
            }
            self.classes[own].vt_entry = self.classes[above].vt_tree.insert(vt, at);
            let class = &mut self.classes[own];
            if class.usc.is_some() {
                class.myf = class.ulimit.time(class.total);
            }
            if self.update_f(at, parent) {
                self.update_cfmin(parent);
            }
            at = parent;
        }
    }

    pub(super) fn backlog(&self) -> Backlog {
        self.children.backlog()
    }

    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.wake.into_iter().chain(self.children.next_timer()).min()
    }

    /// Does what [`super::child::Child::on_timer`] says.
    pub(super) fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> bool {
        let is_awake = self.wake.take_if(|due| *due <= now).is_some();
        let (asks, emptied) = self.children.on_timer(now, owner);
        emptied.into_iter().for_each(|at| self.forget(at));
        is_awake || asks
    }
}
