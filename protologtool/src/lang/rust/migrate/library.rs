//! The names of `log` and `tracing` that matter here.

use super::super::tokens::plain;
use crate::lang::migration::SourceLibrary;

/// The macros of the libraries that no call of protolog stands for, with what to write.
pub(super) const OTHERS: [(&str, &str); 12] = [
    ("log_enabled", "write `AppLog::Net.is_enabled(Level::Debug)`"),
    ("enabled", "write `AppLog::Net.is_enabled(Level::Debug)`"),
    ("event_enabled", "write `AppLog::Net.is_enabled(Level::Debug)`"),
    ("span_enabled", "write `AppLog::Net.is_enabled(Level::Debug)`"),
    ("span", SPAN),
    ("trace_span", SPAN),
    ("debug_span", SPAN),
    ("info_span", SPAN),
    ("warn_span", SPAN),
    ("error_span", SPAN),
    ("record_all", SPAN),
    ("trace_all", SPAN),
];

pub(super) const SPAN: &str = "write `protolog_rt::span!(AppLog::Net, \"request %s\", path = path)`, or let the bridge record it";

/// The macros that log.
pub(super) const LEVELS: [&str; 5] = ["error", "warn", "info", "debug", "trace"];

/// Returns whether the library has a macro of this name that matters here.
pub(super) fn is_macro(library: SourceLibrary, name: &str) -> bool {
    let with_level = if library == SourceLibrary::Log { "log" } else { "event" };
    LEVELS.contains(&name)
        || name == with_level
        || OTHERS.iter().any(|(known, _)| *known == name)
            && (library == SourceLibrary::Tracing) == (name != "log_enabled")
}

/// Returns whether a path begins with the library.
pub(super) fn is_of_library(names: &[String], library: SourceLibrary) -> bool {
    names.first().is_some_and(|first| plain(first) == library.name())
}

/// Names that a glob of a library may bring, besides its macros that log.
pub(super) fn is_api(name: &str, library: SourceLibrary) -> bool {
    const LOG: [&str; 19] = [
        "Level",
        "LevelFilter",
        "Log",
        "Record",
        "RecordBuilder",
        "Metadata",
        "MetadataBuilder",
        "MaybeStaticStr",
        "ParseLevelError",
        "SetLoggerError",
        "STATIC_MAX_LEVEL",
        "kv",
        "logger",
        "max_level",
        "set_boxed_logger",
        "set_logger",
        "set_logger_racy",
        "set_max_level",
        "set_max_level_racy",
    ];
    let is_level = matches!(name, "error" | "warn" | "info" | "debug" | "trace");
    match library {
        SourceLibrary::Log => LOG.contains(&name) || is_macro(library, name) && !is_level,
        // Of `tracing`, which has more, no glob is changed.
        SourceLibrary::Tracing | SourceLibrary::Slf4j => true,
    }
}
