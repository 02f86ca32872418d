//! The way out of the connection: requests, whole and in order.
//!
//! A service that stands still reads nothing, and a socket has room for some hundred requests. So
//! what it does not take waits here: the forwarding thread goes on, to count what it can't forward,
//! and the connection is there when the service goes on, too.
//!
//! Invariants
//! - A request goes out whole and after those before it, or the connection is over.
//! - What waits takes at most so many bytes, and one request more ([`MOST_WAITING`]).

use crate::session::forwarded::exit_deadline;
use crate::sys::close_on_fork::CloseOnFork;
use crate::sys::poll::{Polled, poll};
use crate::sys::socket::send;
use perfetto_ipc::frame::{Body, Frame};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time that the service has to take a request for which there is no room here.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The most bytes that wait before a further request does.
const MOST_WAITING: usize = 1 << 20;

/// The longest for which an exit of the process goes unnoticed.
const LONGEST_POLL: Duration = Duration::from_millis(200);

/// See the module.
#[derive(Debug)]
pub(super) struct Sender {
    socket: Arc<CloseOnFork<UnixStream>>,
    service_id: u32,
    methods: Vec<(String, u32)>,
    last_request: u64,
    /// The bytes that the service has not taken.
    waiting: VecDeque<u8>,
    /// The number of all bytes so far.
    bytes: u64,
}

impl Sender {
    pub(super) fn new(socket: Arc<CloseOnFork<UnixStream>>) -> Self {
        let waiting = VecDeque::new();
        Self { socket, service_id: 0, methods: Vec::new(), last_request: 0, waiting, bytes: 0 }
    }

    /// A sender to a service that has these methods, for fuzz targets.
    #[cfg(fuzzing)]
    pub(super) fn of_methods(
        socket: Arc<CloseOnFork<UnixStream>>,
        methods: &[&str],
        last_request: u64,
    ) -> Self {
        let methods = methods.iter().zip(1..).map(|(name, id)| ((*name).to_owned(), id)).collect();
        Self { service_id: 1, methods, last_request, ..Self::new(socket) }
    }

    /// Asks for the methods of producers, which [`Self::set_service`] takes.
    pub(super) fn bind(&mut self) -> io::Result<()> {
        self.last_request += 1;
        let body = Body::Bind { service: "ProducerPort" };
        self.write(&Frame { request_id: self.last_request, body }, None)
    }

    /// Sets the service's number, and those of its methods.
    pub(super) fn set_service(&mut self, id: u32, methods: Vec<(String, u32)>) {
        (self.service_id, self.methods) = (id, methods);
    }

    /// Calls a method whose reply nobody needs.
    pub(super) fn call(&mut self, method: &str, args: &[u8]) -> io::Result<()> {
        self.request(method, args, true, None).map(|_| ())
    }

    /// Calls a method, and returns the number by which replies name the call.
    pub(super) fn invoke(
        &mut self,
        method: &str,
        args: &[u8],
        file: Option<&File>,
    ) -> io::Result<u64> {
        self.request(method, args, false, file)
    }

    /// Sends what waits, as far as the service takes it now. Returns whether there is more.
    pub(super) fn is_behind(&mut self) -> io::Result<bool> {
        self.send_waiting(None)?;
        Ok(!self.waiting.is_empty())
    }

    /// Returns the place behind the last request.
    pub(super) fn place(&self) -> u64 {
        self.bytes
    }

    /// Returns whether the service has taken all requests before this place.
    pub(super) fn has_sent(&self, place: u64) -> bool {
        place <= self.bytes - self.waiting.len() as u64
    }

    /// Sends all that waits, until `by` at most: an error if there is more then.
    pub(super) fn finish(&mut self, by: Instant) -> io::Result<()> {
        while self.is_behind()? {
            self.await_room(by)?;
        }
        Ok(())
    }

    /// Ends the connection, for both directions.
    pub(super) fn close(&self) {
        if let Some(socket) = self.socket.if_open() {
            let _ = socket.shutdown(std::net::Shutdown::Both);
        }
    }

    fn request(
        &mut self,
        method: &str,
        args: &[u8],
        drop_reply: bool,
        file: Option<&File>,
    ) -> io::Result<u64> {
        let known = self.methods.iter().find(|(name, _)| name == method);
        let Some(&(_, method_id)) = known else {
            return Err(problem(&format!("has no method `{method}`")));
        };
        self.last_request += 1;
        let (request_id, service_id) = (self.last_request, self.service_id);
        let body = Body::Invoke { service_id, method_id, args, drop_reply };
        self.write(&Frame { request_id, body }, file)?;
        Ok(request_id)
    }

    /// Sends a frame, with a file if there is one, or has it wait.
    fn write(&mut self, frame: &Frame<'_>, file: Option<&File>) -> io::Result<()> {
        let bytes = frame.encode().map_err(io::Error::other)?;
        let by = Instant::now() + TIMEOUT;
        // A file goes along with the first byte that is sent.
        let most = if file.is_some() { 0 } else { MOST_WAITING };
        while self.is_behind()? && self.waiting.len() > most {
            self.await_room(by)?;
        }
        self.waiting.extend(&bytes);
        self.bytes += bytes.len() as u64;
        self.send_waiting(file)?;
        while file.is_some() && self.waiting.len() == bytes.len() {
            self.await_room(by)?;
            self.send_waiting(file)?;
        }
        Ok(())
    }

    /// Sends what waits, with a file if there is one, until the service takes no more.
    fn send_waiting(&mut self, mut file: Option<&File>) -> io::Result<()> {
        while !self.waiting.is_empty() {
            let Some(socket) = self.socket.if_open() else { return Err(taken_away()) };
            match send(socket, self.waiting.as_slices().0, file) {
                Ok(sent) => {
                    self.waiting.drain(..sent);
                    file = None;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if is_closed(&error) => return Err(problem("closed the connection")),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until the service takes more, or for a while: an error once it is `by`, or what the
    /// exit of the process allows.
    fn await_room(&self, by: Instant) -> io::Result<()> {
        let by = exit_deadline().map_or(by, |exit| exit.min(by));
        let left = by.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(problem("does not read"));
        }
        let Some(socket) = self.socket.if_open() else { return Err(taken_away()) };
        // The exit of the process may begin meanwhile.
        let left = left.min(LONGEST_POLL).as_millis() as u32 + 1;
        match poll(&[Polled::new(socket.as_fd(), false, true)], Some(left)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
            _ => Ok(()),
        }
    }
}

/// Returns whether the peer is gone.
pub(super) fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

/// The error where the descriptor is not the connection's any more.
pub(super) fn taken_away() -> io::Error {
    io::Error::other("the program has closed the descriptor of the connection")
}

pub(super) fn problem(what: &str) -> io::Error {
    io::Error::other(format!("the service {what}"))
}
