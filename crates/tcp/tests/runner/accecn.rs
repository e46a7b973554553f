//! AccECN's words in a script.

use super::parse::{found, number};
use goodqueue_tcp::{AccEcnOption, Flags};

/// Reads AccECN's counter of CE packets: AE, CWR and ECE are its bits, the highest first (RFC 9768, 3.1).
pub fn ace(word: &str) -> Result<Flags, String> {
    let count: u8 = number(word).ok().filter(|count| *count < 8).ok_or_else(|| found(word, "0 to 7"))?;
    let bits = [(4, Flags::AE), (2, Flags::CWR), (1, Flags::ECE)];
    let set = bits.iter().filter(|(bit, _)| count & bit != 0);
    Ok(set.fold(Flags::NONE, |all, &(_, flag)| all | flag))
}

/// Reads the fields of AccECN's option, in the order in which they stand there (RFC 9768, 3.2.3).
pub fn option(kind: &str, word: &str) -> Result<AccEcnOption, String> {
    let fields = word.split(',').map(number).collect::<Result<Vec<u32>, _>>()?;
    match fields[..] {
        [first, ce, ref last @ ..] if last.len() < 2 => {
            Ok(AccEcnOption { is_ect0_first: kind == "accecn0", first, ce, last: last.first().copied() })
        }
        _ => Err(found(word, "two or three numbers, as 1,0,1001")),
    }
}
