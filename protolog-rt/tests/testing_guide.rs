//! The guide to tests that log: its crate is tested as a user would, with tests that run side by
//! side.

use protolog_testkit::{Output, run_any, user_cargo, workspace_root};
use std::fs;
use std::path::{Path, PathBuf};

/// Copies the crate of the guide to a directory of this test, with `change` made to its source.
fn copy(name: &str, change: impl FnOnce(String) -> String) -> PathBuf {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (from, to) = (fixture(), Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
    fs::create_dir_all(to.join("src")).expect("make a directory for the crate");
    let read = |path: &str| fs::read_to_string(from.join(path)).expect("read the crate");
    let manifest = read("Cargo.toml").replace("PROTOLOG_RT", &runtime.display().to_string());
    fs::write(to.join("Cargo.toml"), manifest).expect("copy the manifest");
    fs::write(to.join("src/lib.rs"), change(read("src/lib.rs"))).expect("copy the source");
    fs::copy(workspace_root().join("Cargo.lock"), to.join("Cargo.lock"))
        .expect("copy the lock file");
    to
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/testing")
}

/// Runs the tests of the crate, two at a time.
fn test(crate_root: &Path) -> Output {
    let mut cargo = user_cargo(env!("CARGO_TARGET_TMPDIR"));
    cargo.args(["test", "--quiet", "--lib", "--", "--test-threads=2"]);
    run_any(cargo.current_dir(crate_root).env("CARGO_TERM_COLOR", "never"))
}

#[test]
fn the_guide_shows_the_crate() {
    let guide = fs::read_to_string(workspace_root().join("docs/guides/testing.md"))
        .expect("read the guide");
    let source = fs::read_to_string(fixture().join("src/lib.rs")).expect("read the crate");
    assert!(guide.contains(&format!("```rust\n{source}```\n")), "the guide shows another source");
}

#[test]
fn tests_side_by_side_do_not_see_each_other() {
    let output = test(&copy("testing-passes", |source| source));
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.stdout.contains("2 passed"), "{output:?}");
    assert!(!output.stdout.contains("Disk"), "nothing is shown of tests that pass: {output:?}");

    // Each waits for the other one between its messages, and fails at the end.
    let meet = "static MEETING: std::sync::Barrier = std::sync::Barrier::new(2);\n#[cfg(test)]\nmod tests {";
    let output = test(&copy("testing-fails", |source| {
        let source = source.replace("#[cfg(test)]\nmod tests {", &format!("#[cfg(test)]\n{meet}"));
        let source = source
            .replace("        assert!(store(", "        MEETING.wait();\n        assert!(store(");
        let source = source
            .replace("        assert!(!store(", "        MEETING.wait();\n        assert!(!store(");
        let source = source.replace("messages, 1)", "messages, 10)");
        source.replace("messages, 4)", "messages, 40)")
    }));
    assert_eq!(output.code, Some(101), "{output:?}");
    for (name, expected, wrong) in [
        (
            "a_small_file_is_stored",
            &["D Disk    : small.txt has 10 bytes"][..],
            "left: 1\n right: 10",
        ),
        (
            "a_large_file_is_refused_on_any_thread",
            &[
                "D Disk    : large.txt has 5000 bytes",
                "W Disk    : large.txt is too large",
                "D Disk    : larger.txt has 6000 bytes",
                "W Disk    : larger.txt is too large",
            ][..],
            "left: 4\n right: 40",
        ),
    ] {
        let shown = output.stdout.split("---- tests::").find(|part| part.starts_with(name));
        let shown = shown.unwrap_or_else(|| panic!("{name}: {output:?}"));
        let lines = shown.lines().filter_map(|line| line.find(" Disk ").map(|at| &line[at - 1..]));
        assert_eq!(lines.collect::<Vec<_>>(), expected, "{name}");
        assert!(shown.contains(wrong), "{name}: {shown}");
    }
}
