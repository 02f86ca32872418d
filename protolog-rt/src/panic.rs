//! Panics, logged as messages with their stack trace.

use crate::dynamic::Arg;
use crate::level::{self, GroupInfo};
use crate::log;
use crate::message_table::{self, NewMessage};
use crate::session::life::running_sessions;
use crate::sys::once::ForkOnce;
use crate::sys::pin;
use crate::text_queue;
use crate::value::FixedString;
use crate::writer::{self, arg_slice::ArgSlice};
use protolog_core::{Level, message_id};
use std::panic::{self, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The group of panics: full name and tag.
const GROUP: &str = "panic";

/// Maximum time that a panic waits for each session's file.
const FLUSH: Duration = Duration::from_secs(1);

const TEMPLATE: &str = "thread `%s` panicked: %s";

/// Maximum bytes of `file:line:column`.
const PLACE: usize = 512;

/// Installs a panic hook that logs each panic at level WTF of the group `panic`, with the thread's
/// stack trace, and then runs the previous hook. It also flushes all sessions, since the process
/// may be about to abort. Sessions record WTF unless configured otherwise.
///
/// ```
/// use protolog_rt::Session;
///
/// # fn main() -> Result<(), protolog_rt::Error> {
/// # let path = std::env::temp_dir().join(format!("protolog-panic-{}.pftrace", std::process::id()));
/// protolog_rt::log_panics();
/// let session = Session::builder().file(&path).start()?;
/// std::thread::spawn(|| panic!("out of cheese")).join().unwrap_err();
/// assert_eq!(session.stop()?.messages, 1);
/// # std::fs::remove_file(path).ok();
/// # Ok(())
/// # }
/// ```
pub fn log_panics() {
    static IS_SET: AtomicBool = AtomicBool::new(false);
    if IS_SET.swap(true, Ordering::Relaxed) {
        return;
    }
    pin::keep_runtime_loaded();
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        log_panic(panic);
        before(panic);
    }));
}

fn log_panic(panic: &PanicHookInfo<'_>) {
    // Text of before the panic comes before the lines of the previous hook.
    text_queue::flush_at_end();
    let group = group();
    let level = Level::Wtf;
    // The first test registers the group, as that of an enum; the second one asks for sessions
    // only.
    if !group.is_on(level) || !group.is_trace_enabled(level) {
        return;
    }
    let thread = thread::current();
    let name = thread.name().unwrap_or("<unnamed>");
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let args = [Arg::Str(name), Arg::Str(text.unwrap_or("a value that is not a string"))];
    let at = panic.location().map(|place| (place.file(), place.line()));
    let mut place = FixedString::<PLACE>::new();
    let place = panic.location().map_or("", |location| place.print(location));
    let id = message_id(place, TEMPLATE, level, group.name);
    let message = NewMessage { id, template: TEMPLATE, names: "", level, group, place, at };
    if message_table::signature_or_insert(message, message_table::MAX_ENTRIES).is_some() {
        log::trace_with_stack(id, level, group, &ArgSlice(&args));
    } else {
        writer::drop_message(group, level, crate::LossCause::TemplateLimit);
    }
    running_sessions::flush(FLUSH);
}

fn group() -> &'static GroupInfo {
    static GROUP_OF_PANICS: ForkOnce<&'static GroupInfo> = ForkOnce::new();
    GROUP_OF_PANICS.get_or_make(|| level::create_group(GROUP, GROUP))
}
