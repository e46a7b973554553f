//! Minstrel-HT in a closed loop with the channel's error rates; and against Linux.

use super::*;
use crate::path::wifi::mode::Ht;
use crate::path::wifi::rate_control::closed_loop::{ClosedLoop, Exchange};
use crate::path::wifi::standard::{Band, Standard};
use goodqueue_units::Streams;

mod linux;
