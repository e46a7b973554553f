//! Proportional rate reduction (RFC 6937, section 3; its successor RFC 9937).
//!
//! It counts segments, as Linux does. It also spreads a reduction by ECN (state CWR) over a round trip.

/// One window reduction under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prr {
    /// RecoverFS: the window when the reduction began.
    recover_fs: u32,
    /// Segments delivered since then (prr_delivered).
    delivered: u32,
    /// Segments sent since then (prr_out).
    out: u32,
}

impl Prr {
    /// Begins a reduction of the window `cwnd`.
    pub(crate) const fn new(cwnd: u32) -> Self {
        Self { recover_fs: cwnd, delivered: 0, out: 0 }
    }

    /// Takes note that a segment was sent, new or retransmitted.
    #[inline]
    pub(crate) fn on_sent(&mut self) {
        self.out += 1;
    }

    /// Takes note that the last segment was not sent after all.
    pub(crate) fn on_taken_back(&mut self) {
        self.out = self.out.saturating_sub(1);
    }

    /// Returns how many segments may leave after an ACK that delivered `newly_delivered`.
    ///
    /// Below `ssthresh`, `bonus` says whether one segment more than was delivered may leave (the SSRB bound) or not
    /// (the CRB bound).
    pub(crate) fn on_ack(&mut self, newly_delivered: u32, in_flight: u32, ssthresh: u32, bonus: bool) -> u32 {
        self.delivered += newly_delivered;
        let allowed = if in_flight > ssthresh {
            // CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out
            let share = u64::from(self.delivered) * u64::from(ssthresh);
            (share.div_ceil(u64::from(self.recover_fs.max(1))) as u32).saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(newly_delivered) + u32::from(bonus);
            limit.min(ssthresh - in_flight)
        };
        // The first ACK always releases one segment: the fast retransmit (RFC 6937, section 3, last paragraph).
        allowed.max(u32::from(self.out == 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{string::String, vec, vec::Vec};

    /// The situation of RFC 6937, section 4, first example: a window of 20 with one loss, ssthresh 10. Worked by hand
    /// from section 3: with delivered d, CEIL(d·10/20) − out is 1 for odd d and 0 for even d.
    #[test]
    fn one_loss_of_twenty_sends_on_every_second_ack() {
        let mut prr = Prr::new(20);
        // Two duplicate ACKs sent two new segments (limited transmit). The third marks the loss: 22 − 3 − 1 = 18.
        let mut pipe = 18;
        let mut sent = String::new();
        let mut pipes: Vec<u32> = vec![];
        for ack in 3..=19 {
            if ack > 3 {
                pipe -= 1;
            }
            let n = prr.on_ack(1, pipe, 10, true);
            assert!(n <= 1, "a burst of {n} at ACK {ack}");
            if n == 1 {
                prr.on_sent();
                pipe += 1;
            }
            sent.push(if n == 1 { 'x' } else { '-' });
            pipes.push(pipe);
        }
        assert_eq!(sent, "x-x-x-x-x-x-x-x--");
        assert_eq!(pipes, [19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 10]);
    }

    /// The situation of RFC 6937, section 4, second example: a burst of losses puts the flight far below ssthresh at
    /// once. CRB sends one segment per delivered segment, SSRB one more.
    #[test]
    fn a_burst_loss_is_repaired_by_the_reduction_bound() {
        let mut crb = Prr::new(20);
        assert_eq!(crb.on_ack(1, 4, 10, false), 1);
        crb.on_sent();
        assert_eq!(crb.on_ack(1, 4, 10, false), 1);
        let mut ssrb = Prr::new(20);
        assert_eq!(ssrb.on_ack(1, 4, 10, true), 2);
        ssrb.on_sent();
        ssrb.on_sent();
        assert_eq!(ssrb.on_ack(1, 5, 10, true), 2);
        assert_eq!(ssrb.on_ack(1, 9, 10, true), 1, "never above ssthresh");
    }
}
