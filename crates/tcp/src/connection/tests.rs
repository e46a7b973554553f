use super::*;
use crate::CongestionState;
use crate::segment::timestamp;
use std::{vec, vec::Vec};

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn config(ecn: bool) -> Config {
    let ecn = if ecn { EcnMode::Classic } else { EcnMode::Off };
    Config { ecn, ..Config::default() }
}

/// Plays a handshake without loss, 50 ms each way.
fn established(client: Config, server: Config) -> (Connection, Connection) {
    let (mut c, mut s) = (Connection::client(client), Connection::server(server));
    let syn = c.poll_transmit(at(0)).unwrap();
    s.handle_segment(at(50), &syn);
    let syn_ack = s.poll_transmit(at(50)).unwrap();
    c.handle_segment(at(100), &syn_ack);
    let ack = c.poll_transmit(at(100)).unwrap();
    s.handle_segment(at(150), &ack);
    (c, s)
}

#[test]
fn a_handshake_samples_the_rtt_on_both_sides_and_the_ack_precedes_data() {
    let (mut c, mut s) = (Connection::client(config(false)), Connection::server(config(false)));
    c.write(5000);
    assert!(s.poll_transmit(at(0)).is_none() && s.poll_timeout().is_none());
    let syn = c.poll_transmit(at(0)).unwrap();
    assert!(syn.flags == Flags::SYN && syn.wire_len() == 74 && syn.ecn == Ecn::NotEct);
    assert!(c.poll_transmit(at(0)).is_none() && c.poll_timeout() == Some(at(1024)));
    s.handle_segment(at(50), &syn);
    let syn_ack = s.poll_transmit(at(50)).unwrap();
    assert!(syn_ack.flags == Flags::SYN | Flags::ACK && syn_ack.ack == SeqNumber(1));
    c.handle_segment(at(100), &syn_ack);
    let ack = c.poll_transmit(at(100)).unwrap();
    assert!(ack.flags == Flags::ACK && ack.wire_len() == 66);
    let data = c.poll_transmit(at(100)).unwrap();
    assert!(data.seq == SeqNumber(1) && data.wire_len() == 1514);
    // The bare ACK is lost. Data completes the handshake too.
    let handled = s.handle_segment(at(150), &data);
    assert_eq!(handled.newly_delivered_bytes, 1448);
    assert!(c.is_established() && s.is_established() && s.poll_timeout().is_none());
    assert_eq!((c.srtt(), s.srtt()), (Some(Duration::from_millis(100)), Some(Duration::from_millis(100))));
}

/// Linux 6 counts whole ticks: one second ends at a multiple of 32 ms, and four at one of 256 ms.
#[test]
fn a_lost_syn_is_sent_again_after_1_then_2_then_4_seconds_and_gives_no_sample() {
    let mut c = Connection::client(config(true));
    let first = c.poll_transmit(at(0)).unwrap();
    assert!(first.flags.contains(Flags::ECE | Flags::CWR));
    for (now, next) in [(1024, 3040), (3040, 7168)] {
        assert_eq!(c.poll_timeout(), Some(at(now)));
        c.handle_timeout(at(now));
        let again = c.poll_transmit(at(now)).unwrap();
        assert_eq!(again.flags, Flags::SYN, "Linux 6 no longer asks for ECN (RFC 3168, 6.1.1.1)");
        assert_eq!(c.poll_timeout(), Some(at(next)));
    }
    let mut s = Connection::server(config(true));
    s.handle_segment(at(3090), &Segment { flags: Flags::SYN, ..Segment::default() });
    let syn_ack = s.poll_transmit(at(3090)).unwrap();
    c.handle_segment(at(3140), &syn_ack);
    assert!(c.is_established() && !c.is_ecn() && c.srtt().is_none());
    assert_eq!((c.cwnd(), c.stats().timeouts), (1, 2));
}

/// Both timers end at the same tick, and the client's SYN has yet to arrive. With timers that are exact, one SYN-ACK
/// would leave, and one loss would be a second's wait.
#[test]
fn a_lost_syn_ack_is_repeated_by_the_servers_timer_and_the_clients_syn() {
    let mut s = Connection::server(config(false));
    let syn = Segment { flags: Flags::SYN, window: u16::MAX, ..Segment::default() };
    let mut c = Connection::client(config(false));
    c.poll_transmit(at(0)).unwrap();
    s.handle_segment(at(20), &syn);
    assert!(s.poll_transmit(at(20)).is_some());
    assert_eq!((c.poll_timeout(), s.poll_timeout()), (Some(at(1024)), Some(at(1024))));
    s.handle_timeout(at(1024));
    assert!(s.poll_transmit(at(1024)).unwrap().flags.contains(Flags::SYN | Flags::ACK));
    s.handle_segment(at(1044), &syn);
    assert!(s.poll_transmit(at(1044)).is_some());
}

