//! The things that Java and Kotlin share: classes of one virtual machine with one runtime,
//! whichever language a file is in.
//!
//! [`dialect`] has the forms of rewritten code, [`groups`] the rules on a class of groups,
//! [`argument_names`] the names that templates give arguments, [`wrapper`] the methods that pass
//! templates on, [`rivals`] the declarations that may be meant instead of a log method,
//! [`argument_type`] and [`exception`] what arguments are. Limits on work are in [`constants`], the
//! questions to other files in [`lookups`].

use dialect::Dialect;
use protolog_core::Level;

pub(super) mod argument_names;
pub(crate) mod argument_type;
pub(crate) mod constants;
pub mod dialect;
pub(super) mod exception;
pub(super) mod groups;
pub(super) mod looks;
pub mod lookups;
pub(crate) mod rivals;
pub mod wrapper;

/// The methods that begin a span, which are expressions with a value, and their levels.
const SPANS: [(&str, Level); 6] = [
    ("spanV", Level::Verbose),
    ("spanD", Level::Debug),
    ("span", Level::Info),
    ("spanW", Level::Warn),
    ("spanE", Level::Error),
    ("spanWtf", Level::Wtf),
];

/// The method that stands for it where it is off.
pub(crate) const NO_SPAN: &str = "noSpan";

/// Returns the level of a method of the class, if it logs or begins a span. Android's class has no
/// spans.
pub(crate) fn level_of(method: &str, dialect: &Dialect) -> Option<Level> {
    let span = SPANS.into_iter().find(|(name, _)| *name == method).map(|(_, level)| level);
    match span {
        Some(_) if *dialect != Dialect::Protolog => None,
        Some(level) => Some(level),
        None => Level::from_method(method),
    }
}

/// Returns whether a method of the class begins a span.
pub(crate) fn is_span(method: &str) -> bool {
    span_methods().any(|name| name == method)
}

/// The method that begins a span of this level.
pub(crate) fn span_method(level: Level) -> &'static str {
    SPANS.into_iter().find(|(_, of)| *of == level).map_or("span", |(name, _)| name)
}

/// All methods that begin a span.
pub(crate) fn span_methods() -> impl Iterator<Item = &'static str> {
    SPANS.into_iter().map(|(name, _)| name)
}
