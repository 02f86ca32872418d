//! Reads descriptor sets (`google/protobuf/descriptor.proto`) by field number, with the reader that
//! generated code rests on.
//!
//! Editions say by *features* what syntaxes said: whether repeated fields are packed, whether
//! messages are delimited. A feature holds for what is inside, until something inside says
//! otherwise.

use super::comments::Comments;
use super::{Enum, EnumValue, Extension, Field, File, Kind, Message, Scalar};
use crate::Error;
use protozero::reader::Depth;
use protozero::{DecodeError, Reader};

type Result<T> = std::result::Result<T, DecodeError>;

/// Reads a `FileDescriptorSet`, or the files of a request of protoc, whose field is `number`.
pub(crate) fn read_set(set: &[u8], number: u32) -> std::result::Result<Vec<File>, Error> {
    let read = || {
        let mut files = Vec::new();
        for field in Reader::new(set) {
            let field = field?;
            if field.number == number {
                files.push(read_file(field.as_message()?)?);
            }
        }
        Ok(files)
    };
    read().map_err(Error::Descriptor)
}

/// The features that hold for the fields of a scope.
#[derive(Clone, Copy)]
struct Features {
    is_packed: bool,
    is_delimited: bool,
}

impl Features {
    /// Those of a file without any of its own: proto2 is the only syntax that packs nothing by
    /// itself.
    fn of_syntax(syntax: &str) -> Self {
        Self { is_packed: !matches!(syntax, "" | "proto2"), is_delimited: false }
    }

    /// With those that `options` has, whose features are in field `number`.
    fn with(mut self, options: Option<Reader<'_>>, number: u32) -> Result<Self> {
        for field in options.into_iter().flatten() {
            let field = field?;
            if field.number != number {
                continue;
            }
            for feature in field.as_message()? {
                let feature = feature?;
                match feature.number {
                    3 => self.is_packed = feature.as_i32()? == 1,
                    5 => self.is_delimited = feature.as_i32()? == 2,
                    _ => {}
                }
            }
        }
        Ok(self)
    }
}

/// Where something stands.
struct Scope<'a> {
    comments: &'a Comments,
    features: Features,
    /// The full name of what is around, with a dot behind it, or nothing.
    prefix: String,
    /// The path of it, for comments.
    path: Vec<i32>,
    extensions: &'a mut Vec<Extension>,
    depth: Depth,
}

fn read_file(descriptor: Reader<'_>) -> Result<File> {
    let (mut file, mut comments, mut options) = (File::default(), Comments::default(), None);
    let (mut syntax, mut has_edition) = ("", false);
    for field in descriptor.clone() {
        let field = field?;
        match field.number {
            1 => file.name = field.as_str()?.into(),
            2 => file.package = field.as_str()?.into(),
            8 => options = Some(field.as_message()?),
            9 => comments = Comments::read(field.as_message()?)?,
            12 => syntax = field.as_str()?,
            14 => has_edition = true,
            _ => {}
        }
    }
    let features = Features::of_syntax(if has_edition { "editions" } else { syntax });
    let features = features.with(options, 50)?;
    let prefix = if file.package.is_empty() { String::new() } else { format!("{}.", file.package) };
    let mut extensions = Vec::new();
    let mut scope = Scope {
        comments: &comments,
        features,
        prefix,
        path: Vec::new(),
        extensions: &mut extensions,
        depth: Depth::OUTERMOST,
    };
    read_members(descriptor, &mut scope, [4, 5, 7], &mut file.messages, &mut file.enums)?;
    file.extensions = extensions;
    Ok(file)
}

/// Reads the messages, enums and extensions of a file or message, which are in the fields
/// `numbers`.
fn read_members(
    descriptor: Reader<'_>,
    scope: &mut Scope<'_>,
    numbers: [i32; 3],
    messages: &mut Vec<Message>,
    enums: &mut Vec<Enum>,
) -> Result<()> {
    let mut indices = [0; 3];
    for field in descriptor {
        let field = field?;
        let Some(which) = numbers.iter().position(|number| *number == field.number as i32) else {
            continue;
        };
        scope.path.extend([numbers[which], indices[which]]);
        indices[which] += 1;
        let member = field.as_message()?;
        match which {
            0 => messages.push(read_message(member, scope)?),
            1 => enums.push(read_enum(member, scope)?),
            _ => {
                if let (field, Some(of)) = read_field(member, scope, &[])? {
                    let extension = Some(format!("{}{}", scope.prefix, field.name));
                    scope.extensions.push(Extension { of, field: Field { extension, ..field } });
                }
            }
        }
        scope.path.truncate(scope.path.len() - 2);
    }
    Ok(())
}

