//! Finds the log calls of a file, and the calls of the class's other methods.
//!
//! Tokens say where calls may be; of the members that hold such places, and of no others, there are
//! trees.

use super::brackets::{FaultKind, unclosed_literal};
use super::broken;
use super::invocation::{Candidate, Walk, candidates, references};
use super::library::Classes;
use super::marks::Marks;
use super::meaning::Handle;
use super::outline::{Member, MemberId};
use super::passed;
use super::place::{CallResult, MemberCalls, OtherCall};
use super::resolve::Resolver;
use super::syntax::{member_text, parse_around, parse_member};
use super::unit::Unit;
use super::{Java, JavaShape};
use crate::call::Call;
use crate::diagnostic::{Diagnostic, Severity};
use crate::groups::Groups;
use crate::lang::jvm::level_of;
use crate::lang::jvm::wrapper::Wrapper;
use crate::lang::{UnreadCalls, reference};
use crate::source::Source;
use memchr::memmem;
use protolog_core::Level;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use tree_sitter::Tree;

/// The calls in a file.
#[derive(Debug, Default)]
pub(super) struct FileCalls {
    /// The log calls, in source order.
    pub(super) calls: Vec<Call<JavaShape>>,
    /// Calls of other methods of the class, in source order.
    pub(super) others: Vec<OtherCall>,
    /// The problems of log calls.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The log calls that can't be rewritten.
    pub(super) unread: UnreadCalls,
    /// True if the file names the class, as far as package, imports and full names tell.
    pub(super) names_class: bool,
    /// The methods that pass a template on to a log call.
    pub(super) wrappers: Vec<Wrapper>,
}

impl FileCalls {
    /// Adds the call whose method's name is at `name` with its warnings, or the problem with it.
    fn add(&mut self, name: Range<usize>, read: CallResult) {
        match read {
            Ok((call, warnings)) => {
                self.calls.push(call);
                self.diagnostics.extend(warnings);
            }
            Err(problems) => {
                self.unread.add(name, &problems);
                self.diagnostics.extend(problems);
            }
        }
    }

    /// Adds the calls of a member.
    fn append(&mut self, mut member: Self) {
        self.calls.append(&mut member.calls);
        self.others.append(&mut member.others);
        self.wrappers.append(&mut member.wrappers);
        self.diagnostics.append(&mut member.diagnostics);
        self.unread.append(member.unread);
    }
}

pub(super) fn find(
    java: &Java,
    source: &Source,
    groups: &Groups,
    library: Option<&dyn Classes>,
    wrappers: &[Wrapper],
) -> FileCalls {
    let unit = Unit::of(source.bytes());
    let names_class = unit.names.may_name(&java.protolog) || has_full_name(java, &unit);
    let mut found = FileCalls { names_class, ..FileCalls::default() };
    let resolver = Resolver::new(Handle::This(&unit), library);
    let mut finder =
        CallFinder { java, groups, unit: &unit, resolver, wrappers, found: &mut found };
    finder.file();
    found.diagnostics.sort_by_key(|diagnostic| diagnostic.range.start);
    map_back(&unit, &mut found);
    found
}

/// The texts of a source that the parser is given: its declarations that may hold calls.
pub(super) fn parsed(java: &Java, source: &Source) -> Vec<Vec<u8>> {
    let unit = Unit::of(source.bytes());
    let candidates = candidates(&unit, &java.protolog);
    let mut members: Vec<MemberId> = candidates
        .iter()
        .filter_map(|candidate| unit.outline.member_at(candidate.method.start))
        .collect();
    members.dedup();
    members.iter().map(|id| member_text(&unit, &unit.outline.members[id.0]).0).collect()
}

/// Makes ranges of the unit's text ranges of the file.
fn map_back(unit: &Unit<'_>, found: &mut FileCalls) {
    if !unit.is_translated() {
        return;
    }
    let map = |range: &mut Range<usize>| *range = unit.origin(range.clone());
    for call in &mut found.calls {
        let Call { range, template, template_range, args, shape, .. } = call;
        [range, template_range, &mut shape.class, &mut shape.group].into_iter().for_each(map);
        args.iter_mut().for_each(map);
        template.map_origins(|offset| unit.origin(offset..offset).start);
    }
    for other in &mut found.others {
        [&mut other.class, &mut other.method].into_iter().for_each(map);
    }
    found.unread.ranges_mut().for_each(map);
    for diagnostic in &mut found.diagnostics {
        map(&mut diagnostic.range);
        // Its text has no escapes that the file may need.
        diagnostic.fixes.clear();
    }
}

fn has_full_name(java: &Java, unit: &Unit<'_>) -> bool {
    memmem::find(unit.text(), java.protolog.as_bytes()).is_some()
}

struct CallFinder<'a, 'u> {
    java: &'a Java,
    groups: &'a Groups,
    unit: &'u Unit<'u>,
    resolver: Resolver<'u>,
    /// The methods and functions of all files that pass templates on.
    wrappers: &'a [Wrapper],
    found: &'a mut FileCalls,
}

