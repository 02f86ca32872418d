//! Datagrams, byte for byte, as a socket in the daemon's place gets them.

use super::*;
use crate::text::{Journald, Syslog};
use protolog_testkit::{TempDir, temp_dir_for_sockets};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

/// The daemon's place, in a directory of the test's own.
struct Listener {
    directory: TempDir,
    socket: Option<UnixDatagram>,
}

impl Listener {
    fn new() -> Self {
        Self { directory: temp_dir_for_sockets(), socket: None }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("logdw")
    }

    fn start(&mut self) -> &mut Self {
        let socket = UnixDatagram::bind(self.path()).unwrap();
        // Datagrams arrive at once.
        socket.set_nonblocking(true).unwrap();
        self.socket = Some(socket);
        self
    }

    fn stop(&mut self) {
        self.socket = None;
        std::fs::remove_file(self.path()).unwrap();
    }

    /// Datagrams since the last call.
    fn received(&self) -> Vec<Vec<u8>> {
        let (mut all, mut buffer) = (Vec::new(), [0; 1 << 13]);
        let socket = self.socket.as_ref().unwrap();
        while let Ok(length) = socket.recv(&mut buffer) {
            all.push(buffer[..length].to_vec());
        }
        all
    }

    /// Payloads of the datagrams since the last call; their headers are checked.
    fn payloads(&self) -> Vec<Vec<u8>> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let received = self.received();
        let payload = |datagram: Vec<u8>| {
            let (header, payload) = datagram.split_at(HEADER);
            assert_eq!(header[..3], [[MAIN].as_slice(), &tid()].concat());
            let seconds = u32::from_le_bytes(header[3..7].try_into().unwrap());
            assert!((0..60).contains(&(now.as_secs() - u64::from(seconds))), "{header:?}");
            assert!(u32::from_le_bytes(header[7..].try_into().unwrap()) < 1_000_000_000);
            payload.to_vec()
        };
        received.into_iter().map(payload).collect()
    }
}

fn tid() -> [u8; 2] {
    let path = std::fs::read_link("/proc/thread-self").unwrap();
    let id: u32 = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
    (id as u16).to_le_bytes()
}

fn line(text: &str) -> TextLine<'_> {
    TextLine::new(Level::Info, "Net", text)
}

#[test]
fn each_level_has_androids_priority() {
    let mut daemon = Listener::new();
    let logd = Logd::connect_to(daemon.start().path()).unwrap();
    for level in Level::ALL {
        logd.show(&TextLine::new(level, "Net", "sent 7 €"));
    }
    let expected: Vec<Vec<u8>> =
        (2..=7).map(|level| [&[level], "Net\0sent 7 €\0".as_bytes()].concat()).collect();
    assert_eq!(daemon.payloads(), expected);
    assert_eq!(Level::ALL.map(priority), [2, 3, 4, 5, 6, 7]);
    assert_eq!((Level::Verbose, Level::Wtf), (Level::ALL[0], Level::ALL[5]));
    assert_eq!(logd.dropped(), 0);
    assert!(Logd::connect_to(daemon.directory.path().join("nobody")).is_err());
}

#[test]
fn what_would_end_a_text_is_shown() {
    let mut daemon = Listener::new();
    let logd = Logd::connect_to(daemon.start().path()).unwrap();
    logd.show(&TextLine { tag: "a\0b\nc", ..line("x\0y\tz\u{202e}\n") });
    logd.show(&TextLine { tag: &"€".repeat(200), ..line("") });
    let long = ["\x04".to_owned(), "€".repeat(TAG_MAX), "\0\0".to_owned()].concat();
    assert_eq!(
        daemon.payloads(),
        [b"\x04abc\0x\\u{0}y\tz\\u{202e}\n\0".to_vec(), long.into_bytes()]
    );
}

#[test]
fn long_texts_are_parted_and_nothing_is_lost() {
    let mut daemon = Listener::new();
    let logd = Logd::connect_to(daemon.start().path()).unwrap();
    // Level, tag and two NULs take 6 bytes.
    let room = PAYLOAD - 6;
    for char in ["x", "é", "€", "🦀", "\0"] {
        let size = if char == "\0" { 5 } else { char.len() };
        let fits = room / size;
        for count in [fits - 1, fits, fits + 1, fits + 2, 2 * fits, 3 * fits] {
            let text = char.repeat(count);
            logd.show(&line(&text));
            let parts = daemon.payloads();
            assert_eq!(parts.len() == 1, count <= fits, "{char:?} {count}");
            let mut whole = String::new();
            for (at, part) in parts.iter().enumerate() {
                assert!(part.len() <= PAYLOAD, "{char:?} {count}");
                let part = std::str::from_utf8(part).expect("parted between characters");
                let part = part.strip_prefix("\x04Net\0").and_then(|part| part.strip_suffix('\0'));
                let part = part.expect("head and end");
                let part = if at > 0 { part.strip_prefix('…').unwrap() } else { part };
                let last = at + 1 == parts.len();
                assert!(last || part.len() > PAYLOAD - 20, "{char:?} {count}");
                whole += if last { part } else { part.strip_suffix('…').unwrap() };
            }
            assert_eq!(whole, text.replace('\0', "\\u{0}"), "{char:?} {count}");
        }
    }
}

