//! The SARIF log, against the rules of the standard (2.1.0) that concern what we write.

use crate::transcript::{fixtures, here, shell};
use protolog_testkit::{Value, expect_file, run_any, serde_json, temp_dir};
use protologtool::diagnostic::Code;
use std::fmt::Write;

fn log(command: &str) -> (Option<i32>, Value) {
    let directory = temp_dir();
    fixtures(directory.path());
    let output = run_any(&mut shell(command, directory.path()));
    let log = serde_json::from_str(&output.stdout);
    (output.code, log.unwrap_or_else(|error| panic!("{error}: {}", output.stdout)))
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[track_caller]
fn positive(value: &Value, key: &str) -> u64 {
    let number = value[key].as_u64().unwrap_or_else(|| panic!("`{key}` in {value}"));
    assert!(number >= 1, "`{key}` counts from 1");
    number
}

#[test]
fn results_refer_to_rules_and_regions() {
    let command = "protologtool check $CLASSES --message-format sarif bad/Bad.java bad/Warn.java";
    let (code, log) = log(command);
    assert_eq!(code, Some(1));
    assert_eq!(keys(&log), ["$schema", "runs", "version"]);
    assert_eq!(log["version"], "2.1.0");
    let [run] = log["runs"].as_array().unwrap().as_slice() else { panic!("one run") };
    assert_eq!(keys(run), ["columnKind", "invocations", "results", "tool"]);
    assert!(["utf16CodeUnits", "unicodeCodePoints"].contains(&run["columnKind"].as_str().unwrap()));

    let driver = &run["tool"]["driver"];
    assert_eq!(keys(driver), ["name", "rules", "semanticVersion"]);
    let rules = driver["rules"].as_array().unwrap();
    assert_eq!(rules.len(), Code::ALL.len());
    for rule in rules {
        assert_eq!(keys(rule), ["id", "shortDescription"]);
        assert!(rule["shortDescription"]["text"].as_str().unwrap().ends_with('.'));
    }

    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    for result in results {
        let mut of_result = keys(result);
        of_result.retain(|key| *key != "fixes");
        assert_eq!(of_result, ["level", "locations", "message", "ruleId", "ruleIndex"]);
        assert!(["none", "note", "warning", "error"].contains(&result["level"].as_str().unwrap()));
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let [location] = result["locations"].as_array().unwrap().as_slice() else { panic!() };
        let physical = &location["physicalLocation"];
        assert_eq!(keys(physical), ["artifactLocation", "region"]);
        let region = &physical["region"];
        let (line, column) = (positive(region, "startLine"), positive(region, "startColumn"));
        let (end_line, end_column) = (positive(region, "endLine"), positive(region, "endColumn"));
        assert!((end_line, end_column) > (line, column), "{region}");
    }
}

/// Byte ranges and columns lead to the same text; columns count characters.
#[test]
fn regions_are_those_of_the_text() {
    let (_, log) =
        log("protologtool check $CLASSES --message-format sarif bad/Bad.java bad/Warn.java");
    let texts: Vec<String> = log["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| {
            let physical = &result["locations"][0]["physicalLocation"];
            let path =
                here().join("fixtures").join(physical["artifactLocation"]["uri"].as_str().unwrap());
            let text = std::fs::read_to_string(path).unwrap();
            let number = |key: &str| physical["region"][key].as_u64().unwrap() as usize;
            let start = number("byteOffset");
            let by_bytes = &text[start..start + number("byteLength")];
            let line = text.lines().nth(number("startLine") - 1).unwrap();
            let columns = number("endColumn") - number("startColumn");
            let by_columns: String =
                line.chars().skip(number("startColumn") - 1).take(columns).collect();
            assert_eq!(by_bytes, by_columns);
            by_columns
        })
        .collect();
    assert_eq!(texts, ["AppLog.NETT", "\"%d\"", "\"%d, %d\"", "10"]);
}

