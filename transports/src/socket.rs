//! One end of a connection over a UDP socket, by the real clock: what a run in virtual time is confirmed with. Stack,
//! windows and application are those of the run.

use crate::app::App;
use crate::ends::make;
use crate::peer::{Outgoing, Role, Setup, Time};
use goodqueue_hosts::traffic::quic;
use goodqueue_netsim::{Direction, Scenario};
use goodqueue_units::Ecn;
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};
use std::io::{ErrorKind, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::time::Instant;

/// The most bytes that a socket hands over at once.
const MOST_BYTES: usize = 1 << 16;
/// How long a client lets the server send after its own end, so that both ends see all of the measured time.
const GRACE: Time = Time::from_millis(500);

fn said(error: impl std::fmt::Display) -> String {
    format!("the socket: {error}")
}

/// An end's socket.
struct Socket {
    socket: UdpSocket,
    state: UdpSocketState,
    remote: Option<SocketAddr>,
    buffer: Vec<u8>,
    is_ecn: bool,
}

impl Socket {
    /// Opens the socket of a server at `address`, or that of a client which calls it.
    fn open(role: Role, address: SocketAddr, is_ecn: bool) -> Result<Self, String> {
        let any = SocketAddr::from(([0, 0, 0, 0], 0));
        let (local, remote) = if role == Role::Server { (address, None) } else { (any, Some(address)) };
        let socket = UdpSocket::bind(local).map_err(said)?;
        let state = UdpSocketState::new((&socket).into()).map_err(said)?;
        // As large as the stacks' windows, or as the system allows.
        let _default = state.set_recv_buffer_size((&socket).into(), 4 << 20);
        let _default = state.set_send_buffer_size((&socket).into(), 4 << 20);
        Ok(Self { socket, state, remote, buffer: vec![0; MOST_BYTES], is_ecn })
    }

    /// Waits for a datagram, or until `wait` has passed.
    fn wait(&self, flags: PollFlags, wait: Time) -> Result<(), String> {
        let timeout = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) };
        match poll(&mut [PollFd::new(&self.socket, flags)], Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(said(error)),
        }
    }

    fn send(&self, datagram: &Outgoing) -> Result<(), String> {
        let Some(destination) = self.remote else { return Ok(()) };
        let ecn = if self.is_ecn { EcnCodepoint::from_bits(datagram.ecn as u8) } else { None };
        let transmit =
            Transmit { destination, ecn, contents: &datagram.bytes, segment_size: None, src_ip: None };
        loop {
            match self.state.try_send((&self.socket).into(), &transmit) {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait(PollFlags::OUT, Time::from_millis(100))?;
                }
                // A probe of the path's MTU that is too large is lost, as is what a server that has gone would get.
                Err(error) if quinn_udp::is_msg_size_err(&error) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => return Ok(()),
                Err(error) => return Err(said(error)),
            }
        }
    }

    /// Gives `take` the datagrams that have arrived.
    fn receive(&mut self, mut take: impl FnMut(Ecn, Vec<u8>)) -> Result<(), String> {
        loop {
            let mut meta = [RecvMeta::default()];
            let mut slices = [IoSliceMut::new(&mut self.buffer)];
            match self.state.recv((&self.socket).into(), &mut slices, &mut meta) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => continue,
                Err(error) => return Err(said(error)),
            }
            let [RecvMeta { addr, len, stride, ecn, .. }] = meta;
            self.remote.get_or_insert(addr);
            let ecn = ecn.map_or(Ecn::NotEct, |ecn| crate::peer::codepoint(ecn as u8));
            self.buffer[..len].chunks(stride.max(1)).for_each(|bytes| take(ecn, bytes.to_vec()));
        }
    }
}

/// Runs one end of the scenario's only connection at `address` for the scenario's duration, which begins with the first
/// datagram, and returns what it measured within the measured time.
///
/// # Errors
/// One line: the scenario has other traffic, the socket fails, or the stack does.
pub(crate) fn run(scenario: &str, role: Role, address: SocketAddr) -> Result<Value, String> {
    let scenario = Scenario::from_json(scenario).map_err(|error| error.to_string())?;
    let [traffic] = &scenario.traffic[..] else { return Err("traffic: accepted: one connection".into()) };
    let seconds = |span: goodqueue_units::Duration| Time::from_nanos(span.as_nanos());
    let (warmup, end) = (seconds(scenario.warmup.0), seconds(scenario.duration.0));
    let values = &traffic.values;
    let is_sender = (role == Role::Server) == (traffic.direction == Direction::Down);
    let mut socket = Socket::open(role, address, values.get(&quic::ECN))?;
    if role == Role::Server {
        socket.wait(PollFlags::IN, Time::from_secs(3600))?;
    }
    let clock = Instant::now();
    let mut seed = [0; 32];
    seed[12] = role as u8;
    let setup = Setup { role, is_sender, cc: values.get(&quic::CC), seed, qlog: None };
    let mut peer = make(values.get(&quic::STACK), setup, Time::ZERO)?;
    let mut app = App::new(values, end + GRACE);
    let (mut measured, mut largest, mut closed) = (0, 0, None);
    let last = if role == Role::Client { end + GRACE } else { end };
    let mut out = Vec::new();
    while clock.elapsed() < last {
        let now = clock.elapsed();
        if is_sender {
            app.write(now, &mut *peer);
        }
        let bytes = if is_sender { 0 } else { peer.read(now) };
        measured += if (warmup..end).contains(&now) { bytes } else { 0 };
        peer.transmit(now, &mut out);
        out.drain(..).try_for_each(|datagram| socket.send(&datagram))?;
        let chunk = app.next_time().filter(|_| is_sender);
        let next = [peer.timeout(), chunk, Some(last)].into_iter().flatten().min().unwrap_or(last);
        socket.wait(PollFlags::IN, next.saturating_sub(clock.elapsed()))?;
        socket.receive(|ecn, bytes| peer.receive(clock.elapsed(), ecn, bytes))?;
        let now = clock.elapsed();
        if peer.timeout().is_some_and(|timer| timer <= now) {
            peer.expire(now);
        }
        largest = largest.max(peer.sample().cwnd_bytes);
        if closed.is_none() {
            closed = peer.failure().map(|why| (now.as_secs_f64(), why.to_string()));
        }
    }
    let totals = peer.totals();
    Ok(json!({
        "goodput_mbps": measured as f64 * 8e-6 / (end - warmup).as_secs_f64(),
        "cwnd_max_bytes": largest,
        "packets_sent": totals.packets_sent,
        "packets_lost": totals.packets_lost,
        "closed": closed,
    }))
}
