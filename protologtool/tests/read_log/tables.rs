//! Entries and numbers as tables, and the filters that find what is shown.

use super::{APP, description, run};
use protolog_testkit::assert_eq_text;
use protologtool::cli::Exit;
use std::fmt::Write as _;

/// Messages that begin with spaces, are blank, or have several lines, and a group without a tag.
const TEXTS: &str = r#"
group(1, "demo::Net", "Net") group(2, "demo::Bare", "")
message(0x11, DEBUG, 1, "%s", "net.rs:1") message(0x12, WARN, 2, "bare", "net.rs:2")
@9 snapshot(real=1795199221000000000, boot=1000000000)
@1 cleared info(10, 11, "main")
@1 needs ts=1000000000 string(1, "  indented") log(0x11, $1)
@1 needs ts=1000000001 string(2, "   ") log(0x11, $2)
@1 needs ts=1000000002 string(3, "") log(0x11, $3)
@1 needs ts=1000000003 string(4, "  =1+1") log(0x11, $4)
@1 needs ts=1000000004 string(5, "first\nsecond line\n") log(0x11, $5)
@1 needs ts=1000000005 log(0x12)
@2 cleared pid=99 dropped ts=1000000006
@3 cleared info(10, 12, "worker") ts=1000000007 loss(1, 4, 2)
"#;

fn read(trace: &str, args: &[&str]) -> String {
    let files = [("app", description::trace(trace))];
    let (exit, out, errors) = run(&files, &[&["app"], args].concat());
    assert_eq!(exit, Exit::Done, "{errors}");
    out
}

#[test]
fn messages_keep_their_spaces() {
    let expected = "message\r\n\"  indented\"\r\n\"   \"\r\n\r\n\"'  =1+1\"\r\n\"first\nsecond line\n\"\r\nbare\r\n";
    let out =
        read(TEXTS, &["--format", "csv", "--columns", "message", "--pid", "10", "--grep", ""]);
    assert!(out.starts_with(expected), "{out:?}");
    let expected = "message=\"  indented\"\nmessage=\"   \"\nmessage=\"\"\nmessage=\"  =1+1\"\nmessage=\"first\\nsecond line\\n\"\nmessage=bare\n";
    let out = read(TEXTS, &["--format", "logfmt", "--columns", "message", "--pid", "10"]);
    assert!(out.starts_with(expected), "{out}");
    // Times of the boot clock are padded in text alone.
    let out = read(APP, &["--format", "csv", "--columns", "time,level", "--time", "boot"]);
    assert!(out.starts_with("time,level\r\n1.001000000,D\r\n"), "{out:?}");
}

#[test]
fn numbers_have_the_form_that_was_asked_for() {
    let by = |form| read(APP, &["--count-by", "level", "--format", form]);
    assert_eq_text("key,entries,bytes\r\nDEBUG,2,24\r\n?,1,13\r\nWARN,1,11\r\n", &by("csv"));
    assert_eq_text(
        "key=DEBUG entries=2 bytes=24\nkey=? entries=1 bytes=13\nkey=WARN entries=1 bytes=11\n",
        &by("logfmt"),
    );
    let count = |args: &[&str]| read(APP, &[&["--count"], args].concat());
    assert_eq!(count(&[]), "4\n");
    assert_eq!(count(&["--grep", "sent"]), "2\n");
    assert_eq!(count(&["--format", "json", "--level", "wtf"]), "{\"entries\":0}\n");
    assert_eq!(count(&["--format", "csv", "-n", "3"]), "entries\r\n2\r\n");
    assert_eq!(count(&["--format", "logfmt"]), "entries=4\n");
    let bars = read(APP, &["--histogram", "--format", "csv"]);
    assert!(bars.starts_with("ts,ns,entries\r\n1000000000,50000000,2\r\n"), "{bars:?}");
    assert_eq!(read(APP, &["--top", "--format", "csv"]).lines().count(), 4);
}

