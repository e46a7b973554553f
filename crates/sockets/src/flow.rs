//! A flow: what happens when its time has come or one of its sockets is ready, and what it measured.

use crate::connection::{Connection, ENDLESS};
use crate::desk::{Desk, Sockets, added};
use crate::net::{Net, Ready};
use crate::options::Info;
use crate::order::{Asked, at};
use goodqueue_hosts::direction::Side;
use goodqueue_hosts::traffic::application::{Application, Host, SocketId};
use goodqueue_hosts::traffic::kind::Kind;
use goodqueue_netsim::Program;
use goodqueue_netsim::record::AppRecord;
use goodqueue_units::{Instant, Stream as Random};
use rustix::event::epoll::EventFlags;
use rustix::net::sockopt;
use serde_json::{Value, json};
use std::io;

/// A flow of the run.
pub(crate) struct Flow {
    name: String,
    kind: &'static Kind,
    /// None: the sender always has data.
    application: Option<Box<dyn Application>>,
    desk: Desk,
    start: Instant,
    stop: Instant,
    is_started: bool,
    is_stopped: bool,
    /// The times of the samples, each with the counters of the sender's ends until then: see [`Info::sent`].
    sent: Vec<(f64, [u64; 3])>,
    /// The times of the samples, each with the TCP_INFO of the sender's end that was opened last.
    infos: Vec<(f64, String)>,
}

impl Flow {
    /// Makes the flow number `number`, and listens for what its ends will open.
    pub(crate) fn new(
        program: Program,
        asked: Asked,
        number: u32,
        routes: Random,
        net: &mut Net,
    ) -> io::Result<Self> {
        let Program { name, kind, direction, application } = program;
        let (start, stop) = (at(asked.start_s), at(asked.stop_s));
        let (sender, is_endless) = (direction.sender(), application.is_none());
        let desk = Desk::listen((asked, number), kind.is_tcp(), is_endless, sender, routes, net)?;
        let (sent, infos) = (Vec::new(), Vec::new());
        Ok(Self {
            name,
            kind,
            application,
            desk,
            start,
            stop,
            is_started: false,
            is_stopped: false,
            sent,
            infos,
        })
    }

    /// Returns when its timer is due: it starts or stops, or its application is woken.
    pub(crate) fn next_time(&self) -> Instant {
        match (self.is_started, self.is_stopped) {
            (_, true) => Instant::MAX,
            (false, false) => self.start.min(self.stop),
            (true, false) => self.desk.wake_at.min(self.stop),
        }
    }

    /// Handles the timer, which is due at `now`.
    pub(crate) fn due(&mut self, now: Instant, net: &mut Net) -> Result<(), String> {
        let (starts, stops) = (!self.is_started, now >= self.stop);
        (self.is_started, self.is_stopped) = (self.is_started || !stops, stops);
        if !stops {
            self.desk.wake_at = Instant::MAX;
        }
        let host = &mut Sockets { now, desk: &mut self.desk, net };
        match &mut self.application {
            _ if starts && stops => {}
            Some(application) if stops => application.stop(host),
            Some(application) if starts => application.start(host),
            Some(application) => application.wake(host),
            None if stops => host.close(SocketId::at(0), host.sender()),
            None => {
                let socket = host.open(host.sender());
                host.write(socket, host.sender(), ENDLESS);
            }
        }
        self.served(net)
    }

    /// Handles `ready`, a socket that has more to read or more room to write, as `flags` tell.
    pub(crate) fn ready(&mut self, ready: Ready, flags: EventFlags, net: &mut Net) -> Result<(), String> {
        match ready {
            Ready::Listener(side, route) => {
                while let Some(index) = self
                    .desk
                    .accept(side, route, net)
                    .map_err(|error| self.failed(&format!("accept: {error}")))?
                {
                    self.notice(index, side, net);
                }
            }
            Ready::End(side, index) => self.end_ready(side, index, flags, net)?,
            Ready::Exchange(_) | Ready::Datagrams(_) => {
                while let Some(arrival) = self
                    .desk
                    .datagrams
                    .take(net, ready)
                    .map_err(|error| self.failed(&format!("datagram: {error}")))?
                {
                    let host = &mut Sockets { now: arrival.at, desk: &mut self.desk, net };
                    if let Some(application) = &mut self.application {
                        application.datagram(arrival.message, arrival.end, host);
                    }
                }
            }
        }
        self.served(net)
    }

