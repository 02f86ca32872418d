//! An attacker's recording of a gigabyte that takes no space: nothing but a hole, which its header
//! says are pages of the ring. And a trace of that kind, which begins with a packet of a gigabyte,
//! or ends with a hole.
//!
//! The tests look at the peak of their own memory, so each runs in a process of its own.

#[path = "../../protolog-reader/tests/common/recording.rs"]
mod recording;
#[path = "../../protolog-reader/tests/common/trace/mod.rs"]
mod trace;

use protolog_rt::{ProtoLogGroup, Session, d};
use protolog_testkit::{run, run_any, temp_dir};
use protologtool::cli;
use protologtool::system::Captured;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;

const APP: &str = r#"
@1 group(1, "app::Log::Net", "Net") message(0x11, DEBUG, 1, "sent %d", "src/net.rs:12")
@2 cleared snapshot(64=2000000000, boot=2000000000, incremental=64) default_clock=64 info(100, 100, "main", 2)
@2 ts=1000000 log(0x11, 3)
"#;

/// The variable that has the command for a process of its own.
const ROLE: &str = "PROTOLOG_HOLES";

/// The variable that has the file of a program that dies.
const DYING: &str = "PROTOLOG_HOLES_DYING";

/// The peak of memory that a command may have, in KiB.
const MOST: u64 = 200 << 10;

/// Makes a recording whose ring has `pages` pages, in a file of a gigabyte.
fn stretched(path: &Path, pages: Option<u32>) {
    let mut bytes = recording::recording(APP, 0);
    if let Some(pages) = pages {
        let end = u64::from(pages) * 4096 + 65_536;
        bytes[24..28].copy_from_slice(&pages.to_ne_bytes());
        bytes[40..48].copy_from_slice(&end.to_ne_bytes());
    }
    let mut file = File::create(path).unwrap();
    file.write_all(&bytes).unwrap();
    file.set_len(1 << 30).unwrap();
}

/// Runs the command that it is given, and prints the peak of its memory.
#[test]
fn role_that_reads() {
    let Ok(command) = std::env::var(ROLE) else { return };
    let system = Captured::default();
    let args = ["protologtool"].into_iter().chain(command.split(' ')).map(Into::into);
    let exit = cli::run(args, &system);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!("\npeak: {}\n{exit:?}\n{}", peak.trim_end_matches("kB").trim(), system.into_printed());
}

#[test]
fn a_hole_takes_no_memory() {
    let dir = temp_dir();
    let path = dir.path().join("protolog-app-1-0.rec");
    for pages in [None, Some(200_000)] {
        stretched(&path, pages);
        let shown = path.to_str().unwrap();
        for command in
            [format!("recover {shown} -o {shown}.pftrace"), format!("recover --list {shown}")]
        {
            assert_small(&command);
        }
    }
}

#[test]
fn a_packet_that_is_a_hole_takes_no_memory() {
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let shown = path.to_str().unwrap();
    // Of 900 MB, and of more than the file.
    for size in [&[0x80, 0xd2, 0x93, 0xad, 0x03][..], &[0xff, 0xff, 0xff, 0xff, 0x07]] {
        for name in ["app.pftrace", "app.pftrace.other"] {
            let mut file = File::create(dir.path().join(name)).unwrap();
            file.write_all(&[&trace::trace(APP)[..], &[0x0a], size].concat()).unwrap();
            file.set_len(1 << 30).unwrap();
        }
        for command in [
            format!("read-log {shown}"),
            format!("view {shown} -o {shown}.html"),
            format!("diff {shown} {shown}.other"),
        ] {
            assert_small(&command);
        }
    }
}

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

/// A program that dies while it logs to the file that it is given.
#[test]
fn role_that_dies() {
    let Ok(trace) = std::env::var(DYING) else { return };
    let session = Session::builder().file(trace).enable_all().start().unwrap();
    d!(AppLog::Net, "written");
    session.flush().unwrap();
    d!(AppLog::Net, "in the recording");
    std::process::abort();
}

#[test]
fn a_trace_that_is_completed_takes_no_memory_for_its_holes() {
    let dir = temp_dir();
    let path = dir.path().join("app.pftrace");
    let mut own = Command::new(std::env::current_exe().unwrap());
    own.args(["--exact", "role_that_dies"]).env(DYING, &path).env("PROTOLOG_RECORDING", "beside");
    assert_eq!(run_any(&mut own).code, None, "it dies");
    File::options().write(true).open(&path).unwrap().set_len(1 << 30).unwrap();
    let rec = std::fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().path());
    let rec = rec.into_iter().find(|it| it.extension().is_some_and(|end| end == "rec")).unwrap();
    let [shown, rec] = [&path, &rec].map(|it| it.to_str().unwrap());
    for command in [
        format!("recover {shown} -o {shown}.other"),
        format!("recover {rec} -o {shown}.more"),
        format!("recover {shown}"),
    ] {
        assert_small(&command);
    }
    for name in ["app.pftrace", "app.pftrace.other", "app.pftrace.more"] {
        let bytes = std::fs::read(dir.path().join(name)).unwrap();
        let text = b"in the recording";
        assert!(bytes.len() < 1 << 20 && bytes.windows(text.len()).any(|it| it == text), "{name}");
    }
}

/// Runs a command that may fail, and takes little memory.
fn assert_small(command: &str) {
    let mut own = Command::new(std::env::current_exe().unwrap());
    own.args(["--exact", "role_that_reads", "--nocapture"]).env(ROLE, command);
    let output = run(&mut own).stdout;
    let peak = output.lines().find_map(|line| line.strip_prefix("peak: "));
    let peak: u64 = peak.expect("the role ran").parse().unwrap();
    assert!(peak < MOST, "{command}: {output}");
    assert!(!output.contains("\nFailed"), "{command}: {output}");
}
