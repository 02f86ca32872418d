//! The field numbers that the project writes by hand are those of the official schema.
//!
//! They are no generated code: a program that logs would compile a parser of .proto files for them,
//! and the table has only the fields that are used, each with what it is for.

use crate::schemas;
use prost_reflect::{DescriptorPool, MessageDescriptor};
use std::fs;
use std::path::Path;

/// Numbers from here up are the project's own, which no other schema has.
const OWN: u32 = 1000;

#[test]
fn the_field_numbers_are_the_official_ones() {
    let Some(set) = schemas::perfetto() else { return };
    let pool = DescriptorPool::decode(&*set).expect("official descriptors");
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protolog-core/src/schema.rs");
    let used = used(&fs::read_to_string(table).expect("the table"));
    assert!(used.len() > 80, "only {} numbers found", used.len());
    for (message, name, number) in used {
        let full = format!("perfetto.protos.{message}");
        let message = pool.get_message_by_name(&full).expect("a message of Perfetto's");
        assert_eq!(official(&message, &name), Some(number), "{full}.{name}");
    }
}

/// The number of a field, or of a value of an enum, by its name in the table.
fn official(message: &MessageDescriptor, name: &str) -> Option<u32> {
    let field = message.get_field_by_name(&name.to_lowercase()).map(|field| field.number());
    field.or_else(|| {
        let mut values =
            message.child_enums().flat_map(|of_enum| of_enum.values().collect::<Vec<_>>());
        values.find(|value| value.name() == name)?.number().try_into().ok()
    })
}

/// The rows of the table: a message, the name of a field or of a value of an enum, its number.
fn used(table: &str) -> Vec<(String, String, u32)> {
    let (mut found, mut message, mut docs) = (Vec::new(), None, String::new());
    for line in table.lines() {
        if let Some(text) = line.strip_prefix("/// ") {
            docs.push_str(text);
            continue;
        }
        if line.starts_with("pub mod ") {
            // `TrackEvent`: a module for a message. Others are for bits, ids and fields of ours.
            let named = docs.strip_prefix('`').and_then(|docs| docs.split_once('`'));
            message = named.map(|(name, _)| name.to_owned());
            docs.clear();
        }
        let constant = line.trim_start().strip_prefix("pub const ");
        let constant = constant.and_then(|rest| rest.split_once(": u32 = "));
        if let (Some(message), Some((name, number))) = (&message, constant) {
            let number = number.trim_end_matches(';').parse().expect("a number");
            if number < OWN {
                found.push((message.clone(), name.to_owned(), number));
            }
        }
    }
    found
}
