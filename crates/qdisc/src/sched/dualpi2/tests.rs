use super::*;
use crate::packet::Plain;
use crate::registry::parse_line;
use crate::signal::Mark;
use alloc::vec::Vec;
use goodqueue_units::{Ecn, Rate};

/// 8 Mbit/s: one byte per microsecond. 250 ms are 250 000 bytes.
const LINK: Link = Link { rate: Rate::from_bps(8_000_000).unwrap(), mtu: 1514 };

/// An owner that notes drops and marks. Its dice show the test's list and then never hit.
#[derive(Default)]
pub(super) struct Noted {
    dice: Vec<u32>,
    pub(super) draws: usize,
    dropped: Vec<u64>,
    pub(super) marked: Vec<u64>,
}

impl Noted {
    fn showing(dice: &[u32]) -> Self {
        Self { dice: dice.to_vec(), ..Self::default() }
    }
}

impl Owner<Plain> for Noted {
    fn dropped(&mut self, packet: Plain, _why: Drop) {
        self.dropped.push(packet.id);
    }
    fn marked(&mut self, packet: &Plain, _why: Mark) {
        self.marked.push(packet.id);
    }
    fn random_u32(&mut self) -> u32 {
        self.draws += 1;
        self.dice.get(self.draws - 1).copied().unwrap_or(u32::MAX)
    }
    fn random_u64(&mut self) -> u64 {
        0
    }
}

fn try_build(words: &str) -> Result<DualPi2<Plain>, Error> {
    DualPi2::build(&Args::parse(const { &DualPi2::<Plain>::SPEC }, words)?, &LINK)
}

pub(super) fn build(words: &str) -> DualPi2<Plain> {
    try_build(words).unwrap()
}

/// Returns Linux's law with this p'.
fn linux(prob: u32, words: &str) -> Linux {
    match build(words).law {
        Law::Linux(mut law) => {
            law.prob = prob;
            law
        }
        Law::Rfc9332(_) => unreachable!(),
    }
}

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

pub(super) fn packet(id: u64, ecn: Ecn) -> Plain {
    Plain { id, ecn, ..Plain::new(1000) }
}

fn offer(
    qdisc: &mut DualPi2<Plain>,
    now: Instant,
    owner: &mut Noted,
    packets: &[(u64, Ecn)],
) -> Vec<Enqueued> {
    packets.iter().map(|(id, ecn)| qdisc.enqueue(now, packet(*id, *ecn), owner)).collect()
}

fn drain(qdisc: &mut DualPi2<Plain>, now: Instant, owner: &mut Noted) -> Vec<u64> {
    core::iter::from_fn(|| qdisc.dequeue(now, owner)).map(|packet| packet.id).collect()
}

pub(super) fn assert_close(got: f64, want: f64, what: &str) {
    assert!((got - want).abs() < 1e-12, "{what}: {got} is not {want}");
}

/// tc's gains of 41/256 and 819/256 per second are 41 (2^32 - 1) / 4e9 = 44.02 and 879.4. 80 and 1600 give 85.9 and
/// 1718.0, which is cut to 1717. The golden headers have these numbers.
#[test]
fn linux_s_gains_are_cut_as_the_kernel_cuts_them() {
    assert_eq!([41.0, 819.0, 80.0, 1600.0].map(|tc| params::linux_gain(tc / 256.0)), [44, 879, 85, 1717]);
}

/// max_rtt 120 ms: typical 20 ms, an update every min(20, 40) = 20 ms, alpha 0.1 * 0.02 / 0.0144 = 0.13888, cut to
/// 35/256, and beta 0.3 / 0.12 = 2.5. With typical 50 ms the third of max_rtt is less: 40 ms. typical 10 ms alone
/// means max_rtt 60 ms.
#[test]
fn tc_derives_the_controller_from_round_trip_times() {
    let control = |words| {
        params::control(&Args::parse(const { &DualPi2::<Plain>::SPEC }, words).unwrap())
            .map(|it| (it.target.as_nanos(), it.tupdate.as_nanos(), it.alpha * 256.0, it.beta * 256.0))
    };
    assert_eq!(control("max_rtt 120ms").unwrap(), (20_000_000, 20_000_000, 35.0, 640.0));
    assert_eq!(control("max_rtt 120ms typical_rtt 50ms").unwrap(), (50_000_000, 40_000_000, 71.0, 640.0));
    assert_eq!(control("typical_rtt 10ms").unwrap(), (10_000_000, 10_000_000, 71.0, 1280.0));
    // A path whose round-trip time is always the same: an update every third of it.
    assert_eq!(control("max_rtt 60ms typical_rtt 60ms").unwrap(), (60_000_000, 20_000_000, 142.0, 1280.0));
    let refused = |words| control(words).unwrap_err().0;
    assert_eq!(refused("max_rtt 10ms typical_rtt 20ms"), "dualpi2 max_rtt: is less than typical_rtt");
    assert!(refused("max_rtt 60s").contains("alpha"));
    assert!(refused("max_rtt 2us").contains("beta"));
}

