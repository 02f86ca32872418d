//! `read-log --follow`: the messages so far, then each new one, until nobody reads them any more.
//!
//! A session writes its file at least once a second while there is something to write, and a
//! recording at once. Messages of several logs are shown as they come: in the order of time within
//! those that one log had at one look.

mod file;
mod held;
mod log;
mod pipe;
mod recording;
mod segments;

use super::args::ReadLogArgs;
use super::block_output::Stopped;
use super::notes::spans_without_begin;
use super::page_filter::PageFilter;
use super::page_source::PageSource;
use super::printer::Printer;
use crate::args::Expansion;
use crate::exit::{Exit, Failure};
use crate::logs::segment_names::{Segment, segments_of, session_of};
use crate::logs::text_sources::TextSources;
use crate::logs::trace_paths;
use crate::output::cant_read;
use crate::output::reason;
use crate::system::System;
use file::GrowingFile;
use log::FollowedLog;
use pipe::Pipe;
use protolog_reader::{Follower, Log, ReadError, Recording, printable};
use recording::GrowingRecording;
use segments::GrowingSegments;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use viewer_config::Dictionary;

/// The time between two looks at the files.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// A log that grows.
trait Growing {
    /// Reads the added bytes, and shows them part by part.
    fn read(
        &mut self,
        show: &mut GrowingPages<'_, '_>,
        system: &dyn System,
    ) -> Result<Outlook, Stopped>;
}

/// The outlook of a log after a look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outlook {
    /// There may be more at the next look.
    Open,
    /// Nothing will be added: the pipe's other end was closed.
    Ended(Exit),
}

/// The logs that are followed.
pub(super) struct GrowingLogs<'a> {
    args: &'a ReadLogArgs,
    system: &'a dyn System,
    texts: TextSources<'a>,
    logs: Logs,
    /// The wall clock when following began.
    now: i64,
    exit: Exit,
}

impl<'a> GrowingLogs<'a> {
    /// Begins to follow the logs of `args`.
    pub(super) fn open(args: &'a ReadLogArgs, system: &'a dyn System) -> Result<Self, Failure> {
        let now = system.now();
        args.filters.check_times(&args.form.times(), now)?;
        let texts = TextSources::load(&args.viewer_config, system)?;
        let dictionaries = texts.dictionaries().to_vec();
        let pipes = args.traces.iter().filter(|path| is_pipe(path, system));
        if let (Some(pipe), true) = (pipes.last(), args.traces.len() > 1) {
            let failure = Failure::new(format!("can't follow `{}` beside others", pipe.display()));
            return Err(failure.help("follow a pipe alone, and files by another run"));
        }
        let mut logs = Logs::new(Reading {
            dictionaries,
            has_spans: args.has_spans(),
            expansion: args.expansion,
        });
        for path in &args.traces {
            logs.add(path, system)?;
        }
        Ok(Self { args, system, texts, logs, now, exit: Exit::Done })
    }
}

impl<'a> PageSource<'a> for GrowingLogs<'a> {
    fn filter(&self) -> Result<PageFilter<'a>, Failure> {
        let Self { args, now, .. } = self;
        Ok(PageFilter::of_growing_log(&args.filters, args.form.times(), *now))
    }

    fn print(&mut self, filter: PageFilter<'a>, printer: Printer<'_>) -> Result<(), Stopped> {
        let Self { system, texts, logs, exit, .. } = self;
        let missing = BTreeMap::new();
        let mut pages =
            GrowingPages { filter, printer, system: *system, texts, missing, holds_files: true };
        loop {
            logs.look_into_directories(*system);
            pages.holds_files = logs.growing.len() <= system.most_held();
            let ended = logs.read(&mut pages, *system)?;
            pages.flush()?;
            if let Some(ended) = ended {
                *exit = ended;
                return Ok(());
            }
            if !logs.is_pipe {
                thread::sleep(POLL_INTERVAL);
            }
        }
    }

    fn report(&self) -> Exit {
        self.exit
    }
}

/// The way in which logs are read.
#[derive(Clone)]
struct Reading {
    /// For texts that a log lacks.
    dictionaries: Vec<Dictionary>,
    has_spans: bool,
    expansion: Expansion,
}

impl Reading {
    /// A log from its beginning.
    fn log(&self) -> FollowedLog {
        FollowedLog::new(self.follower())
    }

    fn follower(&self) -> Follower {
        let follower =
            Follower::new(self.dictionaries.clone()).with_expansion(self.expansion.max_expansion);
        if self.has_spans { follower.with_slices() } else { follower }
    }
}

