//! One run: the event loop over all flows, and what they measured.

use crate::flow::Flow;
use crate::net::{Clock, Net, Ready};
use crate::order::{Order, at};
use goodqueue_netsim::Scenario;
use goodqueue_units::{Duration, Instant, Streams};
use rustix::fd::OwnedFd;
use serde_json::{Map, Value};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    /// A packet that arrives costs one call that waits and one that reads: where time is virtual, most of what a run
    /// takes of the processor is system calls.
    ///
    /// # Errors
    /// A socket fails: one line.
    pub fn run(&mut self) -> Result<String, String> {
        let mut events = Vec::with_capacity(BATCH);
        let mut alarm = None;
        loop {
            let next = self.next_timer().min(self.next_mark());
            if alarm != Some(next) {
                self.net.set_alarm(next).map_err(|error| format!("alarm: {error}"))?;
                alarm = Some(next);
            }
            self.net.wait(&mut events).map_err(|error| format!("epoll: {error}"))?;
            // What is due comes before what is ready: at the end of the run nobody takes the other end's reset for
            // news.
            if events.iter().any(Ready::is_alarm) {
                alarm = None;
                if let Some(results) = self.due_until(self.net.clock.now())? {
                    return Ok(results);
                }
            }
            for event in events.drain(..).filter(|event| !Ready::is_alarm(event)) {
                let (number, ready) = Ready::of(event.data.u64());
                self.flows[number].ready(ready, event.flags, &mut self.net)?;
                self.plan(number);
            }
        }
    }

    /// Does what is due until `now`. Returns the results if the run ends.
    fn due_until(&mut self, now: Instant) -> Result<Option<String>, String> {
        loop {
            let (timer, mark) = (self.next_timer(), self.next_mark());
            if timer.min(mark) > now {
                return Ok(None);
            }
            if timer < mark {
                self.due(timer)?;
            } else if let Some((time, Mark::End)) = self.marks.pop().map(|mark| self.mark(mark)) {
                return Ok(Some(self.ended(time)));
            }
        }
    }

    fn next_mark(&self) -> Instant {
        self.marks.last().map_or(Instant::MAX, |(time, _)| *time)
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

    fn ended(&mut self, now: Instant) -> String {
        let found: Map<String, Value> = self.flows.iter().map(|flow| flow.result(now)).collect();
        self.flows.iter_mut().for_each(Flow::abort);
        Value::Object(found).to_string()
    }
}
