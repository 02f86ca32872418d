//! Collectors that are busy, broken or hostile: what they refuse is said, what may be sent again
//! is, and no header goes where it should not.

mod common;

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use common::sink::{Sidecar, Sink, uids};
use common::{fleet, lines_of, trace};
use protolog_testkit::temp_dir;
use tempfile::TempDir;

/// Sends the trace, and returns the exit code and the messages.
fn send(url: &str, dir: &Path, more: &[&str]) -> (Option<i32>, String) {
    fs::write(dir.join("app.pftrace"), trace()).unwrap();
    let output = fleet(&[&["otlp", url, "app.pftrace"], more].concat(), dir);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// The number of messages and losses of the trace.
fn count() -> usize {
    let lines = lines_of(trace()).unwrap();
    let is_item =
        |line: &&str| ["\"message\",", "\"loss\","].iter().any(|it| line[..20].contains(it));
    lines.lines().filter(is_item).count()
}

#[test]
fn a_collector_that_is_busy_gets_everything_in_the_end() {
    let Some(sink) = Sink::start("503,busy=1,200,502,cut") else { return };
    let dir = TempDir::new().unwrap();
    let (code, errors) = send(&sink.url(), dir.path(), &[]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("status 503; trying again\nnote: "), "{errors}");
    let records = sink.finish();
    assert_eq!(uids(&records).len(), count());
    // The one whose answer was cut off came twice, with the same ids.
    assert!(records.len() >= count());
}

#[test]
fn an_outage_longer_than_asked_for_ends_the_run_and_the_next_one_goes_on() {
    let Some(sink) = Sink::start("200,503,busy=100") else { return };
    let dir = TempDir::new().unwrap();
    let args = ["--retry-for", "3", "--state", "state"];
    let (code, errors) = send(&sink.url(), dir.path(), &args);
    assert_eq!(code, Some(2), "{errors}");
    let help = "status 429\nhelp: run the same command again: with `--state`, it goes on";
    assert!(errors.contains(help), "{errors}");
    let (code, errors) = send(&sink.url(), dir.path(), &args);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let records = sink.finish();
    assert_eq!((uids(&records).len(), records.len()), (count(), count()));
}

#[test]
fn a_collector_that_asks_for_no_wait_is_not_asked_all_the_time() {
    // More answers than half a second apart; a date that has passed is no wait, either.
    let past = "busy=06 Nov 1994 08:49:37 GMT,busy=0,busy=-1,";
    let Some(sink) = Sink::start(&format!("{past}{}", "busy=0,".repeat(200))) else { return };
    let dir = TempDir::new().unwrap();
    let (code, errors) = send(&sink.url(), dir.path(), &["--retry-for", "4"]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(sink.finish().is_empty());
    // It is told to end, and tries once more.
    let Some(sink) = Sink::start(&"busy=0,".repeat(5_000)) else { return };
    let mut sender = Sidecar::start(&[&sink.url(), "--follow", "app.pftrace"], dir.path());
    thread::sleep(Duration::from_millis(700));
    let begun = Instant::now();
    assert_eq!(sender.terminate(), Some(2));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[test]
fn a_sender_goes_on_without_a_reader_of_its_messages() {
    let Some(sink) = Sink::start("503") else { return };
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool-fleet"));
    command.args(["otlp", &sink.url(), "--state", "s", "app.pftrace"]).current_dir(dir.path());
    let output = command.stderr(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(uids(&sink.finish()).len(), count());
    // Nobody gets the number: that is a failure, and no panic.
    assert_eq!(command.stdout(full()).status().unwrap().code(), Some(2));
}

/// What a sender that follows says of a server that answers each connection with some bytes.
fn of_answer(scheme: &str, answer: &'static [u8]) -> (Option<i32>, String) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("{scheme}://{}", server.local_addr().unwrap());
    thread::spawn(move || {
        for connection in server.incoming() {
            let mut connection = connection.unwrap();
            let _ = connection.read(&mut [0; 1024]);
            let _ = connection.write_all(answer);
            // What has not been read when it is closed would be an error at the other end.
            let _ = connection.shutdown(Shutdown::Write);
            let _ = io::copy(&mut connection, &mut io::sink());
        }
    });
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("app.pftrace"), &trace()[..60_000]).unwrap();
    let output = fleet(&["otlp", &url, "--follow", "app.pftrace"], dir.path());
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// The frame by which a server of HTTP/2 begins, which gRPC is spoken by.
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";

/// No time mends a URL of another port, so it is not tried for ever.
#[test]
fn a_port_that_speaks_something_else_ends_the_run() {
    let (code, errors) = of_answer("http", SETTINGS);
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("port 4317 is that of gRPC"), "{errors}");
    let (code, errors) = of_answer("https", b"HTTP/1.1 400 Bad Request\r\n\r\n");
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("it does not answer in TLS"), "{errors}");
}

#[test]
fn a_header_without_a_value_is_refused() {
    let dir = TempDir::new().unwrap();
    for header in ["authorization=", "authorization= "] {
        let (code, errors) = send("http://127.0.0.1:9", dir.path(), &["--header", header]);
        assert_eq!(code, Some(2));
        let expected = "error: the header `authorization` of `--header` has no value\n\
            help: write it as `NAME=VALUE`\n";
        assert_eq!(errors, expected);
    }
}

#[test]
fn a_collector_that_hangs_is_tried_again() {
    let Some(sink) = Sink::start("hang") else { return };
    let dir = TempDir::new().unwrap();
    let (code, errors) = send(&sink.url(), dir.path(), &["--timeout", "1"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("timeout"), "{errors}");
    assert_eq!(uids(&sink.finish()).len(), count());
}

#[test]
fn an_answer_without_an_end_is_not_read_to_it() {
    let Some(sink) = Sink::start("huge") else { return };
    let dir = TempDir::new().unwrap();
    let (code, errors) = send(&sink.url(), dir.path(), &[]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let records = sink.finish();
    assert_eq!((uids(&records).len(), records.len()), (count(), count()));
}

#[test]
fn requests_that_are_too_large_are_divided_and_a_bad_record_is_left_out() {
    let dir = TempDir::new().unwrap();
    let Some(sink) = Sink::start("limit=100") else { return };
    let (code, errors) = send(&sink.url(), dir.path(), &[]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let records = sink.finish();
    assert_eq!((uids(&records).len(), records.len()), (count(), count()));
    let Some(sink) = Sink::start("poison=round 7 of") else { return };
    let (code, errors) = send(&sink.url(), dir.path(), &[]);
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains("refuses a record, which is left out: status 400"), "{errors}");
    assert_eq!(uids(&sink.finish()).len(), count() - 1);
}

#[test]
fn records_that_are_rejected_are_counted() {
    let Some(sink) = Sink::start("reject=3") else { return };
    let dir = TempDir::new().unwrap();
    let (code, errors) = send(&sink.url(), dir.path(), &["--state", "s"]);
    assert_eq!(code, Some(3));
    assert!(errors.contains("rejects 3 records, which are left out: `too old`"), "{errors}");
    assert_eq!(send(&sink.url(), dir.path(), &["--state", "s"]), (Some(0), String::new()));
    assert_eq!(sink.finish().len(), count());
}

#[test]
fn what_is_no_collector_gets_nothing_more() {
    let dir = TempDir::new().unwrap();
    for (answer, expected) in [
        ("page", "refuses the log: it answers with a page, as no collector does\nhelp: check"),
        ("404", "refuses the log: status 404\nhelp: check"),
        ("500", "refuses the log: status 500\nhelp: check"),
        ("echo", "refuses the log: status 401, `bad token: "),
    ] {
        let Some(sink) = Sink::start(answer) else { return };
        let args = ["--header", "authorization=Bearer hidden", "--state", "state"];
        let (code, errors) = send(&sink.url(), dir.path(), &args);
        assert_eq!(code, Some(2), "{answer}");
        assert!(errors.contains(expected), "{answer}: {errors}");
        assert!(!errors.contains("hidden"), "{errors}");
        assert!(sink.finish().is_empty(), "{answer}");
    }
    let Some(sink) = Sink::start("poison= ") else { return };
    let (code, errors) = send(&sink.url(), dir.path(), &[]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("refuses every record: status 400"), "{errors}");
}

#[test]
fn a_collector_that_begins_to_refuse_everything_is_no_reason_to_leave_records_out() {
    let Some(sink) = Sink::start(&format!("200,{}", "400,".repeat(100))) else { return };
    let dir = TempDir::new().unwrap();
    let args = ["--state", "state"];
    let (code, errors) = send(&sink.url(), dir.path(), &args);
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("refuses every record: status 400"), "{errors}");
    let first = sink.finish();
    assert!(!first.is_empty());
    // It is mended: nothing is missing.
    let Some(sink) = Sink::start("") else { return };
    assert_eq!(send(&sink.url(), dir.path(), &args), (Some(0), String::new()));
    let records = [first, sink.finish()].concat();
    assert_eq!(uids(&records).len(), count());
    // Many records that are wrong one after another are no such collector.
    let Some(sink) = Sink::start("poison=block") else { return };
    let (code, errors) = send(&sink.url(), dir.path(), &[]);
    assert_eq!(code, Some(3), "{errors}");
    let blocks = lines_of(trace()).unwrap().matches("\"message\":\"block ").count();
    assert!(blocks > 16);
    assert_eq!(uids(&sink.finish()).len(), count() - blocks);
}

#[test]
fn headers_do_not_follow_to_another_host() {
    let dir = TempDir::new().unwrap();
    let Some(other) = Sink::start("") else { return };
    let Some(sink) = Sink::start(&format!("redirect={}/v1/logs?x=1", other.url())) else { return };
    let (code, errors) = send(&sink.url(), dir.path(), &["--header", "x-token=hidden"]);
    assert_eq!(code, Some(2));
    let expected = format!("refuses the log: it redirects to `{}/v1/logs`\nhelp", other.url());
    assert!(errors.contains(&expected), "{errors}");
    assert!(other.finish().is_empty());
}

#[test]
fn tls_takes_certificates_that_are_trusted_and_no_others() {
    let dir = temp_dir();
    let file = |name: &str| dir.path().join(name);
    let mut openssl = Command::new("openssl");
    openssl.args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
    ]);
    openssl.args([
        "-days",
        "2",
        "-subj",
        "/CN=sink of a test",
        "-addext",
        "subjectAltName=DNS:localhost",
    ]);
    openssl.args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout"]);
    openssl.arg(file("key")).arg("-out").arg(file("ca.pem"));
    if !openssl.output().is_ok_and(|output| output.status.success()) {
        protolog_testkit::skip("TLS", "there is no `openssl`");
        return;
    }
    let both =
        fs::read_to_string(file("key")).unwrap() + &fs::read_to_string(file("ca.pem")).unwrap();
    fs::write(file("both"), both).unwrap();
    let Some(sink) = Sink::start_at("", file("both").to_str().unwrap(), 0) else { return };
    let url = format!("https://localhost:{}", sink.port());
    let (code, errors) = send(&url, dir.path(), &["--ca-file", "ca.pem"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    // The system does not know it; the name is another one; the other end speaks no TLS.
    let (code, errors) = send(&url, dir.path(), &["--retry-for", "1"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("refuses the log: ") && errors.contains("UnknownIssuer"), "{errors}");
    let by_number = format!("https://127.0.0.1:{}", sink.port());
    let (code, errors) = send(&by_number, dir.path(), &["--ca-file", "ca.pem"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("not valid for name"), "{errors}");
    assert_eq!(sink.finish().len(), count());
    let Some(plain) = Sink::start("") else { return };
    let url = format!("https://localhost:{}", plain.port());
    let (code, errors) = send(&url, dir.path(), &["--ca-file", "ca.pem", "--retry-for", "1"]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(plain.finish().is_empty());
}
