//! From a frame to its IP packets: link types, tags, labels and PPP. What lies within IP is in `network`, and 802.11 in
//! `wifi`.

use crate::skipped::{Reason, Skip};
use pcap_parser::Linktype;

/// Link types (tcpdump.org/linktypes.html). RAW has other numbers on some systems, which stand in files, too.
pub(crate) const PPP: i32 = 9;
const RAW: [i32; 5] = [101, 12, 14, 228, 229];
const PPP_HDLC: i32 = 50;
const PPP_ETHER: i32 = 51;
const C_HDLC: i32 = 104;
const IEEE802_11: i32 = 105;
const RADIOTAP: i32 = 127;

/// Types of Linux's devices in cooked captures (ARPHRD): monitors of 802.11, and netlink.
const DEVICE_RADIOTAP: u16 = 803;
const DEVICE_NETLINK: u16 = 824;
/// The smallest EtherType. Below it a frame has its length there, and LLC (IEEE 802.3, 3.2.6).
const LEAST_ETHER_TYPE: u16 = 0x600;

/// Protocols without TCP: wake on LAN, ARP, RARP, AppleTalk and its ARP, IPX, slow protocols, PPPoE's discovery, home
/// networks (four types), EAPOL, PROFINET, AoE, EtherCAT, 802.11's pre-authentication, LLDP, SERCOS, MRP, MVRP, PTP,
/// CFM, FCoE, FIP, RoCE, TDLS, AVTP, loopback tests.
const WITHOUT_TCP: [u16; 29] = [
    0x0842, 0x0806, 0x8035, 0x809b, 0x80f3, 0x8137, 0x8809, 0x8863, 0x887b, 0x88e1, 0x8912, 0x893a, 0x888e,
    0x8892, 0x88a2, 0x88a4, 0x88c7, 0x88cc, 0x88cd, 0x88e3, 0x88f5, 0x88f7, 0x8902, 0x8906, 0x8914, 0x8915,
    0x890d, 0x22f0, 0x9000,
];

/// A part of a frame, from some header on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest<'a> {
    /// The captured bytes.
    pub(crate) data: &'a [u8],
    /// Bytes on the wire. A capture may have fewer of them.
    pub(crate) len: usize,
}

/// What a part of a frame begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    Ethernet,
    EtherType(u16),
    Llc,
    Ppp,
    Mpls,
    Ip,
    Radiotap,
    Wifi { is_padded: bool },
}

pub(crate) type Next<'a> = Result<(Layer, Rest<'a>), Skip>;

impl<'a> Rest<'a> {
    /// Returns the first bytes.
    pub(crate) fn head<const N: usize>(self) -> Result<[u8; N], Skip> {
        self.data.first_chunk().copied().ok_or(self.short())
    }

    /// Returns the part after the first `bytes`.
    pub(crate) fn after(self, bytes: usize) -> Result<Self, Skip> {
        let data = self.data.get(bytes..).ok_or(self.short())?;
        Ok(Self { data, len: self.len.saturating_sub(bytes) })
    }

    /// Returns the first `len` bytes: the rest is padding, or a check sequence.
    pub(crate) fn within(self, len: usize) -> Self {
        Self { data: &self.data[..self.data.len().min(len)], len }
    }

    /// Returns why there are too few bytes: the capture was cut, or there never were more.
    pub(crate) fn short(self) -> Skip {
        Skip::NotUnderstood(if self.data.len() < self.len { Reason::Cut } else { Reason::Malformed })
    }
}

/// Returns the first header of a frame.
pub(crate) fn first(link: Linktype, rest: Rest<'_>) -> Next<'_> {
    match link {
        Linktype::ETHERNET => Ok((Layer::Ethernet, rest)),
        Linktype::NULL | Linktype::LOOP => family(rest),
        Linktype::LINUX_SLL => {
            let head: [u8; 16] = rest.head()?;
            cooked(be16(&head, 2), be16(&head, 14), rest.after(head.len())?)
        }
        Linktype::LINUX_SLL2 => {
            let head: [u8; 20] = rest.head()?;
            cooked(be16(&head, 8), be16(&head, 0), rest.after(head.len())?)
        }
        Linktype(PPP | PPP_HDLC) => Ok((Layer::Ppp, rest)),
        Linktype(PPP_ETHER) => Ok((Layer::EtherType(0x8864), rest)),
        Linktype(C_HDLC) => ether_type_at(rest, 2),
        Linktype(IEEE802_11) => Ok((Layer::Wifi { is_padded: false }, rest)),
        Linktype(RADIOTAP) => Ok((Layer::Radiotap, rest)),
        Linktype(number) if RAW.contains(&number) => Ok((Layer::Ip, rest)),
        Linktype(number) => Err(Skip::NotUnderstood(Reason::LinkType(number))),
    }
}

/// Returns the next header of a part that begins with `layer`. IP and 802.11 are read elsewhere.
pub(crate) fn next<'a>(layer: Layer, rest: Rest<'a>) -> Next<'a> {
    match layer {
        Layer::Ethernet => ethernet(rest),
        Layer::EtherType(number) => ether_type(number, rest),
        Layer::Llc => llc(rest),
        Layer::Ppp => ppp(rest),
        Layer::Mpls => mpls(rest),
        Layer::Radiotap => crate::wifi::radiotap(rest),
        Layer::Ip | Layer::Wifi { .. } => Ok((layer, rest)),
    }
}

pub(crate) fn be16(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u16::from_be_bytes(*bytes))
}

