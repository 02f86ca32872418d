//! Pages of a trace say the same as the whole trace, whatever their size; and reading can begin in
//! the middle.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

use crate::common::{cases, text, trace};
use protolog_reader::{Entry, Item, JsonWriter, Log, MergeInput, Pages, Thread, Trace};

/// All items as JSON, and what is said at the end.
fn whole(bytes: &[u8]) -> Option<(String, String)> {
    let log = Trace::from_bytes(bytes).with_slices().read().ok()?;
    Some((json(&log), end(&log)))
}

/// What is said at the end.
fn end(log: &Log) -> String {
    let passed_over = log.passed_over().iter().map(|it| (it, log.thread_of_passed_over(it)));
    format!("{}{:?}{:?}", log.summary(), log.stats(), passed_over.collect::<Vec<_>>())
}

fn json(log: &Log) -> String {
    let (mut json, mut out) = (JsonWriter::new(log), Vec::new());
    log.items().for_each(|item| json.write(&item, &mut out));
    String::from_utf8(out).unwrap()
}

/// The same of pages with these sizes of segments and pages, and the number of pages.
fn paged(bytes: &[u8], sizes: (usize, usize)) -> Option<(String, String, usize)> {
    let one_by_one = read_pages(bytes, sizes, false)?;
    assert_eq!(read_pages(bytes, sizes, true).as_ref(), Some(&one_by_one), "read ahead");
    Some(one_by_one)
}

fn read_pages(
    bytes: &[u8],
    sizes: (usize, usize),
    is_ahead: bool,
) -> Option<(String, String, usize)> {
    let mut pages =
        Pages::survey_by(bytes.to_vec(), &[], |_| None, (sizes.0, sizes.1, true)).unwrap()?;
    if is_ahead {
        pages.read_ahead();
    }
    let (mut out, mut count) = (String::new(), 0);
    while pages.next_page().unwrap() {
        out.push_str(&json(pages.log()));
        count += 1;
    }
    assert!(!pages.next_page().unwrap());
    Some((out, end(pages.log()), count))
}

#[test]
fn pages_say_the_same_as_the_whole_trace() {
    let mut read = 0;
    for case in cases() {
        let bytes = case.trace();
        for sizes in [(1, 1), (50, 1), (200, 400), (1 << 18, 1 << 22)] {
            let Some((items, end, _)) = paged(&bytes, sizes) else { continue };
            let expected = whole(&bytes).expect("only what can be read has pages");
            assert_eq!(items, expected.0, "{} {sizes:?}", case.name());
            assert_eq!(end, expected.1, "{} {sizes:?}", case.name());
            read += 1;
        }
    }
    assert!(read > 100, "{read}");
}

/// Threads whose chunks come late, with strings that are used long after they were defined, and
/// spans over many chunks.
fn disordered() -> Vec<u8> {
    disordered_of(100, 0)
}

/// The same of another process, and some nanoseconds later.
fn disordered_of(pid: u64, later: u64) -> Vec<u8> {
    let mut out = "@1 snapshot(real=1795199222000000000, mono=2000000000, boot=2000000000)\n\
                   @1 group(1, \"app::Log::Net\", \"Net\") message(0x11, DEBUG, 1, \"%s: %d\", \"a.rs:1\")\n"
        .to_owned();
    for chunk in 0..400u64 {
        // Sequences take turns; the third is late by two rounds.
        let sequence = chunk % 4;
        let late = if sequence == 3 { 2 } else { 0 };
        let begin = 2_000_000_000 + (chunk / 4).saturating_sub(late) * 1_000_000 + sequence + later;
        writeln!(
            out,
            "@{} cleared snapshot(64={begin}, boot={begin}, incremental=64) default_clock=64 \
             info({pid}, {}, \"thread {sequence}\")",
            2 + sequence,
            pid + sequence
        )
        .unwrap();
        // A request that goes on in two chunks of three, and another one in a part of each.
        if chunk / 4 % 3 > 0 {
            writeln!(out, "@{} request(1, \"long {sequence}\")", 2 + sequence).unwrap();
        }
        // A span of 30 rounds, one of half a chunk, and one that never ends.
        let outer = match chunk / 4 % 40 {
            0 => "begin(\"outer\", \"app::Log::Net\", id=1)",
            30 => "end(status=2)",
            _ => "",
        };
        writeln!(out, "@{} needs ts=0 {outer}", 2 + sequence).unwrap();
        for message in 0..20 {
            if let Some(edge) = match message {
                5 => Some("begin(\"inner\", \"app\")"),
                15 => Some("end()"),
                19 if chunk == 397 => Some("begin(\"endless\", \"app\")"),
                _ => None,
            } {
                writeln!(out, "@{} needs ts=0 {edge}", 2 + sequence).unwrap();
            }
            if let Some(request) = match message {
                7 => Some("request(2, \"short\")"),
                14 if chunk % 2 == 0 => Some("request(0, \"\")"),
                _ => None,
            } {
                writeln!(out, "@{} {request}", 2 + sequence).unwrap();
            }
            let string =
                if message == 0 { format!("string(1, \"chunk {chunk}\") ") } else { String::new() };
            writeln!(out, "@{} needs ts=40000 {string}log(0x11, $1, {message})", 2 + sequence)
                .unwrap();
        }
    }
    trace(&out)
}

