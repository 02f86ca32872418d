//! The log of a page that is served goes to the browser that was opened for it, and to nobody else.

use crate::browser::Browser;
use crate::served::{Client, Desktop, Served, address, code, wait_for};
use crate::{AppLog, lock, log_a_thousand, record};
use protolog_rt::d;
use protolog_testkit::{temp_dir, tool};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

/// Notes what it is given, and runs on, as `xdg-open` does while it looks for a browser.
const NOTES: &str =
    "printf '%s' \"$*\" > \"$DESKTOP/part\"; mv \"$DESKTOP/part\" \"$DESKTOP/given\"; sleep 20";

/// Another user of this machine.
const STRANGER: u32 = 65534;

/// The file that `xdg-open` was given.
fn given(desktop: &Desktop) -> PathBuf {
    wait_for("xdg-open", || fs::read_to_string(desktop.file("given")).ok()).into()
}

/// The address in a redirect file.
fn leads_to(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    text.split("url=").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

#[test]
fn without_a_proof_there_is_nothing() {
    let _lock = lock();
    let dir = temp_dir();
    let served = Served::start(&record(&dir, log_a_thousand));
    let own = served.address().to_string();
    let page = served.ask_plainly("GET", "/", &own);
    assert_eq!(page.status, 200);
    let text = String::from_utf8(page.body.clone()).unwrap();
    assert!(!text.contains("app.pftrace") && !text.contains(code(&served.url)));
    assert_eq!(page.header("connection"), Some("close"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
    for (method, path) in [
        ("GET", "/data"),
        ("GET", "/none"),
        ("POST", "/session"),
        ("GET", "/session"),
        ("POST", "/"),
        ("HEAD", "/"),
        ("OPTIONS", "/data"),
        ("GET", "//"),
        ("GET", "/data?x"),
        ("CONNECT", "127.0.0.1:1"),
        ("GET", "/../"),
    ] {
        let reply = served.ask_plainly(method, path, &own);
        assert_eq!(reply.status, 401, "{method} {path}");
        assert!(reply.body.is_empty());
    }
    let client = Client::open(&served.url).map_err(|it| it.status).unwrap();
    assert_eq!((client.ask("GET", "/data").status, client.ask("GET", "/none").status), (200, 404));
    // A proof is of one path; a code works once; and there is no cookie.
    let other = client.proof("00000000000000000000000000000000", "GET", "/none");
    let reply = served.ask(&format!("GET /data HTTP/1.1\nHost: {own}\n{other}\n"));
    assert_eq!(reply.status, 401);
    assert_eq!(Client::open(&served.url).err().map(|it| it.status), Some(401));
    let reply = client.ask("GET", "/data");
    assert!(
        reply.header("set-cookie").is_none()
            && reply.header("access-control-allow-origin").is_none()
    );
}

#[test]
fn names_of_the_network_are_refused() {
    let _lock = lock();
    let dir = temp_dir();
    let served = Served::start(&record(&dir, || d!(AppLog::Net, "here")));
    let address = served.address();
    let ip = address.ip();
    // That of a browser at port 80 has no port.
    for own in
        [format!("{address}"), format!("{ip}"), "localhost:8080".into(), "127.0.0.1:9000".into()]
    {
        assert_eq!(served.ask_plainly("GET", "/", &own).status, 200, "{own}");
    }
    for other in [
        "evil.example",
        "evil.example:80",
        "",
        "127.0.0.1.evil.example",
        &format!("{ip}.evil.example"),
    ] {
        assert_eq!(served.ask_plainly("GET", "/", other).status, 403, "{other}");
    }
    for head in [
        "GET / HTTP/1.1\n".to_owned(),
        "GET / HTTP/1.0\n".to_owned(),
        format!("GET / HTTP/1.1\nHost: {address}\nHost: evil.example\n"),
        format!("GET http://evil.example/ HTTP/1.1\nHost: {address}\n"),
    ] {
        assert!(matches!(served.ask(&head).status, 400 | 403), "{head}");
    }
}

#[test]
fn the_port_of_the_web_will_do() {
    let _lock = lock();
    // It may be another user's to listen there, or in use.
    if TcpListener::bind("127.0.0.1:80").is_err() {
        return;
    }
    let dir = temp_dir();
    let trace = record(&dir, || d!(AppLog::Net, "here"));
    let served = Served::with(&["--no-browser", "--port", "80"], &trace);
    assert!(served.url.starts_with("http://127.0.0.1:80/#code="), "{}", served.url);
    assert_eq!(served.ask_plainly("GET", "/", "127.0.0.1").status, 200);
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&served.url);
    assert_eq!(browser.text("location.href"), "http://127.0.0.1/");
}

/// Another user of this machine looks around while a browser is being opened.
#[test]
fn the_code_is_in_no_argument_and_in_no_environment() {
    let _lock = lock();
    let dir = temp_dir();
    let trace = record(&dir, || d!(AppLog::Net, "here"));
    let desktop = Desktop::new(NOTES);
    let runtime = temp_dir();
    let mut served =
        Served::spawn(desktop.view(&[], &trace).env("XDG_RUNTIME_DIR", runtime.path()));
    assert!(served.url.ends_with('/') && !served.url.contains("code"), "{}", served.url);
    let file = given(&desktop);
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    let url = leads_to(&file);
    assert_eq!(address(&url), served.address());
    for process in fs::read_dir("/proc").unwrap().flatten() {
        // A process may have ended meanwhile, and be of another user.
        for part in ["cmdline", "environ"] {
            let bytes = fs::read(process.path().join(part)).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(code(&url)), "{}: {text}", process.path().display());
        }
    }
    if geteuid().is_root() {
        let mut read = Command::new("cat");
        let read = read.arg(&file).uid(STRANGER).gid(STRANGER).output().unwrap();
        assert!(!read.status.success() && read.stdout.is_empty(), "{read:?}");
    }
    // The browser comes, and the file goes.
    assert!(Client::open(&url).is_ok());
    assert!(!file.exists() && !file.parent().unwrap().exists());
    assert!(served.is_running());
}

/// Real Chromium, from the redirect file on.
#[test]
fn a_browser_is_let_in_with_all_its_tabs() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = record(&dir, log_a_thousand);
    let desktop = Desktop::new(NOTES);
    let served = Served::spawn(&mut desktop.view(&[], &trace));
    let file = given(&desktop);
    let redirect = format!("file://{}", file.display());
    let url = leads_to(&file);
    browser.open(&redirect);
    let count = "protolog.data.n";
    assert_eq!(browser.eval(count), 1000);
    assert_eq!(browser.text("location.href"), served.url);
    wait_for("the file to go", || (!file.exists()).then_some(()));
    // Loaded again, and in another tab.
    browser.eval("void (globalThis.protolog = undefined, location.reload())");
    browser.wait_for(&format!("globalThis.protolog && {count} === 1000"));
    browser.new_tab();
    browser.open(&format!("{}#text=x", served.url));
    assert_eq!(browser.eval(count), 1000);
    browser.assert_clean();
    // Not in another browser: neither by the address nor by the code, which was used.
    let Some(mut other) = Browser::start() else { return };
    let says = |browser: &mut Browser, url: &str, text: &str| {
        browser.go_to(url);
        browser.wait_for(&format!(
            "document.getElementById('problems')?.textContent.includes({text:?})"
        ));
        assert_eq!(browser.text("typeof protolog"), "undefined");
    };
    says(&mut other, &served.url, "press Enter in the terminal");
    says(&mut other, &url, "was used, or is too old");
}

