//! Recordings that dead processes left in memory, or beside their traces: of each program the
//! newest ones stay for recovery, for a while.
//!
//! Each holds some megabytes until the machine is shut down, or for good, so the next session of
//! the program that records there removes those that are too many or too old. One that has messages
//! that a trace lacks is not counted, as long as there is room: where many processes of a program
//! died together, each completes its trace when it starts again. One that nobody needs, since its
//! session ended well but was not allowed to remove it, goes at once. A recording does not say when
//! its process died, nor does the file: stores to mapped memory don't change its time. So the first
//! session that finds it dead sets its time, and marks it by taking away the permission to write.
//!
//! Invariant: only regular files of this user are removed, that have the name of a recording of
//! this program and its magic, and that no process has marked as its own.

use crate::error::Error;
use crate::session::earlier::previous::completes_trace;
use crate::session::file::claim::Claim;
use crate::session::recording::form::{BufferForm, Buffers};
use crate::session::recording::recorder::{Recorder, RecordingPath, program};
use crate::sys::create::directory;
use crate::sys::file::{claim, is_nearly_full};
use crate::sys::file_lock::FileLock;
use crate::sys::process::user;
use protolog_core::recorder::{Header, MAGIC, NEEDLESS, SESSION_ID_AT, VERSION};
use protolog_files::{FileExt, Location, Status, set_mode};
use protolog_recording::memory;
use std::cmp::Reverse;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The permissions of a recording that was found dead before.
const MARKED: u32 = 0o400;

/// The recordings that stay.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct Keep {
    /// The most of them.
    pub(in crate::session) count: usize,
    /// The longest time since they were found dead.
    pub(in crate::session) age: Duration,
}

impl Default for Keep {
    fn default() -> Self {
        Self { count: 8, age: Duration::from_secs(7 * 24 * 3600) }
    }
}

/// A recording of a dead process.
#[derive(Debug)]
struct Leftover {
    place: Location,
    is_marked: bool,
    /// When it was found dead, or else last written by a system call.
    time: SystemTime,
}

/// Creates a recording. Before one in memory or beside a trace is created, those of dead processes
/// are removed there that `keep` does not cover, and all but one if there is no space left.
pub(in crate::session) fn create_recorder(
    place: &RecordingPath,
    form: BufferForm<'_>,
    keep: Keep,
) -> Result<(Arc<Recorder>, Buffers), Error> {
    let any = memory().join("any");
    let (beside, path) = match place {
        RecordingPath::Memory => (Location::of(&any).ok(), any.as_path()),
        RecordingPath::Beside(trace) => (trace.location().ok().cloned(), trace.path()),
        RecordingPath::At(_) => return Recorder::create(place, form),
    };
    let remove = |keep, has_room| {
        if let Some(beside) = &beside {
            remove(beside, &program(), keep, has_room);
        }
    };
    remove(keep, !is_nearly_full(directory(path)));
    match Recorder::create(place, form) {
        Err(Error::File { error, .. }) if error.kind() == io::ErrorKind::StorageFull => {
            remove(Keep { count: keep.count.min(1), ..keep }, false);
            Recorder::create(place, form)
        }
        created => created,
    }
}

/// Removes the recordings of dead processes of `program` beside `beside` that `keep` does not
/// cover; those that complete a trace do not count if there is room. That one stays is no reason
/// not to record.
fn remove(beside: &Location, program: &str, keep: Keep, has_room: bool) {
    let Ok(names) = beside.siblings() else { return };
    let names = names.iter().filter(|name| is_recording_of(program, name));
    let places = names.filter_map(|name| beside.sibling(name).ok());
    let mut all: Vec<_> =
        places.filter_map(|place| Leftover::find(place).map(|(_, it)| it)).collect();
    // The newest first. One without a mark died after all that have one were marked.
    all.sort_by_key(|leftover| (leftover.is_marked, Reverse(leftover.time)));
    let mut counted = 0;
    for leftover in all {
        // Another process may record there by now, or have removed it.
        let Some((file, leftover)) = Leftover::find(leftover.place) else { continue };
        let age = leftover.time.elapsed().unwrap_or_default();
        if is_needless(&file) {
            let _ = leftover.place.remove_if(&file);
            continue;
        }
        let counts = !(has_room && completes_trace(&file));
        counted += usize::from(counts);
        if counts && counted > keep.count || leftover.is_marked && age > keep.age {
            let _ = leftover.place.remove_if(&file);
        } else if !leftover.is_marked && file.set_modified(SystemTime::now()).is_ok() {
            let _ = set_mode(&file, MARKED);
        }
    }
}