#[test]
fn late_chunks_are_in_order() {
    let bytes = disordered();
    let expected = whole(&bytes).unwrap();
    let of = |request: &str| expected.0.matches(&format!("\"request\":\"{request}\"")).count();
    let long: usize = (0..4).map(|sequence| of(&format!("long {sequence}"))).sum();
    // In 66 of 100 rounds; the other one in seven or all 13 messages of each chunk.
    assert_eq!((long, of("short")), (66 * 4 * 7, 200 * 7 + 200 * 13));
    for (sizes, least) in [((1, 1), 90), ((1000, 1000), 40), ((5000, 20_000), 4)] {
        let (items, end, pages) = paged(&bytes, sizes).unwrap();
        assert_eq!(items, expected.0);
        assert_eq!(end, expected.1);
        assert!(pages >= least, "{pages} pages of {sizes:?}");
    }
}

/// Four threads that log at the same time and stand in the trace one after the other, as a writer
/// finds them that copies the chunks of each: `rounds` times 200 messages of each thread. `next` is
/// a source of numbers; by some of them, packets of several threads are in one bundle, threads wait
/// for long, and strings are used long after they were defined.
fn bursts(rounds: u64, mut next: impl FnMut() -> u64) -> Vec<u8> {
    let mut out = "@1 snapshot(real=1795199222000000000, mono=2000000000, boot=2000000000)\n\
                   @1 group(1, \"app::Log::Net\", \"Net\") message(0x11, DEBUG, 1, \"%s: %d\", \"a.rs:1\")\n"
        .to_owned();
    let (mut times, mut have_begun) = ([2_000_000_000_u64; 4], [false; 4]);
    for (round, burst) in (0..rounds).flat_map(|round| (0..4).map(move |burst| (round, burst))) {
        let mut of_bundle = 0_u32;
        for message in 0..200 {
            if of_bundle == 0 && message < 190 && next() % 16 == 1 {
                of_bundle = 6;
                out.push_str("bundle(zlib) {\n");
            }
            let thread = if of_bundle > 0 { next() % 4 } else { burst } as usize;
            let (id, begin) = (2 + thread, times[thread]);
            if !std::mem::replace(&mut have_begun[thread], true) || next() % 50 == 1 {
                writeln!(
                    out,
                    "@{id} cleared snapshot(64={begin}, boot={begin}, incremental=64) default_clock=64 \
                     info(100, {id}, \"thread\") string(1, \"of {round} {message}\")"
                )
                .unwrap();
            }
            let later = 500 + next() % 1000 * if next() % 16 == 1 { 50 } else { 1 };
            times[thread] += later;
            writeln!(out, "@{id} needs ts={later} log(0x11, $1, {message})").unwrap();
            if of_bundle == 1 {
                out.push_str("}\n");
            }
            of_bundle = of_bundle.saturating_sub(1);
        }
    }
    trace(&out)
}

