//! A connection to a target process: requests and replies.

use crate::error::Error;
use crate::group::Group;
use crate::pages::Pages;
use crate::peer::Peer;
use crate::session::Session;
use crate::site::{Rule, Rules, Site};
use crate::sockets::Socket;
use protolog_core::control::name::characters;
use protolog_core::control::protocol::{MAX_LINE, Reply, Request, VERSION, descriptor_of};
use protolog_core::escape::controls_output;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Has a received file closed in other programs, where that is asked for along with it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const CLOSE_ON_EXEC: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const CLOSE_ON_EXEC: RecvFlags = RecvFlags::empty();

/// The time that a process has for one reply.
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of one reply, in bytes that it takes in memory: a line takes more than its
/// characters.
pub const MAX_REPLY_BYTES: usize = 16 << 20;

/// A connection to a target process. See the crate.
#[derive(Debug)]
pub struct Program {
    stream: UnixStream,
    socket: Socket,
    input: Vec<u8>,
    /// The file that came with the last reply.
    file: Option<OwnedFd>,
    timeout: Duration,
    /// The time by which all replies have to be there.
    deadline: Option<Instant>,
    /// The bytes that are left for the replies of this process and others.
    budget: Option<Arc<AtomicUsize>>,
    /// True once a reply failed, in any way but a refusal: later bytes of the process would be
    /// taken for the answer to another request.
    has_failed: bool,
    /// The process, as the kernel says.
    peer: Peer,
    /// Its process id, as the kernel says. That of a process that can't be seen from here is its
    /// own word.
    pub pid: u32,
    /// The name of its executable, as the kernel says, with the same exception; of a Java program
    /// that of its class or jar.
    pub name: String,
    /// The name and process id that it gives itself, if they are others, or can't be checked.
    pub claims: Option<(String, u32)>,
}

impl Program {
    /// Connects to the process that listens on the socket at `path`, in a directory that the caller
    /// trusts, and checks the version of the protocol.
    pub fn connect(path: &Path) -> Result<Self, Error> {
        Self::connect_with_timeout(path, REPLY_TIMEOUT)
    }

    /// As [`connect`](Self::connect), with another timeout for each reply.
    pub fn connect_with_timeout(path: &Path, timeout: Duration) -> Result<Self, Error> {
        Self::connect_to(&Socket::at(path)?, timeout)
    }

    /// As [`connect_with_timeout`](Self::connect_with_timeout), to a socket that was found.
    pub fn connect_to(socket: &Socket, timeout: Duration) -> Result<Self, Error> {
        let stream = socket.connect(timeout)?;
        let (input, file) = (Vec::new(), None);
        let peer = Peer::of(&stream, socket)?;
        if peer.is_trusted() {
            protolog_files::admit_files(&stream);
        }
        let name = peer.name().or_else(|| peer.short_name());
        let (pid, name, claims) = (peer.pid(), name.unwrap_or_default(), None);
        let (socket, has_failed, deadline) = (socket.clone(), false, None);
        let mut program = Self {
            stream,
            socket,
            input,
            file,
            timeout,
            deadline,
            budget: None,
            has_failed,
            peer,
            pid,
            name,
            claims,
        };
        for line in program.request(&Request::Hello(VERSION))? {
            match Reply::parse(&line) {
                Some(Reply::Hello { pid, program: name, .. }) => {
                    program.claims = (!peer.is(pid, name)).then(|| (name.to_owned(), pid));
                    if program.claims.is_none() && peer.runs(name) {
                        name.clone_into(&mut program.name);
                    }
                    if program.pid == 0 || program.name.is_empty() {
                        (program.pid, program.name) = (pid, name.to_owned());
                    }
                }
                _ => return Err(Error::Protocol { line }),
            }
        }
        Ok(program)
    }

    /// Gives the process until then for all replies to come, instead of the timeout for each.
    pub fn reply_by(&mut self, deadline: Instant) {
        self.deadline = Some(deadline);
    }

    /// Lets replies have as many bytes as are left of these, which others may share, and takes them
    /// off.
    pub fn reply_within(&mut self, budget: Arc<AtomicUsize>) {
        self.budget = Some(budget);
    }

    /// The path of the socket.
    pub fn path(&self) -> &Path {
        self.socket.path()
    }

    /// The user of the process, as the kernel says.
    pub fn user(&self) -> u32 {
        self.peer.user()
    }

    /// True if that is another user than this one.
    pub fn is_other_users(&self) -> bool {
        self.user() != rustix::process::geteuid().as_raw()
    }

