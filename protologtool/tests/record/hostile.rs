//! A producer that means no good, at the same service as an honest program: the recording is right
//! and bounded, and what the honest one logged is all there, with its own texts.

use super::{peak_memory, program_of, record, tool};
use perfetto_ipc::frame::{Body, Frame, FrameBuffer, message};
use protolog_core::chunk::Packets;
use protolog_reader::Trace;
use protolog_testkit::{TracingService, run_any};
use protozero::Reader;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// The most bytes of packets in a chunk, with their sizes.
const ROOM: usize = 4000;

/// The connection of a producer that writes what it likes, by emulated shared memory.
struct Producer {
    socket: UnixStream,
    input: FrameBuffer,
    methods: BTreeMap<String, u32>,
    last_request: u64,
    /// The buffer of the session.
    target: u32,
    next_chunk: u32,
}

impl Producer {
    fn connect(service: &TracingService) -> Self {
        let socket = UnixStream::connect(service.producers()).expect("connect to the service");
        let (input, methods) = (FrameBuffer::default(), BTreeMap::new());
        let mut it = Self { socket, input, methods, last_request: 0, target: 0, next_chunk: 0 };
        it.send(Body::Bind { service: "ProducerPort" });
        while it.methods.is_empty() {
            it.receive();
        }
        let page = message(|to| {
            to.uint32(1, 4096).uint32(2, 64 << 10).string(3, "evil").uint32(4, 2);
        });
        it.call("InitializeConnection", &page);
        it.call("GetAsyncCommand", &[]);
        let source = message(|to| {
            to.nested(1).string(1, "android.protolog").bool(2, true).bool(3, true);
        });
        it.call("RegisterDataSource", &source);
        it
    }

    /// Waits for a session, and registers a writer to its buffer.
    fn wait_for_session(&mut self) {
        let (id, target) = loop {
            if let Some(found) = self.receive() {
                break found;
            }
        };
        self.target = target;
        self.call("RegisterTraceWriter", &message(|to| _ = to.uint32(1, 1).uint32(2, target)));
        self.call("NotifyDataSourceStarted", &message(|to| _ = to.uint64(1, id)));
    }

    fn send(&mut self, body: Body<'_>) {
        self.last_request += 1;
        let frame = Frame { request_id: self.last_request, body };
        self.socket.write_all(&frame.encode().expect("a frame")).expect("send it");
    }

    fn call(&mut self, method: &str, args: &[u8]) {
        let method_id = self.methods[method];
        let drop_reply = method == "CommitData";
        self.send(Body::Invoke { service_id: 1, method_id, args, drop_reply });
    }

    /// Takes a frame; returns a session that starts, and its buffer.
    fn receive(&mut self) -> Option<(u64, u32)> {
        let mut bytes = [0; 4096];
        while !self.input.has_frame().expect("a frame") {
            let count = self.socket.read(&mut bytes).expect("read");
            assert!(count > 0, "the service refuses it");
            self.input.push(&bytes[..count]);
        }
        let bytes = self.input.next_frame().expect("a frame").unwrap_or_default();
        match Frame::decode(bytes).expect("a frame").body {
            Body::BindReply { methods, .. } => {
                self.methods = methods.iter().map(|it| (it.name.to_owned(), it.id)).collect();
                None
            }
            Body::InvokeReply { reply, .. } => {
                let start = field(reply, 1).filter(|it| field(it, 2).is_some())?;
                let number = |bytes: &[u8], at: u32| {
                    let mut fields = Reader::new(bytes).map_while(Result::ok);
                    fields.find(|it| it.number == at).and_then(|it| it.as_u64().ok())
                };
                let config = field(&start, 2).unwrap_or_default();
                Some((number(&start, 1)?, number(&config, 2).unwrap_or_default() as u32))
            }
            _ => None,
        }
    }

    /// Writes a packet, over several chunks if need be.
    fn write(&mut self, packet: &[u8]) {
        let parts: Vec<&[u8]> =
            if packet.is_empty() { vec![packet] } else { packet.chunks(ROOM).collect() };
        for (at, part) in parts.iter().enumerate() {
            let mut flags = 0;
            if at > 0 {
                flags |= Packets::CONTINUES;
            }
            if at + 1 < parts.len() {
                flags |= Packets::CONTINUED;
            }
            let size = [part.len() as u8 | 0x80, (part.len() >> 7) as u8];
            self.commit(Packets::new(1, flags), &[&size, *part].concat());
        }
    }

