//! What an operator and a program say to each other over the program's socket: lines of UTF-8 text.
//!
//! The operator asks, one line a question; the program answers with any number of lines, the last of which is `ok` or
//! `error …`. Questions may be sent before earlier answers have come. The first one is the version:
//!
//! ```text
//! > protolog 1
//! < protolog 1 4711 indexer
//! < ok
//! > groups
//! < group 0 0 003f0000 y app::AppLog::Net Net
//! < group - 0 00000000 n app::DbLog::Row Row
//! < ok
//! > set Net=debug
//! < ok
//! > trace-start ring-buffer 65536 *=info;Net=debug /var/log/app trace.pftrace
//! < help stop it first
//! < error a trace is being made already
//! ```
//!
//! Text that may hold spaces stands last in its line. A line has at most [`MAX_LINE`] bytes with its line feed.
//!
//! What changes the version: a question or answer that means something else than before, or an answer's line that loses a
//! word. What does not: a new question (an older program answers `error`, and goes on), a new kind of line in an answer
//! (an older operator passes over it).
//!
//! Invariants: reading is total and borrows; what is written is one line, whatever the texts hold.

use super::words::{Clean, Words};
use crate::FillPolicy;
use core::fmt;

/// The version that is spoken here.
pub const VERSION: u32 = 1;
/// The most bytes of a line, its end included.
pub const MAX_LINE: usize = 8192;
/// What the names of programs' sockets end in.
pub const SOCKET_SUFFIX: &str = ".sock";

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// `protolog VERSION`: the first one.
    Hello(u32),
    /// `groups`: all groups, with their words.
    Groups,
    /// `pages`: the memory that holds the words, as a file descriptor with the answer.
    Pages,
    /// `set ITEM`: a wish, as [`super::setting`] has it, for the groups that are there and those that come.
    Set(&'a str),
    /// `trace-start FILL_POLICY BUFFER SETTINGS FILE`: starts a session.
    TraceStart(TraceStart<'a>),
    /// `trace-stop`: ends that session.
    TraceStop,
    /// `trace-status`: that session.
    TraceStatus,
    /// `stats`: all sessions, and what was lost.
    Stats,
}

/// The session to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStart<'a> {
    /// The fill policy of its buffer.
    pub fill_policy: FillPolicy,
    /// Size of the buffer in bytes; 0 for what the program thinks best.
    pub buffer: u64,
    /// Which levels of which groups, as [`super::setting`] has it, without spaces; `-` for all of all.
    pub settings: &'a str,
    /// An absolute path.
    pub file: &'a str,
}

