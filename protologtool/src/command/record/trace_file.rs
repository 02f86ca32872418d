//! The trace as a file, which whoever kills this program can't take back.
//!
//! It grows as `TRACE.part` and is renamed at the end. Where a write fails, since the disk is full
//! for example, it is cut behind its last whole packet, and that is the trace.
//!
//! Invariants
//! - A file that has a packet is not removed.
//! - It has whole packets only, but where the program is killed within a write.

use crate::exit::Failure;
use crate::output::{cant_write, check_output};
use crate::system::{PartFile, System};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The bytes that are written at once.
const BLOCK: usize = 64 << 10;

/// See the module.
pub(super) struct TraceFile {
    file: PartFile,
    /// The path that it gets.
    path: PathBuf,
    /// The packets that are not in the file yet.
    block: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<usize>,
    /// The bytes of the packets in the file.
    written: u64,
    has_failed: bool,
}

impl TraceFile {
    /// Begins the file, which is none of `inputs`. Says where an earlier one is that was not ended.
    pub(super) fn create(
        path: &Path,
        mode: u32,
        inputs: &[PathBuf],
        system: &dyn System,
    ) -> Result<Self, Failure> {
        check_output(path, inputs, system)?;
        let file = system.grow(path, mode).map_err(|error| cant_write(path, &error))?;
        if let Some(earlier) = file.earlier() {
            system.print_error(&about_earlier(earlier, file.path(), system));
        }
        let (path, block, ends) = (path.to_owned(), Vec::new(), Vec::new());
        Ok(Self { file, path, block, ends, written: 0, has_failed: false })
    }

    /// Adds a packet.
    pub(super) fn write(&mut self, packet: &[u8]) -> io::Result<()> {
        self.block.extend_from_slice(packet);
        self.ends.push(self.block.len());
        if self.block.len() >= BLOCK { self.flush() } else { Ok(()) }
    }

    /// Writes what was added. After an error the file has the packets that are whole, and takes no
    /// more.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if self.has_failed {
            return Ok(());
        }
        let mut done = 0;
        while done < self.block.len() {
            match self.file.write(&self.block[done..]) {
                Ok(0) => return self.cut(done, io::ErrorKind::WriteZero.into()),
                Ok(size) => done += size,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.cut(done, error),
            }
        }
        self.written += done as u64;
        self.block.clear();
        self.ends.clear();
        Ok(())
    }

    /// Returns whether the file has a packet.
    pub(super) fn has_packet(&self) -> bool {
        self.written > 0
    }

    /// Gives the trace its name.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let part = self.file.path().to_owned();
        self.file.commit().map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound {
                let (path, part) = (self.path.display(), part.display());
                let what = format!("what grew, `{part}`, was removed or renamed");
                return Failure::new(format!("can't write `{path}`: {what}"))
                    .help("look for it under another name");
            }
            let failure = cant_write(&self.path, &error);
            let message = format!("{}; it is in `{}`", failure.message(), part.display());
            Failure::new(message).help("rename it, or read it there")
        })
    }

    /// Removes the file.
    pub(super) fn discard(self) {
        self.file.discard();
    }

    /// Takes back what is no whole packet of the `done` bytes of the block.
    fn cut(&mut self, done: usize, error: io::Error) -> io::Result<()> {
        let whole = self.ends.partition_point(|end| *end <= done);
        let whole = whole.checked_sub(1).map_or(0, |last| self.ends[last]);
        self.written += whole as u64;
        self.has_failed = true;
        (self.block, self.ends) = (Vec::new(), Vec::new());
        // Readers pass over half a packet at the end, too.
        let _ = self.file.cut(self.written);
        Err(error)
    }
}

/// What to say of the file that has the name `earlier`.
fn about_earlier(earlier: &Path, part: &Path, system: &dyn System) -> String {
    let (earlier, part, is_in_use) = (earlier.display(), part.display(), system.is_in_use(earlier));
    if is_in_use {
        return format!(
            "note: `{earlier}` is being recorded by another program; this one goes to `{part}` meanwhile\n"
        );
    }
    format!(
        "warning: `{earlier}` is what a recording left that could not end\n\
         help: read it, and rename or remove it; this recording goes to `{part}` meanwhile\n"
    )
}
