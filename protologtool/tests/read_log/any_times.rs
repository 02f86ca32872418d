//! Times that are any numbers: a flipped bit of a time, a clock or a snapshot ends no command.

use super::{description, run};
use proptest::prelude::*;
use protolog_testkit::assert_eq_text;
use protolog_testkit::serde_json::{self, Value};
use protologtool::cli::{self, Exit};
use protologtool::system::Memory;

/// Forms in which times are compared, counted with, or written.
const FORMS: [&str; 18] = [
    "--time utc",
    "--time boot",
    "--time utc --time-format iso",
    "--time utc --time-format ns --delta",
    "--format csv --columns time,delta,message",
    "--format logfmt",
    "--format json",
    "--histogram",
    "--histogram --format json",
    "--top",
    "--count-by level",
    "--reverse",
    "-n 1",
    "-C 1 --grep 2",
    "--since 5m",
    "--since 1970-01-01 --until now",
    "--since 00:00",
    "--spans",
];

/// A time of the trace.
const BOOT: u64 = 1_000_000_000;

/// A number as a damaged byte makes it: most are near those that the trace has.
fn any_time() -> impl Strategy<Value = u64> {
    let near = prop::sample::select(vec![0, 1 << 62, 1 << 63, u64::MAX, 1_795_199_221_000_000_000]);
    let flipped = (0..64_u32).prop_map(|bit| BOOT ^ 1 << bit);
    let near = (near, -2_i64..3).prop_map(|(time, more)| time.wrapping_add_signed(more));
    prop_oneof![near, flipped, any::<u64>()]
}

fn trace([real, boot, first, second]: [u64; 4]) -> Vec<u8> {
    description::trace(&format!(
        r#"
group(1, "demo::Net", "Net") message(0x11, DEBUG, 1, "sent %d", "net.rs:1")
@1 cleared snapshot(real={real}, boot={boot}) info(100, 101, "main")
@1 ts=1000000000 log(0x11, 1)
@1 ts={first} log(0x11, 2)
@1 ts={first} begin("span", "demo::Net")
@1 ts={second} end()
@1 ts={second} loss(1, 1, 3)
@1 ts={second} log(0x11, 3)
"#
    ))
}

/// The commands that read a trace, other than `read-log`.
const COMMANDS: [&str; 4] = [
    "view app -o page.html",
    "diff app app",
    "merge app -o merged",
    "merge app --perfetto-ui -o ui",
];

/// The lines of `read-log` for these times.
fn lines(times: [u64; 4], args: &[&str]) -> Vec<String> {
    let (exit, out, errors) = run(&[("app", trace(times))], &[&["app"], args].concat());
    assert_eq!(exit, Exit::Done, "{times:?} {args:?}: {errors}");
    out.lines().map(str::to_owned).collect()
}

