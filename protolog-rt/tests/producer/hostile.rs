//! A service that means no good, played by the test: the producer disconnects with a reason, or
//! goes on, and never crashes.

use crate::child::RunningChild;
use crate::proxy;
use perfetto_ipc::frame::{Body, Frame, FrameBuffer, MAX_FRAME, Method, message};
use protolog_testkit::{Random, temp_dir_for_sockets};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with,
};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;
use std::time::Duration;

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

/// The most sessions that record a process at a time.
const MAX_SESSIONS: u64 = 32;

/// The connection of a producer, which was accepted.
pub(crate) struct Accepted {
    pub(crate) socket: UnixStream,
    input: FrameBuffer,
    /// The request that commands answer.
    pub(crate) commands: u64,
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

    /// Gives memory with pages of so many KiB.
    pub(crate) fn give(&mut self, page_kb: u32, file: Option<&OwnedFd>) {
        let reply = message(|to| _ = to.nested(3).uint32(1, page_kb));
        let body = Body::InvokeReply { success: true, has_more: true, reply: &reply };
        let frame = Frame { request_id: self.commands, body }.encode().expect("a frame");
        proxy::send(&self.socket, &frame, file).expect("send it");
    }

    /// Starts a session in memory without room for its beginning, so that it has to be committed.
    pub(crate) fn start_without_room(&mut self) {
        self.give(4, Some(&memory(4096, true)));
        let long = "long".repeat(100);
        let config = message(|to| {
            let mut config = to.nested(126);
            config.uint32(2, 1).nested(1).string(1, &long).uint32(2, 6);
        });
        self.start(1, &config);
    }

    /// Starts a session in memory of so many bytes, which is returned.
    pub(crate) fn start_in_memory(&mut self, bytes: u64) -> OwnedFd {
        let memory = memory(bytes, true);
        self.give(4, Some(&memory));
        let config = message(|to| _ = to.nested(126).uint32(2, 1));
        self.start(1, &config);
        memory
    }

    /// Asks for a flush of a session.
    pub(crate) fn flush(&mut self, id: u64, request: u64) {
        self.command(&message(|to| _ = to.nested(5).uint64(1, id).uint64(2, request)));
    }

    /// Starts a session with the configuration `config`.
    pub(crate) fn start(&mut self, id: u64, config: &[u8]) {
        self.command(&message(|to| _ = to.nested(1).uint64(1, id).bytes(2, config)));
    }
}

/// Accepts a producer and its memory, up to the request for commands.
pub(crate) fn accept(listener: &UnixListener) -> Accepted {
    accept_with(listener, true)
}

/// Likewise, and says whether its memory is taken.
fn accept_with(listener: &UnixListener, takes_memory: bool) -> Accepted {
    accept_without("", listener, takes_memory)
}

/// Likewise, without a method that producers call.
pub(crate) fn accept_without(
    missing: &str,
    listener: &UnixListener,
    takes_memory: bool,
) -> Accepted {
    let (socket, _) = listener.accept().expect("a producer");
    introduce(socket, missing, takes_memory)
}

fn introduce(socket: UnixStream, missing: &str, takes_memory: bool) -> Accepted {
    let mut it = Accepted { socket, input: FrameBuffer::default(), commands: 0, args: Vec::new() };
    let id = it.wait_for("ProducerPort").expect("a request");
    let methods = METHODS.iter().zip(1..).filter(|(name, _)| **name != missing);
    let methods = methods.map(|(name, id)| Method { id, name }).collect();
    it.send(id, Body::BindReply { success: true, service_id: 1, methods });
    let id = it.wait_for("InitializeConnection").expect("a request");
    let reply = message(|to| _ = to.bool(1, takes_memory));
    it.send(id, Body::InvokeReply { success: true, has_more: false, reply: &reply });
    it.commands = it.wait_for("GetAsyncCommand").expect("a request");
    it
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
    let mut child = RunningChild::start("", &socket, &dir.path().join("logged"));
    let cases: [(&str, Act); 6] = [
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
        ("closed the connection", &|it| _ = it.socket.shutdown(std::net::Shutdown::Both)),
    ];
    for (reason, act) in cases {
        ends(accept(&listener), &mut child, reason, act);
    }
    child.end();
}

/// Checks that what the service does ends the connection for a reason.
#[track_caller]
fn ends(mut it: Accepted, child: &mut RunningChild, reason: &str, act: Act) {
    child.tell("connected");
    act(&mut it);
    while it.next().is_some() {}
    let said = child.tell("disconnected");
    assert!(said.contains(reason), "`{said}` instead of `{reason}`");
}

