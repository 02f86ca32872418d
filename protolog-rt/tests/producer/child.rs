//! The programs that log: this test program, run again with a job in its environment.
//!
//! A job is words: `threads=4 count=1000 size=20 …`. The child connects, says `ready`, and then
//! does what the lines of its standard input say, with a line `done` after each; at their end it
//! exits. What it logged is in the file that the job names, in plain text.

use crate::{closing, fork, rights};
use protolog_control::Program;
use protolog_core::control::protocol::Request;
use protolog_rt::control::serve_in;
use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{Level, ProtoLogGroup, Session, d, i, producer, v, wtf};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, mpsc};
use std::time::Duration;
use std::{env, fs, thread};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
    Other,
    #[protolog(sample = "1/10")]
    Declared,
}

const JOB: &str = "PROTOLOG_TEST_JOB";
const LOGGED: &str = "PROTOLOG_TEST_LOGGED";

/// A child, and the way to talk to it.
pub(crate) struct RunningChild {
    pub(crate) process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    logged: PathBuf,
}

impl RunningChild {
    /// Starts a child that connects to the service at `socket`, and waits until it runs.
    pub(crate) fn start(job: &str, socket: &Path, logged: &Path) -> Self {
        let program = env::current_exe().expect("this program");
        let mut process = Command::new(program)
            .args(["--exact", "child::run", "--nocapture", "--test-threads=1"])
            .env(JOB, job)
            .env(LOGGED, logged)
            .env("PERFETTO_PRODUCER_SOCK_NAME", socket)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(errors(logged)).expect("a file for errors"))
            .spawn()
            .expect("start a child");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut child = Self { process, input, output, logged: logged.to_owned() };
        child.expect("ready");
        child
    }

    /// Sends a line, and waits until it is done.
    pub(crate) fn tell(&mut self, line: &str) -> String {
        self.ask(line);
        self.expect("done")
    }

    /// Sends a line.
    pub(crate) fn ask(&mut self, line: &str) {
        writeln!(self.input.as_mut().expect("a pipe"), "{line}").expect("write to the child");
    }

    /// Waits for a line that begins so, and returns the rest.
    pub(crate) fn expect(&mut self, word: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            let count = self.output.read_line(&mut line).expect("read from the child");
            assert!(count > 0, "the child ended before it said `{word}`: {}", self.errors());
            // The harness prints before it, on the same line.
            if let Some(at) = line.find(&format!("@{word}")) {
                return line[at + 1 + word.len()..].trim().to_owned();
            }
        }
    }

    /// Its messages.
    pub(crate) fn logged(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.logged).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The number of files that it has open.
    pub(crate) fn files(&self) -> usize {
        let files = fs::read_dir(format!("/proc/{}/fd", self.process.id()));
        files.expect("the files of the child").count()
    }

    /// The files that it has open, as the kernel names them.
    pub(crate) fn open_files(&self) -> Vec<String> {
        let files = fs::read_dir(format!("/proc/{}/fd", self.process.id())).expect("its files");
        let name = |file: fs::DirEntry| fs::read_link(file.path()).unwrap_or_default();
        files.map(|file| name(file.expect("a file")).display().to_string()).collect()
    }

    /// The number of its threads, of its open files, and of the parts of its memory.
    pub(crate) fn resources(&self) -> [usize; 3] {
        let path = |name: &str| format!("/proc/{}/{name}", self.process.id());
        let threads = fs::read_dir(path("task")).expect("its threads").count();
        let maps = fs::read_to_string(path("maps")).expect("its memory").lines().count();
        [threads, self.files(), maps]
    }

    /// The processor's time that it took.
    pub(crate) fn processor_time(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()));
        let stat = stat.expect("the child's times");
        let fields: Vec<&str> =
            stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |at: usize| fields[at].parse::<u64>().expect("ticks");
        Duration::from_millis((ticks(11) + ticks(12)) * 10)
    }

    /// Lets it exit, and waits for that.
    pub(crate) fn end(mut self) -> Vec<String> {
        self.exit()
    }

    /// Likewise, where more is to be asked of it.
    pub(crate) fn exit(&mut self) -> Vec<String> {
        self.input = None;
        let status = self.process.wait().expect("wait for the child");
        assert!(status.success(), "{status}: {}", self.errors());
        self.logged()
    }

    /// Its standard error.
    pub(crate) fn errors(&self) -> String {
        fs::read_to_string(errors(&self.logged)).unwrap_or_default()
    }

    /// Ends it at once.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.process.kill().expect("kill the child");
        self.process.wait().expect("wait for the child");
        self.logged()
    }
}

