//! What the feature `complete` adds to the registry: size tables in front of a line, and trees of classes.

use super::{AnyQdisc, parse_alone};
use crate::packet::Packet;
use crate::param::stab::STAB;
use crate::param::{Args, Error, Link, Reading};
use crate::qdisc::Qdisc;
use crate::sched::stab::Stab;
use crate::signal::Owner;
pub use crate::tree::Limits;
use crate::tree::{Change, Decision, Plan, Tree, devices};
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use goodqueue_units::processor::{LINE, prefetch_bytes};
use goodqueue_units::{Instant, Release};

/// A packet of a subscriber touches about so many bytes at the beginning of its discipline.
const HOT: usize = 5 * LINE;

/// The names of lines that this build leaves out.
pub(super) const LEFT_OUT: &[&str] = &[];

/// Builds what `args` describe, if that is a size table or a tree.
pub(super) fn build<P: Packet>(args: &Args, link: &Link) -> Option<Result<AnyQdisc<P>, Error>> {
    if let Some(stab) = args.stab() {
        return Some(Stab::build(args, stab, link).map(|made| AnyQdisc::Stab(Box::new(made))));
    }
    let plan = args.plan()?;
    Some(Tree::build(args, plan, link).map(|made| AnyQdisc::Tree(Box::new(made))))
}

/// Reads the commands of a tree of classes, one per line: see [`crate::tree`].
///
/// # Errors
/// Fails at the first command that `tc` or Linux refuses, or that is not simulated.
pub fn parse_tree(commands: &str) -> Result<Args, Error> {
    Plan::read(commands).map(Args::of_plan)
}

/// Reads the commands of a tree of classes that are of `device`, of a script for several devices (`None`: all are of
/// one), as Linux of `release` does.
///
/// # Errors
/// As [`parse_tree`].
pub fn parse_tree_of(commands: &str, device: Option<&str>, release: Release) -> Result<Args, Error> {
    Plan::read_of(commands, device, release).map(Args::of_plan)
}

/// Reads the commands of a tree, and adds to `reading` what their filters do unexpectedly.
fn tree_noting(commands: &str, reading: &mut Reading) -> Result<Args, Error> {
    let args = parse_tree(commands)?;
    reading.notes.extend(args.plan().into_iter().flat_map(Plan::notes));
    Ok(args)
}

/// Reads `text` as a tree if it has several lines, or as the trees of its two devices.
pub(super) fn several_lines(text: &str, reading: &mut Reading) -> Option<Result<(), Error>> {
    text.contains('\n').then(|| match &devices(text)[..] {
        [one, other] => [one, other].into_iter().try_for_each(|device| {
            let args = parse_tree_of(text, Some(device), Release::default())?;
            reading.notes.extend(args.plan().into_iter().flat_map(Plan::notes));
            Ok(())
        }),
        _ => tree_noting(text, reading).map(drop),
    })
}

/// Reads `line` as a tree if it is a command of `tc`.
pub(super) fn command(line: &str, reading: &mut Reading) -> Option<Result<Args, Error>> {
    line.starts_with("tc ").then(|| tree_noting(line, reading))
}

/// Reads a line that may begin with a size table.
pub(super) fn parse_noting(line: &str, reading: &mut Reading) -> Result<Args, Error> {
    let (stab, line) = Args::split_stab(line)?;
    let stab = stab.filter(|stab| !stab.is_idle_stab());
    let args = parse_alone(&line, reading)?;
    // The root of a tree may have a table of its own.
    Ok(if stab.is_some() { args.with_stab(stab) } else { args })
}

/// Refuses a size table in front of the line of a discipline inside another one.
pub(super) fn refuse_inside(line: &str) -> Result<(), Error> {
    let is_stab = line.split_whitespace().next() == Some(STAB.name);
    if is_stab {
        Err(Error(format!("found {line:?}; accepted: stab only in front of the whole line")))
    } else {
        Ok(())
    }
}

