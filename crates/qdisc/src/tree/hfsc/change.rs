//! Changes of `hfsc` during a run (`hfsc_change_class`, `hfsc_change_qdisc`).

use super::super::change::Work;
use super::super::curve::{Curve, Running, Spec};
use super::super::id::Id;
use super::class::eligible_of;
use super::{Hfsc, ticks};
use crate::packet::Packet;
use crate::signal::Owner;
use goodqueue_units::Instant;

impl<P: Packet> Hfsc<P> {
    /// Gives a class other curves: `rt`, `ls`, `ul`. A curve begins anew: `rt` at this time and at the work that `rt`
    /// has done, `ls` at the class's virtual time and work, `ul` at this time and the class's work. A curve that is
    /// `None` stays. An active class that gets its first `rt` or `ls` becomes active in it.
    pub(in super::super) fn set_curves<O: Owner<P>>(
        &mut self,
        now: Instant,
        id: Id,
        curves: [Option<Spec>; 3],
        owner: &mut O,
    ) {
        let Some(at) = self.find(id) else { return };
        let time = ticks(now);
        let [rsc, fsc, usc] = curves.map(|spec| spec.map(Curve::new));
        let class = &mut self.classes[at as usize];
        let (had_rt, had_ls) = (class.rsc.is_some(), class.fsc.is_some());
        if let Some(curve) = rsc {
            class.rsc = Some(curve);
            class.deadline = Running::new(curve, time, class.cumul);
            class.eligible = eligible_of(class.deadline, Some(&curve));
        }
        if let Some(curve) = fsc {
            class.fsc = Some(curve);
            class.virtual_ = Running::new(curve, class.vt, class.total);
        }
        if let Some(curve) = usc {
            class.usc = Some(curve);
            class.ulimit = Running::new(curve, time, class.total);
        }
        let (has_rt, has_ls) = (class.rsc.is_some(), class.fsc.is_some());
        if self.children.packets(at) == 0 {
            return;
        }
        let len = self.look(at, now, owner).unwrap_or(0);
        if self.children.packets(at) == 0 {
            return; // the look has dropped all of them
        }
        match (has_rt, had_rt) {
            (true, true) => {
                self.update_d(at, len);
                self.update_e(at);
            }
            (true, false) => self.init_ed(at, len, time),
            _ => {}
        }
        match (has_ls, had_ls) {
            (true, true) => self.update_vf(at, 0),
            (true, false) => self.init_vf(at, time),
            _ => {}
        }
    }

    /// Sets the class of packets that no filter takes.
    pub(in super::super) fn set_default(&mut self, minor: u16) {
        self.default = minor;
    }

    /// Changes what is below a class. See [`super::super::child::Child::change`].
    pub(in super::super) fn change_below<O: Owner<P>>(
        &mut self,
        now: Instant,
        path: (Id, &[Id]),
        work: Work<P>,
        owner: &mut O,
    ) {
        let Some(at) = self.find(path.0) else { return };
        if self.children.change(at, now, path.1, work, owner) {
            self.forget(at);
        }
    }
}
