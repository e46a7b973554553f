//! `tc qdisc change` of netem: what begins anew and what stays (tc's q_netem.c, Linux's `netem_change`; both the same
//! from 6.1 on).

use super::*;

/// Returns the line after `changes`, without the words that every line has.
fn line(words: &str, changes: &[&str]) -> String {
    let mut args = parse_line(&std::format!("netem {words}")).unwrap();
    for change in changes {
        args = args.changed(&std::format!("netem {change}")).unwrap();
        Setup::new(&args).unwrap();
    }
    args.to_string()
        .replace("netem ", "")
        .replace("distribution uniform ", "")
        .replace("noecn", "")
        .trim()
        .to_string()
}

#[test]
fn a_command_brings_limit_delay_losses_copies_and_gap_anew() {
    for words in [
        "limit 7 delay 20ms 5ms 25% loss 10% 25% duplicate 5% reorder 10% 50% gap 3",
        "delay 20ms loss state 1% 10% 1% 50% 1% seed 7",
        "limit 7 loss gemodel 1% 10% 70% 0.1%",
    ] {
        assert_eq!(line(words, &["rate 1mbit"]), "limit 1000  rate 1mbit", "{words}");
    }
}

#[test]
fn rate_corrupt_and_slot_stay_until_a_line_names_them_and_then_come_whole() {
    let kept = "corrupt 1 25 rate 5mbit 20 48 5 slot 10ms packets 3 bytes 4000";
    assert_eq!(line(kept, &["delay 5ms"]), std::format!("limit 1000 delay 5ms  {kept}"));
    let anew = line(kept, &["rate 1mbit corrupt 2% slot 20ms 30ms"]);
    assert_eq!(anew, "limit 1000  corrupt 2 rate 1mbit slot 20ms 30ms");
    let other = line(kept, &["slot distribution normal 9ms 1ms"]);
    assert_eq!(other, "limit 1000  corrupt 1 25 rate 5mbit 20 48 5 slot distribution normal 9ms 1ms");
}

/// A kept word does not make a line that tc takes one that it refuses. A line that tc refuses stays refused, whatever
/// the line before said.
#[test]
fn distribution_and_ecn_stay_and_each_line_is_judged_alone() {
    let words = "delay 10ms 1ms distribution normal loss 1% ecn";
    assert_eq!(line(words, &["delay 9ms"]), "limit 1000 delay 9ms distribution normal ecn");
    let (mut netem, mut owner) = (netem(words), Thrown::showing(&[0, 4096 + 2048]));
    for change in ["netem delay 9ms", "netem delay 10ms 1ms loss 1%"] {
        netem.change(at(0), change, &mut owner).unwrap();
    }
    netem.enqueue(at(0), Plain { ecn: Ecn::Ect0, ..Plain::new(100) }, &mut owner);
    assert_eq!((netem.dequeue(at(10 * MS), &mut owner), netem.next_timer()), (None, Some(at(10 * MS + 122))));
    assert_eq!((owner.marked, owner.dropped.len()), (1, 0));
    for refused in ["ecn", "delay 10ms distribution normal", "reorder 5%", "delay 1ms gap 5", "packets 3"] {
        let before = "delay 10ms 1ms reorder 10% loss 1% slot 5ms";
        let args = parse_line(&std::format!("netem {before}")).unwrap();
        let changed = args.changed(&std::format!("netem {refused}")).unwrap();
        assert!(Setup::new(&changed).is_err(), "{refused}");
    }
}

/// A loss of zero is a word of the line, too, and its correlation brings that of `duplicate`. The printed line must say
/// so, or a record would be read back as another line.
#[test]
fn a_loss_of_zero_is_named() {
    let shown = line("loss 0 0 duplicate 2% 25%", &[]);
    assert_eq!(shown, "limit 1000 loss 0 0  duplicate 2 25");
    assert_eq!(line(&shown, &[]), shown);
}

/// The three correlations of `TCA_NETEM_CORR` come together, with those of `reorder` and `corrupt`, and otherwise stay.
#[test]
fn the_correlations_of_delay_loss_and_duplicate_come_together() {
    let words = "delay 10ms 1ms 25% loss 1% 50% duplicate 1% 75%";
    let again = "delay 10ms 1ms loss 1% duplicate 1%";
    let shown = |changes: &[&str]| line(words, changes);
    assert_eq!(shown(&[again]), "limit 1000 delay 10ms 1ms 25 loss 1 50  duplicate 1 75");
    assert_eq!(shown(&["delay 1ms", again]), "limit 1000 delay 10ms 1ms 25 loss 1 50  duplicate 1 75");
    for other in
        ["delay 10ms 1ms 9% loss 1% duplicate 1%", "delay 10ms 1ms loss 1% duplicate 1% corrupt 0% 9%"]
    {
        assert!(shown(&[other]).starts_with("limit 1000 delay 10ms 1ms"), "{other}");
        assert!(
            shown(&[other]).contains("loss 1  ") && !shown(&[other]).contains("duplicate 1 75"),
            "{other}"
        );
    }
    // tc does not send the attribute for this one alone: no correlation in a first line, the one before in a change.
    assert_eq!(line("duplicate 2% 3%", &[]), "limit 1000  duplicate 2");
    assert_eq!(shown(&["duplicate 2% 3%"]), "limit 1000  duplicate 2 75");
    assert_eq!(line("duplicate 2% 3% loss 1% 0%", &[]), "limit 1000 loss 1 0  duplicate 2 3");
}