/// A line of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// `protolog VERSION PID PROGRAM`
    Hello {
        /// The version that the program speaks.
        version: u32,
        /// Its process, as it sees itself.
        pid: u32,
        /// The name of its executable.
        program: &'a str,
    },
    /// `group PAGE INDEX WORD COMPILED NAME TAG`
    Group {
        /// The page with its word; none where it has not come up yet, or there is no memory to share.
        page: Option<u32>,
        /// Which word of the page.
        index: u16,
        /// The word, as [`super::switch`] has it.
        word: u32,
        /// `y`: its calls are compiled in; `n`: they are not.
        compiled: bool,
        /// Its full name.
        name: &'a str,
        /// What logcat's formats show.
        tag: &'a str,
    },
    /// `pages COUNT SIZE`; a file descriptor comes with it
    Pages {
        /// How many pages there are in the memory.
        count: u32,
        /// Bytes of a page.
        size: u32,
    },
    /// `session CONTROL FILL_POLICY MESSAGES LOST BYTES FILE`
    Session {
        /// `y`: it was started over this socket; `n`: by the program itself.
        control: bool,
        /// The fill policy of its buffer.
        fill_policy: FillPolicy,
        /// Messages so far, as far as they are counted while it goes on.
        messages: u64,
        /// Messages that were lost.
        lost: u64,
        /// Bytes of the file so far.
        bytes: u64,
        /// Where it is written.
        file: &'a str,
    },
    /// `written MESSAGES LOST BYTES GROUP`: belongs to the last `session`
    Written {
        /// Messages in the file or, for a buffer that is not streamed, in the buffer.
        messages: u64,
        /// Messages that were lost, whatever the cause.
        lost: u64,
        /// What those written take, in bytes, before any compression.
        bytes: u64,
        /// The group's full name; empty where it is not known.
        group: &'a str,
    },
    /// `lost COUNT CAUSE GROUP`: belongs to the last `session`
    Lost {
        /// How many messages.
        count: u64,
        /// Why, a word.
        cause: &'a str,
        /// The group's full name; empty where it is not known.
        group: &'a str,
    },
    /// `problem TEXT`: something that went wrong before, such as a file of wishes that can't be read
    Problem(&'a str),
    /// `help TEXT`: what to do about the error that follows
    Help(&'a str),
    /// `ok`: the end of the answer
    Ok,
    /// `error TEXT`: the end of the answer
    Error(&'a str),
}

impl<'a> Request<'a> {
    /// The question in a line, which has no end; none where it is none that is known.
    pub fn parse(line: &'a str) -> Option<Self> {
        let mut words = Words::new(line);
        let request = match words.word()? {
            "protolog" => Self::Hello(words.value()?),
            "groups" => Self::Groups,
            "pages" => Self::Pages,
            "set" => Self::Set(words.rest()?),
            "trace-start" => Self::TraceStart(TraceStart {
                fill_policy: FillPolicy::from_name(words.word()?)?,
                buffer: words.value()?,
                settings: words.word()?,
                file: words.rest()?,
            }),
            "trace-stop" => Self::TraceStop,
            "trace-status" => Self::TraceStatus,
            "stats" => Self::Stats,
            _ => return None,
        };
        words.end(request)
    }
}

impl fmt::Display for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hello(version) => write!(f, "protolog {version}"),
            Self::Groups => f.write_str("groups"),
            Self::Pages => f.write_str("pages"),
            Self::Set(item) => write!(f, "set {}", Clean(item)),
            Self::TraceStart(TraceStart { fill_policy, buffer, settings, file }) => {
                let (fill_policy, settings) = (fill_policy.name(), Clean(settings));
                write!(f, "trace-start {fill_policy} {buffer} {settings} {}", Clean(file))
            }
            Self::TraceStop => f.write_str("trace-stop"),
            Self::TraceStatus => f.write_str("trace-status"),
            Self::Stats => f.write_str("stats"),
        }
    }
}

impl<'a> Reply<'a> {
    /// The line of an answer, which has no end; none where it is of no kind that is known.
    pub fn parse(line: &'a str) -> Option<Self> {
        let mut words = Words::new(line);
        let reply = match words.word()? {
            "protolog" => {
                Self::Hello { version: words.value()?, pid: words.value()?, program: words.rest()? }
            }
            "group" => Self::Group {
                page: match words.word()? {
                    "-" => None,
                    page => Some(page.parse().ok()?),
                },
                index: words.value()?,
                word: u32::from_str_radix(words.word()?, 16).ok()?,
                compiled: yes(words.word()?)?,
                name: words.word()?,
                tag: words.rest()?,
            },
            "pages" => Self::Pages { count: words.value()?, size: words.value()? },
            "session" => Self::Session {
                control: yes(words.word()?)?,
                fill_policy: FillPolicy::from_name(words.word()?)?,
                messages: words.value()?,
                lost: words.value()?,
                bytes: words.value()?,
                file: words.rest()?,
            },
            "written" => Self::Written {
                messages: words.value()?,
                lost: words.value()?,
                bytes: words.value()?,
                group: words.rest()?,
            },
            "lost" => {
                Self::Lost { count: words.value()?, cause: words.word()?, group: words.rest()? }
            }
            "problem" => Self::Problem(words.rest()?),
            "help" => Self::Help(words.rest()?),
            "ok" => Self::Ok,
            "error" => Self::Error(words.rest()?),
            _ => return None,
        };
        words.end(reply)
    }
}

