//! The commands about filters.
//!
//! Source: `tc_new_tfilter` and `tc_del_tfilter` (net/sched/cls_api.c), and the `get`, `change` and `delete` functions
//! of net/sched/cls_*.c (Linux 6.1).

use super::grafted::HASHING;
use super::head::{Head, Verb};
use super::refusal::{INVALID, by_linux, refuse_if};
use super::{Effect, Filter, Group, Id, Plan, Qdisc, Read, What};
use crate::sched::cake;
use crate::tree::chain::Target;
use crate::tree::filter::{self, Lack};
use crate::tree::params::Scheduler;
use crate::tree::words::Line;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The preference of the first filter that is given none. Each later one comes before those.
const FIRST_AUTOMATIC: u32 = 0xc000;
/// The first preference of which Linux thinks that it gave it itself.
const AUTOMATIC: u32 = 0x8000;
/// What Linux says of a preference that no filter has.
const NO_FILTER: &str = "Filter with specified priority/protocol not found.";
/// The first hash table of `u32`, and the first filter in one.
pub(super) const FIRST_TABLE: u32 = 0x800;

impl Plan {
    /// Carries out `tc filter add`, `change` or `replace`.
    pub(super) fn modify_filter(&mut self, verb: Verb, head: &Head<'_>, line: &mut Line<'_>) -> Read<Effect> {
        let Some(kind) = head.kind else {
            let linux = "Filter kind and protocol must be specified.";
            return Err(by_linux("a filter without a kind", "u32, flower, fw, matchall, basic, flow", linux));
        };
        let (protocol, number) = match head.protocol {
            None if verb.creates() => ("all", filter::ALL),
            other => other.unwrap_or(("all", 0)),
        };
        let words = [&[kind.to_string()], line.rest()].concat();
        let mut notes = Vec::new();
        let of_qdisc = if head.parent == Id::NONE { self.root() } else { head.parent };
        let about = (of_qdisc.major(), number);
        let read = filter::read(kind, head.handle, &mut Line::new(&words[1..]), about, &mut notes);
        if let Err(why) = &read
            && !is_of_linux(why)
        {
            return Err(why.clone());
        }
        refuse_if(head.preference == 0 && !verb.creates(), || {
            let linux = "Invalid filter command with priority of zero.";
            by_linux("a change without prio", "the prio of the filter", linux)
        })?;
        let (place, of) = self.block(head)?;
        let preference = self.preference(place, of, head.preference)?;
        let (order, mismatch) = (self.next_order(), self.other_protocol());
        let handle =
            head.handle.map_or(Ok(0), |text| filter::handle(kind, text).map(|(handle, _)| handle))?;
        let Some(own) = self.qdiscs.get_mut(&place) else { return Ok(Effect::Nothing) };
        let at = (of, preference);
        let is_new = !own.filters.contains_key(&at);
        match own.filters.get(&at) {
            Some(group) => group.check(kind, number, preference, mismatch)?,
            None => {
                refuse_if(!verb.creates(), || missing(preference, number))?;
                let common = match (kind, &read) {
                    ("u32", _) => own.next_table(),
                    (_, read) => read.as_ref().map_or(0, |read| read.common),
                };
                own.filters.insert(at, Group::new((protocol, number), kind, common));
            }
        }
        let known = own.with_handle(at, handle);
        let replaced = own.filters.get(&at).and_then(|group| group.filters.get(&handle));
        let kept =
            replaced.filter(|_| kind == "flow").map(|filter| flow_with(&filter.words, &words.join(" ")));
        let done = check_there(verb, handle, known.is_some()).and_then(|()| {
            let (read, words) = match kept {
                None => (read?, words),
                Some(words) => {
                    let read =
                        filter::read(kind, head.handle, &mut Line::new(&words[1..]), about, &mut notes)?;
                    (read, words)
                }
            };
            let new = Filter {
                order,
                is_bound: own.binds(of, &read.rule.target),
                handle: head.handle.map(str::to_string),
                words: words.join(" "),
                notes,
                mask: read.mask,
                identity: read.identity,
                rule: read.rule,
            };
            own.put((at, known), handle, (read.common, read.lacks), new)
        });
        if done.is_err() && is_new {
            own.filters.remove(at);
        }
        done.map(|()| Effect::Structure)
    }