#[test]
fn a_repeated_syn_ack_is_acknowledged_because_the_clients_ack_was_lost() {
    let mut c = Connection::client(config(false));
    c.poll_transmit(at(0)).unwrap();
    let flags = Flags::SYN | Flags::ACK;
    let syn_ack = Segment { flags, ack: SeqNumber(1), window: u16::MAX, ..Segment::default() };
    c.handle_segment(at(100), &syn_ack);
    assert!(c.poll_transmit(at(100)).is_some() && c.poll_transmit(at(100)).is_none());
    c.handle_segment(at(1100), &syn_ack);
    assert_eq!(c.poll_transmit(at(1100)).map(|ack| ack.flags), Some(Flags::ACK));
}

/// RFC 3168, 6.1.1, and 6.1.4: pure ACKs are not ECT.
#[test]
fn ecn_needs_both_sides_and_is_on_data_only() {
    for (client, server) in [(true, true), (true, false), (false, true), (false, false)] {
        let (mut c, mut s) = established(config(client), config(server));
        assert_eq!((c.is_ecn(), s.is_ecn()), (client && server, client && server));
        c.write(1000);
        let mut data = c.poll_transmit(at(100)).unwrap();
        assert_eq!(data.ecn, if client && server { Ecn::Ect0 } else { Ecn::NotEct });
        data.ecn = Ecn::Ce;
        s.handle_segment(at(150), &data);
        let ack = s.poll_transmit(at(150)).unwrap();
        assert_eq!((ack.flags.contains(Flags::ECE), ack.ecn), (client && server, Ecn::NotEct));
    }
}

/// A request is acknowledged at once, because the server's program answers later. Then client and server take turns
/// (`inet_csk_in_pingpong_mode`), and the next answer carries the ACK.
#[test]
fn the_first_answer_comes_after_an_ack_and_the_second_carries_it() {
    let (mut c, mut s) = established(config(false), config(false));
    let mut lengths = |ms, answer| {
        c.write(100);
        let request = c.poll_transmit(at(ms)).unwrap();
        s.handle_segment(at(ms + 50), &request);
        s.write(answer);
        let sent: Vec<_> = core::iter::from_fn(|| s.poll_transmit(at(ms + 50))).collect();
        assert!(sent.iter().all(|segment| segment.ack == request.seq + 100));
        for segment in &sent {
            c.handle_segment(at(ms + 100), segment);
            while let Some(ack) = c.poll_transmit(at(ms + 100)) {
                s.handle_segment(at(ms + 150), &ack);
            }
        }
        sent.iter().map(|segment| segment.payload_len).collect::<Vec<_>>()
    };
    assert_eq!([lengths(200, 2000), lengths(400, 500)], [vec![0, 1448, 552], vec![500]]);
}

#[test]
fn a_segment_gives_an_rtt_and_the_bytes_that_it_brings() {
    let (mut c, mut s) = established(config(false), config(false));
    c.write(100);
    let request = c.poll_transmit(at(200)).unwrap();
    s.handle_segment(at(250), &request);
    s.write(2000);
    let answer =
        core::iter::from_fn(|| s.poll_transmit(at(250))).find(|segment| segment.payload_len > 0).unwrap();
    let handled = c.handle_segment(at(300), &answer);
    assert_eq!(handled, Handled { rtt: Some(Duration::from_millis(100)), newly_delivered_bytes: 1448 });
}

#[test]
fn a_connection_is_small_so_that_a_thousand_fit_the_cache() {
    assert!(size_of::<Connection>() <= 18 * 64, "{}", size_of::<Connection>());
}

/// RFC 7323, 4.1: the echo says which SYN was answered. Linux forgives two timeouts if it was the first SYN.
#[test]
fn after_a_syn_that_was_sent_again_the_echo_tells_the_rtt_and_whether_one_was_lost() {
    for (answered, rtt, cwnd) in [(0, 3090, 10), (1024, 2066, 1), (3040, 50, 1)] {
        let mut c = Connection::client(config(false));
        c.poll_transmit(at(0)).unwrap();
        for ms in [1024, 3040] {
            c.handle_timeout(at(ms));
            c.poll_transmit(at(ms)).unwrap();
        }
        let syn_ack = Segment {
            flags: Flags::SYN | Flags::ACK,
            ack: SeqNumber(1),
            tsecr: timestamp(at(answered)),
            window: u16::MAX,
            ..Segment::default()
        };
        c.handle_segment(at(3090), &syn_ack);
        assert_eq!((c.srtt(), c.cwnd()), (Some(Duration::from_millis(rtt)), cwnd), "{answered}");
    }
    // The other side: its SYN-ACK was sent twice, and the client answered the second one.
    let mut s = Connection::server(config(false));
    s.handle_segment(at(0), &Segment { flags: Flags::SYN, window: u16::MAX, ..Segment::default() });
    s.poll_transmit(at(0)).unwrap();
    s.handle_timeout(at(1024));
    let tsecr = s.poll_transmit(at(1024)).unwrap().tsval;
    let ack =
        Segment { flags: Flags::ACK, ack: SeqNumber(1), seq: SeqNumber(1), tsecr, ..Segment::default() };
    s.handle_segment(at(1124), &ack);
    assert_eq!((s.srtt(), s.cwnd()), (Some(Duration::from_millis(100)), 10), "one loss is forgiven");
}

