//! An event of one program makes all programs of its family write what they keep of the same time,
//! and, by its name, programs on other machines.
//!
//! The programs are this one, run again; each is told by its standard input what to do.

use protolog_core::control::protocol::SOCKET_SUFFIX;
use protolog_reader::{Rendering, Trace};
use protolog_rt::{Level, ProtoLogGroup, Session, TriggerCounts, Triggers, control, d, e};
use protolog_testkit::{temp_dir_for_sockets, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;
use std::{env, fs};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// Name and family of a program, and the directory of its files.
const VARIABLE: &str = "PROTOLOG_TEST_FAMILY";

/// The time that programs have to answer, also on a busy machine.
const AFTER: Duration = Duration::from_secs(2);

/// A program that was started.
struct Program {
    child: Child,
    output: Lines<BufReader<ChildStdout>>,
}

impl Program {
    /// Starts it, with its sockets and files in `dir`; `-` for no family.
    fn start(name: &str, family: &str, dir: &Path) -> Self {
        Self::start_in(name, family, dir, &dir.join("run"))
    }

    /// Likewise, on another machine: with sockets elsewhere.
    fn start_in(name: &str, family: &str, dir: &Path, sockets: &Path) -> Self {
        let mut command = Command::new(env::current_exe().expect("this program"));
        command.args(["--exact", "a_program_of_these_tests", "--nocapture"]);
        command.env(VARIABLE, format!("{name}|{family}|{}", dir.display()));
        command.env("PROTOLOG_RUNTIME_DIR", sockets);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("start a program");
        let output = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut program = Self { child, output };
        assert_eq!(program.answer(), "ready");
        program
    }

    /// Has it do something, and returns its answer.
    fn ask(&mut self, what: &str) -> String {
        self.tell(what);
        self.answer()
    }

    fn tell(&mut self, what: &str) {
        let input = self.child.stdin.as_mut().expect("a pipe");
        writeln!(input, "{what}").expect("the program reads");
    }

    fn answer(&mut self) -> String {
        loop {
            let line = self.output.next().expect("an answer").expect("text");
            // The test harness writes lines of its own.
            if let Some((_, answer)) = line.split_once("> ") {
                return answer.to_owned();
            }
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("a process of ours");
    }

    /// Ends it, and returns what it wrote to standard error.
    fn end(mut self) -> String {
        drop(self.child.stdin.take());
        let mut said = String::new();
        let mut errors = self.child.stderr.take().expect("a pipe");
        errors.read_to_string(&mut said).expect("text");
        assert!(self.child.wait().expect("wait for it").success(), "{said}");
        said
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_program_of_these_tests() {
    let Ok(given) = env::var(VARIABLE) else { return };
    let [name, family, dir] = given.splitn(3, '|').collect::<Vec<_>>()[..] else { unreachable!() };
    let triggers = Triggers::to(Path::new(dir).join(format!("{name}.pftrace")));
    let triggers = triggers.on_level(Level::Error).after(AFTER);
    let triggers = if family == "-" { triggers } else { triggers.family(family) };
    let session = Session::builder().enable_all().triggers(triggers).start().expect("start");
    let server = control::serve().expect("listen");
    d!(Log::Work, "%s works", name);
    let mut others = Vec::new();
    println!("> ready");
    for line in std::io::stdin().lines() {
        let line = line.expect("text");
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("error", _) => {
                e!(Log::Work, "%s failed", name);
                println!("> done");
            }
            ("exit", _) => {
                e!(Log::Work, "%s failed, and exits", name);
                std::process::exit(0);
            }
            ("other", _) => {
                // Another session of the same program, for which an error is no event.
                let triggers = Triggers::to(Path::new(dir).join(format!("{name}-other.pftrace")));
                let triggers = triggers.family(family).after(AFTER);
                let builder = Session::builder().enable_all().triggers(triggers);
                others.push(builder.start().expect("start"));
                println!("> done");
            }
            ("event", cause) => {
                println!("> {}", protolog_rt::trigger_event(cause).expect("a file"));
            }
            ("join", event) => println!("> {}", protolog_rt::join_event(event)),
            _ => println!("> {}", counts(&session)),
        }
    }
    session.stop().expect("stop");
    for other in others {
        other.stop().expect("stop");
    }
    drop(server);
}

/// Name, fired and suppressed of each cause that has come.
fn counts(session: &Session) -> String {
    let all = session.trigger_counts();
    let come = all.iter().filter(|it| it.fired + it.suppressed > 0);
    let one = |TriggerCounts { cause, fired, suppressed, .. }: &TriggerCounts| {
        format!("{cause}: {fired}+{suppressed}")
    };
    come.map(one).collect::<Vec<_>>().join(", ")
}

/// The files of triggers in a directory, by name.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry"));
    let mut all: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "pftrace"))
        .collect();
    all.sort();
    all
}

