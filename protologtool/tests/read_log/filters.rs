//! Entries that are chosen by their properties, and choices that match nothing.

use super::{APP, check, description, run};
use protologtool::cli::{self, Exit};
use protologtool::system::Memory;

/// Messages in no dictionary are left out by filters that can't judge them, and a line says so.
#[test]
fn filters_say_what_they_cannot_judge() {
    let files = [("app", description::trace(APP))];
    let errors = |args: &[&str]| run(&files, &[&["app"], args].concat()).2;
    for filter in [&["--level", "info"][..], &["--group", "Net"], &["--location", "disk.rs"]] {
        let said = errors(filter);
        assert!(
            said.contains("1 entry whose message is in no dictionary\nhelp: leave out `--level`"),
            "{said}"
        );
    }
    assert!(!errors(&["--thread", "main"]).contains("help: leave out"));
}

#[test]
fn filters() {
    let sent = "11-20 18:27:01.001   100   101 D Net     : sent 512 bytes\n";
    let slow = "11-20 18:27:01.002   100   101 W Disk    : slow: write\n";
    let lost = "11-20 18:27:02.000   100   102 ! LOST    : 3 messages of demo::AppLog::Disk: the buffer was full\n";
    let sent_more = "11-20 18:27:02.000   100   102 D Net     : sent 1024 bytes\n";
    let unknown = "11-20 18:27:03.000   100   102 ? ?       : #0000000000000077 (1, true)\n";
    for (args, lines) in [
        (&["--level", "info"][..], &[slow, lost][..]),
        (&["--level", "WARNING"], &[slow, lost]),
        (&["--level", "err"], &[lost]),
        (&["--level", "Information"], &[slow, lost]),
        (&["--group", "net", "--tag", "NET"], &[sent, sent_more]),
        (&["--group", "applog::disk"], &[slow, lost]),
        (&["--level", "V"], &[sent, slow, lost, sent_more]),
        (&["--group", "Net"], &[sent, sent_more]),
        (&["--group", "demo::AppLog::Disk"], &[slow, lost]),
        (&["--group", "Net", "--group", "Disk"], &[sent, slow, lost, sent_more]),
        (&["--tag", "Disk", "--level", "error"], &[lost]),
        (&["--tag", "n*"], &[sent, sent_more]),
        (&["--tag", "?is*"], &[slow, lost]),
        (&["--grep", "^sent \\d{4}"], &[lost, sent_more]),
        (&["--grep", "true"], &[lost, unknown]),
        (&["--thread", "main"], &[sent, slow]),
        (&["--thread", "102"], &[lost, sent_more, unknown]),
        (&["--location", "disk.rs"], &[slow, lost]),
        (&["--location", "net.rs:12", "--thread", "main"], &[sent]),
        (&["--since", "18:27:02"], &[lost, sent_more, unknown]),
        (&["--since", "2026-11-20 18:27:03"], &[unknown]),
        (&["--until", "11-20 18:27:01.002"], &[sent]),
        (&["--since", "1.0015", "--until", "2"], &[slow]),
        (
            &["--since", "2026-11-20T19:27:02+01:00", "--until", "2026-11-20T18:27:03Z"],
            &[lost, sent_more],
        ),
        (&["--until", "2026-11-20"], &[]),
        (&["--where", "net and debug"], &[sent, sent_more]),
        (&["--where", "group Disk"], &[slow, lost]),
        (&["--where", "disk.rs"], &[slow, lost]),
        (&["--where", "net.rs:12-12 and \"sent\"", "--thread", "main"], &[sent]),
        (&["--where", "net.rs:1-11"], &[lost]),
        (&["--where", "#77", "--where", "\"slow: \""], &[slow, lost, unknown]),
        (&["--where", "warn-warn"], &[slow, lost]),
        (&["--where", "arg1 == 512"], &[sent, lost]),
        (&["--where", "net and arg1 > 512"], &[sent_more]),
        (&["--where", "net and arg2 != 0"], &[]),
    ] {
        println!("{args:?}");
        check(args, &lines.concat());
    }
}

