//! Log calls in a program as users build it, to measure them and for valgrind to count: in the
//! messages and loops of `protolog-bench`.
//!
//! ```text
//! measure CANDIDATE SHAPE FILE  see the harness: a round of `protolog`, which streams, or `recorder`
//! serve protolog SHAPE …        the same: messages to a tracing service
//! kill CANDIDATE FILE           the same: messages before a sudden end
//! turns CANDIDATE TURNS         a loop with nothing, or with a call that writes nothing
//! calls CASE CALLS              calls that are switched on, to a ring in memory
//! first FILE                    nanoseconds of the first and second call of a thread, and of a site
//! chunks stream|recorder FILE   nanoseconds of a call, and of one that takes a chunk
//! sustained FILE THREADS MESSAGES   messages a second, CPU of all threads for each
//! resident FILE                 KiB that a session and its first message make resident
//! ```
//!
//! The calls that `protolog-bench` counts are compiled together with the runtime. Here the runtime
//! is another crate's code: the parts that a call is to have in line must be generic or `inline`,
//! and statics of the runtime have addresses that only the linker knows.

mod single;

use harness::{Calls, Candidate, Joined, JoinedCandidate, Logger, Shape, with_calls};
use protolog_rt::{Builder, Init, Level, ProtoLogGroup, Request, Session, d, e, i, span};
use std::hint::black_box;
use std::marker::PhantomData;
use std::path::Path;
use std::process::ExitCode;

/// Size of the ring, in bytes.
const BUFFER: usize = 256 << 10;

/// Messages before those that count: the thread's first chunks are smaller.
const WARM_UP: u64 = 1_000;

/// Texts in turn, more than a chunk holds: by the time one is logged again, its chunk is long gone.
const TEXTS: usize = 1024;

#[derive(ProtoLogGroup)]
enum Group {
    On,
    Off,
    Other,
    Ruled,
    Sampled,
    Bytes,
    Limited,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if harness::run(&words, &CANDIDATES)
        || harness::run_joined(&words, &JOINED)
        || run(&words).is_some()
    {
        return ExitCode::SUCCESS;
    }
    eprintln!("error: no such thing to measure or count: `{}`", words.join(" "));
    eprintln!("help: use `cargo xtask bench runtime` or `cargo xtask test instructions`");
    ExitCode::from(2)
}

const CANDIDATES: [Candidate; 2] =
    [Candidate::new::<User<Stream>>("protolog"), Candidate::new::<User<Recorder>>("recorder")];

const JOINED: [JoinedCandidate; 1] = [JoinedCandidate::new::<User<Producer>>("protolog")];

fn run(words: &[String]) -> Option<()> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["turns", name, turns] => turns_of(name, turns.parse().ok()?),
        ["calls", case, calls] => calls_of(case, calls.parse().ok()?),
        _ => single::run(&words),
    }
}

/// Repeats a call; valgrind counts what happens in here.
#[inline(never)]
fn counted(turns: u64, mut call: impl FnMut(u64)) {
    for number in 0..turns {
        call(number);
        black_box(());
    }
}

fn turns_of(name: &str, turns: u64) -> Option<()> {
    // The groups have registered, and no session wants them.
    drop(Session::builder().file("/dev/null").start());
    match name {
        "empty" => counted(turns, |_| ()),
        "protolog" => counted(turns, |_| d!(Group::Off, "%d %d", 5, 7)),
        "span" => counted(turns, |_| drop(span!(Group::Off, "%d %d", 5, 7))),
        "ruled" => {
            let session = recorded(|builder| builder.log_from(Level::Wtf));
            rule_another();
            counted(turns, |_| d!(Group::Ruled, "%d %d", 5, 7));
            drop(session);
        }
        "passed-over" => {
            let session =
                recorded(|builder| builder.enable_all().sample("Group::Sampled", "1/1000000"));
            counted(turns, |_| d!(Group::Sampled, "%d %d", 5, 7));
            drop(session);
        }
        "passed-over-bytes" => {
            let session =
                recorded(|builder| builder.enable_all().sample("Group::Bytes", "1/500MiB"));
            counted(turns, |_| d!(Group::Bytes, "%d %d", 5, 7));
            drop(session);
        }
        "suppressed" => {
            let session =
                recorded(|builder| builder.enable_all().limit("Group::Limited", "1/h burst 1"));
            counted(turns, |_| d!(Group::Limited, "%d %d", 5, 7));
            drop(session);
        }
        _ => return None,
    }
    Some(())
}

/// Has a rule switch on another call of the group, which is never made.
fn rule_another() {
    let dir = tempfile::tempdir().expect("make a temporary directory");
    let file = dir.path().join("settings");
    std::fs::write(&file, "site \"another call\"=on\n").expect("write settings");
    let init = Init::new().control(false).persistent_settings(false).config_file(&file);
    init.groups::<Group>().start().expect("apply settings");
    if black_box(false) {
        d!(Group::Ruled, "another call");
    }
    assert!(Group::Ruled.is_enabled(Level::Debug), "the other call is on");
}

/// A session. It keeps the newest messages, so that there is no other thread.
fn recorded(configure: impl FnOnce(Builder) -> Builder) -> Session {
    let builder = Session::builder().file("/dev/null").keep_newest();
    configure(builder).start().expect("start a session")
}

