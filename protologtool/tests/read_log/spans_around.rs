//! The spans that a message was logged in: before it, in JSON, as a column, and as a filter.

use crate::{description, run, unindented};
use protolog_testkit::assert_eq_text;
use protologtool::cli::Exit;

/// Two requests of one thread with a span within, and a thread without any; the field `user` was
/// recorded later.
const APP: &str = r#"
group(1, "demo::net", "Net") message(0x11, WARN, 1, "sent %d bytes", "src/net.rs:12")
@1 cleared ts=5 info(100, 101, "main") log(0x11, 1)
@1 ts=10 begin("request", "demo::net", track=5, depth=0, number=1, id=7, path="/a\nb")
@1 ts=20 log(0x11, 2)
@1 ts=30 begin("parse", "demo", track=5, depth=1, number=2)
@1 ts=40 log(0x11, 3)
@1 ts=50 end(track=5, depth=1, number=2)
@1 ts=60 log(0x11, 4)
@1 ts=70 end(track=5, depth=0, number=1, user=9)
@1 ts=80 begin("request", "demo::net", track=5, depth=0, number=3, id=8)
@1 ts=90 log(0x11, 5)
@2 cleared ts=45 info(100, 102, "worker") log(0x11, 6)
"#;

/// The output for `trace`, with one space for several.
#[track_caller]
fn printed(trace: &str, args: &[&str]) -> String {
    let files = [("app", description::trace(trace))];
    let (exit, out, errors) = run(&files, &[&["app"], args].concat());
    assert_eq!((exit, &*errors), (Exit::Done, ""), "{out}");
    let words = out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    words.map(|line| line + "\n").collect()
}

#[track_caller]
fn check(args: &[&str], expected: &str) {
    assert_eq_text(&unindented(expected), &printed(APP, args));
}

#[test]
fn messages_have_the_spans_around_them() {
    check(
        &["--spans=around", "--time", "boot", "--time-format", "ns"],
        r"
        0.000000005 100 101 W Net : sent 1 bytes
        0.000000020 100 101 W Net : request{id=7 path=/a\nb}: sent 2 bytes
        0.000000040 100 101 W Net : request{id=7 path=/a\nb}:parse: sent 3 bytes
        0.000000045 100 102 W Net : sent 6 bytes
        0.000000060 100 101 W Net : request{id=7 path=/a\nb}: sent 4 bytes
        0.000000090 100 101 W Net : request{id=8}: sent 5 bytes
        ",
    );
}

#[test]
fn columns_and_csv_have_them() {
    check(
        &["--columns", "tid,spans,message", "--format", "csv", "--tail", "2"],
        r"
        tid,spans,message
        101,request{id=7 path=/a\nb},sent 4 bytes
        101,request{id=8},sent 5 bytes
        ",
    );
    check(
        &["--spans=around", "--delta", "--tail", "1", "--time", "boot"],
        "
        0.000000 0.000000030 100 101 W Net request{id=8} sent 5 bytes
        ",
    );
}

#[test]
fn json_has_them_with_their_fields() {
    let out = printed(APP, &["--format", "json", "--spans=around", "--grep", "sent [13] "]);
    let lines: Vec<&str> = out.lines().collect();
    assert!(!lines[0].contains("\"spans\""), "{out}");
    let expected = r#","spans":[{"span":"request","target":"demo::net","span_id":1,"args":{"id":7,"path":"/a\nb"}},{"span":"parse","target":"demo","span_id":2,"args":{}}]}"#;
    assert!(lines[1].ends_with(expected), "{out}");
}

#[test]
fn lines_of_spans_and_spans_around_messages_go_together() {
    check(
        &["--spans=both", "--span", "parse", "--columns", "level,message"],
        r"
        > parse#2
        W request{id=7 path=/a\nb}:parse sent 3 bytes
        < parse#2 took 20 ns
        ",
    );
}

#[test]
fn a_span_is_a_filter() {
    let count = |args: &[&str]| printed(APP, &[&["--count"], args].concat());
    assert_eq!(count(&[]), "6\n");
    assert_eq!(count(&["--span", "request"]), "4\n");
    assert_eq!(count(&["--span", "request.id=7"]), "3\n");
    assert_eq!(count(&["--span", "parse"]), "1\n");
    assert_eq!(count(&["--span", "parse", "--span", "request.id=8"]), "2\n");
    // A value that was recorded later counts for all of the time in the span.
    assert_eq!(count(&["--span", "request.user=9"]), "3\n");
    assert_eq!(count(&["--span", "request.id=7", "--grep", "4"]), "1\n");
}

#[test]
fn a_wrong_span_is_named() {
    let files = [("app", description::trace(APP))];
    let (_, out, errors) = run(&files, &["app", "--span", "requset"]);
    assert_eq!(out, "");
    assert!(errors.contains("warning: the trace has no span `requset`"), "{errors}");
    assert!(errors.contains("request"), "{errors}");
    let (exit, _, errors) = run(&files, &["app", "--span", "request.=7"]);
    assert_eq!(exit, Exit::Failed);
    assert!(errors.contains("`request.=7` names no span"), "{errors}");
}

/// As in the trace of a stripped program, whose dictionary is not at hand.
#[test]
fn spans_without_names_are_not_suggested() {
    let trace = r#"
        @1 cleared ts=5 info(100, 101, "main")
        @1 ts=10 begin("", "demo::net", track=5, depth=0, 1=7)
        @1 ts=20 end(track=5, depth=0)
    "#;
    let (_, _, errors) = run(&[("app", description::trace(trace))], &["app", "--span", "request"]);
    assert!(errors.contains("warning: the trace has no span `request`"), "{errors}");
    assert!(!errors.contains("``"), "{errors}");
}

/// The end of the first `inner` was lost; then the begins of `outer` and `middle`.
const WITH_LOSSES: &str = r#"
group(1, "demo::net", "Net") message(0x11, WARN, 1, "sent %d bytes", "src/net.rs:12")
@1 cleared ts=5 info(100, 101, "main")
@1 ts=10 begin("request", "demo::net", track=5, depth=0, id=1)
@1 ts=20 begin("inner", "demo::net", track=5, depth=1)
@1 ts=30 log(0x11, 1)
@1 ts=40 begin("next", "demo::net", track=5, depth=1)
@1 ts=50 log(0x11, 2)
@1 ts=60 end(track=5, depth=1)
@1 ts=70 end(track=5, depth=0)
@1 ts=80 begin("deep", "demo::net", track=5, depth=2)
@1 ts=90 log(0x11, 3)
"#;

#[test]
fn what_was_lost_is_said() {
    assert_eq_text(
        &unindented(
            "
            request{id=1}:inner? sent 1 bytes
            request{id=1}:next sent 2 bytes
            …:deep sent 3 bytes
            ",
        ),
        &printed(WITH_LOSSES, &["--columns", "spans,message"]),
    );
    let json = printed(WITH_LOSSES, &["--format", "json", "--spans=around"]);
    assert_eq!(json.matches("\"end_lost\":true").count(), 1, "{json}");
    assert_eq!(json.matches("\"gap\":true").count(), 1, "{json}");
}

#[test]
fn spans_around_messages_are_followed() {
    let files = [("-", description::trace(APP))];
    let (exit, out, errors) =
        run(&files, &["-", "--spans=around", "--follow", "--span", "request", "--time", "boot"]);
    assert_eq!((exit, &*errors), (Exit::Done, ""));
    assert_eq!(out.lines().count(), 4, "{out}");
    assert_eq!(out.matches(": request{id=7 ").count(), 3, "{out}");
}