/// Another user takes the port when `view` has ended, and the tab is still open.
#[test]
fn a_thief_of_the_port_gets_nothing_from_the_tab() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let served = Served::start(&record(&dir, log_a_thousand));
    let (address, url) = (served.address(), served.url.clone());
    browser.open(&url);
    let key = browser.text("localStorage.getItem('protolog')");
    // As another program at another port of this host might have left it.
    browser.eval("document.cookie = 'other=secret; path=/'; 1");
    drop(served);
    let thief = TcpListener::bind(address).unwrap();
    let (taken, requests) = mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in thief.incoming().flatten() {
            let (mut head, mut bytes) = (Vec::new(), [0; 4096]);
            while !head.windows(4).any(|it| it == b"\r\n\r\n") {
                match stream.read(&mut bytes) {
                    Ok(0) | Err(_) => break,
                    Ok(count) => head.extend(&bytes[..count]),
                }
            }
            let _ = taken.send(String::from_utf8_lossy(&head).into_owned());
            let body = "false";
            let proof = "0".repeat(64);
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nProtolog-Proof: {proof}\r\nProtolog-Digest: {proof}\r\n\
                 Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    let note = "document.getElementById('note').textContent";
    browser.wait_for(&format!("{note}.includes('another program answers at its address')"));
    assert_eq!(browser.eval("protolog.data.n"), 1000, "what it answers is not shown");
    let seen: Vec<String> = requests.try_iter().collect();
    assert!(!seen.is_empty());
    let (name, secret) = key.split_once('.').unwrap();
    for request in &seen {
        assert!(request.contains(name), "{request}");
        for part in [secret, code(&url), "Cookie", "cookie"] {
            assert!(!request.contains(part), "{request}");
        }
    }
    // The next page is of another origin, to which nothing of this one matters.
    if cfg!(target_os = "linux") {
        let next = Served::start(&record(&dir, log_a_thousand));
        assert_ne!(next.address().ip(), address.ip());
    }
}

