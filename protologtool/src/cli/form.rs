//! Flags that say which form code and dictionary have, and what Rust's sources are called.

use super::values::{named_root, rust_path};
use clap::ValueEnum;
use std::path::PathBuf;

/// Arguments that say which form code and dictionary have.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Form {
    /// Form of rewritten code and of the dictionary
    #[arg(long, value_enum, default_value_t = DialectChoice::Auto, value_name = "DIALECT")]
    pub(crate) dialect: DialectChoice,

    /// Scheme of message ids [default: `xxh3` in dialect protolog, else `aosp`]
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) message_id: Option<IdChoice>,
}

/// Arguments that say which crate Rust sources are, where Cargo's manifests don't.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RustCrate {
    /// The name of the crate that the Rust sources are, as `rustc --crate-name` has it [default: Cargo's manifest above the
    /// source says it]
    #[arg(long, value_name = "NAME", requires = "crate_root", value_parser = rust_path)]
    pub(crate) crate_name: Option<String>,

    /// The source that is that crate's root
    #[arg(long, value_name = "FILE.rs", requires = "crate_name")]
    pub(crate) crate_root: Option<PathBuf>,

    /// Another crate whose groups calls may name, and its root; may be repeated [default: what Cargo's manifest says]
    #[arg(long, value_name = "NAME=FILE.rs", value_parser = named_root)]
    pub(crate) extern_crate: Vec<(String, PathBuf)>,

    /// Another path by which calls name the macros of `protolog_rt`, for example `crate::log`; may be repeated
    #[arg(long, value_name = "PATH", value_parser = rust_path)]
    pub(crate) macro_path: Vec<String>,
}

/// The dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectChoice {
    /// As the template of the class that rewritten code calls has it; without one, that of Android 16 for Android's own
    /// class, else protolog
    Auto,
    /// Our own: a guarded call of methods that convert their arguments
    Protolog,
    /// Android 15: unguarded, text or null, 32-bit mask
    #[value(name = "android-15")]
    Android15,
    /// Android 16 and later: guarded by fields of a cache, 64-bit mask
    #[value(name = "android-16")]
    Android16,
}

/// The ways to make ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IdChoice {
    /// XXH3-64 of place, text, level and group, kept apart
    Xxh3,
    /// The id that AOSP's tool gives the same call
    Aosp,
}
