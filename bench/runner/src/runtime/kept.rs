//! Messages that are left when the process is killed right after it logged them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use super::super::report::{Report, median};
use super::programs::{Candidate, Log, Programs};
use xtask::Result;

const ROUNDS: usize = 3;

/// Kills each candidate after 10,000 messages and counts what its log has.
pub(super) fn run(programs: &Programs, report: &mut Report) -> Result<()> {
    let mut rows = Vec::new();
    for candidate in programs.candidates.iter().filter(|candidate| candidate.log != Log::Nothing) {
        let kept: Vec<f64> =
            (0..ROUNDS).map(|_| round(programs, candidate)).collect::<Result<_>>()?;
        let least = kept.iter().copied().fold(f64::INFINITY, f64::min);
        rows.push(vec![
            candidate.title.to_owned(),
            format!("{least:.0}"),
            format!("{:.0}", median(kept)),
        ]);
    }
    let head = ["", "fewest", "median"];
    report.add("Kept of 10,000 messages after SIGKILL", &head, &rows);
    Ok(())
}

fn round(programs: &Programs, candidate: &Candidate) -> Result<f64> {
    let path = programs.dir.join(format!("{}-killed", candidate.word));
    let daemon = programs.daemon.as_ref().filter(|_| candidate.log == Log::Lttng);
    if let Some(daemon) = daemon {
        daemon.begin()?;
    }
    let killed = kill(candidate, &path);
    if let Some(daemon) = daemon {
        daemon.end()?;
    }
    killed?;
    let (kept, _) = programs.count(candidate.log, &path)?;
    let _ = fs::remove_file(&path);
    Ok(kept)
}

/// Starts the program, waits until it says that all is logged, kills it.
fn kill(candidate: &Candidate, path: &std::path::Path) -> Result<()> {
    let mut command = Command::new(&candidate.program);
    command.args(["kill", candidate.word]).arg(path);
    let started =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = started.map_err(|error| format!("can't start `{command:?}`: {error}"))?;
    let mut said = String::new();
    let read = child.stdout.take().map(|stdout| BufReader::new(stdout).read_line(&mut said));
    let killed = child.kill().and_then(|()| child.wait());
    match (read, killed) {
        (Some(Ok(_)), Ok(_)) if said == "written\n" => Ok(()),
        _ => Err(format!("`{command:?}` did not get to its end")),
    }
}
