//! Pictures of the page, light and dark, beside those that are checked in and were looked at.
//!
//! Fonts differ between machines, so pictures are compared as blocks of 8 by 8 pixels, in which
//! text is a grey: parts that move, disappear or change their colour are seen, the shape of a
//! letter is not. `UPDATE_EXPECT=1` renews the pictures, as
//! `cargo xtask bless --package protolog-tool --test view pictures` does; those of this run are in
//! `target/tmp/view`, whole.

use crate::browser::Browser;
use crate::{description, lock, page};
use base64::{Engine, engine::general_purpose::STANDARD};
use protolog_testkit::serde_json::{self, json};
use protolog_testkit::temp_dir;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The most that all blocks may differ on average, of 255.
const MEAN: f64 = 2.0;
/// The part of blocks that may differ by more than 40, of 1. Another font makes it 0.002 with a
/// mean of 1; without the rows of the list it is 0.011.
const MOST_FAR: f64 = 0.008;

/// Two seconds of a server: requests in spans on two threads, a cache that fails in between, a
/// loss, a stack.
fn trace() -> Vec<u8> {
    let mut text = String::from(
        r#"
group(1, "shop::AppLog::Net", "Net") group(2, "shop::AppLog::Cache", "Cache") group(3, "shop::AppLog::Disk", "Disk")
message(0x11, DEBUG, 1, "request %d: %d bytes from %s", "src/net.rs:41") message(0x12, INFO, 2, "hit ratio %.3f of %d entries", "src/cache.rs:12")
message(0x13, WARN, 3, "sync took %d ms", "src/disk.rs:88") message(0x14, ERROR, 2, "can't reach %s: %s", "src/cache.rs:77")
message(0x15, VERBOSE, 1, "poll %d", "src/net.rs:9")
process(4711, "/usr/bin/shop")
@9 snapshot(real=1795199221000000000, boot=1000000000)
@1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(4711, 4711, "main")
@2 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(4711, 4715, "worker-1")
@2 needs string(1, "10.0.0.7") TEXTS
@3 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(4711, 4716, "worker-2")
@3 needs string(1, "10.0.0.8") TEXTS
"#,
    );
    for number in 0..200_u32 {
        let bytes = 400 + (number * 7919) % 1600;
        let worker = 2 + number % 2;
        let is_slow = (80..110).contains(&number);
        let pause = if is_slow { 1_000_000 } else { 9_000_000 };
        let mut line = |rest: &str| writeln!(text, "@{worker} needs {rest}").expect("a string");
        line(&format!(
            "ts={pause} begin(\"request\", \"shop::net\", id={number}, path=\"/items/{number}\")"
        ));
        line(&format!("ts=300000 log(0x11, {number}, {bytes}, $1)"));
        line("ts=200000 begin(\"parse\", \"shop::net\")");
        line("ts=400000 end()");
        line("ts=100000 begin(\"lookup\", \"shop::cache\")");
        match number {
            92..=95 => line("ts=4000000 log(0x14, $2, $3, stack=1)"),
            _ if number % 9 == 0 => line("ts=1500000 log(0x12, 0.875, 1024)"),
            _ => line(&format!("ts=1500000 log(0x15, {number})")),
        }
        line(&format!("ts={} end()", if is_slow { 9_000_000 } else { 2_000_000 }));
        line("ts=500000 end(status=200)");
        if number % 50 == 30 {
            writeln!(text, "@1 needs ts=480000000 log(0x13, {number})").expect("a string");
        }
        if number == 120 {
            writeln!(text, "@1 needs ts=20000000 loss(1, 1, 17) log(0x13, 250)").expect("a string");
        }
    }
    description::trace(&text.replace("TEXTS", TEXTS))
}

/// The strings that both workers log.
const TEXTS: &str = r#"string(2, "cache-1.example.org") string(3, "connection refused") stack(1, "shop::cache::connect (src/cache.rs:77)\nshop::cache::get (src/cache.rs:31)\nshop::handle (src/main.rs:60)\n")"#;

/// Compares two pictures, the second of which may be missing; and makes blocks of the first.
const COMPARE: &str = r"
(async ([picture, reference]) => {
  const load = async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    return image;
  };
  const draw = (image, width, height) => {
    const canvas = Object.assign(document.createElement('canvas'), { width, height }), context = canvas.getContext('2d', { willReadFrequently: true });
    context.drawImage(image, 0, 0, width, height);
    return [canvas, context.getImageData(0, 0, width, height).data];
  };
  const blocks = (image) => {
    const [, pixels] = draw(image, image.width, image.height), width = Math.ceil(image.width / 8), height = Math.ceil(image.height / 8);
    const sums = new Float64Array(width * height * 4);
    for (let y = 0; y < image.height; y++) for (let x = 0; x < image.width; x++) {
      const to = ((y >> 3) * width + (x >> 3)) * 4, from = (y * image.width + x) * 4;
      for (let k = 0; k < 3; k++) sums[to + k] += pixels[from + k];
      sums[to + 3]++;
    }
    const canvas = Object.assign(document.createElement('canvas'), { width, height }), context = canvas.getContext('2d'), made = context.createImageData(width, height);
    for (let at = 0; at < sums.length; at += 4) {
      for (let k = 0; k < 3; k++) made.data[at + k] = Math.round(sums[at + k] / sums[at + 3]);
      made.data[at + 3] = 255;
    }
    context.putImageData(made, 0, 0);
    return [canvas, made.data];
  };
  const [canvas, one] = blocks(await load(picture)), png = canvas.toDataURL('image/png').split(',')[1];
  if (!reference) return { png };
  const image = await load(reference), [, other] = draw(image, image.width, image.height);
  if (image.width !== canvas.width || image.height !== canvas.height) return { png, size: `${image.width}x${image.height}` };
  let sum = 0, far = 0;
  for (let at = 0; at < one.length; at += 4) {
    const by = Math.max(...[0, 1, 2].map((k) => Math.abs(one[at + k] - other[at + k])));
    sum += by;
    if (by > 40) far++;
  }
  return { png, mean: sum / (one.length / 4), far: far / (one.length / 4) };
})";

