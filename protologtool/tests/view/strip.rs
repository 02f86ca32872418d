//! The strip of messages over time, by the mouse.

use std::thread;
use std::time::Duration;

use crate::browser::Browser;
use crate::{AppLog, lock, page, record};
use protolog_rt::d;
use protolog_testkit::temp_dir;

#[test]
fn time_is_chosen_by_the_mouse() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    browser.open(&page(&dir, &record(&dir, log_slowly)));
    let (shown, range) = ("protolog.filter.shown.length", "protolog.overview.range()");
    let all = browser.eval(range);
    let (first, end) = (all[0].as_f64().unwrap(), all[1].as_f64().unwrap());
    browser.drag("#strip", 0.25, 0.5);
    browser.wait_for(&format!("{shown} < 1000"));
    let chosen = browser.eval(range);
    for (index, part) in [(0, 0.25), (1, 0.5)] {
        let at = (chosen[index].as_f64().unwrap() - first) / (end - first);
        assert!((at - part).abs() < 0.01, "{chosen} of {all}");
    }
    // The messages of a busy machine may leave gaps, and so be none here; those in the range are
    // the ones that are shown.
    let (times, range) = ("Array.from(protolog.data.time)", &chosen);
    let within =
        format!("{times}.filter((time) => time >= {} && time < {}).length", range[0], range[1]);
    assert_eq!(browser.eval(shown), browser.eval(&within));
    browser.click("#range");
    browser.wait_for(&format!("{shown} === 1000"));
    browser.assert_clean();
}

/// A thousand messages over some hundredths of a second: those of a moment may all stand at one end
/// of the strip.
fn log_slowly() {
    for part in 0..20 {
        (0..50).for_each(|number| d!(AppLog::Net, "part %d, message %d", part, number));
        thread::sleep(Duration::from_millis(3));
    }
}
