//! Archives back to what they were made of: the lines that `read-log --format json` prints of the
//! traces, or traces.
//!
//! ```text
//! records        the records of exports       →  the files of each trace
//! open           a file                       →  its row groups, after a look at its footer
//! rows           a row group                  →  values by column
//! items          the files of one trace       →  messages, losses, spans, in its order
//! lines          an item                      →  the line of JSON
//! made_trace     the items                    →  a trace that all commands read
//! check          all files                    →  what fails, or can't be read
//! compacted      the lists of compact.sh      →  the checksums of files
//! ```
//!
//! Invariants: the lines of one trace are those of the trace itself, in the same order; those of
//! several are merged by the wall clock; memory is that of one row group for each file, and of the
//! losses and spans.

pub(crate) mod check;
mod compacted;
mod items;
mod lines;
mod made_trace;
mod open;
mod records;
mod rows;

use std::io::{BufWriter, Write};
use std::path::Path;

use protolog_files::{StagedFile, Tree};

use self::items::TraceItems;
use self::made_trace::TraceMaker;
use self::records::exports;
use super::files::{MODE, PREFIX};
use crate::failure::{Failure, Result, printed};

/// Writes the lines of all traces in the archive at `root`.
pub(crate) fn write_lines(root: &Path, out: &mut dyn Write) -> Result<()> {
    let mut traces = Vec::new();
    for (_, export) in exports(root)? {
        traces.push(TraceItems::open(root, &export)?);
    }
    loop {
        let mut next: Option<(usize, i64)> = None;
        for (index, trace) in traces.iter_mut().enumerate() {
            if let Some(time) = trace.next_time()?
                && next.is_none_or(|(_, first)| time < first)
            {
                next = Some((index, time));
            }
        }
        let Some((index, _)) = next else { break };
        if let Some(line) = traces[index].next(lines::line)?.flatten() {
            let written = writeln!(out, "{line}");
            if written.is_err() {
                return printed(written);
            }
        }
    }
    printed(out.flush())
}

/// Writes a trace for each one that the archive at `root` was made of, to the directory `to`, which
/// is made if it is not there: all or none. Returns their names, and the numbers of their messages.
pub(crate) fn write_traces(root: &Path, to: &Path) -> Result<Vec<(String, u64)>> {
    let exports = exports(root)?;
    let tree = Tree::create(to).map_err(|error| Failure::cant_write(to, &error))?;
    let (mut staged, mut written) = (Vec::new(), Vec::new());
    for (source, export) in exports {
        let name = file_name(&export.trace, &source);
        let failed = |error: std::io::Error| Failure::cant_write(&to.join(&name), &error);
        let place = tree.locate_new(Path::new(&name)).map_err(failed)?;
        let (file, mut out) = StagedFile::new(&place, PREFIX, MODE)
            .map(|(staged, file)| (staged, BufWriter::with_capacity(256 << 10, file)))
            .map_err(failed)?;
        let mut items = TraceItems::open(root, &export)?;
        let mut maker = TraceMaker::begin(&mut out, items.templates()).map_err(failed)?;
        while let Some(done) = items.next(|item, _| maker.write(item))? {
            done.map_err(failed)?;
        }
        maker.finish().map_err(failed)?;
        out.into_inner().map_err(std::io::IntoInnerError::into_error).map_err(failed)?;
        staged.push((file, place));
        written.push((name, export.messages));
    }
    for ((file, place), (name, _)) in staged.into_iter().zip(&written) {
        file.commit(&place).map_err(|error| Failure::cant_write(&to.join(name), &error))?;
    }
    Ok(written)
}

/// The name of the trace that is made of an export: that of its trace, with what tells it from
/// others of the same name.
fn file_name(trace: &str, source: &str) -> String {
    let name = Path::new(trace).file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    let is_kept = |letter: &char| letter.is_ascii_alphanumeric() || "-_".contains(*letter);
    let stem: String = stem.chars().filter(is_kept).take(64).collect();
    format!("{stem}{}{source}.pftrace", if stem.is_empty() { "" } else { "-" })
}
