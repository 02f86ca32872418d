//! The root of the workspace: below all else, since showing a command needs it.

use std::env;
use std::path::{Path, PathBuf};

/// The directory of the workspace's `Cargo.toml`.
///
/// # Panics
///
/// If the package that runs lies in no workspace.
pub fn root() -> PathBuf {
    // Cargo sets the variable when it runs us; the constant is for those who start the program by
    // hand.
    let own =
        env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let mut above = Path::new(&own).ancestors();
    above.find(|dir| dir.join("Cargo.lock").exists()).expect("a workspace").to_path_buf()
}
