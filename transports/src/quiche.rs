//! quiche. It reads the clock and draws random numbers by itself, so it acts in turns (`turn`).

use crate::peer::{CLIENT, Outgoing, Peer, Role, SERVER, Sample, Setup, Time, Totals, WINDOW_BYTES, ZEROS};
use crate::shown::Shown;
use crate::tls;
use crate::turn::Turns;
use boring::pkey::PKey;
use boring::ssl::{SslContextBuilder, SslMethod, SslSignatureAlgorithm};
use boring::x509::X509;
use boring::x509::store::X509StoreBuilder;
use goodqueue_units::Ecn;
use quiche::{Config, Connection, ConnectionId, QlogLevel, RecvInfo, Shutdown};
use std::net::SocketAddr;
use std::time::Instant;

/// The first unidirectional stream of a client, and of a server (RFC 9000, 2.1).
const STREAMS: [u64; 2] = [2, 3];
/// The largest datagram that is read or written.
const MOST_BYTES: usize = 65_535;

/// One end of a connection.
pub(crate) struct Quiche {
    setup: Setup,
    turns: Turns,
    /// The stack's time at the beginning of the run.
    base: Instant,
    /// The connection. None: a server that no client has called yet.
    connection: Option<Connection>,
    /// A datagram that the pacer releases later, and when.
    paced: Option<(Time, Vec<u8>)>,
    buffer: Vec<u8>,
    failure: Option<String>,
}

/// Returns what both ends are configured with.
fn config(setup: &Setup) -> Result<Config, String> {
    let mut config = Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, context(setup.role)?)
        .map_err(|error| error.to_string())?;
    let windows = u64::from(WINDOW_BYTES);
    config.set_cc_algorithm_name(&setup.cc).map_err(|error| format!("{}: {error}", setup.cc))?;
    config.set_application_protos(&[tls::ALPN]).map_err(|error| error.to_string())?;
    config.set_initial_max_data(windows);
    config.set_initial_max_stream_data_uni(windows);
    config.set_initial_max_streams_uni(1);
    config.verify_peer(setup.role == Role::Client);
    Ok(config)
}

/// Returns what TLS needs: the server's certificate and key, or the client's trust in them.
fn context(role: Role) -> Result<SslContextBuilder, String> {
    let make = || -> Result<SslContextBuilder, boring::error::ErrorStack> {
        let mut context = SslContextBuilder::new(SslMethod::tls())?;
        let certificate = X509::from_pem(tls::CERTIFICATE)?;
        if role == Role::Server {
            context.set_certificate(&certificate)?;
            context.set_private_key(&*PKey::private_key_from_pem(tls::KEY)?)?;
        } else {
            let mut trusted = X509StoreBuilder::new()?;
            trusted.add_cert(&certificate)?;
            context.set_cert_store(trusted.build());
            context.set_verify_algorithm_prefs(&[SslSignatureAlgorithm::ED25519])?;
        }
        Ok(context)
    };
    make().map_err(|error| format!("the certificate: {error}"))
}

impl Quiche {
    /// Makes an end. A client begins its handshake at `now`.
    ///
    /// # Errors
    /// One line of TLS's or the stack's.
    pub(crate) fn new(setup: Setup, now: Time) -> Result<Self, String> {
        let mut turns = Turns::new(&setup);
        let base = turns.base();
        let is_client = setup.role == Role::Client;
        let buffer = vec![0; MOST_BYTES];
        let mut end = Self { setup, turns, base, connection: None, paced: None, buffer, failure: None };
        if is_client {
            end.open(now)?;
        }
        Ok(end)
    }

    fn addresses(&self) -> (SocketAddr, SocketAddr) {
        if self.setup.role == Role::Client { (CLIENT, SERVER) } else { (SERVER, CLIENT) }
    }

    /// Makes the connection.
    fn open(&mut self, now: Time) -> Result<(), String> {
        let mut config = config(&self.setup)?;
        let (local, remote) = self.addresses();
        let id = ConnectionId::from_ref(&self.setup.seed[..16]);
        let made = self.turns.at(now, || match self.setup.role {
            Role::Client => quiche::connect(Some(tls::NAME), &id, local, remote, &mut config),
            Role::Server => quiche::accept(&id, None, local, remote, &mut config),
        });
        let mut connection = made.map_err(|error| error.to_string())?;
        if let Some(qlog) = &self.setup.qlog {
            let file = qlog.writer();
            let title = String::from("goodqueue, quiche");
            // The time of this turn is the zero of the file.
            self.turns.at(Time::ZERO, || {
                connection.set_qlog_with_level(file, title, String::new(), QlogLevel::Extra);
            });
        }
        self.connection = Some(connection);
        Ok(())
    }

    fn stream(&self) -> u64 {
        let is_client = self.setup.is_sender == (self.setup.role == Role::Client);
        STREAMS[usize::from(!is_client)]
    }

    /// Returns a time of the stack's as one of the run's.
    fn time(&self, at: Instant) -> Time {
        at.saturating_duration_since(self.base)
    }

