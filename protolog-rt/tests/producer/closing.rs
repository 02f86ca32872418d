//! A program that closes files which others have opened, and one whose forked child exits.

use crate::{fork, rights};
use protolog_rt::{ProtoLogGroup, i, producer};
use protolog_testkit::wait_until;
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Closing,
}

/// The number of sockets that this process has.
fn sockets() -> usize {
    let files = fs::read_dir("/proc/self/fd").expect("the files of this process");
    let target = |file: std::io::Result<fs::DirEntry>| fs::read_link(file.ok()?.path()).ok();
    files.filter_map(target).filter(|to| to.to_string_lossy().starts_with("socket:")).count()
}

/// Closes all files but the standard ones, whoever opened them, and opens files and sockets
/// instead, which get their numbers. The program logs on; returns what others did to them.
pub(crate) fn close_all(path: &Path) -> String {
    let before = producer::status();
    rights::close_files();
    // Sockets first, which get the numbers of sockets: requests can't go into a file.
    let pairs: Vec<_> = (0..8).map(|_| UnixStream::pair().expect("sockets")).collect();
    let files: Vec<_> = (0..8).map(|_| fs::File::create(path).expect("a file")).collect();
    (0..200).for_each(|at: u64| {
        i!(Log::Closing, "other %d", at);
        thread::sleep(Duration::from_millis(1));
    });
    // Once the connection is over there is a reason for that, or a socket of the next one.
    wait_until("the connection is over", || {
        let is_over = producer::status().last_error.is_some() || sockets() > 2 * pairs.len();
        is_over || before.sessions == 0
    });
    let mut found = Vec::new();
    for (at, (one, other)) in pairs.iter().enumerate() {
        for end in [one, other] {
            end.set_nonblocking(true).expect("its mode");
            let mut byte = [0];
            match Read::read(&mut &*end, &mut byte) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => found.push(format!("pair {at}: {read:?}")),
            }
        }
    }
    let bytes = fs::read(path).expect("the file");
    if !bytes.is_empty() {
        found.push(format!("{} bytes in the file", bytes.len()));
    }
    // They stay open, as a program's do.
    std::mem::forget((files, pairs));
    found.join("; ")
}

/// Forks a child that ends as a program does, with what runs at an exit.
pub(crate) fn fork_and_exit() {
    let child = fork::spawn(fork::fork, || {
        i!(Log::Closing, "of a forked child");
        std::process::exit(0);
    });
    let status = fork::wait_at_most(Duration::from_secs(10), child);
    assert_eq!(status, Some(0), "the child's end");
}
