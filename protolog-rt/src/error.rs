//! Errors of sessions.
//!
//! `Debug` writes the message and the help line, since that is what the standard library prints of
//! an error that `main` returns or that is unwrapped. So do the other public errors of this crate.

use protolog_files::Refused;
use std::path::PathBuf;
use std::{fmt, io};

/// An error of a session: it could not start, or not write its trace. Logging itself never fails.
///
/// Its `Debug` form is the message with its help line, so `main` may return it:
///
/// ```text
/// Error: can't write `/var/log/app.pftrace`: permission denied
/// help: check that the directory exists, may be written to, and has space
/// ```
#[non_exhaustive]
pub enum Error {
    /// The builder has no file.
    NoFile,
    /// Another session writes the file, in this process or another one.
    FileInUse {
        /// The file.
        path: PathBuf,
    },
    /// A snapshot was requested of a session that keeps nothing in memory.
    NotKept,
    /// The session belongs to the process that this one was forked from.
    Forked,
    /// This process was forked while another thread of its parent held a lock that the session
    /// needs, for longer than a fork waits, or on a thread that held it itself.
    IncompleteFork,
    /// The option is only for sessions that stream to a file.
    OnlyStreams {
        /// The method of [`Builder`](crate::Builder).
        option: &'static str,
    },
    /// The option has no meaning for a session with triggers.
    NotWithTriggers {
        /// The method of [`Builder`](crate::Builder).
        option: &'static str,
    },
    /// The option has no meaning for a session with pinned messages.
    NotWithPinned {
        /// The method of [`Builder`](crate::Builder).
        option: &'static str,
    },
    /// A ring of pinned messages for no messages.
    NothingPinned,
    /// A trigger of a session that has none.
    NoTriggers,
    /// A message that a trigger waits for, and that the program does not have.
    NoMessage {
        /// The text that was to name it.
        text: String,
    },
    /// A name stands for several groups.
    AmbiguousGroup {
        /// The name.
        name: String,
        /// The full names that match it.
        candidates: Vec<String>,
    },
    /// A name that no group can have: it is empty, or has a `*` that is not all of it.
    NoGroupName {
        /// The name.
        name: String,
    },
    /// A rule that comes with the session can't be read.
    BadRule {
        /// The problem, with the offending text.
        problem: String,
        /// Advice, which begins with a verb.
        help: &'static str,
    },
    /// A file could not be created or written.
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// No memory for the buffer, or no thread for the file.
    Resources(io::Error),
    /// The system has no way to do it.
    Unsupported {
        /// The method of [`Builder`](crate::Builder), or the function.
        option: &'static str,
    },
}

