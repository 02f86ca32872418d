//! Random sets of traces: a merge has what reading each input by itself shows, or says that it has
//! not.
//!
//! The inputs are of processes of one boot with several threads; plain, in bundles of bundles,
//! compressed as a whole; with losses, slices and fields that are no packets; copies and beginnings
//! of each other; cut off, or with bytes that changed.

use crate::common::{Input, joined, text, trace};
use proptest::collection::vec;
use proptest::prelude::*;
use protolog_reader::{Log, MergeInput, Merged, Pages, Trace, merge};
use protozero::Reader;
use std::fmt::Write;

/// One packet of a thread.
#[derive(Clone, Copy, Debug)]
enum Event {
    Log(i16),
    Text(u8),
    Loss(u8),
    Slice,
    /// Two fields of the trace that are no packets.
    Other,
    /// The next chunk of the thread, after a loss if so.
    Chunk(bool),
}

#[derive(Clone, Copy, Debug)]
enum Wrap {
    None,
    Bundle(usize),
    Whole,
}

/// The relation of an input to those before.
#[derive(Clone, Debug)]
enum Made {
    New {
        threads: u8,
        events: Vec<(u8, u32, Event)>,
        wrap: Wrap,
    },
    /// A copy of an earlier one, or its beginning, as a part of its packets.
    CopyOf {
        index: usize,
        part: f64,
    },
}

#[derive(Clone, Debug)]
enum Damage {
    Cut(f64),
    Changed(Vec<(f64, u8)>),
}

fn events() -> impl Strategy<Value = Vec<(u8, u32, Event)>> {
    let event = prop_oneof![
        6 => any::<i16>().prop_map(Event::Log),
        3 => (0..4u8).prop_map(Event::Text),
        1 => (1..9u8).prop_map(Event::Loss),
        1 => Just(Event::Slice),
        1 => Just(Event::Other),
        1 => any::<bool>().prop_map(Event::Chunk),
    ];
    vec((any::<u8>(), 0..3_000_000u32, event), 0..24)
}

fn new_input() -> impl Strategy<Value = Made> {
    let wrap = prop_oneof![2 => Just(Wrap::None), 2 => (1..5usize).prop_map(Wrap::Bundle), 1 => Just(Wrap::Whole)];
    (1..4u8, events(), wrap).prop_map(|(threads, events, wrap)| Made::New { threads, events, wrap })
}

fn inputs() -> impl Strategy<Value = Vec<Made>> {
    let copy = (any::<prop::sample::Index>(), prop_oneof![Just(1.0), 0.0..1.0])
        .prop_map(|(index, part)| Made::CopyOf { index: index.index(8), part });
    vec(prop_oneof![4 => new_input(), 1 => copy], 1..5)
}

/// Events [`Event::Other`] in a row that are written: of more, the fields are taken for damage.
const MOST_OTHERS: usize = 4;

