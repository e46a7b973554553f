//! A wrong decision of each kind must be reported with its line. A broken trace must be refused with its line.

use goodqueue_conformance::{Error, Outcome, replay, replay_reader};
use proptest::prelude::*;
use std::io::Write as _;

/// Drop-tail of two packets. Lines 6 to 14 are the events.
const PFIFO: &str = "\
# format=aqm-golden-1
# algorithm=pfifo
# link_bps=10000000
# psched_mtu_bytes=1514
# limit=2
10,rate,10000000
10,enq,0,100,0,7,0,0,q,0,,,1,100
11,enq,1,100,0,7,2,0,q,0,,,2,200
12,enq,2,100,0,7,0,0,d,1,2,,2,200
13,deq,0,0,,,1,100
14,deq,1,2,,,0,0
15,deq,-1,0,,,0,0
15,st,qlen=0,backlog=0
15,end,enq=3,deq=2,drop=1,left=0,mark=0,rnd=0
";

/// At most three packets of one flow; overflow takes two. The third packet that leaves has waited longer than
/// ce_threshold.
const FQ_CODEL: &str = "\
# format=aqm-golden-1
# algorithm=fq_codel
# link_bps=10000000
# psched_mtu_bytes=1514
# limit_packets=3
# target_us=5000
# interval_us=100000
# ecn=1
# ce_threshold_ticks=976
# ce_threshold_selector=0
# ce_threshold_mask=0
# quantum_bytes=1514
10,enq,0,100,0,0,2,0,q,0,,,1,100
11,enq,1,100,0,0,2,0,q,0,,,2,200
12,enq,2,100,0,0,2,0,q,0,,,3,300
13,enq,3,100,0,0,2,0,q,2,0|1,,2,200
13,st,new_len=1,old_len=0,memory_usage=1536,qlen=2,backlog=200,new0=0:1514:200:2:0:0:0:0:0
14,deq,2,2,,,1,100
2000000,deq,3,3,,3,0,0
2000000,end,enq=4,deq=2,drop=2,left=0,mark=1,rnd=0
";

/// The two keys that SFQ draws at set-up.
const SFQ: &str = "\
# format=aqm-golden-1
# algorithm=sfq
# link_bps=10000000
# psched_mtu_bytes=1514
# HZ=250
# seed=1
# hash_groups=4
# headdrop=0
# perturb_period_jiffies=0
# red=0
10,rnd,64,5
10,rnd,64,6
10,enq,0,100,0,7,0,0,q,0,,,1,100
10,end,enq=1,deq=0,drop=0,left=1,mark=0,rnd=2
";

/// One class of `drr`, for packets with the mark 5. A packet without a class is dropped, and Linux answers 0.
const TREE: &str = "\
# format=aqm-golden-1
# algorithm=tc
# link_bps=10000000
# psched_mtu_bytes=1514
# line=tc qdisc add dev e root handle 1: drr; tc class add dev e parent 1: classid 1:1 drr; \
tc filter add dev e parent 1: handle 5 fw flowid 1:1
10,enq,0,100,0,7,0,0,q,0,,,1,100,5,1:1
11,enq,1,100,0,7,0,65537,q,0,,,2,200,6,1:1
12,enq,2,100,0,7,0,0,d,0,2,,2,200,6,none
13,deq,0,0,,,1,100
13,end,enq=3,deq=1,drop=1,left=1,mark=0,rnd=0
";

fn run(text: &str) -> Result<Outcome, Error> {
    replay_reader("toy.csv", text.as_bytes())
}

