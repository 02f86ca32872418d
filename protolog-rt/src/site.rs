//! A call in the binary: what is constant of it, and the note that carries its dictionary entry.
//!
//! Everything is computed in constants of the call's expansion ([`Call`]). Where the group is compiled in, a static of the
//! note's size stands in the section of notes; where it is not, the static is empty, so that neither code nor text remains.
//! A [`Site`] is made of immediates and addresses at the call: no static of its own, hence no relocation and no dirty page.
//!
//! Invariant: a [`Site`] refers to its note, so a linker that takes the code takes the note.
#![allow(unsafe_code)] // Notes have a section of their own, are copied in constants, and found by dl_iterate_phdr.

use crate::level::{GroupDef, GroupInfo, call_bits};
use protolog_core::note::{self, Note};
use protolog_core::{Level, ParamMask, hash};

/// The code of a log call whose template was checked. The arguments stand behind the test, in `$values`; the group and the
/// level stand in constants, so they must be constant.
#[doc(hidden)]
#[macro_export]
macro_rules! __site {
    ($level:expr, $group:expr, $template:expr, $mask:literal, $values:expr $(,)?) => {{
        use $crate::__private::{SelectAny as _, SelectOption as _, SelectText as _};
        const __PROTOLOG_CALL: $crate::__private::Call = $crate::__private::Call::new(
            $group.__protolog_def(),
            $level,
            $template,
            $mask,
            ::core::module_path!(),
            ::core::file!(),
            ::core::line!(),
        );
        #[used]
        #[unsafe(link_section = ".note.protolog")]
        static __PROTOLOG_NOTE: $crate::__private::NoteBytes<{ __PROTOLOG_CALL.note_size() }> =
            __PROTOLOG_CALL.note();
        if const { __PROTOLOG_CALL.compiled() } {
            if let $crate::__private::Some(group) =
                $crate::__private::wanted(&$group, const { __PROTOLOG_CALL.test() })
            {
                $crate::__private::log(
                    $crate::__private::Site::new(&__PROTOLOG_CALL, group, &__PROTOLOG_NOTE),
                    $values,
                );
            }
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
        Self { head: note::dictionary_head(N), config: bytes }
    }
}

/// The constant facts of a call in rewritten code, whose text is not here.
#[derive(Clone, Copy, Debug)]
pub struct RewrittenCall {
    id: u64,
    level: Level,
    group: GroupDef,
}

impl RewrittenCall {
    /// The facts of a call of `group` at `level` whose message has this id.
    pub const fn new(group: GroupDef, level: Level, id: u64) -> Self {
        Self { id, level, group }
    }

    /// Whether the call is compiled in.
    pub const fn compiled(&self) -> bool {
        self.group.enabled
    }

    /// What the call tests.
    pub const fn test(&self) -> Test {
        Test { group_index: self.group.index, bits: call_bits(self.level) }
    }
}

/// The constant facts of a call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    note: Note<'static>,
    group: GroupDef,
}

impl Call {
    /// The facts of a call of `group` at `level` with `template`, whose parameters have the kinds `mask`, in the module
    /// `place` and at `line` of `file`.
    pub const fn new(
        group: GroupDef,
        level: Level,
        template: &'static str,
        mask: u64,
        place: &'static str,
        file: &'static str,
        line: u32,
    ) -> Self {
        let note = Note {
            id: message_id(place, template, level, group.name),
            mask: ParamMask::from_bits(mask),
            group_id: group.id,
            level,
            place,
            file,
            line,
            template,
            group: group.name,
            tag: group.tag,
        };
        Self { note, group }
    }

    /// Whether the call is compiled in.
    pub const fn compiled(&self) -> bool {
        self.group.enabled
    }

    /// Number of bytes of the call's note: 0 where the call is not compiled in.
    pub const fn note_size(&self) -> usize {
        if self.group.enabled { self.note.size() } else { 0 }
    }

    /// What the call tests.
    pub const fn test(&self) -> Test {
        Test { group_index: self.group.index, bits: call_bits(self.note.level) }
    }

    /// The call's note; `N` is [`Self::note_size`].
    pub const fn note<const N: usize>(&self) -> NoteBytes<N> {
        let mut bytes = [0; N];
        if N > 0 {
            assert!(N == self.note.size(), "N must be the note's size");
            let head = self.note.head();
            // SAFETY: the words are initialised, and bytes may have any alignment.
            let head = unsafe { core::slice::from_raw_parts(head.as_ptr().cast(), note::HEAD) };
            copy(head, &mut bytes, 0);
            let texts = self.note.texts();
            let (mut index, mut at) = (0, note::HEAD);
            while index < texts.len() {
                copy(texts[index].as_bytes(), &mut bytes, at);
                at += texts[index].len();
                index += 1;
            }
        }
        NoteBytes(bytes)
    }
}

/// What a call tests: bits of a word of its enum's page.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    pub(crate) group_index: u16,
    pub(crate) bits: u32,
}

/// The bytes of a note, aligned as its section wants it.
#[derive(Debug)]
#[repr(C, align(4))]
pub struct NoteBytes<const N: usize>([u8; N]);

const _: () = assert!(align_of::<NoteBytes<0>>() == note::ALIGN);

/// A call in the binary, as the write path gets it.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    id: u64,
    level: Level,
    group: &'static GroupInfo,
    note: &'static [u8],
}

