//! A thread that writes what another one fills: a large file, of which all is there at once, takes as long as the slower of
//! both, rather than as both together.
//!
//! Two buffers go to and fro between the threads, so that neither gets far ahead.
//!
//! Invariant: what was given is written in order, up to the first error, which is told at the end.

use super::bundles::Bundles;
use crate::sys::thread::block_signals;
use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

/// See the module.
#[derive(Debug)]
pub(super) struct Behind {
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    thread: JoinHandle<Written>,
}

/// What became of it.
#[derive(Debug)]
pub(super) struct Written {
    /// Bytes that the system has.
    pub(super) bytes: u64,
    /// What went wrong first.
    pub(super) error: Option<io::Error>,
}

impl Behind {
    /// Starts the thread. It compresses what it writes if there are `bundles`; these are back where there is no thread.
    pub(super) fn start(
        file: File,
        bundles: &mut Option<Bundles>,
        buffer: Vec<u8>,
    ) -> Option<Self> {
        let (full, to_write) = sync_channel::<Vec<u8>>(0);
        let (written, empty) = channel();
        // The spare buffer.
        let _ = written.send(buffer);
        let (give, taken) = sync_channel(1);
        let run = move || {
            block_signals();
            let bundles = taken.recv().ok().flatten();
            write(file, bundles, &to_write, &written)
        };
        let thread = Builder::new().name("protolog file".into()).spawn(run).ok()?;
        let _ = give.send(bundles.take());
        Some(Self { full, empty, thread })
    }

    /// Writes a buffer, and gives one that was written, or a new one.
    pub(super) fn write(&self, buffer: Vec<u8>) -> Vec<u8> {
        // A thread that is gone has an error to tell.
        let _ = self.full.send(buffer);
        self.empty.recv().unwrap_or_default()
    }

    /// Waits until all is written.
    pub(super) fn end(self) -> Written {
        drop(self.full);
        self.thread.join().unwrap_or_else(|_| {
            let error = Some(io::Error::other("the thread that writes the trace panicked"));
            Written { bytes: 0, error }
        })
    }
}

fn write(
    mut file: File,
    mut bundles: Option<Bundles>,
    full: &Receiver<Vec<u8>>,
    empty: &Sender<Vec<u8>>,
) -> Written {
    let mut done = Written { bytes: 0, error: None };
    while let Ok(buffer) = full.recv() {
        if done.error.is_none() {
            let bytes = match &mut bundles {
                Some(bundles) => bundles.pack(&buffer),
                None => &buffer,
            };
            match file.write_all(bytes) {
                Ok(()) => done.bytes += bytes.len() as u64,
                Err(error) => done.error = Some(error),
            }
        }
        let _ = empty.send(buffer);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    /// A thread that writes to a socket, and the other end of that, neither of which anybody waits for.
    fn behind() -> (Behind, UnixStream) {
        let (reader, writer) = UnixStream::pair().expect("a socket");
        reader.set_nonblocking(true).expect("a reader that does not wait");
        writer.set_nonblocking(true).expect("a writer that does not wait");
        let file = File::from(OwnedFd::from(writer));
        (Behind::start(file, &mut None, Vec::new()).expect("a thread"), reader)
    }

    #[test]
    fn what_is_given_is_written_in_order() {
        let (behind, mut reader) = behind();
        for number in 0..10 {
            behind.write(vec![number; 10]);
        }
        let Written { bytes, error } = behind.end();
        assert!((bytes, error.is_none()) == (100, true));
        let mut written = Vec::new();
        reader.read_to_end(&mut written).expect("the end");
        assert_eq!(written, (0..10).flat_map(|number| [number; 10]).collect::<Vec<_>>());
    }

    #[test]
    fn after_an_error_nothing_more_is_written() {
        let (behind, mut reader) = behind();
        // More than there is room for. Who takes the next buffer has given up on it.
        behind.write(vec![1; 8 << 20]);
        behind.write(Vec::new());
        let mut written = Vec::new();
        let error = reader.read_to_end(&mut written).expect_err("it may go on");
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        assert!(!written.is_empty() && written.len() < 8 << 20);
        behind.write(vec![2; 10]);
        let error = behind.end().error.expect("what went wrong");
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        assert_eq!(reader.read_to_end(&mut written).expect("the end"), 0);
    }

    #[test]
    fn its_thread_runs_no_handler() {
        let (behind, _reader) = behind();
        behind.write(Vec::new());
        let tasks = std::fs::read_dir("/proc/self/task").expect("threads");
        let statuses = tasks.flat_map(|task| std::fs::read_to_string(task?.path().join("status")));
        let ours: Vec<_> =
            statuses.filter(|all| all.starts_with("Name:\tprotolog file\n")).collect();
        assert!(!ours.is_empty());
        // Those that can be blocked: all but SIGKILL and SIGSTOP, and two of the C library's.
        let blocked = |status: &String| {
            let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:"))?;
            u64::from_str_radix(mask.trim(), 16).ok()
        };
        let usual = 1 << (libc::SIGUSR1 - 1) | 1 << (libc::SIGTERM - 1) | 1 << (libc::SIGPROF - 1);
        assert!(
            ours.iter().all(|status| blocked(status).is_some_and(|mask| mask & usual == usual))
        );
        behind.end();
    }
}
