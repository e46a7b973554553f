//! Frames of 802.11 with radiotap headers (www.radiotap.org), as in IEEE 802.11-2012, clause 8.
//!
//! Interfaces have locally administered addresses that contain their number. The access point has 02:00:00:00:00:00,
//! the first station 02:00:00:00:00:01.

use goodqueue_netsim::Direction;
use goodqueue_netsim::wifi::frames::{AirBody, AirFate, AirFrame, Part};
use goodqueue_netsim::wifi::mode::Mode;
use goodqueue_netsim::wifi::standard::{Band, Category};

/// Bits of the radiotap fields that a frame may have.
mod present {
    pub(super) const FLAGS: u32 = 1 << 1;
    pub(super) const RATE: u32 = 1 << 2;
    pub(super) const CHANNEL: u32 = 1 << 3;
    pub(super) const TX_FLAGS: u32 = 1 << 15;
    pub(super) const MCS: u32 = 1 << 19;
    pub(super) const A_MPDU: u32 = 1 << 20;
}

/// Radiotap's flag for "the frame ends with its check sequence".
const HAS_FCS: u8 = 0x10;
/// Radiotap's TX flag for "the sender gave the frame up".
const TX_FAILED: u16 = 0x0001;
/// Channel flags: CCK, OFDM, and the bands.
const CCK: u16 = 0x0020;
const OFDM: u16 = 0x0040;
const BAND_2GHZ: u16 = 0x0080;
const BAND_5GHZ: u16 = 0x0100;
/// The first channel of each band, in MHz.
const FREQUENCIES_MHZ: [u16; 2] = [2412, 5180];
/// Known properties of an MCS, which are all: bandwidth, index, guard interval, format, coding (BCC), STBC and
/// extension streams (none).
const MCS_KNOWN: u8 = 0x7f;
const MCS_40MHZ: u8 = 0x01;
const MCS_SHORT_GUARD: u8 = 0x04;
/// A-MPDU flags: the last subframe is known, and this is the last one.
const LAST_KNOWN: u16 = 0x0004;
const IS_LAST: u16 = 0x0008;

/// Bytes of radiotap's fixed part: version, padding, length and the bits of the present fields.
const HEAD_BYTES: usize = 8;

/// First octets of frame control: subtype, type and version.
mod control {
    pub(super) const DATA: u8 = 0x08;
    pub(super) const QOS_DATA: u8 = 0x88;
    pub(super) const BLOCK_ACK_REQ: u8 = 0x84;
    pub(super) const BLOCK_ACK: u8 = 0x94;
    pub(super) const RTS: u8 = 0xb4;
    pub(super) const CTS: u8 = 0xc4;
    pub(super) const ACK: u8 = 0xd4;
}
/// The second octet's flags.
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const RETRY: u8 = 0x08;
/// BlockAcks and requests for them are compressed: they have a bitmap of 64 frames.
const COMPRESSED: u16 = 0x0004;
/// LLC and SNAP before an IPv4 packet (RFC 1042).
const LLC_SNAP: [u8; 8] = [0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x00];

/// Replaces the content of `bytes` by radiotap's header and the whole of `frame`. `ethernet` is the Ethernet frame of
/// its packet, if it has one.
pub(crate) fn build(bytes: &mut Vec<u8>, frame: &AirFrame, ethernet: &[u8]) {
    bytes.clear();
    radiotap(bytes, frame);
    let begins = bytes.len();
    mac(bytes, frame, ethernet);
    let fcs = crc32fast::hash(&bytes[begins..]);
    bytes.extend(fcs.to_le_bytes());
}

/// Returns the comment for a frame that did not arrive.
pub(crate) fn comment(fate: AirFate) -> Option<&'static str> {
    match fate {
        AirFate::Came => None,
        AirFate::Collided => Some("collided"),
        AirFate::Lost => Some("lost"),
        AirFate::GivenUp => Some("lost and given up"),
    }
}

/// Appends the radiotap header. Fields stand in the order of their bits, each at a multiple of its size.
fn radiotap(bytes: &mut Vec<u8>, frame: &AirFrame) {
    let part = match frame.body {
        AirBody::Data { part, .. } => part,
        _ => None,
    };
    let is_ht = matches!(frame.mode, Mode::Ht(_));
    let rate = if is_ht { present::MCS } else { present::RATE };
    let aggregate = if part.is_some() { present::A_MPDU } else { 0 };
    let fields = present::FLAGS | rate | present::CHANNEL | present::TX_FLAGS | aggregate;
    bytes.extend([0; 4]);
    bytes.extend(fields.to_le_bytes());
    bytes.push(HAS_FCS);
    match frame.mode {
        // In units of 500 kbit/s.
        Mode::Dsss(rate) => bytes.push((rate / 5) as u8),
        Mode::Ofdm(rate) => bytes.push(2 * rate),
        Mode::Ht(_) => bytes.push(0), // fills up to the channel's place
    }
    let [low, high] = FREQUENCIES_MHZ;
    let (frequency, band) = if frame.band == Band::Low { (low, BAND_2GHZ) } else { (high, BAND_5GHZ) };
    let coding = if matches!(frame.mode, Mode::Dsss(_)) { CCK } else { OFDM };
    bytes.extend(frequency.to_le_bytes());
    bytes.extend((band | coding).to_le_bytes());
    let failed = if frame.fate == AirFate::GivenUp { TX_FAILED } else { 0 };
    bytes.extend(failed.to_le_bytes());
    if let Mode::Ht(ht) = frame.mode {
        let width = if ht.is_wide { MCS_40MHZ } else { 0 };
        let guard = if ht.has_short_guard { MCS_SHORT_GUARD } else { 0 };
        bytes.extend([MCS_KNOWN, width | guard, ht.mcs]);
    }
    if let Some(Part { aggregate, is_last }) = part {
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(aggregate.to_le_bytes());
        let last = if is_last { IS_LAST } else { 0 };
        bytes.extend((LAST_KNOWN | last).to_le_bytes());
        bytes.extend([0; 2]);
    }
    debug_assert!(bytes.len() > HEAD_BYTES);
    let length = bytes.len() as u16;
    bytes[2..4].copy_from_slice(&length.to_le_bytes());
}

