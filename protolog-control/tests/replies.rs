//! Replies of a fake process, and the result at the operator's side.

use protolog_control::{Error, Group, MAX_REPLY_BYTES, Program};
use protolog_core::control::protocol::{MAX_LINE, Request};
use protolog_testkit::{TempDir, skip, temp_dir_for_sockets};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// More time than the longest reply takes on a busy machine.
const LONG: Duration = Duration::from_secs(120);

/// Less time than any reply takes that does not come.
const TIMEOUT: Duration = Duration::from_secs(1);

const HELLO: &str = "protolog 1 4711 server\nok\n";

/// A fake process, which sends prepared replies.
struct Fake {
    dir: TempDir,
    thread: JoinHandle<Vec<String>>,
}

impl Fake {
    /// Starts one that sends `replies`, one per request, and ends when the operator disconnects.
    /// Its thread returns the requests.
    fn start(replies: Vec<String>) -> Self {
        let dir = temp_dir_for_sockets();
        let listener = UnixListener::bind(dir.path().join("1.sock")).unwrap();
        let thread = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut input = BufReader::new(stream.try_clone().unwrap());
            let mut requests = Vec::new();
            for reply in replies {
                let mut request = String::new();
                input.read_line(&mut request).unwrap();
                requests.push(request);
                // Fails if the operator has disconnected.
                let _ = stream.write_all(reply.as_bytes());
            }
            while input.read_line(&mut String::new()).is_ok_and(|size| size > 0) {}
            requests
        });
        Self { dir, thread }
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("1.sock")
    }
}

/// The name of this test's executable.
fn own_name() -> String {
    let path = std::env::current_exe().unwrap();
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// The result of a request for groups, if the reply is `reply`.
fn groups(reply: String) -> Result<Vec<Group>, Error> {
    let fake = Fake::start(vec![HELLO.to_owned(), reply]);
    let mut program = Program::connect_with_timeout(&fake.socket(), LONG).unwrap();
    assert_eq!(
        (program.pid, &program.name),
        (std::process::id(), &own_name()),
        "the kernel's word"
    );
    assert_eq!(program.claims, Some(("server".to_owned(), 4711)));
    let groups = program.groups();
    drop(program);
    assert_eq!(fake.thread.join().unwrap(), ["protolog 1\n", "groups\n"]);
    groups
}

#[test]
fn a_process_that_says_who_it_is_makes_no_claims() {
    for (pid, name, is_true) in [
        (std::process::id(), own_name(), true),
        (std::process::id(), own_name() + " (deleted)", true),
        (std::process::id(), "sshd".to_owned(), false),
        (std::process::id() + 1, own_name(), false),
    ] {
        let fake = Fake::start(vec![format!("protolog 1 {pid} {name}\nok\n")]);
        let program = Program::connect_with_timeout(&fake.socket(), LONG).unwrap();
        assert_eq!((program.pid, &program.name), (std::process::id(), &own_name()));
        assert_eq!(program.claims, (!is_true).then_some((name, pid)));
        drop(program);
        fake.thread.join().unwrap();
    }
}

/// A process of another user listens in a directory that everybody may write to.
#[test]
fn a_process_of_another_user_is_refused() {
    const SOCKET: &str = "PROTOLOG_REPLIES_SOCKET";
    const NOBODY: u32 = 65534;
    if let Some(path) = std::env::var_os(SOCKET) {
        let listener = UnixListener::bind(path).unwrap();
        println!("\nready");
        let _ = listener.accept();
        return;
    }
    let dir = temp_dir_for_sockets();
    let allow = |mode| std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(mode));
    allow(0o777).unwrap();
    let (socket, copy) = (dir.path().join("1.sock"), dir.path().join("copy"));
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let mut other = Command::new(copy);
    other.args(["--exact", "a_process_of_another_user_is_refused", "--nocapture"]);
    other.env(SOCKET, &socket).current_dir("/").stdout(Stdio::piped()).uid(NOBODY).gid(NOBODY);
    let mut other = match other.spawn() {
        Ok(other) => other,
        Err(error) => return skip("a server of another user", &format!("none can run: {error}")),
    };
    // Kept open, since the test harness prints more.
    let mut output = BufReader::new(other.stdout.take().unwrap()).lines();
    assert!(output.by_ref().map_while(Result::ok).any(|line| line == "ready"));
    let refuse = || {
        let (message, help) = error_of(Program::connect(&socket));
        assert_eq!(message, "user 65534 listens there");
        assert_eq!(help, "remove the socket, and look who made it");
    };
    // It is not even connected to.
    refuse();
    assert!(other.try_wait().unwrap().is_none(), "it waits for a connection");
    // As if the socket were this user's: the kernel knows the listener.
    std::os::unix::fs::chown(&socket, Some(rustix::process::geteuid().as_raw()), None).unwrap();
    refuse();
    other.wait().unwrap();
}

