//! A discipline from outside the registry, written in another language by a researcher who tries an idea.
//!
//! Disciplines of the registry are dispatched statically. A foreign one is behind a `dyn`, which is slower.

use crate::packet::Packet;
use crate::probe::law::LawSeries;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::keys::ScenarioError;
use goodqueue_qdisc::param::Value;
use goodqueue_qdisc::registry::Limits;
use goodqueue_qdisc::{AnyQdisc, Backlog, Enqueued, Error, Link, Owner, Probe, Qdisc};
use goodqueue_tcp::MakeCc;
use goodqueue_units::{Instant, Rate, Stream};
use std::sync::Arc;

/// A foreign discipline. Its contract is that of [`Qdisc`].
///
/// A discipline that fails reports the error to the program that made it. From then on it drops every packet that
/// arrives and delivers nothing. Conservation of packets still holds.
pub trait Foreign: Send + Sync {
    /// Returns its line with every parameter. The record shows this line, and the same discipline can be made from
    /// it.
    fn line(&self) -> String;
    /// Does what [`Qdisc::enqueue`] does.
    fn enqueue(&mut self, now: Instant, packet: Packet, owner: &mut dyn Owner<Packet>);
    /// Does what [`Qdisc::dequeue`] does.
    fn dequeue(&mut self, now: Instant, owner: &mut dyn Owner<Packet>) -> Option<Packet>;
    /// Does what [`Qdisc::next_timer`] does.
    fn next_timer(&self) -> Option<Instant>;
    /// Does what [`Qdisc::on_timer`] does.
    fn on_timer(&mut self, now: Instant, owner: &mut dyn Owner<Packet>);
    /// Sets the rate of the link below.
    fn set_link_rate(&mut self, rate: Rate);
    /// Does what [`Qdisc::backlog`] does.
    fn backlog(&self) -> Backlog;
    /// Does what [`Qdisc::probe`] does.
    fn probe(&self, probe: &mut dyn Probe);
    /// Shows each variable that is a number, under the discipline's own name for it.
    fn show(&self, see: &mut dyn FnMut(&str, f64));
}

/// What a foreign discipline is made from.
pub struct Request<'a> {
    /// The scenario's key, for error messages.
    pub key: &'a str,
    /// The line, such as `./my_aqm.py:MyAqm target 5ms`.
    pub line: &'a str,
    /// The bottleneck that it is for.
    pub direction: Direction,
    /// The link below it.
    pub link: Link,
    /// Its dice: the random stream that a discipline of the registry would use in the same place.
    pub random: Stream,
}

/// Makes foreign disciplines.
pub type Maker<'a> = dyn FnMut(Request<'_>) -> Result<Box<dyn Foreign>, ScenarioError> + 'a;

pub use goodqueue_units::parse::names_a_class as is_foreign;

/// What a congestion control from outside TCP's table is made from.
pub struct CcRequest<'a> {
    /// The scenario's key, for error messages.
    pub key: &'a str,
    /// The line, such as `./my_cc.py:MyCc beta 0.5`.
    pub line: &'a str,
}

/// Makes such congestion controls.
pub type CcMaker<'a> = dyn FnMut(CcRequest<'_>) -> Result<Arc<dyn MakeCc>, ScenarioError> + 'a;

/// The discipline of a link. The inner box keeps this type as small as an [`AnyQdisc`].
pub(crate) enum Discipline {
    Registry(AnyQdisc<Packet>),
    #[allow(clippy::redundant_allocation)] // one word, so that both variants share one tag
    Foreign(Box<Box<dyn Foreign>>),
}

const _: () = assert!(size_of::<Discipline>() == size_of::<AnyQdisc<Packet>>(), "one tag, not two");

impl Discipline {
    /// Shows the discipline's variables.
    pub(crate) fn show(&self, law: &mut LawSeries) {
        match self {
            Self::Registry(qdisc) => qdisc.probe(law),
            Self::Foreign(qdisc) => qdisc.show(&mut |name, value| law.foreign(name, value)),
        }
    }

    /// Returns how long the classes of a tree have held packets back up to `now`.
    pub(crate) fn limits(&self, now: Instant) -> Option<Limits> {
        if let Self::Registry(qdisc) = self { qdisc.limits(now) } else { None }
    }

    /// Does what [`AnyQdisc::foresee`] does.
    #[inline]
    pub(crate) fn foresee<O: Owner<Packet>>(&self, packet: &Packet, owner: &O) -> Option<u32> {
        if let Self::Registry(qdisc) = self { qdisc.foresee(packet, owner) } else { None }
    }

    /// Does what [`AnyQdisc::approach`] does.
    #[inline]
    pub(crate) fn approach(&self, class: u32, packet: &Packet, step: usize) {
        if let Self::Registry(qdisc) = self {
            qdisc.approach(class, packet, step);
        }
    }

    /// Returns whether this is a tree of classes.
    pub(crate) fn is_tree(&self) -> bool {
        if let Self::Registry(qdisc) = self { qdisc.args().spec.name == "tc" } else { false }
    }

