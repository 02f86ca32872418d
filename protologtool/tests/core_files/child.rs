//! The process that leaves a core file: this program, run again.
//!
//! Each thread counts its messages whose call has returned, behind a marker that the core file has,
//! too.

use protolog_rt::{Level, Pinned, ProtoLogGroup, Session, d, e};
use protolog_testkit::temp_dir;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, thread};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
    Other,
}

/// The way in which the process logs.
const KIND: &str = "PROTOLOG_TEST_CORE_KIND";
/// Two numbers that nothing else has in its memory.
const MARKER: &str = "PROTOLOG_TEST_CORE_MARKER";

pub(crate) const THREADS: usize = 4;
/// Every so many messages one is an error.
pub(crate) const ERRORS: u64 = 500;

/// The marker, then the messages of each thread whose call has returned.
static RETURNED: [AtomicU64; THREADS + 2] = [const { AtomicU64::new(0) }; THREADS + 2];

/// A process that logs.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) dir: tempfile::TempDir,
    marker: [u64; 2],
}

/// Where this program is the process: logs in its way until it dies.
pub(crate) fn run_if_child() {
    let Some(kind) = env::var(KIND).ok() else { return };
    let marker = env::var(MARKER).expect("a marker");
    for (word, number) in RETURNED.iter().zip(marker.split(' ')) {
        word.store(number.parse::<u64>().expect("a number") ^ u64::MAX, Ordering::Relaxed);
    }
    setrlimit(Resource::Core, Rlimit { current: None, maximum: None }).expect("core files");
    let builder = Session::builder().enable_all().file("out.pftrace");
    let builder = builder.buffer_size(128 << 10).max_string_bytes(16 << 10);
    let _session = match kind.as_str() {
        "pinned" => builder.pin(Pinned::new().level(Level::Error)).start(),
        "sampled" => builder.keep_newest().sample("Work", "1/10").start(),
        "limited" => builder.keep_newest().limit("Work", "20000/s burst 1000").start(),
        "stream" => builder.without_recording().start(),
        "recording" => Session::builder().enable_all().record_at("protolog-app.rec").start(),
        "ended" => builder.keep_newest().start().and_then(|session| {
            d!(Log::Work, "thread %d number %d: %s", 0, 0, "");
            session.stop().map(|_| ())?;
            Session::builder().enable_all().record_at("protolog-app.rec").start()
        }),
        _ => builder.keep_newest().start(),
    }
    .expect("start a session");
    let _second = (kind == "two").then(|| {
        let builder = Session::builder().group("Other", Level::Debug).file("other.pftrace");
        builder.keep_newest().start().expect("start a session")
    });
    for thread in 0..THREADS as u64 {
        thread::spawn(move || work(thread, &kind_of(thread)));
    }
    if kind == "two" {
        d!(Log::Other, "once, to both");
    }
    while RETURNED[2..].iter().any(|it| it.load(Ordering::Relaxed) < 3000) {
        thread::yield_now();
    }
    println!("ready");
    loop {
        thread::park();
    }
}

/// A string that the messages of a thread have: of one thread so long that they take several
/// chunks.
fn kind_of(thread: u64) -> String {
    "x".repeat(if thread == 0 { 9000 } else { 10 * thread as usize })
}

fn work(thread: u64, text: &str) {
    for number in 0.. {
        if number % ERRORS == 7 {
            e!(Log::Work, "thread %d number %d: %s", thread, number, "error");
        } else if number % 10 == 0 {
            d!(Log::Work, "thread %d number %d: %s", thread, number, text);
        } else {
            d!(Log::Work, "thread %d number %d: %s", thread, number, "");
        }
        RETURNED[thread as usize + 2].store(number + 1, Ordering::Relaxed);
    }
}

impl Running {
    /// Starts the process, and waits until its rings are full.
    pub(crate) fn start(test: &str, kind: &str, random: [u64; 2]) -> Self {
        let dir = temp_dir();
        let mut command = Command::new(env::current_exe().expect("this program"));
        command.args(["--exact", test, "--nocapture"]).current_dir(dir.path()).env(KIND, kind);
        command.env(MARKER, format!("{} {}", random[0], random[1]));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("start a process");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        while lines.next().expect("it gets ready").expect("a line") != "ready" {}
        Self { child, dir, marker: random.map(|word| word ^ u64::MAX) }
    }

    /// Has the kernel write a core file. None where it writes them elsewhere.
    pub(crate) fn die(&mut self) -> Option<PathBuf> {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::ABORT).expect("a process of this test");
        self.child.wait().expect("wait for it");
        let entries = fs::read_dir(self.dir.path()).expect("a directory");
        let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        paths.find(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("core"))
        })
    }

    /// The messages of each thread whose call had returned, as the core file has them.
    pub(crate) fn returned(&self, core: &Path) -> [u64; THREADS] {
        let bytes = fs::read(core).expect("the core file");
        let marker = self.marker.map(u64::to_ne_bytes).concat();
        let at = memchr::memmem::find(&bytes, &marker).expect("the marker") + marker.len();
        std::array::from_fn(|thread| {
            let word = bytes[at + 8 * thread..].first_chunk().expect("counters");
            u64::from_ne_bytes(*word)
        })
    }
}
