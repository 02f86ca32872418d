//! `read-log` from arguments to output: how entries look here; forms, filters, traces that can't be
//! read as they stand, the pager, and the real program in files of their own.

mod any_times;
mod containers;
#[path = "../../../protolog-reader/tests/common/trace/mod.rs"]
mod description;
mod directories;
mod filters;
mod followed;
mod forms;
mod inputs;
mod pager;
mod program;
mod requests;
mod spans;
mod spans_around;
mod tables;
mod winscope;

use protolog_testkit::assert_eq_text;
use protologtool::cli::{self, Exit};
use protologtool::system::Memory;

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

/// Runs `read-log app --time utc` with more arguments on [`APP`]. An indentation of the first
/// expected line is taken off all.
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
fn statistics_are_shown_when_asked_for() {
    let mut trace = description::trace(APP);
    // trace_stats with one buffer_stats: 65536 bytes, 2 chunks of 1312 bytes written, at most 1020
    // waiting.
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