/// The trace of a process.
fn description(pid: usize, threads: u8, events: &[(u8, u32, Event)], wrap: Wrap) -> String {
    let mut out = format!(
        "@1 snapshot(real=1795199221000000000, mono=1000000000, boot=1000000000) boot(7) info({pid}, {pid}, \"main\") started({pid}, 5)\n\
         @1 group(1, \"lib::Io\", \"Io\") message(0x11, WARN, 1, \"slow: %s\", \"lib.rs:4\")\n\
         @1 group({pid}, \"app{pid}::Net\", \"Net\") message({pid}, INFO, {pid}, \"sent %d\", \"net.rs:{pid}\")\n\
         @1 process({pid}, \"app {pid}\")\n"
    );
    let mut now = vec![0u64; usize::from(threads)];
    let begin = |out: &mut String, thread: usize, now: u64, lost: &str| {
        let (sequence, tid, at) = (thread + 2, pid + thread, 1_000_000_000 + now);
        writeln!(
            out,
            "@{sequence} cleared {lost} snapshot(64={at}, boot={at}, incremental=64) default_clock=64 info({pid}, {tid}, \"t{thread}\")"
        )
        .unwrap();
        for text in 0..4 {
            let id = text + 1;
            writeln!(out, "@{sequence} needs string({id}, \"text {text} of {pid}\")").unwrap();
        }
    };
    for thread in 0..now.len() {
        begin(&mut out, thread, 0, "");
    }
    let mut others = 0;
    for (thread, step, event) in events {
        others = if matches!(event, Event::Other) { others + 1 } else { 0 };
        let thread = usize::from(*thread) % now.len();
        let sequence = thread + 2;
        if !matches!(event, Event::Other | Event::Chunk(_)) {
            now[thread] += u64::from(*step);
        }
        let rest = match event {
            Event::Log(number) => format!("log({pid}, {number})"),
            Event::Text(text) => format!("log(0x11, ${})", text + 1),
            Event::Loss(count) => format!("loss({pid}, 1, {count})"),
            Event::Slice => "begin(\"work\", \"app\")".to_owned(),
            Event::Other if others > MOST_OTHERS => continue,
            Event::Other => {
                out.push_str("bytes(\"\\x12\\x02hi\\x2a\\x00\")\n");
                continue;
            }
            Event::Chunk(is_lost) => {
                begin(&mut out, thread, now[thread], if *is_lost { "dropped" } else { "" });
                continue;
            }
        };
        writeln!(out, "@{sequence} needs ts={step} {rest}").unwrap();
    }
    match wrap {
        Wrap::None => out,
        Wrap::Bundle(depth) => {
            let (open, close) = ("bundle(zlib) {\n".repeat(depth), "}\n".repeat(depth));
            format!("{open}{out}{close}")
        }
        Wrap::Whole => format!("whole(gzip)\n{out}"),
    }
}

/// The traces, and for each the one that it is a copy of.
fn build(made: &[Made]) -> (Vec<Vec<u8>>, Vec<Option<usize>>) {
    let (mut traces, mut origins): (Vec<Vec<u8>>, Vec<Option<usize>>) = Default::default();
    for (number, made) in made.iter().enumerate() {
        let new = |threads, events: &[_], wrap| {
            trace(&description(1000 + 10 * number, threads, events, wrap))
        };
        match made {
            Made::New { threads, events, wrap } => {
                traces.push(new(*threads, events, *wrap));
                origins.push(None);
            }
            Made::CopyOf { .. } if number == 0 => {
                traces.push(new(1, &[], Wrap::None));
                origins.push(None);
            }
            Made::CopyOf { index, part } => {
                let (of, bytes) = (index % number, &traces[index % number]);
                let mut reader = Reader::new(bytes);
                let is_plain = bytes.starts_with(&[0x0a]);
                let mut ends = vec![0];
                while is_plain && let Some(Ok(_)) = reader.next() {
                    ends.push(reader.offset() as usize);
                }
                let end = if is_plain {
                    ends[((ends.len() - 1) as f64 * part) as usize]
                } else {
                    bytes.len()
                };
                traces.push(bytes[..end].to_vec());
                origins.push(Some(origins[of].unwrap_or(of)));
            }
        }
    }
    (traces, origins)
}

fn merged(traces: &[Vec<u8>]) -> Result<(Merged, Log), String> {
    let inputs: Vec<Input<'_>> = traces.iter().map(|bytes| Input(bytes)).collect();
    let inputs: Vec<&dyn MergeInput> = inputs.iter().map(|it| it as &dyn MergeInput).collect();
    let mut out = Vec::new();
    let merged = merge(&inputs, &mut out).map_err(|error| error.to_string())?;
    Ok((merged, Trace::from_bytes(out).read().expect("a merge is a trace")))
}

fn sorted(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}

fn lines(log: &Log) -> Vec<String> {
    text(log).lines().map(str::to_owned).collect()
}

