//! The configuration of a session, as far as logs need one: an encoded `TraceConfig`.

use crate::error::Error;
use crate::frame::message;
use protozero::{DecodeError, Heap, Message, Reader};
use std::collections::BTreeSet;
use std::time::Duration;

/// Fields of `TraceConfig`.
mod trace_config {
    pub(super) const BUFFERS: u32 = 1;
    pub(super) const DATA_SOURCES: u32 = 2;
    pub(super) const DURATION_MS: u32 = 3;
    pub(super) const WRITE_INTO_FILE: u32 = 8;
    pub(super) const FILE_WRITE_PERIOD_MS: u32 = 9;
    pub(super) const MAX_FILE_SIZE_BYTES: u32 = 10;
    pub(super) const FLUSH_PERIOD_MS: u32 = 13;
    pub(super) const BUILTIN_DATA_SOURCES: u32 = 20;
    pub(super) const OUTPUT_PATH: u32 = 29;
    pub(super) const INCREMENTAL_STATE_CONFIG: u32 = 21;
    pub(super) const UNIQUE_SESSION_NAME: u32 = 22;
    pub(super) const DATA_SOURCE_STOP_TIMEOUT_MS: u32 = 23;
}

/// Fields of `BuiltinDataSource`.
mod builtin_data_source {
    pub(super) const DISABLE_CHUNK_USAGE_HISTOGRAMS: u32 = 8;
}

/// Fields of `BufferConfig`.
mod buffer_config {
    pub(super) const SIZE_KB: u32 = 1;
    pub(super) const FILL_POLICY: u32 = 4;
}

/// Fields of `DataSourceConfig`.
mod source_config {
    pub(super) const NAME: u32 = 1;
    pub(super) const TARGET_BUFFER: u32 = 2;
    pub(super) const BUFFER_EXHAUSTED_POLICY: u32 = 9;
    pub(super) const FTRACE_CONFIG: u32 = 100;
    pub(super) const PROTOLOG_CONFIG: u32 = 126;
}

/// Fields of `ProtoLogConfig` and `ProtoLogGroup`.
mod protolog_config {
    pub(super) const GROUP_OVERRIDES: u32 = 1;
    pub(super) const TRACING_MODE: u32 = 2;
    pub(super) const DEFAULT_LOG_FROM_LEVEL: u32 = 3;
    pub(super) const GROUP_NAME: u32 = 1;
    pub(super) const LOG_FROM: u32 = 2;
    pub(super) const COLLECT_STACKTRACE: u32 = 3;
}

/// The time that the service gives programs at the end of a session, where it is not told.
const USUAL_STOP: Duration = Duration::from_secs(5);

/// The time that programs get at the end: ours count what is left in their buffers after 10 s.
const LONG_STOP: Duration = Duration::from_secs(15);

/// The name of the data source that logs are.
pub const PROTOLOG_SOURCE: &str = "android.protolog";

/// The settings of a session with the data source `android.protolog`. Levels are numbers of
/// `ProtoLogLevel`.
#[derive(Clone, Debug, Default)]
pub struct SessionConfig {
    /// The size of the service's buffer, in KiB.
    pub buffer_kb: u32,
    /// The buffer keeps the first packets and drops the rest, rather than the other way round.
    pub discards: bool,
    /// The session ends by itself after so long.
    pub duration: Option<Duration>,
    /// A name by which the session can be cloned.
    pub unique_name: Option<String>,
    /// The interval at which producers begin anew, so that a part of the trace can be read alone.
    pub clear_every: Option<Duration>,
    /// The interval at which the service takes what is in chunks that are not full.
    pub flush_every: Option<Duration>,
    /// All levels of all groups are recorded, unless something else is said of them.
    pub enable_all: bool,
    /// The least severe level that is recorded.
    pub log_from: Option<u32>,
    /// Groups with a level of their own, or with the default.
    pub groups: Vec<(String, Option<u32>)>,
    /// Groups that are recorded with stack traces.
    pub stacks: Vec<String>,
    /// The `BufferExhaustedPolicy`.
    pub exhausted_policy: Option<u32>,
    /// Events of the kernel's that are recorded beside, such as `sched/sched_switch`.
    pub ftrace_events: Vec<String>,
}