/// Program, cause and time in a name.
fn parts(path: &Path) -> (String, String, String) {
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    let mut parts = name.splitn(3, '.').map(str::to_owned);
    let mut next = || parts.next().expect("a part");
    (next(), next(), next())
}

fn wait_for_files(count: usize, dir: &Path) -> Vec<PathBuf> {
    wait_until("the files are there", || files(dir).len() >= count);
    files(dir)
}

/// The messages in a file, in their order.
fn texts(path: &Path) -> Vec<String> {
    let log = Trace::open(path).expect("open").read().expect("read");
    assert!(log.is_complete(), "{}", path.display());
    log.entries().map(|entry| entry.values().text(Rendering::Full)).collect()
}

#[test]
fn an_event_of_one_is_in_a_file_of_each() {
    let dir = temp_dir_for_sockets();
    let mut web = Program::start("web", "shop", dir.path());
    let db = Program::start("db", "shop", dir.path());
    let mut queue = Program::start("queue", "shop", dir.path());
    let mut other = Program::start("other", "factory", dir.path());
    let mut none = Program::start("none", "-", dir.path());
    assert_eq!(web.ask("error"), "done");
    let all = wait_for_files(3, dir.path());
    let names: Vec<_> = all.iter().map(|path| parts(path)).collect();
    let of = names.iter().map(|(program, cause, _)| (program.as_str(), cause.as_str()));
    let expected = [("db", "joined-error"), ("queue", "joined-error"), ("web", "error")];
    assert_eq!(of.collect::<Vec<_>>(), expected);
    assert!(names.iter().all(|(.., time)| *time == names[0].2), "one time: {names:?}");
    let joined = format!("trigger: joined error, of process {}", web.child.id());
    assert_eq!(texts(&all[0]), ["db works", &joined]);
    assert_eq!(texts(&all[1]), ["queue works", &joined]);
    assert_eq!(texts(&all[2]), ["web works", "web failed", "trigger: error"]);
    // Who was told tells nobody, and the next event comes within the interval.
    assert_eq!(web.ask("error"), "done");
    assert_eq!(web.ask("counts"), "error: 1+1");
    assert_eq!(queue.ask("counts"), "joined error: 1+0");
    // One's own event has a file of its own, which the others join.
    assert_eq!(queue.ask("error"), "done");
    wait_until("they have joined", || web.ask("counts") == "error: 1+1, joined error: 1+0");
    assert_eq!(queue.ask("counts"), "error: 1+0, joined error: 1+0");
    assert_eq!([&mut other, &mut none].map(|one| one.ask("counts")), ["", ""]);
    for program in [web, db, queue, other, none] {
        assert_eq!(program.end(), "");
    }
    assert_eq!(files(dir.path()).len(), 5);
}

