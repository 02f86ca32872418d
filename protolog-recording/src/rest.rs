//! The trace file of a session that streams, as its recording knows it: path, valid bytes, and each
//! writer's position.
//!
//! Invariant: nothing is read from a generation that does not count.

use super::Recording;
use crate::system::os_str;
use protolog_core::recorder::{
    GENERATION_AT, POSITIONS, Position, REPORTED_LOSS_SIZE, TRACE_BYTES_AT, TRACE_FILE_AT,
    TRACE_FILE_SIZE, read_u32, read_u64,
};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The trace file of a session that streams.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceFile {
    /// The path that the session wrote it at, absolute; empty if it was too long. A segment's ends
    /// in `.part`.
    pub path: PathBuf,
    /// Number of valid bytes. Others may follow, which [`Recording::write_rest`] has again.
    pub bytes: u64,
    /// The losses that earlier files of the trace report, by group and cause.
    pub(crate) reported: Vec<((u32, u32), u64)>,
}

impl TraceFile {
    /// True if a trace of the session at `path` is this file, and not another segment: it has the
    /// name that the file had, or the one that a segment gets when it is complete.
    pub fn is_at(&self, path: &Path) -> bool {
        let is_segment = self.path.extension() == Some(OsStr::new("part"));
        let complete = self.path.with_extension("");
        !is_segment
            || [&self.path, &complete].into_iter().any(|it| file_name(it) == path.file_name())
    }

    /// The trace file of a recording.
    pub(crate) fn read(recording: &Recording<'_>) -> Option<Self> {
        let copy = copy(recording)?;
        let bytes = recording.counter(TRACE_BYTES_AT + 8 * copy);
        let at = TRACE_FILE_AT + copy * TRACE_FILE_SIZE;
        let file = recording.bytes.get(at..at + TRACE_FILE_SIZE)?;
        let (length, rest) = file.split_first_chunk()?;
        let (path, rest) = rest.split_at_checked(u16::from_ne_bytes(*length).into())?;
        let (number, rest) = rest.split_first_chunk()?;
        let losses = rest.chunks_exact(REPORTED_LOSS_SIZE).take(u16::from_ne_bytes(*number).into());
        let loss = |bytes| Some(((read_u32(bytes, 0)?, read_u32(bytes, 4)?), read_u64(bytes, 8)?));
        let reported = losses.filter_map(loss).collect();
        Some(Self { path: os_str(path)?.into(), bytes, reported })
    }
}

/// The name of a file at an absolute path, which another system may have written.
fn file_name(path: &Path) -> Option<&OsStr> {
    match path.as_os_str().as_encoded_bytes() {
        windows @ ([b'a'..=b'z' | b'A'..=b'Z', b':', ..] | [b'\\', ..]) => {
            windows.rsplit(|byte| matches!(byte, b'\\' | b'/')).next().and_then(os_str)
        }
        _ => path.file_name(),
    }
}

/// The positions of the writers, by id.
pub(crate) fn position(recording: &Recording<'_>, writer: u16) -> Position {
    let word = copy(recording).and_then(|copy| {
        let start = usize::try_from(recording.header.positions_at).ok()?;
        read_u64(recording.bytes, start.checked_add(8 * (copy * POSITIONS + writer as usize))?)
    });
    Position::from_word(word.unwrap_or(0))
}

/// The copy that counts; none if the session does not stream, or has not begun its file.
fn copy(recording: &Recording<'_>) -> Option<usize> {
    let generation = recording.counter(GENERATION_AT);
    (recording.header.positions_at != 0 && generation != 0).then_some((generation % 2) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_told_by_its_name_also_on_another_system() {
        let of = |path: &str| TraceFile { path: path.into(), bytes: 0, reported: Vec::new() };
        let directory = Path::new("/copied");
        for path in [
            "/var/log/app.0007.pftrace.part",
            r"C:\logs\app.0007.pftrace.part",
            r"c:/logs/app.0007.pftrace.part",
            r"\\?\C:\logs\app.0007.pftrace.part",
            r"\\server\logs\app.0007.pftrace.part",
        ] {
            let is_at = |name| of(path).is_at(&directory.join(name));
            assert!(is_at("app.0007.pftrace.part") && is_at("app.0007.pftrace"), "{path}");
            assert!(!is_at("app.0008.pftrace.part"), "{path}");
        }
        assert!(of(r"/var/log/a\b.part").is_at(&directory.join(r"a\b.part")));
        assert!(!of(r"/var/log/a\b.part").is_at(&directory.join("b.part")));
    }
}
