//! Linux's hashes of a flow and of its hosts (`net/core/flow_dissector.c`), with the key 0.

use goodqueue_qdisc::IpHeader;
use siphasher::sip::SipHasher24;
use std::hash::{Hash as _, Hasher as _};

/// What Linux hashes of a packet (`struct flow_keys`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys {
    is_v6: bool,
    /// The protocol of the packet itself if it has a flow label, and otherwise the one behind all headers.
    protocol: u8,
    label: u32,
    ports: [u16; 2],
    /// The two addresses. Those of IPv4 have 4 bytes.
    hosts: [[u8; 16]; 2],
}

impl Keys {
    /// Reads the packet `ip`, whose headers are `header`.
    pub(super) fn read(ip: &[u8], header: &IpHeader) -> Option<Self> {
        let mut hosts = [[0; 16]; 2];
        let (first, len) = if header.is_v6() { (8, 16) } else { (12, 4) };
        for (number, host) in hosts.iter_mut().enumerate() {
            host[..len].copy_from_slice(ip.get(first + number * len..first + (number + 1) * len)?);
        }
        let label = if header.is_v6() { header.words[0] & 0xf_ffff } else { 0 };
        let (protocol, ports) = if label > 0 { (ip[6], 0) } else { (header.protocol, header.ports) };
        let ports = [(ports >> 16) as u16, ports as u16];
        Some(Self { is_v6: header.is_v6(), protocol, label, ports, hosts })
    }

    /// Returns the hash of the flow. Both directions of a flow have the same one.
    pub(super) fn flow(&self) -> u32 {
        let mut keys = *self;
        // Linux compares addresses of IPv4 and ports as this machine's numbers, and addresses of IPv6 byte by byte.
        let order = |host: &[u8; 16]| {
            let number = u32::from_le_bytes([host[0], host[1], host[2], host[3]]);
            if self.is_v6 { u128::from_be_bytes(*host) } else { number.into() }
        };
        if order(&keys.hosts[1]) < order(&keys.hosts[0]) {
            keys.hosts.swap(0, 1);
        }
        if keys.ports[1].swap_bytes() < keys.ports[0].swap_bytes() {
            keys.ports.swap(0, 1);
        }
        keys.sum()
    }

    /// Returns the hashes of the source and of the destination, as `cake` has them.
    pub(super) fn hosts(&self) -> (u32, u32) {
        let alone = |number: usize| {
            let mut keys = Self { protocol: 0, label: 0, ports: [0; 2], ..*self };
            keys.hosts[1 - number] = [0; 16];
            keys.flow()
        };
        (alone(0), alone(1))
    }

    /// Hashes the keys as they lie in memory. 0 means that there is no hash.
    fn sum(&self) -> u32 {
        let mut bytes = [0; 72];
        bytes[..2].copy_from_slice(if self.is_v6 { &[0x86, 0xdd] } else { &[0x08, 0x00] });
        bytes[2] = self.protocol;
        bytes[4..8].copy_from_slice(&self.label.to_le_bytes());
        bytes[28..30].copy_from_slice(&self.ports[0].to_be_bytes());
        bytes[30..32].copy_from_slice(&self.ports[1].to_be_bytes());
        let size = if self.is_v6 { 16 } else { 4 };
        for (number, host) in self.hosts.iter().enumerate() {
            bytes[36 + number * size..36 + (number + 1) * size].copy_from_slice(&host[..size]);
        }
        let mut hasher = SipHasher24::new_with_keys(0, 0);
        hasher.write(if self.is_v6 { &bytes } else { &bytes[..48] });
        (hasher.finish() as u32).max(1)
    }
}

/// Returns a number of what `choke` compares of two packets. Of addresses of IPv6 it is the source's first half alone
/// (`make_flow_keys_digest`).
pub(super) fn digest(keys: &Keys) -> u64 {
    let hosts = if keys.is_v6 { &keys.hosts[0][..8] } else { &[keys.hosts[0], keys.hosts[1]].concat()[..] };
    let mut hasher = SipHasher24::new_with_keys(0, 0);
    (keys.is_v6, keys.protocol, keys.ports, hosts).hash(&mut hasher);
    hasher.finish()
}