/// An operator asks all programs, and each of them tells the others: of one event each has one
/// file, whichever comes first. Those of no family have theirs from the operator.
#[test]
fn an_operators_event_makes_one_file_in_each() {
    let dir = temp_dir_for_sockets();
    let names = ["db", "queue", "web"];
    let mut programs = names.map(|name| Program::start(name, "shop", dir.path()));
    let none = Program::start("none", "-", dir.path());
    let ask = |program: &Program, line: &str| {
        let entries = fs::read_dir(dir.path().join("run")).expect("a directory");
        let mut paths = entries.map(|entry| entry.expect("an entry").path());
        let beginning = format!("/run/{}-", program.child.id());
        let is_it = |path: &PathBuf| {
            let path = path.to_string_lossy();
            path.contains(&beginning) && path.ends_with(SOCKET_SUFFIX)
        };
        let path = paths.find(is_it);
        let mut stream = UnixStream::connect(path.expect("its socket")).expect("connect");
        stream.write_all(format!("protolog 1\n{line}\n").as_bytes()).expect("it reads");
        stream.shutdown(std::net::Shutdown::Write).expect("say that this was all");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        // One to the greeting, and one to the request.
        let mut last = answer.lines().filter(|line| *line == "ok" || line.starts_with("error "));
        last.nth(1).expect("an answer").to_owned()
    };
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let line = format!("trigger-at {} slow today", since.expect("a time").as_nanos());
    assert_eq!(ask(&programs[0], &line), "ok");
    assert_eq!(ask(&none, &line), "ok");
    // By now these know of it from the first one.
    for program in &mut programs[1..] {
        wait_until("it has joined", || program.ask("counts") == "joined slow-today: 1+0");
    }
    assert_eq!([1, 2].map(|at| ask(&programs[at], &line)), ["ok", "ok"]);
    let all = wait_for_files(4, dir.path());
    let found: Vec<_> = all.iter().map(|path| parts(path)).collect();
    let of = found.iter().map(|(program, cause, _)| (program.as_str(), cause.as_str()));
    let expected = [
        ("db", "slow-today"),
        ("none", "slow-today"),
        ("queue", "joined-slow-today"),
        ("web", "joined-slow-today"),
    ];
    assert_eq!(of.collect::<Vec<_>>(), expected);
    assert!(found.iter().all(|(.., time)| *time == found[0].2), "one time: {found:?}");
    // The same line once more is no other event; another one is too soon.
    assert_eq!(ask(&programs[0], &line), "ok");
    assert!(ask(&programs[0], "trigger slow today").starts_with("error"));
    assert_eq!(programs[0].ask("counts"), "slow today: 1+1");
    for program in programs.into_iter().chain([none]) {
        assert_eq!(program.end(), "");
    }
    assert_eq!(files(dir.path()).len(), 4);
}

#[test]
fn a_program_that_is_stopped_holds_up_nobody_and_joins_later() {
    let dir = temp_dir_for_sockets();
    let mut web = Program::start("web", "shop", dir.path());
    let mut db = Program::start("db", "shop", dir.path());
    let gone = Program::start("gone", "shop", dir.path());
    gone.signal(Signal::KILL);
    drop(gone);
    db.signal(Signal::STOP);
    assert_eq!(web.ask("error"), "done");
    let own = wait_for_files(1, dir.path());
    assert_eq!(parts(&own[0]).0, "web");
    db.signal(Signal::CONT);
    wait_until("it has joined", || db.ask("counts") == "joined error: 1+0");
    let all = wait_for_files(2, dir.path());
    assert_eq!(parts(&all[0]).2, parts(&own[0]).2, "the same time");
    let said = web.end();
    let line = "protolog: 1 programs of this user did not answer when the family `shop` was told of an event\n";
    assert!(said.starts_with(line), "{said}");
    assert_eq!(db.end(), "");
}

#[test]
fn other_sessions_of_the_same_program_join() {
    let dir = temp_dir_for_sockets();
    let mut web = Program::start("web", "shop", dir.path());
    assert_eq!(web.ask("other"), "done");
    assert_eq!(web.ask("error"), "done");
    let names: Vec<_> = wait_for_files(2, dir.path()).iter().map(|path| parts(path)).collect();
    assert_eq!((&*names[0].0, &*names[0].1), ("web-other", "joined-error"));
    assert_eq!((&*names[1].0, &*names[1].1, &names[1].2), ("web", "error", &names[0].2));
    assert_eq!(web.end(), "");
}

