//! Targets of the crate `log` with names of any characters: operators list, switch and record them.
//! In a program of its own, since it makes groups that stay.
#![cfg(feature = "log")]

mod common;

use common::record;
use protolog_control::{Error, Group, Program};
use protolog_core::FillPolicy;
use protolog_core::control::name::Quoted;
use protolog_core::control::protocol::{Request, TraceStart};
use protolog_core::control::switch;
use protolog_reader::Trace;
use protolog_rt::control::serve_in;
use protolog_rt::{Builder, Level, bridge};
use protolog_testkit::temp_dir_for_sockets;
use std::collections::BTreeMap;

const NAMES: [&str; 12] = [
    "my logger",
    "[Catalina].[localhost]",
    "a/b/c",
    "a=b,c;d#e",
    "say \"hi\"",
    "back\\slash",
    "two\nlines\r\tof it",
    "\u{1b}[31mred\u{202e}",
    "größe 日志",
    "*",
    " ",
    "",
];

#[test]
fn groups_of_any_name_are_listed_switched_and_recorded() {
    bridge::install_log().expect("the first logger");
    let all = record(Builder::enable_all);
    let call = |target: &str| log::info!(target: target, "called");
    let long = "x".repeat(10_000);
    NAMES.into_iter().chain([&*long]).for_each(call);
    let dir = temp_dir_for_sockets();
    let server = serve_in(dir.path().join("run")).expect("a server");
    let mut operator = Program::connect(server.path()).expect("a connection");

    let listed = operator.groups().expect("groups");
    let by_name = |name: &str| -> Option<&Group> { listed.iter().find(|it| it.name == name) };
    for name in NAMES {
        assert!(by_name(name).is_some(), "{name:?}");
    }
    // The line of such a name is no line of the protocol; the others are there nevertheless.
    assert!(by_name(&long).is_none());
    let sessions = operator.sessions().expect("sessions").expect("a list");
    for name in NAMES {
        assert_eq!(sessions[0].groups.get(name), Some(&0x3f), "{name:?}");
    }

    for (at, name) in NAMES.into_iter().enumerate() {
        let setting = format!("{}=text:error", Quoted(name));
        operator.request(&Request::Set(&setting)).expect("a setting");
        let groups = operator.groups().expect("groups");
        let words: BTreeMap<&str, u8> =
            groups.iter().map(|it| (&*it.name, switch::text_levels(it.word))).collect();
        for (other, name) in NAMES.into_iter().enumerate() {
            assert_eq!(words[name], if other <= at { 0x30 } else { 0 }, "{name:?}");
        }
    }

    let file = dir.path().join("trace.pftrace");
    let path = file.to_string_lossy();
    // The protocol has them in one word.
    let settings = NAMES[..9].iter().map(|name| format!("{}=warn", Quoted(name)));
    let settings = settings.collect::<Vec<_>>().join(";").replace(' ', "\\u{20}");
    let settings = format!("*=off;{settings}");
    let start_with = |settings| {
        let (fill_policy, buffer) = (FillPolicy::Stream, 0);
        Request::TraceStart(TraceStart { fill_policy, buffer, settings, file: &path })
    };
    // It would be all groups.
    let refused = operator.request(&start_with("*=off;\"*\"=warn")).map(|_| ());
    assert!(matches!(&refused, Err(Error::Refused { .. })), "{refused:?}");
    operator.request(&start_with(&settings)).expect("a trace");
    NAMES.into_iter().for_each(call);
    for target in NAMES {
        log::warn!(target: target, "called");
    }
    operator.request(&Request::TraceStop).expect("a trace");
    let log = Trace::open(&file).expect("a trace").read().expect("a log");
    let seen: Vec<_> = log
        .entries()
        .map(|entry| {
            let message = entry.message().expect("a message");
            let group = log.dictionary().group(message.group).expect("a group");
            (message.level, group.name.clone())
        })
        .collect();
    let expected: Vec<_> =
        NAMES[..9].iter().map(|it| (Some(Level::Warn), (*it).to_owned())).collect();
    assert_eq!(seen, expected);
    assert_eq!(all.stop().messages().len(), NAMES.len() * 3 + 1);
}
