//! The names of a schema: they become code, so that nothing else than a name may stand there.

use super::{Enum, Field, File, Kind, Message};
use crate::Error;

/// An error for the first name that no .proto file can have.
pub(crate) fn check(files: &[File]) -> Result<(), Error> {
    for file in files {
        if !file.package.is_empty() {
            path(&file.package)?;
        }
        members(&file.messages, &file.enums)?;
        for extension in &file.extensions {
            path(&extension.of)?;
            field(&extension.field)?;
        }
    }
    Ok(())
}

/// True for a path of Rust, such as `::protozero` or `crate::proto`.
pub(crate) fn is_path(path: &str) -> bool {
    path.strip_prefix("::").unwrap_or(path).split("::").all(is_name)
}

fn members(messages: &[Message], enums: &[Enum]) -> Result<(), Error> {
    for message in messages {
        path(&message.full_name)?;
        name(&message.name)?;
        message.fields.iter().try_for_each(field)?;
        members(&message.messages, &message.enums)?;
    }
    for one in enums {
        path(&one.full_name)?;
        name(&one.name)?;
        one.values.iter().try_for_each(|value| name(&value.name))?;
    }
    Ok(())
}

fn field(field: &Field) -> Result<(), Error> {
    name(&field.name)?;
    field.oneof.iter().try_for_each(|oneof| name(oneof))?;
    field.extension.iter().try_for_each(|full| path(full))?;
    match &field.kind {
        Kind::Enum(of) | Kind::Message(of) | Kind::Group(of) => path(of),
        Kind::Scalar(_) | Kind::String | Kind::Bytes => Ok(()),
    }
}

fn path(path: &str) -> Result<(), Error> {
    if path.split('.').all(is_name) { Ok(()) } else { Err(Error::Name(path.to_owned())) }
}

fn name(name: &str) -> Result<(), Error> {
    if is_name(name) { Ok(()) } else { Err(Error::Name(name.to_owned())) }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
