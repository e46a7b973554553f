//! What stands where: the discipline of a class, and how one takes the place of another.
//!
//! Source: `qdisc_leaf`, `qdisc_create` and `qdisc_graft` (net/sched/sch_api.c), and the `leaf` and `graft` functions
//! of the schedulers (Linux 6.1). A class gets a `pfifo` where a command takes its discipline away.

use super::refusal::{INVALID, by_linux, refuse_if};
use super::{Blocks, Id, Inside, Plan, Qdisc, Read, What};
use crate::param::Args;
use crate::sched::cake::mq::TX_QUEUES;
use crate::tree::params::{Class, Scheduler};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use goodqueue_units::Release;

/// The handle of the first qdisc that is given none.
const FIRST_HANDLE: u16 = 0x8001;
/// The most qdiscs below each other (`qdisc_graft`).
const DEEPEST: usize = 7;
/// Disciplines of one class, which has any number.
const OF_ONE_CLASS: [&str; 4] = ["tbf", "red", "sfb", "netem"];
/// Disciplines that filters can sort into queues, and that have no classes.
pub(super) const HASHING: [&str; 5] = ["fq_codel", "sfq", "sfb", "cake", "dualpi2"];
/// The discipline with a class for each queue of the device, which keep what they have.
pub(super) const OF_QUEUES: &str = "cake_mq";

impl Qdisc {
    /// Returns whether it has classes for Linux, or at least the functions of them (`cl_ops`).
    pub(super) fn is_classful(&self) -> bool {
        let name = self.name();
        matches!(self.what, What::Scheduler { .. })
            || OF_ONE_CLASS.contains(&name)
            || HASHING.contains(&name)
            || name == OF_QUEUES
    }

    /// Returns whether there is a class with this number (`find`). Some look at the whole number, others at the minor
    /// one, and those of one class at none.
    pub(super) fn has_class(&self, id: Id) -> bool {
        match &self.what {
            What::Scheduler { own, classes } => {
                let is_root = own.name() == "hfsc" && id == self.handle;
                let is_own = own.bands() > 0 || id.major() == self.handle.major();
                is_root || is_own && classes.contains_key(&id.minor())
            }
            What::Leaf { args, .. } if args.spec.name == OF_QUEUES => {
                (1..=args.get(&TX_QUEUES)).contains(&id.minor().into())
            }
            What::Leaf { .. } => OF_ONE_CLASS.contains(&self.name()),
        }
    }

    /// Returns the discipline of a class that is there, if a command gave it one and the class is a leaf.
    fn leaf(&self, id: Id) -> Option<usize> {
        match &self.what {
            What::Scheduler { own, classes } if own.name() == "hfsc" && id.minor() == 0 => {
                self.of_root_class.filter(|_| classes.is_empty())
            }
            What::Scheduler { classes, .. } => {
                classes.get(&id.minor()).filter(|node| node.level == 0).and_then(|node| node.qdisc)
            }
            What::Leaf { inside: Inside::Qdisc(at), .. } => Some(*at),
            What::Leaf { .. } => None,
        }
    }
}

impl Plan {
    /// Returns the place of the discipline that the class `id` of the qdisc at `holder` has by a command.
    pub(super) fn leaf(&self, holder: usize, id: Id) -> Read<Option<usize>> {
        let own = self.at(holder);
        refuse_if(!own.is_classful(), || {
            let found = format!("parent {id}, which is {}", own.name());
            by_linux(&found, "a qdisc with classes", "Parent qdisc is not classful.")
        })?;
        self.check_class(holder, id)?;
        Ok(own.leaf(id))
    }

    /// Refuses a class that is not there.
    fn check_class(&self, holder: usize, id: Id) -> Read<()> {
        let own = self.at(holder);
        refuse_if(!own.has_class(id), || {
            let accepted = if HASHING.contains(&own.name()) {
                format!("a class; {} has queues, to which filters sort", own.name())
            } else {
                "a class that a command above makes".into()
            };
            by_linux(&format!("parent {id}"), &accepted, "Specified class not found.")
        })
    }

    /// Returns a handle for a qdisc that is given none (`qdisc_alloc_handle`).
    pub(super) fn next_handle(&mut self) -> Id {
        loop {
            self.automatic = self.automatic.max(FIRST_HANDLE - 1).saturating_add(1);
            if self.automatic == u16::MAX || !self.majors.contains_key(&self.automatic) {
                return Id::of(self.automatic, 0);
            }
        }
    }

    /// Makes a qdisc and gives it to the class `parent` of the qdisc at `holder`. `None`: it is the root.
    pub(super) fn create(
        &mut self,
        (holder, parent): (Option<usize>, Id),
        handle: Id,
        what: What,
        stab: Option<Args>,
    ) -> Read<()> {
        // Linux takes a number even for a qdisc that it then refuses.
        let handle = if handle == Id::NONE { self.next_handle() } else { handle };
        match &what {
            What::Scheduler { own, .. } => own.check()?,
            What::Leaf { args, .. } => self.check_netems(None, args)?,
        }
        let name = what.name();
        refuse_if(holder.is_some() && matches!(name, "mq" | OF_QUEUES), || {
            let (found, accepted) = (format!("{name} below another qdisc"), format!("{name} as the root"));
            by_linux(&found, &accepted, super::refusal::UNSUPPORTED)
        })?;
        let Some(holder) = holder else {
            self.clear();
            let place = self.insert(handle, Id::ROOT, 0, what, stab);
            self.root = Some(place);
            return Ok(());
        };
        self.check_class(holder, parent)?;
        let is_of_mq = matches!(self.at(holder).name(), "mq" | OF_QUEUES);
        refuse_if(stab.is_some() && !is_of_mq, || {
            by_linux("stab", "stab only at the root", "STAB not supported on a non root.")
        })?;
        let depth = self.at(holder).depth + 1;
        refuse_if(depth > DEEPEST, || {
            by_linux(&format!("a qdisc {depth} below the root"), "7 levels", "Qdisc hierarchy is too deep.")
        })?;
        self.check_leaf(holder, parent)?;
        let place = self.insert(handle, parent, depth, what, stab);
        self.graft(holder, parent, Some(place))
    }

