//! Times: those that are typed, of any day of a log; those far from its beginning; the time zone;
//! and numbers that are no decimal ones.

use crate::browser::Browser;
use crate::{description, lock, page};
use protolog_testkit::serde_json::{self, json};
use protolog_testkit::{TempDir, temp_dir};
use std::fmt::Write;
use std::fs;

/// Opens a trace whose wall clock is at `wall` nanoseconds a second after the boot, with messages
/// at these nanoseconds after the one before.
fn open(browser: &mut Browser, wall: u64, steps: impl IntoIterator<Item = u64>) -> TempDir {
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    let mut text = format!(
        "group(1, \"app::Net\", \"Net\") message(0x11, DEBUG, 1, \"flags %x of %s, %d\", \"net.rs:4\")\n\
         @9 snapshot(real={wall}, boot=1000000000)\n\
         @1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(4711, 4711, \"main\")\n\
         @1 needs string(1, \"1e5\")\n"
    );
    for (number, step) in steps.into_iter().enumerate() {
        writeln!(text, "@1 needs ts={step} log(0x11, {}, $1, {number})", 100_000 + number).unwrap();
    }
    fs::write(&trace, description::trace(&text)).unwrap();
    browser.open(&page(&dir, &trace));
    dir
}

/// Types a time. Returns the message that is chosen then, or what the page has against it.
fn go_to(browser: &mut Browser, text: &str) -> String {
    browser.press("g");
    browser.eval(&format!("document.getElementById('wanted-time').value = {text:?}; 1"));
    browser.press("Enter");
    let wrong = "document.getElementById('ask-time').open ? document.getElementById('wrong-time').textContent : ''";
    let wrong = browser.text(wrong);
    if !wrong.is_empty() {
        browser.press("Escape");
        return wrong;
    }
    browser.text("String(protolog.chosen)")
}

const MINUTE: u64 = 60_000_000_000;
/// 23:50 in UTC on 20 November 2026.
const TEN_TO_MIDNIGHT: u64 = 1_795_218_600_000_000_000;

#[test]
fn times_of_each_day_are_found() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    browser.set_zone("UTC");
    // A message each minute for half an hour, from a minute after 23:50.
    let _dir = open(&mut browser, TEN_TO_MIDNIGHT, vec![MINUTE; 30]);
    let zone = "document.getElementById('zone').textContent";
    assert_eq!(browser.text(zone), "UTC");
    for (text, expected) in [
        ("00:10", "19"),
        ("23:55", "4"),
        ("23:55:30", "5"),
        ("00:00:00.000000001", "10"),
        ("2026-11-20 23:52", "1"),
        ("11-21 00:05", "14"),
        ("2026-11-21T00:05", "14"),
        ("2026-11-21", "9"),
        ("121.5", "2"),
        ("121.000000000", "1"),
        ("24:00", "there is no such time: 24:00"),
        ("2026-02-30 10:00", "there is no such time: 2026-02-30 10:00"),
        ("yesterday", "not a time: yesterday"),
    ] {
        assert_eq!(go_to(&mut browser, text), expected, "{text}");
    }
    // Outside of the log, the nearer end is shown, and the page says what there is.
    let note = "document.getElementById('note').textContent";
    for (text, expected) in [("12:00", "29"), ("23:40", "0"), ("2026-11-22 08:00", "29")] {
        assert_eq!(go_to(&mut browser, text), expected, "{text}");
        assert_eq!(
            browser.text(note),
            "the log goes from 2026-11-20 23:51:00 to 2026-11-21 00:20:00"
        );
    }
    // Another time zone, of which the page says the name.
    browser.set_zone("Asia/Kolkata");
    let _dir = open(&mut browser, TEN_TO_MIDNIGHT, vec![MINUTE; 30]);
    assert_eq!(browser.text(zone), "UTC+5:30");
    let name = browser.text("document.getElementById('zone').title");
    assert!(name == "Asia/Kolkata" || name == "Asia/Calcutta", "{name}");
    assert_eq!(go_to(&mut browser, "05:25"), "4");
    let time = browser.text("document.querySelector('#detail dd').textContent");
    assert!(time.starts_with("2026-11-21 05:25:00.000000 UTC+5:30"), "{time}");
    // Clocks are put forward from 2 to 3 in the night of 28 March 2027.
    browser.set_zone("Europe/Berlin");
    let spring = 1_806_195_240_000_000_000;
    let _dir = open(&mut browser, spring, vec![MINUTE; 30]);
    assert_eq!(browser.text(zone), "UTC+1/+2");
    assert_eq!(go_to(&mut browser, "02:30"), "there is no such time: 02:30");
    assert_eq!(go_to(&mut browser, "03:00"), "5");
    browser.assert_clean();
}

