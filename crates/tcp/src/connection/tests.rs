use super::*;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn config(ecn: bool) -> Config {
    Config { ecn, ..Config::default() }
}

/// Handshake without loss, 50 ms each way.
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
    assert!(c.poll_transmit(at(0)).is_none() && c.poll_timeout() == Some(at(1000)));
    s.handle_segment(at(50), &syn);
    let syn_ack = s.poll_transmit(at(50)).unwrap();
    assert!(syn_ack.flags == Flags::SYN | Flags::ACK && syn_ack.ack == SeqNumber(1));
    c.handle_segment(at(100), &syn_ack);
    let ack = c.poll_transmit(at(100)).unwrap();
    assert!(ack.flags == Flags::ACK && ack.wire_len() == 66);
    let data = c.poll_transmit(at(100)).unwrap();
    assert!(data.seq == SeqNumber(1) && data.wire_len() == 1514);
    // The bare ACK is lost; data completes the handshake too.
    let handled = s.handle_segment(at(150), &data);
    assert_eq!(handled.newly_delivered_bytes, 1448);
    assert!(c.is_established() && s.is_established() && s.poll_timeout().is_none());
    assert_eq!((c.srtt(), s.srtt()), (Some(Duration::from_millis(100)), Some(Duration::from_millis(100))));
}

#[test]
fn a_lost_syn_is_sent_again_after_1_then_2_then_4_seconds_and_gives_no_sample() {
    let mut c = Connection::client(config(true));
    let first = c.poll_transmit(at(0)).unwrap();
    assert!(first.flags.contains(Flags::ECE | Flags::CWR));
    for (now, next) in [(1000, 3000), (3000, 7000)] {
        assert_eq!(c.poll_timeout(), Some(at(now)));
        c.handle_timeout(at(now));
        let again = c.poll_transmit(at(now)).unwrap();
        assert_eq!(again.flags, Flags::SYN, "Linux 6 no longer asks for ECN (RFC 3168, 6.1.1.1)");
        assert_eq!(c.poll_timeout(), Some(at(next)));
    }
    let mut s = Connection::server(config(true));
    s.handle_segment(at(3050), &Segment { flags: Flags::SYN, ..Segment::default() });
    let syn_ack = s.poll_transmit(at(3050)).unwrap();
    c.handle_segment(at(3100), &syn_ack);
    assert!(c.is_established() && !c.is_ecn() && c.srtt().is_none());
    assert_eq!((c.cwnd(), c.stats().timeouts), (1, 2));
}

#[test]
fn a_lost_syn_ack_is_repeated_by_the_servers_timer_or_the_clients_syn() {
    let mut s = Connection::server(config(false));
    let syn = Segment { flags: Flags::SYN, window: u16::MAX, ..Segment::default() };
    s.handle_segment(at(0), &syn);
    assert!(s.poll_transmit(at(0)).is_some() && s.poll_timeout() == Some(at(1000)));
    s.handle_timeout(at(1000));
    assert!(s.poll_transmit(at(1000)).unwrap().flags.contains(Flags::SYN | Flags::ACK));
    s.handle_segment(at(1001), &syn);
    assert!(s.poll_transmit(at(1001)).is_some());
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

#[test]
fn an_acknowledgement_rides_on_data() {
    let (mut c, mut s) = established(config(false), config(false));
    c.write(100);
    let request = c.poll_transmit(at(200)).unwrap();
    s.handle_segment(at(250), &request);
    s.write(2000);
    let answer = s.poll_transmit(at(250)).unwrap();
    assert_eq!((answer.ack, answer.payload_len), (SeqNumber(101), 1448));
    assert_eq!(s.poll_transmit(at(250)).map(|rest| rest.payload_len), Some(552));
    assert!(s.poll_transmit(at(250)).is_none(), "no bare ACK after it");
    let handled = c.handle_segment(at(300), &answer);
    assert_eq!(handled, Handled { rtt: Some(Duration::from_millis(100)), newly_delivered_bytes: 1448 });
}

#[test]
fn a_connection_is_small_so_that_a_thousand_fit_the_cache() {
    assert!(size_of::<Connection>() <= 1024, "{}", size_of::<Connection>());
}
