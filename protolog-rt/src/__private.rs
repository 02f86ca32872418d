//! What the expansions of the macros use. No part of the API: it changes with the macros, which are pinned to this version.

#[cfg(not(feature = "macros"))]
pub use crate::__no_proc_macros as call;
pub use crate::arguments::{Arguments, Visitor};
use crate::emit::emit;
pub use crate::level::{GroupInfo, GroupSet, SwitchPage};
pub use crate::log::FastArgs;
pub use crate::names::{full_name, full_name_len, utf8};
pub use crate::note::GroupDef;
pub use crate::note::{NoteBytes, new_note, note_size};
pub use crate::site::DictionaryNote;
use crate::site::Site;
pub use crate::value::{Bool, Float, Int, Shown, Text, Uint, bool, float, int, text};
pub use core::primitive::u8;
#[cfg(feature = "macros")]
pub use protolog_macros::call;

/// What a call does at run time, so named for who writes a call in a `const fn`: the compiler's error shows the path.
pub mod log_calls_cannot_stand_in_a_const_fn {
    use super::Emit;
    use crate::arguments::Arguments;
    use crate::level::{self, ProtoLogGroup};
    use crate::note::{NoteBytes, NoteRef};
    use crate::site::{Site, Subject};
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
            && level::is_switch_on(G::page(), index, level::call_bits(level), || {
                level::register_on_first_call::<G>(index)
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
        arguments.visit(Emit(Site { id: note.id(), subject, note: NoteRef::new(note) }));
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
        arguments.visit(Emit(Site { id, subject, note: NoteRef::NONE }));
    }
}

struct Emit(Site);

impl Visitor for Emit {
    #[inline]
    fn visit<A: FastArgs>(self, args: A) {
        emit(self.0, args);
    }
}
