//! Java programs that are killed: what they had logged is in the recording.

use super::{classes, messages, tool};
use protolog_testkit::temp_dir;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

const THREADS: usize = 8;

#[test]
fn what_a_killed_program_has_logged_is_recovered() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    // At different instants: after so many lines. `cargo xtask soak kill` has more of them.
    let rounds = std::env::var("PROTOLOG_KILL_ROUNDS").map_or(3, |rounds| rounds.parse().unwrap());
    let lines = [1, 100, 700].into_iter().chain((3..rounds).map(|round| round * 7 % 800 + 1));
    for lines in lines.take(rounds) {
        kill_after(lines, classes, dir.path(), "record");
        kill_after(lines, classes, dir.path(), "stream");
    }
}

fn kill_after(lines: usize, classes: &Path, dir: &Path, mode: &str) {
    let mut java = Command::new("java");
    java.arg("-Dprotolog.level=off").arg("-cp").arg(classes).arg("app.Killed").arg(dir);
    let mut child =
        java.args([&THREADS.to_string(), mode]).stdout(Stdio::piped()).spawn().expect("start java");
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut said: Vec<String> = out.by_ref().take(lines).collect();
    let (trace, recording) = (dir.join("killed.pftrace"), dir.join("killed.rec"));
    if lines == 1 && mode == "record" {
        let listed = tool(&["recover", "--list", recording.to_str().unwrap()]);
        assert!(listed.stdout.contains(" alive "), "{}", listed.stdout);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Every printed line was logged before.
    said.extend(out);
    if mode == "record" {
        let listed = tool(&["recover", "--list", recording.to_str().unwrap()]);
        assert!(listed.stdout.contains(" dead "), "{}", listed.stdout);
        tool(&["recover", recording.to_str().unwrap(), "-o", trace.to_str().unwrap()]);
    } else {
        tool(&["recover", trace.to_str().unwrap()]);
    }
    let mut counts = BTreeMap::<String, u64>::new();
    for message in messages(&trace) {
        let text = message.strip_prefix("INFO Disk: ").unwrap_or_else(|| panic!("{message}"));
        let (number, rest) = text.split_once(" of thread ").unwrap();
        let (thread, long) = rest.split_once(", long ").unwrap();
        let count = counts.entry(thread.to_owned()).or_default();
        assert_eq!(number.parse(), Ok(*count), "{message}");
        assert_eq!(long.parse(), Ok(*count << 40), "{message}");
        *count += 1;
    }
    for line in said {
        let (thread, number) = line.split_once(' ').unwrap();
        // The last line may be half of one.
        let number = number.parse().unwrap_or(0);
        assert!(counts.get(thread).is_some_and(|count| *count > number), "{line}: {counts:?}");
    }
}
