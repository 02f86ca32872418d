//! Inputs that are read whole: sources, dictionaries, jars, binaries, settings.
//!
//! The author of a checkout chose the targets of its names: a device that never ends, a pipe that
//! nobody writes, a file of gigabytes.
//!
//! Invariant: an input is a regular file, or a descriptor that this process was given and that the
//! path names as one; it is read up to a limit, and nothing is waited for but such a descriptor.

use super::{found, too_large};
use protolog_files::read_with_holes;
#[cfg(unix)]
use rustix::fs::{Mode, OFlags};
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The limit of a source, in bytes.
pub(super) const MAX_SOURCE: u64 = 64 << 20;

/// The limit of all else.
const MAX_INPUT: u64 = 1 << 30;

/// The size from which on memory is spared for holes.
pub(super) const LARGE: u64 = 8 << 20;

/// The ends of names of sources.
const SOURCES: [&str; 5] = ["java", "kt", "kts", "rs", "toml"];

/// The most bytes that a file of this name may have.
pub(super) fn limit(path: &Path) -> u64 {
    let is_source = path.extension().is_some_and(|end| SOURCES.iter().any(|it| end == *it));
    if is_source { MAX_SOURCE } else { MAX_INPUT }
}

/// The content of an input.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_up_to(path, limit(path))
}

/// As [`read()`], with another limit.
pub(super) fn read_up_to(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let size = file.metadata()?.len();
    if size > most {
        return Err(too_large(most));
    }
    let mut bytes = Vec::new();
    if size > LARGE {
        bytes = read_with_holes(&file, 0, size)?;
        (&file).seek(SeekFrom::Start(bytes.len() as u64))?;
    } else {
        bytes.reserve(size as usize + 1);
    }
    file.take((most + 1).saturating_sub(bytes.len() as u64)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

/// Opens an input, without waiting for anybody.
pub(super) fn open(path: &Path) -> io::Result<File> {
    if is_own_descriptor(path) {
        return File::open(path);
    }
    if found::is_found(path) {
        return found::open_regular(path);
    }
    // To open a device may have effects.
    check(&path.metadata()?)?;
    let file = open_without_waiting(path)?;
    // By now it may be something else.
    check(&file.metadata()?)?;
    Ok(file)
}

#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(unix)]
fn is_directory() -> io::Error {
    rustix::io::Errno::ISDIR.into()
}

#[cfg(not(unix))]
fn is_directory() -> io::Error {
    io::ErrorKind::IsADirectory.into()
}

/// An error for anything but a regular file.
pub(super) fn check(found: &Metadata) -> io::Result<()> {
    match found.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(is_directory()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")),
    }
}

/// Returns whether the path itself, and no link that it leads to, names a descriptor of this
/// process, as `<(…)` of a shell does, or nothing at all.
pub(super) fn is_own_descriptor(path: &Path) -> bool {
    let named = ["/dev/stdin", "/dev/null", "/proc/self/fd/0"];
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    path.to_str().is_some_and(|path| {
        let number = path.strip_prefix("/dev/fd/").or_else(|| path.strip_prefix("/proc/self/fd/"));
        named.contains(&path) || number.is_some_and(is_number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    #[test]
    fn only_regular_files_up_to_their_limit_are_read() {
        let dir = tempfile::tempdir().expect("make a directory");
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "text").expect("write a file");
        symlink(at("file"), at("link")).expect("make a link");
        symlink("/dev/zero", at("zero.java")).expect("make a link");
        symlink("/dev/stdin", at("input")).expect("make a link");
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, Mode::RWXU, 0)
            .expect("make a pipe");
        File::create(at("large.java")).unwrap().set_len(MAX_SOURCE + 1).expect("make a hole");
        assert_eq!(read(&at("file")).expect("read it"), b"text");
        assert_eq!(read(&at("link")).expect("read it"), b"text");
        assert_eq!(read_up_to(&at("file"), 4).expect("read it"), b"text");
        assert_eq!(read(Path::new("/dev/null")).expect("read it"), b"");
        let kind = |path: PathBuf| read(&path).expect_err("it is refused").kind();
        assert_eq!(kind(at("zero.java")), io::ErrorKind::InvalidInput);
        assert_eq!(kind(at("pipe")), io::ErrorKind::InvalidInput);
        assert_eq!(kind(at("large.java")), io::ErrorKind::FileTooLarge);
        assert_eq!(kind(dir.path().to_owned()), io::ErrorKind::IsADirectory);
        assert_eq!(kind(at("none")), io::ErrorKind::NotFound);
        let error = read_up_to(&at("file"), 3).expect_err("it is too large");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
}
