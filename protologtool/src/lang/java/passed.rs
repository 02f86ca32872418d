//! Calls of methods and functions that pass a template on: each has the combined template.
//!
//! A call that can't be resolved stays as it is: unlike a log call it need not be one.

use super::constant::arguments;
use super::instance::Meant;
use super::invocation::{Candidate, Invocation};
use super::lexer::TokenKind;
use super::meaning::MethodOwner;
use super::meaning::Type;
use super::place::{CallResult, MemberCalls};
use super::unit::Unit;
use super::wrapper::stays;
use super::{JavaShape, PassedOn};
use crate::call::{Call, Checked, Text};
use crate::lang::jvm::wrapper::{RUNS_CODE, Wrapper};
use std::borrow::Cow;
use std::collections::HashSet;
use tree_sitter::Node;

/// The places of a file that may call one of `wrappers`, by tokens.
pub(super) fn candidates(unit: &Unit<'_>, wrappers: &[Wrapper]) -> Vec<Candidate> {
    let names: HashSet<&str> = wrappers.iter().map(|wrapper| &*wrapper.name).collect();
    let tokens = &unit.tokens;
    let is = |at: Option<usize>, punct: u8| {
        at.and_then(|at| tokens.get(at)).is_some_and(|it| it.kind == TokenKind::Punct(punct))
    };
    let found = tokens.iter().enumerate().filter_map(|(index, token)| {
        let is_call = token.kind == TokenKind::Word
            && is(Some(index + 1), b'(')
            && names.contains(unit.str(&token.range()));
        if !is_call {
            return None;
        }
        let method = token.range();
        if !is(index.checked_sub(1), b'.') {
            return Some(Candidate { class: None, method, may_pass_on: true });
        }
        let mut first = index;
        while first >= 2
            && is(first.checked_sub(1), b'.')
            && tokens[first - 2].kind == TokenKind::Word
        {
            first -= 2;
        }
        // A method of an expression's value.
        if first == index || is(first.checked_sub(1), b'.') {
            return None;
        }
        let class = tokens[first..index - 1].iter().map(|token| unit.str(&token.range())).collect();
        Some(Candidate { class: Some(class), method, may_pass_on: true })
    });
    found.collect()
}

impl MemberCalls<'_, '_, '_> {
    /// The one of `wrappers` that a call means.
    pub(super) fn meant<'w>(
        &self,
        call: &Invocation<'_>,
        candidate: &Candidate,
        wrappers: &'w [Wrapper],
    ) -> Option<Meant<'w>> {
        let name = self.unit.str(&candidate.method);
        let named = |canonical: &String| {
            wrappers.iter().find(|wrapper| wrapper.java_names.contains(canonical))
        };
        let called =
            |canonical: &String| named(canonical).filter(|it| !it.of_instance).map(Meant::from);
        // A method of the same class, of the same instance.
        let of_this = |canonical: &String| named(canonical).map(Meant::of_this);
        let Some(written) = &candidate.class else {
            let site = self.site(call, name);
            return match self.resolver.method_owner(name, site) {
                MethodOwner::Type(of) => of_this(&format!("{}.{name}", self.unit.canonical(of))),
                MethodOwner::Other => None,
                MethodOwner::Nobody => self.unit.names.elsewhere(name).iter().find_map(called),
            };
        };
        let first = written.split('.').next().unwrap_or(written);
        if first == "this" || self.variable(call, first).is_some() {
            return self.meant_of_instance(call, written, name, wrappers);
        }
        let of_field = || self.meant_of_instance(call, written, name, wrappers);
        let of_class = match self.resolver.declared_type(first, self.site(call, first)) {
            Some(Type::Declared(of)) => {
                let of = of.unit.canonical(of.id);
                called(&format!("{of}{}.{name}", &written[first.len()..]))
            }
            Some(_) => None,
            None => {
                let names = self.unit.names.elsewhere(&format!("{written}.{name}"));
                names.iter().find_map(called)
            }
        };
        of_class.or_else(of_field)
    }

    /// Returns whether the member with the call is one of the class of `wrapper`, which is
    /// initialised then.
    fn is_within(&self, wrapper: &Wrapper) -> bool {
        let owner = self.unit.outline.members[self.member.0].owner;
        owner.is_some_and(|owner| wrapper.is_of([&*self.unit.canonical(owner)]))
    }

    /// The call `call` of the method `meant`; or why it stays as it is, or the problem with it.
    pub(super) fn passed(
        &self,
        meant: Meant<'_>,
        call: &Invocation<'_>,
        candidate: &Candidate,
    ) -> CallResult {
        let node = call.node;
        let list = node.child_by_field_name("arguments");
        let all = list.map(arguments).unwrap_or_default();
        let stay = |why: &str| vec![stays(node.byte_range(), why)];
        let Meant { mut wrapper, unknown } = meant;
        if let Some(why) = unknown {
            return Err(stay(why));
        }
        if wrapper.runs_code && !self.is_within(&wrapper) {
            return Err(stay(RUNS_CODE));
        }
        let passed = &all[usize::from(wrapper.takes_tag()).min(all.len())..];
        let [template, rest @ ..] = passed else { return Err(stay("it has no template")) };
        if wrapper.takes_tag() {
            let tag = self.template(all[0], call).map_err(|_| stay("its tag is no constant"))?;
            wrapper = Cow::Owned(wrapper.with_tag(tag.as_str()));
        }
        let own = self.template(*template, call).map_err(|problem| stay(&problem.message))?;
        self.no_array(rest, call).map_err(|_| stay("the number of its arguments is not known"))?;
        let (context, wrapped) = self.place(call).map_err(|problem| stay(&problem.message))?;
        let class = self.groups.class();
        let first = class.split('.').next().unwrap_or(class);
        if self.variable(call, first).is_some() || class.contains('.') && self.is_type(first, call)
        {
            return Err(stay("a name hides the package of the group"));
        }
        let mut combined = Text::at(&wrapper.before, template.start_byte());
        combined.append(own);
        combined.append(Text::at(&wrapper.after, template.start_byte()));
        let (combined, names) = self.without_names(combined).map_err(|problem| vec![problem])?;
        let args: Vec<_> = rest.iter().map(Node::byte_range).collect();
        // The tag, which the template has now, goes with it.
        let template_range = all[0].start_byte()..template.end_byte();
        let range = template.byte_range();
        let source = self.unit.text();
        let may_have_exception = self.is_exception(rest, call);
        let checked =
            Checked { source, text: &combined, range: &range, args: &args, may_have_exception };
        let has_exception = checked.has_exception(&self.fitting(checked, rest, call)?);
        let (fixed, written) = (all.len() - rest.len(), call.class_range());
        let group = &self.groups.list()[wrapper.group].name;
        let forms = self.forms(candidate, rest, fixed);
        let shape = JavaShape {
            context,
            class: written.start..candidate.method.end,
            group: template_range.start..template_range.start,
            passed_on: Some(PassedOn { group: format!("{class}.{group}") }),
            local: String::new(),
            platform: self.of_platform(call, &forms),
            forms,
        };
        let call = Call {
            range: wrapped.byte_range(),
            level: wrapper.level,
            group: wrapper.group,
            template: combined,
            names,
            template_range,
            args,
            has_exception,
            shape,
        };
        Ok((call, Vec::new()))
    }
}
