//! Writing the results of a run: sources into an archive or a directory, dictionaries, a makefile.
//!
//! Invariants: everything is staged before anything is committed, so that a failure leaves no
//! output at all (a failure of one of the final renames excepted, which is reported). No output is
//! written over an input, and none twice. Names of sources are relative and never hold `..`. The
//! same inputs give the same bytes.

mod depfile;
mod dictionary;
mod directory;
mod fused;
mod guard;
mod layout;
mod manifest;
mod srcjar;
mod stale;

pub(crate) use dictionary::{collect, read_dictionary, statements};
pub(crate) use directory::Previous;
pub(crate) use guard::once;
pub(crate) use stale::difference;

use crate::exit::Failure;
use crate::incremental::Incremental;
use crate::pipeline::Processed;
use crate::system::{Staged, System};
use protolog_files::Refused;
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use viewer_config::{Dictionary, Format, Statements};

/// The outputs to write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outputs<'a> {
    /// An archive of all sources, and how much to compress it, 0 to 9.
    pub(crate) archive: Option<(&'a Path, u8)>,
    /// A directory of all sources.
    pub(crate) directory: Option<&'a Path>,
    /// The knowledge of the last run into that directory.
    pub(crate) incremental: Option<&'a Incremental>,
    /// True if this run has locked the directory.
    pub(crate) is_locked: bool,
    /// The directory to which the names of sources in archive and directory are relative.
    pub(crate) source_root: Option<&'a Path>,
    /// Dictionaries.
    pub(crate) dictionaries: Vec<(&'a Path, Format)>,
    /// Their contents in JSON, where that is AOSP's to the byte.
    pub(crate) statements: Option<&'a Statements>,
    /// A program whose texts are in the dictionary.
    pub(crate) program: Option<OutputProgram<'a>>,
    /// A makefile with the dependencies of the outputs.
    pub(crate) depfile: Option<&'a Path>,
    /// All files that were read.
    pub(crate) inputs: Vec<PathBuf>,
}

/// A program, with its permissions.
#[derive(Clone, Debug)]
pub(crate) struct OutputProgram<'a> {
    pub(crate) path: &'a Path,
    pub(crate) bytes: Vec<u8>,
    pub(crate) mode: u32,
}

/// A source in an archive or directory.
#[derive(Clone, Debug)]
struct OutputEntry<'p> {
    name: String,
    content: Content<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Content<'p> {
    /// Bytes in memory.
    Bytes(&'p [u8]),
    /// The contents of this file: files without calls are not kept in memory.
    File(&'p Path),
    /// Bytes with this hash, which are in their place already. In directories alone.
    Kept(u64),
}

/// Writes all outputs.
pub(crate) fn write(
    outputs: &Outputs<'_>,
    processed: &[Processed],
    dictionary: &Dictionary,
    system: &dyn System,
) -> Result<(), Failure> {
    let has_sources = outputs.archive.is_some() || outputs.directory.is_some();
    let entries = if has_sources {
        layout::entries(processed, outputs.source_root, system)?
    } else {
        Vec::new()
    };
    let paths = outputs.paths(&entries);
    guard::check(&paths, &outputs.inputs, system)?;
    let mut staged: Vec<(&Path, Box<dyn Staged>)> = Vec::new();
    if let Some((path, compress)) = outputs.archive {
        staged.push((path, srcjar::stage(path, compress, &entries, system)?));
    }
    for (path, format) in &outputs.dictionaries {
        let aosp = outputs.statements.and_then(|statements| statements.to_bytes(*format));
        let bytes = aosp.unwrap_or_else(|| dictionary.to_bytes(*format));
        staged.push((path, stage(path, &bytes, system)?));
    }
    if let Some(OutputProgram { path, bytes, mode }) = &outputs.program {
        let staged_program = system.stage_private(path, *mode, &mut |sink| sink.write_all(bytes));
        staged.push((path, staged_program.map_err(|error| cant_write(path, &error))?));
    }
    if let Some(path) = outputs.depfile {
        let targets: Vec<&Path> =
            paths.iter().map(PathBuf::as_path).filter(|target| *target != path).collect();
        staged.push((path, stage(path, &depfile::text(&targets, &outputs.inputs)?, system)?));
    }
    if let Some(root) = outputs.directory {
        let change = directory::stage(root, &entries, outputs.is_locked, system)?;
        let mut state = |hashes: &[u64]| {
            let names = entries.iter().map(|entry| entry.name.as_str());
            let outputs_with_hashes: Vec<_> = names.zip(hashes.iter().copied()).collect();
            Some(outputs.incremental?.state(root, &outputs_with_hashes, system))
        };
        change.commit(&mut state)?;
    }
    for (path, staged) in staged {
        staged.commit().map_err(|error| cant_write(path, &error))?;
    }
    Ok(())
}

impl Outputs<'_> {
    /// The paths of all files that are written.
    fn paths(&self, entries: &[OutputEntry<'_>]) -> Vec<PathBuf> {
        let single = self.archive.iter().map(|(path, _)| *path);
        let single = single.chain(self.dictionaries.iter().map(|(path, _)| *path));
        let single = single.chain(self.program.iter().map(|program| program.path));
        let single = single.chain(self.depfile).map(Path::to_path_buf);
        let below = self
            .directory
            .into_iter()
            .flat_map(|directory| entries.iter().map(move |entry| directory.join(&entry.name)));
        single.chain(below).collect()
    }
}

impl<'p> OutputEntry<'p> {
    fn read(&self, system: &dyn System) -> Result<Cow<'p, [u8]>, Failure> {
        match self.content {
            Content::Bytes(bytes) => Ok(Cow::Borrowed(bytes)),
            Content::File(path) => {
                system.read(path).map(Cow::Owned).map_err(|error| cant_read(path, &error))
            }
            Content::Kept(_) => Err(Failure::new(format!("`{}` is not read again", self.name))),
        }
    }
}