/// Changes a tree as the commands in `line` say. `None`: `qdisc` is no tree.
pub(super) fn change<P: Packet, O: Owner<P>>(
    qdisc: &mut AnyQdisc<P>,
    now: Instant,
    line: &str,
    owner: &mut O,
) -> Option<Result<(), Error>> {
    let change = qdisc.args().change_of_tree(line)?;
    Some(change.and_then(|change| qdisc.change_tree(now, change, owner)))
}

impl<P: Packet> AnyQdisc<P> {
    /// Does what [`AnyQdisc::set_args`] does, except that a `tbf` is changed as Linux does it: its buckets are full
    /// afterwards, and its watchdog stays.
    ///
    /// # Errors
    /// Fails as [`AnyQdisc::build`] does, and then nothing has changed.
    pub(crate) fn renew<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: Args,
        owner: &mut O,
    ) -> Result<(), Error> {
        let Self::Tbf(live) = self else { return self.set_args(now, args, owner) };
        live.qdisc.renew(now, &args, &live.link, owner)?;
        live.args = Arc::new(args);
        Ok(())
    }

    /// Carries out the change of a tree.
    pub(crate) fn change_tree<O: Owner<P>>(
        &mut self,
        now: Instant,
        change: Change,
        owner: &mut O,
    ) -> Result<(), Error> {
        match self {
            Self::Tree(tree) => tree.change(now, change, owner),
            Self::Stab(stab) => stab.change_tree(now, change, owner),
            _ => Ok(()),
        }
    }

    /// Returns the class to which a tree sorts `packet`. `None`: this is no tree.
    pub fn decide<O: Owner<P>>(&self, packet: &P, owner: &O) -> Option<Decision> {
        if let Self::Tree(tree) = self { Some(tree.decide(packet, owner)) } else { None }
    }

    /// Prefetches the class of `packet`, which is going to arrive after some others, if this is a tree with `htb` at
    /// its root. Returns the place of the class, for [`AnyQdisc::approach`].
    #[inline]
    pub fn foresee<O: Owner<P>>(&self, packet: &P, owner: &O) -> Option<u32> {
        if let Self::Tree(tree) = self { tree.foresee(packet, owner) } else { None }
    }

    /// Prefetches what `packet` is going to touch below its class. Each `step` from 0 on finds what the one before it
    /// has prefetched.
    #[inline]
    pub fn approach(&self, class: u32, packet: &P, step: usize) {
        if let Self::Tree(tree) = self {
            tree.approach(class, packet, step);
        }
    }

    /// Does the same for a discipline without classes.
    pub(crate) fn approach_leaf(&self, packet: &P, step: usize) {
        match (self, step) {
            (Self::Cake(live), 1..) => live.qdisc.approach(packet, step - 1),
            (Self::FqCodel(live), 1) => Qdisc::<P>::prefetch(&live.qdisc, packet.flow_hash()),
            (_, 0) => self.approach_next(0),
            _ => {}
        }
    }

    /// Prefetches what the next packet out is going to touch. Each `step` finds what the one before it has prefetched.
    pub(crate) fn approach_next(&self, step: usize) {
        match (self, step) {
            (Self::Cake(live), 0) => prefetch_bytes(&**live, 0..HOT),
            (Self::FqCodel(live), 0) => prefetch_bytes(&**live, 0..2 * HOT),
            (Self::Cake(live), 1..) => live.qdisc.approach_next(step - 1),
            _ => {}
        }
    }

    /// Returns how long the wire and the classes of a tree have held packets back up to `now`, if it has `htb` at its
    /// root.
    pub fn limits(&self, now: Instant) -> Option<Limits> {
        if let Self::Tree(tree) = self { tree.limits(now) } else { None }
    }

    /// Makes the following calls those of one transmit queue, for a caller that is the device of a `cake_mq`. `None`:
    /// of all queues. Other disciplines have only one.
    ///
    /// # Errors
    /// Fails if there is no such queue.
    pub fn pin(&mut self, queue: Option<usize>) -> Result<(), Error> {
        if let Self::CakeMq(live) = self { live.qdisc.pin(queue) } else { Ok(()) }
    }
}
