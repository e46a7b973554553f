//! What a device may have, and a run here cannot have.

use super::{Id, Inside, Plan, Read, What};
use crate::param::{Args, Error};
use crate::tree::chain::Target;
use crate::tree::params::{Class, Scheduler, TXQUEUELEN, txqueuelen};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

impl Plan {
    /// Refuses a tree that is not simulated, or that holds up all of its packets.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.qdiscs.is_empty() {
            return Err(Error(
                "tc: found no command that makes the root qdisc; accepted: tc qdisc add dev eth0 root …"
                    .into(),
            ));
        }
        self.qdiscs
            .keys()
            .try_for_each(|place| self.check_one(*place))
            .map_err(|why| Error(format!("tc: {why}")))
    }

    fn check_one(&self, place: usize) -> Read<()> {
        let own = self.at(place);
        let (handle, name) = (own.handle, own.name());
        if own.parent != Id::ROOT && own.stab.is_some() {
            return Err(format!("found stab at {handle}; accepted: stab only at the root"));
        }
        if matches!(name, "cake" | "sfb" | "dualpi2") && !own.filters.is_empty() {
            return Err(format!(
                "found a filter at {name} {handle}; accepted: filters at fq_codel and sfq, as those of {name} are not \
                 simulated"
            ));
        }
        let targets = own.filters.values().flat_map(|group| group.filters.values());
        if !own.nameless.is_empty()
            && targets.into_iter().any(|filter| filter.rule.target == Target::Class(Id::NONE))
        {
            return Err(format!(
                "found a filter to the class 0:0 of {name} {handle}, which a command without classid has made; \
                 accepted: classid, as that class is not simulated"
            ));
        }
        match &own.what {
            What::Scheduler { own: Scheduler::Hfsc { .. } | Scheduler::Drr, classes }
                if classes.is_empty() =>
            {
                Err(format!(
                    "found {name} {handle} without classes, which drops every packet; accepted: one with classes"
                ))
            }
            What::Scheduler { classes, .. }
                if classes.values().any(|node| matches!(node.own, Class::Closed)) =>
            {
                Err(format!(
                    "found {name} {handle} with a class whose qdisc a command has deleted, which drops every packet; \
                     accepted: a qdisc for each class"
                ))
            }
            What::Scheduler { .. } => Ok(()),
            What::Leaf { inside: Inside::Nothing, .. } => Err(format!(
                "found {name} {handle} without a queue, as a command has deleted it, which drops every packet; \
                 accepted: one with a queue"
            )),
            What::Leaf { args, inside: Inside::Qdisc(at) } => self.check_inside(args, *at),
            What::Leaf { .. } => Ok(()),
        }
    }

    /// Refuses the qdisc at `place` inside a discipline that cannot hold it here.
    fn check_inside(&self, holder: &Args, place: usize) -> Read<()> {
        let (name, own) = (holder.spec.name, self.at(place));
        if holder.spec.param("child").is_none() {
            return Err(format!(
                "found {} {} inside {name}; accepted: {name} with its own queue, as others are not simulated",
                own.name(),
                own.handle
            ));
        }
        if let What::Scheduler { .. } = own.what {
            return Err(
                "found a tree inside a qdisc of one class; accepted: a qdisc without classes".to_string()
            );
        }
        Ok(())
    }

    /// Returns the parameters of the leaf at `place`, with the discipline that it holds. `None`: it is no leaf.
    pub(in super::super) fn held(&self, place: usize) -> Option<Arc<Args>> {
        let What::Leaf { args, inside } = &self.at(place).what else { return None };
        let Inside::Qdisc(at) = inside else { return Some(args.clone()) };
        let child = self.held(*at)?;
        Some(Arc::new(Args::clone(args).holding(Args::clone(&child))))
    }

    /// Returns the qdiscs inside others, which are no classes of the tree here.
    pub(super) fn insides(&self) -> BTreeSet<usize> {
        let inside = |place: &usize| match self.at(*place).what {
            What::Leaf { inside: Inside::Qdisc(at), .. } => Some(at),
            _ => None,
        };
        self.qdiscs.keys().filter_map(inside).collect()
    }

    /// Gives each class without a qdisc the `pfifo` that Linux gives it (`qdisc_create_dflt`), if its limit is not that
    /// of an Ethernet device. So the canonical commands say the limit, and mean the same on every device.
    pub(super) fn give_fifos(&mut self) -> Read<()> {
        if txqueuelen(&self.device) == TXQUEUELEN {
            return Ok(());
        }
        let mut next: Vec<usize> = self.qdiscs.keys().copied().collect();
        next.reverse();
        while let Some(place) = next.pop() {
            let major = self.at(place).handle.major();
            let What::Scheduler { classes, .. } = &self.at(place).what else { continue };
            let bare = classes.iter().filter(|(_, node)| node.level == 0 && node.qdisc.is_none());
            let bare: Vec<Id> = bare.map(|(minor, _)| Id::of(major, *minor)).collect();
            for parent in bare {
                let what = What::Leaf { args: self.leaf_of("pfifo", &[])?, inside: Inside::Own };
                let handle = self.next_handle();
                if self.find(handle).is_some() {
                    return Err(format!(
                        "tc: found no free handle for {parent}; accepted: a qdisc for each class"
                    ));
                }
                self.create((Some(place), parent), handle, what, None)?;
            }
        }
        Ok(())
    }
}
