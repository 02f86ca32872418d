//! The errors of the generator.

use protozero::DecodeError;
use std::path::PathBuf;
use std::{fmt, io};

/// A problem with a schema, or with a file.
///
/// Its [`Debug`](fmt::Debug) is the text and the advice, since a build script whose `main` returns
/// an error shows it so.
#[non_exhaustive]
pub enum Error {
    /// The .proto files have a mistake; the text names its place.
    Schema(String),
    /// The bytes are no descriptor set.
    Descriptor(DecodeError),
    /// A field is a group, which has another form on the wire than all other messages.
    Group {
        /// The full name of the field.
        field: String,
    },
    /// A type that no file declares.
    UnknownType {
        /// Its full name.
        name: String,
    },
    /// A name that no .proto file can have.
    Name(String),
    /// The parameter of the plugin is none that it knows.
    Parameter(String),
    /// A file can't be written.
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

impl Error {
    /// Returns advice, which begins with a verb.
    pub fn help(&self) -> &'static str {
        match self {
            // The parser's own words; a test holds them against it.
            Self::Schema(text) if text.ends_with("but found 'edition'") => {
                "have protoc parse it: its plugin `protoc-gen-protozero` takes editions"
            }
            Self::Schema(text) if text.ends_with("is not in any include path") => {
                "check that the file exists, and that its directory or one above is an `include`"
            }
            Self::Schema(_) => "correct the .proto file, or name the directory of what it imports",
            Self::Descriptor(_) => {
                "pass what `protoc --descriptor_set_out=FILE --include_imports` writes"
            }
            Self::Group { .. } => "make it a message, or leave out groups (`leave_out_groups`)",
            Self::UnknownType { .. } => {
                "check the full name, or add the file that declares it (`protoc --include_imports`)"
            }
            Self::Name(_) => "make the descriptors with protoc, or from .proto files",
            Self::Parameter(_) => {
                "use `file=NAME`, `message=NAME`, `runtime=PATH` or `leave_out_groups`"
            }
            Self::File { .. } => "check that the directory exists and may be written to",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema(text) => f.write_str(text),
            Self::Descriptor(error) => write!(f, "not a descriptor set: {error}"),
            Self::Group { field } => write!(f, "the field `{field}` is a group"),
            Self::UnknownType { name } => write!(f, "no file declares the type `{name}`"),
            Self::Name(name) => write!(f, "{name:?} is no name"),
            Self::Parameter(text) => write!(f, "unknown parameter `{text}`"),
            Self::File { path, error } => write!(f, "can't write `{}`: {error}", path.display()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}\nhelp: {}", self.help())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Descriptor(error) => Some(error),
            Self::File { error, .. } => Some(error),
            _ => None,
        }
    }
}
