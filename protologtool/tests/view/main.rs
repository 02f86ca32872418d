//! `view`, in a real browser: what the page shows, and what nobody can make it do.

mod admission;
mod browser;
mod copies;
#[path = "../../../protolog-reader/tests/common/trace/mod.rs"]
mod description;
mod design;
mod flood;
mod growth;
mod layout;
mod perfetto;
mod pictures;
mod printing;
mod requests;
mod sampled;
mod search;
mod served;
mod spans;
mod sparse;
mod strip;
mod switches;
mod times;
mod users;
mod watch;

use browser::Browser;
use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{Level, ProtoLogGroup, Session, d, e, i, w, wtf};
use protolog_testkit::serde_json::{self, Value, json};
use protolog_testkit::{TempDir, temp_dir};
use served::Served;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
    Disk,
    #[protolog(tag = "<b onclick=hacked=1>CACHE</b>")]
    Cache,
}

/// Held while a session runs, and while a browser does: the machine may be small.
static SESSIONS: Mutex<()> = Mutex::new(());

fn lock() -> MutexGuard<'static, ()> {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The trace of what `run` logs.
fn record(dir: &TempDir, run: impl FnOnce()) -> PathBuf {
    let path = dir.path().join("app.pftrace");
    let builder = Session::builder().file(&path).enable_all();
    let session = builder.wait_at_most(Duration::from_secs(60)).start().unwrap();
    run();
    session.stop().unwrap();
    path
}

fn tool(args: &[&str], trace: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_protologtool")).args(args).arg(trace).output().unwrap()
}

/// The address of the page of a trace.
fn page(dir: &TempDir, trace: &Path) -> String {
    let page = dir.path().join("page.html");
    let output = tool(&["view", "-o", page.to_str().unwrap()], trace);
    assert!(output.status.success(), "{output:?}");
    format!("file://{}", page.display())
}

/// The messages, as `read-log` has them.
fn expected(trace: &Path) -> Vec<Value> {
    let output = tool(&["read-log", "--format", "json"], trace);
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["type"] == "message").collect()
}

/// Messages with arguments of each kind, and texts that would be markup, a script or another
/// direction.
fn log_all_kinds() {
    for (number, float) in [(0, 0.0), (-1, -0.5), (i64::MIN, f64::NAN), (i64::MAX, f64::INFINITY)] {
        d!(AppLog::Net, "%d %5d %05d %x %o", number, number, number, number, number);
        i!(AppLog::Disk, "%f %.2f %8.3f %e %g %b", float, float, float, float, float, number > 0);
    }
    d!(AppLog::Net, "100 %% of %d, then %s.%s", u64::MAX, "a\nb\tc", "\u{202e}txt.exe\u{1b}[31m");
    w!(AppLog::Cache, "<img src=x onerror=hacked=1> %s %10s|%.3s", HOSTILE, "wide", "cut off");
    e!(AppLog::Net, "</script><script>hacked=1</script> %s", "-->");
    wtf!(AppLog::Disk, "no arguments");
    dynamic::log(&AppLog::Cache, Level::Info, "{\"a\": \"%s\"}", &[Arg::Str("&lt;&amp;")]);
}

const HOSTILE: &str = "<svg/onload=hacked=1>'\"`&<!--";

