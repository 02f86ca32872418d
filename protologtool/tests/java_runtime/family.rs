//! A family of programs in Java and Rust: an event of one makes all of them write what they keep of
//! the same time.

use super::switched::done;
use super::{classes, messages};
use protolog_rt::{Level, ProtoLogGroup, Session, Triggers, control, e, i};
use protolog_testkit::serde_json::{self, Value};
use protolog_testkit::{java, temp_dir_for_sockets, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(ProtoLogGroup)]
enum FamilyLog {
    Stock,
}

/// The directory of the files of a test that is a program of the family.
const IN_RUST: &str = "PROTOLOG_TEST_FAMILY_IN_RUST";

struct Program {
    child: Child,
    output: Lines<BufReader<ChildStdout>>,
}

impl Program {
    fn start(name: &str, dir: &Path, sockets: &Path, classes: &Path) -> Self {
        Self::start_with(name, dir, (sockets, classes), &[])
    }

    /// As [`Self::start`], with the milliseconds before an event and after it that its own files
    /// have.
    fn start_with(
        name: &str,
        dir: &Path,
        (sockets, classes): (&Path, &Path),
        window: &[&str],
    ) -> Self {
        let mut java = java().expect("java");
        java.arg("-Dprotolog.level=off");
        java.arg("-cp").arg(classes).args(["app.Family", name]).arg(dir).args(window);
        Self::run(java, sockets)
    }

    /// Starts one in Rust: the test of this name, where [`IN_RUST`] has a directory.
    fn start_in_rust(test: &str, dir: &Path, sockets: &Path) -> Self {
        let mut own = Command::new(std::env::current_exe().expect("the test itself"));
        own.args(["--exact", test, "--nocapture"]).env(IN_RUST, dir);
        Self::run(own, sockets)
    }

    fn run(mut command: Command, sockets: &Path) -> Self {
        command.env("PROTOLOG_RUNTIME_DIR", sockets);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("start it");
        let output = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut program = Self { child, output };
        // A test has other lines before.
        while !program.answer().ends_with("ready") {}
        program
    }

    fn ask(&mut self, what: &str) -> String {
        writeln!(self.child.stdin.as_mut().expect("a pipe"), "{what}").expect("it reads");
        self.answer()
    }

    fn answer(&mut self) -> String {
        self.output.next().expect("an answer").expect("text")
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("a process of ours");
    }

