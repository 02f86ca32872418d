//! The two readers of a trace, `read-log` and Perfetto's `trace_processor`: asking both, and
//! comparing their answers.
//!
//! They must agree in time, level and tag of every message, and in its text wherever
//! `trace_processor` gets the template as it was written: docs/design/reading.md lists where it
//! does not.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::Layout;
use crate::{Result, python, shell, workspace};

const ROWS: &str = "SELECT ts, level, tag, message FROM protolog";

/// A message as a reader shows it.
struct Row {
    time: i64,
    level: String,
    tag: String,
    text: String,
    /// False where the template has parts that `trace_processor` leaves out of it.
    has_plain_template: bool,
}

/// The output of `trace_processor` for one query, a line of JSON for each row; an error if
/// something was lost or wrong.
pub(super) fn ask_perfetto(sql: &str, trace: &Path) -> Result<String> {
    let mut node = Command::new("node");
    node.arg(workspace::root().join("tests/oracle/trace_processor.mjs"));
    node.args(["--stats", "--sql", sql]).arg(trace);
    node.env("PERFETTO_WEB_DIST", python::environment().web_dist);
    shell::show_and_read(&mut node)
}

/// Reads the trace with both, and says in how many messages they agree; an error with the first
/// difference where they don't.
pub(super) fn compare(layout: &Layout, trace: &Path) -> Result<()> {
    let mut tool = layout.tool(&["read-log", "--format", "json"]);
    let ours = rows(&shell::show_and_read(tool.arg(trace))?)?;
    let theirs = rows(&ask_perfetto(ROWS, trace)?)?;
    println!("{}", agreement(&ours, &theirs)?);
    Ok(())
}

/// The messages in either form, sorted by the fields that both readers must give alike.
fn rows(lines: &str) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for line in lines.lines() {
        let json: Value =
            serde_json::from_str(line).map_err(|error| format!("`{line}`: {error}"))?;
        // Our reader's lines about losses and the like; trace_processor's have no type.
        if json["type"].as_str().is_some_and(|kind| kind != "message") {
            continue;
        }
        let text = |name: &str| json[name].as_str().unwrap_or_default().to_owned();
        rows.push(Row {
            time: json["ts"].as_i64().ok_or_else(|| format!("no time in `{line}`"))?,
            level: text("level"),
            tag: text("tag"),
            text: text("message"),
            has_plain_template: is_plain(&text("template")),
        });
    }
    rows.sort_by(|one, other| one.key().cmp(&other.key()));
    Ok(rows)
}

/// True for a template without width, precision, flags and `%%`.
fn is_plain(template: &str) -> bool {
    let mut conversions = template.split('%').skip(1);
    conversions.all(|rest| rest.starts_with(|first: char| first.is_ascii_alphabetic()))
}

fn agreement(ours: &[Row], theirs: &[Row]) -> Result<String> {
    if ours.is_empty() || ours.len() != theirs.len() {
        return Err(format!(
            "read-log has {} messages, trace_processor {}",
            ours.len(),
            theirs.len()
        ));
    }
    let differ = |(one, other): &(&Row, &Row)| {
        one.key() != other.key() || (one.has_plain_template && one.text != other.text)
    };
    if let Some((one, other)) = ours.iter().zip(theirs).find(differ) {
        return Err(format!(
            "the two readers differ\n  read-log:        {}\n  trace_processor: {}",
            one.shown(),
            other.shown()
        ));
    }
    let plain = ours.iter().filter(|row| row.has_plain_template).count();
    Ok(format!(
        "both readers have the same {} messages, {plain} with the same text (of the others trace_processor leaves width, precision or `%%` out)",
        ours.len()
    ))
}

impl Row {
    fn key(&self) -> (i64, &str, &str) {
        (self.time, &self.tag, &self.level)
    }

    fn shown(&self) -> String {
        format!("{} {} {}: {}", self.time, self.level, self.tag, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::{agreement, is_plain, rows};

    #[test]
    fn knows_the_templates_that_perfetto_gets_whole() {
        for (template, expected) in [
            ("done", true),
            ("%d of %s", true),
            ("%08.3f", false),
            ("%d%%", false),
            ("%-5s", false),
            ("100%", false),
        ] {
            assert_eq!(is_plain(template), expected, "{template}");
        }
    }

    #[test]
    fn finds_where_readers_differ() {
        let line = |time: i64, text: &str, template: &str| {
            format!(
                r#"{{"ts":{time},"level":"INFO","tag":"Net","message":"{text}","template":"{template}"}}"#
            )
        };
        let one = rows(&[line(2, "b 1", "b %d"), line(1, "a 01", "a %02d")].join("\n")).unwrap();
        let same = rows(&[line(1, "a 1", ""), line(2, "b 1", "")].join("\n")).unwrap();
        assert!(agreement(&one, &same).unwrap().contains("the same 2 messages, 1 with"));
        let other = rows(&[line(1, "a 1", ""), line(2, "b 2", "")].join("\n")).unwrap();
        assert!(agreement(&one, &other).unwrap_err().contains("2 INFO Net: b 2"));
        assert!(agreement(&one, &other[..1]).unwrap_err().contains("has 2 messages"));
    }
}
