//! Several traces as one, their bytes one after the other: they are read in the time of one file.
//!
//! The segments of one session are one trace: each sets up all of its state, and all of them number
//! sequences, threads and clocks in one way. Traces of several sessions stay several to the reader,
//! which keeps their sequences apart. It refuses those that only a merge can make one.
//!
//! A file that is opened for each part that is read of it may be gone after the survey. The rest of
//! it is passed over then, and reported.
//!
//! Invariants: segments are of one session, each is there once, and they are in the order of its
//! writing; nothing is passed over before the survey is done, since it has to know what it reads.

use crate::logs::merged_traces::Opener;
use crate::logs::segment_names::{Segment, session_of};
use crate::logs::trace_file::Parts;
use protolog_reader::{ByteSource, printable};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Traces that were joined.
pub(crate) struct Joined {
    pub(crate) parts: Parts,
    /// Lines about them, and a warning for each gap in their numbers.
    pub(crate) notes: Vec<String>,
    pub(crate) has_gaps: bool,
    pub(crate) gone: Gone,
}

/// The files that are gone after the survey, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gone(Arc<Mutex<GoneFiles>>);

#[derive(Debug, Default)]
struct GoneFiles {
    is_surveyed: bool,
    names: BTreeSet<String>,
}

impl Gone {
    /// Has the bytes of files that are gone passed over from now on.
    pub(crate) fn end_survey(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_surveyed = true;
    }

    /// The lines about files of which some was passed over.
    pub(crate) fn lines(&self) -> Vec<String> {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |name: &String| {
            format!(
                "warning: `{name}` was removed or cut off while it was read: what was left of it is missing\n"
            )
        };
        files.names.iter().map(line).collect()
    }

    /// Notes a file that can't be read any more; false if it may not be passed over.
    fn add(&self, name: &str) -> bool {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_surveyed = files.is_surveyed;
        if is_surveyed && !files.names.contains(name) {
            files.names.insert(name.to_owned());
        }
        is_surveyed
    }
}

/// Joins segments of one session; none if traces are anything else, or can't be read as they stand.
pub(crate) fn join_segments(traces: &[PathBuf], opener: &Opener<'_>) -> Option<Joined> {
    let mut numbered = BTreeMap::new();
    let (mut set, mut session) = (None, None);
    for path in traces {
        let segment = Segment::of(path)?;
        let of = session_of(path, opener.system).filter(|id| *id != [0; 16])?;
        let is_of_set = *set.get_or_insert_with(|| segment.set.clone()) == segment.set
            && *session.get_or_insert(of) == of;
        if !is_of_set || numbered.insert(segment.number, path).is_some() {
            return None;
        }
    }
    let said = RefCell::new(Vec::new());
    let note = |line: &str| said.borrow_mut().push(line.to_owned());
    let opener = Opener::new(traces.len(), opener.system, &note);
    let (mut sources, mut size, mut last) = (Vec::new(), 0, None);
    let mut gaps = Vec::new();
    for (number, path) in numbered {
        let source = opener.open_as_it_stands(path)?;
        if let Some(missing) = last.map(|last| last + 1..number).filter(|it| !it.is_empty()) {
            let name = printable(&path.to_string_lossy());
            gaps.push(gap(missing.start, missing.end - 1, &name));
        }
        last = Some(number);
        let first = size;
        size += source.size();
        sources.push(JoinedFile::new(first, path, source));
    }
    let has_gaps = !gaps.is_empty();
    let notes = [said.take(), gaps].concat();
    let gone = Gone::default();
    let source = JoinedSource { sources, inputs: Vec::new(), size, gone: gone.clone() };
    Some(Joined { parts: source.parts(), notes, has_gaps, gone })
}