fn calls_of(case: &str, calls: u64) -> Option<()> {
    let dir = tempfile::tempdir().expect("make a temporary directory");
    if case == "limited" {
        // More than any loop makes. A rule is the program's, whichever session it comes with.
        drop(recorded(|builder| builder.enable_all().limit("verbose", "1000000/s burst 1000000")));
    }
    let logger = User::<Ring>::open(&dir.path().join("one"));
    let second = (case == "two-sessions").then(|| User::<Ring>::open(&dir.path().join("two")));
    let texts = |bytes: usize| -> Vec<String> {
        (0..TEXTS).map(|number| format!("{:0bytes$}", number * 7919)).collect()
    };
    let requests = ["GET /index.html", "GET /cart"].map(Request::new);
    let new = |texts: &[String]| {
        Repeat(calls).run(|number| logger.int_and_text(number, &texts[number as usize % TEXTS]));
    };
    match case {
        "two-sessions" | "limited" => with_calls(&logger, Shape::TwoInts, Repeat(calls)),
        "new-8" => new(&texts(8)),
        "new-40" => new(&texts(40)),
        "span-two-ints" => Repeat(calls).run(|number| {
            let _span = span!(Group::On, "request %d of %d", number, 7_u64);
        }),
        "span-text" => Repeat(calls).run(|_| {
            let _span = span!(Group::On, "request %s", path = "/index.html");
        }),
        "request" => Repeat(calls).run(|number| {
            // Each has a mark.
            let _scope = requests[number as usize % 2].enter();
            i!(Group::On, "request %d of %d", number, 7_u64);
        }),
        _ => with_calls(&logger, Shape::of(case)?, Repeat(calls)),
    }
    if let Some(second) = second {
        second.close();
    }
    logger.close();
    Some(())
}

struct Repeat(u64);

impl Calls for Repeat {
    type Output = ();

    fn run(self, mut call: impl FnMut(u64)) {
        for number in 0..WARM_UP {
            call(number);
        }
        counted(self.0, call);
    }
}

/// A kind of session.
trait Kind {
    const MAKES_TRACE: bool = true;

    fn start(path: &Path) -> Option<Session>;
}

/// Streams to a file.
struct Stream;

impl Kind for Stream {
    fn start(path: &Path) -> Option<Session> {
        let session = Session::builder().file(path).log_from(Level::Info).start();
        Some(session.expect("start a session"))
    }
}

/// Keeps the newest messages in a recording. It makes no trace, so nothing has to settle.
struct Recorder;

impl Kind for Recorder {
    const MAKES_TRACE: bool = false;

    fn start(path: &Path) -> Option<Session> {
        let session = Session::builder().record_at(path).enable_all().start();
        Some(session.expect("start a session"))
    }
}

/// Keeps the newest messages in memory, so that no thread but the caller's runs.
struct Ring;

impl Kind for Ring {
    fn start(path: &Path) -> Option<Session> {
        let session = Session::builder().file(path).enable_all().keep_newest().buffer_size(BUFFER);
        Some(session.start().expect("start a session"))
    }
}

/// Leaves sessions to a tracing service.
struct Producer;

impl Kind for Producer {
    const MAKES_TRACE: bool = false;

    fn start(_: &Path) -> Option<Session> {
        None
    }
}

struct User<K>(Option<Session>, PhantomData<K>);

impl Joined for User<Producer> {
    fn join() {
        protolog_rt::producer::connect();
    }

    fn is_enabled() -> bool {
        Group::On.is_enabled(Level::Info)
    }
}

/// Calls that nobody makes. As in a program, there are several of the same types.
#[cold]
fn others(number: u64, text: &str) {
    e!(Group::Other, "%d, %d", number, number);
    e!(Group::Other, "%d, %s", number, text);
    e!(Group::Other, "%d, %d, %f", number, number, number as f64);
    e!(Group::Other, "%s", text);
    let _span = span!(Group::Other, "other %d %d", number, number);
    let _span = span!(Group::Other, "other %s", text);
}

impl<K: Kind> Logger for User<K> {
    fn open(path: &Path) -> Self {
        if black_box(false) {
            others(black_box(1), black_box(""));
        }
        Self(K::start(path), PhantomData)
    }

    #[inline]
    fn two_ints(&self, number: u64, of: u64) {
        i!(Group::On, "%d of %d", number, of);
    }

    #[inline]
    fn int_and_text(&self, number: u64, of: &str) {
        i!(Group::On, "%d of %s", number, of);
    }

    #[inline]
    fn two_ints_and_float(&self, number: u64, of: u64, time: f64) {
        i!(Group::On, "%d of %d in %f", number, of, time);
    }

    #[inline]
    fn long_text(&self, text: &str) {
        i!(Group::On, "text %s", text);
    }

    fn settle(&mut self) {
        if let Some(session) = self.0.as_ref().filter(|_| K::MAKES_TRACE) {
            session.flush().expect("write the trace");
        }
    }

    fn close(self) {
        if let Some(session) = self.0.filter(|_| K::MAKES_TRACE) {
            session.stop().expect("complete the trace");
        }
    }
}
