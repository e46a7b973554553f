//! Decides whose turn it is among an interface's stations: in rounds of aggregates, or by airtime.
//!
//! Source: Linux 6.1, `net/mac80211/tx.c` (`ieee80211_next_txq`, `ieee80211_schedule_txq`); Høiland-Jørgensen et al.
//! 2017, 3.2.

use goodqueue_units::{Duration, Instant};
use std::collections::VecDeque;

/// The microseconds that a station gets when its turn finds it in debt: its weight.
const WEIGHT: i64 = 256;
/// How long a station in debt stays in the list after it last had something to send. So a pause does not wipe out its
/// debt.
const REMEMBERED: Duration = Duration::from_millis(100);

/// The stations of one category that have something to send.
#[derive(Debug)]
pub(crate) struct Turns {
    list: VecDeque<u32>,
    /// Per station: whether it is in the list, and its account.
    stations: Vec<Account>,
    /// Whether turns are by airtime instead of by aggregates.
    by_airtime: bool,
}

/// What a station has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    Nothing,
    /// It has something to send, but not now, because too much is under way. Its turn passes it over, and it stays in
    /// the list.
    Blocked,
    Ready,
}

#[derive(Clone, Copy, Debug, Default)]
struct Account {
    is_listed: bool,
    /// Microseconds that it may still send. A station below zero is in debt.
    deficit: i64,
    /// When it last had something to send.
    active: Instant,
}

impl Turns {
    /// Builds the turns of so many `stations`, by airtime or in rounds.
    pub(crate) fn new(stations: usize, by_airtime: bool) -> Self {
        let account = Account { deficit: WEIGHT, ..Account::default() };
        Self { list: VecDeque::new(), stations: vec![account; stations], by_airtime }
    }

    /// Notes that `station` has something to send. By airtime, a station that is not in the list goes to its head,
    /// whether it is in debt or not. So a station that sends little is served at once.
    pub(crate) fn wake(&mut self, station: u32, now: Instant) {
        let account = &mut self.stations[station as usize];
        account.active = now;
        if account.is_listed {
            return;
        }
        account.is_listed = true;
        if self.by_airtime { self.list.push_front(station) } else { self.list.push_back(station) }
    }

    /// Returns the station whose turn it is. It is out of the list until it is woken again. A station that has
    /// nothing to send is taken out too, unless its debt is still remembered.
    pub(crate) fn next(&mut self, now: Instant, waiting: impl Fn(u32) -> Waiting) -> Option<u32> {
        // If all stations that could send are in debt, rounds go on until one is not.
        loop {
            let mut is_somebody_in_debt = false;
            for _ in 0..self.list.len() {
                let station = self.list.pop_front()?;
                let account = &mut self.stations[station as usize];
                let waiting = waiting(station);
                let in_debt = self.by_airtime && account.deficit < 0;
                if in_debt {
                    account.deficit += WEIGHT;
                    is_somebody_in_debt |= waiting == Waiting::Ready;
                }
                let is_remembered = in_debt && now.since(account.active) < REMEMBERED;
                match waiting {
                    Waiting::Ready if !in_debt => {
                        account.is_listed = false;
                        return Some(station);
                    }
                    Waiting::Nothing if !is_remembered => account.is_listed = false,
                    _ => self.list.push_back(station),
                }
            }
            if !is_somebody_in_debt {
                return None;
            }
        }
    }

    /// Charges `station` with `airtime`.
    pub(crate) fn charge(&mut self, station: u32, airtime: Duration) {
        self.stations[station as usize].deficit -= (airtime.as_nanos() / 1000) as i64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::ZERO;

    /// Returns the airtime in µs of three stations that always have something to send. A turn of station 0 takes
    /// 4 ms, a turn of another station 1 ms.
    fn served(by_airtime: bool, turns: usize) -> [u64; 3] {
        let mut all = Turns::new(3, by_airtime);
        let mut airtime_us = [0; 3];
        for _ in 0..turns {
            (0..3).for_each(|station| all.wake(station, NOW));
            let station = all.next(NOW, |_| Waiting::Ready).unwrap();
            let us = if station == 0 { 4000 } else { 1000 };
            all.charge(station, Duration::from_micros(us));
            airtime_us[station as usize] += us;
        }
        airtime_us
    }

    #[test]
    fn rounds_share_turns_and_airtime_shares_time() {
        let [slow, fast, other] = served(false, 3000);
        assert_eq!((slow, fast, other), (4_000_000, 1_000_000, 1_000_000));
        let [slow, fast, other] = served(true, 3000);
        let total = slow + fast + other;
        for share in [slow, fast, other].map(|us| us as f64 / total as f64) {
            assert!((share - 1.0 / 3.0).abs() < 0.01, "{share}");
        }
    }

    #[test]
    fn a_station_that_sends_little_is_served_at_once() {
        let mut all = Turns::new(3, true);
        for station in [0, 1] {
            all.charge(station, Duration::from_millis(4));
            all.wake(station, NOW);
        }
        all.wake(2, NOW);
        assert_eq!(all.next(NOW, |_| Waiting::Ready), Some(2));
    }

    fn only(one: u32) -> impl Fn(u32) -> Waiting {
        move |station| if station == one { Waiting::Ready } else { Waiting::Nothing }
    }

    /// A full window is no reason to forget a station, or to let the others pay their debts alone.
    #[test]
    fn who_is_blocked_stays_in_the_list() {
        let mut all = Turns::new(2, true);
        all.wake(0, NOW);
        all.wake(1, NOW);
        let blocked = |station| if station == 1 { Waiting::Blocked } else { Waiting::Ready };
        assert_eq!(all.next(NOW, blocked), Some(0));
        assert_eq!(all.next(NOW, |_| Waiting::Ready), Some(1), "nobody woke it again");
    }

    #[test]
    fn who_has_nothing_is_passed_over_and_nobody_is_asked_for_ever() {
        let mut all = Turns::new(3, true);
        all.charge(0, Duration::from_secs(1));
        (0..3).for_each(|station| all.wake(station, NOW));
        assert_eq!(all.next(NOW, only(1)), Some(1));
        assert_eq!(all.next(NOW, |_| Waiting::Nothing), None);
        assert_eq!(all.next(NOW, only(0)), Some(0), "its debt is paid in rounds");
    }
}