/// Checks what is computed with times, whatever they are.
fn check_values(times: [u64; 4]) {
    let objects = |args: &[&str]| -> Vec<Value> {
        let lines = lines(times, &[args, &["--format", "json"]].concat());
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let all = objects(&["--spans"]);
    let entries = all.iter().filter(|it| it["type"] == "message").count();
    assert_eq!(entries, 3, "{times:?} {all:?}");
    for object in &all {
        for name in ["duration", "longest"] {
            assert!(object[name].as_i64().is_none_or(|it| it >= 0), "{times:?} {object}");
        }
    }
    let bars = objects(&["--histogram"]);
    let counted: u64 = bars.iter().map(|bar| bar["entries"].as_u64().unwrap()).sum();
    assert_eq!((counted, bars.len() <= 42), (3, true), "{times:?} {bars:?}");
    let ordered = objects(&["--grep", "sent"]);
    let ordered: Vec<i64> = ordered.iter().filter_map(|it| it["ts"].as_i64()).collect();
    assert!(ordered.is_sorted(), "{times:?} {ordered:?}");
    // What is not before a time is from it on.
    let messages = |args: &[&str]| lines(times, &[args, &["--columns", "level,message"]].concat());
    let all = messages(&[]);
    for limit in ["0", "1", "1.000000001", "9223372036.854775807", "4611686018.427387904"] {
        let [before, after] = ["--until", "--since"].map(|option| messages(&[option, limit]));
        assert_eq!([before, after].concat(), all, "{times:?} {limit}");
        // With all around them, they are all.
        assert_eq!(messages(&["--since", limit, "-B", "9"]).len() % all.len(), 0, "{times:?}");
    }
    let deltas = lines(times, &["--format", "csv", "--columns", "delta"]);
    assert!(deltas.iter().all(|delta| !delta.starts_with('-')), "{times:?} {deltas:?}");
}

fn read_in_each_form(times: [u64; 4]) {
    check_values(times);
    for command in COMMANDS {
        let system = Memory::default();
        system.add_file("app", trace(times));
        let words = ["protologtool"].into_iter().chain(command.split(' '));
        let exit = cli::run(words.map(Into::into), &system);
        assert!([Exit::Done, Exit::Incomplete].contains(&exit), "{times:?} {}", system.errors());
    }
    for form in FORMS {
        let args: Vec<&str> = std::iter::once("app").chain(form.split(' ')).collect();
        let (exit, _, errors) = run(&[("app", trace(times))], &args);
        // A time of day has no date where the first entry is beyond the calendar.
        let is_read = exit == Exit::Done || errors.starts_with("error: not a time: `00:00`");
        assert!(is_read, "{times:?} {form}: {errors}");
    }
}

#[test]
fn times_beyond_what_can_be_added_end_no_command() {
    let (real, boot) = (1_795_199_221_000_000_000, 1_000_000_000);
    let far = [1 << 63, i64::MAX as u64, 0, u64::MAX];
    for time in far {
        read_in_each_form([real, boot, time, 5]);
        read_in_each_form([real, time, 5, time]);
        read_in_each_form([time, boot, 5, 9]);
        read_in_each_form([u64::MAX - time, time, time, 1]);
    }
}

#[test]
fn what_has_no_time_stands_at_the_first_one() {
    let trace = description::trace(
        r#"
group(1, "demo::Net", "Net") message(0x11, DEBUG, 1, "sent %d", "net.rs:1")
@5 cleared dropped pid=7 log(0x11, 0)
@9 snapshot(real=1795199221000000000, boot=2592000000000000)
@1 cleared info(100, 101, "main")
@1 ts=2592001000000000 log(0x11, 1)
@1 ts=2592601000000000 log(0x11, 2)
"#,
    );
    let read = |args: &[&str]| {
        let (exit, out, errors) =
            run(&[("app", trace.clone())], &[&["app", "--time", "utc"], args].concat());
        assert_eq!(exit, Exit::Done, "{errors}");
        out
    };
    let all = read(&[]);
    assert_eq_text(
        "\
~11-20 18:27:01.000     7     ? D Net     : sent 0
~11-20 18:27:01.000     7     ? ! LOST    : an unknown number of packets: lost on the way to the trace
11-20 18:27:02.000   100   101 D Net     : sent 1
11-20 18:37:02.000   100   101 D Net     : sent 2
",
        &all,
    );
    // A time of day is of the date of the first line.
    assert_eq!(
        read(&["--since", "18:27:02"]),
        all.split_inclusive('\n').skip(2).collect::<String>()
    );
    assert!(read(&["--histogram"]).lines().count() <= 41);
}

#[test]
fn bars_that_are_years_apart_have_years() {
    let bars = |years: u64| {
        let time = years * 365 * 86_400 * 1_000_000_000 + 1_000_000_000;
        let trace = trace([1_795_199_221_000_000_000, BOOT, time - 2, time]);
        let (_, out, _) = run(&[("app", trace)], &["app", "--time", "utc", "--histogram"]);
        let (first, last) = (out.lines().next().unwrap(), out.lines().last().unwrap());
        (first[..10].to_owned(), last[..10].to_owned())
    };
    assert_eq!(bars(0), ("11-20 18:2".to_owned(), "11-20 18:2".to_owned()));
    let (first, last) = bars(120);
    assert!(first == "2026-11-20" && last.starts_with("214"), "{first} {last}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_times_are_read(times in [any_time(), any_time(), any_time(), any_time()]) {
        read_in_each_form(times);
    }
}
