//! The packet that names process and session, in Perfetto's terms and in ours, with the filter of
//! the session.

use crate::session::filter::Filter;
use crate::sys::process::fingerprint;
use crate::sys::time::boot_id;
use protolog_core::process_track;
use protolog_core::schema::{
    filter, filter_group, packet, process_descriptor, sequence_info, track_descriptor,
};
use protozero::{Heap, Message};

/// True where groups may come with their first message, as those of bridges do.
pub(in crate::session) const IS_OPEN: bool = cfg!(any(feature = "log", feature = "tracing"));

/// Appends the name, arguments and ids of the process, and the id and filter of the session; of one
/// with segments the name that it was given.
pub(in crate::session) fn describe_process(
    to: &mut Message<'_, Heap>,
    pid: u32,
    session_id: &[u8; 16],
    filter: &Filter,
    segments_of: Option<&str>,
) {
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let name = arguments.first().map_or("", String::as_str);
    let mut track = to.nested(packet::TRACK_DESCRIPTOR);
    track.uint64(track_descriptor::UUID, process_track(pid));
    let mut process = track.nested(track_descriptor::PROCESS);
    process.uint32(process_descriptor::PID, pid);
    for argument in &arguments {
        process.string(process_descriptor::CMDLINE, argument);
    }
    process.string(process_descriptor::PROCESS_NAME, name);
    drop(process);
    drop(track);
    let mut info = to.nested(packet::SEQUENCE_INFO);
    info.uint32(sequence_info::PID, pid);
    if let Some(id) = boot_id() {
        info.bytes(sequence_info::BOOT_ID, &id);
    }
    if let Some(fingerprint) = fingerprint() {
        info.fixed64(sequence_info::PROCESS, fingerprint);
    }
    info.bytes(sequence_info::SESSION_ID, session_id);
    if let Some(name) = segments_of {
        info.string(sequence_info::SEGMENTS_OF, name);
    }
    describe_filter(&mut info.nested(sequence_info::FILTER), filter);
}

fn describe_filter(to: &mut Message<'_, Heap>, filter: &Filter) {
    to.uint32(filter::DEFAULT_LEVELS, filter.default_levels().into());
    for (name, levels) in filter.written() {
        to.nested(filter::GROUP)
            .string(filter_group::NAME, name)
            .uint32(filter_group::LEVELS, levels.into());
    }
    for name in filter.stacks() {
        to.nested(filter::GROUP).string(filter_group::NAME, name);
    }
    if IS_OPEN {
        to.bool(filter::IS_OPEN, true);
    }
}
