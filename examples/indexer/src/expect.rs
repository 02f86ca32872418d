//! The expected messages as JSON lines, which a test compares with the trace.

use crate::IndexLog;
use protolog_rt::{Level, ProtoLogGroup};
use serde_json::json;
use std::fmt::Arguments;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A line of JSON per message, `{"level": …, "group": …, "text": …, "thread": …}`, in the order of
/// each thread.
#[derive(Debug)]
pub(crate) struct Journal(Option<Mutex<BufWriter<File>>>);

impl Journal {
    /// Writes to the file `path`, or to nothing.
    pub(crate) fn open(path: Option<&Path>) -> io::Result<Self> {
        let file = path.map(File::create).transpose()?;
        Ok(Self(file.map(|file| Mutex::new(BufWriter::new(file)))))
    }

    /// Writes a message.
    pub(crate) fn note(&self, level: Level, group: IndexLog, text: Arguments<'_>) {
        let Some(file) = &self.0 else { return };
        let line = json!({
            "level": level.name(),
            "group": group.info().tag,
            "text": text.to_string(),
            "thread": thread_name(),
        });
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        // An error is reported when the file is closed.
        let _ = writeln!(file, "{line}");
    }

    /// Finishes the file.
    pub(crate) fn close(self) -> io::Result<()> {
        let Some(file) = self.0 else { return Ok(()) };
        file.into_inner().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// The kernel's name of the calling thread.
fn thread_name() -> String {
    let name = fs::read_to_string("/proc/thread-self/comm").unwrap_or_default();
    name.trim_end_matches('\n').to_owned()
}
