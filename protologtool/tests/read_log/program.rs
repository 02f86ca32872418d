//! The real program: standard input, no colors in a pipe, a reader that goes away, a limit on
//! memory.

use super::{APP, description};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn pipes() {
    let mut description = String::from(APP);
    description.push_str(&"@1 ts=1 log(0x11, 1)\n".repeat(50_000));
    let bytes = description::trace(&description);
    let mut child = Command::new(env!("CARGO_BIN_EXE_protologtool"))
        .args(["read-log", "-", "--time", "boot"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let mut start = [0; 57];
    child.stdout.take().unwrap().read_exact(&mut start).unwrap();
    assert_eq!(&start, b"     1.001000   100   101 D Net     : sent 512 bytes\n    ");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn a_trace_larger_than_the_memory_is_an_error() {
    // 24 MB of packets with an empty message, compressed.
    let member = description::trace(&format!("whole(gzip)\n{}", "log(1)\n".repeat(1 << 16)));
    let trace = member.repeat(24);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bomb.pftrace");
    std::fs::write(&path, &trace).unwrap();
    let read_log = |limit: &str| read_within(limit, &path);
    let error = format!(
        "error: can't read `{}`: too large for the memory of this process\n",
        path.display()
    );
    let help = "help: read it where there is more memory, or raise the limit (`ulimit -v`)\n";
    // Too little for the bytes, and for the entries.
    for limit in ["60000", "250000"] {
        assert_eq!(read_log(limit), (Some(2), format!("{error}{help}")), "{limit}");
    }
    let (code, errors) = read_log("unlimited");
    assert!(code == Some(0) && errors.contains("1572864 entries"), "{code:?}: {errors}");
}

#[test]
fn a_large_trace_needs_no_more_memory_than_a_small_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("large.pftrace");
    let body = description::trace(&"@1 ts=1000 log(0x11, 1000)\n".repeat(1000));
    let trace = [description::trace(APP), body.repeat(1500)].concat();
    std::fs::write(&path, &trace).unwrap();
    // Most of it is addresses only: the allocator reserves 64 MB for the thread that reads ahead,
    // and the reader looks whether there is room for as much. For as many messages that are read
    // whole it is too little, as the test before this one shows.
    let (code, errors) = read_within("250000", &path);
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("1500004 entries"), "{errors}");
    // Through a pipe, and compressed.
    let script = "ulimit -v 250000 && gzip -1 < \"$1\" | \"$0\" read-log - --level wtf --stats";
    let program = env!("CARGO_BIN_EXE_protologtool");
    let piped = Command::new("sh").args(["-c", script, program]).arg(&path).output().unwrap();
    let errors = String::from_utf8(piped.stderr).unwrap();
    assert_eq!(piped.status.code(), Some(0), "{errors}");
    let inflated = format!(" bytes, {} when inflated, ", trace.len());
    assert!(errors.contains("1500004 entries") && errors.contains(&inflated), "{errors}");
}

/// Reads a trace with so many kilobytes of memory. Returns the exit code and what is on standard
/// error.
fn read_within(limit: &str, trace: &Path) -> (Option<i32>, String) {
    let script = format!("ulimit -v {limit} && exec \"$0\" read-log \"$1\" --level wtf --stats");
    let program = env!("CARGO_BIN_EXE_protologtool");
    let output = Command::new("sh").args(["-c", &script, program]).arg(trace).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_zone_that_is_not_known_is_said() {
    let dir = protolog_testkit::temp_dir();
    std::fs::write(dir.path().join("app"), description::trace(APP)).unwrap();
    let read = |zone: &str, args: &[&str]| {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        let tool = tool.args(["read-log", "app", "-n", "1"]).args(args).current_dir(&dir);
        String::from_utf8(tool.env("TZ", zone).output().unwrap().stderr).unwrap()
    };
    let warning = "warning: the time zone `Foo/Bar` of TZ is not known: times are in UTC\n";
    assert!(read("Foo/Bar", &[]).starts_with(warning));
    for (zone, args) in
        [("Foo/Bar", &["--time", "utc"][..]), ("CET-1CEST,M3.5.0,M10.5.0/3", &[]), ("UTC", &[])]
    {
        assert!(!read(zone, args).contains("TZ"), "{zone}");
    }
}
