//! The marks of fatal signals in a recording, and the name of the file that becomes of them.
//!
//! ```text
//! 12288 u16 length, path of the session's trigger files; 4096 bytes
//! 16384 4 × { u64 + time of BOOTTIME in ns; 0: no mark, u32 + signal, u32 + thread, u32 + code, u32, u64 + address or process }
//! ```
//!
//! A signal handler claims a place by its signal and thread, fills it, and stores the time last. It
//! takes the mark away where the process lives on. Layouts without marks have zeros there.

use super::{HEADER_SIZE, TRACE_FILE_SIZE, read_u32, read_u64};

/// Offset of the path of the session's trigger files, with its length before it.
pub const EVENT_FILES_AT: usize = HEADER_SIZE + 2 * TRACE_FILE_SIZE;
/// Most bytes of that path.
pub const MAX_EVENT_PATH: usize = TRACE_FILE_SIZE - 2;
/// Offset of the marks.
pub const SIGNAL_MARKS_AT: usize = EVENT_FILES_AT + TRACE_FILE_SIZE;
/// Number of marks.
pub const SIGNAL_MARKS: usize = 4;
/// Words of a mark, of eight bytes.
pub const SIGNAL_MARK_WORDS: usize = 4;

/// The numbers and names of the signals that end a process by a fault of its own, on the processors
/// that there are recordings of.
pub const FATAL_SIGNALS: [(u32, &str); 5] =
    [(4, "SIGILL"), (6, "SIGABRT"), (7, "SIGBUS"), (8, "SIGFPE"), (11, "SIGSEGV")];

/// The signal that a process sends to itself to end.
const ABORT: u32 = 6;

/// A fatal signal that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalMark {
    /// When, in nanoseconds of BOOTTIME.
    pub time: u64,
    /// The signal's number.
    pub signal: u32,
    /// The thread that it came to.
    pub thread: u32,
    /// Its code: above 0 for a fault.
    pub code: i32,
    /// The address of a fault, or the process that sent it.
    pub origin: u64,
}

impl SignalMark {
    /// The words of a mark, as a recording has them.
    pub const fn to_words(self) -> [u64; SIGNAL_MARK_WORDS] {
        let code = self.code as u32 as u64;
        let code = if cfg!(target_endian = "little") { code } else { code << 32 };
        [self.time, Self::claim(self.signal, self.thread), code, self.origin]
    }

    /// The word that claims a place.
    pub const fn claim(signal: u32, thread: u32) -> u64 {
        // As the two words of the layout, in the byte order of the machine.
        if cfg!(target_endian = "little") {
            (thread as u64) << 32 | signal as u64
        } else {
            (signal as u64) << 32 | thread as u64
        }
    }

    /// The marks in a recording, the oldest first. The bytes may be truncated.
    pub fn read_all(recording: &[u8]) -> impl Iterator<Item = Self> {
        let mut all = [const { None }; SIGNAL_MARKS];
        for (number, mark) in all.iter_mut().enumerate() {
            *mark = Self::read(recording, SIGNAL_MARKS_AT + 8 * SIGNAL_MARK_WORDS * number);
        }
        all.sort_unstable_by_key(|mark| mark.map(|mark: Self| mark.time));
        all.into_iter().flatten()
    }

    fn read(recording: &[u8], at: usize) -> Option<Self> {
        let word = |offset| read_u32(recording, at + offset);
        let mark = Self {
            time: read_u64(recording, at)?,
            signal: word(8)?,
            thread: word(12)?,
            code: word(16)? as i32,
            origin: read_u64(recording, at + 24)?,
        };
        (mark.time != 0 && mark.name().is_some()).then_some(mark)
    }

    /// The mark that names what ended the process: the last one, or what a thread that aborted had
    /// before. A thread whose stack overflows, for example, aborts in the handler of that.
    pub fn cause(recording: &[u8]) -> Option<Self> {
        let last = Self::read_all(recording).last()?;
        let before = Self::read_all(recording).filter(|mark| mark.thread == last.thread);
        let before = before.filter(|mark| mark.signal != ABORT).last();
        Some(before.filter(|_| last.signal == ABORT).unwrap_or(last))
    }

