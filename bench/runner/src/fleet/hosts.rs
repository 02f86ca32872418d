//! One directory with the exports of 10, 100 and 1,000 machines, asked by DuckDB and Spark: real
//! files, small ones.

use std::path::Path;
use std::process::Command;

use super::super::report::Report;
use super::{Answer, FleetBench, HOW, engines, megabytes};
use xtask::{Result, shell, workspace};

/// Machines, and the messages of each.
const HOSTS: [usize; 3] = [10, 100, 1_000];
const MESSAGES: usize = 100;

/// What DuckDB is asked.
const QUESTIONS: [(&str, &str); 6] = [
    ("all messages, counted", "select count(*) from messages"),
    ("a date that is not there", "select count(*) from messages where date = '2020-01-01'"),
    ("messages of one machine, counted", "select count(*) from messages where host = 'host-7'"),
    ("the same, rendered", "select count(message) from log where host = 'host-7'"),
    (
        "`search_templates('does not answer')`",
        "select count(*) from search_templates('does not answer')",
    ),
    ("`search_argument('user/110')`", "select count(*) from search_argument('user/110')"),
];

pub(super) fn run(bench: &FleetBench, report: &mut Report) -> Result<()> {
    let most = HOSTS[HOSTS.len() - 1];
    bench.measure(&format!(
        "rm -rf hosts && mkdir -p hosts/traces\n\"$writer\" many hosts/traces {most} {MESSAGES}"
    ))?;
    for hosts in HOSTS {
        let line = format!(
            "for host in $(seq 0 {}); do trace=$(printf 'hosts/traces/%05d.pftrace' $host); \
             \"$fleet\" parquet -o hosts/{hosts} --host host-$host $trace; done > /dev/null",
            hosts - 1
        );
        let cost = bench.measure(&line)?;
        let cpu = cost.run.cpu.unwrap_or(0.0) * 1e3 / hosts as f64;
        println!("exported {hosts} traces, {cpu:.1} ms of CPU each");
    }
    compact(bench, most)?;
    duckdb(bench, report)?;
    spark(bench, report)
}

/// What a job a day does, as docs/design/scale.md has it.
fn compact(bench: &FleetBench, hosts: usize) -> Result<()> {
    bench.measure(&format!(
        "mkdir hosts/compact && cp -r hosts/{hosts}/templates hosts/{hosts}/losses hosts/{hosts}/spans hosts/compact"
    ))?;
    let sql = format!(
        "copy (select * exclude (date, program, build), date, program, build from protolog_files('messages')
             order by host, id, time)
         to '{}' (format parquet, compression zstd, partition_by (date, program, build))",
        bench.path("hosts/compact/messages").display()
    );
    let answer = bench.ask(&bench.path(&format!("hosts/{hosts}")), &[&sql])?.remove(0);
    println!("compacted {} messages in {:.1} s of CPU", answer.found(), answer.cpu);
    Ok(())
}

/// The head of a table, and the archives of its columns.
fn archives() -> (Vec<String>, Vec<String>) {
    let names = HOSTS.map(|hosts| hosts.to_string());
    let head = names.iter().map(|hosts| format!("{hosts} machines"));
    let last = format!("{}, compacted", HOSTS[HOSTS.len() - 1]);
    let head = ["what".to_owned()].into_iter().chain(head).chain([last]).collect();
    (head, names.into_iter().chain(["compact".to_owned()]).collect())
}

fn duckdb(bench: &FleetBench, report: &mut Report) -> Result<()> {
    let (head, names) = archives();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let sql = QUESTIONS.map(|(_, sql)| sql);
    let all: Vec<Vec<Answer>> = names
        .iter()
        .map(|name| bench.ask_often(&bench.path(&format!("hosts/{name}")), &sql))
        .collect::<Result<_>>()?;
    let table = |cell: fn(&Answer) -> String| -> Vec<Vec<String>> {
        let row = |(at, (name, _)): (usize, &(&str, &str))| {
            let cells = all.iter().map(|answers| cell(&answers[at]));
            [(*name).to_owned()].into_iter().chain(cells).collect()
        };
        QUESTIONS.iter().enumerate().map(row).collect()
    };
    let cpu = table(|answer| format!("{:.0}", answer.cpu * 1e3));
    report.add(&format!("DuckDB, machines of {MESSAGES} messages: CPU ms"), &head, &cpu);
    report.add("MB read", &head, &table(|answer| megabytes(answer.read)));
    report.add("Messages found", &head, &table(Answer::found));
    Ok(())
}

fn spark(bench: &FleetBench, report: &mut Report) -> Result<()> {
    let has_spark =
        |python: &Path| shell::read(Command::new(python).args(["-c", "import pyspark"])).is_ok();
    let Some(python) = engines().filter(|python| has_spark(python)) else {
        report.skip(&format!("Spark: it is not there ({HOW})"));
        return Ok(());
    };
    let (head, names) = archives();
    let mut ask = Command::new(python);
    ask.arg(workspace::root().join("bench/fleet/spark.py"));
    ask.arg(workspace::root().join("integrations/spark"));
    ask.args(names.iter().map(|name| bench.path(&format!("hosts/{name}"))));
    let text = shell::read(ask.current_dir(&bench.dir))?;
    let all: Vec<serde_json::Value> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let rows: Vec<(&str, &str)> = vec![
        ("the views are made", "views"),
        ("all messages, counted", "all"),
        ("a date that is not there", "no date"),
        ("messages of one machine, counted", "host"),
        ("the same, rendered", "rendered"),
        ("`search_templates('does not answer')`", "template"),
    ];
    let cell = |value: &serde_json::Value| {
        let number = |at: usize| value[at].as_f64().unwrap_or(f64::NAN);
        format!("{:.1} ({:.1})", number(1), number(0))
    };
    let row = |(name, key): &(&str, &str)| {
        let cells = all.iter().map(|answers| cell(&answers[*key]));
        [(*name).to_owned()].into_iter().chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    report.add("Spark, two workers: CPU s of all processes (wall s)", &head, &rows);
    Ok(())
}
