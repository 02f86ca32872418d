//! Libraries with a runtime of their own in programs that fork and that end: which messages of
//! theirs are in which trace.

#[path = "common/plugins.rs"]
mod plugins;

use plugins::{Host, fixture, messages};
use protolog_reader::Trace;
use protolog_testkit::temp_dir_for_sockets;

/// The number of a forked child, which ended well.
fn child(answer: &str) -> u32 {
    let (pid, status) = answer.split_once(' ').expect("two numbers");
    assert_eq!(status, "0", "{answer}");
    pid.parse().expect("a number")
}

#[test]
fn a_library_goes_on_in_a_forked_child() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("host.pftrace");
    let mut host = Host::start(dir.path(), "");
    host.load(&fixture().plugin);
    host.record("start-following", &path);
    assert_eq!(host.ask("work ann"), "1");
    let first = child(&host.ask("fork bob"));
    let second = child(&host.ask("fork cid"));
    host.ask("log dan");
    assert_eq!(host.ask("work eve"), "1");
    assert_eq!(host.ask("stop"), "5 messages, 0 lost");
    assert_eq!(host.end(), "");
    let own = ["work for ann", "warning of ann", "host says dan", "work for eve", "warning of eve"];
    assert_eq!(messages(&path), own);
    for (pid, name) in [(first, "bob"), (second, "cid")] {
        let expected =
            ["work for", "warning of", "child says"].map(|text| format!("{text} {name}"));
        assert_eq!(messages(&dir.path().join(format!("host-{pid}.pftrace"))), expected);
    }
}

/// Handlers that are registered before any copy has its own run between those, with the locks held:
/// what they log is lost, and counted in the parent.
#[test]
fn handlers_of_a_library_log_at_forks() {
    for is_first in [true, false] {
        let dir = temp_dir_for_sockets();
        let path = dir.path().join("host.pftrace");
        let mut host = Host::start(dir.path(), "");
        host.load(&fixture().plugin);
        if is_first {
            assert_eq!(host.ask("log_at_forks"), "0");
        }
        host.record("start-following", &path);
        assert_eq!(host.ask("work ann"), "1");
        if !is_first {
            assert_eq!(host.ask("log_at_forks"), "0");
        }
        let pid = child(&host.ask("fork bob"));
        let stopped = host.ask("stop");
        let lines = host.end();
        let mut ours = vec!["work for ann", "warning of ann"];
        let mut theirs = vec!["work for bob", "warning of bob", "child says bob"];
        if is_first {
            assert_eq!(stopped, "2 messages, 2 lost");
            assert!(lines.contains("lacks 2 of 4 messages (2: logged inside"), "{lines}");
        } else {
            assert_eq!((&*stopped, &*lines), ("4 messages, 0 lost", ""));
            ours.extend(["before a fork", "in the parent"]);
            theirs.insert(0, "in the child");
        }
        assert_eq!(messages(&path), ours);
        assert_eq!(messages(&dir.path().join(format!("host-{pid}.pftrace"))), theirs);
    }
}

#[test]
fn spans_of_a_library_and_of_the_program_may_cross() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("host.pftrace");
    let mut host = Host::start(dir.path(), "");
    host.load(&fixture().plugin);
    assert_eq!((&*host.ask("host-subscribe"), &*host.ask("subscribe")), ("true", "1"));
    host.record("start", &path);
    // Begun in one order, and ended in the same.
    for [begin, end] in [["host-enter", "host-exit"], ["enter", "exit_span"]] {
        let other =
            if begin == "enter" { ["host-enter", "host-exit"] } else { ["enter", "exit_span"] };
        for command in [begin, other[0], end, other[1]] {
            host.ask(command);
        }
    }
    host.ask("stop");
    assert_eq!(host.end(), "");
    let log = Trace::open(&path).expect("open the trace").with_slices().read().expect("read it");
    let slices = log.slices().iter().map(|it| (&*it.name, it.end.is_some()));
    // The inner one is over with the outer one, as far as anybody can say.
    let expected = [("host", true), ("request", false), ("request", true), ("host", false)];
    assert_eq!(slices.collect::<Vec<_>>(), expected);
    assert_eq!(log.slices_without_begin(), 2);
}

#[test]
fn a_library_logs_until_the_process_ends() {
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("host.pftrace");
    let mut host = Host::start(dir.path(), "");
    host.load(&fixture().plugin);
    host.record("start", &path);
    assert_eq!(host.ask("work ann"), "1");
    assert_eq!(host.ask("log_at_end"), "0");
    assert_eq!(host.ask("leave"), "left");
    assert_eq!(host.end(), "");
    let expected = ["work for ann", "warning of ann", "a static destructor"];
    assert_eq!(messages(&path), expected);
}

#[test]
fn a_library_is_told_of_a_directory_that_the_program_can_t_take() {
    let dir = temp_dir_for_sockets();
    let mut host = Host::start(dir.path(), "");
    host.load(&fixture().plugin);
    assert_eq!(host.ask("listen_odd"), "1");
    assert!(!dir.path().join("operators").exists(), "it listens nowhere else");
    assert_eq!(host.end(), "");
}
