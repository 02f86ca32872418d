//! Paths that name descriptors of this process: `/dev/stdout`, `/dev/stderr`, `/dev/fd/N` and
//! `/proc/self/fd/N`.
//!
//! The caller of the program has opened them, or the program itself, so nothing is to be checked
//! about what they are. They are not opened with more rights than they have: a program with more
//! rights than its caller would lend them otherwise.
//!
//! Invariant: a returned output is written where the descriptor stands, not from the beginning.

use crate::sys::{self, Use};
use std::fs::File;
use std::io;
use std::path::Path;

/// Returns the descriptor's file, open for writing; none if `path` names no descriptor.
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    match number(path) {
        None => Ok(None),
        Some(1) => sys::duplicate(io::stdout()).map(Some),
        Some(2) => sys::duplicate(io::stderr()).map(Some),
        Some(number) => sys::open_descriptor(number).map(Some),
    }
}

/// Returns whether `path` names a descriptor of this process.
pub fn is_descriptor(path: &Path) -> bool {
    number(path).is_some()
}

/// Opens a regular file once more: an open file of its own, for reading, and for writing if
/// `writes`. The process needs the right to it, and `/proc`.
pub fn open_again(file: &File, writes: bool) -> io::Result<File> {
    sys::reopen(file, if writes { Use::ReadWrite } else { Use::Read })
}

fn number(path: &Path) -> Option<u32> {
    let text = path.to_str()?;
    let digits = match text {
        "/dev/stdin" => "0",
        "/dev/stdout" => "1",
        "/dev/stderr" => "2",
        _ => text.strip_prefix("/dev/fd/").or_else(|| text.strip_prefix("/proc/self/fd/"))?,
    };
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::{Seek, SeekFrom, Write};
    use std::os::fd::AsRawFd;

    #[test]
    fn descriptors_have_names() {
        for (path, expected) in [
            ("/dev/stdout", Some(1)),
            ("/dev/fd/63", Some(63)),
            ("/proc/self/fd/2", Some(2)),
            ("/dev/fd/", None),
            ("/dev/fd/+1", None),
            ("/dev/fd/1/x", None),
            ("dev/fd/1", None),
            ("/dev/null", None),
        ] {
            assert_eq!(number(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn a_file_is_written_where_its_descriptor_stands() {
        let directory = protolog_testkit::temp_dir();
        let path = directory.path().join("file");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"before after").unwrap();
        file.seek(SeekFrom::Start(7)).unwrap();
        let name = format!("/dev/fd/{}", file.as_raw_fd());
        open(Path::new(&name)).unwrap().unwrap().write_all(b"AFTER").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"before AFTER");
        // As a program with more rights than its caller may be started with.
        let read_only = File::open(&path).unwrap();
        let name = format!("/proc/self/fd/{}", read_only.as_raw_fd());
        assert_eq!(open(Path::new(&name)).unwrap_err().raw_os_error(), Some(9));
        let error = open(Path::new("/dev/fd/123456")).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(9), "it is not open");
    }
}
