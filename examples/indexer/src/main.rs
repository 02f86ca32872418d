//! Walks directory trees with several threads, counts lines and words, and logs its work as a
//! trace.
//!
//! ```text
//! $ cargo run --release -p protolog-example-indexer -- --trace indexer.pftrace src
//! ```
//!
//! One thread walks the trees and passes files to the others. Three groups log: walking, reading,
//! and the report, whose format string is an option and so is known at run time only. With
//! `--expect`, the program also writes each message as a line of JSON, so that a test can compare.

mod expect;
mod index;
mod options;
mod walk;

use expect::Journal;
use index::Index;
use options::Options;
use protolog_rt::{Level, ProtoLogGroup, Session, dynamic, i};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;
use std::{error, thread};

/// The log groups of the indexer.
#[derive(ProtoLogGroup, Clone, Copy, Debug)]
enum IndexLog {
    /// Directories and their entries.
    Walk,
    /// Files and their contents.
    #[protolog(tag = "ReadFile")]
    Read,
    /// Sums.
    Report,
}

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args_os().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{}", options::USAGE);
            return ExitCode::SUCCESS;
        }
        Err(problem) => {
            eprint!("indexer: {problem}\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("indexer: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn error::Error>> {
    let journal = Journal::open(options.expect.as_deref())?;
    let session = Session::builder()
        .file(&options.trace)
        .log_from(Level::Debug)
        .group("Walk", Level::Verbose)
        .start()
        .map_err(|error| format!("{error}\nhelp: {}", error.help()))?;
    let started = Instant::now();
    let index = index_all(options, &journal);
    report(options, &index, &journal);
    let seconds = started.elapsed().as_secs_f64();
    let summary = session.stop().map_err(|error| format!("{error}\nhelp: {}", error.help()))?;
    journal.close()?;

    let trace = options.trace.display();
    println!("{} files in {seconds:.2} s, {} messages", index.files, summary.messages);
    for loss in &summary.losses {
        let group = loss.group.as_deref().unwrap_or("?");
        println!("  lost: {} of {group} ({})", loss.count, loss.cause.name());
    }
    println!("the trace is {trace}, {} bytes", summary.bytes);
    println!("  as text:  protologtool read-log {trace}");
    println!(
        "  Perfetto: open it at https://ui.perfetto.dev, page \"Query (SQL)\": select * from protolog"
    );
    Ok(())
}

/// Walks all roots and reads all files.
fn index_all(options: &Options, journal: &Journal) -> Index {
    let (send, receive) = sync_channel(256);
    let receive = Mutex::new(receive);
    let all = Mutex::new(Index::default());
    thread::scope(|scope| {
        let named = |name: String| thread::Builder::new().name(name);
        for worker in 1..=options.threads {
            let (receive, all) = (&receive, &all);
            let work = move || read_files(receive, all, journal);
            named(format!("reader-{worker}")).spawn_scoped(scope, work).expect("start a thread");
        }
        let walk = move || walk::walk(&options.roots, &send, journal);
        named("walker".into()).spawn_scoped(scope, walk).expect("start a thread");
    });
    all.into_inner().unwrap_or_default()
}

/// Reads files until there are no more.
fn read_files(receive: &Mutex<Receiver<walk::Found>>, all: &Mutex<Index>, journal: &Journal) {
    let mut index = Index::default();
    loop {
        let next = receive.lock().ok().and_then(|receive| receive.recv().ok());
        let Some(found) = next else { break };
        index.add(&found, journal);
    }
    let (files, bytes) = (index.files, index.bytes);
    i!(IndexLog::Read, "%d files with %d bytes", files, bytes);
    journal.note(Level::Info, IndexLog::Read, format_args!("{files} files with {bytes} bytes"));
    if let Ok(mut all) = all.lock() {
        all.merge(index);
    }
}

/// Logs the sums, by file name extension.
fn report(options: &Options, index: &Index, journal: &Journal) {
    for (extension, sums) in &index.by_extension {
        let args = [
            dynamic::Arg::Str(extension),
            dynamic::Arg::Uint(sums.files),
            dynamic::Arg::Uint(sums.lines),
        ];
        dynamic::log(&IndexLog::Report, Level::Info, &options.report, &args);
        // The extension comes last, because it can be anything, even `%d`.
        let text = options.report.replacen("%d", &sums.files.to_string(), 1);
        let text = text.replacen("%d", &sums.lines.to_string(), 1);
        let text = text.replacen("%s", extension, 1);
        journal.note(Level::Info, IndexLog::Report, format_args!("{text}"));
    }
}
