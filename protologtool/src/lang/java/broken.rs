//! Diagnostics for sources that do not parse, where it matters: in the declarations that hold
//! calls.
//!
//! tree-sitter always gives a tree, with ERROR and MISSING nodes where the grammar was left. Since
//! members are parsed one by one, a member is good however broken the rest of the file is; a bad
//! one with a call is one diagnostic, beside those of its calls that are whole. Brackets that do
//! not balance are closed by guess ([`super::brackets`]), so that the rest of the file is
//! diagnosed.

use super::brackets::{Fault, FaultKind, unclosed_literal};
use super::outline::Member;
use super::syntax::descendants;
use super::unit::Unit;
use crate::diagnostic::{Code, Diagnostic};
use std::ops::Range;
use tree_sitter::{Node, Tree};

/// That a bracket has no counterpart, or a literal or comment no end.
pub(crate) fn unbalanced(unit: &Unit<'_>, fault: &Fault) -> Diagnostic {
    let written = unit.str(&fault.range);
    let (message, help) = match (fault.kind, written) {
        (FaultKind::Bracket, _) => (
            format!("`{written}` has no counterpart"),
            "balance the brackets: until then no log call of this file can be rewritten".to_owned(),
        ),
        (FaultKind::Comment, _) => ("unclosed comment".to_owned(), "close it with `*/`".to_owned()),
        (FaultKind::Literal, "'") => {
            ("unclosed character".to_owned(), "close it with `'`".to_owned())
        }
        (FaultKind::Literal, _) => {
            let is_block = unit.text()[fault.range.start..].starts_with(b"\"\"\"");
            let quotes = if is_block { "\"\"\"" } else { "\"" };
            ("unclosed string literal".to_owned(), format!("close it with `{quotes}`"))
        }
    };
    Diagnostic::error(Code::Syntax, fault.range.clone(), message).help(help)
}

/// The first syntax error in the member that has this tree.
pub(crate) fn fault(unit: &Unit<'_>, member: &Member, tree: &Tree) -> Option<Diagnostic> {
    let root = tree.root_node();
    root.has_error().then(|| {
        if let Some(fault) = unclosed_literal(unit.text(), &unit.tokens[member.tokens.clone()]) {
            return unbalanced(unit, &fault);
        }
        let fault = descendants(root).find(|node| node.is_error() || node.is_missing());
        describe(unit, &member.range, fault.unwrap_or(root))
    })
}

/// The most bytes of code, comments left out, that a declaration with calls may have: the parser
/// takes about fifty times as much memory.
pub(crate) const MAX_CODE: usize = 8 << 20;

/// That a declaration with a call is larger than [`MAX_CODE`], if it is.
pub(crate) fn too_large(
    unit: &Unit<'_>,
    member: &Member,
    call: &Range<usize>,
) -> Option<Diagnostic> {
    let code: usize =
        unit.tokens[member.tokens.clone()].iter().map(|token| token.range().len()).sum();
    (code > MAX_CODE).then(|| {
        let message = format!(
            "the declaration around this call has {} MiB of code, and the limit is {} MiB",
            code.div_ceil(1 << 20),
            MAX_CODE >> 20
        );
        let help = "divide it: of a method javac takes 64 KiB of bytecode";
        Diagnostic::error(Code::Syntax, call.clone(), message).help(help)
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
        // Point at the text before, since that is where one would write it.
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
