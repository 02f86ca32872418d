//! The names of spans that a trace leaves to the dictionary: those of calls whose templates were
//! taken out of the program.
//!
//! Invariant: slices share the texts, however many have the same template.

use foldhash::HashMap;
use std::sync::Arc;

use protolog_core::{ArgumentNames, span_name};

use crate::spans::span_slice::SpanSlice;

/// The names of a span's slices, and of its arguments where they have one.
type Names = (Arc<str>, Vec<Option<Arc<str>>>);

/// Gives slices without a name that of their template, and their arguments its names in place of
/// numbers. `find` finds a template and the names of its arguments by their id.
pub(crate) fn name<'d>(
    slices: &mut [SpanSlice],
    find: impl Fn(u64) -> Option<(&'d str, ArgumentNames<'d>)>,
) {
    let mut known: HashMap<u64, Option<Names>> = HashMap::default();
    let is_left = |slice: &&mut SpanSlice| slice.name.is_empty();
    for slice in slices.iter_mut().filter(is_left) {
        let Some(id) = slice.message else { continue };
        let names = known.entry(id).or_insert_with(|| find(id).map(names_of));
        let Some((name, arguments)) = names else { continue };
        slice.name = Arc::clone(name);
        for (arg, name) in slice.args.iter_mut().zip(arguments) {
            if let Some(name) = name {
                arg.name = Arc::clone(name);
            }
        }
    }
}

fn names_of((template, names): (&str, ArgumentNames<'_>)) -> Names {
    (span_name(template).into(), names.iter().map(|name| name.map(Arc::from)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spans::span_slice::SpanArg;

    fn slice(name: &str, message: Option<u64>, args: &[&str]) -> SpanSlice {
        let arg = |name: &&str| SpanArg { name: (*name).into(), value: "x".into(), is_text: true };
        let args = args.iter().map(arg).collect();
        SpanSlice { name: name.into(), message, args, ..SpanSlice::default() }
    }

    #[test]
    fn a_template_names_slices_that_have_no_name() {
        let mut slices = [
            slice("", Some(7), &["1", "2", "3"]),
            slice("", Some(7), &["1"]),
            slice("own", Some(7), &["1"]),
            slice("", Some(8), &["1"]),
            slice("", None, &["1"]),
        ];
        let names = ArgumentNames::parse("path,,host");
        name(&mut slices, |id| (id == 7).then_some(("request %s %d of %s", names)));
        let line = |slice: &SpanSlice| {
            let args: Vec<&str> = slice.args.iter().map(|arg| &*arg.name).collect();
            format!("{} {}", slice.name, args.join(" "))
        };
        let lines = slices.each_ref().map(line);
        assert_eq!(lines, ["request path 2 host", "request path", "own 1", " 1", " 1"]);
        assert!(Arc::ptr_eq(&slices[0].name, &slices[1].name), "one text for both");
    }
}
