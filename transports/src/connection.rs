//! A connection of the run: its two ends, its application, and what is measured of it.

use crate::app::App;
use crate::cpu::Cpu;
use crate::ends::make;
use crate::peer::{Peer, Role, Setup, Time, Totals};
use crate::qlog::Qlogs;
use crate::shown::Shown;
use goodqueue_bottleneck::{Direction, Flow};
use goodqueue_hosts::probe::delay::FlowDelays;
use goodqueue_hosts::probe::rounded;
use goodqueue_hosts::traffic::quic::{self, QuicResult, QuicStack};
use goodqueue_hosts::traffic::tcp;
use goodqueue_netsim::scenario::Traffic;
use goodqueue_netsim::{FlowOutline, Instant, LawSeries};

/// A connection.
pub(crate) struct Connection {
    pub(crate) flow: Flow,
    pub(crate) name: String,
    pub(crate) stack: QuicStack,
    pub(crate) cc: String,
    pub(crate) direction: Direction,
    pub(crate) start: Time,
    pub(crate) is_ecn: bool,
    pub(crate) dscp: u8,
    /// The size of its transfer, if it has one.
    pub(crate) size: Option<u64>,
    pub(crate) app: App,
    /// The client and the server, from the start on.
    pub(crate) peers: Option<[Box<dyn Peer>; 2]>,
    pub(crate) cpu: [Cpu; 2],
    delivered: u64,
    established: Option<Time>,
    completed: Option<Time>,
    rtts: FlowDelays,
    cwnd_sum: u64,
    cwnd_samples: u64,
    cwnd_max: u64,
    marks: u64,
    baseline: Totals,
    /// When an error ended the connection, and the end that said so with its words.
    closed: Option<(Time, String)>,
    /// What the congestion control showed at the end of each interval, and its window in full packets.
    series: (LawSeries, Vec<Option<u32>>),
}

impl Connection {
    /// Builds the connection of a flow.
    pub(crate) fn new(flow: Flow, outline: FlowOutline, traffic: &Traffic) -> Self {
        let values = &traffic.values;
        let stop = Time::from_secs_f64(outline.stop_s);
        Self {
            flow,
            name: outline.name,
            stack: values.get(&quic::STACK),
            cc: values.get(&quic::CC),
            direction: outline.direction,
            start: Time::from_secs_f64(outline.start_s),
            is_ecn: values.get(&quic::ECN),
            dscp: values.find(&tcp::DSCP).unwrap_or_default().0,
            size: values.find(&quic::SIZE).map(|size| size.0),
            app: App::new(values, stop),
            peers: None,
            cpu: [Cpu::default(); 2],
            delivered: 0,
            established: None,
            completed: None,
            rtts: FlowDelays::new(),
            cwnd_sum: 0,
            cwnd_samples: 0,
            cwnd_max: 0,
            marks: 0,
            baseline: Totals::default(),
            closed: None,
            series: (LawSeries::default(), Vec::new()),
        }
    }

