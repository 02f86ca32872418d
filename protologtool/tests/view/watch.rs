//! The page's data follow all files of a log, however they change.

use crate::served::{Client, Served, wait_for};
use crate::{AppLog, description, lock, record, tool};
use flate2::read::ZlibDecoder;
use protolog_rt::{Session, d};
use protolog_testkit::serde_json::{self, Value};
use protolog_testkit::temp_dir;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

fn client(served: &Served) -> Client {
    Client::open(&served.url).map_err(|it| it.status).unwrap()
}

/// The part of the data that is no columns.
fn meta(client: &Client) -> Value {
    let reply = client.ask("GET", "/data");
    assert_eq!(reply.status, 200);
    let mut data = Vec::new();
    ZlibDecoder::new(&*reply.body).read_to_end(&mut data).unwrap();
    let size = u32::from_le_bytes(data[..4].try_into().unwrap()) as usize;
    serde_json::from_slice(&data[4..4 + size]).unwrap()
}

fn messages(client: &Client) -> u64 {
    let meta = meta(client);
    meta["items"].as_u64().unwrap() - meta["losses"].as_array().unwrap().len() as u64
}

/// A trace of one message.
fn one_message(sequence: u32) -> Vec<u8> {
    description::trace(&format!(
        "group(1, \"app::Net\", \"Net\") message(0x11, DEBUG, 1, \"sent %d\", \"net.rs:4\")\n\
         @{sequence} cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(4711, 4711, \"main\")\n\
         @{sequence} needs ts={sequence}000 log(0x11, {sequence})\n"
    ))
}

fn append(path: &Path, bytes: &[u8]) {
    File::options().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn files_in_a_directory_grow_and_come() {
    let dir = temp_dir();
    let [one, other] = ["one.pftrace", "other.pftrace"].map(|name| dir.path().join(name));
    fs::write(&one, one_message(1)).unwrap();
    let served = Served::start(dir.path());
    let client = client(&served);
    assert_eq!(messages(&client), 1);
    append(&one, &one_message(2));
    assert_eq!(messages(&client), 2);
    fs::write(&other, one_message(3)).unwrap();
    assert_eq!(messages(&client), 3);
    append(&other, &one_message(4));
    assert_eq!(messages(&client), 4);
    fs::remove_file(&one).unwrap();
    assert_eq!(messages(&client), 2);
    // Nothing has changed since: the tag is the same, and short.
    let tags: Vec<_> = (0..2).map(|_| client.ask("GET", "/data")).collect();
    let tags: Vec<_> = tags.iter().map(|reply| reply.header("etag").unwrap()).collect();
    assert!(tags[0] == tags[1] && tags[0].len() == 34, "{tags:?}");
}

/// A recording is memory that its process maps: neither its size nor its times change.
#[test]
fn a_recording_is_followed() {
    let _lock = lock();
    let dir = temp_dir();
    let path = dir.path().join("app.rec");
    let session = Session::builder().record_at(&path).enable_all().start().unwrap();
    d!(AppLog::Net, "message %d", 1);
    d!(AppLog::Net, "message %d", 2);
    let mut view = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    view.args(["view", "--no-browser"]).arg(&path).stdin(Stdio::null()).stderr(Stdio::piped());
    let mut served = Served::spawn(&mut view);
    let client = client(&served);
    assert_eq!(messages(&client), 2);
    for number in 3..=11 {
        d!(AppLog::Net, "message %d", number);
        assert_eq!(messages(&client), number);
    }
    session.stop().unwrap();
    // Notes are those of the first look.
    let _ = served.process.kill();
    let mut errors = String::new();
    served.process.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(errors.matches("recovered in memory").count(), 1, "{errors}");
    assert_eq!(errors.matches("is in use").count(), 1, "{errors}");
}

/// A trace does not change when its process dies, and yet there is more of it then.
#[test]
fn a_trace_is_completed_when_its_process_dies() {
    let _lock = lock();
    // Copies, as they are at one moment, are what a process leaves that is killed then.
    let dead = temp_dir();
    let (trace, recording) =
        (dead.path().join("app.pftrace"), dead.path().join("protolog-app-1-0.rec"));
    // The session's thread may have written the second message already; then once more.
    wait_for("a message that is not written", || {
        let live = dead.path().join("live.pftrace");
        let session = Session::builder().file(&live).enable_all().start().unwrap();
        d!(AppLog::Net, "message %d", 1);
        session.flush().unwrap();
        d!(AppLog::Net, "message %d", 2);
        fs::copy(session.recording().unwrap(), &recording).unwrap();
        fs::copy(&live, &trace).unwrap();
        session.stop().unwrap();
        let written = tool(&["read-log", "--format", "json"], &trace);
        let errors = String::from_utf8(written.stderr).unwrap();
        errors.contains("1 message more come").then_some(())
    });
    let process = File::open(&recording).unwrap();
    process.lock().unwrap();
    let served = Served::start(&trace);
    let client = client(&served);
    assert_eq!(messages(&client), 1);
    drop(process);
    assert_eq!(messages(&client), 2);
}

#[test]
fn messages_that_come_while_a_log_is_read_are_shown() {
    let _lock = lock();
    let dir = temp_dir();
    let trace =
        record(&dir, || (0..100_000).for_each(|number| d!(AppLog::Net, "message %d", number)));
    let size = fs::metadata(&trace).unwrap().len();
    let mut view = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    view.args(["view", "--no-browser"]).arg(&trace).stdin(Stdio::null()).stderr(Stdio::null());
    let mut process = view.stdout(Stdio::piped()).spawn().unwrap();
    // It has read the file, and takes it apart now.
    let has_read = || {
        let io = fs::read_to_string(format!("/proc/{}/io", process.id())).unwrap();
        let count = io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
        (count.parse::<u64>().unwrap() >= size).then_some(())
    };
    wait_for("the trace to be read", has_read);
    append(&trace, &one_message(77));
    let mut url = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let served = Served { process, url: url.trim_end().to_owned() };
    assert_eq!(messages(&client(&served)), 100_001);
}

#[test]
fn several_traces_of_which_one_is_cut_are_not_whole() {
    let dir = temp_dir();
    let [whole, cut, page] =
        ["whole.pftrace", "cut.pftrace", "x.html"].map(|it| dir.path().join(it));
    fs::write(&whole, one_message(1)).unwrap();
    // A packet of 127 bytes of which one was written.
    fs::write(&cut, [one_message(2), vec![0x0a, 127, 0]].concat()).unwrap();
    let view = |other: &Path| {
        let output = tool(&["view", "-o", page.to_str().unwrap(), other.to_str().unwrap()], &whole);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, errors) = view(&cut);
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains("ends within a packet"), "{errors}");
    // The page says so, too.
    let served = Served::start(dir.path());
    let problems = meta(&client(&served))["problems"].to_string();
    assert!(
        problems.contains("cut.pftrace` ends within a packet") && !problems.contains("warning"),
        "{problems}"
    );
    fs::write(&cut, one_message(2)).unwrap();
    assert_eq!(view(&cut).0, Some(0));
}
