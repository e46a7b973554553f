//! The tree of `htb` of an Internet provider, as `tc` commands.
//!
//! A node's class has the rate that all below it have for certain, and may borrow up to the node's own rate. (A class
//! that had the node's whole rate for certain would send whatever the node above has.) A subscriber's class has its
//! least rate, and borrows up to the rate sold. LibreQoS builds its classes like this, too.

use super::{Node, Subscriber};
use goodqueue_hosts::direction::Direction;
use std::fmt::Write;

/// `TC_HTB_MAXDEPTH` is 8: the link, subscribers, and these between them.
pub(super) const MOST_NODES_DEEP: usize = 6;
/// The most nodes and subscribers: classes have 16 bits, 0 is the qdisc, 1 is the link, and ffff is none.
pub(super) const MOST_BELOW: usize = 0xfffd;
/// Linux gives qdiscs without a handle 8001: to ffff: (`qdisc_alloc_handle`, net/sched/sch_api.c).
const MOST_AUTOMATIC: usize = 0x7fff;

/// Returns the commands for `direction`. Queues without a line have `line`. There are at most [`MOST_BELOW`] of both.
pub(super) fn commands(
    direction: Direction,
    nodes: &[Node],
    subscribers: &[Subscriber],
    line: &str,
) -> String {
    let least = least(direction, nodes, subscribers);
    let side = direction as usize;
    let mut sums = vec![0; nodes.len()];
    for (one, least) in subscribers.iter().zip(&least) {
        sums[one.node] += least;
    }
    for at in (1..nodes.len()).rev() {
        sums[nodes[at].parent] += sums[at];
    }
    let mut text = String::from("tc qdisc add dev eth0 root handle 1: htb\n");
    for (at, node) in nodes.iter().enumerate() {
        let ceil = node.rates[side].as_bps();
        let (parent, rate) = match at {
            0 => (0, ceil),
            _ => (minor_of_node(node.parent), sums[at].clamp(1000, ceil.max(1000))),
        };
        let own = minor_of_node(at);
        let ceil = ceil.max(rate);
        _ = writeln!(
            text,
            "tc class add dev eth0 parent 1:{parent:x} classid 1:{own:x} htb rate {rate}bit ceil {ceil}bit"
        );
    }
    let end = match direction {
        Direction::Down => "dst",
        Direction::Up => "src",
    };
    for (at, (one, least)) in subscribers.iter().zip(&least).enumerate() {
        let (parent, own) = (minor_of_node(one.node), minor_of_subscriber(at, nodes.len()));
        let ceil = one.rates[side].as_bps().max(*least);
        let qdisc = one.qdiscs[side].as_deref().unwrap_or(line);
        _ = writeln!(
            text,
            "tc class add dev eth0 parent 1:{parent:x} classid 1:{own:x} htb rate {least}bit ceil {ceil}bit"
        );
        let handle =
            if subscribers.len() > MOST_AUTOMATIC { format!("handle {own:x}: ") } else { String::new() };
        _ = writeln!(text, "tc qdisc add dev eth0 parent 1:{own:x} {handle}{qdisc}");
        for (address, length) in &one.addresses {
            _ = writeln!(
                text,
                "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip {end} {address}/{length} flowid 1:{own:x}"
            );
        }
    }
    text
}

/// Returns the number of the class of the node `at`.
pub(crate) fn minor_of_node(at: usize) -> u16 {
    at as u16 + 1
}

/// Returns the number of the class of the subscriber `at`.
fn minor_of_subscriber(at: usize, nodes: usize) -> u16 {
    (nodes + at) as u16 + 1
}

/// Returns the rate that each subscriber has for certain, in bits per second. Where a node has less than all below it
/// were promised, all of them get the same share of what they were promised.
fn least(direction: Direction, nodes: &[Node], subscribers: &[Subscriber]) -> Vec<u64> {
    let side = direction as usize;
    let mut promised = vec![0_u64; nodes.len()];
    for one in subscribers {
        promised[one.node] += one.least[side].as_bps();
    }
    for at in (1..nodes.len()).rev() {
        promised[nodes[at].parent] += promised[at];
    }
    // In parts of a million, so that no share depends on floating point.
    let mut shares = vec![MILLION; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        let there = u128::from(node.rates[side].as_bps()) * u128::from(MILLION);
        let own = (there / u128::from(promised[at].max(1))).min(u128::from(MILLION)) as u64;
        shares[at] = own.min(shares[node.parent]);
    }
    let scaled = |one: &Subscriber| {
        let share = u128::from(one.least[side].as_bps()) * u128::from(shares[one.node]);
        ((share / u128::from(MILLION)) as u64).max(1000)
    };
    subscribers.iter().map(scaled).collect()
}

const MILLION: u64 = 1_000_000;
