//! `recover` and `merge` from arguments to output, in memory; what they make of the files is tested
//! where they are made.

#[path = "../../protolog-reader/tests/common/recording.rs"]
mod recording;
#[path = "../../protolog-reader/tests/common/trace/mod.rs"]
mod trace;

use protolog_core::Level;
use protolog_testkit::expect_file;
use protologtool::cli::{self, Exit};
use protologtool::system::Memory;
use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use viewer_config::{Collector, Dictionary, Format, Group, Message};

/// One thread, of which two messages are gone.
const APP: &str = r#"
@1 group(1, "app::Log::Net", "Net") message(0x11, DEBUG, 1, "sent %d", "src/net.rs:12")
@2 cleared snapshot(64=2000000000, boot=2000000000, incremental=64) default_clock=64 info(100, 100, "main", 2)
@2 ts=1000000 log(0x11, 3)
"#;

/// A process that lost a message.
const WORKER: &str = r#"
@1 group(2, "worker::Log::Job", "Job") message(0x22, INFO, 2, "job %d", "src/job.rs:7")
@2 cleared snapshot(64=1500000000, boot=1500000000, incremental=64) default_clock=64 info(200, 201, "worker", 0)
@2 ts=1000000 log(0x22, 1)
@2 ts=1000000 log(0x22, 2)
"#;

/// A stripped process: the texts of its messages are in a dictionary of this hash.
fn stripped(hash: u64) -> String {
    format!(
        r#"
@1 boot(7) stripped({hash})
@2 cleared snapshot(64=2000000000, boot=2000000000, incremental=64) default_clock=64 info(100, 100, "main")
@2 needs ts=1000000 string(1, "disk") log(0x11, 3)
@2 needs ts=1000000 log(0x12, $1)
"#
    )
}

/// That dictionary. Its group has the id of another one in the trace of the worker.
fn texts() -> Dictionary {
    let mut texts = Collector::new();
    let (name, tag) = ("app::Log::Net".to_owned(), "Net".to_owned());
    texts.add_group(Group { id: 2, name: name.clone(), tag });
    for (id, template) in [(0x11, "received %04d"), (0x12, "slow: %s")] {
        texts.add_message(Message {
            id,
            template: template.to_owned(),
            names: String::new(),
            unsigned: 0,
            level: Level::Warn,
            group: name.as_str().into(),
            place: String::new(),
            locations: Vec::new(),
        });
    }
    texts.finish().expect("a dictionary").dictionary
}

/// The dictionary of a program that changed a text and kept its id.
fn changed(texts: &Dictionary) -> Dictionary {
    let mut changed = Collector::new();
    for group in texts.groups() {
        // As other tools number them.
        changed.add_group(Group { id: 1, ..group.clone() });
    }
    for message in texts.messages() {
        changed.add_message(Message { template: "another text".into(), ..message.clone() });
    }
    changed.finish().expect("a dictionary").dictionary
}

/// Files that the tests name.
fn system() -> Memory {
    let system = Memory::default();
    let texts = texts();
    let hash = texts.hash();
    system.add_file("stripped.pftrace", trace::trace(&stripped(hash)));
    system.add_file("later.json", changed(&texts).to_bytes(Format::Json));
    system.add_file("texts.json", texts.to_bytes(Format::Json));
    system.add_file(&*format!("texts/{hash:016x}.pb"), texts.to_bytes(Format::Pb));
    system.add_file("elsewhere/other.pb", Dictionary::default().to_bytes(Format::Pb));
    let app = recording::recording(APP, 0);
    system.add_file("cut.rec", &app[..app.len() - 1]);
    system.add_file("words.txt", "words\n");
    system.add_file("app.rec", app);
    system.add_file("worker.rec", recording::recording(WORKER, 0));
    system.add_file("app.pftrace", trace::trace(&format!("@1 boot(7)\n{APP}")));
    system.add_file("worker.pftrace", trace::trace(&format!("@1 boot(7)\n{WORKER}")));
    system.add_file("other.pftrace", trace::trace(&format!("@1 boot(8)\n{WORKER}")));
    system
}

/// Runs a command line, then shows what came of it: exit, output, errors, the log in the file
/// `out`.
fn run(words: &str) -> String {
    let system = system();
    let exit =
        cli::run(["protologtool"].into_iter().chain(words.split(' ')).map(Into::into), &system);
    let mut shown = format!("{exit:?}\n{}{}", system.out(), system.errors());
    if system.files().keys().any(|path| path.to_str() == Some("out")) {
        let reading = Memory::default();
        reading.add_file("out", system.files().remove(Path::new("out")).unwrap());
        let read = ["protologtool", "read-log", "out", "--time", "boot"];
        assert_eq!(cli::run(read.map(Into::into), &reading), Exit::Done);
        shown += &reading.out();
    }
    shown
}

