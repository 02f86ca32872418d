//! Instructions, counted by valgrind's callgrind: figures that a busy machine does not change.

use std::process::Command;

use crate::Result;

/// Pattern of the functions within which instructions count, on whatever thread. The programs of
/// `bench` repeat the measured call in one, and do nothing else there.
const FUNCTION: &str = "*counted*";

/// Instructions of one of so many repetitions; their number is the last argument of `command`.
pub fn each(command: &[&str], repetitions: u64) -> Result<f64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(format!("--toggle-collect={FUNCTION}")).args(command);
    let output = valgrind.arg(repetitions.to_string()).output();
    let output = output.map_err(|error| format!("can't start `valgrind`: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split_once("Collected : "));
    let count = collected.and_then(|(_, count)| count.trim().parse::<u64>().ok());
    match count {
        Some(count) if count > 0 && output.status.success() => {
            Ok(count as f64 / repetitions as f64)
        }
        _ => Err(format!("no count in what valgrind says of `{}`:\n{text}", command.join(" "))),
    }
}
