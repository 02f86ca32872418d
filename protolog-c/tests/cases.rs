//! Events in the life of programs: threads, forks, signals, crashes, plugins, operators; each in C.

mod common;

use common::{command, compile, compilers, libraries, messages, program, source};
use protolog_core::Level;
use protolog_core::note::{Note, ParsedNote};
use protolog_core::printf::template;
use protolog_reader::{Rendering, Trace};
use protolog_testkit::{TempDir, run, run_any, temp_dir, temp_dir_for_sockets, tool};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A directory with the program of cases, by the system's C compiler.
fn cases() -> (TempDir, PathBuf) {
    let dir = temp_dir_for_sockets();
    let program = program(&["cc", "-std=c11"], &["-O2", "-Wno-format"], "cases.c", dir.path());
    (dir, program)
}

/// Runs a case, and returns what it prints and its trace.
fn run_case(dir: &Path, program: &Path, args: &[&str]) -> (String, PathBuf) {
    let trace = dir.join(format!("{}.pftrace", args[0]));
    let all = [&[args[0], trace.to_str().expect("a path")], &args[1..]].concat();
    let output = run(command(program, &all).current_dir(dir));
    (output.stdout, trace)
}

#[test]
fn threads_log_in_their_order() {
    let (dir, program) = cases();
    let (printed, trace) = run_case(dir.path(), &program, &["threads"]);
    assert_eq!(printed, "80000 messages, 0 lost, 0 overwritten\n");
    let mut turns: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for message in messages(&trace) {
        let (thread, turn) = message.split_once(" turn ").expect("a turn");
        turns.entry(thread.to_owned()).or_default().push(turn.parse().expect("a number"));
    }
    let all: Vec<u32> = (0..10_000).collect();
    assert!(turns.len() == 8 && turns.values().all(|it| *it == all));
}

/// Elsewhere, a lock that another thread held at the fork made children wait for ever.
#[test]
fn children_of_threads_that_log_log_too() {
    let (dir, program) = cases();
    let (_, trace) = run_case(dir.path(), &program, &["forks"]);
    assert_eq!(messages(&trace).last().map(String::as_str), Some("parent"));
}

#[test]
fn a_child_goes_on_in_a_trace_of_its_own() {
    let (dir, program) = cases();
    let (printed, trace) = run_case(dir.path(), &program, &["child"]);
    assert!(printed.ends_with("2 messages, 0 lost, 0 overwritten\n"), "{printed}");
    assert_eq!(messages(&trace), ["before the fork", "in the parent"]);
    let others = fs::read_dir(dir.path()).expect("a directory").flatten().map(|it| it.path());
    let is_trace = |path: &PathBuf| path.extension().is_some_and(|it| it == "pftrace");
    let child: Vec<_> = others.filter(is_trace).filter(|path| *path != trace).collect();
    assert_eq!(child.len(), 1, "{child:?}");
    assert_eq!(messages(&child[0]), ["in the child"]);
}

#[test]
fn a_killed_process_leaves_all_messages() {
    let (dir, program) = cases();
    let trace = dir.path().join("app.pftrace");
    let status = command(&program, &["killed".as_ref(), trace.as_os_str()]).status();
    assert_eq!(status.expect("run").signal(), Some(libc::SIGKILL));
    protolog_rt::recover_previous(&trace).expect("recover");
    let expected: Vec<String> = (0..5000).map(|turn| format!("turn {turn} é")).collect();
    assert_eq!(messages(&trace), expected);
}

#[test]
fn a_ring_keeps_the_newest() {
    let (dir, program) = cases();
    let snapshot = dir.path().join("snapshot.pftrace");
    let (_, trace) = run_case(dir.path(), &program, &["ring", snapshot.to_str().expect("a path")]);
    for path in [&trace, &snapshot] {
        let messages = messages(path);
        assert!(messages.len() > 1000);
        let first: u32 = messages[0]["turn ".len()..].parse().expect("a number");
        assert_eq!(first as usize + messages.len(), 300_000);
        assert_eq!(messages.last().map(String::as_str), Some("turn 299999"));
    }
}

