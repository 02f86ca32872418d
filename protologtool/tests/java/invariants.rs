//! Properties of every source, checked on all cases and on cases cut into pieces.

use crate::case::{Case, case_files, process, rewritten, settings};
use crate::holds::check;
use crate::real::real_sources;
use proptest::prelude::*;
use protologtool::lang::Language;
use protologtool::rewrite::PlanBuilder;
use protologtool::source::{Source, line_ends};

fn all_cases() -> Vec<Case> {
    case_files("cases").into_iter().flat_map(|file| file.cases).collect()
}

fn after(source: Source) -> Vec<u8> {
    rewritten(source).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn a_second_run_changes_nothing() {
    for case in all_cases() {
        let once = after(case.source());
        let twice = process(Source::new(case.source().path(), once));
        assert!(twice.report.is_none(), "{}", case.title);
        assert_eq!(twice.rewritten, None, "{}", case.title);
    }
}

#[test]
fn no_line_moves() {
    for case in all_cases() {
        let (before, after) = (case.unit().into_bytes(), after(case.source()));
        assert_eq!(line_ends(&before).count(), line_ends(&after).count(), "{}", case.title);
    }
}

/// A template over several lines is the only thing whose bytes may go, but in a block with locals;
/// whatever else was there still is, in order.
#[test]
fn all_but_templates_and_class_names_stays() {
    for case in all_cases() {
        let source = case.source();
        let settings = settings();
        let found = settings.java.find(&source, &settings.groups, None);
        let mut plan = PlanBuilder::default();
        for call in &found.calls {
            if call.shape.forms.needs_locals {
                // The text between its arguments is written anew.
                let ends = call.args.iter().map(|arg| arg.end);
                let starts = call.args.iter().map(|arg| arg.start);
                let from = std::iter::once(call.range.start).chain(ends);
                let to = starts.chain([call.range.end]);
                from.zip(to).for_each(|(from, to)| plan.replace(from..to, ""));
                continue;
            }
            plan.replace(call.template_range.clone(), "");
            plan.replace(call.shape.class.clone(), "");
        }
        let kept = plan.finish().unwrap().apply(source.bytes());
        let after = after(source);
        let mut rest = after.iter();
        for byte in &kept {
            assert!(
                rest.any(|other| other == byte),
                "{}: a byte of the source is gone",
                case.title
            );
        }
    }
}

/// CR LF, lone CR, tabs and a byte order mark change nothing but themselves.
#[test]
fn line_ends_and_marks_make_no_difference() {
    for case in all_cases() {
        let expected = String::from_utf8(after(case.source())).unwrap();
        for (from, to) in
            [("\n", "\r\n"), ("\n", "\r"), ("    ", "\t"), ("package", "\u{feff}package")]
        {
            if from == "    " && case.unit().contains("\"\"\"") {
                continue; // Tabs within a text block are another text.
            }
            let with = |text: &str| {
                if to.len() > 3 { text.replacen(from, to, 1) } else { text.replace(from, to) }
            };
            let source = Source::new(case.source().path(), with(&case.unit()).into_bytes());
            let actual = String::from_utf8(after(source)).unwrap();
            assert_eq!(actual, with(&expected), "{}: {from:?} as {to:?}", case.title);
        }
    }
}

#[test]
fn what_holds_of_the_cases() {
    for case in all_cases() {
        let processed = check(&settings(), "X.java", &case.unit().into_bytes());
        assert!(processed.report.is_none(), "{}", case.title);
    }
}

proptest! {
    /// Whatever is thrown at it: no panic, and what is rewritten keeps its lines and stays
    /// rewritten.
    #[test]
    fn damaged_sources_are_survived(index in any::<prop::sample::Index>(), cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), ".{0,3}"), 1..4)) {
        let cases = all_cases();
        let case = &cases[index.index(cases.len())];
        let mut bytes = case.unit().into_bytes();
        for (start, length, text) in cuts {
            let start = start.index(bytes.len() + 1);
            let end = (start + length.index(12)).min(bytes.len());
            bytes.splice(start..end, text.into_bytes());
        }
        check(&settings(), "X.java", &bytes);
    }

    /// The same to files of a JDK with calls in them, larger damage included: parts doubled, moved
    /// and cut out.
    #[test]
    fn damaged_real_sources_are_survived(index in any::<prop::sample::Index>(), cuts in prop::collection::vec((any::<[prop::sample::Index; 3]>(), 0..400_usize), 1..5)) {
        let Some(files) = real_sources() else { return Ok(()) };
        let mut bytes = files[index.index(files.len())].clone();
        for (places, length) in cuts {
            let [from, to, kind] = places;
            let start = from.index(bytes.len() + 1);
            let end = (start + length).min(bytes.len());
            let part = bytes[start..end].to_vec();
            if kind.index(3) > 0 {
                bytes.drain(start..end);
            }
            if kind.index(3) < 2 {
                let at = to.index(bytes.len() + 1);
                bytes.splice(at..at, part);
            }
        }
        check(&settings(), "X.java", &bytes);
    }

    /// Any bytes at all.
    #[test]
    fn any_bytes_are_survived(mut bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        bytes.splice(0..0, *b"import dev.protolog.ProtoLog; ProtoLog.d(");
        check(&settings(), "X.java", &bytes);
    }
}
