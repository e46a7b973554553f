//! One event after the other: makes the trace's calls to our discipline, and compares the decisions.

use crate::arrival::Arrival;
use crate::setup::{self, Refusal, Setup};
use crate::state::{Seen, may_be_unshown};
use crate::trace::{After, Extra, Ids, Line, Pairs, Reader};
use crate::{Error, Mismatch, Outcome, States};
use goodqueue_qdisc::{Backlog, Drop, Mark, Owner, Qdisc};
use goodqueue_units::{Ecn, Instant, Release};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::BufRead;

/// The largest number of draws before a call that is accepted. A compressed file of draws could fill the memory.
const MOST_DRAWS: usize = 1_000_000;
/// The largest backlog that is accepted: the largest number of packets in a recorded trace. A header may have any
/// limit.
const MOST_WAITING: u32 = 10_000_000;

/// The value shown for a variable that the trace has and we do not show.
const NOT_SHOWN: &str = "not_shown";

/// The owner of a replayed discipline. It notes drops and marks, and hands out the random numbers that the trace
/// recorded.
#[derive(Default)]
struct Recorder {
    drops: Vec<u64>,
    marks: Vec<u64>,
    /// Random numbers recorded for the present call.
    random: VecDeque<(u8, u64)>,
    /// The difference between the call's draws and the recorded draws.
    fault: Option<String>,
    draws: u64,
}

impl Recorder {
    /// Hands out the next recorded number, which must have `wanted` bits.
    fn draw(&mut self, wanted: u8) -> u64 {
        self.draws += 1;
        match self.random.pop_front() {
            Some((bits, value)) if bits == wanted => value,
            Some((bits, _)) => {
                self.fault.get_or_insert_with(|| format!("a draw of {wanted} bits for one of {bits}"));
                0
            }
            None => {
                self.fault.get_or_insert_with(|| format!("a draw of {wanted} bits more"));
                0
            }
        }
    }
}

impl Owner<Arrival> for Recorder {
    fn dropped(&mut self, packet: Arrival, _why: Drop) {
        self.drops.push(packet.id);
    }
    fn marked(&mut self, packet: &Arrival, _why: Mark) {
        self.marks.push(packet.id);
    }
    fn random_u16(&mut self) -> u16 {
        self.draw(16) as u16
    }
    fn random_u32(&mut self) -> u32 {
        self.draw(32) as u32
    }
    fn random_u64(&mut self) -> u64 {
        self.draw(64)
    }
}

/// A decision that differs: the trace's and ours.
struct Difference {
    expected: String,
    got: String,
}

/// Totals, as in the `end` line.
#[derive(Default)]
struct Totals {
    delivered: u64,
    dropped: u64,
    marked: u64,
}

struct Player<'a> {
    algorithm: &'a str,
    setup: Setup,
    owner: Recorder,
    totals: Totals,
    packets: u64,
    events: u64,
    /// The state that the trace last wrote, with its line number. 0 stands for the present line.
    theirs: Option<(u64, String)>,
}

/// Replays a decision trace to its end or to its first mismatch, with the law of `release` or else of its kernel.
pub(crate) fn play<R: BufRead>(mut reader: Reader<R>, release: Option<Release>) -> Result<Outcome, Error> {
    let algorithm = reader.header().get("algorithm").map(str::to_string);
    let algorithm = algorithm.ok_or_else(|| reader.malformed("the header has no \"algorithm\"".into()))?;
    let mut outcome = Outcome {
        file: reader.file().to_string(),
        algorithm,
        events: 0,
        packets: 0,
        mismatches: 0,
        first: None,
        unsupported: None,
    };
    let setup = match setup::build(&outcome.algorithm, reader.header(), release) {
        Ok(setup) => setup,
        Err(Refusal::Unsupported(why)) => return Ok(Outcome { unsupported: Some(why), ..outcome }),
        Err(Refusal::Malformed(what)) => return Err(reader.malformed(what)),
    };
    let mut player = Player {
        algorithm: &outcome.algorithm,
        setup,
        owner: Recorder::default(),
        totals: Totals::default(),
        packets: 0,
        events: 0,
        theirs: None,
    };
    let first = player.run(&mut reader)?;
    (outcome.events, outcome.packets) = (player.events, player.packets);
    outcome.mismatches = first.is_some().into();
    outcome.first = first;
    Ok(outcome)
}

