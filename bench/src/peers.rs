//! The peers that are written in Rust: `log` to a file, and `tracing` to a file. Only with the
//! feature `peers`, since what they need takes longer to compile than all else here.

use flexi_logger::{FileSpec, LoggerHandle, WriteMode};
use harness::{Candidate, Logger};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};

use crate::counted;

/// All of them.
pub(crate) const ALL: [Candidate; 2] =
    [Candidate::new::<Log>("log"), Candidate::new::<Tracing>("tracing")];

/// The name of a loop of so many turns, and the loop.
pub(crate) type OffLoop = (&'static str, fn(u64));

/// Loops with calls that are switched off, see [`crate::off`].
pub(crate) const OFF: [OffLoop; 2] = [
    ("log", |turns| counted(turns, |_| log::debug!("{} {}", 5, 7))),
    ("tracing", |turns| counted(turns, |_| tracing::debug!("{} {}", 5, 7))),
];

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