fn with(cc: crate::Cc, ecn: EcnMode) -> Config {
    Config { cc, ecn, ..Config::default() }
}

/// RFC 9768, 3.1.1 and 3.2.2.1: SYN 111, then SYN-ACK 010 because the SYN was not ECT, then the ACK 010 as well. Then
/// the counter follows: 5 (101), and 6 (110) with a mark.
#[test]
fn accurate_feedback_is_agreed_in_the_handshake_and_counts_from_five() {
    let accurate = with(crate::Cc::Cubic, EcnMode::Accurate);
    let (mut c, mut s) = (Connection::client(accurate.clone()), Connection::server(accurate));
    let syn = c.poll_transmit(at(0)).unwrap();
    assert_eq!((syn.flags, syn.ecn), (Flags::SYN | Flags::ACE, Ecn::NotEct));
    s.handle_segment(at(50), &syn);
    let syn_ack = s.poll_transmit(at(50)).unwrap();
    assert_eq!(syn_ack.flags, Flags::SYN | Flags::ACK | Flags::CWR);
    c.handle_segment(at(100), &syn_ack);
    let ack = c.poll_transmit(at(100)).unwrap();
    assert_eq!(ack.flags, Flags::ACK | Flags::CWR);
    s.handle_segment(at(150), &ack);
    assert_eq!((c.ecn(), s.ecn()), (EcnMode::Accurate, EcnMode::Accurate));
    c.write(1000);
    let mut data = c.poll_transmit(at(150)).unwrap();
    assert_eq!((data.flags & Flags::ACE, data.ecn), (Flags::AE | Flags::ECE, Ecn::Ect0));
    data.ecn = Ecn::Ce;
    s.handle_segment(at(200), &data);
    let ack = s.poll_transmit(at(200)).unwrap();
    assert_eq!(ack.flags & Flags::ACE, Flags::AE | Flags::CWR);
    c.handle_segment(at(250), &ack);
    assert_eq!((c.state(), c.stats().ecn_reductions), (CongestionState::Cwr, 1));
}

/// RFC 9768, table 2: with a peer of RFC 3168 both ends use RFC 3168, with a peer without ECN neither uses ECN.
#[test]
fn accurate_feedback_falls_back_to_classic_and_to_none() {
    for (server, both) in [(EcnMode::Classic, EcnMode::Classic), (EcnMode::Off, EcnMode::Off)] {
        let (c, s) = established(with(crate::Cc::Cubic, EcnMode::Accurate), with(crate::Cc::Cubic, server));
        assert_eq!((c.ecn(), s.ecn()), (both, both));
        let (c, s) = established(with(crate::Cc::Cubic, server), with(crate::Cc::Cubic, EcnMode::Accurate));
        assert_eq!((c.ecn(), s.ecn()), (both, both));
    }
}

/// RFC 9768, 3.1.4.1: the first retransmitted SYN still asks, the second does not.
#[test]
fn a_syn_asks_for_accurate_feedback_twice() {
    let mut c = Connection::client(with(crate::Cc::Cubic, EcnMode::Accurate));
    let flags = [0, 1024, 3040].map(|ms| {
        c.handle_timeout(at(ms));
        c.poll_transmit(at(ms)).unwrap().flags
    });
    assert_eq!(flags, [Flags::SYN | Flags::ACE, Flags::SYN | Flags::ACE, Flags::SYN]);
}