    /// Returns the place of the qdisc and the class (0: none) whose filters a command is about.
    fn block(&self, head: &Head<'_>) -> Read<(usize, u16)> {
        let parent = if head.parent == Id::NONE { self.root() } else { head.parent };
        refuse_if(parent == Id::NONE, || {
            by_linux("a filter of a device without a qdisc", "a qdisc above", "Qdisc not classful.")
        })?;
        let place = self.find(parent).ok_or_else(|| {
            by_linux(&format!("parent {parent}"), "a qdisc above", "Parent Qdisc doesn't exists.")
        })?;
        let (own, of) = (self.at(place), parent.minor());
        let name = own.name();
        let refused =
            |accepted: &str, linux: &str| Err(by_linux(&format!("parent {parent}"), accepted, linux));
        if !own.is_classful() {
            return refused(&format!("a qdisc with filters, which {name} has not"), "Qdisc not classful.");
        }
        let takes_filters = match &own.what {
            What::Scheduler { own, .. } => !matches!(own, Scheduler::Mq),
            What::Leaf { .. } => HASHING.contains(&name),
        };
        if !takes_filters {
            return refused(
                &format!("a qdisc with filters, which {name} has not"),
                "Class doesn't support blocks.",
            );
        }
        if of != 0 {
            if !own.has_class(parent) {
                return refused("a class above", "Specified class doesn't exist.");
            }
            match name {
                "htb" | "hfsc" => {}
                "drr" => return refused("the qdisc itself", "DRR classid must be zero."),
                "ets" => return refused("the qdisc itself", "ETS classid must be zero."),
                _ => return refused("the qdisc itself", INVALID),
            }
        }
        Ok((place, of))
    }

    /// Returns the preference of a filter: the one `given`, or one before those that Linux has given (`tcf_auto_prio`).
    fn preference(&self, place: usize, of: u16, given: u32) -> Read<u32> {
        if given != 0 {
            return Ok(given);
        }
        let mut automatic = self.at(place).filters.range((of, AUTOMATIC)..=(of, u32::MAX));
        let next = automatic.next().map_or(FIRST_AUTOMATIC, |((_, first), _)| first - 1);
        refuse_if(next < AUTOMATIC, || {
            let linux = self.since_7_3("Lowest ID from auto-alloc range already in use.", NO_FILTER);
            by_linux("a filter without prio beside one of 32768", "prio and a number", linux)
        })?;
        Ok(next)
    }