/// The commands, in the order of the file with their expected output.
const COMMANDS: [&str; 23] = [
    "recover app.rec -o out",
    "recover app.rec worker.rec --output out",
    "recover cut.rec app.pftrace worker.rec missing.rec -o out",
    "recover app.pftrace -o out",
    "recover app.rec -o ./app.rec",
    "merge app.pftrace worker.pftrace -o out",
    "merge app.pftrace other.pftrace -o out",
    "merge app.pftrace worker.rec -o out",
    "merge app.pftrace worker.pftrace -o worker.pftrace",
    "merge app.pftrace worker.pftrace ./app.pftrace -o out",
    "recover app.rec ./app.rec -o out",
    "read-log app.rec --time boot",
    "read-log cut.rec --time boot",
    "merge app.pftrace words.txt -o out",
    "merge stripped.pftrace worker.pftrace --viewer-config texts -o out",
    "merge worker.pftrace stripped.pftrace --viewer-config texts.json -o out",
    "merge app.pftrace worker.pftrace --viewer-config texts.json --perfetto-ui -o out",
    "merge stripped.pftrace --viewer-config elsewhere -o out",
    "merge stripped.pftrace -o out",
    "merge stripped.pftrace --viewer-config words.txt --viewer-config missing -o out",
    "merge stripped.pftrace --viewer-config texts.json -o texts.json",
    "merge stripped.pftrace --viewer-config texts -o texts/f9264f1f9cd09e64.pb",
    "merge stripped.pftrace --viewer-config texts.json --viewer-config later.json -o out",
];

#[test]
fn a_trace_goes_to_standard_output_alone() {
    for output in ["-", "/dev/stdout"] {
        for (command, input) in [("recover", "app.rec"), ("merge", "app.pftrace")] {
            let system = system();
            let words = ["protologtool", command, input, "-o", output];
            assert_eq!(cli::run(words.map(Into::into), &system), Exit::Done);
            let report = system.errors();
            let expected =
                if command == "recover" { "app.rec: process 100: 1 message" } else { "" };
            assert!(report.starts_with(expected), "{report}");
            assert!(!system.out().contains("process 100"), "{}", system.out());
            assert!(system.out().contains("sent %d"), "the trace, with its texts");
            assert!(!system.files().contains_key(Path::new(output)));
        }
    }
}

#[test]
fn commands_and_what_comes_of_them() {
    let shown: Vec<String> =
        COMMANDS.iter().map(|command| format!("$ {command}\n{}", run(command))).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/recover.txt");
    expect_file(&path, shown.join("\n").as_str());
}

/// Names of all kinds that would control a terminal.
const HOSTILE: &str = r#"
process(100, "/bin/\x1b[31mapp")
@1 group(1, "app::\x1b]0;x\x07Net", "\x1b[2JNet") message(0x11, DEBUG, 1, "sent \x1b[1m%d %s", "src/\x1b[5mnet.rs:12")
@2 cleared snapshot(64=2000000000, boot=2000000000, incremental=64) default_clock=64 info(100, 100, "m\x1bcin", 2)
@2 needs ts=1000000 string(1, "\x1b[8mhidden") log(0x11, 3, $1)
@2 needs ts=1000000 loss(1, 1, 9) log(0x11, 4, $1)
@2 needs ts=1000000 log(0x99, 4, $1)
"#;

#[test]
fn names_in_traces_never_control_the_terminal() {
    let with_files = || {
        let system = Memory::default();
        let hostile = trace::trace(&format!("@1 boot(7)\n{HOSTILE}"));
        let other = HOSTILE.replace("sent", "got").replace("1000000", "2000000");
        let recording = recording::recording(HOSTILE, 0);
        system.add_file("cut\x1b[3m.pftrace", &hostile[..hostile.len() - 3]);
        system.add_file("cut\x1b[3m.rec", &recording[..recording.len() - 1]);
        system.add_file("a\x1b[3m.pftrace", hostile);
        system.add_file("b\x1b[3m.pftrace", trace::trace(&format!("@1 boot(7)\n{other}")));
        system.add_file("a\x1b[3m.rec", recording);
        system.add_file("words\x1b[3m.txt", "words\n");
        system
    };
    let commands = [
        "recover a#.rec -o out",
        "recover cut#.rec a#.pftrace words#.txt missing#.rec -o out",
        "recover a#.rec -o a#.rec",
        "merge a#.pftrace a#.pftrace -o out",
        "merge a#.pftrace cut#.pftrace -o out --perfetto-ui --counter no#",
        "merge a#.pftrace b#.pftrace -o out",
        "merge a#.pftrace words#.txt -o out",
        "read-log a#.pftrace --stats",
        "read-log cut#.pftrace --group no#",
        "read-log a#.pftrace --columns time,process,thread-name,group,location,message",
        "read-log a#.pftrace --count-by thread",
        "read-log a#.pftrace --top",
        "read-log a#.rec --viewer-config words#.txt",
        "read-log no#",
        "view cut#.pftrace -o out",
        "diff a#.pftrace b#.pftrace",
        "diff a#.pftrace cut#.pftrace",
    ];
    for command in commands {
        let system = with_files();
        let words = ["protologtool"].into_iter().chain(command.split(' '));
        cli::run(words.map(|word| word.replace('#', "\x1b[3m").into()), &system);
        let shown = format!("{}{}", system.out(), system.errors());
        assert!(!shown.contains("Usage:"), "{command}: {shown}");
        let control = shown.find(|it: char| it.is_control() && it != '\n' && it != '\t');
        assert_eq!(control, None, "{command}: {shown:?}");
    }
}