#[test]
fn the_page_shows_what_read_log_prints() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = record(&dir, || {
        log_all_kinds();
        let name = "<script>hacked=1</script>";
        thread::Builder::new().name(name.into()).spawn(log_all_kinds).unwrap().join().unwrap();
    });
    browser.open(&page(&dir, &trace));
    let shown =
        browser.eval("Array.from(protolog.filter.shown, (item) => protolog.data.text(item))");
    let expected = expected(&trace);
    let texts: Vec<&str> = expected.iter().map(|line| line["message"].as_str().unwrap()).collect();
    assert_eq!(shown, json!(texts));
    let times = browser.eval("Array.from(protolog.data.time, (time) => String(BigInt(time) + BigInt(protolog.data.meta.start)))");
    let times: Vec<String> = serde_json::from_value(times).unwrap();
    let expected_times: Vec<String> = expected.iter().map(|line| line["ts"].to_string()).collect();
    assert_eq!(times, expected_times);
    // Each row, its choices, and the details of each message.
    for key in ["Home", "j", "End"] {
        browser.press(key);
    }
    browser.eval("(async () => { for (let k = 0; k < protolog.list.count; k++) { protolog.choose(k); await new Promise(requestAnimationFrame); } })()");
    let foreign = "document.querySelectorAll('#list *:not(div):not(span):not(mark), #side b[onclick], img, svg, #detail script').length";
    assert_eq!(browser.eval(foreign), 0);
    assert_eq!(browser.eval("typeof hacked"), "undefined");
    let row = browser.text("document.querySelector('#rows').textContent");
    assert!(
        row.contains("<img src=x onerror=hacked=1>") && row.contains("\\u{202e}txt.exe\\u{1b}[31m"),
        "{row}"
    );
    browser.assert_clean();
    let mode = fs::metadata(dir.path().join("page.html")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// 1,000 messages, of which 10 are errors.
fn log_a_thousand() {
    for number in 0..1000_u32 {
        match number % 100 {
            99 => e!(AppLog::Disk, "can't write %s", "wal"),
            50..=98 => i!(AppLog::Disk, "wrote %d bytes", number),
            _ => d!(
                AppLog::Net,
                "sent %d bytes to %s",
                number * 3,
                ["alpha", "beta"][number as usize % 2]
            ),
        }
    }
}

#[test]
fn filters_count_and_stay_in_the_address() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = record(&dir, log_a_thousand);
    let url = page(&dir, &trace);
    browser.open(&url);
    let shown = "protolog.filter.shown.length";
    assert_eq!(browser.eval(shown), 1000);
    let counts = "[...document.querySelectorAll('#side label')].map((label) => label.textContent)";
    let labels = browser.eval(counts).to_string();
    assert!(
        labels.contains("\"Erroronlynot10\"")
            && labels.contains("\"Infoonlynot490\"")
            && labels.contains("\"Debugonlynot500\""),
        "{labels}"
    );
    // A choice of one kind leaves the counts beside it as they are, and reduces those of others.
    browser.click("#side input[data-choice='levels:4']");
    browser.wait_for(&format!("{shown} === 10"));
    let labels = browser.eval(counts).to_string();
    assert!(
        labels.contains("\"Infoonlynot490\"") && labels.contains("Diskonlynot10\""),
        "{labels}"
    );
    assert_eq!(
        browser.text("document.getElementById('count').textContent"),
        "10 of 1\u{202f}000 messages"
    );
    browser.click("#side input[data-choice='levels:2']");
    browser.wait_for(&format!("{shown} === 500"));
    let link = browser.text("location.href");
    browser.open(&link);
    assert_eq!(browser.eval(shown), 500);
    // Text, in either case; a capital letter means itself; a regular expression; one that is none.
    browser.press("x");
    browser.wait_for(&format!("{shown} === 1000"));
    for (text, count) in
        [("SENT", 0), ("sent", 500), ("/to (alpha|nobody)$/", 250), ("/(/", 1000), ("", 1000)]
    {
        browser.press("/");
        assert_eq!(browser.text("document.activeElement.id"), "text");
        browser.eval(&format!(
            "protolog.text.value = {text:?}; protolog.text.dispatchEvent(new Event('input')); 1"
        ));
        let is_wrong = text == "/(/";
        browser.wait_for(&format!(
            "{shown} === {count} && protolog.text.classList.contains('wrong') === {is_wrong}"
        ));
        browser.press("Escape");
    }
    browser.assert_clean();
}

#[test]
fn everything_has_a_key() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = record(&dir, log_a_thousand);
    browser.open(&page(&dir, &trace));
    let chosen = |browser: &mut Browser| browser.text("protolog.data.text(protolog.chosen)");
    browser.press("e");
    assert_eq!(chosen(&mut browser), "can't write wal");
    let first = browser.eval("protolog.chosen");
    browser.press("b");
    browser.press("e");
    assert_eq!(browser.eval("protolog.chosen"), json!(first.as_u64().unwrap() + 100));
    browser.press("[");
    assert_eq!(browser.eval("protolog.chosen"), first);
    browser.press("k");
    assert_eq!(chosen(&mut browser), "wrote 98 bytes");
    assert_eq!(browser.text("document.querySelector('#detail th').textContent"), "wrote %d");
    assert_eq!(browser.eval("document.querySelectorAll('#detail canvas').length"), 1);
    browser.press("s");
    browser.wait_for("protolog.filter.shown.length === 490");
    browser.press("s");
    browser.wait_for("protolog.filter.shown.length === 1000");
    browser.press("4");
    browser.wait_for("protolog.filter.shown.length === 10");
    browser.press("End");
    browser.press("x");
    browser.wait_for("protolog.filter.shown.length === 1000");
    assert_eq!(browser.eval("protolog.place"), 999);
    assert!(
        browser.eval("protolog.list.top + protolog.list.visibleRows >= 999").as_bool().unwrap()
    );
    browser.press("?");
    let keys = browser.text("document.getElementById('keys').textContent");
    assert!(keys.contains("next error") && keys.contains("copy as JSON"), "{keys}");
    browser.press("j");
    assert_eq!(browser.eval("protolog.place"), 999, "an open dialog has the keys");
    browser.press("Escape");
    browser.wait_for("!document.querySelector('dialog[open]')");
    let link = browser.text("(protolog.bookmark(), location.href)");
    assert!(link.contains("at=") && link.contains("kept="), "{link}");
    browser.open(&link);
    assert_eq!(browser.eval("protolog.place"), 999);
    assert_eq!(browser.eval("[...protolog.bookmarks]"), json!([first, 999]));
    browser.assert_clean();
}

