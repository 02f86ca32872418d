//! Being switched from outside: by an operator as the tool is one, and in bad company.
#![allow(unsafe_code)] // A fork.

mod company;
mod operator;
mod process;

use protolog_control::{Group, Program};
use protolog_rt::control::{Server, serve_in};
use protolog_testkit::{TempDir, temp_dir_for_sockets};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A program that listens: this one.
pub(crate) struct Listening {
    pub(crate) server: Server,
    pub(crate) dir: TempDir,
    _lock: MutexGuard<'static, ()>,
}

/// Listens in a directory of the test's own. No other test does at the same time: what an operator asks for may concern all
/// groups of the process, as may sessions, and the process's files are counted.
pub(crate) fn listen() -> Listening {
    static SESSIONS: Mutex<()> = Mutex::new(());
    let lock = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = temp_dir_for_sockets();
    let server = serve_in(dir.path().join("run")).expect("listen");
    Listening { server, dir, _lock: lock }
}

impl Listening {
    pub(crate) fn connect(&self) -> Program {
        Program::connect(self.server.path()).expect("connect")
    }
}

/// The group whose name ends so.
#[track_caller]
pub(crate) fn group(program: &mut Program, end: &str) -> Group {
    let mut groups = program.groups().expect("groups");
    groups.retain(|group| group.name.ends_with(end));
    assert_eq!(groups.len(), 1, "{end}: {groups:?}");
    groups.remove(0)
}
