//! Any text as a line of the control protocol, as settings, and as the name of a group: what is
//! understood is understood again in the same way when it is written down.
//!
//! Covers what the property tests of `protolog-control` draw from words alone: numbers at their
//! limits, nesting of sections and comments, characters of several bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protolog_core::control::matches_group;
use protolog_core::control::protocol::{Reply, Request};
use protolog_core::control::setting::Settings;

fuzz_target!(|text: &str| {
    for line in text.lines().filter(|line| !line.contains(char::is_control)) {
        if let Some(request) = Request::parse(line) {
            assert_eq!(Request::parse(&request.to_string()), Some(request));
        }
        if let Some(reply) = Reply::parse(line) {
            assert_eq!(Reply::parse(&reply.to_string()), Some(reply));
        }
        matches_group(line, "app::AppLog::Net");
        matches_group("Net", line);
    }
    for item in Settings::new(text) {
        match item {
            Ok(item) => {
                let again = format!("{}={}", item.group, item.setting);
                let read = Settings::new(&again).next().expect("an item").expect("a right one");
                assert_eq!((read.group, read.setting), (item.group, item.setting));
            }
            Err(error) => assert!(!error.to_string().contains('\n')),
        }
    }
});
