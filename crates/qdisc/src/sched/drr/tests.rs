use super::*;
use crate::packet::Plain;
use proptest::prelude::*;

/// Takes turns one by one, as RFC 8290, 4.2, says.
fn naive_next_flow(drr: &mut Drr<Plain, ()>) -> Option<u32> {
    loop {
        let list = if drr.new.head == NIL { &mut drr.old } else { &mut drr.new };
        let bucket = list.head;
        let flow = drr.flows.get_mut(bucket as usize)?;
        if flow.deficit > 0 {
            return Some(bucket);
        }
        flow.deficit += drr.quantum;
        list.shift(&mut drr.flows);
        drr.old.push(&mut drr.flows, bucket);
    }
}

/// Sends a packet of the flow whose turn it is, or retires the flow.
fn serve(drr: &mut Drr<Plain, ()>, next_flow: impl Fn(&mut Drr<Plain, ()>) -> Option<u32>) -> Option<u32> {
    let bucket = next_flow(drr)?;
    if drr.split(bucket).1.pull().is_some() {
        drr.charge(bucket)
    } else {
        drr.retire(bucket)
    }
    Some(bucket)
}

proptest! {
    /// Skipped rounds must not change whose turn it is, nor the bytes that a flow may still send.
    #[test]
    fn skipped_rounds_are_as_if_they_had_passed(
        quantum in prop_oneof![1..4_u32, 1..2000_u32],
        ops in proptest::collection::vec((0..3_u8, 0..5_u32, 1..3000_u32), 0..300),
    ) {
        let (mut ours, mut naive) = (Drr::new(5, quantum), Drr::new(5, quantum));
        for (op, bucket, len) in ops {
            if op == 0 {
                ours.push(bucket, || Plain::new(len));
                naive.push(bucket, || Plain::new(len));
            } else {
                prop_assert_eq!(serve(&mut ours, Drr::next_flow), serve(&mut naive, naive_next_flow));
            }
            let state = |drr: &Drr<Plain, ()>| {
                let list = |list| drr.list(list).map(|(bucket, _)| bucket).collect::<Vec<_>>();
                let deficits = drr.flows.iter().map(|flow| flow.deficit).collect::<Vec<_>>();
                (list(drr.new), list(drr.old), deficits)
            };
            prop_assert_eq!(state(&ours), state(&naive));
        }
    }
}
