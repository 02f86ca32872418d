//! The real Perfetto UI, in the real browser, with traces of ours: it shows the log without a
//! query.
//!
//! The UI is the one that comes with the `trace_processor` of all tests (`PERFETTO_WEB_DIST`),
//! served on loopback; no other host can be reached. It is asked as a person looks: by what stands
//! on the page, and by the tracks of the workspace that it draws.

use super::browser::Browser;
use super::served::{Client, LIMIT, Served};
use super::{AppLog, expected, lock};
use base64::{Engine, engine::general_purpose::STANDARD};
use protolog_rt::{Session, d, w};
use protolog_testkit::serde_json::{self, Value};
use protolog_testkit::{TempDir, temp_dir, trace_processor, web_dist, workspace_root};
use std::fs;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// The UI's files and one trace, on loopback.
struct Ui {
    origin: String,
}

impl Ui {
    /// Serves the files below `dist`, and `trace` as `/trace`, as long as the test runs.
    fn serve(dist: PathBuf, trace: &Path) -> Self {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", server.local_addr().unwrap());
        let trace = trace.to_owned();
        thread::spawn(move || {
            for stream in server.incoming().flatten() {
                let (dist, trace) = (dist.clone(), trace.clone());
                thread::spawn(move || {
                    // A browser may open a connection that it does not use.
                    let _ = serve_one(&stream, &dist, &trace);
                });
            }
        });
        Self { origin }
    }
}

/// Answers a request, and closes the connection.
fn serve_one(stream: &TcpStream, dist: &Path, trace: &Path) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    // The wheel's UI asks the program that it is made for whether there is a trace, which opens
    // over any other one. It waits.
    if path == "/vizviewer_info" {
        thread::sleep(LIMIT);
        return Ok(());
    }
    let file = match path.split(['?', '#']).next().unwrap_or_default() {
        "/trace" => trace.to_owned(),
        "/" => dist.join("index.html"),
        other => dist.join(other.trim_start_matches('/')),
    };
    let (status, bytes) =
        fs::read(&file).map_or(("404 Not Found", Vec::new()), |it| ("200 OK", it));
    let (kind, size) = (kind(&file), bytes.len());
    let mut out = BufWriter::new(stream);
    write!(
        out,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"
    )?;
    out.write_all(&bytes)?;
    out.flush()
}

