//! Diagnostics as one SARIF 2.1.0 log, which code review and editors show.
//!
//! One run, with all kinds of problems as its rules, so that each result can name its rule by
//! position too. A failure that stops the run is a notification of its one invocation.

use super::{Code, Diagnostic, Fix, Notice, Region, Severity};
use crate::exit::Exit;
use crate::source::Source;
use serde_json::{Value, json};
use std::fmt::Write;
use std::ops::Range;
use std::path::{Component, Path};

/// Results under way.
#[derive(Debug, Default)]
pub(super) struct Log {
    results: Vec<Value>,
    notifications: Vec<Value>,
}

impl Log {
    pub(super) fn diagnostic(&mut self, diagnostic: &Diagnostic, source: &Source) {
        let (code, severity) = (diagnostic.code, diagnostic.severity);
        let mut result = result(code, severity, &diagnostic.message, diagnostic.help.as_deref());
        result["locations"] = json!([{ "physicalLocation": {
            "artifactLocation": { "uri": uri(source.path()) },
            "region": region(&diagnostic.range, source),
        }}]);
        if !diagnostic.fixes.is_empty() {
            result["fixes"] = diagnostic.fixes.iter().map(|fix| proposal(fix, source)).collect();
        }
        self.results.push(result);
    }

    pub(super) fn notice(&mut self, notice: &Notice) {
        let Notice { severity, code, message, help } = notice;
        self.results.push(result(*code, *severity, message, help.as_deref()));
    }

    pub(super) fn failure(&mut self, text: &str) {
        self.notifications.push(json!({ "level": "error", "message": { "text": text } }));
    }

    /// The log, with a line end.
    pub(super) fn finish(&mut self, exit: Exit) -> String {
        let rules: Vec<Value> = Code::ALL.iter().map(|code| rule(*code)).collect();
        let mut invocation =
            json!({ "executionSuccessful": exit != Exit::Failed, "exitCode": exit as u8 });
        if !self.notifications.is_empty() {
            invocation["toolExecutionNotifications"] =
                std::mem::take(&mut self.notifications).into();
        }
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "protologtool",
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                }},
                "columnKind": "unicodeCodePoints",
                "invocations": [invocation],
                "results": std::mem::take(&mut self.results),
            }],
        });
        format!("{log:#}\n")
    }
}

fn rule(code: Code) -> Value {
    json!({ "id": code.name(), "shortDescription": { "text": code.description() } })
}

fn result(code: Code, severity: Severity, message: &str, help: Option<&str>) -> Value {
    let text = match help {
        Some(help) => format!("{message}\nhelp: {help}"),
        None => message.to_owned(),
    };
    json!({
        "ruleId": code.name(),
        "ruleIndex": Code::ALL.iter().position(|known| *known == code),
        "level": severity.to_string(), // SARIF's levels have the same names.
        "message": { "text": text },
    })
}

/// A change, with the property `certain` where nobody has to choose it.
fn proposal(fix: &Fix, source: &Source) -> Value {
    json!({
        "description": { "text": fix.title },
        "artifactChanges": [{
            "artifactLocation": { "uri": uri(source.path()) },
            "replacements": [{
                "deletedRegion": region(&fix.range, source),
                "insertedContent": { "text": fix.text },
            }],
        }],
        "properties": { "certain": fix.is_certain },
    })
}

/// Lines and columns count from 1, columns in characters; ends are exclusive.
fn region(range: &Range<usize>, source: &Source) -> Value {
    let region = Region::of(range, source);
    json!({
        "startLine": region.start.line,
        "startColumn": region.start.column,
        "endLine": region.end.line,
        "endColumn": region.end.column,
        "byteOffset": region.bytes.start,
        "byteLength": region.bytes.len(),
    })
}

/// A path as a URI reference: absolute paths with `file:`, others relative to the working
/// directory.
pub(crate) fn uri(path: &Path) -> String {
    let mut uri = if path.is_absolute() { "file://".to_owned() } else { String::new() };
    for component in path.components() {
        if matches!(component, Component::RootDir | Component::Prefix(_) | Component::CurDir) {
            continue;
        }
        if !uri.is_empty() {
            uri.push('/');
        }
        for byte in component.as_os_str().as_encoded_bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    uri.push(char::from(*byte));
                }
                _ => drop(write!(uri, "%{byte:02X}")),
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris() {
        for (path, expected) in [
            ("src/com/foo/A.java", "src/com/foo/A.java"),
            ("./a b/Ä:%.java", "a%20b/%C3%84%3A%25.java"),
            ("/src/A.java", "file:///src/A.java"),
            ("../A.java", "../A.java"),
        ] {
            assert_eq!(uri(Path::new(path)), expected);
        }
    }
}
