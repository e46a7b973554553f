//! A discipline from outside the registry: one that a researcher wrote in another language to try an idea.
//!
//! The registry's disciplines are dispatched statically; a foreign one is behind a `dyn`, and slower for it.

use crate::direction::Direction;
use crate::packet::Packet;
use crate::probe::law::LawSeries;
use crate::scenario::ScenarioError;
use goodqueue_qdisc::{AnyQdisc, Backlog, Enqueued, Error, Link, Owner, Probe, Qdisc};
use goodqueue_units::{Instant, Rate, Stream};

/// A foreign discipline; the contract is [`Qdisc`]'s.
///
/// A discipline that fails ends the run in its own way: it says so to whoever made it, drops what arrives from then on
/// and delivers nothing. Conservation holds even so.
pub trait Foreign: Send + Sync {
    /// Its line with every parameter: what stands in the record, and makes the same discipline again.
    fn line(&self) -> String;
    /// As [`Qdisc::enqueue`].
    fn enqueue(&mut self, now: Instant, packet: Packet, owner: &mut dyn Owner<Packet>);
    /// As [`Qdisc::dequeue`].
    fn dequeue(&mut self, now: Instant, owner: &mut dyn Owner<Packet>) -> Option<Packet>;
    /// As [`Qdisc::next_timer`].
    fn next_timer(&self) -> Option<Instant>;
    /// As [`Qdisc::on_timer`].
    fn on_timer(&mut self, now: Instant, owner: &mut dyn Owner<Packet>);
    /// The link below has another rate from now on.
    fn set_link_rate(&mut self, rate: Rate);
    /// As [`Qdisc::backlog`].
    fn backlog(&self) -> Backlog;
    /// As [`Qdisc::probe`].
    fn probe(&self, probe: &mut dyn Probe);
    /// Shows each variable that is a number, which has a name of its own making.
    fn show(&self, see: &mut dyn FnMut(&str, f64));
}

/// What a foreign discipline is made from.
pub struct Request<'a> {
    /// The scenario's key, for refusals.
    pub key: &'a str,
    /// The line, such as `./my_aqm.py:MyAqm target 5ms`.
    pub line: &'a str,
    /// Which bottleneck it is for.
    pub direction: Direction,
    /// The link below it.
    pub link: Link,
    /// Its dice: the stream that a discipline of the registry would draw from in its place.
    pub random: Stream,
}

/// Makes foreign disciplines.
pub type Maker<'a> = dyn FnMut(Request<'_>) -> Result<Box<dyn Foreign>, ScenarioError> + 'a;

pub use crate::scenario::is_foreign;

/// What a link asks for packets. The inner box keeps the size of this that of an [`AnyQdisc`].
pub(crate) enum Discipline {
    Registry(AnyQdisc<Packet>),
    #[allow(clippy::redundant_allocation)] // one word, so that the tag can share the other's
    Foreign(Box<Box<dyn Foreign>>),
}

const _: () = assert!(size_of::<Discipline>() == size_of::<AnyQdisc<Packet>>(), "one tag, not two");

impl Discipline {
    /// Shows its variables.
    pub(crate) fn show(&self, law: &mut LawSeries) {
        match self {
            Self::Registry(qdisc) => qdisc.probe(law),
            Self::Foreign(qdisc) => qdisc.show(&mut |name, value| law.foreign(name, value)),
        }
    }

    /// The link's rate is another one, or the parameters of `line` are. A foreign discipline takes the rate alone.
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
    /// A foreign one may hold back what it will.
    fn is_work_conserving(&self) -> bool {
        match self {
            Self::Registry(qdisc) => qdisc.is_work_conserving(),
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
