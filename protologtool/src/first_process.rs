//! The first process of a container, on which signals have no effect that nothing handles.
//!
//! The kernel keeps process 1 of a namespace from dying of a signal. So Ctrl-C and `docker stop`
//! would leave a command running there that does nothing about signals by itself.
//!
//! Invariant: a signal that this program's parent had it ignore, as `nohup` does, stays ignored.

#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

/// The signals that ask a process to end.
#[cfg(unix)]
pub(crate) const SIGNALS: [i32; 3] = [SIGHUP, SIGINT, SIGTERM];
#[cfg(not(unix))]
pub(crate) const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// True as long as nothing else handles them.
static IS_UNHANDLED: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(true)));

/// Has signals end this process if it is the first one, with the exit code that shells give to
/// that.
pub fn end_by_signals() {
    if !is_first() {
        return;
    }
    for signal in not_ignored(SIGNALS) {
        let (code, condition) = (128 + signal, IS_UNHANDLED.clone());
        // Without it the command does what it does.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, code, condition);
    }
}

/// Leaves signals to the caller, from now on.
pub(crate) fn handle_signals() {
    IS_UNHANDLED.store(false, Ordering::SeqCst);
}

/// Ends this process by a signal that was handled.
pub(crate) fn die_of(signal: i32) -> ! {
    if !is_first() {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    std::process::exit(128 + signal)
}

fn is_first() -> bool {
    std::process::id() == 1
}

/// Those of these signals that are not ignored.
pub(crate) fn not_ignored<const N: usize>(signals: [i32; N]) -> impl Iterator<Item = i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    // A bit each, the lowest for signal 1.
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    signals.into_iter().filter(move |number| mask & (1 << (number - 1)) == 0)
}
