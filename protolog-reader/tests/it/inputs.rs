//! Traces of several sessions that are read as one, their bytes one after the other, say the same
//! as their merge; or they are to be merged.

use crate::common::{Input, joined, trace};
use protolog_reader::{ByteSource, JsonWriter, Log, MergeInput, PageOptions, Pages, merge};
use std::fmt::Write as _;

fn json(log: &Log) -> String {
    let (mut json, mut out) = (JsonWriter::new(log), Vec::new());
    log.items().for_each(|item| json.write(&item, &mut out));
    String::from_utf8(out).unwrap()
}

/// All items, and what is said at the end; none if it has to be read whole, or merged.
fn read(source: impl ByteSource + 'static, sizes: (usize, usize)) -> Option<(String, String)> {
    let options = PageOptions { has_slices: true, sizes, ..PageOptions::default() };
    let mut pages = Pages::survey_with(source, &[], |_| None, &options).unwrap()?;
    let mut items = String::new();
    while pages.next_page().unwrap() {
        items.push_str(&json(pages.log()));
    }
    let (log, stats) = (pages.log(), pages.log().stats());
    let numbers = (stats.entries, &stats.lost, &stats.unended, stats.missing_strings);
    let mut threads: Vec<String> = log.threads().iter().map(|it| format!("{it:?}")).collect();
    threads.sort();
    Some((items, format!("{}{numbers:?} {threads:?}", log.summary())))
}

fn merged(traces: &[Vec<u8>]) -> Vec<u8> {
    let inputs: Vec<Input<'_>> = traces.iter().map(|bytes| Input(bytes)).collect();
    let inputs: Vec<&dyn MergeInput> = inputs.iter().map(|it| it as &dyn MergeInput).collect();
    let mut out = Vec::new();
    merge(&inputs, &mut out).unwrap();
    out
}

const SIZES: [(usize, usize); 3] = [(1, 1), (300, 700), (64 << 10, 1 << 20)];

/// Of two threads: messages, a loss and a span each, from this time on.
fn process(pid: u32, begin: u64) -> String {
    process_of(pid, begin, begin)
}

/// The same of a process that says when it was started.
fn process_of(pid: u32, begin: u64, started: u64) -> String {
    let mut out = format!(
        "@1 snapshot(real=1795199221000000000, mono=1000000000, boot=1000000000) boot(7) info({pid}, {pid}, \"main\") started({pid}, {started})\n\
         @1 group(1, \"lib::Io\", \"Io\") message(0x11, WARN, 1, \"slow: %s\", \"lib.rs:4\")\n\
         @1 group({pid}, \"app{pid}::Net\", \"Net\") message({pid}, INFO, {pid}, \"sent %d\", \"net.rs:{pid}\")\n\
         @1 process({pid}, \"app {pid}\")\n"
    );
    for (round, sequence) in (0..6).flat_map(|round| [(round, 2), (round, 3)]) {
        let at = begin + round * 9000 + sequence;
        let text = format!("text {round} of {pid}");
        writeln!(
            out,
            "@{sequence} cleared snapshot(64={at}, boot={at}, incremental=64) default_clock=64 info({pid}, {}, \"t{sequence}\")\n\
             @{sequence} needs ts=1 string(1, \"{text}\") log(0x11, $1)\n\
             @{sequence} needs ts=700 log({pid}, {round})\n\
             @{sequence} needs ts=10 loss({pid}, 1, 3)\n\
             @{sequence} needs ts=10 {}\n\
             @{sequence} needs ts=900 log(0x11, $1)",
            u64::from(pid) + sequence,
            if round % 2 == 0 { "begin(\"work\", \"app\")" } else { "end()" },
        )
        .unwrap();
    }
    out
}

#[test]
fn sessions_of_several_processes_are_read_as_their_merge() {
    for pids in [&[100, 200][..], &[300, 100, 200, 400], &[100]] {
        let of = |(index, pid): (usize, &u32)| trace(&process(*pid, 2_000_000_000 + index as u64));
        let traces: Vec<Vec<u8>> = pids.iter().enumerate().map(of).collect();
        let merged = merged(&traces);
        for sizes in SIZES {
            let expected = read(merged.clone(), sizes).unwrap();
            assert!(read(joined(&traces), sizes).unwrap() == expected, "{pids:?} {sizes:?}");
        }
    }
    // Two sessions of a process, one after the other; an empty file between them.
    let traces = [
        trace(&process(100, 2_000_000_000)),
        Vec::new(),
        trace(&process_of(100, 3_000_000_000, 2_000_000_000)),
    ];
    let merged = merged(&traces);
    for sizes in SIZES {
        assert!(read(joined(&traces), sizes).unwrap() == read(merged.clone(), sizes).unwrap());
    }
}

#[test]
fn what_only_a_merge_makes_one_is_left_to_it() {
    let first = process(100, 2_000_000_000);
    let second = process(200, 2_000_000_500);
    let with_clock = |trace: &str| format!("@9 snapshot(boot=1, 130=1)\n{trace}");
    let cases = [
        ("at one time", process_of(100, 2_000_000_700, 2_000_000_000)),
        ("another process", process(100, 3_000_000_000)),
        ("another boot", second.replace("boot(7)", "boot(8)")),
        ("another text", second.replace("slow: %s", "slow %s")),
        ("another group", second.replace("lib::Io", "lib::Disk")),
        ("another clock", second.replace(") boot(7)", ", primary=1) boot(7)")),
        ("a clock of all", with_clock(&second)),
    ];
    for (what, other) in &cases {
        let has_clock = *what == "a clock of all";
        let first = if has_clock { with_clock(&first) } else { first.clone() };
        let both = [trace(&first), trace(other)];
        for sizes in SIZES {
            assert!(read(joined(&both), sizes).is_none(), "{what} {sizes:?}");
        }
    }
    let good = [trace(&first), trace(&second)];
    assert!(read(joined(&good), SIZES[2]).is_some());
    let cut = [good[0][..good[0].len() - 1].to_vec(), good[1].clone()];
    let garbage = [good[0].clone(), b"no trace".to_vec()];
    let dictionary = [good[0].clone(), vec![0x0a, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8]];
    for traces in [&cut[..], &garbage, &dictionary] {
        for sizes in SIZES {
            assert!(read(joined(traces), sizes).is_none());
        }
    }
}
