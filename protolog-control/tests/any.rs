//! Arbitrary bytes at both ends of the socket, and arbitrary settings: nothing panics, waits
//! forever or exceeds its limits, and both ends agree on the meaning of every line.
//!
//! The fuzz targets `control` and `control_socket` test the same for longer.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use protolog_control::{Error, Group, Program};
use protolog_core::control::name::{NameWord, Quoted, characters};
use protolog_core::control::protocol::{Reply, Request};
use protolog_core::control::setting::{Setting, Settings};
use protolog_core::control::switch::{self, SwitchWord as _};
use protolog_core::control::{Closeness, closeness, levels_at_least, matches_group, minimum_level};
use protolog_core::escape::controls_output;
use protolog_rt::control::serve_in;
use protolog_testkit::temp_dir_for_sockets;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Lines, some almost valid.
fn line() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "protolog|groups|pages|pages-file|/proc/[0-9]{1,3}/fd/[0-9]{1,3}|set|trace-start|trace-stop|trace-status|trigger|stats|sessions",
        "group|session|lost|tracing|levels|problem|help|ok|error",
        "[0-9a-f]{1,9}",
        "-|y|n|stream|ring-buffer|discard",
        "[A-Za-z:*=,;.]{0,12}",
        "\\PC{0,6}",
    ];
    prop::collection::vec(word, 0..9).prop_map(|words| words.join(" "))
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let lines = prop::collection::vec(line(), 0..6).prop_map(|lines| lines.join("\n").into_bytes());
    prop_oneof![lines, prop::collection::vec(any::<u8>(), 0..300)]
}

proptest! {
    #[test]
    fn lines_mean_the_same_at_both_ends(line in line()) {
        if let Some(request) = Request::parse(&line) {
            let again = request.to_string();
            prop_assert_eq!(Request::parse(&again), Some(request));
        }
        if let Some(reply) = Reply::parse(&line) {
            let again = reply.to_string();
            prop_assert_eq!(Reply::parse(&again), Some(reply));
        }
    }

    #[test]
    fn settings_mean_the_same_when_they_are_displayed(text in "(\\PC|[a-z*]+=(debug|text|off|notrace|text:w|notext|,)+|\"(\\PC|[;=\\\\u{}]){0,4}\"=info|;|\n|\\[[a-z]*\\]){0,12}") {
        for item in Settings::new(&text) {
            match item {
                Ok(item) => {
                    let again = format!("{}={}", item.group, item.setting);
                    let read: Vec<_> = Settings::new(&again).collect();
                    prop_assert_eq!(read.len(), 1, "{}", again);
                    let read = read[0].map_err(|error| TestCaseError::fail(error.to_string()))?;
                    prop_assert_eq!((read.group, read.setting), (item.group, item.setting), "{}", again);
                }
                Err(error) => prop_assert!(!error.help().is_empty() && !error.to_string().contains('\n')),
            }
        }
    }

    #[test]
    fn any_name_can_be_written_and_read(name in "(\\PC|[\"\\\\\n\u{85}\u{202e} *;=#\\[\\]]){0,8}", head in "(\\PC{1,3}(::|[.]|))?") {
        let (form, word) = (Quoted(&name).to_string(), NameWord(&name).to_string());
        for written in [&form, &word] {
            prop_assert!(!written.contains(controls_output), "{}", written);
            prop_assert_eq!(&characters(written).collect::<String>(), &name, "{}", written);
            prop_assert!(matches_group(written, &name), "{}", written);
        }
        prop_assert!(!word.is_empty() && !word.contains(' '), "{}", word);
        let is_end = head.is_empty() || !name.is_empty() && (head.ends_with("::") || head.ends_with('.'));
        let full = format!("{head}{name}");
        prop_assert_eq!(closeness(&form, &full) >= Some(Closeness::End), is_end, "{}", full);
        let text = format!("{form}=debug");
        let items: Vec<_> = Settings::new(&text).collect();
        prop_assert!(matches!(items[..], [Ok(item)] if item.group == form), "{}", text);
    }

    #[test]
    fn patterns_match_whole_segments(full in "[a-z]{1,3}(::[a-z]{1,3}){0,3}", pattern in "[a-zA-Z:*]{0,6}") {
        let segments: Vec<&str> = full.split("::").collect();
        let expected = pattern == "*"
            || (0..segments.len()).any(|from| segments[from..].join("::").eq_ignore_ascii_case(&pattern))
            || (1..segments.len()).any(|to| segments[..to].join("::").eq_ignore_ascii_case(&pattern));
        prop_assert_eq!(matches_group(&pattern, &full), expected);
    }

    #[test]
    fn words_are_consistent_from_any_bits(start: u32, changes in prop::collection::vec((0..3, any::<u8>()), 1..8)) {
        let word = AtomicU32::new(start);
        switch::set_session_levels(&word, 0);
        let (mut wanted, mut allowed, mut printed) = (0, switch::allowed_levels(word.load_word()), switch::text_levels(word.load_word()));
        for (what, levels) in changes {
            let all = levels & 0x3f;
            match what {
                0 => { switch::set_session_levels(&word, levels); wanted = all }
                1 => { switch::set_allowed_levels(&word, levels); allowed = all }
                _ => { switch::set_text_levels(&word, levels); printed = all }
            }
            let now = word.load_word();
            prop_assert_eq!((switch::session_levels(now), switch::allowed_levels(now), switch::text_levels(now)), (wanted, allowed, printed));
            prop_assert_eq!(now & switch::TRACE_BYTE, u32::from(wanted & allowed));
        }
    }

    #[test]
    fn sets_of_levels_are_those_from_their_minimum(levels: u8) {
        prop_assert_eq!(minimum_level(levels).is_some(), levels != 0 && levels_at_least(minimum_level(levels)) == levels);
    }
}

