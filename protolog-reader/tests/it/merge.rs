//! Merges: the result has everything that the inputs have, and contradictions are refused.

use crate::common::{rows, text, trace};
use protolog_core::schema::packet;
use protolog_reader::{MergeInput, Merged, Trace, merge};
use protolog_testkit::{assert_eq_text, read_trace, temp_dir};
use protozero::Reader;
use std::io::{self, Cursor, Read};

/// A trace in memory.
struct Input {
    name: &'static str,
    bytes: Vec<u8>,
}

impl MergeInput for Input {
    fn name(&self) -> &str {
        self.name
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(Cursor::new(&self.bytes)))
    }
}

const SERVER: &str = r#"
@1 snapshot(real=1795199222000000000, mono=2000000000, boot=2000000000) boot(7)
@1 group(1, "server::Log::Net", "Net") message(0x11, DEBUG, 1, "served %d", "src/server.rs:12")
@1 group(2, "lib::Log::Io", "Io") message(0x22, WARN, 2, "slow: %s", "src/lib.rs:40")
@2 cleared snapshot(64=2000000000, boot=2000000000, incremental=64) default_clock=64 info(100, 100, "server")
@2 ts=1000000 log(0x11, 1)
@3 cleared snapshot(64=2500000000, boot=2500000000, incremental=64) default_clock=64 info(100, 101, "other")
@3 needs ts=0 string(1, "disk") log(0x22, $1)
@2 ts=2000000000 log(0x11, 2)
"#;

const WORKER: &str = r#"
@1 snapshot(real=1795199221000000000, mono=1000000000, boot=1000000000) boot(7)
@1 group(3, "worker::Log::Job", "Job") message(0x33, INFO, 3, "job %d", "src/worker.rs:7") group(2, "lib::Log::Io", "Io") message(0x22, WARN, 2, "slow: %s", "src/lib.rs:40")
process(200, "worker")
@2 cleared snapshot(64=1000000000, boot=1000000000, incremental=64) default_clock=64 info(200, 200, "worker")
@2 ts=5000000 log(0x33, 1)
@2 needs ts=1600000000 string(1, "net") log(0x22, $1)
@2 cleared dropped snapshot(64=3000000000, boot=3000000000, incremental=64) default_clock=64 info(200, 200, "worker") loss(3, 1, 9)
@2 ts=3000000 log(0x33, 2)
"#;

const BOTH: &str = "\
11-20 18:27:01.005   200   200 I Job     : job 1
11-20 18:27:02.001   100   100 D Net     : served 1
11-20 18:27:02.500   100   101 W Io      : slow: disk
11-20 18:27:02.605   200   200 W Io      : slow: net
11-20 18:27:03.000   200   200 ! LOST    : 9 messages of worker::Log::Job: the buffer was full
11-20 18:27:03.003   200   200 I Job     : job 2
11-20 18:27:04.001   100   100 D Net     : served 2
";