#[test]
fn memory_that_is_no_good_ends_the_connection() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let mut child = RunningChild::start("", &socket, &dir.path().join("logged"));
    let cases: [(&str, Act); 6] = [
        ("started a session before it gave memory", &|it| it.start(1, &config())),
        ("gives no file with its memory", &|it| it.give(4, None)),
        ("gives memory with pages of 8 KiB", &|it| it.give(8, Some(&memory(1 << 20, true)))),
        ("gives 100 bytes of memory", &|it| it.give(4, Some(&memory(100, true)))),
        ("gives 67108864 bytes of memory", &|it| it.give(4, Some(&memory(64 << 20, true)))),
        ("gives memory that it may take away", &|it| it.give(4, Some(&memory(1 << 20, false)))),
    ];
    for (reason, act) in cases {
        ends(accept_with(&listener, false), &mut child, reason, act);
    }
    child.end();
}

/// A file in memory.
pub(crate) fn memory(size: u64, is_sealed: bool) -> OwnedFd {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create("service", flags).expect("a file in memory");
    ftruncate(&file, size).expect("its size");
    if is_sealed {
        fcntl_add_seals(&file, SealFlags::SHRINK).expect("seal it");
    }
    file
}

/// The connection breaks while a session starts: nothing is recorded any more.
#[test]
fn a_session_that_can_t_start_is_over() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let mut child = RunningChild::start("", &socket, &dir.path().join("logged"));
    ends(accept_without("CommitData", &listener, false), &mut child, "`CommitData`", &|it| {
        it.start_without_room();
    });
    child.tell("disabled");
    child.end();
}

/// One session too many does not record, and disturbs no other.
#[test]
fn a_session_too_many_is_refused_alone() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let mut child = RunningChild::start("", &socket, &dir.path().join("logged"));
    let mut it = accept(&listener);
    child.tell("connected");
    for id in 1..=MAX_SESSIONS + 1 {
        it.start(id, &config());
        it.wait_for("NotifyDataSourceStarted").expect("an answer to each");
    }
    child.tell(&format!("sessions {MAX_SESSIONS}"));
    let status = child.tell("status");
    assert!(status.contains("more than 32 sessions at a time"), "{status}");
    for id in [MAX_SESSIONS + 1, 1] {
        it.command(&message(|to| _ = to.nested(2).uint64(1, id)));
        it.wait_for("NotifyDataSourceStopped").expect("an answer to each");
    }
    // There is room for another one now.
    it.start(100, &config());
    it.wait_for("NotifyDataSourceStarted").expect("an answer");
    child.tell(&format!("sessions {MAX_SESSIONS}"));
    child.end();
}

/// A child that was forked while its parent waits to be accepted has no copy of the connection: its
/// parent's end is the end of that.
#[test]
fn a_fork_within_a_connect_keeps_no_connection_open() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let address = SocketAddrUnix::new(&socket).expect("an address");
    let listener = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None);
    let listener = listener.expect("a socket");
    bind(&listener, &address).expect("bind it");
    listen(&listener, 0).expect("listen");
    let listener = UnixListener::from(listener);
    // The queue is full, so that the producer waits in it.
    let mut queued = Vec::new();
    loop {
        let flags = SocketFlags::NONBLOCK;
        let other = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None);
        let other = other.expect("a socket");
        if rustix::net::connect(&other, &address).is_err() {
            break;
        }
        queued.push(other);
    }
    let mut child = RunningChild::start("", &socket, &dir.path().join("logged"));
    child.tell("sleep 300");
    let stays = child.tell("fork-and-stay");
    for _ in 0..queued.len() {
        drop(listener.accept().expect("a connection of our own"));
    }
    let mut it = accept(&listener);
    child.tell("connected");
    child.kill();
    it.socket.set_read_timeout(Some(Duration::from_secs(5))).expect("a limit");
    // What it has sent comes first.
    let end = it.socket.read_to_end(&mut Vec::new()).map_err(|error| error.kind());
    let _ = Command::new("kill").args(["-s", "KILL", &stays]).status();
    assert!(end.is_ok(), "the connection does not end with the process: {end:?}");
}

#[test]
fn commands_out_of_order_are_taken() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let mut random = Random::from_seed(b"commands");
    for round in 0..4 {
        let logged = dir.path().join(format!("logged-{round}"));
        let mut child = RunningChild::start("count=5000 threads=2", &socket, &logged);
        for _ in 0..3 {
            let mut it = accept(&listener);
            child.tell("connected");
            child.ask("log");
            // Nothing is ever freed, so that the memory may fill up.
            for _ in 0..random.below(60) {
                random_command(&mut it, &mut random);
            }
            drop(it);
            child.expect("done");
        }
        child.end();
    }
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
