//! Services that send packets without end, or do not end a session, played by the test: the
//! recording ends by the first signal, and keeps what came.

use perfetto_ipc::frame::{Body, Frame, FrameBuffer, Method, message};
use protolog_testkit::{temp_dir_for_sockets, wait_until};
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const METHODS: [&str; 5] =
    ["EnableTracing", "DisableTracing", "ReadBuffers", "FreeBuffers", "CloneSession"];

/// A packet, as a field of a trace.
const PACKET: usize = 2005;

/// Answers a consumer, once it reads with packets without end, or else with ten. Counts requests to
/// record and to read in `begun`.
fn serve(mut consumer: UnixStream, is_endless: bool, begun: &AtomicUsize) {
    let mut input = FrameBuffer::default();
    let mut bytes = [0; 4096];
    loop {
        match consumer.read(&mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(count) => input.push(&bytes[..count]),
        }
        while let Some(frame) = input.next_frame().expect("a frame") {
            let frame = Frame::decode(frame).expect("a frame");
            let clone = message(|to| _ = to.bool(1, true));
            let body = match frame.body {
                Body::Bind { .. } => {
                    let methods = METHODS.iter().zip(1..).map(|(name, id)| Method { id, name });
                    Body::BindReply { success: true, service_id: 1, methods: methods.collect() }
                }
                Body::Invoke { method_id, .. } => match METHODS[method_id as usize - 1] {
                    // It answers at the session's end.
                    "EnableTracing" => {
                        begun.fetch_add(1, Ordering::Relaxed);
                        continue;
                    }
                    "ReadBuffers" if is_endless => {
                        begun.fetch_add(1, Ordering::Relaxed);
                        return flood(&mut consumer, frame.request_id);
                    }
                    "ReadBuffers" => {
                        let _ = consumer.write_all(&packets(frame.request_id, false));
                        continue;
                    }
                    "CloneSession" => {
                        Body::InvokeReply { success: true, has_more: false, reply: &clone }
                    }
                    _ => Body::InvokeReply { success: true, has_more: false, reply: b"" },
                },
                other => panic!("{other:?}"),
            };
            let reply = Frame { request_id: frame.request_id, body };
            let _ = consumer.write_all(&reply.encode().expect("a frame"));
        }
    }
}

fn flood(consumer: &mut UnixStream, request_id: u64) {
    let frame = packets(request_id, true);
    while consumer.write_all(&frame).is_ok() {}
}

fn packets(request_id: u64, has_more: bool) -> Vec<u8> {
    let slice = message(|to| {
        for _ in 0..10 {
            to.nested(2).bytes(1, &[0x0a; 2002]).bool(2, true);
        }
    });
    let body = Body::InvokeReply { success: true, has_more, reply: &slice };
    Frame { request_id, body }.encode().expect("a frame")
}

/// A socket in `dir` at which such a service listens, and the number of requests that it counts.
fn listen(dir: &Path, is_endless: bool) -> (PathBuf, Arc<AtomicUsize>) {
    let socket = dir.join("consumer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let begun = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&begun);
    thread::spawn(move || {
        for consumer in listener.incoming() {
            let (consumer, begun) = (consumer.expect("a consumer"), Arc::clone(&counted));
            thread::spawn(move || serve(consumer, is_endless, &begun));
        }
    });
    (socket, begun)
}

fn record(socket: &Path, args: &[&str], output: &Path) -> Child {
    Command::new("env")
        .args(["--default-signal=INT", "timeout", "-s", "KILL", "120"])
        .args([env!("CARGO_BIN_EXE_protologtool"), "record", "--perfetto"])
        .args(args)
        .arg("-o")
        .arg(output)
        .env("PERFETTO_CONSUMER_SOCK_NAME", socket)
        .stderr(Stdio::piped())
        .spawn()
        .expect("start to record")
}

/// The first signal ends it, and so does its time.
#[test]
fn a_service_that_sends_without_end_is_cut() {
    let dir = temp_dir_for_sockets();
    let (socket, begun) = listen(dir.path(), true);
    let cut = "warning: the trace was cut: the service sends more than the session's buffers have, \
               and the last packets may be missing\n\
               help: look at the output of `traced`, and at what its producers do\n";
    let cut_clone = "warning: the trace was cut: its last packets are missing\n\
                     help: clone the session again, and wait until it is written\n";
    let cases: [(&[&str], bool, &str); 3] = [
        (&["--buffer", "1"], true, cut),
        (&["--buffer", "1", "--time", "2s"], false, cut),
        (&["--clone", "watch"], true, cut_clone),
    ];
    for (args, is_stopped, expected) in cases {
        let output = dir.path().join("new.pftrace");
        let before = begun.load(Ordering::Relaxed);
        let recording = record(&socket, args, &output);
        // By then it hears signals.
        wait_until("it records", || begun.load(Ordering::Relaxed) > before);
        thread::sleep(Duration::from_secs(1));
        if is_stopped {
            // `timeout` passes it on.
            let id = recording.id().to_string();
            let kill = Command::new("kill").args(["-INT", &id]).status();
            assert!(kill.expect("run kill").success());
        }
        let begun = Instant::now();
        let done = recording.wait_with_output().expect("wait for it");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(begun.elapsed() < Duration::from_secs(40), "{args:?}: {:?}", begun.elapsed());
        // Nothing is said of groups: none was asked for.
        assert!(said.ends_with(expected), "{args:?}: {said}");
        assert_eq!(done.status.code(), Some(3), "{args:?}: {said}");
        let trace = std::fs::read(&output).expect("what came");
        assert_eq!(trace.len() % PACKET, 0, "whole packets");
        assert!(trace.len() > 1 << 20, "{args:?}: {} bytes", trace.len());
        std::fs::remove_file(&output).expect("remove it");
    }
}

/// What programs send last may be missing, after as long as the configuration gives them.
#[test]
fn a_service_that_does_not_end_the_session_is_warned_of() {
    let dir = temp_dir_for_sockets();
    let (socket, _) = listen(dir.path(), false);
    let (config, output) = (dir.path().join("config.pbtxt"), dir.path().join("new.pftrace"));
    let text = "buffers { size_kb: 64 } data_sources { config { name: 'other' } } \
                data_source_stop_timeout_ms: 3000";
    std::fs::write(&config, text).expect("write the configuration");
    let begun = Instant::now();
    let args = ["--time", "1s", "-c", config.to_str().expect("UTF-8")];
    let done = record(&socket, &args, &output).wait_with_output().expect("wait for it");
    let said = String::from_utf8_lossy(&done.stderr);
    let warning = "warning: the trace was cut: the service did not end the session in time, and \
                   what programs sent last may be missing\n\
                   help: look at the output of `traced`, and at what its producers do\n";
    assert!(said.ends_with(warning), "{said}");
    assert_eq!(done.status.code(), Some(3), "{said}");
    assert!(begun.elapsed() > Duration::from_secs(4), "{:?}", begun.elapsed());
    assert_eq!(std::fs::read(&output).expect("what came").len(), 10 * PACKET);
}
