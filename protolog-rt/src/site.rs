//! Call sites: the constant part of a log call, and the call-site note with its dictionary entry.
//!
//! A call's expansion computes two constants, the note and its size; the compiler checks each like
//! a function of its own. If the group is compiled in, a static of that size holds the note, in the
//! section of notes; otherwise the static is empty, so no text remains, and in a release build no
//! code either. A [`Site`] consists of immediates and addresses: it has no static of its own, hence
//! no relocation and no dirty page. Its id is read from the note, in release builds at compile
//! time.
//!
//! Invariant: a [`Site`] refers to its note, so a linker that keeps the code keeps the note.
#![allow(unsafe_code)] // Notes have a section of their own, and are copied in constants.

use crate::level::GroupInfo;
use crate::note::NoteRef;
use protolog_core::Level;
use protolog_core::note::{PRINTF_TYPE, dictionary_header};

/// The code of a log call whose template was checked. The arguments, in `$values`, are evaluated
/// after the test. Group and level are used in constants, so they must be constant. `$facts` is the
/// group's definition, written once by the proc macro, so that the compiler reports a mistake in it
/// once, though two constants use it. `$note` is the function that makes the note: one for calls
/// with names of arguments, which stand behind the template, and one for all others.
#[doc(hidden)]
#[macro_export]
macro_rules! __site {
    (
        $level:expr, $group:expr, $facts:expr,
        $note:ident, $template:literal, $length:literal, $mask:literal, $values:expr $(,)?
    ) => {{
        use $crate::__private::NoGroup as _;
        #[used]
        #[cfg_attr(
            any(target_os = "linux", target_os = "android"),
            unsafe(link_section = ".note.protolog")
        )]
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__protolog"))]
        #[cfg_attr(windows, unsafe(link_section = ".plog$a"))]
        static __PROTOLOG_NOTE: $crate::__private::NoteBytes<
            [$crate::__private::u8;
                $crate::__private::note_size(
                    $facts,
                    $level,
                    ::core::concat!(::core::module_path!(), $template, ::core::file!()),
                )],
        > = $crate::__private::$note(
            $facts,
            $level,
            ::core::concat!(::core::module_path!(), "\0", $template, "\0"),
            $length,
            $mask,
            ::core::file!(),
            ::core::line!(),
        );
        #[cfg(target_family = "wasm")]
        $crate::__listed_note!($crate::__private::bytes_of(&__PROTOLOG_NOTE));
        // `&&` in place of `if`: lints that measure a function count each `if`, and this is none of
        // its author's.
        let _: $crate::__private::bool =
            $crate::__private::log_calls_cannot_stand_in_a_const_fn::is_enabled(
                $group,
                $level,
                &__PROTOLOG_NOTE,
            ) && $crate::__private::log_calls_cannot_stand_in_a_const_fn::log(
                $group,
                $level,
                &__PROTOLOG_NOTE,
                $values,
            );
    }};
}

/// The code of a span whose template was checked, as [`__site!`]. `$lengths` are those of its name
/// and its template ([`SpanSite`](crate::span::SpanSite)).
#[doc(hidden)]
#[macro_export]
macro_rules! __span_site {
    (
        $level:expr, $group:expr, $facts:expr,
        $note:ident, $template:literal, $length:literal, $mask:literal, $values:expr,
        $lengths:literal $(,)?
    ) => {{
        use $crate::__private::NoGroup as _;
        #[used]
        #[cfg_attr(
            any(target_os = "linux", target_os = "android"),
            unsafe(link_section = ".note.protolog")
        )]
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__protolog"))]
        #[cfg_attr(windows, unsafe(link_section = ".plog$a"))]
        static __PROTOLOG_NOTE: $crate::__private::NoteBytes<
            [$crate::__private::u8;
                $crate::__private::note_size(
                    $facts,
                    $level,
                    ::core::concat!(::core::module_path!(), $template, ::core::file!()),
                )],
        > = $crate::__private::$note(
            $facts,
            $level,
            ::core::concat!(::core::module_path!(), "\0", $template, "\0"),
            $length,
            $mask,
            ::core::file!(),
            ::core::line!(),
        );
        #[cfg(target_family = "wasm")]
        $crate::__listed_note!($crate::__private::bytes_of(&__PROTOLOG_NOTE));
        let mut __protolog_span = $crate::Span::none();
        // Without `if`, as in `__site!`.
        let _: $crate::__private::bool =
            $crate::__private::log_calls_cannot_stand_in_a_const_fn::is_enabled(
                $group,
                $level,
                &__PROTOLOG_NOTE,
            ) && $crate::__private::log_calls_cannot_stand_in_a_const_fn::begin(
                &mut __protolog_span,
                ($group, $level),
                (&__PROTOLOG_NOTE, $lengths),
                $crate::__private::task_number(),
                $values,
            );
        __protolog_span
    }};
}

/// Has a note join the list before `main`, where no section has it: see `sys/modules/listed.rs`.
#[cfg(target_family = "wasm")]
#[doc(hidden)]
#[macro_export]
macro_rules! __listed_note {
    ($bytes:expr) => {
        const _: () = {
            static PLACE: $crate::__private::ListedNote =
                $crate::__private::ListedNote::new($bytes);
            extern "C" fn join() {
                PLACE.join();
            }
            #[used]
            #[unsafe(link_section = ".init_array")]
            static JOIN: extern "C" fn() = join;
        };
    };
}