/// The error message and the help line.
fn error_of<T: std::fmt::Debug>(result: Result<T, Error>) -> (String, String) {
    let error = result.unwrap_err();
    (error.to_string(), error.help().to_owned())
}

#[test]
fn sessions_are_those_of_the_reply() {
    let ask = |reply: &str| {
        let fake = Fake::start(vec![HELLO.to_owned(), reply.to_owned()]);
        let mut program = Program::connect_with_timeout(&fake.socket(), LONG).unwrap();
        let sessions = program.sessions();
        drop(program);
        assert_eq!(fake.thread.join().unwrap(), ["protolog 1\n", "sessions\n"]);
        sessions.unwrap()
    };
    let [stream, ring] = ask(
        "levels 3f before::Any\ntracing y stream /a b\nlevels 3c app::Log::Net\nlevels 20 app::Log::Disk\n\
         sometime more\ntracing n ring-buffer -\nok\n",
    )
    .unwrap()
    .try_into()
    .unwrap();
    assert_eq!((stream.control, stream.file.as_deref()), (true, Some("/a b")));
    let groups = [("app::Log::Disk".to_owned(), 0x20), ("app::Log::Net".to_owned(), 0x3c)];
    assert_eq!(stream.groups, groups.into());
    assert_eq!((ring.control, ring.file, ring.groups.len()), (false, None, 0));
    assert_eq!(ask("ok\n"), Some(Vec::new()));
    // A program of an earlier version.
    assert_eq!(ask("help ask otherwise\nerror unknown request `sessions`\n"), None);
}

