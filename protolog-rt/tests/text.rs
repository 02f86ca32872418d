//! Text output on standard error.

use protolog_rt::{Level, ProtoLogGroup, print_group};
use protolog_testkit::expect_file;
use std::borrow::Cow;
use std::error::Error;
use std::num::NonZero;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum AppLog {
    #[protolog(log_to_text = true)]
    Shown,
    #[protolog(tag = "QUIET")]
    Quiet,
}

/// The environment variable of the child process, which prints.
const CHILD: &str = "PROTOLOG_TEXT_CHILD";

/// Runs `test` of this binary in a child process in the time zone `zone`. Returns its lines on
/// standard error.
fn printed_by(test: &str, zone: &str) -> Vec<String> {
    let program = std::env::current_exe().expect("the test itself");
    let mut child = Command::new(program);
    child.args(["--exact", test, "--nocapture"]).env(CHILD, "1").env("TZ", zone);
    let output = child.output().expect("run the test itself");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).expect("text").lines().map(str::to_owned).collect()
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// The lines without date, time and ids.
fn messages(lines: &[String]) -> Vec<&str> {
    lines
        .iter()
        .map(|line| line.splitn(3, ' ').nth(2).unwrap().trim_start())
        .map(after_ids)
        .collect()
}

fn after_ids(ids_and_rest: &str) -> &str {
    let rest = ids_and_rest.trim_start_matches(|char: char| char.is_ascii_digit()).trim_start();
    rest.trim_start_matches(|char: char| char.is_ascii_digit()).trim_start()
}

#[test]
fn every_type_is_printed() {
    if !is_child() {
        let lines = printed_by("every_type_is_printed", "UTC");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/every_type.txt");
        expect_file(&file, &(messages(&lines).join("\n") + "\n"));
        return;
    }
    protolog_rt::d!(AppLog::Shown, "%d %d %d %d", i8::MIN, i16::MIN, i32::MIN, i64::MIN);
    protolog_rt::d!(AppLog::Shown, "%d %d %d %d", u8::MAX, u16::MAX, u32::MAX, u64::MAX);
    protolog_rt::d!(AppLog::Shown, "%d %d %x %o", isize::MIN, usize::MAX, usize::MAX, 8);
    let (number, three) = (NonZero::new(7u8).unwrap(), &&&3);
    protolog_rt::d!(AppLog::Shown, "%d %d %d", number, three, Box::new(Arc::new(4u64)));
    protolog_rt::d!(AppLog::Shown, "%f %.1f %e %g", 1.5f32, &2.25f64, 1e100, 0.1);
    protolog_rt::d!(AppLog::Shown, "%b %b %5d|%05d|", true, &false, 42, -42);
    protolog_rt::d!(AppLog::Shown, "100%% of %5s|%.2s", "ab", String::from("abcdef"));
    let (text, cow): (&mut str, Cow<'_, str>) = (&mut String::from("mut"), "cow".into());
    protolog_rt::d!(AppLog::Shown, "%s %s %s %s", text, cow, Rc::<str>::from("rc"), &&"ref");
    let error: Box<dyn Error> = "boxed".into();
    let io: &dyn Error = &std::fmt::Error;
    protolog_rt::d!(AppLog::Shown, "%s, %s, %s, %s", error, io, 'c', format_args!("{:?}", "dbg"));
    protolog_rt::d!(AppLog::Shown, "%s %s %s %s", u128::MAX, 5, 0.5, true);
    let failed = "7x".parse::<u8>().unwrap_err();
    protolog_rt::d!(
        AppLog::Shown,
        "%s|%.4s",
        protolog_rt::chain(&failed),
        protolog_rt::hex(b"\n\xffab")
    );
    protolog_rt::d!(AppLog::Shown, "%s", protolog_rt::debug(&Duration::from_millis(5)));
    let none: Option<String> = None;
    protolog_rt::d!(AppLog::Shown, "%s %s %s %s", none, &none, Some("some"), Some(&3));
    protolog_rt::d!(AppLog::Shown, "two\nlines: %s", "a\nb\u{1b}");
}

#[test]
fn enabled_levels_are_printed() {
    if !is_child() {
        let lines = printed_by("enabled_levels_are_printed", "UTC");
        let expected = ["V Shown   : v", "D Shown   : d", "I Shown   : i", "W Shown   : w"];
        let more = ["E Shown   : e", "F Shown   : wtf", "E QUIET   : 2", "F QUIET   : 3"];
        assert_eq!(messages(&lines), [&expected[..], &more].concat());
        return;
    }
    protolog_rt::v!(AppLog::Shown, "v");
    protolog_rt::d!(AppLog::Shown, "d");
    protolog_rt::i!(AppLog::Shown, "i");
    protolog_rt::w!(AppLog::Shown, "w");
    protolog_rt::e!(AppLog::Shown, "e");
    protolog_rt::wtf!(AppLog::Shown, "wtf");
    protolog_rt::wtf!(AppLog::Quiet, "0");
    print_group(&AppLog::Quiet, Some(Level::Error));
    protolog_rt::w!(AppLog::Quiet, "1");
    protolog_rt::e!(AppLog::Quiet, "2");
    protolog_rt::wtf!(AppLog::Quiet, "3");
    print_group(&AppLog::Quiet, None);
    protolog_rt::wtf!(AppLog::Quiet, "4");
}

#[test]
fn lines_start_with_the_local_time_and_the_ids() {
    if !is_child() {
        let begun = Instant::now();
        let utc = printed_by("lines_start_with_the_local_time_and_the_ids", "UTC");
        let ahead = printed_by("lines_start_with_the_local_time_and_the_ids", "NPT-05:45");
        let minutes = |line: &str| {
            let number = |at: usize| line[at..at + 2].parse::<i64>().expect(line);
            ((number(3) * 24 + number(6)) * 60 + number(9), line.chars().nth(14))
        };
        let ((utc, dot), (ahead, _)) = (minutes(&utc[0]), minutes(&ahead[0]));
        // The day of the month may have started over.
        let apart = (ahead - utc).rem_euclid(24 * 60);
        let later = begun.elapsed().as_secs() as i64 / 60 + 1;
        let expected = 345..=345 + later;
        assert!(expected.contains(&apart), "5 hours and 45 minutes ahead, not {apart} minutes");
        assert_eq!(dot, Some('.'));
        return;
    }
    protolog_rt::i!(AppLog::Shown, "x");
}

#[test]
fn lines_of_threads_are_not_interleaved() {
    const THREADS: usize = 8;
    const LINES: usize = 200;
    if !is_child() {
        let lines = printed_by("lines_of_threads_are_not_interleaved", "UTC");
        assert_eq!(lines.len(), THREADS * LINES);
        let whole = |message: &&str| message.starts_with("I Shown   : <") && message.ends_with('>');
        assert!(messages(&lines).iter().all(whole));
        return;
    }
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for line in 0..LINES {
                    protolog_rt::i!(AppLog::Shown, "<%d %s %d>", thread, "x".repeat(100), line);
                }
            });
        }
    });
}

#[test]
fn a_closed_standard_error_is_ignored() {
    if is_child() {
        (0..100).for_each(|n| protolog_rt::i!(AppLog::Shown, "to a closed file %d", n));
        return;
    }
    let program = std::env::current_exe().expect("the test itself");
    let mut child = Command::new("/bin/sh");
    let test = "a_closed_standard_error_is_ignored";
    child.args(["-c", "exec \"$0\" --exact \"$1\" --nocapture 2>&-"]).arg(program).arg(test);
    let output = child.env(CHILD, "1").output().expect("run the test itself");
    assert!(output.status.success(), "{output:?}");
}
