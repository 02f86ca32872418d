//! Bad sources and what the tool says of them.

use crate::case::{Case, case_files, crate_of, transform};
use protolog_testkit::expect_file;
use protologtool::cli::Exit;

#[test]
fn diagnostics() {
    for file in case_files("errors") {
        expect_file(&file.path, &file.with(|case| said(case).1));
    }
}

#[test]
fn nothing_is_written_where_there_are_errors() {
    for case in case_files("errors").iter().flat_map(|file| &file.cases) {
        let system = crate_of([case].into_iter());
        let (exit, errors) = transform(&system);
        let is_written = system.files().keys().any(|path| path.starts_with("out"));
        assert_eq!(is_written, exit == Exit::Done, "{}: {errors}", case.title);
    }
}

fn said(case: &Case) -> (Exit, String) {
    transform(&crate_of([case].into_iter()))
}
