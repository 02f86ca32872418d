//! Requests of operators, and the answers.
//!
//! `docs/design/control.md` lists the requests. Each is answered at once, on the thread that
//! listens; only that thread waits while a trace starts or ends.

mod family;
mod sites;
mod trigger;

use crate::error::Error;
use crate::level::{self, GroupInfo};
use crate::loss::LossCause;
use crate::session::Session;
use crate::session::earlier::earlier_runs;
use crate::session::filter::{Config, GroupOverride, TracingMode};
use crate::session::life::{byte_limits, forked, running_sessions, summary};
use crate::session::packets::dictionary::tagged_groups;
use crate::stats::{GroupStats, Loss, Summary};
use crate::sys::copies;
use crate::sys::process::program;
use protolog_core::FillPolicy;
use protolog_core::control::name::{NameWord, characters};
use protolog_core::control::protocol::{
    MAX_LINE, MEMORY_NAME, Reply, Request, TraceStart, VERSION,
};
use protolog_core::control::session_setting::SessionSettings;
use protolog_core::control::setting::Settings;
use protolog_core::control::switch::ALL_LEVELS;
use protolog_core::control::{Closeness, closeness, matches_group, minimum_level};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// The time for which the list of groups in the notes of loaded modules is cached.
const NOTES_TTL: Duration = Duration::from_secs(2);

/// An answer to be sent.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// Whole lines.
    pub(super) text: String,
    /// A file that is sent with the first of them.
    pub(super) file: Option<File>,
    /// True where the connection ends with it.
    pub(super) ends: bool,
}

/// The state that answers depend on.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// Errors of the settings file.
    pub(super) problems: Vec<String>,
    trace: Option<(Session, FillPolicy, String)>,
    /// When the notes were read last, and the groups that they name, with their tags.
    notes: Option<(Instant, BTreeMap<String, String>)>,
}

/// An error in a request, and a help line.
struct Refusal {
    what: String,
    help: &'static str,
}

impl Answer {
    fn line(&mut self, reply: Reply<'_>) {
        let start = self.text.len();
        // Writing to a string can't fail.
        let _ = writeln!(self.text, "{reply}");
        if self.text.len() - start <= MAX_LINE {
            return;
        }
        // An operator gives up a program that sends longer ones. A name that is cut off is none, so
        // its line is left out; a text is cut.
        let is_of_group = matches!(
            reply,
            Reply::Group { .. } | Reply::Levels { .. } | Reply::Written { .. } | Reply::Lost { .. }
        ) || matches!(reply, Reply::Site(_) | Reply::Rule { .. });
        let mut end = if is_of_group { start } else { start + MAX_LINE - "\n".len() };
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        self.text.truncate(end);
        if !is_of_group {
            self.text.push('\n');
        }
    }

    fn refuse(refusal: &Refusal) -> Self {
        let mut answer = Self::default();
        answer.line(Reply::Help(refusal.help));
        answer.line(Reply::Error(&refusal.what));
        answer
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self { what: error.to_string(), help: error.help() }
    }
}

impl Answers {
    /// Answers a line. `greeted` is true on connections that have agreed upon a version.
    pub(super) fn answer(
        &mut self,
        line: Result<String, &'static str>,
        greeted: &mut bool,
    ) -> Answer {
        let help = "ask as docs/design/control.md says, in lines of UTF-8";
        let refuse =
            |what: String| Answer { ends: true, ..Answer::refuse(&Refusal { what, help }) };
        let line = match line {
            Ok(line) => line,
            Err(what) => return refuse(what.into()),
        };
        let request = Request::parse(&line);
        match request {
            Some(Request::Hello(VERSION)) => *greeted = true,
            Some(Request::Hello(version)) => {
                let what = format!("version {version} is not supported");
                let help = "use a protologtool of the version that the program was built with";
                return Answer { ends: true, ..Answer::refuse(&Refusal { what, help }) };
            }
            _ if !*greeted => return refuse("no protocol version was agreed upon".into()),
            _ => {}
        }
        let Some(request) = request else {
            let what = format!("unknown request `{line}`");
            return Answer::refuse(&Refusal { what, help });
        };
        let mut answer = Answer::default();
        match self.reply(request, &mut answer) {
            Ok(()) => {
                answer.line(Reply::Ok);
                answer
            }
            Err(refusal) => Answer::refuse(&refusal),
        }
    }

