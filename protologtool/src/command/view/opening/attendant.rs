//! A thread beside the server: it looks after codes, signals and the terminal.
//!
//! Invariants:
//! - A signal that ends the program does so, after redirect files were removed; one that was
//!   ignored from the start stays so.
//! - Standard input is read only if it is a terminal, and this program the one in front of it:
//!   any other input may be meant for another program, and a program in the background would be
//!   stopped.

use super::Opening;
use crate::exit::Failure;
use crate::first_process;
use crate::system::System;
#[cfg(unix)]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
#[cfg(unix)]
use rustix::process::getpgrp;
#[cfg(unix)]
use rustix::termios::{isatty, tcgetpgrp};
use std::io;
#[cfg(unix)]
use std::io::{Read, Write, stdin};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The time after which a page that did not open is thought of as one that will not.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest time between two looks.
const LOOK: Duration = Duration::from_secs(1);
/// The byte that signals write.
const SIGNAL: u8 = b'X';

/// Something that wakes the attendant, as the byte that is sent for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The server has ended.
    End = b'e' as isize,
    /// The program that opens a browser has failed.
    NoBrowser = b'n' as isize,
}

#[cfg(unix)]
pub(super) struct Attendant {
    events: UnixStream,
    to: UnixStream,
    signal: Arc<AtomicUsize>,
    reads_input: bool,
}

/// Where a terminal and a channel can't be waited for at once: Enter is not read.
#[cfg(not(unix))]
pub(super) struct Attendant {
    events: std::sync::mpsc::Receiver<u8>,
    to: std::sync::mpsc::Sender<u8>,
    signal: Arc<AtomicUsize>,
}

#[cfg(not(unix))]
impl Attendant {
    pub(super) fn new() -> Result<Self, Failure> {
        let made = || -> io::Result<Self> {
            let (to, events) = std::sync::mpsc::channel();
            let signal = Arc::new(AtomicUsize::new(0));
            first_process::handle_signals();
            for number in first_process::not_ignored(first_process::SIGNALS) {
                signal_hook::flag::register_usize(number, signal.clone(), number as usize)?;
            }
            Ok(Self { events, to, signal })
        };
        made().map_err(|error| Failure::new(format!("can't wait for signals: {error}")))
    }

    /// A function that sends an event.
    pub(super) fn waker(&self, event: Event) -> impl FnOnce() + Send + use<> {
        let to = self.to.clone();
        move || {
            // The receiver is there as long as the server is.
            let _ = to.send(event as u8);
        }
    }

    /// Waits for an event, and returns it, and that nobody has pressed Enter.
    fn wait(&mut self) -> (Option<u8>, bool) {
        let event = self.events.recv_timeout(LOOK).ok();
        let is_signal = self.signal.load(Ordering::SeqCst) != 0;
        (event.or(is_signal.then_some(SIGNAL)), false)
    }
}

#[cfg(unix)]
impl Attendant {
    pub(super) fn new() -> Result<Self, Failure> {
        let made = || -> io::Result<Self> {
            let (events, to) = UnixStream::pair()?;
            let signal = Arc::new(AtomicUsize::new(0));
            first_process::handle_signals();
            for number in first_process::not_ignored(first_process::SIGNALS) {
                signal_hook::flag::register_usize(number, signal.clone(), number as usize)?;
                signal_hook::low_level::pipe::register(number, to.try_clone()?)?;
            }
            Ok(Self { events, to, signal, reads_input: isatty(stdin()) })
        };
        made().map_err(|error| Failure::new(format!("can't wait for signals: {error}")))
    }

    /// A function that sends an event.
    pub(super) fn waker(&self, event: Event) -> impl FnOnce() + Send + use<> {
        let to = self.to.try_clone();
        move || {
            // The receiver is there as long as the server is.
            let _ = to.and_then(|mut to| to.write_all(&[event as u8]));
        }
    }

    /// Waits for an event, and returns it, and whether the user has pressed Enter.
    fn wait(&mut self) -> (Option<u8>, bool) {
        let input = stdin();
        let is_in_front = self.reads_input && tcgetpgrp(&input).is_ok_and(|it| it == getpgrp());
        let mut fds = vec![PollFd::new(&self.events, PollFlags::IN)];
        if is_in_front {
            fds.push(PollFd::new(&input, PollFlags::IN));
        }
        let time = Timespec { tv_sec: LOOK.as_secs() as i64, tv_nsec: 0 };
        let _ = poll(&mut fds, Some(&time));
        let is_ready = |at: usize| fds.get(at).is_some_and(|it| !it.revents().is_empty());
        let (has_event, has_input) = (is_ready(0), is_ready(1));
        let mut byte = [0];
        let event = has_event.then(|| self.events.read(&mut byte).is_ok().then_some(byte[0]));
        let mut line = [0; 1024];
        let read = if has_input { rustix::io::read(&input, &mut line).unwrap_or(0) } else { 0 };
        self.reads_input &= !has_input || read > 0;
        (event.flatten(), line[..read].contains(&b'\n'))
    }
}

impl Attendant {
    /// Runs until [`Event::End`], or until a signal ends the program.
    pub(super) fn run(&mut self, opening: &Opening, is_opened: bool, system: &dyn System) {
        let begun = Instant::now();
        let mut waits_for_browser = is_opened;
        loop {
            let (event, asks) = self.wait();
            match event {
                Some(it) if it == Event::End as u8 => return opening.admission.close(),
                Some(SIGNAL) => {
                    opening.admission.close();
                    let signal = self.signal.load(Ordering::SeqCst) as i32;
                    first_process::die_of(signal);
                }
                _ => {}
            }
            opening.admission.expire();
            let has_failed = event == Some(Event::NoBrowser as u8) || begun.elapsed() > TIMEOUT;
            let is_late = waits_for_browser && has_failed;
            waits_for_browser &= !is_late && opening.admission.is_unused();
            if asks {
                opening.help("", system);
            } else if is_late && opening.admission.is_unused() {
                opening.help("if no page has opened, ", system);
            }
        }
    }
}
