//! A pipe or a device, written by a thread of its own, since its reader may be slow.
//!
//! The service sends what it has, and waits while nobody takes it, with all who log. So the trace
//! is taken at once, into a file without a name, from where the thread copies it.
//!
//! Invariants: memory has a block on each side, however slow the reader is, and the file what the
//! reader has not taken. After a signal the reader is not waited for without a limit.

use crate::system::unnamed_file;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The bytes that are written at once: what a pipe holds.
const BLOCK: usize = 64 << 10;

/// The time between two looks for a signal.
const LOOK: Duration = Duration::from_millis(100);

/// The time in which a reader takes something, if the program was asked to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// See the module.
pub(super) struct OutputStream {
    shared: Arc<Shared>,
    /// The bytes that are not in the file yet.
    block: Vec<u8>,
}

struct Shared {
    /// The bytes between the two ends.
    file: File,
    state: Mutex<Backlog>,
    changed: Condvar,
}

#[derive(Default)]
struct Backlog {
    /// The bytes of the file that the reader has.
    written: u64,
    /// The bytes in the file.
    end: u64,
    /// The last write, if it failed.
    error: Option<io::Error>,
}

impl OutputStream {
    pub(super) fn start(out: File) -> io::Result<Self> {
        let file = unnamed_file()?;
        let state = Mutex::new(Backlog::default());
        let shared = Arc::new(Shared { file, state, changed: Condvar::new() });
        let other = Arc::clone(&shared);
        thread::Builder::new().name("output".into()).spawn(move || {
            let result = other.copy(out);
            other.update(|state| state.error = result.err());
        })?;
        Ok(Self { shared, block: Vec::new() })
    }

    /// Waits until everything is written; once `is_over`, only while something still is.
    pub(super) fn settle(&mut self, is_over: &AtomicBool) -> io::Result<()> {
        self.flush()?;
        let (mut before, mut since) = (0, Instant::now());
        loop {
            let state = self.shared.lock();
            let mut state =
                match self.shared.changed.wait_timeout_while(state, LOOK, Backlog::waits) {
                    Ok((state, _)) => state,
                    Err(poisoned) => poisoned.into_inner().0,
                };
            if let Some(error) = state.error.take() {
                return Err(error);
            }
            if state.written == state.end {
                return Ok(());
            }
            if state.written != before || !is_over.load(Ordering::Relaxed) {
                (before, since) = (state.written, Instant::now());
            } else if since.elapsed() >= PATIENCE {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "nobody reads it"));
            }
        }
    }
}

impl Write for OutputStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.block.extend_from_slice(bytes);
        if self.block.len() >= BLOCK {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    /// Puts everything into the file. An error if the reader is gone.
    fn flush(&mut self) -> io::Result<()> {
        // Under the lock, since the file begins anew when the reader has all of it.
        let mut state = self.shared.lock();
        if let Some(error) = state.error.take() {
            return Err(error);
        }
        self.shared.file.write_all_at(&self.block, state.end)?;
        state.end += self.block.len() as u64;
        self.block.clear();
        drop(state);
        self.shared.changed.notify_all();
        Ok(())
    }
}

impl Backlog {
    fn waits(&mut self) -> bool {
        self.written < self.end && self.error.is_none()
    }
}

impl Shared {
    /// Copies what comes, until a write fails.
    fn copy(&self, mut out: File) -> io::Result<()> {
        let mut block = vec![0; BLOCK];
        loop {
            let state = self.lock();
            let state = self.changed.wait_while(state, |state| state.written == state.end);
            let state = state.unwrap_or_else(PoisonError::into_inner);
            let (from, length) = (state.written, BLOCK.min((state.end - state.written) as usize));
            drop(state);
            self.file.read_exact_at(&mut block[..length], from)?;
            out.write_all(&block[..length])?;
            let mut state = self.lock();
            state.written += length as u64;
            if state.written == state.end {
                (state.written, state.end) = (0, 0);
                self.file.set_len(0)?;
            }
            drop(state);
            self.changed.notify_all();
        }
    }

    fn update(&self, change: impl FnOnce(&mut Backlog)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Backlog> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::OwnedFd;

    fn stream_of(writer: io::PipeWriter) -> OutputStream {
        OutputStream::start(File::from(OwnedFd::from(writer))).unwrap()
    }

    #[test]
    fn a_slow_reader_gets_everything_and_one_that_is_gone_is_an_error() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut stream = stream_of(writer);
        let sent: Vec<u8> = (0..10 * BLOCK).map(|at| (at / 7) as u8).collect();
        for round in 0..3 {
            for part in sent.chunks(1000 + round) {
                stream.write_all(part).unwrap();
            }
            stream.flush().unwrap();
            let mut bytes = vec![0; sent.len()];
            reader.read_exact(&mut bytes).unwrap();
            assert!(bytes == sent, "round {round}");
            stream.settle(&AtomicBool::new(true)).unwrap();
            assert_eq!(stream.shared.file.metadata().unwrap().len(), 0);
        }
        drop(reader);
        stream.write_all(&sent[..BLOCK]).unwrap();
        let error = stream.settle(&AtomicBool::new(false)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_reader_that_stands_still_is_waited_for_after_a_signal_with_a_limit() {
        let (_reader, writer) = io::pipe().unwrap();
        let mut stream = stream_of(writer);
        stream.write_all(&vec![1; 5 * BLOCK]).unwrap();
        let begun = Instant::now();
        let error = stream.settle(&AtomicBool::new(true)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() >= PATIENCE);
    }
}