    /// Returns what Linux says of another protocol than that of the filters of a preference.
    fn other_protocol(&self) -> &'static str {
        self.since_7_3("Protocol mismatch for filter with specified priority.", NO_FILTER)
    }

    /// Carries out `tc filter delete`.
    pub(super) fn delete_filter(&mut self, head: &Head<'_>) -> Read<Effect> {
        let (number, preference) = (head.protocol.map_or(0, |(_, number)| number), head.preference);
        let handle = match (head.kind, head.handle) {
            (Some(kind), Some(text)) => filter::handle(kind, text)?.0,
            _ => 0,
        };
        refuse_if(preference == 0 && (number != 0 || handle != 0 || head.kind.is_some()), || {
            let linux = "Cannot flush filters with protocol, handle or kind set.";
            by_linux("a deletion without prio", "prio, or no protocol, handle and kind either", linux)
        })?;
        let (place, of) = self.block(head)?;
        let mismatch = self.other_protocol();
        let Some(own) = self.qdiscs.get_mut(&place) else { return Ok(Effect::Nothing) };
        if preference == 0 {
            own.filters.remove_of(of);
            return Ok(Effect::Structure);
        }
        let is_empty = own.filters.range((of, 0)..=(of, u32::MAX)).next().is_none();
        refuse_if(is_empty, || {
            by_linux("a deletion where no filter is", "a filter above", "Cannot find specified filter chain.")
        })?;
        let at = (of, preference);
        let Some(group) = own.filters.get(&at) else {
            return Err(by_linux(&format!("prio {preference}"), "that of a filter above", NO_FILTER));
        };
        if number != 0 {
            group.check_protocol(number, preference, mismatch)?;
        }
        if let Some(kind) = head.kind {
            group.check_kind(kind, preference)?;
        }
        if handle == 0 {
            own.filters.remove(at);
            return Ok(Effect::Structure);
        }
        let refused = |linux| {
            let found = format!("handle {}", head.handle.unwrap_or(""));
            by_linux(&found, "that of a filter above", linux)
        };
        let holder = match own.with_handle(at, handle) {
            None => return Err(refused("Specified filter handle not found.")),
            Some(Known::Table) => return Err(refused("cls_u32: Not allowed to delete root node.")),
            Some(Known::Filter(holder)) => holder,
        };
        own.filters.remove_filter(holder, handle);
        // The tables of u32 go together.
        let goes =
            |group: &Group| group.filters.is_empty() && (group.kind != "u32" || own.filters.tables() == 1);
        if own.filters.get(&holder).is_some_and(goes) {
            own.filters.remove(at);
        }
        Ok(Effect::Structure)
    }

    /// Returns whether a filter counts for the class `id` of the qdisc at `place`.
    pub(super) fn is_bound(&self, place: usize, id: Id) -> bool {
        let filters = &self.at(place).filters;
        let is_bound = |filter: &Filter| filter.is_bound;
        filters.to(id, 0).any(|(at, handle)| filters[&at].filters.get(&handle).is_some_and(is_bound))
    }

    /// Lets the filters that name the new class `id` count for it. Linux asks only those of classes (`tc_bind_tclass`).
    pub(super) fn bind_to(&mut self, place: usize, id: Id) {
        self.set_bound(place, id, true);
    }

    /// Lets no filter of a class count for the class `id`. Linux does so even if it then keeps the class.
    pub(super) fn unbind_from(&mut self, place: usize, id: Id) {
        self.set_bound(place, id, false);
    }

    fn set_bound(&mut self, place: usize, id: Id, binds: bool) {
        let Some(own) = self.qdiscs.get_mut(&place) else { return };
        let first_asked = match own.name() {
            "htb" => 1,
            "hfsc" => 0, // the qdisc is a class, too
            _ => return,
        };
        let named: Vec<_> = own.filters.to(id, first_asked).collect();
        for (at, handle) in named {
            let is_bound = binds && own.binds(at.0, &Target::Class(id));
            own.filters.filter_mut(at, handle).into_iter().for_each(|filter| filter.is_bound = is_bound);
        }
    }
}

/// Returns whether Linux refuses, and not `tc`, which reads all words before.
fn is_of_linux(refusal: &str) -> bool {
    refusal.contains("(Linux: ")
}

fn missing(preference: u32, protocol: u16) -> String {
    let linux = match protocol {
        0 => "Filter kind and protocol must be specified.",
        _ => "Need both RTM_NEWTFILTER and NLM_F_CREATE to create a new filter.",
    };
    by_linux(&format!("a change of a filter at prio {preference}"), "a filter above", linux)
}

impl Qdisc {
    /// Returns whether a filter of the class `of` counts for its class (`bind_tcf`).
    fn binds(&self, of: u16, target: &Target) -> bool {
        let (Target::Class(id), What::Scheduler { own, classes }) = (target, &self.what) else {
            return false;
        };
        let level = |minor: u16| classes.get(&minor).map_or(0, |node| node.level);
        let is_there = id.major() == self.handle.major() && classes.contains_key(&id.minor());
        match own {
            Scheduler::Htb { .. } | Scheduler::Drr => is_there,
            Scheduler::Hfsc { .. } => is_there && (of == 0 || level(of) > level(id.minor())),
            _ => false,
        }
    }

    /// Returns what its filters do to a discipline without classes, if few expect it.
    pub(super) fn note_on_filters(&self) -> Option<String> {
        let What::Leaf { args, .. } = &self.what else { return None };
        let (name, handle) = (self.name(), self.handle);
        if name != "cake" {
            return Some(format!(
                "{name} {handle} drops packets that no filter of its own matches, as in Linux"
            ));
        }
        let filters = self.filters.values().flat_map(|group| group.filters.values());
        let mut majors = filters.map(|filter| match &filter.rule.target {
            Target::Class(id) => id.major(),
            Target::Computed(map) => map.base.major(),
        });
        let host = majors.find(|major| cake::is_host(args, *major))?;
        Some(format!(
            "cake {handle} takes the major number of a filter's class for the host, as in Linux: all packets of \
             classes {host:x}:… are of one host"
        ))
    }

