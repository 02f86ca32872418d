//! Message ids and group ids, computed at run time and in constants.
//!
//! A message id is the XXH3-64 (seed 0) of its identity: place, NUL, template, NUL, level name,
//! NUL, group name. The place is `com/foo/Bar.java` for Java, `module_path!()` for Rust, and empty
//! for a message that no tool has seen. Line numbers and file system paths are left out, so that a
//! message at a place has the same id on every machine. A group id is the low 32 bits of the
//! XXH3-64 of the group's full name.
//!
//! Where arguments have names, their list ([`crate::ArgumentNames`]) and a NUL stand before the
//! level's name: place, NUL, template, NUL, names, NUL, level name, NUL, group name. So a message
//! without names has the id that it had before there were any, and one with other names has
//! another id: the dictionary knows the names of each.
//!
//! Invariant: ids and hashes match `testdata/ids.tsv` and `testdata/xxh3.tsv`, against which the
//! Java code is tested too, and `testdata/named_ids.tsv`.

use crate::Level;
use xxhash_rust::{const_xxh3, xxh3::Xxh3};

/// The id of a process's track, in Perfetto's terms: not 0, and different for each process.
pub fn process_track(pid: u32) -> u64 {
    let mut bytes = *b"protolog process    \0";
    for (place, byte) in bytes.iter_mut().rev().zip(pid.to_le_bytes()) {
        *place = byte;
    }
    hash(&bytes) | 1
}

/// Length of a message's identity in bytes, for [`identity`].
pub const fn identity_len(place: &str, template: &str, level: Level, group: &str) -> usize {
    place.len() + template.len() + level.name().len() + group.len() + 3
}

/// The identity of a message; its hash is the id. `N` is [`identity_len`] of the same arguments;
/// in a constant, any other `N` is a compile error.
pub const fn identity<const N: usize>(
    place: &str,
    template: &str,
    level: Level,
    group: &str,
) -> [u8; N] {
    assert!(
        N == identity_len(place, template, level, group),
        "N must be identity_len of the same arguments"
    );
    let mut bytes = [0; N];
    let parts = [place.as_bytes(), template.as_bytes(), level.name().as_bytes(), group.as_bytes()];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        let mut from = 0;
        while from < parts[part].len() {
            bytes[at] = parts[part][from];
            at += 1;
            from += 1;
        }
        part += 1;
        at += 1; // The separator, 0 already; one past the end after the last part.
    }
    bytes
}

/// XXH3-64 with seed 0, in constants and at run time.
pub const fn hash(bytes: &[u8]) -> u64 {
    const_xxh3::xxh3_64(bytes)
}

/// The id of a message. `group` is the group's full name. For constants use [`hash`] of
/// [`identity`].
pub fn message_id(place: &str, template: &str, level: Level, group: &str) -> u64 {
    named_message_id(place, template, "", level, group)
}

/// The id of a message whose arguments have the names in a list, see [`crate::ArgumentNames`].
/// With the empty list it is [`message_id`].
pub fn named_message_id(
    place: &str,
    template: &str,
    names: &str,
    level: Level,
    group: &str,
) -> u64 {
    let mut state = Xxh3::new();
    state.update(place.as_bytes());
    let names = (!names.is_empty()).then_some(names);
    for part in [Some(template), names, Some(level.name()), Some(group)].into_iter().flatten() {
        state.update(&[0]);
        state.update(part.as_bytes());
    }
    state.digest()
}