    fn reply(&mut self, request: Request<'_>, answer: &mut Answer) -> Result<(), Refusal> {
        match request {
            Request::Hello(_) => {
                let (pid, name) = (std::process::id(), program());
                answer.line(Reply::Hello { version: VERSION, pid, program: &name });
            }
            Request::Groups => self.groups(answer),
            Request::Pages => pages(answer)?,
            Request::PagesFile => pages_file(answer)?,
            Request::Set(item) => set(item)?,
            Request::TraceStart(start) => self.start(&start)?,
            Request::TraceStop => self.stop(answer)?,
            Request::TraceStatus => self.status(answer),
            Request::Trigger(cause) => trigger::fire(cause)?,
            Request::TriggerAt(nanos, cause) => trigger::fire_at(nanos, cause)?,
            Request::Join(join) => family::join(join)?,
            Request::Stats => self.stats(answer),
            Request::Sessions => self.sessions(answer),
            Request::Sites(limit, selector) => sites::list(limit, selector, answer)?,
            Request::Rules => sites::rules(answer),
        }
        Ok(())
    }

    /// Lists all groups: those of registered enums, and those that only notes name so far.
    fn groups(&mut self, answer: &mut Answer) {
        let mut known = BTreeSet::new();
        // The levels in a forked child are those of its parent until it logs.
        let levels = if forked::is_inherited() { ALL_LEVELS } else { 0 };
        level::for_each_group(|page, group, word| {
            known.insert(group.name);
            let word = word & !levels;
            let GroupInfo { index, compiled, name, tag, .. } = *group;
            let name = &NameWord(name).to_string();
            answer.line(Reply::Group { page, index, word, compiled, name, tag });
        });
        for (name, tag) in self.noted().iter().filter(|(name, _)| !known.contains(name.as_str())) {
            let (page, index, word) = (None, 0, level::word_before_registration(name));
            let name = &NameWord(name).to_string();
            answer.line(Reply::Group { page, index, word, compiled: true, name, tag });
        }
        for module in copies::modules_apart() {
            answer.line(Reply::Problem(&format!(
                "`{module}` has another version of protolog-rt inside, which can't join that of the program: its groups are not listed, \
                 and no session of the program has its messages"
            )));
        }
    }

    /// Returns the groups that notes name, with their tags, as they were at most [`NOTES_TTL`] ago.
    fn noted(&mut self) -> &BTreeMap<String, String> {
        let fresh = self.notes.take().filter(|(since, _)| since.elapsed() < NOTES_TTL);
        &self.notes.insert(fresh.unwrap_or_else(|| (Instant::now(), tagged_groups()))).1
    }

    /// Lists the sessions that run, each with the groups that it records.
    fn sessions(&mut self, answer: &mut Answer) {
        let mut groups: BTreeSet<String> = self.noted().keys().cloned().collect();
        level::for_each_group(|_, group, _| {
            if group.compiled {
                groups.insert(group.name.to_owned());
            } else {
                groups.remove(group.name);
            }
        });
        for core in running_sessions::all() {
            let control = self.trace.as_ref().is_some_and(|(session, ..)| session.is_of(&core));
            let file = core.path().map_or("-".into(), Path::to_string_lossy);
            let fill_policy = core.buffer.fill_policy();
            answer.line(Reply::Tracing { control, fill_policy, file: &file });
            core.byte_limit().into_iter().for_each(|limit| answer.line(Reply::Limited(limit)));
            for group in &groups {
                let levels = core.levels_of(group);
                if levels != 0 {
                    answer.line(Reply::Levels { levels, group: &NameWord(group).to_string() });
                }
            }
        }
    }

    fn start(&mut self, start: &TraceStart<'_>) -> Result<(), Refusal> {
        if let Some((.., file)) = &self.trace {
            let what = format!("a trace is being written to `{file}` already");
            return Err(Refusal { what, help: "stop it with `trace stop`" });
        }
        if !Path::new(start.file).is_absolute() {
            let what = format!("`{}` is no absolute path", start.file);
            return Err(Refusal { what, help: "write the path from the root on" });
        }
        if is_pipe(Path::new(start.file)) {
            let what = format!("`{}` is a pipe", start.file);
            return Err(Refusal { what, help: "name a file: a pipe would wait for its reader" });
        }
        let builder =
            Session::builder().file(start.file).config(config(start.settings)?).for_operator();
        let builder = match start.fill_policy {
            FillPolicy::Stream => builder,
            FillPolicy::RingBuffer => builder.keep_newest(),
            FillPolicy::Discard => builder.keep_first(),
        };
        let builder = match usize::try_from(start.buffer) {
            Ok(0) | Err(_) => builder,
            Ok(bytes) => builder.buffer_size(bytes),
        };
        self.trace = Some((builder.start()?, start.fill_policy, start.file.into()));
        Ok(())
    }

