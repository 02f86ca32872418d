//! Each source and what the tool makes of it.

use crate::case::{case_files, crate_of, tool, transform};
use protolog_testkit::expect_file;
use protologtool::cli::Exit;
use protologtool::source::line_ends;
use std::path::Path;

#[test]
fn before_and_after() {
    let files = case_files("cases");
    let system = crate_of(files.iter().flat_map(|file| &file.cases));
    let (exit, errors) = transform(&system);
    assert_eq!(exit, Exit::Done, "{errors}");
    for file in files {
        let text = file.with(|case| {
            let after = system.text(&format!("out/{}", case.path())).unwrap();
            let (head, tail) = case.frame();
            let inner = after.strip_prefix(head).and_then(|after| after.strip_suffix(tail));
            inner.unwrap_or_else(|| panic!("{}: changed around the case", case.title)).to_owned()
        });
        expect_file(&file.path, &text);
    }
}

#[test]
fn no_line_moves_and_a_second_run_changes_nothing() {
    let files = case_files("cases");
    let system = crate_of(files.iter().flat_map(|file| &file.cases));
    let sources = system.files();
    transform(&system);
    let once = system.files();
    for (path, before) in &sources {
        let Some(after) = once.get(&Path::new("out").join(path)) else { continue };
        assert_eq!(line_ends(before).count(), line_ends(after).count(), "{}", path.display());
        system.add_file(path, after.clone());
    }
    let (exit, errors) = transform(&system);
    assert_eq!(exit, Exit::Done, "{errors}");
    let twice = system.files();
    // The state of a run says of which sources it was.
    let is_output = |path: &Path| path.starts_with("out") && !path.starts_with("out/.protologtool");
    for (path, first) in once.iter().filter(|(path, _)| is_output(path)) {
        assert!(twice.get(path) == Some(first), "`{}` changed again", path.display());
    }
}

#[test]
fn the_dictionary_is_the_same_in_a_run_of_its_own() {
    let files = case_files("cases");
    let system = crate_of(files.iter().flat_map(|file| &file.cases));
    transform(&system);
    let (exit, errors) =
        tool(&system, &["generate-viewer-config", "--viewer-config", "own.pb", "src"]);
    assert_eq!(exit, Exit::Done, "{errors}");
    let files = system.files();
    let file = |name: &str| &files[Path::new(name)];
    assert!(file("own.pb") == file("app.pb"));
}
