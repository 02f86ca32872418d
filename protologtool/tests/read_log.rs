//! `read-log` from arguments to output, in memory; and what only the real program shows.

#[path = "../../protolog-reader/tests/common/trace/mod.rs"]
mod description;

use protolog_testkit::assert_eq_text;
use protologtool::cli::{self, Exit};
use protologtool::system::Memory;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

/// Two threads, two groups, a loss, a wall clock.
const APP: &str = r#"
group(1, "demo::AppLog::Net", "Net") group(2, "demo::AppLog::Disk", "Disk")
message(0x11, DEBUG, 1, "sent %d bytes", "src/net.rs:12") message(0x12, WARN, 2, "slow: %s", "src/disk.rs:40")
@9 snapshot(real=1795199221000000000, boot=1000000000)
@1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(100, 101, "main")
@1 ts=1000000 log(0x11, 512)
@1 needs ts=1000000 string(1, "write") log(0x12, $1)
@2 cleared snapshot(64=0, boot=2000000000, incremental=64) default_clock=64 info(100, 102, "worker") loss(2, 1, 3)
@2 ts=5 log(0x11, 1024)
@2 ts=1000000000 log(0x77, 1, true)
"#;

/// Runs the command on files in memory.
fn run(files: &[(&str, Vec<u8>)], args: &[&str]) -> (Exit, String, String) {
    let system = Memory::default();
    for (path, content) in files {
        system.add_file(path, content.clone());
    }
    let words = ["protologtool", "read-log"].iter().chain(args);
    let exit = cli::run(words.map(Into::into), &system);
    (exit, system.out(), system.errors())
}

/// Runs `read-log app --time utc` with more arguments on [`APP`]. An indentation of the first expected line is taken off all.
#[track_caller]
fn check(args: &[&str], expected: &str) {
    let files = [("app", description::trace(APP))];
    let (exit, out, errors) = run(&files, &[&["app", "--time", "utc"], args].concat());
    assert_eq!(exit, Exit::Done, "{errors}");
    assert_eq_text(&unindented(expected), &out);
}

/// The text without the indentation of its first line.
fn unindented(text: &str) -> String {
    let text = text.strip_prefix('\n').unwrap_or(text).trim_end_matches([' ', '\n']);
    let indent = text.len() - text.trim_start_matches(' ').len();
    let lines: Vec<_> = text.lines().map(|line| line.get(indent..).unwrap_or_default()).collect();
    lines.join("\n") + if lines.is_empty() { "" } else { "\n" }
}

#[test]
fn values_that_the_trace_lacks_are_reported() {
    let warnings = |args: &[&str]| {
        let (exit, out, errors) =
            run(&[("app", description::trace(APP))], &[&["app"], args].concat());
        assert_eq!(
            (exit, out.lines().filter(|line| !line.contains(" ! ")).count()),
            (Exit::Done, 0)
        );
        errors.lines().take_while(|line| !line.contains("lost: ")).collect::<Vec<_>>().join("\n")
    };
    let expected = "warning: the trace has no group `Nett`; did you mean `Net`?\nwarning: the trace has no group `x`\n\
                    help: use one of `demo::AppLog::Disk`, `demo::AppLog::Net`";
    assert_eq!(warnings(&["--group", "Nett", "--group", "x"]), expected);
    let expected =
        "warning: the trace has no tag `dsk`; did you mean `Disk`?\nhelp: use one of `Disk`, `Net`";
    assert_eq!(warnings(&["--tag", "dsk"]), expected);
    let expected = "warning: the trace has no thread `Worker`; did you mean `worker`?\n\
                    warning: the trace has no thread `7`\nhelp: use one of `main`, `worker`";
    assert_eq!(warnings(&["--thread", "Worker", "--thread", "7"]), expected);
    let expected = "warning: the trace has no location `nte.rs:12`; did you mean `net.rs`?\n\
                    help: use one of `src/disk.rs`, `src/net.rs`";
    assert_eq!(warnings(&["--location", "nte.rs:12"]), expected);
    assert_eq!(warnings(&["--group", "Net", "--tag", "Disk"]), "");
    assert_eq!(
        warnings(&["--location", "net", "--location", "disk", "--thread", "102", "--level", "wtf"]),
        ""
    );
}

