//! The protocol between an operator and a program on the program's socket: lines of UTF-8 text.
//!
//! A request is one line. The program replies with any number of lines, the last of which is `ok`
//! or `error …`. Requests can be pipelined. The first one is the version:
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
//! < error a trace is being recorded already
//! ```
//!
//! A text that may hold spaces is the last word of its line. The name of a group is a
//! [word](super::name::NameWord): in quotation marks where it is empty, begins with one, or has
//! spaces or controls. A line has at most [`MAX_LINE`] bytes, including its line feed.
//!
//! A change of meaning and a reply line that loses a word need a new version. A new request does
//! not, because an older program replies with `error` and goes on; nor does a new kind of reply
//! line, because an older operator skips it.
//!
//! Invariants: parsing is total and borrows; each value is written as exactly one line, with any
//! text.

use super::words::{OneLine, Words};
use crate::FillPolicy;
use core::ffi::CStr;
use core::fmt;

/// The version of the protocol.
pub const VERSION: u32 = 1;
/// The maximum length of a line in bytes, including its line feed.
pub const MAX_LINE: usize = 8192;
/// The suffix of the names of sockets.
pub const SOCKET_SUFFIX: &str = ".sock";
/// The extension, in place of that of the socket, of the file with the switches of a program that
/// can't pass file descriptors.
pub const SWITCHES_EXTENSION: &str = "switches";

/// The kernel's name of the file in memory with the switches of a program in Rust.
pub const MEMORY_NAME: &CStr = c"protolog-switches";