    /// Refuses the parameters of the `netem` at `place`, or of a new one, if it or another one duplicates packets
    /// (`check_netem_in_tree`). Linux 7.3 has no such rule any more.
    pub(super) fn check_netems(&self, place: Option<usize>, args: &Args) -> Read<()> {
        if args.spec.name != "netem" || self.release >= Release::Linux7_3 {
            return Ok(());
        }
        let others = self.qdiscs.iter().filter(|(at, own)| Some(**at) != place && own.name() == "netem");
        let duplicates = |args: &Args| args.is_given("duplicate");
        let mixes = |(_, own): (_, &Qdisc)| match &own.what {
            What::Leaf { args: other, .. } => duplicates(args) || duplicates(other),
            What::Scheduler { .. } => false,
        };
        refuse_if(others.into_iter().any(mixes), || {
            let linux = "netem: cannot mix duplicating netems with other netems in tree.";
            by_linux("netem duplicate beside another netem", "one netem, or none that duplicates", linux)
        })
    }

    fn insert(&mut self, handle: Id, parent: Id, depth: usize, what: What, stab: Option<Args>) -> usize {
        let place = self.next_order();
        self.qdiscs.insert(
            place,
            Qdisc {
                handle,
                parent,
                depth,
                stab: stab.map(Box::new),
                of_root_class: None,
                nameless: Vec::new(),
                what,
                filters: Blocks::default(),
                last_table: 0,
            },
        );
        self.majors.insert(handle.major(), place);
        place
    }

    /// Refuses to give a qdisc to a class that has classes below it.
    fn check_leaf(&self, holder: usize, id: Id) -> Read<()> {
        refuse_if(self.at(holder).name() == OF_QUEUES, || {
            let linux = "can't replace cake_mq sub-qdiscs.";
            by_linux(&format!("parent {id}, which is a queue of cake_mq"), "a class of another qdisc", linux)
        })?;
        let What::Scheduler { own, classes } = &self.at(holder).what else { return Ok(()) };
        refuse_if(classes.get(&id.minor()).is_some_and(|node| node.level > 0), || {
            by_linux(&format!("parent {id}, which has classes below it"), "a leaf", INVALID)
        })?;
        refuse_if(own.name() == "hfsc" && id.minor() == 0 && !classes.is_empty(), || {
            by_linux(&format!("parent {id}, which has classes below it"), "a class of hfsc", INVALID)
        })
    }

    /// Gives the class `id` of the qdisc at `holder` the qdisc at `place`, or what it has without a command.
    pub(super) fn graft(&mut self, holder: usize, id: Id, place: Option<usize>) -> Read<()> {
        self.check_leaf(holder, id)?;
        let Some(own) = self.qdiscs.get_mut(&holder) else { return Ok(()) };
        let (is_netem, is_hfsc) = (own.name() == "netem", own.name() == "hfsc");
        let before = match &mut own.what {
            What::Scheduler { .. } if is_hfsc && id.minor() == 0 => {
                core::mem::replace(&mut own.of_root_class, place)
            }
            What::Scheduler { own, classes } => classes.get_mut(&id.minor()).and_then(|node| {
                if *own == Scheduler::Mq {
                    node.own = if place.is_some() { Class::Band } else { Class::Closed };
                }
                core::mem::replace(&mut node.qdisc, place)
            }),
            What::Leaf { inside, .. } => {
                let without = if is_netem { Inside::Own } else { Inside::Nothing };
                match core::mem::replace(inside, place.map_or(without, Inside::Qdisc)) {
                    Inside::Qdisc(before) => Some(before),
                    Inside::Own | Inside::Nothing => None,
                }
            }
        };
        before.into_iter().for_each(|before| self.destroy(before));
        Ok(())
    }

    /// Takes the root away, with all below it.
    pub(super) fn clear(&mut self) {
        self.qdiscs.clear();
        self.majors.clear();
        self.root = None;
    }

    /// Takes a qdisc away, with all below it.
    pub(super) fn destroy(&mut self, place: usize) {
        let mut doomed = alloc::vec![place];
        while let Some(place) = doomed.pop() {
            let Some(gone) = self.qdiscs.remove(&place) else { continue };
            self.majors.remove(&gone.handle.major());
            doomed.extend(gone.children());
        }
    }
}

impl Qdisc {
    /// Returns the places of the qdiscs that its classes have.
    pub(super) fn children(&self) -> Vec<usize> {
        match &self.what {
            What::Scheduler { classes, .. } => {
                self.of_root_class.into_iter().chain(classes.values().filter_map(|node| node.qdisc)).collect()
            }
            What::Leaf { inside: Inside::Qdisc(at), .. } => alloc::vec![*at],
            What::Leaf { .. } => Vec::new(),
        }
    }
}

impl What {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Leaf { args, .. } => args.spec.name,
            Self::Scheduler { own, .. } => own.name(),
        }
    }
}