/// Runs `read-log app` on [`APP`], which ends at 18:27:03, at 18:30 of that day.
fn run_at_half_past(args: &[&str]) -> (Exit, String, String) {
    let system = Memory::default();
    system.add_file("app", description::trace(APP));
    system.set_now(1_795_199_400_000_000_000);
    let words = ["protologtool", "read-log", "app", "--time", "utc"].iter().chain(args);
    let exit = cli::run(words.map(Into::into), &system);
    (exit, system.out(), system.errors())
}

#[test]
fn times_before_now() {
    for (args, lines) in [
        (&["--since", "1h"][..], 5),
        (&["--since", "2m58s"], 3),
        (&["--since", "-2m58s"], 3),
        (&["--since=178s ago"], 3),
        (&["--until", "2m58s"], 2),
        (&["--since", "today"], 5),
        (&["--since", "yesterday", "--until", "now"], 5),
    ] {
        let (exit, out, errors) = run_at_half_past(args);
        assert_eq!((exit, out.lines().count()), (Exit::Done, lines), "{args:?}: {errors}");
        assert!(!errors.contains("help:"), "{errors}");
    }
}

#[test]
fn a_span_without_entries_is_reported() {
    for (args, warning) in [
        (["--since", "2m"], "the trace ends at 2026-11-20 18:27:03, before `--since 2m`"),
        (["--since", "19:00"], "the trace ends at 2026-11-20 18:27:03, before `--since 19:00`"),
        (["--until", "1d"], "the trace begins at 2026-11-20 18:27:01, not before `--until 1d`"),
    ] {
        let (exit, out, errors) = run_at_half_past(&args);
        let help = "help: give a time from `2026-11-20 18:27:01` to `2026-11-20 18:27:03`";
        assert_eq!((exit, out.as_str()), (Exit::Done, ""));
        assert!(errors.starts_with(&format!("warning: {warning}\n{help}\n")), "{errors}");
    }
}

#[test]
fn everything() {
    check(
        &[],
        "
        11-20 18:27:01.001   100   101 D Net     : sent 512 bytes
        11-20 18:27:01.002   100   101 W Disk    : slow: write
        11-20 18:27:02.000   100   102 ! LOST    : 3 messages of demo::AppLog::Disk: the buffer was full
        11-20 18:27:02.000   100   102 D Net     : sent 1024 bytes
        11-20 18:27:03.000   100   102 ? ?       : #0000000000000077 (1, true)
        ",
    );
}

#[test]
fn losses_are_summed_up_on_standard_error() {
    let (exit, _, errors) = run(&[("-", description::trace(APP))], &["-"]);
    assert_eq!(exit, Exit::Done);
    assert_eq_text(
        "warning: lost: 3 messages of demo::AppLog::Disk: the buffer was full\n\
         warning: 1 entry whose message is in no dictionary\n",
        &errors,
    );
}

#[test]
fn filters() {
    let sent = "11-20 18:27:01.001   100   101 D Net     : sent 512 bytes\n";
    let slow = "11-20 18:27:01.002   100   101 W Disk    : slow: write\n";
    let lost = "11-20 18:27:02.000   100   102 ! LOST    : 3 messages of demo::AppLog::Disk: the buffer was full\n";
    let sent_more = "11-20 18:27:02.000   100   102 D Net     : sent 1024 bytes\n";
    let unknown = "11-20 18:27:03.000   100   102 ? ?       : #0000000000000077 (1, true)\n";
    for (args, lines) in [
        (&["--level", "info"][..], &[slow, lost][..]),
        (&["--level", "WARNING"], &[slow, lost]),
        (&["--level", "err"], &[lost]),
        (&["--level", "Information"], &[slow, lost]),
        (&["--group", "net", "--tag", "NET"], &[sent, sent_more]),
        (&["--group", "applog::disk"], &[slow, lost]),
        (&["--level", "V"], &[sent, slow, lost, sent_more]),
        (&["--group", "Net"], &[sent, sent_more]),
        (&["--group", "demo::AppLog::Disk"], &[slow, lost]),
        (&["--group", "Net", "--group", "Disk"], &[sent, slow, lost, sent_more]),
        (&["--tag", "Disk", "--level", "error"], &[lost]),
        (&["--grep", "^sent \\d{4}"], &[lost, sent_more]),
        (&["--grep", "true"], &[lost, unknown]),
        (&["--thread", "main"], &[sent, slow]),
        (&["--thread", "102"], &[lost, sent_more, unknown]),
        (&["--location", "disk.rs"], &[slow, lost]),
        (&["--location", "net.rs:12", "--thread", "main"], &[sent]),
        (&["--since", "18:27:02"], &[lost, sent_more, unknown]),
        (&["--since", "2026-11-20 18:27:03"], &[unknown]),
        (&["--until", "11-20 18:27:01.002"], &[sent]),
        (&["--since", "1.0015", "--until", "2"], &[slow]),
        (
            &["--since", "2026-11-20T19:27:02+01:00", "--until", "2026-11-20T18:27:03Z"],
            &[lost, sent_more],
        ),
        (&["--until", "2026-11-20"], &[]),
    ] {
        println!("{args:?}");
        check(args, &lines.concat());
    }
}

