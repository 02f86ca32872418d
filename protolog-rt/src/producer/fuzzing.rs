//! Entry points for fuzz targets: what the service sends, without a service.
//!
//! Invariant: all that runs here runs in a producer as well, but for the memory, which nobody
//! shares: a target starts no more sessions than fit it.

use super::config::SourceConfig;
use super::link::{Link, MEMORY};
use super::{SharedStatus, worker};
use crate::session::filter::{GroupOverride, TracingMode};
use crate::session::forwarded::filter_of;
use crate::sys::mapping::Mapping;
use protolog_core::Level;
use protolog_shmem::{Memory, ServiceMemory};
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// The request to which the commands have to be replies.
pub const COMMANDS: u64 = 1;

/// Does what the peer of `socket` asks for until the connection ends, as a producer does that the
/// service has accepted. Returns the reason of the end.
pub fn serve(socket: UnixStream) -> io::Result<String> {
    let mapping = Mapping::anonymous(protolog_shmem::size(MEMORY))?;
    let memory = ServiceMemory::new(Memory::new(mapping));
    let link = Link::of_commands(socket, memory, COMMANDS)?;
    let state = Arc::<SharedStatus>::default();
    Ok(worker::serve(link, &state))
}

/// A decoded configuration of a data source.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The service's buffer.
    pub target_buffer: u32,
    /// The session waits for room.
    pub stalls: bool,
    /// The least severe level of groups without an override.
    pub default: Level,
    /// The least severe level of groups with one, by name; a later one replaces an earlier one.
    pub groups: Vec<(String, Level)>,
}

/// Decodes the configuration of a data source, and makes a filter of it; none where it is
/// malformed.
pub fn config(bytes: &[u8]) -> Option<Decoded> {
    let SourceConfig { target_buffer, chunk_timeout, config, .. } =
        SourceConfig::decode(bytes).ok()?;
    // An override without a level has the default.
    let level = |it: &GroupOverride| (it.group.clone(), it.log_from.expect("a level"));
    let groups = config.group_overrides.iter().map(level).collect();
    let by_mode = match config.tracing_mode {
        TracingMode::Default => Level::Wtf,
        TracingMode::EnableAll => Level::Verbose,
    };
    let default = config.default_log_from.unwrap_or(by_mode);
    filter_of(config).expect("a filter, whatever the names are");
    Some(Decoded { target_buffer, stalls: chunk_timeout.is_some(), default, groups })
}
