//! The schedulers of a plan.

use super::bands::{self, Bands, Tuning};
use super::chain::Chain;
use super::child::{Child, Node};
use super::classes::Children;
use super::drr::Drr;
use super::hfsc::{self, Hfsc};
use super::htb::{self, Htb};
use super::id::Id;
use super::leaf::{Filters, Leaf, Pattern};
use super::params::{self, Class, QUANTUM, RATE, Scheduler};
use super::plan::{self, Plan, What};
use super::rounds::QUANTA;
use crate::packet::Packet;
use crate::param::{Args, Error, Link};
use crate::psched::ticks;
use crate::sched::htb::{BURST, CBURST, CEIL, MTU};
use crate::sched::pace::Pace;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use goodqueue_units::Rate;

/// The discipline of a class to which no command gives one.
pub(super) const WITHOUT_A_COMMAND: &str = "pfifo limit 1000";

/// Builds the root of `plan`, at the place of `args`.
pub(super) fn root<P: Packet>(plan: &Plan, args: &Args, link: Link) -> Result<Child<P>, Error> {
    let mut builder = Builder { plan, args, link, patterns: BTreeMap::new(), pfifo: None };
    match plan.root_place() {
        Some(at) => builder.qdisc(at),
        None => Err(Error("tc: found no root qdisc".into())),
    }
}

struct Builder<'a, P> {
    plan: &'a Plan,
    /// The tree's own line, whose release and place its leaves have.
    args: &'a Args,
    link: Link,
    /// By the address of the line that several leaves share.
    patterns: BTreeMap<usize, (Arc<Args>, Arc<Pattern<P>>)>,
    /// The line of a class without a qdisc.
    pfifo: Option<Arc<Args>>,
}

