//! Containers: disciplines that hold their packets without a control law, or in several queues.

pub mod fifo;
