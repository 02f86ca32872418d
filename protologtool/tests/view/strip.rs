//! The strip of messages over time, by the mouse.

use crate::browser::Browser;
use crate::{lock, log_a_thousand, page, record};
use protolog_testkit::temp_dir;

#[test]
fn time_is_chosen_by_the_mouse() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    browser.open(&page(&dir, &record(&dir, log_a_thousand)));
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
    let rows = browser.eval("[protolog.filter.shown[0], protolog.filter.shown.at(-1)].map((item) => protolog.data.time[item])");
    assert!(
        rows[0].as_f64() >= chosen[0].as_f64() && rows[1].as_f64() < chosen[1].as_f64(),
        "{rows}"
    );
    browser.click("#range");
    browser.wait_for(&format!("{shown} === 1000"));
    browser.assert_clean();
}
