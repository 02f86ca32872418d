//! Each source, what the tool makes of it, and what it lists.

use crate::case::{case_files, crate_of, library, migrate};
use protolog_testkit::expect_file;
use std::path::Path;

#[test]
fn before_and_after() {
    for file in case_files() {
        let system = crate_of(&file);
        migrate(&system, &["--from", &library(&file), "--apply", "src"]);
        let said = system.errors();
        let text = file.with_parts(|case| {
            let after = system.text(&case.path()).unwrap();
            let (head, tail) = case.frame();
            let inner = after.strip_prefix(head).and_then(|after| after.strip_suffix(tail));
            let inner = inner
                .unwrap_or_else(|| panic!("{}: changed around the case", case.title))
                .to_owned();
            let own = format!("{}:", case.path());
            let listed: Vec<&str> =
                said.lines().filter_map(|line| line.strip_prefix(&own)).collect();
            let mut parts = vec![("", inner)];
            if !listed.is_empty() {
                parts.push(("listed", listed.join("\n")));
            }
            parts
        });
        expect_file(&file.path, &text);
    }
}

#[test]
fn a_second_run_changes_nothing() {
    for file in case_files() {
        let system = crate_of(&file);
        let arguments = ["--from", &library(&file), "--apply", "src"];
        migrate(&system, &arguments);
        let once = system.files();
        assert!(once != crate_of(&file).files());
        migrate(&system, &arguments);
        for (path, text) in system.files() {
            assert!(once.get(&path) == Some(&text), "`{}` changed again", path.display());
        }
    }
}

/// The difference is one that `git apply` takes, and leads to the files that `--apply` writes.
#[test]
fn the_difference_is_the_change() {
    for file in case_files() {
        let system = crate_of(&file);
        let before = system.files();
        migrate(&system, &["--from", &library(&file), "src"]);
        assert_eq!(system.files(), before, "nothing is written");
        let difference = system.out();
        let directory = protolog_testkit::temp_dir();
        for (path, text) in &before {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::fs::write(directory.path().join("change.diff"), difference).unwrap();
        let mut git = std::process::Command::new("git");
        git.args(["apply", "change.diff"]).current_dir(directory.path());
        protolog_testkit::run(
            git.env("GIT_CEILING_DIRECTORIES", directory.path().parent().unwrap()),
        );
        migrate(&system, &["--from", &library(&file), "--apply", "src"]);
        for (path, text) in system.files() {
            let patched = std::fs::read(directory.path().join(&path)).unwrap();
            assert!(patched == text, "{}", Path::new(&path).display());
        }
    }
}
