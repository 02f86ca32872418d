//! The command line: what it takes, what it says, what it writes.
//!
//! `cases/*.txt` are transcripts of shell sessions with the real program (see [`transcript`]);
//! `UPDATE_EXPECT=1` rewrites them. [`help`] looks at the help pages; [`options`] holds what AOSP's
//! tool accepts and refuses; [`memory`] runs the command without touching a disk; [`export`],
//! [`incremental`], [`outputs`], [`sarif`] and [`worker`] check what a transcript can't.

mod export;
mod help;
mod incremental;
mod memory;
mod options;
mod outputs;
mod sarif;
mod transcript;
mod worker;
