//! Diagnostics for sources that do not parse, where it matters: in the declarations that hold calls.
//!
//! tree-sitter always gives a tree, with ERROR and MISSING nodes where the grammar was left. Since members are parsed one by
//! one, a member is good however broken the rest of the file is; a bad one with a call is one diagnostic. Brackets that do
//! not balance make the whole file bad, since then nobody can say which member a call belongs to.

use super::lexer;
use super::syntax::descendants;
use super::unit::Unit;
use crate::diagnostic::{Code, Diagnostic};
use std::ops::Range;
use tree_sitter::{Node, Tree};

/// That the brackets of a file with calls do not balance.
pub(crate) fn unbalanced(unit: &Unit<'_>) -> Diagnostic {
    let bracket = lexer::unbalanced(unit.text()).unwrap_or(0..0);
    let message = format!("`{}` has no counterpart", unit.str(&bracket));
    Diagnostic::error(Code::Syntax, bracket, message)
        .help("balance the brackets: until then no log call of this file can be rewritten")
}

/// The first syntax error in the member that has this tree and the bytes `member`.
pub(crate) fn fault(unit: &Unit<'_>, member: &Range<usize>, tree: &Tree) -> Option<Diagnostic> {
    let root = tree.root_node();
    root.has_error().then(|| {
        let fault = descendants(root).find(|node| node.is_error() || node.is_missing());
        describe(unit, member, fault.unwrap_or(root))
    })
}

/// That a call stands where no declaration is.
pub(crate) fn outside(call: Range<usize>) -> Diagnostic {
    Diagnostic::error(Code::Syntax, call, "a log call outside of any declaration").help(HELP)
}

const HELP: &str =
    "correct the syntax; if javac accepts it, move the log call to a method of its own";

fn describe(unit: &Unit<'_>, member: &Range<usize>, fault: Node<'_>) -> Diagnostic {
    let text = unit.text();
    let start = fault.start_byte().clamp(member.start, member.end - 1);
    if fault.is_missing() {
        // Point at what comes before, since that is where one would write it.
        let at = text[..start].trim_ascii_end().len().saturating_sub(1);
        let message = format!("expected `{}` after this", fault.kind());
        return Diagnostic::error(Code::Syntax, at..at + 1, message).help(
            "correct the syntax: the log calls of this declaration can't be rewritten until then",
        );
    }
    let line_end =
        memchr::memchr2(b'\n', b'\r', &text[start..]).map_or(text.len(), |at| start + at);
    let shown = start..fault.end_byte().min(member.end).min(line_end).max(start + 1);
    Diagnostic::error(Code::Syntax, shown, "can't parse this declaration").help(HELP)
}
