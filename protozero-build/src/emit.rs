//! The code of a layout: modules, and in them types.
//!
//! Every name of another crate is written in full from its root, since a schema may have messages
//! of any name, such as `Option`. A setter is one call of the hand-numbered setter, so that nothing
//! is left of it when it is compiled.

mod comment;
mod enumeration;
mod reader;
mod writer;

use crate::layout::{Layout, Module};
use crate::names::escaped;
use crate::schema::{Field, Kind, Message};
use crate::{Error, Options};
use comment::comment;
use std::fmt::{self, Write as _};

/// Returns the code of all types.
pub(crate) fn code(layout: &Layout<'_>, options: &Options) -> Result<String, Error> {
    let mut out =
        Code { text: String::new(), depth: 0, path: Vec::new(), runtime: options.runtime.clone() };
    out.line("// Made by protozero-build from .proto files; changes to it are lost.");
    write_module(&mut out, layout, &layout.root, options)?;
    Ok(out.text)
}

fn write_module(
    out: &mut Code,
    layout: &Layout<'_>,
    module: &Module<'_>,
    options: &Options,
) -> Result<(), Error> {
    for (one, name) in &module.enums {
        enumeration::write(out, one, name);
    }
    for (message, name) in &module.messages {
        let fields = written_fields(layout, message, options)?;
        let path = out.path.clone();
        let place = Place { layout, path, message, name };
        writer::write(out, &place, &fields);
        reader::write(out, &place, &fields);
    }
    for (name, inner) in &module.modules {
        if is_empty(inner) {
            continue;
        }
        out.line("");
        out.line(&format!("/// What `{name}` has inside."));
        out.line("#[allow(clippy::all, clippy::pedantic, clippy::nursery, unused)]");
        out.open(&format!("pub mod {} {{", escaped(name)));
        out.path.push(name.clone());
        write_module(out, layout, inner, options)?;
        out.path.pop();
        out.close("}");
    }
    Ok(())
}

fn is_empty(module: &Module<'_>) -> bool {
    module.messages.is_empty() && module.enums.is_empty() && module.modules.values().all(is_empty)
}

/// The fields that get code. One that is a group is an error, unless it is to be left out.
fn written_fields<'a>(
    layout: &Layout<'a>,
    message: &'a Message,
    options: &Options,
) -> Result<Vec<Field>, Error> {
    let mut fields = Vec::new();
    for field in layout.fields(message) {
        let mut field = field.clone();
        if message.is_message_set {
            field.kind = Kind::Group(String::new());
        }
        if let Kind::Group(of) = &field.kind {
            if layout.is_map(of) {
                field.kind = Kind::Message(of.clone());
            } else if options.leave_out_groups {
                continue;
            } else {
                let name = format!("{}.{}", message.full_name, field.name);
                return Err(Error::Group { field: name });
            }
        }
        fields.push(field);
    }
    Ok(fields)
}

/// A type that is written, and where.
struct Place<'p, 'a> {
    layout: &'p Layout<'a>,
    /// The module.
    path: Vec<String>,
    message: &'p Message,
    /// The name of its writer; those of the others have suffixes.
    name: &'p str,
}

impl Place<'_, '_> {
    /// The path of another type.
    fn path(&self, full_name: &str, suffix: &str) -> String {
        self.layout.path_from(&self.path, full_name, suffix)
    }
}

/// Text with indentation.
struct Code {
    text: String,
    depth: usize,
    /// The module that is being written.
    path: Vec<String>,
    /// The path of the crate `protozero`.
    runtime: String,
}

impl Code {
    /// Adds a line, in which `@` stands for the path of the runtime.
    fn line(&mut self, line: &str) {
        if !line.is_empty() {
            let line = line.replace('@', &self.runtime);
            let indent = 4 * self.depth;
            // Writing to a string can't fail.
            let _: fmt::Result = write!(self.text, "{:indent$}{line}", "");
        }
        self.text.push('\n');
    }

    fn open(&mut self, line: &str) {
        self.line(line);
        self.depth += 1;
    }

    fn close(&mut self, line: &str) {
        self.depth -= 1;
        self.line(line);
    }

    /// Adds a documentation comment, of one sentence and the schema's own comment.
    fn doc(&mut self, sentence: &str, own: &str) {
        // The schema's comment may have any character.
        let indent = "    ".repeat(self.depth);
        for line in comment(sentence, own) {
            self.text.push_str(&indent);
            self.text.push_str("///");
            if !line.is_empty() {
                self.text.push(' ');
                self.text.push_str(&line);
            }
            self.text.push('\n');
        }
    }

    fn deprecated(&mut self, field: &Field) {
        if field.is_deprecated {
            self.line("#[deprecated]");
        }
    }
}

/// Returns the documentation of a field.
fn described(field: &Field) -> String {
    let kind = match &field.kind {
        Kind::Scalar(scalar) => format!("`{}`", scalar.names().1),
        Kind::String => "`string`".to_owned(),
        Kind::Bytes => "`bytes`".to_owned(),
        Kind::Enum(name) | Kind::Message(name) | Kind::Group(name) => format!("`{name}`"),
    };
    let repeated = if field.is_repeated { "repeated " } else { "" };
    let mut text = format!("Field {}, {repeated}{kind}", field.number);
    for (relation, name) in [("the extension", &field.extension), ("one of", &field.oneof)] {
        if let Some(name) = name {
            // Writing to a string can't fail.
            let _: fmt::Result = write!(text, ", {relation} `{name}`");
        }
    }
    text + "."
}