/// A process that refuses `pages` names a file; the operator opens none but one beside the socket,
/// or the process's own memory.
#[test]
fn files_elsewhere_are_not_mapped() {
    let map = |name: &str| {
        let refusal = "help ask otherwise\nerror no descriptors\n".to_owned();
        let reply = format!("pages-file 1 4096 {name}\nok\n");
        let fake = Fake::start(vec![HELLO.to_owned(), refusal, reply]);
        let private = fake.dir.path().join("private");
        std::fs::write(&private, [0; 4096]).unwrap();
        std::fs::set_permissions(&private, PermissionsExt::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink("private", fake.dir.path().join("link")).unwrap();
        let mut program = Program::connect_with_timeout(&fake.socket(), LONG).unwrap();
        let mapped = program.pages().map(drop);
        drop(program);
        assert_eq!(fake.thread.join().unwrap()[1..], ["pages\n", "pages-file\n"]);
        mapped.map_err(|error| error.to_string())
    };
    assert_eq!(map("private"), Ok(()));
    for (name, expected) in [
        ("/etc/passwd", "unusable shared memory: the name of the file is none"),
        ("/proc/self/fd/0", "unusable shared memory: the name of the file is none"),
        ("../private", "unusable shared memory: the name of the file is none"),
        ("link", "unusable shared memory: not a file of this user alone"),
        ("none", "can't reach the program: No such file or directory"),
    ] {
        let error = map(name).unwrap_err();
        assert!(error.starts_with(expected), "{name}: {error}");
    }
    // The number of a descriptor is looked up in the process that the kernel names, which is this
    // one.
    let regular = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
    let error = map(&format!("/proc/1/fd/{}", regular.as_raw_fd())).unwrap_err();
    assert_eq!(error, "unusable shared memory: not a file of this user alone");
}

#[test]
fn groups_are_those_of_the_reply() {
    let lines =
        "group 1 7 003f0001 y app::Log::Net Net\ngroup - 0 00000000 n app::Log::Disk Disk\nok\n";
    let [net, disk] = groups(lines.to_owned()).unwrap().try_into().unwrap();
    assert_eq!((net.page, net.index, net.word, net.compiled), (Some(1), 7, 0x003f_0001, true));
    assert_eq!((net.name.as_str(), net.tag.as_str()), ("app::Log::Net", "Net"));
    assert_eq!((disk.page, disk.compiled, disk.tag.as_str()), (None, false, "Disk"));
}

#[test]
fn what_a_terminal_obeys_is_replaced() {
    let line = "group - 0 00000000 n app::\u{202e}Log\u{2028}\u{9b}::Net \u{1b}Net\nok\n";
    let [group] = groups(line.to_owned()).unwrap().try_into().unwrap();
    assert_eq!((group.name.as_str(), group.tag.as_str()), ("app::?Log??::Net", "?Net"));
}

#[test]
fn a_refusal_has_a_message_and_help() {
    let refusal = groups("help ask another one\nerror it is wrong\n".to_owned());
    assert_eq!(error_of(refusal), ("it is wrong".to_owned(), "ask another one".to_owned()));
}

#[test]
fn a_reply_without_end_is_an_error() {
    let line = format!("group - 0 00000000 n {} T\n", "x".repeat(4_000));
    let (message, help) = error_of(groups(line.repeat(MAX_REPLY_BYTES / line.len() + 1)));
    assert!(message.starts_with("unexpected reply `group - 0 00000000 n xxx"), "{message}");
    assert_eq!(help, "use a protologtool of the version that the program was built with");
    // A line takes memory though it is empty.
    let (message, _) = error_of(groups("\n".repeat(MAX_REPLY_BYTES / 16)));
    assert_eq!(message, "unexpected reply ``");
    // A long reply that ends is fine.
    let long = line.repeat(MAX_REPLY_BYTES / 8 / line.len()) + "ok\n";
    assert_eq!(groups(long).unwrap().len(), MAX_REPLY_BYTES / 8 / line.len());
}

#[test]
fn replies_that_share_a_limit_take_no_more_together() {
    let line = format!("group - 0 00000000 n {} Tag\n", "x".repeat(1000));
    let reply = line.repeat(1000) + "ok\n";
    let budget = Arc::new(AtomicUsize::new(2 * reply.len()));
    let mut results = Vec::new();
    for _ in 0..3 {
        let fake = Fake::start(vec![HELLO.to_owned(), reply.clone()]);
        let mut program = Program::connect_with_timeout(&fake.socket(), LONG).unwrap();
        program.reply_within(Arc::clone(&budget));
        results.push(program.groups().map(|groups| groups.len()));
        drop(program);
        fake.thread.join().unwrap();
    }
    assert!(
        matches!(results[..], [Ok(1000), Err(Error::TooMuch), Err(Error::TooMuch)]),
        "{results:?}"
    );
}

#[test]
fn a_request_that_is_too_long_is_not_sent() {
    let fake = Fake::start(vec![HELLO.to_owned(), "ok\n".to_owned()]);
    let mut program = Program::connect(&fake.socket()).unwrap();
    let item = "x".repeat(MAX_LINE - "set \n".len());
    let (message, help) = error_of(program.request(&Request::Set(&(item.clone() + "x"))));
    assert_eq!(message, format!("the request is longer than {MAX_LINE} bytes"));
    assert_eq!(help, "request less at a time");
    assert_eq!(program.request(&Request::Set(&item)).unwrap(), [""; 0]);
    drop(program);
    assert_eq!(fake.thread.join().unwrap()[1].len(), MAX_LINE, "only the short one was sent");
}

#[test]
fn a_silent_process_times_out() {
    let fake = Fake::start(Vec::new());
    let error =
        Program::connect_with_timeout(&fake.socket(), Duration::from_millis(50)).unwrap_err();
    assert!(std::error::Error::source(&error).is_some(), "{error:?}");
    let help = "check whether the program is stopped or too busy";
    assert_eq!((error.to_string().as_str(), error.help()), ("the program does not answer", help));
    fake.thread.join().unwrap();
}

/// Its answer comes when the operator has given it up, and has another question.
#[test]
fn a_late_reply_answers_no_other_request() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("1.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let (timed_out, late) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        let program = scope.spawn(|| {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(HELLO.as_bytes()).unwrap();
            timed_out.wait();
            // The operator may have closed the connection.
            let _ = stream.write_all(b"group - 0 00000000 y app::Log::Late Late\nok\n");
            late.wait();
            let mut requests = String::new();
            stream.read_to_string(&mut requests).unwrap();
            requests
        });
        let mut operator = Program::connect_with_timeout(&socket, TIMEOUT).unwrap();
        let (message, _) = error_of(operator.groups());
        assert_eq!(message, "the program does not answer");
        timed_out.wait();
        late.wait();
        let (message, help) = error_of(operator.request(&Request::Set("Net=off")));
        assert_eq!(message, "the program is not asked again, since an answer failed");
        assert_eq!(help, "check whether the program is stopped or too busy");
        drop(operator);
        assert_eq!(program.join().unwrap(), "protolog 1\ngroups\n");
    });
}

#[test]
fn more_than_was_asked_for_answers_no_other_request() {
    let twice = "ok\nok\n".to_owned();
    let fake = Fake::start(vec![HELLO.to_owned(), twice, "ok\n".to_owned()]);
    let mut program = Program::connect_with_timeout(&fake.socket(), LONG).unwrap();
    program.request(&Request::Set("Net=off")).unwrap();
    let (message, _) = error_of(program.request(&Request::Set("Net=info")));
    assert_eq!(message, "unexpected reply `ok?`");
    assert!(program.request(&Request::Set("Net=info")).is_err(), "given up");
    drop(program);
    fake.thread.join().unwrap();
}

#[test]
fn a_socket_without_a_listener_belongs_to_an_ended_program() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("1.sock");
    drop(UnixListener::bind(&socket).unwrap());
    for socket in [socket, dir.path().join("2.sock")] {
        let (message, help) = error_of(Program::connect(&socket));
        assert_eq!((&*message, &*help), ("the program has ended", "start the program again"));
    }
}
