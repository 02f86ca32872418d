//! The report of a merge: why it failed, and the missing parts of its inputs.

use crate::args::Expansion;
use crate::exit::Failure;
use crate::output::{cant_read, reason};
use protolog_reader::{MergeError, Merged, printable};
use std::path::Path;

/// Lines about missing parts of the inputs.
pub(crate) fn problems(merged: &Merged, expansion: Expansion) -> Vec<String> {
    let cut = |name: &String| format!("warning: `{}` ends within a packet\n", printable(name));
    let mut lines: Vec<String> = merged.truncated.iter().map(cut).collect();
    let left_out = merged.left_out.iter();
    lines.extend(left_out.map(|it| format!("warning: {}: it is left out\n", printable(it))));
    for name in &merged.cut {
        let name = printable(name);
        lines.push(format!(
            "warning: `{name}` expands to more than its limit: a part is left out\n"
        ));
    }
    lines.extend((!merged.cut.is_empty()).then(|| expansion.advice()));
    match merged.malformed {
        0 => {}
        1 => lines.push("warning: 1 packet can't be read\n".to_owned()),
        more => lines.push(format!("warning: {more} packets can't be read\n")),
    }
    match merged.malformed_elements {
        0 => {}
        1 => lines.push("warning: 1 dictionary entry can't be read\n".to_owned()),
        more => lines.push(format!("warning: {more} dictionary entries can't be read\n")),
    }
    lines.extend(merged.gaps().iter().map(|gap| format!("warning: {gap}\n")));
    lines
}

/// The failure of a merge into the file `output`.
pub(crate) fn failure(error: &MergeError, output: &Path) -> Failure {
    let text = match error {
        MergeError::Read { input, error } => return cant_read(Path::new(input), error),
        MergeError::Write(error) => {
            format!("can't write `{}`: {}", output.display(), reason(error))
        }
        // Names of groups are in it, with lines of their own.
        other => printable(&other.to_string()),
    };
    Failure::new(text).help(error.help())
}
