//! JSON lines: members that appear only when there is a value.

use crate::common::trace;
use protolog_reader::{JsonWriter, Trace};
use protolog_testkit::assert_eq_text;

#[track_caller]
fn check(description: &str, expected: &str) {
    let log = Trace::from_bytes(trace(description)).read().unwrap();
    let mut json = Vec::new();
    for item in log.items() {
        JsonWriter::new(&log).write(&item, &mut json);
    }
    assert_eq_text(expected, &String::from_utf8(json).unwrap());
}

#[test]
fn processes_guessed_times_and_infinite_floats() {
    check(
        r#"
@1 group(1, "demo::Log::A", "A") message(0x11, INFO, 1, "%f") process(7, "app")
@1 track(8, "worker")
@2 cleared info(7, 70, "main")
@2 ts=5 log(0x11, 1e999)
@3 cleared info(8, 80, "main")
@3 ts=6 clock=99 log(0x11, -1e999)
"#,
        r#"{"type":"message","ts":5,"pid":7,"tid":70,"thread":"main","process":"app","level":"INFO","tag":"A","group":"demo::Log::A","id":"0000000000000011","template":"%f","args":["inf"],"message":"inf"}
{"type":"message","ts":5,"ts_guessed":true,"pid":8,"tid":80,"thread":"main","process":"worker","level":"INFO","tag":"A","group":"demo::Log::A","id":"0000000000000011","template":"%f","args":["-inf"],"message":"-inf"}
"#,
    );
}

#[test]
fn a_mark_that_is_corrupt_ends_the_request_before_it() {
    let log = Trace::from_bytes(trace(
        r#"
@2 cleared info(7, 70, "main")
@2 request(1, "one")
@2 ts=5 log(0x11, 1)
@2 field(1012, "z")
@2 ts=6 log(0x11, 2)
"#,
    ));
    let log = log.read().unwrap();
    let requests: Vec<_> = log.entries().map(|entry| entry.request().map(str::to_owned)).collect();
    assert_eq!(requests, [Some("one".to_owned()), None]);
    assert_eq!(log.stats().lost.values().sum::<u64>(), 1);
}

#[test]
fn values_stand_by_their_names_as_well() {
    let start = |ts: u32, id: u32| {
        format!(
            r#"{{"type":"message","ts":{ts},"level":"INFO","tag":"A","group":"demo::Log::A","id":"00000000000000{id}","template""#
        )
    };
    let expected = [
        r#":"%s %f %x %b","args":["a \"b\"",1.5,-1,true],"fields":{"host":"a \"b\"","ms":1.5,"größe":-1,"ok":true},"message":"a \"b\" 1.500000 ffffffffffffffff true"}"#,
        r#":"%d %d","args":[1,2],"fields":{"second":2},"message":"1 2"}"#,
        // A value is missing.
        r#":"%s %d","args":[7],"message":"[MISSING_PARAM] 7"}"#,
        r#":"%d %d","args":[1,2],"message":"1 2"}"#,
    ];
    let lines = expected.iter().zip(1..).map(|(rest, at)| start(at, 10 + at) + rest + "\n");
    check(
        r#"
group(1, "demo::Log::A", "A") with_names(0x11, INFO, 1, "%s %f %x %b", "host,ms,größe,ok")
with_names(0x12, INFO, 1, "%d %d", ",second") with_names(0x13, INFO, 1, "%s %d", "a,b")
with_names(0x14, INFO, 1, "%d %d", "a,a")
@1 cleared string(1, "a \"b\"")
@1 needs ts=1 log(0x11, $1, 1.5, -1, true)
@1 ts=2 log(0x12, 1, 2)
@1 ts=3 log(0x13, 7)
@1 ts=4 log(0x14, 1, 2)
"#,
        &lines.collect::<String>(),
    );
}

/// Blocks that come before the first request, also where their addresses are behind it.
#[test]
fn messages_of_a_bundle_before_a_request_have_none() {
    let log = trace(
        r#"
@1 group(1, "demo::Log::A", "A") message(0x11, INFO, 1, "%d")
@2 cleared info(7, 70, "main")
@2 ts=1 log(0x11, 1)
bundle(zlib) {
@2 ts=2 log(0x11, 2)
}
@2 request(7, "cart")
@2 ts=3 log(0x11, 3)
"#,
    );
    let log = Trace::from_bytes(log).read().unwrap();
    let requests: Vec<_> = log.entries().map(|entry| entry.request()).collect();
    assert_eq!(requests, [None, None, Some("cart")]);
}