/// RFC 8257, 3.5, and RFC 9331, 4.1: every packet of DCTCP and L4S senders is ECT, including SYN and ACKs. The SYN-ACK
/// reports the SYN's codepoint (RFC 9768, table 2: ECT(1) is 011).
#[test]
fn dctcp_and_prague_mark_every_packet_ect() {
    for (cc, mode, ect, told) in [
        (crate::Cc::Dctcp, EcnMode::Classic, Ecn::Ect0, Flags::ECE),
        (crate::Cc::Prague, EcnMode::Accurate, Ecn::Ect1, Flags::CWR | Flags::ECE),
    ] {
        let (mut c, mut s) = (Connection::client(with(cc, mode)), Connection::server(with(cc, mode)));
        let syn = c.poll_transmit(at(0)).unwrap();
        s.handle_segment(at(50), &syn);
        let syn_ack = s.poll_transmit(at(50)).unwrap();
        assert_eq!(syn_ack.flags & Flags::ACE, told);
        c.handle_segment(at(100), &syn_ack);
        let ack = c.poll_transmit(at(100)).unwrap();
        c.write(1000);
        let data = c.poll_transmit(at(100)).unwrap();
        assert_eq!([syn.ecn, syn_ack.ecn, ack.ecn, data.ecn], [ect; 4]);
    }
    let fallen =
        established(with(crate::Cc::Prague, EcnMode::Accurate), with(crate::Cc::Reno, EcnMode::Classic));
    let mut c = fallen.0;
    c.write(1000);
    assert_eq!(c.poll_transmit(at(200)).unwrap().ecn, Ecn::Ect0, "without accurate feedback it is no L4S");
}

/// RFC 8257, 3.2: unmarked data waits for its ACK when marked data arrives. Two ACKs follow, the first with the old
/// state.
#[test]
fn dctcps_receiver_tells_the_state_of_before_and_then_the_new_one() {
    let dctcp = with(crate::Cc::Dctcp, EcnMode::Classic);
    let (mut c, mut s) = established(dctcp.clone(), dctcp);
    c.write(100 * 1448);
    // The first round trips are acknowledged at once. Find a moment at which an ACK is delayed.
    let mut ms = 200;
    for _ in 0..40 {
        let data = c.poll_transmit(at(ms)).unwrap();
        s.handle_segment(at(ms), &Segment { flags: data.flags & Flags::ACK, ..data });
        if let Some(ack) = s.poll_transmit(at(ms)) {
            c.handle_segment(at(ms), &ack);
        } else {
            break;
        }
        ms += 1;
    }
    let mut marked = c.poll_transmit(at(ms)).unwrap();
    marked.ecn = Ecn::Ce;
    s.handle_segment(at(ms), &marked);
    let (before, after) = (s.poll_transmit(at(ms)).unwrap(), s.poll_transmit(at(ms)).unwrap());
    assert_eq!((before.ack, before.flags & Flags::ACE), (marked.seq, Flags::NONE));
    assert_eq!((after.ack, after.flags & Flags::ACE), (marked.seq + 1448, Flags::ECE));
    assert!(s.poll_transmit(at(ms)).is_none());
}

/// RFC 9293, 3.10.7.2 to 3.10.7.4. Guards against a connection that exists at one end only: by a segment that is no
/// SYN, by an answer to another SYN, or by an ACK of nothing.
#[test]
fn a_handshake_is_not_taken_for_another_one() {
    let mut s = Connection::server(config(false));
    let stray = Segment { flags: Flags::ACK, payload_len: 100, window: u16::MAX, ..Segment::default() };
    s.handle_segment(at(0), &stray);
    assert!(s.poll_transmit(at(0)).is_none(), "nobody is answered who sent no SYN");
    let mut c = Connection::client(config(false));
    let syn = c.poll_transmit(at(0)).unwrap();
    s.handle_segment(at(50), &syn);
    let syn_ack = s.poll_transmit(at(50)).unwrap();
    c.handle_segment(at(100), &Segment { ack: syn_ack.ack + 1, ..syn_ack });
    assert!(!c.is_established(), "it is of another SYN");
    c.handle_segment(at(100), &Segment { flags: Flags::SYN, ..syn_ack });
    assert!(!c.is_established(), "it acknowledges nothing");
    c.handle_segment(at(100), &syn_ack);
    assert!(c.is_established());
    let ack = c.poll_transmit(at(100)).unwrap();
    for not in [Segment { flags: Flags::NONE, ..ack }, Segment { ack: ack.ack - 1, ..ack }] {
        s.handle_segment(at(150), &not);
        assert!(!s.is_established(), "{not:?}");
    }
    s.handle_segment(at(150), &ack);
    assert!(s.is_established());
}

/// Data may overtake our answer to the SYN-ACK. It would be wrong to drop the data: the peer would send it again after
/// an RTO.
#[test]
fn data_that_come_before_the_clients_ack_has_left_are_taken() {
    let (mut c, mut s) = (Connection::client(config(false)), Connection::server(config(false)));
    s.handle_segment(at(50), &c.poll_transmit(at(0)).unwrap());
    let syn_ack = s.poll_transmit(at(50)).unwrap();
    c.handle_segment(at(100), &syn_ack);
    let data = Segment { seq: syn_ack.seq + 1, flags: Flags::ACK, payload_len: 100, ..syn_ack };
    assert_eq!(c.handle_segment(at(100), &data).newly_delivered_bytes, 100);
}
