//! Messages whose format string is first seen at run time.

mod common;

use common::record;
use protolog_rt::dynamic::{self, Arg, MAX_TEMPLATES};
use protolog_rt::{Level, ProtoLogGroup, i};

#[derive(ProtoLogGroup)]
enum Log {
    Script,
    Quiet,
}

#[test]
fn dynamic_messages_are_logged() {
    let recording = record(|session| session.log_from(Level::Debug).group("Quiet", None));
    let template = String::from("user %s has %d points, %f %b %x");
    let args = [Arg::Str("ann"), Arg::Int(-7), Arg::Float(0.5), Arg::Bool(true), Arg::Uint(255)];
    dynamic::log(&Log::Script, Level::Info, &template, &args);
    dynamic::log(&Log::Script, Level::Info, &template, &args);
    dynamic::log(&Log::Quiet, Level::Wtf, &template, &args);
    dynamic::log(&Log::Script, Level::Verbose, &template, &args);
    i!(Log::Script, "static");
    recording.stop().check(&[
        "INFO Script user ann has -7 points, 0.500000 true ff",
        "INFO Script user ann has -7 points, 0.500000 true ff",
        "INFO Script static",
    ]);
    // The trace of the next session has the format string too.
    let recording = record(|session| session.log_from(Level::Debug));
    dynamic::log(&Log::Script, Level::Info, &template, &args);
    recording.stop().check(&["INFO Script user ann has -7 points, 0.500000 true ff"]);
}

#[test]
fn arguments_that_do_not_match_the_template_are_rendered() {
    let recording = record(|session| session.log_from(Level::Debug));
    dynamic::log(&Log::Script, Level::Info, "%d of %d", &[Arg::Int(1)]);
    dynamic::log(&Log::Script, Level::Warn, "100% sure", &[]);
    dynamic::log(&Log::Script, Level::Info, "%d", &[Arg::Str("seven"), Arg::Int(8)]);
    dynamic::log(&Log::Script, Level::Info, &"long ".repeat(1000), &[]);
    let long = "long ".repeat(1000);
    let (kept, _) = long.split_at(4093);
    recording.stop().check(&[
        "INFO Script 1 of [MISSING_PARAM]",
        "WARN Script 100% sure",
        "INFO Script seven 8",
        &format!("INFO Script {kept}…"),
    ]);
}

#[test]
fn no_message_is_lost_beyond_the_template_limit() {
    let recording = record(|session| session.log_from(Level::Debug));
    let more = MAX_TEMPLATES + 500;
    for number in 0..more {
        dynamic::log(&Log::Script, Level::Info, &format!("text {number} %d"), &[Arg::Int(1)]);
    }
    let trace = recording.stop();
    assert_eq!(trace.summary.lost(), 0, "{:?}", trace.summary);
    let expected: Vec<String> =
        (0..more).map(|number| format!("INFO Script text {number} 1")).collect();
    trace.check(&expected.iter().map(String::as_str).collect::<Vec<_>>());
}