/// A set of levels with gaps has no words, so its least severe level is shown.
#[test]
fn sets_with_gaps_are_shown_by_their_minimum_level() {
    let setting = Setting { trace: Some(0b10_0100), text: None };
    assert_eq!(setting.to_string(), "info");
}

/// Tests a property that takes some time, with fewer cases.
fn try_all<S: Strategy>(what: S, property: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = ProptestConfig { cases: 128, ..ProptestConfig::with_source_file(file!()) };
    TestRunner::new(config).run(&what, property).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn programs_accept_any_request() {
    let dir = temp_dir_for_sockets();
    let server = serve_in(dir.path().join("run")).expect("listen");
    try_all((bytes(), any::<bool>()), |(request, greeted)| {
        let mut stream = UnixStream::connect(server.path()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        if greeted {
            stream.write_all(b"protolog 1\n").unwrap();
        }
        // The server may have closed the connection already.
        let _ = stream.write_all(&request);
        let _ = stream.write_all(b"\n");
        let _ = stream.shutdown(Shutdown::Write);
        let mut reply = Vec::new();
        // A connection that is closed with unread requests is reset.
        if stream.read_to_end(&mut reply).is_ok() {
            let text = String::from_utf8(reply).unwrap();
            prop_assert!(text.lines().all(|line| Reply::parse(line).is_some()), "{}", text);
            prop_assert!(text.ends_with('\n'));
        }
        let mut operator = Program::connect(server.path()).unwrap();
        operator.groups().unwrap();
        Ok(())
    });
}

#[test]
fn operators_accept_any_reply() {
    let dir = temp_dir_for_sockets();
    try_all((bytes(), any::<bool>()), |(reply, greeted)| {
        let path = dir.path().join("program.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let program = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            if greeted {
                let _ = stream.write_all(b"protolog 1 1 any\nok\n");
            }
            let _ = stream.write_all(&reply);
        });
        // The process disconnects, so the operator never waits for the timeout.
        let waited = |error: &Error| matches!(error, Error::Connection(error) if is_timeout(error));
        match Program::connect(&path) {
            Ok(mut operator) => {
                match operator.groups() {
                    Ok(groups) => {
                        let clean = |group: &Group| {
                            !group.name.contains(controls_output)
                                && !group.tag.contains(controls_output)
                        };
                        prop_assert!(groups.iter().all(clean));
                    }
                    Err(error) => prop_assert!(!waited(&error)),
                }
                match operator.pages() {
                    Ok(_) => return Err(TestCaseError::fail("no memory was sent")),
                    Err(error) => prop_assert!(!waited(&error)),
                }
            }
            Err(error) => prop_assert!(!waited(&error)),
        }
        program.join().unwrap();
        std::fs::remove_file(&path).unwrap();
        Ok(())
    });
}

fn is_timeout(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{TimedOut, WouldBlock};
    matches!(error.kind(), TimedOut | WouldBlock)
}