/// Returns `text` with its line `number`, counted from 1, replaced.
fn with(text: &str, number: usize, line: &str) -> String {
    let lines = text.lines().enumerate().map(|(i, old)| if i + 1 == number { line } else { old });
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_toy_traces_are_right_as_they_stand() {
    for (text, events, packets) in [(PFIFO, 6, 3), (FQ_CODEL, 6, 4), (SFQ, 1, 1), (TREE, 4, 3)] {
        let outcome = run(text).unwrap();
        assert!(outcome.is_ok(), "{outcome:?}");
        assert_eq!((outcome.events, outcome.packets), (events, packets));
    }
}

#[test]
fn each_kind_of_wrong_decision_is_reported_with_its_line() {
    // (trace, line, the new line, expected, got)
    let table = [
        (PFIFO, 8, "11,enq,1,100,0,7,2,0,d,0,,,2,200", "fate=d ret=0", "fate=q ret=0"),
        (PFIFO, 9, "12,enq,2,100,0,7,0,0,d,2,2,,2,200", "fate=d ret=2", "fate=d ret=1"),
        (PFIFO, 7, "10,enq,0,100,0,7,0,0,q,0,,,2,100", "qlen=2", "qlen=1"),
        (PFIFO, 8, "11,enq,1,100,0,7,2,0,q,0,,,2,201", "backlog=201", "backlog=200"),
        (PFIFO, 10, "13,deq,1,0,,,1,100", "id=1", "id=0"),
        (PFIFO, 11, "14,deq,1,3,,,0,0", "id=1 ecn=3", "id=1 ecn=2"),
        (PFIFO, 12, "15,deq,5,0,,,0,0", "id=5", "id=-1"),
        (PFIFO, 13, "15,st,qlen=1,backlog=0", "qlen=1", "qlen=0"),
        (PFIFO, 13, "15,st,qlen=0,depth=7", "depth=7", "depth=not_shown"),
        (PFIFO, 14, "15,end,enq=3,deq=3,drop=0,left=0,mark=0,rnd=0", "deq=3", "deq=2"),
        (FQ_CODEL, 16, "13,enq,3,100,0,0,2,0,q,2,1|0,,2,200", "drops=1|0", "drops=0|1"),
        (FQ_CODEL, 16, "13,enq,3,100,0,0,2,0,q,2,0,,2,200", "drops=0 ", "drops=0|1 "),
        (FQ_CODEL, 19, "2000000,deq,3,3,,,0,0", "marks= ", "marks=3 "),
        (
            FQ_CODEL,
            17,
            "13,st,new_len=2,new0=0:1514:200:1:0:0:0:0:0",
            "new_len=2 new0=0:1514:200:1",
            "new_len=1 new0=",
        ),
        // The list has one flow: a second flow in the trace is a difference, although our probe shows no variable of
        // its name.
        (FQ_CODEL, 17, "13,st,new1=1:1514:0:0:0:0:0:0:0", "new1=1:1514", "new1=not_shown"),
        (SFQ, 14, "10,st,active=1,prob_drop=3", "prob_drop=3", "prob_drop=not_shown"),
        (PFIFO, 6, "10,rnd,32,5", "rnd lines before", "1 of them not drawn"),
        (SFQ, 12, "10,rate,10000000", "rnd lines before", "a draw of 64 bits more"),
        (TREE, 6, "10,enq,0,100,0,7,0,0,q,0,,,1,100,5,1:2", "class=1:2", "class=1:1"),
        (TREE, 8, "12,enq,2,100,0,7,0,0,d,0,2,,2,200,5,none", "class=none", "class=1:1"),
        (SFQ, 12, "10,rnd,32,6", "rnd lines before", "a draw of 64 bits for one of 32"),
    ];
    for (text, line, wrong, expected, got) in table {
        let outcome = run(&with(text, line, wrong)).unwrap();
        let first = outcome.first.clone().unwrap_or_else(|| panic!("{wrong} passed"));
        // The call after a missing draw reports it.
        let reported = line + usize::from(wrong.contains(",rnd,") || wrong.contains(",rate,"));
        assert_eq!((outcome.mismatches, first.line), (1, reported as u64), "{wrong}");
        assert!(first.expected.contains(expected) && first.got.contains(got), "{wrong}: {first:?}");
    }
}

/// A variable that a probe has lost is a check that is no longer made. So only the variables of a written list may be
/// missing.
#[test]
fn what_linux_tells_and_we_do_not_show_is_passed_over_if_it_is_on_the_list() {
    let table = [
        (FQ_CODEL, 17, "13,st,new_len=1,ecn_mark=0,ce_mark=0,maxpacket=100"),
        (SFQ, 14, "10,st,active=1,prob_drop=0,forced_mark_head=0\n10,end,enq=1"),
    ];
    for (text, line, state) in table {
        let outcome = run(&with(text, line, state)).unwrap();
        assert!(outcome.is_ok(), "{state}: {outcome:?}");
    }
    let elsewhere = run(&with(PFIFO, 13, "15,st,qlen=0,maxpacket=100")).unwrap();
    assert_eq!(elsewhere.mismatches, 1, "the list is of one algorithm, not of all: {elsewhere:?}");
}

#[test]
fn a_mismatch_shows_both_states_and_serialises_as_replay_prints_it() {
    let outcome = run(&with(FQ_CODEL, 19, "2000000,deq,3,3,,,0,0")).unwrap();
    let json = serde_json::to_value(&outcome).unwrap();
    assert_eq!(json["file"], "toy.csv");
    assert_eq!(json["mismatches"], 1);
    assert_eq!(json["first"]["line"], 19);
    assert_eq!(json["first"]["text"], "2000000,deq,3,3,,,0,0");
    assert_eq!(json["first"]["state"]["theirs_line"], 17);
    assert_eq!(json["first"]["expected"], "id=3 ecn=3 drops= marks= qlen=0 backlog=0");
    assert!(json["first"]["state"]["ours"].as_str().unwrap().starts_with("new_len=1,old_len=0"));
    assert!(json["first"]["state"]["theirs"].as_str().unwrap().starts_with("new_len=1,old_len=0,memory"));
    assert!(json["unsupported"].is_null());
    assert!(serde_json::to_value(run(PFIFO).unwrap()).unwrap()["first"].is_null());
}

#[test]
fn what_we_do_not_have_is_unsupported_and_says_what() {
    let table = [
        (PFIFO, 2, "# algorithm=hfsc", "\"hfsc\" is not implemented"),
        (PFIFO, 2, "# algorithm=pfifo_fast\n# bands=4", "bands=4 has no word here"),
        (SFQ, 9, "# perturb_period_jiffies=3", "no whole second"),
        (SFQ, 10, "# divisor=3", "divisor: found 3"),
    ];
    for (text, line, header, why) in table {
        let outcome = run(&with(text, line, header)).unwrap();
        assert!(outcome.unsupported.clone().is_some_and(|said| said.contains(why)), "{outcome:?}");
        assert_eq!((outcome.events, outcome.mismatches, outcome.is_ok()), (0, 0, false));
    }
}

#[test]
fn a_broken_trace_is_refused_with_its_line() {
    let table = [
        (1, "# format=aqm-golden-2", "toy.csv:6: found format \"aqm-golden-2\"; accepted: \"aqm-golden-1\""),
        (2, "# algorithm:pfifo", "toy.csv:2: found \"algorithm:pfifo\"; accepted: # key=value"),
        (2, "# limit=3", "toy.csv:5: the header has \"limit\" twice"),
        (3, "# link_bps=0", "toy.csv:6: the header has no link_bps above zero"),
        (4, "# psched_mtu_bytes=big", "toy.csv:6: psched_mtu_bytes: found \"big\"; accepted: a number"),
        (5, "# limit=many", "toy.csv:6: limit: found \"many\"; accepted: a number"),
        (7, "x,enq,0,100,0,7,0,0,q,0,,,1,100", "toy.csv:7: t_ns: found \"x\"; accepted: a number"),
        (7, "", "toy.csv:7: t_ns: found \"\"; accepted: a number"),
        (7, "10,enq,1,100,0,7,0,0,q,0,,,1,100", "toy.csv:7: id: found 1; accepted: 0, the next arrival"),
        (7, "10,enq,0,0,0,7,0,0,q,0,,,1,100", "toy.csv:7: len: found 0; accepted: a number above zero"),
        (7, "10,enq,0,100,0,7,4,0,q,0,,,1,100", "toy.csv:7: ecn: found 4; accepted: 0 to 3"),
        (7, "10,enq,0,100,0,7,0,0,x,0,,,1,100", "toy.csv:7: fate: found \"x\"; accepted: q, m, d"),
        (7, "10,enq,0,100,0,7,0,0,q,0,1|x,,1,100", "toy.csv:7: drops: found \"x\"; accepted: a number"),
        (8, "9,deq,0,0,,,1,100", "toy.csv:8: time runs backwards: found 9 after 10"),
        (10, "13,deq,0,0,,,1", "toy.csv:10: the line ends before the column \"backlog\""),
        (10, "13,deq,0,0,,,1,100,5", "toy.csv:10: found \"5\" after the last column"),
        (10, "13,poke,0", "toy.csv:10: found \"poke\"; accepted: rate, enq, deq, timer, tc, rnd, st, end"),
        (10, "13,rnd,8,1", "toy.csv:10: bits: found 8; accepted: 16, 32, 64"),
        (10, "13,rnd,16,65536", "toy.csv:10: value: found 65536, more than 16 bits"),
        (10, "# limit=3", "toy.csv:10: a header line after the first event"),
        (13, "15,st,qlen", "toy.csv:13: found \"qlen\"; accepted: key=value"),
        (13, "15,end,enq=3", "toy.csv:14: a line after the end line"),
        (14, "15,end,enq=three", "toy.csv:14: enq: found \"three\"; accepted: a number"),
        (14, "15,deq,-1,0,,,0,0", "toy.csv:14: the trace has no end line"),
    ];
    for (line, text, error) in table {
        assert_eq!(run(&with(PFIFO, line, text)).unwrap_err().to_string(), error);
    }
    assert!(run("").unwrap_err().to_string().contains("no header"));
    assert!(replay("/nowhere/toy.csv".as_ref()).unwrap_err().to_string().starts_with("/nowhere/toy.csv: "));
}

#[test]
fn gzip_is_known_by_its_magic_and_a_truncated_one_is_refused() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(PFIFO.as_bytes()).unwrap();
    let bytes = gzip.finish().unwrap();
    assert!(replay_reader("toy", bytes.as_slice()).unwrap().is_ok());
    for end in [2, 12, bytes.len() / 2, bytes.len() - 1] {
        let error = replay_reader("toy", &bytes[..end]).unwrap_err().to_string();
        assert!(error.starts_with("toy:") && error.contains("cannot be read"), "{end}: {error}");
    }
}

