//! The kinds of traffic. Each kind has one file: its keys, what it opens and sends, and what it measures ([`Kind`]).
//!
//! A kind is one of five things (`kind::Make`): an endless TCP connection (`bulk`); an application above TCP
//! connections (`application`); an application that only exchanges datagrams (`application`); datagrams at fixed times
//! (`isochronous`); or a name for flows of other kinds (`flent`).

pub(crate) mod app;
pub mod application;
mod connections;
pub(crate) mod flent;
pub(crate) mod isochronous;
pub(crate) mod kind;
pub(crate) mod outside;
pub(crate) mod result;
pub mod tcp;

pub use kind::{Kind, Measure, Shorthand, Sum};
pub use result::{AppResult, Kept};

/// Lists the kinds: one module per kind.
macro_rules! kinds {
    ($($file:ident),* ; $($flent:path),*) => {
        $(pub(crate) mod $file;)*

        /// Every kind of traffic, in the order in which `goodqueue list traffic` shows them.
        pub const KINDS: &[&Kind] = &[$(&$file::KIND,)* $(&$flent,)*];
    };
}

kinds!(
    bulk, transfer, rr, stream, cbr, ping, voip, media, page, packmime, web_users, tmix;
    flent::RRUL, flent::RRUL_BE, flent::TCP_NUP, flent::TCP_NDOWN
);
