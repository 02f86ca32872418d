//! A schema: the files of a descriptor set, as far as code depends on them.
//!
//! Descriptors are read as they come from a compiler, so a name of a type is full, with a dot
//! before it, and numbers are valid. What is not as protobuf's compilers make it is an
//! [error](crate::Error), never a panic.

mod check;
mod comments;
mod read;

pub(crate) use check::{check, is_path};
pub(crate) use read::read_set;

/// A .proto file.
#[derive(Debug, Default)]
pub(crate) struct File {
    /// The path that imports name.
    pub(crate) name: String,
    /// `a.b`; empty for none.
    pub(crate) package: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) enums: Vec<Enum>,
    /// Extensions of messages, wherever in the file they are declared.
    pub(crate) extensions: Vec<Extension>,
}

/// A type of message.
#[derive(Debug, Default)]
pub(crate) struct Message {
    /// `a.b.Outer.Inner`.
    pub(crate) full_name: String,
    pub(crate) name: String,
    pub(crate) comment: String,
    /// The entries of a map.
    pub(crate) is_map_entry: bool,
    /// Its extensions are in groups of another form.
    pub(crate) is_message_set: bool,
    pub(crate) fields: Vec<Field>,
    pub(crate) messages: Vec<Message>,
    pub(crate) enums: Vec<Enum>,
}

/// A field, or an extension.
#[derive(Clone, Debug, Default)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) comment: String,
    pub(crate) number: u32,
    pub(crate) kind: Kind,
    pub(crate) is_repeated: bool,
    /// The schema wants the values of a repeated field in one piece.
    pub(crate) is_packed: bool,
    pub(crate) is_deprecated: bool,
    /// The oneof that it is a member of.
    pub(crate) oneof: Option<String>,
    /// The full name of an extension.
    pub(crate) extension: Option<String>,
}

/// The type of a field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Kind {
    Scalar(Scalar),
    String,
    #[default]
    Bytes,
    /// By full name.
    Enum(String),
    Message(String),
    /// A group, also a message that an edition delimits like one; by the full name of its type.
    Group(String),
}

/// The scalar types but enums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Bool,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    Float,
    Double,
}

impl Scalar {
    /// The name of the type in `protozero::scalar`, that of the setter, and the type in Rust.
    pub(crate) fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Int32 => ("Int32", "int32", "i32"),
            Self::Int64 => ("Int64", "int64", "i64"),
            Self::Uint32 => ("Uint32", "uint32", "u32"),
            Self::Uint64 => ("Uint64", "uint64", "u64"),
            Self::Sint32 => ("Sint32", "sint32", "i32"),
            Self::Sint64 => ("Sint64", "sint64", "i64"),
            Self::Bool => ("Bool", "bool", "bool"),
            Self::Fixed32 => ("Fixed32", "fixed32", "u32"),
            Self::Fixed64 => ("Fixed64", "fixed64", "u64"),
            Self::Sfixed32 => ("Sfixed32", "sfixed32", "i32"),
            Self::Sfixed64 => ("Sfixed64", "sfixed64", "i64"),
            Self::Float => ("Float", "float", "f32"),
            Self::Double => ("Double", "double", "f64"),
        }
    }

    /// The accessor of `protozero::Field`.
    pub(crate) fn accessor(self) -> &'static str {
        match self {
            Self::Int32 => "as_i32",
            Self::Int64 => "as_i64",
            Self::Uint32 => "as_u32",
            Self::Uint64 => "as_u64",
            Self::Sint32 => "as_sint32",
            Self::Sint64 => "as_sint64",
            Self::Bool => "as_bool",
            Self::Fixed32 => "as_fixed32",
            Self::Fixed64 => "as_fixed64",
            Self::Sfixed32 => "as_sfixed32",
            Self::Sfixed64 => "as_sfixed64",
            Self::Float => "as_f32",
            Self::Double => "as_f64",
        }
    }
}

/// An enum.
#[derive(Debug, Default)]
pub(crate) struct Enum {
    pub(crate) full_name: String,
    pub(crate) name: String,
    pub(crate) comment: String,
    pub(crate) values: Vec<EnumValue>,
}

/// A value of an enum; several may have one number.
#[derive(Debug, Default)]
pub(crate) struct EnumValue {
    pub(crate) name: String,
    pub(crate) comment: String,
    pub(crate) number: i32,
}

/// A field that is added to a message from elsewhere.
#[derive(Debug)]
pub(crate) struct Extension {
    /// The full name of the message.
    pub(crate) of: String,
    pub(crate) field: Field,
}
