//! What the expansions of the macros use. No part of the API: it changes with the macros, which are pinned to this version.

#[cfg(not(feature = "macros"))]
pub use crate::__no_proc_macros as call;
pub use crate::level::{GroupDef, GroupInfo, GroupSet, Page};
pub use crate::log::Values;
use crate::log::emit;
use crate::site::Site;
pub use crate::site::{DictionaryNote, NoteBytes, new_note, note_size};
pub use crate::value::{
    Arguments, Bool, Float, Int, Shown, Text, Then, Uint, bool, float, int, text,
};
pub use core::primitive::u8;
#[cfg(feature = "macros")]
pub use protolog_macros::call;

/// Number of bytes of the full name of `variant` (`Enum::Variant`) in the crate of `module`.
pub const fn full_name_len(module: &str, variant: &str) -> usize {
    crate_len(module) + 2 + variant.len()
}

/// The full name of a group: the first segment of `module`, `::`, `variant` (`Enum::Variant`). `N` is [`full_name_len`].
pub const fn full_name<const N: usize>(module: &str, variant: &str) -> [u8; N] {
    let (module, variant) = (module.as_bytes(), variant.as_bytes());
    let start = N - variant.len();
    let mut bytes = [b':'; N];
    let mut at = 0;
    while at < N {
        if at < start - 2 {
            bytes[at] = module[at];
        } else if at >= start {
            bytes[at] = variant[at - start];
        }
        at += 1;
    }
    bytes
}

/// The text of these bytes, which [`full_name`] made.
pub const fn utf8(bytes: &'static [u8]) -> &'static str {
    match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("a group's name is UTF-8"),
    }
}

/// The length of the first segment of a module's path.
const fn crate_len(module: &str) -> usize {
    let bytes = module.as_bytes();
    let mut at = 0;
    while at < bytes.len() && bytes[at] != b':' {
        at += 1;
    }
    at
}

/// What a call does at run time, so named for who writes a call in a `const fn`: the compiler's error shows the path.
pub mod log_calls_cannot_stand_in_a_const_fn {
    use super::Emit;
    use crate::level::{self, ProtoLogGroup};
    use crate::site::{NoteBytes, NoteRef, Site, Subject};
    use crate::value::Arguments;
    use protolog_core::Level;

    /// The test of a log call: whether a session or the text side wants it. Inlined, with its arguments known, it is one load,
    /// one test and one branch; a debug build keeps it out of line, where it costs less to compile. The group is passed by
    /// value, here and below: what is borrowed of a constant is one more constant for the compiler. Where the group is not
    /// compiled in the answer is a constant, no: nothing is left of the call in a release build.
    #[allow(clippy::inline_always)] // A call that is off must be one load.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[cfg_attr(debug_assertions, inline)]
    #[allow(clippy::needless_pass_by_value)] // See above.
    pub fn wanted<G: ProtoLogGroup>(group: G, level: Level) -> bool {
        let index = group.index();
        group.is_compiled()
            && level::test(G::page(), index, level::call_bits(level), || {
                level::first_call::<G>(index)
            })
    }

    /// Logs `arguments` for a call whose group wants it.
    #[inline]
    #[allow(clippy::needless_pass_by_value)] // As in `wanted`.
    pub fn log<G: ProtoLogGroup>(
        group: G,
        level: Level,
        note: &'static NoteBytes<[u8]>,
        arguments: impl Arguments,
    ) {
        let subject = Subject::new(group.info(), level);
        arguments.give(Emit(Site { id: note.id(), subject, note: NoteRef::new(note) }));
    }

    /// Likewise, for a call in rewritten code, which has no note.
    #[inline]
    #[allow(clippy::needless_pass_by_value)] // As in `wanted`.
    pub fn log_rewritten<G: ProtoLogGroup>(
        id: u64,
        group: G,
        level: Level,
        arguments: impl Arguments,
    ) {
        let subject = Subject::new(group.info(), level);
        arguments.give(Emit(Site { id, subject, note: NoteRef::NONE }));
    }
}

struct Emit(Site);

impl Then for Emit {
    #[inline]
    fn values<V: Values>(self, values: V) {
        emit(self.0, values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_groups_name_begins_with_the_crate() {
        const NAME: &[u8] = &full_name::<{ full_name_len("app::net::tcp", "Log::Net") }>(
            "app::net::tcp",
            "Log::Net",
        );
        assert_eq!(utf8(NAME), "app::Log::Net");
        const ROOT: &[u8] = &full_name::<{ full_name_len("a", "B::C") }>("a", "B::C");
        assert_eq!(utf8(ROOT), "a::B::C");
    }
}