#[test]
fn time_is_chosen_by_keys() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    browser.open(&page(&dir, &record(&dir, log_a_thousand)));
    let range = "(([from, to]) => to - from)(protolog.overview.range())";
    let all = browser.eval(range).as_f64().unwrap();
    let halves = |browser: &mut Browser, part: f64| {
        browser.wait_for(&format!("Math.abs({range} - {all} * {part}) < 16"));
    };
    browser.press("+");
    halves(&mut browser, 0.5);
    browser.press("+");
    halves(&mut browser, 0.25);
    let shown = "protolog.filter.shown.length";
    browser.wait_for(&format!("{shown} < 1000"));
    let link = browser.text("location.href");
    let count = browser.eval(shown);
    browser.open(&link);
    assert_eq!(browser.eval(shown), count);
    let from = browser.eval("protolog.filter.from").as_f64().unwrap();
    browser.press("ArrowRight");
    browser.wait_for(&format!("protolog.filter.from > {from}"));
    browser.press("ArrowLeft");
    browser.press("-");
    halves(&mut browser, 0.5);
    browser.press("0");
    browser.wait_for(&format!("{shown} === 1000"));
    // A time: as seconds since boot, by the clock, and one that is none.
    let middle = "String(protolog.data.stampOf(500))";
    let expected = browser.text(middle);
    let wanted = |browser: &mut Browser, text: &str| {
        browser.press("g");
        assert_eq!(browser.text("document.activeElement.id"), "wanted-time");
        browser.eval(&format!("document.getElementById('wanted-time').value = {text}; 1"));
        browser.press("Enter");
    };
    wanted(&mut browser, "'yesterday'");
    let complaint = browser.text("document.getElementById('wrong-time').textContent");
    assert_eq!(complaint, "not a time: yesterday");
    browser.press("Escape");
    wanted(
        &mut browser,
        "(protolog.data.stampOf(500) / 1000n).toString().replace(/(.{6})$/, '.$1')",
    );
    let chosen = "String(protolog.data.stampOf(protolog.chosen))";
    let found = browser.text(chosen);
    assert_eq!(found[..found.len() - 3], expected[..expected.len() - 3]);
    // The last one is at the microsecond that is shown, or later in it.
    browser.press("End");
    browser.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    let shown_time =
        "document.querySelector('#rows .row[aria-selected=\"true\"] .time').textContent";
    let shown_time = browser.text(shown_time);
    browser.press("Home");
    wanted(&mut browser, &format!("{shown_time:?}"));
    let before = "protolog.data.time[999] - protolog.data.time[protolog.chosen]";
    assert!(browser.eval(before).as_f64().unwrap() < 1000.0);
    browser.assert_clean();
}

