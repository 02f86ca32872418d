//! From a million messages in memory to a finished file, beside copying as many bytes, and writing
//! them: to the system, which is what a session does, and to the disk.

use crate::loggers::Protolog;
use harness::Logger as _;
use protolog_rt::Session;
use std::fs::File;
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

/// Messages of two integers.
const MESSAGES: u64 = 1_000_000;

/// The largest buffer there is; the messages take about 25 MB.
const BUFFER: usize = 32 << 20;

/// The bytes that are written at once.
const PIECE: usize = 256 << 10;

/// Prints milliseconds as a line of JSON; files go to `dir`.
pub(crate) fn run(dir: &Path) {
    let path = dir.join("trace");
    let kept = Session::builder().file(&path).enable_all().keep_first().buffer_size(BUFFER);
    let (stop_kept, messages, bytes) = stop(Protolog(kept.start().expect("start a session")));
    // Replacing a file would cost what it takes to delete the old one.
    std::fs::rename(&path, dir.join("kept")).expect("rename the trace");
    let streaming = Session::builder().file(&path).enable_all().buffer_size(BUFFER);
    let (stop_streaming, streamed, _) = stop(Protolog(streaming.start().expect("start a session")));

    let source = std::fs::read(&path).expect("read the trace");
    let source: Vec<u8> = source.into_iter().cycle().take(bytes as usize).collect();
    let mut copy = vec![1; source.len()];
    let copied = time(|| {
        copy.copy_from_slice(black_box(&source));
        black_box(&mut copy);
    });
    let mut file = None;
    let written = time(|| {
        let file = file.insert(File::create(dir.join("copy")).expect("make a file"));
        for piece in source.chunks(PIECE) {
            file.write_all(piece).expect("write a file");
        }
    });
    // Bytes that the system has are not on the disk yet.
    let synced = written + time(|| file.iter().for_each(|file| file.sync_data().expect("sync")));
    println!(
        r#"{{"memcpy": {copied}, "write": {written}, "sync": {synced}, "stop kept": {stop_kept}, "stop streaming": {stop_streaming}, "messages": {messages}, "streamed": {streamed}, "bytes": {bytes}}}"#
    );
}

/// Logs the messages and stops the session: milliseconds, messages and bytes in the file.
fn stop(logger: Protolog) -> (f64, u64, u64) {
    for number in 0..MESSAGES {
        logger.two_ints(number, 7);
    }
    let mut summary = None;
    let time = time(|| summary = Some(logger.0.stop().expect("complete the trace")));
    let summary = summary.unwrap_or_default();
    (time, summary.messages, summary.bytes)
}

fn time(f: impl FnOnce()) -> f64 {
    let start = Instant::now();
    f();
    start.elapsed().as_nanos() as f64 / 1e6
}