#[test]
fn a_selector_that_is_wrong_is_refused_with_its_column() {
    for (selector, expected) in [
        (
            "net debug",
            "column 5: missing `and` before `debug`\nhelp: write `and` between conditions",
        ),
        ("fn send", "column 1: no call is known by its function in `fn`\nhelp: name its lines"),
        (
            "arg1 = 5",
            "column 1: invalid condition on an argument `arg1 = 5`\nhelp: write an argument",
        ),
        ("module app", "a trace knows no modules of its calls\nhelp: name the file"),
    ] {
        let (exit, out, errors) =
            run(&[("app", description::trace(APP))], &["app", "--where", selector]);
        assert_eq!((exit, &*out), (Exit::Failed, ""), "{selector}");
        assert!(errors.contains(expected), "{selector}: {errors}");
    }
}

#[test]
fn values_that_the_trace_lacks_are_reported() {
    let warnings = |args: &[&str]| {
        let (exit, out, errors) =
            run(&[("app", description::trace(APP))], &[&["app"], args].concat());
        assert_eq!(
            (exit, out.lines().filter(|line| !line.contains(" ! ")).count()),
            (Exit::Done, 0)
        );
        errors.lines().take_while(|line| !line.contains("lost: ")).collect::<Vec<_>>().join("\n")
    };
    let expected = "warning: the trace has no group `Nett`; did you mean `Net`?\nwarning: the trace has no group `x`\n\
                    help: use one of `demo::AppLog::Disk`, `demo::AppLog::Net`";
    assert_eq!(warnings(&["--group", "Nett", "--group", "x"]), expected);
    let expected =
        "warning: the trace has no tag `dsk`; did you mean `Disk`?\nhelp: use one of `Disk`, `Net`";
    assert_eq!(warnings(&["--tag", "dsk"]), expected);
    let expected = "warning: the trace has no thread `Worker`; did you mean `worker`?\n\
                    warning: the trace has no thread `7`\nhelp: use one of `main`, `worker`";
    assert_eq!(warnings(&["--thread", "Worker", "--thread", "7"]), expected);
    let expected = "warning: the trace has no location `nte.rs:12`; did you mean `net.rs`?\n\
                    help: use one of `src/disk.rs`, `src/net.rs`";
    assert_eq!(warnings(&["--location", "nte.rs:12"]), expected);
    assert_eq!(warnings(&["--group", "Net", "--tag", "Disk"]), "");
    assert_eq!(
        warnings(&["--location", "net", "--location", "disk", "--thread", "102", "--level", "wtf"]),
        ""
    );
}

/// Runs `read-log app` on [`APP`], which ends at 18:27:03, at 18:30 of that day.
fn run_at_half_past(args: &[&str]) -> (Exit, String, String) {
    let system = Memory::default();
    system.add_file("app", description::trace(APP));
    system.set_now(1_795_199_400_000_000_000);
    let words = ["protologtool", "read-log", "app", "--time", "utc"].iter().chain(args);
    let exit = cli::run(words.map(Into::into), &system);
    (exit, system.out(), system.errors())
}

#[test]
fn times_before_now() {
    for (args, lines) in [
        (&["--since", "1h"][..], 5),
        (&["--since", "2m58s"], 3),
        (&["--since", "-2m58s"], 3),
        (&["--since=178s ago"], 3),
        (&["--until", "2m58s"], 2),
        (&["--since", "today"], 5),
        (&["--since", "yesterday", "--until", "now"], 5),
    ] {
        let (exit, out, errors) = run_at_half_past(args);
        assert_eq!((exit, out.lines().count()), (Exit::Done, lines), "{args:?}: {errors}");
        assert!(!errors.contains("help:"), "{errors}");
    }
}