impl fmt::Display for Reply<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Hello { version, pid, program } => {
                write!(f, "protolog {version} {pid} {}", Clean(program))
            }
            Self::Group { page, index, word, compiled, name, tag } => {
                f.write_str("group ")?;
                match page {
                    Some(page) => write!(f, "{page}")?,
                    None => f.write_str("-")?,
                }
                let (compiled, name, tag) = (letter(compiled), Clean(name), Clean(tag));
                write!(f, " {index} {word:08x} {compiled} {name} {tag}")
            }
            Self::Pages { count, size } => write!(f, "pages {count} {size}"),
            Self::Session { control, fill_policy, messages, lost, bytes, file } => {
                let (control, fill_policy, file) =
                    (letter(control), fill_policy.name(), Clean(file));
                write!(f, "session {control} {fill_policy} {messages} {lost} {bytes} {file}")
            }
            Self::Written { messages, lost, bytes, group } => {
                write!(f, "written {messages} {lost} {bytes} {}", Clean(group))
            }
            Self::Lost { count, cause, group } => {
                write!(f, "lost {count} {} {}", Clean(cause), Clean(group))
            }
            Self::Problem(text) => write!(f, "problem {}", Clean(text)),
            Self::Help(text) => write!(f, "help {}", Clean(text)),
            Self::Ok => f.write_str("ok"),
            Self::Error(text) => write!(f, "error {}", Clean(text)),
        }
    }
}

fn letter(yes: bool) -> char {
    if yes { 'y' } else { 'n' }
}

fn yes(word: &str) -> Option<bool> {
    match word {
        "y" => Some(true),
        "n" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn questions_are_lines() {
        let start = TraceStart {
            fill_policy: FillPolicy::RingBuffer,
            buffer: 65536,
            settings: "*=info;Net=debug",
            file: "/var/log/app trace",
        };
        for (request, line) in [
            (Request::Hello(1), "protolog 1"),
            (Request::Groups, "groups"),
            (Request::Pages, "pages"),
            (Request::Set("a=debug, text"), "set a=debug, text"),
            (
                Request::TraceStart(start),
                "trace-start ring-buffer 65536 *=info;Net=debug /var/log/app trace",
            ),
            (Request::TraceStop, "trace-stop"),
            (Request::TraceStatus, "trace-status"),
            (Request::Stats, "stats"),
        ] {
            assert_eq!(request.to_string(), line);
            assert_eq!(Request::parse(line), Some(request));
        }
        for line in ["", " ", "protolog", "protolog x", "protolog 1 2", "groups ", "set", "GROUPS"]
        {
            assert_eq!(Request::parse(line), None, "{line:?}");
        }
        assert_eq!(
            Request::Set("a\nstats").to_string(),
            "set a?stats",
            "one line, whatever it holds"
        );
    }

    #[test]
    fn answers_are_lines() {
        let group = Reply::Group {
            page: Some(0),
            index: 7,
            word: 0x3f_0000,
            compiled: true,
            name: "app::AppLog::Net",
            tag: "my net",
        };
        for (reply, line) in [
            (Reply::Hello { version: 1, pid: 4711, program: "a b" }, "protolog 1 4711 a b"),
            (group, "group 0 7 003f0000 y app::AppLog::Net my net"),
            (Reply::Pages { count: 3, size: 4096 }, "pages 3 4096"),
            (
                Reply::Session {
                    control: true,
                    fill_policy: FillPolicy::Stream,
                    messages: 1,
                    lost: 2,
                    bytes: 3,
                    file: "/a b",
                },
                "session y stream 1 2 3 /a b",
            ),
            (
                Reply::Written { messages: 1, lost: 2, bytes: 3, group: "a::b" },
                "written 1 2 3 a::b",
            ),
            (Reply::Lost { count: 2, cause: "full", group: "" }, "lost 2 full "),
            (Reply::Problem("x y"), "problem x y"),
            (Reply::Help("stop it"), "help stop it"),
            (Reply::Ok, "ok"),
            (Reply::Error("no"), "error no"),
        ] {
            assert_eq!(reply.to_string(), line);
            assert_eq!(Reply::parse(line), Some(reply));
        }
        for line in
            ["", "group x 0 0 y a b", "group 0 0 0 maybe a b", "pages 1", "ok then", "session"]
        {
            assert_eq!(Reply::parse(line), None, "{line:?}");
        }
        assert!(matches!(Reply::parse("group - 0 0 n a b"), Some(Reply::Group { page: None, .. })));
    }
}
