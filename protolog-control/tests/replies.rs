//! Replies of a fake process, and what the operator's side makes of each.

use protolog_control::{Error, Group, MAX_REPLY_BYTES, Program};
use protolog_core::control::protocol::{MAX_LINE, Request};
use protolog_testkit::{TempDir, temp_dir_for_sockets};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// More time than the longest reply takes on a busy machine.
const LONG: Duration = Duration::from_secs(120);

const HELLO: &str = "protolog 1 4711 server\nok\n";

/// A fake process, which sends prepared replies.
struct Fake {
    dir: TempDir,
    thread: JoinHandle<Vec<String>>,
}

impl Fake {
    /// Starts one that sends `replies`, one per request, and ends when the operator disconnects. Its thread returns the
    /// requests.
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

/// The result of a request for groups, if the reply is `reply`.
fn groups(reply: String) -> Result<Vec<Group>, Error> {
    let fake = Fake::start(vec![HELLO.to_owned(), reply]);
    let mut program = Program::connect_with_timeout(&fake.socket(), LONG).unwrap();
    assert_eq!((program.pid, program.name.as_str()), (4711, "server"));
    let groups = program.groups();
    drop(program);
    assert_eq!(fake.thread.join().unwrap(), ["protolog 1\n", "groups\n"]);
    groups
}

/// The error message and the help line.
fn error_of<T: std::fmt::Debug>(result: Result<T, Error>) -> (String, String) {
    let error = result.unwrap_err();
    (error.to_string(), error.help().to_owned())
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
    // A long reply that ends is fine.
    let long = line.repeat(MAX_REPLY_BYTES / 8 / line.len()) + "ok\n";
    assert_eq!(groups(long).unwrap().len(), MAX_REPLY_BYTES / 8 / line.len());
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