    /// All groups of the process.
    pub fn groups(&mut self) -> Result<Vec<Group>, Error> {
        Ok(self.groups_and_problems()?.0)
    }

    /// All groups of the process, and its statement about groups that it can't list.
    pub fn groups_and_problems(&mut self) -> Result<(Vec<Group>, Vec<String>), Error> {
        let (mut groups, mut problems) = (Vec::new(), Vec::new());
        for line in &self.request(&Request::Groups)? {
            match Reply::parse(line) {
                Some(Reply::Group { page, index, word, compiled, name, tag }) => {
                    let (name, tag) = (characters(name).collect(), tag.to_owned());
                    groups.push(Group { page, index, word, compiled, name, tag });
                }
                Some(Reply::Problem(text)) => problems.push(text.to_owned()),
                _ => {}
            }
        }
        Ok((groups, problems))
    }

    /// All sessions of the process; none if it is of a version that does not list them.
    pub fn sessions(&mut self) -> Result<Option<Vec<Session>>, Error> {
        let lines = match self.request(&Request::Sessions) {
            Err(Error::Refused { .. }) => return Ok(None),
            lines => lines?,
        };
        let mut all: Vec<Session> = Vec::new();
        for line in &lines {
            match Reply::parse(line) {
                Some(Reply::Tracing { control, fill_policy, file }) => {
                    let file = (file != "-").then(|| file.to_owned());
                    let (limit, groups) = (None, BTreeMap::new());
                    all.push(Session { control, fill_policy, file, limit, groups });
                }
                Some(Reply::Limited(limit)) => {
                    all.iter_mut().last().into_iter().for_each(|it| it.limit = Some(limit));
                }
                Some(Reply::Levels { levels, group }) => {
                    if let Some(session) = all.last_mut() {
                        session.groups.insert(characters(group).collect(), levels);
                    }
                }
                _ => {}
            }
        }
        Ok(Some(all))
    }

    /// The calls of the process that a selector takes, at most so many, and the number of all.
    pub fn sites(&mut self, selector: &str, limit: u32) -> Result<(Vec<Site>, u64), Error> {
        let (mut sites, mut taken) = (Vec::new(), 0);
        let lines = match self.request(&Request::Sites(limit, selector)) {
            Err(Error::Refused { message, .. }) if message.starts_with("unknown request") => {
                let message = "the program has no rules of single calls".to_owned();
                let help = "choose others by `--name`; programs in Java have none yet";
                return Err(Error::Refused { message, help: help.into() });
            }
            lines => lines?,
        };
        for line in &lines {
            match Reply::parse(line) {
                Some(Reply::Site(site)) => sites.push(Site::of(site)),
                Some(Reply::Taken(count)) => taken = count,
                _ => {}
            }
        }
        Ok((sites, taken))
    }

    /// The rules of single calls that hold in the process; none if it is of a version that has no
    /// rules.
    pub fn rules(&mut self) -> Result<Option<Rules>, Error> {
        let lines = match self.request(&Request::Rules) {
            Err(Error::Refused { .. }) => return Ok(None),
            lines => lines?,
        };
        let mut found = Rules::default();
        for line in &lines {
            match Reply::parse(line) {
                Some(Reply::Rule { calls, words, selector }) => {
                    let (words, selector) = (words.to_owned(), selector.to_owned());
                    found.rules.push(Rule { calls, words, selector });
                }
                Some(Reply::Problem(text)) => found.problems.push(text.to_owned()),
                _ => {}
            }
        }
        Ok(Some(found))
    }

    /// The switch words of the process, mapped. A process of another user is not asked for them: it
    /// could send any open file, and have this one wait until that is closed.
    pub fn pages(&mut self) -> Result<Pages, Error> {
        if !self.peer.is_trusted() {
            return Err(Error::Memory("of another user's process"));
        }
        let lines = match self.request(&Request::Pages) {
            // A program of another runtime, which can't pass descriptors, has a file.
            Err(Error::Refused { .. }) => return self.pages_file(),
            lines => lines?,
        };
        for line in lines {
            if let Some(Reply::Pages { count, size }) = Reply::parse(&line) {
                let file = self.file.take().ok_or(Error::Memory("missing file descriptor"))?;
                return Pages::map(&file, count, size);
            }
        }
        Err(Error::Memory("missing file descriptor"))
    }

