//! SFQ: stochastic fairness queueing.
//!
//! Source: McKenney, "Stochastic Fairness Queueing", INFOCOM 1990, in the variant that Linux runs, tc-sfq(8). A flow
//! is hashed to a bucket. A bucket that holds packets has a slot. The slots are served in rounds of `quantum` bytes.
//! Linux differs from the paper in these points:
//!
//! - a full discipline drops from the slot that is longest in packets, at its tail (or, with `headdrop`, at its
//!   head). Of several longest slots, it takes the one that reached that length last;
//! - a slot has at most `depth` packets, a discipline at most `flows` slots;
//! - a packet that empties its slot is not charged, and the slot is given up: the flow begins again as a newcomer;
//! - a new flow waits for the end of the round. No flow is served first.
//!
//! With `redflowlimit` each slot also runs RED: see `red`.
//!
//! Hashes are perturbed with two keys of 64 bits. They are drawn at the first packet and then every `perturb`
//! seconds, when all packets are distributed anew. The timer wheel rounds these up: `perturb 1` is 1.024 s. The use of
//! the keys follows the golden traces, because the kernel's own hash sees addresses that a [`Packet`] does not have.

mod params;
mod red;

use super::lengths::{Lengths, Slot};
use super::slab::{Chain, NIL, Slab};
use crate::aqm::{Periodic, jiffies};
use crate::discipline::Discipline;
use crate::kept::Look;
use crate::packet::Packet;
use crate::param::{Args, Error, Link, QdiscSpec};
use crate::qdisc::{Backlog, Enqueued, Measure, Probe, Qdisc, Raw};
use crate::signal::{Drop, Owner};
use alloc::format;
use alloc::vec::Vec;
use goodqueue_units::{Duration, Instant};
use params::{DEPTH, DIVISOR, FLOWS, HEADDROP, LIMIT, MOST_DEPTH, MOST_FLOWS, PARAMS, PERTURB, QUANTUM};
use red::SlotRed;
pub use red::asked;

/// `tc`'s `sfq`.
#[derive(Clone, Debug)]
pub struct Sfq<P> {
    packets: Slab<P>,
    slots: Vec<Slot>,
    /// The slot of each bucket, or [`NIL`].
    buckets: Vec<u32>,
    lengths: Lengths,
    /// The slot served last in a round. The slot behind it is next. [`NIL`]: no packet waits.
    tail: u32,
    backlog: Backlog,
    limit: u32,
    depth: u32,
    quantum: i32,
    headdrop: bool,
    red: Option<SlotRed>,
    keys: Option<[u64; 2]>,
    timer: Option<Periodic>,
    kept: Option<P>,
}

impl<P: Packet> Discipline<P> for Sfq<P> {
    const SPEC: QdiscSpec = QdiscSpec::new("sfq", PARAMS)
        .summary("Stochastic fairness: flows in rounds, no control law; drops from the longest")
        .source("McKenney, INFOCOM 1990; tc-sfq(8)")
        .settle(settle);

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let (divisor, flows, depth) = (args.get(&DIVISOR), args.get(&FLOWS), args.get(&DEPTH));
        if !divisor.is_power_of_two() {
            return Err(Error(format!("sfq divisor: found {divisor}; accepted: a power of two")));
        }
        let red = SlotRed::build(args, flows as usize)?;
        let (slots, lengths) = Lengths::of(flows as usize, depth as usize);
        let perturb = Duration::from_secs(args.get(&PERTURB).into());
        let period = jiffies::timer(perturb);
        Ok(Self {
            packets: Slab::default(),
            slots,
            buckets: alloc::vec![NIL; divisor as usize],
            lengths,
            tail: NIL,
            backlog: Backlog::default(),
            limit: args.get(&LIMIT).min(depth * flows),
            depth,
            quantum: args.get(&QUANTUM).unwrap_or(link.mtu.into()).clamp(1, i32::MAX as u64) as i32,
            headdrop: args.get(&HEADDROP),
            red,
            keys: None,
            timer: (perturb > Duration::ZERO).then(|| Periodic::new(period, period)),
            kept: None,
        })
    }

    /// Does nothing: all parameters are fixed, and nothing follows from the link's rate.
    fn change<O: Owner<P>>(&mut self, _: Instant, _: &Args, _: &Link, _: &mut O) -> Result<(), Error> {
        Ok(())
    }

    fn look(&mut self) -> Look<'_, P> {
        Look::Beside(&mut self.kept, &mut self.backlog)
    }
}

