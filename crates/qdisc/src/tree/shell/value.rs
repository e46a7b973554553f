//! What a variable holds.

use alloc::rc::Rc;
use alloc::string::String;

#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A text. The second part is the name of a variable in it that no line sets, and that is therefore empty.
    Known(String, Option<Rc<str>>),
    /// What another program, or another file, says.
    Unknown(Rc<str>),
}

impl Value {
    pub(super) fn known(text: String) -> Self {
        Self::Known(text, None)
    }
}

/// What became of a command.
#[derive(Clone, Debug)]
pub(super) enum Status {
    /// Whether it succeeded.
    Known(bool),
    /// It is the command of another program, and taken to succeed.
    Assumed(Rc<str>),
    /// It depends on what these words say.
    Unknown(Rc<str>),
}

/// What follows a command.
pub(super) enum Flow {
    Next(Status),
    /// Out of this many loops.
    Break(usize),
    Continue(usize),
    Return(Status),
    Exit,
}
