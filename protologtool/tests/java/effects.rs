//! Arguments that change something, and the warnings about them.

use crate::case::{case_files, process};
use protolog_testkit::expect_file;
use protologtool::diagnostic::{Code, Style, render};

#[test]
fn changes_in_arguments() {
    for file in case_files("effects") {
        let text = file.with(|case| {
            let source = case.source();
            let processed = process(source.clone());
            let errors = processed.report.iter().flat_map(|report| &report.diagnostics);
            let warnings =
                processed.warnings.iter().filter(|warning| warning.code == Code::SideEffect);
            let shown: String = errors
                .chain(warnings)
                .map(|diagnostic| render(diagnostic, &source, Style::default()))
                .collect();
            if shown.is_empty() { "nothing to say".to_owned() } else { shown }
        });
        expect_file(&file.path, &text);
    }
}

#[test]
fn a_warning_keeps_nothing_from_being_rewritten() {
    for case in case_files("effects").iter().flat_map(|file| &file.cases) {
        let processed = process(case.source());
        assert_eq!(processed.rewritten.is_some(), processed.report.is_none(), "{}", case.title);
    }
}