/// Limits the slots to the number of buckets and to the line's limit in packets, as Linux does at set-up (and the
/// golden headers show). Without a limit in the line there are more slots than packets. A canonical line gives both:
/// so the default limit beside more flows means a line without a limit.
fn settle(args: &mut Args) {
    let limit = args.get(&LIMIT);
    let mut flows = args.get(&FLOWS).min(MOST_FLOWS).min(args.get(&DIVISOR)); // there are never more flows than buckets
    if args.is_given(LIMIT.name()) && !(args.is_given(FLOWS.name()) && limit == 127) {
        flows = flows.min(limit);
    }
    args.put(&FLOWS, flows);
    args.put(&DEPTH, args.get(&DEPTH).min(MOST_DEPTH));
}

impl<P: Packet> Qdisc<P> for Sfq<P> {
    #[inline]
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, packet: P, owner: &mut O) -> Enqueued {
        let keys = *self.keys.get_or_insert_with(|| first_keys(self.timer.is_some(), owner));
        self.admit(now, self.bucket(&packet, keys), packet, owner)
    }

    #[cfg(feature = "complete")]
    fn enqueue_into<O: Owner<P>>(
        &mut self,
        now: Instant,
        packet: P,
        classid: Option<crate::tree::Id>,
        owner: &mut O,
    ) -> Option<Enqueued> {
        match classid.and_then(|id| id.queue(self.buckets.len() as u32)) {
            Some(bucket) => Some(self.admit(now, bucket, packet, owner)),
            None => {
                owner.dropped(packet, Drop::Overlimit);
                None
            }
        }
    }

    #[inline]
    fn dequeue<O: Owner<P>>(&mut self, _now: Instant, _owner: &mut O) -> Option<P> {
        let slot = self.next_slot()?;
        let packet = self.take(slot, false)?;
        self.served(slot, packet.len());
        Some(packet)
    }

    #[inline]
    fn dequeue_to<O: Owner<P>, R>(
        &mut self,
        _now: Instant,
        _owner: &mut O,
        send: impl FnOnce(&P, u32) -> R,
    ) -> Option<R> {
        let slot = self.next_slot()?;
        let queue = &mut self.slots[slot as usize].queue;
        let head = self.packets.head(*queue)?;
        let len = head.len();
        let sent = send(head, len);
        self.packets.drop_head(queue);
        self.count_out(slot, len);
        self.served(slot, len);
        Some(sent)
    }

    #[inline]
    fn pass(&mut self, _now: Instant, packet: &P) -> Option<u32> {
        // The bucket would take the newest free slot and give it back.
        let is_free = self.backlog.packets == 0 && self.keys.is_some() && self.red.is_none();
        (is_free && self.limit > 0 && self.depth > 0).then(|| packet.len())
    }

    fn next_timer(&self) -> Option<Instant> {
        self.timer.map(|timer| timer.due())
    }

    fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) {
        let Some(timer) = &mut self.timer else { return };
        timer.fired(now);
        let keys = [owner.random_u64(), owner.random_u64()];
        self.keys = Some(keys);
        self.deal_anew(now, keys, owner);
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn probe(&self, probe: &mut dyn Probe) {
        let active = self.slots.iter().filter(|slot| slot.packets > 0).count();
        probe.integer("active", active as i128);
        let longest = self.lengths.longest();
        probe.measured("cur_depth", Raw::Integer(longest as i128), Measure::Packets(Some(longest as f64)));
        let [k0, k1] = self.keys.unwrap_or_default();
        probe.measured("k0", k0.into(), Measure::Internal);
        probe.measured("k1", k1.into(), Measure::Internal);
        let mut at = self.tail;
        for name in ["ring0", "ring1", "ring2", "ring3"].into_iter().take(active) {
            at = self.slots[at as usize].next;
            let Slot { bucket, packets, allot, bytes, .. } = self.slots[at as usize];
            // RED's average, count and random number, with their first values if there is no RED.
            let (qavg, qcount, q_r) = self.red.as_ref().map_or((0, -1, 0), |red| red.shown(at));
            probe.text(name, format!("{at}:{bucket}:{packets}:{allot}:{bytes}:{qavg}:{qcount}:{q_r}"));
        }
        if let Some(red) = &self.red {
            red.probe(probe);
        }
    }
}

/// Draws the keys at set-up. Linux draws them once more if they are perturbed later.
fn first_keys<P, O: Owner<P>>(perturbed: bool, owner: &mut O) -> [u64; 2] {
    let keys = [owner.random_u64(), owner.random_u64()];
    if perturbed { [owner.random_u64(), owner.random_u64()] } else { keys }
}