    /// The name of the signal, as `SIGSEGV`.
    pub fn name(self) -> Option<&'static str> {
        FATAL_SIGNALS.iter().find(|(number, _)| *number == self.signal).map(|(_, name)| *name)
    }

    /// How it came.
    pub fn kind(self, pid: u32) -> SignalKind {
        match self.code {
            1.. if self.signal != ABORT => SignalKind::Fault,
            _ if self.origin == u64::from(pid) => SignalKind::Raised,
            _ => SignalKind::Sent,
        }
    }
}

/// The ways in which a fatal signal comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalKind {
    /// By an instruction, at an address.
    Fault,
    /// The process raised it itself, as `abort` does.
    Raised,
    /// A process sent it.
    Sent,
}

impl SignalKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Fault, Self::Raised, Self::Sent];

    /// The text behind the signal's name in the template of its message, which has at most one
    /// argument: the origin of the mark.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Fault => " at address 0x%x",
            Self::Raised => "",
            Self::Sent => " from process %d",
        }
    }
}

/// The path of the trigger files of a recording's session, as far as there is one.
pub fn event_path(recording: &[u8]) -> Option<&[u8]> {
    let (length, rest) = recording.get(EVENT_FILES_AT..)?.split_first_chunk()?;
    let length = usize::from(u16::from_ne_bytes(*length));
    rest.get(..length).filter(|path| !path.is_empty() && path.len() <= MAX_EVENT_PATH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    fn recording(marks: &[SignalMark]) -> Vec<u8> {
        let mut bytes = vec![0; super::super::RING_AT];
        let words = marks.iter().flat_map(|mark| mark.to_words());
        for (number, word) in words.enumerate() {
            bytes[SIGNAL_MARKS_AT + 8 * number..][..8].copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    fn mark(time: u64, signal: u32, thread: u32) -> SignalMark {
        SignalMark { time, signal, thread, code: -6, origin: u64::MAX - 1 }
    }

    #[test]
    fn marks_are_read_back_by_time() {
        let (one, other) = (mark(5, 11, 7), mark(4, 8, 9));
        let bytes = recording(&[one, other]);
        assert_eq!(SignalMark::read_all(&bytes).collect::<Vec<_>>(), [other, one]);
        for end in [0, SIGNAL_MARKS_AT, SIGNAL_MARKS_AT + 31] {
            assert_eq!(SignalMark::read_all(&bytes[..end]).count(), 0, "{end}");
        }
        // One that is not complete, and one of a signal that ends nothing.
        let bytes = recording(&[mark(0, 11, 7), mark(1, 10, 7)]);
        assert_eq!(SignalMark::cause(&bytes), None);
    }

    #[test]
    fn a_thread_that_aborts_does_so_because_of_what_it_had_before() {
        let cause = |marks: &[SignalMark]| {
            SignalMark::cause(&recording(marks)).map(|mark| (mark.time, mark.name().unwrap()))
        };
        assert_eq!(cause(&[mark(1, 11, 7), mark(2, 6, 7)]), Some((1, "SIGSEGV")));
        assert_eq!(cause(&[mark(1, 11, 7), mark(2, 6, 8)]), Some((2, "SIGABRT")));
        assert_eq!(cause(&[mark(1, 11, 7), mark(2, 8, 7)]), Some((2, "SIGFPE")));
        assert_eq!(cause(&[]), None);
    }

    #[test]
    fn a_path_is_read_back() {
        let mut bytes = recording(&[]);
        assert_eq!(event_path(&bytes), None);
        bytes[EVENT_FILES_AT..][..2].copy_from_slice(&4u16.to_ne_bytes());
        bytes[EVENT_FILES_AT + 2..][..4].copy_from_slice(b"/a/b");
        assert_eq!(event_path(&bytes), Some(&b"/a/b"[..]));
        bytes[EVENT_FILES_AT..][..2].copy_from_slice(&u16::MAX.to_ne_bytes());
        assert_eq!(event_path(&bytes), None);
    }
}
