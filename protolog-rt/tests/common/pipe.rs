//! A named pipe as a session's file: its reader decides how fast the trace can be written.
#![allow(dead_code)] // Each test binary uses a part.
#![allow(unsafe_code)] // mkfifo.

use protolog_testkit::{TempDir, temp_dir};
use std::ffi::CString;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A pipe whose reader waits to be told.
pub(crate) struct Pipe {
    /// Where a session writes.
    pub(crate) path: PathBuf,
    /// The copy of what it wrote.
    pub(crate) copy: PathBuf,
    dir: TempDir,
    go: Sender<Duration>,
    reader: JoinHandle<()>,
}

impl Pipe {
    /// A pipe of which nobody reads yet.
    pub(crate) fn stalled() -> Self {
        let dir = temp_dir();
        let (path, copy) = (dir.path().join("pipe"), dir.path().join("copy.pftrace"));
        let name = CString::new(path.as_os_str().as_bytes()).expect("a path");
        // SAFETY: the name is a C string.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let (go, told) = channel();
        let (from, to) = (path.clone(), copy.clone());
        let reader = thread::spawn(move || {
            let mut from = std::fs::File::open(from).expect("open the pipe");
            let mut to = std::fs::File::create(to).expect("create a copy");
            let pause: Duration = told.recv().expect("to be told");
            let mut bytes = vec![0; 32 << 10];
            loop {
                let length = from.read(&mut bytes).expect("read the pipe");
                if length == 0 {
                    return;
                }
                to.write_all(&bytes[..length]).expect("write the copy");
                thread::sleep(pause);
            }
        });
        Self { path, copy, dir, go, reader }
    }

    /// Lets the reader begin, with a pause after each 32 KiB.
    pub(crate) fn read(&self, pause: Duration) {
        self.go.send(pause).expect("a reader");
    }

    /// Waits until the reader has seen the end; gives the directory that holds the copy.
    pub(crate) fn finish(self) -> TempDir {
        self.reader.join().expect("a reader that does well");
        self.dir
    }
}
