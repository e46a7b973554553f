//! The addresses of subscribers.

use super::mixes::Mix;
use super::{ADDRESSES, FIRST_ADDRESS, Subscriber};
use goodqueue_hosts::keys::{Json, Quantity, Result, Span, Table, describe, refuse};
use serde_json::json;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// Gives an address to each of `subscribers` that has none, and refuses addresses of two.
pub(super) fn address(
    tables: &[Table<'_>],
    mixes: &[(usize, Arc<Mix>, Option<Span>)],
    subscribers: &mut [Subscriber],
) -> Result<()> {
    let mut owners: HashMap<Ipv4Addr, usize> = HashMap::new();
    for ((place, ..), one) in mixes.iter().zip(subscribers.iter()) {
        for (address, _) in &one.addresses {
            if let Some(other) = owners.insert(*address, *place) {
                let found = format!("{address}, which subscriber[{other}] has");
                return refuse(&tables[*place].key("addresses"), found, "addresses of its own");
            }
        }
    }
    let mut free = (1..ADDRESSES).map(|number| Ipv4Addr::from_bits(FIRST_ADDRESS + number));
    for one in subscribers.iter_mut().filter(|one| one.addresses.is_empty()) {
        let Some(address) = free.find(|address| !owners.contains_key(address)) else { break };
        one.addresses.push((address, 32));
    }
    Ok(())
}

/// IPv4 addresses, or networks.
#[derive(Clone, Debug)]
pub(super) struct Addresses(pub(super) Vec<(Ipv4Addr, u8)>);

impl Quantity for Addresses {
    const TYPE: &'static str = "list of addresses";
    fn read(found: &Json) -> std::result::Result<Self, String> {
        let accepted = "a list of IPv4 addresses or networks, such as [\"100.64.0.1\", \"100.64.8.0/30\"]";
        let refused = |found: &Json| match found.as_str() {
            Some(text) => format!("found {text:?}; accepted: {accepted}"),
            None => format!("found {}; accepted: {accepted}", describe(found)),
        };
        let list = found.as_array().filter(|list| !list.is_empty()).ok_or_else(|| refused(found))?;
        let one = |one: &Json| {
            let text = one.as_str()?;
            let (address, length) = text.split_once('/').unwrap_or((text, "32"));
            let length = length.parse().ok().filter(|length| (1..=32).contains(length))?;
            Some((address.parse().ok()?, length))
        };
        list.iter()
            .map(|found| one(found).ok_or_else(|| refused(found)))
            .collect::<std::result::Result<_, _>>()
            .map(Self)
    }
    fn write(&self) -> Json {
        json!(self.0.iter().map(|(address, length)| format!("{address}/{length}")).collect::<Vec<_>>())
    }
    fn schema() -> Json {
        json!({"type": "array", "minItems": 1, "items": {"type": "string"}})
    }
}
