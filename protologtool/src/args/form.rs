//! Flags that say which form code and dictionary have, and what Rust's sources are called.

use super::level::{Least, level_or_off};
use super::values::{named_root, rust_path};
use clap::ValueEnum;
use protolog_core::Level;
use std::path::PathBuf;

/// Arguments for the form of code and dictionary.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Form {
    /// Form of rewritten code and of the dictionary
    #[arg(long, value_enum, default_value_t = DialectChoice::Auto, value_name = "DIALECT")]
    pub(crate) dialect: DialectChoice,

    /// Scheme of message ids [default: `xxh3` in dialect protolog, else `aosp`]
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) message_id: Option<IdChoice>,
}

/// Arguments for the crate of Rust sources, where Cargo's manifests do not name it.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RustCrate {
    /// The name of the Rust sources' crate, as for `rustc --crate-name` [default: from Cargo's
    /// manifest above the source]
    #[arg(long, value_name = "NAME", requires = "crate_root", value_parser = rust_path)]
    pub(crate) crate_name: Option<String>,

    /// The root source of that crate
    #[arg(long, value_name = "FILE.rs", requires = "crate_name")]
    pub(crate) crate_root: Option<PathBuf>,

    /// Another crate whose groups calls may name, and its root; may be repeated [default: from
    /// Cargo's manifest]
    #[arg(long, value_name = "NAME=FILE.rs", value_parser = named_root)]
    pub(crate) extern_crate: Vec<(String, PathBuf)>,

    /// Another path by which calls name the macros of `protolog_rt`, for example `crate::log`; may
    /// be repeated
    #[arg(long, value_name = "PATH", value_parser = rust_path)]
    pub(crate) macro_path: Vec<String>,

    /// Leave Rust's messages below this level out of the dictionary, since the program is built
    /// with a feature such as `max_level_info` of protolog-rt; `off` leaves out all
    #[arg(long, value_name = "LEVEL", ignore_case = true, value_parser = level_or_off())]
    pub(crate) max_level: Option<Least>,
}

impl RustCrate {
    /// Returns the severity from which on calls are compiled in.
    pub(crate) fn least_severity(&self) -> u8 {
        // Beyond all levels, `off` leaves out all calls.
        self.max_level.map_or(0, |Least(level)| level.map_or(u8::MAX, Level::severity))
    }
}

/// The dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectChoice {
    /// Android's for Android's own classes, with the release read from the template of the class
    /// that rewritten code calls; else protolog
    Auto,
    /// Our own: a guarded call of methods that convert their arguments
    Protolog,
    /// Android 15: unguarded, text or null, 32-bit mask
    #[value(name = "android-15")]
    Android15,
    /// Android 16: guarded by fields of a cache, 32-bit mask
    #[value(name = "android-16")]
    Android16,
    /// Android 17: guarded by fields of a cache, 64-bit mask
    #[value(name = "android-17")]
    Android17,
}

/// The ways to make ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IdChoice {
    /// XXH3-64 of place, text, level and group, kept apart
    Xxh3,
    /// The id that AOSP's tool gives the same call
    Aosp,
}
