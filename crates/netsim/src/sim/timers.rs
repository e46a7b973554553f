//! The loop's part for the timers of flows.

use super::Simulation;
use super::ahead::look_ahead_of_timers;
use super::flow_path::FlowPath;
use crate::flow::Source;
use crate::ids::{FlowId, Timer};
use goodqueue_hosts::traffic::bulk;
use goodqueue_units::Instant;

impl Simulation {
    /// Handles a timer of `flow` that has fired.
    #[inline(never)]
    pub(super) fn flow_timer(&mut self, flow: FlowId, timer: Timer) {
        let now = self.now;
        let &FlowPath { is_bulk, direction, stop, dscp, .. } = &self.flow_paths[flow];
        let stopping = timer == Timer::Sender && now >= stop;
        if stopping && self.flows[flow].delivered_at_stop.is_none() {
            self.flows[flow].delivered_at_stop = Some(self.totals(flow).delivered_bytes);
        }
        if is_bulk {
            if self.is_crowded() {
                look_ahead_of_timers(&self.agenda, self.components, &self.flow_paths, &self.sockets.bulk);
            }
            return self.bulk_timer(flow, timer, stopping);
        }
        match &mut self.flows[flow].source {
            Source::Bulk(_) => unreachable!("its way says that it is none"),
            Source::Isochronous(source) => {
                let number = (!stopping).then(|| source.send());
                let next = if stopping { Instant::MAX } else { source.next_time().min(stop) };
                self.agenda.set(self.components.flow(flow, timer), next);
                if let Some(number) = number {
                    self.send_datagram(flow, direction, number, dscp);
                }
            }
            Source::App(app) => {
                app.handle_timeout(now, stop, &mut self.sockets);
                self.serve(flow);
            }
            Source::Outside { .. } => self.agenda.set(self.components.flow(flow, timer), Instant::MAX),
        }
    }

    /// Does the same for a bulk transfer. Reads only its way and its connection, because the flow is in no cache.
    #[inline]
    fn bulk_timer(&mut self, flow: FlowId, timer: Timer, stopping: bool) {
        let (now, path) = (self.now, &mut self.flow_paths[flow]);
        let end = path.end_of(timer);
        let connection = &mut self.sockets.bulk[flow].ends[end];
        if stopping && !path.is_closed {
            path.is_closed = true;
            if path.stop < Instant::ZERO + self.scenario.duration.0 {
                connection.close(); // at the end of the run all flows stop without closing
            }
        }
        connection.handle_due(now);
        let mut latest = if timer == Timer::Sender && !path.is_closed { path.stop } else { Instant::MAX };
        if bulk::OPENS_FIRST && path.waits && timer == Timer::Sender {
            let start = self.flows[flow].start;
            if now < start {
                latest = start;
            } else {
                path.waits = false;
                connection.write_unlimited();
            }
        }
        path.timers[end] = latest;
        self.pump(flow, end, None);
        if self.flow_paths[flow].timers[end] == latest {
            self.agenda.set(self.components.flow(flow, timer), latest);
        }
    }
}
