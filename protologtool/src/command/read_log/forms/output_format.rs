//! The formats of entries, and of numbers in their place.

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OutputFormat {
    /// Lines as logcat prints them
    Text,
    /// One JSON object a line
    Json,
    /// Comma-separated values, with a line of names first
    Csv,
    /// Lines of key=value
    Logfmt,
}