/// The file with the standard error of the child that logs to `logged`.
fn errors(logged: &Path) -> PathBuf {
    logged.with_extension("err")
}

impl Drop for RunningChild {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The entry point of a child; does nothing in the test run itself.
#[test]
fn run() {
    let Ok(job) = env::var(JOB) else { return };
    let logged = PathBuf::from(env::var_os(LOGGED).expect("a path"));
    match word("uid", &job, 0) {
        0 => {}
        id => rights::become_user(id as u32),
    }
    match word("room", &job, 0) {
        0 => {}
        more => rights::limit_memory(more),
    }
    job.split(' ').filter_map(|word| word.strip_prefix("refuse=")).for_each(rights::refuse);
    let from = Level::from_wire(word("startup_from", &job, 0)).unwrap_or(Level::Verbose);
    let startup = word("startup", &job, 0) as usize;
    producer::Connect::new().startup_buffer(startup).startup_log_from(from).start();
    say("ready", "");
    let mut number = 0;
    for line in std::io::stdin().lines() {
        let line = line.expect("a line");
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let answer = obey(word, rest, &job, &mut number, &logged);
        say("done", &answer);
    }
}

fn say(word: &str, rest: &str) {
    println!("@{word} {rest}");
    std::io::stdout().flush().expect("flush");
}

fn obey(word: &str, rest: &str, job: &str, number: &mut u64, logged: &Path) -> String {
    match word {
        "connected" => wait(|| producer::status().is_connected),
        "disconnected" => {
            wait(|| !producer::status().is_connected);
            return producer::status().last_error.unwrap_or_default();
        }
        "sessions" => {
            wait(|| producer::status().sessions == rest.parse::<usize>().expect("a number"));
        }
        "enabled" => wait(|| Log::Work.is_enabled(Level::Debug)),
        "disabled" => wait(|| !Log::Work.is_enabled(Level::Wtf)),
        "log" => {
            append(logged, &lines_of(&log(rest, job, *number)));
            *number += 1_000_000;
        }
        "other" => log_other(rest),
        "flood" => flood(Duration::from_millis(rest.parse().expect("milliseconds")), job),
        "endless" => log_until_killed(job, logged),
        "refuse" => rights::refuse(rest),
        "mixed" => log_mixed(rest.parse().expect("a number")),
        "busy" => _ = thread::spawn(log_for_ever),
        "idle" => {
            let texts = log_and_stay(rest.parse().expect("a number"), *number);
            *number += 1_000_000;
            append(logged, &texts);
        }
        "levels" => log_at_levels(),
        "stats" => return ask_self(&Request::Stats, rest),
        "set" => {
            let (dir, setting) = rest.split_once(' ').expect("a folder and a setting");
            return ask_self(&Request::Set(setting), dir);
        }
        // On the thread that stays.
        "limited" => {
            let count = rest.parse().expect("a number");
            (0..count).for_each(|at: u64| i!(Log::Work, "limited %d", at));
        }
        "declared" => {
            let count = rest.parse().expect("a number");
            (0..count).for_each(|at: u64| d!(Log::Declared, "declared %d", at));
        }
        "templates" => log_templates(rest),
        "own-templates" => log_templates_to_own(rest),
        "say" => i!(Log::Work, "%s", rest),
        "own" => {
            let session = Session::builder().file(rest).enable_all().start().expect("a session");
            append(logged, &lines_of(&log("", job, *number)));
            *number += 1_000_000;
            let summary = session.stop().expect("stop it");
            return summary.messages.to_string();
        }
        // With a rate for what is logged next, which holds in the service's sessions, too.
        "own-sampled" => {
            let (file, rest) = rest.split_once(' ').expect("a file and a number");
            let session = Session::builder().file(file).sample("Log::Other", "1/5");
            let session = session.enable_all().start().expect("a session");
            log_other(rest);
            let summary = session.stop().expect("stop it");
            return summary.messages.to_string();
        }
        "sleep" => thread::sleep(Duration::from_millis(rest.parse().expect("milliseconds"))),
        "status" => return format!("{:?}", producer::status()),
        "long" => i!(Log::Work, "long %s", "x".repeat(rest.parse().expect("a size"))),
        other => return start_another(other, rest),
    }
    String::new()
}

/// The jobs by which a process becomes another one, or starts one.
fn start_another(word: &str, rest: &str) -> String {
    match word {
        "fork" => {
            let child = fork::spawn(fork::fork, || {
                i!(Log::Work, "of a forked child");
                producer::status() == producer::Status::default()
            });
            let status = fork::wait_at_most(Duration::from_secs(10), child);
            assert_eq!(status, Some(0), "the child is not connected");
        }
        "fork-exit" => closing::fork_and_exit(),
        "exec" => panic!("{}", Command::new("sleep").arg("60").exec()),
        // Each generation joins by itself, logs, and waits for its own child.
        "generations" => generation(rest.parse().expect("a number")),
        // As programs become daemons: all files are closed, and others get their numbers.
        "daemon" => {
            let child = fork::spawn(fork::fork, || {
                rights::close_files();
                let path = PathBuf::from(rest);
                let mut files: Vec<_> =
                    (0..16).map(|_| fs::File::create(&path).expect("a file")).collect();
                producer::connect();
                wait(|| producer::status().sessions > 0);
                (0..100_u64).for_each(|at| d!(Log::Work, "%d of a daemon", at));
                // Longer than a message is in the process only.
                thread::sleep(Duration::from_millis(300));
                files.iter_mut().all(|file| file.write_all(b"own").is_ok())
                    && fs::read(&path).is_ok_and(|bytes| bytes == b"own")
            });
            assert_eq!(fork::wait_at_most(Duration::from_secs(60), child), Some(0), "the daemon");
        }
        // As the above without a fork: whatever is written to the files is seen by their reader.
        "close" => return closing::close_all(Path::new(rest)),
        "fork-and-stay" => {
            let child = fork::spawn(fork::fork, || {
                thread::sleep(Duration::from_secs(30));
                true
            });
            return child.to_string();
        }
        "again" => {
            let program = env::current_exe().expect("this program");
            panic!("{}", Command::new(program).args(env::args_os().skip(1)).exec());
        }
        "start" => {
            let mut started = Command::new("sleep").arg(rest).spawn().expect("start a program");
            let id = started.id().to_string();
            thread::spawn(move || started.wait());
            return id;
        }
        other => panic!("the job `{other}`"),
    }
    String::new()
}

/// Has the program do what an operator asks for, by a socket in the folder `dir`.
fn ask_self(request: &Request<'_>, dir: &str) -> String {
    let server = serve_in(dir).expect("listen to operators");
    let mut operator = Program::connect(server.path()).expect("connect to it");
    operator.request(request).expect("ask it").join("; ")
}

/// Logs once with each of some templates, all of which differ, by their numbers.
fn log_templates(numbers: &str) {
    let (from, to) = numbers.split_once("..").expect("a range");
    let number = |text: &str| text.parse::<i64>().expect("a number");
    for number in number(from)..number(to) {
        let template = format!("template {number} of many, with {} and %d", "words ".repeat(12));
        dynamic::log(&Log::Work, Level::Info, &template, &[Arg::Int(number)]);
    }
}

/// As [`log_templates`], to a session of the process: what they are is known then.
fn log_templates_to_own(numbers: &str) {
    let session = Session::builder().file("/dev/null").enable_all().start().expect("a session");
    log_templates(numbers);
    session.stop().expect("stop it");
}

/// Logs on a thread that ends then.
fn log_other(count: &str) {
    let count = count.parse().expect("a number");
    let log = move || (0..count).for_each(|at: u64| i!(Log::Other, "other %d", at));
    thread::spawn(log).join().expect("a thread");
}

fn lines_of(logged: &[String]) -> String {
    logged.iter().fold(String::new(), |text, line| text + line + "\n")
}

fn generation(left: u32) {
    if left == 0 {
        return;
    }
    let child = fork::spawn(fork::fork, || {
        producer::connect();
        // The group is switched as it was in the parent until a session of this process starts.
        wait(|| producer::status().sessions > 0);
        d!(Log::Work, "generation with %d to come", left - 1);
        generation(left - 1);
        // Longer than a message is in the process only.
        thread::sleep(Duration::from_millis(300));
        true
    });
    assert_eq!(fork::wait_at_most(Duration::from_secs(60), child), Some(0), "of {left}");
}

fn log_mixed(number: u32) {
    let (own, other) = (format!("text-{number}"), format!("text-{}", number / 2));
    v!(Log::Work, "verbose %s", &own);
    wtf!(Log::Work, "fatal %d %s %s", number, &own, &other);
    d!(Log::Other, "debug %s %d", &own, number);
}

fn log_at_levels() {
    v!(Log::Work, "verbose");
    d!(Log::Work, "debug");
    wtf!(Log::Work, "fatal");
    i!(Log::Other, "other info");
    wtf!(Log::Other, "other fatal");
}

/// Logs on so many threads, which then stay, each with a chunk that has room for more. They log
/// once more at each further call.
fn log_and_stay(threads: u64, number: u64) -> String {
    static STAYING: Mutex<Vec<Staying>> = Mutex::new(Vec::new());
    let mut all = STAYING.lock().expect("the threads");
    while (all.len() as u64) < threads {
        let (number, numbers) = mpsc::channel();
        let (done, answers) = mpsc::channel();
        let thread = all.len() as u64;
        let work = move || {
            for number in numbers {
                let text = "y".repeat(thread as usize % 40);
                d!(Log::Work, "%d of %d stays: %s", number, thread, &text);
                done.send(format!("{number} of {thread} stays: {text}\n")).expect("a reader");
            }
        };
        thread::Builder::new().stack_size(128 << 10).spawn(work).expect("a thread");
        all.push((number, answers));
    }
    for (to, _) in all.iter() {
        to.send(number).expect("a thread");
    }
    all.iter().map(|(_, from)| from.recv().expect("a thread")).collect()
}

/// The way to a thread that stays, and back.
type Staying = (mpsc::Sender<u64>, mpsc::Receiver<String>);

fn wait(is: impl Fn() -> bool) {
    let end = std::time::Instant::now() + Duration::from_secs(30);
    while !is() {
        assert!(std::time::Instant::now() < end, "{:?}", producer::status());
        thread::sleep(Duration::from_millis(1));
    }
}

fn append(file: &Path, text: &str) {
    let mut open = fs::File::options().create(true).append(true).open(file).expect("a file");
    open.write_all(text.as_bytes()).expect("write");
}

fn word(name: &str, job: &str, default: u64) -> u64 {
    let find = |word: &str| word.strip_prefix(name)?.strip_prefix('=')?.parse().ok();
    job.split(' ').find_map(find).unwrap_or(default)
}

/// Logs on several threads, and returns what they logged.
fn log(more: &str, job: &str, number: u64) -> Vec<String> {
    let job = format!("{more} {job}");
    let (threads, count) = (word("threads", &job, 1), word("count", &job, 100));
    let (size, pause) = (word("size", &job, 8) as usize, word("pause", &job, 0));
    let pid = std::process::id();
    thread::scope(|scope| {
        let work = |thread: u64| {
            let mut lines = Vec::new();
            for at in number..number + count {
                let text = "y".repeat(at as usize % (size + 1));
                d!(Log::Work, "%d of %d in %d: %s, %f", at, thread, pid, &text, at as f64 / 4.0);
                lines.push(format!("{at} of {thread} in {pid}: {text}, {:.6}", at as f64 / 4.0));
                if pause > 0 {
                    thread::sleep(Duration::from_micros(pause));
                }
            }
            lines
        };
        let spawned: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        spawned.into_iter().flat_map(|thread| thread.join().expect("a thread")).collect()
    })
}

/// Logs without a pause for so long.
fn flood(time: Duration, job: &str) {
    let end = std::time::Instant::now() + time;
    thread::scope(|scope| {
        for _ in 0..word("threads", job, 1) {
            scope.spawn(|| {
                while std::time::Instant::now() < end {
                    i!(Log::Other, "a flood of %s", "messages with a text that takes some room");
                }
            });
        }
    });
}

/// Logs all the time. While somebody does, the chunks of others are not taken from them.
fn log_for_ever() {
    loop {
        i!(Log::Other, "busy");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Logs on several threads until the process is killed. Each message is in the file before the next
/// one is logged, and 30 ms later.
fn log_until_killed(job: &str, logged: &Path) {
    let (threads, pid) = (word("threads", job, 2), std::process::id());
    thread::scope(|scope| {
        if word("busy", job, 0) == 1 {
            scope.spawn(log_for_ever);
        }
        for thread in 0..threads {
            scope.spawn(move || {
                for at in 0_u64.. {
                    d!(Log::Work, "%d of %d in %d", at, thread, pid);
                    thread::sleep(Duration::from_millis(30));
                    append(logged, &format!("{at} of {thread} in {pid}\n"));
                }
            });
        }
    });
}
