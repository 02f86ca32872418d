//! `read-log --follow` of files that other programs replace, empty, cut off and write anew, of
//! programs that start again, and of files whose names are alike. In each case the lines are those
//! of the traces, each once and in order.

use protolog_rt::{ProtoLogGroup, Session, i};
use protolog_testkit::{TempDir, temp_dir};
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Net,
}

/// Held by a test while its session runs: a call goes to all sessions of the process.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Long enough for a line on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// More than a few looks.
const QUIET: Duration = Duration::from_millis(900);

/// `read-log --follow` that runs, until this is dropped.
struct Following(Child, Receiver<String>);

impl Following {
    fn start(args: &[&str], traces: &[&Path]) -> Self {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        tool.args(["read-log", "--columns", "message", "--follow"]).args(args).args(traces);
        let mut child = tool.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (lines, (to, from)) = (BufReader::new(child.stdout.take().unwrap()).lines(), channel());
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|it| to.send(it)));
        Self(child, from)
    }

    /// The next lines; waits for them.
    #[track_caller]
    fn expect<L: AsRef<str>>(&mut self, lines: impl IntoIterator<Item = L>) {
        for line in lines {
            let found = self.1.recv_timeout(PATIENCE);
            let (is_it, line) = (found.as_deref() == Ok(line.as_ref()), line.as_ref());
            assert!(is_it, "{found:?} in place of `{line}`: {}", self.errors());
        }
    }

    /// Nothing comes for a while.
    #[track_caller]
    fn expect_nothing(&mut self) {
        assert_eq!(self.1.recv_timeout(QUIET).ok(), None);
    }

    /// The text on standard error until now.
    fn errors(&mut self) -> String {
        let _ = self.0.kill();
        let mut errors = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        errors
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The trace of a session that logs so many messages, and their texts.
fn trace(dir: &Path, name: &str, messages: usize) -> (Vec<u8>, Vec<String>) {
    let path = dir.join("made");
    let session = Session::builder().file(&path).enable_all().without_recording().start().unwrap();
    for number in 0..messages {
        i!(Log::Net, "%s %d", name, number);
    }
    session.stop().unwrap();
    let bytes = fs::read(&path).unwrap();
    fs::remove_file(path).unwrap();
    (bytes, (0..messages).map(|number| format!("{name} {number}")).collect())
}

struct Files {
    _dir: TempDir,
    path: PathBuf,
    old: (Vec<u8>, Vec<String>),
    /// Larger than the old one.
    new: (Vec<u8>, Vec<String>),
}

impl Files {
    fn new() -> Self {
        let dir = temp_dir();
        let old = trace(dir.path(), "old", 500);
        let new = trace(dir.path(), "new", 900);
        Self { path: dir.path().join("app.pftrace"), _dir: dir, old, new }
    }

    /// Follows the old file.
    fn follow_old(&self) -> Following {
        fs::write(&self.path, &self.old.0).unwrap();
        let mut following = Following::start(&[], &[&self.path]);
        following.expect(&self.old.1);
        following
    }
}

#[test]
fn a_file_is_known_by_its_content() {
    let _alone = alone();
    let files = Files::new();
    let (path, new) = (&files.path, &files.new);
    let beside = path.with_extension("tmp");
    type Change<'a> = (&'a str, &'a dyn Fn());
    let changes: [Change<'_>; 5] = [
        ("renamed over it", &|| {
            fs::write(&beside, &new.0).unwrap();
            fs::rename(&beside, path).unwrap();
        }),
        ("removed, and made anew: the number may be the same", &|| {
            fs::remove_file(path).unwrap();
            fs::write(path, &new.0).unwrap();
        }),
        ("written over at once", &|| fs::write(path, &new.0).unwrap()),
        ("written over in parts, of which the first is smaller", &|| {
            fs::write(path, &new.0[..700]).unwrap();
            std::thread::sleep(QUIET);
            fs::write(path, &new.0).unwrap();
        }),
        ("emptied, and written later", &|| {
            fs::write(path, "").unwrap();
            std::thread::sleep(QUIET);
            fs::write(path, &new.0).unwrap();
        }),
    ];
    for (name, change) in changes {
        let mut following = files.follow_old();
        change();
        following.expect(&new.1);
        following.expect_nothing();
        let errors = following.errors();
        let note = format!("note: process {} began another session\n", std::process::id());
        assert_eq!(errors, note, "{name}");
    }
}

#[test]
fn what_can_not_be_shown_of_a_file_that_is_written_over_is_said() {
    let _alone = alone();
    let files = Files::new();
    let (bytes, lines) = &files.old;
    fs::write(&files.path, &bytes[..bytes.len() / 2]).unwrap();
    let mut following = Following::start(&[], &[&files.path]);
    following.expect(&lines[..1]);
    fs::write(&files.path, &files.new.0).unwrap();
    while following.1.recv_timeout(PATIENCE).unwrap() != "new 899" {}
    let errors = following.errors();
    assert!(errors.contains("was written anew; what was added to it since"), "{errors}");
}

#[test]
fn a_file_of_the_same_size_is_another_one() {
    let _alone = alone();
    let files = Files::new();
    // Two sessions of the same messages, whose files differ in times and ids alone.
    let dir = temp_dir();
    let made = |()| trace(dir.path(), "same", 300);
    let [one, two] = [(); 2].map(made);
    let size = one.0.len().max(two.0.len());
    let padded = |mut bytes: Vec<u8>| {
        // A packet of padding makes them equally long.
        let missing = size + 200 - bytes.len();
        let content = missing - 2 - usize::from(missing > 129);
        bytes.push(0x0a);
        let length = if content > 127 {
            vec![content as u8 | 0x80, (content >> 7) as u8]
        } else {
            vec![content as u8]
        };
        bytes.extend_from_slice(&length);
        let text = content - 4;
        bytes.extend_from_slice(&[0xa2, 0x02, text as u8 | 0x80, (text >> 7) as u8]);
        bytes.resize(bytes.len() + text, b' ');
        bytes
    };
    let (one_bytes, two_bytes) = (padded(one.0), padded(two.0));
    assert_eq!(one_bytes.len(), two_bytes.len());
    fs::write(&files.path, &one_bytes).unwrap();
    let mut following = Following::start(&[], &[&files.path]);
    following.expect(&one.1);
    fs::write(&files.path, &two_bytes).unwrap();
    following.expect(&two.1);
    following.expect_nothing();
}

#[test]
fn what_was_added_last_is_shown_before_the_next_file() {
    let _alone = alone();
    let files = Files::new();
    let (bytes, lines) = &files.old;
    fs::write(&files.path, &bytes[..bytes.len() / 2]).unwrap();
    let mut following = Following::start(&[], &[&files.path]);
    following.expect(&lines[..1]);
    let mut file = OpenOptions::new().append(true).open(&files.path).unwrap();
    fs::remove_file(&files.path).unwrap();
    file.write_all(&bytes[bytes.len() / 2..]).unwrap();
    fs::write(&files.path, &files.new.0).unwrap();
    following.expect(&lines[1..]);
    following.expect(&files.new.1);
}

#[test]
fn a_file_that_is_cut_off_and_completed_goes_on() {
    let _alone = alone();
    let files = Files::new();
    let mut following = files.follow_old();
    // As a copy that is made again has it.
    fs::write(&files.path, &files.old.0[..900]).unwrap();
    following.expect_nothing();
    fs::write(&files.path, &files.old.0).unwrap();
    following.expect_nothing();
    fs::write(&files.path, [&*files.old.0, &*files.new.0].concat()).unwrap();
    following.expect(&files.new.1);
}

#[test]
fn a_file_that_another_program_emptied_while_it_is_written_begins_anew() {
    let _alone = alone();
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let session = Session::builder().file(&path).enable_all().start().unwrap();
    i!(Log::Net, "before %d", 1);
    session.flush().unwrap();
    let mut following = Following::start(&[], &[&path]);
    following.expect(["before 1"]);
    OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
    i!(Log::Net, "after %d", 2);
    session.flush().unwrap();
    following.expect(["after 2"]);
    i!(Log::Net, "after %d", 3);
    session.stop().unwrap();
    following.expect([
        "1 message of followed_files::Log::Net: removed from the file by another program",
        "after 3",
    ]);
    let errors = following.errors();
    let note = format!("note: process {} goes on in a new trace\n", std::process::id());
    assert!(errors.contains(&note), "{errors}");
}

/// The name of a variable with the trace that a program writes until it is killed.
const WRITING: &str = "PROTOLOG_TEST_WRITING";

/// Starts a program that logs to a file, and waits until its first messages are there.
fn program(path: &Path) -> Child {
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.args([
        "--exact",
        "a_program_that_is_killed_and_starts_again_is_followed",
        "--nocapture",
    ]);
    program.env(WRITING, path).stdout(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_program_that_is_killed_and_starts_again_is_followed() {
    if let Some(path) = std::env::var_os(WRITING) {
        let session = Session::builder().file(path).enable_all().start().unwrap();
        for number in 0.. {
            i!(Log::Net, "process %d logs %d", std::process::id(), number);
            if number % 10_000 == 0 {
                session.flush().unwrap();
            }
            if number % 100 == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let mut runs = Vec::new();
    let mut following = None;
    let mut next: Vec<u64> = Vec::new();
    for run in 0..3 {
        let mut child = program(&path);
        runs.push(child.id());
        next.push(0);
        let following = following.get_or_insert_with(|| {
            while !fs::metadata(&path).is_ok_and(|file| file.len() > 0) {
                std::thread::yield_now();
            }
            Following::start(&[], &[&path])
        });
        // Until this run has shown some thousand messages, all lines are of a run that began, in
        // order.
        while next[run] < 5_000 {
            let line = following.1.recv_timeout(PATIENCE).unwrap();
            let words: Vec<&str> = line.split(' ').collect();
            let of = runs.iter().position(|pid| pid.to_string() == words[1]).expect("a process");
            assert!(of + 1 == next.len() || of + 2 == next.len() && next[run] == 0, "{line}");
            assert_eq!(words[3].parse(), Ok(next[of]), "{line}, run {of} of {run}");
            next[of] += 1;
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let errors = following.unwrap().errors();
    for pair in runs.windows(2) {
        let line = format!("note: process {} died, and {} began\n", pair[0], pair[1]);
        assert!(errors.contains(&line), "{errors}");
    }
}

#[test]
fn a_number_in_a_name_is_not_taken_for_that_of_a_segment() {
    let _alone = alone();
    let dir = temp_dir();
    let at = |name: &str| dir.path().join(name);
    let (one, two) = (trace(dir.path(), "one", 50), trace(dir.path(), "two", 50));
    let half = one.0.len() / 2;
    fs::write(at("app.10001.pftrace"), &one.0[..half]).unwrap();
    fs::write(at("app.10002.pftrace"), &two.0).unwrap();
    let mut following = Following::start(&[], &[&at("app.10001.pftrace")]);
    following.expect(&one.1[..1]);
    fs::write(at("app.20261125.pftrace"), &two.0).unwrap();
    fs::write(at("app.10001.pftrace"), &one.0).unwrap();
    following.expect(&one.1[1..]);
    following.expect_nothing();
    // In a directory, each of them is a log.
    let following = Following::start(&["--grep", "0$"], &[dir.path()]);
    let mut lines: Vec<String> =
        (0..10).map(|_| following.1.recv_timeout(PATIENCE).unwrap()).collect();
    lines.sort();
    let expected = ["one", "two"].map(|name| (0..5).map(move |number| format!("{name} {number}0")));
    let mut expected: Vec<String> = expected.into_iter().flatten().collect();
    expected[0] = "one 0".to_owned();
    expected[5] = "two 0".to_owned();
    assert_eq!(lines, expected);
}
