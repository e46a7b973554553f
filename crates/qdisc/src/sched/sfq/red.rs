//! RED in each of SFQ's slots: `redflowlimit` and the words that go with it.
//!
//! Source: tc-sfq(8). The law is that of [`crate::aqm::red`], on the bytes of one slot. Linux's differences are:
//!
//! - an idle link does not matter: an emptied slot is given up, and its next flow begins with an average of 0. The
//!   random number of the last draw stays;
//! - with `headdrop` the slot's oldest packet is marked instead of the arriving one. If the oldest packet is not
//!   ECN-capable, the arrival is marked. If neither is, the oldest packet is dropped and the arrival queued;
//! - `redflowlimit` only gives the default of `max`. It does not limit the bytes of a slot.

use super::params::{MAX, MIN, REDFLOWLIMIT};
use crate::aqm::mark;
use crate::aqm::red::{AVPKT, Asked, BURST, HARDDROP, PROBABILITY, Params, Scale, Vars, Verdict};
use crate::packet::Packet;
use crate::param::{Args, ECN, Error};
use crate::qdisc::Probe;
use crate::signal::{Drop, Mark, Owner};
use alloc::format;
use alloc::vec::Vec;
use goodqueue_units::Instant;

/// The law's parameters, and its state for each slot.
#[derive(Clone, Debug)]
pub(super) struct SlotRed {
    params: Params,
    vars: Vec<Vars>,
    ecn: bool,
    harddrop: bool,
    prob: Counts,
    forced: Counts,
}

/// The counters that `tc -s` shows.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    drop: u64,
    mark: u64,
    mark_head: u64,
}

/// Words that mean nothing without `redflowlimit`.
const WORDS: [&str; 7] =
    [MIN.name(), MAX.name(), PROBABILITY.name(), AVPKT.name(), BURST.name(), ECN.name(), HARDDROP.name()];

/// Reads RED's settings of a line, if the line asks for RED.
#[must_use]
pub fn asked(args: &Args) -> Option<Asked> {
    let limit = args.get(&REDFLOWLIMIT)?;
    Some(Asked::new(args, Scale::Bytes, limit, args.get(&MIN), args.get(&MAX)))
}

impl SlotRed {
    /// Builds the law for `slots` slots. `None`: the line does not ask for RED.
    pub(super) fn build(args: &Args, slots: usize) -> Result<Option<Self>, Error> {
        let Some(asked) = asked(args) else {
            let defaults = Args::defaults(args.spec); // as the canonical line gives them
            let idle =
                WORDS.iter().find(|word| args.is_given(word) && args.value(word) != defaults.value(word));
            return match idle {
                Some(word) => Err(Error(format!("sfq {word}: has a meaning only with redflowlimit"))),
                None => Ok(None),
            };
        };
        let params = asked.set_up(None)?;
        Ok(Some(Self {
            vars: alloc::vec![Vars::new(&params, asked.max_p()); slots],
            params,
            ecn: args.get(&ECN),
            harddrop: args.get(&HARDDROP),
            prob: Counts::default(),
            forced: Counts::default(),
        }))
    }

    /// Starts `slot` anew, for another flow.
    pub(super) fn restart(&mut self, slot: u32) {
        self.vars[slot as usize].restart();
    }

    /// Notes that a packet comes to a slot that holds `bytes`.
    pub(super) fn arrive(&mut self, now: Instant, slot: u32, bytes: u64) {
        self.vars[slot as usize].arrive(&self.params, now, bytes);
    }