/// The id of the group with this full name (`crate::Enum::Variant`, `com.foo.Enum.CONSTANT`).
pub const fn group_id(full_name: &str) -> u32 {
    hash(full_name.as_bytes()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{format, string::String, vec::Vec};

    #[test]
    fn constants_and_run_time_agree() {
        const PARTS: (&str, &str, Level, &str) =
            ("app::net", "sent %d to %s", Level::Debug, "app::Log::Net");
        const BYTES: [u8; identity_len(PARTS.0, PARTS.1, PARTS.2, PARTS.3)] =
            identity(PARTS.0, PARTS.1, PARTS.2, PARTS.3);
        const ID: u64 = hash(&BYTES);
        assert_eq!(&BYTES, b"app::net\0sent %d to %s\0DEBUG\0app::Log::Net");
        assert_eq!(ID, message_id(PARTS.0, PARTS.1, PARTS.2, PARTS.3));
    }

    #[test]
    fn each_process_has_a_track() {
        let tracks: std::collections::HashSet<_> = (0..1_000).map(process_track).collect();
        assert_eq!(tracks.len(), 1_000);
        assert!(tracks.iter().all(|track| track % 2 == 1), "none is 0");
    }

    #[test]
    fn neighbouring_parts_are_separated() {
        let id = |place, template, group| message_id(place, template, Level::Info, group);
        assert_ne!(id("a", "bc", "g"), id("ab", "c", "g"));
        assert_ne!(id("", "x", "g"), id("x", "", "g"));
        assert_ne!(message_id("a", "x", Level::Info, "g"), message_id("a", "x", Level::Warn, "g"));
    }

    fn unescape(field: &str) -> String {
        let mut chars = field.chars();
        let mut text = String::new();
        while let Some(char) = chars.next() {
            text.push(match char {
                '\\' => match chars.next() {
                    Some('t') => '\t',
                    Some('n') => '\n',
                    Some('\\') => '\\',
                    other => panic!("unknown escape {other:?}"),
                },
                plain => plain,
            });
        }
        text
    }

    #[test]
    fn message_ids_match_the_vectors() {
        let mut lines = include_str!("../testdata/ids.tsv").lines();
        assert_eq!(lines.next(), Some("place\ttemplate\tlevel\tgroup\tid\tgroup_id"));
        let mut count = 0;
        for line in lines {
            let fields: Vec<String> = line.split('\t').map(unescape).collect();
            let id = message_id(&fields[0], &fields[1], fields[2].parse().unwrap(), &fields[3]);
            assert_eq!(format!("{id:016x}"), fields[4], "{line}");
            assert_eq!(format!("{:08x}", group_id(&fields[3])), fields[5], "{line}");
            count += 1;
        }
        assert!(count > 10);
    }

    #[test]
    fn ids_of_messages_with_names_match_the_vectors() {
        let mut lines = include_str!("../testdata/named_ids.tsv").lines();
        assert_eq!(lines.next(), Some("place\ttemplate\tnames\tlevel\tgroup\tid"));
        let mut count = 0;
        for line in lines {
            let fields: Vec<String> = line.split('\t').map(unescape).collect();
            let [place, template, names, level, group, id] = &fields[..] else { panic!("{line}") };
            let level = level.parse().unwrap();
            let named = named_message_id(place, template, names, level, group);
            assert_eq!(&format!("{named:016x}"), id, "{line}");
            let is_without = named == message_id(place, template, level, group);
            assert_eq!(is_without, names.is_empty(), "{line}");
            assert_eq!(crate::ArgumentNames::parse(names).list(), names, "{line}");
            count += 1;
        }
        assert!(count > 5);
    }

    #[test]
    fn hashes_of_every_length_class_match_the_vectors() {
        let mut lines = include_str!("../testdata/xxh3.tsv").lines();
        assert_eq!(lines.next(), Some("bytes\thash"));
        let mut count = 0;
        for line in lines {
            let (bytes, expected) = line.split_once('\t').unwrap();
            let byte = |at: usize| u8::from_str_radix(&bytes[at..at + 2], 16).unwrap();
            let bytes: Vec<u8> = (0..bytes.len()).step_by(2).map(byte).collect();
            assert_eq!(format!("{:016x}", hash(&bytes)), expected, "{} bytes", bytes.len());
            count += 1;
        }
        assert!(count > 10);
    }
}