/// Two messages of one kind that stand for 100 each, of another one and of one that is not sampled.
const SAMPLED: &str = r#"
group(1, "demo::Net", "Net") group(2, "demo::Disk", "Disk")
message(0x11, DEBUG, 1, "sent %d bytes", "net.rs:12") message(0x12, INFO, 1, "done", "net.rs:13")
message(0x13, WARN, 2, "slow", "disk.rs:1")
@1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(100, 101, "main") passed_over(1, 1, 190)
@1 ts=1000000 log(0x11, 512) rate(1, 100)
@1 ts=1000000 log(0x11, 100) rate(1, 100)
@1 ts=1000000 log(0x12) rate(2, 5)
@1 ts=1000000 log(0x13)
@1 cleared passed_over(1, 1, 7) passed_over(1, 3, 2)
"#;

#[test]
fn sampled_messages_stand_for_others() {
    let estimate = |args: &[&str]| read(SAMPLED, &[args, &["--estimate"]].concat());
    assert_eq_text("       203                 exact\n", &estimate(&["--count"]));
    let expected = "       200               55..726  sent %d bytes\n         3                 1..11  done\n         1                 exact  slow\n       203                 exact  in all\n";
    assert_eq_text(expected, &estimate(&["--count-by", "template"]));
    // Nobody knows how many of those that were passed over a filter would leave out.
    let one = estimate(&["--count", "--grep", "512", "--format", "json"]);
    assert_eq!(one, "{\"estimate\":100,\"high\":563,\"low\":17}\n");
    let top = estimate(&["--top=1", "--format", "csv"]);
    let (head, line) = top.split_once("\r\n").expect("a head");
    assert_eq!(head, "key,estimate,low,high,bytes,low_bytes,high_bytes,entries");
    assert!(line.contains("sent %d bytes") && line.contains(",200,55,726,"), "{line}");
    let bars = estimate(&["--histogram", "--format", "csv"]);
    assert!(bars.starts_with("ts,ns,estimate,low,high\r\n1001000000,"), "{bars}");
    let (exit, _, errors) = run(&[("app", description::trace(SAMPLED))], &["app"]);
    assert_eq!(exit, Exit::Done, "they are not lost");
    assert!(
        errors.starts_with("note: 197 messages were passed over by sampling of demo::Net at DEBUG\nnote: 2 messages were"),
        "{errors}"
    );
    let json = read(SAMPLED, &["--format", "json", "--grep", "done"]);
    assert!(json.contains("\"rate\":\"2/5\""), "{json}");
}

/// A message of a group and level that were sampled may have been passed over every time.
#[test]
fn a_number_is_exact_only_where_none_was_passed_over() {
    let trace = format!("{SAMPLED}@1 cleared passed_over(1, 4, 1000) passed_over(2, 4, 9)\n");
    let estimate = |args: &[&str]| read(&trace, &[args, &["--estimate"]].concat());
    let lines = estimate(&["--count-by", "template"]);
    let slow = lines.lines().find(|line| line.ends_with("slow")).expect("a line");
    assert_eq!(slow, "         1                 1..10  slow");
    assert!(estimate(&["--count", "--grep", "slow"]).ends_with(" 1..10\n"));
    assert!(estimate(&["--count"]).contains("exact"));
}

/// Messages of one request are one draw: the interval is as wide as their number makes it, and
/// there is none of a few requests.
#[test]
fn messages_that_were_kept_together_are_one_draw() {
    let mut trace = "@1 group(1, \"demo::Net\", \"Net\") message(0x11, DEBUG, 1, \"%s of request %d\") message(0x12, DEBUG, 1, \"end of %d\")\n@1 cleared info(7, 7, \"main\") passed_over(1, 1, 999)\n".to_owned();
    for request in 0..20 {
        for _ in 0..5 {
            let needs = "@1 needs ts=1 string(1, \"part\")";
            writeln!(trace, "{needs} log(0x11, $1, {request}) rate(1, 10, 2)").unwrap();
        }
        if request < 2 {
            writeln!(trace, "@1 ts=1 log(0x12, {request}) rate(1, 10, 1)").unwrap();
        }
    }
    let estimate = |args: &[&str]| read(&trace, &[args, &["--estimate"]].concat());
    let lines = estimate(&["--count-by", "template"]);
    // Alone, they would be 830..1205.
    assert_eq_text(
        "      1000             661..1512  %s of request %d\n        20      of 2 values only  end of %d\n      1101                 exact  in all\n",
        &lines,
    );
    let bars = estimate(&["--histogram", "--format", "csv"]);
    assert!(bars.lines().nth(1).is_some_and(|line| line.ends_with(",1020,674,1543")), "{bars}");
    let few = estimate(&["--count", "--grep", "end of", "--format", "json"]);
    assert_eq!(few, "{\"estimate\":20,\"high\":null,\"low\":null}\n");
    let json = read(&trace, &["--format", "json", "--grep", "end of"]);
    assert!(json.contains("\"rate\":\"1/10:arg1\""), "{json}");
    // The string of the argument is not there.
    let lost = "@1 cleared needs ts=1 log(0x12, $9) rate(1, 10, 1)\n";
    let lost = trace.replace("\"end of %d\"", "\"end of %s\"") + lost;
    let (exit, _, errors) =
        run(&[("app", description::trace(&lost))], &["app", "--count", "--estimate"]);
    assert_eq!(exit, Exit::Failed, "{errors}");
    assert!(errors.contains("no estimate: of a message that was kept by the value"), "{errors}");
}

