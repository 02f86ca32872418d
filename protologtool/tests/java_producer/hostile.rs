//! A service that means no good, played by the test: the producer disconnects with a reason, or
//! goes on, and the program is not disturbed.

use crate::child::RunningChild;
use perfetto_ipc::frame::{Body, Frame, FrameBuffer, MAX_FRAME, Method, message};
use protolog_testkit::{Random, temp_dir_for_sockets};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

const METHODS: [&str; 8] = [
    "InitializeConnection",
    "RegisterDataSource",
    "CommitData",
    "GetAsyncCommand",
    "RegisterTraceWriter",
    "UnregisterTraceWriter",
    "NotifyDataSourceStarted",
    "NotifyDataSourceStopped",
];

/// The connection of a producer, which was accepted.
pub(crate) struct Accepted {
    pub(crate) socket: UnixStream,
    input: FrameBuffer,
    /// The request that commands answer.
    commands: u64,
    /// The arguments of the last request.
    pub(crate) args: Vec<u8>,
}

impl Accepted {
    /// Takes the next frame: the name of the method and the number of the request.
    pub(crate) fn next(&mut self) -> Option<(String, u64)> {
        loop {
            if let Some(bytes) = self.input.next_frame().expect("a frame") {
                let frame = Frame::decode(bytes).expect("a frame");
                let method = match frame.body {
                    Body::Bind { service } => service.to_owned(),
                    Body::Invoke { method_id, args, .. } => {
                        self.args = args.to_vec();
                        METHODS[method_id as usize - 1].to_owned()
                    }
                    other => panic!("{other:?}"),
                };
                return Some((method, frame.request_id));
            }
            let mut bytes = [0; 4096];
            match self.socket.read(&mut bytes) {
                Ok(0) | Err(_) => return None,
                Ok(count) => self.input.push(&bytes[..count]),
            }
        }
    }

    pub(crate) fn wait_for(&mut self, method: &str) -> Option<u64> {
        loop {
            let (found, id) = self.next()?;
            if found == method {
                return Some(id);
            }
        }
    }

    fn send(&mut self, request_id: u64, body: Body<'_>) {
        let _ = self.socket.write_all(&Frame { request_id, body }.encode().expect("a frame"));
    }

    fn command(&mut self, reply: &[u8]) {
        self.send(self.commands, Body::InvokeReply { success: true, has_more: true, reply });
    }

    /// Starts a session with the configuration `config`.
    pub(crate) fn start(&mut self, id: u64, config: &[u8]) {
        self.command(&message(|to| _ = to.nested(1).uint64(1, id).bytes(2, config)));
    }
}

/// Accepts a producer, up to the request for commands; none if it goes away before.
fn accept_with(listener: &UnixListener, introduced: &[u8]) -> Option<Accepted> {
    let (socket, _) = listener.accept().expect("a producer");
    let mut it = Accepted { socket, input: FrameBuffer::default(), commands: 0, args: vec![] };
    let id = it.wait_for("ProducerPort")?;
    let methods = METHODS.iter().zip(1..).map(|(name, id)| Method { id, name }).collect();
    it.send(id, Body::BindReply { success: true, service_id: 1, methods });
    let id = it.wait_for("InitializeConnection")?;
    it.send(id, Body::InvokeReply { success: true, has_more: false, reply: introduced });
    it.commands = it.wait_for("GetAsyncCommand")?;
    Some(it)
}

/// Likewise, as services do that know of emulated memory.
pub(crate) fn accept(listener: &UnixListener) -> Accepted {
    accept_with(listener, &message(|to| _ = to.bool(3, false))).expect("a producer")
}

/// `ENABLE_ALL`, to buffer 3.
pub(crate) fn config() -> Vec<u8> {
    message(|to| _ = to.uint32(2, 3).nested(126).uint32(2, 1))
}

/// An act of a service against a producer that has connected.
type Act = &'static dyn Fn(&mut Accepted);

#[test]
fn nonsense_ends_the_connection_with_a_reason() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let path = socket.to_str().expect("UTF-8");
    let Some(mut child) = RunningChild::start(path, "", &dir.path().join("logged")) else { return };
    let cases: [(&str, Act); 7] = [
        ("a frame of 131073 bytes", &|it| {
            let _ = it.socket.write_all(&(MAX_FRAME as u32 + 1).to_le_bytes());
        }),
        ("a malformed frame", &|it| _ = it.socket.write_all(&[2, 0, 0, 0, 0x1a, 0x7f])),
        ("a malformed command", &|it| it.command(&[0x0a, 0x7f, 1])),
        ("a malformed configuration", &|it| it.start(1, &[0xff])),
        ("started a session twice", &|it| {
            it.start(1, &config());
            it.start(1, &config());
        }),
        ("gives no commands", &|it| {
            it.send(it.commands, Body::RequestError("none"));
        }),
        ("closed the connection", &|it| _ = it.socket.shutdown(Shutdown::Both)),
    ];
    for (reason, act) in cases {
        let mut it = accept(&listener);
        child.tell("connected");
        act(&mut it);
        while it.next().is_some() {}
        let said = child.tell("disconnected");
        assert!(said.contains(reason), "`{said}` instead of `{reason}`");
    }
    child.end();
}