fn kind(file: &Path) -> &'static str {
    match file.extension().and_then(|end| end.to_str()) {
        Some("html") => "text/html",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("json") => "application/json",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

/// A field of a message of protobuf, of a number below 2^63 or of bytes.
enum Field<'a> {
    Number(u8, u64),
    Bytes(u8, &'a [u8]),
}

use Field::{Bytes, Number};

fn message(fields: &[Field<'_>]) -> Vec<u8> {
    fn varint(mut number: u64, out: &mut Vec<u8>) {
        while number >= 0x80 {
            out.push(number as u8 | 0x80);
            number >>= 7;
        }
        out.push(number as u8);
    }
    let mut out = Vec::new();
    for field in fields {
        match field {
            Number(field, number) => {
                varint(u64::from(*field) << 3, &mut out);
                varint(*number, &mut out);
            }
            Bytes(field, bytes) => {
                varint((u64::from(*field) << 3) | 2, &mut out);
                varint(bytes.len() as u64, &mut out);
                out.extend(*bytes);
            }
        }
    }
    out
}

/// A span of 4 ms on a thread, in the packets in which the `tracing` bridge writes one.
fn span(name: &str, pid: u64, tid: u64, begin: u64) -> Vec<u8> {
    const SEQUENCE: u64 = 900;
    const TRACK: u64 = 1 << 40;
    let thread = message(&[Number(1, pid), Number(2, tid)]);
    let track = message(&[Number(1, TRACK), Bytes(4, &thread)]);
    let first = message(&[Number(9, 1), Number(11, TRACK), Bytes(23, name.as_bytes())]);
    let last = message(&[Number(9, 2), Number(11, TRACK)]);
    let packets = [
        message(&[Number(10, SEQUENCE), Bytes(60, &track)]),
        message(&[Number(8, begin), Number(10, SEQUENCE), Bytes(11, &first)]),
        message(&[Number(8, begin + 4_000_000), Number(10, SEQUENCE), Bytes(11, &last)]),
    ];
    packets.iter().flat_map(|packet| message(&[Bytes(1, packet)])).collect()
}

/// A trace with messages, losses and a span.
fn record_all(dir: &TempDir) -> PathBuf {
    let trace = dir.path().join("app.pftrace");
    let builder = Session::builder().file(&trace).enable_all().report_losses(false);
    let session = builder.keep_first().buffer_size(128 << 10).start().unwrap();
    let log = || {
        w!(AppLog::Disk, "slow: %s took %d ms", "write <b>back</b>", 42);
        for number in 0..50_000 {
            d!(AppLog::Net, "sent %d bytes", number);
        }
    };
    thread::Builder::new().name("flusher".into()).spawn(log).unwrap().join().unwrap();
    session.stop().unwrap();
    let first = &expected(&trace)[0];
    let number = |key: &str| first[key].as_u64().unwrap_or_else(|| panic!("{key} of {first}"));
    let span = span("write back", number("pid"), number("tid"), number("ts"));
    fs::OpenOptions::new().append(true).open(&trace).unwrap().write_all(&span).unwrap();
    trace
}

/// Waits until the UI shows the messages of [`record_all`], and checks all that it shows of them.
fn assert_is_shown(browser: &mut Browser) {
    browser.set_size(1400, 900);
    browser.wait_for("location.hash.startsWith('#!/viewer')");
    // The table of logs opens by itself, and messages stand in it as text.
    let row = "slow: write <b>back</b> took 42 ms";
    browser.wait_for(&format!("document.body.innerText.includes({row:?})"));
    // Each when it is drawn: rows and titles come one after the other.
    for part in ["Android Logs", "Total messages: ", "\nDisk\n", "sent 7 bytes"] {
        browser.wait_for(&format!("document.body.innerText.includes({part:?})"));
    }
    browser.eval("app.commands.runCommand('dev.perfetto.ExpandAllGroups')");
    let name = std::env::current_exe().unwrap();
    // The part of a name that the kernel keeps, at least.
    let process = &name.file_name().unwrap().to_str().unwrap()[..12];
    browser.wait_for(&format!("{TITLES}.some((it) => it.includes({process:?}))"));
    // A track that is there could be empty.
    for track in ["Android logs", "lost messages", "sent %d bytes [1]", "flusher"] {
        browser.wait_for(&format!("{TITLES}.some((it) => it.includes({track:?}))"));
        let begun = Instant::now();
        while coloured(browser, track) == 0 {
            assert!(begun.elapsed() < Duration::from_secs(60), "nothing is drawn for `{track}`");
        }
    }
    if let Some(path) = std::env::var_os("PROTOLOG_VIEW_PICTURE") {
        fs::write(path, browser.screenshot()).unwrap();
    }
}

/// The titles of tracks, in order, without the marks where lines may break.
const TITLES: &str = "[...document.querySelectorAll('.pf-track__title')].map((it) => it.textContent.replaceAll('\\u200b', ''))";

/// The pixels of a screenshot that have a colour, where the track of this title is drawn.
fn coloured(browser: &mut Browser, track: &str) -> u64 {
    browser.eval("waitForPerfettoIdle()");
    let picture = STANDARD.encode(browser.screenshot());
    let script = format!(
        "(async () => {{
            const title = [...document.querySelectorAll('.pf-track__title')]
                .find((it) => it.textContent.replaceAll('\\u200b', '').includes({track:?}));
            const canvas = title.closest('.pf-track').querySelector('.pf-track__canvas');
            const {{x, y, width, height}} = canvas.getBoundingClientRect();
            const bytes = Uint8Array.from(atob({picture:?}), (it) => it.charCodeAt(0));
            const picture = await createImageBitmap(new Blob([bytes]));
            const copy = new OffscreenCanvas(width, height).getContext('2d');
            copy.drawImage(picture, x, y, width, height, 0, 0, width, height);
            const pixels = copy.getImageData(0, 0, width, height).data;
            let count = 0;
            for (let at = 0; at < pixels.length; at += 4) {{
                const [red, green, blue] = pixels.subarray(at, at + 3);
                if (Math.max(red, green, blue) - Math.min(red, green, blue) > 40) count++;
            }}
            return count;
        }})()"
    );
    browser.eval(&script).as_u64().expect("a number")
}