    /// Returns why a packet must be dropped when `packet` comes to a slot of so many bytes. `None`: RED lets it pass,
    /// or marks a packet. This is the slot's `head` if that is given and ECN-capable, otherwise `packet`.
    pub(super) fn condemn<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        (slot, bytes): (u32, u64),
        head: Option<&mut P>,
        packet: &mut P,
        owner: &mut O,
    ) -> Option<Drop> {
        self.arrive(now, slot, bytes);
        let verdict = self.vars[slot as usize].decide(&self.params, || owner.random_u32());
        let (counts, hard, as_mark, as_drop) = match verdict {
            Verdict::Pass => return None,
            Verdict::Early => (&mut self.prob, false, Mark::Early, Drop::Early),
            Verdict::Forced => (&mut self.forced, self.harddrop, Mark::Forced, Drop::Forced),
        };
        if self.ecn && !hard {
            if head.is_some_and(|head| mark(head, as_mark, owner)) {
                counts.mark_head += 1;
                return None;
            }
            if mark(packet, as_mark, owner) {
                counts.mark += 1;
                return None;
            }
        }
        counts.drop += 1;
        Some(as_drop)
    }

    /// Returns a slot's average, count and random number.
    pub(super) fn shown(&self, slot: u32) -> (u64, i32, u32) {
        self.vars[slot as usize].shown()
    }

    /// Shows the counters under Linux's names.
    pub(super) fn probe(&self, probe: &mut dyn Probe) {
        probe.integer("prob_drop", self.prob.drop.into());
        probe.integer("forced_drop", self.forced.drop.into());
        probe.integer("prob_mark", self.prob.mark.into());
        probe.integer("forced_mark", self.forced.mark.into());
        probe.integer("prob_mark_head", self.prob.mark_head.into());
        probe.integer("forced_mark_head", self.forced.mark_head.into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Noted;
    use super::super::Sfq;
    use crate::discipline::Discipline;
    use crate::packet::Plain;
    use crate::param::{Args, Error, Link};
    use crate::qdisc::{Enqueued, Qdisc};
    use crate::signal::{Drop, Mark, Owner};
    use goodqueue_units::{Duration, Ecn, Instant, Rate};
    use std::format;
    use std::vec::Vec;

    fn sfq(words: &str) -> Result<Sfq<Plain>, Error> {
        let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
        Sfq::build(&Args::parse(&Sfq::<Plain>::SPEC, words)?, &link)
    }

    /// Offers packets of 1000 bytes of one flow, with thresholds of 1000 and 3000 bytes.
    ///
    /// A burst of 1 over 1 packet makes the weight 1/2, so the average is kept doubled, and so are the thresholds:
    /// 2000 and 6000. With 0 to 4 packets waiting the average is 0, 1000, 500 + 2000 = 2500, 1250 + 3000 = 4250, 2125 +
    /// 4000 = 6125. The third packet draws, and the owner's 0 makes a drop due at the fourth. The fifth finds the
    /// average above max.
    fn offer(words: &str, codepoints: &[Ecn]) -> (Sfq<Plain>, Noted, Vec<Enqueued>) {
        let mut sfq = sfq(&format!("redflowlimit 100000 min 1000 max 3000 burst 1 {words}")).unwrap();
        let mut owner = Noted::default();
        let packets = codepoints.iter().zip(0..).map(|(ecn, id)| Plain { id, ecn: *ecn, ..Plain::new(1000) });
        let told = packets.map(|packet| sfq.enqueue(Instant::ZERO, packet, &mut owner)).collect();
        (sfq, owner, told)
    }

    #[test]
    fn a_drop_takes_the_arrival_or_the_oldest() {
        let (_, owner, told) = offer("", &[Ecn::Ect0; 4]);
        assert_eq!((owner.dropped, told[3]), ([3].to_vec(), Enqueued::Dropped));
        let (mut sfq, mut owner, told) = offer("headdrop", &[Ecn::Ect0; 4]);
        assert_eq!((owner.dropped.clone(), told[3]), ([0].to_vec(), Enqueued::Congestion));
        let left = core::iter::from_fn(|| sfq.dequeue(Instant::ZERO, &mut owner)).map(|packet| packet.id);
        assert_eq!(left.collect::<Vec<_>>(), [1, 2, 3]);
    }

    /// With `headdrop` the oldest packet must be marked if possible, otherwise the arrival. If neither can be marked,
    /// the oldest must be dropped.
    #[test]
    fn a_mark_goes_to_the_oldest_that_can_be_marked() {
        use Ecn::{Ce, Ect0, NotEct};
        type Row = (&'static str, [Ecn; 4], &'static [u64], &'static [u64]);
        let table: [Row; 6] = [
            ("ecn", [Ect0; 4], &[3], &[]),
            ("ecn", [Ect0, Ect0, Ect0, NotEct], &[], &[3]),
            ("ecn headdrop", [Ect0; 4], &[0], &[]),
            ("ecn headdrop", [NotEct, Ect0, Ect0, Ect0], &[3], &[]),
            ("ecn headdrop", [NotEct, Ect0, Ect0, NotEct], &[], &[0]),
            // A head that came with CE counts as marked, so no mark is reported.
            ("ecn headdrop", [Ce, Ect0, Ect0, Ect0], &[], &[]),
        ];
        for (words, codepoints, marked, dropped) in table {
            let (_, owner, _) = offer(words, &codepoints);
            assert_eq!((&*owner.marked, &*owner.dropped), (marked, dropped), "{words} {codepoints:?}");
        }
    }

    /// The fourth packet is marked, so the fifth finds an average above max: `harddrop` must drop it even if it is
    /// ECN-capable.
    #[test]
    fn above_max_harddrop_is_a_drop() {
        assert_eq!(offer("ecn", &[Ecn::Ect0; 5]).1.marked, [3, 4]);
        let (_, owner, _) = offer("ecn harddrop", &[Ecn::Ect0; 5]);
        assert_eq!((owner.marked, owner.dropped), ([3].to_vec(), [4].to_vec()));
    }

    /// An emptied slot belongs to another flow, which must begin with an average of 0.
    #[test]
    fn a_new_flow_begins_with_an_average_of_zero() {
        let (mut sfq, mut owner, _) = offer("", &[Ecn::NotEct; 3]);
        let slot = sfq.slots.iter().position(|slot| slot.packets == 3).unwrap() as u32;
        assert_eq!(sfq.red.as_ref().unwrap().shown(slot), (2500, 0, 0));
        while sfq.dequeue(Instant::ZERO, &mut owner).is_some() {}
        sfq.enqueue(Instant::ZERO, Plain::new(1000), &mut owner);
        assert_eq!(sfq.red.as_ref().unwrap().shown(slot), (0, -1, 0));
    }

    /// After new keys a flow's average must be that of its packets coming in one by one: 0, 1000, 2500. Earlier drops
    /// must not affect its spacing.
    #[test]
    fn new_keys_make_a_new_average() {
        let (mut sfq, mut owner, _) = offer("perturb 10", &[Ecn::NotEct; 4]);
        sfq.on_timer(Instant::ZERO + Duration::from_secs(10), &mut owner);
        let slot = sfq.slots.iter().position(|slot| slot.packets == 3).unwrap() as u32;
        assert_eq!(sfq.red.as_ref().unwrap().shown(slot), (2500, -1, 0));
    }

    /// An owner whose random numbers count up from 0.
    struct Counting(u64);

    impl Owner<Plain> for Counting {
        fn dropped(&mut self, packet: Plain, _why: Drop) {
            panic!("{packet:?}");
        }
        fn marked(&mut self, _packet: &Plain, _why: Mark) {}
        fn random_u32(&mut self) -> u32 {
            0
        }
        fn random_u64(&mut self) -> u64 {
            self.0 += 1;
            self.0 - 1
        }
    }

    /// When all packets are distributed anew, sch_sfq.c forgets the averages of the busy slots only. Flows 0 and
    /// `twin` share a bucket, and part under the new keys. Flow `gone` had three packets: 0, 1000, 2500 (the weight
    /// is 1/2, so doubled), and left. The twin comes into its slot and must continue from there: 2500 - 1250 + 0.
    #[test]
    fn a_slot_that_was_free_keeps_the_average_of_the_flow_that_left_it() {
        let (mut sfq, mut owner) = (
            sfq("perturb 10 redflowlimit 300000 min 100000 max 300000 avpkt 100000 burst 1").unwrap(),
            Counting(0),
        );
        let flow = |flow_hash| Plain { flow_hash, ..Plain::new(1000) };
        // The keys are drawn at set-up, a second time because they are perturbed, and a third time by the timer.
        let [old, new] = [[2, 3], [4, 5]];
        let parts = |hash: &u32| {
            let bucket = |hash, keys| sfq.bucket(&flow(hash), keys);
            bucket(*hash, old) == bucket(0, old) && bucket(*hash, new) != bucket(0, new)
        };
        let twin = (1..).find(parts).unwrap();
        let gone = (1..).find(|hash| sfq.bucket(&flow(*hash), old) != sfq.bucket(&flow(0), old)).unwrap();
        for hash in [0, 0, 0, 0, 0, gone, gone, gone] {
            sfq.enqueue(Instant::ZERO, flow(hash), &mut owner);
        }
        let slot = sfq.buckets[sfq.bucket(&flow(gone), old) as usize];
        while sfq.slots[slot as usize].packets > 0 {
            sfq.dequeue(Instant::ZERO, &mut owner);
        }
        assert_eq!(sfq.red.as_ref().unwrap().shown(slot).0, 2500);
        sfq.enqueue(Instant::ZERO, flow(twin), &mut owner);
        sfq.on_timer(Instant::ZERO + Duration::from_secs(10), &mut owner);
        assert_eq!(sfq.buckets[sfq.bucket(&flow(twin), new) as usize], slot);
        assert_eq!(sfq.red.as_ref().unwrap().shown(slot).0, 1250);
    }

    /// tc-sfq(8): max is redflowlimit / 4, min is max / 3, burst is (2 min + max) / (3 avpkt): 36000 gives 9000,
    /// 3000, 5.
    #[test]
    fn what_the_line_leaves_out_is_derived_as_tc_derives_it() {
        let params = |words| format!("{:?}", sfq(words).unwrap().red.unwrap().params);
        assert_eq!(params("redflowlimit 36000"), params("redflowlimit 9000 min 3000 max 9000 burst 5"));
        assert_eq!(sfq("ecn").unwrap_err().0, "sfq ecn: has a meaning only with redflowlimit");
        assert_eq!(sfq("redflowlimit 3").unwrap_err().0, "sfq: max must be above zero and not less than min");
        assert!(
            sfq("probability 0.02 avpkt 1000 noecn").unwrap().red.is_none(),
            "the canonical line is read back"
        );
    }
}
