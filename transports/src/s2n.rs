//! s2n-quic. Its endpoint is driven by a provider of datagrams, which here keeps the endpoint: the run drives it.

mod endpoint;

use crate::peer::{CLIENT, Outgoing, Peer, Role, SEND_WINDOW_BYTES, SERVER, Sample, Setup, Time, Totals};
use crate::peer::{WINDOW_BYTES, ZEROS};
use crate::shown::{BbrState, Shown};
use crate::tls;
use bytes::Bytes;
use endpoint::{Arrived, Driven, Io, Place, Sent, time, timestamp};
use goodqueue_units::{Ecn, Stream};
use s2n_quic::application::Error;
use s2n_quic::client::{Client, Connect, ConnectionAttempt};
use s2n_quic::connection::Connection;
use s2n_quic::provider::congestion_controller::{Bbr, Cubic};
use s2n_quic::provider::event::{ConnectionInfo, ConnectionMeta, events};
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::{event, random, tls::rustls};
use s2n_quic::server::Server;
use s2n_quic::stream::{ReceiveStream, SendStream};
use s2n_quic_core::inet::datagram::Header;
use s2n_quic_core::inet::{ExplicitCongestionNotification, SocketAddress};
use s2n_quic_core::path::{Handle, Tuple};
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The largest datagram that is written.
const MOST_BYTES: usize = 2048;

fn locked<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Seeded random numbers.
struct Random(Stream);

impl random::Provider for Random {
    type Generator = Self;
    type Error = Infallible;

    fn start(self) -> Result<Self, Infallible> {
        Ok(self)
    }
}

impl random::Generator for Random {
    fn public_random_fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.0.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }

    fn private_random_fill(&mut self, bytes: &mut [u8]) {
        self.public_random_fill(bytes);
    }
}

/// What the stack has reported of the connection.
#[derive(Default)]
struct Seen {
    sample: Sample,
    totals: Totals,
    /// The state of BBR and the path's MTU. The stack reports each change.
    shown: Shown,
    failure: Option<String>,
}

struct Reports(Arc<Mutex<Seen>>);

impl event::Subscriber for Reports {
    type ConnectionContext = ();

    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo<'_>) {}

    fn on_packet_sent(&mut self, _: &mut (), _: &ConnectionMeta, _: &events::PacketSent) {
        locked(&self.0).totals.packets_sent += 1;
    }

    fn on_packet_lost(&mut self, _: &mut (), _: &ConnectionMeta, event: &events::PacketLost<'_>) {
        locked(&self.0).totals.packets_lost += u64::from(!event.is_mtu_probe);
    }

    fn on_congestion(&mut self, _: &mut (), _: &ConnectionMeta, _: &events::Congestion<'_>) {
        *locked(&self.0).totals.congestion_events.get_or_insert(0) += 1;
    }

    fn on_recovery_metrics(&mut self, _: &mut (), _: &ConnectionMeta, event: &events::RecoveryMetrics<'_>) {
        let sample = &mut locked(&self.0).sample;
        (sample.rtt, sample.cwnd_bytes) = (event.smoothed_rtt, u64::from(event.congestion_window));
    }

    fn on_mtu_updated(&mut self, _: &mut (), _: &ConnectionMeta, event: &events::MtuUpdated) {
        locked(&self.0).shown.mtu_bytes = u64::from(event.mtu);
    }

    fn on_bbr_state_changed(&mut self, _: &mut (), _: &ConnectionMeta, event: &events::BbrStateChanged) {
        locked(&self.0).shown.state = match event.state {
            events::BbrState::Startup { .. } => Some(BbrState::Startup),
            events::BbrState::Drain { .. } => Some(BbrState::Drain),
            events::BbrState::ProbeBwDown { .. } => Some(BbrState::Down),
            events::BbrState::ProbeBwCruise { .. } => Some(BbrState::Cruise),
            events::BbrState::ProbeBwRefill { .. } => Some(BbrState::Refill),
            events::BbrState::ProbeBwUp { .. } => Some(BbrState::Up),
            events::BbrState::ProbeRtt { .. } => Some(BbrState::ProbeRtt),
            _ => None,
        };
    }

