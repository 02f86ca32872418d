//! The message that says why a file was written: in the file itself, so that every reader shows it
//! among the others, at its time.
//!
//! It is on a sequence of its own, with the thread on which the event happened. Its text holds the
//! cause. A file of requests that failed has one for each of them, and one for what is left out.

use crate::level::{self, GroupInfo};
use crate::message_table::{self, NewMessage};
use crate::session::arbiter::failures::Failure;
use crate::session::arbiter::occasion::{Fired, Origin};
use crate::sys::once::ForkOnce;
use protolog_core::message_id;
use protolog_core::schema::{
    interned_data, interned_string, message, packet, sequence_flags, sequence_info,
};
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

    /// The message of the same event that says how many messages of other requests were left out,
    /// and how many failed requests there was no room for.
    pub(super) fn left_out(self, messages: u64, requests: u64) -> Self {
        let mut template = "trigger: %d messages of other requests are left out".to_owned();
        if requests > 0 {
            template.push_str("; %d more requests failed, and are in no file");
        }
        let requests = Some(requests as i64).filter(|count| *count > 0);
        Self { id: make_known(&template), numbers: [Some(messages as i64), requests], ..self }
    }

    /// The message as a packet.
    pub(super) fn packet(self, pid: u32) -> Vec<u8> {
        let numbers: Vec<i64> = self.numbers.into_iter().flatten().collect();
        packet_of(self.id, pid, (self.fired.time, self.fired.thread), (&numbers, &[]))
    }
}

/// The message about a request that failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestMessage<'a> {
    id: u64,
    failure: &'a Failure,
}

impl<'a> RequestMessage<'a> {
    /// Makes its text known to all traces.
    pub(super) fn new(failure: &'a Failure) -> Self {
        Self { id: make_known("trigger: request %s failed: %s"), failure }
    }

    /// The message as a packet.
    pub(super) fn packet(self, pid: u32) -> Vec<u8> {
        let Failure { time, thread, id, reason, .. } = self.failure;
        packet_of(self.id, pid, (*time, *thread), (&[], &[id, reason]))
    }
}

/// The packet of a message, which needs none before it.
fn packet_of(
    id: u64,
    pid: u32,
    (time, thread): (u64, u32),
    (numbers, texts): (&[i64], &[&str]),
) -> Vec<u8> {
    let mut writer = protozero::Writer::new(Heap::new());
    let mut to = writer.message();
    to.uint64(packet::TIMESTAMP, time)
        .uint32(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
    let mut info = to.nested(packet::SEQUENCE_INFO);
    info.uint32(sequence_info::PID, pid);
    if thread != 0 {
        info.uint32(sequence_info::TID, thread);
    }
    drop(info);
    if !texts.is_empty() {
        let mut interned = to.nested(packet::INTERNED_DATA);
        for (iid, text) in (1..).zip(texts) {
            interned
                .nested(interned_data::PROTOLOG_STRING_ARGS)
                .uint64(interned_string::IID, iid)
                .string(interned_string::STR, text);
        }
    }
    let mut body = to.nested(packet::PROTOLOG_MESSAGE);
    body.fixed64(message::MESSAGE_ID, id);
    for iid in (1..).take(texts.len()) {
        body.uint32(message::STR_PARAM_IIDS, iid);
    }
    for number in numbers {
        body.sint64(message::SINT64_PARAMS, *number);
    }
    drop(body);
    writer.into_vec().unwrap_or_default()
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
