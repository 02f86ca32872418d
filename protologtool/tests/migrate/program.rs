//! Programs before and after: they print the same texts at the same levels, and evaluate as many
//! arguments, with their levels on and off.

use crate::case::{case_files, crate_of, library, migrate};
use protolog_testkit::{copy_program, run, user_cargo, workspace_root};
use protologtool::cli::{self, Exit};
use protologtool::system::Memory;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn programs_print_the_same_before_and_after() {
    for file in case_files() {
        let library = library(&file);
        if library == "slf4j" {
            continue;
        }
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("migrate-{library}"));
        let system = crate_of(&file);
        let before = build(&directory, "before", &system);
        migrate(&system, &["--from", &library, "--apply", "src"]);
        let after = build(&directory, "after", &system);
        let [was, is] = [&before, &after].map(|program| lines(program, "on", &directory));
        assert!(was.len() > 20, "{was:?}");
        protolog_testkit::assert_eq_text(&was.join("\n"), &is.join("\n"));
        let [was, is] = [&before, &after].map(|program| lines(program, "off", &directory));
        assert_eq!((was.len(), &was), (1, &is), "nothing is evaluated");
    }
}

/// The lines that a program prints, and those in its trace, sorted.
fn lines(program: &Path, switch: &str, directory: &Path) -> Vec<String> {
    let trace = directory.join("trace.pftrace");
    let printed = run(Command::new(program).arg(switch).arg(&trace)).stdout;
    let mut lines: Vec<String> = printed.lines().map(str::trim_end).map(short).collect();
    let system = Memory::default();
    system.add_file("trace", fs::read(&trace).unwrap());
    let words = ["protologtool", "read-log", "trace", "--format", "json"];
    let exit = cli::run(words.map(OsString::from), &system);
    assert_eq!(exit, Exit::Done, "{}", system.errors());
    for line in system.out().lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| entry[name].as_str().unwrap().to_owned();
        let level = text("level").chars().next().unwrap().to_ascii_uppercase();
        let text = format!("{level} {}", text("message"));
        lines.extend(text.lines().map(|line| line.trim_end().to_owned()));
    }
    lines.sort();
    lines
}

/// A line with the level as a letter.
fn short(line: &str) -> String {
    let levels = [("ERROR", "E"), ("WARN", "W"), ("INFO", "I"), ("DEBUG", "D"), ("TRACE", "V")];
    let trimmed = line.trim_start();
    let short = levels
        .iter()
        .find_map(|(long, letter)| Some(format!("{letter}{}", trimmed.strip_prefix(long)?)));
    let short = short.unwrap_or_else(|| line.to_owned());
    // The spans around it are no part of the message.
    match short.split_once("}: ") {
        Some((spans, text)) if spans.contains('{') => format!("{} {text}", &spans[..1]),
        _ => short,
    }
}

fn build(directory: &Path, kind: &str, system: &Memory) -> PathBuf {
    let root = directory.join(kind);
    let _ = fs::remove_dir_all(root.join("src"));
    for (path, content) in system.files() {
        let text = String::from_utf8(content).unwrap();
        let runtime = workspace_root().join("protolog-rt").display().to_string();
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace("PROTOLOG_RT", &runtime)).unwrap();
    }
    fs::copy(workspace_root().join("Cargo.lock"), root.join("Cargo.lock")).unwrap();
    let mut cargo = user_cargo(env!("CARGO_TARGET_TMPDIR"));
    cargo.args(["build", "--quiet", "--manifest-path", "Cargo.toml"]);
    run(cargo.current_dir(&root));
    let built = root.join("program");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("users/debug");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let name = manifest.split_once("name = \"").unwrap().1.split_once('"').unwrap().0;
    copy_program(&target.join(name), &built);
    built
}
