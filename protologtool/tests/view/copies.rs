//! Copies of a message: as text, as JSON, as a link.

use crate::browser::Browser;
use crate::{AppLog, expected, lock, log_a_thousand, page, record};
use protolog_rt::e;
use protolog_testkit::serde_json::{self, Value, json};
use protolog_testkit::temp_dir;

#[test]
fn messages_are_copied_as_read_log_prints_them() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = record(&dir, || {
        log_a_thousand();
        e!(AppLog::Disk, "\"%s\" has %d of %d bytes, %b", "a\nb", -3, i64::MIN, true);
    });
    browser.open(&page(&dir, &trace));
    // Without the user's clipboard.
    browser.eval("Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } }); 1");
    let copied = |browser: &mut Browser, key: &str| {
        browser.eval("window.copied = ''; 1");
        browser.press(key);
        browser.wait_for("window.copied !== ''");
        browser.text("window.copied")
    };
    let lines = expected(&trace);
    browser.press("Home");
    for _ in 0..3 {
        let at = browser.eval("protolog.chosen").as_u64().unwrap() as usize;
        let json: Value = serde_json::from_str(&copied(&mut browser, "C")).unwrap();
        let mut line = lines[at].clone();
        if at == 1000 {
            // More digits than a script's number has, and no whole number: as they are shown.
            line["args"] = json!(["a\nb", -3, i64::MIN.to_string(), "true"]);
        }
        assert_eq!(json, line);
        let text = copied(&mut browser, "c");
        assert!(text.ends_with(line["message"].as_str().unwrap()), "{text}");
        let link = copied(&mut browser, "l");
        assert_eq!(link, browser.text("location.href"));
        browser.press(if at == 0 { "e" } else { "End" });
    }
    browser.assert_clean();
}
