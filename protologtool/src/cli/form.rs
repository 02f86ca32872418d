//! Flags that say which form code and dictionary have.

use clap::ValueEnum;

/// Arguments that say which form code and dictionary have.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Form {
    /// What rewritten code and the dictionary look like
    #[arg(long, value_enum, default_value_t = DialectChoice::Auto, value_name = "DIALECT")]
    pub(crate) dialect: DialectChoice,

    /// How messages get their ids [default: `xxh3` in dialect protolog, else `aosp`]
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) message_id: Option<IdChoice>,
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
    /// What AOSP's tool gives the same call
    Aosp,
}
