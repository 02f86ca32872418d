//! Measuring a program: wall time, processor time, peak memory.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use xtask::{Result, shell, workspace};

/// The time and memory of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Run {
    /// Seconds.
    pub(super) wall: f64,
    /// Seconds of all threads, user and system; only known of a program of its own.
    pub(super) cpu: Option<f64>,
    /// Largest resident set, bytes; only known of a program of its own.
    pub(super) peak: Option<u64>,
}

/// Runs `program` with `args` in `dir` under GNU time, for its memory, and that under bash, which
/// tells milliseconds of processor time where GNU time tells hundredths of a second; `report` is a
/// file of ours for both.
pub(super) fn program(program: &Path, args: &[String], dir: &Path, report: &Path) -> Result<Run> {
    let mut time = Command::new("bash");
    time.args(["-c", r#"TIMEFORMAT="%3U %3S"; { time "$@" 2>&3; } 3>&2 2>>"$0""#])
        .arg(report)
        .args(["/usr/bin/time", "--append", "--output"])
        .arg(report)
        .args(["--format", "%M"])
        .arg(program)
        .args(args)
        .current_dir(dir);
    workspace::write(report, "")?;
    let begun = Instant::now();
    // Not `run_quietly`: its error would show some thousand arguments.
    let status = time.status().map_err(|error| format!("can't start `bash`: {error}"))?;
    let wall = begun.elapsed().as_secs_f64();
    if !status.success() {
        return Err(format!("`{}` ended with {status}", shell::line(&Command::new(program))));
    }
    let text = workspace::read(report)?;
    let (cpu, peak) = figures(&text)
        .ok_or_else(|| format!("can't read the figures `{}` of time", text.trim()))?;
    Ok(Run { wall, cpu: Some(cpu), peak: Some(peak) })
}

/// The median run by wall time.
pub(super) fn median(runs: &[Run]) -> Run {
    let mut sorted = runs.to_vec();
    sorted.sort_by(|a, b| a.wall.total_cmp(&b.wall));
    sorted[sorted.len() / 2]
}

/// Slowest less fastest run, in per cent of the median.
pub(super) fn spread(runs: &[Run]) -> f64 {
    let walls = || runs.iter().map(|run| run.wall);
    let (least, most) = (walls().fold(f64::INFINITY, f64::min), walls().fold(0.0, f64::max));
    (most - least) / median(runs).wall * 100.0
}

/// Processor seconds and peak bytes, from the kilobytes of GNU time and bash's seconds of user and
/// system.
fn figures(text: &str) -> Option<(f64, u64)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [kilobytes, user, system] = words[..] else {
        return None;
    };
    Some((
        user.parse::<f64>().ok()? + system.parse::<f64>().ok()?,
        kilobytes.parse::<u64>().ok()? * 1024,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_figures_of_time() {
        assert_eq!(figures("2048\n1.250 0.500\n"), Some((1.75, 2 << 20)));
        assert_eq!(figures("Command exited with non-zero status 1\n1 0 2\n"), None);
    }

    #[test]
    fn median_and_spread() {
        let runs = [1.0, 3.0, 2.0].map(|wall| Run { wall, cpu: None, peak: None });
        assert_eq!(median(&runs), runs[2]);
        assert_eq!(format!("{:.1}", spread(&runs)), "100.0");
    }
}