impl<P: Packet> Sfq<P> {
    /// Takes `packet` into the queue of `bucket`.
    #[inline]
    fn admit<O: Owner<P>>(&mut self, now: Instant, bucket: u32, mut packet: P, owner: &mut O) -> Enqueued {
        packet.set_arrival(now);
        let Some((slot, new)) = self.slot_of(bucket) else {
            owner.dropped(packet, Drop::Overlimit);
            return Enqueued::Dropped;
        };
        let mut condemned = (self.slots[slot as usize].packets >= self.depth).then_some(Drop::Flow);
        if self.red.is_some() {
            condemned = self.ask_red(now, (slot, new), &mut packet, owner).or(condemned);
        }
        if let Some(why) = condemned {
            if !self.headdrop {
                owner.dropped(packet, why);
                return Enqueued::Dropped;
            }
            // The flow keeps its place in the round and its length, so only the packets are exchanged.
            self.take(slot, false).into_iter().for_each(|oldest| owner.dropped(oldest, why));
            self.put(slot, packet);
            return Enqueued::Congestion;
        }
        self.add(slot, packet);
        if self.backlog.packets <= self.limit {
            return Enqueued::Success;
        }
        if self.overflow(owner) == slot { Enqueued::Congestion } else { Enqueued::Success }
    }

