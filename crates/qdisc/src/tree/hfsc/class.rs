//! A class of `hfsc`, and orders of classes.

use super::super::chain::Chain;
use super::super::curve::{Curve, Running, Spec};
use super::super::id::Id;
use alloc::collections::BTreeSet;

/// Classes in the order of a key.
#[derive(Debug, Default)]
pub(super) struct Order {
    pub(super) entries: BTreeSet<(u64, u64, u32)>,
    pub(super) count: u64,
}

impl Order {
    /// Inserts a class behind others of the same key, and returns its entry.
    pub(super) fn insert(&mut self, key: u64, at: u32) -> (u64, u64) {
        self.count += 1;
        self.entries.insert((key, self.count, at));
        (key, self.count)
    }

    pub(super) fn remove(&mut self, entry: (u64, u64), at: u32) {
        self.entries.remove(&(entry.0, entry.1, at));
    }
}

/// What a class is made from. The first class is the root, which has no curve.
pub(in super::super) struct Setup {
    pub(in super::super) id: Id,
    pub(in super::super) parent: Option<u32>,
    pub(in super::super) level: usize,
    /// `rt`, `ls` and `ul`.
    pub(in super::super) curves: [Option<Spec>; 3],
    pub(in super::super) chain: Chain,
}

/// A class. The names are those of the kernel without `cl_`.
#[derive(Default)]
pub(super) struct Class {
    pub(super) id: Id,
    pub(super) parent: Option<u32>,
    pub(super) level: usize,
    pub(super) chain: Chain,
    pub(super) rsc: Option<Curve>,
    pub(super) fsc: Option<Curve>,
    pub(super) usc: Option<Curve>,
    pub(super) deadline: Running,
    pub(super) eligible: Running,
    pub(super) virtual_: Running,
    pub(super) ulimit: Running,
    pub(super) total: u64,
    pub(super) cumul: u64,
    pub(super) e: u64,
    pub(super) d: u64,
    pub(super) vt: u64,
    pub(super) f: u64,
    pub(super) myf: u64,
    pub(super) cfmin: u64,
    pub(super) cvtmin: u64,
    pub(super) vtadj: u64,
    pub(super) cvtoff: u64,
    pub(super) vtperiod: u32,
    pub(super) parentperiod: u32,
    pub(super) nactive: u32,
    /// The children that are active, by virtual time and by fit time.
    pub(super) vt_tree: Order,
    pub(super) cf_tree: Order,
    /// This class's own entries in its parent's orders, and in that of eligible classes.
    pub(super) vt_entry: (u64, u64),
    pub(super) cf_entry: (u64, u64),
    pub(super) el_entry: Option<(u64, u64)>,
}

impl Class {
    /// Returns the class before its first packet.
    pub(super) fn new(Setup { id, parent, level, curves, chain }: Setup) -> Self {
        let [rsc, fsc, usc] = curves.map(|spec| spec.map(Curve::new));
        let running = |curve: Option<Curve>| Running::new(curve.unwrap_or_default(), 0, 0);
        // An inner class with `rt` alone becomes `sc`: "Forced curve change on parent 'rt' to 'sc'".
        let fsc = if level > 0 && parent.is_some() { fsc.or(rsc) } else { fsc };
        Class {
            id,
            parent,
            level,
            chain,
            rsc,
            fsc,
            usc,
            deadline: running(rsc),
            eligible: eligible_of(running(rsc), rsc.as_ref()),
            virtual_: running(fsc),
            ulimit: running(usc),
            ..Class::default()
        }
    }
}

/// Returns the curve by which a class becomes eligible: that of deadlines, or a line if the curve is convex.
pub(super) fn eligible_of(deadline: Running, curve: Option<&Curve>) -> Running {
    if curve.is_some_and(Curve::is_convex) { deadline.without_first() } else { deadline }
}
