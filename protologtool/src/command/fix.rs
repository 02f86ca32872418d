//! `check --fix`: changes sources where the advice of a problem can be followed for certain.
//!
//! Problems are found, their changes made, and the sources read again, until no change is left: one
//! may uncover another. Of changes that overlap, the first is made and the others wait for the next
//! pass.
//!
//! Invariant: a file is replaced whole, and only by a text that differs in the ranges of its
//! changes. A link, a read-only file and one with several names are refused before any file of the
//! pass is changed.

use super::inputs::{RunRequest, changed_meanwhile, process};
use crate::args::Check;
use crate::diagnostic::{Fix, Gathered, Reporter};
use crate::exit::Failure;
use crate::output::{cant_read, cant_write};
use crate::system::{Decoded, Staged, System};
use protolog_core::hash;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The limit on passes; changes do not make the problems of others, so few are needed.
const MAX_PASSES: usize = 10;

/// Makes all changes; gives their number and that of the files.
pub(super) fn apply(args: &Check, system: &dyn System) -> Result<(usize, usize), Failure> {
    let (mut count, mut files) = (0, BTreeSet::new());
    for _ in 0..MAX_PASSES {
        let mut reporter = Reporter::gathering(args.reporting, system);
        // A failure stops the report that follows, too, which shows it.
        if process(&args.sources, RunRequest::default(), &mut reporter, system).is_err() {
            break;
        }
        let mut by_file: BTreeMap<PathBuf, Vec<Fix>> = BTreeMap::new();
        let Gathered { problems, texts, .. } = reporter.into_gathered();
        for (path, problem) in problems {
            if let Some(fix) = problem.fixes.into_iter().find(|fix| fix.is_certain) {
                by_file.entry(path).or_default().push(fix);
            }
        }
        if by_file.is_empty() {
            break;
        }
        // All of them, before one is changed.
        let mut staged = Vec::new();
        for (path, fixes) in by_file {
            let text = Decoded::new(system, args.sources.encoding);
            let (change, changes) = stage((&path, texts.get(&path)), fixes, &text, system)?;
            staged.push((path, change));
            count += changes;
        }
        for (path, change) in staged {
            change.commit().map_err(|error| cant_write(&path, &error))?;
            files.insert(path);
        }
    }
    Ok((count, files.len()))
}

/// Stages the changes of one file, whose text is to have this hash; gives their number, too.
fn stage(
    (path, text_hash): (&Path, Option<&u64>),
    mut fixes: Vec<Fix>,
    decoded: &Decoded<'_>,
    system: &dyn System,
) -> Result<(Box<dyn Staged>, usize), Failure> {
    let bytes = decoded.read(path).map_err(|error| cant_read(path, &error))?;
    if text_hash.is_some_and(|text_hash| *text_hash != hash(&bytes)) {
        return Err(changed_meanwhile(path));
    }
    fixes.sort_by_key(|fix| (fix.range.start, fix.range.end));
    let (mut text, mut at, mut count) = (Vec::with_capacity(bytes.len()), 0, 0);
    for fix in &fixes {
        if fix.range.start < at || fix.range.end > bytes.len() {
            continue;
        }
        text.extend_from_slice(&bytes[at..fix.range.start]);
        text.extend_from_slice(fix.text.as_bytes());
        at = fix.range.end;
        count += 1;
    }
    text.extend_from_slice(&bytes[at..]);
    let text = decoded.encode(path, text);
    let staged = system.stage_change(path, &text).map_err(|error| cant_write(path, &error))?;
    Ok((staged, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::SourceEncoding;
    use crate::system::Memory;

    #[test]
    fn a_file_that_somebody_else_changed_is_left_alone() {
        let system = Memory::with_files([("A.java", "class A { int b; }")]);
        let decoded = Decoded::new(&system, SourceEncoding::Utf8);
        let stage_for = |text: &str| {
            let place = (Path::new("A.java"), Some(&hash(text.as_bytes())));
            stage(place, Vec::new(), &decoded, &system).map(|(_, count)| count)
        };
        assert!(stage_for("class A { int b; }").is_ok());
        let failure = stage_for("class A { int a; }").expect_err("another text").to_string();
        let expected =
            "error: `A.java` changed while it was looked at\nhelp: run the command again";
        assert_eq!(failure, expected);
    }
}