/// The note with the dictionary in a file, see [`dictionary!`](crate::dictionary).
#[doc(hidden)]
#[macro_export]
macro_rules! __dictionary_note {
    ($path:expr) => {
        const _: () = {
            const CONFIG: &[u8] = ::core::include_bytes!($path);
            #[used]
            #[cfg_attr(
                any(target_os = "linux", target_os = "android"),
                unsafe(link_section = ".note.protolog")
            )]
            #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__protolog"))]
            #[cfg_attr(windows, unsafe(link_section = ".plog$a"))]
            static NOTE: $crate::__private::DictionaryNote<{ CONFIG.len() }> =
                $crate::__private::DictionaryNote::new(CONFIG);
            #[cfg(target_family = "wasm")]
            $crate::__listed_note!(&$crate::__private::listed_dictionary::<
                { $crate::__private::listed_dictionary_size(CONFIG) },
            >(CONFIG));
        };
    };
}

/// Returns the bytes of a note that holds a dictionary, `N` of them.
#[cfg(target_family = "wasm")]
pub const fn listed_dictionary<const N: usize>(config: &[u8]) -> [u8; N] {
    let (mut bytes, header) = ([0; N], dictionary_header(config.len()));
    let mut word = 0;
    while word < header.len() {
        copy(&header[word].to_ne_bytes(), &mut bytes, word * 4);
        word += 1;
    }
    copy(config, &mut bytes, header.len() * 4);
    bytes
}

/// Returns the number of these bytes, with the zeros at the end.
#[cfg(target_family = "wasm")]
pub const fn listed_dictionary_size(config: &[u8]) -> usize {
    dictionary_header(config.len()).len() * 4 + config.len().next_multiple_of(4)
}

/// A note that holds a dictionary.
#[derive(Debug)]
#[repr(C, align(4))]
pub struct DictionaryNote<const N: usize> {
    header: [u32; 6],
    config: [u8; N],
    // The struct's padding is zero in a static, and ends the note.
}

impl<const N: usize> DictionaryNote<N> {
    /// Creates the note of the dictionary `config`, which has `N` bytes.
    pub const fn new(config: &[u8]) -> Self {
        let mut bytes = [0; N];
        copy(config, &mut bytes, 0);
        Self { header: dictionary_header(N), config: bytes }
    }
}

/// A call site as the write path gets it. Each call passes these values, so they are few and small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub(crate) id: u64,
    pub(crate) group_level: GroupLevel,
    pub(crate) note: NoteRef,
}

/// A call site of another language, by the addresses that its code passes.
#[derive(Clone, Copy, Debug)]
pub struct ForeignSite(pub(crate) Site);

impl ForeignSite {
    /// Takes the id of the message, the address of its group plus the level's severity, and the
    /// address of its note.
    ///
    /// # Safety
    /// The second is the address of a `'static` [`GroupInfo`] plus the severity of a level; the
    /// note is a whole call-site note, which stays as it is for ever.
    #[inline]
    pub const unsafe fn new(id: u64, group_level: *const u8, note: *const u8) -> Self {
        Self(Site { id, group_level: GroupLevel(group_level), note: NoteRef(note) })
    }
}

/// A group and a level in one word that is known at link time: the group's address, with the
/// level's severity in its lowest bits.
///
/// Invariant: *tagged*: the word is the address of a `'static` group plus a number below the
/// alignment of groups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupLevel(*const u8);

const _: () = assert!(align_of::<GroupInfo>() > Level::Wtf as usize);

impl GroupLevel {
    #[inline]
    pub(crate) const fn new(group: &'static GroupInfo, level: Level) -> Self {
        Self((&raw const *group).cast::<u8>().wrapping_add(level as usize))
    }

    #[inline]
    pub(crate) fn parts(self) -> (&'static GroupInfo, Level) {
        let (group, severity) = self.raw_parts();
        (group, Level::from_severity(severity).unwrap_or(Level::Wtf))
    }

    #[inline]
    pub(crate) fn group(self) -> &'static GroupInfo {
        self.raw_parts().0
    }

    /// Returns true if the level is enabled for sessions and not for the text output.
    #[inline]
    pub(crate) fn is_trace_only(self) -> bool {
        let (group, severity) = self.raw_parts();
        group.is_trace_only(severity)
    }

    /// Returns the group and the level's severity.
    #[inline]
    fn raw_parts(self) -> (&'static GroupInfo, u8) {
        let severity = self.0.addr() % align_of::<GroupInfo>();
        #[allow(clippy::cast_ptr_alignment)] // The rest is the address of a group again.
        let group = self.0.wrapping_sub(severity).cast::<GroupInfo>();
        // SAFETY: *tagged*: the remainder is exactly the number that was added, so `group` is the
        // address of a `'static` group.
        (unsafe { &*group }, severity as u8)
    }
}

/// Returns the key of a call's rule: the address of its note, or its id if it has none. So it is
/// for a call of C++, whose code may refer to a copy of its note.
pub(crate) fn key(note: NoteRef, id: u64) -> u64 {
    let note = note.bytes();
    let is_printf = note.get(8..12) == Some(PRINTF_TYPE.to_ne_bytes().as_slice());
    if note.is_empty() || is_printf { id } else { note.as_ptr().addr() as u64 }
}

/// `to[at..][..from.len()].copy_from_slice(from)`, in constants: byte by byte would be the larger
/// part of what a call costs to compile.
const fn copy(from: &[u8], to: &mut [u8], at: usize) {
    assert!(from.len() <= to.len() && at <= to.len() - from.len(), "no room");
    // SAFETY: `at` is within `to`, as was asserted.
    let to = unsafe { to.as_mut_ptr().add(at) };
    // SAFETY: `from` is readable; as many bytes of `to` from `at` on are writable, as was asserted;
    // a shared and an exclusive reference do not overlap.
    unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
}
