//! A flow's datagrams. An exchange is opened from a port of its own to the flow's listening port on the other side.
//!
//! A datagram's payload begins with its number, the number of its exchange, and how many nanoseconds later than its
//! event it was sent. Zeros fill its length.

use crate::net::{Net, Ready};
use crate::options;
use crate::order::Asked;
use goodqueue_hosts::direction::Side;
use goodqueue_hosts::traffic::application::Message;
use goodqueue_units::{Ecn, Instant};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::net::{SendFlags, SocketAddrV4, bind, getsockname, sendto, sockopt};
use std::io::{self, IoSliceMut};

/// Bytes of the Ethernet, IPv4 and UDP headers.
const HEADERS: usize = 14 + 20 + 8;
/// Bytes of the payload that are not zeros.
const CONTENTS: usize = 16;
/// Bytes of the longest payload: of a full frame.
const MOST: usize = 1514 - HEADERS;

/// A socket with the type of service that its next datagram will have.
struct Udp {
    socket: OwnedFd,
    tos: u8,
}

/// An exchange: who opened it, and from where.
struct Exchange {
    opener: Side,
    from: SocketAddrV4,
    udp: Udp,
}

/// The sockets of a flow's datagrams.
#[derive(Default)]
pub(crate) struct Datagrams {
    /// The sockets that listen, at the user's and at the remote side.
    listening: Vec<Udp>,
    /// By their numbers. An exchange is opened by its first datagram.
    exchanges: Vec<Option<Exchange>>,
}

/// A datagram that has arrived.
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    pub(crate) end: Side,
    pub(crate) message: Message,
}

impl Udp {
    fn new(address: SocketAddrV4) -> io::Result<Self> {
        let socket = options::udp()?;
        bind(&socket, &address)?;
        Ok(Self { socket, tos: 0 })
    }

    fn send(&mut self, tos: u8, payload: &[u8], to: &SocketAddrV4) -> io::Result<()> {
        if self.tos != tos {
            sockopt::set_ip_tos(&self.socket, tos)?;
            self.tos = tos;
        }
        match sendto(&self.socket, payload, SendFlags::empty(), to) {
            // A full buffer drops the datagram, as a full queue of its host does.
            Ok(_) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::NOBUFS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Datagrams {
    /// Listens at both sides for the datagrams of flow number `flow`.
    pub(crate) fn listen(net: &mut Net, asked: &Asked, flow: u32) -> io::Result<Self> {
        let mut listening = Vec::new();
        for side in Side::ALL {
            net.enter(side)?;
            let udp = Udp::new(asked.listening(side, 0))?;
            net.watch(&udp.socket, flow, Ready::Datagrams(side))?;
            listening.push(udp);
        }
        Ok(Self { listening, exchanges: Vec::new() })
    }

    /// Returns the number of a new exchange.
    pub(crate) fn exchange(&mut self) -> u32 {
        self.exchanges.push(None);
        (self.exchanges.len() - 1) as u32
    }

    /// Sends `message` of `exchange` from `end`, because of an event at `event`.
    pub(crate) fn send(
        &mut self,
        net: &mut Net,
        (asked, flow): (&Asked, u32),
        (event, end): (Instant, Side),
        exchange: u32,
        message: Message,
    ) -> io::Result<()> {
        let place = &mut self.exchanges[exchange as usize];
        let opened = match place {
            Some(opened) => opened,
            None => place.insert(Exchange::open(net, (asked, flow), end, exchange)?),
        };
        let (udp, to) = if opened.opener == end {
            (&mut opened.udp, asked.listening(end.other(), 0))
        } else {
            (&mut self.listening[end as usize], opened.from)
        };
        let mut payload = [0; MOST];
        payload[..4].copy_from_slice(&message.number.to_be_bytes());
        payload[4..8].copy_from_slice(&exchange.to_be_bytes());
        let late = net.late(event).as_nanos();
        payload[8..CONTENTS].copy_from_slice(&late.to_be_bytes());
        let len = usize::from(message.len).saturating_sub(HEADERS).clamp(CONTENTS, MOST);
        udp.send(asked.dscp << 2 | message.ecn.bits(), &payload[..len], &to)
    }

    /// Returns the next datagram that has arrived at `ready`.
    pub(crate) fn take(&self, net: &Net, ready: Ready) -> io::Result<Option<Arrival>> {
        let (end, socket) = match ready {
            Ready::Datagrams(side) => (side, &self.listening[side as usize].socket),
            Ready::Exchange(number) => match self.exchanges.get(number as usize) {
                Some(Some(exchange)) => (exchange.opener, &exchange.udp.socket),
                _ => return Ok(None),
            },
            Ready::Listener(..) | Ready::End(..) => return Ok(None),
        };
        let mut payload = [0; MOST];
        let mut extras = nix::cmsg_space!(nix::sys::time::TimeSpec, u8);
        let (len, at, ecn) = {
            let mut parts = [IoSliceMut::new(&mut payload)];
            let got =
                match recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut extras), MsgFlags::empty()) {
                    Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR) => return Ok(None),
                    got => got?,
                };
            let (mut at, mut ecn) = (net.clock.now(), Ecn::NotEct);
            for extra in got.cmsgs()? {
                match extra {
                    ControlMessageOwned::ScmTimestampns(stamp) => {
                        at = net.clock.stamped(stamp.tv_sec(), stamp.tv_nsec());
                    }
                    ControlMessageOwned::Ipv4Tos(tos) => ecn = Ecn::from_bits(tos),
                    _ => {}
                }
            }
            (got.bytes, at, ecn)
        };
        let (number, rest) = payload.split_at(4);
        let word = |bytes: &[u8]| bytes.iter().fold(0, |sum: u64, byte| sum << 8 | u64::from(*byte));
        let late = word(&rest[4..CONTENTS - 4]);
        let message = Message { number: word(number) as u32, len: (len + HEADERS) as u16, ecn };
        Ok(Some(Arrival { at: Instant::from_nanos(at.as_nanos().saturating_sub(late)), end, message }))
    }
}

impl Exchange {
    /// Opens exchange number `number` from `opener`. The flow's first one has a port that the laboratory chose.
    fn open(net: &mut Net, (asked, flow): (&Asked, u32), opener: Side, number: u32) -> io::Result<Self> {
        let port = if number == 0 { asked.first_port } else { 0 };
        net.enter(opener)?;
        let udp = Udp::new(SocketAddrV4::new(asked.address(opener), port))?;
        let from = getsockname(&udp.socket)?.try_into()?;
        net.watch(&udp.socket, flow, Ready::Exchange(number))?;
        Ok(Self { opener, from, udp })
    }
}
