//! Each source and what becomes of it, and what holds for all. Android 16's form is not written
//! down: see [`android_16_differs_in_the_mask_alone`].

use crate::case::{CLASS, Case, Release, all_cases, case_files, groups, settings};
use proptest::prelude::*;
use protolog_testkit::expect_file;
use protologtool::pipeline::process_source;
use protologtool::source::{Source, line_ends};

#[test]
fn before_and_after() {
    for file in case_files() {
        let text = file.with_parts(|case| {
            let pinned =
                |release: &Release| *release != Release::Android16 && case.is_for(*release);
            let releases = Release::ALL.into_iter().filter(pinned);
            releases.map(|release| (release.name(), inner(case, release))).collect()
        });
        expect_file(&file.path, &text);
    }
}

/// The rewritten form of the case's own text, with `I` for the class that is called.
fn inner(case: &Case, release: Release) -> String {
    let (after, (head, tail)) = (case.rewritten(release), case.frame());
    let inner = after.strip_prefix(&head).and_then(|after| after.strip_suffix(&tail));
    let inner = inner.unwrap_or_else(|| panic!("{}: changed around the case", case.title));
    inner.replace(CLASS, "I").replace(&case.class, "CASE")
}

#[test]
fn android_16_differs_in_the_mask_alone() {
    for case in all_cases().into_iter().filter(|case| case.is_for(Release::Android16)) {
        let [new, old] = [Release::Android17, Release::Android16].map(|it| case.rewritten(it));
        // The mask of 16 arguments does not fit into an `int` without its sign.
        let without = |text: &str| text.replace("L,", ",").replace("3579139413", "-715827883");
        assert_eq!(without(&new), without(&old), "{}", case.title);
        let masks = case.process(Release::Android16).messages.len();
        assert_eq!(new.len() - old.len(), masks, "{}", case.title);
    }
}

#[test]
fn a_second_run_changes_nothing() {
    for (case, release) in all() {
        let once = case.rewritten(release);
        let source = Source::new(case.path(), once.into_bytes());
        let twice = process_source(&settings(release.form(), groups()), source);
        assert!(twice.report.is_none() && twice.rewritten.is_none(), "{}", case.title);
    }
}

#[test]
fn no_line_is_added_or_lost() {
    for (case, release) in all() {
        let (before, after) = (case.unit(), case.rewritten(release));
        let count = |text: &str| line_ends(text.as_bytes()).count();
        assert_eq!(count(&before), count(&after), "{} of {}", case.title, release.name());
    }
}

/// CR LF, lone CR and tabs change nothing but themselves.
#[test]
fn line_ends_make_no_difference() {
    for (case, release) in all() {
        let expected = case.rewritten(release);
        for (from, to) in [("\n", "\r\n"), ("\n", "\r"), ("    ", "\t")] {
            if to == "\t" && case.unit().contains("\"\"\"") {
                continue; // Tabs within a text block are another text.
            }
            let source = Source::new(case.path(), case.unit().replace(from, to).into_bytes());
            let after = process_source(&settings(release.form(), groups()), source).rewritten;
            let actual = after.map(|after| String::from_utf8(after).unwrap());
            let actual = actual.unwrap_or_else(|| case.unit().replace(from, to));
            assert_eq!(actual, expected.replace(from, to), "{}: {from:?} as {to:?}", case.title);
        }
    }
}

fn all() -> impl Iterator<Item = (Case, Release)> {
    let each = |release| all_cases().into_iter().map(move |case| (case, release));
    Release::ALL.into_iter().flat_map(each).filter(|(case, release)| case.is_for(*release))
}

proptest! {
    /// Whatever is thrown at it: no panic, and what is rewritten keeps its lines and stays
    /// rewritten.
    #[test]
    fn damaged_sources_are_survived(
        index in any::<prop::sample::Index>(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..12_usize, ".{0,3}"), 1..4),
    ) {
        let all: Vec<(Case, Release)> = all().collect();
        let (case, release) = &all[index.index(all.len())];
        let mut bytes = case.unit().into_bytes();
        for (start, length, text) in cuts {
            let start = start.index(bytes.len() + 1);
            let end = (start + length).min(bytes.len());
            bytes.splice(start..end, text.into_bytes());
        }
        let lines = line_ends(&bytes).count();
        let settings = settings(release.form(), groups());
        if let Some(after) = process_source(&settings, Source::new("X.java", bytes)).rewritten {
            prop_assert_eq!(line_ends(&after).count(), lines);
            let again = process_source(&settings, Source::new("X.java", after));
            prop_assert_eq!(again.rewritten, None);
        }
    }
}
