//! The traces that a command line names, each as a log by itself.
//!
//! A directory stands for the traces in it. The trace of a process that died is completed by its
//! recording, and a recording without a trace is one. What is compressed as a whole is inflated in
//! memory.
//!
//! Invariants: nothing is written where traces are; files that were found in a directory are opened
//! without following links of other users; memory is that of a page, but for traces that are
//! compressed as a whole, damaged or of several clocks.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use protolog_core::hash;
use protolog_files::{Directory, Location, open_regular_file};
use protolog_reader::{
    ByteSource, Decompressed, FileBytes, Limits, PageOptions, Pages, Recording, SourceReader,
    Trace, complete, decompress, find_recording, is_winscope_log, session_id,
    trace_of_winscope_log,
};
use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;
use viewer_config::{Collector, Dictionary, Format};

use crate::failure::{Failure, Result};

/// Ends of names of traces.
const ENDINGS: [&str; 6] =
    [".pftrace", ".perfetto-trace", ".pftrace.gz", ".pftrace.zst", ".pftrace.part", ".rec"];

/// The part of a trace that has the id of its session, in bytes.
const HEAD: usize = 1 << 20;

/// The part of a trace that tells it from others, in bytes: its session's id, its time and its
/// clocks.
pub(crate) const IDENTITY: usize = 1 << 10;

/// A log, with what tells its trace from others.
pub(crate) struct TraceLog {
    /// The path as it was given.
    pub(crate) name: String,
    /// The same for a trace that has grown, that was compressed or renamed; 16 hexadecimal digits.
    pub(crate) source: String,
    /// The bytes of the trace, when it is not compressed.
    pub(crate) size: u64,
    /// A hash of them.
    pub(crate) content: u64,
    pub(crate) pages: Pages,
}

/// The files that were named, with those of a directory in its place. A file that was found has its
/// directory with it.
pub(crate) fn expand(paths: &[PathBuf]) -> Result<Vec<TracePath>> {
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push(TracePath { path: path.clone(), is_found: false });
            continue;
        }
        let found = found(path)?;
        if found.is_empty() {
            let (shown, endings) = (path.display(), ENDINGS.join(", "));
            let message = format!("no trace in `{shown}`: no file that ends with {endings}");
            return Err(Failure::new(message).help("give the file that a session writes"));
        }
        all.extend(found);
    }
    Ok(all)
}

/// Like [`expand`] of one path, of which there may be nothing yet.
pub(crate) fn expand_now(path: &Path) -> Result<Vec<TracePath>> {
    if path.is_dir() {
        return found(path);
    }
    Ok(vec![TracePath { path: path.to_owned(), is_found: false }])
}

/// The traces in a directory.
fn found(path: &Path) -> Result<Vec<TracePath>> {
    let names = Directory::open(path).and_then(|directory| directory.names());
    let mut names = names.map_err(|error| Failure::cant_read(path, &error))?;
    let is_trace =
        |name: &OsStr| ENDINGS.iter().any(|end| name.as_encoded_bytes().ends_with(end.as_bytes()));
    names.retain(|name| is_trace(name));
    names.sort();
    Ok(names.iter().map(|name| TracePath { path: path.join(name), is_found: true }).collect())
}

/// The path of a trace.
#[derive(Clone, Debug)]
pub(crate) struct TracePath {
    pub(crate) path: PathBuf,
    /// It was found in a directory.
    pub(crate) is_found: bool,
}

impl TracePath {
    /// The file's metadata.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        if !self.is_found {
            return fs::metadata(&self.path);
        }
        self.by_either_name(|path| fs::symlink_metadata(path))
    }

    /// Opens the file, if it is a regular one. A segment that was found may have got its last name
    /// since.
    pub(crate) fn open(&self) -> io::Result<File> {
        if !self.is_found {
            return open_regular_file(&self.path);
        }
        self.by_either_name(|path| {
            let (directory, name) = Directory::trusted_holding_target(path)?;
            directory.open_regular(name)
        })
    }

    /// The outcome for a file that was found, by the last name of a segment if it has that by now.
    fn by_either_name<T>(&self, of: impl Fn(&Path) -> io::Result<T>) -> io::Result<T> {
        match of(&self.path) {
            Err(error) if is_gone(&error) && self.path.extension() == Some(OsStr::new("part")) => {
                of(&self.path.with_extension(""))
            }
            outcome => outcome,
        }
    }

    /// Returns whether the file is the recording of a trace that is there.
    pub(crate) fn is_of_trace(&self) -> bool {
        self.open().and_then(|file| head(&file)).is_ok_and(|head| is_of_trace(&head))
    }

    /// Returns whether the file is not there any more, as a segment that its program has removed
    /// after it was found.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_found && self.open().is_err_and(|error| is_gone(&error))
    }
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// Reads dictionaries for traces that name theirs only.
pub(crate) fn dictionaries(paths: &[PathBuf]) -> Result<Vec<Dictionary>> {
    let read = |path: &PathBuf| {
        let mut bytes = Vec::new();
        let file = open_regular_file(path);
        let read = file.and_then(|file| file.take(MOST_DICTIONARY).read_to_end(&mut bytes));
        read.map_err(|error| Failure::cant_read(path, &error))?;
        let mut collector = Collector::new();
        collector.read_as(Format::of_content(&bytes), &bytes).map_err(|error| {
            Failure::cant_read(path, &error).help("give a file that `generate-viewer-config` wrote")
        })?;
        Ok(collector.finish_anyway().dictionary)
    };
    paths.iter().map(read).collect()
}

