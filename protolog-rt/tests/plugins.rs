//! Libraries with a runtime of their own, loaded by a program that has one, too, or by one that has
//! none. The test builds programs and libraries outside this workspace; the programs load them with
//! the crate `libloading`.

#[path = "common/plugins.rs"]
mod plugins;

use plugins::{Host, fixture, messages};
use protolog_control::Program;
use protolog_core::control::protocol::{Reply, Request};
use protolog_core::control::switch;
use protolog_reader::{Rendering, Trace};
use protolog_testkit::{run, temp_dir_for_sockets, trace_stats};
use std::fs;
use std::process::Command;

#[test]
fn messages_of_a_library_are_in_the_trace_of_the_program() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("host.pftrace");
    let mut host = Host::start(dir.path(), "");
    host.load(&fixture().plugin);
    assert_eq!(host.ask("work nobody"), "0", "no session");
    host.record("start", &path);
    host.ask("log one");
    assert_eq!(host.ask("work ann"), "1");
    host.ask("log two");
    host.ask("kinds ü");
    assert_eq!(host.ask("thread bob"), "1");
    let stopped = host.ask("stop");
    assert_eq!(host.ask("work late"), "0", "the session is over");
    assert_eq!(host.end(), "");
    let long = "ü".repeat(300);
    let expected = [
        "host says one",
        "work for ann",
        "warning of ann",
        "host says two",
        "-5 18446744073709551615 ff 2.500000 true ü <ü>",
        "no arguments",
        "dynamic ü -1",
        &format!("long {long}"),
        "thread of bob",
    ];
    assert_eq!(messages(&path), expected);
    assert_eq!(stopped, "9 messages, 0 lost");
}

#[test]
fn a_library_that_is_loaded_later_joins_a_session() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("host.pftrace");
    let mut host = Host::start(dir.path(), "");
    host.record("start", &path);
    host.load(&fixture().plugin);
    assert_eq!(host.ask("work ann"), "1");
    host.ask("many");
    assert_eq!(host.ask("stop"), "4002 messages, 0 lost");
    assert_eq!(host.end(), "");
    assert_eq!(messages(&path).len(), 4002);
}

#[test]
fn the_program_s_session_chooses_the_levels_of_the_library_s_groups() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("host.pftrace");
    let mut host = Host::start(dir.path(), "");
    host.load(&fixture().plugin);
    host.record("start-warn", &path);
    assert_eq!(host.ask("work ann"), "0", "debug is off");
    assert_eq!(host.ask("stop"), "1 messages, 0 lost");
    assert_eq!(host.end(), "");
    assert_eq!(messages(&path), ["warning of ann"]);
}

#[test]
fn a_session_of_the_library_has_its_messages_too() {
    let dir = temp_dir_for_sockets();
    let [host_path, own] = ["host.pftrace", "own.pftrace"].map(|name| dir.path().join(name));
    let mut host = Host::start(dir.path(), "");
    host.load(&fixture().plugin);
    host.record("start-warn", &host_path);
    assert_eq!(host.ask("work ann"), "0");
    assert_eq!(host.ask(&format!("start_own {}", own.display())), "0");
    assert_eq!(host.ask("work bob"), "1");
    assert_eq!(host.ask("stop_own"), "2");
    assert_eq!(host.ask("work cid"), "0");
    assert_eq!(host.ask("stop"), "3 messages, 0 lost");
    assert_eq!(host.end(), "");
    assert_eq!(messages(&host_path), ["warning of ann", "warning of bob", "warning of cid"]);
    assert_eq!(messages(&own), ["work for bob", "warning of bob"]);
}

#[test]
fn stack_traces_and_spans_of_a_library_are_in_the_trace() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("host.pftrace");
    let mut host = Host::start(dir.path(), "");
    host.load(&fixture().plugin);
    host.record("start-stacks", &path);
    host.ask("error ann");
    host.ask("spans");
    host.ask("stop");
    assert_eq!(host.end(), "");
    let log = Trace::open(&path).expect("open the trace").read().expect("read the trace");
    let of = |text: &str| log.entries().find(|it| it.values().text(Rendering::Bare) == text);
    let stack = of("error of ann").expect("the message").stack_trace().expect("its stack");
    assert!(
        stack.contains("libplugin_with_runtime.so") && stack.contains("plugin-host"),
        "{stack}"
    );
    let within = of("within bytes=7").expect("the event");
    assert_eq!(format!("{:?}", within.values().fields()), r#"[("bytes", Int(7))]"#);
    let bytes = fs::read(&path).expect("read the trace");
    assert!(bytes.windows(7).any(|name| name == b"request"), "the span");
    assert_eq!(trace_stats(&path).map(|stats| stats.to_string()).unwrap_or_default(), "");
}

