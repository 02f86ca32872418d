//! Hostile clients: whatever arrives on the socket, or lies in its place, the program runs on and
//! serves other clients.

use crate::listen;
use protolog_control::{Error, Program, REPLY_TIMEOUT};
use protolog_core::FillPolicy;
use protolog_core::control::protocol::{Request, TraceStart};
use protolog_rt::control::{ServeError, serve_in};
use protolog_rt::{Level, ProtoLogGroup, Session, d};
use protolog_testkit::{skip, temp_dir_for_sockets};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Sends `question` and returns everything that the program answers until it closes the connection.
fn exchange(path: &Path, question: &[u8]) -> String {
    let mut stream = UnixStream::connect(path).unwrap();
    // The program may have closed it already.
    let _ = stream.write_all(question);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

#[test]
fn malformed_requests_are_refused() {
    let program = listen();
    let path = program.server.path();
    let pid = std::process::id();
    let hello = |answer: &str| {
        let (first, rest) = answer.split_once("\nok\n").unwrap_or_default();
        assert!(first.starts_with(&format!("protolog 1 {pid} control-")), "{answer}");
        rest.to_owned()
    };
    assert_eq!(
        exchange(path, b"protolog 2\nprotolog 1\n"),
        "help use a protologtool of the version that the program was built with\nerror version 2 is not supported\n"
    );
    let help = "help ask as docs/design/control.md says, in lines of UTF-8\n";
    let agreed = format!("{help}error no protocol version was agreed upon\n");
    for early in [&b"groups\n"[..], b"\n", b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\n"] {
        assert_eq!(exchange(path, early), agreed);
    }
    assert_eq!(exchange(path, &[b'x'; 10_000]), format!("{help}error the line is too long\n"));
    assert_eq!(exchange(path, b"\xff\xfe\n"), format!("{help}error the line is not UTF-8\n"));
    assert_eq!(exchange(path, b"protolog 1"), "", "an incomplete line");
    assert_eq!(exchange(path, b""), "");
    let rest = hello(&exchange(path, b"protolog 1\nsing \x1b[1m\nset x\ntrace-status\n"));
    let unknown = format!("{help}error unknown request `sing ?[1m`\n");
    let set = "help write GROUP=WORDS, as in `net=debug,text`, or a level for all groups, as in `debug`\nerror missing `=` in `x`\n";
    assert_eq!(rest, format!("{unknown}{set}ok\n"), "a bad request does not close the connection");
}

#[test]
fn slow_silent_and_dead_clients_are_disconnected() {
    let program = listen();
    let path = program.server.path();
    let begun = Instant::now();
    let mut partial = UnixStream::connect(path).unwrap();
    partial.write_all(b"proto").unwrap();
    let mut silent = UnixStream::connect(path).unwrap();
    let mut dripping = UnixStream::connect(path).unwrap();
    let drips = std::thread::spawn(move || {
        while dripping.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(200));
        }
        begun.elapsed()
    });
    // A client that sends requests, never reads, and closes before it has the answers.
    let mut unread = UnixStream::connect(path).unwrap();
    unread.write_all(b"protolog 1\n").unwrap();
    unread.set_nonblocking(true).unwrap();
    for _ in 0..2000 {
        let _ = unread.write(b"groups\n");
    }
    program.connect().groups().unwrap();
    drop(unread);
    program.connect().groups().unwrap();
    let mut rest = Vec::new();
    partial.read_to_end(&mut rest).unwrap();
    silent.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty());
    let (answers, dripped) = (begun.elapsed(), drips.join().unwrap());
    assert!(
        answers >= Duration::from_secs(4) && dripped >= Duration::from_secs(4),
        "{answers:?} {dripped:?}"
    );
    program.connect().groups().unwrap();
}

/// Raises the limit of open files to `count`, or as far as the system allows. Returns the limit.
fn allow_files(count: u64) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the place is ours.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) }, 0);
    limit.rlim_cur = limit.rlim_cur.max(count).min(limit.rlim_max);
    // SAFETY: the place is ours.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
    limit.rlim_cur
}