/// The difference of a picture from a reference: mean of blocks, and the part of those that differ
/// far.
fn compare(judge: &mut Browser, picture: &str, reference: &str) -> (f64, f64, String) {
    let result = judge.eval(&format!("{COMPARE}({})", json!([picture, reference])));
    let number = |name: &str| result[name].as_f64().unwrap_or(f64::INFINITY);
    (number("mean"), number("far"), result["png"].as_str().unwrap().to_owned())
}

fn is_near((mean, far, _): &(f64, f64, String)) -> bool {
    *mean <= MEAN && *far <= MOST_FAR
}

#[test]
fn pictures_are_those_that_were_looked_at() {
    let _lock = lock();
    let (Some(mut browser), Some(mut judge)) = (Browser::start(), Browser::start()) else { return };
    let dir = temp_dir();
    let path = dir.path().join("shop.pftrace");
    fs::write(&path, trace()).unwrap();
    let url = page(&dir, &path);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/view/pictures");
    let whole = Path::new(env!("CARGO_TARGET_TMPDIR")).join("view");
    fs::create_dir_all(&whole).unwrap();
    browser.set_zone("UTC");
    let mut problems = Vec::new();
    for (name, keys) in [("list", &[][..]), ("message", &["e", "o"]), ("keys", &["?"])] {
        for scheme in ["light", "dark"] {
            browser.set_scheme(scheme);
            browser.set_size(1400, 900);
            browser.open(&url);
            for key in keys {
                browser.press(key);
                browser.settle();
            }
            browser.eval("document.activeElement.blur(); 1");
            browser.settle();
            let picture = browser.screenshot();
            let name = format!("{name}-{scheme}.png");
            fs::write(whole.join(&name), &picture).unwrap();
            let reference = fs::read(folder.join(&name)).unwrap_or_default();
            let found =
                compare(&mut judge, &STANDARD.encode(&picture), &STANDARD.encode(reference));
            println!("{name}: mean {:.2} of 255, {:.2} % far", found.0, found.1 * 100.0);
            if is_near(&found) {
                continue;
            }
            if std::env::var_os("UPDATE_EXPECT").is_some_and(|it| it == "1") {
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join(&name), STANDARD.decode(&found.2).unwrap()).unwrap();
            } else {
                problems.push(format!("{name}: mean {}, far {}", found.0, found.1));
            }
        }
    }
    browser.assert_clean();
    assert!(problems.is_empty(), "look at `{}`, {problems:#?}", whole.display());
    changes_are_seen(&mut browser, &mut judge, &url, &folder);
}

/// Without one of its parts, in other colours or with another font size, the page is another
/// picture; in another font it is the same.
fn changes_are_seen(browser: &mut Browser, judge: &mut Browser, url: &str, folder: &Path) {
    let reference = STANDARD.encode(fs::read(folder.join("message-light.png")).unwrap());
    let is_same = |browser: &mut Browser, judge: &mut Browser, change: &str| {
        browser.set_scheme("light");
        browser.open(url);
        for key in ["e", "o"] {
            browser.press(key);
            browser.settle();
        }
        browser.eval(&format!("document.activeElement.blur(); {change}; 1"));
        browser.settle();
        let found = compare(judge, &STANDARD.encode(browser.screenshot()), &reference);
        println!("{change}: mean {:.2} of 255, {:.2} % far", found.0, found.1 * 100.0);
        is_near(&found)
    };
    let style = |text: &str| {
        let sheet = serde_json::to_string(text).unwrap();
        format!(
            "document.adoptedStyleSheets = [new CSSStyleSheet()]; document.adoptedStyleSheets[0].replaceSync({sheet})"
        )
    };
    assert!(is_same(browser, judge, "0"));
    for missing in ["#spans", "#side", "#overview", "#detail", "#rows"] {
        let change = format!("{missing} {{ display: none !important }}");
        assert!(!is_same(browser, judge, &style(&change)), "{missing}");
    }
    assert!(!is_same(browser, judge, &style(":root { color-scheme: dark !important }")));
    let fonts = ":root { --mono: \"Liberation Mono\", \"Courier New\", monospace !important } body { font-family: \"Liberation Sans\", Arial, sans-serif !important }";
    assert!(is_same(browser, judge, &style(fonts)));
}
