//! Files that do not parse as a whole: which calls can be trusted, and which are reported instead.
//!
//! tree-sitter always gives a tree, with ERROR and MISSING nodes where the grammar was left. A call is good if nothing is
//! wrong with the member declaration that holds it, however broken the rest of the file. A bad member with a call is one
//! diagnostic; one without a call is nothing to us, javac will say. Brackets that do not balance make the whole file bad,
//! since then nobody can say which member a call belongs to.

use super::lexer::{self, Kind, Token};
use super::scope::Invocation;
use super::syntax::{ancestors, descendants, is_type_body, is_type_declaration};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Source;
use std::collections::BTreeMap;
use std::ops::Range;
use tree_sitter::Node;

/// What is broken in a file.
pub(crate) struct Broken<'t, 's> {
    root: Node<'t>,
    source: &'s Source,
    unbalanced: Option<Range<usize>>,
    /// Members that hold calls, by id of the node: is it broken?
    members: BTreeMap<usize, bool>,
    /// Where the members that are broken begin to be, without repeats.
    faults: BTreeMap<usize, Node<'t>>,
    calls: bool,
}

impl<'t, 's> Broken<'t, 's> {
    pub(crate) fn new(root: Node<'t>, source: &'s Source) -> Self {
        let unbalanced = root.has_error().then(|| lexer::unbalanced(source.bytes())).flatten();
        let (members, faults) = (BTreeMap::new(), BTreeMap::new());
        Self { root, source, unbalanced, members, faults, calls: false }
    }

    /// Whether the declaration that holds this call is broken. Remembers it if so.
    pub(crate) fn holds(&mut self, call: &Invocation<'t>) -> bool {
        if !self.root.has_error() {
            return false;
        }
        self.calls = true;
        let member = enclosing_member(call.node, &call.ancestors);
        if let Some(known) = self.members.get(&member.id()) {
            return *known;
        }
        let fault =
            if self.unbalanced.is_some() { None } else { first_fault(member, &call.ancestors) };
        let is_broken = self.unbalanced.is_some() || fault.is_some();
        self.members.insert(member.id(), is_broken);
        if let Some(fault) = fault {
            self.faults.insert(fault.start_byte(), fault);
        }
        is_broken
    }

    /// One diagnostic for each broken declaration with a call. `may_be_call` says of a method's name and the name before
    /// it whether they look like a log call: in an ERROR node there are no method invocations to find.
    pub(crate) fn diagnostics(
        mut self,
        may_be_call: impl Fn(Option<&str>, &str) -> bool,
    ) -> Vec<Diagnostic> {
        if !self.root.has_error() {
            return Vec::new();
        }
        for at in self.likely_calls(may_be_call) {
            let innermost = self.root.descendant_for_byte_range(at, at + 1);
            let error = innermost.and_then(|node| {
                std::iter::once(node)
                    .chain(ancestors(node).map(|(parent, _)| parent))
                    .find(Node::is_error)
            });
            let Some(error) = error else { continue };
            self.calls = true;
            let known = self.faults.values().any(|fault| {
                fault.id() == error.id()
                    || fault.byte_range().contains(&at)
                    || member_of(*fault).byte_range().contains(&at)
            });
            if !known {
                self.faults.insert(error.start_byte(), error);
            }
        }
        match &self.unbalanced {
            Some(bracket) if self.calls => vec![self.unbalanced_brackets(bracket.clone())],
            Some(_) => Vec::new(),
            None => self.faults.values().map(|fault| self.fault(*fault)).collect(),
        }
    }

    fn unbalanced_brackets(&self, bracket: Range<usize>) -> Diagnostic {
        let text = self.source.text(bracket.clone());
        Diagnostic::error(Code::Syntax, bracket, format!("`{text}` has no counterpart"))
            .help("balance the brackets: until then no log call of this file can be rewritten")
    }

    fn fault(&self, fault: Node<'t>) -> Diagnostic {
        let range = fault.byte_range();
        if fault.is_missing() {
            // Point at what comes before, since that is where one would write it.
            let before = self.source.slice(0..range.start);
            let at = before.trim_ascii_end().len().saturating_sub(1);
            let message = format!("expected `{}` after this", fault.kind());
            return Diagnostic::error(Code::Syntax, at..at + 1, message)
                .help("correct the syntax: the log calls of this declaration can't be rewritten until then");
        }
        let line_end = self.source.line_range(self.source.line(range.start)).end;
        let shown = range.start..range.end.min(line_end).max(range.start + 1);
        Diagnostic::error(Code::Syntax, shown, "can't parse this declaration").help(
            "correct the syntax; if javac accepts it, move the log call to a method of its own",
        )
    }

    /// Offsets of words that look like the method name of a log call.
    fn likely_calls(&self, may_be_call: impl Fn(Option<&str>, &str) -> bool) -> Vec<usize> {
        let text = |token: &Token| {
            std::str::from_utf8(self.source.slice(token.range.clone())).unwrap_or("")
        };
        let tokens: Vec<Token> = lexer::tokens(self.source.bytes())
            .filter(|token| token.kind != Kind::Comment)
            .collect();
        let calls = tokens.iter().enumerate().filter(|(index, token)| {
            let before =
                |count: usize| index.checked_sub(count).and_then(|index| tokens.get(index));
            let dot = before(1).is_some_and(|token| token.kind == Kind::Punct(b'.'));
            let class = before(2).filter(|_| dot).map(text);
            token.kind == Kind::Word
                && tokens.get(index + 1).is_some_and(|next| next.kind == Kind::Punct(b'('))
                && may_be_call(class, text(token))
        });
        calls.map(|(_, token)| token.range.start).collect()
    }
}

/// The outermost declaration around `node` that is a member of a type, as opposed to a type; the whole file if that itself
/// is an ERROR node.
fn enclosing_member<'t>(node: Node<'t>, ancestors: &[Node<'t>]) -> Node<'t> {
    let is_member = |node: &&Node<'t>| {
        !is_type_declaration(**node)
            && !is_type_body(**node)
            && !node.is_error()
            && node.kind() != "program"
    };
    match ancestors.first() {
        Some(root) if root.kind() != "program" => *root,
        _ => ancestors.iter().find(is_member).copied().unwrap_or(node),
    }
}

fn member_of(node: Node<'_>) -> Node<'_> {
    let mut path: Vec<_> = ancestors(node).map(|(parent, _)| parent).collect();
    path.reverse();
    enclosing_member(node, &path)
}

/// The first ERROR or MISSING node at or under `member`, or the ERROR node around it.
fn first_fault<'t>(member: Node<'t>, path: &[Node<'t>]) -> Option<Node<'t>> {
    if let Some(error) =
        path.iter().take_while(|node| **node != member).find(|node| node.is_error())
    {
        return Some(*error);
    }
    if !member.has_error() {
        return None;
    }
    descendants(member).find(|node| node.is_error() || node.is_missing())
}