#[test]
fn ten_thousand_idle_connections_do_not_exclude_others() {
    const IDLE: u64 = 10_000;
    const OTHERS: u64 = 1000;
    let at_once = allow_files(IDLE + OTHERS).saturating_sub(OTHERS).min(IDLE);
    if at_once < IDLE {
        skip("connections at once beyond that", &format!("a process has {at_once} files at most"));
    }
    let program = listen();
    let mut operator = program.connect();
    let before = open_files();
    let mut idle = std::collections::VecDeque::new();
    for number in 0..IDLE {
        if let Ok(stream) = UnixStream::connect(program.server.path()) {
            idle.push_back(stream);
        }
        if idle.len() as u64 > at_once {
            idle.pop_front();
        }
        if number % 1000 == 0 {
            operator.groups().expect("an active client stays connected");
        }
    }
    program.connect().groups().expect("a new client is accepted");
    operator.groups().expect("the first client is still connected");
    let held = open_files().saturating_sub(before + idle.len());
    assert!(idle.len() as u64 == at_once && held < 200, "{held} descriptors are held");
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn floods_are_rate_limited() {
    let program = listen();
    let mut flood = UnixStream::connect(program.server.path()).unwrap();
    flood.write_all(b"protolog 1\n").unwrap();
    let mut answers = flood.try_clone().unwrap();
    let (answered, seen) = (Arc::new(AtomicU64::new(0)), 200);
    let oks = Arc::clone(&answered);
    let reader = std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = answers.read(&mut bytes) {
            let lines = bytes[..count].split(|byte| *byte == b'\n').count() - 1;
            oks.fetch_add(lines as u64, Ordering::Relaxed);
        }
    });
    let oks = Arc::clone(&answered);
    let writer = std::thread::spawn(move || {
        let begun = Instant::now();
        let many = b"trace-status\n".repeat(500);
        while begun.elapsed() < Duration::from_secs(2) || oks.load(Ordering::Relaxed) <= seen {
            flood.write_all(&many).unwrap();
        }
        flood.shutdown(std::net::Shutdown::Both).unwrap();
        begun.elapsed()
    });
    // Other clients meanwhile.
    for _ in 0..3 {
        program.connect().groups().unwrap();
    }
    let time = writer.join().unwrap();
    reader.join().unwrap();
    let answered = answered.load(Ordering::Relaxed);
    let most = 200 * (time.as_millis() as u64 / 100 + 2);
    assert!(answered <= most, "{answered} answers in {time:?}");
}

/// Number of times that the calling thread went to sleep.
fn count_sleeps() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.unwrap().trim().parse().unwrap()
}

