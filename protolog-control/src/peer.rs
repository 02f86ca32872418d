//! The process at the other end of a socket, as the kernel knows it.
//!
//! Invariant: nothing here comes from the process itself, but for the name of one whose executable
//! may not be looked at. A Java program's word for its name counts if it is an argument of its
//! process.

use crate::error::Error;
use crate::sockets::Socket;
use protolog_core::control::program_name;
use protolog_core::escape::controls_output;
use std::fs;
use std::os::unix::net::UnixStream;

/// The length from which the kernel cuts off a process's short name, in bytes.
const SHORT_NAME: usize = 15;

/// A process, at the time when it began to listen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(protolog_files::Peer);

impl Peer {
    /// The process that listens on the socket to which `stream` is connected. An error if it is
    /// another user's than those that the socket admits.
    pub(crate) fn of(stream: &UnixStream, socket: &Socket) -> Result<Self, Error> {
        let peer = protolog_files::Peer::of(stream)?;
        let user = peer.user;
        if socket.admits(user) { Ok(Self(peer)) } else { Err(Error::OtherUser { user }) }
    }

    /// Its id; 0 if it is in a PID namespace that this process can't see.
    pub(crate) fn pid(self) -> u32 {
        self.0.pid
    }

    pub(crate) fn user(self) -> u32 {
        self.0.user
    }

    /// True if it is this user's or root's: both may send open files, which others may not.
    pub(crate) fn is_trusted(self) -> bool {
        self.0.is_trusted()
    }

    /// The name of its executable; none if it can't be seen, or has ended.
    pub(crate) fn name(self) -> Option<String> {
        let path = fs::read_link(format!("/proc/{}/exe", self.pid())).ok()?;
        Some(program_name(&path.to_string_lossy()).replace(controls_output, "?"))
    }

    /// Its short name, which the process may change.
    pub(crate) fn short_name(self) -> Option<String> {
        let name = fs::read(format!("/proc/{}/comm", self.pid())).ok()?;
        Some(String::from_utf8_lossy(&name).trim_end().replace(controls_output, "?"))
    }

    /// True if `pid` and `name` are its own, in its own PID namespace or in this one.
    pub(crate) fn is(self, pid: u32, name: &str) -> bool {
        let is_name = self.runs(name)
            || match (self.name(), self.short_name()) {
                (Some(own), _) => own == program_name(name),
                (None, Some(short)) if short.len() == SHORT_NAME => name.starts_with(&short),
                (None, short) => short.is_some_and(|short| short == name),
            };
        is_name && (pid == self.pid() || self.inner_pid() == Some(pid))
    }

    /// True if it is a Java virtual machine that runs the class or jar of this name: its command
    /// line has it.
    pub(crate) fn runs(self, name: &str) -> bool {
        let arguments = || fs::read(format!("/proc/{}/cmdline", self.pid())).unwrap_or_default();
        let is_it =
            |argument: &[u8]| argument.rsplit(|byte| *byte == b'/').next() == Some(name.as_bytes());
        self.name().is_some_and(|own| own == "java")
            && arguments().split(|byte| *byte == 0).skip(1).any(is_it)
    }

    /// Its process id in its own PID namespace.
    fn inner_pid(self) -> Option<u32> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).ok()?;
        let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
        ids.split_whitespace().next_back()?.parse().ok()
    }
}