/// The view of the extension server for which the trace needs all of this.
fn assert_messages_are_in_the_span(trace: &Path) {
    let file = workspace_root().join("integrations/perfetto/modules/default/sql_modules");
    let modules: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let module = modules["sql_modules"][0]["sql"].as_str().unwrap();
    let query =
        "SELECT message, thread_name, slice_name FROM protolog_in_slices ORDER BY ts LIMIT 1";
    let tables = trace_processor(trace, &[module, query]).expect("the UI is there, too");
    let row = &tables[1].rows[0];
    assert_eq!(row[0], "slow: write <b>back</b> took 42 ms");
    assert_eq!((&row[1], &row[2]), (&"flusher".into(), &"write back".into()));
}

#[test]
fn the_ui_shows_messages_and_tracks() {
    let _lock = lock();
    let Some(dist) = web_dist() else { return };
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = record_all(&dir);
    let shown = dir.path().join("ui.pftrace");
    let mut merge = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    merge
        .args(["merge", "--perfetto-ui", "--counter", "sent %d bytes", "-o"])
        .arg(&shown)
        .arg(&trace);
    assert!(merge.status().unwrap().success());
    assert_messages_are_in_the_span(&shown);
    let ui = Ui::serve(dist, &shown);
    browser.go_to(&format!("{0}/#!/?url={0}/trace", ui.origin));
    assert_is_shown(&mut browser);
}

/// `view --perfetto` as it runs.
fn hand_over(ui: &str, trace: &Path) -> Served {
    let ui = format!("--perfetto={ui}");
    Served::with(&["--no-browser", "--counter", "sent %d bytes", &ui], trace)
}

#[test]
fn the_ui_takes_a_trace_from_another_window() {
    let _lock = lock();
    let Some(dist) = web_dist() else { return };
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = record_all(&dir);
    // The UI's own server has no trace.
    let ui = Ui::serve(dist, &dir.path().join("none"));
    let mut handover = hand_over(&ui.origin, &trace);
    browser.go_to(&handover.url);
    browser.wait_for("document.body?.dataset.state === 'offered'");
    browser.assert_clean();
    browser.click("#open");
    browser.wait_for("document.body.dataset.state === 'open'");
    browser.wait_for("document.body.innerText.includes('The trace is open in http://127.0.0.1')");
    browser.assert_clean();
    assert!(handover.process.wait().unwrap().success());
    browser.switch_to(&ui.origin);
    assert_is_shown(&mut browser);
    browser.wait_for("document.body.innerText.includes('app.pftrace')");
}

/// As a browser has them, which keeps them open.
#[test]
fn connections_that_come_together_are_all_served() {
    let _lock = lock();
    let dir = temp_dir();
    let trace = record_all(&dir);
    let handover = hand_over("http://127.0.0.1:9", &trace);
    for _ in 0..10 {
        let mut connections: Vec<_> = (0..12).map(|_| handover.connect()).collect();
        for stream in &mut connections {
            write!(stream, "GET / HTTP/1.1\r\nHost: {}\r\n\r\n", handover.address()).unwrap();
            let mut line = String::new();
            BufReader::new(&*stream).read_line(&mut line).expect("a response");
            assert!(line.starts_with("HTTP/1.1 200"), "{line}");
        }
    }
}

