//! The end of a trace that its owner makes: packets that are appended to a file when it is complete, made of all that is in it.
//!
//! So a session can write what only a reader of its trace knows, and the runtime needs no reader: who wants it brings the function.
//!
//! Invariants: the calls of threads that log never come here; after an error the file is as it was, and whole.

use crate::sys::create::open_regular;
use crate::sys::file::is_at;
use crate::sys::thread::without_write_signals;
use std::error::Error as StdError;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

/// Any error.
pub(super) type AnyError = Box<dyn StdError + Send + Sync>;

/// Makes packets of a complete trace.
type Make = dyn Fn(&[u8]) -> Result<Vec<u8>, AnyError> + Send + Sync;

/// See the module.
#[derive(Clone)]
pub(super) struct Epilogue(Arc<Make>);

impl Epilogue {
    pub(super) fn new(
        make: impl Fn(&[u8]) -> Result<Vec<u8>, AnyError> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(make))
    }

    /// Appends to `file`, which is at `path` and has `size` bytes. Returns the number of bytes that were appended.
    pub(super) fn append(&self, file: &mut File, path: &Path, size: u64) -> io::Result<u64> {
        let trace = read(file, path, size)?;
        let made = catch_unwind(AssertUnwindSafe(|| (self.0)(&trace)));
        let made = made.unwrap_or_else(|_| Err("the function that makes it panicked".into()));
        let packets = made.map_err(|error| not_appended(&*error))?;
        drop(trace);
        let append = |file: &mut File| {
            file.seek(SeekFrom::Start(size))?;
            without_write_signals(|| file.write_all(&packets))
        };
        match append(file) {
            Ok(()) => Ok(packets.len() as u64),
            Err(error) => match file.set_len(size) {
                Ok(()) => Err(not_appended(&error)),
                Err(_) => Err(error),
            },
        }
    }
}

// A builder that has one may be moved into what catches panics, as any other: those of the function end here.
impl UnwindSafe for Epilogue {}
impl RefUnwindSafe for Epilogue {}

impl fmt::Debug for Epilogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Epilogue")
    }
}

/// All bytes of a file, which is open for writing only.
fn read(file: &File, path: &Path, size: u64) -> io::Result<Vec<u8>> {
    let is_regular = file.metadata()?.is_file();
    if !is_regular {
        return Err(not_appended(&"it is no regular file"));
    }
    // The session may have been given a link.
    let path = fs::canonicalize(path)?;
    let mut trace = Vec::new();
    let is_read =
        is_at(file, &path) && open_regular(&path)?.read_to_end(&mut trace)? as u64 == size;
    if is_read { Ok(trace) } else { Err(not_appended(&"another program moved or changed it")) }
}

/// The error of a file that is whole, and has nothing appended.
fn not_appended(error: &(impl fmt::Display + ?Sized)) -> io::Error {
    io::Error::other(format!("the trace is complete, but nothing was appended: {error}"))
}
