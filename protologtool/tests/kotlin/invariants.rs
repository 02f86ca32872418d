//! Properties of every source, checked on all cases and on cases cut into pieces.

use crate::case::{all_cases, process, rewritten, settings, settings_of};
use crate::holds::check;
use proptest::prelude::*;
use protologtool::lang::jvm::dialect::{Android, Dialect};
use protologtool::source::Source;

/// The forms of rewritten code.
fn dialects() -> [Dialect; 3] {
    let [last, first] = [Android::ANDROID_17, Android::ANDROID_15].map(Dialect::Android);
    [Dialect::Protolog, last, first]
}

#[test]
fn what_holds_of_the_cases() {
    for (case, dialect) in all_cases().iter().flat_map(|case| dialects().map(|it| (case, it))) {
        // Android's rewritten code has no place for an exception, and its class knows no names.
        let ours = ["exception", "names of arguments", "names beside values"];
        let is_ours = ours.iter().any(|it| case.title.contains(it));
        let is_refused = is_ours && dialect != Dialect::Protolog;
        let processed = check(&settings_of(dialect), "X.kt", &case.unit().into_bytes());
        let stays = case.title.contains("stay") || is_refused;
        assert!(processed.rewritten.is_some() || stays, "{}", case.title);
    }
}

/// CR LF, lone CR, tabs and a byte order mark change nothing but themselves.
#[test]
fn line_ends_and_marks_make_no_difference() {
    for case in all_cases() {
        let expected = String::from_utf8(rewritten(case.source()).unwrap()).unwrap();
        let ways = [("\n", "\r\n"), ("\n", "\r"), ("    ", "\t"), ("package", "\u{feff}package")];
        for (from, to) in ways {
            if from == "    " && case.unit().contains("\"\"\"") {
                continue; // Tabs within a raw text are another text.
            }
            let with = |text: &str| {
                if to.len() > 3 { text.replacen(from, to, 1) } else { text.replace(from, to) }
            };
            let source = Source::new(case.source().path(), with(&case.unit()).into_bytes());
            let actual = String::from_utf8(rewritten(source).unwrap()).unwrap();
            assert_eq!(actual, with(&expected), "{}: {from:?} as {to:?}", case.title);
        }
    }
}

#[test]
fn a_second_run_changes_nothing() {
    for case in all_cases() {
        let once = rewritten(case.source()).unwrap();
        let twice = process(Source::new(case.path(), once));
        assert!(twice.report.is_none() && twice.rewritten.is_none(), "{}", case.title);
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
        for dialect in dialects() {
            check(&settings_of(dialect), "X.kt", &bytes);
        }
    }

    /// Any bytes at all.
    #[test]
    fn any_bytes_are_survived(mut bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        bytes.splice(0..0, *b"import dev.protolog.ProtoLog\nval x = ProtoLog.d(");
        check(&settings(), "X.kt", &bytes);
    }
}
