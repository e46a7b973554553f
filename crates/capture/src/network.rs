//! From a frame to its TCP segments: IP, fragments, tunnels and TCP's header.

use crate::layers::{self, Layer, Next, Rest, be16};
use crate::options;
use crate::skipped::{Reason, Skip};
use crate::wifi;
use etherparse::{
    IpAuthHeaderSlice, IpNumber, Ipv4HeaderSlice, Ipv6FragmentHeaderSlice, Ipv6HeaderSlice,
    Ipv6RawExtHeaderSlice, TcpHeaderSlice, ip_number,
};
use pcap_parser::Linktype;
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

/// The most headers within each other that are passed over.
const MOST_LAYERS: usize = 32;
/// The most packets whose first fragment is remembered.
const MOST_FRAGMENTED: usize = 4096;

/// Ports of tunnels in UDP: VXLAN (RFC 7348, and Linux's port of before it) and Geneve (RFC 8926).
const VXLAN: [u16; 2] = [4789, 8472];
const GENEVE: u16 = 6081;

/// A TCP segment in the capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// Nanoseconds since 1970.
    pub(crate) time_ns: i64,
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) seq: u32,
    pub(crate) ack: Option<u32>,
    pub(crate) payload: u32,
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    pub(crate) rst: bool,
    pub(crate) window: u16,
    /// The window scale option of a SYN (RFC 7323).
    pub(crate) window_scale: Option<u8>,
}

/// Finds the TCP segments of frames. It remembers the first fragments of IP packets: the later ones have no TCP header.
#[derive(Default)]
pub(crate) struct Finder {
    firsts: HashMap<FragmentedPacket, First>,
    /// The keys of `firsts`, the oldest first.
    order: VecDeque<FragmentedPacket>,
    /// The segments of the frame that was read last. Only an aggregate of 802.11 has several.
    pub(crate) found: VecDeque<Seen>,
}

/// What fragments of a packet have in common (RFC 791, 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FragmentedPacket {
    from: IpAddr,
    to: IpAddr,
    number: u32,
}

#[derive(Clone, Copy, Debug)]
struct First {
    segment: Seen,
    /// Bytes of the packet before TCP's data.
    header: usize,
}

/// The place of a fragment in its packet.
#[derive(Clone, Copy, Debug)]
struct Fragment {
    packet: FragmentedPacket,
    /// Byte of the packet at which this fragment begins.
    at: usize,
    /// Bytes of this fragment.
    len: usize,
}

/// What stands in IP's header.
struct Ip<'a> {
    from: IpAddr,
    to: IpAddr,
    protocol: IpNumber,
    fragment: Option<Fragment>,
    inside: Rest<'a>,
}

impl Finder {
    /// Finds the segments of a frame, of which `data` was captured and `len` bytes were on the wire.
    pub(crate) fn read(&mut self, time_ns: i64, link: Linktype, data: &[u8], len: u32) -> Result<(), Skip> {
        let rest = Rest { data, len: data.len().max(len as usize) };
        let (layer, rest) = layers::first(link, rest)?;
        self.follow(time_ns, layer, rest, MOST_LAYERS)
    }

    /// Follows the headers up to TCP's. `most` bounds them.
    fn follow(
        &mut self,
        time_ns: i64,
        mut layer: Layer,
        mut rest: Rest<'_>,
        most: usize,
    ) -> Result<(), Skip> {
        for left in (0..most).rev() {
            (layer, rest) = match layer {
                Layer::Ip => {
                    let ip = Ip::read(rest)?;
                    if ip.protocol == ip_number::TCP {
                        return self.segment(time_ns, &ip);
                    }
                    ip.tunnel()?
                }
                Layer::Wifi { is_padded } => {
                    return wifi::bodies(rest, is_padded, |body| {
                        self.follow(time_ns, Layer::Llc, body, left)
                    });
                }
                other => layers::next(other, rest)?,
            };
        }
        Err(Skip::NotUnderstood(Reason::Nested))
    }

    /// Notes the TCP segment within an IP packet, or its part within a fragment.
    fn segment(&mut self, time_ns: i64, ip: &Ip<'_>) -> Result<(), Skip> {
        if let Some(fragment) = ip.fragment.filter(|fragment| fragment.at > 0) {
            let first = self.firsts.get(&fragment.packet).ok_or(Skip::NotUnderstood(Reason::Fragment))?;
            self.found.push_back(first.continued(time_ns, fragment));
            return Ok(());
        }
        let (segment, header) = tcp(time_ns, ip)?;
        if let Some(Fragment { packet, len, .. }) = ip.fragment {
            let before = len.saturating_sub(ip.inside.len);
            if self.firsts.insert(packet, First { segment, header: before + header }).is_none() {
                self.order.push_back(packet);
            }
            if self.order.len() > MOST_FRAGMENTED
                && let Some(oldest) = self.order.pop_front()
            {
                self.firsts.remove(&oldest);
            }
        }
        self.found.push_back(segment);
        Ok(())
    }
}

