//! The reader of a message: an iterator over its fields, each of the type that the schema gives it.

use super::{Code, Place, described};
use crate::names::{Names, camel, escaped, with_suffix};
use crate::schema::{Field, Kind, Scalar};

pub(super) fn write(out: &mut Code, place: &Place<'_, '_>, fields: &[Field]) {
    let [reader, item] = ["Reader", "Field"].map(|suffix| with_suffix(place.name, suffix));
    let full_name = &place.message.full_name;
    out.line("");
    out.doc(&format!("Reads a message `{full_name}`, field by field, as they come."), "");
    out.line("#[derive(Clone, Debug)]");
    out.line(&format!("pub struct {reader}<'a>(@::Reader<'a>);"));
    out.line("");
    out.open(&format!("impl<'a> {reader}<'a> {{"));
    out.doc("Reads the outermost message.", "");
    out.line("#[inline]");
    out.open("pub const fn new(bytes: &'a [u8]) -> Self {");
    out.line("Self(@::Reader::new(bytes))");
    out.close("}");
    out.doc("Reads a nested message.", "");
    out.line("#[inline]");
    out.open("pub const fn of(fields: @::Reader<'a>) -> Self {");
    out.line("Self(fields)");
    out.close("}");
    out.doc("The reader without its type.", "");
    out.line("#[inline]");
    out.open("pub const fn untyped(&self) -> &@::Reader<'a> {");
    out.line("&self.0");
    out.close("}");
    out.close("}");
    out.line("");
    out.open(&format!("impl<'a> ::core::iter::Iterator for {reader}<'a> {{"));
    out.line(&format!("type Item = ::core::result::Result<{item}<'a>, @::DecodeError>;"));
    out.line("");
    out.line("#[inline]");
    out.open("fn next(&mut self) -> ::core::option::Option<Self::Item> {");
    out.line("let field = ::core::iter::Iterator::next(&mut self.0)?;");
    out.line(&format!("::core::option::Option::Some(field.and_then({item}::of))"));
    out.close("}");
    out.close("}");
    write_field(out, place, fields, &item);
}

/// The enum of all fields.
fn write_field(out: &mut Code, place: &Place<'_, '_>, fields: &[Field], item: &str) {
    let mut names = Names::with(&["Other"]);
    let named: Vec<_> = fields
        .iter()
        .map(|field| (field, escaped(&names.take(&camel(&field.name))), read(place, field)))
        .collect();
    out.line("");
    out.doc(&format!("A field of a message `{}`.", place.message.full_name), "");
    out.line("#[derive(Clone, Debug)]");
    out.line("#[non_exhaustive]");
    out.open(&format!("pub enum {item}<'a> {{"));
    for (field, variant, (rust, _)) in &named {
        out.doc(&described(field), &field.comment);
        out.line(&format!("{variant}({rust}),"));
    }
    out.doc("A field that the schema does not have.", "");
    out.line("Other(@::Field<'a>),");
    out.close("}");
    out.line("");
    out.open(&format!("impl<'a> {item}<'a> {{"));
    out.doc("The field by its number; an error if its wire type is not that of the schema.", "");
    out.open("pub fn of(field: @::Field<'a>) -> ::core::result::Result<Self, @::DecodeError> {");
    out.open("::core::result::Result::Ok(match field.number {");
    for (field, variant, (_, access)) in &named {
        out.line(&format!("{} => Self::{variant}({access}),", field.number));
    }
    out.line("_ => Self::Other(field),");
    out.close("})");
    out.close("}");
    let variants: Vec<_> =
        named.iter().map(|(field, variant, _)| (*field, variant.clone())).collect();
    write_again(out, place, &variants);
    out.close("}");
}

/// Writing a field again, as a program does that changes a few fields and passes the others on.
fn write_again(out: &mut Code, place: &Place<'_, '_>, fields: &[(&Field, String)]) {
    let mut methods = Names::with(&super::writer::OWN);
    let name = escaped(place.name);
    out.line("");
    out.doc(
        "Writes the field to another message of its type; an error if the bytes that it was read from are wrong, or if they \
         nest messages deeper than the official libraries read.",
        "",
    );
    let result = "::core::result::Result<(), @::DecodeError>";
    out.open(&format!("pub fn write_to<M: @::AsMessage>(self, to: &mut {name}<M>) -> {result} {{"));
    out.line("self.write_within(to, @::reader::Depth::OUTERMOST)");
    out.close("}");
    out.line("");
    out.doc("As `write_to`, of a message that is itself nested.", "");
    out.line("#[allow(deprecated)]");
    let arguments = format!("self, to: &mut {name}<M>, depth: @::reader::Depth");
    out.open(&format!("pub fn write_within<M: @::AsMessage>({arguments}) -> {result} {{"));
    out.line("let _ = depth;");
    out.open("match self {");
    for (field, variant) in fields {
        let method = super::writer::take_names(field, &mut methods);
        let copy = copy_of(place, field, &method);
        out.line(&format!("Self::{variant}(it) => {copy}"));
    }
    out.line("Self::Other(it) => { to.untyped().as_message().field(&it); }");
    out.close("}");
    out.line("::core::result::Result::Ok(())");
    out.close("}");
}

/// The statement that writes what was read as `it`.
fn copy_of(place: &Place<'_, '_>, field: &Field, (one, packed): &(String, String)) -> String {
    let one = escaped(one);
    let value = match &field.kind {
        Kind::Enum(of) => format!("{}(value)", place.path(of, "")),
        _ => "value".to_owned(),
    };
    match &field.kind {
        Kind::Message(_) => format!(
            "{{ let within = depth.deeper(it.untyped(), {})?; let mut nested = to.{one}(); \
             for field in it {{ field?.write_within(&mut nested, within)?; }} }}",
            field.number
        ),
        Kind::Scalar(_) | Kind::Enum(_) if field.is_repeated && field.is_packed => format!(
            "{{ for value in it.clone() {{ value?; }} to.{packed}(it.filter_map(::core::result::Result::ok).map(|value| {value})); }}"
        ),
        Kind::Scalar(_) | Kind::Enum(_) if field.is_repeated => {
            format!("{{ for value in it {{ let value = value?; to.{one}({value}); }} }}")
        }
        _ => format!("{{ to.{one}(it); }}"),
    }
}

/// The type that a field is read as, and the access to it.
fn read(place: &Place<'_, '_>, field: &Field) -> (String, String) {
    let repeated = |scalar: &str| {
        (format!("@::Repeated<'a, @::scalar::{scalar}>"), "field.values()?".to_owned())
    };
    match &field.kind {
        Kind::Scalar(scalar) if field.is_repeated => repeated(scalar.names().0),
        Kind::Scalar(scalar) => {
            (scalar.names().2.to_owned(), format!("field.{}()?", scalar.accessor()))
        }
        // The values of a packed field are numbers until somebody asks for a name.
        Kind::Enum(_) if field.is_repeated => repeated(Scalar::Int32.names().0),
        Kind::Enum(of) => {
            let path = place.path(of, "");
            (path.clone(), format!("{path}(field.as_i32()?)"))
        }
        Kind::String => ("&'a str".to_owned(), "field.as_str()?".to_owned()),
        Kind::Bytes | Kind::Group(_) => ("&'a [u8]".to_owned(), "field.as_bytes()?".to_owned()),
        Kind::Message(of) => {
            let path = place.path(of, "Reader");
            (format!("{path}<'a>"), format!("{path}::of(field.as_message()?)"))
        }
    }
}
