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
    assert_eq!(
        errors,
        "note: 1 span began before the trace, or its begin was lost, and is not shown\n"
    );
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
        11-20 18:27:01.002   100   101 < demo    : parse took 1.500 µs share=0.5 status=200
        11-20 18:27:02.002   100   101 W Net     : sent 1024 bytes
        11-20 18:27:02.002   100   101 < Net     : request took 1.001 s id=6 path=/a
        11-20 18:27:02.002   100   101 < Net     :  slow=false
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
        < Net      main            1.001001500 request took 1.001 s id=6 path=/a
        < Net      main            1.001001500  slow=false
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
        level=< group=demo message="parse took 1.500 µs share=0.5 status=200"
        level=< group=demo::net message="request took 1.001 s id=6 path=/a\n slow=false"
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

/// Two spans of one name, of which one was entered twice.
const POLLED: &str = r#"
group(1, "demo::net", "Net")
@1 cleared ts=10 info(100, 101, "a") begin("request", "demo::net", track=5, depth=0, number=17, id=1)
@1 ts=20 end(track=5, depth=0, number=17)
@1 ts=30 begin("request", "demo::net", track=5, depth=0, number=18, id=2)
@1 ts=40 end(track=5, depth=0, number=18)
@1 ts=50 begin("request", "demo::net", track=5, depth=0, number=17, id=1)
@1 ts=57 end(track=5, depth=0, number=17, busy=17, age=2000, status=200)
"#;