#[test]
fn no_estimate_is_made_of_what_nobody_knows() {
    let refused = |trace: &str, args: &[&str]| {
        let (exit, out, errors) = run(&[("app", description::trace(trace))], args);
        assert_eq!((exit, &*out), (Exit::Failed, ""), "{errors}");
        errors
    };
    let limited = format!("{SAMPLED}@1 cleared loss(1, 10, 5)\n");
    let args = ["app", "--count-by", "level", "--estimate"];
    assert!(refused(&limited, &args).contains("`demo::Net` were sampled and limited"));
    // None was passed over yet.
    let limited =
        limited.replace(" passed_over(1, 1, 190)", "").replace("passed_over(1, 1, 7) ", "");
    let limited = limited.replace("passed_over(1, 3, 2)", "");
    assert!(refused(&limited, &args).contains("`demo::Net` were sampled and limited"));
    let other = format!("{SAMPLED}@1 cleared loss(2, 10, 5)\n");
    let out = read(&other, &args[1..]);
    assert!(out.contains("sent") || out.contains("DEBUG"), "another group was limited: {out}");
    assert!(refused(SAMPLED, &["app", "--estimate"]).contains("`--estimate` is for numbers only"));
}

#[test]
fn flags_that_mean_nothing_are_refused() {
    for args in [&["--columns", "time"][..], &["--delta"]] {
        let files = [("app", description::trace(APP))];
        let (exit, out, errors) = run(&files, &[&["app", "--format", "json"], args].concat());
        assert_eq!((exit, &*out), (Exit::Failed, ""));
        assert!(errors.contains(&format!("`{}` is not for `--format json`", args[0])), "{errors}");
        let (exit, _, errors) = run(&files, &[&["app", "--count-by", "level"], args].concat());
        assert_eq!(exit, Exit::Failed, "{errors}");
    }
}

#[test]
fn what_is_shown_is_found() {
    let messages =
        |args: &[&str]| read(TEXTS, &[args, &["--columns", "level,tag,message"]].concat());
    assert_eq_text(
        "D Net      first\nD Net      second line\n! LOST     an unknown number of packets: lost on the way to the trace\n! CUT      2 messages of demo::Net: truncated, since an argument was too long\n",
        &messages(&["--grep", "^second line$"]),
    );
    let bare = messages(&["--tag", "demo::bare"]);
    assert!(bare.starts_with("W demo::Bare bare\n"), "{bare}");
    let losses =
        |args: &[&str]| messages(args).lines().filter(|line| line.starts_with('!')).count();
    assert_eq!(losses(&["--pid", "10"]), 1);
    assert_eq!(losses(&["--pid", "99"]), 1);
}

#[test]
fn a_message_that_was_cut_is_not_lost() {
    let trace = TEXTS.replace(" dropped", "");
    let files = [("app", description::trace(&trace))];
    let (exit, _, errors) = run(&files, &["app", "--fail-on-loss"]);
    assert_eq!(
        (exit, &*errors),
        (
            Exit::Done,
            "warning: 2 messages of demo::Net: truncated, since an argument was too long\n"
        )
    );
    let (exit, _, _) = run(&[("app", description::trace(TEXTS))], &["app", "--fail-on-loss"]);
    assert_eq!(exit, Exit::Incomplete);
}