    /// Returns the number of a new hash table of `u32` (`gen_new_htid`). All filters of a qdisc and of its classes
    /// count together (`tc_u_common`).
    fn next_table(&mut self) -> u32 {
        self.last_table = if self.filters.tables() > 0 { self.last_table + 1 } else { FIRST_TABLE };
        self.last_table
    }

    /// Returns what has this handle, for a command about filters of the class and preference `at`. The filters of `u32`
    /// of all preferences and classes of a qdisc count together (`u32_get`).
    fn with_handle(&self, at: (u16, u32), handle: u32) -> Option<Known> {
        let group = self.filters.get(&at)?;
        if group.kind != "u32" {
            return group.filters.contains_key(&handle).then_some(Known::Filter(at));
        }
        let table = handle >> 20;
        let holder = self.filters.of_table(table);
        if handle & NODE == 0 {
            return (table == OWN_TABLE || holder.is_some()).then_some(Known::Table);
        }
        holder.filter(|at| self.filters[at].filters.contains_key(&handle)).map(Known::Filter)
    }

    /// Puts a filter of `at` where its handle says, or where there is room.
    fn put(
        &mut self,
        (at, known): ((u16, u32), Option<Known>),
        handle: u32,
        (common, lacks): (u32, Option<Lack>),
        new: Filter,
    ) -> Read<()> {
        let lacks_all = lacks == Some(Lack::Words);
        refuse_if(lacks_all && handle != 0, || {
            by_linux(
                "u32 with a handle alone",
                "match and flowid",
                "cls_u32: Filter handle requires options.",
            )
        })?;
        let place = match known {
            _ if lacks_all => return Ok(()), // an empty table
            Some(Known::Table) => {
                let linux = "cls_u32: Key node id cannot be zero.";
                return Err(by_linux(&format!("handle {handle:#x}"), "that of a filter", linux));
            }
            Some(Known::Filter(place)) => place,
            None => at,
        };
        self.filters.change(place, known.map(|_| handle), |group| match known {
            Some(_) => group.replace(handle, common, new).map(|()| handle),
            None => group.add(handle, common, lacks, new),
        })
    }
}

/// What has a handle.
#[derive(Clone, Copy)]
enum Known {
    /// A hash table of `u32`.
    Table,
    /// A filter of this class and preference.
    Filter((u16, u32)),
}

/// The bits of a handle of `u32` that number the filter in its table, and the number of "the table of this preference".
const NODE: u32 = 0xfff;
const OWN_TABLE: u32 = 0xfff;

/// Returns the words of a filter of `flow` that takes the place of another one, of which it keeps what it does not say
/// (`flow_change`). How it takes a key, `tc` always says.
fn flow_with(of: &str, new: &str) -> Vec<String> {
    let bits = ["and", "or", "xor"];
    let pairs = |words: &str| {
        let mut pairs = Vec::new();
        let mut words = words.split(' ').skip(1).map(str::to_string);
        while let Some(word) = words.next() {
            let value = if matches!(word.as_str(), "map" | "hash") { None } else { words.next() };
            let word = if word == "keys" { "key".to_string() } else { word };
            pairs.push((word, value));
        }
        pairs
    };
    let new = pairs(new);
    let says = |name: &str| match bits.contains(&name) {
        true => new.iter().any(|(word, _)| bits.contains(&word.as_str())),
        false => new.iter().any(|(word, _)| word == name),
    };
    let kept =
        pairs(of).into_iter().filter(|(word, _)| !matches!(word.as_str(), "map" | "hash") && !says(word));
    let all: Vec<_> = kept.collect();
    let all = new.iter().cloned().chain(all).flat_map(|(word, value)| [Some(word), value]);
    [Some("flow".to_string())].into_iter().chain(all).flatten().collect()
}

/// Refuses a command for its handle.
fn check_there(verb: Verb, handle: u32, is_there: bool) -> Read<()> {
    refuse_if(is_there && verb.is_exclusive(), || {
        by_linux(&format!("handle {handle:#x} twice"), "another one", "Filter already exists.")
    })?;
    refuse_if(!is_there && !verb.creates(), || {
        let linux = "Need both RTM_NEWTFILTER and NLM_F_CREATE to create a new filter.";
        by_linux(&format!("a change of the filter {handle:#x}"), "the handle of a filter above", linux)
    })
}