#[test]
fn only_the_browser_that_was_let_in_gets_the_trace() {
    let _lock = lock();
    let dir = temp_dir();
    let trace = record_all(&dir);
    let mut handover = hand_over("http://127.0.0.1:9", &trace);
    let own = handover.address().to_string();
    // The UI takes traces from there without a question.
    assert!(own.starts_with("127.0.0.1:"));
    let page = String::from_utf8(handover.ask_plainly("GET", "/", &own).body).unwrap();
    assert!(!page.contains("app.pftrace") && !page.contains("http:"), "{page}");
    for (method, path) in [("GET", "/trace"), ("GET", "/about"), ("POST", "/done")] {
        assert_eq!(handover.ask_plainly(method, path, &own).status, 401, "{method} {path}");
    }
    let client = Client::open(&handover.url).map_err(|it| it.status).unwrap();
    let about = String::from_utf8(client.ask("GET", "/about").body).unwrap();
    assert_eq!(about, "{\"title\":\"app.pftrace\",\"ui\":\"http://127.0.0.1:9\"}");
    for (method, path) in [("GET", "/done"), ("POST", "/trace")] {
        assert_eq!(client.ask(method, path).status, 404, "{method} {path}");
    }
    let size = fs::metadata(&trace).unwrap().len() as usize;
    assert!(client.ask("GET", "/trace").body.len() > size);
    assert!(handover.is_running());
    assert_eq!(client.ask("POST", "/done").status, 204);
    assert!(handover.process.wait().unwrap().success());
}

#[test]
fn the_ui_gets_texts_of_a_dictionary() {
    let _lock = lock();
    let dir = temp_dir();
    let [trace, texts] = ["stripped.pftrace", "texts.json"].map(|name| dir.path().join(name));
    let of_message = [9, 119, 0, 0, 0, 0, 0, 0, 0, 0x18, 14];
    let mut packet = vec![0x40, 1, 0x50, 1, 0x68, 1, 0xc2, 6, of_message.len() as u8];
    packet.extend(of_message);
    fs::write(&trace, [&[0x0a, packet.len() as u8], &packet[..]].concat()).unwrap();
    let json = r#"{"version": "2.0.0", "messages": {"119":
        {"message": "from a file: %d", "level": "ERROR", "group": "NET", "at": "com/foo/Net.java"}
    }, "groups": {"NET": {"tag": "FileTag"}}}"#;
    fs::write(&texts, json).unwrap();
    let texts = texts.to_str().unwrap();
    let args = ["--no-browser", "--perfetto=http://127.0.0.1:9", "--viewer-config", texts];
    let handover = Served::with(&args, &trace);
    let client = Client::open(&handover.url).map_err(|it| it.status).unwrap();
    let handed_over = client.ask("GET", "/trace").body;
    let has = |text: &str| handed_over.windows(text.len()).any(|at| at == text.as_bytes());
    assert!(has("from a file: %d") && has("FileTag"));
}

#[test]
fn mistakes_in_the_address_of_a_ui() {
    for (args, expected) in [
        (
            ["--perfetto=ui.perfetto.dev", "a.pftrace"],
            "give an address that begins with `https://`",
        ),
        (["--perfetto=", "a.pftrace"], "`--perfetto`"),
        (["--counter=sent", "a.pftrace"], "missing `--perfetto"),
    ] {
        let mut view = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        let output = view.arg("view").args(args).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), errors.contains(expected)), (Some(2), true), "{errors}");
    }
    let mut view = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    let output =
        view.args(["view", "--perfetto", "a.pftrace", "--level", "warn"]).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(errors.contains("`--perfetto` can't be used with `--level`"), "{errors}");
}
