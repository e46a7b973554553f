//! A device at one end of the path. Its descriptor is read and written, one packet per call.

use crate::offload::{HEADER_BYTES, Offload};
use crate::packet::ETHERNET_BYTES;
use rustix::io::{self, Errno, IoSlice};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};

/// The largest IP packet and the headers before it, in bytes.
const MOST_BYTES: usize = HEADER_BYTES + ETHERNET_BYTES + (1 << 16);

/// The virtio-net header, the Ethernet header, the packets' own headers, and the payload of each packet.
const MOST_PARTS: usize = crate::join::MOST_PARTS + 3;

/// Bytes of the two addresses in an Ethernet header.
const ADDRESS_BYTES: usize = 12;

/// A descriptor that reads and writes packets, each after a virtio-net header: a TUN device or a packet socket.
pub struct Port {
    descriptor: OwnedFd,
    /// Destination and source address of the frames to write. `None` for a TUN device, which has no frames.
    addresses: Option<[u8; ADDRESS_BYTES]>,
    buffer: Vec<u8>,
}

impl Port {
    /// Builds a port with a copy of this process's descriptor number `descriptor`. `addresses` is empty for a TUN
    /// device.
    ///
    /// # Errors
    /// There is no such descriptor, or `addresses` is not two Ethernet addresses.
    pub fn new(descriptor: RawFd, addresses: &[u8]) -> std::io::Result<Self> {
        let addresses = match addresses {
            [] => None,
            _ => Some(addresses.try_into().map_err(std::io::Error::other)?),
        };
        // The number may be anything. The kernel turns it into a descriptor that belongs to us (pidfd_getfd(2), Linux
        // 5.6).
        let own = pidfd_open(getpid(), PidfdFlags::empty())?;
        let descriptor = pidfd_getfd(own, descriptor, PidfdGetfdFlags::empty())?;
        Ok(Self { descriptor, addresses, buffer: vec![0; MOST_BYTES] })
    }

    fn link_bytes(&self) -> usize {
        if self.addresses.is_some() { ETHERNET_BYTES } else { 0 }
    }

    /// Returns the next waiting packet, from its IP header on, or `None` if none waits.
    ///
    /// # Errors
    /// The device is gone.
    pub(crate) fn receive(&mut self) -> std::io::Result<Option<(&[u8], Offload)>> {
        let link = self.link_bytes();
        loop {
            let read = match io::read(&self.descriptor, &mut self.buffer[..]) {
                Ok(read) => read,
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR | Errno::NETDOWN) => continue,
                Err(error) => return Err(error.into()),
            };
            let head = HEADER_BYTES + link;
            if read > head {
                let mut header = [0; HEADER_BYTES];
                header.copy_from_slice(&self.buffer[..HEADER_BYTES]);
                return Ok(Some((&self.buffer[head..read], Offload::read(header, link as u16))));
            }
        }
    }

    /// Sends a packet whose headers are in the first of its `parts`. Returns false if the device refuses it.
    pub(crate) fn send(&self, parts: &[&[u8]], offload: Offload) -> bool {
        let header = offload.written(self.link_bytes() as u16);
        let mut ethernet = [0; ETHERNET_BYTES];
        let mut slices = [IoSlice::new(&[]); MOST_PARTS];
        slices[0] = IoSlice::new(&header);
        if let Some(addresses) = &self.addresses {
            ethernet[..ADDRESS_BYTES].copy_from_slice(addresses);
            let kind: u16 = if parts[0][0] >> 4 == 6 { 0x86dd } else { 0x0800 };
            ethernet[ADDRESS_BYTES..].copy_from_slice(&kind.to_be_bytes());
            slices[1] = IoSlice::new(&ethernet);
        }
        for (slice, part) in slices[2..].iter_mut().zip(parts) {
            *slice = IoSlice::new(part);
        }
        let count = (parts.len() + 2).min(MOST_PARTS);
        io::writev(&self.descriptor, &slices[..count]).is_ok()
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
