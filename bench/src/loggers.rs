//! The candidates that are written in Rust alone: the clock as the floor, protolog, `log` and `tracing`.

use flexi_logger::{FileSpec, LoggerHandle, WriteMode};
use harness::{Candidate, Logger};
use protolog_rt::{Level, ProtoLogGroup, Session, e, i};
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};

/// All of them.
pub(crate) const ALL: [Candidate; 5] = [
    Candidate::new::<Clock>("clock"),
    Candidate::new::<Protolog>("protolog"),
    Candidate::new::<Recorded>("recorder"),
    Candidate::new::<Log>("log"),
    Candidate::new::<Tracing>("tracing"),
];

/// Reads the clock and does nothing else.
struct Clock;

impl Clock {
    #[inline]
    fn read() {
        black_box(Instant::now());
    }
}

impl Logger for Clock {
    fn open(_: &Path) -> Self {
        Self
    }

    fn two_ints(&self, _: u64, _: u64) {
        Self::read();
    }

    fn int_and_text(&self, _: u64, _: &str) {
        Self::read();
    }

    fn two_ints_and_float(&self, _: u64, _: u64, _: f64) {
        Self::read();
    }

    fn long_text(&self, _: &str) {
        Self::read();
    }
}

#[derive(ProtoLogGroup)]
enum Bench {
    On,
    Other,
}

/// Calls that nobody makes. As in a program, there are several of the same types: if there were one, the compiler would put
/// its constants and its arguments into the function that all of them share.
#[cold]
fn others(number: u64, text: &str) {
    e!(Bench::Other, "%d, %d", number, number);
    e!(Bench::Other, "%d, %s", number, text);
    e!(Bench::Other, "%d, %d, %f", number, number, number as f64);
    e!(Bench::Other, "%s", text);
}

/// A session that streams to a file.
pub(crate) struct Protolog(pub(crate) Session);

impl Logger for Protolog {
    fn open(path: &Path) -> Self {
        if black_box(false) {
            others(black_box(1), black_box(""));
        }
        let session = Session::builder().file(path).log_from(Level::Info).start();
        Self(session.expect("start a session"))
    }

    #[inline]
    fn two_ints(&self, number: u64, of: u64) {
        i!(Bench::On, "%d of %d", number, of);
    }

    #[inline]
    fn int_and_text(&self, number: u64, of: &str) {
        i!(Bench::On, "%d of %s", number, of);
    }

    #[inline]
    fn two_ints_and_float(&self, number: u64, of: u64, time: f64) {
        i!(Bench::On, "%d of %d in %f", number, of, time);
    }

    #[inline]
    fn long_text(&self, text: &str) {
        i!(Bench::On, "text %s", text);
    }

    fn settle(&mut self) {
        self.0.flush().expect("write the trace");
    }

    fn close(self) {
        self.0.stop().expect("complete the trace");
    }
}

/// A session that records: a ring in a file. It makes no trace, so nothing has to settle.
struct Recorded(Protolog);

impl Logger for Recorded {
    fn open(path: &Path) -> Self {
        let session = Session::builder().record_at(path).enable_all().start();
        Self(Protolog(session.expect("start a session")))
    }

    #[inline]
    fn two_ints(&self, number: u64, of: u64) {
        self.0.two_ints(number, of);
    }

    #[inline]
    fn int_and_text(&self, number: u64, of: &str) {
        self.0.int_and_text(number, of);
    }

    #[inline]
    fn two_ints_and_float(&self, number: u64, of: u64, time: f64) {
        self.0.two_ints_and_float(number, of, time);
    }

    #[inline]
    fn long_text(&self, text: &str) {
        self.0.long_text(text);
    }
}

/// `log` through flexi_logger, which gathers in memory and writes on the calling thread.
struct Log(LoggerHandle);

impl Logger for Log {
    fn open(path: &Path) -> Self {
        let file = FileSpec::try_from(path).expect("a file name");
        let logger = flexi_logger::Logger::with(log::LevelFilter::Info)
            .log_to_file(file)
            .format_for_files(flexi_logger::detailed_format)
            .write_mode(WriteMode::BufferDontFlush);
        Self(logger.start().expect("start the logger"))
    }

    fn two_ints(&self, number: u64, of: u64) {
        log::info!("{number} of {of}");
    }

    fn int_and_text(&self, number: u64, of: &str) {
        log::info!("{number} of {of}");
    }

    fn two_ints_and_float(&self, number: u64, of: u64, time: f64) {
        log::info!("{number} of {of} in {time:.6}");
    }

    fn long_text(&self, text: &str) {
        log::info!("text {text}");
    }

    fn settle(&mut self) {
        self.0.flush();
    }

    fn close(self) {
        self.0.shutdown();
    }
}

/// `tracing` through tracing-appender's thread.
struct Tracing {
    path: PathBuf,
    _guard: WorkerGuard,
}

impl Logger for Tracing {
    fn open(path: &Path) -> Self {
        let file = fs::File::create(path).expect("make a log file");
        let (writer, guard) = NonBlockingBuilder::default().lossy(true).finish(file);
        tracing_subscriber::fmt().with_writer(writer).with_ansi(false).init();
        Self { path: path.to_path_buf(), _guard: guard }
    }

    fn two_ints(&self, number: u64, of: u64) {
        tracing::info!("{number} of {of}");
    }

    fn int_and_text(&self, number: u64, of: &str) {
        tracing::info!("{number} of {of}");
    }

    fn two_ints_and_float(&self, number: u64, of: u64, time: f64) {
        tracing::info!("{number} of {of} in {time:.6}");
    }

    fn long_text(&self, text: &str) {
        tracing::info!("text {text}");
    }

    /// Waits until the file does not grow any more.
    fn settle(&mut self) {
        let size = || fs::metadata(&self.path).map_or(0, |metadata| metadata.len());
        let mut before = size();
        loop {
            std::thread::sleep(Duration::from_millis(50));
            let now = size();
            if now == before {
                return;
            }
            before = now;
        }
    }
}
