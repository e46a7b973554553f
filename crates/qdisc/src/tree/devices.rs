//! The devices of a script that shapes both directions.

use super::shell;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Returns the devices to which the commands in `text` give qdiscs, in the order in which they come. Of a text that
/// cannot be read there are none: who reads the tree says why.
#[must_use]
pub fn devices(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let _ = shell::carry_out(text, &mut |words| {
        let makes = words.first().is_some_and(|word| word == "qdisc")
            && words.get(1).is_some_and(|word| matches!(word.as_str(), "add" | "replace"))
            && !is_redirection(words);
        if let Some(device) = device(words).filter(|_| makes)
            && !found.iter().any(|known| known == device)
        {
            found.push(device.to_string());
        }
        Ok(())
    });
    found
}

/// Returns whether the command with these words counts where only the commands of `device` do.
pub(super) fn is_of(words: &[String], device: &str) -> bool {
    self::device(words).is_none_or(|named| named == device) && !is_redirection(words)
}

/// Returns the device that a command names.
fn device(words: &[String]) -> Option<&str> {
    let at = words.iter().position(|word| word == "dev")?;
    words.get(at + 1).map(String::as_str)
}

/// Returns whether a command is about what arrives at a device. Scripts send it to an ifb, whose qdiscs it meets then,
/// as the packets of a direction meet them here.
fn is_redirection(words: &[String]) -> bool {
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let is_ingress =
        ["ingress", "clsact", "ffff:", "ffff:fff1", "ffff:fff2", "ffff:fff3"].into_iter().any(has);
    is_ingress || has("mirred") && has("redirect")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{parse_tree, parse_tree_of};
    use goodqueue_units::Release;

    /// The commands of a script for both directions, as SQM types them.
    const BOTH: &str = "\
        tc qdisc del dev eth0 root 2>/dev/null\n\
        tc qdisc del dev ifb4eth0 root 2>/dev/null\n\
        tc qdisc add dev eth0 root handle 1: htb default 11\n\
        tc class add dev eth0 parent 1: classid 1:11 htb rate 2mbit\n\
        tc qdisc add dev eth0 handle ffff: ingress\n\
        tc qdisc add dev ifb4eth0 root handle 1: drr\n\
        tc class add dev ifb4eth0 parent 1: classid 1:1 drr\n\
        tc filter add dev eth0 parent ffff: protocol all u32 match u32 0 0 flowid 1:1 action mirred egress redirect dev ifb4eth0";

    #[test]
    fn each_device_has_its_own_tree() {
        assert_eq!(devices(BOTH), ["eth0", "ifb4eth0"]);
        let tree = |device| parse_tree_of(BOTH, Some(device), Release::default()).unwrap().to_string();
        assert!(tree("eth0").contains(" htb ") && !tree("eth0").contains("drr"));
        assert!(tree("ifb4eth0").contains(" drr") && !tree("ifb4eth0").contains("htb"));
    }

    #[test]
    fn a_refusal_has_the_number_of_its_line() {
        let wrong = BOTH.replace("classid 1:1 drr", "classid 1:1 drr quantum -1");
        assert!(parse_tree_of(&wrong, Some("eth0"), Release::default()).is_ok());
        assert!(
            parse_tree_of(&wrong, Some("ifb4eth0"), Release::default())
                .unwrap_err()
                .0
                .starts_with("tc line 7:")
        );
        assert!(parse_tree(BOTH).is_err(), "without a choice both are one device");
    }
}