#[test]
fn boot_times_and_json() {
    let args = ["app", "--time", "boot", "--level", "warn", "--thread", "main"];
    let (_, out, _) = run(&[("app", description::trace(APP))], &args);
    assert_eq_text("     1.002000   100   101 W Disk    : slow: write\n", &out);
    check(
        &["--format", "json", "--since", "1.0015"],
        r##"
        {"type":"message","ts":1002000000,"time":"2026-11-20T18:27:01.002Z","pid":100,"tid":101,"thread":"main","level":"WARN","tag":"Disk","group":"demo::AppLog::Disk","id":"0000000000000012","template":"slow: %s","args":["write"],"message":"slow: write","location":"src/disk.rs:40"}
        {"type":"loss","ts":2000000000,"time":"2026-11-20T18:27:02Z","pid":100,"tid":102,"thread":"worker","reason":"buffer_full","group":"demo::AppLog::Disk","count":3}
        {"type":"message","ts":2000000005,"time":"2026-11-20T18:27:02.000000005Z","pid":100,"tid":102,"thread":"worker","level":"DEBUG","tag":"Net","group":"demo::AppLog::Net","id":"0000000000000011","template":"sent %d bytes","args":[1024],"message":"sent 1024 bytes","location":"src/net.rs:12"}
        {"type":"message","ts":3000000005,"time":"2026-11-20T18:27:03.000000005Z","pid":100,"tid":102,"thread":"worker","id":"0000000000000077","args":[1,true],"message":"#0000000000000077 (1, true)"}
        "##,
    );
}

#[test]
fn matches_are_marked_where_there_are_colors() {
    let marked = |args: &[&str]| {
        let (_, out, _) = run(&[("app", description::trace(APP))], args);
        let lines = out.lines().filter(|line| line.contains("\x1b[7m")).map(|line| {
            let (_, message) = line.split_once(": ").unwrap();
            message.replace("\x1b[7m", "<").replace("\x1b[27m", ">").replace("\x1b[0m", "")
        });
        lines.collect::<Vec<_>>()
    };
    let always = ["app", "--color", "always"];
    assert_eq!(
        marked(&[&always[..], &["--grep", "[0-5]+"]].concat()),
        ["sent <512> bytes", "sent <1024> bytes", "#<00000000000000>77 (<1>, true)"]
    );
    assert_eq!(marked(&[&always[..], &["--grep", "x*"]].concat()), [""; 0], "nothing to see");
    assert_eq!(marked(&[&always[..], &["--grep", "sent", "--invert"]].concat()), [""; 0]);
    assert_eq!(marked(&["app", "--grep", "sent"]), [""; 0]);
}

