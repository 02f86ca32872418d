//! A function that passes a template on, in a state.
//!
//! ```text
//! Wrapper { name 1, kotlin name* 2, java name* 3, of file 4, level 5, group 6, tag 7, before 8, after 9, passed tag 10,
//!           of instance 11, runs code 12 }
//! ```

use crate::lang::jvm::wrapper::{TagSource, Wrapper};
use protolog_core::Level;
use protozero::{DecodeError, Heap, Message as Fields, Reader};

/// Writes a function.
pub(super) fn encode(wrapper: &Wrapper, fields: &mut Fields<'_, Heap>) {
    let Wrapper { name, kotlin_names, java_names, is_of_file, level, group, .. } = wrapper;
    fields.string(1, name);
    for name in kotlin_names {
        fields.string(2, name);
    }
    for name in java_names {
        fields.string(3, name);
    }
    fields.bool(4, *is_of_file).uint32(5, level.wire()).uint64(6, *group as u64);
    fields.bool(7, wrapper.has_tag()).string(8, &wrapper.before).string(9, &wrapper.after);
    fields.bool(10, wrapper.takes_tag()).bool(11, wrapper.of_instance).bool(12, wrapper.runs_code);
}

/// Reads a function.
pub(super) fn decode(fields: Reader<'_>) -> Result<Wrapper, DecodeError> {
    let mut wrapper = Wrapper {
        name: String::new(),
        kotlin_names: Vec::new(),
        java_names: Vec::new(),
        is_of_file: false,
        level: Level::Debug,
        group: 0,
        of_instance: false,
        runs_code: false,
        tag: TagSource::None,
        before: String::new(),
        after: String::new(),
    };
    for field in fields {
        let field = field?;
        match field.number {
            1 => field.as_str()?.clone_into(&mut wrapper.name),
            2 => wrapper.kotlin_names.push(field.as_str()?.to_owned()),
            3 => wrapper.java_names.push(field.as_str()?.to_owned()),
            4 => wrapper.is_of_file = field.as_bool()?,
            5 => wrapper.level = Level::from_wire(field.as_u64()?).unwrap_or(Level::Debug),
            6 => wrapper.group = field.as_u64()? as usize,
            7 if field.as_bool()? => wrapper.tag = TagSource::Instance,
            8 => field.as_str()?.clone_into(&mut wrapper.before),
            9 => field.as_str()?.clone_into(&mut wrapper.after),
            10 if field.as_bool()? => wrapper.tag = TagSource::Call,
            11 => wrapper.of_instance = field.as_bool()?,
            12 => wrapper.runs_code = field.as_bool()?,
            _ => {}
        }
    }
    Ok(wrapper)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A function in which no field has its default.
    pub(in crate::incremental) fn wrapper() -> Wrapper {
        Wrapper {
            name: "v".into(),
            kotlin_names: vec!["p.Log.v".into(), "p.Log.Companion.v".into()],
            java_names: vec!["p.Log.INSTANCE.v".into()],
            is_of_file: true,
            level: Level::Wtf,
            group: 3,
            of_instance: true,
            runs_code: true,
            tag: TagSource::Call,
            before: "a %s".into(),
            after: "b".into(),
        }
    }
}
