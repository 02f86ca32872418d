//! Items that expansions of the macros use. Not part of the API: they change with the macros, which
//! are pinned to this version.

pub use crate::arguments::{Arguments, Visitor};
pub use crate::compiled::is_level_compiled;
use crate::emit::emit;
use crate::level::ProtoLogGroup;
pub use crate::level::{GroupInfo, GroupSet, SwitchPage};
pub use crate::log::FastArgs;
pub use crate::names::{full_name, full_name_len, utf8};
pub use crate::note::GroupDef;
#[cfg(target_family = "wasm")]
pub use crate::note::bytes_of;
pub use crate::note::{NoteBytes, new_named_note, new_note, note_size};
pub use crate::site::DictionaryNote;
use crate::site::Site;
#[cfg(target_family = "wasm")]
pub use crate::site::{listed_dictionary, listed_dictionary_size};
pub use crate::span::{TaskNumber, task_number};
#[cfg(target_family = "wasm")]
pub use crate::sys::modules::ListedNote;
pub use crate::value::{Bool, Float, Int, Shown, Str, Uint, bool, float, int, string};
#[cfg(not(feature = "macros"))]
pub use crate::{__no_proc_macros as call, __no_proc_macros as span};
pub use core::primitive::{bool, u8, u16, usize};
#[cfg(feature = "macros")]
pub use protolog_macros::{call, span};

/// The run-time part of a log call. The compiler's error shows this name if a call is in a
/// `const fn`.
pub mod log_calls_cannot_stand_in_a_const_fn {
    use super::Emit;
    use super::TaskNumber;
    use crate::arguments::Arguments;
    use crate::compiled::is_level_compiled;
    use crate::level::{self, ProtoLogGroup};
    use crate::log;
    use crate::note::{NoteBytes, NoteRef};
    use crate::site::{GroupLevel, Site};
    use crate::span::{BeginSpan, Span, SpanSite};
    use protolog_core::Level;

    /// Returns true if the level is enabled for a session or the text output. Inlined with constant
    /// arguments, this is one load, one test and one branch; a debug build keeps it out of line,
    /// which compiles faster. The group is passed by value, here and below, since a borrow of a
    /// constant is one more constant to compile. For a group or level that is not compiled in the
    /// result is a constant, false, so nothing is left of the call in a release build.
    #[allow(clippy::inline_always)] // A call that is off must be one load.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[cfg_attr(debug_assertions, inline)]
    #[allow(clippy::needless_pass_by_value)] // See above.
    pub fn is_enabled<G: ProtoLogGroup>(
        group: G,
        level: Level,
        note: &'static NoteBytes<[u8]>,
    ) -> bool {
        is_level_compiled(level)
            && group.is_compiled()
            && level::is_switch_on(G::page(), group.index(), (note.id(), level), || {
                log::ask(GroupLevel::new(group.info(), level), NoteRef::new(note))
            })
    }

    /// As [`is_enabled`], for a call in rewritten code, which has no note.
    #[allow(clippy::inline_always)] // See above.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[cfg_attr(debug_assertions, inline)]
    #[allow(clippy::needless_pass_by_value)] // See above.
    pub fn is_rewritten_enabled<G: ProtoLogGroup>(id: u64, group: G, level: Level) -> bool {
        is_level_compiled(level)
            && group.is_compiled()
            && level::is_switch_on(G::page(), group.index(), (id, level), || {
                log::ask_id(GroupLevel::new(group.info(), level), id)
            })
    }

    /// Logs `arguments` for a call whose level is enabled. Returns true, so that it can stand
    /// behind `&&`.
    #[inline]
    #[allow(clippy::needless_pass_by_value)] // As in `is_enabled`.
    pub fn log<G: ProtoLogGroup>(
        group: G,
        level: Level,
        note: &'static NoteBytes<[u8]>,
        arguments: impl Arguments,
    ) -> bool {
        let group_level = GroupLevel::new(group.info(), level);
        arguments.visit(Emit(Site { id: note.id(), group_level, note: NoteRef::new(note) }));
        true
    }

    /// Logs `arguments` for a call in rewritten code, which has no note. Returns true, as `log`.
    #[inline]
    #[allow(clippy::needless_pass_by_value)] // As in `is_enabled`.
    pub fn log_rewritten<G: ProtoLogGroup>(
        id: u64,
        group: G,
        level: Level,
        arguments: impl Arguments,
    ) -> bool {
        let group_level = GroupLevel::new(group.info(), level);
        arguments.visit(Emit(Site { id, group_level, note: NoteRef::NONE }));
        true
    }

    /// Begins `span` with `arguments`, for a call whose level is enabled. Returns true, as `log`.
    #[inline]
    #[allow(clippy::needless_pass_by_value)] // As in `is_enabled`.
    pub fn begin<G: ProtoLogGroup>(
        span: &mut Span,
        (group, level): (G, Level),
        (note, lengths): (&'static NoteBytes<[u8]>, u32),
        task: TaskNumber,
        arguments: impl Arguments,
    ) -> bool {
        let group_level = GroupLevel::new(group.info(), level);
        let site = Site { id: note.id(), group_level, note: NoteRef::new(note) };
        arguments.visit(BeginSpan { span, site: SpanSite { site, lengths, task } });
        true
    }

    /// As `begin`, for a call in rewritten code, which has no note.
    #[inline]
    #[allow(clippy::needless_pass_by_value)] // As in `is_enabled`.
    pub fn begin_rewritten<G: ProtoLogGroup>(
        span: &mut Span,
        id: u64,
        (group, level): (G, Level),
        task: TaskNumber,
        arguments: impl Arguments,
    ) -> bool {
        let group_level = GroupLevel::new(group.info(), level);
        let site = Site { id, group_level, note: NoteRef::NONE };
        arguments.visit(BeginSpan { span, site: SpanSite { site, lengths: 0, task } });
        true
    }
}

/// For the error about a call whose group is none: without it, the compiler would not find the
/// method that the derive defines, and say so first.
pub trait NoGroup: Sized {
    #[doc(hidden)]
    fn __protolog_def(self) -> &'static GroupDef
    where
        Self: ProtoLogGroup,
    {
        unreachable!("the derive defines an inherent method of that name")
    }
}

impl<T> NoGroup for T {}

struct Emit(Site);

impl Visitor for Emit {
    #[inline]
    fn visit<A: FastArgs>(self, args: A) {
        emit(self.0, args);
    }

    #[cold]
    fn count_cut(&self) {
        let (group, level) = self.0.group_level.parts();
        crate::writer::drop_message(group, level, crate::LossCause::Truncated);
    }
}