fn read_message(descriptor: Reader<'_>, scope: &mut Scope<'_>) -> Result<Message> {
    let mut message = Message { comment: scope.comments.of(&scope.path), ..Message::default() };
    let (mut fields, mut oneofs, mut options) = (Vec::new(), Vec::new(), None);
    for field in descriptor.clone() {
        let field = field?;
        match field.number {
            1 => message.name = field.as_str()?.into(),
            2 => fields.push(field.as_message()?),
            7 => options = Some(field.as_message()?),
            8 => oneofs.push(name_of(field.as_message()?)?),
            _ => {}
        }
    }
    for option in options.clone().into_iter().flatten() {
        let option = option?;
        match option.number {
            1 => message.is_message_set = option.as_bool()?,
            7 => message.is_map_entry = option.as_bool()?,
            _ => {}
        }
    }
    message.full_name = format!("{}{}", scope.prefix, message.name);
    let mut inner = Scope {
        comments: scope.comments,
        features: scope.features.with(options, 12)?,
        prefix: format!("{}.", message.full_name),
        path: scope.path.clone(),
        extensions: &mut *scope.extensions,
        depth: scope.depth.deeper(&descriptor, 3)?,
    };
    for (index, field) in fields.into_iter().enumerate() {
        inner.path.extend([2, index as i32]);
        message.fields.push(read_field(field, &inner, &oneofs)?.0);
        inner.path.truncate(inner.path.len() - 2);
    }
    let (messages, enums) = (&mut message.messages, &mut message.enums);
    read_members(descriptor, &mut inner, [3, 4, 6], messages, enums)?;
    Ok(message)
}

/// Reads a field, and the message that it extends.
fn read_field(
    descriptor: Reader<'_>,
    scope: &Scope<'_>,
    oneofs: &[String],
) -> Result<(Field, Option<String>)> {
    let mut field = Field { comment: scope.comments.of(&scope.path), ..Field::default() };
    let (mut kind, mut type_name, mut extendee, mut options) = (0, String::new(), None, None);
    let (mut oneof, mut is_optional) = (None, false);
    let full = |name: &str| name.strip_prefix('.').unwrap_or(name).to_owned();
    for part in descriptor {
        let part = part?;
        match part.number {
            1 => field.name = part.as_str()?.into(),
            2 => extendee = Some(full(part.as_str()?)),
            3 => field.number = part.as_u32()?,
            4 => field.is_repeated = part.as_i32()? == 3,
            5 => kind = part.as_i32()?,
            6 => type_name = full(part.as_str()?),
            8 => options = Some(part.as_message()?),
            9 => oneof = oneofs.get(part.as_u32()? as usize).cloned(),
            17 => is_optional = part.as_bool()?,
            _ => {}
        }
    }
    // What proto3 calls optional is in a oneof of its own.
    field.oneof = oneof.filter(|_| !is_optional);
    let features = scope.features.with(options.clone(), 21)?;
    field.is_packed = features.is_packed;
    for option in options.into_iter().flatten() {
        let option = option?;
        match option.number {
            2 => field.is_packed = option.as_bool()?,
            3 => field.is_deprecated = option.as_bool()?,
            _ => {}
        }
    }
    field.kind = kind_of(kind, type_name, features);
    Ok((field, extendee))
}

fn kind_of(kind: i32, type_name: String, features: Features) -> Kind {
    Kind::Scalar(match kind {
        1 => Scalar::Double,
        2 => Scalar::Float,
        3 => Scalar::Int64,
        4 => Scalar::Uint64,
        5 => Scalar::Int32,
        6 => Scalar::Fixed64,
        7 => Scalar::Fixed32,
        8 => Scalar::Bool,
        9 => return Kind::String,
        10 => return Kind::Group(type_name),
        11 if features.is_delimited => return Kind::Group(type_name),
        11 => return Kind::Message(type_name),
        13 => Scalar::Uint32,
        14 => return Kind::Enum(type_name),
        15 => Scalar::Sfixed32,
        16 => Scalar::Sfixed64,
        17 => Scalar::Sint32,
        18 => Scalar::Sint64,
        _ => return Kind::Bytes,
    })
}

fn read_enum(descriptor: Reader<'_>, scope: &Scope<'_>) -> Result<Enum> {
    let mut read = Enum { comment: scope.comments.of(&scope.path), ..Enum::default() };
    let mut path = scope.path.clone();
    for field in descriptor {
        let field = field?;
        match field.number {
            1 => read.name = field.as_str()?.into(),
            2 => {
                path.extend([2, read.values.len() as i32]);
                let comment = scope.comments.of(&path);
                path.truncate(path.len() - 2);
                let mut value = EnumValue { comment, ..EnumValue::default() };
                for part in field.as_message()? {
                    let part = part?;
                    match part.number {
                        1 => value.name = part.as_str()?.into(),
                        2 => value.number = part.as_i32()?,
                        _ => {}
                    }
                }
                read.values.push(value);
            }
            _ => {}
        }
    }
    read.full_name = format!("{}{}", scope.prefix, read.name);
    Ok(read)
}

/// The name of a oneof.
fn name_of(descriptor: Reader<'_>) -> Result<String> {
    let mut name = String::new();
    for field in descriptor {
        let field = field?;
        if field.number == 1 {
            name = field.as_str()?.into();
        }
    }
    Ok(name)
}