#[test]
fn a_long_log_is_scrolled_from_end_to_end() {
    // Set it to a million, with `--nocapture`, for the figures in docs/guides/view.md.
    let count = std::env::var("PROTOLOG_VIEW_MESSAGES").ok().and_then(|it| it.parse().ok());
    let count: u64 = count.unwrap_or(300_000);
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = record(&dir, || {
        for number in 0..count {
            d!(AppLog::Net, "message %d of %s", number, ["alpha", "beta"][number as usize % 2]);
        }
    });
    browser.open(&page(&dir, &trace));
    assert_eq!(browser.eval("protolog.filter.shown.length"), count);
    let size = fs::metadata(dir.path().join("page.html")).unwrap().len();
    println!("{count} messages: {size} bytes, open after {} ms", browser.eval("protolog.openedIn"));
    // By the scroll bar, whose length stands for more than browsers allow.
    for part in [0.0, 0.25, 0.5, 0.999, 1.0] {
        let expression = format!(
            "(async () => {{ const box = protolog.list.box; box.scrollTop = (box.scrollHeight - box.clientHeight) * {part}; \
             await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame); \
             const row = [...document.querySelectorAll('#rows .row')].find((row) => row.style.display !== 'none'); \
             return [Number(row.dataset.place), row.querySelector('.message').textContent]; }})()"
        );
        let row = browser.eval(&expression);
        let (place, text) = (row[0].as_u64().unwrap(), row[1].as_str().unwrap().to_owned());
        assert!(place.abs_diff((count as f64 * part) as u64) < 100, "{part}: {row}");
        assert!(text.starts_with(&format!("message {place} of ")), "{row}");
    }
    // By the wheel, row by row.
    let wheel = "(async () => { protolog.list.scrollTo(1000); for (let k = 0; k < 50; k++) { \
        protolog.list.box.dispatchEvent(new WheelEvent('wheel', { deltaY: 40, cancelable: true })); await new Promise(requestAnimationFrame); } \
        return Math.round(protolog.list.top); })()";
    assert_eq!(browser.eval(wheel), 1100);
    let frames = "(async () => { const begun = performance.now(); for (let k = 0; k < 120; k++) { \
        protolog.list.scrollTo(protolog.list.last / 120 * k); await new Promise(requestAnimationFrame); } \
        return (performance.now() - begun) / 120; })()";
    println!("a frame while scrolling: {} ms", browser.eval(frames));
    let search = "(async () => { const begun = performance.now(); await protolog.searchFor('message 77'); return performance.now() - begun; })()";
    println!("a search: {} ms", browser.eval(search));
    browser.assert_clean();
}

#[test]
fn an_incomplete_trace_is_said_to_be_one() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = record(&dir, log_a_thousand);
    // A packet of 127 bytes of which one was written. A cut at some byte would be between two
    // packets now and then.
    let cut = [fs::read(&trace).unwrap(), vec![0x0a, 127, 0]].concat();
    fs::write(&trace, cut).unwrap();
    let page = dir.path().join("page.html");
    let output = tool(&["view", "-o", page.to_str().unwrap()], &trace);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    browser.open(&format!("file://{}", page.display()));
    let banner = browser.text("document.getElementById('problems').dataset.text");
    assert!(!banner.is_empty());
    banner.lines().for_each(|line| assert!(errors.contains(line), "{errors}"));
    assert_eq!(browser.eval("document.getElementById('problems').hidden"), false);
}

#[test]
fn a_running_program_is_followed() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    let session = Session::builder().file(&trace).enable_all().start().unwrap();
    log_a_thousand();
    session.flush().unwrap();
    let served = Served::start(&trace);
    browser.open(&served.url);
    assert_eq!(browser.eval("protolog.data.n"), 1000);
    browser.press("f");
    e!(AppLog::Net, "the last %s", "straw");
    session.flush().unwrap();
    browser.wait_for("protolog.data.n === 1001");
    browser.wait_for("document.querySelector('#rows').textContent.includes('the last straw')");
    browser.assert_clean();
    drop(served);
    browser.wait_for(
        "document.getElementById('note').textContent.startsWith('the log is no longer served')",
    );
    session.stop().unwrap();
}

#[test]
fn mistakes_are_answered() {
    let dir = temp_dir();
    let check = |args: &[&str], message: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_protologtool"))
            .arg("view")
            .args(args)
            .current_dir(dir.path())
            .output()
            .unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), errors.contains(message)), (Some(2), true), "{errors}");
    };
    check(&[], "missing traces");
    check(&["none.pftrace"], "can't read `none.pftrace`");
    check(&["none.pftrace", "-o", "x.html", "--port", "80"], "`--port`");
    check(&["none.pftrace", "--port", "http"], "`http` for `--port`");
}

#[test]
fn filters_that_match_nothing_are_said() {
    let _lock = lock();
    let dir = temp_dir();
    let trace = record(&dir, log_a_thousand);
    let page = dir.path().join("page.html");
    let output = tool(&["view", "--group", "Nte", "-o", page.to_str().unwrap()], &trace);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.contains("the trace has no group `Nte`"), "{errors}");
}
