//! Small things that make the page plain to see: states, names, and ways back.

use crate::browser::Browser;
use crate::served::Served;
use crate::{AppLog, description, lock, log_a_thousand, page, record};
use protolog_rt::{Session, i};
use protolog_testkit::serde_json::{self, json};
use protolog_testkit::temp_dir;
use std::fmt::Write;
use std::fs;

/// The width and height of an element in whole pixels; 0 if it is not shown.
fn size(browser: &mut Browser, selector: &str) -> [u32; 2] {
    let of = format!(
        "(({{ width, height }}) => [Math.round(width), Math.round(height)])(document.querySelector({selector:?}).getBoundingClientRect())"
    );
    serde_json::from_value(browser.eval(&of)).unwrap()
}

#[test]
fn a_log_that_grows_shows_its_state() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    let session = Session::builder().file(&trace).enable_all().start().unwrap();
    log_a_thousand();
    session.flush().unwrap();
    let served = Served::start(&trace);
    browser.open(&served.url);
    // What came a moment ago is what one looks for.
    let button = "document.getElementById('live').textContent";
    let age = "document.getElementById('age').textContent";
    assert_eq!(browser.text(button), "Following");
    assert!(
        browser.text("document.getElementById('rows').textContent").contains("can't write wal")
    );
    assert_eq!(browser.eval("protolog.list.top === protolog.list.last"), true);
    let text = browser.text(age);
    assert!(text.contains("/s, last message ") || text.starts_with("last message "), "{text}");
    browser.wait_for(&format!("/^last message 1[0-9] s ago$/.test({age})"));
    i!(AppLog::Net, "once %s", "more");
    session.flush().unwrap();
    browser.wait_for("protolog.data.n === 1001");
    browser.wait_for(&format!("/^0.1\\/s, last message (now|[0-9] s ago)$/.test({age})"));
    // A look elsewhere ends it, visibly.
    browser.press("Home");
    assert_eq!(browser.text(button), "Follow");
    browser.click("#live");
    assert_eq!(browser.text(button), "Following");
    session.stop().unwrap();
    // The page asks each second, and the browser notes where nobody answers.
    browser.go_to("about:blank");
    drop(served);
    // A log of yesterday begins at its beginning.
    let old = dir.path().join("old.pftrace");
    let mut text = "group(1, \"app::Net\", \"Net\") message(0x11, DEBUG, 1, \"sent %d\", \"net.rs:4\")\n\
        @9 snapshot(real=1600000000000000000, boot=1000000000)\n\
        @1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(4711, 4711, \"main\")\n".to_owned();
    (0..200).for_each(|number| writeln!(text, "@1 needs ts=1000 log(0x11, {number})").unwrap());
    fs::write(&old, description::trace(&text)).unwrap();
    let served = Served::start(&old);
    browser.open(&served.url);
    assert_eq!(browser.eval("[protolog.follows, protolog.list.top]"), json!([false, 0]));
    assert!(
        browser.text(age).starts_with("last message ") && browser.text(age).ends_with(" d ago")
    );
    // A page in a file follows nothing.
    browser.open(&page(&dir, &old));
    assert_eq!(size(&mut browser, "#age"), [0, 0]);
    browser.assert_clean();
}

#[test]
fn choices_are_made_alone_and_inverted() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    browser.open(&page(&dir, &record(&dir, log_a_thousand)));
    let shown = "protolog.filter.shown.length";
    let press = |browser: &mut Browser, choice: &str| {
        // They are there for the pointer over the line, and for the keyboard in it.
        browser.eval(&format!(
            "document.querySelector('#side input[data-choice=\"{}\"]').focus()",
            choice.rsplit_once(':').unwrap().0
        ));
        browser.click(&format!("#side button[data-choice='{choice}']"));
    };
    press(&mut browser, "levels:4:only");
    browser.wait_for(&format!("{shown} === 10"));
    press(&mut browser, "levels:4:not");
    browser.wait_for(&format!("{shown} === 990"));
    press(&mut browser, "levels:1:only");
    browser.wait_for(&format!("{shown} === 500"));
    browser.press("x");
    browser.wait_for(&format!("{shown} === 1000"));
    // Groups without what all their names begin with, which the hint has.
    let label = "document.querySelector('#side [data-choice=\"groups:0\"]').parentElement";
    let texts = browser.eval(&format!("[{label}.querySelector('bdi').textContent, {label}.title]"));
    assert!(texts[0] == "Net" && texts[1].as_str().unwrap().ends_with("AppLog::Net"), "{texts}");
    // The values of an argument that is a text, the most frequent first.
    browser.press("Home");
    browser.settle();
    let names = "[...document.querySelectorAll('#detail th')].map((it) => it.textContent)";
    assert_eq!(browser.eval(names), json!(["sent %d", "bytes to %s"]));
    let top = "[...document.querySelectorAll('#detail td.top button')].map((it) => it.textContent)";
    assert_eq!(browser.eval(top), json!(["250alpha", "250beta"]));
    browser.eval("document.querySelectorAll('#detail td.top button')[1].click()");
    browser.wait_for(&format!("{shown} === 250 && protolog.text.value === 'beta'"));
    // An expression that is none says so at its field.
    browser.press("/");
    browser.eval("protolog.text.value = '/(/'; protolog.text.dispatchEvent(new Event('input')); 1");
    browser.wait_for("!document.getElementById('wrong-text').hidden");
    let places = "['text', 'wrong-text'].map((id) => document.getElementById(id).getBoundingClientRect()).map((box) => [box.left, box.bottom])";
    let places = browser.eval(places);
    let at = |part: usize, side: usize| places[part][side].as_f64().unwrap();
    assert!((at(0, 0) - at(1, 0)).abs() < 20.0 && at(1, 1) - at(0, 1) < 40.0, "{places}");
    browser.assert_clean();
}