/// Otherwise a record would name, beside `max_rtt`, a target and gains that the run did not use. `tc` sends only the
/// derived values to the kernel, so they take precedence over the line's own values.
#[test]
fn the_printed_line_has_what_follows_from_round_trip_times() {
    let line = |words: &str| alloc::string::ToString::to_string(&parse_line(words).unwrap());
    let printed = line("dualpi2 max_rtt 120ms target 5ms split_gso classic_protection 20%");
    assert_eq!(
        printed,
        "dualpi2 limit 10000 coupling_factor 2 target 20ms tupdate 20ms alpha 0.13671875 beta 2.5 step_thresh 1ms \
         min_qlen_step 0 drop_on_overload drop_dequeue l4s_ect classic_protection 20 split_gso variant linux"
    );
    assert_eq!(line(&printed), printed);
    assert_eq!(line("dualpi2 typical_rtt 20ms"), line("dualpi2 max_rtt 120ms"));
    assert!(line("dualpi2 variant rfc9332 max_rtt 50ms").contains(" max_rtt 50ms "));
    assert!(line("dualpi2 max_rtt 60s").contains(" max_rtt 60s "), "for build to refuse");
}

#[test]
fn each_variant_prints_its_own_defaults_and_refuses_the_other_s_words() {
    let line = |words| {
        alloc::string::ToString::to_string(&Args::parse(const { &DualPi2::<Plain>::SPEC }, words).unwrap())
    };
    assert_eq!(
        line("any_ect drop_enqueue"),
        "dualpi2 limit 10000 coupling_factor 2 target 15ms tupdate 16ms alpha 0.16015625 beta 3.19921875 \
         step_thresh 1ms min_qlen_step 0 drop_on_overload drop_enqueue any_ect classic_protection 10 variant linux"
    );
    assert_eq!(
        line("variant rfc9332"),
        "dualpi2 coupling_factor 2 target 15ms max_rtt 100ms classic_protection 6.25 min_th 800us range 400us \
         th_len 1 scheduler wrr tshift 50ms variant rfc9332"
    );
    let refused = |words| try_build(words).err().unwrap().0;
    assert_eq!(refused("tshift 5ms"), "dualpi2 tshift: has a meaning only with variant rfc9332");
    assert_eq!(
        refused("variant rfc9332 overflow"),
        "dualpi2 on_overload: has a meaning only with variant linux"
    );
}

/// RFC 9331, 5.1: ECT(1) and CE must go to the L4S queue, and with any_ect ECT(0), too (for DCTCP).
#[test]
fn the_codepoint_picks_the_queue() {
    for (words, low) in
        [("", &[2, 3][..]), ("any_ect", &[1, 2, 3]), ("ect0", &[1, 3]), ("variant rfc9332", &[2, 3])]
    {
        let (mut qdisc, mut owner) = (build(words), Noted::default());
        offer(
            &mut qdisc,
            ms(0),
            &mut owner,
            &[(0, Ecn::NotEct), (1, Ecn::Ect0), (2, Ecn::Ect1), (3, Ecn::Ce)],
        );
        let waits: Vec<_> = core::iter::from_fn(|| qdisc.queues.low.pop()).map(|packet| packet.id).collect();
        assert_eq!(waits, low, "{words}");
    }
}

