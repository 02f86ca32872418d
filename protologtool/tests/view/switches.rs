//! Switches from the page: a running program, the browser that may, and those who may not.

use crate::browser::Browser;
use crate::served::{Client, Served};
use crate::{AppLog, lock};
use protolog_rt::{Init, Session, d, w};
use protolog_testkit::{TempDir, temp_dir_for_sockets};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

const ROLE: &str = "PROTOLOG_TEST_VIEW_SWITCHES";

/// The program that is switched: it logs until its input ends.
#[test]
fn role_of_a_program() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let dir = PathBuf::from(std::env::var_os("PROTOLOG_RUNTIME_DIR").unwrap());
    Init::new().groups::<AppLog>().start().unwrap();
    let builder = Session::builder().file(dir.with_extension("pftrace")).enable_all();
    let session = builder.start().unwrap();
    d!(AppLog::Net, "switched by hand %d", 1);
    w!(AppLog::Disk, "slow");
    println!("\nready");
    thread::spawn(|| {
        loop {
            d!(AppLog::Net, "tick %d", 1);
            thread::sleep(Duration::from_millis(100));
        }
    });
    let _ = std::io::stdin().lock().lines().next();
    session.stop().unwrap();
}

/// A program that runs, until the value is dropped.
struct Program(Child);

impl Program {
    fn start(dir: &TempDir) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "switches::role_of_a_program", "--nocapture"]).env(ROLE, "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).env_remove("PROTOLOG");
        let mut child = command.env("PROTOLOG_RUNTIME_DIR", runtime(dir)).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "ready"));
        thread::spawn(move || lines.for_each(drop));
        Self(child)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

fn runtime(dir: &TempDir) -> PathBuf {
    dir.path().join("run")
}

fn view(dir: &TempDir, args: &[&str]) -> Served {
    let mut view = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    view.args(["view", "--no-browser"]).args(args).arg(dir.path().join("run.pftrace"));
    view.stdin(Stdio::null()).stderr(Stdio::null()).env("PROTOLOG_RUNTIME_DIR", runtime(dir));
    Served::spawn(&mut view)
}

/// What the command says of the rules and groups.
fn configuration(dir: &TempDir, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    command.arg("configuration").args(args).env("PROTOLOG_RUNTIME_DIR", runtime(dir));
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

/// Chooses the message with this text.
fn choose(browser: &mut Browser, text: &str) {
    browser.wait_for(&format!(
        "[...protolog.filter.shown].some((item) => protolog.data.text(item) === {text:?})"
    ));
    browser.eval(&format!("protolog.chooseItem([...protolog.filter.shown].find((item) => protolog.data.text(item) === {text:?}))"));
}

#[test]
fn a_call_and_a_group_are_switched_from_the_page() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir_for_sockets();
    let program = Program::start(&dir);
    let served = view(&dir, &[]);
    browser.open(&served.url);
    choose(&mut browser, "switched by hand 1");
    let shown = "(document.querySelector('#detail .switches')?.textContent ?? '')";
    let pid = program.0.id();
    browser.wait_for(&format!("{shown}.includes('(pid {pid})')"));
    browser.wait_for(&format!("{shown}.includes('this call: no rule')"));
    // The face of the call is the program's word, and not the log's.
    browser.wait_for(&format!("{shown}.includes('switched by hand %d at ')"));
    browser.wait_for(&format!("/view.switches\\.rs:[0-9]+/.test({shown})"));
    let click = |browser: &mut Browser, word: &str| {
        browser.eval(&format!(
            "document.querySelector('#detail .switches [data-word=\"{word}\"]').scrollIntoView()"
        ));
        browser.click(&format!("#detail .switches [data-word=\"{word}\"]"));
    };
    click(&mut browser, "off");
    browser.wait_for(&format!("{shown}.includes('this call: off')"));
    let listed = configuration(&dir, &["site", "list", "\"by hand\""]);
    assert!(listed.trim_end().ends_with("[off]"), "{listed}");
    assert!(!configuration(&dir, &["site", "list", "\"tick\""]).contains("[off]"));
    click(&mut browser, "on");
    browser.wait_for(&format!("{shown}.includes('this call: on')"));
    click(&mut browser, "default");
    browser.wait_for(&format!("{shown}.includes('this call: no rule')"));
    assert!(!configuration(&dir, &["site", "rules"]).contains("site #"));
    // The group, by the keyboard alone.
    browser.press("w");
    browser.wait_for("document.activeElement?.dataset?.word === 'on'");
    click(&mut browser, "from-warn");
    browser.wait_for(
        "document.querySelector('#detail [data-word=\"from-warn\"]')?.ariaPressed === 'true'",
    );
    let groups = configuration(&dir, &["groups", "status", "Net"]);
    assert!(groups.contains("TRACE = true (from WARN)"), "{groups}");
    // Its program ends, and nothing stands there any more.
    drop(program);
    browser.wait_for(&format!("{shown} === ''"));
    browser.press("Escape");
    choose(&mut browser, "slow");
    browser.eval("new Promise((done) => setTimeout(done, 1500))");
    assert_eq!(browser.text(shown), "");
    browser.assert_clean();
}

/// The id of a call.
fn id(dir: &TempDir, selector: &str) -> String {
    configuration(dir, &["site", "list", selector])[1..17].to_owned()
}