/// The most bytes of a dictionary.
const MOST_DICTIONARY: u64 = 256 << 20;

impl TraceLog {
    /// Reads as much of a trace as is needed before its first page.
    pub(crate) fn open(trace: &TracePath, dictionaries: &[Dictionary]) -> Result<Self> {
        let path = &trace.path;
        let file = trace.open().and_then(FileBytes::new);
        let file: Box<dyn ByteSource> =
            Box::new(file.map_err(|error| Failure::cant_read(path, &error))?);
        let bytes = made_whole(path, &*file).map_err(|error| Failure::cant_read(path, &error))?;
        let (source, compressed) = match bytes {
            Some(bytes) => (Box::new(bytes) as Box<dyn ByteSource>, None),
            None => inflated(file).map_err(|error| Failure::cant_read(path, &error))?,
        };
        let name = identity(&*source).map_err(|error| Failure::cant_read(path, &error))?;
        let size = source.size();
        let content = content(&*source).map_err(|error| Failure::cant_read(path, &error))?;
        let log = log_of(source, compressed, dictionaries);
        let pages = log.map_err(|(error, help)| {
            let failure = Failure::cant_read(path, &error);
            help.map_or(Failure::cant_read(path, &error), |help| failure.help(help))
        })?;
        Ok(Self { name: path.display().to_string(), source: name, size, content, pages })
    }

    /// Goes on to the next page; false if there is none.
    pub(crate) fn next_page(&mut self) -> Result<bool> {
        self.pages.next_page().map_err(|error| Failure::cant_read(Path::new(&self.name), &error))
    }
}

/// The trace that a recording makes, or completes; none where the file is a trace as it stands.
fn made_whole(path: &Path, file: &dyn ByteSource) -> io::Result<Option<Vec<u8>>> {
    let head = file.read_at(0, HEAD)?;
    let whole = || file.read_at(0, usize::try_from(file.size()).unwrap_or(usize::MAX));
    if Recording::matches(&head) {
        let bytes = whole()?;
        let recording = Recording::parse(&bytes).map_err(io::Error::other)?;
        let mut trace = Vec::new();
        recording.write(&mut trace)?;
        return Ok(Some(trace));
    }
    if is_winscope_log(&head) {
        return Ok(Some(trace_of_winscope_log(&whole()?)));
    }
    Ok(match completed(path, session_id(&head), file)? {
        Completion::Complete(trace) => Some(trace),
        Completion::Running | Completion::Unknown => None,
    })
}

/// The state of a trace, by its recording.
pub(crate) enum Completion {
    /// The process runs, and writes the trace itself.
    Running,
    /// The process died: this is the trace with what did not reach it.
    Complete(Vec<u8>),
    /// There is no recording, or it has nothing more.
    Unknown,
}

/// Completes the trace of a session by its recording, if its process died.
pub(crate) fn completed(
    path: &Path,
    session: [u8; 16],
    file: &dyn ByteSource,
) -> io::Result<Completion> {
    let open = |path: &Path| Location::of(path).and_then(|place| place.open_regular()).ok();
    let recording = find_recording(path, session, open);
    let Some(mut found) = recording.and_then(|recording| open(&recording)) else {
        return Ok(Completion::Unknown);
    };
    if is_in_use(&found) {
        return Ok(Completion::Running);
    }
    let mut recorded = Vec::new();
    found.by_ref().take(Recording::MAX_BYTES).read_to_end(&mut recorded)?;
    let Ok(parsed) = Recording::parse(&recorded) else { return Ok(Completion::Unknown) };
    if parsed.trace().is_none_or(|of| !of.is_at(path)) {
        return Ok(Completion::Unknown);
    }
    let mut trace = file.read_at(0, usize::try_from(file.size()).unwrap_or(usize::MAX))?;
    let is_complete = complete(&mut trace, &parsed).transpose()?.is_some();
    Ok(if is_complete { Completion::Complete(trace) } else { Completion::Unknown })
}

/// The beginning of a file.
pub(crate) fn head(file: &File) -> io::Result<Vec<u8>> {
    let mut head = vec![0; RECORDING_HEAD];
    let mut read = 0;
    while read < head.len() {
        match file.read_at(&mut head[read..], read as u64)? {
            0 => break,
            more => read += more,
        }
    }
    head.truncate(read);
    Ok(head)
}

/// The part of a recording that says of which kind it is, in bytes.
const RECORDING_HEAD: usize = 64 << 10;

