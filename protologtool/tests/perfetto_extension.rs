//! `integrations/perfetto`, an extension server for Perfetto's UI: its SQL module is loaded and
//! asked by the real `trace_processor`, and its files are as the UI takes them.

use protolog_rt::{ProtoLogGroup, Session, d, e, w};
use protolog_testkit::serde_json::{self, Value, json};
use protolog_testkit::{temp_dir, tool, web_dist, workspace_root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
    Disk,
}

fn server() -> PathBuf {
    workspace_root().join("integrations/perfetto")
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The rows that `trace_processor` gives for a query, which may include the modules.
fn query(trace: &Path, sql: &str) -> Option<Vec<Value>> {
    let (node, dist) = (tool("node")?, web_dist()?);
    let mut oracle = Command::new(node);
    oracle.arg(workspace_root().join("tests/oracle/trace_processor.mjs"));
    oracle.arg("--modules").arg(server().join("modules/default/sql_modules"));
    oracle.args(["--sql", sql]).arg("--dist").arg(dist).arg(trace);
    let output = oracle.output().unwrap();
    assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn the_module_answers_on_a_trace() {
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    let session = Session::builder().file(&trace).enable_all().start().unwrap();
    for number in 0..3 {
        d!(AppLog::Net, "sent %d bytes", number);
    }
    w!(AppLog::Net, "no answer");
    e!(AppLog::Disk, "the disk is full");
    session.stop().unwrap();
    let include = |sql: &str| format!("INCLUDE PERFETTO MODULE dev.protolog.messages; {sql}");
    let counts = include("SELECT tag, level, messages FROM protolog_counts");
    let Some(counts) = query(&trace, &counts) else { return };
    // As the guide has it.
    let guide = fs::read_to_string(workspace_root().join("docs/guides/view.md")).unwrap();
    let sql = guide.split("```sql\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let found = query(&trace, sql).unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(
        counts,
        [
            json!({"tag": "Net", "level": "DEBUG", "messages": 3}),
            json!({"tag": "Disk", "level": "ERROR", "messages": 1}),
            json!({"tag": "Net", "level": "WARN", "messages": 1}),
        ]
    );
    let texts = |sql: &str| -> Vec<String> {
        let rows = query(&trace, &include(sql)).expect("asked above");
        rows.iter().map(|row| row["message"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts("SELECT * FROM protolog_at_least('Warn')"), ["no answer", "the disk is full"]);
    assert_eq!(texts("SELECT * FROM protolog_at_least('wtf')"), [""; 0]);
    assert_eq!(texts("SELECT * FROM protolog_messages WHERE severity = 1").len(), 3);
    // Each macro's query, as the UI runs it.
    let macros = read(&server().join("modules/default/macros"));
    let mut queries = 0;
    for one in macros["macros"].as_array().unwrap() {
        for step in one["run"].as_array().unwrap() {
            if step["id"] == "dev.perfetto.RunQueryAndShowTab" {
                query(&trace, step["args"][0].as_str().unwrap()).expect("asked above");
                queries += 1;
            }
        }
    }
    assert_eq!(queries, 4);
}

/// The rules that the UI checks: names begin with the namespace, and each feature of each module
/// has its file.
#[test]
fn the_files_are_those_of_an_extension_server() {
    let manifest = read(&server().join("manifest"));
    let namespace = format!("{}.", manifest["namespace"].as_str().unwrap());
    for module in manifest["modules"].as_array().unwrap() {
        let dir = server().join("modules").join(module["id"].as_str().unwrap());
        for feature in manifest["features"].as_array().unwrap() {
            let feature = feature["name"].as_str().unwrap();
            let name = if feature == "macros" { "id" } else { "name" };
            let items = &read(&dir.join(feature))[feature];
            let names = items.as_array().unwrap().iter().map(|item| item[name].as_str().unwrap());
            assert!(names.clone().count() > 0, "{feature}");
            for name in names {
                assert!(name.starts_with(&namespace), "{name}");
            }
        }
    }
}
