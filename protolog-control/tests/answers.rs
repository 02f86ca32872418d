//! What the operator's side makes of a program's answers: those of a program that says what a test has it say.

use protolog_control::{Error, Group, MOST_ANSWER, Program};
use protolog_core::control::protocol::{MAX_LINE, Request};
use protolog_testkit::{TempDir, temp_dir_for_sockets};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::Duration;

const HELLO: &str = "protolog 1 4711 server\nok\n";

/// A program that says what it was told to say.
struct Fake {
    dir: TempDir,
    thread: JoinHandle<Vec<String>>,
}

impl Fake {
    /// One that gives these answers, one for each question, and ends when whoever asks goes away; its thread gives the questions.
    fn start(answers: Vec<String>) -> Self {
        let dir = temp_dir_for_sockets();
        let listener = UnixListener::bind(dir.path().join("1.sock")).unwrap();
        let thread = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut input = BufReader::new(stream.try_clone().unwrap());
            let mut questions = Vec::new();
            for answer in answers {
                let mut question = String::new();
                input.read_line(&mut question).unwrap();
                questions.push(question);
                // Whoever has enough of it goes away.
                let _ = stream.write_all(answer.as_bytes());
            }
            while input.read_line(&mut String::new()).is_ok_and(|size| size > 0) {}
            questions
        });
        Self { dir, thread }
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("1.sock")
    }
}

/// What comes of asking for groups, where the answer is `answer`.
fn groups(answer: String) -> Result<Vec<Group>, Error> {
    let fake = Fake::start(vec![HELLO.to_owned(), answer]);
    let mut program = Program::connect(&fake.socket()).unwrap();
    assert_eq!((program.pid, program.name.as_str()), (4711, "server"));
    let groups = program.groups();
    drop(program);
    assert_eq!(fake.thread.join().unwrap(), ["protolog 1\n", "groups\n"]);
    groups
}

/// The error in words, and what to do about it.
fn told<T: std::fmt::Debug>(result: Result<T, Error>) -> (String, String) {
    let error = result.unwrap_err();
    (error.to_string(), error.help().to_owned())
}

#[test]
fn groups_are_those_of_the_answer() {
    let lines =
        "group 1 7 003f0001 y app::Log::Net Net\ngroup - 0 00000000 n app::Log::Disk Disk\nok\n";
    let [net, disk] = groups(lines.to_owned()).unwrap().try_into().unwrap();
    assert_eq!((net.page, net.index, net.word, net.compiled), (Some(1), 7, 0x003f_0001, true));
    assert_eq!((net.name.as_str(), net.tag.as_str()), ("app::Log::Net", "Net"));
    assert_eq!((disk.page, disk.compiled, disk.tag.as_str()), (None, false, "Disk"));
}

#[test]
fn a_refusal_says_what_and_what_to_do() {
    let refusal = groups("help ask another one\nerror it is wrong\n".to_owned());
    assert_eq!(told(refusal), ("it is wrong".to_owned(), "ask another one".to_owned()));
}

#[test]
fn an_answer_without_end_is_none() {
    let line = format!("group - 0 00000000 n {} T\n", "x".repeat(4_000));
    let (what, help) = told(groups(line.repeat(MOST_ANSWER / line.len() + 1)));
    assert!(what.starts_with("the program answered `group - 0 00000000 n xxx"), "{what}");
    assert_eq!(help, "use a protologtool of the version that the program was built with");
    // What is long and ends is one.
    let long = line.repeat(MOST_ANSWER / 8 / line.len()) + "ok\n";
    assert_eq!(groups(long).unwrap().len(), MOST_ANSWER / 8 / line.len());
}

#[test]
fn a_question_has_one_line_of_the_length_that_lines_have() {
    let fake = Fake::start(vec![HELLO.to_owned(), "ok\n".to_owned()]);
    let mut program = Program::connect(&fake.socket()).unwrap();
    let item = "x".repeat(MAX_LINE - "set \n".len());
    let (what, help) = told(program.ask(&Request::Set(&(item.clone() + "x"))));
    assert_eq!(what, format!("the question has more than {MAX_LINE} bytes"));
    assert_eq!(help, "ask for less at a time");
    assert_eq!(program.ask(&Request::Set(&item)).unwrap(), [""; 0]);
    drop(program);
    assert_eq!(fake.thread.join().unwrap()[1].len(), MAX_LINE, "what is too long is not sent");
}

#[test]
fn who_does_not_answer_is_not_waited_for() {
    let fake = Fake::start(Vec::new());
    let error = Program::connect_within(&fake.socket(), Duration::from_millis(50)).unwrap_err();
    assert!(std::error::Error::source(&error).is_some(), "{error:?}");
    let help = "look whether the program is stopped or too busy";
    assert_eq!((error.to_string().as_str(), error.help()), ("the program does not answer", help));
    fake.thread.join().unwrap();
}

#[test]
fn a_socket_that_nobody_has_is_that_of_a_program_that_ended() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("1.sock");
    drop(UnixListener::bind(&socket).unwrap());
    for socket in [socket, dir.path().join("2.sock")] {
        let (what, help) = told(Program::connect(&socket));
        assert_eq!((&*what, &*help), ("the program has ended", "start the program again"));
    }
}