/// Joins traces of several sessions; none if they can't be read as they stand.
pub(crate) fn join_sessions(traces: &[PathBuf], opener: &Opener<'_>) -> Option<Joined> {
    let said = RefCell::new(Vec::new());
    let note = |line: &str| said.borrow_mut().push(line.to_owned());
    let opener = Opener::new(traces.len(), opener.system, &note);
    let (mut sources, mut size) = (Vec::new(), 0);
    for path in traces {
        let source = opener.open_as_it_stands(path)?;
        let first = size;
        size += source.size();
        sources.push(JoinedFile::new(first, path, source));
    }
    let inputs = sources.iter().map(|file| file.first).collect();
    let gone = Gone::default();
    let source = JoinedSource { sources, inputs, size, gone: gone.clone() };
    Some(Joined { parts: source.parts(), notes: said.take(), has_gaps: false, gone })
}

fn gap(first: u64, last: u64, next: &str) -> String {
    if first == last {
        format!("warning: segment {first}, which is before `{next}`, is not there\n")
    } else {
        format!("warning: segments {first} to {last}, which are before `{next}`, are not there\n")
    }
}

/// See the module.
#[derive(Debug)]
struct JoinedSource {
    /// By their first offsets.
    sources: Vec<JoinedFile>,
    /// The first offsets of those that are traces of their own.
    inputs: Vec<u64>,
    size: u64,
    gone: Gone,
}

#[derive(Debug)]
struct JoinedFile {
    /// The offset of its first byte in the whole.
    first: u64,
    name: String,
    source: Box<dyn ByteSource>,
}

impl JoinedFile {
    fn new(first: u64, path: &Path, source: Box<dyn ByteSource>) -> Self {
        Self { first, name: printable(&path.to_string_lossy()), source }
    }

    /// The bytes from this offset of the whole on, as far as the file goes.
    fn read_at(&self, offset: u64, len: usize, gone: &Gone) -> io::Result<Vec<u8>> {
        let at = offset.saturating_sub(self.first);
        match self.source.read_at(at, len) {
            Err(error) if is_gone(&error) && gone.add(&self.name) => {
                let left = self.source.size().saturating_sub(at).min(len as u64);
                Ok(other_field(left as usize))
            }
            read => read,
        }
    }
}

/// Returns whether a file, or its end, is not there any more.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof)
}

/// A field of so many bytes that is no packet, which readers pass over. Its content is no packet
/// either.
fn other_field(len: usize) -> Vec<u8> {
    const TAG: u8 = 15 << 3 | 2;
    /// The tag, and a length of up to 35 bits.
    const MOST_OF_HEAD: usize = 6;
    if len < 2 {
        // No part that is read after the survey is so short, since packets are not.
        return vec![0; len];
    }
    let head = len.min(MOST_OF_HEAD);
    let content = len - head;
    let mut bytes = vec![TAG];
    for index in 1..head {
        let more = if index + 1 < head { 0x80 } else { 0 };
        bytes.push((content >> (7 * (index - 1)) & 0x7f) as u8 | more);
    }
    bytes.resize(len, 0xff);
    bytes
}

impl JoinedSource {
    fn parts(self) -> Parts {
        Parts { source: Box::new(self), compressed: None }
    }
}

impl ByteSource for JoinedSource {
    fn size(&self) -> u64 {
        self.size
    }

    fn inputs(&self) -> &[u64] {
        &self.inputs
    }

    fn read_at(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let after = self.sources.partition_point(|file| file.first <= offset);
        for file in self.sources.iter().skip(after.saturating_sub(1)) {
            let at = offset.saturating_add(bytes.len() as u64);
            let part = file.read_at(at, len - bytes.len(), &self.gone)?;
            if bytes.is_empty() {
                bytes = part;
            } else {
                bytes.extend_from_slice(&part);
            }
            if bytes.len() == len {
                break;
            }
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protolog_reader::{Pages, Rendering};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// A trace of one message, which is that number, that may be gone.
    #[derive(Debug)]
    struct MayBeGone(Vec<u8>, Arc<AtomicBool>);

    impl ByteSource for MayBeGone {
        fn size(&self) -> u64 {
            self.0.size()
        }

        fn read_at(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
            if self.1.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::NotFound.into());
            }
            self.0.read_at(offset, len)
        }
    }