fn merged(inputs: &[(&'static str, Vec<u8>)]) -> Result<(Merged, Vec<u8>), String> {
    let inputs: Vec<Input> =
        inputs.iter().map(|(name, bytes)| Input { name, bytes: bytes.clone() }).collect();
    let inputs: Vec<&dyn MergeInput> =
        inputs.iter().map(|input| input as &dyn MergeInput).collect();
    let mut out = Vec::new();
    let merged = merge(&inputs, &mut out).map_err(|error| {
        assert!(error.help().starts_with(|c: char| c.is_ascii_lowercase()));
        error.to_string()
    })?;
    Ok((merged, out))
}

/// Merges two traces and checks the text of the result; Perfetto agrees and counts no errors.
#[track_caller]
fn check(first: Vec<u8>, second: Vec<u8>, expected: &str) -> (Merged, Vec<u8>) {
    let (merged, bytes) = merged(&[("first", first), ("second", second)]).unwrap();
    let log = Trace::from_bytes(bytes.clone()).read().unwrap();
    assert_eq_text(expected, &text(&log));
    let dir = temp_dir();
    let path = dir.path().join("merged.pftrace");
    std::fs::write(&path, &bytes).unwrap();
    let sql = "select ts, level, tag, message, location, stacktrace from protolog order by ts, id";
    if let Some(reading) = read_trace(&path, &[sql]) {
        assert_eq_text(&rows(&log), &reading.tables[0].to_string());
        let stats = reading.stats.to_string();
        assert_eq!(stats, "");
    }
    (merged, bytes)
}

#[test]
fn every_message_has_its_process_and_time() {
    for (first, second) in [(SERVER, WORKER), (WORKER, SERVER)] {
        let (report, bytes) = check(trace(first), trace(second), BOTH);
        assert_eq!((report.sequences, report.malformed), (5, 0));
        assert_eq!(report.truncated, Vec::<String>::new());
        let whole = merged(&[("one", bytes.clone())]).unwrap().1;
        assert_eq!(Trace::from_bytes(whole).read().unwrap().entries().len(), 6);
        let copies = bytes.windows(8).filter(|bytes| bytes == b"slow: %s").count();
        assert_eq!(copies, 1, "texts that both have are there once");
        assert_eq!(report.packets, Reader::new(&bytes).count() as u64);
        for packet in Reader::new(&bytes).map(Result::unwrap) {
            let fields = packet.as_message().unwrap().map(Result::unwrap);
            let ids = fields.filter(|it| it.number == packet::TRUSTED_PACKET_SEQUENCE_ID);
            assert!(ids.count() <= 1, "the old id is gone");
        }
    }
}

/// A process that started after the machine had slept for five seconds and its wall clock had been
/// set forward by half a second. Its threads use MONOTONIC, as those of a JVM.
const LATER: &str = r#"
@1 snapshot(real=1795199227500000000, mono=2000000000, boot=7000000000) boot(7)
@1 group(3, "worker::Log::Job", "Job") message(0x33, INFO, 3, "job %d", "src/worker.rs:7")
@2 cleared snapshot(64=2000000000, mono=2000000000, incremental=64) default_clock=64 info(200, 200, "worker")
@2 ts=5000000 log(0x33, 1)
@2 ts=1000000000 log(0x33, 2)
"#;

#[test]
fn processes_may_know_different_clocks() {
    // The server goes on meanwhile.
    let server = format!(
        "{SERVER}\n@3 cleared snapshot(64=7500000000, boot=7500000000, incremental=64) default_clock=64 \
         info(100, 101, \"other\")\n@3 ts=0 log(0x11, 3)\n"
    );
    let inputs = [("server", trace(&server)), ("later", trace(LATER))];
    for order in [[0, 1], [1, 0]] {
        let inputs = order.map(|index| inputs[index].clone());
        let (_, bytes) = merged(&inputs).unwrap();
        let log = Trace::from_bytes(bytes.clone()).read().unwrap();
        let boot: Vec<_> = log.entries().map(|entry| entry.time() / 1_000_000).collect();
        assert_eq!(boot, [2_001, 2_500, 4_001, 7_005, 7_500, 8_005], "{order:?}");
        // Perfetto has the same order and times, and nothing to complain about.
        let dir = temp_dir();
        let path = dir.path().join("merged.pftrace");
        std::fs::write(&path, &bytes).unwrap();
        let sql =
            "select ts, level, tag, message, location, stacktrace from protolog order by ts, id";
        if let Some(reading) = read_trace(&path, &[sql]) {
            assert_eq_text(&rows(&log), &reading.tables[0].to_string());
            assert_eq!(reading.stats.to_string(), "");
        }
    }
}

#[test]
fn compressed_traces_are_merged_too() {
    let bundled = |text: &str, kind: &str| trace(&format!("bundle({kind}) {{\n{text}\n}}\n"));
    check(bundled(SERVER, "zlib"), bundled(WORKER, "gzip"), BOTH);
    let (report, _) = check(bundled(SERVER, "zstd"), bundled(WORKER, "zstd"), BOTH);
    assert!(report.sequences > 1, "bundles are looked into");
    check(trace(&format!("whole(gzip)\n{SERVER}")), trace(WORKER), BOTH);
    // Bundles of bundles, as deep as they are read.
    let nested = |depth| {
        let (open, close) = ("bundle(zlib) {\n".repeat(depth), "}\n".repeat(depth));
        trace(&format!("{open}{SERVER}\n{close}"))
    };
    check(nested(4), trace(WORKER), BOTH);
    let (report, _) = merged(&[("a", nested(5)), ("b", trace(WORKER))]).unwrap();
    assert_eq!((report.malformed, report.is_whole()), (1, false));
    let other = bundled(&WORKER.replace("boot(7)", "boot(8)"), "zlib");
    check(bundled(SERVER, "zlib"), other, BOTH);
}

/// A run before the machine was booted again, on the day before, and one after that; the times
/// since the boots are mixed.
const BEFORE: &str = r#"
@1 snapshot(real=1795112822000000000, mono=800000000000, boot=900000000000) boot(7)
@1 group(1, "app::Log::Net", "Net") message(0x11, DEBUG, 1, "served %d", "src/app.rs:12")
@2 cleared snapshot(64=900000000000, boot=900000000000, incremental=64) default_clock=64 info(100, 100, "app")
@2 ts=1000000 log(0x11, 1)
@2 ts=2000000000 log(0x11, 2)
@1 snapshot(real=1795112825500000000, mono=803000000000, boot=903000000000)
@2 ts=2000000000 log(0x11, 3)
"#;

const AFTER: &str = r#"
@1 snapshot(real=1795199222000000000, mono=2000000000, boot=2000000000) boot(8)
@1 group(1, "app::Log::Net", "Net") message(0x11, DEBUG, 1, "served %d", "src/app.rs:12")
@2 cleared snapshot(64=2000000000, boot=2000000000, incremental=64) default_clock=64 info(100, 100, "app")
@2 ts=1000000 log(0x11, 4)
@3 ts=903000000000 info(100, 101, "late") log(0x11, 6)
@4 cleared snapshot(64=500000000, boot=2500000000, incremental=64) default_clock=64 info(100, 102, "mid") begin("span", track=9)
@4 needs ts=600000000 log(0x11, 5)
"#;

const BOOTS: &str = "\
11-19 18:27:02.001   100   100 D Net     : served 1
11-19 18:27:04.001   100   100 D Net     : served 2
11-19 18:27:06.501   100   100 D Net     : served 3
11-20 18:27:02.001   100   100 D Net     : served 4
11-20 18:27:03.100   100   102 D Net     : served 5
11-20 18:42:03.000   100   101 D Net     : served 6
";

#[test]
fn traces_of_several_boots_are_in_the_order_of_the_wall_clock() {
    check(trace(BEFORE), trace(AFTER), BOOTS);
    let (_, both) = check(trace(AFTER), trace(BEFORE), BOOTS);
    // Such a merge is a trace like others, beside another run of one of its boots, and of a third
    // boot.
    let again = |text: &str, from: &str, to: &str, count: &str| {
        let text = text.replace(from, to).replace("log(0x11, ", count);
        trace(&text)
    };
    let same_boot = again(AFTER, "info(100,", "info(300,", "log(0x11, 1");
    let third = again(
        &AFTER.replace("boot(8)", "boot(9)").replace("real=17951992", "real=17952856"),
        "info(100,",
        "info(400,",
        "log(0x11, 2",
    );
    let (report, all) = merged(&[("x", third), ("y", both), ("z", same_boot)]).unwrap();
    assert!(report.is_whole());
    let lines = text(&Trace::from_bytes(all).read().unwrap());
    let numbers: Vec<&str> = lines.lines().filter_map(|line| line.rsplit(' ').next()).collect();
    let expected = ["1", "2", "3", "4", "14", "5", "15", "6", "16", "24", "25", "26"];
    assert_eq!(numbers, expected, "{lines}");
}

#[test]
fn boots_without_the_time_on_the_wall_are_refused() {
    let lost = AFTER.replace("real=1795199222000000000, ", "");
    let error = merged(&[("a", trace(BEFORE)), ("b", trace(&lost))]).unwrap_err();
    assert_eq!(error, "`a` and `b` are not of the same boot of the same machine");
}

#[test]
fn truncated_and_malformed_inputs_are_reported() {
    let cut = trace(&format!("{SERVER}\ncut(3)"));
    let (report, _) = check(cut, trace(WORKER), &BOTH[..BOTH.rfind("11-20").unwrap()]);
    assert_eq!(report.truncated, ["first"]);
    let broken = trace(&format!("{SERVER}\nbytes(\"\\x0a\\x02\\x07\\x07\")"));
    let (report, _) = check(broken, trace(WORKER), BOTH);
    assert_eq!((report.malformed, report.truncated.len()), (1, 0));
    // Bytes that are no packet, or the beginning of one.
    for end in
        ["what?", "\\x12\\x00", "\\x0a", "\\x0a\\x80", "\\x8a", "\\x0a\\xff\\xff\\xff\\xff\\x7f"]
    {
        let worker = trace(&format!("{WORKER}\nbytes(\"{end}\")"));
        let (report, bytes) = merged(&[("first", trace(SERVER)), ("second", worker)]).unwrap();
        assert_eq_text(BOTH, &text(&Trace::from_bytes(bytes).read().unwrap()));
        // Another field of a trace is passed over; the rest may be the beginning of a packet.
        let is_other = end.starts_with("\\x12");
        assert_eq!((report.malformed, report.truncated == ["second"]), (0, !is_other), "{end}");
        assert_eq!(report.is_whole(), is_other, "{end}");
    }
    // A truncated bundle.
    let worker = trace(&format!("{WORKER}\nbundle(zlib, cut) {{\n@2 ts=0 log(0x33, 9)\n}}"));
    let (report, bytes) = merged(&[("first", trace(SERVER)), ("second", worker)]).unwrap();
    assert_eq!((report.malformed, report.truncated.len()), (1, 0));
    assert_eq_text(BOTH, &text(&Trace::from_bytes(bytes).read().unwrap()));
}

#[test]
fn other_fields_of_a_trace_are_passed_over() {
    let unknown = r#"bytes("\x12\x02hi\x18\x05\x2a\x00")"#;
    let with = |text: &str| {
        let lines: Vec<&str> = text.trim().lines().flat_map(|line| [line, unknown]).collect();
        trace(&lines.join("\n"))
    };
    let (report, _) = check(with(SERVER), with(WORKER), BOTH);
    assert!(report.is_whole(), "{report:?}");
    let log = Trace::from_bytes(with(SERVER)).read().unwrap();
    assert!(log.is_complete(), "as in read-log");
    // One that is longer than what is read at once.
    let long = [&[0x12, 0x80, 0x80, 0x80, 0x01][..], &vec![7; 2 << 20], &trace(WORKER)].concat();
    let start = trace("@1 snapshot(real=1795199221000000000, mono=1000000000, boot=1000000000)");
    let (report, _) = check(trace(SERVER), [start, long].concat(), BOTH);
    assert!(report.is_whole(), "{report:?}");
    // A packet that lost its tag is no such field.
    let mut damaged = trace(WORKER);
    let first = 2 + usize::from(damaged[1]);
    assert_eq!((damaged[0], damaged[first]), (0x0a, 0x0a));
    damaged[first] = 0x12;
    let (report, _) = merged(&[("a", trace(SERVER)), ("b", damaged.clone())]).unwrap();
    assert!(report.damaged_bytes > 0 && !report.is_whole(), "{report:?}");
    assert!(!Trace::from_bytes(damaged).read().unwrap().is_complete());
}

/// A trace on a disk that fails after its bytes.
struct Failing(&'static str, Vec<u8>);

impl MergeInput for Failing {
    fn name(&self) -> &str {
        self.0
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the disk is gone"))
            }
        }
        Ok(Box::new(Cursor::new(&self.1).chain(Broken)))
    }
}

#[test]
fn a_failing_input_is_an_error() {
    let bytes = trace(WORKER);
    for length in [0, 1, 2, 20, bytes.len()] {
        let input = Failing("worker", bytes[..length].to_vec());
        let error = merge(&[&input as &dyn MergeInput], &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "can't read `worker`: the disk is gone", "{length}");
        assert!(std::error::Error::source(&error).is_some());
    }
}

#[test]
fn contradictions_are_refused_by_name_and_place() {
    let refused = |from: &str, to: &str| {
        let other = WORKER.replace(from, to);
        assert_ne!(other, WORKER);
        merged(&[("a.pftrace", trace(SERVER)), ("b.pftrace", trace(&other))]).unwrap_err()
    };
    assert_eq!(
        refused("slow: %s", "quick: %s"),
        "message 0000000000000022 is `slow: %s` (src/lib.rs:40) in `a.pftrace`, \
         but `quick: %s` (src/lib.rs:40) in `b.pftrace`"
    );
    assert_eq!(
        refused("lib::Log::Io", "lib::Log::Disk"),
        "group 00000002 is `lib::Log::Io` (tag Io) in `a.pftrace`, \
         but `lib::Log::Disk` (tag Io) in `b.pftrace`"
    );
    // The same message at another line is no contradiction, and a trace may have no boot id.
    let moved = WORKER.replace("src/lib.rs:40", "src/lib.rs:41").replace("boot(7)", "");
    let (_, bytes) = merged(&[("a", trace(SERVER)), ("b", trace(&moved))]).unwrap();
    assert_eq_text(BOTH, &text(&Trace::from_bytes(bytes).read().unwrap()));
}

#[test]
fn inputs_that_are_no_traces_are_refused() {
    let refused =
        |bytes: &[u8]| merged(&[("a", trace(SERVER)), ("b", bytes.to_vec())]).unwrap_err();
    assert_eq!(refused(b"hello"), "`b` is not a trace, but text");
    let dictionary = b"\x0a\x10\x09\x11\0\0\0\0\0\0\0\x12\x01x\x18\x01\x20\x01";
    assert_eq!(refused(dictionary), "`b` is not a trace, but a dictionary");
    assert_eq!(refused(b"\x0a\x03abc"), "`b` is not a trace");
    assert_eq!(refused(b"\x0a\x03\x08"), "`b` is not a trace");
    assert_eq!(refused(&[0x28, 0xb5, 0x2f, 0xfd, 0]), "`b` is not a trace");
    let (report, _) = merged(&[("a", trace(SERVER)), ("b", Vec::new())]).unwrap();
    assert_eq!(report.truncated.len(), 0, "a trace may be empty");
}