/// A library that was closed had a logger of its own: elsewhere, the program crashed at its end.
#[test]
fn a_plugin_logs_and_is_closed() {
    let (dir, program) = cases();
    let plugin = dir.path().join("plugin.so");
    let cc = ["cc", "-std=c11"];
    run(&mut compile(&cc, &["-shared", "-fPIC", "-O2"], &source("plugin.c"), &plugin));
    let expected = ["hello 0", "hello 1", "hello 2", "the plugin was closed"];
    let (printed, trace) =
        run_case(dir.path(), &program, &["plugin", plugin.to_str().expect("a path")]);
    assert_eq!(printed, "4 messages, 0 lost, 0 overwritten\n");
    assert_eq!(messages(&trace), expected);
}

/// One that has the static library inside is another copy of the runtime, and joins the program's.
#[test]
fn a_plugin_with_the_static_library_joins() {
    let (dir, program) = cases();
    let plugin = dir.path().join("plugin.so");
    let mut compiler = std::process::Command::new("cc");
    compiler.args(["-std=c11", "-shared", "-fPIC", "-O2", "-I"]);
    compiler.arg(common::package().join("include")).arg(source("plugin.c"));
    compiler.arg(libraries().join("libprotolog.a")).args(["-Wl,-Bsymbolic", "-lm", "-o"]);
    run(compiler.arg(&plugin));
    let (printed, trace) =
        run_case(dir.path(), &program, &["plugin", plugin.to_str().expect("a path")]);
    assert_eq!(printed, "4 messages, 0 lost, 0 overwritten\n");
    assert_eq!(messages(&trace)[..3], ["hello 0", "hello 1", "hello 2"]);
}

/// Texts without a zero, at the end of memory: elsewhere, a logger read on.
#[test]
fn texts_are_read_as_far_as_printf_reads() {
    let (dir, program) = cases();
    let (_, trace) = run_case(dir.path(), &program, &["edges"]);
    let texts = |length: usize| "x".repeat(length);
    let mut expected: Vec<String> = (0..20).map(texts).collect();
    expected.push(texts(8));
    expected.extend((0..20).map(texts));
    expected.extend(
        ["(null) after null", "|    (null)", "latin gr\u{fffd}\u{fffd} \u{fffd}"].map(Into::into),
    );
    let mut all = Vec::new();
    for turn in 0..2 {
        all.extend(expected.iter().cloned());
        all.push(format!("gr\u{fffd}\u{fffd} {turn} x  |"));
    }
    assert_eq!(messages(&trace), all);
}

#[test]
fn errno_stays() {
    let (dir, program) = cases();
    let (printed, _) = run_case(dir.path(), &program, &["errno"]);
    assert!(printed.starts_with("600009 messages, 0 lost"), "{printed}");
}

#[test]
fn signal_handlers_log() {
    let (dir, program) = cases();
    let (printed, trace) = run_case(dir.path(), &program, &["signals"]);
    assert!(printed.starts_with("2000 messages, 0 lost"), "{printed}");
    let handled = messages(&trace).into_iter().filter(|it| it == "signal 10").count();
    assert_eq!(handled, 1000);
}

#[test]
fn a_call_that_is_off_evaluates_nothing() {
    let (dir, program) = cases();
    let (printed, _) = run_case(dir.path(), &program, &["off"]);
    assert_eq!(printed, "1 0\n", "one argument is evaluated, once; no call is on");
}

