//! `read-log --follow`: what is there, then what is added, until nobody reads it any more.
//!
//! A session writes its file at least once a second while there is something to write. The file may be replaced, or emptied, when the
//! program starts again: then the new one is followed from its beginning.

use super::show::Show;
use super::{ReadLogArgs, TextSources};
use crate::command::inputs::cant_read;
use crate::exit::{Exit, Failure};
use crate::output::reason;
use crate::system::System;
use protolog_reader::{Follower, Log, ReadError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// The time between two looks at the file.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Follows the trace of `args`.
pub(super) fn run(args: &ReadLogArgs, system: &dyn System) -> Result<Exit, Failure> {
    let [path] = &args.traces[..] else {
        let failure = Failure::new("can't follow several traces");
        return Err(failure.help("give one, or merge them first"));
    };
    let path = &**path;
    if path == Path::new("-") || system.is_pipe(path) {
        let failure = Failure::new(format!("can't follow `{}`: no regular file", path.display()));
        return Err(failure.help("follow the file that a session writes"));
    }
    let dictionaries = TextSources::load(&args.viewer_config, system)?.into_dictionaries();
    let mut known = system.identity(path).map_err(|error| cant_read(path, &error))?;
    let (mut follower, mut taken) = (Follower::new(dictionaries.clone()), 0);
    let mut shower = Show::new(&args.form, args.selection, system);
    loop {
        let bytes = system.read_from(path, taken).map_err(|error| cant_read(path, &error))?;
        let mut shown = Ok(());
        let show = |log: &Log| shown = show(args, log, &mut shower, system);
        let part = follower.read(&bytes, show).map_err(|error| failure(path, &error))?;
        match shown {
            Err(Stopped::NobodyReads) => return Ok(Exit::Done),
            Err(Stopped::Failed(failure)) => return Err(failure),
            Ok(()) => {}
        }
        taken += part as u64;
        loop {
            thread::sleep(POLL_INTERVAL);
            // A program that starts again removes the file before it makes the new one.
            let Ok(now) = system.identity(path) else { continue };
            if now.0 != known.0 || now.1 < taken {
                system.print_error("note: the file was replaced; this is the new one\n");
                (follower, taken) = (Follower::new(dictionaries.clone()), 0);
            }
            let has_changed = now != known;
            known = now;
            if has_changed {
                break;
            }
        }
    }
}

/// The reason why following ends.
enum Stopped {
    NobodyReads,
    Failed(Failure),
}

fn show(
    args: &ReadLogArgs,
    log: &Log,
    shower: &mut Show<'_>,
    system: &dyn System,
) -> Result<(), Stopped> {
    let times = args.form.times();
    let filter = args.filters.resolve(log, &times, system.now()).map_err(Stopped::Failed)?;
    match shower.page(log, &filter).and_then(|()| shower.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Stopped::NobodyReads),
        Err(error) => {
            let text = format!("can't write the log: {}", reason(&error));
            Err(Stopped::Failed(Failure::new(text)))
        }
    }
}

fn failure(path: &Path, error: &ReadError) -> Failure {
    Failure::new(format!("can't follow `{}`: {error}", path.display())).help(error.help())
}
