//! Replies: what a program answers, a line for each.

use crate::FillPolicy;
use crate::control::byte_limit::ByteLimit;
use crate::control::words::{OneLine, Words};
use core::fmt;

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
        /// The switch word ([`crate::control::switch`]).
        word: u32,
        /// True if the group's calls are compiled in.
        compiled: bool,
        /// Its full name, as a [word](crate::control::name::NameWord).
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
        /// memory ([`descriptor_of`](super::descriptor_of)).
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
        /// The group's full name, as a [word](crate::control::name::NameWord); empty if it is not
        /// known.
        group: &'a str,
    },
    /// `lost COUNT CAUSE GROUP`: belongs to the last `session`
    Lost {
        /// Number of messages.
        count: u64,
        /// The name of the cause ([`crate::LossCause::name`]).
        cause: &'a str,
        /// The group's full name, as a [word](crate::control::name::NameWord); empty if it is not
        /// known.
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
    /// `limited LIMIT`: the limit of the bytes of the last `tracing` or `session`
    Limited(ByteLimit),
    /// `levels LEVELS GROUP`: belongs to the last `tracing`
    Levels {
        /// The levels that the session enables, not empty (bit = [`crate::Level::severity`]); in
        /// hexadecimal on the line. The operator may allow fewer.
        levels: u8,
        /// The group's full name, as a [word](crate::control::name::NameWord).
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
        /// The effect of the rule on them ([`crate::control::site_rule::SiteSetting`]).
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
    /// The effect of a rule on it ([`crate::control::site_rule::SiteSetting`]), or `-`.
    pub rule: &'a str,
    /// The line in the file; 0 if it is not known.
    pub line: u32,
    /// The full name of the group, the module and the file, as
    /// [words](crate::control::name::NameWord).
    pub group: &'a str,
    /// See above.
    pub module: &'a str,
    /// See above.
    pub file: &'a str,
    /// The template.
    pub template: &'a str,
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
            "limited" => Self::Limited(ByteLimit::parse(words.word()?)?),
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
            Self::Limited(limit) => write!(f, "limited {limit}"),
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