/// The packets above a smaller limit stay, as `netem_change` looks at no packet. The next one finds no room.
#[test]
fn packets_above_a_smaller_limit_stay() {
    let (mut netem, mut owner) = (netem("delay 1s"), Thrown::default());
    (0..3).for_each(|id| _ = netem.enqueue(at(0), Plain { id, ..Plain::new(100) }, &mut owner));
    netem.change(at(0), "netem limit 1", &mut owner).unwrap();
    assert_eq!((netem.backlog().packets, owner.dropped.len()), (3, 0));
    assert_eq!(netem.enqueue(at(0), Plain { id: 3, ..Plain::new(100) }, &mut owner), Enqueued::Dropped);
    assert_eq!([0; 3].map(|_| netem.dequeue(at(1000 * MS), &mut owner).unwrap().id), [0, 1, 2]);
}

/// A burst ends with a command, also with one that names the same model. So does the count of `gap`.
#[test]
fn the_state_of_losses_and_the_count_of_a_gap_begin_anew() {
    let words = "netem loss gemodel 1% 0% 0%";
    let (mut bad, mut owner) = (netem("loss gemodel 1% 0% 0%"), Thrown::showing(&[0, 1, u32::MAX, 1]));
    bad.enqueue(at(0), Plain::new(100), &mut owner); // the state turns bad
    bad.change(at(0), words, &mut owner).unwrap();
    bad.enqueue(at(0), Plain::new(100), &mut owner);
    assert_eq!((bad.backlog().packets, owner.dropped.len()), (2, 0));
    let (mut gap, mut owner) = (netem("delay 10ms reorder 100% gap 3"), Thrown::showing(&[0]));
    for id in 0..4 {
        gap.enqueue(at(0), Plain { id, ..Plain::new(100) }, &mut owner);
        if id == 0 {
            gap.change(at(0), "netem delay 10ms reorder 100% gap 3", &mut owner).unwrap();
        }
    }
    assert_eq!(gap.dequeue(at(0), &mut owner).unwrap().id, 3, "two packets after the change are delayed");
}

/// Slots of 10 ms with one packet each. A line that does not name them lets the slot go on; one that does begins one.
/// If they were a distribution's before, its table stays, and the delay that is drawn from it is 0.
#[test]
fn slots_go_on_or_begin_with_the_line() {
    let second = |words: &str, change: &str| {
        let (mut netem, mut owner) = (netem(words), Thrown::showing(&[0; 9]));
        (0..4).for_each(|id| _ = netem.enqueue(at(0), Plain { id, ..Plain::new(100) }, &mut owner));
        assert!(netem.dequeue(at(0), &mut owner).is_some());
        netem.change(at(4 * MS), change, &mut owner).unwrap();
        let packet = netem.dequeue(at(4 * MS), &mut owner).is_some();
        (packet, netem.dequeue(at(4 * MS), &mut owner).is_some(), netem.next_timer())
    };
    let tens = "slot 10ms packets 1";
    assert_eq!(second(tens, "netem limit 9"), (false, false, Some(at(10 * MS))));
    assert_eq!(second(tens, "netem slot 10ms packets 1"), (true, false, Some(at(14 * MS))));
    let drawn = "slot distribution uniform 10ms 1ns packets 1";
    assert_eq!(second(drawn, "netem slot 10ms packets 1"), (true, true, None));
    // Another rate of the link is no command.
    let (mut netem, mut owner) = (netem(tens), Thrown::showing(&[0; 9]));
    (0..2).for_each(|id| _ = netem.enqueue(at(0), Plain { id, ..Plain::new(100) }, &mut owner));
    netem.change(at(0), "netem slot 10ms packets 1", &mut owner).unwrap();
    assert!(netem.dequeue(at(0), &mut owner).is_some());
    netem.set_link_rate(at(MS), Rate::from_bps(1_000_000).unwrap(), &mut owner).unwrap();
    assert_eq!((netem.dequeue(at(MS), &mut owner), netem.next_timer()), (None, Some(at(10 * MS))));
}
