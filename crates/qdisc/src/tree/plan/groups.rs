//! Filters of one preference: which there are, and how one more comes or takes the place of another.
//!
//! Source: the `change` functions of net/sched/cls_*.c (Linux 6.1).

use super::filters::FIRST_TABLE;
use super::refusal::{EXISTS, INVALID, by_linux, refuse_if};
use super::{Filter, Group, Mask, Read};
use crate::tree::filter::Lack;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

impl Group {
    pub(super) fn check(&self, kind: &str, number: u16, preference: u32, mismatch: &str) -> Read<()> {
        if number != 0 {
            self.check_protocol(number, preference, mismatch)?;
        }
        self.check_kind(kind, preference)
    }

    pub(super) fn check_protocol(&self, number: u16, preference: u32, mismatch: &str) -> Read<()> {
        refuse_if(self.number != number, || {
            by_linux(&format!("another protocol at prio {preference}"), &self.protocol, mismatch)
        })
    }

    pub(super) fn check_kind(&self, kind: &str, preference: u32) -> Read<()> {
        refuse_if(self.kind != kind, || {
            let linux = "Specified filter kind does not match existing one.";
            by_linux(&format!("{kind} at prio {preference}"), &self.kind, linux)
        })
    }

    /// Returns a group without filters, for packets of a protocol.
    pub(super) fn new((protocol, number): (&str, u16), kind: &str, common: u32) -> Self {
        let (protocol, kind) = (protocol.to_string(), kind.to_string());
        let (masks, identities, filters, free) = Default::default();
        Self { protocol, number, kind, common, masks, identities, filters, free }
    }

    /// Returns the lowest handle that is free from `first` on, which is the same with each call.
    fn free(&mut self, first: u32) -> u32 {
        let mut at = self.free.max(first);
        while self.filters.contains_key(&at) {
            at += 1;
        }
        self.free = at;
        at
    }

    /// Takes a filter away, and returns it.
    pub(super) fn remove(&mut self, handle: u32) -> Option<Filter> {
        let gone = self.filters.remove(&handle)?;
        self.free = self.free.min(handle);
        self.unlearn_mask(&gone.mask);
        self.identities.remove(&gone.identity);
        Some(gone)
    }

    /// Counts a filter of this mask. A mask that is new comes after all others: it has the `order` of its filter.
    fn learn_mask(&mut self, mask: &[u32], order: usize) {
        self.masks.entry(mask.to_vec()).or_insert(Mask { order, filters: 0 }).filters += 1;
    }

    /// Counts a filter of this mask no more.
    fn unlearn_mask(&mut self, mask: &[u32]) {
        if let Some(known) = self.masks.get_mut(mask) {
            known.filters -= 1;
            if known.filters == 0 {
                self.masks.remove(mask);
            }
        }
    }

    /// Adds a filter where its handle says, or where there is room. Returns its handle.
    pub(super) fn add(&mut self, handle: u32, common: u32, lacks: Option<Lack>, new: Filter) -> Read<u32> {
        let kind = self.kind.clone();
        let refused = |linux: &str| Err(by_linux(&format!("{kind} twice"), "each filter once", linux));
        let at = match kind.as_str() {
            "u32" => {
                let (table, node) = (self.common << 20, handle & 0xfff);
                if handle >> 20 != 0 && handle >> 20 != self.common {
                    let linux = "cls_u32: Handle specified hash table address mismatch.";
                    let accepted = format!("a handle of table {:x}:", self.common);
                    return Err(by_linux(&format!("handle {}", shown(&new)), &accepted, linux));
                }
                let at = match node {
                    0 => self.free(table | FIRST_TABLE),
                    _ if self.filters.contains_key(&(table | node)) => {
                        return refused("No space left on device");
                    }
                    _ => table | node,
                };
                refuse_if(lacks.is_some(), || {
                    let linux = "cls_u32: Selector not specified.";
                    by_linux("u32 without match", "match and what it compares", linux)
                })?;
                at
            }
            "matchall" if !self.filters.is_empty() => return refused(EXISTS),
            "fw" if self.common != common => {
                return Err(by_linux("fw with another mask", "one mask for each prio", INVALID));
            }
            "flower" if self.identities.contains_key(&new.identity) => {
                return refused(EXISTS);
            }
            _ if handle != 0 => handle,
            _ => self.free(1),
        };
        if kind == "flower" {
            self.learn_mask(&new.mask, new.order);
            self.identities.insert(new.identity.clone(), at);
        }
        self.filters.insert(at, new);
        Ok(at)
    }

    /// Gives the filter with this handle what a command says.
    pub(super) fn replace(&mut self, handle: u32, common: u32, new: Filter) -> Read<()> {
        let kind = self.kind.as_str();
        let twin = self.identities.get(&new.identity);
        let is_twin = twin.is_some_and(|twin| *twin != handle);
        refuse_if(kind == "fw" && self.common != common, || {
            by_linux("fw with another mask", "one mask for each prio", INVALID)
        })?;
        refuse_if(kind == "matchall" || is_twin, || {
            by_linux(&format!("{kind} twice"), "each filter once", EXISTS)
        })?;
        let (is_u32, is_flower) = (kind == "u32", kind == "flower");
        let Some(known) = self.filters.get_mut(&handle) else { return Ok(()) };
        if is_u32 {
            // `u32_init_knode` copies the old selector, and only the class is new.
            known.rule.target = new.rule.target;
            known.is_bound = new.is_bound;
            known.words = retargeted(&known.words, &new.words);
            known
                .notes
                .push(format!("\"filter replace … {}\" keeps what u32 compares, as in Linux", new.words));
        } else {
            let (order, later) = (known.order, new.order);
            let before = core::mem::replace(known, Filter { order, ..new.clone() });
            if is_flower {
                // In this order, since a mask that no filter has for a moment would lose its place.
                self.learn_mask(&new.mask, later);
                self.unlearn_mask(&before.mask);
                self.identities.remove(&before.identity);
                self.identities.insert(new.identity, handle);
            }
        }
        Ok(())
    }
}

/// Returns the words of a filter of `u32` with the class of other words.
fn retargeted(words: &str, of: &str) -> String {
    let is_class = |word: &&str| matches!(*word, "flowid" | "classid");
    let class = |words: &str| words.split(' ').skip_while(|word| !is_class(word)).nth(1).map(str::to_string);
    let (Some(class), mut parts) = (class(of), words.split(' ')) else { return words.to_string() };
    let mut kept: Vec<String> = Vec::new();
    while let Some(word) = parts.next() {
        if is_class(&word) {
            parts.next();
        } else {
            kept.push(word.to_string());
        }
    }
    kept.extend(["flowid".to_string(), class]);
    kept.join(" ")
}

fn shown(filter: &Filter) -> &str {
    filter.handle.as_deref().unwrap_or("0")
}
