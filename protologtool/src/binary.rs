//! The dictionary in a binary: the notes that the macros of `protolog_rt` leave in executables and
//! shared objects of ELF, PE and Mach-O.
//!
//! Notes are found as the runtime finds them, in ELF by the segments of notes, so that binaries
//! whose section headers were stripped are read too. [`strip`] takes them out: a note keeps its
//! size, so nothing in the file moves.
//!
//! Invariants: any bytes may be read, without a panic; a file that is not understood is an error,
//! never an empty dictionary. Each note is read once, however many program headers name it.

mod error;
mod layout;

pub use error::{BinaryError, BinaryProblem};

use layout::Layout;
use protolog_core::note::{HEADER_SIZE, Note, ParsedNote, STRIPPED_TYPE};
use protolog_core::printf;
use std::ops::Range;
use viewer_config::{Collector, Group, Location, Message};

/// A callback for a note and its range in the file.
type Visit<'a> = dyn FnMut(Range<usize>, ParsedNote<'_>) -> Result<(), BinaryProblem> + 'a;

/// Puts the messages and groups of a binary into `collector`. Gives how many notes there are.
pub fn read(bytes: &[u8], collector: &mut Collector) -> Result<usize, BinaryError> {
    let layout = Layout::of(bytes)?;
    let mut count = 0;
    layout.for_each(bytes, &mut |_, parsed| {
        match parsed {
            ParsedNote::Note(note) => add(&note, collector),
            ParsedNote::Printf(note) => {
                let template = printf::template(note.format).to_string();
                add(&note.with_template(&template), collector);
            }
            ParsedNote::Dictionary(config) => {
                collector
                    .read_as(viewer_config::Format::Pb, config)
                    .map_err(|error| BinaryProblem::Dictionary(error.to_string()))?;
            }
            ParsedNote::Stripped(hash) => return Err(BinaryProblem::Stripped(hash)),
            ParsedNote::Foreign => return Ok(()),
        }
        count += 1;
        Ok(())
    })?;
    if count == 0 { Err(BinaryProblem::NoNotes.into()) } else { Ok(count) }
}

/// Takes the content of the notes out of a binary, into the dictionary with this hash.
pub fn strip(bytes: &mut [u8], hash: u64) -> Result<(), BinaryError> {
    let layout = Layout::of(bytes)?;
    if layout.signed {
        return Err(BinaryProblem::Signed.into());
    }
    let mut notes = Vec::new();
    // A call may read its id from its note; a note shorter than its replacement has no content to
    // take out.
    let end_of_id = HEADER_SIZE + size_of::<u64>();
    let end_of_hash = end_of_id + size_of::<u64>();
    layout.for_each(bytes, &mut |range, parsed| {
        match parsed {
            ParsedNote::Note(_) => notes.push((range, end_of_id)),
            // A call of C takes its id from its note's content, and would have none.
            ParsedNote::Printf(_) => return Err(BinaryProblem::Printf),
            ParsedNote::Dictionary(_) if range.len() >= end_of_hash => {
                notes.push((range, HEADER_SIZE));
            }
            ParsedNote::Stripped(hash) => return Err(BinaryProblem::Stripped(hash)),
            ParsedNote::Dictionary(_) | ParsedNote::Foreign => {}
        }
        Ok(())
    })?;
    let kind =
        if layout.big_endian { STRIPPED_TYPE.to_be_bytes() } else { STRIPPED_TYPE.to_le_bytes() };
    for (note, kept) in notes {
        let note = &mut bytes[note];
        note[8..12].copy_from_slice(&kind);
        note[kept..].fill(0);
        note[end_of_id..end_of_hash].copy_from_slice(&hash.to_le_bytes());
    }
    Ok(())
}

fn add(note: &Note<'_>, collector: &mut Collector) {
    collector.add_group(Group {
        id: note.group_id,
        name: note.group.to_owned(),
        tag: note.tag.to_owned(),
    });
    collector.add_message(Message {
        id: note.id,
        template: note.template.to_owned(),
        names: note.names.to_owned(),
        unsigned: 0,
        level: note.level,
        group: note.group.into(),
        place: note.place.to_owned(),
        locations: vec![Location::line(note.file, note.line)],
    });
}

impl Layout {
    /// Calls `f` with each note, in the order of the file: where it stands, without padding after
    /// it, and what it says.
    fn for_each(&self, bytes: &[u8], f: &mut Visit<'_>) -> Result<(), BinaryError> {
        for segment in &self.segments {
            let mut rest = &bytes[segment.clone()];
            while !rest.is_empty() {
                let start = segment.end - rest.len();
                let Some((parsed, after)) = Note::parse_as(rest, self.big_endian) else {
                    return Err(BinaryProblem::Broken(format!(
                        "the bytes at {start} are no call-site note"
                    ))
                    .into());
                };
                f(start..segment.end - after.len(), parsed)?;
                rest = after;
            }
        }
        Ok(())
    }
}
