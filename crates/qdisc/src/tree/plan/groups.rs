//! Filters of one preference: which there are, and how one more comes or takes the place of another.
//!
//! Source: the `change` functions of net/sched/cls_*.c (Linux 6.1).

use super::filters::FIRST_TABLE;
use super::refusal::{EXISTS, INVALID, by_linux, refuse_if};
use super::{Filter, Group, Read};
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

    /// Returns the lowest handle that is free from `first` on.
    fn free(&self, first: u32) -> u32 {
        let taken = self.filters.range(first..).zip(first..).take_while(|((handle, _), at)| *handle == at);
        first + taken.count() as u32
    }

    /// Adds a filter where its handle says, or where there is room.
    pub(super) fn add(&mut self, handle: u32, common: u32, lacks: Option<Lack>, new: Filter) -> Read<()> {
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
            "flower" if self.filters.values().any(|filter| filter.identity == new.identity) => {
                return refused(EXISTS);
            }
            _ if handle != 0 => handle,
            _ => self.free(1),
        };
        if kind == "flower" && !self.masks.contains(&new.mask) {
            self.masks.push(new.mask.clone());
        }
        self.filters.insert(at, new);
        Ok(())
    }

    /// Gives the filter with this handle what a command says.
    pub(super) fn replace(&mut self, handle: u32, common: u32, new: Filter) -> Read<()> {
        let kind = self.kind.as_str();
        let is_other = |(at, filter): (&u32, &Filter)| *at != handle && filter.identity == new.identity;
        refuse_if(kind == "fw" && self.common != common, || {
            by_linux("fw with another mask", "one mask for each prio", INVALID)
        })?;
        refuse_if(kind == "matchall" || kind == "flower" && self.filters.iter().any(is_other), || {
            by_linux(&format!("{kind} twice"), "each filter once", EXISTS)
        })?;
        let (is_u32, is_flower) = (kind == "u32", kind == "flower");
        if is_flower && !self.masks.contains(&new.mask) {
            self.masks.push(new.mask.clone());
        }
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
            let order = known.order;
            *known = Filter { order, ..new };
        }
        self.masks.retain(|mask| self.filters.values().any(|filter| filter.mask == *mask));
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
