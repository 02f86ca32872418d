//! Java programs that are switched from outside, while they run, by the tool: two of them, and one
//! of Rust.

use super::{classes, messages};
use protolog_rt::{Init, ProtoLogGroup, d};
use protolog_testkit::serde_json::{self, Value};
use protolog_testkit::{Output, java, run_any, run_java, temp_dir_for_sockets};
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

#[derive(ProtoLogGroup)]
enum RustLog {
    Net,
}

/// Messages of a flood.
const FLOOD: u64 = 5_000;
const ROLE: &str = "PROTOLOG_TEST_JAVA_PEER";

/// The program in Rust.
#[test]
fn role_of_a_program() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    Init::new().groups::<RustLog>().start().unwrap();
    println!("\nready ");
    for line in std::io::stdin().lock().lines() {
        drop(line);
        d!(RustLog::Net, "from Rust");
        eprintln!("---");
    }
}

/// A program that listens, and does what it reads.
pub(super) struct Program {
    child: Child,
    out: BufReader<ChildStdout>,
    errors: BufReader<ChildStderr>,
    /// The error of its start, or nothing.
    problem: String,
}

impl Program {
    fn java(dir: &Path, variables: &[(&str, &str)], args: &[&str]) -> Option<Self> {
        let mut command = java().expect("java");
        command.arg("-cp").arg(classes()?).arg("app.Switched").args(args);
        surroundings(&mut command, dir).envs(variables.iter().copied());
        Some(Self::start(command))
    }

    /// Another program.
    pub(super) fn run(dir: &Path, classpath: &OsStr, main: &str, args: &[&str]) -> Self {
        let mut command = java().expect("java");
        command.arg("-cp").arg(classpath).arg(main).args(args);
        surroundings(&mut command, dir);
        Self::start(command)
    }

    fn rust(dir: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "switched::role_of_a_program", "--nocapture"]).env(ROLE, "1");
        surroundings(&mut command, dir);
        Self::start(command)
    }

    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("ready") {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "the program ended");
        }
        let problem = line["ready ".len()..].trim_end().to_owned();
        Self { child, out, errors, problem }
    }

    pub(super) fn send(&mut self, what: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{what}").unwrap();
    }

    /// The lines that it prints on an instruction.
    pub(super) fn instruct(&mut self, what: &str) -> Vec<String> {
        self.send(what);
        self.printed()
    }

    pub(super) fn printed(&mut self) -> Vec<String> {
        let lines = self.errors.by_ref().lines().map(Result::unwrap);
        lines.take_while(|line| line != "---").collect()
    }

    /// Ends it as a program ends that has nothing left to do.
    pub(super) fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn surroundings<'a>(command: &'a mut Command, dir: &Path) -> &'a mut Command {
    command.env_remove("PROTOLOG").env("PROTOLOG_STATE", dir.join("state/settings"));
    command.env("PROTOLOG_RUNTIME_DIR", dir.join("run"))
}

fn configuration(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    run_any(surroundings(command.arg("configuration").args(args), dir))
}

/// Runs the command, which has to succeed, and returns what it printed, with the process ids as
/// `PID`.
pub(super) fn done(dir: &Path, args: &[&str], programs: &[&Program]) -> String {
    let output = configuration(dir, args);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{args:?}");
    let ids = programs.iter().map(|program| program.child.id().to_string());
    ids.fold(output.stdout, |text, id| text.replace(&id, "PID"))
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(dir.join("run")).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = all.collect();
    all.sort();
    all
}

