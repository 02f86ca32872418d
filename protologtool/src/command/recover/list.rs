//! `recover --list` and `recover --prune`: the recordings that are there, and those that nobody
//! needs any more.
//!
//! Invariants: only regular files of this user are opened, never through a link, nor by way of one
//! of another user's that leads elsewhere (docs/design/outputs.md). A directory is opened once, and
//! files are removed in it, wherever its path leads by then. A file that a process records to is
//! never removed: it holds a lock on the file, and so does this command when it removes one. It
//! holds none while it reads: the program that starts again would wait for it.

use crate::args::values::age;
use crate::exit::{Exit, Failure};
use crate::output::{cant_read, reason};
use crate::system::{System, has_record_lock, os};
use protolog_files::{Access, Directory, FileExt, Identity, read_with_holes};
use protolog_reader::{Recording, Times, Trace, printable, printable_json};
use serde::Serialize;
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use unicode_width::UnicodeWidthStr;

/// The age from which on recordings are removed, unless another one is given.
const OLD: Duration = Duration::from_secs(24 * 3600);

/// The heading of these options.
const HEADING: &str = "Recordings that are there";

/// Arguments of the list.
#[derive(Debug, clap::Args)]
pub(super) struct Inventory {
    /// List recordings: those named, those in the directories named, or those in /dev/shm
    #[arg(long, help_heading = HEADING, conflicts_with_all = ["output", "prune"])]
    pub(super) list: bool,

    /// Remove recordings of dead processes, of the same ones
    #[arg(long, help_heading = HEADING, conflicts_with = "output")]
    pub(super) prune: bool,

    /// Remove only recordings in which nothing was recorded for this time: 90s, 30m, 12h, 1d
    /// [default: 1d]
    #[arg(long, help_heading = HEADING, value_name = "AGE", value_parser = age)]
    #[arg(requires = "prune", conflicts_with = "list")]
    older_than: Option<Duration>,

    /// Only say which recordings would be removed
    #[arg(long, help_heading = HEADING, requires = "prune", conflicts_with = "list")]
    dry_run: bool,

    /// Format of the list
    #[arg(long, help_heading = HEADING, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ListFormat {
    /// A table
    Text,
    /// One JSON object a line
    Json,
}

/// A recording that is there.
#[derive(Debug, Serialize)]
struct Listed {
    path: String,
    pid: u32,
    /// True if a process records to it.
    alive: bool,
    program: Option<String>,
    /// The start of the recording, in UTC.
    started: Option<String>,
    /// Seconds since something was recorded, as far as the file shows.
    idle_seconds: u64,
    /// Bytes that it takes.
    bytes: u64,
    messages: u64,
    /// The trace file that it completes, of a session that streams.
    trace: Option<String>,
    /// Set by `--prune`: true if it was removed, or would be.
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<bool>,
}

/// A name that may be that of a recording.
struct NamedEntry {
    directory: Arc<Directory>,
    name: OsString,
    path: PathBuf,
}

/// A recording with its open file.
struct OpenRecording<'a> {
    place: &'a NamedEntry,
    identity: Identity,
    file: File,
    listed: Listed,
}

impl Inventory {
    /// Returns whether listing or removal is asked for.
    pub(super) fn is_asked_for(&self) -> bool {
        self.list || self.prune
    }

    /// Lists or removes the recordings at `places`.
    pub(super) fn run(&self, places: &[PathBuf], system: &dyn System) -> Result<Exit, Failure> {
        let default = [os::recordings_in_memory()];
        let places = if places.is_empty() { &default } else { places };
        let user = os::user();
        let (mut rows, mut exit) = (Vec::new(), Exit::Done);
        for place in find(places)? {
            // Most files in a directory are none; one that vanishes meanwhile is none either.
            let Some(mut found) = OpenRecording::open(&place, user) else {
                continue;
            };
            if self.prune {
                match self.remove(&found) {
                    Ok(removed) => found.listed.removed = Some(removed),
                    Err(error) => {
                        let shown = printable(&place.path.to_string_lossy());
                        let reason = reason(&error);
                        system.print_error(&format!("error: can't remove `{shown}`: {reason}\n"));
                        exit = Exit::Failed;
                    }
                }
            }
            rows.push(found.listed);
        }
        if self.prune && self.format == ListFormat::Text {
            rows.retain(|row| row.removed == Some(true));
            for row in &rows {
                let what = if self.dry_run { "would remove" } else { "removed" };
                system.print(&format!("{what} {}\n", printable(&row.path)));
            }
        } else if self.format == ListFormat::Json {
            for row in &rows {
                let line = serde_json::to_string(row).unwrap_or_default();
                system.print(&format!("{}\n", printable_json(&line)));
            }
        } else {
            system.print(&table(&rows));
        }
        Ok(exit)
    }

