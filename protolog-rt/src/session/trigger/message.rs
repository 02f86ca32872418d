//! The message that says why a file was written: in the file itself, so that every reader shows it
//! among the others, at its time.
//!
//! It is on a sequence of its own, with the thread on which the event happened. Its text holds the
//! cause; the only arguments are numbers, so that the packet needs no interned string.

use crate::level::{self, GroupInfo};
use crate::message_table::{self, NewMessage};
use crate::session::arbiter::occasion::{Fired, Origin};
use crate::sys::once::ForkOnce;
use protolog_core::message_id;
use protolog_core::schema::{message, packet, sequence_flags, sequence_info};
use protolog_recording::{EVENT_GROUP, EVENT_LEVEL, for_each_signal_template};
use protozero::Heap;

/// A message whose text is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct CauseMessage {
    id: u64,
    fired: Fired,
    /// The arguments.
    numbers: [Option<i64>; 2],
}

impl CauseMessage {
    /// The message about a cause, before which so many events were suppressed since its last file.
    /// Makes its text known to all traces.
    pub(super) fn new(cause: &str, fired: Fired, suppressed: u64) -> Self {
        let mut template = format!("trigger: {}", cause.replace('%', "%%"));
        let process = match fired.origin {
            Origin::Elsewhere(pid) if pid != 0 => Some(pid),
            _ => None,
        };
        if process.is_some() {
            template.push_str(", of process %d");
        }
        if suppressed > 0 {
            template.push_str("; %d more were suppressed since its last file");
        }
        let process = process.map(i64::from);
        let suppressed = Some(suppressed as i64).filter(|count| *count > 0);
        Self { id: make_known(&template), fired, numbers: [process, suppressed] }
    }

    /// The message as a packet.
    pub(super) fn packet(self, pid: u32) -> Vec<u8> {
        let mut writer = protozero::Writer::new(Heap::new());
        let mut to = writer.message();
        to.uint64(packet::TIMESTAMP, self.fired.time)
            .uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
        let mut info = to.nested(packet::SEQUENCE_INFO);
        info.uint32(sequence_info::PID, pid);
        if self.fired.thread != 0 {
            info.uint32(sequence_info::TID, self.fired.thread);
        }
        drop(info);
        let mut body = to.nested(packet::PROTOLOG_MESSAGE);
        body.fixed64(message::MESSAGE_ID, self.id);
        for number in self.numbers.into_iter().flatten() {
            body.sint64(message::SINT64_PARAMS, number);
        }
        drop(body);
        writer.into_vec().unwrap_or_default()
    }
}

/// Makes the texts of messages about fatal signals known to all traces: they are in a recording
/// before a signal comes.
pub(in crate::session) fn make_signals_known() {
    for_each_signal_template(|template| _ = make_known(template));
}

/// Makes the text of a message known, and returns its id.
fn make_known(template: &str) -> u64 {
    let group = group();
    let id = message_id("", template, EVENT_LEVEL, group.name);
    let new =
        NewMessage { id, template, names: "", level: EVENT_LEVEL, group, place: "", at: None };
    // Where the table is full, the name of the file has the cause.
    let _ = message_table::signature_or_insert(new, message_table::MAX_ENTRIES);
    id
}

fn group() -> &'static GroupInfo {
    static GROUP_OF_TRIGGERS: ForkOnce<&'static GroupInfo> = ForkOnce::new();
    GROUP_OF_TRIGGERS.get_or_make(|| level::create_group(EVENT_GROUP, EVENT_GROUP))
}