impl First {
    /// Returns the segment's part within a later fragment.
    fn continued(&self, time_ns: i64, fragment: Fragment) -> Seen {
        let before = fragment.at.saturating_sub(self.header) as u32;
        let seq = self.segment.seq.wrapping_add(u32::from(self.segment.syn)).wrapping_add(before);
        Seen { time_ns, seq, payload: fragment.len as u32, syn: false, ..self.segment }
    }
}

impl<'a> Ip<'a> {
    fn read(rest: Rest<'a>) -> Result<Self, Skip> {
        match rest.head::<1>()?[0] >> 4 {
            4 => Self::version4(rest)?.after_authentication(),
            6 => Self::version6(rest),
            _ => Err(Skip::NotUnderstood(Reason::Malformed)),
        }
    }

    fn version4(rest: Rest<'a>) -> Result<Self, Skip> {
        let Ok(header) = Ipv4HeaderSlice::from_slice(rest.data) else { return Err(rest.short()) };
        let (from, to) = (header.source_addr().into(), header.destination_addr().into());
        // A length of 0 is that of a packet before segmentation offload: the frame has the true one.
        let packet = if header.total_len() == 0 { rest } else { rest.within(header.total_len().into()) };
        let bytes = header.slice().len();
        if packet.len < bytes {
            return Err(Skip::NotUnderstood(Reason::Malformed));
        }
        let inside = packet.after(bytes)?;
        let fragment = header.is_fragmenting_payload().then(|| Fragment {
            packet: FragmentedPacket { from, to, number: header.identification().into() },
            at: usize::from(header.fragments_offset().value()) * 8,
            len: inside.len,
        });
        Ok(Self { from, to, protocol: header.protocol(), fragment, inside })
    }

    fn version6(rest: Rest<'a>) -> Result<Self, Skip> {
        let Ok(header) = Ipv6HeaderSlice::from_slice(rest.data) else { return Err(rest.short()) };
        let (from, to) = (header.source_addr().into(), header.destination_addr().into());
        let inside = rest.after(header.slice().len())?;
        // As above, and in jumbograms (RFC 2675).
        let len = header.payload_length();
        let inside = if len == 0 { inside } else { inside.within(len.into()) };
        let mut ip = Self { from, to, protocol: header.next_header(), fragment: None, inside };
        for _ in 0..MOST_LAYERS {
            let data = ip.inside.data;
            if Ipv6RawExtHeaderSlice::header_type_supported(ip.protocol) {
                let extension = Ipv6RawExtHeaderSlice::from_slice(data).map_err(|_| ip.inside.short())?;
                (ip.protocol, ip.inside) =
                    (extension.next_header(), ip.inside.after(extension.slice().len())?);
            } else if ip.protocol == ip_number::IPV6_FRAG {
                let extension = Ipv6FragmentHeaderSlice::from_slice(data).map_err(|_| ip.inside.short())?;
                (ip.protocol, ip.inside) =
                    (extension.next_header(), ip.inside.after(extension.slice().len())?);
                ip.fragment = extension.is_fragmenting_payload().then(|| Fragment {
                    packet: FragmentedPacket { from, to, number: extension.identification() },
                    at: usize::from(extension.fragment_offset().value()) * 8,
                    len: ip.inside.len,
                });
            } else if ip.protocol == ip_number::AUTH {
                ip = ip.after_authentication()?;
            } else {
                return Ok(ip);
            }
            if ip.is_later_fragment() {
                return Ok(ip);
            }
        }
        Err(Skip::NotUnderstood(Reason::Nested))
    }

    fn is_later_fragment(&self) -> bool {
        self.fragment.is_some_and(|fragment| fragment.at > 0)
    }

    /// Passes over an authentication header (RFC 4302), which encrypts nothing.
    fn after_authentication(self) -> Result<Self, Skip> {
        if self.protocol != ip_number::AUTH || self.is_later_fragment() {
            return Ok(self);
        }
        let Ok(header) = IpAuthHeaderSlice::from_slice(self.inside.data) else {
            return Err(self.inside.short());
        };
        Ok(Self { protocol: header.next_header(), inside: self.inside.after(header.slice().len())?, ..self })
    }

