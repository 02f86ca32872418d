//! The views for DuckDB have the answers of `read-log`.

mod common;

use std::fs;

use common::{SEARCHES, conversions, exported, lines_of, messages_of, query, trace};
use protolog_testkit::temp_dir;

#[test]
fn the_log_has_the_lines_of_read_log() {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let sql = "select message, level, tag, log_group, id, template, thread, boot_time from log
        order by boot_time, tie";
    let Some(lines) = query(&dir.path().join("archive"), sql) else { return };
    let expected = messages_of(trace());
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

/// Every conversion, by the view, and by the function that takes an id.
#[test]
fn messages_are_rendered_as_by_read_log() {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), conversions::trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let expected = messages_of(&conversions::trace());
    assert!(expected.len() > 1_500, "{}", expected.len());
    let sql = "select l.message, render(m.id, m.arguments), m.text from log l join messages m using (boot_time, tie)
        order by boot_time, tie";
    let Some(lines) = query(&dir.path().join("archive"), sql) else { return };
    assert_eq!(lines.lines().count(), expected.len());
    let mut rendered = 0;
    for (line, expected) in lines.lines().zip(expected) {
        let [message, by_id, text]: [serde_json::Value; 3] = serde_json::from_str(line).unwrap();
        assert_eq!(message, expected["message"], "{expected}");
        // Floats of many digits have their text in the archive.
        if text.is_null() {
            assert_eq!(by_id, expected["message"], "{expected}");
            rendered += 1;
        }
    }
    assert!(rendered > 1_000, "{rendered}");
}

/// Whatever is looked for, the messages are found that have it: texts of templates, of arguments,
/// from one to the other, and numbers.
#[test]
fn searches_find_what_read_log_shows() {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let archive = dir.path().join("archive");
    let messages = messages_of(trace());
    for wanted in SEARCHES {
        let text = wanted.replace('\'', "''");
        let sql = format!(
            "select (select count(*) from search('{text}')), (select count(*) from search_templates('{text}')),
             (select count(*) from search_argument('{text}')), (select count(distinct message) from search('{text}'))"
        );
        let Some(found) = query(&archive, &sql) else { return };
        let count = |is_one: &dyn Fn(&serde_json::Value) -> bool| {
            messages.iter().filter(|message| is_one(message)).count()
        };
        let has =
            |message: &serde_json::Value| message["message"].as_str().unwrap().contains(wanted);
        let in_template = |message: &serde_json::Value| {
            message["template"].as_str().is_some_and(|it| it.replace("%%", "%").contains(wanted))
        };
        let is_argument = |message: &serde_json::Value| {
            // A float that JSON has no number for is a text there.
            let args = message["args"].as_array().unwrap();
            wanted != "inf" && args.iter().any(|it| it.as_str() == Some(wanted))
        };
        let distinct: std::collections::BTreeSet<&str> = messages
            .iter()
            .filter(|message| has(message))
            .map(|message| message["message"].as_str().unwrap())
            .collect();
        let expected = [count(&has), count(&in_template), count(&is_argument), distinct.len()]
            .map(serde_json::Value::from);
        assert_eq!(
            found.trim(),
            serde_json::to_string(&expected).unwrap().replace(',', ", "),
            "{wanted}"
        );
    }
}
