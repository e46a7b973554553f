//! Which packet leaves next: the tin's turn, the flow's turn in the tin, and the verdict of the flow's COBALT.

use super::{Cake, heap};
use crate::packet::Packet;
use crate::signal::Owner;
use goodqueue_units::Instant;

impl<P: Packet> Cake<P> {
    /// Sets the current tin to the tin whose turn it is. Returns false if no tin has anything to send.
    #[inline]
    pub(super) fn choose_tin(&mut self, now: Instant) -> bool {
        if self.pace().is_unlimited() { self.choose_by_deficit() } else { self.choose_by_schedule(now) }
    }

    /// Chooses a tin in rounds, each tin with its quantum.
    fn choose_by_deficit(&mut self) -> bool {
        let (mut wrapped, mut busy) = (false, false);
        let tins = self.setup.tins;
        let mut at = usize::from(self.current_tin);
        loop {
            let (deficit, is_busy) = (&mut self.deficits[at], self.busy >> at & 1 != 0);
            if *deficit >= 0 && is_busy {
                self.current_tin = at as u8;
                return true;
            }
            if *deficit <= 0 {
                *deficit += self.setup.shares[at].tin_quantum;
            }
            busy |= is_busy;
            at += 1;
            if at == tins {
                at = 0;
                if wrapped && !busy {
                    self.current_tin = 0;
                    return false;
                }
                wrapped = true;
            }
        }
    }

    /// Chooses the last of the busy tins that are within their share, or otherwise the tin that is due first.
    fn choose_by_schedule(&mut self, now: Instant) -> bool {
        let mut earliest = None;
        for index in (0..self.setup.tins).filter(|index| self.busy >> index & 1 != 0) {
            let wait = self.tins[index].next.since(now);
            if earliest.is_none_or(|(least, _)| wait <= least) {
                earliest = Some((wait, index));
            }
        }
        self.current_tin = earliest.map_or(0, |(_, index)| index as u8);
        earliest.is_some()
    }

    /// Goes round the current tin until a flow sends a packet, until a flow proves empty, or until the tin has no
    /// flow.
    pub(super) fn serve<O: Owner<P>>(&mut self, now: Instant, first: &mut bool, owner: &mut O) -> Option<P> {
        let number = usize::from(self.current_tin);
        loop {
            let (tin, share) = (&mut self.tins[number], &self.setup.shares[number]);
            let position = tin.turn(*first)?;
            let flow = &tin.flows[position];
            self.current_flow = flow.place;
            *first = false;
            if flow.deficit <= 0 {
                tin.put_off(position, share, || owner.random_u16());
                continue;
            }
            match self.take(number, position, now, owner) {
                Taken::Packet(packet) => return Some(packet),
                Taken::Charged => {}
                Taken::Nothing => {
                    self.tins[number].retire(position, &self.setup.shares[number], now);
                    self.note_busy(number);
                    return None;
                }
            }
        }
    }

    /// Takes a packet of the flow at `flow` of a tin through its COBALT.
    fn take<O: Owner<P>>(&mut self, index: usize, flow: u16, now: Instant, owner: &mut O) -> Taken<P> {
        loop {
            let Some(mut packet) = self.pull(index, flow) else { return Taken::Nothing };
            if let Some(longest) = &mut self.longest {
                longest.shrank(heap::key(index, self.current_flow), &self.tins);
            }
            let ingress = self.setup.ingress;
            let tin = &mut self.tins[index];
            let busy_flows = if ingress { tin.counts.bulk.into() } else { 0 };
            let state = &mut tin.flows[flow];
            let law = &self.setup.shares[index].law;
            let verdict = state.law.judge(law, now, &mut packet, busy_flows, owner);
            let Some(why) = verdict.drop.filter(|_| !state.queue.is_empty()) else {
                tin.tally.marked += u64::from(verdict.marked);
                tin.delay(now.since(packet.arrival()));
                self.charge_turn(index, flow, now, &packet, false);
                return Taken::Packet(packet);
            };
            tin.tally.dropped += 1;
            if ingress {
                self.charge_turn(index, flow, now, &packet, true);
            }
            owner.dropped(packet, why);
            if ingress {
                return Taken::Charged;
            }
        }
    }
}

impl<P: Packet> Cake<P> {
    /// Charges the clocks, and the turns of a tin and of its flow, with a packet.
    #[inline]
    fn charge_turn(&mut self, tin: usize, flow: u16, now: Instant, packet: &P, dropped: bool) {
        let bytes = self.charge(tin, now, packet, dropped);
        self.tins[tin].charge(flow, bytes);
        // With a shaper the tin's deficit is not read, so it falls without end. Linux's wraps.
        self.deficits[tin] = self.deficits[tin].wrapping_sub_unsigned(bytes);
    }
}

/// The result of a flow's turn.
enum Taken<P> {
    Packet(P),
    /// A packet was dropped and the flow charged for it, so the turn must be chosen anew.
    Charged,
    Nothing,
}
