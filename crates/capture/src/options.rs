//! The options of a TCP header.

/// End of the options (RFC 9293, 3.1).
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const WINDOW_SCALE: u8 = 3;
const SACK: u8 = 5;

/// Returns each option's kind and content, up to the first that is malformed or cut. Unknown kinds are passed over,
/// as RFC 9293, 3.1 asks: a parser that ends at them misses the known ones behind them.
fn options(mut bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        while let [NO_OPERATION, rest @ ..] = bytes {
            bytes = rest;
        }
        let [kind, len, ..] = *bytes else { return None };
        let option = (kind != END).then(|| bytes.get(..len.into())).flatten()?;
        bytes = &bytes[option.len()..];
        Some((kind, option.get(2..)?))
    })
}

/// Returns the window scale option of a SYN (RFC 7323).
pub(crate) fn window_scale(bytes: &[u8]) -> Option<u8> {
    options(bytes).find_map(|option| match option {
        (WINDOW_SCALE, [scale]) => Some(*scale),
        _ => None,
    })
}

/// Returns the blocks of the SACK option (RFC 2018), each with its first sequence number and the number after it.
pub(crate) fn sack(bytes: &[u8]) -> [Option<(u32, u32)>; 4] {
    let mut blocks = [None; 4];
    let found = options(bytes).find(|(kind, _)| *kind == SACK);
    let numbers = found.map(|(_, content)| content.as_chunks::<4>().0).unwrap_or_default();
    for (block, pair) in blocks.iter_mut().zip(numbers.as_chunks::<2>().0) {
        let [start, end] = pair.map(u32::from_be_bytes);
        *block = Some((start, end));
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Options of a later year stand before those that are read. Lengths of 0, of 1 and over the end must end the
    /// reading, not turn it round for ever.
    #[test]
    fn unknown_options_are_passed_over_and_malformed_ones_end_the_list() {
        let unknown = [34, 4, 9, 9, 1, 172, 3, 7];
        assert_eq!(window_scale(&[&unknown[..], &[3, 3, 7]].concat()), Some(7));
        let blocks = [5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4];
        assert_eq!(sack(&[&unknown[..], &blocks].concat()), [Some((1, 2)), Some((3, 4)), None, None]);
        for malformed in [&[9, 0][..], &[9, 1], &[9, 200], &[9], &[0]] {
            assert_eq!(window_scale(&[malformed, &[3, 3, 7]].concat()), None, "{malformed:?}");
        }
        assert_eq!(window_scale(&[3, 3]), None, "the capture ends within the option");
        assert_eq!(sack(&[5, 3, 0]), [None; 4]);
    }
}