/// The messages without their times, which damage of other packets may change.
fn texts(log: &Log) -> Vec<String> {
    sorted(log.entries().map(|entry| entry.values().text(protolog_reader::Rendering::Full)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn whole_traces_are_merged_to_all_that_they_show(made in inputs()) {
        let (traces, origins) = build(&made);
        let (report, log) = merged(&traces).unwrap();
        prop_assert!(report.is_whole() && log.is_complete(), "{report:?}");
        let read = |bytes: &Vec<u8>| Trace::from_bytes(bytes.clone()).read().unwrap();
        let alone: Vec<Log> = traces.iter().map(read).collect();
        let of_new = alone.iter().zip(&origins).filter(|(_, origin)| origin.is_none());
        let expected = sorted(of_new.flat_map(|(log, _)| lines(log)));
        prop_assert_eq!(sorted(lines(&log).into_iter()), expected);
        let entries: usize = alone.iter().map(|log| log.entries().len()).sum();
        prop_assert_eq!(log.entries().len() as u64 + report.duplicates, entries as u64);
        // Those that need no merge are read without one, to the same lines.
        if let Some(mut pages) = Pages::survey(joined(&traces), &[], |_| None).unwrap() {
            let mut all = String::new();
            while pages.next_page().unwrap() {
                all.push_str(&text(pages.log()));
            }
            prop_assert_eq!(report.duplicates, 0);
            prop_assert_eq!(all, text(&log));
        }
        // And again, with what the result is made of.
        let (again, _) = merged(&[log_bytes(&traces), traces[0].clone()]).unwrap();
        prop_assert_eq!(again.duplicates, alone[0].entries().len() as u64);
    }

    #[test]
    fn damaged_traces_cost_no_others_and_are_reported(made in vec(new_input(), 1..4), damage in damage()) {
        let (mut traces, _) = build(&made);
        let last = traces.len() - 1;
        damage_trace(&mut traces[last], &damage);
        // A contradiction is refused, and so is what is no trace any more.
        let Ok((report, log)) = merged(&traces) else { return Ok(()) };
        let read = |bytes: &Vec<u8>| Trace::from_bytes(bytes.clone()).read().unwrap();
        let healthy = sorted(traces[..last].iter().flat_map(|bytes| texts(&read(bytes))));
        let found = texts(&log);
        let mut rest = found.clone();
        for text in &healthy {
            let at = rest.binary_search(text);
            prop_assert!(at.is_ok(), "`{}` is gone", text);
            rest.remove(at.unwrap());
        }
        let damaged = texts(&read(&traces[last]));
        // Of a broken stream, as much is inflated as is asked for at once.
        let is_plain = matches!(made.last(), Some(Made::New { wrap: Wrap::None, .. }));
        if is_plain && report.truncated.is_empty() && report.duplicates == 0 {
            // Damage is read in the same way; a healthy dictionary may have the text of a damaged
            // one.
            prop_assert_eq!(rest.len(), damaged.len(), "{:?}", report);
        }
        let is_reported = !report.is_whole() || report.duplicates > 0;
        prop_assert!(rest.len() == damaged.len() || rest.len() < damaged.len() && is_reported, "{report:?}");
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (0.0..1.0).prop_map(Damage::Cut),
        vec((0.0..1.0, 1..=255u8), 1..4).prop_map(Damage::Changed),
    ]
}

fn damage_trace(bytes: &mut Vec<u8>, damage: &Damage) {
    let at = |part: f64| (bytes.len() as f64 * part) as usize;
    match damage {
        Damage::Cut(part) => bytes.truncate(at(*part)),
        Damage::Changed(changes) => {
            let changes: Vec<_> = changes.iter().map(|(part, by)| (at(*part), by)).collect();
            for (at, by) in changes {
                bytes[at] ^= by;
            }
        }
    }
}

/// The bytes of the merge of these traces.
fn log_bytes(traces: &[Vec<u8>]) -> Vec<u8> {
    let inputs: Vec<Input<'_>> = traces.iter().map(|bytes| Input(bytes)).collect();
    let inputs: Vec<&dyn MergeInput> = inputs.iter().map(|it| it as &dyn MergeInput).collect();
    let mut out = Vec::new();
    merge(&inputs, &mut out).unwrap();
    out
}
