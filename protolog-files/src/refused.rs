//! Outputs that are refused, with the reason and the remedy.
//!
//! Invariant: text that another user chose, such as the target of a link, is shown without control
//! characters.

use std::fmt;
use std::fs::FileType;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The reason why something is not written, opened or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// The last component of the path is a link.
    Link {
        /// The text of the link.
        target: PathBuf,
    },
    /// A directory on the way to it is a link that is not followed.
    LinkOnTheWay {
        /// The link.
        link: PathBuf,
        /// Its text.
        target: PathBuf,
    },
    /// It belongs to another user.
    Foreign(Kind),
    /// It stands in a directory of another user, where a file of this user's own is needed.
    ForeignDirectory,
    /// It is a regular file with several names.
    HardLinks(u64),
    /// It is a pipe that no program has open for reading.
    NoReader,
    /// It is nothing that can be written.
    Unusable(Kind),
    /// It has no permission to be written, and is not replaced.
    ReadOnly,
    /// Others have permissions on it that they should not have, and it can't be replaced.
    Permissive(u32),
}

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A link.
    Link,
    /// A named pipe.
    Pipe,
    /// A terminal, `/dev/null` and the like.
    Device,
    /// A disk and the like.
    BlockDevice,
    /// A socket.
    Socket,
    /// A kind that is not known.
    Other,
}

impl Refused {
    /// The reason in an error of this crate, if it holds one.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    /// The remedy; begins with a verb.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Link { .. } => "name the link's target itself, or remove the link",
            Self::LinkOnTheWay { .. } => {
                "name the directory that the link leads to, or remove the link"
            }
            Self::Foreign(Kind::File) => "choose another path, or remove the file",
            Self::ForeignDirectory => "use a directory of this user",
            Self::HardLinks(_) => {
                "choose another path, or replace the file by a copy of it, which has one name"
            }
            Self::NoReader => "start the program that reads the pipe",
            Self::ReadOnly => "allow to write it with `chmod u+w`",
            Self::Permissive(_) => "choose another path, or remove the file",
            Self::Foreign(_) | Self::Unusable(_) => "choose another path",
        }
    }

    fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Unusable(_) => io::ErrorKind::InvalidInput,
            Self::NoReader => io::ErrorKind::NotConnected,
            _ => io::ErrorKind::PermissionDenied,
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link { target } => write!(f, "it is a link to `{}`", printable(target)),
            Self::LinkOnTheWay { link, target } => {
                let (link, target) = (printable(link), printable(target));
                write!(f, "`{link}`, on the way to it, is a link to `{target}`")
            }
            Self::Foreign(Kind::File) => f.write_str("it belongs to another user"),
            Self::Foreign(kind) => write!(f, "it is {kind} of another user"),
            Self::ForeignDirectory => f.write_str("its directory belongs to another user"),
            Self::HardLinks(count) => write!(f, "it has {count} names (hard links)"),
            Self::NoReader => f.write_str("it is a pipe that no program reads"),
            Self::Unusable(kind) => write!(f, "it is {kind}"),
            Self::ReadOnly => f.write_str("it is read-only"),
            Self::Permissive(mode) => {
                write!(f, "its mode {mode:o} gives others permissions, and it can't be replaced")
            }
        }
    }
}

impl std::error::Error for Refused {}

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> Self {
        Self::new(refused.kind(), refused)
    }
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        match kind {
            _ if kind.is_file() => Self::File,
            _ if kind.is_dir() => Self::Directory,
            _ if kind.is_symlink() => Self::Link,
            #[cfg(unix)]
            _ if kind.is_fifo() => Self::Pipe,
            #[cfg(unix)]
            _ if kind.is_char_device() => Self::Device,
            #[cfg(unix)]
            _ if kind.is_block_device() => Self::BlockDevice,
            #[cfg(unix)]
            _ if kind.is_socket() => Self::Socket,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a file",
            Self::Directory => "a directory",
            Self::Link => "a link",
            Self::Pipe => "a pipe",
            Self::Device => "a device",
            Self::BlockDevice => "a block device",
            Self::Socket => "a socket",
            Self::Other => "no file",
        })
    }
}

/// A path without control characters.
fn printable(path: &Path) -> String {
    let is_plain = |char: char| {
        !char.is_control()
            && !matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let escape = |char: char| {
        if is_plain(char) { char.to_string() } else { char.escape_default().to_string() }
    };
    path.to_string_lossy().chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_can_t_write_to_the_terminal() {
        let error = io::Error::from(Refused::Link { target: "/a\u{1b}[31m\n\u{202e}é".into() });
        assert_eq!(error.to_string(), "it is a link to `/a\\u{1b}[31m\\n\\u{202e}é`");
        assert_eq!(Refused::of(&io::ErrorKind::NotFound.into()), None);
    }
}
