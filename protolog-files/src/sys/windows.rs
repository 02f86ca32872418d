//! What only Windows has: a file's identity by its handle. The functions of its library are
//! declared here, as the standard library links it anyway.

use super::Use;
use crate::refused::Kind;
use crate::status::Status;
use std::ffi::c_void;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsHandle, AsRawHandle, FromRawHandle, RawHandle};
use std::path::Path;

/// The link itself is opened, not what it leads to.
const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
/// A directory can be opened, too.
const BACKUP_SEMANTICS: u32 = 0x0200_0000;
/// The file goes once nobody has it open.
const DELETE_ON_CLOSE: u32 = 0x0400_0000;

/// Attributes of a file.
const READ_ONLY: u32 = 0x1;
const DIRECTORY: u32 = 0x10;
const REPARSE_POINT: u32 = 0x400;

/// Kinds of handles.
const OF_FILE: u32 = 1;
const OF_CONSOLE: u32 = 2;
const OF_PIPE: u32 = 3;

const READ: u32 = 0x8000_0000;
const WRITE: u32 = 0x4000_0000;
const APPEND: u32 = 0x4;
const DELETE: u32 = 0x1_0000;
/// Others may read, write and remove it meanwhile.
const SHARED_WITH_ALL: u32 = 7;

/// `BY_HANDLE_FILE_INFORMATION`.
#[repr(C)]
#[derive(Default)]
struct Information {
    attributes: u32,
    times: [u32; 6],
    volume: u32,
    size: [u32; 2],
    links: u32,
    index: [u32; 2],
}

#[link(name = "kernel32")]
unsafe extern "system" {
    fn GetFileInformationByHandle(file: RawHandle, information: *mut Information) -> i32;
    fn GetFileType(file: RawHandle) -> u32;
    fn MoveFileExW(from: *const u16, to: *const u16, flags: u32) -> i32;
    fn ReOpenFile(file: RawHandle, access: u32, share: u32, flags: u32) -> *mut c_void;
}

/// A link at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    /// Where it leads.
    Followed,
    /// The link itself.
    Itself,
}

/// Returns the properties of an open file.
pub(crate) fn status(file: &File) -> io::Result<Status> {
    let handle = file.as_raw_handle();
    // SAFETY: the handle is open.
    let kind = match unsafe { GetFileType(handle) } {
        OF_FILE => Kind::File,
        OF_CONSOLE => Kind::Device,
        OF_PIPE => Kind::Pipe,
        _ => Kind::Other,
    };
    if kind != Kind::File {
        return Ok(of_user(kind, &Information::default()));
    }
    let mut found = Information::default();
    // SAFETY: the handle is open, and the system writes to a value of ours.
    if unsafe { GetFileInformationByHandle(handle, &raw mut found) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let kind = match found.attributes {
        // Of several kinds of such points, a name of another place is all that is told here.
        it if it & REPARSE_POINT != 0 && file.metadata()?.is_symlink() => Kind::Link,
        it if it & DIRECTORY != 0 => Kind::Directory,
        _ => Kind::File,
    };
    Ok(of_user(kind, &found))
}

fn of_user(kind: Kind, found: &Information) -> Status {
    let number = |halves: [u32; 2]| u64::from(halves[0]) << 32 | u64::from(halves[1]);
    let is_read_only = found.attributes & READ_ONLY != 0;
    Status {
        kind,
        device: found.volume.into(),
        inode: number(found.index),
        user: 0,
        mode: if is_read_only { 0o400 } else { 0o600 },
        links: found.links.into(),
        size: number(found.size),
    }
}

/// Returns the properties of an entry. To look at it has no effect on it.
pub(super) fn status_of_path(path: &Path, last: Last) -> io::Result<Status> {
    let itself = if last == Last::Itself { OPEN_REPARSE_POINT } else { 0 };
    let mut options = OpenOptions::new();
    let looked = options.access_mode(0).custom_flags(BACKUP_SEMANTICS | itself).open(path)?;
    status(&looked)
}

/// Opens a file, and not what a link in its place leads to.
pub(super) fn open_without_links(path: &Path, how: Use) -> io::Result<File> {
    how.options().custom_flags(OPEN_REPARSE_POINT).open(path)
}

/// Returns whether an error says that a name is that of a link: a link is opened itself, and its
/// kind tells.
pub(crate) fn is_link(_: &io::Error) -> bool {
    false
}

/// Renames an entry; an error if the new name is taken.
pub(super) fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    let text = |path: &Path| -> Vec<u16> { path.as_os_str().encode_wide().chain([0]).collect() };
    let (from, to) = (text(from), text(to));
    // SAFETY: both end by a zero, and live through the call.
    let is_done = unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), 0) } != 0;
    if is_done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Removes a file that is open and may be mapped. Some file systems refuse to rename it, some to
/// remove it, and some keep its name until it is closed.
pub(super) fn remove_in_use(path: &Path, other: &Path) -> io::Result<()> {
    let is_renamed = rename_to_free(path, other).is_ok();
    let now = if is_renamed { other } else { path };
    fs::remove_file(now).or_else(|error| {
        // What is to go once it is closed may be mapped.
        let mut options = OpenOptions::new();
        let marked = options.access_mode(DELETE).custom_flags(DELETE_ON_CLOSE).open(now);
        if marked.is_err() && is_renamed {
            let _ = rename_to_free(now, path);
        }
        marked.map(drop).map_err(|_| error)
    })
}

/// Opens a file once more, an open file of its own.
pub(crate) fn reopen(file: &File, how: Use) -> io::Result<File> {
    let access = match how {
        Use::Read => READ,
        Use::Write => WRITE,
        Use::Append => APPEND,
        Use::ReadWrite => READ | WRITE,
    };
    // SAFETY: the handle is open.
    let again = unsafe { ReOpenFile(file.as_raw_handle(), access, SHARED_WITH_ALL, 0) };
    if again.addr() == usize::MAX {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new, and nobody else has it.
    Ok(unsafe { File::from_raw_handle(again) })
}

/// Returns the file of a stream of the program, which stays open.
pub(crate) fn duplicate(stream: impl AsHandle) -> io::Result<File> {
    Ok(stream.as_handle().try_clone_to_owned()?.into())
}

/// Returns whether a byte divides the components of a path, or names a stream of a file.
pub(crate) fn is_separator(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\' | b':')
}
