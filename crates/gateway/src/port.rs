//! A device at one end of the path: packets are read from its descriptor and written to it, one a call.

use crate::offload::{HEADER_BYTES, Offload};
use crate::packet::ETHERNET_BYTES;
use rustix::io::{self, Errno, IoSlice};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};

/// The largest packet that IP has, and what stands before it.
const MOST_BYTES: usize = HEADER_BYTES + ETHERNET_BYTES + (1 << 16);

/// A virtio-net header, one of Ethernet, the packets' own, and what they carry.
const MOST_PARTS: usize = crate::join::MOST_PARTS + 3;

/// Addresses of an Ethernet header.
const ADDRESS_BYTES: usize = 12;

/// A descriptor that gives and takes packets, each after a virtio-net header: of a TUN device, or a packet socket.
pub struct Port {
    descriptor: OwnedFd,
    /// Destination and source of the frames that are written; of a TUN device, which has no frames, none.
    addresses: Option<[u8; ADDRESS_BYTES]>,
    buffer: Vec<u8>,
}

impl Port {
    /// The port of this process's descriptor number `descriptor`, of which it takes a copy; `addresses` are empty for a
    /// TUN device.
    ///
    /// # Errors
    /// Where there is no such descriptor, or `addresses` are no two of Ethernet's.
    pub fn new(descriptor: RawFd, addresses: &[u8]) -> std::io::Result<Self> {
        let addresses = match addresses {
            [] => None,
            _ => Some(addresses.try_into().map_err(std::io::Error::other)?),
        };
        // A number may be anything; the kernel makes of it a descriptor that is ours (pidfd_getfd(2), Linux 5.6).
        let own = pidfd_open(getpid(), PidfdFlags::empty())?;
        let descriptor = pidfd_getfd(own, descriptor, PidfdGetfdFlags::empty())?;
        Ok(Self { descriptor, addresses, buffer: vec![0; MOST_BYTES] })
    }

    fn link_bytes(&self) -> usize {
        if self.addresses.is_some() { ETHERNET_BYTES } else { 0 }
    }

    /// The next packet that waits, from its IP header on. `None`: none waits.
    ///
    /// # Errors
    /// Where the device is gone.
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

    /// Sends a packet, whose headers are in the first of its `parts`; false where the device does not take it.
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