    fn on_connection_closed(&mut self, _: &mut (), _: &ConnectionMeta, event: &events::ConnectionClosed) {
        locked(&self.0).failure = Some(event.error.to_string());
    }
}

/// One end of a connection.
pub(crate) struct S2n {
    endpoint: Box<dyn Driven>,
    seen: Arc<Mutex<Seen>>,
    failure: Option<String>,
    opening: Opening,
    connection: Option<Connection>,
    is_sender: bool,
    sending: Option<SendStream>,
    receiving: Option<ReceiveStream>,
    path: Tuple,
    buffer: Vec<u8>,
}

/// How the connection comes about. A client closes its connections when it goes.
enum Opening {
    Client(
        #[expect(dead_code, reason = "a client that goes closes its connection")] Client,
        Pin<Box<ConnectionAttempt>>,
    ),
    Server(Server),
}

/// Makes an endpoint of `$builder` with TLS and the providers that both ends share.
macro_rules! started {
    ($builder:expr, $tls:expr, $io:expr, $setup:expr, $seen:expr) => {{
        let builder = $builder.with_tls($tls).map_err(said)?.with_io($io).map_err(said)?;
        let builder = builder.with_random(Random($setup.stream("s2n-quic"))).map_err(said)?;
        let builder = builder.with_event(Reports(Arc::clone($seen))).map_err(said)?;
        let builder = builder.with_limits(limits().map_err(said)?).map_err(said)?;
        match &*$setup.cc {
            "bbr" => {
                builder.with_congestion_controller(Bbr::default()).map_err(said)?.start().map_err(said)?
            }
            _ => builder.with_congestion_controller(Cubic::default()).map_err(said)?.start().map_err(said)?,
        }
    }};
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn limits() -> Result<Limits, impl std::fmt::Display> {
    let windows = u64::from(WINDOW_BYTES);
    let limits = Limits::new().with_data_window(windows)?.with_unidirectional_data_window(windows)?;
    limits.with_max_send_buffer_size(SEND_WINDOW_BYTES as u32)
}

fn client(setup: &Setup, io: Io, seen: &Arc<Mutex<Seen>>) -> Result<Client, String> {
    let tls = rustls::Client::builder().with_certificate(pem(tls::CERTIFICATE)).map_err(said)?;
    let tls = tls.with_application_protocols([tls::ALPN].into_iter()).map_err(said)?.build().map_err(said)?;
    Ok(started!(Client::builder(), tls, io, setup, seen))
}

fn server(setup: &Setup, io: Io, seen: &Arc<Mutex<Seen>>) -> Result<Server, String> {
    let pair = (pem(tls::CERTIFICATE), pem(tls::KEY));
    let tls = rustls::Server::builder().with_certificate(pair.0, pair.1).map_err(said)?;
    let tls = tls.with_application_protocols([tls::ALPN].into_iter()).map_err(said)?.build().map_err(said)?;
    Ok(started!(Server::builder(), tls, io, setup, seen))
}

/// Returns the text of a PEM file: the stack reads bytes as DER.
fn pem(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl S2n {
    /// Makes an end. A client begins its handshake when it first transmits.
    ///
    /// # Errors
    /// One line of TLS's or the stack's.
    pub(crate) fn new(setup: &Setup) -> Result<Self, String> {
        let is_client = setup.role == Role::Client;
        let (local, remote) = if is_client { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
        let (local, remote) = (SocketAddress::from(local), SocketAddress::from(remote));
        let seen = Arc::new(Mutex::new(Seen::default()));
        // Its BBR reports changes of the state, and begins in STARTUP.
        locked(&seen).shown.state = (setup.cc == "bbr").then_some(BbrState::Startup);
        let place = Place::default();
        let io = Io(Arc::clone(&place), local);
        let opening = if is_client {
            let client = client(setup, io, &seen)?;
            let attempt = client.connect(Connect::new(SERVER).with_server_name(tls::NAME));
            Opening::Client(client, Box::pin(attempt))
        } else {
            Opening::Server(server(setup, io, &seen)?)
        };
        let endpoint = locked(&place).take().ok_or("it has no endpoint")?;
        let mut path = Tuple::from_remote_address(remote.into());
        path.set_local_address(local.into());
        Ok(Self {
            endpoint,
            seen,
            failure: None,
            opening,
            connection: None,
            is_sender: setup.is_sender,
            sending: None,
            receiving: None,
            path,
            buffer: vec![0; MOST_BYTES],
        })
    }

    /// Takes what has come about: the connection, its stream, its end.
    fn exchange(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        if self.connection.is_none() {
            self.connection = match &mut self.opening {
                Opening::Client(_, attempt) => {
                    ready(attempt.as_mut().poll(&mut context)).and_then(Result::ok)
                }
                Opening::Server(server) => ready(server.poll_accept(&mut context)).flatten(),
            };
        }
        let Some(connection) = &mut self.connection else { return };
        if self.is_sender && self.sending.is_none() {
            self.sending = ready(connection.poll_open_send_stream(&mut context)).and_then(Result::ok);
        }
        if !self.is_sender && self.receiving.is_none() {
            let accepted = ready(connection.poll_accept_receive_stream(&mut context));
            self.receiving = accepted.and_then(Result::ok).flatten();
        }
    }
}

/// Returns what is ready.
fn ready<T>(poll: Poll<T>) -> Option<T> {
    match poll {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

impl Peer for S2n {
    fn receive(&mut self, now: Time, ecn: Ecn, mut datagram: Vec<u8>) {
        let header = Header { path: self.path, ecn: ExplicitCongestionNotification::new(ecn as u8) };
        self.endpoint.receive(timestamp(now), &mut Arrived(Some((header, &mut datagram))));
        self.exchange();
    }

    fn transmit(&mut self, now: Time, out: &mut Vec<Outgoing>) {
        self.exchange(); // which asks for the connection, at first
        self.endpoint.transmit(timestamp(now), &mut Sent { out, buffer: &mut self.buffer });
        self.failure = self.failure.take().or_else(|| locked(&self.seen).failure.take());
    }

    fn timeout(&mut self) -> Option<Time> {
        self.endpoint.timeout().map(time)
    }

    /// The stack looks at its timers whenever it transmits.
    fn expire(&mut self, _now: Time) {}

    fn is_established(&self) -> bool {
        self.connection.is_some()
    }

    fn write(&mut self, _now: Time, bytes: u64) -> u64 {
        let mut context = Context::from_waker(Waker::noop());
        let Some(stream) = &mut self.sending else { return 0 };
        let mut taken = 0;
        while taken < bytes {
            let Some(Ok(room)) = ready(stream.poll_send_ready(&mut context)) else { break };
            let wanted = usize::try_from(bytes - taken).unwrap_or(usize::MAX).min(ZEROS.len()).min(room);
            if wanted == 0 || stream.send_data(Bytes::from_static(&ZEROS[..wanted])).is_err() {
                break;
            }
            taken += wanted as u64;
        }
        taken
    }

    fn finish(&mut self, _now: Time) {
        if let Some(stream) = &mut self.sending {
            let _closed = stream.finish();
        }
    }

    fn abort(&mut self, _now: Time) {
        if let Some(stream) = &mut self.sending {
            let _closed = stream.reset(Error::UNKNOWN);
        }
    }

    fn read(&mut self, _now: Time) -> u64 {
        let mut context = Context::from_waker(Waker::noop());
        let Some(stream) = &mut self.receiving else { return 0 };
        let mut read = 0;
        while let Some(Ok(Some(bytes))) = ready(stream.poll_receive(&mut context)) {
            read += bytes.len() as u64;
        }
        read
    }

    fn sample(&self) -> Sample {
        locked(&self.seen).sample
    }

    fn show(&mut self) -> Shown {
        locked(&self.seen).shown
    }

    fn totals(&mut self) -> Totals {
        locked(&self.seen).totals
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}