/// The logs and directories that are followed.
struct Logs {
    growing: Vec<Box<dyn Growing>>,
    /// Directories, with the names in them and the sessions of segments that are followed.
    directories: Vec<(PathBuf, BTreeSet<PathBuf>, BTreeSet<[u8; 16]>)>,
    reading: Reading,
    /// It is one, and a pipe: to read is to wait.
    is_pipe: bool,
}

impl Logs {
    fn new(reading: Reading) -> Self {
        Self { growing: Vec::new(), directories: Vec::new(), reading, is_pipe: false }
    }

    /// Adds the log at a path.
    fn add(&mut self, path: &Path, system: &dyn System) -> Result<(), Failure> {
        if is_pipe(path, system) {
            self.is_pipe = true;
            let pipe = Pipe::open(path, self.reading.log(), system)?;
            self.growing.push(Box::new(pipe));
            return Ok(());
        }
        if system.is_directory(path) {
            self.directories.push((path.to_owned(), BTreeSet::new(), BTreeSet::new()));
            return Ok(());
        }
        if self.add_segments(path, system) {
            return Ok(());
        }
        let head = match system.read_from(path, 0, HEAD) {
            Ok(head) => head,
            Err(_) if !segments_of(path, system).is_empty() => {
                let set = GrowingSegments::of_set(path.to_owned(), self.reading.clone());
                self.growing.push(Box::new(set));
                return Ok(());
            }
            Err(error) => return Err(cant_read(path, &error)),
        };
        if Recording::matches(&head) {
            return self.add_recording(path, &head, system);
        }
        self.add_file(path, system)
    }

    /// Adds the segments from this one on; false if it is none.
    fn add_segments(&mut self, path: &Path, system: &dyn System) -> bool {
        let Some(segment) = Segment::of(path) else { return false };
        let session = session_of(path, system).filter(|it| *it != [0; 16]);
        let Some(session) = session else { return false };
        let set = GrowingSegments::of_session(segment, session, self.reading.clone());
        self.growing.push(Box::new(set));
        true
    }

    fn add_file(&mut self, path: &Path, system: &dyn System) -> Result<(), Failure> {
        let file = GrowingFile::new(path.to_owned(), self.reading.clone(), system);
        let mut file = file.map_err(|error| cant_read(path, &error))?;
        if self.growing.len() >= system.most_held() {
            file.close();
        }
        self.growing.push(Box::new(file));
        Ok(())
    }

    /// Adds a recording, or the trace of its session if that writes one.
    fn add_recording(
        &mut self,
        path: &Path,
        head: &[u8],
        system: &dyn System,
    ) -> Result<(), Failure> {
        let trace = Recording::parse(head).ok().filter(Recording::streams);
        match trace.and_then(|recording| recording.trace()) {
            Some(trace) if trace.path != Path::new("") => {
                let trace = trace.path;
                check_named(&trace, path, system)?;
                let shown = printable(&trace.to_string_lossy());
                system.print_error(&format!("note: this is `{shown}`, which its session writes\n"));
                if self.add_segments(&trace, system) {
                    return Ok(());
                }
                self.add_file(&trace, system)
            }
            _ => {
                let recording = GrowingRecording::new(path.to_owned(), self.reading.clone());
                self.growing.push(Box::new(recording));
                Ok(())
            }
        }
    }

    /// Adds the new files of directories. The segments of a session are one log.
    fn look_into_directories(&mut self, system: &dyn System) {
        for index in 0..self.directories.len() {
            let directory = self.directories[index].0.clone();
            for path in trace_paths::traces_now_in(&directory, system) {
                if self.directories[index].1.contains(&path) || is_of_trace(&path, system) {
                    continue;
                }
                let segment = Segment::of(&path);
                if segment.is_some() {
                    // Its name will be another one, without `.part`.
                    let Some(session) = session_of(&path, system) else { continue };
                    if session != [0; 16] && !self.directories[index].2.insert(session) {
                        continue;
                    }
                }
                self.directories[index].1.insert(path.clone());
                if let Err(failure) = self.add(&path, system) {
                    system.print_error(&failure.as_warning());
                }
            }
        }
    }

    /// Reads what was added to all; the exit code if nothing will be. A log that can't be read any
    /// more ends the others only if there are none.
    fn read(
        &mut self,
        show: &mut GrowingPages<'_, '_>,
        system: &dyn System,
    ) -> Result<Option<Exit>, Stopped> {
        let (mut ended, mut index) = (None, 0);
        let is_alone = self.growing.len() == 1 && self.directories.is_empty();
        while let Some(log) = self.growing.get_mut(index) {
            match log.read(show, system) {
                Ok(Outlook::Ended(exit)) => ended = Some(exit),
                Ok(Outlook::Open) => {}
                Err(Stopped::Failed(failure)) if !is_alone => {
                    system.print_error(&failure.as_warning());
                    self.growing.remove(index);
                    continue;
                }
                Err(stopped) => return Err(stopped),
            }
            index += 1;
        }
        Ok(ended)
    }
}