/// Reads an EtherType that stands at byte `at`, after which its protocol begins.
fn ether_type_at(rest: Rest<'_>, at: usize) -> Next<'_> {
    let inside = rest.after(at)?;
    let number = u16::from_be_bytes(inside.head()?);
    Ok((Layer::EtherType(number), inside.after(2)?))
}

/// Reads BSD's loopback. The address family is in the byte order of the machine that captured, or of the network. IPv6
/// has a number of its own in each system.
fn family(rest: Rest<'_>) -> Next<'_> {
    let number: [u8; 4] = rest.head()?;
    let number = u32::from_le_bytes(number).min(u32::from_be_bytes(number));
    match number {
        2 | 10 | 24 | 28 | 30 => Ok((Layer::Ip, rest.after(4)?)),
        _ => Err(Skip::NotTcp),
    }
}

/// Reads Linux's cooked captures, of `tcpdump -i any`.
fn cooked(device: u16, protocol: u16, rest: Rest<'_>) -> Next<'_> {
    const LLC: u16 = 4;
    match (device, protocol) {
        (DEVICE_NETLINK, _) => Err(Skip::NotTcp),
        (DEVICE_RADIOTAP, _) => Ok((Layer::Radiotap, rest)),
        (_, LLC) => Ok((Layer::Llc, rest)),
        (_, 0..LEAST_ETHER_TYPE) => Err(Skip::NotTcp),
        _ => Ok((Layer::EtherType(protocol), rest)),
    }
}

fn ethernet(rest: Rest<'_>) -> Next<'_> {
    let Ok(header) = etherparse::Ethernet2HeaderSlice::from_slice(rest.data) else {
        return Err(rest.short());
    };
    let (number, inside) = (header.ether_type().0, rest.after(header.slice().len())?);
    if number < LEAST_ETHER_TYPE {
        Ok((Layer::Llc, inside.within(number.into())))
    } else {
        ether_type(number, inside)
    }
}

fn ether_type(number: u16, rest: Rest<'_>) -> Next<'_> {
    match number {
        0x0800 | 0x86dd => Ok((Layer::Ip, rest)),
        // 802.1Q, 802.1ad, and QinQ of before 802.1ad
        0x8100 | 0x88a8 | 0x9100 | 0x9200 | 0x9300 => {
            let (layer, inside) = ether_type_at(rest, 2)?;
            let Layer::EtherType(number @ 0..LEAST_ETHER_TYPE) = layer else { return Ok((layer, inside)) };
            Ok((Layer::Llc, inside.within(number.into())))
        }
        0x8847 | 0x8848 => Ok((Layer::Mpls, rest)),
        // PPPoE (RFC 2516, section 4): version and type, code, session, length
        0x8864 => {
            let head: [u8; 6] = rest.head()?;
            Ok((Layer::Ppp, rest.after(head.len())?))
        }
        0x880b => Ok((Layer::Ppp, rest)),
        0x6558 => Ok((Layer::Ethernet, rest)),
        0x88e7 => Ok((Layer::Ethernet, rest.after(4)?)), // provider backbone bridges (802.1ah)
        0x88e5 => Err(Skip::NotUnderstood(Reason::Encrypted("MACsec"))),
        number if WITHOUT_TCP.contains(&number) => Err(Skip::NotTcp),
        number => Err(Skip::NotUnderstood(Reason::EtherType(number))),
    }
}

/// Reads LLC, with SNAP (RFC 1042) or IP's own address. All others, such as spanning trees, have no TCP.
fn llc(rest: Rest<'_>) -> Next<'_> {
    match rest.head::<3>()? {
        [0xaa, 0xaa, 3] => match rest.after(3)?.head::<3>()? {
            [0, 0, 0] | [0, 0, 0xf8] => ether_type_at(rest, 6),
            _ => Err(Skip::NotTcp),
        },
        [6, 6, 3] => Ok((Layer::Ip, rest.after(3)?)),
        _ => Err(Skip::NotTcp),
    }
}

/// Reads PPP (RFC 1661), with or without HDLC's address and control (RFC 1662). A protocol number may be one odd byte.
fn ppp(rest: Rest<'_>) -> Next<'_> {
    let rest = if rest.data.starts_with(&[0xff, 3]) { rest.after(2)? } else { rest };
    let [first]: [u8; 1] = rest.head()?;
    let (number, inside) = if first & 1 == 1 {
        (first.into(), rest.after(1)?)
    } else {
        (u16::from_be_bytes(rest.head()?), rest.after(2)?)
    };
    match number {
        0x21 | 0x57 => Ok((Layer::Ip, inside)),
        0x281 | 0x283 => Ok((Layer::Mpls, inside)),
        // Van Jacobson's headers, compressed datagrams, ROHC, and multilink, whose fragments are no datagrams
        0x2d | 0x2f | 0xfb | 0xfd | 0x3 | 0x5 | 0x3d => Err(Skip::NotUnderstood(Reason::Compressed)),
        _ => Err(Skip::NotTcp),
    }
}

/// Reads a stack of labels (RFC 3032), and IP or a pseudowire of Ethernet with a control word (RFC 4385) below it.
fn mpls(mut rest: Rest<'_>) -> Next<'_> {
    loop {
        let label: [u8; 4] = rest.head()?;
        rest = rest.after(label.len())?;
        if label[2] & 1 == 1 {
            break;
        }
    }
    match rest.head::<1>()?[0] >> 4 {
        4 | 6 => Ok((Layer::Ip, rest)),
        0 => Ok((Layer::Ethernet, rest.after(4)?)),
        1 => Err(Skip::NotTcp), // a channel of the labels' own (RFC 5586)
        _ => Err(Skip::NotUnderstood(Reason::Mpls)),
    }
}
