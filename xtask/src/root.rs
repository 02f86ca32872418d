//! The root of the workspace: below all else, since showing a command needs it.

use std::env;
use std::path::{Path, PathBuf};

/// The directory of the workspace's `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    // Cargo sets the variable when it runs us; the constant serves whoever starts the program by
    // hand.
    let own =
        env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&own).parent().expect("xtask lies in the workspace").to_path_buf()
}