    /// Commits a chunk of these bytes.
    fn commit(&mut self, packets: Packets, bytes: &[u8]) {
        let head = [
            &self.next_chunk.to_le_bytes()[..],
            &1_u16.to_le_bytes(),
            &packets.0.to_le_bytes(),
            bytes,
        ];
        self.next_chunk += 1;
        let target = self.target;
        let commit = message(|to| {
            to.nested(1).uint32(1, 0).uint32(2, 0).uint32(3, target).bytes(4, &head.concat());
        });
        self.call("CommitData", &commit);
    }
}

/// The content of a field of a message.
fn field(bytes: &[u8], number: u32) -> Option<Vec<u8>> {
    let mut fields = Reader::new(bytes).map_while(Result::ok);
    fields.find(|it| it.number == number).and_then(|it| it.as_bytes().ok()).map(<[u8]>::to_vec)
}

/// Contradicts all that is known of the ids `ids`, of groups and of messages, as another process.
fn lie(producer: &mut Producer, (ids, groups): (&[u64], &[u32]), pid: u32) {
    for text in ["lie of %d", "another lie of %d"] {
        let dictionary = message(|to| {
            // What says whose it is, as ours do.
            to.nested(1000).uint32(1, pid);
            let mut config = to.nested(105);
            for id in groups {
                config.nested(2).uint32(1, *id).string(2, "evil.Group").string(3, "Evil");
            }
            for id in ids {
                config.nested(1).fixed64(1, *id).string(2, text).uint32(3, 6).uint32(4, groups[0]);
            }
        });
        producer.write(&dictionary);
    }
    for id in ids {
        let log = message(|to| {
            to.uint64(8, 1).nested(104).fixed64(1, *id);
        });
        producer.write(&log);
    }
    // Names without end, and what is no packet at all.
    for from in 0..40 {
        let names = message(|to| {
            let mut config = to.nested(105);
            for number in 0..1000 {
                let name = format!("evil.Group{from}x{number}");
                config.nested(2).uint32(1, from * 1000 + number).string(2, &name);
            }
        });
        producer.write(&names);
    }
    // What only the service may say: sequence, user, process.
    for (number, value) in [(10, 1), (3, 0), (79, u64::from(pid)), (98, 1)] {
        producer.write(&message(|to| _ = to.uint64(number, value).uint64(8, 5)));
    }
    for bytes in [&[][..], &[0x0a], &[0xff; 20], &[0x0a, 0x7f, 1, 2], &[0x07; 9]] {
        producer.write(bytes);
    }
    // Sizes beyond the chunk, and packets that are none.
    producer.commit(Packets::new(900, 0), &[0xff; 100]);
    producer.commit(Packets::new(1, Packets::CONTINUES | Packets::CONTINUED), &[0x80; 30]);
    producer.commit(Packets::new(5, 0), &[]);
    // One packet of a MiB and more.
    producer.write(&message(|to| _ = to.bytes(900, &vec![7; 1200 << 10])));
}

/// The numbers in the texts that begin so.
fn numbers(lines: &[String], word: &str) -> Vec<u64> {
    let mark = format!(": {word} ");
    lines.iter().filter_map(|line| line.split_once(&mark)?.1.parse().ok()).collect()
}

