//! `stab`: a table of sizes in front of a discipline, for which each packet then counts as many bytes as on the wire.
//!
//! Source: tc-stab(8), and tc_calc_size_table (iproute2) and __qdisc_calculate_pkt_len (net/sched/sch_api.c) where the
//! page leaves something open. A length gets the `overhead`. The sum is looked up in a table of `tsize` slots, each of
//! 2^n bytes, which cover lengths up to `mtu`. A slot holds the size of its longest packet: at least `mpu`, and in
//! cells of ATM if `linklayer` says so. So lengths are rounded up to a multiple of 2^n before anything else. A sum
//! beyond the table counts as the last slot, once per full turn through the table, plus the slot of the rest. Without
//! `mpu` and cells there is no table, and the overhead alone counts.
//!
//! The discipline sees the table's length in everything: tokens, deficits, limits and backlogs in bytes. The link sends
//! the packet's own length.
//!
//! The discipline inside handles tokens instead of packets. A token has what a discipline may ask for, and the place
//! where the packet waits. So a discipline without a table pays nothing, and the code of all disciplines exists once
//! more and not once per type of packet.

use crate::ip::IpHeader;
use crate::packet::{Packet, Socket};
use crate::param::stab::{MPU, MTU, OVERHEAD, TSIZE};
use crate::param::{Args, Error, Link};
use crate::qdisc::{Backlog, Enqueued, Probe, Qdisc};
use crate::registry::AnyQdisc;
use crate::sched::bucket::{LINKLAYER, LinkLayer, in_cells};
use crate::signal::{Drop, Flipped, Mark, Owner};
use crate::tcp::TcpHeader;
use crate::tree::Change;
use alloc::boxed::Box;
use alloc::vec::Vec;
use goodqueue_units::{Ecn, Instant};

/// The bytes that a packet counts for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    overhead: i64,
    /// The size in each slot, divided by `2^size_log`. Empty: only the overhead counts.
    slots: Vec<u16>,
    /// The logarithm of the bytes in a slot.
    cell_log: u32,
    size_log: u32,
}

impl Table {
    /// Builds the table that `args`, the words of [`crate::param::STAB`], describe.
    #[must_use]
    pub fn new(args: &Args) -> Self {
        let (mtu, tsize, mpu) = (args.get(&MTU), args.get(&TSIZE), u64::from(args.get(&MPU)));
        let cells = args.get(&LINKLAYER) != LinkLayer::Ethernet;
        let mut table =
            Self { overhead: args.get(&OVERHEAD).into(), slots: Vec::new(), cell_log: 0, size_log: 0 };
        if !cells && mpu == 0 {
            return table;
        }
        while mtu >> table.cell_log > tsize - 1 {
            table.cell_log += 1;
        }
        let size = |slot: u64| {
            let bytes = ((slot + 1) << table.cell_log).max(mpu);
            if cells { in_cells(bytes) } else { bytes }
        };
        // A slot has 16 bits.
        while size(u64::from(tsize) - 1) >> table.size_log > u64::from(u16::MAX) {
            table.size_log += 1;
        }
        table.slots = (0..u64::from(tsize)).map(|slot| (size(slot) >> table.size_log) as u16).collect();
        table
    }

    /// Returns the bytes that a packet of `len` bytes counts for, at least 1.
    #[must_use]
    pub fn size(&self, len: u32) -> u32 {
        let len = i64::from(len) + self.overhead;
        let size = match self.slots.as_slice() {
            [] => len,
            slots => {
                let at = ((len - 1).max(0) >> self.cell_log) as usize;
                let size = |slot: usize| i64::from(slots[slot]);
                let sum = match slots.get(at) {
                    Some(size) => i64::from(*size),
                    None => size(slots.len() - 1) * (at / slots.len()) as i64 + size(at % slots.len()),
                };
                sum << self.size_log
            }
        };
        size.clamp(1, i32::MAX.into()) as u32
    }
}

/// A packet as the discipline inside sees it.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// Where the packet waits.
    place: u32,
    /// The length by the table.
    len: u32,
    /// The length without the table.
    buffered: u32,
    ecn: Ecn,
    dscp: u8,
    priority: u8,
    flow_hash: u32,
    flow_id: u64,
    host_hashes: (u32, u32),
    class: u32,
    translated_from: Option<(u32, (u32, u32))>,
    fwmark: u32,
    tcp: Option<TcpHeader>,
    departure: Option<Instant>,
    socket: Option<Socket>,
    arrival: Instant,
}

