//! Sockets with a flow's options, and what Linux reports of a connection.

use crate::order::Asked;
use nix::sys::socket::{setsockopt, sockopt};
use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt as common};
use std::io;
use std::time::Duration;

/// The options that no library has.
#[allow(unsafe_code, missing_docs)]
mod own {
    // The macro calls the C library with a pointer to a value of the named type and its size, so the kernel reads or
    // writes within the value. Each bit pattern is a value of each of these types. Linux 4.19 and later write all of
    // `TcpInfo`, and the macro checks that.
    use nix::{getsockopt_impl, setsockopt_impl, sockopt_impl};

    sockopt_impl!(TcpInfo, GetOnly, libc::IPPROTO_TCP, libc::TCP_INFO, [u64; 28]);
    sockopt_impl!(MaxPacingRate, SetOnly, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, u64);
    sockopt_impl!(NotSentLowat, SetOnly, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, u32);
}

/// The mark of the packets of sockets that ask for ECN. Linux selects their routes by it (`topology.py`).
const ECN_MARK: u32 = 1;
/// Any rate below "unlimited" switches TCP's own pacing on.
const FASTEST: u64 = 1 << 40;

/// Returns a TCP socket. Both ends get the flow's congestion control, since DCTCP changes the receiver too.
pub(crate) fn tcp(asked: &Asked) -> io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let made = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    common::set_socket_reuseaddr(&made, true)?;
    common::set_tcp_nodelay(&made, true)?;
    if let Some(cc) = &asked.cc {
        common::set_tcp_congestion(&made, cc)
            .map_err(|_| io::Error::other(format!("this kernel has no congestion control {cc}")))?;
    }
    if asked.pacing {
        setsockopt(&made, own::MaxPacingRate, &FASTEST)?;
    }
    common::set_ip_tos(&made, asked.dscp << 2)?;
    if asked.ecn {
        setsockopt(&made, sockopt::Mark, &ECN_MARK)?;
    }
    // Linux chooses the port when it knows both addresses, so a port may serve several connections at once.
    setsockopt(&made, sockopt::IpBindAddressNoPort, &true)?;
    Ok(made)
}

/// Sets how many bytes may wait unsent in `socket`.
pub(crate) fn set_unsent(socket: &OwnedFd, bytes: u32) -> io::Result<()> {
    Ok(setsockopt(socket, own::NotSentLowat, &bytes)?)
}

/// Makes the close of `socket` discard unsent data and reset the connection.
pub(crate) fn reset_on_close(socket: &OwnedFd) {
    let _ = common::set_socket_linger(socket, Some(Duration::ZERO)); // fails only for what is no socket
}

/// Returns a UDP socket whose arrivals the kernel stamps.
pub(crate) fn udp() -> io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let made = socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None)?;
    setsockopt(&made, sockopt::ReceiveTimestampns, &true)?;
    common::set_ip_recvtos(&made, true)?;
    Ok(made)
}

/// The kernel's `struct tcp_info`, up to the fields of Linux 4.19 (`linux/tcp.h`). Fields are only ever appended.
pub(crate) struct Info([u64; 28]);

impl Info {
    /// Returns the state of the connection of `socket`.
    pub(crate) fn of(socket: &OwnedFd) -> io::Result<Self> {
        Ok(Self(nix::sys::socket::getsockopt(socket, own::TcpInfo)?))
    }

    /// Returns the structure's bytes as hexadecimal digits.
    pub(crate) fn to_hex(&self) -> String {
        self.0.iter().flat_map(|word| word.to_ne_bytes()).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns the bytes in the socket that are not sent.
    pub(crate) fn unsent(&self) -> u64 {
        const NOTSENT_BYTES: usize = 144 / 8; // the first half; tcpi_min_rtt follows
        first_half(self.0[NOTSENT_BYTES])
    }

    /// Returns the bytes sent, the bytes sent again, and the segments that the receiver reported as duplicates.
    pub(crate) fn sent(&self) -> [u64; 3] {
        const BYTES_SENT: usize = 200 / 8; // bytes_retrans follows; then two counters of 32 bits
        let [sent, again, counters] = [0, 1, 2].map(|place| self.0[BYTES_SENT + place]);
        [sent, again, first_half(counters)]
    }
}

/// Returns the counter of 32 bits with which `word` begins in memory.
fn first_half(word: u64) -> u64 {
    let [b0, b1, b2, b3, ..] = word.to_ne_bytes();
    u32::from_ne_bytes([b0, b1, b2, b3]).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    /// The kernel reads and writes the values of our own options, each with its type's size, so that
    /// `make sanitize` sees an access beside a value, and a wrong size or place shows in what the kernel reports.
    #[test]
    fn the_kernel_takes_and_reports_our_own_options() {
        const MAX_PACING_RATE: usize = 112 / 8;
        let listening = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sending = TcpStream::connect(listening.local_addr().unwrap()).unwrap();
        let (mut receiving, _) = listening.accept().unwrap();
        let socket = OwnedFd::from(sending.try_clone().unwrap());
        setsockopt(&socket, own::MaxPacingRate, &FASTEST).unwrap();
        set_unsent(&socket, 1 << 14).unwrap();
        sending.write_all(&[0; 1000]).unwrap();
        receiving.read_exact(&mut [0; 1000]).unwrap();
        let info = Info::of(&socket).unwrap();
        assert_eq!(info.0[MAX_PACING_RATE], FASTEST);
        assert_eq!(info.sent(), [1000, 0, 0]);
        assert_eq!(info.unsent(), 0);
        assert_eq!(
            (info.to_hex().len(), &info.to_hex()[..2]),
            (448, "01"),
            "224 bytes, of an open connection"
        );
    }
}