impl SessionConfig {
    /// Encodes it.
    pub fn encode(&self) -> Vec<u8> {
        message(|to| {
            to.nested(trace_config::BUFFERS)
                .uint32(buffer_config::SIZE_KB, self.buffer_kb)
                .uint32(buffer_config::FILL_POLICY, if self.discards { 2 } else { 1 });
            self.append_source(&mut to.nested(trace_config::DATA_SOURCES).nested(1));
            if !self.ftrace_events.is_empty() {
                let mut source = to.nested(trace_config::DATA_SOURCES);
                let mut source = source.nested(1);
                source.string(source_config::NAME, "linux.ftrace");
                let mut ftrace = source.nested(source_config::FTRACE_CONFIG);
                self.ftrace_events.iter().for_each(|event| _ = ftrace.string(1, event));
            }
            // Nobody reads statistics of single writers, of which there is one for each thread.
            to.nested(trace_config::BUILTIN_DATA_SOURCES)
                .bool(builtin_data_source::DISABLE_CHUNK_USAGE_HISTOGRAMS, true);
            if let Some(duration) = self.duration {
                to.uint32(trace_config::DURATION_MS, millis(duration));
            }
            if let Some(period) = self.clear_every {
                to.nested(trace_config::INCREMENTAL_STATE_CONFIG).uint32(1, millis(period));
            }
            if let Some(period) = self.flush_every {
                to.uint32(trace_config::FLUSH_PERIOD_MS, millis(period));
            }
            if let Some(name) = &self.unique_name {
                to.string(trace_config::UNIQUE_SESSION_NAME, name);
            }
            to.uint32(trace_config::DATA_SOURCE_STOP_TIMEOUT_MS, millis(LONG_STOP));
        })
    }

    fn append_source(&self, to: &mut Message<'_, Heap>) {
        to.string(source_config::NAME, PROTOLOG_SOURCE).uint32(source_config::TARGET_BUFFER, 0);
        if let Some(policy) = self.exhausted_policy {
            to.uint32(source_config::BUFFER_EXHAUSTED_POLICY, policy);
        }
        let mut protolog = to.nested(source_config::PROTOLOG_CONFIG);
        for (name, level) in &self.groups {
            let mut group = protolog.nested(protolog_config::GROUP_OVERRIDES);
            group.string(protolog_config::GROUP_NAME, name);
            if let Some(level) = level {
                group.uint32(protolog_config::LOG_FROM, *level);
            }
            if self.stacks.contains(name) {
                group.bool(protolog_config::COLLECT_STACKTRACE, true);
            }
        }
        let is_named = |name: &String| self.groups.iter().any(|(group, _)| group == name);
        for name in self.stacks.iter().filter(|name| !is_named(name)) {
            protolog
                .nested(protolog_config::GROUP_OVERRIDES)
                .string(protolog_config::GROUP_NAME, name)
                .bool(protolog_config::COLLECT_STACKTRACE, true);
        }
        if self.enable_all {
            protolog.uint32(protolog_config::TRACING_MODE, 1);
        }
        if let Some(level) = self.log_from {
            protolog.uint32(protolog_config::DEFAULT_LOG_FROM_LEVEL, level);
        }
    }
}

fn millis(duration: Duration) -> u32 {
    duration.as_millis().try_into().unwrap_or(u32::MAX)
}

/// Checks that a service understands `config`, an encoded `TraceConfig`, as its author does.
///
/// The service decodes as far as it can, and takes the rest for absent: it starts a session without
/// a data source, which nothing ever reaches, and reports no error.
pub fn check_config(config: &[u8]) -> Result<(), Error> {
    if !config.is_empty()
        && config.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~'))
    {
        return Err(Error::Config("is text"));
    }
    let found = contents(config).map_err(not_encoded)?;
    if found.writes_into_file {
        return Err(Error::Config("has the service write the trace by itself (`write_into_file`)"));
    }
    if found.buffers == 0 || found.sources == 0 {
        return Err(Error::Config("has no buffer or no data source"));
    }
    Ok(())
}

/// The settings of a file that the service is to write by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileSettings {
    /// The interval at which it writes; the service's own where that is none.
    pub period: Option<Duration>,
    /// The most bytes that it writes; then it ends the session.
    pub max_bytes: Option<u64>,
}

