//! Steps in a row, each with its name, its time and its outcome; a summary at the end.
//!
//! A failed step does not stop the next: one run tells everything that is wrong. Beside the time of
//! a step stands the processor time of its programs, where the system tells: a step that takes less
//! than it could is one that waits.

use std::fs;
use std::time::{Duration, Instant};

use crate::Result;
use crate::watch::{self, Watch};

/// The steps of one run.
pub(crate) struct Steps<'a> {
    only: &'a [String],
    limit: Option<Duration>,
    done: Vec<Step>,
    skipped: Vec<String>,
    begun: Instant,
}

struct Step {
    name: &'static str,
    time: Duration,
    cpu: Option<Duration>,
    failure: Option<String>,
}

/// The line before the summary.
const SUMMARY: &str = "\n== summary";

/// The work of a step, which adds to the list, in words, what it skips.
pub(crate) type Work = fn(&mut Vec<String>) -> Result<()>;

/// A step: its name, what it checks, and its work.
pub(crate) type NamedStep = (&'static str, &'static str, Work);

/// The beginning of the line about a check whose compiler nobody offers at the moment. It may be
/// left out in CI as well.
pub(crate) const UNAVAILABLE: &str = "unavailable:";

impl<'a> Steps<'a> {
    /// Steps of which those named in `only` are to run; all if it is empty.
    pub(crate) fn new(only: &'a [String]) -> Self {
        Self { only, limit: None, done: Vec::new(), skipped: Vec::new(), begun: Instant::now() }
    }

    /// Runs those of `steps` that are named in `only`, all if it is empty.
    pub(crate) fn run_all(only: &'a [String], steps: &[NamedStep]) -> Self {
        let mut all = Self::new(only);
        for &(name, _, work) in steps {
            all.run(name, work);
        }
        all
    }

    /// Ends the programs of a step after `limit` of its own time, and names them.
    pub(crate) fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Runs one step unless others were asked for. The step adds to the list, in words, what it
    /// skips.
    pub(crate) fn run(
        &mut self,
        name: &'static str,
        step: impl FnOnce(&mut Vec<String>) -> Result<()>,
    ) {
        if !self.wanted(name) {
            return;
        }
        println!("\n== {name}");
        let (begun, cpu_before) = (Instant::now(), children_cpu());
        let watch = self.limit.map(Watch::begin);
        let failure = step(&mut self.skipped).err();
        drop(watch);
        if let Some(problem) = &failure {
            eprintln!("error: {problem}");
        }
        let cpu = children_cpu().zip(cpu_before).map(|(now, before)| now.saturating_sub(before));
        self.done.push(Step { name, time: begun.elapsed(), cpu, failure });
    }

