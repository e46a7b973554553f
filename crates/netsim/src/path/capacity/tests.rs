use super::*;
use proptest::prelude::*;

/// Checks what holds for every capacity, around the time `nanos` and around the amount that could have been sent by
/// then.
pub(crate) fn check(capacity: &impl Capacity, nanos: u64) -> Result<(), TestCaseError> {
    let time = Instant::from_nanos(nanos);
    let by = capacity.by(time);
    prop_assert!(by <= capacity.by(time + Duration::from_nanos(1)), "it falls");
    // At `time`, the next bit has not begun to leave. It begins before it ends.
    let (begins, ends) = (capacity.begins(by), capacity.ends(by + 1));
    prop_assert!(time <= begins && begins <= ends, "{time:?} {begins:?} {ends:?}");
    for amount in [1, by, by + 1, by + 12_345 * BYTE].into_iter().filter(|amount| *amount > 0) {
        let ends = capacity.ends(amount);
        prop_assert!(capacity.by(ends) >= amount, "{amount} is not sent at {ends:?}");
        if ends > Instant::ZERO {
            let before = Instant::from_nanos(ends.as_nanos() - 1);
            prop_assert!(capacity.by(before) < amount, "{amount} is sent before {ends:?}");
        }
        let begins = capacity.begins(amount);
        prop_assert!(begins <= ends.max(begins) && capacity.by(begins + Duration::from_nanos(1)) > amount);
        if begins > Instant::ZERO {
            prop_assert!(capacity.by(Instant::from_nanos(begins.as_nanos() - 1)) <= amount);
        }
    }
    // Packets one after the other take as long as one packet of their total size.
    let mut served = [(); 2].map(|()| Served { capacity, used: by, until: time });
    let mut now = time;
    for bytes in 1..100 {
        now += served[0].occupy(now, bytes);
    }
    prop_assert_eq!(now, time + served[1].occupy(time, (1..100).sum()));
    prop_assert!(served[0].bits(time, now) >= f64::from((1..100).sum::<u32>()) * 8.0);
    Ok(())
}

impl<C: Capacity> Capacity for &C {
    fn by(&self, time: Instant) -> Nanobits {
        (**self).by(time)
    }
    fn begins(&self, amount: Nanobits) -> Instant {
        (**self).begins(amount)
    }
    fn ends(&self, amount: Nanobits) -> Instant {
        (**self).ends(amount)
    }
    fn mean_rate(&self) -> Rate {
        (**self).mean_rate()
    }
}
