//! `--spans`: lines of threads that enter and leave spans, among those of messages.

use crate::{description, run, unindented};
use protolog_testkit::assert_eq_text;
use protologtool::cli::Exit;

/// Two nested spans and one that never ends, with messages; and the end of one that began before.
const APP: &str = r#"
group(1, "demo::net", "Net") message(0x11, WARN, 1, "sent %d bytes", "src/net.rs:12")
@9 snapshot(real=1795199221000000000, boot=1000000000)
@1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(100, 101, "main")
@1 needs ts=1000000 end(track=5)
@1 needs ts=0 begin("request", "demo::net", track=5, id=-5, path="/a\n", slow=false)
@1 needs ts=1000000 log(0x11, 512)
@1 needs named(2, 1, "parse")
@1 needs named(1, 1, "demo")
@1 needs ts=0 named(3, 1, "share") begin($1, track=5, interned=0.5)
@1 needs ts=1500 end(track=5, status=200)
@1 needs ts=1000000000 end(track=5, id=6)
@1 needs ts=0 log(0x11, 1024)
@2 cleared snapshot(64=0, boot=2500000000, incremental=64) default_clock=64 info(100, 102, "worker") begin("wait", "demo")
"#;

#[track_caller]
fn check(args: &[&str], expected: &str) {
    let files = [("app", description::trace(APP))];
    let (exit, out, errors) = run(&files, &[&["app", "--time", "utc", "--spans"], args].concat());
    assert_eq!(exit, Exit::Done, "{errors}");
    assert_eq!(errors, "note: 1 span began before the trace, and is not shown\n");
    assert_eq_text(&unindented(expected), &out);
}

#[test]
fn spans_are_lines_among_those_of_messages() {
    check(
        &[],
        "
        11-20 18:27:01.001   100   101 > Net     : request id=-5 path=/a
        11-20 18:27:01.001   100   101 > Net     :  slow=false
        11-20 18:27:01.002   100   101 > demo    : parse share=0.5
        11-20 18:27:01.002   100   101 W Net     : sent 512 bytes
        11-20 18:27:01.002   100   101 < demo    : parse took 1.500 µs status=200
        11-20 18:27:02.002   100   101 W Net     : sent 1024 bytes
        11-20 18:27:02.002   100   101 < Net     : request took 1.001 s id=6
        11-20 18:27:02.500   100   102 > demo    : wait (its end is not in the trace)
        ",
    );
}

#[test]
fn filters_and_columns_apply_to_spans() {
    // Without a level of their own, they stay.
    check(
        &["--level", "error", "--group", "net", "--columns", "level,tag,thread,delta,message"],
        "
        > Net      main                        request id=-5 path=/a
        > Net      main                         slow=false
        < Net      main            1.001001500 request took 1.001 s id=6
        ",
    );
    check(
        &[
            "--grep",
            "took",
            "--thread",
            "main",
            "--format",
            "logfmt",
            "--columns",
            "level,group,message",
        ],
        r#"
        level=< group=demo message="parse took 1.500 µs status=200"
        level=< group=demo::net message="request took 1.001 s id=6"
        "#,
    );
    check(
        &["--since", "2.5", "--format", "logfmt", "--columns", "level,tid,message"],
        r#"
        level=> tid=102 message="wait (its end is not in the trace)"
        "#,
    );
}

#[test]
fn json_has_the_fields_with_their_types() {
    check(
        &["--format", "json", "--tag", "net", "--grep", "request"],
        r#"
        {"type":"span_begin","ts":1001000000,"time":"2026-11-20T18:27:01.001Z","pid":100,"tid":101,"thread":"main","span":"request","target":"demo::net","depth":0,"duration":1001001500,"args":{"id":-5,"path":"/a\n","slow":false}}
        {"type":"span_end","ts":2002001500,"time":"2026-11-20T18:27:02.0020015Z","pid":100,"tid":101,"thread":"main","span":"request","target":"demo::net","depth":0,"duration":1001001500,"args":{"id":6,"path":"/a\n","slow":false}}
        "#,
    );
}

#[test]
fn without_the_option_there_are_none() {
    let files = [("app", description::trace(APP))];
    let (_, out, errors) = run(&files, &["app"]);
    assert_eq!((out.lines().count(), &*errors), (2, ""));
    let without = [("app", description::trace(crate::APP))];
    let (_, _, errors) = run(&without, &["app", "--spans"]);
    assert!(errors.starts_with("note: the trace has no spans\n"), "{errors}");
}

#[test]
fn spans_are_followed() {
    let files = [("-", description::trace(APP))];
    let (exit, out, errors) = run(&files, &["-", "--time", "utc", "--spans", "--follow"]);
    assert_eq!(
        (exit, &*errors),
        (Exit::Done, "note: 1 span began before the trace, and is not shown\n")
    );
    // The end of the last one may follow.
    assert_eq_text(
        &unindented(
            "
            11-20 18:27:01.001   100   101 > Net     : request id=-5 path=/a
            11-20 18:27:01.001   100   101 > Net     :  slow=false
            11-20 18:27:01.002   100   101 > demo    : parse share=0.5
            11-20 18:27:01.002   100   101 W Net     : sent 512 bytes
            11-20 18:27:01.002   100   101 < demo    : parse took 1.500 µs status=200
            11-20 18:27:02.002   100   101 W Net     : sent 1024 bytes
            11-20 18:27:02.002   100   101 < Net     : request took 1.001 s id=6
            11-20 18:27:02.500   100   102 > demo    : wait
            ",
        ),
        &out,
    );
}
