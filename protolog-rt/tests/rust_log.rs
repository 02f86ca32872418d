//! The variable `RUST_LOG` in a program that asks for it: groups of enums, targets of the bridges,
//! what is printed, and what is left out of it.
#![cfg(all(feature = "log", feature = "tracing"))]

use protolog_rt::{Init, Level, ProtoLogGroup, Session, bridge, i};
use std::path::Path;
use std::process::{Command, Output};
use tracing_subscriber::prelude::*;

/// The environment variable of the program that logs: the path of its trace.
const ROLE: &str = "PROTOLOG_TEST_TRACE";

#[derive(Clone, Copy, ProtoLogGroup)]
enum Log {
    Tcp,
    #[protolog(log_to_text = true)]
    Shown,
}

/// Registers with its first call.
#[derive(Clone, Copy, ProtoLogGroup)]
enum Late {
    Http,
}

fn program(path: &Path) {
    bridge::install_log().expect("the first logger");
    let subscriber = tracing_subscriber::registry().with(bridge::tracing_layer());
    tracing::subscriber::set_global_default(subscriber).expect("the first subscriber");
    let session = Session::builder().file(path).enable_all().start().expect("a session");
    // One target is known before the variable is read, as one enum is.
    log::error!(target: "early", "before");
    let init = || Init::new().control(false).persistent_settings(false).strict().rust_log();
    init().groups::<Log>().start().expect("no mistake is an error");
    init().start().expect("again");
    for (level, other) in [
        (Level::Error, log::Level::Error),
        (Level::Warn, log::Level::Warn),
        (Level::Info, log::Level::Info),
        (Level::Debug, log::Level::Debug),
        (Level::Verbose, log::Level::Trace),
    ] {
        for group in [Log::Tcp, Log::Shown] {
            println!("{}:{}", group.info().tag, u8::from(group.is_enabled(level)));
        }
        println!("Http:{}", u8::from(Late::Http.is_enabled(level)));
        println!("early:{}", u8::from(log::log_enabled!(target: "early", other)));
        println!("log:{}", u8::from(log::log_enabled!(target: "lib::log", other)));
    }
    println!("event:{}", u8::from(tracing::enabled!(target: "lib::event", tracing::Level::ERROR)));
    println!("event:{}", u8::from(tracing::enabled!(target: "lib::event", tracing::Level::WARN)));
    println!("event:{}", u8::from(tracing::enabled!(target: "lib::event", tracing::Level::INFO)));
    println!("event:{}", u8::from(tracing::enabled!(target: "lib::event", tracing::Level::DEBUG)));
    println!("event:{}", u8::from(tracing::enabled!(target: "lib::event", tracing::Level::TRACE)));
    i!(Log::Shown, "this is printed");
    session.stop().expect("a trace");
}

#[test]
fn rust_log_limits_groups_and_targets() {
    if let Some(path) = std::env::var_os(ROLE) {
        return program(Path::new(&path));
    }
    for (variables, expected, is_printed) in [
        // Tcp and Shown, then Http, then the bridges.
        ([None, None], "Tcp:5 Shown:5 Http:5 early:5 log:5 event:5", true),
        ([Some("warn"), None], "Tcp:2 Shown:2 Http:2 early:2 log:2 event:2", false),
        ([Some("off"), None], "Tcp:0 Shown:0 Http:0 early:0 log:0 event:0", false),
        ([Some("lib=debug"), None], "Tcp:0 Shown:0 Http:0 early:0 log:4 event:4", false),
        (
            [Some("info,rust_log::Log=trace,rust_log::Late=error,lib::log=off,early=debug"), None],
            "Tcp:5 Shown:5 Http:1 early:4 log:0 event:3",
            true,
        ),
        (
            [Some("warn,Http=debug,event=trace"), None],
            "Tcp:2 Shown:2 Http:4 early:2 log:2 event:2",
            false,
        ),
        ([Some("warn"), Some("tcp=info")], "Tcp:3 Shown:2 Http:2 early:2 log:2 event:2", false),
        ([Some(""), None], "Tcp:5 Shown:5 Http:5 early:5 log:5 event:5", true),
    ] {
        let (output, levels) = run(variables);
        assert_eq!(levels, expected, "{variables:?}");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(text.contains("this is printed"), is_printed, "{variables:?}: {text}");
        assert!(!text.contains("left out"), "{variables:?}: {text}");
    }
}

#[test]
fn what_is_left_out_of_rust_log_is_reported_once() {
    let (output, levels) = run([Some("warn,[span{id=\"\u{1b}c\"}]=trace,app=lots/x"), None]);
    assert_eq!(levels, "Tcp:2 Shown:2 Http:2 early:2 log:2 event:2");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    let reports: Vec<_> = text.lines().filter(|line| line.starts_with("protolog: ")).collect();
    let expected = [
        "protolog: RUST_LOG: a pattern of texts is left out: `/x`",
        "protolog: RUST_LOG: a filter of spans or fields is left out: `[span{id=\\\"\\u001bc\\\"}]=trace`",
        "protolog: RUST_LOG: an unknown level is left out: `app=lots`",
    ];
    assert_eq!(reports, expected, "though the variable was read twice");
    assert_eq!(text.lines().filter(|line| line.starts_with("help: ")).count(), 3, "{text}");
}

/// Runs the program with the variables `RUST_LOG` and `PROTOLOG`. Returns its output, and the
/// number of enabled levels of each group.
fn run([rust_log, protolog]: [Option<&str>; 2]) -> (Output, String) {
    let dir = protolog_testkit::temp_dir();
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "rust_log_limits_groups_and_targets", "--nocapture", "-q"]);
    command.env_remove("RUST_LOG").env_remove("PROTOLOG").env(ROLE, dir.path().join("t.pftrace"));
    let named = [("RUST_LOG", rust_log), ("PROTOLOG", protolog)];
    command.envs(named.iter().filter_map(|(name, text)| Some((name, (*text)?))));
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    let count = |group: &str| {
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        let states: Vec<_> = lines.filter(|(name, _)| *name == group).collect();
        assert_eq!(states.len(), 5, "{group}: {text}");
        format!("{group}:{}", states.iter().filter(|(_, state)| *state == "1").count())
    };
    let levels = ["Tcp", "Shown", "Http", "early", "log", "event"].map(count).join(" ");
    (output, levels)
}
