//! `--follow` of a trace that comes in slices shows the lines that the whole trace has, whatever is
//! asked for.

use super::description;
use protolog_testkit::{Random, assert_eq_text, temp_dir};
use protologtool::cli::{self, Exit};
use protologtool::system::Memory;
use std::fmt::Write as _;

/// Messages of several groups, from before midnight until after it, on one thread: their order in
/// the file is that of time.
fn trace(messages: u32) -> Vec<u8> {
    let mut text = String::from(
        r#"group(1, "demo::AppLog::Net", "Net") group(2, "demo::AppLog::Disk", "Disk") stripped(0xf3)
message(0x11, DEBUG, 1, "sent %d bytes to %s", "src/net.rs:12") message(0x12, WARN, 2, "slow: %d", "src/disk.rs:40")
@9 snapshot(real=1795219185000000000, boot=1000000000)
@1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(100, 101, "main") string(1, "host")
"#,
    );
    for number in 0..messages {
        // Half a second each.
        let line = match number % 5 {
            0 => format!("@1 needs ts=500000000 log(0x11, {number}, $1)"),
            1 => format!("@1 needs ts=500000000 loss(2, 1, {number})"),
            2 => format!("@1 ts=500000000 log(0x77, {number})"),
            3 => format!(
                "@1 needs ts=500000000 string({}, \"é {number}\") log(0x11, 7, ${0})",
                number + 9
            ),
            _ => format!("@1 ts=500000000 log(0x12, {number})"),
        };
        text.push_str(&line);
        text.push('\n');
    }
    description::trace(&text)
}

fn run(trace: &[u8], sizes: Option<Vec<usize>>, args: &[&str]) -> String {
    let system = Memory::default();
    system.add_file("-", trace);
    let mut words = vec!["protologtool", "read-log", "-"];
    words.extend(sizes.is_some().then_some("--follow"));
    system.set_input_parts(sizes.unwrap_or_default());
    let exit = cli::run(words.iter().chain(args).map(Into::into), &system);
    assert_eq!(exit, Exit::Done, "{args:?}: {}", system.errors());
    // What the whole trace has at its end is not there while it grows.
    let out = system.out();
    let lines = out.split_inclusive('\n');
    lines.filter(|line| !line.contains("\"type\":\"end\"")).collect()
}

const OPTIONS: [&[&str]; 26] = [
    &[],
    &["--level", "w"],
    &["--group", "Net"],
    &["--tag", "disk"],
    &["--grep", "bytes"],
    &["--grep", "bytes", "--invert"],
    &["--since", "23:59:50"],
    &["--since", "23:59:50", "--until", "23:59:55"],
    &["--since", "11-21 00:00:05"],
    &["--until", "2026-11-20T23:59:50Z"],
    &["--since", "12.25", "--until", "20"],
    &["--pid", "100"],
    &["--pid", "7"],
    &["--thread", "main"],
    &["--thread", "101", "--location", "net.rs"],
    &["--format", "json"],
    &["--format", "csv"],
    &["--format", "csv", "--columns", "time,message,group"],
    &["--format", "logfmt"],
    &["--columns", "level,thread,message", "--delta"],
    &["--time-format", "ns"],
    &["--level", "w", "-C", "2"],
    &["--grep", "slow", "-B", "1"],
    &["--since", "00:00:10", "--until", "00:00:11", "-C", "3"],
    &["--grep", "slow: [0-9]*4", "-A", "3"],
    &["--until", "23:59:46", "-A", "30"],
];

#[test]
fn every_option_means_the_same_of_slices() {
    let whole = trace(120);
    let mut random = Random::from_seed(b"slices");
    for options in OPTIONS {
        let args = [&["--time", "utc"], options].concat();
        let expected = run(&whole, None, &args);
        for most in [1, 40, 700, 5000] {
            let mut sizes = Vec::new();
            let mut left = whole.len();
            while left > 0 {
                let size = (1 + random.below(most) as usize).min(left);
                sizes.push(size);
                left -= size;
            }
            assert_eq_text(&expected, &run(&whole, Some(sizes), &args));
        }
    }
}

