//! The forms in which `read-log` shows a log, and which entries it chooses by their place.

use super::description;
use protolog_testkit::assert_eq_text;
use protologtool::cli::{self, Exit};
use protologtool::system::Memory;

/// Two processes; a message of two lines, a text with quotes and commas, a loss, a message in no
/// dictionary.
const APP: &str = r#"
group(1, "demo::AppLog::Net", "Net") group(2, "demo::AppLog::Disk", "Disk")
message(0x11, DEBUG, 1, "sent %d bytes", "src/net.rs:12") message(0x12, WARN, 2, "slow: %s", "src/disk.rs:40")
@9 snapshot(real=1795199221000000000, boot=1000000000)
@1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(100, 101, "main")
@1 ts=1000001 log(0x11, 512)
@1 ts=1000000 log(0x11, 1)
@1 ts=1000000 log(0x11, 2)
@1 needs ts=1000000 string(1, "two\nlines") log(0x12, $1)
@1 ts=1000000 log(0x11, 3)
@1 ts=1000000 log(0x11, 4)
@1 needs ts=1000000 string(2, "a \"b\", c=d") log(0x12, $2)
@2 cleared snapshot(64=0, boot=2000000000, incremental=64) default_clock=64 info(200, 202, "worker") loss(2, 1, 3)
@2 ts=5 log(0x11, 1024)
@2 ts=1000000000 log(0x77, 1, true)
"#;

fn run(args: &[&str]) -> (Exit, String, String) {
    let words = [&["app", "--time", "utc"], args].concat();
    super::run(&[("app", description::trace(APP))], &words)
}

#[track_caller]
fn check(args: &[&str], expected: &str) {
    let (exit, out, errors) = run(args);
    assert_eq!(exit, Exit::Done, "{errors}");
    assert_eq_text(expected.strip_prefix('\n').unwrap_or(expected), &out);
}

#[test]
fn the_last_ones_and_either_order() {
    check(
        &["-n", "2", "--columns", "time,pid,message", "--time-format", "iso"],
        "
2026-11-20T18:27:02.000000005+00:00   200 sent 1024 bytes
2026-11-20T18:27:03.000000005+00:00   200 #0000000000000077 (1, true)
",
    );
    check(
        &["--reverse", "--group", "Net", "-n", "3", "--columns", "message"],
        "sent 1024 bytes\nsent 4 bytes\nsent 3 bytes\n",
    );
    check(&["-n", "0"], "");
}

#[test]
fn what_stands_around() {
    check(
        &["--grep", "two", "-C", "1", "--columns", "message"],
        "
sent 2 bytes
slow: two
lines
sent 3 bytes
--
slow: a \"b\", c=d
3 messages of demo::AppLog::Disk: the buffer was full
sent 1024 bytes
",
    );
    check(
        &["--grep", "sent (512|4)", "-A", "1", "--pid", "100", "--columns", "message"],
        "
sent 512 bytes
sent 1 bytes
--
sent 4 bytes
slow: a \"b\", c=d
",
    );
    check(
        &[
            "--grep",
            "sent",
            "--invert",
            "--pid",
            "100",
            "--level",
            "debug",
            "--columns",
            "level,message",
        ],
        "W slow: two\nW lines\nW slow: a \"b\", c=d\n",
    );
    // However many there are; the sum of these is no number.
    let all = run(&["--columns", "message"]).1;
    let most = &usize::MAX.to_string();
    for options in [&["-C", most][..], &["-B", most, "-A", most]] {
        check(&[&["--grep", "two", "--columns", "message"], options].concat(), &all);
    }
}

#[test]
fn times_to_the_nanosecond_and_between() {
    check(
        &["--pid", "100", "-n", "2", "--delta", "--time-format", "us"],
        "
11-20 18:27:01.006000 0.001000000   100   101 D Net      sent 4 bytes
11-20 18:27:01.007000 0.001000000   100   101 W Disk     slow: a \"b\", c=d
",
    );
    let (_, out, _) = run(&["-n", "1", "--time-format", "ns"]);
    assert!(out.starts_with("11-20 18:27:03.000000005 "), "{out}");
}

