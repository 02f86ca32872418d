//! An attacker's checkout: inputs that are read whole are links to a device that never ends, pipes
//! that nobody writes, or holes of gigabytes.
//!
//! Each command runs as a process whose memory is limited, and has to end by itself with an error
//! that names the input.

use super::LOG;
use protolog_testkit::temp_dir;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The address space of a command, in KiB.
const MEMORY: u64 = 900 << 10;

/// A command that waits is ended after so many seconds, which is a failure.
const PATIENCE: &str = "120";

fn run(directory: &Path, args: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {MEMORY}; exec \"$@\"; exit 99"), "sh"]);
    command.args(["timeout", "-k", "1", PATIENCE, env!("CARGO_BIN_EXE_protologtool")]);
    command.args(args).current_dir(directory).stdin(Stdio::null()).output().unwrap()
}

/// The commands, each with an input of this name.
fn commands(name: &str) -> Vec<(String, Vec<String>)> {
    let with = |end: &str, args: &[&str]| {
        let name = format!("{name}.{end}");
        let args = args.iter().map(|arg| arg.replace("INPUT", &name)).collect();
        (name, args)
    };
    let groups = ["--loggroups-class", "demo.Log"];
    vec![
        with(
            "java",
            &[&["check", "INPUT", "--loggroups-source", "Log.java"], &groups[..]].concat(),
        ),
        with("kt", &[&["check", "INPUT", "--loggroups-source", "Log.java"], &groups[..]].concat()),
        with("rs", &["check", "INPUT", "--crate-name", "a", "--crate-root", "INPUT"]),
        with("java", &[&["check", "A.java", "--loggroups-source", "INPUT"], &groups[..]].concat()),
        with("jar", &[&["check", "A.java", "--loggroups-jar", "INPUT"], &groups[..]].concat()),
        with(
            "json",
            &["generate-viewer-config", "--merge", "INPUT", "--viewer-config", "new.json"],
        ),
        with("json", &["read-log", "empty.pftrace", "--viewer-config", "INPUT"]),
        with("pftrace", &["read-log", "INPUT"]),
        with("pftrace", &["merge", "INPUT", "-o", "merged"]),
        with("pftrace", &["recover", "INPUT", "-o", "recovered"]),
    ]
}

#[test]
fn nothing_that_is_no_file_is_read_or_waited_for() {
    let dir = temp_dir();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("A.java"), "class A {}").unwrap();
    fs::write(at("Log.java"), LOG).unwrap();
    fs::write(at("empty.pftrace"), "").unwrap();
    for end in ["java", "kt", "rs", "jar", "json", "pftrace"] {
        symlink("/dev/zero", at(&format!("zero.{end}"))).unwrap();
        if end != "pftrace" {
            // One who asks for a log may wait for it.
            let pipe = at(&format!("pipe.{end}"));
            assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        }
        let large = File::create(at(&format!("large.{end}"))).unwrap();
        large.set_len(if end == "pftrace" { 0 } else { (1 << 30) + 1 }).unwrap();
    }
    for kind in ["zero", "pipe", "large"] {
        for (name, args) in commands(kind) {
            if name.ends_with("pftrace") && kind != "zero" {
                continue;
            }
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let output = run(dir.path(), &args);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(1 | 2)), "{args:?}: {errors}");
            let why = if kind == "large" { "it has more than" } else { "it is no regular file" };
            assert!(errors.contains(why) && errors.contains(&name), "{args:?}: {errors}");
        }
    }
}

#[test]
fn input_without_an_end_is_read_until_it_is_seen_to_be_no_trace() {
    let dir = temp_dir();
    for input in ["< /dev/zero", "< <(yes)", "< <(cat /dev/zero)"] {
        for command in ["read-log -", "merge - -o merged", "read-log - --count", "stats -"] {
            let script = format!(
                "ulimit -v {MEMORY}; exec timeout -k 1 {PATIENCE} \"$0\" {command} {input}"
            );
            let mut bash = Command::new("bash");
            bash.args(["-c", &script, env!("CARGO_BIN_EXE_protologtool")])
                .env("TMPDIR", dir.path());
            let output = bash.current_dir(dir.path()).output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(2 | 3)), "{command} {input}: {errors}");
        }
    }
}

#[test]
fn a_checkout_names_no_file_of_the_kernel_as_arguments() {
    let dir = temp_dir();
    fs::write(dir.path().join("a.rsp"), "@/proc/self/environ").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    command.args(["check", "@a.rsp"]).current_dir(dir.path()).env("TOKEN", "a-secret");
    let output = command.output().unwrap();
    let shown = [output.stdout, output.stderr].concat();
    assert!(!String::from_utf8_lossy(&shown).contains("a-secret"));
}

#[test]
fn what_a_shell_hands_over_is_read() {
    let dir = temp_dir();
    fs::write(dir.path().join("dictionary.json"), "{\"messages\": {}, \"groups\": {}}").unwrap();
    let script =
        "\"$0\" generate-viewer-config --merge <(cat dictionary.json) --viewer-config new.json";
    let mut command = Command::new("bash");
    command.args(["-c", script, env!("CARGO_BIN_EXE_protologtool")]).current_dir(dir.path());
    let direct = run(
        dir.path(),
        &["generate-viewer-config", "--merge", "dictionary.json", "--viewer-config", "old.json"],
    );
    let output = command.output().unwrap();
    let errors = [&direct, &output].map(|it| String::from_utf8_lossy(&it.stderr).into_owned());
    assert_eq!(output.status.code(), direct.status.code(), "{errors:?}");
    assert!(!errors[1].contains("no regular file"), "{errors:?}");
}