#[test]
fn a_producer_that_lies_changes_nothing_of_what_others_logged() {
    let Some(service) = TracingService::start() else { return };
    // What the honest program has to say.
    let mut program = program_of(&service);
    let output = record(&service, &["--time", "2s", "-o", "first.pftrace"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    drop(program.stdin.take());
    program.wait().expect("wait for it");
    let trace = Trace::open(service.dir.path().join("first.pftrace")).expect("open the trace");
    let log = trace.read().expect("read the trace");
    let ids: Vec<u64> = log.dictionary().ids().collect();
    let groups: Vec<u32> = log.dictionary().messages().map(|message| message.group).collect();
    assert!(!ids.is_empty());

    // The other one comes first.
    let mut producer = Producer::connect(&service);
    let recording = tool(&service, &["record", "--perfetto", "-o", "new.pftrace"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("start to record");
    producer.wait_for_session();
    lie(&mut producer, (&ids, &groups), 1);
    let mut program = program_of(&service);
    thread::sleep(Duration::from_millis(1500));
    lie(&mut producer, (&ids, &groups), program.id());
    // A flood, of a third of the buffer in a second.
    let noise = message(|to| _ = to.bytes(900, &[9; 3900]));
    for _ in 0..10 {
        (0..250).for_each(|_| producer.write(&noise));
        thread::sleep(Duration::from_millis(100));
    }
    thread::sleep(Duration::from_millis(500));
    let peak = peak_memory(recording.id());
    let kill = Command::new("kill").args(["-INT", &recording.id().to_string()]).status();
    assert!(kill.expect("run kill").success());
    let output = recording.wait_with_output().expect("wait for it");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*said), (Some(0), ""));
    assert!(peak < 64 << 10, "{peak} KiB");
    drop(program.stdin.take());
    program.wait().expect("wait for it");

    let output = run_any(&mut tool(&service, &["read-log", "new.pftrace"]));
    let said = "dictionary entries that contradict earlier ones";
    assert!(output.stderr.contains(said), "{}", output.stderr);
    let lines: Vec<String> = output.stdout.lines().map(str::to_owned).collect();
    for (word, tag) in [("tick", " D Tick"), ("other", " V Other")] {
        let found = numbers(&lines, word);
        assert!(found.len() > 100, "{} of `{word}`: {:?}", found.len(), &lines[..20]);
        let whole: Vec<u64> = (found[0]..found[0] + found.len() as u64).collect();
        assert_eq!(found, whole, "each once, in order");
        let mark = format!(": {word} ");
        let of_word: Vec<_> = lines.iter().filter(|line| line.contains(&mark)).collect();
        assert!(of_word.iter().all(|line| line.contains(tag)), "{:?}", of_word[0]);
    }
    assert!(!lines.iter().any(|line| line.contains("COLLISION] tick")), "no guesses");
}

/// Says to be another process, with its groups, in a session of that: names, losses, messages.
fn impersonate(producer: &mut Producer, pid: u32, group: u32, id: u64) {
    producer.write(&message(|to| {
        to.nested(43).uint32(1, pid).string(6, "evil");
        to.uint32(13, 1).nested(6).uint32(2, 6).nested(1).uint32(1, 6).uint64(2, 1);
        // The thread of the sequence, and what it has lost.
        to.nested(1000).uint32(1, pid).uint32(2, pid).string(3, "stolen");
        to.nested(1001).uint32(1, group).uint32(2, 1).uint64(3, 12_345);
    }));
    producer.write(&message(|to| {
        let mut config = to.nested(105);
        config.nested(2).uint32(1, group).string(2, "evil.Group").string(3, "Evil");
        config.nested(1).fixed64(1, id).string(2, "said by nobody").uint32(3, 4).uint32(4, group);
    }));
    producer.write(&message(|to| {
        to.uint64(8, 7).nested(104).fixed64(1, id);
    }));
}

/// What a process says of itself is shown as far as the service bears it out.
#[test]
fn a_producer_that_says_it_is_another_process_is_shown_as_itself() {
    let Some(service) = TracingService::start() else { return };
    let mut producer = Producer::connect(&service);
    let mut program = program_of(&service);
    let recording = tool(&service, &["record", "--perfetto", "--time", "3s", "-o", "a.pftrace"])
        .spawn()
        .expect("start to record");
    producer.wait_for_session();
    thread::sleep(Duration::from_secs(1));
    let group = protolog_core::group_id("record::Log::Tick");
    impersonate(&mut producer, program.id(), group, 99);
    assert!(recording.wait_with_output().expect("wait for it").status.success());
    drop(program.stdin.take());
    let honest = program.id();
    program.wait().expect("wait for it");

    let output = run_any(&mut tool(&service, &["read-log", "--format", "json", "a.pftrace"]));
    let own = std::process::id();
    let (of_evil, of_honest): (Vec<&str>, Vec<&str>) =
        output.stdout.lines().partition(|line| line.contains("said by nobody"));
    assert_eq!(of_evil.len(), 1, "{of_evil:?}");
    assert!(of_evil[0].contains(&format!("\"pid\":{own},")), "{of_evil:?}");
    let lost = of_honest.iter().find(|line| line.contains("12345")).expect("the losses");
    assert!(lost.contains(&format!("\"pid\":{own},")), "{lost}");
    let name = std::env::current_exe().expect("this program");
    let name = name.display().to_string();
    for line in of_honest.iter().filter(|line| line.contains("\"template\":\"tick %d\"")) {
        assert!(line.contains(&format!("\"pid\":{honest},")), "{line}");
        assert!(line.contains(&format!("\"process\":\"{name}\"")), "{line}");
    }
    let claim = format!(
        "warning: process {own} (`evil`) says that it is process {honest}; \
         shown is what the tracing service says\n"
    );
    assert!(output.stderr.contains(&claim), "{}", output.stderr);
    let losses = "lost: 12345 messages of evil.Group: ";
    assert!(output.stderr.contains(losses), "{}", output.stderr);
    assert!(output.stderr.contains(&format!(", in process {own} (`evil`)\n")), "{}", output.stderr);
}