#[test]
fn narrow_windows_leave_nothing_out() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    let mut text = "group(1, \"app::Net\", \"Net\") message(0x11, WTF, 1, \"sent %d\", \"net.rs:4\")\n\
        @1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(4711, 4711, \"main\")\n".to_owned();
    (0..300).for_each(|number| {
        writeln!(text, "@1 needs ts=0 begin(\"request\", \"app\", id={number})\n@1 needs ts=1000 log(0x11, {number})\n@1 needs ts=1000 end()").unwrap();
    });
    fs::write(&trace, description::trace(&text)).unwrap();
    browser.open(&page(&dir, &trace));
    // As a window of 1,400 by 900 is at 200 %.
    browser.set_size(700, 450);
    browser.settle();
    let strips = size(&mut browser, "#overview")[1] + size(&mut browser, "#spans-part")[1];
    assert!(strips < 450 / 3, "{strips}");
    assert_eq!(size(&mut browser, "#side"), [0, 0]);
    browser.click("#filters");
    assert!(size(&mut browser, "#side")[0] > 150);
    let label = "document.querySelector('#side label').textContent";
    assert!(browser.text(label).starts_with("WTF F"), "the letter of the rows");
    browser.click("#filters");
    assert_eq!(size(&mut browser, "#side"), [0, 0]);
    let columns = "[...document.querySelectorAll('#rows .row:first-child > span')].filter((cell) => cell.getClientRects().length > 0).map((cell) => cell.className)";
    assert!(!browser.eval(columns).to_string().contains("thread"));
    browser.click("#columns");
    let all = ["time", "delta", "process", "thread", "level", "group", "message", "place"];
    assert_eq!(browser.eval(columns), json!(all));
    // They are reached by scrolling, and the page itself does not grow.
    let widths = "[document.getElementById('table').scrollWidth > 1000, document.documentElement.scrollWidth]";
    assert_eq!(browser.eval(widths), json!([true, 700]));
    // The strips fold, and come back.
    for strip in ["#overview", "#spans-part"] {
        let open = size(&mut browser, strip)[1];
        browser.click(&format!("{strip} .fold"));
        assert!(size(&mut browser, strip)[1] < 20, "{strip}");
        browser.click(&format!("{strip} .fold"));
        assert_eq!(size(&mut browser, strip)[1], open, "{strip}");
    }
    // What stands in a span is whole, or it is not there: the name, or what tells spans of one name
    // apart.
    let label = "(() => { const context = document.createElement('canvas').getContext('2d'); context.font = '10px sans-serif'; \
        return [...new Set(Array.from({ length: 200 }, (_, room) => protolog.flames.label(context, 7, room)))]; })()";
    assert_eq!(browser.eval(label), json!(["", "id=7", "request", "request id=7"]));
    browser.assert_clean();
}

#[test]
fn losses_are_summed_up_and_what_is_invisible_is_shown() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    let text = "group(1, \"app::Net\", \"Net\") group(2, \"app::Disk\", \"Disk\") message(0x11, INFO, 1, \"sent %s\", \"net.rs:4\")\n\
        @1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(4711, 4712, \"\u{5e9}\u{5dc}\u{5d5}\u{5dd}\")\n\
        @1 needs string(1, \"a\u{200b}b\u{feff}c\u{ad}d\u{200f}e\")\n\
        @1 needs ts=1000 log(0x11, $1)\n@1 needs ts=1000 log(0x11, $1)\n\
        @1 needs ts=1000 loss(1, 1, 5) log(0x11, $1)\n@1 needs ts=1000 loss(2, 1, 12) log(0x11, $1)\n";
    fs::write(&trace, description::trace(text)).unwrap();
    browser.open(&page(&dir, &trace));
    // One line, which opens to those of standard error.
    let summary = browser.text("document.querySelector('#problems summary').textContent");
    assert_eq!(summary, "17 messages were lost, 81 % of what was logged; 2 notes");
    let closed = size(&mut browser, "#problems")[1];
    browser.click("#problems summary");
    assert!(size(&mut browser, "#problems")[1] > closed * 3 / 2);
    let all = browser.text("document.getElementById('problems').textContent");
    assert!(
        all.contains("5 messages of app::Net") && all.contains("12 messages of app::Disk"),
        "{all}"
    );
    let row = browser.text("document.querySelector('#rows .row .message').textContent");
    assert_eq!(row, "sent a\\u{200b}b\\u{feff}c\\u{ad}d\\u{200f}e");
    let thread = browser.text("document.querySelector('#rows .row .thread').textContent");
    assert_eq!(thread, "\u{2068}\u{5e9}\u{5dc}\u{5d5}\u{5dd}\u{2069} 4712");
    browser.assert_clean();
}
