//! Each source with what the tool makes of it, and bad ones with what it says.

use crate::case::{case_files, process, rewritten, shown};
use protolog_testkit::expect_file;
use protologtool::diagnostic::Report;

#[test]
fn before_and_after() {
    for file in case_files("cases") {
        let text = file.with(|case| {
            let after = rewritten(case.source())
                .unwrap_or_else(|errors| panic!("{}: {errors}", case.title));
            let after = String::from_utf8(after).unwrap();
            let (head, tail) = case.frame();
            let inner = after.strip_prefix(&head).and_then(|after| after.strip_suffix(&tail));
            inner
                .unwrap_or_else(|| panic!("{}: changed around the case", case.title))
                .replace(&case.class, "CASE")
        });
        expect_file(&file.path, &text);
    }
}

#[test]
fn diagnostics() {
    for file in case_files("errors") {
        let text = file.with(|case| {
            let processed = process(case.source());
            let mut diagnostics = processed.warnings;
            if let Some(report) = processed.report {
                assert_eq!(processed.rewritten, None, "{}", case.title);
                diagnostics.extend(report.diagnostics);
            }
            assert!(!diagnostics.is_empty(), "{}: nothing wrong", case.title);
            diagnostics.sort_by_key(|diagnostic| diagnostic.range.start);
            shown(&Report { source: case.source(), diagnostics })
        });
        expect_file(&file.path, &text);
    }
}
