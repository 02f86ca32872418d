//! `read-log --follow`: what is there, then what is added, until nobody reads it any more.
//!
//! A session writes its file at least once a second while there is something to write, and a recording at once. What several logs have is
//! shown as it comes: in the order of time within what one of them had at one look.

mod file;
mod pipe;
mod recording;
mod segments;

use super::show::Show;
use super::{ReadLogArgs, TextSources, spans_without_begin};
use crate::args::Expansion;
use crate::command::inputs::cant_read;
use crate::exit::{Exit, Failure};
use crate::output::{once, reason};
use crate::system::System;
use file::GrowingFile;
use pipe::Pipe;
use protolog_reader::{Follower, Log, ReadError, Recording, printable};
use recording::GrowingRecording;
use segments::{GrowingSegments, Segment, segments_of};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use viewer_config::Dictionary;

/// The time between two looks at the files.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// A log that grows.
trait Growing {
    /// Reads what was added, and shows it part by part.
    fn read(&mut self, show: &mut Shower<'_>, system: &dyn System) -> Result<Outlook, Stopped>;
}

/// The outlook of a log after a look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outlook {
    /// There may be more at the next look.
    Open,
    /// Nothing will be added: the pipe's other end was closed.
    Ended(Exit),
}

/// The reason why following ends.
enum Stopped {
    NobodyReads,
    Failed(Failure),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Follows the logs of `args`.
pub(super) fn run(args: &ReadLogArgs, system: &dyn System) -> Result<Exit, Failure> {
    match follow(args, system) {
        Ok(exit) => Ok(exit),
        Err(Stopped::NobodyReads) => Ok(Exit::Done),
        Err(Stopped::Failed(failure)) => Err(failure),
    }
}

fn follow(args: &ReadLogArgs, system: &dyn System) -> Result<Exit, Stopped> {
    once(&args.traces, "trace", system)?;
    let dictionaries = TextSources::load(&args.viewer_config, system)?.into_dictionaries();
    let pipes = args.traces.iter().filter(|path| is_pipe(path, system));
    if let (Some(pipe), true) = (pipes.last(), args.traces.len() > 1) {
        let failure = Failure::new(format!("can't follow `{}` beside others", pipe.display()));
        return Err(failure.help("follow a pipe alone, and files by another run").into());
    }
    let mut show = Shower { args, lines: Show::new(&args.form, args.selection, system), system };
    let mut logs =
        Logs::new(Reading { dictionaries, has_spans: args.spans, expansion: args.expansion });
    for path in &args.traces {
        logs.add(path, system)?;
    }
    loop {
        logs.look_into_directories(system)?;
        let ended = logs.read(&mut show, system)?;
        show.flush()?;
        if let Some(exit) = ended {
            return Ok(exit);
        }
        if !logs.is_pipe {
            thread::sleep(POLL_INTERVAL);
        }
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
    /// A reader of a log from its beginning.
    fn follower(&self) -> Follower {
        let follower =
            Follower::new(self.dictionaries.clone()).with_expansion(self.expansion.max_expansion);
        if self.has_spans { follower.with_slices() } else { follower }
    }
}

/// The logs that are followed.
struct Logs {
    growing: Vec<Box<dyn Growing>>,
    /// Directories, with the names in them that are followed.
    directories: Vec<(PathBuf, BTreeSet<PathBuf>)>,
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
            let pipe = Pipe::open(path, self.reading.follower(), system)?;
            self.growing.push(Box::new(pipe));
            return Ok(());
        }
        if system.is_directory(path) {
            self.directories.push((path.to_owned(), BTreeSet::new()));
            return Ok(());
        }
        let reading = self.reading.clone();
        if let Some(segment) = Segment::of(path) {
            let set = GrowingSegments::new(segment.set, segment.number, reading);
            self.growing.push(Box::new(set));
            return Ok(());
        }
        let head = match system.read_from(path, 0, HEAD) {
            Ok(head) => head,
            Err(_) if !segments_of(path, system).is_empty() => {
                let set = GrowingSegments::new(path.to_owned(), 0, reading);
                self.growing.push(Box::new(set));
                return Ok(());
            }
            Err(error) => return Err(cant_read(path, &error)),
        };
        if Recording::matches(&head) {
            return self.add_recording(path, &head, system);
        }
        let file = GrowingFile::new(path.to_owned(), reading, system);
        self.growing.push(Box::new(file.map_err(|error| cant_read(path, &error))?));
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
                let shown = printable(&trace.path.to_string_lossy());
                system.print_error(&format!("note: this is `{shown}`, which its session writes\n"));
                self.add(&trace.path, system)
            }
            _ => {
                let recording = GrowingRecording::new(path.to_owned(), self.reading.clone());
                self.growing.push(Box::new(recording));
                Ok(())
            }
        }
    }

    /// Adds what is new in directories. A set of segments is one log.
    fn look_into_directories(&mut self, system: &dyn System) -> Result<(), Failure> {
        for index in 0..self.directories.len() {
            let directory = self.directories[index].0.clone();
            for path in super::gather::traces_in(&directory, system).unwrap_or_default() {
                if is_of_trace(&path, system) {
                    continue;
                }
                let (name, number) = match Segment::of(&path) {
                    Some(segment) => (segment.set, Some(segment.number)),
                    None => (path.clone(), None),
                };
                if self.directories[index].1.insert(name.clone()) {
                    match number {
                        // Numbers give the order.
                        Some(number) => self.growing.push(Box::new(GrowingSegments::new(
                            name,
                            number,
                            self.reading.clone(),
                        ))),
                        None => self.add(&path, system)?,
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads what was added to all; the exit code if nothing will be.
    fn read(
        &mut self,
        show: &mut Shower<'_>,
        system: &dyn System,
    ) -> Result<Option<Exit>, Stopped> {
        let mut ended = None;
        for log in &mut self.growing {
            if let Outlook::Ended(exit) = log.read(show, system)? {
                ended = Some(exit);
            }
        }
        Ok(ended)
    }
}

/// Returns whether a file is the recording of a session that writes a trace, which is followed if it is there.
fn is_of_trace(path: &Path, system: &dyn System) -> bool {
    let head = system.read_from(path, 0, HEAD).unwrap_or_default();
    Recording::matches(&head) && Recording::parse(&head).is_ok_and(|it| it.streams())
}

/// The part of a file that says of which kind it is, in bytes: the header of a recording.
const HEAD: usize = 1 << 16;

fn is_pipe(path: &Path, system: &dyn System) -> bool {
    path == Path::new("-") || system.is_pipe(path)
}

/// Shows the parts of all logs.
struct Shower<'a> {
    args: &'a ReadLogArgs,
    lines: Show<'a>,
    system: &'a dyn System,
}

impl Shower<'_> {
    /// Reads a part of the log at `path`, and shows it. Returns the number of bytes that were taken.
    fn read(
        &mut self,
        follower: &mut Follower,
        bytes: &[u8],
        path: &Path,
    ) -> Result<usize, Stopped> {
        let mut shown = Ok(());
        let show = |log: &Log| shown = self.show(log);
        let taken = follower.read(bytes, show).map_err(|error| failure(path, &error))?;
        shown.map(|()| taken)
    }

    fn show(&mut self, log: &Log) -> Result<(), Stopped> {
        let times = self.args.form.times();
        let filter = self.args.filters.resolve(log, &times, self.system.now())?;
        self.system.print_error(&spans_without_begin(log));
        self.lines.page(log, &filter).map_err(|error| cant_write(&error))
    }

    /// Shows what was held back, and writes all.
    fn flush(&mut self) -> Result<(), Stopped> {
        self.lines.flush().map_err(|error| cant_write(&error))
    }
}

fn cant_write(error: &io::Error) -> Stopped {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Stopped::NobodyReads;
    }
    Failure::new(format!("can't write the log: {}", reason(error))).into()
}

fn failure(path: &Path, error: &ReadError) -> Failure {
    Failure::new(format!("can't follow `{}`: {error}", path.display())).help(error.help())
}