#[test]
fn colors() {
    check(
        &["--color", "always", "--thread", "main"],
        "
        \x1b[34m11-20 18:27:01.001   100   101 D Net     : sent 512 bytes\x1b[0m
        \x1b[33m11-20 18:27:01.002   100   101 W Disk    : slow: write\x1b[0m
        ",
    );
}

#[test]
fn dictionaries_stand_in_for_what_a_trace_lacks() {
    let json = r#"{
      "version": "2.0.0",
      "messages": {
        "119": {"message": "from a file: %d %b", "level": "ERROR", "group": "NET", "at": "com/foo/Net.java"},
        "17": {"message": "the trace knows better", "level": "ERROR", "group": "NET", "at": "com/foo/Net.java"}
      },
      "groups": {"NET": {"tag": "FileTag"}}
    }"#;
    let files = [("app", description::trace(APP)), ("app.json", json.into())];
    let (exit, out, errors) =
        run(&files, &["app", "--viewer-config", "app.json", "--time", "utc", "--thread", "worker"]);
    assert_eq!(exit, Exit::Done, "{errors}");
    assert_eq_text(
        "11-20 18:27:02.000   100   102 ! LOST    : 3 messages of demo::AppLog::Disk: the buffer was full\n\
         11-20 18:27:02.000   100   102 D Net     : sent 1024 bytes\n\
         11-20 18:27:03.000   100   102 E FileTag : from a file: 1 true\n",
        &out,
    );
}

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
    assert!(errors.contains("regex parse error"), "{errors}");
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
    let (exit, _, errors) = read(&["logs/app.pftrace", "other.pftrace", "--follow"]);
    assert_eq!(exit, Exit::Failed);
    assert!(errors.contains("can't follow several traces\nhelp: "), "{errors}");
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
        (nested(5), Some("bundle of packets nested too deep or too large")),
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

#[test]
fn statistics_are_shown_when_asked_for() {
    let mut trace = description::trace(APP);
    // trace_stats with one buffer_stats: 65536 bytes, 2 chunks of 1312 bytes written, at most 1020 waiting.
    trace.extend(
        b"\x0a\x14\x9a\x02\x0f\x0a\x0d\x60\x80\x80\x04\x08\xa0\x0a\x10\x02\xc0\x3e\xfc\x07\x50\x01",
    );
    let (exit, _, without) = run(&[("-", trace.clone())], &["-"]);
    assert_eq!((exit, without.contains("buffer")), (Exit::Done, true), "as a loss only");
    assert!(without.lines().all(|line| line.starts_with("warning: ")), "{without}");
    let size = trace.len();
    let (exit, out, errors) = run(&[("-", trace)], &["-", "--stats"]);
    assert_eq!(exit, Exit::Done);
    let (statistics, warnings) = errors.split_at(errors.find("warning: ").expect("the losses"));
    assert_eq!(warnings, without);
    let (first, rest) = statistics.split_once('\n').expect("lines");
    assert!(first.starts_with(&format!("trace: {size} bytes, ")), "{first}");
    assert!(first.ends_with(&format!(" {} entries", out.lines().count() - 1)), "{first}");
    assert_eq_text(
        "buffer: 65536 bytes, of which at most 1020 were waiting\n\
         written: 2 chunks, 1312 bytes\n\
         read: 0 chunks, 0 bytes\n\
         overwritten: 0 chunks, 0 bytes\n\
         discarded: 0 chunks\n",
        rest,
    );
}

/// The real program: standard input, no colours in a pipe, and a reader that goes away.
#[test]
fn pipes() {
    let mut description = String::from(APP);
    description.push_str(&"@1 ts=1 log(0x11, 1)\n".repeat(50_000));
    let bytes = description::trace(&description);
    let mut child = Command::new(env!("CARGO_BIN_EXE_protologtool"))
        .args(["read-log", "-", "--time", "boot"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let mut start = [0; 57];
    child.stdout.take().unwrap().read_exact(&mut start).unwrap();
    assert_eq!(&start, b"     1.001000   100   101 D Net     : sent 512 bytes\n    ");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn a_trace_larger_than_the_memory_is_an_error() {
    // 24 MB of packets with an empty message, compressed.
    let member = description::trace(&format!("whole(gzip)\n{}", "log(1)\n".repeat(1 << 16)));
    let trace = member.repeat(24);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bomb.pftrace");
    std::fs::write(&path, &trace).unwrap();
    let read_log = |limit: &str| {
        let script = format!("ulimit -v {limit} && exec \"$0\" read-log \"$1\" --until 0");
        let shell = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_protologtool")])
            .arg(&path)
            .output();
        let output = shell.unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let error = format!(
        "error: can't read `{}`: too large for the memory of this process\n",
        path.display()
    );
    let help = "help: read it where there is more memory, or raise the limit (`ulimit -v`)\n";
    // Too little for the bytes, and for the entries.
    for limit in ["60000", "250000"] {
        assert_eq!(read_log(limit), (Some(2), format!("{error}{help}")), "{limit}");
    }
    let (code, errors) = read_log("unlimited");
    assert!(code == Some(0) && errors.contains("1572864 entries"), "{code:?}: {errors}");
}
