//! Files that an input names, and not the person at the terminal: programs of stack traces, sources
//! of links, recordings, dictionaries, response files. Whoever wrote the input chose what stands
//! there: pipes that make a reader wait, devices without an end, links out of a directory, files of
//! others.

#[path = "../../protolog-reader/tests/common/trace/mod.rs"]
mod description;

use protolog_rt::{ProtoLogGroup, Session, w};
use protolog_testkit::{Users, temp_dir, with_users};
use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Log {
    Named,
}

/// A command's address space, in KiB: less than what it would take to read a device for a moment.
const MEMORY: u64 = 700 << 10;

/// Long enough for a command on a busy machine; one that waits for a pipe never ends.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command whose memory is limited.
fn tool(args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {MEMORY}; exec \"$@\"; exit 99"), "sh"]);
    command.arg(env!("CARGO_BIN_EXE_protologtool")).args(args);
    command
}

/// Runs a command that must not wait for anything.
fn run(command: &mut Command) -> Output {
    let pipes = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().unwrap();
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it waits: {command:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn pipe_at(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A trace with a stack trace that names these programs.
fn trace_naming(programs: &[&str]) -> Vec<u8> {
    let frames = programs.iter().enumerate();
    let frames = frames.map(|(at, path)| format!("#{at:02} pc 0000000000001000  {path}\\n"));
    description::trace(&format!(
        "message(0x11, WARN, 1, \"knock\", \"src/a.rs:1\") @1 cleared stack(1, \"{}\")\n@1 needs ts=5 log(0x11, stack=1)",
        frames.collect::<String>()
    ))
}

/// A trace whose stack trace is of this program, in a function of this name.
#[inline(never)]
fn log_from_a_named_function(path: &Path) {
    let session = Session::builder().enable_all().collect_stacktrace("Named").file(path);
    let session = session.start().unwrap();
    w!(Log::Named, "here");
    session.stop().unwrap();
}

/// The options for programs of this machine, whoever runs the test.
const MACHINE: [&str; 3] = ["--symbolize", "--symbolize-root", "/"];

#[test]
fn programs_are_found_below_the_root_alone() {
    let dir = temp_dir();
    let (path, root) = (dir.path().join("a.pftrace"), dir.path().join("root"));
    log_from_a_named_function(&path);
    let read = |root: &Path| {
        let root = root.to_str().unwrap();
        let args = ["read-log", path.to_str().unwrap(), "--symbolize", "--symbolize-root", root];
        // Debug information of a test is large.
        let output = run(Command::new(env!("CARGO_BIN_EXE_protologtool")).args(args));
        assert_eq!(output.status.code(), Some(0));
        texts(&output)
    };
    let name = "log_from_a_named_function";
    let (out, errors) = read(Path::new("/"));
    assert!(out.contains(name) && out.contains("named_files.rs:"), "{out}{errors}");

    let own = std::env::current_exe().unwrap();
    let below = root.join(own.strip_prefix("/").unwrap());
    fs::create_dir_all(below.parent().unwrap()).unwrap();
    let (out, errors) = read(&root);
    assert!(!out.contains(name) && errors.contains("no names for the addresses"), "{errors}");
    for target in [own.clone(), Path::new(&"../".repeat(30)).join(own.strip_prefix("/").unwrap())] {
        symlink(target, &below).unwrap();
        let (out, errors) = read(&root);
        assert!(!out.contains(name) && errors.contains("no names for the addresses"), "{errors}");
        fs::remove_file(&below).unwrap();
    }
    fs::copy(&own, root.join("program")).unwrap();
    symlink("/program", &below).unwrap();
    let (out, errors) = read(&root);
    assert!(out.contains(name), "{errors}");
}

#[test]
fn programs_that_are_none_are_not_read() {
    let dir = temp_dir();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    pipe_at(Path::new(&at("pipe")));
    symlink("/dev/zero", at("link")).unwrap();
    // Of these, no byte is on the disk.
    fs::File::create(at("large")).unwrap().set_len(1 << 40).unwrap();
    let named = [at("pipe"), at("link"), at("large"), "/dev/zero".into(), at("")];
    let programs: Vec<&str> = named.iter().map(String::as_str).collect();
    fs::write(at("a.pftrace"), trace_naming(&programs)).unwrap();
    let output = run(&mut tool(&[&["read-log", &at("a.pftrace")][..], &MACHINE].concat()));
    let (out, errors) = texts(&output);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(out.contains("knock"));
    for name in &named {
        assert!(errors.contains(&format!("no names for the addresses in `{name}`")), "{errors}");
    }
}

#[test]
fn root_opens_no_file_of_another_users_choice() {
    let tool = Path::new(env!("CARGO_BIN_EXE_protologtool"));
    with_users("root_opens_no_file_of_another_users_choice", &[tool], |users| {
        let dir = temp_dir();
        let trace = dir.path().join("a.pftrace");
        fs::write(&trace, trace_naming(&["/bin/sh"])).unwrap();
        let read = |user: u32, more: &[&str]| {
            let mut command = users.command(user, users.program(tool));
            run(command.arg("read-log").arg(&trace).arg("--symbolize").args(more))
        };
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let refused = read(0, &[]);
        let (out, errors) = texts(&refused);
        assert_eq!(refused.status.code(), Some(2), "{errors}");
        assert!(out.is_empty() && errors.contains("--symbolize-root"), "{errors}");
        for (user, more) in [(0, &["--symbolize-root", "/"][..]), (users.intruder, &[])] {
            let output = read(user, more);
            assert_eq!(output.status.code(), Some(0), "{:?}", texts(&output));
        }
    });
}

#[test]
fn recordings_are_files_of_the_traces_owner() {
    let tool = Path::new(env!("CARGO_BIN_EXE_protologtool"));
    with_users("recordings_are_files_of_the_traces_owner", &[tool], |users: &Users| {
        let dir = temp_dir();
        let trace = dir.path().join("a.pftrace");
        let session = Session::builder().enable_all().file(&trace).start().unwrap();
        w!(Log::Named, "in the file");
        session.flush().unwrap();
        w!(Log::Named, "in the recording");
        let recording = dir.path().join("copy");
        fs::copy(session.recording().unwrap(), &recording).unwrap();
        fs::remove_file(session.recording().unwrap()).unwrap();

        let name = dir.path().join("protolog-a-1-1.rec");
        let is_completed = || {
            let output = run(users.command(0, users.program(tool)).arg("read-log").arg(&trace));
            let (out, errors) = texts(&output);
            assert!(out.contains("in the file"), "{errors}");
            fs::remove_file(&name).unwrap();
            out.contains("in the recording")
        };
        pipe_at(&name);
        assert!(!is_completed(), "a pipe");
        symlink(&recording, &name).unwrap();
        assert!(!is_completed(), "a link");
        fs::copy(&recording, &name).unwrap();
        chown(&name, Some(users.intruder), None).unwrap();
        assert!(!is_completed(), "a file of another user");
        fs::copy(&recording, &name).unwrap();
        assert!(is_completed());
    });
}

/// A program that starts again marks the trace of a run that crashed by taking the permission to
/// write away.
#[test]
fn a_user_completes_a_read_only_trace() {
    let tool = Path::new(env!("CARGO_BIN_EXE_protologtool"));
    with_users("a_user_completes_a_read_only_trace", &[tool], |users: &Users| {
        let dir = temp_dir();
        let [written, trace] = ["a.pftrace", "a.1.pftrace"].map(|name| dir.path().join(name));
        let session = Session::builder().enable_all().file(&written).start().unwrap();
        w!(Log::Named, "in the file");
        session.flush().unwrap();
        w!(Log::Named, "in the recording");
        let recording = dir.path().join("protolog-a-1-1.rec");
        fs::copy(session.recording().unwrap(), &recording).unwrap();
        fs::copy(&written, &trace).unwrap();
        session.stop().unwrap();
        fs::set_permissions(&trace, fs::Permissions::from_mode(0o400)).unwrap();
        for path in [dir.path(), &trace, &recording] {
            chown(path, Some(users.victim), None).unwrap();
        }
        let by =
            |user, command| run(users.command(user, users.program(tool)).arg(command).arg(&trace));
        assert_eq!(by(users.intruder, "recover").status.code(), Some(2));
        let output = by(users.victim, "recover");
        assert_eq!(output.status.code(), Some(0), "{:?}", texts(&output));
        assert_eq!(fs::metadata(&trace).unwrap().permissions().mode() & 0o777, 0o400);
        assert!(!recording.exists());
        let (out, errors) = texts(&by(users.victim, "read-log"));
        assert!(out.contains("in the file") && out.contains("in the recording"), "{out}{errors}");
    });
}

#[test]
fn dictionaries_and_response_files_that_are_found_are_files() {
    let dir = temp_dir();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("texts")).unwrap();
    pipe_at(&dir.path().join("texts/00000000000000ab.pb"));
    symlink("/dev/zero", at("texts/b.pb")).unwrap();
    pipe_at(&dir.path().join("texts/c.json"));
    fs::write(at("a.pftrace"), description::trace("stripped(0xab) @1 ts=5 log(0x11)")).unwrap();
    let output = run(&mut tool(&["read-log", &at("a.pftrace"), "--viewer-config", &at("texts")]));
    let (_, errors) = texts(&output);
    assert!(errors.contains("missing dictionary `00000000000000ab`"), "{errors}");

    pipe_at(Path::new(&at("pipe")));
    for named in [at("pipe"), "/dev/zero".to_owned()] {
        fs::write(at("args"), format!("read-log @{named}")).unwrap();
        let output = run(&mut tool(&[&format!("@{}", at("args"))]));
        let (_, errors) = texts(&output);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(&format!("can't read response file `{named}`")), "{errors}");
    }
    let output = run(&mut tool(&["@/dev/zero"]));
    assert_eq!(output.status.code(), Some(2), "{:?}", texts(&output));
}

#[test]
fn response_files_may_come_through_a_pipe() {
    let mut child = tool(&["@/dev/stdin"]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"--version").unwrap();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(child.wait().unwrap().success() && out.starts_with("protologtool "), "{out}");
}
