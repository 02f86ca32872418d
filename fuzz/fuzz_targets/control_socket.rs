//! Any bytes over the control socket, to a program and to an operator: both go on, and in time.
//!
//! Covers connections as they are, with bytes that come in any pieces; the first byte says which
//! end gets the others. A program answers some 2,000 questions in a second, whoever asks, so this
//! target is slow by design.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protolog_control::Program;
use protolog_rt::control::{Server, serve_in};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::OnceLock;
use std::time::Duration;

fuzz_target!(|bytes: &[u8]| {
    let Some((&end, bytes)) = bytes.split_first() else { return };
    if end & 1 == 0 { ask(bytes) } else { answer(bytes) }
});

fn ask(bytes: &[u8]) {
    static SERVER: OnceLock<Server> = OnceLock::new();
    let directory = std::env::temp_dir().join(format!("protolog-fuzz-{}", std::process::id()));
    let server = SERVER.get_or_init(|| serve_in(directory).expect("listen"));
    let mut stream = UnixStream::connect(server.path()).expect("connect");
    let _ = stream.write_all(b"protolog 1\n");
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.read_to_end(&mut Vec::new());
    Program::connect(server.path()).expect("it listens").groups().expect("it answers");
}

fn answer(bytes: &[u8]) {
    let path = std::env::temp_dir().join(format!("protolog-fuzz-{}.sock", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).expect("bind");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept().expect("accept");
            let _ = stream.write_all(b"protolog 1 1 any\nok\n");
            let _ = stream.write_all(bytes);
        });
        if let Ok(mut program) = Program::connect_with_timeout(&path, Duration::from_secs(1)) {
            let _ = program.groups();
            let _ = program.pages();
        }
    });
}
