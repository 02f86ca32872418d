//! Several traces as one, their bytes one after the other: they are read in the time of one file.
//!
//! The segments of one session are one trace: each sets up all of its state, and all of them number sequences, threads and clocks in one way.
//! Traces of several sessions stay several to the reader, which keeps their sequences apart. It refuses those that only a merge can make one.
//!
//! Invariant: segments are of one session, each is there once, and they are in the order of its writing.

use super::follow::{Segment, session_of};
use super::gather::Opener;
use super::input::Parts;
use protolog_reader::{ByteSource, printable};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// Traces that were joined.
pub(super) struct Joined {
    pub(super) parts: Parts,
    /// Lines about them, and a warning for each gap in their numbers.
    pub(super) notes: Vec<String>,
    pub(super) has_gaps: bool,
}

/// Joins segments of one session; none if traces are anything else, or can't be read as they stand.
pub(super) fn join_segments(traces: &[PathBuf], opener: &Opener<'_>) -> Option<Joined> {
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
        sources.push((size, source));
        size += sources.last().map_or(0, |(_, source)| source.size());
    }
    let has_gaps = !gaps.is_empty();
    let notes = [said.take(), gaps].concat();
    let source = JoinedSource { sources, inputs: Vec::new(), size };
    Some(Joined { parts: source.parts(), notes, has_gaps })
}

/// Joins traces of several sessions; none if they can't be read as they stand.
pub(super) fn join_sessions(traces: &[PathBuf], opener: &Opener<'_>) -> Option<Joined> {
    let said = RefCell::new(Vec::new());
    let note = |line: &str| said.borrow_mut().push(line.to_owned());
    let opener = Opener::new(traces.len(), opener.system, &note);
    let (mut sources, mut size) = (Vec::new(), 0);
    for path in traces {
        let source = opener.open_as_it_stands(path)?;
        let first = size;
        size += source.size();
        sources.push((first, source));
    }
    let inputs = sources.iter().map(|(first, _)| *first).collect();
    let source = JoinedSource { sources, inputs, size };
    Some(Joined { parts: source.parts(), notes: said.take(), has_gaps: false })
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
    /// With their first offsets.
    sources: Vec<(u64, Box<dyn ByteSource>)>,
    /// The first offsets of those that are traces of their own.
    inputs: Vec<u64>,
    size: u64,
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
        let after = self.sources.partition_point(|(first, _)| *first <= offset);
        for (first, source) in self.sources.iter().skip(after.saturating_sub(1)) {
            let at = offset.saturating_add(bytes.len() as u64) - first;
            let part = source.read_at(at, len - bytes.len())?;
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

    #[test]
    fn any_part_of_joined_bytes_is_read() {
        let all = b"abcdefghij";
        let cuts = [0, 3, 3, 4, 10];
        let part = |pair: &[usize]| {
            let source: Box<dyn ByteSource> = Box::new(all[pair[0]..pair[1]].to_vec());
            (pair[0] as u64, source)
        };
        let sources = cuts.windows(2).map(part).collect();
        let joined = JoinedSource { sources, inputs: Vec::new(), size: 10 };
        for from in 0..12 {
            for len in 0..12 {
                let expected = &all[from.min(10)..(from + len).min(10)];
                assert_eq!(joined.read_at(from as u64, len).unwrap(), expected, "{from} {len}");
            }
        }
    }
}