/// Returns the number of the descriptor in a name of the form `/proc/PID/fd/NUMBER`.
pub fn descriptor_of(name: &str) -> Option<u32> {
    let (pid, descriptor) = name.strip_prefix("/proc/")?.split_once("/fd/")?;
    // As the kernel writes them: without a sign.
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then_some(text)?.parse().ok();
    let _: u32 = number(pid)?;
    number(descriptor)
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// `protolog VERSION`: the first one.
    Hello(u32),
    /// `groups`: all groups, with their switch words.
    Groups,
    /// `pages`: the memory with the switch words, as a file descriptor that comes with the reply.
    Pages,
    /// `pages-file`: the same memory, as a file with a name, for operators or of programs that
    /// can't pass file descriptors.
    PagesFile,
    /// `set SETTING`: applies a setting ([`super::setting`]) to existing groups, and to later ones
    /// when they register.
    Set(&'a str),
    /// `trace-start FILL_POLICY BUFFER SETTINGS FILE`: starts a session.
    TraceStart(TraceStart<'a>),
    /// `trace-stop`: stops that session.
    TraceStop,
    /// `trace-status`: the state of that session.
    TraceStatus,
    /// `trigger CAUSE`: fires the triggers of the program's sessions, each of which then writes a
    /// file.
    Trigger(&'a str),
    /// `stats`: the state of all sessions, with their losses.
    Stats,
    /// `sessions`: all sessions, with the levels that each records of the groups. No session is
    /// flushed for it.
    Sessions,
    /// `sites LIMIT SELECTOR`: calls that a selector takes ([`super::selector`]), at most so many,
    /// and the number of all.
    Sites(u32, &'a str),
    /// `rules`: the rules of single calls that hold ([`super::site_rule`]).
    Rules,
}

/// The session to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStart<'a> {
    /// The fill policy of its buffer.
    pub fill_policy: FillPolicy,
    /// Size of the buffer in bytes; 0 for the program's default.
    pub buffer: u64,
    /// The levels to record, as [`super::setting`] has them, without spaces; `-` for all levels of
    /// all groups.
    pub settings: &'a str,
    /// The file, an absolute path.
    pub file: &'a str,
}

/// A line of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// `protolog VERSION PID PROGRAM`
    Hello {
        /// The version that the program speaks.
        version: u32,
        /// Its process id, in its own PID namespace.
        pid: u32,
        /// The name of its executable.
        program: &'a str,
    },
    /// `group PAGE INDEX WORD COMPILED NAME TAG`
    Group {
        /// The page with its switch word; none before the group registers, and if no memory is
        /// shared.
        page: Option<u32>,
        /// The index of its word in the page.
        index: u16,
        /// The switch word ([`super::switch`]).
        word: u32,
        /// True if the group's calls are compiled in.
        compiled: bool,
        /// Its full name, as a [word](super::name::NameWord).
        name: &'a str,
        /// The tag that logcat's formats show.
        tag: &'a str,
    },
    /// `pages COUNT SIZE`, with a file descriptor
    Pages {
        /// Number of pages in the memory.
        count: u32,
        /// Size of a page, in bytes.
        size: u32,
    },
    /// `pages-file COUNT SIZE NAME`
    PagesFile {
        /// Number of pages in the file.
        count: u32,
        /// Size of a page, in bytes.
        size: u32,
        /// The name of a file in the directory of the socket; or `/proc/PID/fd/NUMBER`, a file in
        /// memory ([`descriptor_of`]).
        name: &'a str,
    },
    /// `session CONTROL FILL_POLICY MESSAGES LOST BYTES FILE`
    Session {
        /// True if it was started over this socket, false if the program started it.
        control: bool,
        /// The fill policy of its buffer.
        fill_policy: FillPolicy,
        /// Messages so far, as far as they are counted while it runs.
        messages: u64,
        /// Lost messages.
        lost: u64,
        /// Size of the file so far, in bytes.
        bytes: u64,
        /// The path of the file.
        file: &'a str,
    },
    /// `written MESSAGES LOST BYTES GROUP`: belongs to the last `session`
    Written {
        /// Messages in the file or, if the session does not stream, in the buffer.
        messages: u64,
        /// Lost messages, whatever the cause.
        lost: u64,
        /// Size of the written messages in bytes, before any compression.
        bytes: u64,
        /// The group's full name, as a [word](super::name::NameWord); empty if it is not known.
        group: &'a str,
    },
    /// `lost COUNT CAUSE GROUP`: belongs to the last `session`
    Lost {
        /// Number of messages.
        count: u64,
        /// The name of the cause ([`crate::LossCause::name`]).
        cause: &'a str,
        /// The group's full name, as a [word](super::name::NameWord); empty if it is not known.
        group: &'a str,
    },
    /// `tracing CONTROL FILL_POLICY FILE`: a session that runs
    Tracing {
        /// True if it was started over this socket, false if the program started it.
        control: bool,
        /// The fill policy of its buffer.
        fill_policy: FillPolicy,
        /// The path of the file, or `-` for none.
        file: &'a str,
    },
    /// `levels LEVELS GROUP`: belongs to the last `tracing`
    Levels {
        /// The levels that the session enables, not empty (bit = [`crate::Level::severity`]); in
        /// hexadecimal on the line. The operator may allow fewer.
        levels: u8,
        /// The group's full name, as a [word](super::name::NameWord).
        group: &'a str,
    },
    /// `site ID LEVEL RULE LINE GROUP MODULE FILE TEMPLATE`: a call
    Site(SiteLine<'a>),
    /// `taken COUNT`: the number of calls that the selector takes, also of those that are not
    /// listed
    Taken(u64),
    /// `rule COUNT WORDS SELECTOR`: a rule of single calls
    Rule {
        /// Number of calls that the selector takes.
        calls: u64,
        /// What the rule does with them ([`super::site_rule::SiteSetting`]).
        words: &'a str,
        /// The selector.
        selector: &'a str,
    },
    /// `problem TEXT`: an earlier problem, such as a settings file that can't be read
    Problem(&'a str),
    /// `help TEXT`: the help line of the error that follows
    Help(&'a str),
    /// `ok`: the end of the reply
    Ok,
    /// `error TEXT`: the end of the reply
    Error(&'a str),
}

/// A call of a program, as a line has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteLine<'a> {
    /// The message's id; 16 hexadecimal digits on the line.
    pub id: u64,
    /// The name of the level.
    pub level: &'a str,
    /// What a rule does with it ([`super::site_rule::SiteSetting`]), or `-`.
    pub rule: &'a str,
    /// The line in the file; 0 if it is not known.
    pub line: u32,
    /// The full name of the group, the module and the file, as [words](super::name::NameWord).
    pub group: &'a str,
    /// See above.
    pub module: &'a str,
    /// See above.
    pub file: &'a str,
    /// The template.
    pub template: &'a str,
}

impl<'a> Request<'a> {
    /// Parses a line without its line feed; none if it is no known request.
    pub fn parse(line: &'a str) -> Option<Self> {
        let mut words = Words::new(line);
        let request = match words.word()? {
            "protolog" => Self::Hello(words.value()?),
            "groups" => Self::Groups,
            "pages" => Self::Pages,
            "pages-file" => Self::PagesFile,
            "set" => Self::Set(words.rest()?),
            "trace-start" => Self::TraceStart(TraceStart {
                fill_policy: FillPolicy::from_name(words.word()?)?,
                buffer: words.value()?,
                settings: words.word()?,
                file: words.rest()?,
            }),
            "trace-stop" => Self::TraceStop,
            "trace-status" => Self::TraceStatus,
            "trigger" => Self::Trigger(words.rest()?),
            "stats" => Self::Stats,
            "sessions" => Self::Sessions,
            "sites" => Self::Sites(words.value()?, words.rest()?),
            "rules" => Self::Rules,
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
            Self::PagesFile => f.write_str("pages-file"),
            Self::Set(item) => write!(f, "set {}", OneLine(item)),
            Self::TraceStart(TraceStart { fill_policy, buffer, settings, file }) => {
                let (fill_policy, settings) = (fill_policy.name(), OneLine(settings));
                write!(f, "trace-start {fill_policy} {buffer} {settings} {}", OneLine(file))
            }
            Self::TraceStop => f.write_str("trace-stop"),
            Self::TraceStatus => f.write_str("trace-status"),
            Self::Trigger(cause) => write!(f, "trigger {}", OneLine(cause)),
            Self::Stats => f.write_str("stats"),
            Self::Sessions => f.write_str("sessions"),
            Self::Sites(limit, selector) => write!(f, "sites {limit} {}", OneLine(selector)),
            Self::Rules => f.write_str("rules"),
        }
    }
}

impl<'a> Reply<'a> {
    /// Parses a line without its line feed; none if it is no known reply line.
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
            "pages-file" => {
                Self::PagesFile { count: words.value()?, size: words.value()?, name: words.rest()? }
            }
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
            "tracing" => Self::Tracing {
                control: yes(words.word()?)?,
                fill_policy: FillPolicy::from_name(words.word()?)?,
                file: words.rest()?,
            },
            "levels" => Self::Levels {
                levels: u8::from_str_radix(words.word()?, 16).ok()?,
                group: words.rest()?,
            },
            "site" => Self::Site(SiteLine {
                id: u64::from_str_radix(words.word()?, 16).ok()?,
                level: words.word()?,
                rule: words.word()?,
                line: words.value()?,
                group: words.word()?,
                module: words.word()?,
                file: words.word()?,
                template: words.rest()?,
            }),
            "taken" => Self::Taken(words.value()?),
            "rule" => {
                Self::Rule { calls: words.value()?, words: words.word()?, selector: words.rest()? }
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
                write!(f, "protolog {version} {pid} {}", OneLine(program))
            }
            Self::Group { page, index, word, compiled, name, tag } => {
                f.write_str("group ")?;
                match page {
                    Some(page) => write!(f, "{page}")?,
                    None => f.write_str("-")?,
                }
                let (compiled, name, tag) = (letter(compiled), OneLine(name), OneLine(tag));
                write!(f, " {index} {word:08x} {compiled} {name} {tag}")
            }
            Self::Pages { count, size } => write!(f, "pages {count} {size}"),
            Self::PagesFile { count, size, name } => {
                write!(f, "pages-file {count} {size} {}", OneLine(name))
            }
            Self::Session { control, fill_policy, messages, lost, bytes, file } => {
                let (control, fill_policy, file) =
                    (letter(control), fill_policy.name(), OneLine(file));
                write!(f, "session {control} {fill_policy} {messages} {lost} {bytes} {file}")
            }
            Self::Written { messages, lost, bytes, group } => {
                write!(f, "written {messages} {lost} {bytes} {}", OneLine(group))
            }
            Self::Lost { count, cause, group } => {
                write!(f, "lost {count} {} {}", OneLine(cause), OneLine(group))
            }
            Self::Tracing { control, fill_policy, file } => {
                let (control, fill_policy) = (letter(control), fill_policy.name());
                write!(f, "tracing {control} {fill_policy} {}", OneLine(file))
            }
            Self::Levels { levels, group } => write!(f, "levels {levels:02x} {}", OneLine(group)),
            Self::Site(site) => site.fmt(f),
            Self::Taken(count) => write!(f, "taken {count}"),
            Self::Rule { calls, words, selector } => {
                write!(f, "rule {calls} {} {}", OneLine(words), OneLine(selector))
            }
            Self::Problem(text) => write!(f, "problem {}", OneLine(text)),
            Self::Help(text) => write!(f, "help {}", OneLine(text)),
            Self::Ok => f.write_str("ok"),
            Self::Error(text) => write!(f, "error {}", OneLine(text)),
        }
    }
}

impl fmt::Display for SiteLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, level, rule, line, group, module, file, template } = *self;
        let (group, module, file) = (OneLine(group), OneLine(module), OneLine(file));
        let (level, rule) = (OneLine(level), OneLine(rule));
        write!(f, "site {id:016x} {level} {rule} {line} {group} {module} {file} ")?;
        OneLine(template).fmt(f)
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
    fn requests_are_lines() {
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
            (Request::PagesFile, "pages-file"),
            (Request::Set("a=debug, text"), "set a=debug, text"),
            (
                Request::TraceStart(start),
                "trace-start ring-buffer 65536 *=info;Net=debug /var/log/app trace",
            ),
            (Request::TraceStop, "trace-stop"),
            (Request::TraceStatus, "trace-status"),
            (Request::Trigger("slow today"), "trigger slow today"),
            (Request::Stats, "stats"),
            (Request::Sessions, "sessions"),
            (Request::Sites(9, "net and \"a b\""), "sites 9 net and \"a b\""),
            (Request::Rules, "rules"),
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
    fn a_file_in_memory_has_the_name_of_a_descriptor() {
        for (name, expected) in [
            ("/proc/4711/fd/7", Some(7)),
            ("/proc/4711/fd/", None),
            ("/proc//fd/7", None),
            ("/proc/self/fd/7", None),
            ("/proc/4711/fd/+7", None),
            ("/proc/4711/fd/7/..", None),
            ("/proc/4711/fd/4294967296", None),
            ("/proc/4711/task/1/fd/7", None),
            ("1-a.switches", None),
        ] {
            assert_eq!(descriptor_of(name), expected, "{name}");
        }
    }

    #[test]
    fn replies_about_calls_are_lines() {
        for (reply, line) in [
            (
                Reply::Site(SiteLine {
                    id: 0x7f,
                    level: "DEBUG",
                    rule: "-",
                    line: 12,
                    group: "a::b",
                    module: "a",
                    file: "src/a.rs",
                    template: "sent %d",
                }),
                "site 000000000000007f DEBUG - 12 a::b a src/a.rs sent %d",
            ),
            (Reply::Taken(3), "taken 3"),
            (Reply::Rule { calls: 2, words: "on", selector: "a and b" }, "rule 2 on a and b"),
        ] {
            assert_eq!(reply.to_string(), line);
            assert_eq!(Reply::parse(line), Some(reply));
        }
    }

    #[test]
    fn replies_are_lines() {
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
                Reply::PagesFile { count: 4, size: 4096, name: "1-a.switches" },
                "pages-file 4 4096 1-a.switches",
            ),
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
            (
                Reply::Tracing {
                    control: false,
                    fill_policy: FillPolicy::RingBuffer,
                    file: "/a b",
                },
                "tracing n ring-buffer /a b",
            ),
            (Reply::Levels { levels: 0x3c, group: "a::b" }, "levels 3c a::b"),
            (Reply::Problem("x y"), "problem x y"),
            (Reply::Help("stop it"), "help stop it"),
            (Reply::Ok, "ok"),
            (Reply::Error("no"), "error no"),
        ] {
            assert_eq!(reply.to_string(), line);
            assert_eq!(Reply::parse(line), Some(reply));
        }
        for line in [
            "",
            "group x 0 0 y a b",
            "group 0 0 0 maybe a b",
            "pages 1",
            "ok then",
            "session",
            "levels 1ff a",
        ] {
            assert_eq!(Reply::parse(line), None, "{line:?}");
        }
        assert!(matches!(Reply::parse("group - 0 0 n a b"), Some(Reply::Group { page: None, .. })));
    }
}
