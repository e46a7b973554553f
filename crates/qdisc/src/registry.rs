//! The table with one line per discipline.
//!
//! The table below makes the enum for static dispatch, the parser of `tc` lines and [`ALL`]. `--help`, the
//! documentation, the conformance runner, the property tests and the benchmarks use [`ALL`]. To add a discipline,
//! write its file and add its line here.

use crate::discipline::Discipline;
use crate::kept::Look;
use crate::packet::Packet;
use crate::param::{Args, Error, Form, Link, QdiscSpec, Reading};
use crate::qdisc::{Backlog, Enqueued, Probe, Qdisc};
use crate::signal::Owner;
use crate::{aqm, linux, sched};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use goodqueue_units::{Instant, Rate, parse};

#[cfg_attr(feature = "complete", path = "registry/complete/enabled.rs")]
#[cfg_attr(not(feature = "complete"), path = "registry/complete/disabled.rs")]
mod complete;

use complete::parse_noting;
#[cfg(feature = "complete")]
pub use complete::parse_tree_of;
pub use complete::{Limits, parse_tree};

/// A discipline with the parameters and the link that it was set up with.
pub struct Live<Q> {
    qdisc: Q,
    /// Shared by all leaves of a tree that are set up alike.
    args: Arc<Args>,
    link: Link,
}

/// What somebody does with a discipline whose type the compiler is to know.
pub trait Visit<P> {
    /// What comes of it.
    type Answer;
    /// Does it.
    fn visit<Q: Qdisc<P>>(self, qdisc: &mut Q) -> Self::Answer;
}

/// A discipline that is visited as its own type.
struct Hot<'a, Q>(&'a mut Q);

impl<Q> Hot<'_, Q> {
    #[inline]
    fn welcome<P, V: Visit<P>>(self, visit: V) -> V::Answer
    where
        Q: Qdisc<P>,
    {
        visit.visit(self.0)
    }
}