    fn end_ready(&mut self, side: Side, index: u32, flags: EventFlags, net: &mut Net) -> Result<(), String> {
        let end = self.desk.connections[index as usize].end_mut(side);
        let Some(socket) = &end.socket else { return Ok(()) };
        let is_new = !end.is_established;
        if is_new && let Err(error) = sockopt::socket_error(socket).unwrap_or_else(Err) {
            return Err(self.failed(&format!("connect: {}", io::Error::from(error))));
        }
        end.is_established = true;
        let changed = end.take(flags, net);
        self.desk.touched.push((index, side));
        if is_new || changed {
            self.notice(index, side, net);
        }
        Ok(())
    }

    /// Tells the application of news at an end. A program that reads end-of-file closes its own end.
    fn notice(&mut self, index: u32, side: Side, net: &mut Net) {
        if let Some(application) = &mut self.application {
            let host = &mut Sockets { now: net.clock.now(), desk: &mut self.desk, net };
            application.notice(SocketId::at(index as usize), side, host);
        }
        let end = self.desk.connections[index as usize].end_mut(side);
        if end.is_peer_finished {
            end.close();
        }
        self.desk.touched.push((index, side));
    }

    fn served(&mut self, net: &mut Net) -> Result<(), String> {
        self.desk.serve(net);
        self.desk.failure.take().map_or(Ok(()), |error| Err(self.failed(&error.to_string())))
    }

    fn failed(&self, why: &str) -> String {
        format!("flow {}: {why}", self.name)
    }

    /// Begins to keep the time series of its kind.
    pub(crate) fn log(&mut self) {
        if let Some(application) = &mut self.application {
            application.log();
        }
    }

    /// Begins measuring.
    pub(crate) fn measure_from(&mut self, now: Instant) {
        if let Some(application) = &mut self.application {
            application.measure_from(now);
        }
    }

    /// Reads the state of the sender's ends, if the flow has started.
    pub(crate) fn sample(&mut self, now: Instant) {
        if !self.is_started || !self.kind.is_tcp() {
            return;
        }
        let (sender, seconds) = (self.desk.sender, now.as_secs_f64());
        let sockets = |index: &u32| self.desk.connections[*index as usize].end(sender).socket.as_ref();
        let infos = self.desk.open.iter().filter_map(sockets).filter_map(|socket| Info::of(socket).ok());
        let (mut sums, mut last) = (self.desk.past, None);
        for info in infos {
            sums = added(sums, info.sent());
            last = Some(info);
        }
        self.sent.push((seconds, sums));
        if let Some(info) = last.filter(|_| !self.is_stopped) {
            self.infos.push((seconds, info.to_hex()));
        }
    }

    /// Returns its name, and what it measured up to `now`: its part of the record, how long its transfer took if it
    /// made exactly one, its part of the time series, and the samples.
    pub(crate) fn result(&self, now: Instant) -> (String, Value) {
        let application = self.application.as_ref();
        let result =
            application.and_then(|application| Some((application.undone(), application.result(now)?)));
        let completion_ms = result.as_ref().and_then(|(_, result)| result.completion_ms());
        let app = result.map(|(undone, result)| AppRecord::new(self.name.clone(), self.kind, undone, result));
        let series = application.and_then(|application| application.series(&self.name));
        let found = json!({
            "app": app, "completion_ms": completion_ms, "series": series, "sent": self.sent, "tcp_info": self.infos,
        });
        (self.name.clone(), found)
    }

    /// Ends the flow: resets its connections.
    pub(crate) fn abort(&mut self) {
        self.is_stopped = true;
        self.desk.connections.iter_mut().for_each(Connection::abort);
    }
}
