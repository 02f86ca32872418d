//! Several traces in which the same ids mean different things: processes with one pid, as
//! containers have them, and clocks.

use crate::{description, run};
use protolog_testkit::assert_eq_text;
use protologtool::cli::Exit;

const DICTIONARY: &str =
    r#"group(1, "demo::net", "Net") message(0x11, DEBUG, 1, "sent %d", "net.rs:1")"#;

/// A trace of a process with the id 1, which is in a span of this length that begins `late`
/// nanoseconds after the other one's.
fn of_container(name: &str, fingerprint: u64, late: u64, length: u64) -> Vec<u8> {
    let begin = 1_000_000_000 + late;
    description::trace(&format!(
        r#"
{DICTIONARY}
@9 snapshot(real=1795199221000000000, boot=1000000000) process(1, "{name}") started(1, {fingerprint})
@1 cleared snapshot(64=0, boot={begin}, incremental=64) default_clock=64 info(1, 1, "main")
@1 ts=0 begin("{name}", "demo::net", track=7)
@1 ts=5 log(0x11, {length})
@1 ts={length} end(track=7)
"#
    ))
}

fn read(files: &[(&str, Vec<u8>)], args: &[&str]) -> String {
    let (exit, out, errors) = run(files, &[args, &["--time", "utc"]].concat());
    assert_eq!((exit, &*errors), (Exit::Done, ""));
    out
}

#[test]
fn processes_with_one_pid_stay_two() {
    let files = [
        ("alpha", of_container("alpha", 5, 0, 600_000_000)),
        ("beta", of_container("beta", 6, 300_000_000, 601_000_000)),
    ];
    let expected = "\
alpha           > alpha
alpha           D sent 600000000
beta            > beta
beta            D sent 601000000
alpha           < alpha took 600.000 ms
beta            < beta took 601.000 ms
";
    let args = ["--spans", "--columns", "process,level,message"];
    assert_eq_text(expected, &read(&files, &[&["alpha", "beta"][..], &args].concat()));
    assert_eq_text(expected, &read(&files, &[&["beta", "alpha"][..], &args].concat()));
    let counts = read(&files, &["alpha", "beta", "--count-by", "process"]);
    assert_eq_text("         1  alpha 1\n         1  beta 1\n", &counts);
}

#[test]
fn a_merged_trace_says_which_process_is_which() {
    use protologtool::cli;
    use protologtool::system::{Memory, System};
    use std::path::Path;
    let system = Memory::default();
    for (name, late) in [("alpha", 0), ("beta", 300_000_000), ("gamma", 400_000_000)] {
        let trace = of_container(name, late + 5, late, 600_000_000);
        system.add_file(name, trace);
    }
    let merge = |inputs: [&str; 2], out: &str| {
        let words = ["protologtool", "merge", inputs[0], inputs[1], "-o", out];
        assert_eq!(cli::run(words.map(Into::into), &system), Exit::Done, "{}", system.errors());
        system.read(Path::new(out)).unwrap()
    };
    let once = merge(["alpha", "beta"], "once");
    // Again, with one of its inputs.
    let twice = merge(["once", "beta"], "twice");
    let thrice = merge(["twice", "gamma"], "thrice");
    let of = |names: &[&str]| -> String {
        let line = |name: &&str| format!("{name:15} sent 600000000\n");
        names.iter().map(line).collect::<Vec<String>>().concat()
    };
    for (merged, names) in [
        (once, &["alpha", "beta"][..]),
        (twice, &["alpha", "beta"]),
        (thrice, &["alpha", "beta", "gamma"]),
    ] {
        let args = ["merged", "--columns", "process,message", "--pid", "1"];
        let out = read(&[("merged", merged.clone())], &args);
        assert_eq_text(&of(names), &out);
        let spans = read(&[("merged", merged)], &["merged", "--spans", "--grep", "took"]);
        assert_eq!(spans.lines().count(), names.len(), "each span once: {spans}");
    }
}

