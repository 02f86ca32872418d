//! Traces that can't be read, or only in part, or are several: what is shown of them, what is said,
//! the exit code.

use super::{APP, description, run};
use protolog_testkit::assert_eq_text;
use protologtool::cli::{self, Exit};
use protologtool::system::Memory;
use std::io::Write;

#[test]
fn what_can_not_be_read() {
    let app = ("app", description::trace(APP));
    let text = ("text", b"Dear reader,\n".to_vec());
    let no_wall = ("boot", description::trace("ts=1 log(0x11)"));
    for (args, expected) in [
        (
            &["missing"][..],
            "error: can't read `missing`: entity not found\n\
             help: check the path; it starts at the working directory\n",
        ),
        (
            &["text"],
            "error: can't read `text`: not a trace, but text\n\
             help: give the file that a session writes; text can be read as it is\n",
        ),
        (
            &["app", "--viewer-config", "text.json"],
            "error: can't read `text.json`: entity not found\n\
             help: check the path; it starts at the working directory\n",
        ),
        (
            &["app", "--since", "tomorrow"],
            "error: not a time: `tomorrow`\n\
             help: give seconds since boot (12.5), a date and time (2026-11-20 18:27:01), or a time before now (10m, 2h30m)\n",
        ),
        (
            &["boot", "--until", "18:27"],
            "error: `18:27` is a wall clock time, and the trace does not know the wall clock\n\
             help: give seconds since boot, such as 12.5\n",
        ),
        (
            &["boot", "--since", "10m"],
            "error: `10m` is relative to now, and the trace does not know the wall clock\n\
             help: give seconds since boot, such as 12.5\n",
        ),
        (
            &["app", "--histogram", "1s"],
            "error: no trace `1s`\n\
             help: leave it out: `--histogram` has bars as long as the log needs\n",
        ),
        (
            &["app", "--top", "5"],
            "error: no trace `5`\n\
             help: write `--top=5` for so many call sites\n",
        ),
        (
            &["app", "--spans", "around"],
            "error: no trace `around`\n\
             help: write `--spans=around`\n",
        ),
        (
            &["app", "--level", "loud"],
            "error: `loud` is not a value of `--level`\n\
             help: use one of `verbose`, `debug`, `info`, `warn`, `error`, `wtf`\n",
        ),
    ] {
        let (exit, out, errors) = run(&[app.clone(), text.clone(), no_wall.clone()], args);
        assert_eq!((exit, out.as_str()), (Exit::Failed, ""), "{args:?}");
        assert_eq_text(expected, &errors);
    }
    let (exit, _, errors) = run(&[app], &["app", "--grep", "("]);
    assert_eq!(exit, Exit::Failed);
    assert_eq_text(
        "error: `(` for `--grep`: unclosed group\n\
         help: run `protologtool read-log --help` for its flags\n",
        &errors,
    );
}