    fn of_message(number: u8) -> Vec<u8> {
        let message = [9, 0x11, 0, 0, 0, 0, 0, 0, 0, 0x18, number * 2];
        let mut packet = vec![0x40, number, 0x50, 1, 0x68, u8::from(number == 1), 0xc2, 6];
        packet.push(message.len() as u8);
        packet.extend(message);
        [vec![0x0a, packet.len() as u8], packet].concat()
    }

    /// The messages of three traces of one message each, the second of which is gone after the
    /// survey.
    fn read_without_the_second(are_several: bool) -> (Vec<String>, Vec<String>) {
        let is_gone = Arc::new(AtomicBool::new(false));
        let mut sources = Vec::new();
        for number in 1..=3 {
            let is_gone = if number == 2 { Arc::clone(&is_gone) } else { Arc::default() };
            let source = Box::new(MayBeGone(of_message(number), is_gone));
            let first = sources.iter().map(|it: &JoinedFile| it.source.size()).sum();
            sources.push(JoinedFile::new(first, Path::new(&number.to_string()), source));
        }
        let size = sources.iter().map(|it| it.source.size()).sum();
        let firsts = sources.iter().map(|it| it.first);
        let inputs = if are_several { firsts.collect() } else { Vec::new() };
        let gone = Gone::default();
        let joined = JoinedSource { sources, inputs, size, gone: gone.clone() };
        let mut pages = Pages::survey(joined, &[], |_| None).unwrap().expect("pages");
        is_gone.store(true, Ordering::Relaxed);
        gone.end_survey();
        let mut texts = Vec::new();
        while pages.next_page().unwrap() {
            texts.extend(pages.log().entries().map(|it| it.values().text(Rendering::Full)));
        }
        assert!(pages.log().is_complete(), "{:?}", pages.log().stats());
        (texts, gone.lines())
    }

    #[test]
    fn what_is_gone_after_the_survey_is_passed_over() {
        for are_several in [false, true] {
            let (texts, lines) = read_without_the_second(are_several);
            let numbers = [1, 3].map(|number| format!("#0000000000000011 ({number})"));
            assert_eq!(texts, numbers, "{are_several}");
            let [line] = &lines[..] else { panic!("{lines:?}") };
            assert!(line.starts_with("warning: `2` was removed or cut off"), "{line}");
        }
    }

    #[test]
    fn a_field_of_any_size_is_no_packet() {
        for len in (2..300).chain([16_383, 16_384, 1 << 20]) {
            let bytes = other_field(len);
            let mut reader = protozero::Reader::new(&bytes);
            let field = reader.next().expect("a field").expect("a whole one");
            assert_eq!((field.number, reader.offset()), (15, len as u64));
            assert!(reader.next().is_none());
        }
    }

    #[test]
    fn what_is_gone_before_the_survey_is_an_error() {
        let source = Box::new(MayBeGone(of_message(1), Arc::new(AtomicBool::new(true))));
        let sources = vec![JoinedFile::new(0, Path::new("1"), source)];
        let gone = Gone::default();
        let joined = JoinedSource { sources, inputs: Vec::new(), size: 9, gone: gone.clone() };
        assert!(joined.read_at(0, 9).is_err() && gone.lines().is_empty());
    }

    #[test]
    fn any_part_of_joined_bytes_is_read() {
        let all = b"abcdefghij";
        let cuts = [0, 3, 3, 4, 10];
        let part = |pair: &[usize]| {
            let source = Box::new(all[pair[0]..pair[1]].to_vec());
            JoinedFile::new(pair[0] as u64, Path::new("part"), source)
        };
        let sources = cuts.windows(2).map(part).collect();
        let joined = JoinedSource { sources, inputs: Vec::new(), size: 10, gone: Gone::default() };
        for from in 0..12 {
            for len in 0..12 {
                let expected = &all[from.min(10)..(from + len).min(10)];
                assert_eq!(joined.read_at(from as u64, len).unwrap(), expected, "{from} {len}");
            }
        }
    }
}