#[test]
fn a_time_that_no_clock_has_shown_is_said() {
    let dir = protolog_testkit::temp_dir();
    let path = dir.path().join("app.pftrace");
    // At 01:30 in Berlin, half an hour before its clocks go from 2 to 3.
    let trace = "@9 snapshot(real=1774744200000000000, boot=1000000000)\n\
        @1 ts=1000000000 log(0x11, 1)\n@1 ts=3600000000000 log(0x11, 2)\n";
    std::fs::write(&path, description::trace(trace)).unwrap();
    let read = |args: &[&str]| {
        let mut tool = std::process::Command::new(env!("CARGO_BIN_EXE_protologtool"));
        let output =
            tool.arg("read-log").args(args).arg(&path).env("TZ", "CET-1CEST,M3.5.0,M10.5.0/3");
        let output = output.output().unwrap();
        let [out, errors] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (out.lines().count(), errors)
    };
    let (lines, errors) = read(&["--since", "02:30"]);
    let note = "note: there is no `02:30` in this time zone, since the clocks went over it: `--since` is 2026-03-29 03:00:00\n";
    assert!(lines == 1 && errors.contains(note), "{lines} {errors}");
    for known in ["03:00", "01:59", "2026-03-29T02:30Z", "2", "1m"] {
        let (_, errors) = read(&["--until", known]);
        assert!(!errors.contains("there is no"), "{known}: {errors}");
    }
}

#[test]
fn a_span_without_entries_is_reported() {
    for (args, warning) in [
        (["--since", "2m"], "the trace ends at 2026-11-20 18:27:03, before `--since 2m`"),
        (["--since", "19:00"], "the trace ends at 2026-11-20 18:27:03, before `--since 19:00`"),
        (["--until", "1d"], "the trace begins at 2026-11-20 18:27:01, not before `--until 1d`"),
    ] {
        let (exit, out, errors) = run_at_half_past(&args);
        let help = "help: give a time from `2026-11-20 18:27:01` to `2026-11-20 18:27:03`";
        assert_eq!((exit, out.as_str()), (Exit::Done, ""));
        assert!(errors.starts_with(&format!("warning: {warning}\n{help}\n")), "{errors}");
    }
}

#[test]
fn a_step_of_the_wall_clock_is_not_the_end_of_the_trace() {
    let trace = r#"
message(0x11, INFO, 1, "at %d", "a.rs:1")
@9 snapshot(real=1795199221000000000, boot=1000000000)
@1 cleared info(1, 2, "main") ts=10000000000 log(0x11, 1)
@9 snapshot(real=1795195621000000000, boot=11000000000)
@1 ts=20000000000 log(0x11, 2)
"#;
    let files = [("app", description::trace(trace))];
    let read = |args: &[&str]| run(&files, &[&["app", "--time", "utc"], args].concat());
    let (_, out, errors) = read(&["--since", "18:00"]);
    assert_eq!((out.lines().count(), &*errors), (1, ""), "{out}");
    let (_, out, errors) = read(&["--until", "18:00"]);
    assert_eq!((out.lines().count(), &*errors), (1, ""), "{out}");
    let (_, out, errors) = read(&["--since", "19:00"]);
    assert!(out.is_empty() && errors.starts_with("warning: the trace ends at "), "{errors}");
}

/// Messages whose arguments have names, and one without.
const NAMED: &str = r#"
group(1, "demo::Net", "Net") with_names(0x11, INFO, 1, "sent %d bytes to %s", "bytes,host")
with_names(0x12, INFO, 1, "%s took %f", ",ms") with_names(0x13, INFO, 1, "%d of %s", "bytes,level") message(0x14, INFO, 1, "%d")
@1 cleared string(1, "a b") string(2, "x=1")
@1 needs ts=1 log(0x11, 512, $1)
@1 needs ts=2 log(0x12, $2, 2.5)
@1 needs ts=3 log(0x13, 512, $2)
@1 ts=4 log(0x14, 512)
@1 ts=5 log(0x11, 7)
"#;

