//! Containers: disciplines that hold their packets without a control law, or in several queues.

pub(crate) mod drr;
pub(crate) mod fattest;
pub mod fifo;
pub mod fq_codel;
pub mod sfq;
pub(crate) mod slab;
