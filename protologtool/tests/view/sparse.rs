//! Logs that have next to nothing: no message, one, losses alone, two in the same microsecond.

use crate::browser::Browser;
use crate::{description, lock, page};
use protolog_testkit::serde_json;
use protolog_testkit::temp_dir;
use std::fs;

/// The text of the strip's scale and of the details in logs that have next to nothing.
#[test]
fn a_log_may_be_nearly_empty() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let head = "group(1, \"app::Net\", \"Net\") message(0x11, DEBUG, 1, \"sent %d\", \"net.rs:4\")\n\
                @9 snapshot(real=1795199221000000000, boot=1000000000)\n\
                @1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(4711, 4711, \"main\")\n";
    let open = |browser: &mut Browser, text: &str| {
        let dir = temp_dir();
        let trace = dir.path().join("app.pftrace");
        fs::write(&trace, description::trace(&format!("{head}{text}"))).unwrap();
        browser.open(&page(&dir, &trace));
        browser.press("Home");
        browser.settle();
    };
    let side = "document.getElementById('side').innerText";
    let none = "document.getElementById('none').innerText.trim()";
    open(&mut browser, "");
    assert_eq!(browser.text(none), "The log has no messages.");
    assert_eq!(browser.text(side).trim(), "");
    // One message: in the middle of the strip, without a rate, and its value without statistics.
    open(&mut browser, "@1 needs ts=5000000 log(0x11, 7)");
    assert!(!browser.text(side).contains("/s"), "one message has no rate");
    let middle =
        "(([from, to]) => (protolog.data.time[0] - from) / (to - from))(protolog.overview.range())";
    assert!((browser.eval(middle).as_f64().unwrap() - 0.5).abs() < 0.01);
    assert_eq!(
        browser.text("document.querySelector('#detail .plot small').innerText"),
        "the only value"
    );
    browser.press("5");
    browser.settle();
    assert_eq!(browser.text(none), "No message passes the filters. Clear");
    assert!(!browser.text(side).contains("Group"), "there is nothing to choose");
    browser.click("#none-clear");
    browser.wait_for("protolog.filter.shown.length === 1");
    // Losses alone.
    open(&mut browser, "@1 ts=5000000 loss(1, 1, 17)");
    let near = "document.querySelector('#detail .near b').innerText";
    assert_eq!(browser.text(near), "!");
    // Times that differ by nanoseconds have different labels.
    open(&mut browser, "@1 needs ts=5000000 log(0x11, 7)\n@1 needs ts=300 log(0x11, 8)");
    let labels = "(() => { const texts = [], prototype = CanvasRenderingContext2D.prototype, { fillText } = prototype; \
                  prototype.fillText = (text) => texts.push(text); protolog.overview.draw(); prototype.fillText = fillText; return texts; })()";
    let labels: Vec<String> = serde_json::from_value(browser.eval(labels)).unwrap();
    assert!(labels.len() > 2 && labels.windows(2).all(|pair| pair[0] != pair[1]), "{labels:?}");
    browser.assert_clean();
}