/// Takes the settings of a file out of `config`, an encoded `TraceConfig`, for a consumer that
/// reads the trace as often and writes the file. Returns the rest, and none where there is no
/// file.
pub fn take_file_settings(config: &[u8]) -> Result<(Vec<u8>, Option<FileSettings>), Error> {
    let (mut found, mut is_file, mut rest) = (FileSettings::default(), false, Vec::new());
    for field in Reader::new(config) {
        let field = field.map_err(not_encoded)?;
        match field.number {
            trace_config::WRITE_INTO_FILE => is_file = field.as_bool().map_err(not_encoded)?,
            trace_config::FILE_WRITE_PERIOD_MS => {
                let millis = field.as_u32().map_err(not_encoded)?;
                found.period =
                    Some(Duration::from_millis(millis.into())).filter(|it| !it.is_zero());
            }
            trace_config::MAX_FILE_SIZE_BYTES => {
                let bytes = field.as_u64().map_err(not_encoded)?;
                found.max_bytes = Some(bytes).filter(|bytes| *bytes > 0);
            }
            trace_config::OUTPUT_PATH => {}
            _ => rest.push(field),
        }
    }
    if !is_file {
        return Ok((config.to_vec(), None));
    }
    let rest = message(|to| rest.iter().for_each(|field| _ = to.field(field)));
    Ok((rest, Some(found)))
}

/// The names in a configuration that programs have to answer to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigNames {
    /// Those of data sources.
    pub data_sources: BTreeSet<String>,
    /// Those of groups that have a setting of their own.
    pub groups: BTreeSet<String>,
}

/// Returns the names in `config`, an encoded `TraceConfig`.
pub fn asked_names(config: &[u8]) -> Result<ConfigNames, Error> {
    let mut names = ConfigNames::default();
    add_names(&mut names, Reader::new(config)).map_err(not_encoded)?;
    Ok(names)
}

/// Returns the time that programs have at the end of a session by `config`, an encoded
/// `TraceConfig`.
pub(crate) fn stop_timeout(config: &[u8]) -> Duration {
    let mut millis = 0;
    // What can't be decoded, the service refuses.
    for field in Reader::new(config).map_while(Result::ok) {
        if field.number == trace_config::DATA_SOURCE_STOP_TIMEOUT_MS {
            millis = field.as_u32().unwrap_or_default();
        }
    }
    if millis == 0 { USUAL_STOP } else { Duration::from_millis(millis.into()) }
}

/// Returns the size of the buffers in `config`, an encoded `TraceConfig`, in bytes.
pub fn buffer_bytes(config: &[u8]) -> Result<u64, Error> {
    let mut kb = 0_u64;
    let counted = nested(Reader::new(config), trace_config::BUFFERS, &mut |buffer| {
        for field in buffer {
            let field = field?;
            if field.number == buffer_config::SIZE_KB {
                kb += u64::from(field.as_u32()?);
            }
        }
        Ok(())
    });
    counted.map_err(not_encoded)?;
    Ok(kb << 10)
}

fn add_names(names: &mut ConfigNames, config: Reader<'_>) -> Result<(), DecodeError> {
    nested(config, trace_config::DATA_SOURCES, &mut |source| {
        nested(source, 1, &mut |source| {
            for field in source {
                let field = field?;
                match field.number {
                    source_config::NAME => _ = names.data_sources.insert(field.as_str()?.into()),
                    source_config::PROTOLOG_CONFIG => add_groups(names, field.as_message()?)?,
                    _ => {}
                }
            }
            Ok(())
        })
    })
}

fn add_groups(names: &mut ConfigNames, config: Reader<'_>) -> Result<(), DecodeError> {
    nested(config, protolog_config::GROUP_OVERRIDES, &mut |group| {
        for field in group {
            let field = field?;
            if field.number == protolog_config::GROUP_NAME {
                names.groups.insert(field.as_str()?.to_owned());
            }
        }
        Ok(())
    })
}

/// Passes the messages of one field to `give`.
pub(crate) fn nested<'a>(
    fields: Reader<'a>,
    number: u32,
    give: &mut dyn FnMut(Reader<'a>) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    for field in fields {
        let field = field?;
        if field.number == number {
            give(field.as_message()?)?;
        }
    }
    Ok(())
}

#[allow(clippy::needless_pass_by_value, reason = "errors are mapped by value")]
fn not_encoded(_: DecodeError) -> Error {
    Error::Config("is no encoded TraceConfig")
}

