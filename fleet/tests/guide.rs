//! The commands and queries of docs/guides/archive.md, run as they stand there.

mod common;

use std::fs;

use common::{fleet, query};
use protolog_rt::{ProtoLogGroup, Session, d, w};
use protolog_testkit::{temp_dir, workspace_root};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
    Disk,
}

#[test]
fn the_guide_shows_what_comes() {
    let guide = fs::read_to_string(workspace_root().join("docs/guides/archive.md")).unwrap();
    let dir = temp_dir();
    let file = dir.path().join("hello.pftrace");
    let session = Session::builder().file(&file).enable_all().start().unwrap();
    d!(AppLog::Net, "sent %d bytes to %s in %8.3f ms", 1500, "example.org", 0.271);
    w!(AppLog::Disk, "/var is full");
    session.stop().unwrap();
    let (mut rows, mut queries) = (None, 0);
    for block in guide.split("```").skip(1).step_by(2) {
        let (language, text) = block.split_once('\n').unwrap();
        match language {
            "console" => {
                let (command, shown) = text.split_once('\n').unwrap();
                let words = command.strip_prefix("$ protologtool export ").unwrap();
                let words: Vec<&str> = words.split(' ').collect();
                let output = fleet(&words, dir.path());
                assert!(output.status.success());
                assert_eq!(String::from_utf8(output.stdout).unwrap(), shown);
            }
            "sql" => {
                let sql = text.replace("main.rs", "guide.rs");
                rows = query(&dir.path().join("archive"), &sql);
                queries += usize::from(rows.is_some());
            }
            // Of what follows a query; the others draw directories.
            "text" => {
                let Some(rows) = rows.take() else { continue };
                let shown = |row: &str| {
                    let cells: Vec<serde_json::Value> = serde_json::from_str(row).unwrap();
                    let cell = |cell: &serde_json::Value| {
                        cell.as_str().map_or_else(|| cell.to_string(), str::to_owned)
                    };
                    cells.iter().map(cell).collect::<Vec<_>>().join(" | ") + "\n"
                };
                assert_eq!(rows.lines().map(shown).collect::<String>(), text);
            }
            _ => rows = None,
        }
    }
    assert!(queries == 0 || queries == 10, "{queries}");
}
