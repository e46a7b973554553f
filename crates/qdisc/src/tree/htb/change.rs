//! Changes of `htb` during a run (`htb_change_class`).

use super::super::change::Work;
use super::super::id::Id;
use super::{Htb, Shape};
use crate::packet::Packet;
use crate::signal::Owner;
use goodqueue_units::Instant;

impl<P: Packet> Htb<P> {
    /// Gives a class another rate, ceiling, priority or quantum.
    pub(in super::super) fn reshape(&mut self, id: Id, shape: Shape) {
        if let Some(at) = self.find(id) {
            self.classes[at as usize].reshape(shape);
        }
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
            self.deactivate(at);
        }
    }
}
