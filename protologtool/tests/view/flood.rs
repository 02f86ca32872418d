//! Strangers who ask for everything but the log: the page goes on, and the memory of the process
//! stays as it is.

use crate::browser::Browser;
use crate::served::{Client, Served};
use crate::{AppLog, lock, log_a_thousand, record};
use protolog_rt::{Session, d};
use protolog_testkit::{TempDir, temp_dir};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The most memory that strangers may cost.
const MOST: u64 = 32 << 20;

/// A page that is served, its client, and the directory of its trace.
fn served() -> (Served, Client, TempDir) {
    let dir = temp_dir();
    let served = Served::start(&record(&dir, log_a_thousand));
    let client = Client::open(&served.url).map_err(|it| it.status).unwrap();
    assert_eq!(client.ask("GET", "/data").status, 200);
    (served, client, dir)
}

/// Sends until nobody takes it, at most `most` bytes; returns the number that was taken.
fn send(mut to: &TcpStream, bytes: &[u8], most: usize) -> usize {
    to.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut sent = 0;
    while sent < most {
        match to.write(bytes) {
            Ok(count) => sent += count,
            Err(_) => break,
        }
    }
    sent
}

#[test]
fn no_body_is_waited_for() {
    let _lock = lock();
    let (mut served, client, _dir) = served();
    let host = served.address();
    let mut open = Vec::new();
    for (line, body) in [
        ("Content-Length: 18446744073709551615", ""),
        ("Content-Length: 18446744073709551616", ""),
        ("Content-Length: 9223372036854775807", ""),
        ("Content-Length: -1", ""),
        ("Content-Length: 2000", ""),
        ("Content-Length: 2000", "a part"),
        ("Content-Length: 1\r\nContent-Length: 2", ""),
        ("Transfer-Encoding: chunked", ""),
        ("Transfer-Encoding: chunked", "ffffffffffffffff\r\n"),
        ("Transfer-Encoding: gzip", ""),
        ("Content-Length: 2000\r\nExpect: 100-continue", ""),
        ("Upgrade: h2c\r\nConnection: Upgrade", ""),
    ] {
        for method in ["GET", "POST"] {
            let mut stream = served.connect();
            write!(stream, "{method} /data HTTP/1.1\r\nHost: {host}\r\n{line}\r\n\r\n{body}")
                .unwrap();
            // Beside all that are open still.
            assert_eq!(client.ask("GET", "/data").status, 200, "{line}");
            let mut reply = String::new();
            let _ = (&stream).take(1 << 16).read_to_string(&mut reply);
            let status = reply.split(' ').nth(1).unwrap_or_default();
            assert!(["400", "401", "413", "431"].contains(&status), "{line}: {reply}");
            open.push(stream);
        }
    }
    assert!(served.is_running());
}

#[test]
fn heads_end_somewhere() {
    let _lock = lock();
    let (served, client, _dir) = served();
    let before = served.peak();
    let part = vec![b'x'; 1 << 16];
    for head in ["", "GET /", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: x\r\nX: "] {
        let stream = served.connect();
        (&stream).write_all(head.as_bytes()).unwrap();
        let sent = send(&stream, &part, 300 << 20);
        assert!(sent < 16 << 20, "{sent} bytes of a head were taken");
    }
    let many = served.connect();
    (&many).write_all(b"GET / HTTP/1.1\r\n").unwrap();
    let sent = send(&many, "X: y\r\n".repeat(1000).as_bytes(), 300 << 20);
    assert!(sent < 16 << 20, "{sent} bytes of lines were taken");
    assert_eq!(client.ask("GET", "/data").status, 200);
    let taken = served.peak() - before;
    assert!(taken < MOST, "{taken} bytes");
}

#[test]
fn replies_that_nobody_reads_cost_nothing() {
    let _lock = lock();
    let (served, client, _dir) = served();
    let before = served.peak();
    let host = served.address();
    let connections: Vec<TcpStream> = (0..40).map(|_| served.connect()).collect();
    for path in ["/", "/none", "/data"] {
        let requests = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").repeat(1000);
        for stream in &connections {
            send(stream, requests.as_bytes(), 20 << 20);
        }
        assert_eq!(client.ask("GET", "/data").status, 200);
    }
    let taken = served.peak() - before;
    assert!(taken < MOST, "{taken} bytes");
}

/// Two hundred connections that send a byte now and then, or nothing at all, beside a browser that
/// follows a program.
#[test]
fn slow_clients_leave_the_page_alone() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    let session = Session::builder().file(&trace).enable_all().start().unwrap();
    d!(AppLog::Net, "message %d", 0);
    session.flush().unwrap();
    let mut served = Served::start(&trace);
    let before = served.peak();
    let open = |count: usize| (0..count).map(|_| served.connect()).collect::<Vec<_>>();
    let mut slow = open(200);
    browser.open(&served.url);
    let head = format!("GET / HTTP/1.1\r\nHost: {}\r\nX-Slow: ", served.address());
    for number in 1..=5_usize {
        for (at, mut stream) in slow.iter().enumerate() {
            // Those that were closed meanwhile come again.
            let _ = stream.write_all(&head.as_bytes()[at % head.len()..][..1]);
        }
        slow.extend(open(40));
        d!(AppLog::Net, "message %d", number);
        session.flush().unwrap();
        browser.wait_for(&format!("protolog.data.n === {}", number + 1));
    }
    browser.assert_clean();
    let taken = served.peak() - before;
    assert!(taken < MOST, "{taken} bytes");
    assert!(served.is_running());
    session.stop().unwrap();
}