    /// Takes the reason if the connection has ended.
    fn notice(&mut self) {
        let Some(connection) = &self.connection else { return };
        if self.failure.is_some() || !(connection.is_closed() || connection.is_draining()) {
            return;
        }
        let error = connection.local_error().or_else(|| connection.peer_error());
        self.failure = Some(match error {
            Some(error) => {
                format!("error {:#x} {}", error.error_code, String::from_utf8_lossy(&error.reason))
            }
            None if connection.is_timed_out() => "timed out".into(),
            None => "closed".into(),
        });
    }
}

impl Peer for Quiche {
    fn receive(&mut self, now: Time, _ecn: Ecn, mut datagram: Vec<u8>) {
        if self.connection.is_none()
            && let Err(error) = self.open(now)
        {
            self.failure = Some(error);
        }
        let (to, from) = self.addresses();
        let Some(connection) = &mut self.connection else { return };
        // A datagram that it does not take changes nothing, or closes the connection, which `notice` sees.
        let _taken = self.turns.at(now, || connection.recv(&mut datagram, RecvInfo { from, to }));
        self.notice();
    }

    fn transmit(&mut self, now: Time, out: &mut Vec<Outgoing>) {
        let Some(connection) = &mut self.connection else { return };
        if let Some((_, bytes)) = self.paced.take_if(|(at, _)| *at <= now) {
            out.push(Outgoing { ecn: Ecn::NotEct, bytes });
        }
        while self.paced.is_none() {
            let Ok((length, info)) = self.turns.at(now, || connection.send(&mut self.buffer)) else { break };
            let bytes = self.buffer[..length].to_vec();
            let at = info.at.saturating_duration_since(self.base);
            if at > now {
                self.paced = Some((at, bytes));
            } else {
                out.push(Outgoing { ecn: Ecn::NotEct, bytes });
            }
        }
        self.notice();
    }

    fn timeout(&mut self) -> Option<Time> {
        let timer = self.connection.as_ref()?.timeout_instant().map(|at| self.time(at));
        let paced = self.paced.as_ref().map(|(at, _)| *at);
        timer.into_iter().chain(paced).min()
    }

    fn expire(&mut self, now: Time) {
        let Some(connection) = &mut self.connection else { return };
        self.turns.at(now, || connection.on_timeout());
        self.notice();
    }

    fn is_established(&self) -> bool {
        self.connection.as_ref().is_some_and(Connection::is_established)
    }

    fn write(&mut self, now: Time, bytes: u64) -> u64 {
        let stream = self.stream();
        let Some(connection) = &mut self.connection else { return 0 };
        let mut taken = 0;
        while taken < bytes {
            // Without room for a datagram the application waits: quiche sends what just fits in a small packet.
            let least = (bytes - taken).min(connection.max_send_udp_payload_size() as u64);
            let room = self.turns.at(now, || connection.stream_capacity(stream));
            if room.is_ok_and(|room| (room as u64) < least) {
                break;
            }
            let wanted = usize::try_from(bytes - taken).unwrap_or(usize::MAX).min(ZEROS.len());
            match self.turns.at(now, || connection.stream_send(stream, &ZEROS[..wanted], false)) {
                Ok(written) if written > 0 => taken += written as u64,
                _ => break,
            }
        }
        taken
    }

    fn finish(&mut self, now: Time) {
        let stream = self.stream();
        if let Some(connection) = &mut self.connection {
            let _closed = self.turns.at(now, || connection.stream_send(stream, &[], true));
        }
    }

    fn abort(&mut self, now: Time) {
        let stream = self.stream();
        if let Some(connection) = &mut self.connection {
            let _closed = self.turns.at(now, || connection.stream_shutdown(stream, Shutdown::Write, 0));
        }
    }

    fn read(&mut self, now: Time) -> u64 {
        let stream = self.stream();
        let Some(connection) = &mut self.connection else { return 0 };
        let mut read = 0;
        while let Ok((length, _)) = self.turns.at(now, || connection.stream_recv(stream, &mut self.buffer)) {
            read += length as u64;
        }
        read
    }

    fn sample(&self) -> Sample {
        let path = self.connection.as_ref().and_then(|connection| connection.path_stats().next());
        path.map_or_else(Sample::default, |path| Sample { rtt: path.rtt, cwnd_bytes: path.cwnd as u64 })
    }

    fn show(&mut self) -> Shown {
        let path = self.connection.as_ref().and_then(|connection| connection.path_stats().next());
        path.map_or_else(Shown::default, |path| Shown {
            bandwidth: path.max_bandwidth.map(|rate| 8.0 * rate as f64), // it is in bytes per second
            mtu_bytes: path.pmtu as u64,
            ..Shown::default()
        })
    }

    fn totals(&mut self) -> Totals {
        let path = self.connection.as_ref().and_then(|connection| connection.path_stats().next());
        path.map_or_else(Totals::default, |path| Totals {
            packets_sent: path.sent as u64,
            packets_lost: path.lost as u64,
            congestion_events: None,
        })
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}
