//! Text search: what templates and arguments decide is what each whole text would, and a long one
//! can be watched and stopped.

use crate::browser::Browser;
use crate::{AppLog, description, lock, log_all_kinds, page, record};
use protolog_rt::{d, i};
use protolog_testkit::temp_dir;
use std::fs;

/// Searches parts of the texts that are there, and regular expressions with these, and compares
/// with a look at each text.
const COMPARE: &str = r"
(async () => {
  const app = protolog, { data } = app, texts = Array.from({ length: data.n }, (_, item) => data.text(item)), wrong = [];
  app.refresh = () => app.filter.apply();
  let state = 4711;
  const random = (below) => { state = (state * 1103515245 + 12345) % 2147483648; return Math.floor(state / 65536) % below; };
  const part = () => { const text = texts[random(texts.length)], at = random(text.length); return text.slice(at, at + 1 + random(7)); };
  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\\/-]/g, '\\$&');
  const forms = [
    part, part, part,
    () => part().toUpperCase(), () => part().toLowerCase(),
    () => `/${escaped(part())}/`, () => `/${escaped(part())}.*${escaped(part())}/i`, () => `/${escaped(part())}|${escaped(part())}/`,
    () => `/(${escaped(part())})?${escaped(part())}+$/`, () => `/[${escaped(part())}]{2}\\b/`, () => `/${escaped(part())}x*${escaped(part())}/`,
    () => `/\\x6${random(10)}${escaped(part())}/`,
  ];
  for (let round = 0; round < 1200; round++) {
    const query = forms[round % forms.length]();
    await app.searchFor(query);
    const { search, shown } = app.filter;
    if (search.test === null) continue;
    const expected = texts.flatMap((text, item) => search.test(text) ? [item] : []);
    if (JSON.stringify([...shown]) !== JSON.stringify(expected)) wrong.push([query, [...shown].length, expected.length]);
  }
  return wrong;
})()";

/// Templates with arguments side by side, with nothing but arguments, and with pieces of which
/// matches may begin, in sets of arguments that may be empty or parts of a match.
fn log_neighbours() {
    // The size of the last one is the byte of an `a`.
    let sized = "z".repeat(97);
    let texts =
        ["", "a", "ab", "bab", "aB-a", "sent", " bytes to ", "ünï-ß-İ", "K\u{212a}k", &sized];
    for (at, text) in texts.into_iter().enumerate() {
        let next = texts[(at + 4) % texts.len()];
        d!(AppLog::Net, "%s%s", text, next);
        d!(AppLog::Net, "%s", text);
        i!(AppLog::Disk, "a%sb%sa", text, next);
        i!(AppLog::Disk, "sent %d bytes to %s", at as i64 * 111 - 222, text);
        i!(AppLog::Disk, "%d%d.%d", at, 20 - at, at * 17);
        d!(AppLog::Net, "İ is not i: %s", next);
    }
}

#[test]
fn what_is_found_is_what_each_text_has() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = record(&dir, || {
        log_all_kinds();
        log_neighbours();
    });
    browser.open(&page(&dir, &trace));
    assert_eq!(browser.eval(COMPARE).to_string(), "[]");
    // With losses, messages in no dictionary, and stacks.
    let trace = dir.path().join("described.pftrace");
    let text = "group(1, \"app::Net\", \"Net\") message(0x11, ERROR, 1, \"can't reach %s: %s\", \"net.rs:4\")\n\
        @1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(4711, 4711, \"main\")\n\
        @1 needs string(1, \"host-1\") string(2, \"host\") stack(1, \"a (b.rs:1)\\n\")\n\
        @1 needs ts=1000 log(0x11, $1, $2, stack=1)\n@1 needs ts=1000 log(0x11, $2, $1)\n@1 needs ts=1000 log(0x11, $2)\n\
        @1 needs ts=1000 log(0x99, 7, 8)\n@1 needs ts=1000 loss(1, 1, 17) log(0x11, $1, $1, $1)\n";
    fs::write(&trace, description::trace(text)).unwrap();
    let shown = dir.path().join("page.html");
    crate::tool(&["view", "-o", shown.to_str().unwrap()], &trace);
    browser.open(&format!("file://{}", shown.display()));
    assert!(browser.eval("protolog.data.n").as_u64().unwrap() >= 5);
    assert_eq!(browser.eval(COMPARE).to_string(), "[]");
    browser.assert_clean();
}

