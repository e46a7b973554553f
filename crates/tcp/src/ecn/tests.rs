use super::feedback::PerAck;
use super::*;
use std::vec::Vec;

const A: Flags = Flags::AE;
const W: Flags = Flags::CWR;
const E: Flags = Flags::ECE;
const NO: Flags = Flags::NONE;
use EcnMode::{Accurate, Classic, Off};

/// RFC 9768, table 2: the client's request, the server's answer, and the agreed feedback.
#[test]
fn the_best_feedback_that_both_give_is_agreed() {
    for (client, server, syn, both) in [
        (Accurate, Accurate, A | W | E, Accurate),
        (Accurate, Classic, A | W | E, Classic),
        (Accurate, Off, A | W | E, Off),
        (Classic, Accurate, W | E, Classic),
        (Classic, Classic, W | E, Classic),
        (Classic, Off, W | E, Off),
        (Off, Accurate, NO, Off),
    ] {
        assert_eq!(client.syn_flags(), syn);
        let server = server.answer(syn);
        let client = client.agreed(server.syn_ack_flags(Ecn::NotEct));
        assert_eq!((client, server), (both, both));
    }
}

/// RFC 9768, table 2, the rows of a client that asked for AccECN, and 3.1.3 for the combinations without a meaning.
#[test]
fn a_syn_ack_tells_how_the_syn_came_and_a_broken_one_ends_ecn() {
    for (syn, told) in [(Ecn::NotEct, W), (Ecn::Ect1, W | E), (Ecn::Ect0, A), (Ecn::Ce, A | W)] {
        assert_eq!(Accurate.syn_ack_flags(syn), told);
        assert_eq!(Accurate.agreed(told | Flags::SYN | Flags::ACK), Accurate);
    }
    assert_eq!([Accurate.agreed(A | E), Accurate.agreed(E)], [Accurate, Classic]);
    assert_eq!([Accurate.agreed(A | W | E), Accurate.agreed(NO)], [Off, Off]);
    assert_eq!([Accurate.answer(A), Accurate.answer(NO)], [Accurate, Off]);
    assert_eq!([Classic.agreed(W | E), Classic.agreed(E)], [Off, Classic]);
}

/// RFC 9331, 4.1 and 4.3: ECT(1) means L4S, which needs accurate feedback.
#[test]
fn only_l4s_with_accurate_feedback_is_ect_1() {
    assert_eq!(Accurate.codepoint(EcnUse::L4s), Ecn::Ect1);
    assert_eq!(Classic.codepoint(EcnUse::L4s), Ecn::Ect0);
    assert_eq!(Accurate.codepoint(EcnUse::Classic), Ecn::Ect0);
    assert_eq!(Off.codepoint(EcnUse::L4s), Ecn::NotEct);
}

fn data(ecn: Ecn) -> Segment {
    Segment { payload_len: 1000, flags: Flags::ACK, ecn, ..Segment::default() }
}

/// Feeds data with these codepoints, without an ACK between. Returns the urgency of each, and the flags of the next
/// ACK.
fn feed(echo: &mut Echo, marks: &[Ecn]) -> Vec<(Urgency, Flags)> {
    let take = |&ecn: &Ecn| {
        let segment = data(ecn);
        let urgency =
            if echo.concerns(&segment) { echo.on_data(&segment, SeqNumber(9), false) } else { Urgency::NONE };
        (urgency, echo.flags())
    };
    marks.iter().map(take).collect()
}

/// RFC 8257, 3.2, figure 1: the state is the last packet's, and each change is reported at once.
#[test]
fn dctcp_echoes_the_last_packet_and_tells_each_change() {
    let mut echo = Echo::new(Classic, EcnUse::Dctcp, Ecn::Ect0, false);
    let told = feed(&mut echo, &[Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ect0, Ecn::Ect0]);
    let (none, now) = (Urgency::NONE, Urgency::NOW);
    assert_eq!(told, [(none, NO), (now, E), (none, E), (now, NO), (none, NO)]);
    assert!(!echo.owes());
}

/// The same, while a delayed ACK waits: the data that it covers is reported first, with the old state.
#[test]
fn dctcp_tells_what_waited_before_what_changed() {
    let mut echo = Echo::new(Classic, EcnUse::Dctcp, Ecn::Ect0, false);
    assert_eq!(echo.on_data(&data(Ecn::Ce), SeqNumber(2000), true), Urgency::NOW);
    assert_eq!((echo.take_owed(), echo.flags()), (Owed::Before(SeqNumber(2000), NO), E));
    assert_eq!(echo.take_owed(), Owed::Nothing);
}

/// RFC 9768, 3.2.2: the counter begins at 5, 0b101, then 6, 7, and 0 again. Each change is reported at once, and so is
/// the sixth mark that no ACK has reported.
#[test]
fn the_accurate_echo_counts_modulo_eight() {
    let mut echo = Echo::new(Accurate, EcnUse::Classic, Ecn::NotEct, true);
    assert_eq!(echo.flags(), A | E);
    let (none, now) = (Urgency::NONE, Urgency::NOW);
    let told = feed(&mut echo, &[Ecn::Ect1, Ecn::Ce]);
    assert_eq!(told, [(none, A | E), (now, A | W)]);
    echo.on_told();
    let told = feed(&mut echo, &[Ecn::Ce, Ecn::Ce, Ecn::Ect0, Ecn::Ce]);
    assert_eq!(told, [(none, A | W | E), (none, NO), (now, NO), (now, E)]);
    echo.on_told();
    let urgencies: Vec<_> = feed(&mut echo, &[Ecn::Ce; 6]).into_iter().map(|(urgency, _)| urgency).collect();
    assert_eq!(urgencies, [none, none, none, none, none, now]);
}