#[test]
fn times_are_exact_months_after_the_first() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    browser.set_zone("UTC");
    let months = 200 * 24 * 60 * MINUTE + 123_456_789;
    let steps = [7, MINUTE, months, 1, 1, 0, months, 1];
    let dir = open(&mut browser, TEN_TO_MIDNIGHT, steps);
    let lines = crate::expected(&dir.path().join("app.pftrace"));
    let all = |browser: &mut Browser, of: &str| -> Vec<String> {
        let shown = format!("Array.from(protolog.filter.shown, (item) => {of})");
        serde_json::from_value(browser.eval(&shown)).unwrap()
    };
    let stamps: Vec<String> = lines.iter().map(|line| line["ts"].to_string()).collect();
    assert_eq!(all(&mut browser, "String(protolog.data.stampOf(item))"), stamps);
    let copied = all(&mut browser, "JSON.parse(protolog.jsonOf(item)).time");
    let walls: Vec<&str> = lines.iter().map(|line| line["time"].as_str().unwrap()).collect();
    assert_eq!(copied, walls);
    // Each has a name of its own in the address, and differences are exact.
    let found = all(&mut browser, "String(protolog.data.itemOf(protolog.data.key(item)))");
    assert_eq!(found, ["0", "1", "2", "3", "4", "5", "6", "7"]);
    browser.press("Home");
    let deltas =
        "[...document.querySelectorAll('#rows .row .delta')].map((cell) => cell.textContent)";
    let deltas = browser.eval(deltas);
    assert_eq!(json!([deltas[3], deltas[4], deltas[5]]), json!(["+1 ns", "+1 ns", "+0 ns"]));
    let stamp: u64 = stamps[4].parse().unwrap();
    let typed = format!("{}.{:09}", stamp / 1_000_000_000, stamp % 1_000_000_000);
    assert_eq!(go_to(&mut browser, &typed), "4");
    browser.assert_clean();
}

/// `%x` prints 100,000 as `186a0`, and 485 as `1e5`; a text `1e5` is no number at all.
#[test]
fn numbers_are_those_that_their_conversions_print() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    let text = "group(1, \"app::Net\", \"Net\") message(0x11, DEBUG, 1, \"flags %x of %s, %o, %e\", \"net.rs:4\")\n\
        @1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(4711, 4711, \"main\")\n\
        @1 needs string(1, \"1e5\") string(2, \"12\")\n\
        @1 needs ts=1000 log(0x11, 485, $1, 8, 1e20)\n@1 needs ts=1000 log(0x11, 100000, $2, 64, 2.5)\n";
    fs::write(&trace, description::trace(text)).unwrap();
    browser.open(&page(&dir, &trace));
    browser.press("Home");
    browser.settle();
    let notes = "[...document.querySelectorAll('#detail .plot small')].map((note) => note.textContent.split(',')[0])";
    assert_eq!(
        browser.eval(notes),
        json!(["1e5 to 186a0", "10 to 100", "2.5 to 100000000000000000000"])
    );
    browser.press("End");
    browser.settle();
    let notes = browser.eval(notes);
    assert_eq!(notes[1], "always 12");
    browser.assert_clean();
}

/// Times of a damaged trace may be any numbers.
#[test]
fn any_times_are_shown_and_drawn() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let far = [1_u64 << 62, i64::MAX as u64, 1 << 63, u64::MAX, 0];
    for (at, time) in far.into_iter().enumerate() {
        let trace = dir.path().join("described.pftrace");
        let text = format!(
            "group(1, \"app::Net\", \"Net\") message(0x11, DEBUG, 1, \"sent %d\", \"a.rs:1\")\n\
            @9 snapshot(real=1795199221000000000, boot=1000000000)\n\
            @1 cleared info(100, 101, \"main\") ts=1000000000 log(0x11, 7)\n@1 ts={time} begin(\"span\", \"app\")\n\
            @1 ts={time} log(0x11, 8)\n@1 ts={} end()\n",
            far[(at + 1) % far.len()]
        );
        fs::write(&trace, description::trace(&text)).unwrap();
        let shown = dir.path().join("page.html");
        crate::tool(&["view", "-o", shown.to_str().unwrap()], &trace);
        browser.open(&format!("file://{}", shown.display()));
        assert_eq!(browser.eval("protolog.data.n"), 2, "{time}");
        let state = "JSON.stringify([...protolog.data.time, ...protolog.overview.range()].map(Number.isFinite))";
        assert_eq!(browser.text(state), "[true,true,true,true]", "{time}");
        assert_eq!(browser.eval("protolog.data.time[0] <= protolog.data.time[1]"), true, "{time}");
        let rows = "document.querySelectorAll('#rows .row:not([hidden])').length";
        assert_eq!(browser.eval(rows), 2, "{time}");
        // Within a part of it, too.
        for key in ["+", "+", "ArrowRight", "-", "0", "End", "Home"] {
            browser.press(key);
            browser.settle();
        }
        browser.wait_for("protolog.filter.shown.length === 2");
    }
    browser.assert_clean();
}