#[test]
fn each_trace_has_its_own_clocks() {
    // The machine slept for 4,000 seconds: one trace counts without them.
    let head = |primary: u32| {
        format!(
            "{DICTIONARY}\n@9 snapshot(real=1795199221000000000, boot=5000000000000, mono=1000000000000, primary={primary})\n"
        )
    };
    let boot = head(6) + "@1 cleared info(10, 10, \"a\")\n@1 ts=5001000000000 log(0x11, 1)\n";
    let mono = head(3) + "@1 cleared info(20, 20, \"b\")\n@1 ts=1002000000000 log(0x11, 2)\n";
    // A clock for all sequences of the trace, by the same number.
    let shared = |start: u64, value: u32| {
        format!(
            "{DICTIONARY}\n@9 snapshot(real=1795199221000000000, boot=5000000000000, 128={start})\n\
             @1 cleared default_clock=128 info(30, 30, \"c\")\n@1 ts={} log(0x11, {value})\n\
             @1 ts={} clock=128 log(0x11, {value}0)\n",
            start + 3_000_000_000,
            start + 4_000_000_000
        )
    };
    let files: Vec<(&str, Vec<u8>)> = [
        ("boot", boot),
        ("mono", mono),
        ("one", shared(7, 3)),
        ("other", shared(600_000_000_000, 4)),
    ]
    .map(|(name, text)| (name, description::trace(&text)))
    .into();
    let expected = "\
11-20 18:27:02.000 sent 1
11-20 18:27:03.000 sent 2
11-20 18:27:04.000 sent 3
11-20 18:27:04.000 sent 4
11-20 18:27:05.000 sent 30
11-20 18:27:05.000 sent 40
";
    for order in [["boot", "mono", "one", "other"], ["other", "one", "mono", "boot"]] {
        let out = read(&files, &[&order[..], &["--columns", "time,message"]].concat());
        let mut lines: Vec<&str> = out.lines().collect();
        lines.sort_unstable();
        assert_eq_text(expected, &(lines.join("\n") + "\n"));
    }
}

#[test]
fn threads_have_the_names_that_others_give_them() {
    let trace = format!(
        r#"
{DICTIONARY}
@9 snapshot(real=1795199221000000000, boot=1000000000)
@1 cleared info(10, 11, "") ts=1000000001 log(0x11, 1)
@2 cleared info(10, 12, "") ts=1000000002 log(0x11, 2)
@3 cleared info(10, 13, "own") ts=1000000003 log(0x11, 3)
@4 thread_track(8, 10, 11, "of a track")
@4 field(2, "\x12\x08\x08\x0c\x12\x02io\x18\x0a\x12\x0b\x08\x0d\x12\x05other\x18\x0a\x0a\x07\x08\x0a\x1a\x03app")
"#
    );
    let columns = ["app", "--columns", "process,thread,message"];
    let out = read(&[("app", description::trace(&trace))], &columns);
    let expected = "\
app             of a track      sent 1
app             io              sent 2
app             own             sent 3
";
    assert_eq_text(expected, &out);
    let out =
        read(&[("app", description::trace(&trace))], &[&columns[..], &["--thread", "io"]].concat());
    assert_eq_text("app             io              sent 2\n", &out);
}

#[test]
fn sequences_without_a_thread_have_spans_of_their_own() {
    let trace = r#"
group(1, "demo::net", "Net") message(0x11, DEBUG, 1, "done", "net.rs:1")
@9 snapshot(real=1795199221000000000, boot=1000000000)
@1 cleared ts=1000000000 begin("one", "demo")
@2 cleared ts=1100000000 begin("two", "demo")
@1 ts=1600000000 end()
@2 ts=1900000000 end()
@2 ts=1900000001 log(0x11)
"#;
    let files = [("app", description::trace(trace))];
    let out = read(&files, &["app", "--spans", "--columns", "message"]);
    assert_eq_text("one\ntwo\none took 600.000 ms\ntwo took 800.000 ms\ndone\n", &out);
}