impl Error {
    /// Returns advice, which begins with a verb.
    pub fn help(&self) -> &'static str {
        match self {
            Self::NoFile => "name a file with `Session::builder().file(…)`",
            Self::FileInUse { .. } => "give each session a file of its own",
            Self::NotKept => {
                "read the session's file after `flush`, or start it with `keep_newest`"
            }
            Self::Forked => "start a session in the child",
            Self::IncompleteFork => {
                "fork while no thread starts or stops a session, or call `exec` in the child"
            }
            Self::OnlyStreams { .. } => {
                "leave out this option, or what keeps messages in memory: `keep_newest`, \
                 `keep_first`, `record`, `triggers` or `pin`"
            }
            Self::NotWithTriggers { .. } => "leave out this option, or `triggers`",
            Self::NotWithPinned { .. } => "leave out this option, or `pin`",
            Self::NothingPinned => {
                "name a level or a group, as in `Pinned::new().level(Level::Warn)`"
            }
            Self::NoMessage { .. } => {
                "write its template as in the source, `#` and its id, or `file.rs:LINE`"
            }
            Self::NoTriggers => "start the session with `Builder::triggers`",
            Self::AmbiguousGroup { .. } => "write the full name of the group",
            Self::BadRule { help, .. } => help,
            Self::NoGroupName { .. } => "name a group, a prefix of groups, or `*` for all of them",
            Self::File { error, .. } => Refused::of(error).map_or(
                "check that the directory exists, may be written to, and has space",
                Refused::help,
            ),
            Self::Resources(_) => "raise the process's limits, or choose a smaller `buffer_size`",
            Self::Unsupported { .. } => "leave it out on this system (`#[cfg(target_os = …)]`)",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFile => f.write_str("a session without a file"),
            Self::FileInUse { path } => {
                write!(f, "another session is writing `{}`", path.display())
            }
            Self::NotKept => f.write_str("a snapshot of a session that keeps nothing"),
            Self::Forked => f.write_str("the session is that of the parent process"),
            Self::IncompleteFork => {
                f.write_str("this process was forked while its parent held a lock of the runtime")
            }
            Self::OnlyStreams { option } => {
                write!(f, "`{option}` is for sessions that stream to a file")
            }
            Self::NotWithTriggers { option } => {
                write!(f, "`{option}` is not for a session with triggers")
            }
            Self::NotWithPinned { option } => {
                write!(f, "`{option}` is not for a session with pinned messages")
            }
            Self::NothingPinned => f.write_str("no message is pinned"),
            Self::NoMessage { text } => write!(f, "no message of the program is `{text}`"),
            Self::NoTriggers => f.write_str("a trigger of a session that has none"),
            Self::AmbiguousGroup { name, candidates } => {
                write!(f, "group `{name}` is ambiguous:")?;
                candidates.iter().enumerate().try_for_each(|(index, candidate)| {
                    write!(f, "{} `{candidate}`", if index == 0 { "" } else { "," })
                })
            }
            Self::BadRule { problem, .. } => f.write_str(problem),
            Self::NoGroupName { name } => write!(f, "`{name}` is no name of a group"),
            Self::File { path, error } => {
                write!(f, "can't write `{}`: {}", path.display(), describe(error))
            }
            Self::Resources(error) => write!(f, "can't set up the session: {}", describe(error)),
            Self::Unsupported { option } => write!(f, "this system has no way to do `{option}`"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}\nhelp: {}", self.help())
    }
}

/// Returns the words for an error; those of the system in lower case, without its number.
fn describe(error: &io::Error) -> String {
    let text = error.to_string();
    if error.raw_os_error().is_none() {
        return text;
    }
    let end = text.find(" (os error ").unwrap_or(text.len());
    text.get(..end).unwrap_or_default().to_lowercase()
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { error, .. } | Self::Resources(error) => Some(error),
            Self::NoFile
            | Self::NotKept
            | Self::Forked
            | Self::IncompleteFork
            | Self::FileInUse { .. }
            | Self::OnlyStreams { .. }
            | Self::NotWithTriggers { .. }
            | Self::NotWithPinned { .. }
            | Self::NothingPinned
            | Self::NoTriggers
            | Self::NoMessage { .. }
            | Self::AmbiguousGroup { .. }
            | Self::BadRule { .. }
            | Self::NoGroupName { .. }
            | Self::Unsupported { .. } => None,
        }
    }
}

/// Returns the same error, as far as its number or kind says it.
pub(crate) fn clone_io_error(error: &io::Error) -> io::Error {
    match Refused::of(error) {
        Some(refused) => refused.clone().into(),
        None => {
            error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_quote_and_help() {
        let ambiguous = Error::AmbiguousGroup {
            name: "Net".into(),
            candidates: vec!["a::Log::Net".into(), "b::Log::Net".into()],
        };
        assert_eq!(ambiguous.to_string(), "group `Net` is ambiguous: `a::Log::Net`, `b::Log::Net`");
        assert_eq!(ambiguous.help(), "write the full name of the group");
        let unnamed = Error::NoGroupName { name: "**".into() };
        assert_eq!(unnamed.to_string(), "`**` is no name of a group");
        let file = Error::File { path: "/no/dir".into(), error: io::ErrorKind::NotFound.into() };
        assert_eq!(file.to_string(), "can't write `/no/dir`: entity not found");
        let system = Error::Resources(io::Error::from_raw_os_error(libc::ENOENT));
        assert_eq!(system.to_string(), "can't set up the session: no such file or directory");
        assert_eq!(
            format!("{:?}", Error::Forked),
            "the session is that of the parent process\nhelp: start a session in the child"
        );
    }
}
