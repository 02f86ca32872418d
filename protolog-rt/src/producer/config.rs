//! The configuration of a data source, and in it that of ProtoLog, as AOSP understands it, but for
//! two faults of AOSP's:
//!
//! - The default level is the same wherever in the message it stands, and levels are compared by
//!   severity.
//! - What one session says of a group is nothing to another session.
//!
//! | `ProtoLogConfig` | recorded |
//! |---|---|
//! | absent | WTF |
//! | `tracing_mode: ENABLE_ALL` | all levels |
//! | `default_log_from_level` | that level and up, whatever the mode; of several the lowest |
//! | `group_overrides { group_name log_from }` | for that group that level and up |
//! | the same without `log_from` | for that group the default |
//!
//! An override without a name, and levels and modes that are not known, are left out.

use crate::session::filter::{Config, GroupOverride, TracingMode};
use protolog_core::Level;
use protozero::{DecodeError, Reader};
use std::time::Duration;

/// The longest that a message waits for a free chunk, where the service asks for waiting.
const STALL: Duration = Duration::from_secs(1);

/// Fields of `DataSourceConfig`.
mod field {
    pub(super) const TARGET_BUFFER: u32 = 2;
    pub(super) const BUFFER_EXHAUSTED_POLICY: u32 = 9;
    pub(super) const PROTOLOG_CONFIG: u32 = 126;
}

/// Values of `BufferExhaustedPolicy`; any other one drops.
mod policy {
    pub(super) const STALL_THEN_ABORT: u64 = 2;
    pub(super) const STALL_THEN_DROP: u64 = 3;
}

/// A data source's configuration.
#[derive(Debug, Default)]
pub(super) struct SourceConfig {
    /// The service's buffer for it.
    pub(super) target_buffer: u32,
    /// The longest that a message waits for room.
    pub(super) chunk_timeout: Option<Duration>,
    /// It asks for an abort, which is not done.
    pub(super) asks_for_abort: bool,
    /// The levels of groups.
    pub(super) config: Config,
}

impl SourceConfig {
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut decoded = Self::default();
        for field in Reader::new(bytes) {
            let field = field?;
            match field.number {
                field::TARGET_BUFFER => decoded.target_buffer = field.as_u32()?,
                field::BUFFER_EXHAUSTED_POLICY => {
                    let policy = field.as_u64()?;
                    decoded.asks_for_abort = policy == policy::STALL_THEN_ABORT;
                    let stalls =
                        matches!(policy, policy::STALL_THEN_ABORT | policy::STALL_THEN_DROP);
                    decoded.chunk_timeout = stalls.then_some(STALL);
                }
                field::PROTOLOG_CONFIG => decoded.config = protolog_config(field.as_message()?)?,
                _ => {}
            }
        }
        Ok(decoded)
    }
}

/// Decodes a `ProtoLogConfig`.
fn protolog_config(fields: Reader<'_>) -> Result<Config, DecodeError> {
    let mut config = Config::default();
    let mut unset = Vec::new();
    for field in fields {
        let field = field?;
        match field.number {
            1 => group_override(field.as_message()?, &mut config, &mut unset)?,
            2 if field.as_u64()? == 1 => config.tracing_mode = TracingMode::EnableAll,
            2 => config.tracing_mode = TracingMode::Default,
            3 => {
                let lowest = [config.default_log_from, Level::from_wire(field.as_u64()?)];
                let levels = lowest.into_iter().flatten();
                config.default_log_from = levels.min_by_key(|level| level.severity());
            }
            _ => {}
        }
    }
    let by_mode = match config.tracing_mode {
        TracingMode::Default => Level::Wtf,
        TracingMode::EnableAll => Level::Verbose,
    };
    let default = Some(config.default_log_from.unwrap_or(by_mode));
    for at in unset {
        config.group_overrides[at].log_from = default;
    }
    Ok(config)
}