#[test]
fn a_running_program_is_switched_both_ways() {
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let Some(mut java) = Program::java(dir, &[], &[]) else { return };
    assert_eq!(java.problem, "");
    let modes = files(dir).into_iter().map(|path| {
        let extension = path.extension().unwrap().to_str().unwrap().to_owned();
        (extension, fs::metadata(path).unwrap().mode() & 0o777)
    });
    let expected = [("sock".to_owned(), 0o600), ("switches".to_owned(), 0o600)];
    assert_eq!(modes.collect::<Vec<_>>(), expected);
    assert_eq!(java.instruct("log"), ["DEBUG DISK: read 3 blocks"]);
    assert_eq!(
        done(dir, &["logcat", "enable", "net", "--level", "info"], &[&java]),
        "Toggling logcat logging for client app.Switched (pid PID) to true for groups: [app.SwitchedLog.NET]\n- Done\n"
    );
    let both = ["WARN NET: no answer from example.org", "DEBUG DISK: read 3 blocks"];
    assert_eq!(java.instruct("log"), both);
    done(dir, &["logcat", "disable", "SwitchedLog.DISK"], &[]);
    assert_eq!(java.instruct("log"), both[..1]);
    done(dir, &["logcat", "disable"], &[]);
    assert_eq!(java.instruct("log"), [""; 0]);
    assert_eq!(
        done(dir, &["groups", "status"], &[&java]),
        "Status for all ProtoLog groups:\n  app.SwitchedLog.DISK: LOG_TO_LOGCAT = false, TRACE = false\n  \
         app.SwitchedLog.NET: LOG_TO_LOGCAT = false, TRACE = false\n  \
         app.SwitchedLog.OUT: LOG_TO_LOGCAT = false (not compiled in)\n"
    );
    let mut daemons = java.instruct("daemons");
    // It ends when it has had nothing to show for a while.
    daemons.retain(|daemon| daemon != "protolog text true");
    assert_eq!(daemons, ["protolog-control true"]);
    java.end();
    assert!(files(dir).is_empty(), "a program that ends leaves nothing");
}

/// The thread never sleeps, asks nothing, and is in compiled code.
#[test]
fn a_thread_that_never_rests_sees_a_switch() {
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let Some(mut java) = Program::java(dir, &[], &[]) else { return };
    java.send("spin");
    done(dir, &["logcat", "disable", "DISK"], &[]);
    let mut line = String::new();
    java.out.read_line(&mut line).unwrap();
    assert_eq!(line, "off\n");
    done(dir, &["logcat", "enable", "DISK"], &[]);
    assert_eq!(java.printed(), ["seen true"]);
}

#[test]
fn traces_are_started_described_and_stopped() {
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let Some(mut java) = Program::java(dir, &[], &[]) else { return };
    let path = |name: &str| dir.join(name).display().to_string();
    let ring = path("ring.pftrace");
    done(dir, &["logcat", "disable"], &[]);
    java.instruct(&format!("record {}", path("own.pftrace")));
    for (args, texts, level) in [
        (&["--level", "info", "--group", "DISK=debug"][..], &["no answer", "read 3"][..], "DEBUG"),
        (&["--keep", "newest"], &["a datagram", "no answer", "read 3"], "VERBOSE"),
        (&["--keep", "first"], &["a datagram", "no answer", "read 3"], "VERBOSE"),
    ] {
        done(dir, &[&["trace", "start", &ring], args].concat(), &[]);
        java.instruct("log");
        let status = done(dir, &["groups", "status", "DISK"], &[&java]);
        let line = format!("traced by app.Switched (pid PID) from {level} on");
        assert!(status.contains(&line) && status.contains("own.pftrace"), "{status}");
        done(dir, &["trace", "limit", "1GiB/s"], &[]);
        let status = done(dir, &["trace", "status"], &[]);
        assert!(status.contains(&ring) && status.contains(", at most 1GiB/s"), "{status}");
        done(dir, &["trace", "limit", "default"], &[]);
        let stopped = done(dir, &["trace", "stop"], &[]);
        assert!(stopped.contains(&format!("{} messages", texts.len())), "{stopped}");
        let found = messages(Path::new(&ring));
        assert_eq!(found.len(), texts.len(), "{found:?}");
        assert!(found.iter().zip(texts).all(|(message, text)| message.contains(text)));
    }
    // A level that the operator denies is in no trace.
    done(dir, &["level", "NET", "warn", "--trace"], &[]);
    java.instruct("log");
    assert_eq!(java.instruct("stop"), ["11 0"]);
    let stats = done(dir, &["stats"], &[]);
    assert!(!stats.contains("own.pftrace"), "{stats}");
}

