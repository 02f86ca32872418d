//! The examples of `--help`, of all commands: each is run as it is printed, where its words mean
//! something.

use crate::stage::Stage;
use protolog_testkit::{Output, run, run_any, tool};
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Mutex;
use std::thread;

/// The longest line that a terminal of 80 columns does not wrap, which would make two commands of
/// one.
const WIDTH: usize = 80;

/// The way an example is run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// It ends with this exit code.
    Ends(i32),
    /// It takes files of other programs on this machine too, some of which may run.
    TakesAll,
    /// It goes on until Ctrl-C.
    Endless,
    /// The reason why it can't be run here.
    Not(&'static str),
}

use Way::{Endless, Ends, Not, TakesAll};

/// The examples that do not end with 0. The first of an example's beginnings counts.
const EXAMPLES: [(&str, Way); 15] = [
    ("adb ", Not("it takes a device")),
    ("ssh ", Not("it takes another machine")),
    // Its input ends without a goodbye.
    ("protologtool lsp", Ends(1)),
    ("protologtool export", Not("it takes `protologtool-fleet`, whose tests run it")),
    ("protologtool migrate", Not("it takes sources with other loggers, which tests/migrate has")),
    ("protologtool view app.pftrace --since", Ends(0)),
    ("protologtool view", Endless),
    ("protologtool read-log app.pftrace -n 10 --follow", Endless),
    ("protologtool read-log --follow", Endless),
    ("protologtool record", Not("it takes a tracing service, which tests/record has")),
    ("protologtool recover --core", Not("it takes a core file, which tests/core_files has")),
    ("protologtool recover /dev/shm/protolog-server-*.rec", TakesAll),
    ("protologtool top --once", Ends(0)),
    ("protologtool top --json", Endless),
    ("protologtool top", Not("it takes a terminal, which tests/top.rs gives it")),
];

/// The paths of all commands, from the list in each help text.
pub(crate) fn commands() -> Vec<String> {
    let mut found = vec![String::new()];
    let mut at = 0;
    while let Some(command) = found.get(at).cloned() {
        let help = help(&command);
        let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let list = list.take_while(|line| !line.is_empty());
        // A command's name has two columns before it; what continues its description has more.
        let names = list.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        let names = names.filter(|name| !name.is_empty() && *name != "help");
        found.extend(names.map(|name| format!("{command} {name}").trim().to_owned()));
        at += 1;
    }
    found.push("generate-viewer-config --from-binary".to_owned());
    found
}

pub(crate) fn help(command: &str) -> String {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    let output = run_any(tool.args(command.split_whitespace()).arg("--help"));
    assert_eq!(output.code, Some(0), "{command}: {}", output.stderr);
    output.stdout
}

/// The examples of a help text, as one would copy them.
fn examples(help: &str, faults: &mut Vec<String>) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let mut examples = Vec::new();
    let mut goes_on = false;
    for line in lines.take_while(|line| !line.is_empty()) {
        if line.chars().count() > WIDTH {
            faults.push(format!("a terminal wraps `{line}`"));
        }
        let line = line.strip_prefix("  ").expect("examples are indented");
        match (goes_on, examples.last_mut()) {
            (true, Some(last)) => *last = format!("{last}\n{line}"),
            _ => examples.push(line.to_owned()),
        }
        goes_on = line.ends_with('\\');
    }
    examples
}

#[test]
fn every_example_runs_as_printed() {
    let open = Mutex::new(commands());
    let all = Mutex::new(Tried::default());
    let work = || {
        while let Some(command) = { open.lock().expect("no panic").pop() } {
            let tried = try_command(&command);
            let mut all = all.lock().expect("no panic");
            all.faults.extend(tried.faults);
            all.used.extend(tried.used);
            all.count += tried.count;
        }
    };
    // Most of them wait.
    thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
    let Tried { faults, used, count } = all.into_inner().expect("no panic");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 50, "{count} examples");
    let listed: BTreeSet<&str> = EXAMPLES.iter().map(|(start, _)| *start).collect();
    assert_eq!(used, listed, "the list has what no help text has");
}

/// The results of examples.
#[derive(Default)]
struct Tried {
    faults: Vec<String>,
    /// The beginnings in the list that stood for one.
    used: BTreeSet<&'static str>,
    count: usize,
}

fn try_command(command: &str) -> Tried {
    let mut tried = Tried::default();
    let examples = examples(&help(command), &mut tried.faults);
    tried.count = examples.len();
    let is_rust =
        |example: &&String| example.ends_with("# Rust") || example.contains("check --fix");
    let (rust, others): (Vec<_>, Vec<_>) = examples.iter().partition(is_rust);
    for (is_rust, examples) in [(true, rust), (false, others)] {
        if examples.is_empty() {
            continue;
        }
        let mut stage = Stage::new(is_rust);
        prepare(&mut stage, command);
        for example in examples {
            tried.used.extend(try_example(&stage, example, &mut tried.faults));
            if command == "configuration trace start" {
                run(&mut stage.command("protologtool configuration trace stop"));
            }
        }
    }
    tried
}

/// Has run what the examples of a command speak of.
fn prepare(stage: &mut Stage, command: &str) {
    match command {
        "recover" => {
            stage.start("app", "app.pftrace");
            stage.kill();
            stage.start("server", "record");
            stage.kill();
        }
        // A project in the place of the program.
        "init" => drop(run(&mut stage.command("rm app && mkdir app && cp -r src app"))),
        "read-log" => stage.start("app", "record"),
        "configuration" => stage.start("indexer", "indexer.pftrace"),
        _ if command.starts_with("configuration") || command == "top" => {
            stage.start("server", "server-now.pftrace");
        }
        _ => {}
    }
}

/// Runs an example; returns the beginning by which the list has it.
fn try_example(stage: &Stage, example: &str, faults: &mut Vec<String>) -> Option<&'static str> {
    let listed = EXAMPLES.iter().find(|(start, _)| example.starts_with(start));
    let (start, how) = listed.map_or((None, Ends(0)), |(start, how)| (Some(*start), *how));
    // A program that is missing is reported.
    let missing = ["jq", "man"]
        .into_iter()
        .find(|name| example.contains(&format!("| {name} ")) && tool(name).is_none());
    match how {
        _ if missing.is_some() => {}
        Not(_) => {}
        TakesAll => {
            let output = run_any(&mut stage.command(example));
            if !matches!(output.code, Some(0 | 3)) {
                faults.push(format!("`{example}` ended with {:?}\n{}", output.code, output.stderr));
            }
        }
        Ends(code) => {
            let output = run_any(&mut stage.command(example));
            faults.extend(fault(example, &output, &[code]));
        }
        Endless => {
            let mut limited =
                stage.command(&format!("timeout --signal=INT 1 bash -c {}", quoted(example)));
            faults.extend(fault(example, &run_any(&mut limited), &[124, 130, 0]));
        }
    }
    start
}

fn fault(example: &str, output: &Output, codes: &[i32]) -> Option<String> {
    let is_expected = output.code.is_some_and(|code| codes.contains(&code));
    let has_error = output.stderr.lines().any(|line| line.starts_with("error"));
    let is_right = is_expected && !has_error;
    (!is_right).then(|| format!("`{example}` ended with {:?}\n{}", output.code, output.stderr))
}

fn quoted(line: &str) -> String {
    format!("'{}'", line.replace('\'', "'\\''"))
}