#[test]
fn arguments_are_chosen_by_name_or_number() {
    let files = [("app", description::trace(NAMED))];
    let read = |args: &[&str]| {
        let (exit, out, errors) = run(&files, &[&["app", "--columns", "message"], args].concat());
        assert_eq!(exit, Exit::Done, "{errors}");
        (out, errors)
    };
    for (args, expected) in [
        (&["--arg", "bytes=512"][..], "sent 512 bytes to a b\n512 of x=1\n"),
        (
            &["--arg", "bytes=0x200", "--arg", "ms=2.50"],
            "sent 512 bytes to a b\nx=1 took 2.500000\n512 of x=1\n",
        ),
        (&["--arg", "0=512"], "sent 512 bytes to a b\n512 of x=1\n512\n"),
        (&["--arg", "level=x=1"], "512 of x=1\n"),
        (&["--arg", "host=a b", "--level", "warn"], ""),
        (&["--arg", "0=7"], "sent 7 bytes to [MISSING_PARAM]\n"),
        (&["--arg", "bytes=7"], ""),
    ] {
        let (out, errors) = read(args);
        assert!(out == expected && !errors.contains("has no arg"), "{args:?}: {out}{errors}");
    }
    let (out, errors) = read(&["--arg", "byte=512"]);
    assert!(out.is_empty() && errors.contains("the trace has no arg `byte=512`"), "{errors}");
    let (exit, _, errors) = run(&files, &["app", "--arg", "bytes"]);
    assert!(
        exit != Exit::Done && errors.contains("help: give the name of an argument"),
        "{errors}"
    );
}

#[test]
fn fields_are_pairs_of_logfmt() {
    let files = [("app", description::trace(NAMED))];
    let read = |args: &[&str]| run(&files, &[&["app", "--columns"], args].concat()).1;
    assert_eq!(
        read(&["level,message,fields", "--format", "logfmt"]),
        "level=I message=\"sent 512 bytes to a b\" bytes=512 host=\"a b\"\n\
         level=I message=\"x=1 took 2.500000\" ms=2.5\n\
         level=I message=\"512 of x=1\" bytes=512 fields.level=\"x=1\"\n\
         level=I message=512\n\
         level=I message=\"sent 7 bytes to [MISSING_PARAM]\"\n"
    );
    assert_eq!(
        read(&["fields", "--format", "csv", "-n", "4"]),
        "fields\r\nms=2.5\r\n\"bytes=512 level=\"\"x=1\"\"\"\r\n\r\n\r\n"
    );
    // Usual in logfmt, and in no other form.
    let usual = run(&files, &["app", "--format", "logfmt", "--arg", "host=a b"]).1;
    assert!(usual.ends_with(" bytes=512 host=\"a b\"\n"), "{usual}");
    assert!(!run(&files, &["app", "--format", "csv"]).1.contains("bytes=512"));
}

#[test]
fn entries_are_counted_by_an_argument() {
    let files = [("app", description::trace(NAMED))];
    let read = |args: &[&str]| run(&files, &[&["app", "--format", "csv"], args].concat());
    for (args, expected) in [
        (&["--count-by-arg", "bytes"][..], "key,entries,bytes\r\n512,2,"),
        (&["--count-by-arg", "0"], "key,entries,bytes\r\n512,3,"),
        (&["--count-by-arg", "ms"], "key,entries,bytes\r\n2.5,1,"),
        (&["--count-by-arg", "none"], "key,entries,bytes\r\n"),
    ] {
        let (exit, out, errors) = read(args);
        assert!(exit == Exit::Done && out.starts_with(expected), "{args:?}: {out:?} {errors}");
    }
    let (_, _, errors) = read(&["--count-by-arg", "a=1"]);
    assert!(errors.contains("help: give a name, as in `bytes`"), "{errors}");
}
