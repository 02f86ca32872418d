//! Repeats in Java programs, as they are written and rewritten: the log with the counts expanded
//! says what the program has said; switched from outside, killed, and read by Perfetto.

use super::switched::{Program, done};
use super::{classes, rewritten, tool};
use protolog_core::LossCause;
use protolog_reader::{Item, Log, LossReason, Rendering, Trace};
use protolog_testkit::serde_json::Value;
use protolog_testkit::{check_trace, run_java, temp_dir, temp_dir_for_sockets, trace_processor};
use std::collections::BTreeMap;
use std::env::join_paths;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const REPEATED: LossReason = LossReason::Reported(LossCause::Repeated);

fn read(path: &Path) -> Log {
    Trace::open(path).expect("a trace").read().expect("a log")
}

/// The program as it is written, and rewritten into `dir`; none without javac.
fn forms(dir: &Path) -> Option<[Vec<PathBuf>; 2]> {
    let written = classes()?;
    let files = ["app/Repeated.java", "app/AppLog.java"];
    Some([vec![written.to_path_buf()], rewritten(dir, written, &files)])
}

/// The texts of each thread and call, whose first word is its own, and how many were counted.
fn expanded(log: &Log) -> (BTreeMap<(String, String), Vec<String>>, u64) {
    let (mut said, mut counted) = (BTreeMap::<_, Vec<String>>::new(), 0);
    let mut add = |thread: &str, text: String, count: u64| {
        let call = text.split(' ').next().expect("a word").to_owned();
        let all = said.entry((thread.to_owned(), call)).or_default();
        all.extend((0..count).map(|_| text.clone()));
    };
    for item in log.items() {
        match item {
            Item::Entry(entry) => {
                let thread = entry.thread().name.clone().expect("a name");
                add(&thread, entry.values().text(Rendering::Full), 1);
            }
            Item::Loss(loss) => {
                assert_eq!(loss.reason, REPEATED, "{}", log.describe(loss));
                let entry = log.repeated(loss).unwrap_or_else(|| panic!("no message: {loss:?}"));
                assert!(loss.from.is_some_and(|from| entry.time() <= from && from <= loss.time));
                let thread = log.thread_of(loss).name.clone().expect("a name");
                let count = loss.count.expect("a count");
                counted += count;
                add(&thread, entry.values().text(Rendering::Full), count);
            }
            _ => {}
        }
    }
    (said, counted)
}

#[test]
fn counts_expanded_say_what_java_said() {
    let dir = temp_dir();
    let Some(forms) = forms(dir.path()) else { return };
    for (number, classes) in forms.iter().enumerate() {
        for seed in [1, 2] {
            let dir = dir.path().join(format!("{number}-{seed}"));
            fs::create_dir(&dir).expect("make a directory");
            let args = [dir.to_str().unwrap(), "random", &seed.to_string()];
            let output = run_java(classes, "app.Repeated", &args).expect("java");
            assert_eq!(output.code, Some(0), "{}", output.stderr);
            let said = fs::read_to_string(dir.join("said")).expect("what it said");
            let mut expected = BTreeMap::<_, Vec<String>>::new();
            for line in said.lines() {
                let (thread, text) = line.split_once('\t').expect("a thread");
                let call = text.split(' ').next().expect("a word");
                let all = expected.entry((thread.to_owned(), call.to_owned())).or_default();
                all.push(text.to_owned());
            }
            for (name, ended) in ["stream", "ring"].iter().zip(output.stdout.lines()) {
                let log = read(&dir.join(format!("{name}.pftrace")));
                let (found, counted) = expanded(&log);
                let entries = log.stats().entries;
                assert_eq!(ended, format!("{entries} {counted} 0"), "{name}");
                assert_eq!(entries + counted, 24_000);
                assert!(counted > 5_000, "{counted}");
                for (call, texts) in &expected {
                    assert!(found[call] == *texts, "{name}, seed {seed}: {call:?}");
                }
            }
        }
    }
}