impl Packet for Token {
    fn len(&self) -> u32 {
        self.len
    }
    fn buffered(&self, _len: u32) -> u32 {
        self.buffered
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow_hash(&self) -> u32 {
        self.flow_hash
    }
    fn dscp(&self) -> u8 {
        self.dscp
    }
    fn flow_id(&self) -> u64 {
        self.flow_id
    }
    fn priority(&self) -> u8 {
        self.priority
    }
    fn host_hashes(&self) -> (u32, u32) {
        self.host_hashes
    }
    fn class(&self) -> u32 {
        self.class
    }
    fn set_dscp(&mut self, dscp: u8) {
        self.dscp = dscp;
    }
    fn translated_from(&self) -> Option<(u32, (u32, u32))> {
        self.translated_from
    }
    fn fwmark(&self) -> u32 {
        self.fwmark
    }
    fn tcp(&self) -> Option<TcpHeader> {
        self.tcp
    }
    fn departure(&self) -> Option<Instant> {
        self.departure
    }
    fn socket(&self) -> Option<Socket> {
        self.socket
    }
    fn arrival(&self) -> Instant {
        self.arrival
    }
    fn set_arrival(&mut self, now: Instant) {
        self.arrival = now;
    }
}

/// The packets of the tokens. It grows to its high-water mark and no further.
struct Waiting<P> {
    places: Vec<Option<P>>,
    free: Vec<u32>,
}

impl<P: Packet> Waiting<P> {
    /// Keeps `packet`, and returns its token, with the length `len`.
    fn keep(&mut self, packet: P, len: u32) -> Token {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() as u32 - 1
        });
        let token = Token {
            place,
            len,
            buffered: packet.buffered(packet.len()),
            ecn: packet.ecn(),
            dscp: packet.dscp(),
            priority: packet.priority(),
            class: packet.class(),
            flow_hash: packet.flow_hash(),
            flow_id: packet.flow_id(),
            host_hashes: packet.host_hashes(),
            translated_from: packet.translated_from(),
            fwmark: packet.fwmark(),
            tcp: packet.tcp(),
            departure: packet.departure(),
            socket: packet.socket(),
            arrival: packet.arrival(),
        };
        self.places[place as usize] = Some(packet);
        token
    }

    /// Returns the packet of `token`, with what the discipline changed in it.
    fn take(&mut self, token: &Token) -> Option<P> {
        let mut packet = self.places.get_mut(token.place as usize)?.take()?;
        self.free.push(token.place);
        if token.ecn == Ecn::Ce && packet.ecn() != Ecn::Ce {
            packet.set_ce();
        }
        if token.dscp != packet.dscp() {
            packet.set_dscp(token.dscp);
        }
        Some(packet)
    }
}

/// The owner of the tokens: hands their packets to the packets' owner.
struct Exchange<'a, P, O> {
    waiting: &'a mut Waiting<P>,
    owner: &'a mut O,
}

impl<P: Packet, O: Owner<P>> Owner<Token> for Exchange<'_, P, O> {
    fn dropped(&mut self, token: Token, why: Drop) {
        if let Some(packet) = self.waiting.take(&token) {
            self.owner.dropped(packet, why);
        }
    }
    fn marked(&mut self, token: &Token, why: Mark) {
        if let Some(Some(packet)) = self.waiting.places.get_mut(token.place as usize) {
            packet.set_ce();
            self.owner.marked(packet, why);
        }
    }
    fn duplicated(&mut self, token: &Token) -> Option<Token> {
        let packet = self.waiting.places.get(token.place as usize)?.as_ref()?;
        let copy = self.owner.duplicated(packet)?;
        Some(self.waiting.keep(copy, token.len))
    }
    fn corrupted(&mut self, token: &Token, flipped: Flipped) {
        if let Some(Some(packet)) = self.waiting.places.get(token.place as usize) {
            self.owner.corrupted(packet, flipped);
        }
    }
    fn host_hashes(&self, token: &Token) -> (u32, u32) {
        let packet = self.waiting.places.get(token.place as usize).and_then(Option::as_ref);
        packet.map_or(token.host_hashes, |packet| self.owner.host_hashes(packet))
    }
    fn ip_header(&self, token: &Token) -> IpHeader {
        let packet = self.waiting.places.get(token.place as usize).and_then(Option::as_ref);
        packet.map_or_else(IpHeader::default, |packet| self.owner.ip_header(packet))
    }
    fn fwmark(&self, token: &Token) -> u32 {
        let packet = self.waiting.places.get(token.place as usize).and_then(Option::as_ref);
        packet.map_or(token.fwmark, |packet| self.owner.fwmark(packet))
    }
    fn random_u16(&mut self) -> u16 {
        self.owner.random_u16()
    }
    fn random_u32(&mut self) -> u32 {
        self.owner.random_u32()
    }
    fn random_u64(&mut self) -> u64 {
        self.owner.random_u64()
    }
}