    fn stop(&mut self, answer: &mut Answer) -> Result<(), Refusal> {
        let Some((mut session, fill_policy, file)) = self.trace.take() else {
            let what = "no trace is being written".into();
            return Err(Refusal { what, help: "start one with `trace start FILE`" });
        };
        if fill_policy == FillPolicy::Stream {
            describe(&session.stop()?, true, fill_policy, &file, answer);
            return Ok(());
        }
        match session.try_stop() {
            Ok(summary) => describe(&summary, true, fill_policy, &file, answer),
            // A device that takes nothing has its name by right, and nothing belongs beside it.
            Err(error) if is_device(Path::new(&file)) => return Err(Error::from(error).into()),
            Err(error) => {
                // Somebody may have taken the name since the start, as anybody can in `/tmp`: the
                // kept messages are worth more.
                let other = earlier_runs::unknown_sibling(Path::new(&file));
                let Ok(summary) = session.try_stop_at(&other) else {
                    // It can be stopped again.
                    self.trace = Some((session, fill_policy, file));
                    return Err(Error::from(error).into());
                };
                describe(&summary, true, fill_policy, &other.to_string_lossy(), answer);
            }
        }
        Ok(())
    }

    fn status(&self, answer: &mut Answer) {
        if let Some((session, fill_policy, file)) = &self.trace {
            describe(&so_far(session.summary(), *fill_policy), true, *fill_policy, file, answer);
            let is_it = |core: &_| session.is_of(core);
            let core = running_sessions::all().into_iter().find(is_it);
            if let Some(limit) = core.and_then(|core| core.byte_limit()) {
                answer.line(Reply::Limited(limit));
            }
        }
    }

    fn stats(&self, answer: &mut Answer) {
        self.status(answer);
        for core in running_sessions::all() {
            if !self.trace.as_ref().is_some_and(|(session, ..)| session.is_of(&core)) {
                let fill_policy = core.buffer.fill_policy();
                let file = core.path().map_or("-".into(), Path::to_string_lossy);
                let summary = so_far(summary::so_far(&core), fill_policy);
                describe(&summary, false, fill_policy, &file, answer);
                core.byte_limit().into_iter().for_each(|it| answer.line(Reply::Limited(it)));
            }
        }
        if forked::is_inherited() {
            answer.line(Reply::Problem(forked::PROBLEM));
        }
        for problem in &self.problems {
            answer.line(Reply::Problem(problem));
        }
    }
}

/// Returns whether a trace to this path would wait for a reader, and this thread with it.
fn is_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo())
}

fn pages(answer: &mut Answer) -> Result<(), Refusal> {
    let help = "switch groups by request instead";
    let refusal = |what| Refusal { what, help };
    let file = level::shared_file().ok_or_else(|| refusal("there is no memory to share".into()))?;
    let (file, count, size) =
        file.map_err(|error| refusal(format!("can't share memory: {error}")))?;
    answer.file = Some(file);
    answer.line(Reply::Pages { count, size });
    Ok(())
}

/// Names the memory for operators that can't receive descriptors. It is no file in a directory:
/// such a one anybody with the same user could cut off under a log call, and it would stay behind.
fn pages_file(answer: &mut Answer) -> Result<(), Refusal> {
    let help = "ask for `pages`, or switch groups by request instead";
    let refusal = |what: &str| Refusal { what: what.into(), help };
    let shared = level::shared_descriptor();
    let (number, count, size) = shared.ok_or_else(|| refusal("there is no memory to share"))?;
    let name = format!("/proc/{}/fd/{number}", std::process::id());
    let is_there = std::fs::read_link(&name)
        .is_ok_and(|file| file.to_string_lossy().contains(&*MEMORY_NAME.to_string_lossy()));
    if !is_there {
        return Err(refusal("the memory has no name without /proc"));
    }
    answer.line(Reply::PagesFile { count, size, name: &name });
    Ok(())
}

fn set(item: &str) -> Result<(), Refusal> {
    let mut settings = Vec::new();
    for item in Settings::new(item) {
        let item = item.map_err(|error| Refusal { what: error.to_string(), help: error.help() })?;
        let (pattern, setting) = (item.group.into(), item.setting);
        settings.push(level::PatternSetting {
            pattern,
            setting,
            source: level::SettingSource::Other,
        });
    }
    let rules = sites::rules_in(item)?;
    let of_sessions: Result<Vec<_>, _> =
        SessionSettings::new(item).map(|item| item.map(|it| it.setting)).collect();
    let of_sessions =
        of_sessions.map_err(|error| Refusal { what: error.to_string(), help: error.help() })?;
    level::apply_settings(settings);
    level::rules::apply(rules);
    byte_limits::apply(of_sessions, level::SettingSource::Other);
    Ok(())
}

