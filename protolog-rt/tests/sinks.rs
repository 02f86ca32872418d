//! Text sinks, each in its own process, since a process has one sink.

use protolog_rt::text::{
    Journald, Logd, RotatingFile, SinkIsSet, Syslog, TextLine, TextSink, flush, set_sink,
};
use protolog_rt::{Level, ProtoLogGroup, d, e, i, w};
use protolog_testkit::{skip, temp_dir_for_sockets};
use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    #[protolog(tag = "Net", log_to_text = true)]
    Net,
    #[protolog(log_to_text = true)]
    Inner,
}

/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(60);

/// The environment variable that gives the child process its path.
const CHILD: &str = "PROTOLOG_SINKS_CHILD";

/// The path, in the child process only.
fn child() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

/// Runs `test` of this binary in a child process.
fn run(test: &str, path: &Path) -> Output {
    let program = std::env::current_exe().expect("the test itself");
    let mut child = Command::new(program);
    let output = child.args(["--exact", test, "--nocapture"]).env(CHILD, path).output();
    let output = output.expect("run the test itself");
    assert!(output.status.success(), "{output:?}");
    output
}

/// Each line from its level on.
fn tails(text: &str) -> Vec<&str> {
    text.lines().map(|line| &line[line.find(" Net  ").expect(line) - 1..]).collect()
}

#[test]
fn a_full_file_is_rotated() {
    if let Some(path) = child() {
        let file = RotatingFile::open(&path, 1000, 2).expect("open the file");
        assert!(set_sink(file).is_ok());
        for number in 0..60 {
            i!(Log::Net, "message %d", number);
        }
        return;
    }
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("app.log");
    fs::write(&path, "x".repeat(990) + "\n").expect("a file that is there");
    let output = run("a_full_file_is_rotated", &path);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).expect(name);
    let files = ["app.log.2", "app.log.1", "app.log"].map(read);
    assert!(files.iter().all(|file| file.len() <= 1000), "{files:?}");
    let all = files.concat();
    let tails = tails(&all);
    let first = 60 - tails.len();
    assert!(tails.len() > 30, "{tails:?}");
    for (index, tail) in tails.iter().enumerate() {
        assert_eq!(*tail, format!("I Net     : message {}", first + index));
    }
    assert!(!dir.path().join("app.log.3").exists());
}

#[test]
fn a_full_disk_loses_only_lines() {
    if child().is_some() {
        let file = RotatingFile::open("/dev/full", 1000, 2).expect("open the device");
        let file: &'static RotatingFile = Box::leak(Box::new(file));
        struct Leaked(&'static RotatingFile);
        impl TextSink for Leaked {
            fn show(&self, line: &TextLine<'_>) {
                self.0.show(line);
            }
        }
        assert!(set_sink(Leaked(file)).is_ok());
        i!(Log::Net, "to a full disk");
        assert!(flush(LIMIT));
        assert_eq!(file.problem().expect("a problem").kind(), std::io::ErrorKind::StorageFull);
        assert!(file.problem().is_none(), "reported once");
        return;
    }
    run("a_full_disk_loses_only_lines", Path::new("none"));
}

#[test]
fn older_files_of_another_user_keep_their_names() {
    if let Some(path) = child() {
        let file = Arc::new(RotatingFile::open(path, 1000, 2).expect("open the file"));
        assert!(set_sink(Arc::clone(&file)).is_ok());
        for number in 0..60 {
            i!(Log::Net, "message %d", number);
        }
        assert!(flush(LIMIT));
        assert!(file.problem().is_none());
        return;
    }
    let dir = temp_dir_for_sockets();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("app.log.1"), "of another user").expect("write");
    if chown(at("app.log.1"), Some(65534), None).is_err() {
        return skip("files of another user", "only root can make them");
    }
    let output = run("older_files_of_another_user_keep_their_names", &at("app.log"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(fs::read_to_string(at("app.log.1")).expect("it is there"), "of another user");
    assert!(fs::read_to_string(at("app.log.2")).expect("it is there").contains("message "));
    assert!(!at("app.log.3").exists());
}

/// The datagrams that arrive at a socket until it is silent.
fn received(socket: &UnixDatagram) -> Vec<Vec<u8>> {
    socket.set_read_timeout(Some(Duration::from_millis(200))).expect("set the limit");
    let mut all = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length) = socket.recv(&mut buffer) {
        all.push(buffer[..length].to_vec());
    }
    all
}

#[test]
fn syslog_gets_one_datagram_per_line() {
    if let Some(path) = child() {
        assert!(set_sink(Syslog::connect_to(path).expect("connect")).is_ok());
        w!(Log::Net, "%s", "one\ntwo");
        println!("pid {}", std::process::id());
        return;
    }
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("log");
    let socket = UnixDatagram::bind(&path).expect("bind");
    let output = run("syslog_gets_one_datagram_per_line", &path);
    let out = String::from_utf8_lossy(&output.stdout);
    let pid = out.lines().find_map(|line| line.split_once("pid ")).expect("the pid").1;
    let lines: Vec<String> =
        received(&socket).into_iter().map(|line| String::from_utf8(line).expect("text")).collect();
    assert_eq!(lines, [format!("<12>Net[{pid}]: one"), format!("<12>Net[{pid}]: two")]);
    assert!(Syslog::connect_to(dir.path().join("nobody")).is_err());
}

#[test]
fn the_journal_gets_fields() {
    if let Some(path) = child() {
        assert!(set_sink(Journald::connect_to(path).expect("connect")).is_ok());
        e!(Log::Net, "failed: %s", "one\ntwo");
        return;
    }
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("socket");
    let socket = UnixDatagram::bind(&path).expect("bind");
    run("the_journal_gets_fields", &path);
    let datagrams = received(&socket);
    assert_eq!(datagrams.len(), 1);
    let fields = fields(&datagrams[0]);
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["MESSAGE", "PRIORITY", "SYSLOG_IDENTIFIER", "TID"]);
    let values: Vec<&str> = fields.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values[..3], ["failed: one\ntwo", "3", "Net"]);
}

