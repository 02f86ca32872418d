//! The terminal: a screen of its own, keys as they are pressed, and all as it was in the end.
//!
//! Signals that end a program, and that of a new size, set flags that [`Terminal::wait`] looks at; dropping the value restores.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
use std::io::{self, Stdout, Write, stdin, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The longest that a signal waits which came just before the terminal was waited for.
const SIGNALS: Duration = Duration::from_millis(250);

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Up,
    Down,
    Escape,
    /// Ctrl-C, Ctrl-D, or the end of the input.
    End,
}

/// The terminal while it is drawn on.
pub(super) struct Terminal {
    before: Termios,
    out: Stdout,
    is_ended: Arc<AtomicBool>,
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
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        let terminal = Self { before, out: stdout(), is_ended };
        tcsetattr(stdin(), OptionalActions::Flush, &raw)?;
        // The alternate screen, without the cursor.
        terminal.write(b"\x1b[?1049h\x1b[?25l")?;
        Ok(terminal)
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
        picture.push_str(
            &lines.iter().map(|line| format!("{line}\x1b[K")).collect::<Vec<_>>().join("\r\n"),
        );
        picture.push_str("\x1b[J");
        self.write(picture.as_bytes())
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = self.out.lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Waits for keys, up to this time; a signal may end it early. None once a signal has ended the program.
    pub(super) fn wait(&self, time: Duration) -> io::Result<Option<Vec<Key>>> {
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
        if ready == 0 {
            return Ok(Some(Vec::new()));
        }
        let mut bytes = [0; 64];
        match rustix::io::read(&input, &mut bytes) {
            Ok(0) => Ok(Some(vec![Key::End])),
            Ok(count) => Ok(Some(keys(&bytes[..count]))),
            Err(rustix::io::Errno::INTR) => Ok(Some(Vec::new())),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A terminal that has gone away needs nothing.
        let _ = self.write(b"\x1b[?25h\x1b[?1049l");
        let _ = tcsetattr(stdin(), OptionalActions::Flush, &self.before);
    }
}

/// The keys in what the terminal sent at once.
fn keys(mut bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    while let Some((&first, rest)) = bytes.split_first() {
        keys.extend(key(first, rest));
        bytes = &rest[length(first, rest)..];
    }
    keys
}

/// The key that begins with this byte; none of those that are not known.
fn key(first: u8, rest: &[u8]) -> Option<Key> {
    match (first, rest) {
        (0x1b, [b'[' | b'O', b'A', ..]) => Some(Key::Up),
        (0x1b, [b'[' | b'O', b'B', ..]) => Some(Key::Down),
        (0x1b, []) => Some(Key::Escape),
        (3 | 4, _) => Some(Key::End),
        (b' '..=b'~', _) => Some(Key::Char(char::from(first))),
        _ => None,
    }
}

/// The number of bytes after the first one that are of the same key.
fn length(first: u8, rest: &[u8]) -> usize {
    match (first, rest) {
        (0x1b, [b'O', _, ..]) => 2,
        (0x1b, [b'[', more @ ..]) => {
            let end = more.iter().position(|byte| (0x40..=0x7e).contains(byte));
            end.map_or(rest.len(), |end| end + 2)
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_distinguished() {
        let all = [Key::Char('q'), Key::Up, Key::Down, Key::Down, Key::End];
        assert_eq!(keys(b"q\x1b[A\x1bOB\x1b[5~\x1b[B\x03"), all);
        assert_eq!(keys(b"\x1b"), [Key::Escape]);
        assert_eq!(keys(b"\x1b["), []);
        assert_eq!(keys("\u{e4}t".as_bytes()), [Key::Char('t')]);
    }
}
