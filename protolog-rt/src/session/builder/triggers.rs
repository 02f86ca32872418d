//! The triggers of a session that keeps its messages.
//!
//! Invariant: a directory where no file can be made is an error of the start, not of the event.

use crate::error::Error;
use crate::level;
use crate::session::arbiter::condition::Condition;
use crate::session::arbiter::session_arbiter::Core;
use crate::session::builder::Builder;
use crate::session::file::file_place::FilePlace;
use crate::session::file::trace_file::{FileForm, TraceFile};
use crate::session::life::{events, running_sessions};
use crate::session::packets::dictionary::all_groups;
use crate::session::packets::messages;
use crate::session::recording::recorder::RecordingPath;
use crate::session::trigger::files::TriggerFiles;
use crate::session::trigger::message;
use crate::session::trigger::settings::Triggers;
use crate::session::trigger::signal_files::SignalFiles;
use crate::session::trigger::trigger_thread::TriggerThread;
use crate::sys::environment::variable;
use crate::text_queue;
use protolog_core::FillPolicy;
use protolog_core::control::matches_group;
use std::path::PathBuf;
use std::sync::Arc;

/// The variable that decides, for all sessions with triggers, whether fatal signals are events.
const FATAL_SIGNALS: &str = "PROTOLOG_FATAL_SIGNALS";

impl Builder {
    /// As [`Self::keep_newest`], with files of their own for the events that `triggers` names. The
    /// session needs no [`Self::file`] then, and the newest messages at its stop are written only
    /// if it has one.
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session, Triggers};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let dir = std::env::temp_dir().join(format!("protolog-events-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// let triggers = Triggers::to(dir.join("app.pftrace")).on_panic();
    /// let session = Session::builder().enable_all().triggers(triggers).start()?;
    /// protolog_rt::d!(AppLog::Net, "about to fail");
    /// std::thread::spawn(|| panic!("no bytes left")).join().unwrap_err();
    /// let counts = session.trigger_counts();
    /// assert_eq!((&*counts[0].cause, counts[0].fired), ("panic", 1));
    /// # session.stop()?;
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Not for sessions that keep the first messages, or that are of chosen threads
    /// ([`Error::NotWithTriggers`]).
    pub fn triggers(mut self, triggers: Triggers) -> Self {
        self.triggers = Some(triggers);
        self.keep_newest()
    }

    /// Refuses settings that have no meaning for triggers.
    pub(super) fn check_triggers(&self) -> Result<(), Error> {
        let others = [
            ("keep_first", self.fill_policy == FillPolicy::Discard),
            ("this_thread", self.is_scoped),
        ];
        let other = others.iter().find(|(_, is_set)| *is_set && self.triggers.is_some());
        other.map_or(Ok(()), |(option, _)| Err(Error::NotWithTriggers { option }))
    }

    /// Finds the messages that triggers wait for.
    pub(super) fn find_watched_messages(&mut self) -> Result<(), Error> {
        for (text, condition) in self.triggers.iter_mut().flat_map(|all| &mut all.conditions) {
            if let Condition::Messages(found) = condition {
                *found = messages::find(text);
                if found.is_empty() {
                    return Err(Error::NoMessage { text: text.clone() });
                }
            }
        }
        self.warn_of_unknown_groups();
        Ok(())
    }

    /// Says which groups of triggers nobody knows yet: such a trigger would never fire in silence.
    fn warn_of_unknown_groups(&self) {
        let conditions = self.triggers.iter().flat_map(|all| &all.conditions);
        let patterns = conditions.filter_map(|(_, condition)| match condition {
            Condition::Group(pattern, _) => Some(pattern),
            _ => None,
        });
        warn_of_unknown(patterns.map(String::as_str), |pattern| {
            format!("a trigger waits for the group `{pattern}`")
        });
    }

    /// Has fatal signals be events, or not, where the variable says so.
    pub(super) fn apply_variable_of_signals(&mut self) {
        let value = variable(FATAL_SIGNALS);
        let (Some(triggers), Some(value)) = (&mut self.triggers, value) else { return };
        match value.to_str() {
            Some("on") => triggers.waits_for_signals = true,
            Some("off") => triggers.waits_for_signals = false,
            // As of other variables: an empty one is none.
            Some("") => {}
            _ => text_queue::write_line(
                format!(
                    "protolog: PROTOLOG_FATAL_SIGNALS is `{}`, which is neither `on` nor `off`\n\
                     help: write `on` to have files of fatal signals\n",
                    value.to_string_lossy().escape_debug()
                )
                .as_bytes(),
            ),
        }
    }

    /// Returns where fatal signals leave marks, if they do.
    pub(super) fn watched_signals(&self) -> Option<WatchedSignals> {
        let triggers = self.triggers.as_ref().filter(|all| all.waits_for_signals)?;
        Some(WatchedSignals { files: triggers.path.clone(), is_all: self.record.is_none() })
    }

    /// Makes the files of earlier runs that fatal signals ended.
    pub(super) fn write_files_of_signals(&self) {
        let Some(triggers) = self.triggers.as_ref().filter(|all| all.waits_for_signals) else {
            return;
        };
        let Ok(place) = FilePlace::of_file(&triggers.path) else { return };
        let recording = match &self.record {
            Some(RecordingPath::At(path)) => Some(path.as_path()),
            _ => None,
        };
        let (mode, keep, reports) = (self.form.mode, triggers.keep, self.reports_losses);
        SignalFiles { place: &place, recording, mode, keep, reports }.write();
    }

    /// Returns the files of triggers, where one was made and removed again.
    pub(super) fn trigger_files(&self) -> Result<Option<TriggerFiles>, Error> {
        let Some(Triggers { path, keep, .. }) = &self.triggers else { return Ok(None) };
        let place = FilePlace::of_file(path)?;
        let form: &FileForm = &self.form;
        drop(TraceFile::create_beside(&place, path, form.mode)?);
        let files = TriggerFiles::new(place, form.clone(), *keep);
        files.check_names()?;
        Ok(Some(files))
    }
}

/// Says which patterns are those of no group that is known, with what they are for.
pub(super) fn warn_of_unknown<'a>(
    patterns: impl Iterator<Item = &'a str>,
    what: impl Fn(&str) -> String,
) {
    let patterns: Vec<_> = patterns.collect();
    // Groups of bridges come with their first message.
    let known = if patterns.is_empty() || level::has_observers() { None } else { all_groups() };
    let Some(known) = known else { return };
    for pattern in patterns {
        if !known.iter().any(|group| matches_group(pattern, group)) {
            let text = format!(
                "protolog: {}, and no group has the name\n\
                 help: see `protologtool configuration groups list`\n",
                what(pattern)
            );
            text_queue::write_line(text.as_bytes());
        }
    }
}

