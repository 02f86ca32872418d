//! A program that listens: what it is asked and what it answers.

use crate::error::Error;
use crate::group::Group;
use crate::pages::Pages;
use protolog_core::control::protocol::{MAX_LINE, Reply, Request, VERSION};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketAddrUnix,
    SocketFlags, SocketType, sockopt,
};
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a program may take over one answer.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// The most bytes of one answer.
pub const MOST_ANSWER: usize = 64 << 20;

/// A program that listens. See the crate.
#[derive(Debug)]
pub struct Program {
    stream: UnixStream,
    path: PathBuf,
    input: Vec<u8>,
    /// What came with the last answer.
    file: Option<OwnedFd>,
    patience: Duration,
    /// Its process, as it sees itself.
    pub pid: u32,
    /// The name of its executable.
    pub name: String,
}

impl Program {
    /// Connects to the program behind a socket, and agrees with it upon the version.
    pub fn connect(path: &Path) -> Result<Self, Error> {
        Self::connect_within(path, PATIENCE)
    }

    /// The same, with so much patience for each answer.
    pub fn connect_within(path: &Path, patience: Duration) -> Result<Self, Error> {
        let stream = open(path, patience)?;
        let (input, file) = (Vec::new(), None);
        let (pid, name, path) = (0, String::new(), path.to_path_buf());
        let mut program = Self { stream, path, input, file, patience, pid, name };
        for line in program.ask(&Request::Hello(VERSION))? {
            match Reply::parse(&line) {
                Some(Reply::Hello { pid, program: name, .. }) => {
                    (program.pid, program.name) = (pid, name.to_owned());
                }
                _ => return Err(Error::Protocol { line }),
            }
        }
        Ok(program)
    }

    /// The socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All groups of the program.
    pub fn groups(&mut self) -> Result<Vec<Group>, Error> {
        let group = |line: &String| match Reply::parse(line)? {
            Reply::Group { page, index, word, compiled, name, tag } => {
                let (name, tag) = (name.to_owned(), tag.to_owned());
                Some(Group { page, index, word, compiled, name, tag })
            }
            _ => None,
        };
        Ok(self.ask(&Request::Groups)?.iter().filter_map(group).collect())
    }

    /// The program's switches.
    pub fn pages(&mut self) -> Result<Pages, Error> {
        for line in self.ask(&Request::Pages)? {
            if let Some(Reply::Pages { count, size }) = Reply::parse(&line) {
                let file = self.file.take().ok_or(Error::Memory("it did not come"))?;
                return Pages::map(&file, count, size);
            }
        }
        Err(Error::Memory("it did not come"))
    }

    /// Asks, and gives the lines of the answer but the last.
    pub fn ask(&mut self, request: &Request<'_>) -> Result<Vec<String>, Error> {
        let question = format!("{request}\n");
        if question.len() > MAX_LINE {
            let what = format!("the question has more than {MAX_LINE} bytes");
            return Err(Error::Refused { what, help: "ask for less at a time".into() });
        }
        self.stream.write_all(question.as_bytes())?;
        let until = Instant::now() + self.patience;
        let (mut lines, mut help, mut size) = (Vec::new(), String::new(), 0);
        loop {
            let line = self.line(until)?;
            size += line.len() + 1;
            match Reply::parse(&line) {
                Some(Reply::Ok) => return Ok(lines),
                Some(Reply::Help(text)) => text.clone_into(&mut help),
                Some(Reply::Error(what)) => {
                    return Err(Error::Refused { what: what.to_owned(), help });
                }
                _ if size > MOST_ANSWER => return Err(Error::Protocol { line }),
                _ => lines.push(line),
            }
        }
    }

    /// The next line, without control characters.
    fn line(&mut self, until: Instant) -> Result<String, Error> {
        let mut seen = 0;
        loop {
            if let Some(end) = self.input[seen..].iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.input.drain(..=seen + end).collect();
                let line = String::from_utf8_lossy(&line[..line.len() - 1]);
                return Ok(line.replace(char::is_control, "?"));
            }
            seen = self.input.len();
            if seen > MAX_LINE {
                let line = String::from_utf8_lossy(&self.input[..64]);
                return Err(Error::Protocol { line: line.replace(char::is_control, "?") });
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::Connection(io::ErrorKind::TimedOut.into()));
            }
            self.stream.set_read_timeout(Some(left))?;
            self.receive()?;
        }
    }

    /// Waits for more bytes, and for the file that may come with them.
    fn receive(&mut self) -> Result<(), Error> {
        let mut bytes = [0; 16 << 10];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [io::IoSliceMut::new(&mut bytes)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received = match rustix::net::recvmsg(&self.stream, &mut parts, &mut control, flags) {
            // By a signal; who called looks how much time is left.
            Err(error) if error == rustix::io::Errno::INTR => return Ok(()),
            received => received.map_err(io::Error::from)?,
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                // All are taken, so that none stays open.
                self.file = files.last().or(self.file.take());
            }
        }
        if received.bytes == 0 {
            return Err(Error::Gone);
        }
        self.input.extend_from_slice(&bytes[..received.bytes]);
        Ok(())
    }
}

/// Connects, which a program that was stopped may not accept for ever.
fn open(path: &Path, patience: Duration) -> Result<UnixStream, Error> {
    let address = SocketAddrUnix::new(path).map_err(io::Error::from)?;
    let (family, kind) = (AddressFamily::UNIX, SocketType::STREAM);
    let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None);
    let socket = socket.map_err(io::Error::from)?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(patience))
        .map_err(io::Error::from)?;
    rustix::net::connect(&socket, &address).map_err(io::Error::from)?;
    Ok(UnixStream::from(socket))
}