/// Code and text of wrong calls; nothing crashes.
#[test]
fn wrong_arguments_are_errors() {
    let (dir, program) = cases();
    let (printed, _) = run_case(dir.path(), &program, &["errors"]);
    let expected = "\
1 `options` is null\nhelp: pass what the header names
1 `session` is null\nhelp: pass what the header names
1 a session without a file\nhelp: name a file with `Session::builder().file(…)`
1 the options have 8 bytes\nhelp: begin with `PROTOLOG_OPTIONS_INIT`
3 can't write `/no/such/directory/app.pftrace`: no such file or directory
help: check that the directory exists, may be written to, and has space
1 `7` is no level\nhelp: pass one of `enum protolog_level`
1 `9` is no way to keep messages\nhelp: pass one of `enum protolog_keep`
1 `recording` is for `PROTOLOG_RECORD`\nhelp: set `keep` to it, or leave out `recording`
1 `Net=loud` is no level of a group
help: write `GROUP=LEVEL`, with verbose, debug, info, warn, error, wtf or off
1 `session` is null\nhelp: pass what the header names
1 `session` is null\nhelp: pass what the header names
1 `path` is null\nhelp: pass what the header names
1 `groups` is null\nhelp: pass what the header names
1 there is no group `2`\nhelp: pass `SET_GROUP`
1 `9` is no level\nhelp: pass one of `enum protolog_level`
";
    let (wrong, rest) = printed.split_at(expected.len().min(printed.len()));
    assert_eq!(wrong, expected);
    let results: Vec<&str> = rest.lines().filter(|line| !line.starts_with("help")).collect();
    assert!(results[0].starts_with("0 "), "{rest}");
    assert!(results[1].starts_with("1 the path has "), "{rest}");
    assert!(results[2].starts_with("2 a snapshot of a session that keeps nothing"), "{rest}");
    assert!(printed.ends_with("0 messages, 0 lost, 0 overwritten\n"));
}

