//! A program that closes all descriptors but the standard ones, whoever opened them, and opens
//! others, as some do that become daemons: what the runtime writes is not in the program's files.

#[path = "common/fork.rs"]
#[allow(unsafe_code)] // A fork.
mod fork;

use fork::has_process_of_its_own;
use protolog_reader::Trace;
use protolog_rt::text::{self, RotatingFile, Syslog, set_sink};
use protolog_rt::{Level, ProtoLogGroup, Session, control, i, print_group, stop_on_signals};
use protolog_testkit::temp_dir;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
    Text,
}

#[derive(ProtoLogGroup)]
enum Later {
    Work,
}

/// Closes them, and opens files of `directory` instead.
#[allow(unsafe_code)] // A system call.
fn close_all(directory: &Path) -> Vec<File> {
    // SAFETY: what used them is what is tested.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
    let create = |number: u32| {
        let mut file = File::create(directory.join(format!("own-{number}"))).expect("a file");
        file.write_all(b"of the program").expect("write it");
        file.seek(SeekFrom::Start(0)).expect("its begin");
        file
    };
    (0..32).map(create).collect()
}

#[track_caller]
fn check(directory: &Path, files: Vec<File>) {
    for number in 0..files.len() {
        let text = fs::read_to_string(directory.join(format!("own-{number}"))).expect("read it");
        assert_eq!(text, "of the program", "file {number}");
    }
    for mut file in files {
        file.write_all(b"OF").expect("it is open");
    }
}

#[test]
fn a_session_ends_with_an_error_and_writes_nothing_else() {
    if !has_process_of_its_own("a_session_ends_with_an_error_and_writes_nothing_else") {
        return;
    }
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let session = Session::builder().file(&path).enable_all().start().expect("a session");
    (0..100_u64).for_each(|at| i!(Log::Work, "before %d", at));
    session.flush().expect("flush it");
    let files = close_all(dir.path());
    (0..50_000_u64).for_each(|at| i!(Log::Work, "after %d", at));
    let _ = session.flush();
    let error = session.stop().expect_err("it lacks messages").to_string();
    assert!(error.contains("the program has closed the descriptor of the file"), "{error}");
    check(dir.path(), files);
    let log = Trace::open(&path).expect("open it").read().expect("read it");
    assert_eq!(log.entries().count(), 100);
}

#[test]
fn a_text_file_gets_no_more_lines_and_no_other_file_does() {
    if !has_process_of_its_own("a_text_file_gets_no_more_lines_and_no_other_file_does") {
        return;
    }
    let dir = temp_dir();
    let path = dir.path().join("app.log");
    set_sink(RotatingFile::open(&path, 2000, 1).expect("a file")).expect("the first sink");
    print_group(&Log::Text, Some(Level::Info));
    i!(Log::Text, "before");
    assert!(text::flush(Duration::from_secs(10)));
    let files = close_all(dir.path());
    (0..100_u64).for_each(|at| i!(Log::Text, "after %d", at));
    assert!(text::flush(Duration::from_secs(10)));
    check(dir.path(), files);
    let found = fs::read_to_string(&path).expect("read it");
    assert!(found.ends_with(": before\n") && found.lines().count() == 1, "{found}");
}

/// A daemon of the system's gets the messages after it, too, and no peer of the program's does.
#[test]
fn a_daemon_gets_lines_through_another_socket() {
    if !has_process_of_its_own("a_daemon_gets_lines_through_another_socket") {
        return;
    }
    let dir = temp_dir();
    let path = dir.path().join("log");
    let daemon = UnixDatagram::bind(&path).expect("a daemon");
    set_sink(Syslog::connect_to(&path).expect("connect")).expect("the first sink");
    print_group(&Log::Text, Some(Level::Info));
    i!(Log::Text, "before");
    assert!(text::flush(Duration::from_secs(10)));
    let mut room = [0; 1000];
    let size = daemon.recv(&mut room).expect("a datagram");
    assert!(room[..size].ends_with(b"before"), "{:?}", &room[..size]);
    std::mem::forget(daemon);
    drop(close_all(dir.path()));
    fs::remove_file(&path).expect("remove the socket");
    let daemon = UnixDatagram::bind(&path).expect("a new daemon");
    daemon.set_read_timeout(Some(Duration::from_secs(20))).expect("a time limit");
    let pairs: Vec<_> = (0..16).map(|_| UnixDatagram::pair().expect("a pair")).collect();
    i!(Log::Text, "after");
    assert!(text::flush(Duration::from_secs(10)));
    let size = daemon.recv(&mut room).expect("a datagram");
    assert!(room[..size].ends_with(b"after"), "{:?}", &room[..size]);
    for peer in pairs.iter().flat_map(|(one, other)| [one, other]) {
        peer.set_nonblocking(true).expect("no waiting");
        assert!(peer.recv(&mut room).is_err(), "a peer got a line");
    }
    assert_eq!(text::dropped(), 0);
}

/// Groups that come after it are not switched by memory that is a file of the program's by then.
#[test]
fn memory_of_switches_is_no_file_of_the_program() {
    if !has_process_of_its_own("memory_of_switches_is_no_file_of_the_program") {
        return;
    }
    let dir = temp_dir();
    let server = control::serve_in(dir.path().join("control")).expect("a server");
    print_group(&Log::Work, Some(Level::Info));
    i!(Log::Work, "before");
    let files = close_all(dir.path());
    print_group(&Later::Work, Some(Level::Info));
    i!(Later::Work, "after");
    drop(server);
    check(dir.path(), files);
}

/// A signal that ends the program is no byte in a file of the program's.
#[test]
fn a_signal_writes_nothing() {
    if !has_process_of_its_own("a_signal_writes_nothing") {
        return;
    }
    let dir = temp_dir();
    let child = fork::spawn(fork::fork, || {
        stop_on_signals().expect("handlers");
        // Its thread may not even have begun.
        let files = close_all(dir.path());
        let _ = std::process::Command::new("kill").arg(std::process::id().to_string()).status();
        std::thread::sleep(Duration::from_secs(10));
        drop(files);
        false
    });
    let status = fork::wait_at_most(Duration::from_secs(20), child);
    assert_eq!(status, Some(libc::SIGTERM), "it dies of the signal");
    for number in 0..32 {
        let text = fs::read_to_string(dir.path().join(format!("own-{number}")));
        assert_eq!(text.expect("read it"), "of the program", "file {number}");
    }
}
