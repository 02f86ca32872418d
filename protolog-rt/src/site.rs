//! A call in the binary: what is constant of it, and the note that carries its dictionary entry.
//!
//! Everything is computed in two constants of the call's expansion, the note and its size: each is a body of its own for the
//! compiler, which checks it like a function. Where the group is compiled in, a static of the note's size stands in the section of
//! notes; where it is not, the static is empty, so that no text remains, and in a release build no code either.
//! A [`Site`] is made of immediates and addresses at the call: no static of its own, hence no relocation and no dirty page. The
//! id is read from the note, which release builds do when compiling.
//!
//! Invariant: a [`Site`] refers to its note, so a linker that takes the code takes the note.
#![allow(unsafe_code)] // Notes have a section of their own, and are copied in constants.

use crate::level::GroupInfo;
use crate::note::NoteRef;
use protolog_core::Level;
use protolog_core::note::dictionary_header;

/// The code of a log call whose template was checked. The arguments stand behind the test, in `$values`; the group and the
/// level stand in constants, so they must be constant. `$facts` are the group's: written once, by the proc macro, so that the
/// compiler tells a mistake in them once, though two constants have it.
#[doc(hidden)]
#[macro_export]
macro_rules! __site {
    (
        $level:expr, $group:expr, $facts:expr,
        $template:literal, $length:literal, $mask:literal, $values:expr $(,)?
    ) => {{
        #[used]
        #[unsafe(link_section = ".note.protolog")]
        static __PROTOLOG_NOTE: $crate::__private::NoteBytes<
            [$crate::__private::u8;
                $crate::__private::note_size(
                    $facts,
                    $level,
                    ::core::concat!(::core::module_path!(), $template, ::core::file!()),
                )],
        > = $crate::__private::new_note(
            $facts,
            $level,
            ::core::concat!(::core::module_path!(), "\0", $template, "\0"),
            $length,
            $mask,
            ::core::file!(),
            ::core::line!(),
        );
        if $crate::__private::log_calls_cannot_stand_in_a_const_fn::wanted($group, $level) {
            $crate::__private::log_calls_cannot_stand_in_a_const_fn::log(
                $group,
                $level,
                &__PROTOLOG_NOTE,
                $values,
            )
        }
    }};
}

/// The note of a dictionary that stands in a file, see [`dictionary!`](crate::dictionary).
#[doc(hidden)]
#[macro_export]
macro_rules! __dictionary_note {
    ($path:expr) => {
        const _: () = {
            const CONFIG: &[u8] = ::core::include_bytes!($path);
            #[used]
            #[unsafe(link_section = ".note.protolog")]
            static NOTE: $crate::__private::DictionaryNote<{ CONFIG.len() }> =
                $crate::__private::DictionaryNote::new(CONFIG);
        };
    };
}

/// A note that holds a dictionary.
#[derive(Debug)]
#[repr(C, align(4))]
pub struct DictionaryNote<const N: usize> {
    head: [u32; 6],
    config: [u8; N],
    // What aligns the struct is zero in a static, and ends the note.
}

impl<const N: usize> DictionaryNote<N> {
    /// The note of the dictionary `config`, which has `N` bytes.
    pub const fn new(config: &[u8]) -> Self {
        let mut bytes = [0; N];
        copy(config, &mut bytes, 0);
        Self { head: dictionary_header(N), config: bytes }
    }
}

/// A call in the binary, as the write path gets it: with values for each, hence few and small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub(crate) id: u64,
    pub(crate) subject: Subject,
    pub(crate) note: NoteRef,
}

/// A group and a level, as one address that is known when linking: the group's, and the level in its lowest bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject(*const u8);

const _: () = assert!(align_of::<GroupInfo>() > Level::Wtf as usize);

impl Subject {
    #[inline]
    pub(crate) const fn new(group: &'static GroupInfo, level: Level) -> Self {
        Self((&raw const *group).cast::<u8>().wrapping_add(level as usize))
    }

    #[inline]
    pub(crate) fn parts(self) -> (&'static GroupInfo, Level) {
        let (group, severity) = self.raw_parts();
        (group, Level::from_severity(severity).unwrap_or(Level::Wtf))
    }

    /// Whether sessions want the level of the group, and the text side does not.
    #[inline]
    pub(crate) fn is_trace_only(self) -> bool {
        let (group, severity) = self.raw_parts();
        group.is_trace_only(severity)
    }

    /// The group, and the level's place in the order of severity.
    #[inline]
    fn raw_parts(self) -> (&'static GroupInfo, u8) {
        let severity = self.0.addr() % align_of::<GroupInfo>();
        #[allow(clippy::cast_ptr_alignment)] // What is left is the address of a group again.
        let group = self.0.wrapping_sub(severity).cast::<GroupInfo>();
        // SAFETY: a group is aligned, so what was added to its address is the remainder; it lives for ever.
        (unsafe { &*group }, severity as u8)
    }
}

/// `to[at..][..from.len()].copy_from_slice(from)`, in constants: byte by byte would be the larger part of what a call
/// costs to compile.
const fn copy(from: &[u8], to: &mut [u8], at: usize) {
    assert!(from.len() <= to.len() && at <= to.len() - from.len(), "no room");
    // SAFETY: `at` is within `to`, as was asserted.
    let to = unsafe { to.as_mut_ptr().add(at) };
    // SAFETY: `from` is readable; as many bytes of `to` from `at` on are writable, as was asserted; a shared and an
    // exclusive reference do not overlap.
    unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
}
