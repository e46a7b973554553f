//! Stands for what the feature `complete` adds to the registry: no line has a size table or is a tree of classes.

use super::{AnyQdisc, unknown};
use crate::packet::Packet;
use crate::param::{Args, Error, Link, Reading};
use crate::signal::Owner;
use goodqueue_units::Instant;

pub(super) use super::parse_alone as parse_noting;

/// The names of lines that this build leaves out.
pub(super) const LEFT_OUT: &[&str] = &["netem", "stab", "cake_mq", "docsis_lld", "tc"];

/// What the classes of a tree have done, which this build has not.
#[derive(Clone, Debug)]
pub enum Limits {}

impl<P: Packet> AnyQdisc<P> {
    /// Returns `None`: no line is a tree.
    pub fn limits(&self, _now: Instant) -> Option<Limits> {
        None
    }

    /// Returns `None`: no line is a tree.
    #[inline]
    pub fn foresee<O: Owner<P>>(&self, _packet: &P, _owner: &O) -> Option<u32> {
        None
    }

    /// Does nothing: no line is a tree.
    #[inline]
    pub fn approach(&self, _class: u32, _packet: &P, _step: usize) {}
}

/// Refuses the commands of a tree of classes.
///
/// # Errors
/// Fails always.
pub fn parse_tree(_commands: &str) -> Result<Args, Error> {
    Err(Error(unknown("tc")))
}

pub(super) fn build<P: Packet>(_args: &Args, _link: &Link) -> Option<Result<AnyQdisc<P>, Error>> {
    None
}

pub(super) fn several_lines(_text: &str, _reading: &mut Reading) -> Option<Result<(), Error>> {
    None
}

pub(super) fn command(_line: &str, _reading: &mut Reading) -> Option<Result<Args, Error>> {
    None
}

pub(super) fn refuse_inside(_line: &str) -> Result<(), Error> {
    Ok(())
}

pub(super) fn change<P: Packet, O: Owner<P>>(
    _qdisc: &mut AnyQdisc<P>,
    _now: Instant,
    _line: &str,
    _owner: &mut O,
) -> Option<Result<(), Error>> {
    None
}