    fn bucket(&self, packet: &P, [k0, k1]: [u64; 2]) -> u32 {
        let x = (u64::from(packet.flow_hash()) ^ k0).wrapping_add(k1);
        // The finaliser of splitmix64 (Steele, Lea, Flood 2014).
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) as u32 & (self.buckets.len() as u32 - 1)
    }

    /// Returns the slot of `bucket`, and whether it is a free slot that the bucket now takes. `None`: no slot is
    /// free.
    fn slot_of(&mut self, bucket: u32) -> Option<(u32, bool)> {
        let known = self.buckets[bucket as usize];
        if known != NIL {
            return Some((known, false));
        }
        let free = self.lengths.newest(0);
        let slot = self.slots.get_mut(free as usize)?; // NIL is never a slot
        slot.bucket = bucket;
        self.buckets[bucket as usize] = free;
        Some((free, true))
    }

    /// Returns why RED drops a packet of the slot: `packet`, or with `headdrop` the oldest.
    #[inline(never)] // keeps this code out of plain SFQ's path
    fn ask_red<O: Owner<P>>(
        &mut self,
        now: Instant,
        (slot, new): (u32, bool),
        packet: &mut P,
        owner: &mut O,
    ) -> Option<Drop> {
        let red = self.red.as_mut()?;
        if new {
            red.restart(slot);
        }
        let Slot { queue, bytes, .. } = self.slots[slot as usize];
        let head = if self.headdrop { self.packets.head_mut(queue) } else { None };
        red.condemn(now, (slot, bytes), head, packet, owner)
    }

    /// Appends `packet` to a slot and counts it. The caller updates the slot's length in `lengths`.
    fn put(&mut self, slot: u32, packet: P) {
        let len = u64::from(packet.len());
        let slot = &mut self.slots[slot as usize];
        (slot.packets, slot.bytes) = (slot.packets + 1, slot.bytes + len);
        self.backlog.packets += 1;
        self.backlog.bytes += len;
        self.packets.push(&mut slot.queue, packet);
    }

    /// Takes a packet from a slot, at the head or the `tail`. The reverse of [`Sfq::put`].
    fn take(&mut self, slot: u32, tail: bool) -> Option<P> {
        let queue = &mut self.slots[slot as usize].queue;
        let packet = if tail { self.packets.pop_tail(queue) } else { self.packets.pop(queue) }?;
        self.count_out(slot, packet.len());
        Some(packet)
    }

    /// Counts that a packet of `len` bytes has left a slot. The caller updates the slot's length in `lengths`.
    #[inline]
    fn count_out(&mut self, slot: u32, len: u32) {
        let slot = &mut self.slots[slot as usize];
        (slot.packets, slot.bytes) = (slot.packets - 1, slot.bytes - u64::from(len));
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(len);
    }

    /// Returns the slot whose turn it is. The others before it get their share of the next round.
    #[inline]
    fn next_slot(&mut self) -> Option<u32> {
        let mut tail = self.tail;
        let slot = loop {
            let slot = self.slots.get(tail as usize)?.next; // NIL is never a slot
            let allot = &mut self.slots[slot as usize].allot;
            if *allot > 0 {
                break slot;
            }
            *allot += self.quantum;
            tail = slot;
        };
        self.tail = tail;
        Some(slot)
    }

    /// Notes that the slot whose turn it was has sent a packet of `len` bytes.
    #[inline]
    fn served(&mut self, slot: u32, len: u32) {
        let left = &mut self.slots[slot as usize];
        let length = left.packets;
        left.allot = left.allot.saturating_sub_unsigned(if length == 0 { 0 } else { len });
        self.lengths.moved(&mut self.slots, slot, length + 1);
        if length == 0 {
            self.leave_round(slot);
        }
    }

    /// Adds `packet` to a slot that is not full. A flow without waiting packets comes last in the round.
    fn add(&mut self, index: u32, packet: P) {
        self.put(index, packet);
        let length = self.slots[index as usize].packets;
        self.lengths.moved(&mut self.slots, index, length - 1);
        if length > 1 {
            return;
        }
        self.slots[index as usize].allot = self.quantum;
        let first = self.slots.get(self.tail as usize).map_or(index, |tail| tail.next);
        self.slots[index as usize].next = first;
        if let Some(tail) = self.slots.get_mut(self.tail as usize) {
            tail.next = index;
        }
        self.tail = index;
    }

    /// Takes a packet from a slot, at the head or the `tail`, and updates the slot's length.
    fn shorten(&mut self, slot: u32, tail: bool) -> Option<P> {
        let packet = self.take(slot, tail)?;
        let length = self.slots[slot as usize].packets;
        self.lengths.moved(&mut self.slots, slot, length + 1);
        Some(packet)
    }

    /// Gives up `slot`, which is the slot behind the tail and has no packets left.
    fn leave_round(&mut self, slot: u32) {
        let Slot { bucket, next, .. } = self.slots[slot as usize];
        self.buckets[bucket as usize] = NIL;
        if next == slot {
            self.tail = NIL;
        } else {
            self.slots[self.tail as usize].next = next;
        }
    }

    /// Drops a packet of the longest slot, and returns the slot. If all slots hold one packet, it is the slot to be
    /// served next.
    #[cold]
    fn overflow<O: Owner<P>>(&mut self, owner: &mut O) -> u32 {
        let longest = self.lengths.longest();
        let victim =
            if longest > 1 { self.lengths.newest(longest) } else { self.slots[self.tail as usize].next };
        let packet = self.shorten(victim, !self.headdrop);
        packet.into_iter().for_each(|packet| owner.dropped(packet, Drop::Flow));
        if longest == 1 {
            self.leave_round(victim);
        }
        victim
    }

    /// Takes all packets out, slot by slot, and puts them into the buckets of the new keys.
    fn deal_anew<O: Owner<P>>(&mut self, now: Instant, keys: [u64; 2], owner: &mut O) {
        let mut all = Chain::default();
        for slot in 0..self.slots.len() as u32 {
            // RED begins anew in the slots that were busy. A slot that was free and is taken below has the average of
            // the flow that left it.
            if let Some(red) = self.red.as_mut().filter(|_| self.slots[slot as usize].packets > 0) {
                red.restart(slot);
            }
            let waiting = core::mem::take(&mut self.slots[slot as usize].queue);
            // The length falls by one packet at a time, because the order of the free slots follows from it.
            while self.slots[slot as usize].packets > 0 {
                self.slots[slot as usize].packets -= 1;
                let length = self.slots[slot as usize].packets;
                self.lengths.moved(&mut self.slots, slot, length + 1);
                self.buckets[self.slots[slot as usize].bucket as usize] = NIL;
            }
            self.slots[slot as usize].bytes = 0;
            self.packets.append(&mut all, waiting);
        }
        let kept = self.kept.as_ref().map(|packet| u64::from(packet.len()));
        self.backlog = Backlog { packets: u32::from(kept.is_some()), bytes: kept.unwrap_or(0) };
        self.tail = NIL;
        while let Some(packet) = self.packets.pop(&mut all) {
            match self.slot_of(self.bucket(&packet, keys)) {
                None => owner.dropped(packet, Drop::Overlimit),
                Some((slot, _)) if self.slots[slot as usize].packets >= self.depth => {
                    owner.dropped(packet, Drop::Flow);
                }
                Some((slot, _)) => {
                    let bytes = self.slots[slot as usize].bytes;
                    self.red.iter_mut().for_each(|red| red.arrive(now, slot, bytes));
                    self.add(slot, packet);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
