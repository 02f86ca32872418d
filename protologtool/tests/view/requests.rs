//! Messages of one request, chosen by it.

use crate::browser::Browser;
use crate::{description, lock, page, tool};
use protolog_testkit::serde_json::{self, Value, json};
use protolog_testkit::temp_dir;
use std::fs;

/// Two requests on two threads, one with an id that would be markup; messages of none, before and
/// between.
const TRACE: &str = r#"
group(1, "app::Net", "Net") message(0x11, INFO, 1, "in %d", "src/net.rs:12")
@1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(100, 101, "main")
@1 needs ts=1000 log(0x11, 1)
@1 request(1, "GET /cart")
@1 needs ts=1000 log(0x11, 2)
@1 needs ts=2000 log(0x11, 3)
@1 request(2, "<img src=x onerror=hacked=1>")
@1 needs ts=1000 log(0x11, 4)
@1 request(0, "")
@1 needs ts=1000 log(0x11, 5)
@2 cleared snapshot(64=0, boot=1000003000, incremental=64) default_clock=64 info(100, 102, "worker") request(1, "GET /cart")
@2 needs ts=500 log(0x11, 6)
"#;

#[test]
fn messages_of_one_request_are_chosen() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    fs::write(&path, description::trace(TRACE)).unwrap();
    browser.open(&page(&dir, &path));
    // As the other command has them.
    let lines = tool(&["read-log", "--format", "json", "--time", "boot"], &path);
    let lines = String::from_utf8(lines.stdout).unwrap();
    let lines: Vec<Value> = lines.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let expected: Vec<&Value> = lines.iter().map(|line| &line["request"]).collect();
    let all = "Array.from({ length: protolog.data.n }, (_, item) => protolog.data.requestOf(item))";
    assert_eq!(browser.eval(all), json!(expected));
    let copied = "JSON.parse(protolog.jsonOf(1)).request";
    assert_eq!(browser.eval(copied), "GET /cart");

    let texts = "[...protolog.filter.shown].map((item) => protolog.data.text(item))";
    browser.press("Home");
    browser.press("r");
    browser.wait_for(
        "document.getElementById('note').textContent === 'this message is in no request'",
    );
    browser.press("j");
    assert!(
        browser
            .eval("document.getElementById('detail').textContent")
            .to_string()
            .contains("GET /cart")
    );
    browser.press("r");
    browser.wait_for("protolog.filter.shown.length === 3");
    assert_eq!(browser.eval(texts), json!(["in 2", "in 6", "in 3"]));
    // A link shows the same, and the button takes it back.
    let address = browser.eval("location.hash");
    assert!(address.as_str().unwrap().contains("request=%3DGET+%2Fcart"), "{address}");
    browser.eval("location.hash = ''");
    browser.wait_for("protolog.filter.shown.length === 6");
    browser.eval(&format!("location.hash = {address}"));
    browser.wait_for("protolog.filter.shown.length === 3");
    browser.click("#detail button.request");
    browser.wait_for("protolog.filter.shown.length === 6");

    // The choices beside the list, with the messages that each would show.
    let counts = "[...document.querySelectorAll('#side input[data-choice^=\"requests:\"]')].map((it) => it.parentElement.lastElementChild.textContent)";
    assert_eq!(browser.eval(counts), json!(["3", "2", "1"]));
    browser.click("#side input[data-choice='requests:0']");
    browser.wait_for("protolog.filter.shown.length === 2");
    browser.click("#side input[data-choice='requests:2']");
    browser.wait_for("protolog.filter.shown.length === 3");
    assert_eq!(browser.eval(texts), json!(["in 1", "in 4", "in 5"]));
    browser.click("#side input[data-choice='threads:0']");
    browser.wait_for("document.querySelector('#side input[data-choice=\"threads:0\"]').checked");
    assert_eq!(browser.eval(counts), json!(["2", "2", "1"]));
    assert_eq!(browser.eval("typeof hacked"), "undefined");
    browser.assert_clean();
}

#[test]
fn a_log_without_requests_offers_none() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let without: Vec<&str> = TRACE.lines().filter(|line| !line.contains("@1 request(")).collect();
    let without = without.join("\n").replace(r#" request(1, "GET /cart")"#, "");
    fs::write(&path, description::trace(&without)).unwrap();
    browser.open(&page(&dir, &path));
    assert_eq!(browser.eval("protolog.data.requests"), Value::Null);
    assert_eq!(browser.eval("protolog.filter.shown.length"), 6);
    assert_eq!(
        browser.eval("document.getElementById('side').textContent.includes('Request')"),
        false
    );
    browser.assert_clean();
}