#[test]
fn threads_that_stand_one_after_the_other_are_read_by_time() {
    let bytes = bursts(10, || 0);
    let (mut most, mut count) = (0, 0);
    let mut pages = Pages::survey_by(bytes, &[], |_| None, (1000, 4000, false)).unwrap().unwrap();
    while pages.next_page().unwrap() {
        most = most.max(pages.log().entries().len());
        count += 1;
    }
    // A round has 800 messages of 20 bytes and more. By the order of the file, none of them could
    // be shown before most of it was read.
    assert!(count >= 40, "{count} pages");
    assert!(most < 300, "{most} entries of a page");
}

#[test]
fn threads_in_any_order_are_in_order() {
    for seed in 1..13_u64 {
        let mut state = seed;
        let bytes = bursts(3, || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 33
        });
        let expected = whole(&bytes).unwrap();
        for sizes in [(1, 1), (800, 1), (3000, 9000)] {
            let (items, end, _) = paged(&bytes, sizes).unwrap();
            assert_eq!(items, expected.0, "{seed} {sizes:?}");
            assert_eq!(end, expected.1, "{seed} {sizes:?}");
        }
        let log = Trace::from_bytes(bytes.clone()).read().unwrap();
        let middle = log.entries().nth(1400).unwrap().time();
        let pages = Pages::survey_by(bytes, &[], |_| None, (400, 1000, false));
        let (mut pages, mut found) = (pages.unwrap().unwrap(), Vec::new());
        pages.skip_to(middle);
        while pages.next_page().unwrap() {
            found.extend(after(pages.log(), middle));
        }
        assert_eq!(found, after(&log, middle), "{seed}");
    }
}

/// A trace in memory.
struct Input(&'static str, Vec<u8>);

impl MergeInput for Input {
    fn name(&self) -> &str {
        self.0
    }

    fn open(&self) -> io::Result<Box<dyn io::Read + '_>> {
        Ok(Box::new(&self.1[..]))
    }
}

#[test]
fn inputs_of_a_merge_are_read_side_by_side() {
    let inputs = [("a", 100, 0), ("b", 200, 4), ("c", 300, 8)];
    let inputs = inputs.map(|(name, pid, later)| Input(name, disordered_of(pid, later)));
    let inputs: Vec<&dyn MergeInput> =
        inputs.iter().map(|input| input as &dyn MergeInput).collect();
    let mut bytes = Vec::new();
    protolog_reader::merge(&inputs, &mut bytes).unwrap();
    let expected = whole(&bytes).unwrap();
    let (items, end, pages) = paged(&bytes, (1000, 1000)).unwrap();
    assert_eq!(items, expected.0);
    assert_eq!(end, expected.1);
    assert!(pages >= 100, "{pages}");
    // It is read to the end of the first input only if all is asked for.
    let log = Trace::from_bytes(bytes.clone()).with_slices().read().unwrap();
    let middle = log.entries().nth(12_000).unwrap().time();
    let mut pages = Pages::survey_by(bytes, &[], |_| None, (1000, 1000, true)).unwrap().unwrap();
    pages.skip_to(middle);
    let (mut read, mut found) = (0, Vec::new());
    while pages.next_page().unwrap() {
        read += pages.log().entries().len();
        found.extend(after(pages.log(), middle));
    }
    assert_eq!(found, after(&log, middle));
    assert!(read < 13_000, "{read}");
}

#[test]
fn reading_begins_in_the_middle() {
    let bytes = disordered();
    let log = Trace::from_bytes(bytes.clone()).with_slices().read().unwrap();
    let times: Vec<i64> = log.entries().map(|entry| entry.time()).collect();
    for at in [0, 1, 17, 4000, 7990, 7999] {
        let mut pages =
            Pages::survey_by(bytes.clone(), &[], |_| None, (1000, 1000, true)).unwrap().unwrap();
        pages.skip_to(times[at]);
        assert!(pages.next_time().is_none_or(|next| next <= times[at]));
        pages.read_ahead();
        let (mut entries, mut found) = (0, Vec::new());
        while pages.next_page().unwrap() {
            entries += pages.log().entries().len();
            found.extend(after(pages.log(), times[at]));
        }
        assert_eq!(found, after(&log, times[at]), "{at}");
        assert!(entries < times.len() - at + 1000, "{entries} were read for those from {at} on");
        let mut pages =
            Pages::survey_by(bytes.clone(), &[], |_| None, (1000, 1000, true)).unwrap().unwrap();
        pages.skip_to_last(at);
        let mut lines = Vec::new();
        while pages.next_page().unwrap() {
            lines.extend(text(pages.log()).lines().map(str::to_owned));
        }
        let all = text(&log);
        let last: Vec<_> = all.lines().rev().take(at).collect();
        assert!(lines.iter().rev().take(at).eq(last.iter()), "{at}");
        assert!(at > 1000 || lines.len() < at + 1000, "{} lines for the last {at}", lines.len());
    }
}