    /// Returns what a tunnel carries.
    fn tunnel(&self) -> Next<'a> {
        let is_later = self.is_later_fragment();
        match self.protocol {
            ip_number::UDP if is_later => Err(Skip::NotTcp),
            ip_number::UDP => udp(self.inside),
            ip_number::ENCAPSULATING_SECURITY_PAYLOAD => Err(Skip::NotUnderstood(Reason::Encrypted("ESP"))),
            ip_number::IP_COMP => Err(Skip::NotUnderstood(Reason::Compressed)),
            ip_number::IPV4
            | ip_number::IPV6
            | ip_number::GRE
            | ip_number::ETHER_IP
            | ip_number::MPLS_IN_IP
            | ip_number::AUTH
                if is_later =>
            {
                Err(Skip::NotUnderstood(Reason::Fragment))
            }
            ip_number::IPV4 | ip_number::IPV6 => Ok((Layer::Ip, self.inside)),
            ip_number::GRE => gre(self.inside),
            ip_number::ETHER_IP => Ok((Layer::Ethernet, self.inside.after(2)?)),
            ip_number::MPLS_IN_IP => Ok((Layer::Mpls, self.inside)),
            _ => Err(Skip::NotTcp),
        }
    }
}

/// Reads GRE (RFC 2784, RFC 2890), PPTP's version of it (RFC 2637), and mirrored frames in it (ERSPAN).
fn gre(rest: Rest<'_>) -> Next<'_> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGMENT: u16 = 0x0080; // PPTP's
    const ERSPAN: u16 = 0x88be;
    const ERSPAN_3: u16 = 0x22eb;
    let head: [u8; 4] = rest.head()?;
    let (flags, protocol) = (be16(&head, 0), be16(&head, 2));
    if flags & ROUTING != 0 {
        return Err(Skip::NotUnderstood(Reason::Malformed)); // RFC 2784 took it away
    }
    let is_pptp = flags & 7 == 1;
    if is_pptp && flags & SEQUENCE == 0 {
        return Err(Skip::NotTcp); // only an acknowledgement
    }
    let fields = if is_pptp { KEY | SEQUENCE | ACKNOWLEDGMENT } else { CHECKSUM | KEY | SEQUENCE };
    let inside = rest.after(head.len() + 4 * (flags & fields).count_ones() as usize)?;
    match protocol {
        ERSPAN => Ok((Layer::Ethernet, inside.after(if flags & SEQUENCE != 0 { 8 } else { 0 })?)),
        ERSPAN_3 => {
            let has_more = inside.head::<12>()?[11] & 1 == 1;
            Ok((Layer::Ethernet, inside.after(if has_more { 20 } else { 12 })?))
        }
        protocol => Ok((Layer::EtherType(protocol), inside)),
    }
}

/// Reads tunnels in UDP, by their ports. All other datagrams have no TCP.
fn udp(rest: Rest<'_>) -> Next<'_> {
    let header: [u8; 8] = rest.head()?;
    let (port, inside) = (be16(&header, 2), rest.after(header.len())?);
    let Ok(head) = inside.head::<8>() else { return Err(Skip::NotTcp) };
    match (port, head) {
        (port, [8, ..]) if VXLAN.contains(&port) => Ok((Layer::Ethernet, inside.after(head.len())?)),
        (GENEVE, [first @ 0..0x40, ..]) => {
            let options = usize::from(first) * 4;
            Ok((Layer::EtherType(be16(&head, 2)), inside.after(head.len() + options)?))
        }
        _ => Err(Skip::NotTcp),
    }
}

/// Returns the segment, and the bytes of its header. A capture may end within the options.
fn tcp(time_ns: i64, ip: &Ip<'_>) -> Result<(Seen, usize), Skip> {
    /// The header without options, and its part up to the flags.
    const FIXED_BYTES: usize = 20;
    const LEAST_BYTES: usize = 14;
    let data = ip.inside.data;
    if data.len() < LEAST_BYTES {
        return Err(ip.inside.short());
    }
    let header = usize::from(data[12] >> 4) * 4;
    if header < FIXED_BYTES || header > ip.inside.len {
        return Err(Skip::NotUnderstood(Reason::Malformed));
    }
    let mut fixed = [0; FIXED_BYTES];
    let captured = data.len().min(FIXED_BYTES);
    fixed[..captured].copy_from_slice(&data[..captured]);
    fixed[12] = 5 << 4 | fixed[12] & 0xf; // the options are read apart
    let Ok(tcp) = TcpHeaderSlice::from_slice(&fixed) else {
        return Err(Skip::NotUnderstood(Reason::Malformed));
    };
    let options = data.get(FIXED_BYTES..header.min(data.len())).unwrap_or_default();
    let segment = Seen {
        time_ns,
        from: (ip.from, tcp.source_port()).into(),
        to: (ip.to, tcp.destination_port()).into(),
        seq: tcp.sequence_number(),
        ack: tcp.ack().then(|| tcp.acknowledgment_number()),
        payload: (ip.inside.len - header) as u32,
        syn: tcp.syn(),
        fin: tcp.fin(),
        rst: tcp.rst(),
        window: tcp.window_size(),
        window_scale: if tcp.syn() { options::window_scale(options) } else { None },
    };
    Ok((segment, header))
}
