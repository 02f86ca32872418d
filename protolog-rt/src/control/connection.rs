//! One operator's connection: lines in, lines out, within limits.
//!
//! ```text
//! silent --first whole line--> asking --answer queued--> answering --all sent--> asking
//!    \________________ too long, too slow, gone, refused: closed _______________/
//! ```
//!
//! Invariants: a line is at most [`MAX_LINE`] bytes; while more than [`MOST_UNSENT`] bytes of answers wait, no question is
//! read; nothing here waits.

use super::answer::Answer;
use crate::sys::close_on_fork::CloseOnFork;
use crate::sys::socket::send;
use protolog_core::control::protocol::MAX_LINE;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Bytes of answers that may wait before another question is read.
const MOST_UNSENT: usize = 64 << 10;
/// How long a connection may take over its first line, the rest of a line, or an answer that it does not read.
const SLOW: Duration = Duration::from_secs(5);
/// How long a connection may have nothing to ask.
const IDLE: Duration = Duration::from_secs(60);

/// See the module.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: CloseOnFork<UnixStream>,
    input: Vec<u8>,
    output: VecDeque<Piece>,
    unsent: usize,
    /// Whether it ever asked a whole question.
    pub(super) asked: bool,
    /// Whether it said which version it speaks.
    pub(super) greeted: bool,
    /// When it last came on by something.
    pub(super) moved: Instant,
    /// Nothing more is read: it is closed when all is sent.
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
    /// A connection that was just made.
    pub(super) fn new(socket: CloseOnFork<UnixStream>) -> Self {
        Self {
            socket,
            input: Vec::new(),
            output: VecDeque::new(),
            unsent: 0,
            asked: false,
            greeted: false,
            moved: Instant::now(),
            ending: false,
        }
    }

    /// When it is given up unless something moves.
    pub(super) fn deadline(&self) -> Instant {
        let idle = self.asked && self.input.is_empty() && self.output.is_empty();
        self.moved + if idle { IDLE } else { SLOW }
    }

    /// Whether there is something to send.
    pub(super) fn is_answering(&self) -> bool {
        !self.output.is_empty()
    }

    /// Whether a question may be waiting that was not answered because there were too many at once.
    pub(super) fn has_question(&self) -> bool {
        self.takes_questions() && self.input.contains(&b'\n')
    }

    /// Whether there is room for more.
    pub(super) fn listens(&self) -> bool {
        self.takes_questions() && self.input.len() < MAX_LINE
    }

    /// Whether another question may be answered. Files wait one at a time, since the program has only so many.
    fn takes_questions(&self) -> bool {
        let file = self.output.iter().any(|piece| piece.file.is_some());
        !self.ending && !file && self.unsent <= MOST_UNSENT
    }

    /// Reads what has come. False where the connection is over.
    pub(super) fn read(&mut self) -> bool {
        if !self.listens() {
            return true;
        }
        let mut bytes = [0; MAX_LINE];
        match self.socket.read(&mut bytes[..MAX_LINE - self.input.len()]) {
            Ok(0) => {
                // What was asked before the other side closed its half is answered.
                self.ending = !self.has_question();
                !self.ending || self.is_answering()
            }
            Ok(count) => {
                self.input.extend_from_slice(&bytes[..count]);
                // Half a line, dripping in, is no progress.
                if self.input.contains(&b'\n') {
                    self.moved = Instant::now();
                }
                true
            }
            Err(error) => is_later(&error),
        }
    }

    /// The next question, without its line feed. An error is what is wrong with it; the connection is then to end.
    pub(super) fn question(&mut self) -> Option<Result<String, &'static str>> {
        if !self.takes_questions() {
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
        Some(String::from_utf8(line).map_err(|_| "the line is no UTF-8"))
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

    /// Sends what it can. False where the connection is over.
    pub(super) fn send(&mut self) -> bool {
        while let Some(piece) = self.output.front_mut() {
            match send(&self.socket, &piece.bytes[piece.sent..], piece.file.as_ref()) {
                Ok(count) => {
                    piece.file = None;
                    piece.sent += count;
                    self.unsent -= count;
                    self.moved = Instant::now();
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

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
