//! A persistent worker, asked by the bytes of Bazel's protocol: each answer is what a process of
//! its own writes and prints.

use crate::transcript::{fixtures, shell};
use protolog_testkit::{run_any, temp_dir};
use protozero::wire::encode_varint;
use protozero::{Heap, Reader, Writer};
use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

const CLASSES: [&str; 6] = [
    "--protolog-class",
    "dev.protolog.ProtoLog",
    "--loggroups-class",
    "demo.AppLog",
    "--loggroups-source",
    "src/demo/AppLog.java",
];

fn send(worker: &mut Child, arguments: &[&str], id: i32) {
    let mut writer = Writer::new(Heap::new());
    let mut message = writer.message();
    for argument in arguments {
        message.string(1, argument);
    }
    message.int32(3, id);
    let bytes = writer.into_vec().unwrap();
    let (length, size) = encode_varint(bytes.len() as u64);
    let input = worker.stdin.as_mut().unwrap();
    input.write_all(&length[..size]).unwrap();
    input.write_all(&bytes).unwrap();
}

/// Exit code, output and id of the next response.
fn receive(worker: &mut Child) -> (i32, String, i32) {
    let output = worker.stdout.as_mut().unwrap();
    let (mut length, mut shift) = (0_usize, 0);
    loop {
        let mut byte = [0];
        output.read_exact(&mut byte).unwrap();
        length |= usize::from(byte[0] & 0x7f) << shift;
        shift += 7;
        if byte[0] & 0x80 == 0 {
            break;
        }
    }
    let mut bytes = vec![0; length];
    output.read_exact(&mut bytes).unwrap();
    let (mut code, mut text, mut id) = (0, String::new(), 0);
    for field in Reader::new(&bytes).map(Result::unwrap) {
        match field.number {
            1 => code = field.as_i32().unwrap(),
            2 => text.push_str(field.as_str().unwrap()),
            _ => id = field.as_i32().unwrap(),
        }
    }
    (code, text, id)
}

#[test]
fn a_worker_answers_as_a_process_does() {
    let directory = temp_dir();
    fixtures(directory.path());
    let read = |path: &str| fs::read(directory.path().join(path)).unwrap();
    let mut worker = Command::new(env!("CARGO_BIN_EXE_protologtool"))
        .args(["transform-protolog-calls", "--persistent_worker"])
        .current_dir(directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let good =
        [&CLASSES[..], &["--output-srcjar", "worker.srcjar", "src/demo/net/Net.java"]].concat();
    send(&mut worker, &good, 0);
    assert_eq!(receive(&mut worker), (0, String::new(), 0));
    run_any(&mut shell(
        "protologtool transform-protolog-calls $CLASSES --output-srcjar process.srcjar src/demo/net/Net.java",
        directory.path(),
    ));
    assert!(read("worker.srcjar") == read("process.srcjar"));

    // A source with errors, by a response file; the worker goes on.
    fs::write(directory.path().join("args"), [&CLASSES[..], &["bad"]].concat().join("\n")).unwrap();
    let expected = run_any(&mut shell(
        "protologtool transform-protolog-calls --output-srcjar bad.srcjar @args",
        directory.path(),
    ));
    send(&mut worker, &["--output-srcjar", "bad.srcjar", "@args"], 3);
    let answer = receive(&mut worker);
    assert_eq!((Some(answer.0), answer.1, answer.2), (expected.code, expected.stderr, 3));
    assert_eq!(answer.0, 1);

    // The source changes between two requests.
    let text = String::from_utf8(read("src/demo/net/Net.java")).unwrap();
    fs::write(directory.path().join("src/demo/net/Net.java"), text.replace("sent", "gave"))
        .unwrap();
    send(&mut worker, &good, 1);
    assert_eq!(receive(&mut worker), (0, String::new(), 1));
    assert!(read("worker.srcjar") != read("process.srcjar"));
    drop(worker.stdin.take());
    assert!(worker.wait().unwrap().success());
}
