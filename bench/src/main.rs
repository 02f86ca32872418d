//! The programs of `cargo xtask bench runtime` that need nothing but Rust, in one.
//!
//! ```text
//! measure CANDIDATE SHAPE FILE    see the harness: one round of one logger
//! kill CANDIDATE FILE             the same: messages before a sudden end
//! count KIND FILE                 how many `lines`, `messages`, `events` or `recorded` messages a file holds
//! compressed SHAPE FILE           bytes of a message in a compressed file
//! off CANDIDATE TURNS             nanoseconds of a turn of a loop with a call that is switched off
//! turns CANDIDATE TURNS           the same loop, for valgrind
//! calls CASE CALLS                calls that are switched on, for valgrind
//! threads NUMBER SHAPE CALLS      CPU nanoseconds of a message, on several threads at once
//! texts CASE FILE                 bursts of messages whose text is new, or not
//! short-threads on|off COUNT ALIVE FILE   CPU microseconds of a thread with one message, or none
//! mixed FILE MESSAGES             a trace as programs write them
//! many DIR TRACES MESSAGES        so many of them, with so many messages each
//! requests FILE MESSAGES BYTES     a service's trace, in segments of so many bytes
//! sequences FILE MESSAGES         a trace for counting what readers take, alone and vouched for
//! read FORM FILE                 it read to `text`, `json`, text of `errors`, `counts` of templates;
//!                                 what is vouched for to text, `vouched`
//! stop DIR                        milliseconds from a million messages to a file
//! ```
//!
//! One process does one thing once; who starts it takes turns and medians.

mod compressed;
mod count;
mod hot;
mod loggers;
mod mixed;
mod off;
#[cfg(feature = "peers")]
mod peers;
mod read;
mod requests;
mod sequences;
mod short_threads;
mod spans;
mod stop;
mod texts;
mod vouched;

use std::hint::black_box;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if harness::run(&words, &loggers::ALL) || run_peer(&words) || run(&words).is_some() {
        return ExitCode::SUCCESS;
    }
    eprintln!("error: no such thing to measure: `{}`", words.join(" "));
    eprintln!("help: use `cargo xtask bench runtime`");
    ExitCode::from(2)
}

#[cfg(feature = "peers")]
fn run_peer(words: &[String]) -> bool {
    harness::run(words, &peers::ALL)
}

#[cfg(not(feature = "peers"))]
fn run_peer(_: &[String]) -> bool {
    false
}

fn run(words: &[String]) -> Option<()> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["count", kind, path] => count::run(kind, path.as_ref()),
        ["compressed", shape, path] => compressed::run(shape, path.as_ref()),
        ["texts", case, path] => texts::time(case, path.as_ref()),
        ["short-threads", logs, count, alive, path] => {
            short_threads::run(logs, count.parse().ok()?, alive.parse().ok()?, path.as_ref())
        }
        ["off", name, turns] => off::time(name, turns.parse().ok()?),
        ["turns", name, turns] => off::run(name, turns.parse().ok()?),
        ["calls", case, calls] => {
            let calls = calls.parse().ok()?;
            let spans = || spans::calls(case, calls);
            hot::calls(case, calls).or_else(|| texts::calls(case, calls)).or_else(spans)
        }
        ["threads", threads, shape, calls] => {
            hot::threads(threads.parse().ok()?, shape, calls.parse().ok()?)
        }
        ["mixed", path, messages] => {
            mixed::run(path.as_ref(), messages.parse().ok()?, None);
            Some(())
        }
        ["mixed", path, messages, segment_bytes] => {
            let segment_bytes = segment_bytes.parse().ok()?;
            mixed::run(path.as_ref(), messages.parse().ok()?, Some(segment_bytes));
            Some(())
        }
        ["many", dir, traces, messages] => {
            mixed::run_many(dir.as_ref(), traces.parse().ok()?, messages.parse().ok()?);
            Some(())
        }
        ["requests", path, messages, segment_bytes] => {
            requests::run(path.as_ref(), messages.parse().ok()?, segment_bytes.parse().ok()?);
            Some(())
        }
        ["read", form, path] => read::run(form, path.as_ref()),
        ["sequences", path, messages] => {
            sequences::run(path.as_ref(), messages.parse().ok()?);
            vouched::write_beside(path.as_ref());
            Some(())
        }
        ["stop", dir] => {
            stop::run(dir.as_ref());
            Some(())
        }
        _ => None,
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