/// More than are awaited; none of these answers.
#[test]
fn any_number_of_programs_is_told_and_few_descriptors_are_open() {
    const PROGRAMS: usize = 100;
    let dir = temp_dir_for_sockets();
    let mut web = Program::start("web", "shop", dir.path());
    let listeners: Vec<_> = (0..PROGRAMS)
        .map(|number| dir.path().join(format!("run/{number}-1{SOCKET_SUFFIX}")))
        .map(|path| UnixListener::bind(path).expect("listen"))
        .collect();
    let descriptors = format!("/proc/{}/fd", web.child.id());
    let open = || fs::read_dir(&descriptors).expect("its descriptors").count();
    let before = open();
    assert_eq!(web.ask("error"), "done");
    let mut most = 0;
    wait_until("its file is there", || {
        most = most.max(open());
        !files(dir.path()).is_empty()
    });
    assert!(most <= before + 64 + 8, "{most} after {before}");
    for listener in listeners {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut lines = [0; 256];
        let count = stream.read(&mut lines).expect("three lines");
        let lines = String::from_utf8_lossy(&lines[..count]);
        assert!(
            lines.starts_with("protolog 1\njoin-for 60000000000 2000000000 shop ")
                && lines.contains("-error\njoin shop ")
                && lines.ends_with("-error\n"),
            "{lines}"
        );
    }
    let said = web.end();
    assert!(said.starts_with("protolog: 64 programs of this user did not answer"), "{said}");
}

#[test]
fn a_program_that_exits_tells_the_others() {
    let dir = temp_dir_for_sockets();
    let mut web = Program::start("web", "shop", dir.path());
    let _db = Program::start("db", "shop", dir.path());
    web.tell("exit");
    let all = wait_for_files(2, dir.path());
    assert_eq!(parts(&all[0]).1, "joined-error");
    assert_eq!(parts(&all[1]).1, "error");
}

#[test]
fn an_event_has_a_name_on_other_machines() {
    let dir = temp_dir_for_sockets();
    let mut web = Program::start_in("web", "-", dir.path(), &dir.path().join("here"));
    let mut db = Program::start_in("db", "-", dir.path(), &dir.path().join("there"));
    let event = web.ask("event Slow query!");
    let (nanos, cause) = event.split_once('-').expect("two parts");
    assert!(nanos.parse::<u64>().is_ok() && cause == "slow-query", "{event}");
    for wrong in ["", "slow", "1-slow-query", "99999999999999999999-slow", "12-../../etc"] {
        assert_eq!(db.ask(&format!("join {wrong}")), "0", "{wrong}");
    }
    assert_eq!(db.ask(&format!("join {event}")), "1");
    let all = wait_for_files(2, dir.path());
    let names: Vec<_> = all.iter().map(|path| parts(path)).collect();
    assert_eq!((names[0].1.as_str(), names[1].1.as_str()), ("joined-slow-query", "slow-query"));
    assert_eq!(names[0].2, names[1].2, "the same time");
    assert_eq!(texts(&all[0]), ["db works", "trigger: joined slow-query"]);
    assert_eq!(db.ask(&format!("join {event}")), "0", "a moment ago");
    assert_eq!(db.ask("counts"), "joined slow-query: 1+0", "no other event");
}

#[test]
fn what_is_no_event_is_refused() {
    let dir = temp_dir_for_sockets();
    let mut db = Program::start("db", "a family", dir.path());
    let entries = fs::read_dir(dir.path().join("run")).expect("a directory");
    let mut paths = entries.map(|entry| entry.expect("an entry").path());
    let socket = paths.find(|path| path.to_string_lossy().ends_with(SOCKET_SUFFIX));
    let mut stream = UnixStream::connect(socket.expect("its socket")).expect("connect");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time");
    let now = now.as_nanos();
    let family = "\"a\\u{20}family\"";
    let requests = [
        format!("join {family} 7 slow"),
        format!("join {family} 7 12-slow"),
        format!("join other 7 {now}-slow"),
        format!("join {family} x {now}-slow"),
        format!("join {family} 7 {now}-slow"),
    ];
    write!(stream, "protolog 1\n{}\n", requests.join("\n")).expect("send");
    stream.shutdown(std::net::Shutdown::Write).expect("say that this was all");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let lines = answer.lines().filter(|line| !line.starts_with("help "));
    let lines: Vec<_> = lines.map(|line| line.replace(&now.to_string(), "NOW")).collect();
    let expected = [
        "ok",
        "error `slow` is no event",
        "error `12-slow` is too long ago, or came a moment after another one",
        "error no session is of the family `other`",
        &format!("error unknown request `join {family} x NOW-slow`"),
        "ok",
    ];
    assert_eq!(lines[1..], expected, "{answer}");
    assert_eq!(db.ask("counts"), "joined slow: 1+0");
}
