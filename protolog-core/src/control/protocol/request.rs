//! Requests: what an operator asks of a program, and their lines.

use crate::FillPolicy;
use crate::control::words::{OneLine, Words};
use core::fmt;

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
    /// `set SETTING`: applies a setting ([`crate::control::setting`]) to existing groups, and to
    /// later ones when they register.
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
    /// `trigger-at NANOS CAUSE`: the same, of an event that other programs are asked for, too, with
    /// its time in nanoseconds since 1970. One that has it from another program of its family
    /// already makes no second file.
    TriggerAt(u64, &'a str),
    /// `join FAMILY PID EVENT`, or `join-for BEFORE AFTER FAMILY PID EVENT`: has the sessions of a
    /// family of programs write what they keep of an event of another program, each to a file, of
    /// the time that they keep by themselves, or of that program's.
    Join(Join<'a>),
    /// `stats`: the state of all sessions, with their losses.
    Stats,
    /// `sessions`: all sessions, with the levels that each records of the groups. No session is
    /// flushed for it.
    Sessions,
    /// `sites LIMIT SELECTOR`: calls that a selector takes ([`crate::control::selector`]), at most
    /// so many, and the number of all.
    Sites(u32, &'a str),
    /// `rules`: the rules of single calls that hold ([`crate::control::site_rule`]).
    Rules,
}

/// The session to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStart<'a> {
    /// The fill policy of its buffer.
    pub fill_policy: FillPolicy,
    /// Size of the buffer in bytes; 0 for the program's default.
    pub buffer: u64,
    /// The levels to record, as [`crate::control::setting`] has them, without spaces; `-` for all
    /// levels of all groups.
    pub settings: &'a str,
    /// The file, an absolute path.
    pub file: &'a str,
}

/// An event of another program of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join<'a> {
    /// The name of the family, as [`NameWord`](crate::control::name::NameWord) writes it.
    pub family: &'a str,
    /// The id of the process that had the event; 0 if it is not known.
    pub pid: u32,
    /// The event: its time in nanoseconds since 1970, a hyphen, and its cause.
    pub event: &'a str,
    /// The time around it that all files of the event have; none for that of each program.
    pub window: Option<JoinWindow>,
}

/// The time around an event that a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinWindow {
    /// Nanoseconds before it.
    pub before: u64,
    /// Nanoseconds after it.
    pub after: u64,
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
            "trigger-at" => Self::TriggerAt(words.value()?, words.rest()?),
            "join" => Self::Join(Join::parse(&mut words, None)?),
            "join-for" => {
                let window = JoinWindow { before: words.value()?, after: words.value()? };
                Self::Join(Join::parse(&mut words, Some(window))?)
            }
            "stats" => Self::Stats,
            "sessions" => Self::Sessions,
            "sites" => Self::Sites(words.value()?, words.rest()?),
            "rules" => Self::Rules,
            _ => return None,
        };
        words.end(request)
    }
}

impl<'a> Join<'a> {
    fn parse(words: &mut Words<'a>, window: Option<JoinWindow>) -> Option<Self> {
        Some(Self { family: words.word()?, pid: words.value()?, event: words.word()?, window })
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
            Self::TriggerAt(nanos, cause) => write!(f, "trigger-at {nanos} {}", OneLine(cause)),
            Self::Join(Join { family, pid, event, window }) => {
                match window {
                    Some(JoinWindow { before, after }) => write!(f, "join-for {before} {after}")?,
                    None => f.write_str("join")?,
                }
                write!(f, " {} {pid} {}", OneLine(family), OneLine(event))
            }
            Self::Stats => f.write_str("stats"),
            Self::Sessions => f.write_str("sessions"),
            Self::Sites(limit, selector) => write!(f, "sites {limit} {}", OneLine(selector)),
            Self::Rules => f.write_str("rules"),
        }
    }
}