/// Takes `Name => type` lines, in the order in which `goodqueue list qdiscs` shows them. The lines after the semicolon
/// hold a discipline of those before it. A line's attribute says which builds have the line. It stands before the
/// variant and before each of its arms. A [`Visit`] is compiled once more for each line that is `Hot`: those are what
/// most links have, because the loop of a link takes some kilobytes. The page has fewer of them.
macro_rules! qdiscs {
    (<$P:ident> $($(#[$only:meta])? $variant:ident $(: $(#[$where:meta])? $hot:ident)? => $type:ty,)+ ;
        $($(#[$outer_only:meta])? $outer:ident => $outer_type:ty,)+) => {
        /// Any discipline of the registry, dispatched statically. Each discipline is boxed, so that an `AnyQdisc` is
        /// cheap to move.
        pub enum AnyQdisc<$P> {
            $(
                $(#[$only])?
                #[doc = concat!("See `", stringify!($type), "`.")]
                $variant(Box<Live<$type>>),
            )+
            $(
                $(#[$outer_only])?
                #[doc = concat!("See `", stringify!($outer_type), "`.")]
                $outer(Box<$outer_type>),
            )+
        }

        impl<$P: Packet> AnyQdisc<$P> {
            const SPECS: &'static [QdiscSpec] = &[$($(#[$only])? <$type as Discipline<$P>>::SPEC,)+];

            /// Builds the discipline that `args` describe.
            ///
            /// # Errors
            /// Fails if parameters contradict each other.
            pub fn build(args: &Args, link: &Link) -> Result<Self, Error> {
                if let Some(made) = complete::build(args, link) {
                    return made;
                }
                let mut args = args.clone();
                args.resolve(link.rate)?;
                let args = Arc::new(args);
                $(
                    $(#[$only])?
                    if args.spec.name == <$type as Discipline<$P>>::SPEC.name {
                        let qdisc = <$type as Discipline<$P>>::build(&args, link)?;
                        return Ok(Self::$variant(Box::new(Live { qdisc, args, link: *link })));
                    }
                )+
                Err(Error(format!("{}: not in the registry", args.spec.name)))
            }

            /// Builds a discipline like this one, which must be as it was built. They share what never changes.
            ///
            /// # Errors
            /// Fails if parameters contradict each other.
            #[cfg(feature = "complete")]
            pub(crate) fn another(&self) -> Result<Self, Error> {
                match self {
                    $($(#[$only])? Self::$variant(live) => {
                        let Live { qdisc, args, link } = &**live;
                        let qdisc = Discipline::<$P>::another(qdisc, args, link)?;
                        Ok(Self::$variant(Box::new(Live { qdisc, args: args.clone(), link: *link })))
                    })+
                    $($(#[$outer_only])? Self::$outer(outer) => Self::build(outer.args(), &outer.link()),)+
                }
            }

            /// Returns the parameters that the discipline is set up with.
            #[must_use]
            pub fn args(&self) -> &Args {
                match self {
                    $($(#[$only])? Self::$variant(live) => &live.args,)+
                    $($(#[$outer_only])? Self::$outer(outer) => outer.args(),)+
                }
            }

            /// Returns the link below, as the discipline was last told.
            #[must_use]
            pub fn link(&self) -> Link {
                match self {
                    $($(#[$only])? Self::$variant(live) => live.link,)+
                    $($(#[$outer_only])? Self::$outer(outer) => outer.link(),)+
                }
            }

            /// Lets `visit` see the discipline as its own type if its line is hot, and as this type otherwise.
            #[inline]
            pub fn visit<V: Visit<$P>>(&mut self, visit: V) -> V::Answer {
                match self {
                    $($($(#[$where])? Self::$variant(live) => $hot(&mut live.qdisc).welcome(visit),)?)+
                    other => visit.visit(other),
                }
            }

            /// Returns how a shaper above sees the packet that leaves next.
            pub(crate) fn look(&mut self) -> Look<'_, $P> {
                match self {
                    $($(#[$only])? Self::$variant(live) => live.qdisc.look(),)+
                    // These are at the root alone (`parse_inner`), where no shaper is above.
                    $($(#[$outer_only])? Self::$outer(_) => Look::Shown(None),)+
                }
            }

            /// Changes parameters and link as [`Discipline::change`] does, with parameters from [`Args::changed`].
            pub(crate) fn reconfigure<O: Owner<$P>>(
                &mut self,
                now: Instant,
                args: Args,
                link: Link,
                owner: &mut O,
            ) -> Result<(), Error> {
                match self {
                    $($(#[$only])? Self::$variant(live) => {
                        live.qdisc.change(now, &args, &link, owner)?;
                        (live.args, live.link) = (Arc::new(args), link);
                    })+
                    $($(#[$outer_only])? Self::$outer(outer) => outer.reconfigure(now, args, link, owner)?,)+
                }
                Ok(())
            }
        }

        impl<$P: Packet> Qdisc<$P> for AnyQdisc<$P> {
            #[inline]
            fn enqueue<O: Owner<$P>>(&mut self, now: Instant, packet: $P, owner: &mut O) -> Enqueued {
                match self {
                    $($(#[$only])? Self::$variant(live) => enqueue_apart(&mut live.qdisc, now, packet, owner),)+
                    $($(#[$outer_only])? Self::$outer(outer) => enqueue_apart(&mut **outer, now, packet, owner),)+
                }
            }
            #[cfg(feature = "complete")]
            fn enqueue_into<O: Owner<$P>>(
                &mut self,
                now: Instant,
                packet: $P,
                classid: Option<crate::tree::Id>,
                owner: &mut O,
            ) -> Option<Enqueued> {
                match self {
                    $($(#[$only])? Self::$variant(live) => live.qdisc.enqueue_into(now, packet, classid, owner),)+
                    $($(#[$outer_only])? Self::$outer(outer) => outer.enqueue_into(now, packet, classid, owner),)+
                }
            }
            #[inline]
            fn dequeue<O: Owner<$P>>(&mut self, now: Instant, owner: &mut O) -> Option<$P> {
                match self {
                    $($(#[$only])? Self::$variant(live) => dequeue_apart(&mut live.qdisc, now, owner),)+
                    $($(#[$outer_only])? Self::$outer(outer) => dequeue_apart(&mut **outer, now, owner),)+
                }
            }
            fn next_timer(&self) -> Option<Instant> {
                match self {
                    $($(#[$only])? Self::$variant(live) => live.qdisc.next_timer(),)+
                    $($(#[$outer_only])? Self::$outer(outer) => outer.next_timer(),)+
                }
            }
            #[cfg(feature = "complete")]
            fn state(&self) -> (Backlog, Option<Instant>) {
                match self {
                    $($(#[$only])? Self::$variant(live) => live.qdisc.state(),)+
                    $($(#[$outer_only])? Self::$outer(outer) => outer.state(),)+
                }
            }
            fn queues(&self) -> &'static [&'static str] {
                match self {
                    $($(#[$only])? Self::$variant(live) => live.qdisc.queues(),)+
                    $($(#[$outer_only])? Self::$outer(outer) => outer.queues(),)+
                }
            }
            fn queue_of(&self, packet: &$P) -> usize {
                match self {
                    $($(#[$only])? Self::$variant(live) => live.qdisc.queue_of(packet),)+
                    $($(#[$outer_only])? Self::$outer(outer) => outer.queue_of(packet),)+
                }
            }
            fn is_work_conserving(&self) -> bool {
                match self {
                    $($(#[$only])? Self::$variant(live) => live.qdisc.is_work_conserving(),)+
                    $($(#[$outer_only])? Self::$outer(outer) => outer.is_work_conserving(),)+
                }
            }
            fn paces_sockets(&self) -> bool {
                match self {
                    $($(#[$only])? Self::$variant(live) => Qdisc::<$P>::paces_sockets(&live.qdisc),)+
                    $($(#[$outer_only])? Self::$outer(outer) => outer.paces_sockets(),)+
                }
            }
            fn on_timer<O: Owner<$P>>(&mut self, now: Instant, owner: &mut O) {
                match self {
                    $($(#[$only])? Self::$variant(live) => live.qdisc.on_timer(now, owner),)+
                    $($(#[$outer_only])? Self::$outer(outer) => outer.on_timer(now, owner),)+
                }
            }
            fn prefetch(&self, flow_hash: u32) {
                match self {
                    $($(#[$only])? Self::$variant(live) => Qdisc::<$P>::prefetch(&live.qdisc, flow_hash),)+
                    $($(#[$outer_only])? Self::$outer(outer) => outer.prefetch(flow_hash),)+
                }
            }
            #[inline]
            fn backlog(&self) -> Backlog {
                match self {
                    $($(#[$only])? Self::$variant(live) => live.qdisc.backlog(),)+
                    $($(#[$outer_only])? Self::$outer(outer) => outer.backlog(),)+
                }
            }
            fn probe(&self, probe: &mut dyn Probe) {
                match self {
                    $($(#[$only])? Self::$variant(live) => live.qdisc.probe(probe),)+
                    $($(#[$outer_only])? Self::$outer(outer) => outer.probe(probe),)+
                }
            }
        }
    };
}

/// Calls a discipline's `enqueue` from a function of its own. For the processor: inlined together into one function,
/// all disciplines would pay for the registers and the stack frame of the largest.
#[inline(never)]
fn enqueue_apart<P: Packet, O: Owner<P>>(
    qdisc: &mut impl Qdisc<P>,
    now: Instant,
    packet: P,
    owner: &mut O,
) -> Enqueued {
    qdisc.enqueue(now, packet, owner)
}

/// Calls a discipline's `dequeue` from a function of its own, for the reason of [`enqueue_apart`].
#[inline(never)]
fn dequeue_apart<P: Packet, O: Owner<P>>(
    qdisc: &mut impl Qdisc<P>,
    now: Instant,
    owner: &mut O,
) -> Option<P> {
    qdisc.dequeue(now, owner)
}

qdiscs! { <P>
    Pfifo: Hot => aqm::Managed<P, sched::fifo::Pfifo>,
    Bfifo => sched::fifo::Bfifo<P>,
    PfifoHeadDrop => aqm::Managed<P, sched::fifo::PfifoHeadDrop>,
    PfifoFast => sched::pfifo_fast::PfifoFast<P>,
    Prio => sched::prio::Prio<P>,
    Codel: Hot => aqm::Managed<P, aqm::codel::Codel>,
    Cobalt => aqm::Managed<P, aqm::cobalt::Cobalt>,
    Fq: #[cfg(not(target_family = "wasm"))] Hot => sched::fq::Fq<P>,
    FqCodel: Hot => sched::fq_codel::FqCodel<P>,
    FqNocodel => sched::fq_nocodel::FqNocodel<P>,
    Cake: #[cfg(not(target_family = "wasm"))] Hot => sched::cake::Cake<P>,
    #[cfg(feature = "complete")]
    CakeMq => sched::cake::mq::CakeMq<P>,
    FqPie: #[cfg(not(target_family = "wasm"))] Hot => sched::fq_pie::FqPie<P>,
    Sfq: #[cfg(not(target_family = "wasm"))] Hot => sched::sfq::Sfq<P>,
    Pie: #[cfg(not(target_family = "wasm"))] Hot => aqm::Managed<P, aqm::pie::Pie>,
    DocsisPie => aqm::Managed<P, aqm::docsis_pie::DocsisPie>,
    Red: #[cfg(not(target_family = "wasm"))] Hot => aqm::Managed<P, aqm::red::Red>,
    RedGentle => aqm::Managed<P, aqm::red_gentle::RedGentle>,
    Ared => aqm::Managed<P, aqm::ared::Ared>,
    Blue => aqm::Managed<P, aqm::blue::Blue>,
    Sfb => aqm::Managed<P, aqm::sfb::Sfb>,
    Pi => aqm::Managed<P, aqm::pi::Pi>,
    Rem => aqm::Managed<P, aqm::rem::Rem>,
    DualPi2: #[cfg(not(target_family = "wasm"))] Hot => sched::dualpi2::DualPi2<P>,
    #[cfg(feature = "complete")]
    DocsisLld => sched::docsis_lld::DocsisLld<P>,
    Choke => aqm::choke::Choke<P>,
    Tbf => sched::tbf::Tbf<P>,
    Htb => sched::htb::Htb<P>,
    #[cfg(feature = "complete")]
    Netem => sched::netem::Netem<P>,
    ;
    #[cfg(feature = "complete")]
    Stab => sched::stab::Stab<P>,
    #[cfg(feature = "complete")]
    Tree => crate::tree::Tree<P>,
}

/// Every discipline. The specifications do not depend on the type of packet, so any packet type serves here.
pub static ALL: &[QdiscSpec] = AnyQdisc::<crate::packet::Plain>::SPECS;

/// Reads a `tc` line: the discipline's name and its parameters (the text after `tc qdisc add dev X root`).
///
/// # Errors
/// Fails at an empty line, an unknown discipline (the error names the nearest known one), or a parameter that
/// [`Args::parse`] refuses.
pub fn parse_line(line: &str) -> Result<Args, Error> {
    parse_noting(line, &mut Reading::default())
}

/// Reads a `tc` line as [`parse_line`] does. Returns what each word set, in the disciplines inside it, too, and what of
/// the line is easily misread. Several lines are the commands of a tree.
///
/// # Errors
/// As for [`parse_line`].
pub fn reading(line: &str) -> Result<Reading, Error> {
    let mut read = Reading::default();
    if let Some(done) = complete::several_lines(line, &mut read) {
        return done.map(|()| read);
    }
    parse_noting(line, &mut read)?;
    let child = read.steps.iter().find(|step| step.param.form == Form::Child);
    if let Some(Reading { steps, notes }) = child.map(|child| reading(child.value())).transpose()? {
        read.steps.extend(steps);
        read.notes.extend(notes);
    }
    Ok(read)
}

/// Reads the line of a discipline inside another one, which has no size table.
pub(crate) fn parse_inner(line: &str) -> Result<Args, Error> {
    complete::refuse_inside(line)?;
    if line.split_whitespace().next() == Some("tc") {
        return Err(Error(
            "found commands of tc inside; accepted: the line of a qdisc without classes".into(),
        ));
    }
    parse_alone(line, &mut Reading::default())
}

/// Reads the line of a discipline without a size table.
fn parse_alone(line: &str, reading: &mut Reading) -> Result<Args, Error> {
    let line = line.trim();
    if let Some(args) = complete::command(line, reading) {
        return args;
    }
    let (name, words) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match ALL.iter().find(|spec| spec.name == name) {
        Some(spec) => Args::parse_noting(spec, words, reading),
        None => Err(Error(unknown(name))),
    }
}

fn unknown(name: &str) -> String {
    if complete::LEFT_OUT.contains(&name) {
        return format!("{name} is not in this program; accepted: the complete program has it");
    }
    if linux::has_classes(name) {
        return format!(
            "qdisc {name:?} has classes; accepted: the commands of its tree, as \"tc qdisc add dev eth0 root {name}\""
        );
    }
    if linux::has(name) {
        let known = ALL.iter().map(|spec| spec.name).collect::<alloc::vec::Vec<_>>().join(", ");
        return format!("qdisc {name:?} is a discipline of Linux that is not simulated; accepted: {known}");
    }
    let known = || ALL.iter().map(|spec| spec.name);
    let hint =
        parse::nearest(name, known()).map_or_else(String::new, |near| format!("did you mean {near:?}? "));
    let known = known().collect::<alloc::vec::Vec<_>>().join(", ");
    format!("unknown qdisc {name:?}; {hint}accepted: {known}")
}

impl<P: Packet> AnyQdisc<P> {
    /// Builds a discipline from a `tc` line.
    ///
    /// # Errors
    /// Fails as [`parse_line`] and [`AnyQdisc::build`] do.
    pub fn parse(line: &str, link: &Link) -> Result<Self, Error> {
        Self::build(&parse_line(line)?, link)
    }

    /// Changes parameters while packets wait, as `tc qdisc change` does. `line` names the discipline and the
    /// parameters that change. The other parameters, the state and the packets stay, except packets above a smaller
    /// limit: they are dropped, the oldest first. Fifos keep them, as in Linux.
    ///
    /// `netem` begins anew with what Linux begins anew with ([`QdiscSpec::begins_anew`]).
    ///
    /// Linux differs in two points. Its `red`, `sfb` and `choke` forget their state, and `red` and `sfb` their packets
    /// too. For these three and for `tbf`, `tc` asks for all parameters each time, and sets those left out to its
    /// defaults.
    ///
    /// A tree takes commands: `tc class change` and `tc qdisc change`, one per line or with `;` between them. What they
    /// do is what Linux does, `red` and `tbf` included, and no change asks for a packet.
    ///
    /// As after [`Qdisc::on_timer`], an idle link asks for a packet afterwards.
    ///
    /// # Errors
    /// Fails as [`Args::changed`] and [`AnyQdisc::build`] do, and then nothing has changed.
    pub fn change<O: Owner<P>>(&mut self, now: Instant, line: &str, owner: &mut O) -> Result<(), Error> {
        if let Some(changed) = complete::change(self, now, line, owner) {
            return changed;
        }
        let mut args = self.args().changed(line)?;
        args.resolve(self.link().rate)?;
        self.set_args(now, args, owner)
    }

    /// Does what [`AnyQdisc::change`] does, with the parameters that [`Args::changed`] made of the line and of
    /// [`AnyQdisc::args`].
    ///
    /// # Errors
    /// Fails as [`AnyQdisc::build`] does, and then nothing has changed.
    ///
    /// # Panics
    /// Panics if `args` belong to another discipline.
    pub fn set_args<O: Owner<P>>(&mut self, now: Instant, args: Args, owner: &mut O) -> Result<(), Error> {
        let link = self.link();
        self.reconfigure(now, args, link, owner)
    }

    /// Returns the length of the packet that leaves next, which a shaper above wants to know (`qdisc_peek_dequeued`).
    /// The discipline keeps the packet if a dequeue had to say which one it is.
    pub(crate) fn peek<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<u32> {
        let look = self.look();
        let len = look.length();
        if len.is_some() || matches!(look, Look::Shown(_)) {
            return len;
        }
        let packet = self.dequeue(now, owner)?;
        let len = packet.len();
        self.look().keep(packet, owner);
        Some(len)
    }

    /// Takes the packet that leaves next: the one that is kept, if there is one (`qdisc_dequeue_peeked`).
    pub(crate) fn take<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        self.look().take().or_else(|| self.dequeue(now, owner))
    }

    /// Sets another rate of the link below. Values that the discipline derives from the rate change, and its state
    /// stays. A discipline that does not use the rate does not change.
    ///
    /// # Errors
    /// Fails if parameters contradict the rate, such as a `peakrate` below it, and then nothing has changed.
    pub fn set_link_rate<O: Owner<P>>(
        &mut self,
        now: Instant,
        rate: Rate,
        owner: &mut O,
    ) -> Result<(), Error> {
        let (args, link) = (self.args().clone().unnamed(), Link { rate, ..self.link() });
        self.reconfigure(now, args, link, owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_discipline_is_refused_with_the_nearest_name() {
        let error = parse_line("codle target 5ms").unwrap_err();
        assert!(
            error.0.starts_with("unknown qdisc \"codle\"; did you mean \"codel\"? accepted: pfifo,"),
            "{error}"
        );
        assert!(parse_line("").is_err());
    }

    /// `fq` is no misspelt `sfq`. A suggestion would send the user to another discipline.
    #[test]
    fn a_discipline_of_linux_that_is_not_simulated_is_called_so() {
        for name in ["qfq", "hhf", "mqprio", "taprio", "cbq", "ingress", "bpf"] {
            let error = parse_line(&format!("{name} default 12")).unwrap_err().0;
            assert!(
                error.starts_with(&format!("qdisc {name:?} is a discipline of Linux that is not")),
                "{error}"
            );
            assert!(!error.contains("did you mean"), "{error}");
        }
        assert!(ALL.iter().all(|spec| !linux::has(spec.name)), "a simulated discipline is in the list");
    }

    /// The words of the discipline inside stand behind those of the outer one, and a replaced word is said.
    #[test]
    fn a_reading_has_each_word_of_a_line() {
        let read = reading("tbf rate 1mbit bu 3000 child codel target 5ms ecn target 6ms").unwrap();
        let steps: alloc::vec::Vec<_> =
            read.steps.iter().map(|step| (step.qdisc, step.param.name, step.value())).collect();
        let child = "codel target 5ms ecn target 6ms";
        assert_eq!(steps[..3], [("tbf", "rate", "1mbit"), ("tbf", "burst", "3000"), ("tbf", "child", child)]);
        assert_eq!(steps[3..5], [("codel", "target", "5ms"), ("codel", "ecn", "")]);
        assert_eq!(
            read.notes,
            ["codel target: \"target 6ms\" replaces \"target 5ms\": as in tc, the last word holds"]
        );
    }
}