    /// Removes a recording if it may be; false where it stays.
    fn remove(&self, found: &OpenRecording<'_>) -> io::Result<bool> {
        let oldest = self.older_than.unwrap_or(OLD);
        if found.listed.alive || found.listed.idle_seconds < oldest.as_secs() {
            return Ok(false);
        }
        // Without a writer before, there is none now; but another program may be completing its
        // trace.
        if found.file.try_lock().is_err() || has_record_lock(&found.file) {
            return Ok(false);
        }
        let NamedEntry { directory, name, .. } = found.place;
        // The name may be another file's by now, which a process may record to.
        if self.dry_run {
            return Ok(directory.look(name).is_ok_and(|now| now.identity() == found.identity));
        }
        directory.remove(name, found.identity)
    }
}

impl<'a> OpenRecording<'a> {
    /// Opens and reads a recording of `user`; none if there is none.
    fn open(place: &'a NamedEntry, user: u32) -> Option<Self> {
        let NamedEntry { directory, name, path } = place;
        // Before it is opened: to open a device may have effects.
        let entry = directory.look(name).ok()?;
        if !entry.is_regular() || entry.owner() != user {
            return None;
        }
        let file = directory.open_entry(name, &entry, Access::Read).ok()?;
        let metadata = file.metadata().ok()?;
        let mut magic = [0; 8];
        // A file that is not complete yet has no magic, and its process is about to lock it.
        file.read_exact_at(&mut magic, 0).ok().filter(|()| Recording::matches(&magic))?;
        let alive = match file.try_lock_shared() {
            Ok(()) => file.unlock().is_err() || has_record_lock(&file),
            // Where there are no locks, nothing is known of the process.
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
        };
        let bytes = read_with_holes(&file, 0, Recording::MAX_BYTES).ok()?;
        let recording = Recording::parse(&bytes).ok()?;
        let mut trace = Vec::new();
        let report = recording.write(&mut trace).ok()?;
        let log = Trace::from_bytes(trace).read().ok();
        let header = recording.header();
        let last = log.as_ref().and_then(|log| log.entries().next_back()?.wall_time());
        let last = last.map_or(header.realtime, |last| header.realtime.max(last.max(0) as u64));
        let last = metadata.modified().ok()?.max(UNIX_EPOCH + Duration::from_nanos(last));
        let program = log.as_ref().and_then(|log| log.name_of_pid(header.pid));
        let listed = Listed {
            path: path.to_string_lossy().into_owned(),
            pid: header.pid,
            alive,
            program: program.map(str::to_owned),
            started: i64::try_from(header.realtime).ok().and_then(Times::utc_date),
            idle_seconds: SystemTime::now().duration_since(last).unwrap_or_default().as_secs(),
            bytes: os::bytes_on_disk(&metadata),
            messages: report.messages,
            trace: recording.trace().map(|trace| trace.path.to_string_lossy().into_owned()),
            removed: None,
        };
        Some(Self { place, identity: entry.identity(), file, listed })
    }
}

