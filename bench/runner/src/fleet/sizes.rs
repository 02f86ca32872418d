//! Bytes a message of the indexer example's log.

use std::path::Path;

use super::super::report::Report;
use super::{FleetBench, size};
use xtask::Result;

/// Everything that is compared, from one run of the example over the sources in cargo's registry.
const MAKE: &str = r#"
rm -rf sizes && mkdir sizes && cd sizes
"$indexer" --trace ix.pftrace > /dev/null
"$tool" read-log ix.pftrace > text
"$tool" read-log --format json ix.pftrace > all.json
python3 "$scripts/reduced.py" < all.json > reduced.json
"$fleet" parquet -o archive ix.pftrace > /dev/null
zstd -q -3 -k text -o text.3
zstd -q -19 -k text -o text.19
zstd -q -3 -k reduced.json -o reduced.3
zstd -q -3 -k ix.pftrace -o trace.3
test -z "$clp" || { "$clp" c clp reduced.json && "$clp" c clp-all all.json; } > /dev/null 2>&1
"#;

/// What is shown of it; the last two are clp-s's.
const ROWS: [(&str, &str); 9] = [
    ("text of `read-log`, to the millisecond", "text"),
    ("the same, zstd -3", "text.3"),
    ("the same, zstd -19", "text.19"),
    ("JSON of time (ns), pid, tid, thread, level, tag and message, zstd -3", "reduced.3"),
    ("the trace", "ix.pftrace"),
    ("the trace, zstd -3", "trace.3"),
    ("archive, all tables", "archive"),
    ("clp-s, of the same JSON", "clp"),
    ("clp-s, of `read-log --format json`", "clp-all"),
];

pub(super) fn run(bench: &FleetBench, report: &mut Report) -> Result<()> {
    bench.measure(MAKE)?;
    let dir = bench.path("sizes");
    let messages = lines(&dir.join("reduced.json"))?;
    let there = ROWS.iter().filter(|(_, file)| dir.join(file).exists());
    let row = |(name, file): &(&str, &str)| {
        let bytes = size(&dir.join(file)) as f64 / messages as f64;
        vec![(*name).to_owned(), format!("{bytes:.1}")]
    };
    let title = format!("The indexer example's log, {messages} messages");
    report.add(&title, &["what", "bytes a message"], &there.map(row).collect::<Vec<_>>());
    columns(bench, messages, report)
}

/// The bytes of each column of the archive.
fn columns(bench: &FleetBench, messages: usize, report: &mut Report) -> Result<()> {
    let archive = bench.path("sizes/archive");
    let sql = format!(
        "select list({{name: path_in_schema, bytes: size, encodings: encodings}} order by size desc)::json::varchar
         from (select path_in_schema, sum(total_compressed_size + coalesce(bloom_filter_length, 0)) as size,
             any_value(encodings) as encodings
         from parquet_metadata('{}/messages/**/*.parquet') group by all order by size desc limit 10)",
        archive.display()
    );
    let list = bench.ask(&archive, &[&sql])?.remove(0).found();
    let list: serde_json::Value =
        serde_json::from_str(&list).map_err(|error| format!("no columns: {error}"))?;
    let row = |column: &serde_json::Value| {
        let bytes = column["bytes"].as_f64().unwrap_or(0.0) / messages as f64;
        let text = |name: &str| column[name].as_str().unwrap_or_default().to_owned();
        vec![text("name"), text("encodings"), format!("{bytes:.2}")]
    };
    let rows: Vec<_> = list.as_array().into_iter().flatten().map(row).collect();
    let head = ["column, with its filter", "encodings", "bytes a message"];
    report.add("The largest columns of the archive", &head, &rows);
    Ok(())
}

fn lines(path: &Path) -> Result<usize> {
    Ok(xtask::workspace::read(path)?.lines().count())
}
