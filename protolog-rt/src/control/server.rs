//! The thread that listens to operators.
//!
//! It sleeps until somebody connects, asks, or changes a file of wishes; without any of these it never runs. There are at most
//! [`MOST`] connections, each with time limits; who comes when all are taken gets the place of the one that has been silent
//! for longest. At most [`MOST_QUESTIONS`] questions are answered in [`WINDOW`], whoever asks them.
//!
//! Invariants: no lock of the write path is held while anything waits; a panic here ends this thread and nothing else.

use super::answer::Answers;
use super::connection::Connection;
use super::place::Socket;
use super::wishes::Wishes;
use crate::sys::close_on_fork::CloseOnFork;
use crate::sys::poll::{Polled, poll};
use crate::sys::process::user;
use crate::sys::socket::peer_user;
use crate::sys::thread::block_signals;
use std::io;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Connections at a time.
const MOST: usize = 64;
/// How many connections are taken before those that are there have their turn.
const MOST_AT_ONCE: usize = 32;
/// Questions of all connections in a window.
const MOST_QUESTIONS: u32 = 200;
/// The time in which they are counted.
const WINDOW: Duration = Duration::from_millis(100);
/// How long nobody is let in after the process ran out of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// The thread, from outside.
#[derive(Debug)]
pub(super) struct Thread {
    /// Shutting it down ends the thread. Closing would not: a forked child may have it too.
    stop: UnixStream,
    handle: JoinHandle<()>,
    process: u32,
}

impl Thread {
    /// Starts it.
    pub(super) fn start(socket: Socket, wishes: Wishes) -> io::Result<Self> {
        let (stop, stopped) = UnixStream::pair()?;
        let stopped = CloseOnFork::new(|| Ok(stopped))?;
        let server = Listening {
            socket,
            stopped,
            wishes,
            connections: Vec::new(),
            answers: Answers::default(),
            window: Window { since: Instant::now(), questions: 0 },
            closed_until: None,
        };
        let handle = Builder::new().name("protolog-control".into()).spawn(move || server.run())?;
        Ok(Self { stop, handle, process: std::process::id() })
    }

    /// Ends it. A trace that it makes is completed.
    pub(super) fn stop(self) {
        if self.process == std::process::id() {
            // It can only fail where the thread has closed the other end, and so is over.
            let _ = self.stop.shutdown(Shutdown::Both);
            // If it panicked, it is over too.
            let _ = self.handle.join();
        }
    }
}

struct Listening {
    socket: Socket,
    stopped: CloseOnFork<UnixStream>,
    wishes: Wishes,
    connections: Vec<Connection>,
    answers: Answers,
    window: Window,
    closed_until: Option<Instant>,
}

/// How many questions were answered since when.
struct Window {
    since: Instant,
    questions: u32,
}

impl Window {
    /// Whether one more question may be answered now.
    fn admits(&mut self, now: Instant) -> bool {
        if now.duration_since(self.since) >= WINDOW {
            *self = Self { since: now, questions: 0 };
        }
        self.questions < MOST_QUESTIONS
    }
}

impl Listening {
    fn run(mut self) {
        block_signals();
        loop {
            let Some(ready) = self.wait() else {
                // Only for want of memory; it may come back.
                std::thread::sleep(PAUSE);
                continue;
            };
            if ready.stop {
                return;
            }
            if ready.wishes {
                self.answers.problems = self.wishes.look_again();
            }
            if ready.socket {
                self.admit();
            }
            self.serve();
        }
    }

    /// Waits until there is something to do.
    fn wait(&self) -> Option<Ready> {
        let now = Instant::now();
        let paused = self.window.questions >= MOST_QUESTIONS && now < self.window.since + WINDOW;
        let closed = self.closed_until.filter(|until| now < *until);
        let mut files = vec![Polled::read(self.stopped.as_fd())];
        if let Some(watched) = self.wishes.watched() {
            files.push(Polled::read(watched));
        }
        if closed.is_none() {
            files.push(Polled::read(self.socket.listener.as_fd()));
        }
        if !paused {
            let all = self.connections.iter();
            files.extend(
                all.map(|one| Polled::new(one.socket.as_fd(), one.listens(), one.is_answering())),
            );
        }
        let waiting = paused.then_some(self.window.since + WINDOW);
        let next = self.connections.iter().map(Connection::deadline).chain(closed).chain(waiting);
        // A millisecond more, so that what is waited for is over then.
        let time = next.min().map(|at| at.saturating_duration_since(now).as_millis() as u32 + 1);
        let pending = !paused && self.connections.iter().any(Connection::has_question);
        let ready = poll(&files, if pending { Some(0) } else { time }).ok()?;
        let mut ready = ready.into_iter();
        Some(Ready {
            stop: ready.next()?,
            wishes: self.wishes.watched().is_some() && ready.next()?,
            socket: closed.is_none() && ready.next()?,
        })
    }

    /// Lets in who may come in.
    fn admit(&mut self) {
        for _ in 0..MOST_AT_ONCE {
            let accepted =
                CloseOnFork::new(|| self.socket.listener.accept().map(|(socket, _)| socket));
            match accepted {
                Ok(socket) => {
                    let peer = peer_user(&socket);
                    let admitted = peer.is_ok_and(|peer| peer == 0 || peer == user());
                    if !admitted || socket.set_nonblocking(true).is_err() {
                        continue;
                    }
                    if self.connections.len() >= MOST {
                        self.drop_one();
                    }
                    self.connections.push(Connection::new(socket));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => {
                    // The process has no descriptors left: give one back, and let it breathe.
                    self.drop_one();
                    self.closed_until = Some(Instant::now() + PAUSE);
                    return;
                }
            }
        }
    }

    /// Closes the connection that is missed least: one that never asked, or else the one that was silent for longest.
    fn drop_one(&mut self) {
        let least =
            self.connections.iter().enumerate().min_by_key(|(_, one)| (one.asked, one.moved));
        if let Some((at, _)) = least {
            self.connections.remove(at);
        }
    }

    /// Answers and sends, one question of each connection in turn.
    fn serve(&mut self) {
        let now = Instant::now();
        let mut all = std::mem::take(&mut self.connections);
        all.retain_mut(Connection::read);
        let mut questions = true;
        while questions {
            questions = false;
            for connection in &mut all {
                if !self.window.admits(now) {
                    break;
                }
                let Some(question) = connection.question() else { continue };
                questions = true;
                self.window.questions += 1;
                let answer = self.answers.answer(question, &mut connection.greeted);
                connection.answer(answer);
            }
        }
        all.retain_mut(Connection::send);
        // Answers took time, maybe.
        let now = Instant::now();
        all.retain(|connection| now < connection.deadline());
        self.connections = all;
    }
}

struct Ready {
    stop: bool,
    wishes: bool,
    socket: bool,
}