impl CallFinder<'_, '_> {
    fn file(&mut self) {
        let unit = self.unit;
        let mut candidates = candidates(unit, &self.java.protolog);
        candidates.retain(|candidate| match &candidate.class {
            // Names that the file declares itself are looked up where the call is.
            Some(written) => self.can_mean(written) || self.is_declared(written),
            None => true,
        });
        if !self.wrappers.is_empty() {
            candidates.extend(passed::candidates(unit, self.wrappers));
            candidates.sort_by_key(|candidate| candidate.method.start);
        }
        for (written, range) in references(unit, self.java) {
            if self.can_mean(&written) {
                self.found.add(range.clone(), Err(vec![reference(range)]));
            }
        }
        if candidates.is_empty() {
            return;
        }
        let logs = candidates.iter().any(|candidate| self.level(candidate).is_some());
        let broken = if logs { self.unbalanced() } else { HashSet::new() };
        let mut by_member: BTreeMap<MemberId, Vec<Candidate>> = BTreeMap::new();
        for candidate in candidates {
            match unit.outline.member_at(candidate.method.start) {
                Some(member) => by_member.entry(member).or_default().push(candidate),
                None if self.level(&candidate).is_some() => {
                    self.found.unread.refused.push(candidate.method.clone());
                    if unit.faults.is_empty() {
                        self.found.diagnostics.push(broken::outside(candidate.method));
                    }
                }
                None => {}
            }
        }
        for (member, candidates) in by_member {
            self.member(member, &candidates, broken.contains(&member));
        }
    }

    /// Reports the brackets that do not balance, one for each member; those members.
    fn unbalanced(&mut self) -> HashSet<MemberId> {
        let unit = self.unit;
        let mut broken = HashSet::new();
        for fault in &unit.faults {
            let at = fault.range.start;
            let Some(member) = unit.outline.member_at(at) else {
                self.found.diagnostics.push(broken::unbalanced(unit, fault));
                continue;
            };
            if broken.insert(member) {
                let Member { range, tokens, .. } = &unit.outline.members[member.0];
                // A literal or comment without an end takes brackets along.
                let literal = unclosed_literal(unit.text(), &unit.tokens[tokens.clone()]);
                let mut faults = unit.faults.iter().skip_while(|it| it.range.start < at);
                let cause = faults.find(|it| it.kind != FaultKind::Bracket);
                let cause = cause.filter(|it| range.contains(&it.range.start));
                let fault = broken::unbalanced(unit, literal.as_ref().or(cause).unwrap_or(fault));
                self.found.diagnostics.push(fault);
            }
        }
        broken
    }

    /// Finds the calls of a member. Of one whose brackets are known to be `broken`, or that does
    /// not parse, those that are whole are diagnosed.
    fn member(&mut self, member: MemberId, candidates: &[Candidate], broken: bool) {
        let declared = &self.unit.outline.members[member.0];
        if let Some(error) = broken::too_large(self.unit, declared, &candidates[0].method) {
            self.refuse(candidates);
            self.found.diagnostics.push(error);
            return;
        }
        let wanted: Vec<usize> = candidates.iter().map(|call| call.method.start).collect();
        let Some(mut tree) = parse_around(self.unit, declared, &wanted) else { return };
        if broken || tree.root_node().has_error() {
            // The error is described by the whole.
            tree = parse_member(self.unit, declared).unwrap_or(tree);
        }
        let (unit, whole) = (self.unit, OnceCell::new());
        let place = MemberCalls {
            java: self.java,
            groups: self.groups,
            unit,
            resolver: &self.resolver,
            member,
            whole: &whole,
            walk: OnceCell::new(),
            locals: OnceCell::new(),
            changes: OnceCell::new(),
            marks: Marks::default().into(),
            mentions: OnceCell::new(),
        };
        let fault = broken::fault(unit, declared, &tree);
        if broken || fault.is_some() {
            let others = self.whole_calls(&place, &tree, candidates);
            self.unparsable(candidates, fault.filter(|_| !broken), others);
            return;
        }
        let found = self.calls(&place, &tree, candidates);
        // Where declarations mattered, those were looked for in parts that may not parse.
        let looked_at = whole.get().and_then(Option::as_ref);
        match looked_at.and_then(|tree| broken::fault(unit, declared, tree)) {
            Some(fault) => self.unparsable(candidates, Some(fault), found.diagnostics),
            None => self.found.append(found),
        }
    }

