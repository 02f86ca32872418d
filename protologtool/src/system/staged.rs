//! Files that are complete but not yet in their place.
//!
//! ```text
//! open(directory, O_TMPFILE)   no name: gone with the process, however it ends
//!   write
//! link(file, .protologtool-*)  whole, under a name of its own
//! rename(.protologtool-*, path)
//! ```
//!
//! Not every file system makes files without a name, and each open one takes a descriptor. So where it can't be done, and
//! where a scratch directory is given, which its owner clears anyway, the file has a name from the start.

use super::{Fill, Staged};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Cursor, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// The prefix of the names of unfinished files.
const PREFIX: &str = ".protologtool-";

/// The permissions of any new file, before the umask.
const MODE: u32 = 0o666;

/// The permissions of a private file until its content is complete.
const PRIVATE: u32 = 0o600;

/// See [`System::stage`](super::System::stage) and, where `mode` is given, [`stage_private`](super::System::stage_private).
pub(super) fn stage(
    path: &Path,
    scratch: Option<&Path>,
    mode: Option<u32>,
    fill: &mut Fill<'_>,
) -> io::Result<Box<dyn Staged>> {
    match fs::metadata(path) {
        Ok(known) if known.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        // A device or a pipe, `/dev/null` say, is written to; a file must not take its place.
        Ok(known) if !known.is_file() => {
            let mut content = Cursor::new(Vec::new());
            fill(&mut content)?;
            return Ok(Box::new(Through { content: content.into_inner(), path: path.into() }));
        }
        _ => {}
    }
    let directory = scratch.unwrap_or_else(|| directory_of(path));
    make(directory)?;
    let path = path.to_path_buf();
    let first = mode.map_or(MODE, |_| PRIVATE);
    let nameless = if scratch.is_none() { open_nameless(directory, first) } else { None };
    if let Some(file) = nameless {
        let file = write(file, mode, fill)?;
        return Ok(Box::new(Nameless { file, path }));
    }
    let file = new_name().permissions(Permissions::from_mode(first)).tempfile_in(directory)?;
    let (file, temporary) = file.into_parts();
    write(file, mode, fill)?;
    Ok(Box::new(NamedFile { temporary, path }))
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes a directory; that there is a file of its name is said as such.
pub(super) fn make(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => io::ErrorKind::NotADirectory.into(),
        _ => error,
    })
}

fn new_name() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    builder
}

fn write(file: File, mode: Option<u32>, fill: &mut Fill<'_>) -> io::Result<File> {
    let mut sink = BufWriter::new(file);
    fill(&mut sink)?;
    let file = sink.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(mode) = mode {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    Ok(file)
}

/// A file without a name; none where it could not be given one later.
fn open_nameless(directory: &Path, mode: u32) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = File::from(open(directory, flags, Mode::from_raw_mode(mode)).ok()?);
    link_of(&file).exists().then_some(file)
}

/// The link under which the kernel shows a file that has no name.
fn link_of(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

struct Nameless {
    file: File,
    path: PathBuf,
}

impl Staged for Nameless {
    fn commit(self: Box<Self>) -> io::Result<()> {
        let link = link_of(&self.file);
        let name = |temporary: &Path| {
            linkat(CWD, &link, CWD, temporary, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from)
        };
        let temporary = new_name().make_in(directory_of(&self.path), name)?.into_temp_path();
        temporary.persist(&self.path).map_err(|error| error.error)
    }
}

struct NamedFile {
    temporary: TempPath,
    path: PathBuf,
}

impl Staged for NamedFile {
    fn commit(self: Box<Self>) -> io::Result<()> {
        make(directory_of(&self.path))?;
        self.temporary.persist(&self.path).map_err(|error| error.error)
    }
}

struct Through {
    content: Vec<u8>,
    path: PathBuf,
}

impl Staged for Through {
    fn commit(self: Box<Self>) -> io::Result<()> {
        File::options().write(true).open(&self.path)?.write_all(&self.content)
    }
}