#[test]
fn entries_that_are_not_wanted_are_left_out_of_pages() {
    let bytes = disordered();
    let log = Trace::from_bytes(bytes.clone()).with_slices().read().unwrap();
    let times: Vec<i64> = log.entries().map(|entry| entry.time()).collect();
    let line = |entry: &Entry<'_>| format!("{} {:?}", entry.time(), entry.values());
    let tids: BTreeSet<_> = log.threads().iter().map(|thread| thread.tid).collect();
    assert!(tids.len() > 1, "{tids:?}");
    for (since, until) in [(None, None), (Some(times[17]), Some(times[4000])), (None, Some(0))] {
        for wanted in tids.iter().map(|tid| vec![*tid]).chain([tids.iter().copied().collect()]) {
            let admits = |thread: &Thread| wanted.contains(&thread.tid);
            let is_wanted = |entry: &Entry<'_>| {
                since.is_none_or(|since| entry.time() >= since)
                    && until.is_none_or(|until| entry.time() < until)
                    && admits(entry.thread())
            };
            let expected: Vec<String> =
                log.entries().filter(is_wanted).map(|entry| line(&entry)).collect();
            for (sizes, is_ahead) in [((1000, 1000), false), ((5000, 20_000), true)] {
                let sizes = (sizes.0, sizes.1, true);
                let pages = Pages::survey_by(bytes.clone(), &[], |_| None, sizes).unwrap();
                let mut pages = pages.unwrap();
                pages.choose(since, until, admits);
                if is_ahead {
                    pages.read_ahead();
                }
                let (mut found, mut edges) = (Vec::new(), 0);
                while pages.next_page().unwrap() {
                    found.extend(pages.log().entries().map(|entry| line(&entry)));
                    let items = pages.log().items();
                    edges += items.filter(|item| !matches!(item, Item::Entry(_))).count();
                }
                assert_eq!(found, expected, "{since:?} {until:?} {wanted:?}");
                let others = log.items().filter(|item| !matches!(item, Item::Entry(_))).count();
                assert_eq!(edges, others, "losses and spans stay");
                assert_eq!(pages.log().stats().entries, log.stats().entries);
            }
        }
    }
}

#[test]
fn who_reads_ahead_may_stop() {
    let sizes = (1000, 1000, false);
    let mut pages = Pages::survey_by(disordered(), &[], |_| None, sizes).unwrap().unwrap();
    pages.read_ahead();
    let mut last = i64::MIN;
    for _ in 0..3 {
        let next = pages.next_time().unwrap();
        assert!(pages.next_page().unwrap());
        let times: Vec<i64> = pages.log().entries().map(|entry| entry.time()).collect();
        assert!(last <= times[0] && next <= times[0]);
        last = times[times.len() - 1];
    }
    pages.skip_rest();
    assert_eq!(pages.next_time(), None);
    assert!(!pages.next_page().unwrap());
    assert_eq!(pages.log().stats().entries, 8000);
}

fn after(log: &Log, time: i64) -> Vec<String> {
    let items = log.items().filter_map(|item| match item {
        Item::Entry(entry) if entry.time() >= time => {
            Some(format!("{} {:?}", entry.time(), entry.values()))
        }
        Item::SpanBegin(slice) if slice.begin >= time => Some(slice.text(false)),
        Item::SpanEnd(slice) if slice.end.is_some_and(|end| end >= time) => Some(slice.text(true)),
        _ => None,
    });
    items.collect()
}