/// Files that a newcomer takes for traces, by what they are.
#[test]
fn what_is_no_trace_is_named() {
    let system = Memory::default();
    let dictionary = b"\x0a\x10\x09\x11\0\0\0\0\0\0\0\x12\x01x\x18\x01\x20\x01".to_vec();
    let json = r#"{"version": "2.0.0", "messages": {}, "groups": {}}"#;
    system.add_file("logs/app.pftrace", description::trace(APP));
    system.add_file("logs/readme", "none");
    system.add_file("empty/sub/file", "none");
    system.add_file("app.pb", dictionary);
    system.add_file("app.json", json);
    system.add_file("app.json.gz", gzip(json.as_bytes()));
    system.add_file("app.log.gz", gzip(b"11-20 18:27:01.001 hello\n"));
    system.add_file("chrome.json", r#"{"traceEvents": []}"#);
    system.add_file("app", b"\x7fELF\x02\x01\x01\0".to_vec());
    system.add_file("app.zst", b"\x28\xb5\x2f\xfd\x04\0".to_vec());
    system.add_file("noise", b"\xff\xfe\0\x01".to_vec());
    let dictionary = "not a trace, but a dictionary\n\
                      help: give the trace, and this file by `--viewer-config`";
    for (path, expected) in [
        ("app.pb", dictionary),
        ("app.json", dictionary),
        ("app.json.gz", dictionary),
        (
            "app.log.gz",
            "not a trace, but text\nhelp: give the file that a session writes; text can be read as it is",
        ),
        (
            "chrome.json",
            "not a trace, but JSON\nhelp: give a trace in Perfetto's own format, which is not JSON",
        ),
        (
            "app",
            "not a trace, but a program or library\n\
             help: give the trace that it wrote; its dictionary comes from `generate-viewer-config --from-binary`",
        ),
        (
            "app.zst",
            "not a trace\n\
             help: give a Perfetto trace, plain or compressed with gzip or zstd; a dictionary is not a trace",
        ),
        (
            "noise",
            "not a trace\n\
             help: give a Perfetto trace, plain or compressed with gzip or zstd; a dictionary is not a trace",
        ),
    ] {
        let system = system.clone();
        let before = system.errors().len();
        let exit = cli::run(["protologtool", "read-log", path].map(Into::into), &system);
        assert_eq!((exit, system.out().as_str()), (Exit::Failed, ""), "{path}");
        let expected = format!("error: can't read `{path}`: {expected}\n");
        assert_eq_text(&expected, &system.errors()[before..]);
    }
}

/// Several traces are shown as one: those that are named, and those of a directory.
#[test]
fn several_traces_are_one() {
    let system = Memory::default();
    system.add_file("logs/app.pftrace", description::trace(APP));
    system.add_file("logs/copy.pftrace", description::trace(APP));
    system.add_file("logs/readme", "none");
    system.add_file("empty/file", "none");
    system.add_file("other.pftrace", description::trace(&APP.replace("100", "200")));
    system.add_file("cut.pftrace", {
        let mut bytes = description::trace(APP);
        bytes.truncate(bytes.len() - 3);
        bytes
    });
    let read = |paths: &[&str]| {
        let system = system.clone();
        let words = ["protologtool", "read-log"].into_iter().chain(paths.iter().copied());
        let (out, errors) = (system.out().len(), system.errors().len());
        let exit = cli::run(words.map(Into::into), &system);
        (exit, system.out()[out..].to_owned(), system.errors()[errors..].to_owned())
    };
    let (_, one, _) = read(&["logs/app.pftrace"]);
    let (exit, both, _) = read(&["logs"]);
    assert_eq!((exit, &both), (Exit::Done, &one), "a copy says nothing new");
    let (_, both, _) = read(&["logs/app.pftrace", "other.pftrace"]);
    assert!(both.lines().count() > one.lines().count());
    assert!(both.contains("  100   101 ") && both.contains("  200   101 "), "{both}");
    assert!(both.lines().is_sorted_by_key(|line| line.trim_start_matches('~')[..18].to_owned()));
    let (exit, _, errors) = read(&["other.pftrace", "cut.pftrace"]);
    assert_eq!(exit, Exit::Incomplete, "{errors}");
    assert!(errors.contains("`cut.pftrace` ends within a packet"), "{errors}");
    let (exit, _, errors) = read(&["logs/app.pftrace", "empty"]);
    assert_eq!(exit, Exit::Failed);
    assert!(errors.starts_with("error: no trace in `empty`"), "{errors}");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_trace_of_other_data_sources_is_named() {
    let trace = description::trace("ts=1\nts=2");
    let (exit, out, errors) = run(&[("sched", trace)], &["sched"]);
    assert_eq!((exit, out.as_str()), (Exit::Done, ""));
    assert_eq_text(
        "warning: the trace has no data of ProtoLog, only of other data sources\n\
         help: give the file of a session, or record with the data source `android.protolog`\n",
        &errors,
    );
}

#[test]
fn a_trace_without_texts_has_a_hint_of_its_dictionary() {
    let trace = description::trace("ts=1000 log(1)\nts=2000 log(2)");
    let (exit, _, errors) = run(&[("app", trace)], &["app"]);
    assert_eq!(exit, Exit::Done);
    assert_eq_text(
        "warning: 2 entries whose messages are in no dictionary\n\
         help: name the dictionary that the tool wrote for the program by `--viewer-config`\n",
        &errors,
    );
}

#[test]
fn truncated_traces_are_shown_as_far_as_they_go() {
    let mut bytes = description::trace("ts=1000 log(1)\nts=2000 log(2)");
    bytes.truncate(bytes.len() - 1);
    let (exit, out, errors) = run(&[("cut", bytes)], &["cut"]);
    assert_eq!(exit, Exit::Incomplete);
    assert_eq_text("     0.000001     ?     ? ? ?       : #0000000000000001 ()\n", &out);
    assert_eq_text(
        "warning: truncated: the trace ends inside a packet; 20 of 39 bytes were read\n\
         warning: 1 entry whose message is in no dictionary\n",
        &errors,
    );
    let (exit, out, errors) = run(&[("empty", Vec::new())], &["empty"]);
    assert_eq!(
        (exit, out.as_str(), errors.as_str()),
        (
            Exit::Done,
            "",
            "warning: the trace is empty\n\
             help: look again when its session has written to it, or give another file\n"
        )
    );
}

#[test]
fn whatever_can_not_be_read_makes_the_exit_code_3() {
    let good = "ts=1 log(1)\n";
    let nested = |depth| "bundle(zlib) {\n".repeat(depth) + good + &"}\n".repeat(depth);
    for (description, warning) in [
        (String::new(), None),
        (nested(4), None),
        ("@1 cleared loss(2, 1, 3)\n".to_owned(), None),
        (nested(5), Some("bundle of packets nested too deep")),
        ("field(133, \"(\\xb5/\\xfd...\")".to_owned(), Some("cut off or corrupt")),
        ("bundle(gzip, cut) {\nts=1 log(1)\nts=2 log(2)\n}".to_owned(), Some("cut off or corrupt")),
        ("bytes(\"\\x0a\\x01\\x00\")".to_owned(), Some("corrupt")),
    ] {
        let trace = description::trace(&format!("{good}{description}"));
        for format in ["text", "json"] {
            let (exit, out, errors) =
                run(&[("app", trace.clone())], &["app", "--format", format, "--until", "0"]);
            let expected = if warning.is_some() { Exit::Incomplete } else { Exit::Done };
            assert_eq!((exit, out.as_str()), (expected, ""), "{description}: {errors}");
            assert!(errors.contains(warning.unwrap_or_default()), "{description}: {errors}");
        }
    }
}