impl<P: Packet> Builder<'_, P> {
    fn leaf(&mut self, args: &Arc<Args>, filters: Option<Arc<Filters>>) -> Result<Child<P>, Error> {
        let address = Arc::as_ptr(args) as usize;
        let pattern = match self.patterns.get(&address) {
            Some((_, known)) => known.clone(),
            None => {
                let placed = args.as_ref().clone().beside(self.args);
                let made = Arc::new(Pattern::new(placed, self.link)?);
                self.patterns.insert(address, (args.clone(), made.clone()));
                made
            }
        };
        Ok(Child::new(Node::Leaf(Leaf::new(pattern, filters))))
    }

    /// Builds the discipline that a class has: that of a command, or a `pfifo`.
    fn below(&mut self, qdisc: Option<usize>) -> Result<Child<P>, Error> {
        if let Some(at) = qdisc {
            return self.qdisc(at);
        }
        let pfifo = match &self.pfifo {
            Some(known) => known.clone(),
            None => {
                let made = Arc::new(crate::registry::parse_inner(WITHOUT_A_COMMAND)?);
                self.pfifo.insert(made).clone()
            }
        };
        self.leaf(&pfifo, None)
    }

    fn qdisc(&mut self, at: usize) -> Result<Child<P>, Error> {
        let qdisc = &self.plan.qdiscs[&at];
        if let Some(args) = self.plan.held(at) {
            let chain = Chain::new(plan::rules(qdisc, 0).into_iter());
            // `fq_codel_classify`, `sfq_classify`. `sfb_classify` does not heed it, and to `cake` it is a tin.
            let heeds = ["fq_codel", "sfq"].contains(&qdisc.name());
            let filters = Filters { handle: if heeds { qdisc.handle } else { Id::NONE }, chain };
            return self.leaf(&args, (!qdisc.filters.is_empty()).then(|| Arc::new(filters)));
        }
        let What::Scheduler { own, classes } = &qdisc.what else { return self.below(None) };
        let handle = qdisc.handle;
        let below =
            |node: &plan::Node| if node.level > 0 { Ok(None) } else { self.below(node.qdisc).map(Some) };
        let mut children = classes.values().map(below).collect::<Result<Vec<_>, Error>>()?;
        let chains = chains(qdisc);
        let chain = |minor: u16| chains.get(&minor).cloned().unwrap_or_default();
        // The place of each class among those of its qdisc. hfsc has the root as the first.
        let first = u32::from(matches!(own, Scheduler::Hfsc { .. }));
        let places: BTreeMap<u16, u32> = classes.keys().copied().zip(first..).collect();
        let parent = |node: &plan::Node| node.parent.and_then(|minor| places.get(&minor).copied());
        let id = |minor: &u16| Id::of(handle.major(), *minor);
        let node = match own {
            Scheduler::Htb { default, r2q, direct_qlen } => {
                let mut setups = Vec::with_capacity(classes.len());
                for (minor, node) in classes.iter() {
                    let Class::Htb(args) = &node.own else { continue };
                    setups.push(htb::Setup {
                        id: id(minor),
                        parent: parent(node),
                        level: node.level,
                        shape: shape(Args::clone(args).beside(self.args), *r2q, self.link)?,
                        chain: chain(*minor),
                    });
                }
                let children = Children::new(children);
                let direct = *direct_qlen as usize;
                Node::Htb(Box::new(Htb::new(handle, setups, children, chain(0), *default as u16, direct)))
            }
            Scheduler::Hfsc { default } => {
                children.insert(0, None);
                let level = classes.values().map(|node| node.level + 1).max().unwrap_or(0);
                let root =
                    hfsc::Setup { id: handle, parent: None, level, curves: [None; 3], chain: chain(0) };
                let mut setups = alloc::vec![root];
                for (minor, node) in classes.iter() {
                    let Class::Hfsc(curves) = &node.own else { continue };
                    let (parent, level) = (parent(node).or(Some(0)), node.level);
                    setups.push(hfsc::Setup {
                        id: id(minor),
                        parent,
                        level,
                        curves: *curves,
                        chain: chain(*minor),
                    });
                }
                Node::Hfsc(Box::new(Hfsc::new(handle, setups, Children::new(children), *default)))
            }
            Scheduler::Drr => {
                let of_frame = self.link.mtu.clamp(QUANTA.0, QUANTA.1);
                let quantum = |class: &Class| match class {
                    Class::Drr(Some(quantum)) => *quantum,
                    _ => of_frame,
                };
                let classes = classes.iter().map(|(minor, node)| (id(minor), quantum(&node.own))).collect();
                Node::Drr(Box::new(Drr::new(handle, classes, Children::new(children), chain(0))))
            }
            Scheduler::Ets { .. } | Scheduler::Prio { .. } | Scheduler::Mq => {
                let shows_head = !matches!(own, Scheduler::Ets { .. });
                let setup = bands::Setup { handle, tuning: Tuning::of(own), chain: chain(0), shows_head };
                Node::Bands(Box::new(Bands::new(setup, Children::new(children))))
            }
        };
        Ok(Child::new(node))
    }
}

/// Returns what the words of a class of `htb` set, whose qdisc has this `r2q`.
pub(super) fn shape(mut args: Args, r2q: u32, link: Link) -> Result<htb::Shape, Error> {
    args.resolve(link.rate)?;
    let rate = args.get(&RATE).unwrap_or(link.rate);
    let ceil = args.get(&CEIL).unwrap_or(rate);
    // tc: what the rate sends in a tick of its clock (1 ns), and a frame.
    let burst = |bytes: Option<u64>, rate: Rate| {
        let bytes = bytes.unwrap_or_else(|| args.get(&MTU) + rate.as_bps() / 8_000_000_000);
        ticks(rate, bytes, args.release())
    };
    let quantum = match args.get(&QUANTUM) {
        0 => (rate.as_bps() / 8 / u64::from(r2q)).clamp(1000, 200_000) as i32,
        given => given as i32,
    };
    Ok(htb::Shape {
        paces: [Pace::new(rate, &args), Pace::new(ceil, &args)],
        depths: [burst(args.get(&BURST), rate), burst(args.get(&CBURST), ceil)],
        priority: params::priority(&args),
        quantum,
    })
}

/// Returns the chains of a qdisc (0) and of its classes.
fn chains(qdisc: &plan::Qdisc) -> BTreeMap<u16, Chain> {
    let mut of: Vec<u16> = qdisc.filters.keys().map(|(of, _)| *of).collect();
    of.dedup();
    of.into_iter().map(|of| (of, Chain::new(plan::rules(qdisc, of).into_iter()))).collect()
}