#[test]
fn long_texts_are_parted_between_lines_where_that_is_near() {
    let mut daemon = Listener::new();
    let logd = Logd::connect_to(daemon.start().path()).unwrap();
    let (one, two) = ("a".repeat(3000), "b".repeat(2000));
    logd.show(&line(&format!("{one}\n{two}\n")));
    let expected = [format!("\x04Net\0{one}\0"), format!("\x04Net\0{two}\n\0")];
    assert_eq!(daemon.payloads(), expected.map(String::into_bytes));
    // One that ends early does not cost the rest of the room.
    logd.show(&line(&format!("a\n{}", "b".repeat(5000))));
    let lengths: Vec<_> = daemon.payloads().iter().map(Vec::len).collect();
    assert_eq!(lengths[0], PAYLOAD);
}

/// The count of messages that were dropped, as the log `events` has it.
fn report_of(count: u32) -> Vec<u8> {
    [&[0xee, 0x03, 0, 0, 0][..], &count.to_le_bytes()].concat()
}

#[test]
fn drops_are_reported_to_a_restarted_daemon() {
    let mut daemon = Listener::new();
    let logd = Logd::connect_to(daemon.start().path()).unwrap();
    logd.show(&line("one"));
    assert_eq!(daemon.payloads().len(), 1);
    daemon.stop();
    logd.show(&line("two"));
    logd.show(&line("three"));
    assert_eq!(logd.dropped(), 2);
    daemon.start();
    logd.show(&line("four"));
    logd.show(&line("five"));
    let received = daemon.received();
    assert_eq!(received.len(), 3);
    assert_eq!((received[0][0], &received[0][HEADER..]), (EVENTS, &report_of(2)[..]));
    assert_eq!((received[1][0], &received[1][HEADER..]), (MAIN, &b"\x04Net\0four\0"[..]));
    assert_eq!(&received[2][HEADER..], b"\x04Net\0five\0");
    assert_eq!(logd.dropped(), 2);
}

#[test]
fn a_daemon_that_does_not_keep_up_holds_nobody_up() {
    let mut daemon = Listener::new();
    let logd = Logd::connect_to(daemon.start().path()).unwrap();
    const MESSAGES: u64 = 10_000;
    for _ in 0..MESSAGES {
        // Would wait for ever, if it waited: nobody reads.
        logd.show(&line("flood"));
    }
    let taken = daemon.received().len() as u64;
    assert_eq!(taken + logd.dropped(), MESSAGES);
    assert!(taken > 0 && logd.dropped() > 0);
    logd.show(&line("after"));
    let received = daemon.received();
    assert_eq!(&received[0][HEADER..], report_of(logd.dropped() as u32));
    assert_eq!(&received[1][HEADER..], b"\x04Net\0after\0");
}

#[test]
fn a_daemon_that_comes_late_is_found() {
    let mut daemon = Listener::new();
    let logd = Logd::new(Daemon::later(&daemon.path()).unwrap());
    logd.show(&line("nobody"));
    daemon.start();
    logd.show(&line("somebody"));
    assert_eq!(logd.dropped(), 1);
    assert_eq!(daemon.received().len(), 2);
}

#[test]
fn other_daemons_that_are_started_anew_are_found_too() {
    let mut daemon = Listener::new();
    daemon.start();
    let sinks: [Box<dyn TextSink>; 2] = [
        Box::new(Syslog::connect_to(daemon.path()).unwrap()),
        Box::new(Journald::connect_to(daemon.path()).unwrap()),
    ];
    daemon.stop();
    for sink in &sinks {
        sink.show(&line("nobody"));
    }
    daemon.start();
    for sink in &sinks {
        sink.show(&line("somebody"));
    }
    let received = daemon.received();
    assert_eq!(received.len(), 2);
    for datagram in received {
        assert!(String::from_utf8_lossy(&datagram).contains("somebody"));
    }
}
