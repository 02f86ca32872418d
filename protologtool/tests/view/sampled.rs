//! Limits, sampling and repeats, as they are marked in the page of a trace: of any other log
//! nothing is.

use crate::browser::Browser;
use crate::{AppLog, lock, page, tool};
use protolog_rt::{Session, d, i, w};
use protolog_testkit::serde_json::{Value, json};
use protolog_testkit::temp_dir;
use std::time::Duration;

#[test]
fn rates_and_limits_are_marked_where_they_apply() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let builder = Session::builder().file(&path).enable_all();
    let builder = builder.sample("\"sampled %d\"", "1/10").limit("\"flood %d\"", "5/h");
    let builder = builder.repeat("\"same %s\"");
    let session = builder.wait_at_most(Duration::from_secs(60)).start().unwrap();
    for number in 0..2000 {
        d!(AppLog::Net, "sampled %d", number);
        w!(AppLog::Disk, "flood %d", number);
    }
    i!(AppLog::Disk, "whole");
    for _ in 0..5 {
        w!(AppLog::Disk, "same %s", "again");
    }
    session.stop().unwrap();
    browser.open(&page(&dir, &path));
    let kept = browser.eval("[...protolog.filter.shown].filter((item) => protolog.data.text(item).startsWith('sampled')).length");
    let kept = kept.as_u64().unwrap();
    assert!((100..400).contains(&kept), "{kept}");
    // Each that was kept has its rate, and no other one has any.
    let rated = "JSON.stringify([...new Set([...protolog.filter.shown].map((item) => [protolog.data.text(item).split(' ')[0], protolog.data.rateOf(item)?.text ?? '-'].join()))].filter((it) => !/^[0-9]/.test(it)).sort())";
    assert_eq!(
        browser.text(rated),
        r#"["flood,-","repeated,-","same,-","sampled,1/10","whole,-"]"#
    );
    // What the rows show.
    let rows = "[...document.querySelectorAll('#rows .row')].filter((row) => row.style.display !== 'none')";
    browser.eval("protolog.choose([...protolog.filter.shown].findIndex((item) => protolog.data.rateOf(item) !== null))");
    browser.settle();
    let chosen = "document.querySelector('#rows .row[aria-selected=\"true\"] .message')";
    assert!(browser.text(&format!("{chosen}.textContent")).starts_with("1/10sampled "));
    assert_eq!(
        browser.text(&format!("{chosen}.querySelector('.rate').title")),
        "kept by sampling: it stands for 10 messages"
    );
    let detail = browser.text("document.getElementById('detail').textContent");
    assert!(detail.contains("1/10: it stands for 10 messages"), "{detail}");
    let passed = 2000 - kept;
    let passed =
        browser.text(&format!("({passed}).toLocaleString('en-US').replaceAll(',', '\\u202f')"));
    assert!(detail.contains(&format!("{passed} passed over of this group and level")), "{detail}");
    let side = browser.text("document.getElementById('side').textContent");
    assert!(side.contains(&format!("{passed} passed over")), "{side}");
    // The text that is copied is the message's.
    assert!(browser.text("protolog.lineOf(protolog.chosen)").contains(": sampled "));
    // What a limit has suppressed stands where it happened.
    browser.eval("protolog.choose([...protolog.filter.shown].findIndex((item) => protolog.data.isLimited(item)))");
    browser.settle();
    let limited = browser
        .text(&format!("{rows}.find((row) => row.classList.contains('limited')).textContent"));
    assert!(limited.contains("limited") && limited.contains("suppressed by a limit"), "{limited}");
    // And what repeats a message has that.
    browser.eval("protolog.choose([...protolog.filter.shown].findIndex((item) => protolog.data.isRepeat(item)))");
    browser.settle();
    let repeat = browser
        .text(&format!("{rows}.find((row) => row.classList.contains('repeat')).textContent"));
    assert!(repeat.contains("repeated 4 times: same again"), "{repeat}");
    browser.assert_clean();
}

#[test]
fn nothing_is_marked_where_all_is_there() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = crate::record(&dir, || d!(AppLog::Net, "all of it"));
    browser.open(&page(&dir, &trace));
    assert_eq!(
        browser
            .eval("[protolog.data.rates, protolog.data.meta.passed, protolog.data.limited.size]"),
        json!([Value::Null, [], 0])
    );
    assert_eq!(browser.eval("document.querySelectorAll('.rate, .limited').length"), 0);
    assert!(tool(&["read-log"], &trace).status.success());
    browser.assert_clean();
}