/// Ten percent less ninety, of 1514 bytes: the credit begins at -121120, and L4S goes first. Each of its packets of
/// 1000 bytes adds 10 000 while classic waits. After 13 packets (8880) classic has its turn, which costs 90 000. Then
/// follow 9 more L4S packets.
#[test]
fn credits_give_classic_its_tenth() {
    let (mut qdisc, mut owner) = (build(""), Noted::default());
    let low: Vec<_> = (0..40).map(|id| (id, Ecn::Ect1)).collect();
    offer(&mut qdisc, ms(0), &mut owner, &low);
    offer(&mut qdisc, ms(0), &mut owner, &[(100, Ecn::NotEct), (101, Ecn::NotEct), (102, Ecn::NotEct)]);
    let order = drain(&mut qdisc, ms(0), &mut owner);
    let places: Vec<_> =
        order.iter().enumerate().filter(|(_, id)| **id >= 100).map(|(place, _)| place).collect();
    assert_eq!(places, [13, 23, 33]);
    assert_eq!(qdisc.queues.by_credit(), None);
    let (mut half, mut owner) = (build("classic_protection 50"), Noted::default());
    offer(
        &mut half,
        ms(0),
        &mut owner,
        &[(100, Ecn::NotEct), (101, Ecn::NotEct), (0, Ecn::Ect1), (1, Ecn::Ect1)],
    );
    assert_eq!(drain(&mut half, ms(0), &mut owner), [0, 100, 1, 101]);
}

/// A delay of 20 ms after 10 ms: 5e6 ns * 44 + 10e6 * 879 = 9.01e9, a 64th of which is 140 781 250. Then an empty
/// queue: -15e6 * 44 - 20e6 * 879 = -1.824e10, so p' falls by 285 000 000, but not below 0. With a step above 2^32 p'
/// must end at one.
#[test]
fn linux_s_controller_is_integers() {
    let mut law = linux(1000, "");
    law.update(Duration::from_millis(10));
    assert_eq!(law.prob, 1000 + ((10_000_000_u64 * 879 - 5_000_000 * 44) >> 6) as u32);
    law.prob = 1000;
    law.update(Duration::from_millis(20));
    assert_eq!(law.prob, 1000 + 140_781_250);
    law.prob = 285_000_001;
    law.update(Duration::ZERO);
    assert_eq!(law.prob, 1);
    law.update(Duration::ZERO);
    assert_eq!(law.prob, 0);
    law.prob = u32::MAX - 5;
    law.update(Duration::from_millis(20));
    assert_eq!(law.prob, u32::MAX);
    // From 500 ms to 0: 15e6 * 44 + 500e6 * 879 = 4.4016e11, a 64th of which is 6 877 500 000, less 2^32 by the cut.
    let mut law = linux(u32::MAX, "");
    law.update(Duration::from_millis(500));
    law.update(Duration::ZERO);
    assert_eq!(law.prob, u32::MAX - 2_582_532_704);
    // `overflow` holds p' at 1/k.
    let mut law = linux(u32::MAX / 4, "overflow coupling_factor 4");
    law.update(Duration::from_millis(20));
    assert_eq!(law.prob, u32::MAX / 4);
}

/// p' = 2^30 is a quarter. Classic needs two hits of it, and the second number is drawn only after the first hit. L4S
/// needs one hit of a half. Below two full frames (3028 bytes) of backlog nothing must be drawn.
#[test]
fn linux_throws_dice_for_p_squared_and_k_p() {
    let p = 1 << 30;
    let judge = |side, ecn, bytes, prob, words, dice: &[u32]| {
        let (mut law, mut owner) = (linux(prob, words), Noted::showing(dice));
        let condemned = law.condemns(&mut packet(0, ecn), side, bytes, &mut owner);
        (condemned, owner.marked.len(), owner.draws)
    };
    let classic = |ecn, dice: &[u32]| judge(Side::Classic, ecn, 3028, p, "", dice);
    assert_eq!(classic(Ecn::NotEct, &[p, p]), (true, 0, 2), "a hit is at most p'");
    assert_eq!(classic(Ecn::NotEct, &[p, p + 1]), (false, 0, 2));
    assert_eq!(classic(Ecn::NotEct, &[p + 1]), (false, 0, 1));
    assert_eq!(classic(Ecn::Ect0, &[p, p]), (false, 1, 2));
    assert_eq!(judge(Side::Classic, Ecn::NotEct, 3027, p, "", &[0, 0]), (false, 0, 0));
    assert_eq!(judge(Side::Low, Ecn::Ect1, 3028, p, "", &[2 * p]), (false, 1, 1));
    assert_eq!(judge(Side::Low, Ecn::Ect1, 3028, p, "", &[2 * p + 1]), (false, 0, 1));
    // 3 p' is exactly 1, which is no overload: both queues still mark.
    let third = u32::MAX / 3;
    let three = "coupling_factor 3";
    assert_eq!(judge(Side::Classic, Ecn::Ect0, 3028, third, three, &[third, third]), (false, 1, 2));
    assert_eq!(judge(Side::Low, Ecn::Ect1, 3028, third, three, &[0, 0]), (false, 1, 1));
    // Overload, k p' > 1: classic drops where it would mark. L4S drops with p'^2 and marks the rest.
    let over = (1 << 31) + 1;
    assert_eq!(judge(Side::Classic, Ecn::Ect0, 3028, over, "", &[over, over]), (true, 0, 2));
    assert_eq!(judge(Side::Low, Ecn::Ect1, 3028, over, "", &[over, over]), (true, 0, 2));
    assert_eq!(judge(Side::Low, Ecn::Ect1, 3028, over, "", &[over, over + 1]), (false, 1, 2));
}