    /// Adds the steps of these names as the summary of another run has them, in its output.
    pub(crate) fn add_summary(&mut self, names: &[&'static str], output: &str) {
        let (_, summary) = output.rsplit_once(SUMMARY).unwrap_or_default();
        for name in names {
            let line = summary.lines().find(|line| line.split(' ').next() == Some(name));
            let fields: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
            let seconds = |at: usize| {
                let seconds = fields.get(at).and_then(|field| field.parse().ok());
                seconds.map(Duration::from_secs_f64)
            };
            let problem = || {
                let start = format!("{name}: ");
                let problem = summary.lines().find_map(|line| line.strip_prefix(&start));
                problem.unwrap_or("it ended without a result").to_owned()
            };
            let failure = (fields.get(1) != Some(&"ok")).then(problem);
            let time = seconds(2).unwrap_or_default();
            self.done.push(Step { name, time, cpu: seconds(4), failure });
        }
        let is_skipped =
            |line: &&str| line.starts_with("skipped:") || line.starts_with(UNAVAILABLE);
        self.skipped.extend(summary.lines().filter(is_skipped).map(str::to_owned));
    }

    /// Returns true if this step is to run.
    pub(crate) fn wanted(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }

    /// Prints the summary; its last line says it all. Returns an error when a step failed, or
    /// skipped something and nothing `may_be_skipped`.
    pub(crate) fn finish(mut self, may_be_skipped: bool) -> Result<()> {
        println!("{SUMMARY}");
        for step in &self.done {
            let outcome = if step.failure.is_some() { "FAILED" } else { "ok" };
            let cpu = step.cpu.map(|cpu| format!(" {:>7.1} s CPU", cpu.as_secs_f64()));
            let time = step.time.as_secs_f64();
            println!("{:<12} {outcome:<6} {time:>7.1} s{}", step.name, cpu.unwrap_or_default());
        }
        // Once more: a reader of only the end of the output sees what to do.
        for step in &self.done {
            if let Some(problem) = &step.failure {
                println!("{}: {problem}", step.name);
            }
        }
        self.skipped.sort();
        self.skipped.dedup();
        for line in &self.skipped {
            println!("{line}");
        }
        let failed: Vec<&str> =
            self.done.iter().filter(|step| step.failure.is_some()).map(|step| step.name).collect();
        let time = self.begun.elapsed().as_secs_f64();
        let refused = self.skipped.iter().filter(|line| !line.starts_with(UNAVAILABLE)).count();
        if failed.is_empty() && !may_be_skipped && refused > 0 {
            return Err(format!(
                "{refused} checks were skipped, and in CI none may be (the lines above say why)"
            ));
        }
        if failed.is_empty() {
            println!(
                "passed: {} steps in {time:.1} s, {} checks skipped",
                self.done.len(),
                self.skipped.len()
            );
            return Ok(());
        }
        Err(format!("failed: {} ({} steps in {time:.1} s)", failed.join(", "), self.done.len()))
    }
}

/// The CPU time of all children that have been waited for, and of theirs; none where the system has
/// no `/proc/self/stat`.
fn children_cpu() -> Option<Duration> {
    // The fields `cutime` and `cstime`.
    watch::ticks(&fs::read_to_string("/proc/self/stat").ok()?, 13..15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_does_not_stop_the_next_step_but_the_whole_fails() {
        let mut steps = Steps::new(&[]);
        let mut ran = false;
        steps.run("one", |_| Err("broken".to_owned()));
        steps.run("two", |_| {
            ran = true;
            Ok(())
        });
        assert!(ran);
        assert!(steps.finish(true).unwrap_err().starts_with("failed: one (2 steps in "));
    }

    #[test]
    fn what_a_step_has_started_is_ended_after_its_time() {
        // In a process of its own: it ends all that its process has started, and other tests start
        // programs, too.
        if std::env::var_os("PROTOLOG_ENDED").is_some() {
            let mut steps = Steps::new(&[]).with_limit(Duration::from_millis(50));
            steps.run("long", |_| {
                crate::shell::run(std::process::Command::new("sleep").arg("86397"))
            });
            let failure = steps.done[0].failure.as_deref().unwrap();
            assert!(failure.starts_with("`sleep 86397` ended with signal: 9"), "{failure}");
            return;
        }
        let mut test = std::process::Command::new(std::env::current_exe().unwrap());
        test.args(["--exact", "steps::tests::what_a_step_has_started_is_ended_after_its_time"]);
        let output = test.arg("--nocapture").env("PROTOLOG_ENDED", "").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("error: not done after 0 s; now ends:\nprocess "), "{said}");
        assert!(said.contains(": sleep 86397\n"), "{said}");
    }

    #[test]
    fn steps_of_another_run_are_added() {
        let output = "x\n== summary\ntools ok 1.0 s 0.5 s CPU\na        ok       12.0 s    20.5 s CPU\n\
                      b        FAILED    3.0 s\nb: broken\nskipped: c because of d\n";
        let mut steps = Steps::new(&[]);
        steps.add_summary(&["a", "b", "lost"], output);
        let times = steps.done.iter().map(|step| (step.time.as_secs(), step.cpu.is_some()));
        assert_eq!(times.collect::<Vec<_>>(), [(12, true), (3, false), (0, false)]);
        let failures: Vec<_> = steps.done.iter().map(|step| step.failure.as_deref()).collect();
        assert_eq!(failures, [None, Some("broken"), Some("it ended without a result")]);
        assert_eq!(steps.skipped, ["skipped: c because of d"]);
        steps.add_summary(&["a"], "no summary");
        assert!(steps.done[3].failure.is_some());
    }

    #[test]
    fn only_wanted_steps_run() {
        let only = ["two".to_owned()];
        let mut steps = Steps::new(&only);
        steps.run("one", |_| Err("must not run".to_owned()));
        steps.run("two", |skipped| {
            skipped.push("skipped: a check because of the test".to_owned());
            Ok(())
        });
        assert_eq!(steps.done.len(), 1);
        assert_eq!(steps.skipped.len(), 1);
        assert!(steps.finish(true).is_ok());
    }

    #[test]
    fn where_nothing_may_be_skipped_a_skipped_check_is_a_failure() {
        let mut steps = Steps::new(&[]);
        steps.run("one", |skipped| {
            skipped.push("skipped: a check because of the test".to_owned());
            Ok(())
        });
        assert!(steps.finish(false).unwrap_err().starts_with("1 checks were skipped"));
    }

    #[test]
    fn what_nobody_offers_fails_nowhere() {
        let mut steps = Steps::new(&[]);
        steps.run("one", |skipped| {
            skipped.push(format!("{UNAVAILABLE} a check: no such compiler"));
            Ok(())
        });
        assert!(steps.finish(false).is_ok());
    }
}