/// An operator merges and ends it; readers of all kinds show the number.
#[test]
fn an_operator_merges_repeats_of_java() {
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let Some([_, classes]) = forms(dir) else { return };
    let args = [dir.to_str().unwrap(), "asked"];
    let mut program = Program::run(dir, &join_paths(&classes).unwrap(), "app.Repeated", &args);
    let set = done(dir, &["repeat", "NET and warn"], &[&program]);
    assert!(set.starts_with("Setting 2 calls of client app.Repeated (pid PID) to repeat"), "{set}");
    let rules = done(dir, &["site", "rules"], &[&program]);
    assert_eq!(rules, "site NET and warn=repeat (2 calls) in app.Repeated (pid PID)\n");
    program.instruct("log 1000 a");
    program.instruct("log 1 b");
    program.instruct("log 5 c");
    done(dir, &["repeat", "NET and warn", "off"], &[&program]);
    program.instruct("log 7 c");
    let ended = program.instruct("stop");
    assert_eq!(ended, ["10 1003 0"]);
    program.send("end");
    program.end();

    let trace = dir.join("app.pftrace");
    let path = trace.to_str().unwrap();
    let text = tool(&["read-log", path]).stdout;
    let shown: Vec<_> = text.lines().filter(|line| line.contains("! SAME ")).collect();
    assert_eq!(shown.len(), 2, "{text}");
    assert!(shown[0].contains(": repeated 999 times: no answer from a, since "), "{text}");
    assert!(shown[1].contains(": repeated 4 times: no answer from c, since "), "{text}");
    let lines: Vec<_> = text.lines().collect();
    let at = lines.iter().position(|line| *line == shown[0]).unwrap();
    assert!(
        lines[at - 1].ends_with(": no answer from a") && lines[at + 1].ends_with(" b"),
        "{text}"
    );
    let json = tool(&["read-log", "--format", "json", path]);
    assert_eq!(json.code, Some(0), "nothing is lost");
    let rows = json.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let rows: Vec<_> = rows.filter(|row| row["type"] == "loss").collect();
    assert_eq!(rows[0]["reason"], "repeated");
    let of = |row: &Value| (row["count"].clone(), row["message"].clone());
    let all: Vec<_> = rows.iter().map(of).collect();
    assert_eq!(
        all,
        [(999.into(), "no answer from a".into()), (4.into(), "no answer from c".into())]
    );
    check_trace(&trace);
    let queries = [
        "SELECT message FROM protolog ORDER BY ts",
        "SELECT name FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0",
    ];
    let Some(tables) = trace_processor(&trace, &queries) else { return };
    assert_eq!(tables[0].texts("message").len(), 10);
    assert_eq!(tables[1].texts("name"), Vec::<String>::new());
}

/// What a killed program has counted is in its recordings.
#[test]
fn a_killed_program_of_java_leaves_its_counts() {
    let dir = temp_dir();
    let dir = dir.path();
    let Some(classes) = classes() else { return };
    let mut child = Command::new("java")
        .arg("-cp")
        .arg(classes)
        .args(["app.Repeated", dir.to_str().unwrap(), "killed"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("java");
    let stdout = child.stdout.take().expect("piped");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(stdout));
    assert!(lines.any(|line| line.expect("a line").contains("ready")));
    child.kill().expect("kill");
    child.wait().expect("an end");
    let recovered = dir.join("ring.pftrace");
    tool(&["recover", dir.join("stream.pftrace").to_str().unwrap()]);
    let ring = dir.join("ring.rec");
    tool(&["recover", ring.to_str().unwrap(), "-o", recovered.to_str().unwrap()]);
    for name in ["stream", "ring"] {
        let log = read(&dir.join(format!("{name}.pftrace")));
        let told = log.stats().lost.iter().filter(|((reason, _), _)| *reason == REPEATED);
        let told: u64 = told.map(|(_, count)| count).sum();
        assert_eq!((log.stats().entries, told), (3, 327), "{name}");
        let shown: Vec<_> = log.losses().iter().map(|loss| log.describe(loss)).collect();
        assert!(shown.contains(&"repeated 9 times: no answer from a".to_owned()), "{shown:?}");
        assert!(shown.contains(&"repeated 19 times: no answer from b".to_owned()), "{shown:?}");
    }
}
