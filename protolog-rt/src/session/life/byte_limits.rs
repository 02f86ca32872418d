//! Limits of the bytes of sessions that come from outside: by an operator, from a file or a
//! variable. They hold for each session of the program, in place of its own, whenever it started.
//!
//! Invariant: a session that runs has the newest one. It is set under the lock on what is given,
//! which a session that starts takes once it is in the list of those that run.

use crate::level::SettingSource;
use crate::session::arbiter::session_arbiter::Core;
use crate::session::life::running_sessions;
use crate::sys::fork::{ForkLock, Order};
use crate::writer;
use protolog_core::control::session_setting::SessionSetting;

/// What each source has given, the newest last; none is the default.
type Given = Vec<(SettingSource, SessionSetting)>;

static GIVEN: ForkLock<Given> = ForkLock::new(Order::SessionLimits, Vec::new());

/// Applies settings of sessions, which came in this order.
pub(crate) fn apply(settings: Vec<SessionSetting>, source: SettingSource) {
    if !settings.is_empty() {
        change(settings, source);
    }
}

/// Replaces those of the configuration file.
pub(crate) fn replace_config_file(settings: Vec<SessionSetting>) {
    change(settings, SettingSource::ConfigFile);
}

/// Gives a session that has started the limit that holds.
pub(in crate::session) fn on_start(core: &Core) {
    writer::guarded(|| core.limit_bytes(newest(&GIVEN.lock())));
}

fn change(settings: Vec<SessionSetting>, source: SettingSource) {
    writer::guarded(|| {
        let mut given = GIVEN.lock();
        let before = newest(&given);
        if source == SettingSource::ConfigFile {
            given.retain(|(of, _)| *of != source);
        }
        for setting in settings {
            add(&mut given, setting, source);
        }
        let limit = newest(&given);
        if limit != before {
            for core in &running_sessions::all() {
                core.limit_bytes(limit);
            }
        }
    });
}

fn add(given: &mut Given, setting: SessionSetting, source: SettingSource) {
    match setting {
        SessionSetting::Limit(_) => {
            given.retain(|(of, _)| *of != source);
            given.push((source, setting));
        }
        SessionSetting::Default if source == SettingSource::ConfigFile => {
            given.retain(|(of, _)| *of != source);
        }
        SessionSetting::Default => given.clear(),
    }
}

fn newest(given: &Given) -> SessionSetting {
    given.last().map_or(SessionSetting::Default, |(_, setting)| *setting)
}
