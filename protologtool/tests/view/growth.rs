//! A log that grows at both ends while it is looked at: what is chosen stays chosen.

use crate::browser::Browser;
use crate::served::Served;
use crate::{AppLog, lock, record, tool};
use protolog_rt::{d, i};
use protolog_testkit::temp_dir;
use std::fs;

/// The threads and groups of what comes first are not those of what was there first, so all numbers
/// of the page change.
#[test]
fn choices_stay_while_earlier_messages_come() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let (early, late, shown) = (temp_dir(), temp_dir(), temp_dir());
    let early = record(&early, || {
        let log = || (0..500).for_each(|number| i!(AppLog::Disk, "early %d", number));
        std::thread::Builder::new().name("early".into()).spawn(log).unwrap().join().unwrap();
    });
    let late_trace = record(&late, || {
        for number in 0..500 {
            d!(AppLog::Net, "net %d", number);
            i!(AppLog::Disk, "disk %d", number);
        }
    });
    let both = shown.path().join("both.pftrace");
    let merged =
        tool(&["merge", early.to_str().unwrap(), "-o", both.to_str().unwrap()], &late_trace);
    assert!(merged.status.success(), "{merged:?}");
    let trace = shown.path().join("app.pftrace");
    fs::copy(&late_trace, &trace).unwrap();
    let served = Served::start(&trace);
    browser.open(&served.url);
    assert_eq!(browser.eval("protolog.data.n"), 1000);
    browser.click("#side input[data-choice^='groups:']");
    let count = "protolog.filter.shown.length";
    browser.wait_for(&format!("{count} === 500"));
    let row = "[...document.querySelectorAll('#rows .row')].find((row) => row.style.display !== 'none').querySelector('.message').textContent";
    let chosen = "protolog.data.text(protolog.chosen)";
    let looked_at = "JSON.stringify([[...protolog.filter.chosen.groups].map((group) => protolog.data.meta.groups[group].name), \
        [...protolog.bookmarks].map((item) => protolog.data.text(item)), location.hash])";
    browser.eval("protolog.choose(250)");
    browser.press("b");
    browser.press("k");
    browser.eval("new Promise(requestAnimationFrame)");
    let before = [row, chosen, looked_at].map(|expression| browser.text(expression));
    fs::rename(&both, &trace).unwrap();
    browser.wait_for("protolog.data.n === 1500");
    let is_net = before[1].starts_with("net");
    browser.wait_for(&format!("{count} === {}", if is_net { 500 } else { 1000 }));
    browser.eval("new Promise(requestAnimationFrame)");
    assert_eq!([row, chosen, looked_at].map(|expression| browser.text(expression)), before);
    browser.assert_clean();
}

#[test]
fn a_trace_that_is_away_for_a_while_is_waited_for() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = record(&dir, || d!(AppLog::Net, "here"));
    let away = dir.path().join("away");
    let served = Served::start(&trace);
    browser.open(&served.url);
    fs::rename(&trace, &away).unwrap();
    browser.wait_for(
        "document.getElementById('note').textContent.startsWith(\"the log can't be read now\")",
    );
    let more = record(&dir, || (0..3).for_each(|number| d!(AppLog::Net, "again %d", number)));
    assert_eq!(more, trace);
    browser.wait_for("protolog.data.n === 3");
    // The browser itself notes that a request failed.
    let complaints = browser.take_complaints();
    assert!(complaints.iter().all(|it| it.contains("status of 500")), "{complaints:#?}");
}