/// Turns settings into the configuration of a session. Later settings win.
fn config(settings: &str) -> Result<Config, Refusal> {
    let mut config = Config { tracing_mode: TracingMode::EnableAll, ..Config::default() };
    if settings == "-" {
        return Ok(config);
    }
    let known = tagged_groups();
    let mut levels_of = BTreeMap::new();
    for item in Settings::new(settings) {
        let item = item.map_err(|error| Refusal { what: error.to_string(), help: error.help() })?;
        let Some(levels) = item.setting.trace else { continue };
        if item.group == "*" {
            levels_of.clear();
            levels_of.insert(item.group.to_owned(), levels);
            continue;
        }
        if characters(item.group).eq("*".chars()) {
            // In the settings of a session it would be all groups.
            let what = "the group `\"*\"` can't be chosen for a trace".into();
            return Err(Refusal { what, help: "leave it out, or trace all groups with `*`" });
        }
        let named: Vec<_> = known.keys().filter(|name| matches_group(item.group, name)).collect();
        let is_end = |name: &&String| closeness(item.group, name) >= Some(Closeness::End);
        if !named.iter().any(is_end) {
            // Groups that come later may be under it.
            levels_of.insert(characters(item.group).collect(), levels);
        }
        levels_of.extend(named.into_iter().map(|name| (name.clone(), levels)));
    }
    let overrides = levels_of.into_iter();
    config.group_overrides = overrides
        .map(|(group, levels)| GroupOverride { group, log_from: minimum_level(levels) })
        .collect();
    Ok(config)
}

/// Returns whether the file itself is a device, which nobody but root can have put there.
fn is_device(path: &Path) -> bool {
    let found = std::fs::symlink_metadata(path).map(|it| it.file_type());
    found.is_ok_and(|it| it.is_char_device() || it.is_block_device())
}

/// Returns the summary that a session would have if it stopped now. In a ring buffer, counted
/// messages that are no longer in the buffer were overwritten. Threads count messages when they
/// finish a chunk, so those in their last chunk are not counted yet.
fn so_far(mut summary: Summary, fill_policy: FillPolicy) -> Summary {
    if fill_policy == FillPolicy::RingBuffer {
        let kept = summary.groups.iter().map(|group| group.messages).sum();
        let overwritten = summary.messages.saturating_sub(kept);
        summary.messages = kept;
        if overwritten > 0 {
            let (cause, count) = (LossCause::Overwritten, overwritten);
            summary.losses.push(Loss { group: None, cause, count });
            let losses = vec![(cause, count)];
            summary.add_groups(vec![GroupStats { losses, ..GroupStats::default() }]);
        }
    }
    summary
}

/// Adds the lines that describe a session.
fn describe(
    summary: &Summary,
    control: bool,
    fill_policy: FillPolicy,
    file: &str,
    answer: &mut Answer,
) {
    let (messages, lost, bytes) = (summary.messages, summary.lost(), summary.bytes);
    answer.line(Reply::Session { control, fill_policy, messages, lost, bytes, file });
    for stats in &summary.groups {
        let group = stats.group.as_deref().map(|name| NameWord(name).to_string());
        let group = group.as_deref().unwrap_or_default();
        let (messages, lost, bytes) = (stats.messages, stats.lost(), stats.bytes);
        answer.line(Reply::Written { messages, lost, bytes, group });
        for (cause, count) in &stats.losses {
            answer.line(Reply::Lost { count: *count, cause: cause.name(), group });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Java runtime reads the same table.
    #[test]
    fn requests_are_answered_as_the_vectors_say() {
        let vectors = include_str!("../../../protolog-core/testdata/requests.tsv");
        for row in vectors.lines().skip(1) {
            let cells: Vec<&str> = row.split('\t').collect();
            let [greeted, request, expected, ends] = cells[..] else { panic!("four cells: {row}") };
            let request = request.replace("\\t", "\t");
            let answer = Answers::default().answer(Ok(request), &mut (greeted == "y"));
            assert_eq!(answer.text, expected.replace("\\n", "\n") + "\n", "{row}");
            assert_eq!(answer.ends, ends == "y", "{row}");
        }
    }
}
