//! The speed of reading traces: `cargo bench -p protolog-reader [-- TRACE]`.
//!
//! Without a trace, the input is generated: 300,000 messages of four threads, in chunks as the
//! runtime writes them. Prints the best of five runs, in milliseconds, for decoding, for text and
//! for JSON lines.

use std::time::Instant;

use protolog_reader::{JsonWriter, TextWriter, Times, Trace};

#[path = "../tests/common/trace/mod.rs"]
mod description;

const MESSAGES: usize = 300_000;
/// About as many messages as fit a chunk of 4 KiB.
const CHUNK: usize = 80;
const RUNS: usize = 5;

fn main() {
    let trace = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let bytes = match trace {
        Some(path) => std::fs::read(path).expect("read the trace"),
        None => description::trace(&describe()),
    };
    println!("{} bytes", bytes.len());
    let read = || Trace::from_bytes(bytes.clone()).read().expect("a trace");
    let log = read();
    println!("{} entries\n{}", log.entries().len(), log.summary());
    let mut text = Vec::new();
    let mut json = Vec::new();
    time("read", || drop(read()));
    time("text", || {
        text.clear();
        let mut writer = TextWriter::new(&log, Times::utc());
        log.items().for_each(|item| writer.write(&item, &mut text));
    });
    time("json", || {
        json.clear();
        let mut writer = JsonWriter::new(&log);
        log.items().for_each(|item| writer.write(&item, &mut json));
    });
    println!("{} bytes of text, {} of JSON", text.len(), json.len());
}

fn time(what: &str, mut run: impl FnMut()) {
    let mut once = || {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64() * 1000.0
    };
    let best = (0..RUNS).map(|_| once()).fold(f64::INFINITY, f64::min);
    println!("{what:<5} {best:8.1} ms");
}

fn describe() -> String {
    use std::fmt::Write as _;
    let mut text = String::from(
        "group(1, \"demo::AppLog::Net\", \"Net\") message(0x1122334455667788, DEBUG, 1, \"sent %d bytes to %s in %f ms\")
         @9 snapshot(real=1795199221000000000, boot=0)\n",
    );
    for chunk in 0..MESSAGES / CHUNK {
        let thread = chunk % 4 + 1;
        let start = chunk * CHUNK * 1000;
        writeln!(
            text,
            "@{thread} cleared snapshot(64={start}, boot={start}, incremental=64) default_clock=64 info(100, {thread}, \"worker\")"
        )
        .expect("a string takes every write");
        for message in 0..CHUNK {
            writeln!(
                text,
                "@{thread} needs ts={} string({message}, \"example.org\") log(0x1122334455667788, {message}, ${message}, 0.25)",
                500 + message
            )
            .expect("a string takes every write");
        }
    }
    text
}
