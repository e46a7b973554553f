//! Which packet leaves next: the tin's turn, the flow's turn in the tin, and the verdict of the flow's COBALT.

use super::{Cake, heap};
use crate::packet::Packet;
use crate::signal::Owner;
use goodqueue_units::Instant;

impl<P: Packet> Cake<P> {
    /// Sets the current tin to the tin whose turn it is. Returns false if no tin has anything to send.
    #[inline]
    pub(super) fn choose_tin(&mut self, now: Instant) -> bool {
        if self.shaper.pace.is_unlimited() { self.choose_by_deficit() } else { self.choose_by_schedule(now) }
    }

    /// Chooses a tin in rounds, each tin with its quantum.
    fn choose_by_deficit(&mut self) -> bool {
        let (mut wrapped, mut busy) = (false, false);
        loop {
            let turn = &mut self.turns[self.current_tin];
            if turn.deficit >= 0 && turn.is_busy {
                return true;
            }
            if turn.deficit <= 0 {
                turn.deficit += turn.quantum;
            }
            busy |= turn.is_busy;
            self.current_tin += 1;
            if self.current_tin == self.tins.len() {
                self.current_tin = 0;
                if wrapped && !busy {
                    return false;
                }
                wrapped = true;
            }
        }
    }

    /// Chooses the last of the busy tins that are within their share, or otherwise the tin that is due first.
    fn choose_by_schedule(&mut self, now: Instant) -> bool {
        let mut earliest = None;
        for index in (0..self.tins.len()).filter(|index| self.turns[*index].is_busy) {
            let wait = self.tins[index].next.since(now);
            if earliest.is_none_or(|(least, _)| wait <= least) {
                earliest = Some((wait, index));
            }
        }
        self.current_tin = earliest.map_or(0, |(_, index)| index);
        earliest.is_some()
    }

    /// Goes round the current tin until a flow sends a packet, until a flow proves empty, or until the tin has no
    /// flow.
    pub(super) fn serve<O: Owner<P>>(&mut self, now: Instant, first: &mut bool, owner: &mut O) -> Option<P> {
        loop {
            let tin = &mut self.tins[self.current_tin];
            let flow = tin.turn(*first)?;
            self.current_flow = flow;
            *first = false;
            if tin.flows[usize::from(flow)].deficit <= 0 {
                tin.put_off(flow, || owner.random_u16());
                continue;
            }
            match self.take(now, owner) {
                Taken::Packet(packet) => return Some(packet),
                Taken::Charged => {}
                Taken::Nothing => {
                    let tin = &mut self.tins[self.current_tin];
                    tin.retire(flow, now);
                    self.turns[self.current_tin].is_busy = tin.is_busy();
                    return None;
                }
            }
        }
    }

    /// Takes a packet of the current flow through its COBALT.
    fn take<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Taken<P> {
        let (index, flow) = (self.current_tin, self.current_flow);
        loop {
            let Some(mut packet) = self.pull(index, flow) else { return Taken::Nothing };
            self.longest.shrank(heap::key(index, flow), &self.tins);
            let tin = &mut self.tins[index];
            let busy_flows = if self.ingress { tin.counts.bulk } else { 0 };
            let state = &mut tin.flows[usize::from(flow)];
            let verdict = state.law.judge(&tin.share.law, now, &mut packet, busy_flows, owner);
            let Some(why) = verdict.drop.filter(|_| !state.queue.is_empty()) else {
                tin.tally.marked += u64::from(verdict.marked);
                tin.tally.delay(now.since(packet.arrival()));
                self.charge_turn(index, flow, now, &packet, false);
                return Taken::Packet(packet);
            };
            tin.tally.dropped += 1;
            if self.ingress {
                self.charge_turn(index, flow, now, &packet, true);
            }
            owner.dropped(packet, why);
            if self.ingress {
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
        let turn = &mut self.turns[tin];
        turn.deficit = turn.deficit.wrapping_sub_unsigned(bytes);
    }
}

/// The result of a flow's turn.
enum Taken<P> {
    Packet(P),
    /// A packet was dropped and the flow charged for it, so the turn must be chosen anew.
    Charged,
    Nothing,
}
