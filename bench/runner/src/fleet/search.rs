//! Searches in many messages: DuckDB over the archive, grep over the text, clp-s.

use std::path::Path;

use super::super::report::Report;
use super::{Answer, FleetBench, MESSAGES, megabytes, seconds, size};
use xtask::Result;

/// The bytes of a segment of the trace.
const SEGMENT: u64 = 64 << 20;

/// Texts, and the place where they are in messages.
const WANTED: [(&str, &str); 4] = [
    ("does not answer", "a template of which there are few messages"),
    ("sent 815 bytes", "from the template into a number"),
    ("is damaged", "a template of which there are hardly any"),
    ("no such text", "none: it could only be in an argument"),
];

pub(super) fn run(bench: &FleetBench, report: &mut Report) -> Result<()> {
    let messages = std::env::var(MESSAGES).ok().and_then(|count| count.parse().ok());
    let messages: u64 = messages.unwrap_or(10_000_000);
    prepare(bench, messages, report)?;
    search(bench, messages, report)?;
    request(bench, report)?;
    queries(bench, messages, report)
}

/// Writes the trace and what is searched, and says what each took.
fn prepare(bench: &FleetBench, messages: u64, report: &mut Report) -> Result<()> {
    let write = format!(
        "rm -rf search && mkdir -p search/traces\n\"$writer\" requests search/traces/s.pftrace {messages} {SEGMENT}"
    );
    bench.measure(&write)?;
    let mut rows = Vec::new();
    let mut step = |name: &str, file: &str, line: &str| -> Result<()> {
        let cost = bench.measure(line)?;
        let millions = messages as f64 / 1e6;
        let bytes = size(&bench.path(file));
        rows.push(vec![
            name.to_owned(),
            seconds(cost.run.cpu.unwrap_or(0.0) / millions),
            format!("{:.0}", cost.run.peak.unwrap_or(0) as f64 / 1e6),
            format!("{:.1}", bytes as f64 / messages as f64),
        ]);
        Ok(())
    };
    let read = "\"$tool\" read-log search/traces > search/text";
    step("`read-log`, to text", "search/text", read)?;
    step("zstd -3 of the text", "search/text.zst", "zstd -q -3 search/text -o search/text.zst")?;
    let trace = "cat search/traces/*.pftrace | zstd -q -3 -o search/trace.zst";
    step("zstd -3 of the trace", "search/trace.zst", trace)?;
    let export = "\"$fleet\" parquet -o search/archive search/traces > /dev/null";
    step("`export parquet`", "search/archive", export)?;
    if bench.clp.is_some() {
        let reduce = "\"$tool\" read-log --format json search/traces | python3 \"$scripts/reduced.py\" > search/json";
        bench.measure(reduce)?;
        step("clp-s, of JSON", "search/clp", "\"$clp\" c search/clp search/json > /dev/null 2>&1")?;
        bench.measure("rm search/json")?;
    }
    let head = ["what", "CPU s for a million messages", "peak MB", "bytes a message"];
    report.add(&format!("{messages} messages of a service, written"), &head, &rows);
    Ok(())
}

/// A text within messages.
fn search(bench: &FleetBench, messages: u64, report: &mut Report) -> Result<()> {
    let archive = bench.path("search/archive");
    let mut rows = Vec::new();
    for (wanted, place) in WANTED {
        let [all, read] = row_groups(bench, &archive, wanted)?;
        let sql = format!("select count(*) from search('{wanted}')");
        let answer = bench.ask_often(&archive, &[&sql])?.remove(0);
        let engine = format!("`search('{wanted}')`: {place}");
        rows.push(row(&engine, &answer, &format!("{} of {all}", all - read)));
        rows.extend(peers(bench, wanted)?);
    }
    let title = format!("A text in {messages} messages");
    report.add(&title, &HEAD, &rows);
    Ok(())
}

const HEAD: [&str; 6] = ["what", "found", "CPU s", "wall s", "MB read", "row groups skipped"];

fn row(name: &str, answer: &Answer, skipped: &str) -> Vec<String> {
    let times = [seconds(answer.cpu), seconds(answer.wall), megabytes(answer.read)];
    [vec![name.to_owned(), answer.found()], times.into(), vec![skipped.to_owned()]].concat()
}

/// All row groups, and those that may have a template in which a text may be.
fn row_groups(bench: &FleetBench, archive: &Path, wanted: &str) -> Result<[u64; 2]> {
    let sql = format!(
        "with groups as (
             select stats_min_value as least, stats_max_value as most
             from parquet_metadata('{}/messages/**/*.parquet') where path_in_schema = 'id'
         ), ids as (select id from templates where protolog_may_have(pieces, '{wanted}') is not null)
         select count(*), count(*) filter (exists (from ids where id between least and most)) from groups",
        archive.display()
    );
    counts(&bench.ask(archive, &[&sql])?[0])
}