/// Messages that can't be read are one loss of the whole, and of each slice those that are in it.
#[test]
fn a_run_of_losses_that_grows_is_counted_in_each_slice() {
    let mut text = String::from(
        "message(0x11, INFO, 1, \"text %s\", \"a.rs:1\")\n@1 cleared info(10, 11, \"main\") ts=1 log(0x11)\n@2 info(10, 12, \"w\")\n",
    );
    for number in 2..60 {
        writeln!(text, "@2 needs ts={number} log(0x11, $1)").unwrap();
    }
    let whole = description::trace(&text);
    let lost = |sizes: Option<Vec<usize>>| -> Vec<u32> {
        let out = run(&whole, sizes, &["--columns", "level,message"]);
        let lost = out.lines().filter_map(|line| line.strip_prefix("! "));
        lost.map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect()
    };
    assert_eq!(lost(None), [58]);
    for size in [7, 100, 400] {
        let mut sizes = vec![size; whole.len() / size];
        sizes.push(whole.len() % size);
        let lost = lost(Some(sizes));
        assert_eq!((lost.iter().sum::<u32>(), lost.len() > 1), (58, true), "{size}: {lost:?}");
    }
}

#[test]
fn dictionaries_of_a_directory_are_found_when_the_trace_names_them() {
    let dir = temp_dir();
    let pb = viewer_config::Dictionary::read(
        br#"{"version": "2.0.0", "messages": {"8589934592": {"message": "found %d", "level": "WARN", "group": "NET", "at": "a"}}, "groups": {"NET": {"tag": "Net"}}}"#,
    );
    let dictionary = pb.expect("a dictionary").dictionary;
    std::fs::write(dir.path().join("any.pb"), dictionary.to_bytes(viewer_config::Format::Pb))
        .unwrap();
    let text = format!(
        "stripped({:#x})\n@1 ts=5 log(0x200000000, 7)\n@1 ts=6 log(0x200000000, 8)",
        dictionary.hash()
    );
    let path = dir.path().join("a.pftrace");
    std::fs::write(&path, description::trace(&text)).unwrap();
    let mut tool = std::process::Command::new(env!("CARGO_BIN_EXE_protologtool"));
    tool.args(["read-log", "-", "--follow", "--columns", "message", "--viewer-config"])
        .arg(dir.path());
    let output = tool.stdin(std::fs::File::open(&path).unwrap()).output().unwrap();
    assert_eq_text("found 7\nfound 8\n", &String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_time_waits_for_the_first_entry() {
    let system = Memory::default();
    let text = "@9 snapshot(real=1795219185000000000, boot=1000000000)\n@1 ts=5 log(0x11)";
    let bytes = description::trace(text);
    system.add_file("-", bytes.clone());
    system.set_input_parts(vec![20; 3]);
    let args = ["protologtool", "read-log", "-", "--follow", "--since", "00:00"];
    assert_eq!(cli::run(args.map(Into::into), &system), Exit::Done, "{}", system.errors());
    assert_eq!(system.out().lines().count(), 1);

    let system = Memory::default();
    system.add_file("-", description::trace("@1 ts=5 log(0x11)"));
    assert_eq!(cli::run(args.map(Into::into), &system), Exit::Done, "{}", system.errors());
    assert!(system.errors().contains("does not know the wall clock"), "{}", system.errors());
    let wrong = ["protologtool", "read-log", "-", "--follow", "--since", "tomorrow"];
    assert_eq!(cli::run(wrong.map(Into::into), &system), Exit::Failed);
}

#[test]
fn context_is_not_cut_off_where_a_page_is() {
    let count = 120_000;
    let mut text = String::from(
        "@1 cleared snapshot(64=0, boot=0, incremental=64) default_clock=64 info(100, 101, \"main\")\n",
    );
    for number in 0..count {
        writeln!(text, "@1 ts=1000 log(0x11, {number})").unwrap();
    }
    let trace = description::trace(&text);
    assert!(trace.len() > 2 << 20, "several pages: {}", trace.len());
    // The time of message 99,999 is 100 ms.
    let moment = ["--since", "0.1", "--until", "0.100000001", "--columns", "message"];
    for (option, expected) in [("-B", 99_000..=99_999), ("-A", 99_999..=100_999)] {
        let shown = run(
            &trace,
            None,
            &[&moment[..], &[option, &(expected.end() - expected.start()).to_string()]].concat(),
        );
        let lines = expected.map(|number| format!("#0000000000000011 ({number})"));
        assert_eq_text(&(lines.collect::<Vec<_>>().join("\n") + "\n"), &shown);
    }
}
