//! The end of a connection in quinn-proto and in noq-proto, which began as a copy of quinn. Their interfaces differ in
//! a few calls, which each has in its own file.

/// Makes the type of an end, `$end`, of the crate `$proto`. The module that calls it has the functions in which the two
/// crates differ: `endpoint`, `handle`, `limit`, `transport`, `sample`, `show` and `totals`.
macro_rules! peer {
    ($end:ident, $proto:ident) => {
        use crate::peer::{Outgoing, Peer, Role, Sample, Setup, Time, Totals, WRITE_BYTES, ZEROS};
        use crate::shown::{BbrState, Shown, field, number};
        use crate::tls;
        use bytes::{Bytes, BytesMut};
        use goodqueue_units::Ecn;
        use std::sync::Arc;
        use std::time::Instant;
        use $proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
        use $proto::{
            ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
            EndpointConfig, Event, ServerConfig, StreamId, VarInt,
        };

        /// One end of a connection.
        pub(crate) struct $end {
            /// The stack's time at the beginning of the run.
            base: Instant,
            endpoint: Endpoint,
            /// The connection. None: a server that no client has called yet.
            connection: Option<(ConnectionHandle, Connection)>,
            is_server: bool,
            is_sender: bool,
            stream: Option<StreamId>,
            is_established: bool,
            failure: Option<String>,
            /// Datagrams that the endpoint sends without a connection.
            replies: Vec<Outgoing>,
            buffer: Vec<u8>,
        }

        impl $end {
            /// Makes an end. A client begins its handshake at `now`.
            ///
            /// # Errors
            /// One line of TLS's or the stack's.
            pub(crate) fn new(setup: Setup, now: Time) -> Result<Self, String> {
                let base = crate::clock::base();
                let transport = Arc::new(transport(&setup, base)?);
                let mut config = EndpointConfig::default();
                config.rng_seed(Some(setup.seed));
                let server = match setup.role {
                    Role::Client => None,
                    Role::Server => {
                        let tls =
                            QuicServerConfig::try_from(tls::server()?).map_err(|error| error.to_string())?;
                        let mut server = ServerConfig::with_crypto(Arc::new(tls));
                        server.transport_config(Arc::clone(&transport));
                        Some(Arc::new(server))
                    }
                };
                let mut endpoint = endpoint(config, server);
                let connection = match setup.role {
                    Role::Server => None,
                    Role::Client => {
                        let tls =
                            QuicClientConfig::try_from(tls::client()?).map_err(|error| error.to_string())?;
                        let mut client = ClientConfig::new(Arc::new(tls));
                        client.transport_config(transport);
                        let made = endpoint.connect(base + now, client, crate::peer::SERVER, tls::NAME);
                        Some(made.map_err(|error| error.to_string())?)
                    }
                };
                Ok(Self {
                    base,
                    endpoint,
                    connection,
                    is_server: setup.role == Role::Server,
                    is_sender: setup.is_sender,
                    stream: None,
                    is_established: false,
                    failure: None,
                    replies: Vec::new(),
                    buffer: Vec::new(),
                })
            }

            /// Passes events between connection and endpoint, and takes those for the application.
            fn exchange(&mut self) {
                let Some((handle, connection)) = &mut self.connection else { return };
                while let Some(event) = connection.poll_endpoint_events() {
                    if let Some(event) = self.endpoint.handle_event(*handle, event) {
                        connection.handle_event(event);
                    }
                }
                while let Some(event) = connection.poll() {
                    match event {
                        Event::Connected => self.is_established = true,
                        Event::ConnectionLost { reason } => self.failure = Some(reason.to_string()),
                        _ => {}
                    }
                }
                if !self.is_sender && self.stream.is_none() {
                    self.stream = connection.streams().accept(Dir::Uni);
                }
            }
        }

        impl Peer for $end {
            fn receive(&mut self, now: Time, ecn: Ecn, datagram: Vec<u8>) {
                let now = self.base + now;
                let from = if self.is_server { crate::peer::CLIENT } else { crate::peer::SERVER };
                let data = BytesMut::from(Bytes::from(datagram)); // no copy
                let ecn = EcnCodepoint::from_bits(ecn as u8);
                self.buffer.clear();
                match handle(&mut self.endpoint, (now, from), ecn, data, &mut self.buffer) {
                    Some(DatagramEvent::ConnectionEvent(_, event)) => {
                        if let Some((_, connection)) = &mut self.connection {
                            connection.handle_event(event);
                        }
                    }
                    Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                        match self.endpoint.accept(incoming, now, &mut self.buffer, None) {
                            Ok(made) => self.connection = Some(made),
                            Err(error) => self.failure = Some(error.cause.to_string()),
                        }
                    }
                    Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
                    Some(DatagramEvent::Response(transmit)) => {
                        let bytes = self.buffer[..transmit.size].to_vec();
                        self.replies.push(Outgoing { ecn: Ecn::NotEct, bytes });
                    }
                    None => {}
                }
                self.exchange();
            }

            fn transmit(&mut self, now: Time, out: &mut Vec<Outgoing>) {
                out.append(&mut self.replies);
                let Some((_, connection)) = &mut self.connection else { return };
                loop {
                    self.buffer.clear();
                    let Some(transmit) = connection.poll_transmit(self.base + now, limit(), &mut self.buffer)
                    else {
                        break;
                    };
                    let ecn =
                        transmit.ecn.map_or(Ecn::NotEct, |codepoint| crate::peer::codepoint(codepoint as u8));
                    // The limit is one datagram.
                    self.buffer.truncate(transmit.size);
                    out.push(Outgoing { ecn, bytes: std::mem::take(&mut self.buffer) });
                }
                self.exchange();
            }

            fn timeout(&mut self) -> Option<Time> {
                let (_, connection) = self.connection.as_mut()?;
                connection.poll_timeout().map(|at| at.saturating_duration_since(self.base))
            }

            fn expire(&mut self, now: Time) {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_timeout(self.base + now);
                }
                self.exchange();
            }

            fn is_established(&self) -> bool {
                self.is_established
            }

            fn write(&mut self, _now: Time, bytes: u64) -> u64 {
                let Some((_, connection)) = &mut self.connection else { return 0 };
                if !self.is_established || self.failure.is_some() {
                    return 0;
                }
                if self.stream.is_none() {
                    self.stream = connection.streams().open(Dir::Uni);
                }
                let Some(stream) = self.stream else { return 0 };
                let mut taken = 0;
                while taken < bytes {
                    let wanted = usize::try_from(bytes - taken).unwrap_or(usize::MAX).min(WRITE_BYTES);
                    match connection.send_stream(stream).write(&ZEROS[..wanted]) {
                        Ok(written) if written > 0 => taken += written as u64,
                        _ => break,
                    }
                }
                taken
            }

            fn finish(&mut self, _now: Time) {
                if let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream) {
                    let _closed = connection.send_stream(stream).finish();
                }
            }

            fn abort(&mut self, _now: Time) {
                if let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream) {
                    let _closed = connection.send_stream(stream).reset(VarInt::from_u32(0));
                }
            }

            fn read(&mut self, _now: Time) -> u64 {
                let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream) else {
                    return 0;
                };
                let mut receiver = connection.recv_stream(stream);
                let Ok(mut chunks) = receiver.read(true) else { return 0 };
                let mut read = 0;
                while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                    read += chunk.bytes.len() as u64;
                }
                let _now_or_later = chunks.finalize();
                read
            }

            fn sample(&self) -> Sample {
                self.connection.as_ref().map_or_else(Sample::default, |(_, connection)| sample(connection))
            }

            fn show(&mut self) -> Shown {
                self.connection.as_mut().map_or_else(Shown::default, |(_, connection)| show(connection))
            }

            fn totals(&mut self) -> Totals {
                self.connection.as_mut().map_or_else(Totals::default, |(_, connection)| totals(connection))
            }

            fn failure(&self) -> Option<&str> {
                self.failure.as_deref()
            }
        }
    };
}

pub(crate) use peer;
