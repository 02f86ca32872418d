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