#[test]
fn what_is_found_is_marked_as_it_is_found() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = record(&dir, || {
        d!(AppLog::Net, "%s", "first\nsecond line\nlast");
        d!(AppLog::Net, "%s", "zero\u{200b}width");
        d!(AppLog::Net, "second to none: %d", 7);
    });
    browser.open(&page(&dir, &trace));
    for (query, expected) in [
        ("/^second/", "[[0,\"second\"],[2,\"second\"]]"),
        ("/line$/", "[[0,\"line\"]]"),
        ("t\nsec", "[[0,\"t⏎sec\"]]"),
        ("o\u{200b}w", "[[1,\"o\\\\u{200b}w\"]]"),
        ("/^(zero|last)/", "[[0,\"last\"],[1,\"zero\"]]"),
    ] {
        browser.eval(&format!("protolog.searchFor({query:?}).then(() => 1)"));
        browser.wait_for("document.getElementById('busy').hidden");
        browser.settle();
        let marked = "JSON.stringify([...document.querySelectorAll('#rows .row:not([hidden]) mark')]\
            .map((mark) => [protolog.filter.shown[mark.closest('.row').dataset.place], mark.textContent]))";
        assert_eq!(browser.text(marked), expected, "{query}");
    }
    browser.assert_clean();
}

#[test]
fn a_message_that_is_a_guess_is_marked_at_its_row() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = dir.path().join("described.pftrace");
    let text = "group(1, \"app::Net\", \"Net\") message(0x11, DEBUG, 1, \"sent %d bytes\", \"a.rs:1\")\n\
        message(0x11, INFO, 1, \"got %d bytes\", \"b.rs:2\") message(0x11, WARN, 1, \"slow: %s\", \"c.rs:3\")\n\
        @1 cleared string(1, \"disk\") ts=1000 log(0x11, 7)\n@1 ts=2000 needs log(0x11, $1)\n";
    fs::write(&trace, description::trace(text)).unwrap();
    let shown = dir.path().join("page.html");
    crate::tool(&["view", "-o", shown.to_str().unwrap()], &trace);
    browser.open(&format!("file://{}", shown.display()));
    let rows = "JSON.stringify([...document.querySelectorAll('#rows .row:not([hidden])')].map((row) => row.children[6].textContent))";
    assert_eq!(browser.text(rows), "[\"[COLLISION] sent 7 bytes\",\"slow: disk\"]");
    browser.press("Home");
    let detail = browser.text("document.getElementById('detail').textContent");
    assert!(detail.contains("[COLLISION] sent 7 bytes"), "{detail}");
    browser.assert_clean();
}

#[test]
fn a_long_search_is_shown_and_can_be_stopped() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace =
        record(&dir, || (0..60_000).for_each(|number| d!(AppLog::Net, "message %d here", number)));
    browser.open(&page(&dir, &trace));
    let shown = "protolog.filter.shown.length";
    let find = |browser: &mut Browser, text: &str| {
        browser.press("/");
        browser.eval(&format!(
            "protolog.text.value = {text:?}; protolog.text.dispatchEvent(new Event('input')); 1"
        ));
    };
    let is_busy = "!document.getElementById('busy').hidden && document.getElementById('progress').value > 0.2";
    // An expression that takes thousands of steps for each text.
    let slow = "/^(?:.*.*.*.*)[q]$/";
    find(&mut browser, slow);
    browser.wait_for(is_busy);
    browser.press("Escape");
    browser.wait_for("document.getElementById('busy').hidden && protolog.text.value === ''");
    assert_eq!(browser.eval(shown), 60_000);
    // Stopped by the button, it goes back to the text before.
    find(&mut browser, "message 12345 ");
    browser.wait_for(&format!("{shown} === 1"));
    find(&mut browser, slow);
    browser.wait_for(is_busy);
    browser.click("#cancel");
    browser.wait_for("protolog.text.value === 'message 12345 '");
    browser.wait_for(&format!("{shown} === 1 && document.getElementById('busy').hidden"));
    assert!(browser.text("location.href").contains("q=message+12345"));
    // Another text ends it as well.
    find(&mut browser, slow);
    browser.wait_for(is_busy);
    find(&mut browser, "message 2345 ");
    browser.wait_for(&format!("{shown} === 1 && document.getElementById('busy').hidden"));
    // Matches that are only marked are counted.
    browser.press("Escape");
    browser.press("m");
    browser.wait_for(&format!("{shown} === 60000"));
    let count = browser.text("document.getElementById('count').textContent");
    assert_eq!(count, "60\u{202f}000 messages, 1 found");
    browser.press("n");
    assert_eq!(browser.eval("protolog.chosen"), 2345);
    browser.assert_clean();
}