/// Decodes a `ProtoLogGroup`; notes in `unset` the numbers of overrides without a level.
fn group_override(
    fields: Reader<'_>,
    config: &mut Config,
    unset: &mut Vec<usize>,
) -> Result<(), DecodeError> {
    let (mut group, mut log_from, mut collects) = (String::new(), None, false);
    for field in fields {
        let field = field?;
        match field.number {
            // A name is a string, but nothing of this is worth the connection.
            1 => group = String::from_utf8_lossy(field.as_bytes()?).into_owned(),
            2 => log_from = Level::from_wire(field.as_u64()?),
            3 => collects = field.as_bool()?,
            _ => {}
        }
    }
    if group.is_empty() {
        return Ok(());
    }
    if collects {
        config.collect_stacktrace.push(group.clone());
    }
    if log_from.is_none() {
        unset.push(config.group_overrides.len());
    }
    config.group_overrides.push(GroupOverride { group, log_from });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfetto_ipc::frame::message;
    use protozero::{Heap, Message};
    use std::collections::BTreeMap;
    use std::fmt::Write as _;

    fn decode(fill: impl FnOnce(&mut Message<'_, Heap>)) -> Config {
        let bytes = message(|to| fill(&mut to.nested(126)));
        SourceConfig::decode(&bytes).unwrap().config
    }

    fn overrides(config: &Config) -> Vec<(&str, Option<Level>)> {
        config.group_overrides.iter().map(|it| (&*it.group, it.log_from)).collect()
    }

    #[test]
    fn an_override_without_a_level_has_the_default_wherever_that_stands() {
        let before = decode(|to| {
            to.uint32(3, Level::Warn.wire());
            to.nested(1).string(1, "Net");
        });
        let after = decode(|to| {
            to.nested(1).string(1, "Net");
            to.uint32(3, Level::Warn.wire());
        });
        assert_eq!(overrides(&before), [("Net", Some(Level::Warn))]);
        assert_eq!(before, after);
        let all = decode(|to| {
            to.nested(1).string(1, "Net").bool(3, true);
            to.uint32(2, 1);
        });
        assert_eq!(overrides(&all), [("Net", Some(Level::Verbose))]);
        assert_eq!(all.collect_stacktrace, ["Net"]);
    }

    #[test]
    fn levels_are_compared_by_severity() {
        // On the wire DEBUG is 1 and VERBOSE 2.
        for order in [[Level::Debug, Level::Verbose], [Level::Verbose, Level::Debug]] {
            let config = decode(|to| {
                for level in &order {
                    to.uint32(3, level.wire());
                }
            });
            assert_eq!(config.default_log_from, Some(Level::Verbose));
        }
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let config = decode(|to| {
            to.uint32(2, 9).uint32(3, 17);
            to.nested(1).uint32(2, Level::Info.wire());
            to.nested(1).string(1, "Net").uint32(2, Level::Info.wire());
        });
        assert_eq!(overrides(&config), [("Net", Some(Level::Info))]);
        assert_eq!((config.tracing_mode, config.default_log_from), (TracingMode::Default, None));
    }

    /// Decodes it as the table says that Java does.
    fn meaning(bytes: &[u8]) -> String {
        let Ok(decoded) = SourceConfig::decode(bytes) else { return "malformed".into() };
        let policy = match (decoded.asks_for_abort, decoded.chunk_timeout) {
            (true, _) => "abort",
            (false, Some(_)) => "stall",
            (false, None) => "drop",
        };
        let config = decoded.config;
        let by_mode = match config.tracing_mode {
            TracingMode::Default => Level::Wtf,
            TracingMode::EnableAll => Level::Verbose,
        };
        let default = config.default_log_from.unwrap_or(by_mode);
        let mut text = format!("{} {policy} {}", decoded.target_buffer, default.letter());
        let groups: BTreeMap<_, _> = overrides(&config).into_iter().collect();
        for (name, from) in groups {
            let stack =
                if config.collect_stacktrace.iter().any(|it| it == name) { "+" } else { "" };
            let from = from.expect("the default, if nothing else").letter();
            let _ = write!(text, " {name}={from}{stack}");
        }
        text
    }

    #[test]
    fn configurations_mean_what_they_mean_to_java() {
        let vectors = include_str!("../../../protolog-core/testdata/source_configs.tsv");
        let rows: Vec<Vec<&str>> =
            vectors.lines().skip(1).map(|line| line.split('\t').collect()).collect();
        assert!(rows.len() > 10);
        for row in rows {
            let digits = row[1].as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
            let bytes: Vec<u8> =
                digits.map(|pair| u8::from_str_radix(pair, 16).expect("a byte")).collect();
            assert_eq!(meaning(&bytes), row[2], "{}", row[0]);
        }
    }

    #[test]
    fn an_abort_becomes_a_stall() {
        for (policy, stalls, aborts) in
            [(0, false, false), (1, false, false), (2, true, true), (3, true, false)]
        {
            let bytes = message(|to| _ = to.uint32(2, 5).uint32(9, policy));
            let config = SourceConfig::decode(&bytes).unwrap();
            assert_eq!(config.target_buffer, 5);
            assert_eq!((config.chunk_timeout.is_some(), config.asks_for_abort), (stalls, aborts));
        }
    }
}