    /// The calls of a member that parses, as far as `tree` has it.
    fn calls(
        &self,
        place: &MemberCalls<'_, '_, '_>,
        tree: &Tree,
        candidates: &[Candidate],
    ) -> FileCalls {
        let mut found = FileCalls::default();
        let walk = Walk::new(tree);
        let mut reads: Vec<(&Candidate, bool, CallResult)> = Vec::new();
        for candidate in candidates {
            let Some(call) = walk.invocation(candidate, self.unit.text()) else { continue };
            if candidate.may_pass_on {
                if let Some(meant) = place.meant(&call, candidate, self.wrappers) {
                    let read = place.passed(meant, &call, candidate);
                    reads.push((candidate, place.may_change(&call), read));
                }
                continue;
            }
            if !place.is_of_class(&call, candidate) {
                continue;
            }
            let Some(level) = self.level(candidate) else {
                found.others.extend(place.other(&call));
                continue;
            };
            if let Some(doubt) = place.doubt(candidate) {
                found.add(candidate.method.clone(), Err(vec![doubt]));
                continue;
            }
            let read = place.call(&call, candidate, level);
            match read.as_ref().err().and_then(|_| place.wrapper(candidate, level)) {
                Some((wrapper, note)) => {
                    // Calls of one that begins a span are no statements, as those of others are.
                    found.wrappers.extend(wrapper.filter(|_| !place.is_span(candidate)));
                    found.add(candidate.method.clone(), Err(vec![note]));
                }
                None => reads.push((candidate, place.may_change(&call), read)),
            }
        }
        for (candidate, may_change, read) in reads.iter_mut().rev() {
            if *may_change {
                place.add_effects(candidate, read);
            }
        }
        for (candidate, _, read) in reads {
            found.add(candidate.method.clone(), read);
        }
        found
    }

    /// The errors of those log calls of a member with syntax errors that hold none and do not stand
    /// in one.
    fn whole_calls(
        &self,
        place: &MemberCalls<'_, '_, '_>,
        tree: &Tree,
        candidates: &[Candidate],
    ) -> Vec<Diagnostic> {
        let walk = Walk::new(tree);
        let wrong = candidates.iter().filter_map(|candidate| {
            let level = self.level(candidate)?;
            let call = walk.invocation(candidate, self.unit.text())?;
            let in_error = || call.ancestors().any(|node| node.is_error());
            let is_whole = !call.node.has_error() && !in_error();
            let is_meant = is_whole && place.is_of_class(&call, candidate);
            is_meant.then(|| place.call(&call, candidate, level).err()).flatten()
        });
        wrong.flatten().collect()
    }

    /// Reports that a member can't be parsed, and other errors in it, if it holds log calls.
    fn unparsable(
        &mut self,
        candidates: &[Candidate],
        fault: Option<Diagnostic>,
        others: Vec<Diagnostic>,
    ) {
        self.refuse(candidates);
        if candidates.iter().any(|candidate| self.level(candidate).is_some()) {
            self.found.diagnostics.extend(fault);
            let errors = others.into_iter().filter(|it| it.severity == Severity::Error);
            self.found.diagnostics.extend(errors);
        }
    }

    /// Counts the log calls of a member that can't be read.
    fn refuse(&mut self, candidates: &[Candidate]) {
        let logs = candidates.iter().filter(|candidate| self.level(candidate).is_some());
        let refused: Vec<_> = logs.map(|candidate| candidate.method.clone()).collect();
        self.found.unread.refused.extend(refused);
    }

    /// The level of a log call.
    fn level(&self, candidate: &Candidate) -> Option<Level> {
        let level = level_of(self.unit.str(&candidate.method), &self.java.dialect);
        level.filter(|_| !candidate.may_pass_on)
    }

    fn can_mean(&self, written: &str) -> bool {
        let in_package = |name: &str| self.resolver.is_in_package(name);
        self.unit.names.can_mean(written, &self.java.protolog, in_package)
    }

    /// Returns whether the first part of a name may be a type that the file declares or inherits.
    fn is_declared(&self, written: &str) -> bool {
        let first = written.split('.').next().unwrap_or(written);
        let mut outer = self.java.protolog.rsplit('.').skip(1);
        let is_nested = outer.next().is_some_and(|outer| outer.starts_with(char::is_uppercase));
        is_nested || self.unit.outline.types.iter().any(|of| self.unit.str(&of.name) == first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(code: usize) -> Vec<String> {
        let literal = "x".repeat(code);
        let text = format!(
            "import a.P; class A {{ void f() {{ g(\"{literal}\"); /* {literal} */ P.d(G, \"\"); }} void h() {{ P.d(G, \"\"); }} }}"
        );
        let (java, source) = (Java::new("a.P", "a.I"), Source::new("A.java", text.into_bytes()));
        let found = find(&java, &source, &Groups::default(), None, &[]);
        found.diagnostics.into_iter().map(|problem| problem.message).collect()
    }

    /// A declaration that would take more memory than anybody expects is refused before it is
    /// parsed; others are looked at.
    #[test]
    fn a_declaration_that_is_too_large() {
        let found = problems(broken::MAX_CODE);
        let expected = "the declaration around this call has 9 MiB of code, and the limit is 8 MiB";
        assert_eq!((found.len(), found[0].as_str()), (2, expected), "{found:?}");
        let found = problems(broken::MAX_CODE / 2);
        assert!(found.len() == 2 && found.iter().all(|it| !it.contains("MiB")), "{found:?}");
    }
}
