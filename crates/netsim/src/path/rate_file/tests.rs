use super::*;
use proptest::prelude::*;

fn steps_of(text: &str) -> Vec<(u64, u64)> {
    match read(text.as_bytes()) {
        Ok(RateTrace::Steps(steps)) => {
            steps.rates().map(|(time, bps)| (time.as_nanos() / 1_000_000, bps)).collect()
        }
        other => panic!("{text:?}: {other:?}"),
    }
}

#[test]
fn one_column_is_mahimahis() {
    let Ok(RateTrace::Opportunities(trace)) = read(b"0\n0\n3\r\n\n7") else { panic!() };
    assert_eq!((trace.millis(), trace.period()), (&[0, 0, 3, 7][..], 7));
}

#[test]
fn text_in_utf_16_is_that_in_utf_8() {
    let text = "0s 10mbit\r\n1s 5mbit\r\n";
    let pairs = |bytes: fn(u16) -> [u8; 2]| {
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(bytes).collect::<Vec<_>>()
    };
    for bytes in [pairs(u16::to_le_bytes), pairs(u16::to_be_bytes)] {
        assert_eq!(read(&bytes), read(text.as_bytes()));
    }
}

#[test]
fn two_columns_are_times_and_rates_with_units() {
    let expected = [(0, 10_000_000), (1500, 0), (60_000, 512_000)];
    for text in [
        "0s 10mbit\n1.5s 0bit\n1min 512kbit\n",
        "s,mbit\n0,10\n1.5,0\n60,0.512",
        "\u{feff}# a comment\ntime (s), rate (Mbit/s)\r\n0.0, 10.0\r\n1.500, 0.000\r\n\r\n60, .512",
        "time_ms;rate_kbit\n0;10000\n1500;0\n60000;512",
        "ms\tbit/s\n0\t10mbit\n1500\t0\n60s\t512000\n",
        "  us  bit \n0 10000000\n1500000 0\n60000000 512000",
    ] {
        assert_eq!(steps_of(text), expected, "{text:?}");
    }
}

#[test]
fn a_last_line_may_say_that_the_list_starts_again() {
    let Ok(RateTrace::Steps(steps)) = read(b"s mbit\n0 1\n15 0\n30 repeat\n") else { panic!() };
    assert_eq!((steps.rates().count(), steps.repeat()), (2, Some(Duration::from_secs(30))));
}

#[test]
fn files_that_are_no_trace_are_refused_in_one_line_that_says_where() {
    let table: [(&[u8], &str); 24] = [
        (b"", "found no line with a number"),
        (b"\n# nothing\n \n", "found no line with a number"),
        (b"1\n\xff\n", "line 2: found what is no UTF-8; accepted: text"),
        (
            b"\x00\x01\x02",
            "line 1: found \"\\0\\u{1}\\u{2}\"; accepted: whole milliseconds, one a line (mahimahi)",
        ),
        (
            b"none\n",
            "line 1: found \"none\"; accepted: whole milliseconds, one a line (mahimahi); a time and a rate",
        ),
        (b"[5000, 1500]", "line 1: found no list of periods"),
        (b"\xff\xfe1\x00\n", "found what is no UTF-16"),
        (b"\xff\xfe\x00\xd8", "found what is no UTF-16"),
        (b"1\n2\n\n1\n", "line 4: found 1 after 2; accepted: milliseconds that never fall"),
        (b"1\n-2\n", "line 2: found \"-2\"; accepted: a whole number of milliseconds"),
        (b"1\n+2\n", "line 2: found \"+2\""),
        (
            b"1\n4294967296\n",
            "line 2: found \"4294967296\"; accepted: a whole number of milliseconds, up to 4294967295",
        ),
        (b"0\n0\n", "line 2: found 0 at the end; accepted: a last millisecond above 0"),
        (
            b"1 2 3\n",
            "line 1: found \"1 2 3\"; accepted: whole milliseconds, one a line (mahimahi); a time and",
        ),
        (b"0s 1mbit\n1s\n", "line 2: found \"1s\"; accepted: a time and a rate"),
        (b"0 1\n", "line 1: found \"1\"; accepted: a rate with its unit"),
        (b"0.5 1mbit\n", "line 1: found \"0.5\"; accepted: a time with its unit"),
        (b"0s 1mbit\n-1s 2mbit\n", "line 2: found \"-1s\"; accepted: a time with its unit"),
        (b"0s -1mbit\n", "line 1: found \"-1mbit\"; accepted: a rate with its unit"),
        (b"time,Mbps\n0,1\n", "line 1: found \"time,Mbps\"; accepted: a time and a rate with their units"),
        (b"s,mbit\n\n0,1\n2,3\n\n1,3", "line 6: found 1s after 2s; accepted: times that rise"),
        (b"s,mbit\n0,1\n2,0\n", "line 3: found a last rate of 0, which holds for ever"),
        (b"s,mbit\n0,repeat\n2,1\n", "line 2: found \"repeat\"; accepted: a rate with its unit"),
        (b"s,mbit\n0,0\n2,repeat\n", "line 3: found rates of 0 only"),
    ];
    for (bytes, found) in table {
        let error = read(bytes).unwrap_err();
        assert!(error.contains(found) && !error.contains('\n'), "{error}");
    }
    // A message does not quote the whole of a long line, and a file that is too large is refused.
    assert!(read("9".repeat(10_000).as_bytes()).unwrap_err().len() < 200);
    assert!(read(&vec![b'\n'; MOST_BYTES as usize + 1]).unwrap_err().contains("64 MiB"));
    assert!(read("\n".repeat(MOST_LINES + 1).as_bytes()).unwrap_err().contains("more than 10000000 lines"));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[0-9a-z.,;# \n{}\":\\[\\]-]{0,60}") {
        let _ = (read(&bytes), read(text.as_bytes()));
    }

    #[test]
    fn opportunities_that_are_written_are_read_as_the_same(gaps in prop::collection::vec(0..2000_u32, 1..50)) {
        let millis: Vec<u32> = gaps.iter().scan(1, |sum, gap| { *sum += gap; Some(*sum) }).collect();
        let trace = RateTrace::Opportunities(Opportunities::new(millis, FRAME_BYTES).unwrap());
        prop_assert_eq!(read(trace.to_string().as_bytes()), Ok(trace));
    }

    #[test]
    fn steps_that_are_written_are_read_as_the_same(
        rates in prop::collection::vec((1..100_000_000_000_u64, prop_oneof![Just(0), 1..1_000_000_000_000_u64]), 1..20),
        repeat in prop::option::of(1..100_000_000_000_u64),
    ) {
        let mut time = 0;
        let mut list = vec![(Duration::ZERO, 7)];
        for (gap, bps) in rates {
            time += gap;
            list.push((Duration::from_nanos(time), bps));
        }
        list.push((Duration::from_nanos(time + 1), 9));
        let trace = Steps::new(&list, repeat.map(|gap| Duration::from_nanos(time + 1 + gap))).unwrap();
        let trace = RateTrace::Steps(trace);
        prop_assert_eq!(read(trace.to_string().as_bytes()), Ok(trace));
    }
}
