//! A device as commands that can be read back.

use super::{Filter, Group, Id, Node, Plan, What};
use crate::tree::params::Class;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::fmt;

impl fmt::Display for Plan {
    /// Writes the commands, which can be read back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = &self.device;
        let (insides, kept) = (self.insides(), self.kept());
        let mut between = "";
        for (place, qdisc) in &self.qdiscs {
            if insides.contains(place) || kept.contains(place) {
                continue;
            }
            let handle = qdisc.handle;
            write!(f, "{between}tc qdisc add dev {device} ")?;
            between = "; ";
            match qdisc.parent {
                Id::ROOT => write!(f, "root handle {handle} ")?,
                parent => write!(f, "parent {parent} handle {handle} ")?,
            }
            match &qdisc.what {
                What::Leaf { .. } => self.held(*place).map_or(Ok(()), |args| write!(f, "{args}"))?,
                What::Scheduler { own, classes } => {
                    f.write_str(&own.words())?;
                    for class in &qdisc.nameless {
                        write!(f, "; tc class add dev {device} parent {handle} {}", class.words())?;
                    }
                    let own_zero = classes.contains_key(&0);
                    let made = |(_, node): &(&u16, &Node)| !matches!(node.own, Class::Band | Class::Closed);
                    let mut classes: Vec<_> = classes.iter().filter(made).collect();
                    classes.sort_by_key(|(_, node)| node.order);
                    for (minor, node) in classes {
                        // The class 1:0 of htb, if there is one, is no class above others.
                        let parent = match (node.parent, &node.own) {
                            (None, Class::Htb(_)) if own_zero => Id::ROOT,
                            (parent, _) => Id::of(handle.major(), parent.unwrap_or(0)),
                        };
                        let id = Id::of(handle.major(), *minor);
                        let (words, more) = node.words();
                        write!(f, "; tc class add dev {device} parent {parent} classid {id} {words}")?;
                        if let Some(words) = more {
                            write!(f, "; tc class change dev {device} classid {id} {words}")?;
                        }
                    }
                }
            }
            let mut filters: Vec<(u16, u32, &Group, &Filter)> = Vec::new();
            for ((of, preference), group) in qdisc.filters.iter() {
                filters.extend(group.filters.values().map(|filter| (*of, *preference, group, filter)));
            }
            filters.sort_by_key(|(.., filter)| filter.order);
            for (of, preference, Group { protocol, .. }, Filter { handle: own, words, .. }) in filters {
                let parent = Id::of(handle.major(), of);
                write!(
                    f,
                    "; tc filter add dev {device} parent {parent} protocol {protocol} prio {preference} "
                )?;
                if let Some(own) = own {
                    write!(f, "handle {own} ")?;
                }
                f.write_str(words)?;
            }
        }
        Ok(())
    }
}

impl Plan {
    /// Returns the qdiscs of classes of `hfsc` that have got children, and what is below them: no packet comes there.
    fn kept(&self) -> BTreeSet<usize> {
        let mut kept = Vec::new();
        for qdisc in self.qdiscs.values() {
            let What::Scheduler { classes, .. } = &qdisc.what else { continue };
            kept.extend(qdisc.of_root_class);
            kept.extend(classes.values().filter(|node| node.level > 0).filter_map(|node| node.qdisc));
        }
        let mut at = 0;
        while let Some(place) = kept.get(at).copied() {
            kept.extend(self.at(place).children());
            at += 1;
        }
        kept.into_iter().collect()
    }
}
