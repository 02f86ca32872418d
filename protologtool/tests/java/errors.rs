//! Bad sources and what the tool says of them.

use crate::case::{case_files, process, rewritten};
use protolog_testkit::expect_file;

#[test]
fn diagnostics() {
    for file in case_files("errors") {
        let text = file.with(|case| match rewritten(case.source()) {
            Ok(_) => "nothing wrong".to_owned(),
            Err(errors) => errors,
        });
        expect_file(&file.path, &text);
    }
}

#[test]
fn a_file_with_errors_is_not_rewritten() {
    for case in case_files("errors").iter().flat_map(|file| &file.cases) {
        let processed = process(case.source());
        if processed.report.is_some() {
            assert_eq!(processed.rewritten, None, "{}", case.title);
        }
    }
}
