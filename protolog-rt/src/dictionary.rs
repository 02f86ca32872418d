//! The dictionary that the program carries: call-site notes of all loaded modules, and dictionaries
//! of rewritten sources.
//!
//! Invariant: a note is borrowed only while a callback runs, since its library may be unloaded
//! afterwards.

mod stripped;

use crate::sys::copies::for_each_reached_note_segment;
use crate::sys::modules::{for_each_note_segment, for_each_note_segment_at};
use protolog_core::note::{Note, ParsedNote, TEXTS_AT};
use protolog_core::printf;
use protolog_core::schema::{group, message_data, message_hints, viewer_config};
use protozero::{Field, Reader};

/// Calls `f` with the note of each log call in the program and its loaded libraries: once for each
/// module that has the call. `f` must not load or unload a library.
pub(crate) fn for_each_note(f: &mut dyn FnMut(&Note<'_>)) {
    for_each(&mut |parsed| with_note(parsed, f));
}

/// As [`for_each_note`], with the key of each call's rule ([`crate::site::key`]).
pub(crate) fn for_each_keyed_note(f: &mut dyn FnMut(u64, &Note<'_>)) {
    for_each_note_segment_at(&mut |address, segment| {
        let start = segment.as_ptr().addr();
        for_each_in(segment, &mut |parsed| {
            let has_own_id = matches!(parsed, ParsedNote::Printf(_));
            with_note(parsed, &mut |note| {
                // The place is the first of a note's texts. The segment may be a copy.
                let offset = note.place.as_ptr().addr() - start - TEXTS_AT;
                f(if has_own_id { note.id } else { (address + offset) as u64 }, note);
            });
        });
    });
}

/// Calls `f` with the name and the tag of each group of the program and its loaded libraries, once
/// for each call and each dictionary that has it; without those of libraries whose messages never
/// reach this runtime. `f` must not load or unload a library.
pub(crate) fn for_each_reached_group(f: &mut dyn FnMut(&str, &str)) {
    let each = &mut |parsed: ParsedNote<'_>| match parsed {
        ParsedNote::Note(note) => f(note.group, note.tag),
        ParsedNote::Printf(note) => f(note.group, note.tag),
        ParsedNote::Dictionary(config) => {
            for field in fields(config).filter(|field| field.number == viewer_config::GROUPS) {
                let (_, name, tag) = group_of(field.as_bytes().unwrap_or_default());
                f(name, tag);
            }
        }
        _ => {}
    };
    for_each_reached_note_segment(&mut |segment| for_each_in(segment, each));
}

/// Calls `f` with each group and each message of each embedded dictionary in the loaded modules:
/// the field's number in the dictionary, and its bytes. `f` must not load or unload a library.
pub(crate) fn for_each_element(f: &mut dyn FnMut(u32, &[u8])) {
    for_each(&mut |parsed| {
        if let ParsedNote::Dictionary(config) = parsed {
            for field in fields(config) {
                if let Ok(bytes) = field.as_bytes() {
                    f(field.number, bytes);
                }
            }
        }
    });
}

/// Calls `f` with the hash of each dictionary that was stripped from a loaded module, once for each
/// note that names it.
pub(crate) fn for_each_stripped(f: &mut dyn FnMut(u64)) {
    for_each(&mut |parsed| {
        if let ParsedNote::Stripped(hash) = parsed {
            f(hash);
        }
    });
}

/// Iterates over the fields of a message, up to the first that is malformed: an included dictionary
/// may be any file.
pub(crate) fn fields(message: &[u8]) -> impl Iterator<Item = Field<'_>> {
    Reader::new(message).map_while(Result::ok)
}

/// Returns the template of the message with this id, from the first embedded dictionary that has
/// it, or else from a stripped one that can be read. It is copied into `buffer`; none if it does
/// not fit.
pub(crate) fn template(id: u64, buffer: &mut [u8]) -> Option<&str> {
    let mut length = None;
    for_each_element(&mut |number, message| {
        if number == viewer_config::MESSAGES && length.is_none() && message_id(message) == Some(id)
        {
            length = copy_into(template_of(message), buffer);
        }
    });
    if length.is_none() {
        length = stripped_message(id).and_then(|message| copy_into(template_of(message), buffer));
    }
    core::str::from_utf8(&buffer[..length?]).ok()
}

/// Returns the message with this id from a stripped dictionary that can be read.
pub(crate) fn stripped_message(id: u64) -> Option<&'static [u8]> {
    let mut found = None;
    // Once for each dictionary: all notes of a module name the same.
    let mut last = None;
    for_each_stripped(&mut |hash| {
        if found.is_none() && last.replace(hash) != Some(hash) {
            found = stripped::message(hash, id);
        }
    });
    found
}

fn copy_into(text: &str, buffer: &mut [u8]) -> Option<usize> {
    buffer.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
    Some(text.len())
}

/// Returns the id of a message in a dictionary.
pub(crate) fn message_id(message: &[u8]) -> Option<u64> {
    // Our tool writes it first.
    let id = fields(message).find(|field| field.number == message_data::MESSAGE_ID)?;
    id.as_fixed64().ok()
}

/// Returns id, full name and tag of a group in a dictionary.
pub(crate) fn group_of(element: &[u8]) -> (u32, &str, &str) {
    let (mut id, mut name, mut tag) = (0, "", "");
    for field in fields(element) {
        match field.number {
            group::ID => id = field.as_u32().unwrap_or_default(),
            group::NAME => name = field.as_str().unwrap_or_default(),
            group::TAG => tag = field.as_str().unwrap_or_default(),
            _ => {}
        }
    }
    (id, name, tag)
}

/// Returns the template of a message in a dictionary, in full form.
pub(crate) fn template_of(message: &[u8]) -> &str {
    let mut template = "";
    for field in fields(message) {
        match field.number {
            message_data::MESSAGE if template.is_empty() => {
                template = field.as_str().unwrap_or_default();
            }
            message_data::HINTS => {
                let full = fields(field.as_bytes().unwrap_or_default())
                    .find(|field| field.number == message_hints::TEMPLATE);
                if let Some(full) = full.and_then(|full| full.as_str().ok()) {
                    template = full;
                }
            }
            _ => {}
        }
    }
    template
}

/// Calls `f` with the note of a call, of whatever language.
fn with_note(parsed: ParsedNote<'_>, f: &mut dyn FnMut(&Note<'_>)) {
    match parsed {
        ParsedNote::Note(note) => f(&note),
        ParsedNote::Printf(note) => {
            f(&note.with_template(&printf::template(note.format).to_string()));
        }
        _ => {}
    }
}

fn for_each(f: &mut dyn FnMut(ParsedNote<'_>)) {
    for_each_note_segment(&mut |segment| for_each_in(segment, f));
}

fn for_each_in(segment: &[u8], f: &mut dyn FnMut(ParsedNote<'_>)) {
    let mut rest = segment;
    while let Some((parsed, after)) = Note::parse(rest) {
        f(parsed);
        rest = after;
    }
}
