//! Files that are complete but not yet in their place, and pipes and devices that stand for one.
//!
//! protolog-files says what may be written, and how a file is kept until it is complete.

use super::{Fill, Staged};
use protolog_files::{Found, Location, Output, StagedFile, Status, set_mode};
use std::fs::File;
use std::io::{self, BufWriter, Cursor, Write};
use std::path::Path;

/// The prefix of the names of unfinished files.
pub(super) const PREFIX: &str = ".protologtool-";

/// The permissions of any new file, before the umask.
pub(super) const MODE: u32 = 0o666;

/// The permissions of a private file until its content is complete.
pub(super) const PRIVATE: u32 = 0o600;

/// See [`System::stage`](super::System::stage) and, where `mode` is given,
/// [`stage_private`](super::System::stage_private).
pub(super) fn stage(
    path: &Path,
    mode: Option<u32>,
    fill: &mut Fill<'_>,
) -> io::Result<Box<dyn Staged>> {
    let place = match Output::find_making_directories(path)? {
        Found::Missing(place) | Found::File(place) => place,
        Found::Stream(Output { file, .. }) => {
            let mut content = Cursor::new(Vec::new());
            fill(&mut content)?;
            return Ok(Box::new(Through { file, content: content.into_inner() }));
        }
    };
    let (staged, file) = StagedFile::new(&place, PREFIX, mode.map_or(MODE, |_| PRIVATE))?;
    write(file, mode, fill)?;
    Ok(Box::new(InPlace { staged, place }))
}

/// See [`System::stage_change`](super::System::stage_change).
pub(super) fn stage_change(path: &Path, content: &[u8]) -> io::Result<Box<dyn Staged>> {
    let place = Location::of(path)?;
    let old = place.open_to_change()?;
    let (staged, file) = StagedFile::new(&place, PREFIX, PRIVATE)?;
    give_group(&file, &old)?;
    let mode = Status::of(&old)?.mode() & 0o7777;
    write(file, Some(mode), &mut |sink| sink.write_all(content))?;
    Ok(Box::new(InPlace { staged, place }))
}

/// Gives a file the group of another one.
#[cfg(unix)]
fn give_group(file: &File, other: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let group = other.metadata()?.gid();
    if file.metadata()?.gid() == group { Ok(()) } else { fchown(file, None, Some(group)) }
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)] // As on Unix.
fn give_group(_: &File, _: &File) -> io::Result<()> {
    Ok(())
}

pub(super) fn write(file: File, mode: Option<u32>, fill: &mut Fill<'_>) -> io::Result<()> {
    let mut sink = BufWriter::new(file);
    fill(&mut sink)?;
    let file = sink.into_inner().map_err(io::IntoInnerError::into_error)?;
    match mode {
        Some(mode) => set_mode(&file, mode),
        None => Ok(()),
    }
}

struct InPlace {
    staged: StagedFile,
    place: Location,
}

impl Staged for InPlace {
    fn commit(self: Box<Self>) -> io::Result<()> {
        self.staged.commit(&self.place)
    }
}

struct Through {
    file: File,
    content: Vec<u8>,
}

impl Staged for Through {
    fn commit(mut self: Box<Self>) -> io::Result<()> {
        self.file.write_all(&self.content)
    }
}