#[test]
fn only_the_page_switches_and_each_of_its_requests_once() {
    let _lock = lock();
    let dir = temp_dir_for_sockets();
    let program = Program::start(&dir);
    let served = view(&dir, &[]);
    let own = served.address().to_string();
    let path = format!("/switch/{}/site/{}/off", program.0.id(), id(&dir, "\"by hand\""));
    let is_off = || configuration(&dir, &["site", "list", "\"by hand\""]).contains("[off]");
    let origin = format!("Origin: http://{own}\n");
    let send = |method: &str, path: &str, host: &str, more: &str| {
        served.ask(&format!("{method} {path} HTTP/1.1\nHost: {host}\n{more}")).status
    };
    // Another user, and a page of the network in this user's browser: there is no proof.
    assert_eq!(send("POST", &path, &own, &origin), 401);
    assert_eq!(send("POST", &path, &own, "Origin: http://evil.example\n"), 401);
    // By a name of the network that leads here.
    assert_eq!(send("POST", &path, "evil.example", "Origin: http://evil.example\n"), 403);
    let client = Client::open(&served.url).map_err(|it| it.status).unwrap();
    let nonce = |number: u32| format!("{number:032x}");
    // With a proof, but from a page of another origin, or of none that a browser names.
    for (number, more) in [
        (1, ""),
        (2, "Origin: null\n"),
        (3, "Origin: http://evil.example\n"),
        (4, "Origin: http://127.0.0.1:1\n"),
        (5, &*format!("{origin}Origin: http://evil.example\n")),
        (6, &*format!("{origin}Sec-Fetch-Site: cross-site\n")),
        (7, &*format!("{origin}Sec-Fetch-Site: same-site\n")),
    ] {
        let proof = client.proof(&nonce(number), "POST", &path);
        assert_eq!(send("POST", &path, &own, &format!("{proof}\n{more}")), 403, "{more}");
    }
    // A form's method, and a proof that is of another path.
    let proof = client.proof(&nonce(8), "GET", &path);
    assert_eq!(send("GET", &path, &own, &format!("{proof}\n{origin}")), 404);
    let proof = client.proof(&nonce(9), "POST", &path.replace("/off", "/on"));
    assert_eq!(send("POST", &path, &own, &format!("{proof}\n{origin}")), 401);
    assert!(!is_off());
    // The page, once.
    let head = format!(
        "{}\n{origin}Sec-Fetch-Site: same-origin\n",
        client.proof(&nonce(10), "POST", &path)
    );
    assert_eq!(send("POST", &path, &own, &head), 200);
    assert!(is_off());
    configuration(&dir, &["site", "reset", "\"by hand\""]);
    assert_eq!(send("POST", &path, &own, &head), 401, "somebody repeats it");
    assert!(!is_off());
    // A process that does not have the call.
    let other = format!("/switch/1/site/{}/off", id(&dir, "\"by hand\""));
    let proof = client.proof(&nonce(11), "POST", &other);
    let reply = served.ask(&format!("POST {other} HTTP/1.1\nHost: {own}\n{proof}\n{origin}"));
    let text = String::from_utf8(reply.body).unwrap();
    assert!(text.contains("process 1 has ended, or does not answer"), "{text}");
}

#[test]
fn another_way_to_the_address_switches_nothing() {
    let _lock = lock();
    let dir = temp_dir_for_sockets();
    let program = Program::start(&dir);
    let served = view(&dir, &[]);
    let own = served.address().to_string();
    let id = id(&dir, "\"by hand\"");
    let path = format!("/switch/{}/site/{id}/off", program.0.id());
    let asked = format!("/switches/{}/{id}", program.0.id());
    let client = Client::open(&served.url).map_err(|it| it.status).unwrap();
    let (ip, port) = (served.address().ip(), served.address().port());
    let send = |number: u32, method: &str, path: &str, host: &str| {
        let proof = client.proof(&format!("{number:032x}"), method, path);
        let site = format!("Origin: http://{host}\nSec-Fetch-Site: same-origin\n");
        served.ask(&format!("{method} {path} HTTP/1.1\nHost: {host}\n{proof}\n{site}")).status
    };
    // As through `ssh -L`, or by another name of this machine.
    for (number, host) in [
        (1, "127.0.0.1:8080".to_owned()),
        (2, format!("127.0.0.1:{port}")),
        (3, format!("localhost:{port}")),
        (4, format!("{ip}")),
        (5, format!("{ip}:1")),
    ] {
        assert_eq!(send(number, "POST", &path, &host), 403, "{host}");
        assert_eq!(send(number, "GET", &asked, &host), 403, "{host}");
        assert_eq!(send(number, "GET", &asked, &own), 200, "{host}");
    }
    assert!(!configuration(&dir, &["site", "list", "\"by hand\""]).contains("[off]"));
    assert_eq!(send(6, "POST", &path, &own), 200);
    assert!(configuration(&dir, &["site", "list", "\"by hand\""]).contains("[off]"));
}

#[test]
fn a_port_that_others_may_have_had_switches_nothing() {
    let _lock = lock();
    let dir = temp_dir_for_sockets();
    let program = Program::start(&dir);
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port().to_string();
    drop(free);
    let served = view(&dir, &["--port", &port]);
    let own = served.address().to_string();
    let client = Client::open(&served.url).map_err(|it| it.status).unwrap();
    let path = format!("/switch/{}/site/{}/off", program.0.id(), id(&dir, "\"by hand\""));
    let proof = client.proof("00000000000000000000000000000001", "POST", &path);
    let head = format!("POST {path} HTTP/1.1\nHost: {own}\n{proof}\nOrigin: http://{own}\n");
    assert_eq!(served.ask(&head).status, 403);
    assert!(!configuration(&dir, &["site", "list", "\"by hand\""]).contains("[off]"));
}