impl Player<'_> {
    fn run<R: BufRead>(&mut self, reader: &mut Reader<R>) -> Result<Option<Mismatch>, Error> {
        let mut ended = false;
        while let Some((now, line)) = reader.next_line()? {
            if ended {
                return Err(reader.malformed("a line after the end line".to_string()));
            }
            ended = matches!(line, Line::End(_));
            let difference = match self.step(now, line) {
                Ok(difference) => difference,
                Err(what) => return Err(reader.malformed(what)),
            };
            if let Some((told @ 0, _)) = &mut self.theirs {
                *told = reader.line_number();
            }
            if let Some(Difference { expected, got }) = difference {
                let (theirs_line, theirs) = self.theirs.take().unzip();
                let state = States { ours: Seen::of(&self.setup.qdisc).to_string(), theirs, theirs_line };
                let (line, text) = (reader.line_number(), reader.line_text());
                return Ok(Some(Mismatch { line, text, expected, got, state }));
            }
        }
        if ended { Ok(None) } else { Err(reader.malformed("the trace has no end line".to_string())) }
    }

    /// Replays one line. An error is an error of the file, not of the discipline.
    fn step(&mut self, now: Instant, line: Line<'_>) -> Result<Option<Difference>, String> {
        match line {
            Line::Rate(_) => Ok(None),
            Line::Random { bits, value } => {
                if self.owner.random.len() == MOST_DRAWS {
                    return Err(format!("more than {MOST_DRAWS} draws that no call took"));
                }
                self.owner.random.push_back((bits, value));
                Ok(None)
            }
            Line::Enqueue { id, len, flow, hash, extra, ecn, queue, prio, class, fate, ret, after } => {
                self.setup.qdisc.pin(queue).map_err(|error| error.0)?;
                if id != self.packets {
                    return Err(format!("id: found {id}; accepted: {}, the next arrival", self.packets));
                }
                if self.setup.qdisc.backlog().packets >= MOST_WAITING {
                    return Err(format!("more than {MOST_WAITING} packets wait"));
                }
                let hash = self.setup.hash.of(flow, hash);
                let Extra { hosts, departure, pacing, mark } = extra;
                let socket = self.setup.sockets.of(flow, pacing);
                let arrival = Instant::ZERO;
                let (class, prio, wanted) = (prio, prio as u8, class);
                let packet = Arrival {
                    id,
                    len,
                    ecn,
                    flow,
                    hash,
                    hosts,
                    prio,
                    class,
                    mark,
                    departure,
                    socket,
                    arrival,
                };
                if let Some(difference) = wanted.and_then(|wanted| self.decide(&packet, wanted)) {
                    return Ok(Some(difference));
                }
                Ok(self.enqueue(now, packet, (fate, ret), after))
            }
            Line::Dequeue { id, ecn, queue, after } => {
                self.setup.qdisc.pin(queue).map_err(|error| error.0)?;
                Ok(self.dequeue(now, id, ecn, after))
            }
            Line::Timer { drops, state } => Ok(self.timer(now, drops, state)),
            Line::Change(commands) => Ok(self.change(now, commands)),
            Line::State(state) => {
                self.theirs = Some((0, state.text().to_string()));
                Ok(self.compare(state))
            }
            Line::End(totals) => self.end(totals),
        }
    }

    /// Compares the class to which a tree sorts `packet` with that of the trace.
    fn decide(&self, packet: &Arrival, wanted: &str) -> Option<Difference> {
        let got = self.setup.qdisc.decide(packet, &self.owner)?.to_string();
        let show = |class: &str| format!("class={class}");
        (got != wanted).then(|| Difference { expected: show(wanted), got: show(&got) })
    }

    /// Begins a call.
    fn call(&mut self) {
        self.events += 1;
        self.owner.drops.clear();
        self.owner.marks.clear();
    }

    /// Ends a call: counts its drops and marks, and checks that it drew the numbers that the trace recorded.
    fn over(&mut self) -> Option<Difference> {
        self.totals.dropped += self.owner.drops.len() as u64;
        self.totals.marked += self.owner.marks.len() as u64;
        let left = self.owner.random.len();
        let fault = self.owner.fault.take();
        let got = fault.or_else(|| (left > 0).then(|| format!("{left} of them not drawn")))?;
        Some(Difference { expected: "the draws of the rnd lines before".to_string(), got })
    }

    fn enqueue(
        &mut self,
        now: Instant,
        packet: Arrival,
        (fate, ret): (char, u8),
        after: After<'_>,
    ) -> Option<Difference> {
        self.packets += 1;
        self.call();
        let id = packet.id;
        let our_ret = self.setup.qdisc.enqueue(now, packet, &mut self.owner) as u8;
        let our_fate = match &self.owner {
            owner if owner.drops.contains(&id) => 'd',
            owner if owner.marks.contains(&id) => 'm',
            _ => 'q',
        };
        let same = (fate, ret) == (our_fate, our_ret) && self.left_behind(after);
        // Wrong draws are reported first: a decision that differs after them differs because of them.
        self.over().or_else(|| {
            (!same).then(|| Difference {
                expected: format!("fate={fate} ret={ret} {}", show(after)),
                got: format!("fate={our_fate} ret={our_ret} {}", self.show()),
            })
        })
    }

    fn dequeue(&mut self, now: Instant, id: Option<u64>, ecn: Ecn, after: After<'_>) -> Option<Difference> {
        self.call();
        let packet = self.setup.qdisc.dequeue(now, &mut self.owner);
        self.totals.delivered += u64::from(packet.is_some());
        let our_id = packet.map(|packet| packet.id);
        let our_ecn = packet.map_or(Ecn::NotEct, |packet| packet.ecn);
        // Without a packet the column is not a codepoint.
        let same = our_id == id && (id.is_none() || our_ecn == ecn) && self.left_behind(after);
        self.over().or_else(|| {
            let number = |id: Option<u64>| id.map_or_else(|| "-1".to_string(), |id| id.to_string());
            (!same).then(|| Difference {
                expected: format!("id={} ecn={} {}", number(id), ecn.bits(), show(after)),
                got: format!("id={} ecn={} {}", number(our_id), our_ecn.bits(), self.show()),
            })
        })
    }

    fn timer(&mut self, now: Instant, drops: Ids<'_>, state: Pairs<'_>) -> Option<Difference> {
        self.theirs = Some((0, state.text().to_string()));
        self.call();
        self.setup.qdisc.on_timer(now, &mut self.owner);
        let same = drops.are(&self.owner.drops);
        let decision = self.over().or_else(|| {
            (!same).then(|| Difference {
                expected: format!("drops={}", drops.text()),
                got: format!("drops={}", ids(&self.owner.drops)),
            })
        });
        decision.or_else(|| self.compare(state))
    }

    /// Changes the discipline by `commands`, which Linux took. The totals do not count the packets that a change drops,
    /// since the recorder did not see them.
    fn change(&mut self, now: Instant, commands: &str) -> Option<Difference> {
        self.call();
        let refused = self.setup.qdisc.change(now, commands, &mut self.owner).err();
        let fault = self.owner.fault.take();
        let got = refused.map(|error| error.0).or(fault)?;
        Some(Difference { expected: "a change without a draw".to_string(), got })
    }

    /// Returns whether reports and backlog after a call are those of the trace.
    fn left_behind(&self, theirs: After<'_>) -> bool {
        let Backlog { packets, bytes } = self.setup.qdisc.backlog();
        (packets, bytes) == (theirs.qlen, theirs.backlog)
            && theirs.drops.are(&self.owner.drops)
            && theirs.marks.are(&self.owner.marks)
    }

    /// Returns the reports and the backlog of the last call.
    fn show(&self) -> String {
        let (drops, marks) = (ids(&self.owner.drops), ids(&self.owner.marks));
        let Backlog { packets, bytes } = self.setup.qdisc.backlog();
        format!("drops={drops} marks={marks} qlen={packets} backlog={bytes}")
    }

    /// Compares each variable of the trace. A variable that we do not show is a difference, unless it is on the list
    /// of `state.rs`.
    fn compare(&self, theirs: Pairs<'_>) -> Option<Difference> {
        let ours = Seen::of(&self.setup.qdisc);
        let mut difference = Difference { expected: String::new(), got: String::new() };
        for (key, value) in theirs.iter() {
            let space = if difference.got.is_empty() { "" } else { " " };
            let got = match ours.get(key) {
                Some((_, shown)) if shown.is(value) => continue,
                Some((_, shown)) => shown.to_string(),
                None if may_be_unshown(self.algorithm, key, value) => continue,
                None => NOT_SHOWN.to_string(),
            };
            let _ = write!(difference.expected, "{space}{key}={value}");
            let _ = write!(difference.got, "{space}{key}={got}");
        }
        (!difference.got.is_empty()).then_some(difference)
    }

    fn end(&mut self, theirs: Pairs<'_>) -> Result<Option<Difference>, String> {
        self.setup.qdisc.pin(None).map_err(|error| error.0)?;
        let ours = [
            ("enq", self.packets),
            ("deq", self.totals.delivered),
            ("drop", self.totals.dropped),
            ("left", self.setup.qdisc.backlog().packets.into()),
            ("mark", self.totals.marked),
            ("rnd", self.owner.draws + self.owner.random.len() as u64),
        ];
        let mut same = self.owner.random.is_empty();
        for (key, value) in theirs.iter() {
            let value: u64 =
                value.parse().map_err(|_| format!("{key}: found {value:?}; accepted: a number"))?;
            same &= ours.iter().all(|(name, ours)| *name != key || *ours == value);
        }
        let got = || ours.map(|(name, value)| format!("{name}={value}")).join(",");
        Ok((!same).then(|| Difference { expected: theirs.text().to_string(), got: got() }))
    }
}

fn ids(ids: &[u64]) -> String {
    ids.iter().map(u64::to_string).collect::<Vec<_>>().join("|")
}

fn show(after: After<'_>) -> String {
    let After { drops, marks, qlen, backlog } = after;
    format!("drops={} marks={} qlen={qlen} backlog={backlog}", drops.text(), marks.text())
}