impl Site {
    /// The site of `call`. `call` is a constant, of which nothing but immediates is left in optimised code.
    #[inline]
    pub const fn new<const N: usize>(
        call: &Call,
        group: &'static GroupInfo,
        note: &'static NoteBytes<N>,
    ) -> Self {
        Self { id: call.note.id, level: call.note.level, group, note: &note.0 }
    }

    /// The site of a call in rewritten code.
    #[inline]
    pub const fn rewritten(call: &RewrittenCall, group: &'static GroupInfo) -> Self {
        Self { id: call.id, level: call.level, group, note: &[] }
    }

    /// The message's id.
    #[inline]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The message's level.
    #[inline]
    pub fn level(&self) -> Level {
        self.level
    }

    /// The group.
    #[inline]
    pub fn group(&self) -> &'static GroupInfo {
        self.group
    }

    /// The bytes of the note: the message's dictionary entry. Empty in rewritten code.
    #[inline]
    pub fn note(&self) -> &'static [u8] {
        self.note
    }
}

/// Calls `f` with each stretch of notes of each loaded image, while the image can't be unloaded.
pub(crate) fn for_each_note_segment(f: &mut dyn FnMut(&[u8])) {
    let mut f = f;
    // SAFETY: the callback gets the pointer that stands here and uses it as what it is; it lives through the call.
    unsafe { libc::dl_iterate_phdr(Some(note_segments), (&raw mut f).cast()) };
}

/// Calls `f` with each stretch of notes of the program itself, without the libraries.
pub(crate) fn for_each_own_note_segment(f: &mut dyn FnMut(&[u8])) {
    unsafe extern "C" fn first(
        image: *mut libc::dl_phdr_info,
        size: libc::size_t,
        data: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: as the caller's.
        unsafe { note_segments(image, size, data) };
        1 // No more: the program comes first.
    }
    let mut f = f;
    // SAFETY: as in `for_each_note_segment`.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut f).cast()) };
}

/// For `dl_iterate_phdr`: passes on the segments of notes of one image.
unsafe extern "C" fn note_segments(
    image: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    data: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: dl_iterate_phdr passes an image that is valid during the callback.
    let image = unsafe { &*image };
    // SAFETY: `for_each_note_segment` passes this, exclusively, and lives through the callback.
    let f = unsafe { &mut *data.cast::<&mut dyn FnMut(&[u8])>() };
    if image.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the image says that so many program headers stand there.
    let headers =
        unsafe { core::slice::from_raw_parts(image.dlpi_phdr, usize::from(image.dlpi_phnum)) };
    for notes in headers.iter().filter(|header| header.p_type == libc::PT_NOTE) {
        // Notes that are not loaded have an address too.
        let end = notes.p_vaddr.checked_add(notes.p_memsz);
        let loaded = headers.iter().any(|load| {
            load.p_type == libc::PT_LOAD
                && load.p_flags & libc::PF_R != 0
                && load.p_vaddr <= notes.p_vaddr
                && end.is_some_and(|end| end <= load.p_vaddr.saturating_add(load.p_filesz))
        });
        if loaded {
            let start = image.dlpi_addr.wrapping_add(notes.p_vaddr) as usize;
            let start = core::ptr::with_exposed_provenance::<u8>(start);
            // SAFETY: the bytes are part of a readable segment of a loaded image, which nothing writes.
            f(unsafe { core::slice::from_raw_parts(start, notes.p_memsz as usize) });
        }
    }
    0
}

/// As [`protolog_core::message_id`], in constants.
const fn message_id(place: &str, template: &str, level: Level, group: &str) -> u64 {
    let parts = [place.as_bytes(), template.as_bytes(), level.name().as_bytes(), group.as_bytes()];
    let length = protolog_core::identity_len(place, template, level, group);
    // An array's size can't depend on arguments; what a constant does not need costs nothing in the binary.
    if length <= 256 {
        hash(joined::<256>(parts).split_at(length).0)
    } else if length <= 4096 {
        hash(joined::<4096>(parts).split_at(length).0)
    } else {
        assert!(length <= 0x20000, "the texts of a log call are longer than 128 KiB");
        hash(joined::<0x20000>(parts).split_at(length).0)
    }
}

/// The parts, separated by NULs, then NULs.
const fn joined<const N: usize>(parts: [&[u8]; 4]) -> [u8; N] {
    let mut bytes = [0; N];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        copy(parts[part], &mut bytes, at);
        at += parts[part].len() + 1;
        part += 1;
    }
    bytes
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_those_of_core() {
        const ON: GroupDef = GroupDef::new("app::Log::Net", "Net", 0, true, false);
        const CALL: Call = Call::new(ON, Level::Wtf, "a %d €", 1, "app::net", "src/net.rs", 70_000);
        static NOTE: NoteBytes<{ CALL.note_size() }> = CALL.note();
        static CORE: [u8; CALL.note.size()] = note::write(&CALL.note);
        assert_eq!(NOTE.0, CORE);
        const OFF: Call = Call { group: GroupDef { enabled: false, ..ON }, ..CALL };
        static NOTHING: NoteBytes<{ OFF.note_size() }> = OFF.note();
        assert_eq!(size_of_val(&NOTHING), 0);
    }

    #[test]
    fn ids_are_those_of_core_at_every_length() {
        for length in [0, 1, 200, 231, 232, 233, 300, 4070, 4072, 4073, 5000, 70_000] {
            let template = "x".repeat(length);
            let of = |id: fn(&str, &str, Level, &str) -> u64| {
                id("app::net", &template, Level::Warn, "app::Log::N")
            };
            assert_eq!(of(message_id), of(protolog_core::message_id), "{length}");
        }
    }
}