/// A failure if the trace that a recording names is not of the recording's owner. The writer of the
/// recording chose that name, and may put something else there at any moment: so it is opened as a
/// file found in a directory is.
fn check_named(trace: &Path, recording: &Path, system: &dyn System) -> Result<(), Failure> {
    let refused = |reason: &str| {
        let [trace, recording] = [trace, recording].map(|it| it.display());
        let text = format!("can't follow `{trace}`, which `{recording}` names: {reason}");
        Failure::new(text).help("name the trace itself, if it is one that you want to read")
    };
    match system.read_named(trace, recording, HEAD as u64) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(refused("it is no file of the same owner"))
        }
        Err(error) => Err(refused(&reason(&error))),
        Ok(head) if Recording::matches(&head) => Err(refused("it is a recording, too")),
        Ok(_) if !system.is_followed(trace) => Err(refused("it is a link of another user")),
        Ok(_) => Ok(()),
    }
}

/// Returns whether a file is the recording of a session that writes a trace, which is followed if
/// it is there.
fn is_of_trace(path: &Path, system: &dyn System) -> bool {
    let head = system.read_from(path, 0, HEAD).unwrap_or_default();
    Recording::matches(&head) && Recording::parse(&head).is_ok_and(|it| it.streams())
}

/// The part of a file that says of which kind it is, in bytes: the header of a recording.
const HEAD: usize = 1 << 16;

fn is_pipe(path: &Path, system: &dyn System) -> bool {
    path == Path::new("-") || system.is_pipe(path)
}

/// Prints the parts of all logs: the additions to one at a look are a page.
struct GrowingPages<'a, 'b> {
    filter: PageFilter<'a>,
    printer: Printer<'b>,
    system: &'b dyn System,
    texts: &'b mut TextSources<'a>,
    /// Dictionaries that were looked for in vain, with the number of parts until they are again.
    missing: BTreeMap<u64, u32>,
    holds_files: bool,
}

/// Parts after which a dictionary is looked for again.
const PARTS_BETWEEN_LOOKS: u32 = 50;

impl GrowingPages<'_, '_> {
    /// Reads a part of the log at `path`, and shows it. Returns the number of bytes that were
    /// taken.
    fn read(&mut self, log: &mut FollowedLog, bytes: &[u8], path: &Path) -> Result<usize, Stopped> {
        let Self { filter, printer, system, texts, missing, .. } = self;
        let mut shown = Ok(());
        let find = |hash| {
            let left = missing.entry(hash).or_default();
            if *left > 0 {
                *left -= 1;
                return None;
            }
            let found = texts.find(hash);
            *left = PARTS_BETWEEN_LOOKS;
            found
        };
        let FollowedLog { follower, is_left_out, .. } = log;
        let (mut unread, mut is_whole) = (None, true);
        let known = log.known;
        let show = |part: &Log| {
            unread = Some(FollowedLog::unread(part));
            is_whole = part.is_complete();
            filter.learn_from(part, *system);
            shown = match filter.on(part) {
                Some(filter) => {
                    system.print_error(&spans_without_begin(part));
                    printer.page(part, &filter)
                }
                None => {
                    if part.items().next().is_some() && !std::mem::replace(is_left_out, true) {
                        let shown = printable(&path.to_string_lossy());
                        system.print_error(&format!(
                            "warning: `{shown}` does not know the wall clock: what it logs is left out\nhelp: give `--since` and `--until` in seconds since boot\n"
                        ));
                    }
                    Ok(())
                }
            };
        };
        let taken = follower.read(bytes, find, show).map_err(|error| failure(path, &error))?;
        texts.finish()?;
        if let Some(unread) = unread {
            system.print_error(&FollowedLog::warning(unread, known, path));
            log.known = unread;
        }
        log.is_whole &= is_whole;
        shown.map(|()| taken)
    }

    /// Shows the items held back, and writes all.
    fn flush(&mut self) -> Result<(), Stopped> {
        self.system.print_error(&self.printer.left_out());
        self.printer.flush()
    }
}

fn failure(path: &Path, error: &ReadError) -> Failure {
    Failure::new(format!("can't follow `{}`: {error}", path.display())).help(error.help())
}