/// `tracing` holds a lock while it asks a new subscriber, and asks again on each change.
#[test]
fn a_library_with_settings_of_its_own_gets_a_subscriber() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("host.pftrace");
    let mut host = Host::start(dir.path(), "plugin_with_runtime=warn,text:verbose");
    host.load(&fixture().plugin);
    assert_eq!(host.ask("listen"), "1");
    assert_eq!(host.ask("subscribe"), "1");
    host.record("start", &path);
    host.ask("event");
    host.ask("log one");
    assert_eq!(host.ask("stop"), "1 messages, 0 lost");
    assert!(host.end().ends_with(": an event\n"));
    assert_eq!(messages(&path), ["host says one"]);
}

#[test]
fn settings_of_a_library_are_those_of_all_its_groups() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("host.pftrace");
    let mut host = Host::start(dir.path(), "error,notext");
    host.load(&fixture().plugin);
    assert_eq!(host.ask("listen"), "1");
    host.record("start", &path);
    assert_eq!(host.ask("work ann"), "0");
    assert_eq!(host.ask("shown bob"), "0");
    assert_eq!(host.ask("stop"), "0 messages, 0 lost");
    assert_eq!(host.end(), "");
}

#[test]
fn spans_of_a_library_are_within_those_of_the_program() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("host.pftrace");
    let mut host = Host::start(dir.path(), "");
    host.load(&fixture().plugin);
    assert_eq!((&*host.ask("host-subscribe"), &*host.ask("subscribe")), ("true", "1"));
    host.record("start", &path);
    host.ask("host-enter");
    for _ in 0..2 {
        host.ask("enter");
        host.ask("exit_span");
    }
    host.ask("host-exit");
    host.ask("stop");
    assert_eq!(host.end(), "");
    let log = Trace::open(&path).expect("open the trace").with_slices().read().expect("read it");
    let slices = log.slices().iter().map(|it| (&*it.name, it.depth, it.end.is_some()));
    let expected = [("host", 0, true), ("request", 1, true), ("request", 1, true)];
    assert_eq!(slices.collect::<Vec<_>>(), expected);
    assert_eq!(log.slices_without_begin(), 0);
}

#[test]
fn a_span_of_a_library_ends_though_it_is_switched_off_meanwhile() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("host.pftrace");
    let mut host = Host::start(dir.path(), "");
    host.load(&fixture().plugin);
    assert_eq!(host.ask("init"), "Ok(())");
    assert_eq!(host.ask("subscribe"), "1");
    let socket = fs::read_dir(dir.path().join("operators")).expect("sockets").next();
    let socket = socket.expect("a socket").expect("its name").path();
    let mut operator = Program::connect(&socket).expect("connect");
    host.record("start", &path);
    host.ask("enter");
    let off = Request::Set("plugin_with_runtime=warn");
    operator.request(&off).expect("the program takes it");
    host.ask("event");
    host.ask("exit_span");
    host.ask("stop");
    assert_eq!(host.end(), "");
    let log = Trace::open(&path).expect("open the trace").with_slices().read().expect("read it");
    assert_eq!(log.entries().count(), 0);
    let slices = log.slices().iter().map(|slice| (&*slice.name, slice.end.is_some()));
    assert_eq!(slices.collect::<Vec<_>>(), [("request", true)]);
    assert_eq!(log.slices_without_begin(), 0);
}

#[test]
fn operators_of_the_program_switch_the_groups_of_the_library() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("host.pftrace");
    let mut host = Host::start(dir.path(), "");
    host.load(&fixture().plugin);
    // The program listens, and once, whoever asks for it.
    assert_eq!(host.ask("listen"), "1");
    assert_eq!(host.ask("init"), "Ok(())");
    let sockets: Vec<_> = fs::read_dir(dir.path().join("operators")).expect("sockets").collect();
    let [Ok(socket)] = sockets.as_slice() else { panic!("{sockets:?}") };
    let mut operator = Program::connect(&socket.path()).expect("connect");
    host.record("start", &path);
    assert_eq!(host.ask("work ann"), "1");
    let group = |operator: &mut Program, name: &str| {
        let groups = operator.groups().expect("groups");
        let mut of_name = groups.into_iter().filter(|group| group.name.ends_with(name));
        let group = of_name.next().expect("the group");
        assert!(of_name.next().is_none(), "it is listed once");
        group
    };
    let work = group(&mut operator, "PluginLog::Work");
    assert_eq!((work.page, switch::trace_levels(work.word), work.compiled), (None, 0x3f, true));
    assert_eq!(switch::text_levels(group(&mut operator, "PluginLog::Shown").word), 0x3f);
    assert!(!group(&mut operator, "PluginLog::Off").compiled);
    let set = |operator: &mut Program, setting| {
        operator.request(&Request::Set(setting)).expect("the program takes it");
    };
    set(&mut operator, "plugin_with_runtime::PluginLog::Work=warn");
    assert_eq!(host.ask("work bob"), "0");
    set(&mut operator, "plugin_with_runtime::PluginLog::Work=verbose,text:warn");
    assert_eq!(host.ask("work cid"), "1");
    // And the other way round.
    assert_eq!(switch::text_levels(group(&mut operator, "PluginLog::Work").word), 0b11_1000);
    host.ask("print off");
    assert_eq!(switch::text_levels(group(&mut operator, "PluginLog::Work").word), 0);
    assert_eq!(host.ask("shown dan"), "1");
    let sessions = operator.sessions().expect("sessions").expect("a list");
    assert!(sessions[0].groups.contains_key("plugin_with_runtime::PluginLog::Work"));
    assert_eq!(host.ask("stop"), "6 messages, 0 lost");
    let text = host.end();
    let lines: Vec<_> = text.lines().map(|line| line.rsplit_once(" : ").map(|it| it.1)).collect();
    assert_eq!(lines, [Some("warning of cid"), Some("shown dan")], "{text}");
    let expected =
        ["work for ann", "warning of ann", "warning of bob", "work for cid", "warning of cid"];
    assert_eq!(messages(&path), [&expected[..], &["shown dan"]].concat());
}