    /// Ends it, and returns what it wrote to standard error.
    fn end(mut self) -> String {
        drop(self.child.stdin.take());
        let mut said = String::new();
        self.child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
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

/// Program, cause and time in the names of the files, which are there in the end.
fn files(count: usize, dir: &Path) -> Vec<(String, String, String, PathBuf)> {
    let all = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir(dir).expect("a directory");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths.filter(|path| path.extension().is_some_and(|it| it == "pftrace")).collect()
    };
    wait_until("the files are there", || all().len() >= count);
    let mut found: Vec<_> = all()
        .into_iter()
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let mut parts = name.splitn(3, '.').map(str::to_owned);
            let mut next = || parts.next().expect("a part");
            (next(), next(), next(), path)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn an_event_of_one_is_in_a_file_of_each() {
    let Some(classes) = classes() else { return };
    let dir = temp_dir_for_sockets();
    let (dir, sockets) = (dir.path(), dir.path().join("run"));
    let triggers = Triggers::to(dir.join("stock.pftrace")).family("shop");
    let triggers = triggers.after(Duration::from_millis(200));
    let session = Session::builder().enable_all().triggers(triggers).start().expect("start");
    let server = control::serve_in(&sockets).expect("listen");
    protolog_rt::i!(FamilyLog::Stock, "in Rust");
    let mut web = Program::start("web", dir, &sockets, classes);
    let mut queue = Program::start("queue", dir, &sockets, classes);
    let stopped = Program::start("stopped", dir, &sockets, classes);
    stopped.signal(Signal::STOP);
    assert_eq!(web.ask("error"), "done");
    let found = files(3, dir);
    let names: Vec<_> = found.iter().map(|(name, cause, ..)| (&**name, &**cause)).collect();
    let expected = [("queue", "joined-error"), ("stock", "joined-error"), ("web", "error")];
    assert_eq!(names, expected);
    assert!(found.iter().all(|(_, _, time, _)| *time == found[0].2), "one time: {found:?}");
    let joined = format!("WARN trigger: trigger: joined error, of process {}", web.child.id());
    assert_eq!(messages(&found[0].3), ["DEBUG Net: queue works", &joined]);
    assert_eq!(messages(&found[1].3), ["INFO Stock: in Rust", &joined]);
    let own = ["DEBUG Net: web works", "ERROR Net: web failed", "WARN trigger: trigger: error"];
    assert_eq!(messages(&found[2].3), own);
    stopped.signal(Signal::CONT);
    let late = &files(4, dir)[2];
    assert_eq!((&*late.0, &late.2), ("stopped", &found[0].2), "it joins later");
    // Who was told tells nobody.
    assert_eq!(queue.ask("counts"), "error: 0+0");
    assert_eq!(queue.answer(), "joined error: 1+0");
    // An operator asks each of them, and they tell each other: each has one file more.
    done(dir, &["trace", "trigger", "slow today"], &[]);
    let all = files(8, dir);
    let more: Vec<_> = all.iter().filter(|(_, cause, ..)| cause.ends_with("slow-today")).collect();
    let names: Vec<_> = more.iter().map(|(name, ..)| &**name).collect();
    assert_eq!(names, ["queue", "stock", "stopped", "web"]);
    assert!(more.iter().all(|(_, _, time, _)| *time == more[0].2), "one time: {more:?}");
    let said = web.end();
    let line = "protolog: 1 programs of this user did not answer when the family `shop` was told of an event\n";
    assert!(said.starts_with(line), "{said}");
    assert_eq!(queue.end(), "");
    drop(server);
    session.stop().expect("stop");
    assert_eq!(stopped.end(), "");
    assert_eq!(files(8, dir).len(), 8);
}

/// Time of the event, and of the first and the last tick of each process, in seconds since the
/// event: in the one trace of these files.
fn ticks(dir: &Path, files: &[&Path]) -> BTreeMap<u64, (f64, f64)> {
    let merged = dir.join("merged.trace");
    let tool = || Command::new(env!("CARGO_BIN_EXE_protologtool"));
    let status = tool().arg("merge").args(files).arg("-o").arg(&merged).status();
    assert!(status.expect("merge").success());
    let read = tool().args(["read-log", "--format", "json"]).arg(&merged).output();
    let text = String::from_utf8(read.expect("read").stdout).expect("text");
    std::fs::remove_file(&merged).expect("it is there");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let text = |line: &Value| line["message"].as_str().unwrap_or_default().to_owned();
    let time = |line: &Value| line["ts"].as_f64().expect("a time") / 1e9;
    let events: Vec<&Value> =
        lines.iter().filter(|line| text(line).starts_with("trigger: ")).collect();
    assert_eq!(events.len(), files.len(), "one of each file");
    let mut of = BTreeMap::new();
    for line in lines.iter().filter(|line| text(line).starts_with("tick ")) {
        let since = time(line) - time(events[0]);
        let span = of.entry(line["pid"].as_u64().expect("a process")).or_insert((since, since));
        span.1 = since;
    }
    of
}

/// A program in Rust that logs, and fails when it is asked to.
fn stock(dir: &Path) {
    let millis = Duration::from_millis;
    let triggers = Triggers::to(dir.join("stock.pftrace")).family("shop");
    let triggers = triggers.on_level(Level::Error).before(millis(2500)).after(millis(1200));
    let session = Session::builder().enable_all().triggers(triggers).start().expect("start");
    let _server = control::serve().expect("listen");
    std::thread::spawn(move || {
        for number in 0.. {
            i!(FamilyLog::Stock, "tick %d", number);
            std::thread::sleep(millis(1));
        }
    });
    println!("ready");
    for _ in std::io::stdin().lines() {
        e!(FamilyLog::Stock, "failed");
        println!("done");
    }
    session.stop().expect("stop");
}

#[test]
fn all_files_of_an_event_have_the_time_of_the_program_that_had_it() {
    if let Some(dir) = std::env::var_os(IN_RUST) {
        return stock(Path::new(&dir));
    }
    let Some(classes) = classes() else { return };
    let dir = temp_dir_for_sockets();
    let (dir, sockets) = (dir.path(), dir.path().join("run"));
    // Their own files have less time, and more.
    let both = (&*sockets, classes);
    let mut less = Program::start_with("less", dir, both, &["100", "10"]);
    let mut more = Program::start_with("more", dir, both, &["60000", "6000"]);
    let test = "family::all_files_of_an_event_have_the_time_of_the_program_that_had_it";
    let mut stock = Program::start_in_rust(test, dir, &sockets);
    assert_eq!([less.ask("tick"), more.ask("tick")], ["done", "done"]);
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(stock.ask("error"), "done");
    let found = files(3, dir);
    let paths: Vec<_> = found.iter().map(|(.., path)| &**path).collect();
    let spans = ticks(dir, &paths);
    assert_eq!(spans.len(), 3, "{spans:?}");
    for (pid, (first, last)) in spans {
        // A file has whole chunks, and goes on until it is written.
        assert!((-4.5..-2.4).contains(&first), "{pid}: from {first} s");
        assert!((1.1..4.0).contains(&last), "{pid}: to {last} s");
    }
    // An event of a program in Java: the time is that of its own files.
    assert!(less.ask("event slow").ends_with("-slow"));
    let found = files(6, dir);
    let new = found.iter().filter(|(.., path)| !paths.contains(&&**path));
    let new: Vec<_> = new.map(|(.., path)| &**path).collect();
    let spans = ticks(dir, &new);
    assert_eq!(spans.len(), 3, "{spans:?}");
    for (pid, (first, last)) in spans {
        assert!((-2.0..-0.09).contains(&first), "{pid}: from {first} s");
        assert!(last < 2.0, "{pid}: to {last} s");
    }
    for program in [less, more, stock] {
        program.end();
    }
}

#[test]
fn an_event_has_a_name_on_other_machines() {
    let Some(classes) = classes() else { return };
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let mut web = Program::start("web", dir, &dir.join("here"), classes);
    let mut queue = Program::start("queue", dir, &dir.join("there"), classes);
    let event = web.ask("event Slow query!");
    assert!(event.ends_with("-slow-query"), "{event}");
    for wrong in ["", "slow", "1-slow-query", "99999999999999999999-slow", "12-../../etc"] {
        assert_eq!(queue.ask(&format!("join {wrong}")), "0", "{wrong}");
    }
    assert_eq!(queue.ask(&format!("join {event}")), "1");
    let found = files(2, dir);
    let names: Vec<_> = found.iter().map(|(name, cause, ..)| (&**name, &**cause)).collect();
    assert_eq!(names, [("queue", "joined-slow-query"), ("web", "slow-query")]);
    assert_eq!(found[0].2, found[1].2, "the same time");
    // What is no event is refused, in the words of the runtime for Rust.
    let mut entries = std::fs::read_dir(dir.join("there")).expect("a directory");
    let socket = entries.find_map(|entry| {
        let path = entry.expect("an entry").path();
        path.extension().is_some_and(|it| it == "sock").then_some(path)
    });
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_nanos();
    let mut stream = UnixStream::connect(socket.expect("its socket")).expect("connect");
    let requests = [
        "shop 7 slow",
        "shop 7 12-slow",
        &format!("other 7 {now}-slow"),
        &format!("shop x {now}-slow"),
    ]
    .map(|request| format!("join {request}\n"));
    write!(stream, "protolog 1\n{}", requests.concat()).expect("send");
    stream.shutdown(std::net::Shutdown::Write).expect("say that this was all");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let errors = answer.lines().filter(|line| line.starts_with("error "));
    let errors: Vec<_> = errors.map(|line| line.replace(&now.to_string(), "NOW")).collect();
    let expected = [
        "error `slow` is no event",
        "error `12-slow` is too long ago, or came a moment after another one",
        "error no session is of the family `other`",
        "error unknown request `join shop x NOW-slow`",
    ];
    assert_eq!(errors, expected, "{answer}");
}