#[test]
fn a_trace_that_can_t_be_written_is_still_one() {
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let Some(mut java) = Program::java(dir, &[], &[]) else { return };
    done(dir, &["logcat", "disable"], &[]);
    let traces = dir.join("traces");
    fs::create_dir(&traces).unwrap();
    let path = traces.join("app.pftrace");
    done(dir, &["trace", "start", path.to_str().unwrap(), "--keep", "newest"], &[]);
    java.instruct("log");
    fs::remove_dir(&traces).unwrap();
    let failed = configuration(dir, &["trace", "stop"]);
    assert_eq!((failed.code, &*failed.stdout), (Some(2), ""), "{failed:?}");
    assert!(failed.stderr.contains("its directory does not exist"), "{failed:?}");
    let status = done(dir, &["trace", "status"], &[]);
    assert!(status.contains(": 3 messages"), "{status}");
    fs::create_dir(&traces).unwrap();
    done(dir, &["trace", "stop"], &[]);
    assert_eq!(messages(&path).len(), 3);
}

#[test]
fn nothing_is_written_beside_a_device() {
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let Some(mut java) = Program::java(dir, &[], &[]) else { return };
    done(dir, &["logcat", "disable"], &[]);
    done(dir, &["trace", "start", "/dev/full", "--keep", "newest"], &[]);
    java.instruct("log");
    let failed = configuration(dir, &["trace", "stop"]);
    assert_eq!(failed.code, Some(2), "{failed:?}");
    let mut beside = fs::read_dir("/dev").unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!beside.any(|name| name.to_string_lossy().starts_with("full.")));
    assert_eq!(done(dir, &["trace", "status"], &[]), "No trace is being recorded.\n");
}

#[test]
fn a_trace_whose_name_somebody_has_taken_gets_another_one() {
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let Some(mut java) = Program::java(dir, &[], &[]) else { return };
    done(dir, &["logcat", "disable"], &[]);
    for keep in ["newest", "first"] {
        let path = dir.join(format!("{keep}.pftrace"));
        done(dir, &["trace", "start", path.to_str().unwrap(), "--keep", keep], &[]);
        java.instruct("log");
        // As another user can where anybody may make files.
        std::os::unix::fs::symlink("nowhere", &path).unwrap();
        let stopped = done(dir, &["trace", "stop"], &[]);
        let begin = dir.join(format!("{keep}.run-")).display().to_string();
        let other = stopped.trim().rsplit(' ').next().unwrap();
        assert!(stopped.contains(": 3 messages") && other.starts_with(&begin), "{stopped}");
        assert_eq!(messages(Path::new(other)).len(), 3);
        assert!(path.is_symlink(), "it is somebody else's");
    }
    assert_eq!(done(dir, &["trace", "status"], &[]), "No trace is being recorded.\n");
}

#[test]
fn top_shows_rates_and_losses() {
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let Some(mut java) = Program::java(dir, &[], &[]) else { return };
    java.instruct(&format!("record {}", dir.join("own.pftrace").display()));
    let mut logged = 0;
    let lost = loop {
        assert!(logged < 200 * FLOOD, "the session has kept up with all of {logged} messages");
        java.instruct("flood");
        logged += FLOOD;
        let stats = done(dir, &["stats", "--json"], &[]);
        let stats: Value = serde_json::from_str(stats.lines().next().unwrap()).unwrap();
        match stats["lost"].as_u64().unwrap() {
            0 => {}
            lost => break lost,
        }
    };
    let mut top = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    let output = run_any(surroundings(top.args(["top", "--once", "--json"]), dir));
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let rows = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    let rows: Vec<Value> = rows.collect();
    let net = rows.iter().find(|row| row["group"] == "app.SwitchedLog.NET").unwrap();
    let id = java.child.id();
    assert_eq!((&net["pid"], &net["trace"]), (&id.into(), &"verbose".into()), "{net}");
    assert_eq!(net["losses"]["buffer_full"].as_u64(), Some(lost), "{net}");
    let ended = java.instruct("stop");
    let own = dir.join("own.pftrace");
    let line = format!(
        "protolog: `{}` lacks {lost} of {logged} messages ({lost}: the buffer was full)",
        own.display()
    );
    assert_eq!(ended, [line, format!("{} {lost}", logged - lost)], "each is written or lost");
}