/// An owner behind a pointer, so that the discipline inside has one type of owner. With the owner's own type the
/// compiler would build disciplines inside disciplines without end.
struct Any<'a>(&'a mut (dyn Owner<Token> + 'a));

impl Owner<Token> for Any<'_> {
    fn dropped(&mut self, token: Token, why: Drop) {
        self.0.dropped(token, why);
    }
    fn marked(&mut self, token: &Token, why: Mark) {
        self.0.marked(token, why);
    }
    fn duplicated(&mut self, token: &Token) -> Option<Token> {
        self.0.duplicated(token)
    }
    fn corrupted(&mut self, token: &Token, flipped: Flipped) {
        self.0.corrupted(token, flipped);
    }
    fn host_hashes(&self, token: &Token) -> (u32, u32) {
        self.0.host_hashes(token)
    }
    fn ip_header(&self, token: &Token) -> IpHeader {
        self.0.ip_header(token)
    }
    fn fwmark(&self, token: &Token) -> u32 {
        self.0.fwmark(token)
    }
    fn random_u16(&mut self) -> u16 {
        self.0.random_u16()
    }
    fn random_u32(&mut self) -> u32 {
        self.0.random_u32()
    }
    fn random_u64(&mut self) -> u64 {
        self.0.random_u64()
    }
}

/// A discipline with a table in front of it.
pub struct Stab<P> {
    inner: Box<AnyQdisc<Token>>,
    table: Table,
    waiting: Waiting<P>,
    /// The parameters of the discipline, and those of the table.
    args: Args,
}

impl<P: Packet> Stab<P> {
    /// Builds the discipline of `args` behind their table, `words`.
    pub(crate) fn build(args: &Args, words: &Args, link: &Link) -> Result<Self, Error> {
        let inner = Box::new(AnyQdisc::build(&args.without_stab(), link)?);
        let waiting = Waiting { places: Vec::new(), free: Vec::new() };
        Ok(Self { inner, table: Table::new(words), waiting, args: args.clone() })
    }

    /// Returns the parameters of the discipline, and those of the table.
    pub(crate) fn args(&self) -> &Args {
        &self.args
    }

    /// Returns the link below.
    pub(crate) fn link(&self) -> Link {
        self.inner.link()
    }

    /// Changes parameters and link as [`crate::Discipline::change`] does. Another table counts for packets that arrive
    /// later.
    pub(crate) fn reconfigure<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: Args,
        link: Link,
        owner: &mut O,
    ) -> Result<(), Error> {
        let mut exchange = Exchange { waiting: &mut self.waiting, owner };
        self.inner.reconfigure(now, args.without_stab(), link, &mut Any(&mut exchange))?;
        self.table = args.stab().map_or_else(|| self.table.clone(), Table::new);
        self.args = args;
        Ok(())
    }

    /// Carries out the change of the tree behind the table.
    pub(crate) fn change_tree<O: Owner<P>>(
        &mut self,
        now: Instant,
        mut change: Change,
        owner: &mut O,
    ) -> Result<(), Error> {
        let args = change.args.clone();
        change.args = args.without_stab();
        let mut exchange = Exchange { waiting: &mut self.waiting, owner };
        self.inner.change_tree(now, change, &mut Any(&mut exchange))?;
        self.args = args;
        Ok(())
    }
}

impl<P: Packet> Qdisc<P> for Stab<P> {
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, mut packet: P, owner: &mut O) -> Enqueued {
        packet.set_arrival(now);
        let len = self.table.size(packet.len());
        let token = self.waiting.keep(packet, len);
        self.inner.enqueue(now, token, &mut Any(&mut Exchange { waiting: &mut self.waiting, owner }))
    }

    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        let mut exchange = Exchange { waiting: &mut self.waiting, owner };
        let token = self.inner.dequeue(now, &mut Any(&mut exchange))?;
        self.waiting.take(&token)
    }

    fn next_timer(&self) -> Option<Instant> {
        self.inner.next_timer()
    }

    fn paces_sockets(&self) -> bool {
        self.inner.paces_sockets()
    }

    fn is_work_conserving(&self) -> bool {
        self.inner.is_work_conserving()
    }

    fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) {
        self.inner.on_timer(now, &mut Any(&mut Exchange { waiting: &mut self.waiting, owner }));
    }

    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }

    fn probe(&self, probe: &mut dyn Probe) {
        self.inner.probe(probe);
    }
}

#[cfg(test)]
mod tests;
