//! Control from outside: by an operator, as the tool is one, and against hostile clients.
#![allow(unsafe_code)] // A fork.

mod arguments;
mod byte_limits;
mod hostile_clients;
mod operator;
mod process;
mod sites;
mod triggers;

use protolog_control::{Group, Program};
use protolog_rt::control::{Server, serve_in};
use protolog_testkit::{TempDir, temp_dir_for_sockets};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A target process with its control socket: this test.
pub(crate) struct ControlledProgram {
    pub(crate) server: Server,
    pub(crate) dir: TempDir,
    _lock: MutexGuard<'static, ()>,
}

/// Starts the control socket in a new directory. No other test does so at the same time: an
/// operator and a session may change all groups of the process, and some tests count open files.
pub(crate) fn listen() -> ControlledProgram {
    static SESSIONS: Mutex<()> = Mutex::new(());
    let lock = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = temp_dir_for_sockets();
    let server = serve_in(dir.path().join("run")).expect("listen");
    ControlledProgram { server, dir, _lock: lock }
}

impl ControlledProgram {
    pub(crate) fn connect(&self) -> Program {
        Program::connect(self.server.path()).expect("connect")
    }
}

/// The group whose name ends with `end`.
#[track_caller]
pub(crate) fn group(program: &mut Program, end: &str) -> Group {
    let mut groups = program.groups().expect("groups");
    groups.retain(|group| group.name.ends_with(end));
    assert_eq!(groups.len(), 1, "{end}: {groups:?}");
    groups.remove(0)
}