/// RFC 9768, 3.2.2.2: a CE mark on SYN-ACK counts at the client, a CE mark on SYN does not count at the server.
/// 3.2.2.5.1: every third marked ACK is acknowledged.
#[test]
fn a_marked_syn_ack_counts_once_and_marked_acks_are_told_every_third() {
    assert_eq!(Echo::new(Accurate, EcnUse::Classic, Ecn::Ce, true).flags(), A | W);
    let mut echo = Echo::new(Accurate, EcnUse::Classic, Ecn::Ce, false);
    assert_eq!(echo.flags(), A | E);
    let told: Vec<_> = (0..3).map(|_| echo.on_marked_ack()).collect();
    assert_eq!((told, echo.flags()), (std::vec![Urgency::NONE, Urgency::NONE, Urgency::NOW], NO));
}

/// RFC 9768, 3.2.2.2: the sender reads the difference to the last counter, modulo 8. A.1: an ACK that delivers nothing
/// counts if its timestamp is newer.
#[test]
fn the_sender_reads_the_difference_of_the_counter() {
    let mut f = Feedback::new(Accurate, None);
    let mut read = |flags, segments, is_newer| f.read(flags, segments, is_newer, |_, _| None);
    assert_eq!(read(A | W, 2, false), Some(1)); // 5 to 6
    assert_eq!(read(E, 3, false), Some(3)); // 6 to 9
    assert_eq!(read(NO, 7, false), Some(7)); // 9 to 16
    assert_eq!(read(A, 0, false), None, "an ACK that delivers nothing may be an old one");
    assert_eq!(read(A, 5, false), Some(4), "and its news are not lost");
    assert_eq!(read(A | E, 0, true), Some(1), "by its timestamp it is none");
    let f = Feedback::new(Accurate, None);
    assert!(f.is_news(A | W, 0) && !f.is_news(A | E, 0));
}

/// RFC 9768, A.2: with ten delivered segments a difference of 2 may mean 2 or 10, and 10 is safe. With nine it means 2,
/// and with eight a difference of 0 may mean 0 or 8. This holds while ACKs are short: after 64 ACKs of one segment, an
/// ACK of eight makes a mean of 1 + 7/64.
#[test]
fn a_counter_that_may_have_gone_round_is_read_safely() {
    let of_short_acks = |flags, delivered| {
        let mut f = Feedback::new(Accurate, None);
        (0..64).for_each(|_| f.per_ack.note(1));
        f.read(flags, delivered, false, |_, _| None)
    };
    let after_two = |delivered| of_short_acks(A | W | E, delivered);
    assert_eq!((after_two(10), after_two(9), after_two(18)), (Some(10), Some(2), Some(18)));
    assert_eq!((of_short_acks(A | E, 8), of_short_acks(A | E, 7)), (Some(8), None));
}

/// If ACKs usually deliver more than four segments, a long ACK hides none, and the difference is the count: Linux's
/// reading of "the safest likely case" (RFC 9768, 3.2.2.5.2). With ACKs of four segments this does not hold yet.
#[test]
fn where_acks_are_thinned_the_counter_is_believed() {
    let read = |before, flags, delivered| {
        let mut f = Feedback::new(Accurate, None);
        f.per_ack.note(before);
        f.read(flags, delivered, false, |_, _| None)
    };
    assert_eq!((read(5, A | W, 9), read(5, A | E, 8)), (Some(1), None));
    assert_eq!(read(3, A | W, 9), Some(9), "3 + 6/64");
    let mut per_ack = PerAck::default();
    (0..9).for_each(|_| per_ack.note(4));
    assert!(!per_ack.is_thinned());
    per_ack.note(5);
    assert!(per_ack.is_thinned(), "4 + 1/64");
}

/// Linux's `pkts_acked_ewma` takes an ACK only if it delivers something. Guards against window updates that make ACKs
/// look shorter than they are: a counter that is right would be read as one that has gone round.
#[test]
fn an_ack_that_delivers_nothing_does_not_shorten_the_usual_ack() {
    let mut f = Feedback::new(Accurate, None);
    f.per_ack.note(5);
    (0..64).for_each(|_| assert_eq!(f.read(A | E, 0, true, |_, _| None), None));
    assert_eq!(f.read(A | W, 9, false, |_, _| None), Some(1), "of 1 and 9");
}

/// The initial counters of RFC 9768, table 4.
#[test]
fn the_ack_of_the_syn_ack_tells_a_server_how_that_came() {
    assert_eq!(Feedback::new(Accurate, Some(W | Flags::ACK)).known, A | E);
    assert_eq!(Feedback::new(Accurate, Some(A | W | Flags::ACK)).known, A | W);
    assert_eq!(Feedback::new(Accurate, Some(Flags::ACK)).mode(), Off);
    assert!(Feedback::new(Classic, Some(Flags::ACK)).confirms());
}

/// Linux takes data without ECT behind data with it for data sent again, whose sender may have a small window. Guards
/// against an ACK of it that waits, and against hurry about a connection whose path clears ECT.
#[test]
fn data_that_was_sent_again_hurries_the_next_acks() {
    let echo = || Echo::new(Classic, EcnUse::Classic, Ecn::NotEct, false);
    let quick = |marks: &[Ecn]| {
        let mut echo = echo();
        let taken = marks.iter().map(|&ecn| {
            let segment = data(ecn);
            echo.concerns(&segment) && echo.on_data(&segment, SeqNumber(1), false).quick
        });
        taken.collect::<Vec<_>>()
    };
    assert_eq!(quick(&[Ecn::Ect0, Ecn::NotEct, Ecn::Ect0, Ecn::NotEct]), [false, true, false, true]);
    assert_eq!(quick(&[Ecn::NotEct, Ecn::NotEct]), [false, false]);
}