/// A packet of the L4S queue must be marked after more than 1 ms, or with more than 2 packets behind it. With
/// min_qlen_step 1 it must be marked only if it met a packet on arrival. The dice never hit.
#[test]
fn linux_steps_by_time_or_by_packets() {
    let marked = |words: &str, us: u64, packets: u64| {
        let (mut qdisc, mut owner) = (build(words), Noted::default());
        let offered: Vec<_> = (0..packets).map(|id| (id, Ecn::Ect1)).collect();
        offer(&mut qdisc, ms(0), &mut owner, &offered);
        drain(&mut qdisc, Instant::ZERO + Duration::from_micros(us), &mut owner);
        owner.marked
    };
    assert_eq!(marked("", 1000, 2), []);
    assert_eq!(marked("", 1001, 2), [0, 1]);
    assert_eq!(marked("min_qlen_step 1", 1001, 2), [1]);
    assert_eq!(marked("step_thresh 2packets", 0, 4), [0]);
}

/// drop_enqueue must judge arrivals, report success for a packet that it drops, and not judge again as packets leave.
#[test]
fn drop_enqueue_judges_on_arrival() {
    let (mut qdisc, mut owner) = (build("drop_enqueue"), Noted::showing(&[0, 0]));
    let packets: Vec<_> = (0..5).map(|id| (id, Ecn::NotEct)).collect();
    let told = offer(&mut qdisc, ms(0), &mut owner, &packets);
    assert_eq!((told[4], owner.draws, owner.dropped.as_slice()), (Enqueued::Success, 2, [4].as_slice()));
    assert_eq!(drain(&mut qdisc, ms(0), &mut owner), [0, 1, 2, 3]);
    assert_eq!(owner.draws, 2);
}

/// Linux counts 256 + 2048 bytes for 1000 bytes, so 4608 hold two packets, and 4607 one. The RFC's buffer is 250 ms
/// of the link less room for a full frame: (250000 - 1514) / 1000 = 248.5, so 249 packets fit. With 4514 bytes a
/// fourth packet fits behind three.
#[test]
fn the_buffer_is_memory_or_bytes() {
    let held = |words: &str| {
        let (mut qdisc, mut owner) = (build(words), Noted::default());
        let packets: Vec<_> = (0..300).map(|id| (id, Ecn::NotEct)).collect();
        let told = offer(&mut qdisc, ms(0), &mut owner, &packets);
        assert_eq!(told.iter().filter(|told| **told == Enqueued::Dropped).count(), owner.dropped.len());
        qdisc.backlog().packets
    };
    assert_eq!((held("memlimit 4608"), held("memlimit 4607")), (2, 1));
    assert_eq!((held("variant rfc9332 memlimit 4514"), held("variant rfc9332 memlimit 4513")), (4, 3));
    assert_eq!(held("limit 7"), 7);
    assert_eq!(held("variant rfc9332"), 249);
    assert_eq!(held("variant rfc9332 limit 7"), 7);
}

