//! The cost of a switch from outside: the operator, the program, and many programs at once.

use super::{outside, table};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use xtask::{Result, shell, workspace};

/// Programs of the load.
const PROGRAMS: usize = 1000;
/// Runs of each command over them.
const RUNS: usize = 3;

/// Figures that a program printed, by name.
type Figures = BTreeMap<String, u64>;

/// Builds the programs and the tool, measures, and prints tables.
pub(super) fn run() -> Result<()> {
    let bench = outside::build("control")?.join("protolog-bench-control");
    let release = workspace::build(&["protolog-tool"], &["--release"])?;
    let dir = release.join("bench-control");
    let _ = std::fs::remove_dir_all(&dir);
    let one = figures(&bench, &["toggle", "1"], &dir)?;
    let two = figures(&bench, &["toggle", "2"], &dir)?;
    let store = figures(&bench, &["store"], &dir)?;
    let flood = figures(&bench, &["flood"], &dir)?;
    println!("{}", cost(&one, &two, &store));
    println!("{}", disturbance(&flood));
    println!("{}", load(&bench, &release.join("protologtool"), &dir)?);
    Ok(())
}

/// Runs a program of the bench.
fn figures(bench: &Path, words: &[&str], dir: &Path) -> Result<Figures> {
    let mut command = Command::new(bench);
    command.args(words).env("PROTOLOG_RUNTIME_DIR", dir);
    let text = shell::read(&mut command)?;
    let figure = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    Ok(text.lines().filter_map(figure).collect())
}

/// The table of one switch, beside Binder's.
fn cost(one: &Figures, two: &Figures, store: &Figures) -> String {
    let per_switch = |name: &str| {
        let (value, switches) = (one.get(name)?, *one.get("switches")? as f64);
        Some(format!("{:.3}", *value as f64 / switches))
    };
    let time = |figures: &Figures, name: &str| {
        figures.get(name).map_or("–".to_owned(), |nanos| format!("{:.2}", *nanos as f64 / 1000.0))
    };
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "not measured".into());
    let rows = [
        (
            "bytes copied into and out of the program, by its counters",
            or_none(per_switch("bytes_by_counters")),
            // 2 × 2 × (48 of binder_write_read + 64 of binder_transaction_data), see
            // docs/design/control.md.
            "448 around 4",
        ),
        ("its reads and writes, by its counters", or_none(per_switch("syscalls_by_counters")), "–"),
        ("its system calls, by strace", or_none(per_switch("syscalls_by_strace")), "1"),
        (
            "wake-ups of its thread for operators",
            or_none(per_switch("control_thread_wakeups")),
            "1",
        ),
        (
            "the operator's own time, µs",
            format!("{:.3}", store.get("store_ps").map_or(0.0, |ps| *ps as f64 / 1e6)),
            "–",
        ),
        ("until the one thread obeys, µs, median", time(one, "last_thread_ns_median"), "–"),
        ("the same, 90 %", time(one, "last_thread_ns_p90"), "–"),
        (
            "until the last of two threads obeys, µs, median",
            time(two, "last_thread_ns_median"),
            "–",
        ),
        ("the same, 90 %", time(two, "last_thread_ns_p90"), "–"),
        (
            "switches that met no processor for a thread before the next one, of 500",
            two.get("without_a_processor").map_or("–".to_owned(), u64::to_string),
            "–",
        ),
        ("once, before the first: connect, list, map, µs", time(one, "map_ns"), "–"),
    ];
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|(what, ours, binder)| vec![what.to_owned(), ours, binder.to_owned()])
        .collect();
    table::markdown(&["one switch", "ours", "a Binder transaction"], &rows)
}

/// The table of the cost that operators put on a thread that logs without a pause.
fn disturbance(figures: &Figures) -> String {
    let figure = |name: &str, part: f64| {
        figures.get(name).map_or("–".to_owned(), |value| format!("{:.1}", *value as f64 / part))
    };
    let states = ["quiet", "idle", "flood"];
    let row = |what: &str, name: &str, part| {
        let cells = states.map(|state| figure(&format!("{state}_{name}"), part));
        [vec![what.to_owned()], cells.to_vec()].concat()
    };
    let rows = [
        row("a message, ns of its thread's processor time", "message_ps", 1000.0),
        row("how often its thread went to sleep", "sleeps", 1.0),
        row("processor time of the thread for operators, %", "listens_per_mille", 10.0),
    ];
    let flood = format!("8 that ask ({} answers in 2 s)", figure("flood_answers", 1.0));
    table::markdown(&["a thread that logs", "no operator", "64 that ask nothing", &flood], &rows)
}

/// The table of many programs at once.
fn load(bench: &Path, tool: &Path, dir: &Path) -> Result<String> {
    let mut start = Command::new(bench);
    start.args(["start", &PROGRAMS.to_string()]).env("PROTOLOG_RUNTIME_DIR", dir);
    start.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = start.spawn().map_err(|error| format!("can't start the programs: {error}"))?;
    let mut ready = String::new();
    if let Some(out) = child.stdout.take() {
        let _ = BufReader::new(out).read_line(&mut ready);
    }
    let mut rows = Vec::new();
    for words in [
        &["groups", "list"][..],
        &["groups", "status"],
        &["logcat", "enable", "Net"],
        &["logcat", "disable", "Net"],
    ] {
        let mut times = Vec::new();
        for _ in 0..RUNS {
            let mut command = Command::new(tool);
            command.arg("configuration").args(words).env("PROTOLOG_RUNTIME_DIR", dir);
            let begun = Instant::now();
            let text = shell::read(&mut command)?;
            times.push(begun.elapsed().as_secs_f64());
            let done = text.matches("- Done").count();
            if words[0] == "logcat" && done != PROGRAMS {
                return Err(format!("{done} of {PROGRAMS} programs were switched"));
            }
        }
        times.sort_by(f64::total_cmp);
        rows.push(vec![
            words.join(" "),
            format!("{:.3}", times[RUNS / 2]),
            format!("{:.3}", times[0]),
        ]);
    }
    drop(child.stdin.take());
    child.wait().map_err(|error| format!("the programs did not end: {error}"))?;
    let head = format!("{PROGRAMS} programs");
    Ok(table::markdown(&[&head, "s, median", "s, least"], &rows))
}