#[test]
fn a_line_without_end_does_not_fill_the_memory() {
    let endless = std::io::BufReader::new(std::io::repeat(b'7'));
    assert!(replay_reader("toy", endless).unwrap_err().to_string().contains("longer than"));
}

#[test]
fn what_unpacks_to_gigabytes_does_not_fill_the_memory() {
    let (header, rest) = PFIFO.split_at(PFIFO.find("\n").unwrap() + 1);
    let long = (0..300).map(|key| format!("# {key}={}\n", "x".repeat(4000))).collect::<String>();
    let refused = replay_reader("toy", format!("{header}{long}{rest}").as_bytes()).unwrap_err().to_string();
    assert!(refused.contains("the header is longer than 1048576 bytes"), "{refused}");
    let at = PFIFO.rfind("\n# ").map(|at| at + PFIFO[at + 1..].find('\n').unwrap() + 2).unwrap();
    let draws = "0,rnd,16,1\n".repeat(1_000_001);
    let refused =
        replay_reader("toy", format!("{}{draws}", &PFIFO[..at]).as_bytes()).unwrap_err().to_string();
    assert!(refused.contains("more than 1000000 draws that no call took"), "{refused}");
}

proptest! {
    /// A trace that is changed in any way must give an outcome or an error.
    #[test]
    fn a_mangled_trace_never_panics(
        which in 0..3_usize,
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        digits in proptest::collection::vec((any::<prop::sample::Index>(), b'0'..=b'9'), 0..6),
    ) {
        let mut bytes = [PFIFO, FQ_CODEL, SFQ][which].as_bytes().to_vec();
        for (at, digit) in digits {
            let at = at.index(bytes.len());
            if bytes[at].is_ascii_digit() {
                bytes[at] = digit;
            }
        }
        let _ = replay_reader("mangled", bytes.as_slice());
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = replay_reader("mangled", bytes.as_slice());
    }
}
