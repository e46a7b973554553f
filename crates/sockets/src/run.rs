//! One run: the event loop over all flows, and what they measured.

use crate::flow::Flow;
use crate::net::{Clock, Net, Ready};
use crate::order::{Order, at};
use goodqueue_netsim::Scenario;
use goodqueue_units::{Duration, Instant, Streams};
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;
use serde_json::{Map, Value};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU64;

/// Events that are taken from the kernel at a time.
const BATCH: usize = 64;

/// The applications of a scenario on their sockets.
pub struct Run {
    net: Net,
    flows: Vec<Flow>,
    /// When each flow's timer is due, and its number. An entry that the flow no longer agrees with is skipped.
    timers: BinaryHeap<Reverse<(Instant, usize)>>,
    /// What is due besides, the latest first.
    marks: Vec<(Instant, Mark)>,
}

/// What happens to all flows at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    Measure,
    Sample,
    End,
}

impl Run {
    /// Opens the listening sockets of all flows of `scenario`. `order` says the rest, as JSON (`order.rs`). `spaces`
    /// are the network namespaces of the user's and of the remote side.
    ///
    /// # Errors
    /// The scenario or the order is refused, or a socket fails: one line.
    pub fn new(scenario: &str, order: &str, spaces: [OwnedFd; 2], clock: Clock) -> Result<Self, String> {
        let scenario = Scenario::from_json(scenario).map_err(|error| error.to_string())?;
        let order: Order = serde_json::from_str(order).map_err(|error| format!("order: {error}"))?;
        let programs = scenario.programs();
        if programs.len() != order.flows.len() {
            return Err(format!("order: found {} flows; accepted: {}", order.flows.len(), programs.len()));
        }
        let mut net = Net::new(spaces, clock).map_err(|error| format!("network: {error}"))?;
        let streams = Streams::new(scenario.seed);
        let mut flows = Vec::with_capacity(programs.len());
        for (number, (program, asked)) in programs.into_iter().zip(order.flows).enumerate() {
            let name = program.name.clone();
            let routes = streams.stream(&format!("routes of {name}"), 0);
            let made = Flow::new(program, asked, number as u32, routes, &mut net);
            let mut flow = made.map_err(|error| format!("flow {name}: {error}"))?;
            if scenario.has_series() {
                flow.log();
            }
            flows.push(flow);
        }
        let end = at(order.duration_s);
        let measure = at(order.warmup_s);
        let mut marks =
            vec![(measure, Mark::Measure), (measure, Mark::Sample), (end, Mark::Sample), (end, Mark::End)];
        if let Some(every) =
            order.sample_s.map(Duration::from_secs_f64).filter(|every| *every > Duration::ZERO)
        {
            marks.extend(
                (1..)
                    .map(|number| Instant::ZERO + every * number)
                    .take_while(|time| *time < end)
                    .map(|time| (time, Mark::Sample)),
            );
        }
        marks.sort_unstable();
        marks.dedup();
        marks.reverse();
        let timers =
            flows.iter().enumerate().map(|(number, flow)| Reverse((flow.next_time(), number))).collect();
        Ok(Self { net, flows, timers, marks })
    }

    /// Runs all flows to the end of the run. Returns what each measured, by its name, as JSON. Connections that are
    /// left are reset.
    ///
    /// # Errors
    /// A socket fails: one line.
    pub fn run(&mut self) -> Result<String, String> {
        let _ = set_current_timer_slack(NonZeroU64::new(1)); // default 50 µs; this only makes it wake on time
        let mut events = Vec::with_capacity(BATCH);
        loop {
            // What is due comes before what is ready: at the end of the run nobody takes the other end's reset for
            // news.
            let timer = self.next_timer();
            let mark = self.marks.last().map_or(Instant::MAX, |(time, _)| *time);
            let ahead = self.net.clock.until(timer.min(mark));
            if ahead <= 0 {
                if timer < mark {
                    self.due(timer)?;
                } else if let Some((time, Mark::End)) =
                    self.marks.pop_if(|_| true).map(|mark| self.mark(mark))
                {
                    return Ok(self.ended(time));
                }
                continue;
            }
            self.wait(ahead, &mut events)?;
            for event in events.drain(..) {
                let (number, ready) = Ready::of(event.data.u64());
                self.flows[number].ready(ready, &mut self.net)?;
                self.plan(number);
            }
        }
    }

    /// Returns when the next timer of a flow is due.
    fn next_timer(&mut self) -> Instant {
        while let Some(&Reverse((time, number))) = self.timers.peek() {
            if self.flows[number].next_time() == time {
                return time;
            }
            self.timers.pop();
        }
        Instant::MAX
    }

    fn due(&mut self, now: Instant) -> Result<(), String> {
        if let Some(Reverse((_, number))) = self.timers.pop() {
            self.flows[number].due(now, &mut self.net)?;
            self.plan(number);
        }
        Ok(())
    }

    fn plan(&mut self, number: usize) {
        let time = self.flows[number].next_time();
        if time != Instant::MAX {
            self.timers.push(Reverse((time, number)));
        }
    }

    fn mark(&mut self, (time, mark): (Instant, Mark)) -> (Instant, Mark) {
        for flow in &mut self.flows {
            match mark {
                Mark::Measure => flow.measure_from(time),
                Mark::Sample => flow.sample(time),
                Mark::End => {}
            }
        }
        (time, mark)
    }

    /// Waits until a socket is ready, but at most for `ahead` nanoseconds, and fills `events`.
    fn wait(&self, ahead: i128, events: &mut Vec<epoll::Event>) -> Result<(), String> {
        let (tv_sec, tv_nsec) = ((ahead / 1_000_000_000) as i64, (ahead % 1_000_000_000) as i64);
        let mut watched = [PollFd::new(&self.net.epoll, PollFlags::IN)];
        let failed = |error: Errno| format!("epoll: {}", std::io::Error::from(error));
        match poll(&mut watched, Some(&Timespec { tv_sec, tv_nsec })) {
            Ok(0) | Err(Errno::INTR) => return Ok(()),
            got => got.map_err(failed)?,
        };
        let now = Some(&Timespec { tv_sec: 0, tv_nsec: 0 });
        epoll::wait(&self.net.epoll, rustix::buffer::spare_capacity(events), now).map_err(failed)?;
        Ok(())
    }

    fn ended(&mut self, now: Instant) -> String {
        let found: Map<String, Value> = self.flows.iter().map(|flow| flow.result(now)).collect();
        self.flows.iter_mut().for_each(Flow::abort);
        Value::Object(found).to_string()
    }
}
