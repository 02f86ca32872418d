//! The real Perfetto UI, in the real browser, with traces of ours: it shows the log without a query.
//!
//! The UI is the one that comes with the `trace_processor` of all tests (`PERFETTO_WEB_DIST`), served on loopback; no other host can be
//! reached. It is asked as a person looks: by what stands on the page, and by the tracks of the workspace that it draws.

use super::browser::Browser;
use super::{AppLog, expected, lock};
use base64::{Engine, engine::general_purpose::STANDARD};
use protolog_rt::{Session, d, w};
use protolog_testkit::serde_json::{self, Value};
use protolog_testkit::{TempDir, temp_dir, trace_processor, web_dist, workspace_root};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tiny_http::{Header, Response, Server};

/// The UI's files and one trace, on loopback.
struct Ui {
    server: Arc<Server>,
    origin: String,
}

impl Ui {
    /// Serves the files below `dist`, and `trace` as `/trace`.
    fn serve(dist: PathBuf, trace: &Path) -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").unwrap());
        let origin = format!("http://{}", server.server_addr());
        let (requests, trace) = (server.clone(), trace.to_owned());
        let address = server.server_addr().to_ip().unwrap();
        // As `view` does, where the reason stands (`loopback.rs`).
        thread::spawn(move || {
            while TcpStream::connect(address).is_ok() {
                thread::sleep(Duration::from_millis(100));
            }
        });
        thread::spawn(move || {
            // The wheel's UI asks the program that it is made for whether there is a trace, which opens over any other one. It waits.
            let mut unanswered = Vec::new();
            for request in requests.incoming_requests() {
                if request.url() == "/vizviewer_info" {
                    unanswered.push(request);
                    continue;
                }
                let path = request.url().split(['?', '#']).next().unwrap_or_default();
                let file = match path {
                    "/trace" => trace.clone(),
                    "/" => dist.join("index.html"),
                    other => dist.join(other.trim_start_matches('/')),
                };
                let _ = match fs::read(&file) {
                    Ok(bytes) => {
                        request.respond(Response::from_data(bytes).with_header(kind(&file)))
                    }
                    Err(_) => request.respond(Response::empty(404)),
                };
            }
        });
        Self { server, origin }
    }
}

impl Drop for Ui {
    fn drop(&mut self) {
        self.server.unblock();
    }
}

fn kind(file: &Path) -> Header {
    let kind = match file.extension().and_then(|end| end.to_str()) {
        Some("html") => "text/html",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("json") => "application/json",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    Header::from_bytes("Content-Type", kind).unwrap()
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

/// `view --perfetto` as it runs, with the address that it printed.
struct Handover {
    process: Child,
    url: String,
}

impl Handover {
    fn start(ui: &str, trace: &Path) -> Self {
        let mut view = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        view.args(["view", "--no-browser", "--counter", "sent %d bytes"]);
        view.arg(format!("--perfetto={ui}")).arg(trace).stdout(Stdio::piped());
        let mut process = view.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { process, url: url.trim_end().to_owned() }
    }

    /// The status line of the response to a request with this path behind the token.
    fn status(&self, method: &str, path: &str, host: &str) -> String {
        let (address, token) =
            self.url.strip_prefix("http://").and_then(|url| url.split_once('/')).unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let host = if host.is_empty() { address } else { host };
        let path = path.replace("TOKEN/", token);
        write!(stream, "{method} /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Handover {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
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
    let mut handover = Handover::start(&ui.origin, &trace);
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
    for _ in 0..10 {
        let handover = Handover::start("http://127.0.0.1:9", &trace);
        let (address, path) =
            handover.url.strip_prefix("http://").and_then(|url| url.split_once('/')).unwrap();
        let connections = (0..12).map(|_| TcpStream::connect(address).unwrap());
        for mut stream in connections.collect::<Vec<_>>() {
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            write!(stream, "GET /{path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).expect("a response");
            assert!(line.starts_with("HTTP/1.1 200"), "{line}");
            // It stays open until the program ends.
            std::mem::forget(stream);
        }
    }
}

#[test]
fn only_its_page_gets_the_trace() {
    let _lock = lock();
    let dir = temp_dir();
    let trace = record_all(&dir);
    let handover = Handover::start("http://127.0.0.1:9", &trace);
    let ok = "HTTP/1.1 200";
    for (method, path, host, expected) in [
        ("GET", "TOKEN/", "", ok),
        ("GET", "TOKEN/trace", "", ok),
        ("GET", "TOKEN/trace", "evil.example", "HTTP/1.1 403"),
        ("GET", "trace", "", "HTTP/1.1 404"),
        ("GET", "", "", "HTTP/1.1 404"),
        ("POST", "done", "", "HTTP/1.1 404"),
        ("GET", "TOKEN/done", "", "HTTP/1.1 404"),
        ("POST", "TOKEN/trace", "", "HTTP/1.1 404"),
        ("GET", "TOKEN/trace", "", ok),
    ] {
        let line = handover.status(method, path, host);
        assert!(line.starts_with(expected), "{method} {path}: {line}");
    }
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
