//! The addresses of subscribers.

use super::mixes::Mix;
use super::{ADDRESSES, FIRST_ADDRESS, Subscriber};
use goodqueue_hosts::keys::{Json, Quantity, Result, Span, Table, describe, refuse};
use serde_json::json;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// The most addresses that all subscribers together are given: each is a filter in the tree of either direction.
const MOST_GIVEN: usize = 131_072;

/// Gives an address to each of `subscribers` that has none. Refuses networks of two that overlap, and networks that
/// leave no address for another.
pub(super) fn address(
    tables: &[Table<'_>],
    mixes: &[(usize, Arc<Mix>, Option<Span>)],
    subscribers: &mut [Subscriber],
) -> Result<()> {
    let mut taken: Vec<Network> = Vec::new();
    for ((place, ..), one) in mixes.iter().zip(subscribers.iter()) {
        taken.extend(one.addresses.iter().map(|&(address, length)| Network::new(address, length, *place)));
    }
    if taken.len() > MOST_GIVEN {
        let found = format!("{} addresses", taken.len());
        return refuse("subscriber", found, &format!("at most {MOST_GIVEN} in all"));
    }
    taken.sort_unstable();
    for at in 1..taken.len() {
        let (before, after) = taken.split_at_mut(at);
        let ([.., one], [other, ..]) = (before, after) else { break };
        if one.last >= other.first && one.place != other.place {
            let found =
                format!("{}, which lies in {} of subscriber[{}]", other.text(), one.text(), one.place);
            return refuse(&tables[other.place].key("addresses"), found, "addresses of its own");
        }
        if other.last < one.last {
            // Of two networks of one subscriber, one lies in the other.
            (other.first, other.last, other.length) = (one.first, one.last, one.length);
        }
    }
    let is_free = |address: &Ipv4Addr| {
        let after = taken.partition_point(|network| network.first <= address.to_bits());
        after == 0 || taken[after - 1].last < address.to_bits()
    };
    let mut free = (1..ADDRESSES).map(|number| Ipv4Addr::from_bits(FIRST_ADDRESS + number)).filter(is_free);
    for ((place, ..), one) in mixes.iter().zip(subscribers).filter(|(_, one)| one.addresses.is_empty()) {
        let Some(address) = free.next() else {
            let found = "networks that leave no address of 100.64.0.0/10 for this subscriber";
            return refuse(&tables[*place].key("addresses"), found, "addresses of its own");
        };
        one.addresses.push((address, 32));
    }
    Ok(())
}

/// The addresses from `first` to `last`, which the subscribers of the table `place` have.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Network {
    first: u32,
    last: u32,
    place: usize,
    length: u8,
}

impl Network {
    fn new(address: Ipv4Addr, length: u8, place: usize) -> Self {
        let hosts = u32::MAX.checked_shr(u32::from(length)).unwrap_or(0);
        Self { first: address.to_bits() & !hosts, last: address.to_bits() | hosts, place, length }
    }

    /// Returns it as it is written.
    fn text(&self) -> String {
        format!("{}/{}", Ipv4Addr::from_bits(self.first), self.length)
    }
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