#[test]
fn androids_log_daemon_gets_one_datagram_per_message() {
    if let Some(path) = child() {
        assert!(set_sink(Logd::connect_to(path).expect("connect")).is_ok());
        w!(Log::Net, "%s of %03d", "one\ntwo", 7);
        return;
    }
    let dir = temp_dir_for_sockets();
    let path = dir.path().join("logdw");
    let socket = UnixDatagram::bind(&path).expect("bind");
    run("androids_log_daemon_gets_one_datagram_per_message", &path);
    let datagrams = received(&socket);
    assert_eq!(datagrams.len(), 1);
    // After the log id, the thread id and the time.
    assert_eq!(&datagrams[0][11..], b"\x05Net\0one\ntwo of 007\0");
}

/// The fields of a datagram in the journal's native protocol.
fn fields(mut datagram: &[u8]) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    while !datagram.is_empty() {
        let end = datagram.iter().position(|byte| *byte == b'\n').expect("a name");
        let (name, rest) = (&datagram[..end], &datagram[end + 1..]);
        let (length, rest) = rest.split_first_chunk().expect("a size");
        let (value, rest) = rest.split_at(u64::from_le_bytes(*length) as usize);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
        fields.push((text(name), text(value)));
        datagram = rest.strip_prefix(b"\n").expect("the end of a value");
    }
    fields
}

/// Collects lines, logs while it does, and panics at the line `panic`.
struct LogAndPanic(Arc<Mutex<Vec<String>>>);

impl TextSink for LogAndPanic {
    fn show(&self, line: &TextLine<'_>) {
        i!(Log::Inner, "shows %s", line.tag);
        assert!(line.text != "panic", "the line `panic`");
        self.0.lock().unwrap().push(format!("{} {} {}", line.level, line.tag, line.text));
    }
}

#[test]
fn a_sink_may_log_and_panic() {
    if child().is_some() {
        let shown = Arc::default();
        assert_eq!(set_sink(LogAndPanic(Arc::clone(&shown))), Ok(()));
        assert_eq!(set_sink(LogAndPanic(Arc::default())), Err(SinkIsSet));
        std::panic::set_hook(Box::new(|_| ()));
        d!(Log::Net, "%s", "x".repeat(5000));
        i!(Log::Net, "panic");
        w!(Log::Net, "after");
        assert!(flush(LIMIT));
        let shown = shown.lock().unwrap();
        assert_eq!(shown[0], format!("{} Net {}…", Level::Debug, "x".repeat(4093)));
        assert_eq!(shown[1..], ["WARN Net after"]);
        return;
    }
    let output = run("a_sink_may_log_and_panic", Path::new("none"));
    let printed = String::from_utf8(output.stderr).expect("text");
    let tails: Vec<&str> =
        printed.lines().map(|line| line.split_once(" I ").expect(line).1).collect();
    assert_eq!(
        tails,
        ["Inner   : shows Net", "Inner   : shows Net", "Net     : panic", "Inner   : shows Net"]
    );
}

#[test]
fn text_is_waited_for_without_a_limit() {
    struct Slow;
    impl TextSink for Slow {
        fn show(&self, _: &TextLine<'_>) {
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    if child().is_some() {
        assert!(set_sink(Slow).is_ok());
        i!(Log::Net, "longer than a call waits");
        assert!(flush(Duration::MAX));
        return;
    }
    run("text_is_waited_for_without_a_limit", Path::new(""));
}
