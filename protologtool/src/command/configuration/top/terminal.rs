//! The terminal: a screen of its own, keys as they are pressed, and all as it was in the end.
//!
//! Signals that end a program, and that of a new size, set flags that [`Terminal::wait`] looks at;
//! dropping the value restores. Ctrl-Z suspends the program with the terminal restored; however it
//! was stopped, the screen is its own again when it goes on.

use super::keys::{Key, KeyReader};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, kill_current_process_group};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
use std::io::{self, Stdout, Write, stdin, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The longest that a signal waits which came just before the terminal was waited for.
const SIGNALS: Duration = Duration::from_millis(250);

/// The most bytes of keys that are read at once.
const MOST: usize = 4096;

/// The alternate screen, without the cursor; pasted text comes between marks. A line that takes
/// more cells here than this terminal says, as names of other programs may, goes over no other one.
const BEGIN: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h";
const END: &[u8] = b"\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l";

/// The terminal while it is drawn on.
pub(super) struct Terminal {
    before: Termios,
    raw: Termios,
    out: Stdout,
    keys: KeyReader,
    is_ended: Arc<AtomicBool>,
    /// The program goes on after it was stopped.
    is_continued: Arc<AtomicBool>,
}

impl Terminal {
    pub(super) fn open() -> io::Result<Self> {
        let is_ended = Arc::new(AtomicBool::new(false));
        crate::first_process::handle_signals();
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            signal_hook::flag::register(signal, is_ended.clone())?;
        }
        // That it came is enough: it interrupts the wait, and each picture asks for the size.
        signal_hook::flag::register(SIGWINCH, Arc::new(AtomicBool::new(false)))?;
        let is_continued = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGCONT, is_continued.clone())?;
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        let keys = KeyReader::default();
        let terminal = Self { before, raw, out: stdout(), keys, is_ended, is_continued };
        terminal.begin()?;
        Ok(terminal)
    }

    fn begin(&self) -> io::Result<()> {
        tcsetattr(stdin(), OptionalActions::Flush, &self.raw)?;
        self.write(BEGIN)
    }

    fn end(&self) {
        // A terminal that has gone away needs nothing.
        let _ = self.write(END);
        let _ = tcsetattr(stdin(), OptionalActions::Flush, &self.before);
    }

    /// Stops the program until somebody has it go on, as Ctrl-Z does elsewhere: with all of its
    /// process group, such as the shell script that waits for it. Where no shell looks after the
    /// group, nothing stops.
    pub(super) fn suspend(&self) -> io::Result<()> {
        self.end();
        let stopped = kill_current_process_group(Signal::TSTP);
        self.is_continued.store(false, Ordering::Relaxed);
        self.begin()?;
        Ok(stopped?)
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> (usize, usize) {
        match tcgetwinsize(&self.out) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                (size.ws_col.into(), size.ws_row.into())
            }
            _ => (80, 24),
        }
    }

    pub(super) fn draw(&self, lines: &[String]) -> io::Result<()> {
        let mut picture = "\x1b[H".to_owned();
        // Behind a line as wide as the screen, the cursor is still at its last character, which an
        // erasure would take.
        picture.push_str(
            &lines.iter().map(|line| format!("\x1b[K{line}")).collect::<Vec<_>>().join("\r\n"),
        );
        picture.push_str("\x1b[J");
        self.write(picture.as_bytes())
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = self.out.lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Waits for keys, up to this time; a signal may end it early. None once a signal has ended the
    /// program.
    pub(super) fn wait(&mut self, time: Duration) -> io::Result<Option<Vec<Key>>> {
        let time = time.min(SIGNALS);
        let input = stdin();
        let mut fds = [PollFd::new(&input, PollFlags::IN)];
        let timeout = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
        let ready = match poll(&mut fds, Some(&timeout)) {
            Err(rustix::io::Errno::INTR) => 0,
            other => other?,
        };
        if self.is_ended.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if self.is_continued.swap(false, Ordering::Relaxed) {
            // The shell has given the terminal back to what is before it.
            self.begin()?;
            return Ok(Some(Vec::new()));
        }
        if ready == 0 {
            return Ok(Some(Vec::new()));
        }
        let mut bytes = [0; MOST];
        match rustix::io::read(&input, &mut bytes) {
            Ok(0) => Ok(Some(vec![Key::End])),
            Ok(count) => Ok(Some(self.keys.read(&bytes[..count], count == MOST))),
            Err(rustix::io::Errno::INTR) => Ok(Some(Vec::new())),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.end();
    }
}
