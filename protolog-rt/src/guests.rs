//! The interface by which other copies of this runtime in the process use this one ([`copies`]).
//!
//! Invariant: the static is announced wherever a program has this runtime, since the `#[used]`
//! function refers to it.

use crate::init::Init;
use crate::level::{self, GroupInfo};
use crate::log;
use crate::loss::LossCause;
use crate::message_table::{self, NewMessage};
use crate::producer::{self, Connect};
use crate::site::GroupLevel;
use crate::sys::copies::{self, Host, Interface, NewGroup, NewTemplate, ServiceState, announce};
use crate::text;
use crate::writer::arg_slice::ArgSlice;
use crate::writer::slice::{Slice, enter_span, leave_span, next_span};
use crate::writer::{self, Head};
use protolog_core::{Arg, Level};
use std::sync::atomic::AtomicU32;

static INTERFACE: Interface = copies::interface::<Guests>();

announce!(INTERFACE);

/// This runtime, as other copies see it.
struct Guests;

impl Host for Guests {
    type Group = GroupInfo;

    fn register(group: NewGroup<'_>, changed: extern "C" fn()) -> &'static GroupInfo {
        let NewGroup { name, tag, compiled, log_to_text } = group;
        level::register_guest((name, tag), (compiled, log_to_text), changed)
    }

    fn word(group: &'static GroupInfo) -> &'static AtomicU32 {
        group.word_ref()
    }

    fn switch(group: &'static GroupInfo, allowed: u8, text: u8) {
        level::switch_guest(group, allowed, text);
    }

    fn intern(group: &'static GroupInfo, template: NewTemplate<'_>) -> bool {
        let NewTemplate { id, severity, template, names, place, at, limit } = template;
        let level = level_of(severity);
        let new = NewMessage { id, template, names, level, group, place, at };
        message_table::signature_or_insert(new, limit).is_some()
    }

    fn message(group: &'static GroupInfo, severity: u8, id: u64, args: &[Arg<'_>], stack: bool) {
        let level = level_of(severity);
        if stack {
            log::trace_with_stack(id, level, group, &ArgSlice(args));
        } else {
            log::trace(id, level, group, &ArgSlice(args));
        }
    }

    /// An end is taken also where its level is off by now.
    fn slice(group: &'static GroupInfo, severity: u8, event: &[u8], beside: &[u8]) {
        let head = Head { id: 0, group_level: GroupLevel::new(group, level_of(severity)) };
        writer::write_packet(head, &Slice { event, beside });
    }

    fn next_span() -> u64 {
        next_span()
    }

    fn enter_span() -> u32 {
        enter_span()
    }

    fn leave_span() {
        leave_span();
    }

    fn count_lost(group: &'static GroupInfo, severity: u8, cause: u32) {
        if let Some(cause) = LossCause::from_wire(cause) {
            writer::drop_message(group, level_of(severity), cause);
        }
    }

    fn show(severity: u8, tag: &str, text: &str) {
        text::show_for_guest(level_of(severity), tag, text);
    }

    fn listen(directory: &str) {
        let init = Init::new();
        let init = if directory.is_empty() { init } else { init.directory(directory) };
        init.listen_for_guest();
    }

    fn connect(startup_bytes: usize, startup_severity: u8) {
        let connect = Connect::new().startup_buffer(startup_bytes);
        connect.startup_log_from(level_of(startup_severity)).start();
    }

    fn service_state(take: impl FnOnce(ServiceState<&str>)) {
        let status = producer::status();
        take(ServiceState {
            is_connected: status.is_connected,
            sessions: status.sessions,
            lost: status.lost,
            last_error: status.last_error.as_deref(),
            notice: status.notice.as_deref(),
        });
    }
}

fn level_of(severity: u8) -> Level {
    Level::from_severity(severity).unwrap_or(Level::Wtf)
}