fn address(interface: u32) -> [u8; 6] {
    let [a, b, c, d] = interface.to_be_bytes();
    [2, 0, a, b, c, d]
}

/// Appends the frame without its check sequence.
fn mac(bytes: &mut Vec<u8>, frame: &AirFrame, ethernet: &[u8]) {
    let mut head = |control: u8, flags: u8| {
        bytes.extend([control, flags]);
        // Whole microseconds, rounded up. The highest bit says that the field is a time.
        let reserved = frame.reserved.as_nanos().div_ceil(1000).min(0x7fff) as u16;
        bytes.extend(reserved.to_le_bytes());
        bytes.extend(address(frame.to));
    };
    // The lower four bits count fragments, and no frame is fragmented.
    let sequence = |number: u32| ((number << 4) as u16).to_le_bytes();
    let tid = frame.category.map(tid);
    let block_ack = (COMPRESSED | u16::from(tid.unwrap_or_default()) << 12).to_le_bytes();
    match frame.body {
        AirBody::Rts => {
            head(control::RTS, 0);
            bytes.extend(address(frame.from));
        }
        AirBody::Cts => head(control::CTS, 0),
        AirBody::Ack => head(control::ACK, 0),
        AirBody::BlockAckReq { first } => {
            head(control::BLOCK_ACK_REQ, 0);
            bytes.extend(address(frame.from));
            bytes.extend(block_ack);
            bytes.extend(sequence(first));
        }
        AirBody::BlockAck { first, bitmap } => {
            head(control::BLOCK_ACK, 0);
            bytes.extend(address(frame.from));
            bytes.extend(block_ack);
            bytes.extend(sequence(first));
            bytes.extend(bitmap.to_le_bytes());
        }
        AirBody::Data { direction, number, is_retry, .. } => {
            let ds = if direction == Direction::Down { FROM_DS } else { TO_DS };
            let retry = if is_retry { RETRY } else { 0 };
            head(if tid.is_some() { control::QOS_DATA } else { control::DATA }, ds | retry);
            bytes.extend(address(frame.from));
            // The third address belongs to the end on the wire: the destination of a frame up, the source of a frame
            // down.
            let other = if direction == Direction::Down { &ethernet[6..12] } else { &ethernet[..6] };
            bytes.extend(other);
            bytes.extend(sequence(number));
            if let Some(tid) = tid {
                bytes.extend([tid, 0]);
            }
            bytes.extend(LLC_SNAP);
            bytes.extend(&ethernet[14..]);
        }
    }
}

/// Returns the user priority of a category: the first one in 802.11's table 9-1.
fn tid(category: Category) -> u8 {
    match category {
        Category::Background => 1,
        Category::BestEffort => 0,
        Category::Video => 5,
        Category::Voice => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_netsim::wifi::mode::Ht;
    use goodqueue_units::{Duration, Instant};

    fn frame(mode: Mode, body: AirBody) -> AirFrame {
        AirFrame {
            time: Instant::ZERO,
            mode,
            band: Band::High,
            from: 3,
            to: 0,
            reserved: Duration::from_nanos(45_200),
            category: Some(Category::Video),
            body,
            fate: AirFate::Came,
        }
    }

    /// By hand from www.radiotap.org and IEEE 802.11-2012, 8.3.1.2: an RTS of station 3 at 24 Mbit/s, which reserves
    /// 46 µs.
    #[test]
    fn a_request_to_send_is_what_the_standard_says() {
        let mut bytes = Vec::new();
        build(&mut bytes, &frame(Mode::Ofdm(24), AirBody::Rts), &[]);
        let radiotap = [0, 0, 16, 0, 0x0e, 0x80, 0, 0, 0x10, 48, 0x3c, 0x14, 0x40, 0x01, 0, 0];
        let rts = [0xb4, 0, 46, 0, 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3];
        assert_eq!(bytes[..16], radiotap);
        assert_eq!(bytes[16..32], rts);
        assert_eq!(bytes.len(), 16 + 20);
    }

    /// By hand from 8.3.1.9: from number 4098, which is 2 modulo 4096, the first and the third frame arrived; TID 5.
    #[test]
    fn a_block_ack_has_first_number_and_bitmap_in_their_places() {
        let ht = Ht { mcs: 15, is_wide: true, has_short_guard: true };
        let mut bytes = Vec::new();
        build(&mut bytes, &frame(Mode::Ht(ht), AirBody::BlockAck { first: 4098, bitmap: 0b101 }), &[]);
        // Flags, a gap, the channel, TX flags. Then MCS: 40 MHz and short guard interval, index 15.
        assert_eq!(bytes[2..8], [19, 0, 0x0a, 0x80, 0x08, 0]);
        assert_eq!(bytes[16..19], [0x7f, 0x05, 15]);
        assert_eq!(bytes[19..21], [0x94, 0]);
        assert_eq!(bytes[35..39], [0x04, 0x50, 0x20, 0x00]);
        assert_eq!(bytes[39..47], [0b101, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes.len(), 19 + 32);
    }
}
