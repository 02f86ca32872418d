//! Write-behind: one thread writes the buffers that another one fills.
//!
//! A large trace that exists as a whole, such as a snapshot, then takes as long as the slower of
//! converting and writing, instead of both together. Two buffers go to and fro between the threads,
//! so that neither gets far ahead.
//!
//! Invariant: buffers are written in order, up to the first error, which is reported at the end.

use crate::session::packets::bundles::Bundles;
use crate::sys::own_file::OwnFile;
use crate::sys::thread::block_signals;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

/// See the module.
#[derive(Debug)]
pub(in crate::session) struct WriteBehind {
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    thread: JoinHandle<WriteBehindResult>,
}

/// The outcome of all writes.
#[derive(Debug)]
pub(in crate::session) struct WriteBehindResult {
    /// Bytes that the system has.
    pub(in crate::session) bytes: u64,
    /// The first error.
    pub(in crate::session) error: Option<io::Error>,
}

impl WriteBehind {
    /// Starts the thread, which takes `bundles` and compresses with them, if there are any. Returns
    /// none, and leaves the bundles, where no thread can be started.
    pub(in crate::session) fn start(
        file: OwnFile,
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
            write_buffers(file, bundles, &to_write, &written)
        };
        let thread = Builder::new().name("protolog file".into()).spawn(run).ok()?;
        let _ = give.send(bundles.take());
        Some(Self { full, empty, thread })
    }

    /// Hands over a full buffer, and returns one that was written before, or a new one.
    pub(in crate::session) fn write(&self, buffer: Vec<u8>) -> Vec<u8> {
        // A thread that ended early reports its error at the end.
        let _ = self.full.send(buffer);
        self.empty.recv().unwrap_or_default()
    }

    /// Waits until all buffers are written.
    pub(in crate::session) fn end(self) -> WriteBehindResult {
        drop(self.full);
        self.thread.join().unwrap_or_else(|_| {
            let error = Some(io::Error::other("the thread that writes the trace panicked"));
            WriteBehindResult { bytes: 0, error }
        })
    }
}

fn write_buffers(
    mut file: OwnFile,
    mut bundles: Option<Bundles>,
    full: &Receiver<Vec<u8>>,
    empty: &Sender<Vec<u8>>,
) -> WriteBehindResult {
    let mut done = WriteBehindResult { bytes: 0, error: None };
    while let Ok(buffer) = full.recv() {
        if done.error.is_none() {
            let packed = match &mut bundles {
                Some(bundles) => bundles.pack(&buffer),
                None => Ok(&buffer[..]),
            };
            let mut write = |bytes: &[u8]| file.get_mut()?.write_all(bytes);
            match packed.and_then(|bytes| write(bytes).map(|()| bytes.len())) {
                Ok(length) => done.bytes += length as u64,
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
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    /// A thread that writes to a socket, and the other end of the socket; neither end blocks.
    fn behind() -> (WriteBehind, UnixStream) {
        let (reader, writer) = UnixStream::pair().expect("a socket");
        reader.set_nonblocking(true).expect("a reader that does not wait");
        writer.set_nonblocking(true).expect("a writer that does not wait");
        let file = File::from(OwnedFd::from(writer));
        let file = OwnFile::new(file);
        (WriteBehind::start(file, &mut None, Vec::new()).expect("a thread"), reader)
    }

    #[test]
    fn buffers_are_written_in_order() {
        let (behind, mut reader) = behind();
        for number in 0..10 {
            behind.write(vec![number; 10]);
        }
        let WriteBehindResult { bytes, error } = behind.end();
        assert!((bytes, error.is_none()) == (100, true));
        let mut written = Vec::new();
        reader.read_to_end(&mut written).expect("the end");
        assert_eq!(written, (0..10).flat_map(|number| [number; 10]).collect::<Vec<_>>());
    }

    #[test]
    fn after_an_error_nothing_more_is_written() {
        let (behind, mut reader) = behind();
        // More than the socket takes. A thread that accepts the next buffer has given up on this
        // one.
        behind.write(vec![1; 8 << 20]);
        behind.write(Vec::new());
        let mut written = Vec::new();
        let error = reader.read_to_end(&mut written).expect_err("the socket is open");
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        assert!(!written.is_empty() && written.len() < 8 << 20);
        behind.write(vec![2; 10]);
        let error = behind.end().error.expect("an error");
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
