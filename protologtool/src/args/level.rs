//! Levels on the command line: by name or alias, in any case, all commands alike.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use protolog_core::Level;

/// The minimum level; none disables all levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Least(pub(crate) Option<Level>);

/// Parses a level, for an argument that ignores case.
pub(crate) fn level() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(levels()).try_map(|name| name.parse())
}

/// Parses a level or `off`, for an argument that ignores case.
pub(crate) fn level_or_off() -> impl TypedValueParser<Value = Least> {
    // `off` is no level, so that it parses to none.
    let values = levels().chain([PossibleValue::new("off").alias("none")]);
    PossibleValuesParser::new(values).map(|name| Least(name.parse().ok()))
}

/// The levels under the names that help and completions show, with the aliases that are taken too.
fn levels() -> impl Iterator<Item = PossibleValue> {
    const SHOWN: [&str; 6] = ["verbose", "debug", "info", "warn", "error", "wtf"];
    Level::ALL
        .into_iter()
        .zip(SHOWN)
        .map(|(level, shown)| PossibleValue::new(shown).aliases(level.aliases()))
}