/// `view` on a terminal, that of `script`, whose keys are what is written to it.
struct OnTerminal {
    process: Child,
    shown: String,
}

impl OnTerminal {
    /// Starts `view`; none without `script`.
    fn start(desktop: &Desktop, args: &str, trace: &Path) -> Option<Self> {
        let mut script = desktop.run(tool("env")?);
        // Where whoever runs the tests ignores hang-ups, `view` would not end with its terminal.
        script.arg("--default-signal=HUP,INT,TERM").arg(tool("script")?);
        let view = env!("CARGO_BIN_EXE_protologtool");
        let line = format!("exec {view} view {args} {}", trace.display());
        script.args(["-qec", &line, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let process = script.env("SHELL", "/bin/sh").spawn().unwrap();
        Some(Self { process, shown: String::new() })
    }

    /// Waits until so many addresses with a code were printed, and returns them.
    fn addresses(&mut self, count: usize) -> Vec<String> {
        let mut bytes = [0; 4096];
        loop {
            let words = self.shown.split_whitespace();
            let found: Vec<_> =
                words.filter(|it| it.contains("#code=")).map(str::to_owned).collect();
            // With all of its digits.
            if found.len() >= count && found.iter().all(|it| code(it).len() == 32) {
                return found;
            }
            let read = self.process.stdout.as_mut().unwrap().read(&mut bytes).unwrap();
            assert!(read > 0, "{:?}", self.shown);
            self.shown.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    }

    fn press(&mut self, keys: &[u8]) {
        self.process.stdin.as_mut().unwrap().write_all(keys).unwrap();
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        // It passes the end of its terminal on.
        drop(self.process.stdin.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// There is no program that starts one; it fails; it does its work, and the browser can't read the
/// file; it waits for the browser.
#[test]
fn a_browser_that_does_not_come_is_not_waited_for() {
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    fs::write(&trace, "").unwrap();
    let line = "help: if no page has opened, ";
    let cases = [
        ("", "help: no browser can be started; "),
        ("exit 3", line),
        ("kill -9 $$", line),
        ("exit 0", line),
        ("exec sleep 30", line),
    ];
    std::thread::scope(|scope| {
        for (script, line) in cases {
            let trace = &trace;
            scope.spawn(move || {
                let desktop = Desktop::new(script);
                let mut view = desktop.view(&[], trace);
                let mut served = Served::spawn(view.stderr(Stdio::piped()));
                if let Some(mut terminal) = OnTerminal::start(&desktop, "", trace) {
                    let url = terminal.addresses(1).remove(0);
                    assert!(terminal.shown.contains(&format!("{line}open {url}")), "{script}");
                    assert!(Client::open(&url).is_ok(), "{script}");
                }
                // Not where it may be kept.
                let errors = BufReader::new(served.process.stderr.take().unwrap()).lines();
                let help =
                    errors.map_while(Result::ok).find(|it| it.starts_with("help: ")).unwrap();
                let expected = "use `--no-browser` for an address that lets one in";
                assert_eq!(help, format!("{line}{expected}"));
                assert!(!served.url.contains("code"));
            });
        }
    });
}

/// Returns whether a signal is not ignored. Under `nohup`, or in the background of a script, tests
/// are run with signals that are, and so is `view`.
fn is_taken(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    u64::from_str_radix(ignored, 16).unwrap() & (1 << (signal.as_raw() - 1)) == 0
}

#[test]
fn a_signal_takes_the_redirect_file_away() {
    let _lock = lock();
    let dir = temp_dir();
    let trace = record(&dir, || d!(AppLog::Net, "here"));
    for signal in [Signal::INT, Signal::TERM, Signal::HUP].into_iter().filter(|it| is_taken(*it)) {
        let desktop = Desktop::new(NOTES);
        let mut served = Served::spawn(&mut desktop.view(&[], &trace));
        let file = given(&desktop);
        assert!(file.exists());
        kill_process(Pid::from_child(&served.process), signal).unwrap();
        let status = served.process.wait().unwrap();
        assert_eq!(status.signal(), Some(signal.as_raw()), "{status:?}");
        assert!(!file.parent().unwrap().exists());
    }
}

/// As under `nohup`, and as a script's programs in the background ignore Ctrl-C.
#[test]
fn signals_that_were_ignored_stay_so() {
    let _lock = lock();
    let dir = temp_dir();
    let trace = record(&dir, || d!(AppLog::Net, "here"));
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP INT; exec \"$0\" view --no-browser \"$1\" 2>/dev/null"]);
    shell.arg(env!("CARGO_BIN_EXE_protologtool")).arg(&trace).stdin(Stdio::null());
    let mut served = Served::spawn(&mut shell);
    let client = Client::open(&served.url).map_err(|it| it.status).unwrap();
    for signal in [Signal::HUP, Signal::INT] {
        kill_process(Pid::from_child(&served.process), signal).unwrap();
        assert_eq!(client.ask("GET", "/data").status, 200);
    }
    kill_process(Pid::from_child(&served.process), Signal::TERM).unwrap();
    assert_eq!(served.process.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
}

#[test]
fn enter_prints_an_address_for_another_browser() {
    let _lock = lock();
    let dir = temp_dir();
    let trace = record(&dir, || d!(AppLog::Net, "here"));
    let desktop = Desktop::new("");
    let Some(mut terminal) = OnTerminal::start(&desktop, "--no-browser", &trace) else { return };
    assert!(Client::open(&terminal.addresses(1)[0]).is_ok());
    terminal.press(b"\n");
    let both = terminal.addresses(2);
    assert!(Client::open(&both[0]).is_err() && Client::open(&both[1]).is_ok());
    if is_taken(Signal::INT) {
        terminal.press(b"\x03");
        assert!(!terminal.process.wait().unwrap().success());
    }
}

/// Input that is no terminal may be meant for another program, as in
/// `while read file; do protologtool view "$file"; done`.
#[test]
fn input_that_is_no_terminal_is_left_alone() {
    let _lock = lock();
    let dir = temp_dir();
    let trace = record(&dir, || d!(AppLog::Net, "here"));
    let (read, write) = std::io::pipe().unwrap();
    (&write).write_all(b"next\n").unwrap();
    drop(write);
    let mut view = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    view.args(["view", "--no-browser"])
        .arg(&trace)
        .stdin(read.try_clone().unwrap())
        .stderr(Stdio::null());
    let served = Served::spawn(&mut view);
    assert!(Client::open(&served.url).is_ok());
    std::thread::sleep(std::time::Duration::from_millis(1500));
    drop((served, view));
    let mut left = String::new();
    (&read).read_to_string(&mut left).unwrap();
    assert_eq!(left, "next\n");
}
