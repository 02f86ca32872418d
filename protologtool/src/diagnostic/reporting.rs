//! The choices that a user has about diagnostics.

use clap::ValueEnum;

/// Arguments for the form of diagnostics.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Reporting {
    /// Format of diagnostics
    #[arg(long, value_enum, default_value_t = MessageFormat::Human, value_name = "FORMAT")]
    pub(crate) message_format: MessageFormat,

    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) deny_warnings: bool,
}

/// The format of diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    /// `path:line:column: error: …` and the lines concerned, on standard error
    Human,
    /// One JSON object a line, on standard output
    Json,
    /// One SARIF 2.1.0 log, on standard output
    Sarif,
}