#[test]
fn two_of_java_and_one_of_rust_are_switched_at_once() {
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let Some(mut one) = Program::java(dir, &[], &[]) else { return };
    let mut two = Program::java(dir, &[], &[]).unwrap();
    let mut rust = Program::rust(dir);
    done(dir, &["text", "enable", "net"], &[]);
    for java in [&mut one, &mut two] {
        assert_eq!(java.instruct("log").len(), 3);
    }
    assert!(rust.instruct("log")[0].ends_with("D Net     : from Rust"));
    let id = two.child.id().to_string();
    done(dir, &["text", "disable", "--pid", &id], &[]);
    assert_eq!((one.instruct("log").len(), two.instruct("log").len()), (3, 0));
    done(dir, &["text", "disable", "--name", "app.Switched"], &[]);
    assert_eq!((one.instruct("log").len(), rust.instruct("log").len()), (0, 1));
    // Killed programs leave files, which the next one of either kind, or the tool, removes.
    drop((one, two));
    let left = |extension: &str| {
        files(dir).iter().filter(|path| path.extension().unwrap() == extension).count()
    };
    assert_eq!((left("sock"), left("switches")), (3, 2));
    let three = Program::java(dir, &[], &[]).unwrap();
    assert_eq!((left("sock"), left("switches")), (2, 1), "that of Rust, and the new one");
    drop((three, rust));
    let none = configuration(dir, &["groups", "list"]);
    assert_eq!(none.code, Some(0), "{}", none.stderr);
    assert!(files(dir).is_empty());
}

/// An operator in pure Java, which knows no other way to the switches than a file that a program
/// names.
#[test]
fn an_operator_in_java_switches_programs_of_both_kinds() {
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let Some(mut java) = Program::java(dir, &[], &[]) else { return };
    let sockets = || files(dir).into_iter().filter(|path| path.extension().unwrap() == "sock");
    let of_java = sockets().next().unwrap();
    let mut rust = Program::rust(dir);
    let of_rust = sockets().find(|path| *path != of_java).unwrap();
    let switch = |socket: &Path, group: &str, levels: &str| {
        let args = [socket.to_str().unwrap(), group, levels];
        let classes = [classes().unwrap().to_path_buf()];
        let output = run_java(&classes, "app.Operator", &args).unwrap();
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
        output.stdout
    };
    assert_eq!(rust.instruct("log"), [""; 0]);
    assert_eq!(switch(&of_rust, "RustLog::Net", "0x3f"), "switched java_runtime::RustLog::Net\n");
    assert!(rust.instruct("log")[0].ends_with("D Net     : from Rust"));
    // From INFO on: the program's next call is one at DEBUG.
    switch(&of_rust, "RustLog::Net", "0x3c");
    assert_eq!(rust.instruct("log"), [""; 0]);
    assert_eq!(switch(&of_java, ".NET", "0x38"), "switched app.SwitchedLog.NET\n");
    assert_eq!(java.instruct("log").len(), 2, "WARN of NET, and what DISK prints");
    switch(&of_java, ".NET", "0");
    assert_eq!(java.instruct("log").len(), 1);
    java.end();
    rust.end();
    assert_eq!(files(dir), [of_rust], "the memory of Rust's program went with it");
}

