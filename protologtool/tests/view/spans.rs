//! The strip of spans: what is drawn, chosen, and named.

use crate::browser::Browser;
use crate::{description, lock, page, tool};
use protolog_testkit::serde_json::{self, Value, json};
use protolog_testkit::temp_dir;
use std::fs;

/// Two threads; names and fields that would be markup; a span without an end, and one before all
/// messages.
const TRACE: &str = r#"
group(1, "app::Net", "Net") message(0x11, INFO, 1, "in %d", "src/net.rs:12")
@1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(100, 101, "main")
@1 needs ts=0 begin("<img src=x onerror=hacked=1>", "app", track=5, id=7, path="<script>hacked=1</script>")
@1 needs ts=1000000 begin("inner", "app::net", track=5)
@1 needs ts=1000000 log(0x11, 1)
@1 needs ts=1000000 end(track=5, id=8)
@1 needs ts=5000000 end(track=5, id=9)
@1 needs ts=2000000 log(0x11, 2)
@2 cleared snapshot(64=0, boot=1004000000, incremental=64) default_clock=64 info(100, 102, "worker")
@2 needs ts=0 begin("open", "app")
@2 needs ts=8000000 log(0x11, 3)
"#;

#[test]
fn spans_are_shown_above_the_list_and_with_a_message() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    fs::write(&path, description::trace(TRACE)).unwrap();
    browser.open(&page(&dir, &path));
    // As the other command has them.
    let lines = tool(&["read-log", "--spans", "--format", "json", "--time", "boot"], &path);
    let lines = String::from_utf8(lines.stdout).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let begins: Vec<Value> = lines.filter(|line| line["type"] == "span_begin").collect();
    let expected: Vec<Value> = begins
        .iter()
        .map(|it| {
            json!([it["ts"].to_string(), it["span"], it["target"], it["thread"], it["depth"]])
        })
        .collect();
    let shown = "Array.from({ length: protolog.data.slices.n }, (_, k) => { const { slices } = protolog.data; return [ \
        protolog.data.stamp(slices.begin[k]), protolog.data.textOf(slices.name[k]), protolog.data.textOf(slices.target[k]), \
        protolog.data.meta.threads[slices.thread[k]].name, slices.depth[k]]; })";
    assert_eq!(expected.len(), 3);
    assert_eq!(browser.eval(shown), json!(expected));
    // All time is that of the spans, too.
    let all = "protolog.overview.all().map((time) => protolog.data.stamp(time))";
    assert_eq!(browser.eval(all), json!(["1000000000", "1012000001"]));
    // Rows of the strip have their colour: two of the first thread, one of the second.
    let painted = "(() => { const canvas = document.getElementById('flames'), context = canvas.getContext('2d'), \
        { data } = context.getImageData(0, 0, canvas.width, canvas.height); \
        const isPainted = (x, y) => data[(Math.round(y * canvas.height / canvas.clientHeight) * canvas.width + Math.round(x * canvas.width)) * 4 + 3] > 0; \
        return [[0.3, 20], [0.15, 36], [0.4, 36], [0.7, 20], [0.9, 68], [0.1, 68]].map(([x, y]) => isPainted(x, y)); })()";
    assert_eq!(browser.eval(painted), json!([true, true, false, false, true, false]));
    // The first message is in two.
    browser.press("Home");
    let near = "[...document.querySelectorAll('#detail .span')].map((it) => it.textContent)";
    let texts = browser.eval(near);
    assert_eq!(
        texts,
        json!([
            "8.00 ms<img src=x onerror=hacked=1> id=9 path=<script>hacked=1</script>",
            "2.00 msinner id=8"
        ])
    );
    let range = "protolog.filter.to - protolog.filter.from";
    browser.press("o");
    browser.wait_for(&format!("{range} === 2125001"));
    browser.press("o");
    browser.wait_for(&format!("{range} === 8500001"));
    browser.press("0");
    browser.wait_for("protolog.filter.from === null");
    browser.press("j");
    browser.press("o");
    browser
        .wait_for("document.getElementById('note').textContent === 'this message is in no span'");
    // A click in the strip; a thread that is not chosen has no lane.
    browser.eval("(() => { const box = document.getElementById('flames').getBoundingClientRect(); \
        document.getElementById('flames').dispatchEvent(new MouseEvent('click', { clientX: box.left + box.width * 0.5, clientY: box.top + 20, bubbles: true })); })()");
    browser.wait_for(&format!("{range} === 8500001"));
    browser.press("x");
    browser.wait_for("protolog.filter.from === null");
    browser.click("#side input[data-choice='threads:1']");
    browser.wait_for("protolog.flames.lanes().length === 1");
    assert_eq!(browser.eval("typeof hacked"), "undefined");
    browser.assert_clean();
}
