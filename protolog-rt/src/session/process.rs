//! The packet that names the process, in Perfetto's terms and in ours.

use crate::sys::time::boot_id;
use protolog_core::process_track;
use protolog_core::schema::{packet, process_descriptor, sequence_info, track_descriptor};
use protozero::{Heap, Message};

/// Appends the name, arguments and ids of the process.
pub(super) fn describe_process(to: &mut Message<'_, Heap>, pid: u32) {
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
}