/// One session too many does not record, and disturbs no other.
#[test]
fn a_session_too_many_is_refused_alone() {
    let most = 32;
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let path = socket.to_str().expect("UTF-8");
    let Some(mut child) = RunningChild::start(path, "", &dir.path().join("logged")) else { return };
    let mut it = accept(&listener);
    child.tell("connected");
    for id in 1..=most + 1 {
        it.start(id, &config());
        it.wait_for("NotifyDataSourceStarted").expect("an answer to each");
    }
    child.tell(&format!("sessions {most}"));
    let notice = child.tell("notice");
    assert!(notice.contains("too many sessions"), "{notice}");
    for id in [most + 1, 1] {
        it.command(&message(|to| _ = to.nested(2).uint64(1, id)));
        it.wait_for("NotifyDataSourceStopped").expect("an answer to each");
    }
    // There is room for another one now.
    it.start(100, &config());
    it.wait_for("NotifyDataSourceStarted").expect("an answer");
    child.tell(&format!("sessions {most}"));
    child.end();
}

/// A service that says nothing of emulated memory would drop all that it gets.
#[test]
fn a_service_that_is_too_old_gets_nothing() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let path = socket.to_str().expect("UTF-8");
    let Some(mut child) = RunningChild::start(path, "", &dir.path().join("logged")) else { return };
    assert!(accept_with(&listener, &message(|to| _ = to.bool(1, false))).is_none());
    let said = child.tell("failed");
    assert!(said.contains("the service is too old"), "{said}");
    child.end();
}

#[test]
fn commands_out_of_order_are_taken() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let path = socket.to_str().expect("UTF-8");
    let mut random = Random::from_seed(b"commands");
    let job = "count=5000 threads=2";
    let logged = dir.path().join("logged");
    let Some(mut child) = RunningChild::start(path, job, &logged) else { return };
    for _ in 0..6 {
        let mut it = accept(&listener);
        child.tell("connected");
        child.ask("log");
        // Nothing is read meanwhile, so that the socket may fill up.
        for _ in 0..random.below(60) {
            random_command(&mut it, &mut random);
        }
        drop(it);
        child.expect("done");
    }
    child.end();
}

fn random_command(it: &mut Accepted, random: &mut Random) {
    let (id, number) = (random.below(8), random.below(9));
    match random.below(5) {
        0 => it.start(id, &config()),
        1 => it.command(&message(|to| _ = to.nested(2).uint64(1, id))),
        2 => it.command(&message(|to| {
            to.nested(5).uint64(1, id).uint64(2, number).uint64(3, id);
        })),
        3 => it.command(&message(|to| _ = to.nested(7).uint64(1, id))),
        _ => {
            let noise: Vec<u8> = (0..number).map(|_| random.below(256) as u8).collect();
            it.send(number, Body::InvokeReply { success: true, has_more: true, reply: &noise });
        }
    }
}

/// Numbers of sessions take more memory than their bytes.
#[test]
fn commands_that_wait_take_little_memory() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let path = socket.to_str().expect("UTF-8");
    let job = "count=20000 size=100";
    let logged = dir.path().join("logged");
    let Some(mut child) = RunningChild::start(path, job, &logged) else { return };
    let mut it = accept(&listener);
    child.tell("connected");
    it.start(1, &config());
    it.wait_for("NotifyDataSourceStarted").expect("an answer");
    // Nothing is read any more, so that the forwarder waits.
    child.tell("log");
    let ids = vec![1; 120_000];
    let flush = message(|to| _ = to.nested(5).bytes(1, &ids).uint64(2, 1));
    (0..20).for_each(|_| it.command(&flush));
    let said = child.tell("disconnected");
    assert!(said.contains("more commands than can be done"), "{said}");
    child.end();
}

/// Other frames without end are no answer.
#[test]
fn a_service_that_sends_other_frames_without_end_is_given_up() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let path = socket.to_str().expect("UTF-8");
    let Some(mut child) = RunningChild::start(path, "", &dir.path().join("logged")) else { return };
    let (mut socket, _) = listener.accept().expect("a producer");
    let begun = Instant::now();
    thread::spawn(move || {
        let body = Body::InvokeReply { success: true, has_more: true, reply: b"" };
        let frame = Frame { request_id: 1000, body }.encode().expect("a frame");
        while socket.write_all(&frame).is_ok() {}
    });
    let said = child.tell("failed");
    assert!(said.contains("does not answer"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    child.end();
}
