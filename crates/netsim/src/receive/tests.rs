use super::*;
use crate::ids::{FlowId, Number};
use goodqueue_tcp::{Flags, Segment, SeqNumber};
use goodqueue_units::Ecn;

fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

fn receive(rx_usecs: u64, rx_frames: Option<u64>) -> Card {
    Card::new(Receive { rx_usecs, rx_frames, gro: true, reads_after_poll: false })
}

/// Returns the segment `number` of the connection `flow`, with full payload.
fn data(flow: usize, number: u32) -> Packet {
    let segment =
        Segment { seq: SeqNumber(1448 * number), payload_len: 1448, flags: Flags::ACK, ..Segment::default() };
    Packet { arrival: Instant::ZERO, flow: FlowId::at(flow), hash: flow as u32, body: Body::Tcp(segment) }
}

fn with(packet: Packet, change: impl FnOnce(&mut Segment)) -> Packet {
    let Body::Tcp(mut segment) = packet.body else { unreachable!() };
    change(&mut segment);
    Packet { body: Body::Tcp(segment), ..packet }
}

/// Returns the flow, the first byte's segment and the number of parts of each packet that the host gets.
fn taken(card: &mut Card) -> Vec<(u32, u32, u32)> {
    let mut packets = Vec::new();
    card.interrupt(&mut packets);
    let shown = |packet: &Packet| (packet.flow(), packet.segment().unwrap().seq.0 / 1448, packet.parts());
    packets.iter().map(shown).collect()
}

/// ethtool's times: the first packet starts the time, later ones do not move it, and enough packets end it.
#[test]
fn the_interrupt_comes_after_a_time_or_a_number_of_packets() {
    let mut card = receive(100, Some(4));
    assert_eq!([0, 12, 99].map(|us| card.arrive(at(us), data(0, us as u32))), [at(100); 3]);
    assert_eq!(taken(&mut card).len(), 3);
    assert_eq!(
        [150, 160, 170, 180].map(|us| card.arrive(at(us), data(0, 0))),
        [at(250), at(250), at(250), at(180)]
    );
    taken(&mut card);
    assert_eq!(receive(0, None).arrive(at(7), data(0, 0)), at(7), "without a time at once");
    assert_eq!((card.counts.interrupts, card.counts.packets, card.waiting()), (2, 7, 0));
}

#[test]
fn segments_in_order_merge_and_what_breaks_the_order_does_not() {
    let mut card = receive(100, None);
    for number in [0, 1, 2, 4, 5, 6] {
        card.arrive(at(0), data(0, number));
    }
    assert_eq!(taken(&mut card), [(0, 0, 3), (0, 4, 3)], "a lost segment begins another packet");
    for packet in [
        data(0, 0),
        with(data(0, 1), |segment| segment.flags |= Flags::PSH),
        data(0, 2),
        with(data(0, 3), |segment| segment.ecn = Ecn::Ce),
        with(data(0, 4), |segment| segment.ecn = Ecn::Ce),
        with(data(0, 5), |segment| segment.payload_len = 0),
    ] {
        card.arrive(at(0), packet);
    }
    let expected = [(0, 0, 2), (0, 2, 1), (0, 3, 2), (0, 5, 1)];
    assert_eq!(taken(&mut card), expected, "PSH ends one, a mark begins one, an ACK is none");
}

/// A receiver that gets the held packets of two connections in one piece each acknowledges each once.
#[test]
fn connections_merge_beside_each_other_and_one_poll_takes_64_packets() {
    let mut card = receive(100, None);
    for number in 0..40 {
        card.arrive(at(0), data(1, number));
        card.arrive(at(0), data(0, number));
    }
    // 64 packets, then 16. A poll hands over the lists of held packets by their number, not by age.
    assert_eq!(taken(&mut card), [(0, 0, 32), (1, 0, 32), (0, 32, 8), (1, 32, 8)]);
    let mut card = Card::new(Receive { gro: false, ..card.of });
    (0..3).for_each(|number| {
        card.arrive(at(0), data(0, number));
    });
    assert_eq!(taken(&mut card), [(0, 0, 1), (0, 1, 1), (0, 2, 1)]);
}

/// A ninth connection of one list sends the oldest on. An ACK of another connection overtakes held data.
#[test]
fn a_list_holds_eight_connections() {
    let mut card = receive(100, None);
    for flow in 0..9 {
        card.arrive(at(0), data(8 * flow, 0));
    }
    card.arrive(at(0), with(data(1, 0), |segment| segment.payload_len = 0));
    card.arrive(at(0), data(0, 1));
    let taken: Vec<u32> = taken(&mut card).iter().map(|(flow, ..)| *flow).collect();
    assert_eq!(taken, [0, 1, 8, 16, 24, 32, 40, 48, 56, 64, 0]);
}
