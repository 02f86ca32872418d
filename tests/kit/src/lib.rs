//! Helpers for the tests of the whole workspace.
//!
//! Tests use real tools: javac and java, Perfetto's own `trace_processor`, the official protobuf
//! descriptors. A helper that needs such a tool returns `Option`: `None` means that the tool is
//! missing, which the helper has reported. So a test reads
//!
//! ```no_run
//! # use std::path::Path;
//! let Some(tables) = protolog_testkit::trace_processor(Path::new("app.pftrace"), &["select message from protolog"]) else {
//!     return;
//! };
//! assert_eq!(tables[0].texts("message"), ["sent 3 bytes"]);
//! ```
//!
//! Invariants: in CI (environment variable `CI` set and not empty) a missing tool is a panic, never
//! a skip. Any other failure is a panic with the command, its exit code and its output. Nothing
//! here writes into the workspace, except [`expect_file`] under `UPDATE_EXPECT=1`, and archives of
//! compilers' classes below `target/tools`.

mod class_archive;
mod command;
mod java;
mod oracle;
mod random;
mod text;
mod tools;
mod traced;
mod users;

use std::path::Path;

pub use serde_json::{self, Value};
pub use tempfile::TempDir;

pub use command::{Output, copy_program, run, run_any, user_cargo, user_environment, wait_until};
pub use java::{compile_java, java, java_sources, javac, kotlinc, run_java};
pub use oracle::{
    Reading, Table, check_dictionary, check_trace, copy_dictionary, read_trace, trace_processor,
    trace_stats,
};
pub use random::Random;
pub use text::{assert_eq_text, diff, expect_file, updating};
pub use tools::{axe, java_25, kotlin, python, skip, tool, traced, web_dist, workspace_root};
pub use traced::TracingService;
pub use users::{Running, Users, among_users, role, with_users};

/// A new directory, which is deleted when the value is dropped.
///
/// # Panics
///
/// If the directory can't be created.
pub fn temp_dir() -> TempDir {
    temp_dir_in(&std::env::temp_dir())
}

/// A new directory with a short path, because the path of a socket has at most 107 bytes: in `/tmp`
/// if the directory for temporary files has a long path.
///
/// # Panics
///
/// If the directory can't be created.
pub fn temp_dir_for_sockets() -> TempDir {
    let place = std::env::temp_dir();
    temp_dir_in(if place.as_os_str().len() > 40 { Path::new("/tmp") } else { &place })
}

/// The variable with a directory in which all of these are made, and stay: for checks of the traces
/// that all tests made.
pub const KEPT: &str = "PROTOLOG_KEPT";

fn temp_dir_in(place: &Path) -> TempDir {
    // Of a socket, the path must stay short.
    let kept = std::env::var_os(KEPT).filter(|kept| kept.len() <= 40);
    let place = kept.as_deref().map_or(place, Path::new);
    let mut builder = tempfile::Builder::new();
    let made = builder.prefix("protolog-").disable_cleanup(kept.is_some()).tempdir_in(place);
    made.expect("make a temporary directory")
}