/// The files at these places, in the order of their names.
fn find(places: &[PathBuf]) -> Result<Vec<NamedEntry>, Failure> {
    let mut found = Vec::new();
    for place in places {
        let failed = |error| cant_read(place, &error);
        let directory = match Directory::trusted_holding(place) {
            Ok((directory, name)) => match directory.open_inner(&name) {
                Ok(inner) => inner,
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                    let directory = Arc::new(directory);
                    found.push(NamedEntry { directory, name, path: place.clone() });
                    continue;
                }
                Err(error) => return Err(failed(error)),
            },
            // A path that can be none but a directory's, such as `.`.
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                Directory::open_trusted(place).map_err(failed)?
            }
            Err(error) => return Err(failed(error)),
        };
        let directory = Arc::new(directory);
        let names = directory.names().map_err(failed)?;
        let file = |name: OsString| {
            let path = place.join(&name);
            NamedEntry { directory: Arc::clone(&directory), name, path }
        };
        found.extend(names.into_iter().map(file));
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found.dedup_by(|one, other| one.path == other.path);
    Ok(found)
}

/// The recordings, for people.
fn table(rows: &[Listed]) -> String {
    let mut cells = vec![
        ["PID", "STATE", "STARTED", "SIZE", "MESSAGES", "PROGRAM", "PATH", "COMPLETES"]
            .map(str::to_owned),
    ];
    cells.extend(rows.iter().map(|row| {
        let program = row.program.as_deref().unwrap_or("?");
        [
            row.pid.to_string(),
            if row.alive { "alive" } else { "dead" }.to_owned(),
            row.started.clone().unwrap_or_else(|| "?".to_owned()),
            format!("{} KiB", row.bytes.div_ceil(1024)),
            row.messages.to_string(),
            printable(program.rsplit('/').next().unwrap_or(program)),
            printable(&row.path),
            row.trace.as_deref().map(printable).unwrap_or_default(),
        ]
    }));
    let width = |column: usize| cells.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths: [usize; 8] = std::array::from_fn(width);
    let mut table = String::new();
    for row in &cells {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            line.extend([cell, &*" ".repeat(width.saturating_sub(cell.width()) + 2)]);
        }
        table += line.trim_end();
        table.push('\n');
    }
    if rows.is_empty() { "no recordings\n".to_owned() } else { table }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protolog_core::recorder::{BuildId, ClockSource, Header, MAGIC, RING_AT, VERSION};
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    /// A recording without messages.
    fn recording() -> Vec<u8> {
        let header = Header {
            version: VERSION,
            pid: 1,
            page: 4096,
            pages: 1,
            clock: ClockSource::Kernel,
            ring_at: RING_AT as u64,
            metadata_at: 2 * RING_AT as u64,
            realtime: 1,
            monotonic: 1,
            boottime: 1,
            boot_id: [1; 16],
            build_id: BuildId::default(),
            positions_at: 0,
            session_id: [0; 16],
        };
        let mut bytes = header.to_bytes().to_vec();
        bytes[..MAGIC.len()].copy_from_slice(&MAGIC);
        bytes.resize(2 * RING_AT, 0);
        bytes
    }

    #[test]
    fn a_recording_that_was_read_is_not_locked() {
        let dir = protolog_testkit::temp_dir();
        fs::create_dir(dir.path().join("run")).unwrap();
        let path = dir.path().join("run/app.rec");
        fs::write(&path, recording()).unwrap();
        let user = fs::metadata(&path).unwrap().uid();
        let [place] = find(std::slice::from_ref(&path)).unwrap().try_into().ok().unwrap();
        let found = OpenRecording::open(&place, user).expect("a recording");
        let other = File::open(&path).unwrap();
        other.try_lock().expect("its program starts again");
        assert!(!found.listed.alive);
        let all = Inventory {
            list: false,
            prune: true,
            older_than: Some(Duration::ZERO),
            dry_run: false,
            format: ListFormat::Text,
        };
        assert!(!all.remove(&found).unwrap() && path.exists(), "it is about to be used");
        drop(other);
        // Its name may lead to another directory by then, which has the same file.
        let [moved, elsewhere] = ["moved", "elsewhere"].map(|name| dir.path().join(name));
        fs::create_dir(&elsewhere).unwrap();
        fs::hard_link(&path, elsewhere.join("app.rec")).unwrap();
        fs::rename(path.parent().unwrap(), &moved).unwrap();
        symlink(&elsewhere, path.parent().unwrap()).unwrap();
        assert!(all.remove(&found).unwrap());
        assert!(!moved.join("app.rec").exists() && elsewhere.join("app.rec").exists());
    }
}
