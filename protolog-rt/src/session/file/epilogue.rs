//! The end of a trace that its owner makes: packets that are appended to a file when it is
//! complete, made of all that is in it.
//!
//! So a session can write data that only a reader of its trace knows, and the runtime needs no
//! reader: the program brings the function.
//!
//! Invariants: the calls of threads that log never come here; after an error the file is as it was,
//! and whole.

use crate::sys::thread::without_write_signals;
use protolog_files::FileExt;
use std::error::Error as StdError;
use std::fmt;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::Arc;

/// Any error.
pub(in crate::session) type AnyError = Box<dyn StdError + Send + Sync>;

/// Makes packets of a complete trace.
type Make = dyn Fn(&[u8]) -> Result<Vec<u8>, AnyError> + Send + Sync;

/// See the module.
#[derive(Clone)]
pub(in crate::session) struct Epilogue(Arc<Make>);

impl Epilogue {
    pub(in crate::session) fn new(
        make: impl Fn(&[u8]) -> Result<Vec<u8>, AnyError> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(make))
    }

    /// Appends to `file`, whose trace has `size` bytes from `start` on. Returns the number of bytes
    /// that were appended.
    pub(in crate::session) fn append(
        &self,
        file: &mut File,
        start: u64,
        size: u64,
    ) -> io::Result<u64> {
        let trace = read(file, start, size)?;
        let made = catch_unwind(AssertUnwindSafe(|| (self.0)(&trace)));
        let made = made.unwrap_or_else(|_| Err("the function that makes it panicked".into()));
        let packets = made.map_err(|error| not_appended(&*error))?;
        drop(trace);
        let append = |file: &mut File| {
            file.seek(SeekFrom::Start(start + size))?;
            without_write_signals(|| file.write_all(&packets))
        };
        match append(file) {
            Ok(()) => Ok(packets.len() as u64),
            Err(error) => match file.set_len(start + size) {
                Ok(()) => Err(not_appended(&error)),
                Err(_) => Err(error),
            },
        }
    }
}

// A builder that has one may be moved into what catches panics, as any other: those of the function
// end here.
impl UnwindSafe for Epilogue {}
impl RefUnwindSafe for Epilogue {}

impl fmt::Debug for Epilogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Epilogue")
    }
}

/// All bytes of a trace.
fn read(file: &File, start: u64, size: u64) -> io::Result<Vec<u8>> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(not_appended(&"it is no regular file"));
    }
    if metadata.len() != start + size {
        return Err(not_appended(&"another program changed it"));
    }
    let mut trace = vec![0; size as usize];
    file.read_exact_at(&mut trace, start).map_err(|error| not_appended(&error))?;
    Ok(trace)
}

/// The error of a file that is whole, and has nothing appended.
fn not_appended(error: &(impl fmt::Display + ?Sized)) -> io::Error {
    io::Error::other(format!("the trace is complete, but nothing was appended: {error}"))
}