#[test]
fn csv_and_logfmt() {
    check(
        &["--format", "csv", "--level", "warn", "--columns", "level,group,message"],
        "level,group,message\r\nW,demo::AppLog::Disk,\"slow: two\nlines\"\r\nW,demo::AppLog::Disk,\"slow: a \"\"b\"\", c=d\"\r\n\
         !,demo::AppLog::Disk,3 messages of demo::AppLog::Disk: the buffer was full\r\n",
    );
    check(
        &["--format", "logfmt", "--level", "warn", "--pid", "100", "-n", "1"],
        "time=2026-11-20T18:27:01.007000001+00:00 pid=100 tid=101 thread=main level=W group=demo::AppLog::Disk \
         message=\"slow: a \\\"b\\\", c=d\" location=src/disk.rs:40\n",
    );
}

#[test]
fn numbers_in_place_of_entries() {
    check(&["--count-by", "level"], "         6  DEBUG\n         2  WARN\n         1  ?\n");
    check(
        &["--count-by", "template", "--format", "json", "--level", "warn"],
        "{\"bytes\":22,\"entries\":2,\"key\":\"slow: %s\"}\n",
    );
    check(&["--count-by", "thread"], "         7  main 101\n         2  worker 202\n");
    check(&["--count-by", "location", "--grep", "sent"], "         6  src/net.rs:12\n");
    let (_, out, _) = run(&["--top=1"]);
    assert!(
        out.contains(" 6 entries")
            && out.contains("D demo::AppLog::Net: sent %d bytes  (src/net.rs:12)"),
        "{out}"
    );
    assert!(out.ends_with("and 2 more, with 3 entries\n"), "{out}");
    let (_, out, _) = run(&["--histogram"]);
    let bars: Vec<&str> = out.lines().collect();
    assert!(bars[0].starts_with("11-20 18:27:01.000         7 █"), "{out}");
    assert!(bars.iter().any(|bar| bar.ends_with(" 0 ")) && bars.len() > 20, "{out}");
}

#[test]
fn losses_can_be_a_failure() {
    assert_eq!(run(&["--fail-on-loss"]).0, Exit::Incomplete);
    assert_eq!(run(&[]).0, Exit::Done);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    for args in
        [&["--top", "--histogram"][..], &["--invert"], &["--columns", "nonsense"], &["-n", "x"]]
    {
        assert_eq!(run(args).0, Exit::Failed, "{args:?}");
    }
}

/// Texts of a trace that a terminal, an editor or a spreadsheet would obey, wherever they stand,
/// and the text without them.
#[test]
fn no_form_passes_on_what_a_terminal_or_a_spreadsheet_obeys() {
    let table = include_str!("../../../protolog-core/testdata/controls.tsv");
    let codes = table.lines().skip(1).map(|line| line.split('\t').next().unwrap());
    let controls: String =
        codes.map(|code| char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap()).collect();
    let bytes: Vec<String> = controls.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
    let bytes = bytes.concat();
    let text = format!(
        r#"group(1, "=demo{bytes}", "Net{bytes}") message(0x11, DEBUG, 1, "=1+%s", "src/{bytes}.rs:12")
        @9 snapshot(real=1795199221000000000, boot=1000000000)
        @1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(100, 101, "main{bytes}")
        @1 needs ts=1000001 string(1, "a{bytes}z") log(0x11, $1)"#
    );
    let trace = description::trace(&text);
    let columns = "message,tag,group,thread,location,template,level";
    for format in ["text", "csv", "logfmt", "json"] {
        for args in [&["--columns", columns][..], &[], &["--top"], &["--count-by", "tag"]] {
            if format == "json" && args.first() == Some(&"--columns") {
                continue;
            }
            let system = Memory::default();
            system.add_file("app", trace.clone());
            let words = ["protologtool", "read-log", "app", "--format", format];
            let exit = cli::run(words.iter().chain(args).map(Into::into), &system);
            let (out, errors) = (system.out(), system.errors());
            assert!(exit == Exit::Done || out.is_empty(), "{format} {args:?}: {errors}");
            let obeyed = out.replace("\r\n", "\n");
            let obeyed =
                obeyed.chars().find(|char| controls.contains(*char) && !"\n\t".contains(*char));
            assert_eq!(obeyed, None, "{format} {args:?}: {out:?}");
            if format == "csv" && args.first() == Some(&"--columns") {
                assert!(out.contains("\"'=1+a"), "{out}");
            }
            if format == "json" && args.is_empty() {
                let line: serde_json::Value = serde_json::from_str(&out).expect("an object");
                assert_eq!(line["message"], format!("=1+a{controls}z"));
                assert_eq!(line["tag"], format!("Net{controls}"));
            }
        }
    }
}
