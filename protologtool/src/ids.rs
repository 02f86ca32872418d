//! The two ways to make a message's id.
//!
//! ```text
//! xxh3   XXH3-64 of  place NUL template NUL LEVEL NUL group        see protolog_core::named_message_id
//! aosp   first 8 bytes of the version-3 UUID (MD5) of  position template LEVEL GROUP, nothing in between
//! ```
//!
//! AOSP's is here so that traces and dictionaries which its tool made stay readable: the same call
//! has the same id from both tools. Without separators two messages of one file can have one text
//! to hash; such a pair is refused like any other clash.

use crate::groups::Group;
use md5::{Digest, Md5};
use protolog_core::{Level, named_message_id};

/// The scheme of message ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageIds {
    /// Ours: place, template, level and the group's name in the dictionary.
    #[default]
    Xxh3,
    /// AOSP's: the constant's name is the group.
    Aosp,
}

impl MessageIds {
    /// The id of a message of `group` in the file that `place` names, by its template and the list
    /// of its arguments' names, which AOSP's ids do not have.
    pub fn id(
        self,
        place: &str,
        (template, names): (&str, &str),
        level: Level,
        group: &Group,
    ) -> u64 {
        match self {
            Self::Xxh3 => named_message_id(place, template, names, level, &group.full_name),
            Self::Aosp => aosp(&position(place), template, level, &group.own_name),
        }
    }
}

/// AOSP puts a slash before the name of a file without a package.
fn position(place: &str) -> String {
    if place.contains('/') { place.to_owned() } else { format!("/{place}") }
}

fn aosp(position: &str, template: &str, level: Level, group: &str) -> u64 {
    name_uuid([position, template, level.name(), group].concat().as_bytes()).0 as u64
}

/// `UUID.nameUUIDFromBytes`: the most and the least significant bits.
pub(crate) fn name_uuid(bytes: &[u8]) -> (i64, i64) {
    let mut digest = u128::from_be_bytes(Md5::digest(bytes).into());
    digest = digest & !(0xf << 76) | 0x3 << 76; // The version.
    digest = digest & !(0x3 << 62) | 0x2 << 62; // The variant.
    ((digest >> 64) as i64, digest as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use protolog_core::message_id;

    /// Ids that AOSP's own tests expect, and such that were computed from its definition.
    #[test]
    fn ids_are_those_of_aosp() {
        const SOURCE: &str = "com.example.Test.java";
        let many = format!("test{}", " %d".repeat(20));
        for (position, template, level, group, expected) in [
            ("Test.java:50", "test", Level::Debug, "test", 3883826472308915399),
            ("Test.java:10", "test2", Level::Debug, "test", 4125273133972468649),
            ("Test.java:50", "test", Level::Error, "test", 2618535069521361990),
            ("Test.java:50", "test2", Level::Debug, "test", 8907822592109789043),
            ("Test.java:50", "test2", Level::Debug, "test2", -1299517016176640015),
            (
                "org/example/Example.java",
                "Example: %s %d",
                Level::Debug,
                "GROUP",
                -6872339441335321086,
            ),
            (SOURCE, "test %d %f", Level::Warn, "TEST_GROUP", -1473209266730422156),
            (SOURCE, "test %d %f abc %s\n test", Level::Warn, "TEST_GROUP", -4447034859795564700),
            (SOURCE, "test %d %f abc %s\\n test", Level::Warn, "TEST_GROUP", -6226837387262544191),
            (SOURCE, "test", Level::Warn, "TEST_GROUP", 3218600869538902408),
            (SOURCE, "test %d %f\nabc %s\ntest", Level::Warn, "TEST_GROUP", 4940069191137245365),
            (SOURCE, &many, Level::Warn, "TEST_GROUP", 3061299425417639850),
            // Ids that Android's runtime gives to messages that no tool has seen.
            ("", "My Test Debug Log Message %b", Level::Debug, "TEST_GROUP", -6667174420491586034),
            ("", "My Unprocessed Message", Level::Debug, "TEST_GROUP", -6640923881105772449),
        ] {
            assert_eq!(aosp(position, template, level, group) as i64, expected, "{template}");
        }
    }

    #[test]
    fn a_file_without_a_package_has_a_slash_before_its_name() {
        let group = Group::new("Groups", "GROUP", true, true, "tag");
        let id = |ids: MessageIds, place| ids.id(place, ("hi", ""), Level::Info, &group);
        assert_eq!(id(MessageIds::Aosp, "A.java"), aosp("/A.java", "hi", Level::Info, "GROUP"));
        assert_eq!(id(MessageIds::Aosp, "x/A.java"), aosp("x/A.java", "hi", Level::Info, "GROUP"));
        let ours = message_id("A.java", "hi", Level::Info, "Groups.GROUP");
        assert_eq!(id(MessageIds::Xxh3, "A.java"), ours);
    }
}
