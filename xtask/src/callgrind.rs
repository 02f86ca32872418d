//! Instructions, counted by valgrind's callgrind: figures that a busy machine does not change.

use std::process::Command;

use crate::Result;

/// Pattern of the functions within which instructions count, on any thread. The programs of `bench`
/// repeat the measured call in one, and do nothing else there.
const FUNCTION: &str = "*counted*";

/// Instructions of one of so many repetitions; their number is the last argument of `command`.
pub fn each(command: &[&str], repetitions: u64) -> Result<f64> {
    let number = repetitions.to_string();
    let toggle = format!("--toggle-collect={FUNCTION}");
    Ok(count(&[&toggle], &[command, &[&number]].concat())? / repetitions as f64)
}

/// Instructions of all that a command does.
pub(crate) fn all(command: &[&str]) -> Result<f64> {
    count(&[], command)
}

fn count(options: &[&str], command: &[&str]) -> Result<f64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).args(options);
    let output = valgrind.args(command).output();
    let output = output.map_err(|error| format!("can't start `valgrind`: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split_once("Collected : "));
    let count = collected.and_then(|(_, count)| count.trim().parse::<u64>().ok());
    match count {
        Some(count) if count > 0 && output.status.success() => Ok(count as f64),
        _ => Err(format!("no count in what valgrind says of `{}`:\n{text}", command.join(" "))),
    }
}
