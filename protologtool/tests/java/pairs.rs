//! Each source and what the tool makes of it.

use crate::case::{case_files, rewritten};
use protolog_testkit::expect_file;

#[test]
fn before_and_after() {
    for file in ["cases", "newer"].into_iter().flat_map(case_files) {
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
