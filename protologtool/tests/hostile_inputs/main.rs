//! Inputs that an attacker has made: far larger than they look, nested, or without an end.
//!
//! Each command runs as a process of its own with limits of its own, so one test program holds all.

mod bombs;
mod named_texts;
mod nesting;
mod whole_inputs;
