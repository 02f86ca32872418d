//! Helpers for the tests of this crate: traces from descriptions, and cases.
#![allow(dead_code, unused_imports, reason = "each test binary uses its part")]

mod case;
mod input;
mod joined;
pub(crate) mod recording;
mod trace;

pub(crate) use case::{cases, rows, text};
pub(crate) use input::Input;
pub(crate) use joined::joined;
pub(crate) use trace::trace;