/// Runs the real program, and returns its exit code.
fn run_program(args: &[&str]) -> Option<i32> {
    let output = Command::new(env!("CARGO_BIN_EXE_protologtool")).args(args).output().unwrap();
    output.status.code()
}

#[test]
fn traces_are_private_unless_asked_otherwise() {
    let dir = protolog_testkit::temp_dir();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let mode =
        |name: &str| std::fs::symlink_metadata(path(name)).unwrap().permissions().mode() & 0o7777;
    std::fs::write(path("app.rec"), recording::recording(APP, 0)).unwrap();
    std::fs::write(path("app"), trace::trace(APP)).unwrap();
    std::fs::write(path("worker"), trace::trace(WORKER)).unwrap();
    let (app, worker) = (path("app"), path("worker"));
    for (name, input) in [("recover", vec![path("app.rec")]), ("merge", vec![app, worker])] {
        let run = |more: &[&str]| {
            let out = path(name);
            let mut args = vec![name];
            args.extend(input.iter().map(String::as_str));
            args.extend(["-o", &out]);
            args.extend(more);
            run_program(&args)
        };
        assert_eq!((run(&[]), mode(name)), (Some(0), 0o600));
        // Of a file that is replaced, nothing stays.
        std::fs::set_permissions(path(name), Permissions::from_mode(0o644)).unwrap();
        assert_eq!((run(&[]), mode(name)), (Some(0), 0o600));
        assert_eq!((run(&["--mode", "640"]), mode(name)), (Some(0), 0o640));
        assert_eq!((run(&["--mode", "666"]), mode(name)), (Some(0), 0o666), "whatever the umask");
        assert_eq!((run(&["--mode", "999"]), mode(name)), (Some(2), 0o666));
        // Neither a link nor the file that it leads to is written.
        std::fs::remove_file(path(name)).unwrap();
        std::fs::write(path("target"), "mine").unwrap();
        std::os::unix::fs::symlink(path("target"), path(name)).unwrap();
        assert_eq!((run(&[]), mode(name)), (Some(2), 0o777), "a link");
        assert_eq!(std::fs::read(path("target")).unwrap(), b"mine");
    }
    let left = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(left, 6, "no temporary file");
}

#[test]
fn a_recording_in_use_is_reported() {
    let dir = protolog_testkit::temp_dir();
    let path = dir.path().join("app.rec");
    std::fs::write(&path, recording::recording(APP, 0)).unwrap();
    let recover = || {
        let out = dir.path().join("out");
        let args = ["protologtool", "recover", path.to_str().unwrap(), "-o", out.to_str().unwrap()];
        let output =
            Command::new(env!("CARGO_BIN_EXE_protologtool")).args(&args[1..]).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(recover(), "");
    let held = File::open(&path).unwrap();
    held.lock().unwrap();
    let shown = path.display();
    assert_eq!(
        recover(),
        format!("warning: `{shown}` is in use: what its process writes meanwhile may be damaged\n")
    );
}

/// Runs the command with `input` coming through a pipe; it must end soon.
fn run_with_pipe(args: &[&str], input: Vec<u8>) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_protologtool"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // Input larger than the pipe goes on when it is read.
    let writer = thread::spawn(move || pipe.write_all(&input));
    let end = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("it hangs");
        }
        thread::sleep(Duration::from_millis(5));
    }
    writer.join().unwrap().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_comes_through_a_pipe_is_read_once() {
    let dir = protolog_testkit::temp_dir();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (out, merged, worker) = (path("out"), path("merged"), path("worker"));
    let recorded = recording::recording(APP, 0);
    assert_eq!(run_with_pipe(&["recover", "/dev/stdin", "-o", &out], recorded), "");
    std::fs::write(&worker, trace::trace(WORKER)).unwrap();
    let trace = std::fs::read(&out).unwrap();
    assert_eq!(run_with_pipe(&["merge", "/dev/stdin", &worker, "-o", &merged], trace), "");
    let log = protolog_reader::Trace::open(Path::new(&merged)).unwrap().read().unwrap();
    assert_eq!(log.entries().count(), 3);
}
