//! The kinds of traffic. Each kind has one file: its keys, what it opens and sends, and what it measures ([`Kind`]).
//!
//! A kind is one of six things (`kind::Make`): an endless TCP connection (`bulk`); an application above TCP
//! connections (`application`); an application that only exchanges datagrams (`application`); datagrams at fixed times
//! (`isochronous`); endpoints of another package (`quic`); or a name for flows of other kinds (`flent`).

pub mod application;
#[cfg(feature = "complete")]
mod by_socket;
pub mod flent;
pub mod isochronous;
pub mod kind;
pub mod result;
pub mod tcp;

use crate::keys::{Json, Quantity, describe, no_such_word};
use kind::Kind;
use serde_json::json;

/// Lists the kinds: one module per kind. Those after `complete` are in builds with this feature.
macro_rules! kinds {
    ($($file:ident),* ; complete $($other:ident),* ; $($flent:path),*) => {
        $(pub mod $file;)*
        $(#[cfg(feature = "complete")] pub mod $other;)*

        /// Every kind of traffic, in the order in which `goodqueue list traffic` shows them. A constant would stand
        /// once in each crate that reads it, with all that the kinds refer to.
        pub static KINDS: &[&Kind] = &[
            $(&$file::KIND.listed(),)*
            $(#[cfg(feature = "complete")] &$other::KIND.listed(),)*
            $(&$flent.listed(),)*
        ];
    };
}

kinds!(
    bulk, transfer, rr, stream, cbr, ping, voip, media, page, packmime;
    complete web_users, tmix, video, rpm, quic;
    flent::RRUL, flent::RRUL_BE, flent::TCP_NUP, flent::TCP_NDOWN
);

impl Quantity for &'static Kind {
    const TYPE: &'static str = "kind of traffic";
    fn read(found: &Json) -> std::result::Result<Self, String> {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        let Some(text) = found.as_str() else {
            return Err(format!("found {}; accepted: {}", describe(found), names.join(", ")));
        };
        let known = KINDS.iter().copied().find(|kind| kind.name == text);
        known.ok_or_else(|| no_such_word(text, &names))
    }
    fn write(&self) -> Json {
        json!(self.name)
    }
    fn schema() -> Json {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        json!({"type": "string", "enum": names})
    }
}
