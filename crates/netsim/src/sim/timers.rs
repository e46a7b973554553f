//! The loop's part for the timers of flows.

use super::Simulation;
use super::way::Way;
use crate::agenda::Component;
use crate::flow::Source;
use goodqueue_units::Instant;

impl Simulation {
    /// Timer 0 of flow `index`, that of its sender, or timer 1.
    #[inline(never)]
    pub(super) fn flow_timer(&mut self, index: usize, timer: usize) {
        let now = self.now;
        let &Way { is_bulk, direction, stop, dscp, .. } = &self.ways[index];
        let stopping = timer == 0 && now >= stop;
        if stopping && self.flows[index].delivered_at_stop.is_none() {
            self.flows[index].delivered_at_stop = Some(self.totals(index).delivered_bytes);
        }
        if is_bulk {
            if self.is_crowded() {
                self.look_ahead_of_timers();
            }
            return self.bulk_timer(index, timer, stopping);
        }
        match &mut self.flows[index].source {
            Source::Bulk(_) => unreachable!("its way says that it is none"),
            Source::Isochronous(source) => {
                let number = (!stopping).then(|| source.send());
                let next = if stopping { Instant::MAX } else { source.next_time().min(stop) };
                self.agenda.set(self.timer(index, timer), next);
                if let Some(number) = number {
                    self.send_datagram(index, direction, number, dscp);
                }
            }
            Source::App(app) => {
                app.handle_timeout(now, stop, &mut self.sockets);
                self.serve(index);
            }
        }
    }

    /// The same of a bulk transfer, of which only its way and the connection are looked at: its flow is in no cache.
    #[inline]
    fn bulk_timer(&mut self, index: usize, timer: usize, stopping: bool) {
        let (now, way) = (self.now, &mut self.ways[index]);
        let end = way.end_of(timer);
        let connection = &mut self.sockets.bulk[index].ends[end];
        if stopping && !way.is_closed {
            way.is_closed = true;
            if way.stop < Instant::ZERO + self.scenario.duration.0 {
                connection.close(); // at the end of the run everybody stops, and nobody closes
            }
        }
        // Timers are lazy: the deadline may have moved on since this one was set.
        if connection.poll_timeout().is_some_and(|deadline| deadline <= now) {
            connection.handle_timeout(now);
        }
        let latest = if timer == 0 && !way.is_closed { way.stop } else { Instant::MAX };
        way.timers[end] = latest;
        self.pump(index, end, None);
        if self.ways[index].timers[end] == latest {
            self.agenda.set(self.timer(index, timer), latest);
        }
    }

    #[inline]
    pub(super) fn timer(&self, index: usize, timer: usize) -> Component {
        self.flow_timers + (2 * index + timer) as u32
    }
}