    /// As [`pages`](Self::pages), by the name of a file: of a process that can't pass descriptors,
    /// and the way of an operator that can't receive any.
    pub fn pages_file(&mut self) -> Result<Pages, Error> {
        for line in self.request(&Request::PagesFile)? {
            if let Some(Reply::PagesFile { count, size, name }) = Reply::parse(&line) {
                let Some(number) = descriptor_of(name) else {
                    return Pages::map_file_in(self.socket.directory().0, name, count, size);
                };
                if self.is_other_users() {
                    return Err(Error::Memory("of another user's process"));
                }
                return match self.peer.pid() {
                    0 => Err(Error::Memory("of a process that can't be seen from here")),
                    pid => Pages::map_descriptor(pid, number, count, size),
                };
            }
        }
        Err(Error::Memory("missing name of a file"))
    }

    /// Sends a request and returns the lines of the reply without the last one. After an error
    /// other than a refusal the connection is given up.
    pub fn request(&mut self, request: &Request<'_>) -> Result<Vec<String>, Error> {
        let line = format!("{request}\n");
        if line.len() > MAX_LINE {
            let message = format!("the request is longer than {MAX_LINE} bytes");
            return Err(Error::Refused { message, help: "request less at a time".into() });
        }
        if self.has_failed {
            return Err(Error::Connection(io::ErrorKind::NotConnected.into()));
        }
        let reply = self.exchange(&line);
        if !matches!(reply, Ok(_) | Err(Error::Refused { .. })) {
            self.has_failed = true;
            // It may have ended.
            let _ = self.stream.shutdown(Shutdown::Both);
        }
        reply
    }

    /// Sends a line and returns the reply.
    fn exchange(&mut self, line: &str) -> Result<Vec<String>, Error> {
        self.file = None;
        if !self.input.is_empty() {
            // More than was asked for, which would be taken for this answer.
            let more = String::from_utf8_lossy(&self.input).into_owned();
            return Err(Error::Protocol { line: more.replace(controls_output, "?") });
        }
        self.stream.write_all(line.as_bytes())?;
        let until = self.deadline.unwrap_or_else(|| Instant::now() + self.timeout);
        let (mut lines, mut help, mut size) = (Vec::new(), String::new(), 0);
        loop {
            let line = self.line(until)?;
            let bytes = line.len() + size_of::<String>();
            size += bytes;
            let take = |left: usize| left.checked_sub(bytes);
            let ordering = Ordering::Relaxed;
            let is_within =
                |budget: &Arc<AtomicUsize>| budget.fetch_update(ordering, ordering, take).is_ok();
            if !self.budget.as_ref().is_none_or(is_within) {
                return Err(Error::TooMuch);
            }
            match Reply::parse(&line) {
                Some(Reply::Ok) => return Ok(lines),
                Some(Reply::Help(text)) => text.clone_into(&mut help),
                Some(Reply::Error(text)) => {
                    return Err(Error::Refused { message: text.to_owned(), help });
                }
                _ if size > MAX_REPLY_BYTES => return Err(Error::Protocol { line }),
                _ => lines.push(line),
            }
        }
    }

    /// The next line, without characters that a terminal obeys.
    fn line(&mut self, until: Instant) -> Result<String, Error> {
        let mut seen = 0;
        loop {
            if let Some(end) = self.input[seen..].iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.input.drain(..=seen + end).collect();
                let line = String::from_utf8_lossy(&line[..line.len() - 1]);
                return Ok(line.replace(controls_output, "?"));
            }
            seen = self.input.len();
            if seen > MAX_LINE {
                let line = String::from_utf8_lossy(&self.input[..64]);
                return Err(Error::Protocol { line: line.replace(controls_output, "?") });
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::Connection(io::ErrorKind::TimedOut.into()));
            }
            self.stream.set_read_timeout(Some(left))?;
            self.receive()?;
        }
    }

    /// Waits for more bytes, and takes the file that may come with them.
    fn receive(&mut self) -> Result<(), Error> {
        let mut bytes = [0; 16 << 10];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [io::IoSliceMut::new(&mut bytes)];
        let flags = CLOSE_ON_EXEC;
        let received = match rustix::net::recvmsg(&self.stream, &mut parts, &mut control, flags) {
            // Interrupted by a signal; the caller checks how much time is left.
            Err(error) if error == rustix::io::Errno::INTR => return Ok(()),
            received => received.map_err(io::Error::from)?,
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                // The iterator owns all files and closes the others.
                self.file = files.last().or(self.file.take());
            }
        }
        if received.bytes == 0 {
            return Err(Error::Ended);
        }
        self.input.extend_from_slice(&bytes[..received.bytes]);
        Ok(())
    }
}