const FAULTY: &str = r#"package demo;
import dev.protolog.ProtoLog;
class Faulty { void f(int n, String s) {
    ProtoLog.d(AppLog.NETT, "é %-4ld of %i", n, n);
    ProtoLog.d(AppLog.NET, "missing %d %s %f", n);
    ProtoLog.d(AppLog.NET, "surplus %d", n, s, n);
    ProtoLog.d("swapped %d", AppLog.NET, n);
    ProtoLog.i(AppLog.NET, Texts.WHOLE + "100%");
} }
class Texts { static final String WHOLE = "50% "; }
"#;

const FAULTY_KOTLIN: &str = r#"package demo
import dev.protolog.ProtoLog
fun faulty(n: Int) {
    ProtoLog.d(AppLog.NETT, "é %i", n)
    ProtoLog.d(NET, "missing %d %s", n)
}
"#;

const FAULTY_RUST: &str = r#"use protolog_rt::{ProtoLogGroup, d};
#[derive(ProtoLogGroup)]
enum Log { Net }
fn faulty(n: u32) {
    d!(Log::Nett, "é %u", n);
    d!(Log::Net, "missing %d %s", n);
}
"#;

/// Each change is applied alone, to what its region says.
#[test]
fn proposals_change_what_the_problem_is() {
    let files = [("Faulty.java", FAULTY), ("Faulty.kt", FAULTY_KOTLIN), ("faulty.rs", FAULTY_RUST)];
    let changed: String = files.iter().map(|(name, text)| changed_lines(name, text)).collect();
    expect_file(&here().join("proposals.txt"), &changed);
}

/// The lines that the changes for a source make, each with the change's title.
fn changed_lines(name: &str, faulty: &str) -> String {
    let directory = temp_dir();
    fixtures(directory.path());
    std::fs::write(directory.path().join(name), faulty).unwrap();
    let of_rust =
        if name == "faulty.rs" { "--crate-name faulty --crate-root faulty.rs" } else { "" };
    let command = format!("protologtool check $CLASSES {of_rust} --message-format sarif {name}");
    let output = run_any(&mut shell(&command, directory.path()));
    let log: Value = serde_json::from_str(&output.stdout).unwrap();
    let mut changed = String::new();
    for result in log["runs"][0]["results"].as_array().unwrap() {
        for fix in result["fixes"].as_array().into_iter().flatten() {
            let [change] = fix["artifactChanges"].as_array().unwrap().as_slice() else { panic!() };
            assert_eq!(change["artifactLocation"]["uri"], name);
            let [put] = change["replacements"].as_array().unwrap().as_slice() else { panic!() };
            let number = |key: &str| put["deletedRegion"][key].as_u64().unwrap() as usize;
            let start = number("byteOffset");
            let mut text = faulty.to_owned();
            let new = put["insertedContent"]["text"].as_str().unwrap();
            text.replace_range(start..start + number("byteLength"), new);
            let line = text.lines().nth(number("startLine") - 1).unwrap().trim();
            let sure = if fix["properties"]["certain"] == true { "certainly " } else { "" };
            let title = fix["description"]["text"].as_str().unwrap();
            let _ = writeln!(changed, "{sure}{title}: {line}");
        }
    }
    changed
}

#[test]
fn what_stops_a_run_is_a_notification() {
    let (code, log) =
        log("protologtool check $CLASSES --message-format sarif Gone.java bad/Warn.java");
    assert_eq!(code, Some(2));
    let run = &log["runs"][0];
    let [invocation] = run["invocations"].as_array().unwrap().as_slice() else { panic!() };
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["exitCode"], 2);
    let notification = &invocation["toolExecutionNotifications"][0];
    assert_eq!(notification["level"], "error");
    assert_eq!(
        notification["message"]["text"],
        "can't read `Gone.java`: no such file or directory"
    );
    assert_eq!(run["results"].as_array().unwrap().len(), 2, "what was found is there all the same");
}
