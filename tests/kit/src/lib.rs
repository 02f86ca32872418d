//! What the tests of the whole workspace share.
//!
//! A test uses the real thing where there is one: javac and java, Perfetto's own `trace_processor`, the official
//! protobuf descriptors. Each helper that needs such a tool returns `Option`: `None` means that the tool is missing and
//! that this was said aloud, so that a test reads
//!
//! ```no_run
//! # use std::path::Path;
//! let Some(tables) = protolog_testkit::trace_processor(Path::new("app.pftrace"), &["select message from protolog"]) else {
//!     return;
//! };
//! assert_eq!(tables[0].texts("message"), ["sent 3 bytes"]);
//! ```
//!
//! Invariants: in CI (environment variable `CI` set and not empty) a missing tool is a panic, never a skip. Whatever else
//! goes wrong is a panic that shows the command, its exit code and what it printed. Nothing here writes into the
//! workspace, except [`expect_file`] under `UPDATE_EXPECT=1`.

mod command;
mod java;
mod oracle;
mod text;
mod tools;

use std::path::Path;

pub use serde_json::{self, Value};
pub use tempfile::TempDir;

pub use command::{Output, copy_program, run, run_any};
pub use java::{compile_java, java_sources, run_java};
pub use oracle::{
    Reading, Table, check_dictionary, check_trace, copy_dictionary, read_trace, trace_processor,
    trace_stats,
};
pub use text::{assert_eq_text, diff, expect_file, updating};
pub use tools::{python, skip, tool, web_dist, workspace_root};

/// A fresh directory that is deleted when the value is dropped.
///
/// # Panics
///
/// When the directory can't be made.
pub fn temp_dir() -> TempDir {
    temp_dir_in(&std::env::temp_dir())
}

/// The same, with a path that leaves room for the names of sockets, which have 107 bytes at most: where the place for
/// temporary files has a long one, it lies in `/tmp`.
///
/// # Panics
///
/// When the directory can't be made.
pub fn temp_dir_for_sockets() -> TempDir {
    let place = std::env::temp_dir();
    temp_dir_in(if place.as_os_str().len() > 40 { Path::new("/tmp") } else { &place })
}

fn temp_dir_in(place: &Path) -> TempDir {
    let made = tempfile::Builder::new().prefix("protolog-").tempdir_in(place);
    made.expect("make a temporary directory")
}
