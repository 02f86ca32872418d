//! The thread that listens to operators.
//!
//! It sleeps until somebody connects, sends a request, or changes the settings file. There are at
//! most [`MAX_CONNECTIONS`] connections, each with time limits; a new one beyond that replaces the
//! one that has been idle for longest. At most [`MAX_REQUESTS`] requests are answered in
//! [`WINDOW`], over all connections.
//!
//! Invariants: no lock of the write path is held while anything waits; a panic here ends this
//! thread and nothing else.

use super::answer::Answers;
use super::connection::Connection;
use super::place::Socket;
use super::settings_file::WatchedSettings;
use crate::sys::close_on_fork::CloseOnFork;
use crate::sys::pin;
use crate::sys::poll::{Polled, poll};
use crate::sys::thread::block_signals;
use protolog_files::Peer;
use std::io;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Connections at a time.
const MAX_CONNECTIONS: usize = 64;
/// Connections that are accepted before the others have their turn.
const ACCEPT_BATCH: usize = 32;
/// Requests of all connections in a window.
const MAX_REQUESTS: u32 = 200;
/// The time in which requests are counted.
const WINDOW: Duration = Duration::from_millis(100);
/// The pause in accepting connections after the process ran out of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// A handle to the thread.
#[derive(Debug)]
pub(super) struct ServerThread {
    /// Shutting it down ends the thread. Closing would not: a forked child may have it too.
    stop: CloseOnFork<UnixStream>,
    handle: JoinHandle<()>,
    process: u32,
}

impl ServerThread {
    /// Starts the thread.
    pub(super) fn start(socket: Socket, settings: WatchedSettings) -> io::Result<Self> {
        pin::keep_runtime_loaded();
        let (stop, stopped) = UnixStream::pair()?;
        let (stop, stopped) = (CloseOnFork::new(|| Ok(stop))?, CloseOnFork::new(|| Ok(stopped))?);
        let server = Listening {
            socket,
            stopped,
            settings,
            connections: Vec::new(),
            answers: Answers::default(),
            window: Window { since: Instant::now(), requests: 0 },
            closed_until: None,
        };
        let handle = Builder::new().name("protolog-control".into()).spawn(move || server.run())?;
        Ok(Self { stop, handle, process: std::process::id() })
    }

    /// Stops the thread. A trace that it writes is completed.
    pub(super) fn stop(self) {
        if self.process == std::process::id() {
            // Fails only where the thread has ended, and closed the other end.
            let _ = self.stop.if_open().map(|stop| stop.shutdown(Shutdown::Both));
            // A thread that panicked has ended as well.
            let _ = self.handle.join();
        }
    }
}

struct Listening {
    socket: Socket,
    stopped: CloseOnFork<UnixStream>,
    settings: WatchedSettings,
    connections: Vec<Connection>,
    answers: Answers,
    window: Window,
    closed_until: Option<Instant>,
}

/// The number of requests answered since a time.
struct Window {
    since: Instant,
    requests: u32,
}

impl Window {
    /// True where one more request may be answered now.
    fn admits(&mut self, now: Instant) -> bool {
        if now.duration_since(self.since) >= WINDOW {
            *self = Self { since: now, requests: 0 };
        }
        self.requests < MAX_REQUESTS
    }
}

impl Listening {
    fn run(mut self) {
        block_signals();
        loop {
            let ready = self.wait();
            // The program has closed descriptors that it did not open.
            if !self.stopped.is_open() || !self.socket.listener.is_open() {
                return self.socket.report_loss();
            }
            let Some(ready) = ready else {
                // Out of memory, which may pass.
                std::thread::sleep(PAUSE);
                continue;
            };
            if ready.stop {
                return;
            }
            if ready.settings {
                self.answers.problems = self.settings.reload();
            }
            if ready.socket {
                self.admit();
            }
            self.serve();
        }
    }

    /// Waits until there is something to do; none where that failed.
    fn wait(&self) -> Option<Ready> {
        let now = Instant::now();
        let paused = self.window.requests >= MAX_REQUESTS && now < self.window.since + WINDOW;
        let closed = self.closed_until.filter(|until| now < *until);
        let mut files = vec![Polled::read(self.stopped.as_fd())];
        if let Some(watched) = self.settings.watched() {
            files.push(Polled::read(watched));
        }
        if closed.is_none() {
            files.push(Polled::read(self.socket.listener.as_fd()));
        }
        if !paused {
            let all = self.connections.iter();
            files.extend(all.map(|one| {
                Polled::new(one.socket.as_fd(), one.accepts_input(), one.is_answering())
            }));
        }
        let waiting = paused.then_some(self.window.since + WINDOW);
        let next = self.connections.iter().map(Connection::deadline).chain(closed).chain(waiting);
        // Rounded up, so that the deadline has passed then.
        let time = next.min().map(|at| at.saturating_duration_since(now).as_millis() as u32 + 1);
        let pending = !paused && self.connections.iter().any(Connection::has_request);
        let ready = poll(&files, if pending { Some(0) } else { time }).ok()?;
        let mut ready = ready.into_iter();
        Some(Ready {
            stop: ready.next()?,
            settings: self.settings.watched().is_some() && ready.next()?,
            socket: closed.is_none() && ready.next()?,
        })
    }

    /// Accepts connections of the users that are admitted.
    fn admit(&mut self) {
        for _ in 0..ACCEPT_BATCH {
            let accepted =
                CloseOnFork::new(|| self.socket.listener.accept().map(|(socket, _)| socket));
            match accepted {
                Ok(socket) => {
                    let is_admitted = Peer::of(&socket).is_ok_and(|peer| peer.is_trusted());
                    if !is_admitted || socket.set_nonblocking(true).is_err() {
                        continue;
                    }
                    if self.connections.len() >= MAX_CONNECTIONS {
                        self.drop_one();
                    }
                    self.connections.push(Connection::new(socket));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => {
                    // The process has no descriptors left: give one back, and pause.
                    self.drop_one();
                    self.closed_until = Some(Instant::now() + PAUSE);
                    return;
                }
            }
        }
    }

    /// Closes a connection: one that never sent a request, or else the one that has been idle for
    /// longest.
    fn drop_one(&mut self) {
        let least =
            self.connections.iter().enumerate().min_by_key(|(_, one)| (one.asked, one.progressed));
        if let Some((at, _)) = least {
            self.connections.remove(at);
        }
    }

    /// Answers requests, one of each connection in turn, and sends the answers.
    fn serve(&mut self) {
        let now = Instant::now();
        let mut all = std::mem::take(&mut self.connections);
        all.retain_mut(Connection::read);
        let mut has_requests = true;
        while has_requests {
            has_requests = false;
            for connection in &mut all {
                if !self.window.admits(now) {
                    break;
                }
                let Some(request) = connection.take_request() else { continue };
                has_requests = true;
                self.window.requests += 1;
                let answer = self.answers.answer(request, &mut connection.greeted);
                connection.answer(answer);
            }
        }
        all.retain_mut(Connection::send);
        // Answering may have taken time.
        let now = Instant::now();
        all.retain(|connection| now < connection.deadline());
        self.connections = all;
    }
}

/// Descriptors that are ready.
struct Ready {
    stop: bool,
    settings: bool,
    socket: bool,
}