fn stage(path: &Path, bytes: &[u8], system: &dyn System) -> Result<Box<dyn Staged>, Failure> {
    system.stage(path, &mut |sink| sink.write_all(bytes)).map_err(|error| cant_write(path, &error))
}

/// Returns whether it is not a file that is to be written but standard output.
pub(crate) fn is_standard(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1"].iter().any(|name| path == Path::new(name))
}

/// Refuses an output that is one of `inputs`.
pub(crate) fn check_output(
    path: &Path,
    inputs: &[PathBuf],
    system: &dyn System,
) -> Result<(), Failure> {
    guard::check(&[path.to_path_buf()], inputs, system)
}

/// Writes one file of log contents with the permissions `mode`, whole or not at all, which is none
/// of `inputs`; or to standard output.
pub(crate) fn write_one<E>(
    path: &Path,
    mode: u32,
    inputs: &[PathBuf],
    system: &dyn System,
    fill: impl FnOnce(&mut dyn io::Write) -> Result<(), E>,
    failed: impl FnOnce(E) -> Failure,
) -> Result<(), Failure> {
    if is_standard(path) {
        let mut out = io::BufWriter::with_capacity(256 << 10, Output { system, is_read: true });
        fill(&mut out).map_err(failed)?;
        return io::Write::flush(&mut out).map_err(|error| cant_write(path, &error));
    }
    check_output(path, inputs, system)?;
    let (mut fill, mut failure) = (Some(fill), None);
    let staged = system.stage_private(path, mode, &mut |sink| {
        let mut sink = io::BufWriter::with_capacity(256 << 10, sink);
        let filled = fill.take().map_or(Ok(()), |fill| fill(&mut sink));
        if let Err(error) = filled {
            failure = Some(error);
            return Err(io::ErrorKind::Other.into());
        }
        io::Write::flush(&mut sink)
    });
    match (staged, failure) {
        (_, Some(error)) => Err(failed(error)),
        (staged, None) => staged.and_then(Staged::commit).map_err(|error| cant_write(path, &error)),
    }
}

/// Standard output. Its reader may close it early, which is not an error.
struct Output<'a> {
    system: &'a dyn System,
    is_read: bool,
}

impl io::Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_read {
            match self.system.write_output(bytes) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.is_read = false,
                result => result?,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Why a file that is needed could not be read.
pub(crate) fn cant_read(path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::new(format!("can't read `{}`: {}", path.display(), reason(error)));
    if let Some(refused) = Refused::of(error) {
        return failure.help(refused.help());
    }
    match error.kind() {
        io::ErrorKind::NotFound if path.is_relative() => {
            failure.help("check the path; it starts at the working directory")
        }
        io::ErrorKind::NotFound => failure.help("check the path"),
        io::ErrorKind::IsADirectory => failure.help("give a file"),
        io::ErrorKind::PermissionDenied => failure.help("make the file readable for this user"),
        _ => failure,
    }
}

pub(crate) fn cant_write(path: &Path, error: &io::Error) -> Failure {
    // `newdir/`
    let is_missing = error.kind() == io::ErrorKind::IsADirectory && !path.is_dir();
    let reason =
        if is_missing { "it is the name of a directory".to_owned() } else { reason(error) };
    let failure = Failure::new(format!("can't write `{}`: {reason}", path.display()));
    match Refused::of(error) {
        Some(refused) => failure.help(refused.help()),
        None => match error.kind() {
            io::ErrorKind::IsADirectory => failure.help("name a file in it"),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                failure.help("make room there, or write it elsewhere")
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                failure.help("name a file in a directory that this user may write to")
            }
            _ => failure,
        },
    }
}

/// As [`cant_write`], with this help where the error has none.
pub(crate) fn cant_write_or(path: &Path, error: &io::Error, help: &'static str) -> Failure {
    let failure = cant_write(path, error);
    if Refused::of(error).is_some() { failure } else { failure.help(help) }
}

/// The cause of an I/O error, in our wording: lower case, without the error's number.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_lowercase().chain(chars).collect())
}