/// A thread that logs all the time never waits for requests, of any kind and of many connections.
#[test]
fn floods_do_not_delay_threads_that_log() {
    #[derive(ProtoLogGroup)]
    enum Flooded {
        Net,
    }
    let program = listen();
    let file = program.dir.path().join("a.pftrace");
    let session = Session::builder().file(file).group("Flooded::Net", Level::Verbose);
    let session = session.buffer_size(1 << 20).keep_newest().start().unwrap();
    let (over, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    let sleeps = std::thread::scope(|scope| {
        let logs = scope.spawn(|| {
            // The first pass over the buffer takes page faults.
            (0..100_000).for_each(|number| d!(Flooded::Net, "number %d", number));
            let before = count_sleeps();
            while !over.load(Ordering::Relaxed) {
                (0..1000).for_each(|number| d!(Flooded::Net, "number %d", number));
            }
            count_sleeps() - before
        });
        for _ in 0..8 {
            scope.spawn(|| {
                let mut operator = program.connect();
                while !over.load(Ordering::Relaxed) {
                    operator.groups().unwrap();
                    operator.request(&Request::Set("flooded::net=verbose;other=text")).unwrap();
                    operator.request(&Request::TraceStatus).unwrap();
                    drop(operator.pages().unwrap());
                    operator.request(&Request::Stats).unwrap();
                    answered.fetch_add(5, Ordering::Relaxed);
                }
            });
        }
        let until = Instant::now() + Duration::from_secs(60);
        while answered.load(Ordering::Relaxed) < 1000 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        over.store(true, Ordering::Relaxed);
        logs.join().unwrap()
    });
    let (answered, summary) = (answered.into_inner(), session.stop().unwrap());
    assert!(answered >= 1000 && summary.buffer.chunks_overwritten > 0, "{answered} {summary:?}");
    // Another thread that maps or unmaps memory may delay it once in a while; answers do not.
    assert!(sleeps * 20 < answered, "slept {sleeps} times during {answered} answers");
}

#[test]
fn requests_for_memory_are_one_at_a_time() {
    let program = listen();
    let mut client = UnixStream::connect(program.server.path()).unwrap();
    let before = open_files();
    let questions = b"pages\n".repeat(3000);
    client.write_all(b"protolog 1\n").unwrap();
    client.set_nonblocking(true).unwrap();
    let _ = client.write(&questions);
    program.connect().groups().unwrap();
    assert!(open_files() < before + 100);
}

#[test]
fn sockets_of_dead_programs_are_skipped() {
    let dir = temp_dir_for_sockets();
    let run = dir.path().join("run");
    let server = serve_in(&run).unwrap();
    let dead = run.join("1-1.sock");
    drop(UnixListener::bind(&dead).unwrap());
    let mute = run.join("2-2.sock");
    let _listener = UnixListener::bind(&mute).unwrap();
    // A short timeout for the program that does not answer.
    let connect = |path: &Path| {
        let timeout = if path == mute { Duration::from_millis(300) } else { REPLY_TIMEOUT };
        Program::connect_with_timeout(path, timeout)
    };
    let mut answers = Vec::new();
    for entry in std::fs::read_dir(run).unwrap() {
        let path = entry.unwrap().path();
        answers.push(
            connect(&path)
                .map_or_else(|error| error.to_string(), |program| program.pid.to_string()),
        );
    }
    let expected =
        ["the program has ended", "the program does not answer", &std::process::id().to_string()];
    answers.sort();
    let mut expected = expected.map(str::to_owned);
    expected.sort();
    assert_eq!(answers, expected);
    assert!(matches!(connect(&dead), Err(Error::Ended)));
    drop(server);
}

#[test]
fn a_full_disk_does_not_stop_the_program() {
    #[derive(ProtoLogGroup)]
    enum Full {
        Net,
    }
    let program = listen();
    let mut operator = program.connect();
    let start = |file| TraceStart {
        fill_policy: FillPolicy::Stream,
        buffer: 0,
        settings: "full::net=debug",
        file,
    };
    operator.request(&Request::TraceStart(start("/dev/full"))).unwrap();
    d!(Full::Net, "to a full disk");
    let error = operator.request(&Request::TraceStop).unwrap_err();
    assert!(error.to_string().starts_with("can't write `/dev/full`: no space left"), "{error}");
    assert_eq!(error.help(), "check that the directory exists, may be written to, and has space");
    let error = operator.request(&Request::TraceStart(start("/no/such/directory/a"))).unwrap_err();
    assert!(error.to_string().starts_with("can't write `/no/such/directory/a"), "{error}");
    operator.groups().unwrap();
}

#[test]
fn a_missing_directory_is_an_error() {
    let dir = temp_dir_for_sockets();
    let error = serve_in(dir.path().join("a").join("b")).unwrap_err();
    assert!(matches!(error, ServeError::Directory { .. }), "{error}");
}

/// The address of a socket has at most 107 bytes, and is no path here.
#[test]
fn a_directory_with_a_long_path_is_as_good() {
    let dir = temp_dir_for_sockets();
    let server = serve_in(dir.path().join("x".repeat(120))).unwrap();
    Program::connect(server.path()).unwrap().groups().unwrap();
}

/// Needs root: a process of another user connects, although the directory is open to everybody.
#[test]
fn other_users_are_refused() {
    const NOBODY: u32 = 65534;
    let program = listen();
    let path = program.server.path();
    let run = path.parent().unwrap();
    // An owner may "give" the file to itself, so the owner must be another user.
    let own = std::fs::metadata(path).unwrap().uid();
    if own == NOBODY || chown(path, Some(NOBODY), None).is_err() {
        eprintln!("skipped: another user's process because this one is not root's");
        return;
    }
    let ask = |python: &str| {
        let script = "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\ns.sendall(b'protolog 1\\n')\nprint(s.recv(100))";
        let mut ask = Command::new(python);
        ask.args(["-c", script]).arg(path).uid(NOBODY).gid(NOBODY).output()
    };
    let python = "/usr/bin/python3";
    if !Path::new(python).exists() {
        eprintln!("skipped: another user's process because there is no {python}");
        return;
    }
    let output = ask(python).unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("Permission denied"), "{output:?}");
    let enters = |directory: &Path| {
        let mode = std::fs::metadata(directory).unwrap().permissions().mode();
        mode & 0o001 != 0
    };
    if !program.dir.path().ancestors().skip(1).all(enters) {
        eprintln!("skipped: another user's process because it can't reach temporary files");
        return;
    }
    for directory in [run, program.dir.path()] {
        std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let output = ask(python).unwrap();
    let answers = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let closed = answers.contains("b''")
        || answers.contains("ConnectionReset")
        || answers.contains("BrokenPipe");
    assert!(closed && !answers.contains("protolog 1 "), "{answers}");
    assert!(!output.status.success() || output.stdout == b"b''\n", "{output:?}");
    chown(path, Some(own), None).unwrap();
    program.connect().groups().expect("its own user is still accepted");
}
