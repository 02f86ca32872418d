//! One operator's connection: lines in, lines out, within limits.
//!
//! ```text
//! silent --first whole line--> asking --answer queued--> answering --all sent--> asking
//!    \________________ too long, too slow, gone, refused: closed _______________/
//! ```
//!
//! Invariants: a line is at most [`MAX_LINE`] bytes; while more than [`MAX_UNSENT`] bytes of
//! answers wait, no request is read; nothing here blocks.

use super::answer::Answer;
use crate::sys::close_on_fork::CloseOnFork;
use crate::sys::socket::send;
use protolog_core::control::protocol::MAX_LINE;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Bytes of answers that may wait before another request is read.
const MAX_UNSENT: usize = 64 << 10;
/// The time limit for a first line, for the rest of a line, and for reading an answer.
const SLOW: Duration = Duration::from_secs(5);
/// The time limit between requests.
const IDLE: Duration = Duration::from_secs(60);

/// A connection with an operator.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: CloseOnFork<UnixStream>,
    input: Vec<u8>,
    output: VecDeque<Piece>,
    unsent: usize,
    /// True once a whole request came.
    pub(super) asked: bool,
    /// True once the version was agreed upon.
    pub(super) greeted: bool,
    /// The time of its last progress.
    pub(super) progressed: Instant,
    /// True where nothing more is read: the connection is closed when all is sent.
    ending: bool,
}

/// Bytes to send, the first of them with a file.
#[derive(Debug)]
struct Piece {
    bytes: Vec<u8>,
    sent: usize,
    file: Option<File>,
}

impl Connection {
    /// Creates the state of a new connection.
    pub(super) fn new(socket: CloseOnFork<UnixStream>) -> Self {
        Self {
            socket,
            input: Vec::new(),
            output: VecDeque::new(),
            unsent: 0,
            asked: false,
            greeted: false,
            progressed: Instant::now(),
            ending: false,
        }
    }

    /// Returns when the connection is closed unless it makes progress.
    pub(super) fn deadline(&self) -> Instant {
        let idle = self.asked && self.input.is_empty() && self.output.is_empty();
        self.progressed + if idle { IDLE } else { SLOW }
    }

    /// True while there is something to send.
    pub(super) fn is_answering(&self) -> bool {
        !self.output.is_empty()
    }

    /// True where a request may be waiting because there were too many at once.
    pub(super) fn has_request(&self) -> bool {
        self.accepts_requests() && self.input.contains(&b'\n')
    }

    /// True while there is room for more input.
    pub(super) fn accepts_input(&self) -> bool {
        self.accepts_requests() && self.input.len() < MAX_LINE
    }

    /// True while another request may be answered. Files wait one at a time, since the program has
    /// only so many descriptors.
    fn accepts_requests(&self) -> bool {
        let file = self.output.iter().any(|piece| piece.file.is_some());
        !self.ending && !file && self.unsent <= MAX_UNSENT
    }

    /// Reads the input that has arrived. False where the connection is over.
    pub(super) fn read(&mut self) -> bool {
        if !self.accepts_input() {
            return true;
        }
        let mut bytes = [0; MAX_LINE];
        let Some(socket) = self.socket.if_open_mut() else { return false };
        match socket.read(&mut bytes[..MAX_LINE - self.input.len()]) {
            Ok(0) => {
                // Requests that came before the peer closed its half are answered.
                self.ending = !self.has_request();
                !self.ending || self.is_answering()
            }
            Ok(count) => {
                self.input.extend_from_slice(&bytes[..count]);
                // Part of a line is no progress.
                if self.input.contains(&b'\n') {
                    self.progressed = Instant::now();
                }
                true
            }
            Err(error) => is_later(&error),
        }
    }

    /// Takes the next request, without its line feed; or an error, after which the connection ends.
    pub(super) fn take_request(&mut self) -> Option<Result<String, &'static str>> {
        if !self.accepts_requests() {
            return None;
        }
        let Some(end) = self.input.iter().position(|byte| *byte == b'\n') else {
            return (self.input.len() >= MAX_LINE).then_some(Err("the line is too long"));
        };
        let mut line: Vec<u8> = self.input.drain(..=end).collect();
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        self.asked = true;
        Some(String::from_utf8(line).map_err(|_| "the line is not UTF-8"))
    }

    /// Queues an answer.
    pub(super) fn answer(&mut self, answer: Answer) {
        self.unsent += answer.text.len();
        let ends = answer.ends;
        if !answer.text.is_empty() {
            let bytes = answer.text.into_bytes();
            self.output.push_back(Piece { bytes, sent: 0, file: answer.file });
        }
        self.ending |= ends;
    }

    /// Sends as much as possible. False where the connection is over.
    pub(super) fn send(&mut self) -> bool {
        while let Some(piece) = self.output.front_mut() {
            let Some(socket) = self.socket.if_open() else { return false };
            match send(socket, &piece.bytes[piece.sent..], piece.file.as_ref()) {
                Ok(count) => {
                    piece.file = None;
                    piece.sent += count;
                    self.unsent -= count;
                    self.progressed = Instant::now();
                    if piece.sent == piece.bytes.len() {
                        self.output.pop_front();
                    }
                }
                Err(error) => return is_later(&error),
            }
        }
        !self.ending
    }
}

/// True where the operation succeeds later.
fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