    /// Returns whether the discipline may flip bits of packets, as `netem` does.
    pub(crate) fn may_corrupt(&self) -> bool {
        let Self::Registry(qdisc) = self else { return false };
        let lines = std::iter::successors(Some(qdisc.args()), |args| args.child());
        lines.into_iter().any(|args| args.spec.param("corrupt").is_some())
    }

    /// Returns whether the discipline queues a merged packet of `len` bytes as it is. Linux's `cake` cuts such packets
    /// (`split-gso`), and `tbf` those that are longer than its buckets (`tbf_segment`).
    pub(crate) fn takes_whole(&self, len: u32) -> bool {
        let Self::Registry(qdisc) = self else { return true };
        let mut lines = std::iter::successors(Some(qdisc.args()), |args| args.child());
        lines.all(|args| {
            let bytes = |name| match args.value(name) {
                Some(Value::Integer(bytes)) => Some(bytes),
                _ => None,
            };
            match args.spec.name {
                "cake" => bytes("gso") == Some(1), // `no-split-gso`, the second word
                "tbf" => {
                    let second = || bytes("minburst").unwrap_or(qdisc.link().mtu.into());
                    let buckets = [bytes("burst"), args.is_given("peakrate").then(second)];
                    buckets.into_iter().flatten().all(|bucket| u64::from(len) <= bucket)
                }
                _ => true,
            }
        })
    }

    /// Changes the rate of the link, or the discipline's parameters to those of `line`. A foreign discipline takes
    /// only the rate.
    pub(crate) fn change<O: Owner<Packet>>(
        &mut self,
        now: Instant,
        rate: Option<Rate>,
        line: Option<&str>,
        owner: &mut O,
    ) -> Result<(), Error> {
        match self {
            Self::Registry(qdisc) => {
                rate.map_or(Ok(()), |rate| qdisc.set_link_rate(now, rate, owner))?;
                line.map_or(Ok(()), |line| qdisc.change(now, line, owner))
            }
            Self::Foreign(qdisc) => {
                rate.into_iter().for_each(|rate| qdisc.set_link_rate(rate));
                Ok(())
            }
        }
    }
}

impl Qdisc<Packet> for Discipline {
    #[inline]
    fn enqueue<O: Owner<Packet>>(&mut self, now: Instant, packet: Packet, owner: &mut O) -> Enqueued {
        match self {
            Self::Registry(qdisc) => qdisc.enqueue(now, packet, owner),
            Self::Foreign(qdisc) => {
                qdisc.enqueue(now, packet, owner);
                Enqueued::Success
            }
        }
    }
    #[inline]
    fn dequeue<O: Owner<Packet>>(&mut self, now: Instant, owner: &mut O) -> Option<Packet> {
        match self {
            Self::Registry(qdisc) => qdisc.dequeue(now, owner),
            Self::Foreign(qdisc) => qdisc.dequeue(now, owner),
        }
    }
    fn prefetch(&self, flow_hash: u32) {
        if let Self::Registry(qdisc) = self {
            qdisc.prefetch(flow_hash);
        }
    }
    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        match self {
            Self::Registry(qdisc) => qdisc.next_timer(),
            Self::Foreign(qdisc) => qdisc.next_timer(),
        }
    }
    fn queues(&self) -> &'static [&'static str] {
        match self {
            Self::Registry(qdisc) => qdisc.queues(),
            Self::Foreign(_) => &[],
        }
    }
    fn queue_of(&self, packet: &Packet) -> usize {
        match self {
            Self::Registry(qdisc) => qdisc.queue_of(packet),
            Self::Foreign(_) => 0,
        }
    }
    /// Returns false for a foreign discipline: it may hold packets back.
    fn is_work_conserving(&self) -> bool {
        match self {
            Self::Registry(qdisc) => qdisc.is_work_conserving(),
            Self::Foreign(_) => false,
        }
    }
    /// Returns false for a foreign discipline: packets tell it no departure times.
    fn paces_sockets(&self) -> bool {
        match self {
            Self::Registry(qdisc) => qdisc.paces_sockets(),
            Self::Foreign(_) => false,
        }
    }
    fn on_timer<O: Owner<Packet>>(&mut self, now: Instant, owner: &mut O) {
        match self {
            Self::Registry(qdisc) => qdisc.on_timer(now, owner),
            Self::Foreign(qdisc) => qdisc.on_timer(now, owner),
        }
    }
    #[inline]
    fn backlog(&self) -> Backlog {
        match self {
            Self::Registry(qdisc) => qdisc.backlog(),
            Self::Foreign(qdisc) => qdisc.backlog(),
        }
    }
    fn probe(&self, probe: &mut dyn Probe) {
        match self {
            Self::Registry(qdisc) => qdisc.probe(probe),
            Self::Foreign(qdisc) => qdisc.probe(probe),
        }
    }
}
