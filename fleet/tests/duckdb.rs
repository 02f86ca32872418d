//! The views for DuckDB have the answers of `read-log`.

mod common;

use std::fs;

use common::{exported, lines_of, query, trace};
use protolog_testkit::temp_dir;

#[test]
fn the_log_has_the_lines_of_read_log() {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let sql = "select message, level, tag, log_group, id, template, thread, boot_time from log
        order by boot_time, tie";
    let Some(lines) = query(&dir.path().join("archive"), sql) else { return };
    let expected = lines_of(trace()).unwrap();
    let expected: Vec<serde_json::Value> = expected
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &serde_json::Value| line["type"] == "message")
        .collect();
    assert_eq!(lines.lines().count(), expected.len());
    for (line, expected) in lines.lines().zip(expected) {
        let line: Vec<serde_json::Value> = serde_json::from_str(line).unwrap();
        let names = ["message", "level", "tag", "group", "id", "template", "thread", "ts"];
        for (name, value) in names.iter().zip(line) {
            assert_eq!(value, expected[name], "{name} of {expected}");
        }
    }
}

#[test]
fn losses_and_sites_are_summed_up() {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let archive = dir.path().join("archive");
    let Some(lost) = query(&archive, "select sum(messages) from lost") else { return };
    let (mut count, mut messages) = (0, 0);
    for line in lines_of(trace()).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        count += line["count"].as_u64().filter(|_| line["type"] == "loss").unwrap_or(0);
        messages += u64::from(line["type"] == "message");
    }
    assert_eq!(lost.trim(), format!("[{count}]"));
    let sites = query(&archive, "select sum(messages), count(*) > 8 from volume_by_site").unwrap();
    assert_eq!(sites.trim(), format!("[{messages}, true]"));
}