    /// Makes both ends at `now`. Their random numbers derive from `seed` and the flow. `qlogs` are those of the run.
    ///
    /// # Errors
    /// One line with the flow's name.
    pub(crate) fn start(&mut self, now: Time, seed: u64, qlogs: Option<&Qlogs>) -> Result<(), String> {
        let end = |role: Role| {
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&seed.to_le_bytes());
            bytes[8..12].copy_from_slice(&self.flow.0.to_le_bytes());
            bytes[12] = role as u8;
            let word = if role == Role::Client { "client" } else { "server" };
            let qlog = |qlogs: &Qlogs| qlogs.named(format!("{}.{word}.sqlog", self.name.replace('/', "-")));
            let setup = Setup {
                role,
                is_sender: role as usize == self.sender(),
                cc: self.cc.clone(),
                seed: bytes,
                qlog: qlogs.map(qlog),
            };
            make(self.stack, setup, now)
                .map_err(|error| format!("{}: {}: {error}", self.name, self.stack.name()))
        };
        self.peers = Some([end(Role::Client)?, end(Role::Server)?]);
        Ok(())
    }

    /// Returns the number of the end that sends the data: 0 is the client, at the user.
    pub(crate) fn sender(&self) -> usize {
        usize::from(self.direction == Direction::Down)
    }

    /// Takes what the sender's stack sees after a datagram has arrived there.
    pub(crate) fn sample(&mut self) {
        let sender = self.sender();
        let Some(peers) = &self.peers else { return };
        let seen = peers[sender].sample();
        if peers[sender].is_established() {
            self.rtts.record(goodqueue_units::Duration::from_nanos(seen.rtt.as_nanos() as u64));
            self.cwnd_sum += seen.cwnd_bytes;
            self.cwnd_samples += 1;
            self.cwnd_max = self.cwnd_max.max(seen.cwnd_bytes);
        }
    }

    /// Ends an interval of the time series at `now`.
    pub(crate) fn end_interval(&mut self, now: Time) {
        let sender = self.sender();
        let peer = self.peers.as_mut().map(|peers| &mut peers[sender]).filter(|peer| peer.is_established());
        let (series, windows) = &mut self.series;
        let (shown, window) =
            peer.map_or((Shown::default(), 0), |peer| (peer.show(), peer.sample().cwnd_bytes));
        series.end_interval(Instant::from_nanos(now.as_nanos() as u64), |series| shown.put(series));
        windows.push(window.checked_div(shown.mtu_bytes).map(|packets| packets as u32));
    }

    /// Returns what the intervals showed, and the windows.
    pub(crate) fn series(&self) -> &(LawSeries, Vec<Option<u32>>) {
        &self.series
    }

    /// Counts a CE mark that reached the receiver.
    pub(crate) fn heard_mark(&mut self) {
        self.marks += 1;
    }

    /// Notes at `now` when the handshake ends, and when an error ends the connection. After the transfer or the flow's
    /// `stop` nothing is sent, so that the stack's idle timeout is no error.
    pub(crate) fn notice(&mut self, now: Time) {
        let Some(peers) = &self.peers else { return };
        if self.established.is_none() && peers[Role::Client as usize].is_established() {
            self.established = Some(now);
        }
        let is_over = if self.size.is_some() { self.completed.is_some() } else { self.app.is_over() };
        if self.closed.is_none() && !is_over {
            let ends = ["client", "server"].into_iter().zip(peers.iter());
            let said = ends.filter_map(|(end, peer)| peer.failure().map(|why| format!("{end}: {why}")));
            self.closed = said.map(|said| (now, said)).next();
        }
    }

    /// Reads what has arrived at the receiver, and returns the number of bytes. Notes when the transfer ends.
    pub(crate) fn read(&mut self, now: Time) -> u64 {
        let receiver = 1 - self.sender();
        let bytes = self.peers.as_mut().map_or(0, |peers| peers[receiver].read(now));
        self.delivered += bytes;
        if self.size.is_some_and(|size| self.delivered >= size) {
            self.completed.get_or_insert(now);
        }
        bytes
    }

    /// Begins measuring.
    pub(crate) fn measure(&mut self) {
        let sender = self.sender();
        self.baseline = self.peers.as_mut().map_or_else(Totals::default, |peers| peers[sender].totals());
        self.rtts.reset();
        (self.cwnd_sum, self.cwnd_samples, self.cwnd_max, self.marks) = (0, 0, 0, 0);
    }

    /// Returns why the connection has ended, if an error ended it.
    pub(crate) fn failure(&self) -> Option<String> {
        let (at, said) = self.closed.as_ref()?;
        let seconds = at.as_secs_f64();
        Some(format!("{}: {}: closed at {seconds:.2} s: {said}", self.name, self.stack.name()))
    }

    /// Returns what was measured.
    pub(crate) fn result(&mut self) -> QuicResult {
        let sender = self.sender();
        let totals = self.peers.as_mut().map_or_else(Totals::default, |peers| peers[sender].totals());
        let since_start = |at: Time| rounded((at - self.start).as_secs_f64() * 1e3);
        let before = self.baseline.congestion_events.unwrap_or(0);
        QuicResult {
            rtt_ms: self.rtts.summary(),
            handshake_ms: self.established.map(since_start),
            completion_ms: self.completed.map(since_start),
            cwnd_mean_bytes: self.cwnd_sum / self.cwnd_samples.max(1),
            cwnd_max_bytes: self.cwnd_max,
            packets_sent: totals.packets_sent - self.baseline.packets_sent,
            packets_lost: totals.packets_lost - self.baseline.packets_lost,
            marks_heard: self.marks,
            congestion_events: totals.congestion_events.map(|events| events - before),
            closed_s: self.closed.as_ref().map(|(at, _)| rounded(at.as_secs_f64())),
            closed: self.closed.as_ref().map(|(_, said)| said.clone()),
        }
    }
}
