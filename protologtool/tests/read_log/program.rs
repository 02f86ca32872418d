//! The real program: standard input, no colors in a pipe, a reader that goes away, a limit on memory.

use super::{APP, description};
use std::io::{Read, Write};
use std::process::{Command, Stdio};

/// The real program: standard input, no colours in a pipe, and a reader that goes away.
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
    let read_log = |limit: &str| {
        let script = format!("ulimit -v {limit} && exec \"$0\" read-log \"$1\" --until 0");
        let shell = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_protologtool")])
            .arg(&path)
            .output();
        let output = shell.unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
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
