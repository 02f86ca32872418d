//! A thread that writes what another one fills: a large file, of which all is there at once, takes as long as the slower of
//! both, rather than as both together.
//!
//! Two buffers go to and fro between the threads, so that neither gets far ahead.
//!
//! Invariant: what was given is written in order, up to the first error, which is told at the end.

use super::bundles::Bundles;
use crate::writer::thread::block_signals;
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