#[test]
fn settings_come_from_the_variable_the_state_and_a_file() {
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let config = dir.join("config");
    fs::write(&config, "[app.Switched]\nDISK=notext\n[other]\nNET=text\n").unwrap();
    let variable = [("PROTOLOG", "net=text:error;dsik=text;disk=loud")];
    let args = [config.to_str().unwrap()];
    let Some(mut java) = Program::java(dir, &variable, &args) else { return };
    assert_eq!(java.problem, "", "mistakes in the variable are warnings");
    let mut warnings = java.instruct("log");
    warnings.retain(|line| !line.starts_with("help: use verbose"));
    let expected = [
        "protolog: PROTOLOG: unknown word `loud`",
        "protolog: PROTOLOG: no group is named `dsik`",
        "help: write `DISK`",
    ];
    assert_eq!(warnings, expected);
    assert_eq!(java.instruct("fail"), ["WTF NET: this can't happen"]);
    // A setting that the file no longer has goes back to the group's own.
    fs::write(&config, "NET=notext\n").unwrap();
    while java.instruct("log") != ["DEBUG DISK: read 3 blocks"] {}
    while !java.instruct("fail").is_empty() {}
    done(dir, &["logcat", "enable", "NET", "--level", "warn", "--persist"], &[]);
    let mut next = Program::java(dir, &[], &[]).unwrap();
    assert_eq!(next.instruct("log").len(), 2, "the state file holds for later programs");
}

#[test]
fn open_directories_are_refused() {
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let run = dir.join("run");
    fs::create_dir(&run).unwrap();
    fs::set_permissions(&run, fs::Permissions::from_mode(0o750)).unwrap();
    let Some(mut java) = Program::java(dir, &[], &[]) else { return };
    let expected = format!(
        "`{}` is not private to this user|help: make it a directory of this user with `chmod 700`, where others can't rename it",
        run.display()
    );
    assert_eq!(java.problem, expected);
    assert_eq!(java.instruct("log").len(), 1, "the program works without it");
    java.end();
}

/// Another user's process may not ask, whatever the modes of files are; hostile requests end their
/// connection and nothing else.
#[test]
fn other_users_and_noise_are_refused() {
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let Some(mut java) = Program::java(dir, &[], &[]) else { return };
    let socket = files(dir).into_iter().find(|path| path.extension().unwrap() == "sock").unwrap();
    let ask = |text: &[u8]| {
        let mut stream = UnixStream::connect(&socket).unwrap();
        let _ = stream.write_all(text);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    for (request, expected) in [
        (&b"groups\n"[..], "error no protocol version was agreed upon\n"),
        (b"protolog 2\n", "error version 2 is not supported\n"),
        (b"protolog 1\npages\n", "error a Java program can't pass file descriptors\n"),
        (b"protolog 1\ntrigger \n", "error no cause\n"),
        (b"protolog 1\ntrigger-at 7  \n", "error no cause\n"),
        (b"protolog 1\nset net=loud\n", "error unknown word `loud`\n"),
        (
            b"protolog 1\ntrace-start stream 0 - app.pftrace\n",
            "error `app.pftrace` is no absolute path\n",
        ),
        (
            b"protolog 1\ntrace-start stream x - /x\n",
            "error unknown request `trace-start stream x - /x`\n",
        ),
        (b"protolog 1\nnonsense\x07\n", "error unknown request `nonsense?`\n"),
        (b"\xff\n", "error the line is not UTF-8\n"),
        (&[b'x'; 9000], "error the line is too long\n"),
        (b"protolog 1", ""),
    ] {
        let answer = ask(request);
        assert!(answer.ends_with(expected), "{}: {answer}", String::from_utf8_lossy(request));
    }
    let idle: Vec<_> = (0..200).map(|_| UnixStream::connect(&socket).unwrap()).collect();
    assert!(ask(b"protolog 1\ngroups\n").ends_with("ok\n"));
    drop(idle);
    if user() == 0 {
        // The directory is opened, so that the other user gets as far as the socket.
        for (path, mode) in [(dir, 0o755), (&dir.join("run"), 0o755), (&socket, 0o666)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let script = "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n\
                      try:\n s.sendall(b'protolog 1\\n')\n print(len(s.recv(99)))\nexcept OSError:\n print(0)";
        let mut python = Command::new("python3");
        python.args(["-c", script]).arg(&socket);
        std::os::unix::process::CommandExt::uid(&mut python, 65534);
        let output = run_any(&mut python);
        assert_eq!(output.stdout, "0\n", "{}", output.stderr);
    }
    assert_eq!(java.instruct("log").len(), 1);
}

fn user() -> u32 {
    fs::metadata("/proc/self").unwrap().uid()
}
