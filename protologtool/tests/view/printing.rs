//! The page on paper: all rows that pass the filters, and not only those that fit on the screen.

use crate::browser::Browser;
use crate::{description, lock, log_a_thousand, page, record};
use protolog_testkit::serde_json::json;
use protolog_testkit::temp_dir;
use std::fmt::Write as _;
use std::fs;

/// Prints, and returns the number of rows on paper with the line above them.
fn print(browser: &mut Browser) -> (u64, String) {
    browser.eval(
        "addEventListener('beforeprint', () => { globalThis.onPaper = [document.querySelectorAll('#paper .row').length, \
         document.querySelector('#paper p').textContent]; }, { once: true }); 1",
    );
    let reply = browser.call("Page.printToPDF", &json!({}));
    assert!(reply["data"].as_str().unwrap().len() > 1000);
    browser.wait_for("document.getElementById('paper').childElementCount === 0");
    let paper = browser.eval("onPaper");
    (paper[0].as_u64().unwrap(), paper[1].as_str().unwrap().to_owned())
}

#[test]
fn all_rows_are_printed_or_said_to_be_left_out() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    browser.open(&page(&dir, &record(&dir, log_a_thousand)));
    let (rows, said) = print(&mut browser);
    assert_eq!(rows, 1000);
    assert!(
        said.contains(" · protolog · ") && said.ends_with(" · 1\u{202f}000 messages"),
        "{said}"
    );
    browser.eval("protolog.leastLevel(4)");
    browser.wait_for("protolog.filter.shown.length === 10");
    assert_eq!(print(&mut browser).0, 10);
    // The screen is as it was.
    assert_eq!(browser.eval("document.querySelectorAll('#rows .row:not([hidden])').length"), 10);

    let trace = dir.path().join("long.pftrace");
    let mut text = String::from(
        "group(1, \"app::Net\", \"Net\") message(0x11, INFO, 1, \"first %d\\nsecond\", \"net.rs:4\")\n\
         @1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(4711, 4711, \"main\")\n",
    );
    (0..10_001).for_each(|number| writeln!(text, "@1 needs ts=1000 log(0x11, {number})").unwrap());
    fs::write(&trace, description::trace(&text)).unwrap();
    let shown = dir.path().join("long.html");
    crate::tool(&["view", "-o", shown.to_str().unwrap()], &trace);
    browser.open(&format!("file://{}", shown.display()));
    let (rows, said) = print(&mut browser);
    assert_eq!(rows, 10_000);
    assert!(said.ends_with("1 more are left out: filter to print them"), "{said}");
    // Each line of a message begins one for a search.
    browser.eval("protolog.searchFor('/^second$/')");
    browser.wait_for("protolog.filter.shown.length === 10001");
    browser.eval("protolog.searchFor('/^first 17$/')");
    browser.wait_for("protolog.filter.shown.length === 1");
    browser.assert_clean();
}