impl Leftover {
    /// Returns the recording at `place`, with the file, which nobody else has until it is closed;
    /// none if it is not to be touched.
    fn find(place: Location) -> Option<(File, Self)> {
        if Claim::is_taken_at(&place, None) {
            return None;
        }
        let file = place.open_regular().ok()?;
        let found = Status::of(&file).ok()?;
        let mut magic = [0; MAGIC.len()];
        file.read_exact_at(&mut magic, 0).ok()?;
        if found.uid() != user() || magic != MAGIC {
            return None;
        }
        claim(&file).ok()?;
        // Java's programs have this lock only.
        drop(FileLock::shared(&file)?);
        let time = file.metadata().and_then(|found| found.modified()).ok()?;
        let is_marked = found.mode() & 0o777 == MARKED;
        Some((file, Self { place, is_marked, time }))
    }
}

/// Returns whether a session that ended well could not remove its recording. Those of other
/// versions may have something else there.
fn is_needless(file: &File) -> bool {
    let mut header = [0; SESSION_ID_AT + NEEDLESS.len()];
    let header = file.read_exact_at(&mut header, 0).ok().and_then(|()| Header::parse(&header).ok());
    header.is_some_and(|header| header.version == VERSION && header.session_id == NEEDLESS)
}

/// Returns whether this is the name of a recording of `program`.
fn is_recording_of(program: &str, name: &OsStr) -> bool {
    let numbers = || {
        let name = name.to_str()?.strip_prefix("protolog-")?;
        name.strip_prefix(program)?.strip_prefix('-')?.strip_suffix(".rec")?.split_once('-')
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers().is_some_and(|(pid, number)| is_number(pid) && is_number(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::file::file_place::FilePlace;
    use crate::session::filter::Filter;
    use protolog_core::recorder::{BuildId, ClockSource, GENERATION_AT, RING_AT, TRACE_FILE_AT};
    use protolog_core::schema;
    use protolog_recording::PacketWriter;
    use std::fs;
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
    use std::path::{Path, PathBuf};

    const DAY: Duration = Duration::from_secs(24 * 3600);

    fn remove_in(directory: &Path, program: &str, keep: Keep, has_room: bool) {
        let any = Location::of(&directory.join("any")).expect("a directory");
        remove(&any, program, keep, has_room);
    }

    /// Makes a recording that is `age` old.
    fn make(path: &Path, age: Duration, mode: u32) {
        fs::write(path, [&MAGIC[..], b"the rest"].concat()).expect("write");
        let file = File::options().write(true).open(path).expect("open");
        file.set_modified(SystemTime::now() - age).expect("set the time");
        file.set_permissions(Permissions::from_mode(mode)).expect("chmod");
    }

    /// Makes a recording of a dead process's session, and the trace that it completes, unless that
    /// is of another session.
    fn make_with_trace(directory: &Path, number: u8, is_same: bool) -> PathBuf {
        let id = [number; 16];
        let trace = directory.join(format!("app-{number}.pftrace"));
        let mut bytes = Vec::new();
        let trace_id = if is_same { id } else { [99; 16] };
        PacketWriter::new(&mut bytes)
            .write_with(1, |to| {
                let mut info = to.nested(schema::packet::SEQUENCE_INFO);
                info.bytes(schema::sequence_info::SESSION_ID, &trace_id);
            })
            .expect("memory");
        fs::write(&trace, bytes).expect("write");
        let header = Header {
            version: VERSION,
            pid: number.into(),
            page: 4096,
            pages: 16,
            clock: ClockSource::Kernel,
            ring_at: RING_AT as u64,
            metadata_at: 3 * RING_AT as u64,
            realtime: 1,
            monotonic: 1,
            boottime: 1,
            boot_id: [1; 16],
            build_id: BuildId::default(),
            positions_at: 2 * RING_AT as u64,
            session_id: id,
        };
        let mut bytes = header.to_bytes().to_vec();
        bytes[..MAGIC.len()].copy_from_slice(&MAGIC);
        bytes.resize(RING_AT, 0);
        bytes[GENERATION_AT..][..8].copy_from_slice(&2u64.to_ne_bytes());
        let name = trace.to_str().expect("a name").as_bytes();
        bytes[TRACE_FILE_AT..][..2].copy_from_slice(&(name.len() as u16).to_ne_bytes());
        bytes[TRACE_FILE_AT + 2..][..name.len()].copy_from_slice(name);
        let path = directory.join(format!("protolog-app-{number}-0.rec"));
        fs::write(&path, bytes).expect("write");
        path
    }

    #[test]
    fn those_that_traces_need_stay_while_there_is_room() {
        let dir = protolog_testkit::temp_dir();
        let needed: Vec<_> = (1..20).map(|it| make_with_trace(dir.path(), it, true)).collect();
        let others: Vec<_> = (20..30).map(|it| make_with_trace(dir.path(), it, false)).collect();
        let left = |paths: &[PathBuf]| paths.iter().filter(|path| path.exists()).count();
        // The processes start again, one after the other.
        for _ in 0..3 {
            remove_in(dir.path(), "app", Keep::default(), true);
            assert_eq!((left(&needed), left(&others)), (19, 8));
        }
        let old = File::options().read(true).open(&needed[0]).expect("open");
        old.set_modified(SystemTime::now() - 8 * DAY).expect("set the time");
        // Nobody needs a recording without its trace; it is found later than the others of this
        // kind were.
        fs::remove_file(dir.path().join("app-2.pftrace")).expect("remove");
        remove_in(dir.path(), "app", Keep::default(), true);
        assert!(!needed[0].exists() && left(&needed[2..]) == 17);
        assert_eq!(left(&needed[1..2]) + left(&others), 8);
        remove_in(dir.path(), "app", Keep::default(), false);
        assert_eq!(left(&needed) + left(&others), 8);
    }

    #[test]
    fn what_a_session_calls_needless_goes_at_once_but_not_what_another_version_left() {
        let dir = protolog_testkit::temp_dir();
        for (version, stays) in [(VERSION - 1, true), (VERSION + 1, true), (VERSION, false)] {
            let path = make_with_trace(dir.path(), 1, true);
            let file = File::options().write(true).open(&path).expect("open");
            file.write_all_at(&NEEDLESS, SESSION_ID_AT as u64).expect("write");
            file.write_all_at(&version.to_ne_bytes(), 8).expect("write");
            drop(file);
            remove_in(dir.path(), "app", Keep::default(), true);
            assert_eq!(path.exists(), stays, "{version}");
            let _ = fs::remove_file(path);
        }
    }

    #[test]
    fn those_beside_traces_do_not_pile_up() {
        let dir = protolog_testkit::temp_dir();
        let path = |number: u32| dir.path().join(format!("protolog-{}-{number}-0.rec", program()));
        (1..20).for_each(|number| make(&path(number), DAY, MARKED));
        let place =
            RecordingPath::Beside(FilePlace::of(&dir.path().join("app.pftrace")).expect("a place"));
        let filter = Filter::default();
        let form = BufferForm {
            bytes: 64 << 10,
            pinned_bytes: None,
            fill_policy: protolog_core::FillPolicy::Stream,
            session_id: [1; 16],
            filter: &filter,
        };
        let (recorder, _buffer) = create_recorder(&place, form, Keep::default()).expect("a file");
        assert_eq!(names(dir.path()).len(), 8 + 1);
        recorder.remove().expect("remove");
    }

    #[test]
    fn names_that_others_have_taken_keep_no_session_from_recording() {
        let dir = protolog_testkit::temp_dir();
        let (program, pid) = (program(), std::process::id());
        let numbered = |number: u64| format!("protolog-{program}-{pid}-{number}.rec");
        for number in 0..12_000 {
            symlink("nowhere", dir.path().join(numbered(number))).expect("a link");
        }
        let place =
            RecordingPath::Beside(FilePlace::of(&dir.path().join("app.pftrace")).expect("a place"));
        let filter = Filter::default();
        let form = BufferForm {
            bytes: 64 << 10,
            pinned_bytes: None,
            fill_policy: protolog_core::FillPolicy::Stream,
            session_id: [1; 16],
            filter: &filter,
        };
        let (recorder, _buffer) = create_recorder(&place, form, Keep::default()).expect("a file");
        assert!(
            is_recording_of(&program, recorder.path().file_name().expect("a name")),
            "{}",
            recorder.path().display()
        );
        recorder.remove().expect("remove");
        assert_eq!(names(dir.path()).len(), 12_000);
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).expect("list").map(|entry| entry.expect("an entry"));
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().into_string().expect("a name")).collect();
        names.sort();
        names
    }

    #[test]
    fn the_newest_ones_stay_and_their_time_begins_when_they_are_found() {
        let dir = protolog_testkit::temp_dir();
        let path = |number: u32| dir.path().join(format!("protolog-app-{number}-0.rec"));
        // Of processes that ran for long, so that the files are old.
        make(&path(1), 40 * DAY, 0o600);
        make(&path(2), 30 * DAY, 0o600);
        // Found before.
        make(&path(3), 6 * DAY, MARKED);
        make(&path(4), 8 * DAY, MARKED);
        make(&path(5), DAY, MARKED);
        remove_in(dir.path(), "app", Keep::default(), true);
        let left = |numbers: &[u32]| {
            numbers.iter().map(|number| format!("protolog-app-{number}-0.rec")).collect::<Vec<_>>()
        };
        assert_eq!(names(dir.path()), left(&[1, 2, 3, 5]));
        for number in [1, 2] {
            let metadata = fs::metadata(path(number)).expect("a file");
            assert_eq!(metadata.mode() & 0o777, MARKED);
            assert!(metadata.modified().expect("a time").elapsed().unwrap_or_default() < DAY);
        }
        remove_in(dir.path(), "app", Keep { count: 3, ..Keep::default() }, true);
        assert_eq!(names(dir.path()), left(&[1, 2, 5]));
        remove_in(dir.path(), "app", Keep { count: 0, ..Keep::default() }, true);
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn nothing_else_is_removed() {
        let dir = protolog_testkit::temp_dir();
        let path = |name: &str| dir.path().join(name);
        for name in [
            "protolog-app-12-0.rec.old",
            "protolog-app-12.rec",
            "protolog-app-12-.rec",
            "protolog-app-x-0.rec",
            "protolog-app-7-12-0.rec",
            "protolog-application-12-0.rec",
            "protolog-app-12-1.rec",
        ] {
            make(&path(name), 40 * DAY, MARKED);
        }
        let in_use = File::open(path("protolog-app-12-1.rec")).expect("open");
        claim(&in_use).expect("lock");
        fs::write(path("protolog-app-12-2.rec"), "no recording, but long enough").expect("write");
        fs::write(path("protolog-app-12-3.rec"), "short").expect("write");
        symlink(path("protolog-app-7-12-0.rec"), path("protolog-app-12-4.rec")).expect("link");
        fs::create_dir(path("protolog-app-12-5.rec")).expect("a directory");
        make(&path("protolog-app-12-6.rec"), 40 * DAY, 0o644);
        let others = user().wrapping_add(1);
        if chown(path("protolog-app-12-6.rec"), Some(others), None).is_err() {
            protolog_testkit::skip("recordings of another user", "only root can make them");
            fs::remove_file(path("protolog-app-12-6.rec")).expect("remove");
        }
        let before = names(dir.path());
        remove_in(dir.path(), "app", Keep { count: 0, age: Duration::ZERO }, true);
        assert_eq!(names(dir.path()), before);
        drop(in_use);
        remove_in(dir.path(), "app", Keep { count: 0, age: Duration::ZERO }, true);
        assert_eq!(names(dir.path()).len(), before.len() - 1);
    }
}
