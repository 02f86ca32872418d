//! Reads a call of a function that passes its template on to a log call.
//!
//! Its message is the combined template, of the function's group and level. A call that can't be
//! resolved stays as it is: unlike a log call it need not be one.

use super::KotlinShape;
use super::initialiser::is_within;
use super::method_call::MethodCall;
use super::read::{CallReader, Order, ReadCall};
use super::template::{Piece, constant_text};
use super::wrapper_calls::WrapperCall;
use crate::call::{Call, Checked, Text};
use crate::diagnostic::{Code, Diagnostic};
use crate::lang::jvm::wrapper::RUNS_CODE;
use std::borrow::Cow;
use std::ops::Range;

const HIDDEN: &str = "a declaration hides a package that rewritten code names";

impl CallReader<'_, '_> {
    /// A call of a function that passes its template on.
    pub(super) fn passed(&self, call: &WrapperCall<'_>) -> ReadCall {
        let WrapperCall { wrapper, call, unknown } = call;
        let file = &self.named.file;
        let at = call.method;
        let close = file.partner(at + 1);
        let range = file.bytes_of(&(call.class.start..close + 1));
        let stays = |range: Range<usize>, why: String| {
            let message =
                format!("this call stays as it is, and is interned when the program runs: {why}");
            Err(vec![Diagnostic::note(Code::NotRewritten, range, message)])
        };
        let runs_code = wrapper.runs_code && !is_within(self.named, wrapper, range.start);
        let runs_code = runs_code.then(|| (call.class.start..close + 1, RUNS_CODE));
        if let Some((tokens, why)) = unknown.clone().or(runs_code) {
            return stays(file.bytes_of(&tokens), why.to_owned());
        }
        let elements = file.elements(at + 1);
        let passed = &elements[usize::from(wrapper.takes_tag()).min(elements.len())..];
        let [template, rest @ ..] = passed else {
            return stays(range, "it has no template".to_owned());
        };
        if let Some((tokens, why)) = self.unknown_argument(&elements) {
            return stays(file.bytes_of(tokens), why.to_owned());
        }
        let group_path = self.group_path(wrapper.group);
        let first = &group_path[0];
        if self.hidden_name(call).is_some() || self.hides(first, range.start).is_some() {
            return stays(range, HIDDEN.to_owned());
        }
        let mut wrapper = Cow::Borrowed(&**wrapper);
        if wrapper.takes_tag() {
            let Some(tag) = constant_text(self.named, &elements[0]) else {
                return stays(file.bytes_of(&elements[0]), "its tag is no constant".to_owned());
            };
            wrapper = Cow::Owned(wrapper.with_tag(&tag));
        }
        let own = match self.pieces(template) {
            Ok(own) => own,
            Err(problem) => return stays(problem.range, problem.message),
        };
        let start = file.bytes_of(template).start;
        let [before, after] =
            [&wrapper.before, &wrapper.after].map(|written| Piece::Text(Text::at(written, start)));
        let pieces: Vec<Piece> = [before].into_iter().chain(own).chain([after]).collect();
        let filled = self.fill(&pieces, rest).map_err(|problem| vec![problem])?;
        let template_range = file.bytes_of(template);
        let (text, args) = (&filled.text, &filled.args);
        let (range_of_text, may_have_exception) = (&template_range, self.is_exception(rest));
        let checked =
            Checked { source: file.text, text, range: range_of_text, args, may_have_exception };
        let has_exception = checked.has_exception(&self.fitting(checked, rest)?);
        let warnings = rest.iter().flat_map(|argument| self.effects(argument, close)).collect();
        // The tag, which the template has now, goes with it.
        let template_range = file.bytes_of(&(elements[0].start..template.end));
        let shape = self.passed_shape(call, group_path, &template_range, filled.shape);
        let (text, names, args) = (filled.text, filled.names, filled.args);
        let (level, group) = (wrapper.level, wrapper.group);
        let call = Call {
            range,
            level,
            group,
            template: text,
            names,
            template_range,
            args,
            has_exception,
            shape,
        };
        Ok((call, warnings))
    }

    /// The shape of a call whose tag and template are at `template_range`.
    fn passed_shape(
        &self,
        call: &MethodCall,
        group_path: Vec<String>,
        template_range: &Range<usize>,
        order: Order,
    ) -> KotlinShape {
        let file = &self.named.file;
        let before = call.class.start.checked_sub(1);
        KotlinShape {
            class: self.class_bytes(call),
            method: file.tokens[call.method].range(),
            group: template_range.start..template_range.start,
            group_path,
            follows_annotation: before.is_some_and(|at| self.ends_annotation(at)),
            passes_group: true,
            is_span: false,
            class_kept: file.kept(self.class_bytes(call)),
            template_kept: self.kept(template_range, &order.in_place),
            order,
        }
    }

    /// The names that stand for a group in rewritten code.
    fn group_path(&self, group: usize) -> Vec<String> {
        let class = self.groups.class().split('.');
        class.chain([&*self.groups.list()[group].name]).map(str::to_owned).collect()
    }

    /// The first argument that leaves the passed values of the call unknown, and why.
    fn unknown_argument<'e>(
        &self,
        elements: &'e [Range<usize>],
    ) -> Option<(&'e Range<usize>, &'static str)> {
        let file = &self.named.file;
        let is_named = |tokens: &&Range<usize>| {
            file.is_punct(tokens.start + 1, b'=') && !file.is_punct(tokens.start + 2, b'=')
        };
        let is_spread = |tokens: &&Range<usize>| file.is_punct(tokens.start, b'*');
        let spread = elements[1..].iter().find(is_spread);
        let spread = spread.map(|tokens| (tokens, "the number of its arguments is not known"));
        let named = elements.iter().find(is_named);
        spread.or(named.map(|tokens| (tokens, "it passes an argument by name")))
    }
}
