//! The candidates: the clock alone, protolog, `log` and `tracing`, each with a file of its own.

use crate::measure::{Figures, IN_BURSTS, bursts, cpu, looped};
use flexi_logger::writers::{FileLogWriter, LogWriter};
use flexi_logger::{FileSpec, WriteMode};
use protolog_rt::{Level, ProtoLogGroup, Session, i};
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tracing_appender::non_blocking::NonBlockingBuilder;

#[derive(ProtoLogGroup)]
enum Bench {
    On,
}

/// What the messages are made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    TwoInts,
    IntAndText,
    TwoIntsAndFloat,
    LongText,
}

impl Shape {
    pub(crate) const ALL: [Self; 4] =
        [Self::TwoInts, Self::IntAndText, Self::TwoIntsAndFloat, Self::LongText];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TwoInts => "two integers",
            Self::IntAndText => "an integer and a text of 8 distinct ones",
            Self::TwoIntsAndFloat => "two integers and a float",
            Self::LongText => "a text of 40 bytes",
        }
    }
}

/// Something to be measured.
pub(crate) struct Candidate {
    pub(crate) name: &'static str,
    run: Box<dyn Fn() -> Figures>,
}

impl Candidate {
    /// One round.
    pub(crate) fn run(&self) -> Figures {
        (self.run)()
    }
}

const TEXTS: [&str; 8] = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"];
const LONG: &str = "0123456789012345678901234567890123456789";

/// The candidates for messages of `shape`, with their files in `dir`.
pub(crate) fn all(shape: Shape, dir: &Path) -> Vec<Candidate> {
    let path = |name: &str| dir.join(format!("{shape:?}-{name}"));
    let (trace, text, events) = (path("trace"), path("text"), path("events"));
    vec![
        Candidate { name: "clock_gettime alone", run: Box::new(clock) },
        Candidate { name: "protolog", run: Box::new(move || protolog(shape, &trace)) },
        Candidate { name: "log, flexi_logger", run: Box::new(move || logger(shape, &text)) },
        Candidate {
            name: "tracing, non_blocking",
            run: Box::new(move || subscriber(shape, &events)),
        },
    ]
}

fn clock() -> Figures {
    let call = |_| {
        black_box(Instant::now());
    };
    let [p50, p99, p999] = bursts(call);
    let (calls, time) = looped(call);
    let loop_nanos = time.as_nanos() as f64 / calls as f64;
    Figures { p50, p99, p999, loop_nanos, cpu_nanos: loop_nanos, bytes: 0.0, kept: 1.0 }
}

/// The four shapes as calls of one macro.
macro_rules! by_shape {
    ($shape:expr, $number:ident => $two:expr, $text:expr, $float:expr, $long:expr) => {
        match $shape {
            Shape::TwoInts => measure(|$number| $two),
            Shape::IntAndText => measure(|$number| $text),
            Shape::TwoIntsAndFloat => measure(|$number| $float),
            Shape::LongText => measure(|_| $long),
        }
    };
}

/// Bursts and a loop; the caller counts which messages were kept.
struct Measured {
    bursts: [f64; 3],
    calls: usize,
    time: Duration,
    /// CPU time of the process when the loop began.
    cpu: u64,
}

fn measure(mut call: impl FnMut(usize)) -> Measured {
    let bursts = bursts(&mut call);
    // What the bursts left to be written is not the loop's.
    std::thread::sleep(Duration::from_millis(20));
    let before = cpu();
    let (calls, time) = looped(call);
    Measured { bursts, calls, time, cpu: before }
}

impl Measured {
    /// With `kept` messages of all in a file of `bytes` bytes, and the CPU time at the end.
    fn figures(&self, kept: u64, bytes: u64, cpu: u64) -> Figures {
        let lost = (IN_BURSTS + self.calls) as u64 - kept;
        let kept_of_loop = (self.calls as u64).saturating_sub(lost).max(1) as f64;
        let [p50, p99, p999] = self.bursts;
        Figures {
            p50,
            p99,
            p999,
            loop_nanos: self.time.as_nanos() as f64 / self.calls as f64,
            cpu_nanos: (cpu - self.cpu) as f64 / kept_of_loop,
            bytes: bytes as f64 / kept as f64,
            kept: kept_of_loop / self.calls as f64,
        }
    }
}

fn protolog(shape: Shape, path: &Path) -> Figures {
    let session = Session::builder().file(path).log_from(Level::Info).start();
    let session = session.expect("start a session");
    let measured = by_shape!(shape, number =>
        i!(Bench::On, "%d of %d", number, 7),
        i!(Bench::On, "%d of %s", number, TEXTS[number % 8]),
        i!(Bench::On, "%d of %d in %f", number, 7, number as f64),
        i!(Bench::On, "text %s", LONG));
    session.flush().expect("write the trace");
    let cpu = cpu();
    let summary = session.stop().expect("stop the session");
    measured.figures(summary.messages, summary.bytes, cpu)
}

fn logger(shape: Shape, path: &Path) -> Figures {
    let writer = FileLogWriter::builder(FileSpec::try_from(path).expect("a file name"))
        .format(flexi_logger::detailed_format)
        .write_mode(WriteMode::BufferDontFlush)
        .try_build()
        .expect("make a log file");
    let log = |arguments: std::fmt::Arguments<'_>| {
        let record = log::Record::builder()
            .args(arguments)
            .level(log::Level::Info)
            .target(module_path!())
            .module_path(Some(module_path!()))
            .file(Some(file!()))
            .line(Some(line!()))
            .build();
        let _ = writer.write(&mut flexi_logger::DeferredNow::new(), &record);
    };
    let measured = by_shape!(shape, number =>
        log(format_args!("{} of {}", number, 7)),
        log(format_args!("{} of {}", number, TEXTS[number % 8])),
        log(format_args!("{} of {} in {:.6}", number, 7, number as f64)),
        log(format_args!("text {LONG}")));
    writer.flush().expect("write the log");
    let cpu = cpu();
    writer.shutdown();
    finish(&measured, path, cpu)
}

fn subscriber(shape: Shape, path: &Path) -> Figures {
    let file = fs::File::create(path).expect("make a log file");
    let (writer, guard) =
        NonBlockingBuilder::default().buffered_lines_limit(128_000).lossy(true).finish(file);
    let subscriber = tracing_subscriber::fmt().with_writer(writer).with_ansi(false).finish();
    let (measured, cpu) = tracing::subscriber::with_default(subscriber, || {
        let measured = by_shape!(shape, number =>
            tracing::info!("{} of {}", number, 7),
            tracing::info!("{} of {}", number, TEXTS[number % 8]),
            tracing::info!("{} of {} in {:.6}", number, 7, number as f64),
            tracing::info!("text {}", LONG));
        wait_for_silence(path);
        (measured, cpu())
    });
    drop(guard);
    finish(&measured, path, cpu)
}

/// Waits until a file does not grow any more.
fn wait_for_silence(path: &Path) {
    let size = |path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let mut before = size(path);
    loop {
        std::thread::sleep(Duration::from_millis(50));
        let now = size(path);
        if now == before {
            return;
        }
        before = now;
    }
}

/// Counts the lines of a text file and removes it.
fn finish(measured: &Measured, path: &Path, cpu: u64) -> Figures {
    let path: PathBuf = path.into();
    let text = fs::read(&path).expect("read the log");
    let lines = text.split(|byte| *byte == b'\n').count() as u64 - 1;
    let figures = measured.figures(lines, text.len() as u64, cpu);
    let _ = fs::remove_file(&path);
    figures
}