/// The variable prints a group's messages, and an operator switches it off and on.
#[test]
fn groups_are_switched_from_outside() {
    let (dir, program) = cases();
    let mut child = command(&program, &["init", "-"])
        .env("PROTOLOG", "net=debug,text")
        .env("XDG_RUNTIME_DIR", dir.path())
        .env("PROTOLOG_STATE", dir.path().join("state"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert_eq!(lines.next().expect("a line").expect("read"), "ready");
    let mut texts = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"x").expect("ask");
    let line = texts.next().expect("a line").expect("read");
    assert!(line.contains("D Net") && line.ends_with(": asked 1"), "{line}");
    drop(input);
    assert!(child.wait().expect("wait").success());
}

/// Inline functions, templates and static objects; a session that nobody stops.
#[test]
fn classes_of_cpp_log() {
    for compiler in compilers().filter(|compiler| compiler[0].ends_with("++")) {
        for optimised in ["-O0", "-O2"] {
            let dir = temp_dir();
            let options = [optimised, "-Wno-uninitialized"];
            let program = program(compiler, &options, "classes.cc", dir.path());
            let trace = dir.path().join("app.pftrace");
            run(&mut command(&program, &[&trace]));
            let log = Trace::open(&trace).expect("open").read().expect("read");
            let mut expected = Vec::new();
            for turn in 0..2 {
                expected.extend([
                    format!("D Net inline {turn}"),
                    format!("D Net template {turn}"),
                    "D Net template 0.500000".to_owned(),
                    "D Disk member of a temporary, 1".to_owned(),
                    "W Disk destructor of a temporary".to_owned(),
                    format!("D Net lambda {turn}"),
                ]);
            }
            expected.push("I Net no 0x0".to_owned());
            let shown: Vec<String> = log
                .entries()
                .map(|it| {
                    let letter = it.values().level().map_or('?', Level::letter);
                    {
                        let group = it.values().group(&log).map_or("", |group| &group.tag);
                        format!("{letter} {group} {}", it.values().text(Rendering::Full))
                    }
                })
                .collect();
            let main = shown.len().min(expected.len());
            assert_eq!(shown[..main], expected, "{compiler:?} {optimised}");
        }
    }
}

/// Of each compiler: the dictionary of a program has all of its calls, those too that never run.
#[test]
fn the_dictionary_of_a_program_has_all_calls() {
    for compiler in compilers() {
        for optimised in ["-O0", "-O2"] {
            let dir = temp_dir();
            let name = if compiler[0].ends_with("++") { "classes.cc" } else { "cases.c" };
            let options = [optimised, "-Wno-format", "-Wno-pedantic", "-fpermissive", "-w"];
            let options = if compiler[0].contains("clang") || name == "cases.c" {
                vec![optimised, "-w"]
            } else {
                options.to_vec()
            };
            let program = program(compiler, &options, name, dir.path());
            let bytes = fs::read(&program).expect("read the program");
            let found = templates(&bytes);
            let expected: &[&str] = if name == "classes.cc" {
                &[
                    "inline %d",
                    "template %s",
                    "member of %s, %d",
                    "destructor of %s",
                    "never %d",
                    "lambda %d",
                    "unreached %d",
                ]
            } else {
                &["thread %d turn %d", "busy 0x%x", "%s %s", "%.3s|%10s", "signal %d", "off %d"]
            };
            for template in expected {
                assert!(
                    found.iter().any(|it| it == template),
                    "{compiler:?} {optimised}: {template}: {found:?}"
                );
            }
        }
    }
}

/// The templates in the notes of a program, which are in its segments of notes.
fn templates(bytes: &[u8]) -> Vec<String> {
    const PT_NOTE: u64 = 4;
    let number = |at: usize, size: usize| {
        bytes[at..at + size].iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
    };
    // Program headers of ELF for 64 bits, little-endian: where, and how many of 56 bytes.
    let (first, count) = (number(32, 8) as usize, number(56, 2) as usize);
    let mut all = Vec::new();
    for header in (0..count).map(|index| first + 56 * index) {
        if number(header, 4) != PT_NOTE {
            continue;
        }
        let (start, size) = (number(header + 8, 8) as usize, number(header + 32, 8) as usize);
        let mut rest = &bytes[start..start + size];
        while let Some((parsed, after)) = Note::parse_as(rest, false) {
            if let ParsedNote::Printf(note) = parsed {
                all.push(template(note.format).to_string());
            }
            rest = after;
        }
        assert_eq!(rest, b"", "all of a segment are notes");
    }
    all
}

/// Three instructions before a call that is off goes on, as in Rust.
#[test]
fn a_call_that_is_off_takes_five_instructions_at_most() {
    let Some(objdump) = tool("objdump") else { return };
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    for compiler in compilers() {
        for how in ["-fPIE", "-fPIC"] {
            let dir = temp_dir();
            let object = dir.path().join("calls.o");
            run(&mut compile(compiler, &["-O2", "-c", how], &source("calls.c"), &object));
            let mut command = std::process::Command::new(&objdump);
            let listing = run(command.args(["-d", "--no-show-raw-insn", "-C"]).arg(&object)).stdout;
            let code = |name: &str| {
                let is_start = |line: &&str| {
                    line.contains(&format!("<{name}>:"))
                        || line.contains(&format!("<{name}(int)>:"))
                };
                let lines: Vec<&str> =
                    listing.lines().skip_while(|line| !is_start(line)).skip(1).collect();
                // Jumps are not followed: the branch is not taken.
                let end = lines.iter().position(|line| line.contains("ret")).expect("an end");
                lines[..=end].iter().filter(|line| !line.contains("endbr")).count()
            };
            assert!(code("off") - code("nothing") <= 5, "{compiler:?} {how}: {listing}");
        }
    }
}

#[test]
fn a_message_that_is_no_utf_8_is_shown() {
    let dir = temp_dir();
    let from = dir.path().join("latin.c");
    let text = b"#include <protolog.h>\n#include <stddef.h>\nPROTOLOG_GROUPS(AppLog, Net)\nint main(int n, char **a) {\n struct protolog_options o = PROTOLOG_OPTIONS_INIT;\n struct protolog_session *s; (void)n; o.file = a[1];\n protolog_session_start(&o, &s);\n protolog_i(AppLog, Net, \"gr\xf6\xdfe %d\", 1);\n return protolog_session_stop(s, NULL); }\n";
    fs::write(&from, text).expect("write");
    let program = dir.path().join("latin");
    run(&mut compile(&["cc", "-std=c11"], &[], &from, &program));
    let trace = dir.path().join("app.pftrace");
    assert_eq!(run_any(&mut command(&program, &[&trace])).code, Some(0));
    assert_eq!(messages(&trace), ["gr\u{fffd}\u{fffd}e 1"]);
}