/// 4.2.2: with a shift of 50 ms L4S must go first until classic has waited 50 ms longer.
#[test]
fn the_time_shifted_fifo_favours_l4s_by_its_shift() {
    let first = |low_at: u64| {
        let (mut qdisc, mut owner) = (build("variant rfc9332 scheduler ts_fifo"), Noted::default());
        offer(&mut qdisc, ms(0), &mut owner, &[(0, Ecn::NotEct)]);
        offer(&mut qdisc, ms(low_at), &mut owner, &[(1, Ecn::Ect1)]);
        drain(&mut qdisc, ms(low_at), &mut owner)
    };
    assert_eq!((first(50), first(51)), ([1, 0].to_vec(), [0, 1].to_vec()));
}

/// The RFC's weights are 1 and 15: the credit begins at 1514 * (6.25 - 93.75) = -132475, so 22 L4S packets of 1000
/// bytes bring it above 0 (22 * 6250 = 137500). Then each classic packet costs 93 750, which is 15 more L4S packets.
#[test]
fn the_rfc_s_weight_for_classic_is_a_sixteenth() {
    let (mut qdisc, mut owner) = (build("variant rfc9332"), Noted::default());
    let low: Vec<_> = (0..60).map(|id| (id, Ecn::Ect1)).collect();
    offer(&mut qdisc, ms(0), &mut owner, &low);
    offer(&mut qdisc, ms(0), &mut owner, &[(100, Ecn::NotEct), (101, Ecn::NotEct), (102, Ecn::NotEct)]);
    let order = drain(&mut qdisc, ms(0), &mut owner);
    let places: Vec<_> =
        order.iter().enumerate().filter(|(_, id)| **id >= 100).map(|(place, _)| place).collect();
    assert_eq!(places, [22, 38, 54]);
}

/// RFC 9332, A.1: p' must be updated once per `tupdate`.
#[test]
fn the_law_looks_at_the_queues_each_tupdate() {
    let mut qdisc = build("tupdate 20ms");
    let due = qdisc.next_timer().unwrap();
    qdisc.on_timer(due, &mut Noted::default());
    assert_eq!(qdisc.next_timer(), Some(due + Duration::from_millis(20)));
}

/// RFC 9332, A.1: Tupdate is the target, but at most a third of the longest round trip. Here the target is 15 ms.
#[test]
fn the_rfc_updates_at_least_three_times_a_round_trip() {
    for (max_rtt, first_ms) in [("30ms", 10), ("45ms", 15), ("100ms", 15)] {
        let qdisc = build(&std::format!("variant rfc9332 target 15ms max_rtt {max_rtt}"));
        assert_eq!(qdisc.next_timer(), Some(ms(first_ms)), "{max_rtt}");
    }
}

/// A changed share must count at once. The classic queue must not keep its tenth, nor a credit from before.
#[test]
fn a_new_share_counts_at_once() {
    let order = |qdisc: &mut DualPi2<Plain>, changed: bool| {
        let mut owner = Noted::default();
        let both: Vec<_> = (0..40).map(|id| (id, if id < 20 { Ecn::Ect1 } else { Ecn::NotEct })).collect();
        offer(qdisc, ms(0), &mut owner, &both);
        if changed {
            let args = Args::parse(const { &DualPi2::<Plain>::SPEC }, "classic_protection 60").unwrap();
            qdisc.change(ms(0), &args, &LINK, &mut owner).unwrap();
        }
        drain(qdisc, ms(0), &mut owner)
    };
    let anew = order(&mut build("classic_protection 60"), false);
    assert_eq!(order(&mut build("classic_protection 10"), true), anew);
    assert_ne!(order(&mut build("classic_protection 10"), false), anew);
}

/// A change must take the new parameters over, and p' must stay.
#[test]
fn a_change_of_the_law_keeps_its_state() {
    let mut law = linux(1234, "");
    law.change(linux(0, "min_qlen_step 9"));
    assert_eq!((law.prob, law.min_qlen_step), (1234, 9));
}

/// Memory exactly at the limit is no excess.
#[test]
fn a_full_memory_is_not_too_full() {
    for variant in ["linux", "rfc9332"] {
        let mut qdisc = build(&std::format!("variant {variant}"));
        qdisc.enqueue(Instant::ZERO, Plain::new(1000), &mut Noted::default());
        qdisc.memory_limit = if variant == "linux" { qdisc.queues.memory } else { 1000 };
        assert_eq!(qdisc.excess(), None, "{variant}");
        qdisc.memory_limit -= 1;
        assert_eq!(qdisc.excess(), Some(Drop::Memory), "{variant}");
    }
}
