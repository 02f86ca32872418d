//! Identical messages are counted only where the one that they repeat is in the log of each session
//! that counts them, with the text that it had.

mod common;

use common::lock_sessions;
use protolog_reader::{Item, Log, Rendering, Trace};
use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{Builder, Level, ProtoLogGroup, Session, w};
use protolog_testkit::temp_dir;
use std::path::Path;

#[derive(ProtoLogGroup)]
enum Pitfalls {
    Net,
    #[allow(dead_code, reason = "a session names it")]
    Disk,
}

fn read(path: &Path) -> Log {
    Trace::open(path).expect("a trace").read().expect("a log")
}

fn builder(path: &Path) -> Builder {
    Session::builder().file(path).enable_all().report_losses(false)
}

fn shown(path: &Path) -> Vec<String> {
    let log = read(path);
    let line = |item: Item<'_>| match item {
        Item::Entry(entry) => entry.values().text(Rendering::Full),
        Item::Loss(loss) => log.describe(loss),
        _ => String::new(),
    };
    log.items().map(line).collect()
}

fn no_answer(from: u32) {
    for _ in 0..10 {
        w!(Pitfalls::Net, "no answer from %d", from);
    }
}

#[test]
fn a_ring_has_no_repeats_that_another_session_counted() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let [ring, all, other] = ["ring", "all", "other"].map(|name| dir.path().join(name));
    // It has the group only by the rule.
    let first = Session::builder().file(&ring).group("Pitfalls::Disk", Level::Verbose);
    let first = first.report_losses(false).keep_newest().site("Pitfalls::Net", "on,repeat");
    let first = first.start().expect("start");
    let second = builder(&all).start().expect("start");
    no_answer(1);
    let third = Session::builder().file(&other).site("Pitfalls::Net", "default,repeat");
    third.start().expect("start").stop().expect("stop");
    no_answer(2);
    no_answer(3);
    first.stop().expect("stop");
    second.stop().expect("stop");
    let [one, two, three] = [1, 2, 3].map(|from| {
        let text = format!("no answer from {from}");
        [text.clone(), format!("repeated 9 times: {text}")]
    });
    assert_eq!(shown(&ring), one);
    assert_eq!(shown(&all), [one, two, three].concat());
}

/// It is in the trace as a text of its own, with another id.
#[test]
fn a_rendered_message_is_not_repeated() {
    let _lock = lock_sessions();
    let dir = temp_dir();
    let path = dir.path().join("rendered.pftrace");
    let session = builder(&path).repeat("Pitfalls::Net").start().expect("start");
    let log = |value| dynamic::log(&Pitfalls::Net, Level::Warn, "value %s", &[value]);
    log(Arg::Str("a"));
    for _ in 0..3 {
        log(Arg::Int(7));
    }
    session.stop().expect("stop");
    assert_eq!(shown(&path), ["value a", "value 7", "value 7", "value 7"]);
}