/// Where fatal signals leave marks.
pub(super) struct WatchedSignals {
    /// The path of the triggers' files.
    files: PathBuf,
    /// The recording is there for nothing else.
    is_all: bool,
}

impl WatchedSignals {
    /// Has fatal signals leave marks in the session's recording from now on.
    pub(super) fn mark(&self, core: &Core) -> Result<(), Error> {
        message::make_signals_known();
        let recorder = core.kept_recorder();
        recorder.map_or(Ok(()), |recorder| recorder.mark_signals(&self.files, self.is_all))
    }
}

/// Starts the thread that writes `files`, and has panics watched if they are a cause, or end the
/// process.
pub(super) fn start_thread(
    core: &Arc<Core>,
    triggers: Option<Triggers>,
    files: Option<TriggerFiles>,
) -> Result<Option<TriggerThread>, Error> {
    let (Some(triggers), Some(files), Some(causes)) = (triggers, files, &core.owner.causes) else {
        return Ok(None);
    };
    let thread = TriggerThread::start(
        core,
        running_sessions::all,
        Arc::clone(causes),
        files,
        triggers.window,
    )?;
    let waits_for_panics =
        triggers.conditions.iter().any(|(_, condition)| *condition == Condition::Panic);
    if waits_for_panics || cfg!(panic = "abort") {
        events::watch_panics();
    }
    Ok(Some(thread))
}
