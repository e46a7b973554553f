//! 802.11 frames: their radiotap header, and the data frames' bodies.

use crate::layers::{Layer, Next, Rest, be16};
use crate::skipped::{Reason, Skip};

/// Bits of radiotap's field of flags.
const HAS_CHECK_SEQUENCE: u8 = 0x10;
const IS_PADDED: u8 = 0x20;
const IS_DAMAGED: u8 = 0x40;
const CHECK_SEQUENCE_BYTES: usize = 4;

/// Bits of the second byte of an 802.11 header.
const TO_AND_FROM_DS: u8 = 3;
const IS_PROTECTED: u8 = 0x40;
const HAS_HT_CONTROL: u8 = 0x80;

/// Passes over a radiotap header (radiotap.org), except its flags.
pub(crate) fn radiotap(rest: Rest<'_>) -> Next<'_> {
    let head: [u8; 8] = rest.head()?;
    let len = usize::from(u16::from_le_bytes([head[2], head[3]]));
    let Some(header) = rest.data.get(..len) else { return Err(rest.short()) };
    let flags = flags(header);
    if flags & IS_DAMAGED != 0 {
        return Err(Skip::NotUnderstood(Reason::Damaged));
    }
    let frame = rest.after(len)?;
    let end = if flags & HAS_CHECK_SEQUENCE != 0 { CHECK_SEQUENCE_BYTES } else { 0 };
    Ok((Layer::Wifi { is_padded: flags & IS_PADDED != 0 }, frame.within(frame.len.saturating_sub(end))))
}

/// Returns the field of flags. It is the second field, after a time of 8 bytes, and before it stand words of bits that
/// say which fields there are. A set upper bit announces another word.
fn flags(header: &[u8]) -> u8 {
    let words = header.get(4..).unwrap_or_default().as_chunks::<4>().0;
    let first = words.first().map_or(0, |word| u32::from_le_bytes(*word));
    let count = words.iter().take_while(|word| word[3] & 0x80 != 0).count() + 1;
    let fields = 4 + 4 * count;
    let at = if first & 1 != 0 { fields.next_multiple_of(8) + 8 } else { fields };
    if first & 2 != 0 { header.get(at).copied().unwrap_or(0) } else { 0 }
}

/// Gives each body of an 802.11 data frame to `take`. An aggregate of MSDUs has several.
pub(crate) fn bodies<'a>(
    rest: Rest<'a>,
    is_padded: bool,
    mut take: impl FnMut(Rest<'a>) -> Result<(), Skip>,
) -> Result<(), Skip> {
    let [first, second]: [u8; 2] = rest.head()?;
    let (kind, subtype) = (first >> 2 & 3, first >> 4);
    let (is_data, has_no_body) = (kind == 2, subtype & 4 != 0);
    if !is_data || has_no_body {
        return Err(Skip::NotTcp);
    }
    if second & IS_PROTECTED != 0 {
        return Err(Skip::NotUnderstood(Reason::Encrypted("802.11")));
    }
    let head: [u8; 24] = rest.head()?;
    if head[22] & 0xf != 0 {
        return Err(Skip::NotUnderstood(Reason::WifiFragment));
    }
    let mut len = head.len() + if second & TO_AND_FROM_DS == TO_AND_FROM_DS { 6 } else { 0 };
    let mut is_aggregate = false;
    if subtype & 8 != 0 {
        is_aggregate = rest.after(len)?.head::<2>()?[0] & 0x80 != 0;
        len += 2 + if second & HAS_HT_CONTROL != 0 { 4 } else { 0 };
    }
    let mut body = rest.after(if is_padded { len.next_multiple_of(4) } else { len })?;
    if !is_aggregate {
        return take(body);
    }
    // Each subframe has two addresses and a length, and all except the last are padded (802.11-2020, 9.3.2.2.2).
    let mut found = Err(Skip::NotTcp);
    while body.len > 0 {
        let head: [u8; 14] = match body.head() {
            Ok(head) => head,
            Err(short) => return found.or(Err(short)),
        };
        let len = usize::from(be16(&head, 12));
        found = found.or(take(body.after(head.len())?.within(len)));
        let Ok(behind) = body.after((head.len() + len).next_multiple_of(4)) else { break };
        body = behind;
    }
    found
}
