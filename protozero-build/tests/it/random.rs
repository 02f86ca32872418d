//! Random messages of any schema, as prost has them.

use prost_reflect::{DynamicMessage, Kind, MapKey, MessageDescriptor, Value};
use protolog_testkit::Random;
use std::collections::HashMap;

/// A message with some of its fields, nested up to `depth` messages.
pub(crate) fn message(of: &MessageDescriptor, random: &mut Random, depth: u32) -> DynamicMessage {
    let mut message = DynamicMessage::new(of.clone());
    // Some have nearly nothing, some nearly all.
    let chance = 1 + random.below(8);
    for field in of.fields() {
        let is_message = matches!(field.kind(), Kind::Message(_));
        if field.is_group()
            || matches!(field.kind(), Kind::Message(of) if is_set(&of))
            || is_message && depth == 0
            || random.below(8) >= chance && !field.is_required()
        {
            continue;
        }
        let one = |random: &mut Random| value(&field.kind(), random, depth);
        let chosen = if field.is_map() {
            map(&field.kind(), random, depth)
        } else if field.is_list() {
            Value::List((0..random.below(4)).map(|_| one(random)).collect())
        } else {
            one(random)
        };
        message.set_field(&field, chosen);
    }
    for extension in of.extensions() {
        if random.below(2) == 0 && (depth > 0 || !matches!(extension.kind(), Kind::Message(_))) {
            let one = value(&extension.kind(), random, depth);
            let chosen = if extension.is_list() { Value::List(vec![one]) } else { one };
            message.set_extension(&extension, chosen);
        }
    }
    message
}

/// Returns whether the extensions of a message are in groups of another form, which prost writes as
/// any others, and which the code leaves out.
fn is_set(of: &MessageDescriptor) -> bool {
    let options = of.descriptor_proto().options.as_ref();
    options.is_some_and(|options| options.message_set_wire_format.unwrap_or(false))
}

fn map(entry: &Kind, random: &mut Random, depth: u32) -> Value {
    let Kind::Message(entry) = entry else { unreachable!("the entries of a map are messages") };
    let (key, of) = (entry.map_entry_key_field().kind(), entry.map_entry_value_field().kind());
    let mut map = HashMap::new();
    for _ in 0..random.below(3) {
        let key = match value(&key, random, 0) {
            Value::Bool(key) => MapKey::Bool(key),
            Value::I32(key) => MapKey::I32(key),
            Value::I64(key) => MapKey::I64(key),
            Value::U32(key) => MapKey::U32(key),
            Value::U64(key) => MapKey::U64(key),
            Value::String(key) => MapKey::String(key),
            other => unreachable!("{other:?} is no key"),
        };
        if depth > 0 || !matches!(of, Kind::Message(_)) {
            map.insert(key, value(&of, random, depth));
        }
    }
    Value::Map(map)
}

fn value(kind: &Kind, random: &mut Random, depth: u32) -> Value {
    // As many bits as it happens, so that varints have all lengths.
    let shift = random.below(64);
    let bits = random.below(u64::MAX) >> shift;
    let signed = if random.below(2) == 0 { bits as i64 } else { !bits as i64 };
    match kind {
        Kind::Double => Value::F64(signed as f64 / 1000.0),
        Kind::Float => Value::F32(signed as f32 / 1000.0),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(signed as i32),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(signed),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(bits as u32),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(bits),
        Kind::Bool => Value::Bool(bits & 1 == 0),
        Kind::String => Value::String("añ日\0".repeat((bits % 20) as usize)),
        Kind::Bytes => Value::Bytes(bits.to_le_bytes().repeat((bits % 40) as usize).into()),
        Kind::Message(of) => Value::Message(message(of, random, depth.saturating_sub(1))),
        Kind::Enum(of) => {
            let values: Vec<_> = of.values().collect();
            Value::EnumNumber(values[(bits % values.len() as u64) as usize].number())
        }
    }
}
