//! An enum: a number with names for some of its values.
//!
//! Not an `enum` of Rust, since a newer program may send a value that this one has no name for, and
//! several names may stand for one number.

use super::Code;
use crate::names::{Names, escaped, shouty};
use crate::schema::Enum;
use std::collections::HashSet;

pub(super) fn write(out: &mut Code, one: &Enum, name: &str) {
    let name = escaped(name);
    out.line("");
    out.doc(&format!("`{}`, with values that may have no name here.", one.full_name), &one.comment);
    out.line("#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]");
    out.line(&format!("pub struct {name}(pub i32);"));
    out.line("");
    out.open(&format!("impl {name} {{"));
    let (mut names, mut numbers) = (Names::default(), HashSet::new());
    let mut known = Vec::new();
    for value in &one.values {
        let constant = escaped(&names.take(&shouty(&value.name)));
        out.doc(&format!("`{}`, {}.", value.name, value.number), &value.comment);
        out.line(&format!("pub const {constant}: Self = Self({});", value.number));
        if numbers.insert(value.number) {
            known.push((value.number, &value.name));
        }
    }
    out.line("");
    out.doc(
        "The name of the value in the schema, the first if it has several; none if it has none.",
        "",
    );
    out.open("pub const fn name(self) -> ::core::option::Option<&'static str> {");
    out.open("match self.0 {");
    for (number, name) in known {
        out.line(&format!("{number} => ::core::option::Option::Some({name:?}),"));
    }
    out.line("_ => ::core::option::Option::None,");
    out.close("}");
    out.close("}");
    out.close("}");
}