/// Returns whether a file with this head is the recording of a trace that is there: that has its
/// messages, or is completed by them.
pub(crate) fn is_of_trace(head: &[u8]) -> bool {
    let recording = Recording::parse(head).ok().filter(Recording::streams);
    let trace = recording.and_then(|recording| recording.trace());
    trace.is_some_and(|trace| {
        // A segment has another name when it is complete.
        trace.path.is_file() || trace.path.with_extension("").is_file()
    })
}

/// Returns whether a process uses a recording.
pub(crate) fn is_recorded_now(recording: &File) -> bool {
    is_in_use(recording)
}

/// Says that a part of a trace is missing.
pub(crate) fn damaged(path: &Path) -> Failure {
    let name = path.display();
    Failure::new(format!("`{name}` is damaged: a part of it could not be read"))
        .help(format!("run `protologtool read-log {name}` to see what is missing"))
}

/// Returns whether a process uses a recording, and completes its trace itself. Java programs hold
/// record locks, which the locks of the standard library do not see.
fn is_in_use(recording: &File) -> bool {
    matches!(recording.try_lock_shared(), Err(TryLockError::WouldBlock))
        || has_record_lock(recording)
}

/// Returns whether another process has a record lock on a file that can be read.
fn has_record_lock(file: &File) -> bool {
    let locked = fcntl_lock(file, FlockOperation::NonBlockingLockShared);
    if locked.is_ok() {
        let _ = fcntl_lock(file, FlockOperation::NonBlockingUnlock);
    }
    matches!(locked, Err(Errno::AGAIN | Errno::ACCESS))
}

/// The bytes of a trace, inflated if it is compressed as a whole.
fn inflated(file: Box<dyn ByteSource>) -> io::Result<(Box<dyn ByteSource>, Option<Decompressed>)> {
    let size = file.size();
    let mut bytes = Vec::new();
    let is_cut = {
        let Some(mut content) = decompress(SourceReader::new(&*file))? else {
            return Ok((file, None));
        };
        let limit = Limits::of_expansion(size, Limits::EXPANSION).inflated_bytes;
        if content.by_ref().take(limit).read_to_end(&mut bytes).is_err() {
            // It is damaged, and read whole as far as it goes.
            drop(content);
            return Ok((file, None));
        }
        content.read(&mut [0])? > 0
    };
    Ok((Box::new(bytes), Some(Decompressed { size, is_cut })))
}

/// The name that tells a trace from others. One of a session that was given an id goes by its
/// beginning, so that it is the same when it has grown.
pub(crate) fn identity(source: &dyn ByteSource) -> io::Result<String> {
    let head = source.read_at(0, HEAD)?;
    if session_id(&head) != [0; 16] {
        return Ok(format!("{:016x}", hash(&head[..head.len().min(IDENTITY)])));
    }
    Ok(format!("{:016x}", content(source)?))
}

/// A hash of all of a trace.
fn content(source: &dyn ByteSource) -> io::Result<u64> {
    let (mut at, mut sum) = (0, 0_u64);
    while at < source.size() {
        let part = source.read_at(at, HEAD)?;
        if part.is_empty() {
            break;
        }
        at += part.len() as u64;
        sum = hash(&[&sum.to_le_bytes()[..], &hash(&part).to_le_bytes()].concat());
    }
    Ok(sum)
}

/// The log of a trace, in pages where that can be.
fn log_of(
    source: Box<dyn ByteSource>,
    compressed: Option<Decompressed>,
    dictionaries: &[Dictionary],
) -> std::result::Result<Pages, (String, Option<&'static str>)> {
    let source: std::sync::Arc<dyn ByteSource> = source.into();
    let options = PageOptions { has_slices: true, compressed, ..PageOptions::default() };
    let pages = Pages::survey_with(source.clone(), dictionaries, |_| None, &options);
    if let Some(pages) = pages.map_err(|error| (error.to_string(), None))? {
        return Ok(pages);
    }
    let bytes = source.read_at(0, usize::try_from(source.size()).unwrap_or(usize::MAX));
    let bytes = bytes.map_err(|error| (error.to_string(), None))?;
    let mut trace = Trace::from_bytes(bytes).with_slices();
    for dictionary in dictionaries {
        trace = trace.with_dictionary(dictionary.clone());
    }
    let log = trace.read().map_err(|error| (error.to_string(), Some(error.help())))?;
    Ok(Pages::of(log))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_recording_with_a_lock_as_java_has_it_is_in_use() {
        let recording = tempfile::NamedTempFile::new().unwrap();
        let file = File::open(recording.path()).unwrap();
        assert!(!is_in_use(&file));
        // Locks the file until its input ends.
        let program = "import fcntl, sys; file = open(sys.argv[1], 'r+b'); \
                       fcntl.lockf(file, fcntl.LOCK_EX); print(flush=True); sys.stdin.read()";
        let mut python = Command::new("python3");
        python.args(["-c", program]).arg(recording.path());
        let mut other =
            python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python");
        other.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        assert!(is_in_use(&file));
        drop(other.stdin.take());
        other.wait().unwrap();
        assert!(!is_in_use(&file));
    }
}