#[test]
fn a_library_that_has_joined_is_not_unloaded() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("host.pftrace");
    let mut host = Host::start(dir.path(), "");
    host.load(&fixture().plugin);
    host.record("start", &path);
    host.ask("work ann");
    assert_eq!(host.ask("unload"), "stays");
    host.ask("log between");
    host.load(&fixture().plugin);
    host.ask("work bob");
    assert_eq!(host.ask("unload"), "stays");
    assert_eq!(host.ask("stop"), "5 messages, 0 lost");
    assert_eq!(host.end(), "");
    let expected =
        ["work for ann", "warning of ann", "host says between", "work for bob", "warning of bob"];
    assert_eq!(messages(&path), expected);
}

/// The program tells it of changes.
#[test]
fn a_library_of_which_only_targets_are_known_is_not_unloaded() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("host.pftrace");
    let mut host = Host::start(dir.path(), "");
    host.load(&fixture().plugin);
    assert_eq!(host.ask("elsewhere subscribe"), "1");
    assert_eq!(host.ask("unload"), "stays");
    host.record("start", &path);
    assert_eq!(host.ask("stop"), "0 messages, 0 lost");
    assert_eq!(host.end(), "");
}

#[test]
fn a_library_that_has_not_logged_is_unloaded() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("host.pftrace");
    let mut host = Host::start(dir.path(), "");
    host.load(&fixture().plugin);
    assert_eq!(host.ask("unload"), "is gone");
    host.record("start", &path);
    host.ask("log after");
    host.load(&fixture().plugin);
    host.ask("work ann");
    assert_eq!(host.ask("stop"), "3 messages, 0 lost");
    assert_eq!(host.end(), "");
    assert_eq!(messages(&path), ["host says after", "work for ann", "warning of ann"]);
}

#[test]
fn a_library_of_another_version_says_that_it_stays_apart() {
    let dir = temp_dir_for_sockets();
    let [path, own] = ["host.pftrace", "own.pftrace"].map(|name| dir.path().join(name));
    let mut host = Host::start(dir.path(), "");
    assert_eq!(host.ask("init"), "Ok(())");
    host.load(&fixture().other);
    host.record("start", &path);
    assert_eq!(host.ask("work ann"), "0", "no session of its own");
    let socket = fs::read_dir(dir.path().join("operators")).expect("sockets").next();
    let socket = socket.expect("a socket").expect("its name").path();
    let mut operator = Program::connect(&socket).expect("connect");
    let groups = operator.groups().expect("groups");
    assert!(groups.iter().all(|group| !group.name.contains("Plugin")), "{groups:?}");
    let lines = operator.request(&Request::Groups).expect("groups");
    let problems: Vec<_> = lines.iter().filter_map(|line| Reply::parse(line)).collect();
    let is_problem = |reply: &&Reply<'_>| matches!(reply, Reply::Problem(text) if text.contains("libplugin_with_runtime.so"));
    assert_eq!(problems.iter().filter(is_problem).count(), 1, "{problems:?}");
    // It has sessions of its own.
    assert_eq!(host.ask(&format!("start_own {}", own.display())), "0");
    assert_eq!(host.ask("work bob"), "1");
    assert_eq!(host.ask("stop_own"), "2");
    host.ask("log only");
    assert_eq!(host.ask("stop"), "1 messages, 0 lost");
    let text = host.end();
    let first = text.lines().next().unwrap_or_default();
    assert!(first.contains("libplugin_with_runtime.so` has a runtime of its own"), "{text}");
    assert_eq!(text.lines().count(), 2, "once, with a line of help: {text}");
    assert_eq!(messages(&path), ["host says only"]);
    assert_eq!(messages(&own), ["work for bob", "warning of bob"]);
}

#[test]
fn libraries_of_a_program_without_the_runtime_share_the_first_one_s() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("first.pftrace");
    let second = dir.path().join("libsecond.so");
    fs::copy(&fixture().plugin, &second).expect("copy the library");
    let mut command = Command::new(&fixture().bare);
    let output = run(command.arg(&fixture().plugin).arg(&second).arg(&path));
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("6\n", ""));
    let expected = ["first", "second", "again"];
    let expected = expected.map(|who| [format!("work for {who}"), format!("warning of {who}")]);
    assert_eq!(messages(&path), expected.concat());
}
