//! The writer of a message: a wrapper around the untyped one, with a setter for each field.

use super::{Code, Place, described};
use crate::names::{Names, escaped, snake, with_suffix};
use crate::schema::{Field, Kind};

/// The names of a writer's own methods.
pub(super) const OWN: [&str; 3] = ["new", "root", "untyped"];

pub(super) fn write(out: &mut Code, place: &Place<'_, '_>, fields: &[Field]) {
    let (name, full_name) = (escaped(place.name), &place.message.full_name);
    out.line("");
    out.doc(&format!("Writes a message `{full_name}`."), &place.message.comment);
    out.line("#[derive(Debug)]");
    out.line(&format!("pub struct {name}<M>(M);"));
    out.line("");
    out.open(&format!("impl<'w, D: @::Delegate> {name}<@::Message<'w, D>> {{"));
    out.doc("The outermost message. Another call continues after the last one.", "");
    out.line("#[inline]");
    out.open("pub const fn root(writer: &'w mut @::Writer<D>) -> Self {");
    out.line("Self(writer.message())");
    out.close("}");
    out.close("}");
    out.line("");
    out.open(&format!("impl<M> {name}<M> {{"));
    out.doc("A message whose fields go to `message`, which is a reference to one, or nested.", "");
    out.line("#[inline]");
    out.open("pub const fn new(message: M) -> Self {");
    out.line("Self(message)");
    out.close("}");
    out.doc("The message without its type, for fields that the schema does not have.", "");
    out.line("#[inline]");
    out.open("pub const fn untyped(&mut self) -> &mut M {");
    out.line("&mut self.0");
    out.close("}");
    out.close("}");
    if fields.is_empty() {
        return;
    }
    out.line("");
    out.open(&format!("impl<M: @::AsMessage> {name}<M> {{"));
    let mut names = Names::with(&OWN);
    for field in fields {
        write_field(out, place, field, &mut names);
    }
    out.close("}");
}

/// The names of the setters of a field: for one value, and for all of a repeated one in one piece.
pub(super) fn take_names(field: &Field, names: &mut Names) -> (String, String) {
    let plain = snake(&field.name);
    let name = format!("{}{plain}", if field.is_repeated { "add_" } else { "" });
    match field.kind {
        Kind::Scalar(_) | Kind::Enum(_) if field.is_repeated => {
            (names.take(&name), names.take(&format!("{plain}_packed")))
        }
        Kind::Scalar(_) | Kind::Enum(_) | Kind::Group(_) => (names.take(&name), String::new()),
        Kind::String | Kind::Bytes => (names.take_all(&name, &["", "_pieces"]), String::new()),
        Kind::Message(_) => (names.take_all(&name, &["", "_exact", "_encoded"]), String::new()),
    }
}

fn write_field(out: &mut Code, place: &Place<'_, '_>, field: &Field, names: &mut Names) {
    let (name, packed) = take_names(field, names);
    let (number, text) = (field.number, described(field));
    let setter = |out: &mut Code, method: &str, doc: &str, arguments: &str, call: &str| {
        out.doc(doc, &field.comment);
        out.deprecated(field);
        out.line("#[inline]");
        out.open(&format!("pub fn {}(&mut self, {arguments}) -> &mut Self {{", escaped(method)));
        out.line(&format!("self.0.as_message().{call};"));
        out.line("self");
        out.close("}");
    };
    match &field.kind {
        Kind::Scalar(scalar) => {
            let (_, method, rust) = scalar.names();
            let call = format!("{method}({number}, value)");
            setter(out, &name, &text, &format!("value: {rust}"), &call);
            write_packed(out, field, &packed, (scalar.names().0, rust, ""));
        }
        Kind::Enum(of) => {
            let path = place.path(of, "");
            let call = format!("enumeration({number}, value.0)");
            setter(out, &name, &text, &format!("value: {path}"), &call);
            let packing = ("Int32", &*path, ".into_iter().map(|value| value.0)");
            write_packed(out, field, &packed, packing);
        }
        Kind::String | Kind::Bytes => {
            let (method, rust) =
                if field.kind == Kind::String { ("string", "&str") } else { ("bytes", "&[u8]") };
            let call = format!("{method}({number}, value)");
            setter(out, &name, &text, &format!("value: {rust}"), &call);
            let piece =
                "impl ::core::iter::IntoIterator<Item = &'p [u8], IntoIter: ::core::clone::Clone>";
            out.doc(&format!("{text} Put together from pieces."), "");
            out.deprecated(field);
            let method = with_suffix(&name, "_pieces");
            out.open(&format!("pub fn {method}<'p>(&mut self, pieces: {piece}) -> &mut Self {{"));
            out.line(&format!("self.0.as_message().pieces({number}, pieces);"));
            out.line("self");
            out.close("}");
        }
        Kind::Message(of) => {
            write_nested(out, field, &name, &place.path(of, ""), &text);
        }
        Kind::Group(_) => {}
    }
}

/// A setter for all values of a repeated field at once: what is packed, by which type, and how they
/// become its values.
fn write_packed(
    out: &mut Code,
    field: &Field,
    method: &str,
    (scalar, rust, map): (&str, &str, &str),
) {
    if !field.is_repeated {
        return;
    }
    let advice =
        if field.is_packed { "as the schema wants them" } else { "which readers take, too" };
    out.doc(
        &format!(
            "{} All values in one piece, {advice}; nothing if there are none.",
            described(field)
        ),
        "",
    );
    out.deprecated(field);
    out.line("#[inline]");
    let values =
        format!("impl ::core::iter::IntoIterator<Item = {rust}, IntoIter: ::core::clone::Clone>");
    out.open(&format!("pub fn {method}(&mut self, values: {values}) -> &mut Self {{"));
    out.line(&format!(
        "self.0.as_message().packed::<@::scalar::{scalar}>({}, values{map});",
        field.number
    ));
    out.line("self");
    out.close("}");
}

/// The ways to a nested message.
fn write_nested(out: &mut Code, field: &Field, name: &str, path: &str, text: &str) {
    let number = field.number;
    let [exact, encoded] = ["_exact", "_encoded"].map(|suffix| with_suffix(name, suffix));
    out.doc(text, &field.comment);
    out.deprecated(field);
    out.line("#[inline]");
    out.open(&format!(
        "pub fn {}(&mut self) -> {path}<@::Nested<'_, M::Delegate>> {{",
        escaped(name)
    ));
    out.line(&format!("{path}::new(self.0.as_message().into_nested({number}))"));
    out.close("}");
    out.doc(&format!("{text} Of exactly `size` bytes, which is checked."), "");
    out.deprecated(field);
    out.line("#[inline]");
    out.open(&format!(
        "pub fn {exact}(&mut self, size: usize) -> {path}<@::Exact<'_, M::Delegate>> {{"
    ));
    out.line(&format!("{path}::new(self.0.as_message().into_nested_exact({number}, size))"));
    out.close("}");
    out.doc(&format!("{text} In bytes that are encoded already."), "");
    out.deprecated(field);
    out.line("#[inline]");
    out.open(&format!("pub fn {encoded}(&mut self, message: &[u8]) -> &mut Self {{"));
    out.line(&format!("self.0.as_message().bytes({number}, message);"));
    out.line("self");
    out.close("}");
}