fn counts(answer: &Answer) -> Result<[u64; 2]> {
    match answer.row.iter().map(|cell| cell.parse()).collect::<Vec<_>>()[..] {
        [Ok(one), Ok(other)] => Ok([one, other]),
        _ => Err(format!("no two numbers: {:?}", answer.row)),
    }
}

/// grep over the text, and clp-s.
fn peers(bench: &FleetBench, wanted: &str) -> Result<Vec<Vec<String>>> {
    let of = |name: &str, line: &str| -> Result<Vec<String>> {
        let cost = bench.median(&format!("{line} > found 2> /dev/null || test $? = 1"))?;
        let found = xtask::workspace::read(bench.path("found"))?;
        let found = found.split_whitespace().last().unwrap_or("0").to_owned();
        let times = [cost.run.cpu.unwrap_or(0.0), cost.run.wall].map(seconds);
        let cells = [vec![name.to_owned(), found], times.into()];
        Ok([&cells.concat()[..], &[megabytes(cost.read), String::new()]].concat())
    };
    let mut rows = vec![
        of("grep of the text", &format!("LC_ALL=C grep -c -F '{wanted}' search/text"))?,
        of(
            "zstd -dc, grep",
            &format!("zstd -q -dc search/text.zst | LC_ALL=C grep -c -F '{wanted}'"),
        )?,
    ];
    if bench.clp.is_some() {
        // It counts for services of its own alone, so its lines are counted.
        let line = format!("\"$clp\" s search/clp 'message: \"*{wanted}*\"' | wc -l");
        rows.push(of("clp-s", &line)?);
    }
    Ok(rows)
}

/// All messages of a request by its id, with the filters of the files and without them.
fn request(bench: &FleetBench, report: &mut Report) -> Result<()> {
    let (archive, id) = (bench.path("search/archive"), format!("{:016x}", mixed(4_242)));
    let groups = format!(
        "select count(*), count(*) filter (bloom_filter_excludes)
         from parquet_bloom_probe('{}/messages/**/*.parquet', 's0', '{id}')",
        archive.display()
    );
    let [all, skipped] = counts(&bench.ask(&archive, &[&groups])?[0])?;
    let rendered = format!("select count(message) from search_argument('{id}')");
    let with = format!("select count(*) from protolog_files('messages') where s0 = '{id}'");
    // No filter and no least value says anything of a concatenation.
    let without =
        format!("select count(*) from protolog_files('messages') where s0 || '' = '{id}'");
    let anywhere = format!("select count(*) from search('{id}')");
    let answers = bench.ask_often(&archive, &[&rendered, &with, &without, &anywhere])?;
    let skipped = format!("{skipped} of {all}");
    let mut rows = vec![
        row("`search_argument(id)`, rendered: four columns", &answers[0], ""),
        row("`s0 = id`: one column, with filters", &answers[1], &skipped),
        row("the same without", &answers[2], &format!("0 of {all}")),
        row("`search(id)`: anywhere in a message", &answers[3], ""),
    ];
    rows.extend(peers(bench, &id)?);
    report.add("The messages of a request", &HEAD, &rows);
    Ok(())
}

/// What questions over all messages cost.
fn queries(bench: &FleetBench, messages: u64, report: &mut Report) -> Result<()> {
    const QUERIES: [(&str, &str); 4] = [
        (
            "messages by level",
            "select count(*) from (select level, count(*) from messages group by all)",
        ),
        ("`volume_by_site`", "select count(*) from volume_by_site"),
        ("all messages rendered", "select sum(length(message))::bigint from log"),
        ("an average of an argument", "select avg(f0) from protolog_files('messages')"),
    ];
    let sql = QUERIES.map(|(_, sql)| sql);
    let answers = bench.ask(&bench.path("search/archive"), &sql)?;
    let millions = messages as f64 / 1e6;
    let row = |((name, _), answer): (&(&str, &str), &Answer)| {
        vec![(*name).to_owned(), format!("{:.3}", answer.cpu / millions), megabytes(answer.read)]
    };
    let rows: Vec<_> = QUERIES.iter().zip(&answers).map(row).collect();
    let head = ["question", "CPU s for a million messages", "MB read"];
    report.add("Questions over all of them, by DuckDB", &head, &rows);
    Ok(())
}

/// The id of a request, as `bench/src/requests.rs` makes it.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