#[test]
fn slices_of_one_span_have_its_number_and_its_time() {
    let read = |args: &[&str]| {
        let files = [("app", description::trace(POLLED))];
        let (exit, out, errors) = run(&files, &[&["app", "--spans"], args].concat());
        assert_eq!((exit, &*errors), (Exit::Done, ""));
        out
    };
    assert_eq_text(
        &unindented(
            "
            > request#17 id=1
            < request#17 took 10 ns id=1
            > request#18 id=2
            < request#18 took 10 ns id=2
            > request#17 id=1
            < request#17 took 7 ns (17 ns of 2.000 µs in all) id=1 status=200
            ",
        ),
        &read(&["--columns", "level,message"]),
    );
    let json = read(&["--format", "json"]);
    let last = json.lines().last().unwrap();
    let expected = r#""span":"request","target":"demo::net","span_id":17,"depth":0,"duration":7,"busy":17,"age":2000,"#;
    assert!(last.contains(expected), "{last}");
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
fn a_trace_of_spans_alone_is_not_said_to_be_empty() {
    let text = "group(1, \"demo::net\", \"Net\")\n\
                @1 cleared ts=1 info(100, 101, \"main\") begin(\"a\", track=5)\n@1 ts=2 end(track=5)\n";
    let read = |args: &[&str]| run(&[("app", description::trace(text))], args);
    let alone = "0 messages: the trace has spans alone\nhelp: show them with `--spans`\n";
    assert_eq!(read(&["app"]), (Exit::Done, String::new(), alone.to_owned()));
    let (exit, out, errors) = read(&["app", "--spans"]);
    assert_eq!((exit, out.lines().count(), &*errors), (Exit::Done, 2, ""));
}

#[test]
fn spans_are_followed() {
    let files = [("-", description::trace(APP))];
    let (exit, out, errors) = run(&files, &["-", "--time", "utc", "--spans", "--follow"]);
    assert_eq!(
        (exit, &*errors),
        (
            Exit::Done,
            "note: 1 span began before the trace, or its begin was lost, and is not shown\n"
        )
    );
    // The end of the last one may follow.
    assert_eq_text(
        &unindented(
            "
            11-20 18:27:01.001   100   101 > Net     : request id=-5 path=/a
            11-20 18:27:01.001   100   101 > Net     :  slow=false
            11-20 18:27:01.002   100   101 > demo    : parse share=0.5
            11-20 18:27:01.002   100   101 W Net     : sent 512 bytes
            11-20 18:27:01.002   100   101 < demo    : parse took 1.500 µs share=0.5 status=200
            11-20 18:27:02.002   100   101 W Net     : sent 1024 bytes
            11-20 18:27:02.002   100   101 < Net     : request took 1.001 s id=6 path=/a
            11-20 18:27:02.002   100   101 < Net     :  slow=false
            11-20 18:27:02.500   100   102 > demo    : wait
            ",
        ),
        &out,
    );
}

/// Of a thread whose ends and begins were lost: the end of the first `inner`, the begin of the next
/// one, and the end of the last `inner`, after which nothing follows.
const WITH_LOSSES: &str = r#"
group(1, "demo::net", "Net")
@1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(100, 101, "main")
@1 needs ts=0 begin("request", "demo::net", track=5, depth=0, id=1)
@1 needs ts=1000 begin("inner", "demo::net", track=5, depth=1)
@1 needs ts=1000 begin("inner", "demo::net", track=5, depth=1, id=2)
@1 needs ts=500 end(track=5, depth=1)
@1 needs ts=500 end(track=5, depth=1)
@1 needs ts=1000 end(track=5, depth=0)
@1 needs ts=1000 begin("request", "demo::net", track=5, depth=0, id=2)
@1 needs ts=1000 begin("inner", "demo::net", track=5, depth=1, id=3)
@1 needs ts=1000 begin("request", "demo::net", track=5, depth=0, id=3)
@1 needs ts=1000 begin("inner", "demo::net", track=5, depth=1, id=4)
"#;

#[test]
fn a_lost_end_leaves_no_span_open() {
    let read = |args: &[&str]| {
        let files = [("app", description::trace(WITH_LOSSES))];
        run(&files, &[&["app", "--spans"], args].concat())
    };
    let (exit, out, errors) = read(&["--columns", "level,time,message", "--time-format", "ns"]);
    assert_eq!(exit, Exit::Done);
    assert_eq!(
        errors,
        "note: 1 span began before the trace, or its begin was lost, and is not shown\n"
    );
    assert_eq_text(
        &unindented(
            "
            >      1.000000000 request id=1
            >      1.000001000 inner (its end was lost)
            <      1.000002000 inner took at most 1.000 µs (its end was lost)
            >      1.000002000 inner id=2
            <      1.000002500 inner took 500 ns id=2
            <      1.000004000 request took 4.000 µs id=1
            >      1.000005000 request id=2 (its end was lost)
            >      1.000006000 inner id=3 (its end was lost)
            <      1.000007000 inner took at most 1.000 µs id=3 (its end was lost)
            <      1.000007000 request took at most 2.000 µs id=2 (its end was lost)
            >      1.000007000 request id=3 (its end is not in the trace)
            >      1.000008000 inner id=4 (its end is not in the trace)
            ",
        ),
        &out,
    );
    let (_, out, _) = read(&["--format", "json"]);
    let lost: Vec<&str> = out.lines().filter(|line| line.contains("\"end_lost\":true")).collect();
    assert_eq!(lost.len(), 6, "{out}");
    assert!(
        lost.iter().all(|line| line.contains("\"longest\":") && !line.contains("\"duration\":"))
    );
    assert_eq!(out.matches("\"end_missing\":true").count(), 2, "{out}");
    // As it grows, an end that was lost is a line of its own.
    let files = [("-", description::trace(WITH_LOSSES))];
    let (_, out, _) = run(&files, &["-", "--spans", "--follow", "--columns", "level,message"]);
    assert_eq!(out.matches("< inner took at most").count(), 2, "{out}");
}

#[test]
fn a_depth_may_be_any_number() {
    let text = "@1 cleared ts=1 info(100, 101, \"main\") begin(\"a\", track=5, depth=4294967295)\n\
                @1 ts=2 end(track=5, depth=4294967295)\n@1 ts=3 begin(\"b\", track=5, depth=0)\n";
    let (exit, out, errors) = run(&[("app", description::trace(text))], &["app", "--spans"]);
    assert_eq!((exit, out.lines().count()), (Exit::Done, 3), "{out}{errors}");
}