/// Parts of a configuration.
#[derive(Default)]
struct Contents {
    buffers: usize,
    sources: usize,
    writes_into_file: bool,
}

/// Decodes the messages that a session can't be without, and those of ProtoLog.
fn contents(config: &[u8]) -> Result<Contents, DecodeError> {
    let mut found = Contents::default();
    for field in Reader::new(config) {
        let field = field?;
        match field.number {
            trace_config::BUFFERS => {
                decode_all(field.as_message()?)?;
                found.buffers += 1;
            }
            trace_config::DATA_SOURCES => {
                for field in field.as_message()? {
                    let field = field?;
                    if field.number == 1 {
                        check_source(field.as_message()?)?;
                        found.sources += 1;
                    }
                }
            }
            trace_config::WRITE_INTO_FILE => found.writes_into_file = field.as_bool()?,
            _ => {}
        }
    }
    Ok(found)
}

fn check_source(source: Reader<'_>) -> Result<(), DecodeError> {
    for field in source {
        let field = field?;
        match field.number {
            source_config::FTRACE_CONFIG => decode_all(field.as_message()?)?,
            source_config::PROTOLOG_CONFIG => {
                for field in field.as_message()? {
                    let field = field?;
                    if field.number == protolog_config::GROUP_OVERRIDES {
                        decode_all(field.as_message()?)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn decode_all(fields: Reader<'_>) -> Result<(), DecodeError> {
    for field in fields {
        field?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(config: &[u8], reason: &str) {
        let error = check_config(config).expect_err("refused").to_string();
        assert_eq!(error, format!("the configuration {reason}"));
    }

    #[test]
    fn configurations_that_a_service_misunderstands_are_refused() {
        let good = SessionConfig { buffer_kb: 64, log_from: Some(3), ..SessionConfig::default() };
        assert!(check_config(&good.encode()).is_ok());
        let nothing = "has no buffer or no data source";
        refused(&[], nothing);
        refused(&message(|to| _ = to.nested(1).uint32(1, 64)), nothing);
        refused(b"buffers { size_kb: 64 }\n", "is text");
        let malformed = "is no encoded TraceConfig";
        refused(&[0x12, 0x7f], malformed);
        // Well-formed on the outside, in a data source and in its configuration of ProtoLog.
        refused(&message(|to| _ = to.bytes(2, &[0x0a, 0x7f])), malformed);
        refused(&message(|to| _ = to.nested(2).nested(1).nested(126).bytes(1, &[0xff])), malformed);
        let file = [good.encode(), vec![8 << 3, 1]].concat();
        refused(&file, "has the service write the trace by itself (`write_into_file`)");
    }

    #[test]
    fn names_of_data_sources_and_groups_are_found() {
        let config = SessionConfig {
            groups: vec![("Net".into(), Some(3)), ("app::Disk".into(), None)],
            ftrace_events: vec!["sched/sched_switch".into()],
            ..SessionConfig::default()
        };
        let names = asked_names(&config.encode()).unwrap();
        assert!(names.data_sources.iter().eq(["android.protolog", "linux.ftrace"]), "{names:?}");
        assert!(names.groups.iter().eq(["Net", "app::Disk"]), "{names:?}");
        assert!(asked_names(&[0x12, 0x7f]).is_err());
    }

    #[test]
    fn settings_of_a_file_are_taken_out() {
        let plain = SessionConfig { buffer_kb: 64, ..SessionConfig::default() }.encode();
        // What is left is written anew, with sizes as short as they can be.
        let left = message(|to| {
            Reader::new(&plain).for_each(|field| _ = to.field(&field.unwrap()));
        });
        let settings = message(|to| {
            to.bool(8, true).uint32(9, 2500).uint64(10, 1 << 40).string(29, "/data/trace");
        });
        let whole = [settings, plain.clone()].concat();
        let period = Some(Duration::from_millis(2500));
        let file = FileSettings { period, max_bytes: Some(1 << 40) };
        assert_eq!(take_file_settings(&whole).unwrap(), (left, Some(file)));
        assert_eq!(take_file_settings(&plain).unwrap(), (plain.clone(), None));
        let off = [plain, vec![8 << 3, 0]].concat();
        assert_eq!(take_file_settings(&off).unwrap(), (off, None));
        assert!(take_file_settings(&[0x12, 0x7f]).is_err());
    }
}
