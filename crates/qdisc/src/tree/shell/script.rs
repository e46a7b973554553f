//! A script, as it is read. Words are pieces of its text, with quotes and expansions.

use alloc::rc::Rc;
use alloc::vec::Vec;

/// Commands in a row.
pub(super) type List<'a> = Vec<AndOr<'a>>;

/// Pipelines with `&&` and `||` between them.
#[derive(Debug)]
pub(super) struct AndOr<'a> {
    pub(super) first: Pipeline<'a>,
    /// Whether `&&` is before it, and the pipeline.
    pub(super) rest: Vec<(bool, Pipeline<'a>)>,
}

#[derive(Debug)]
pub(super) struct Pipeline<'a> {
    pub(super) is_negated: bool,
    pub(super) commands: Vec<Command<'a>>,
}

#[derive(Debug)]
pub(super) struct Command<'a> {
    pub(super) line: usize,
    pub(super) what: What<'a>,
    /// Whether standard output, and whether any output, goes elsewhere.
    pub(super) redirects: [bool; 2],
    /// The lines of its here-document.
    pub(super) lines: Option<&'a str>,
}

#[derive(Debug)]
pub(super) enum What<'a> {
    Simple(Vec<&'a str>),
    /// `[[ … ]]`.
    Test(Vec<&'a str>),
    /// `((…))`.
    Arithmetic(&'a str),
    /// Conditions with what follows them, and what is done else.
    If(Vec<(List<'a>, List<'a>)>, List<'a>),
    /// Without words: the arguments.
    For(&'a str, Option<Vec<&'a str>>, List<'a>),
    /// `for ((first; condition; step))`.
    Count([&'a str; 3], List<'a>),
    While {
        is_until: bool,
        condition: List<'a>,
        body: List<'a>,
    },
    Case(&'a str, Vec<(Vec<&'a str>, List<'a>)>),
    Group(List<'a>),
    Subshell(List<'a>),
    Function(&'a str, Rc<Command<'a>>),
}
