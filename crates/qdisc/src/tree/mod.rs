//! Trees of classes, as `tc` builds them: `htb`, `hfsc`, `drr`, `ets`, `prio` and `mq`, with any discipline at leaves.
//!
//! - `shell`: the text of commands, which may be a shell script;
//! - `words`, `plan`, `params`, `filter`: the commands, as a plan, and what they refuse;
//! - `fields`, `chain`: what filters see of a packet, and which class the first matching filter says;
//! - `possible`: which filters no packet can match;
//! - `child`, `leaf`, `classes`: what a scheduler has below it. A leaf is made when its first packet comes;
//! - `htb`, `hfsc` (with `curve`), `drr`, `bands` (with `rounds`): one scheduler per file;
//! - `devices`: which device of a script is which direction;
//! - `build`: the schedulers of a plan; `change`: what a command does to them during a run;
//! - `catalogue`: each discipline with its words, as data.
//!
//! A packet's way is that of Linux: each scheduler from the root down chooses one of its classes by filters, and the
//! discipline of the class is a scheduler again, or a leaf. What changes below a scheduler is known to it by the
//! counts before and after each call.

mod bands;
mod build;
pub mod catalogue;
mod chain;
mod change;
mod child;
mod classes;
mod curve;
mod devices;
mod drr;
pub(crate) mod fields;
mod filter;
mod hfsc;
mod htb;
mod id;
mod leaf;
mod params;
mod plan;
mod possible;
mod rounds;
mod shell;
#[cfg(test)]
mod tests;
mod words;

pub use crate::packet::Addresses;
pub use child::Decision;
pub use devices::devices;
pub use htb::Limits;
pub use id::Id;
pub use params::TREE;
pub(crate) use plan::Change;
pub use plan::{Plan, Tried, tried};
pub use possible::{Possible, notes_on_filters};

use crate::packet::Packet;
use crate::param::{Args, Error, Link};
use crate::qdisc::{Backlog, Enqueued, Probe, Qdisc};
use crate::signal::Owner;
use child::{Child, Offered};
use goodqueue_units::Instant;

/// A tree of classes.
pub struct Tree<P> {
    root: Child<P>,
    root_id: Id,
    args: Args,
    link: Link,
    is_work_conserving: bool,
    /// Whether the class of a packet follows from its addresses, so that the owner may note it.
    sees_only_addresses: bool,
    /// Whether the last call of the link found nothing to send and nothing has come since, so that the link asks again
    /// after each timer.
    is_idle: bool,
    /// When the clock of a law ticked on an idle link. The link asks then, and Linux's does not.
    ticked: Option<Instant>,
}

impl<P: Packet> Tree<P> {
    /// Builds the tree of `plan`, which is that of `args`.
    pub(crate) fn build(args: &Args, plan: &Plan, link: &Link) -> Result<Self, Error> {
        let root = build::root(plan, args, *link)?;
        let is_work_conserving = root.is_work_conserving();
        Ok(Self {
            sees_only_addresses: root.htb().is_some_and(htb::Htb::sees_only_addresses),
            root,
            root_id: plan.root(),
            args: args.clone(),
            link: *link,
            is_work_conserving,
            is_idle: true,
            ticked: None,
        })
    }

    /// Returns the class to which `packet` goes.
    pub fn decide<O: Owner<P>>(&self, packet: &P, owner: &O) -> Decision {
        self.root.decide(&fields::of(packet, owner), self.root_id)
    }

    /// Does what [`AnyQdisc::foresee`](crate::AnyQdisc::foresee) does.
    pub(crate) fn foresee<O: Owner<P>>(&self, packet: &P, owner: &O) -> Option<u32> {
        let htb = self.root.htb()?;
        let class = self.noted_class(packet, owner).or_else(|| htb.foresee(&fields::of(packet, owner)))?;
        htb.prefetch_class(class);
        Some(class)
    }

    /// Returns the class that the owner has noted for packets like this.
    #[inline]
    fn noted_class<O: Owner<P>>(&self, packet: &P, owner: &O) -> Option<u32> {
        if self.sees_only_addresses { owner.noted_class(packet) } else { None }
    }

    /// Does what [`AnyQdisc::approach`](crate::AnyQdisc::approach) does.
    pub(crate) fn approach(&self, class: u32, packet: &P, step: usize) {
        self.root.approach(class, packet, step);
    }

    /// Returns how long the wire and the classes have held packets back up to `now`, if the root is `htb`.
    pub fn limits(&self, now: Instant) -> Option<Limits> {
        self.root.limits(now)
    }

    /// Returns the commands that made the tree.
    pub(crate) fn args(&self) -> &Args {
        &self.args
    }

    /// Returns the link below.
    pub(crate) fn link(&self) -> Link {
        self.link
    }

    /// Takes another rate of the link, from which nothing in a tree follows after it is built. Only [`Tree::change`]
    /// changes its parameters.
    pub(crate) fn reconfigure<O: Owner<P>>(
        &mut self,
        _now: Instant,
        _args: Args,
        link: Link,
        _owner: &mut O,
    ) -> Result<(), Error> {
        self.link = link;
        Ok(())
    }
}

impl<P: Packet> Qdisc<P> for Tree<P> {
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, packet: P, owner: &mut O) -> Enqueued {
        // An arrival makes the link ask. An owner that does not ask at once is no idle link either.
        (self.is_idle, self.ticked) = (false, None);
        let noted = self.noted_class(&packet, owner);
        let offered = match self.root.htb_mut() {
            // Nothing below sees the words.
            Some(htb) if let Some(class) = noted => htb.offer_to(class, now, packet, &[0; _], owner),
            Some(htb) if self.sees_only_addresses => {
                let words = fields::of(&packet, owner);
                match htb.leaf_of(&words) {
                    Some(class) => {
                        owner.note_class(&packet, class);
                        htb.offer_to(class, now, packet, &words, owner)
                    }
                    None => htb.offer(now, packet, &words, owner),
                }
            }
            _ => {
                let words = fields::of(&packet, owner);
                self.root.offer(now, packet, &words, owner)
            }
        };
        match offered {
            Offered::Queued => Enqueued::Success,
            Offered::Refused(answer) => answer,
        }
    }

    /// Takes the next packet. It gives nothing if the link asks because a law's clock has ticked: in Linux only an
    /// arrival or the watchdog of a shaper makes an idle link ask (`__netif_schedule`), and a class whose time has come
    /// meanwhile waits for its own watchdog.
    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        if self.ticked.take() == Some(now) {
            return None;
        }
        let packet = self.root.take(now, owner).0;
        self.is_idle = packet.is_none();
        packet
    }

    fn next_timer(&self) -> Option<Instant> {
        self.root.next_timer()
    }

    fn is_work_conserving(&self) -> bool {
        self.is_work_conserving
    }

    fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) {
        if self.root.on_timer(now, owner) {
            self.is_idle = false; // until the link has asked, also if that is after the next tick
        }
        self.ticked = self.is_idle.then_some(now);
    }

    fn backlog(&self) -> Backlog {
        self.root.backlog()
    }

    fn probe(&self, _probe: &mut dyn Probe) {}
}
