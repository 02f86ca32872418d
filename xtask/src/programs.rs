//! The test programs of the workspace, one more at a time than there are processors.
//!
//! Cargo runs one after the other. Most of ours wait: for a session's thread, a child, a lock that
//! the tests of a program share. So cargo builds them, and they are run here as cargo would: in
//! their package's directory, with its variables.
//!
//! Invariants: all run, even if some fail or hang; the output of each is printed in one piece, when
//! it has ended.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Stdout;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::progress::Progress;
use crate::watch::{self, Ended};
use crate::{Result, shell, workspace};

/// The time of its own that a program may take. The slowest takes two minutes and a half on two
/// cores with much beside it, and those that take longer are found by nobody in a run that is ended
/// from outside.
pub(crate) const LIMIT: Duration = Duration::from_secs(15 * 60);

/// The programs at a time beyond one for each processor, since most wait.
const BEYOND: usize = 1;

/// The programs that take longest, which begin first, so that none is alone at the end. A wrong
/// list costs time only.
const LONG: &str = "rust kotlin java_runtime aosp java binary snippets binaries jar segments";

/// A test program that cargo has built.
#[derive(Debug, PartialEq)]
struct TestProgram {
    executable: PathBuf,
    /// The directory of its package.
    package: PathBuf,
    package_name: String,
    /// The arguments of `cargo test` that choose it.
    choice: String,
}

/// The variable, with its value, by which tests make the same inputs in every run, so that it is
/// the change under test that makes one fail. `cargo xtask soak properties` goes further.
pub(crate) fn seed() -> (&'static str, String) {
    const SEED: &str = "PROPTEST_RNG_SEED";
    (SEED, std::env::var(SEED).unwrap_or_else(|_| "1".to_owned()))
}

/// Builds and runs the test programs that `cargo test` with `args` would run, without those that
/// `except` chooses, as in `--test rust`, each for `limit` at most. `prepare` sets variables, for
/// cargo and for each.
pub(crate) fn run(
    args: &[&str],
    except: &[&str],
    limit: Duration,
    prepare: impl Fn(&mut Command) + Sync,
) -> Result<()> {
    let mut programs = build(args, &prepare)?;
    programs.retain(|program| !except.contains(&&*program.choice));
    let is_long = |program: &TestProgram| {
        LONG.split(' ').any(|name| program.choice.strip_prefix("--test ") == Some(name))
    };
    programs.sort_by_key(|program| !is_long(program));
    let at_once = thread::available_parallelism().map_or(1, usize::from) + BEYOND;
    println!("$ {} test programs, {at_once} at a time", programs.len());
    let progress = &Progress::new(programs.len());
    let libraries = libraries(&programs)?;
    let open = Mutex::new(VecDeque::from(programs));
    let failed = Mutex::new(Vec::new());
    let next = || open.lock().expect("no panic").pop_front();
    let work = || {
        while let Some(program) = next() {
            let mut command = program.command(&libraries);
            prepare(&mut command);
            if let Err(again) = program.run(&mut command, limit, progress) {
                failed.lock().expect("no panic").push(again);
            }
        }
    };
    let (over, is_over) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || progress.show_until(&is_over));
        thread::scope(|scope| (0..at_once).for_each(|_| drop(scope.spawn(work))));
        drop(over);
    });
    let mut failed = failed.into_inner().expect("no panic");
    failed.sort();
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{} test programs failed; to run them again:\n  {}",
        failed.len(),
        failed.join("\n  ")
    ))
}

/// Builds the programs, with cargo's own progress and errors on standard error.
fn build(args: &[&str], prepare: impl Fn(&mut Command)) -> Result<Vec<TestProgram>> {
    let format = ["--no-run", "--message-format=json-render-diagnostics"];
    let mut command = shell::cargo(&[args, &format].concat());
    prepare(&mut command);
    println!("$ {}", shell::line(&command));
    let built = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let built = built.map_err(|error| format!("can't start cargo: {error}"))?;
    if !built.status.success() {
        return Err("the tests do not compile".to_owned());
    }
    let lines = String::from_utf8_lossy(&built.stdout).into_owned();
    Ok(lines.lines().filter_map(test_program).collect())
}

/// The test program of a line of cargo's; none for anything else that it has built.
fn test_program(line: &str) -> Option<TestProgram> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let executable = message["executable"].as_str().filter(|_| is_test)?;
    let manifest = Path::new(message["manifest_path"].as_str()?);
    // `path+file:///home/me/app#app@0.1.0`, or `…/app#0.1.0` where the directory has the package's
    // name.
    let id = message["package_id"].as_str()?;
    let (place, version) = id.rsplit_once('#')?;
    let named = version.split_once('@').map(|(name, _)| name);
    let package_name = named.or_else(|| place.rsplit('/').next())?.to_owned();
    let target = &message["target"];
    let kind = target["kind"][0].as_str()?;
    let choice = match kind {
        "test" | "bin" | "example" => format!("--{kind} {}", target["name"].as_str()?),
        _ => "--lib".to_owned(),
    };
    Some(TestProgram {
        executable: executable.into(),
        package: manifest.parent()?.into(),
        package_name,
        choice,
    })
}

/// The directories with the shared libraries that test programs need: those of the compiler for
/// macros, and cargo's.
fn libraries(programs: &[TestProgram]) -> Result<String> {
    let compiler = shell::read(Command::new("rustc").args(["--print", "target-libdir"]))?;
    let deps = programs.first().and_then(|program| program.executable.parent());
    let own = deps.map(|deps| deps.display().to_string()).unwrap_or_default();
    Ok(format!("{own}:{}", compiler.trim()))
}

impl TestProgram {
    fn command(&self, libraries: &str) -> Command {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.package).stdin(Stdio::null());
        command.env("CARGO_MANIFEST_DIR", &self.package).env("CARGO_PKG_NAME", &self.package_name);
        command.env("LD_LIBRARY_PATH", libraries);
        command
    }

    /// Runs it and prints its output. If it fails, the error is the command that runs it again,
    /// with the tests that were running if its time was over.
    fn run(
        &self,
        command: &mut Command,
        limit: Duration,
        progress: &Progress<Stdout>,
    ) -> Result<()> {
        let name = format!("{} {}", self.package_name, self.choice);
        let again = format!("cargo test --package {name}");
        let begun = Instant::now();
        progress.begin(&name);
        let (output, ended) = self.output(command, limit).map_err(|problem| {
            progress.end(&name, &format!("\n-- {name}\nerror: {problem}\n"));
            again.clone()
        })?;
        let time = begun.elapsed().as_secs_f64();
        let end = match &ended {
            Ended::ByItself(status) if status.success() => String::new(),
            Ended::ByItself(status) => format!("error: {status}\n"),
            Ended::TimeIsOver(report) => format!("error: not done after {time:.0} s\n{report}"),
        };
        progress.end(&name, &format!("\n-- {name} ({time:.1} s)\n{output}{end}"));
        match ended {
            Ended::ByItself(status) if status.success() => Ok(()),
            Ended::ByItself(_) => Err(again),
            Ended::TimeIsOver(_) => {
                let slow = output.lines().filter(|line| line.contains(SLOW));
                let slow: Vec<&str> = [""].into_iter().chain(slow).collect();
                Err(format!("{again} (not done after {time:.0} s){}", slow.join("\n    ")))
            }
        }
    }

    /// Runs it, for its output and how it ended. By way of a file: a pipe would have to wait for
    /// all that it has started.
    fn output(&self, command: &mut Command, limit: Duration) -> Result<(String, Ended)> {
        let dir = workspace::tools_dir().join("output");
        let name = self.executable.file_name().unwrap_or_default();
        let path = dir.join(name);
        let created = fs::create_dir_all(&dir).and_then(|()| File::create(&path));
        let file = created.map_err(|error| format!("can't write `{}`: {error}", path.display()))?;
        let failed = |error| format!("can't start `{}`: {error}", self.executable.display());
        let errors = file.try_clone().map_err(failed)?;
        let mut child = command.stdout(file).stderr(errors).spawn().map_err(failed)?;
        let ended = watch::wait(&mut child, limit)?;
        let said = workspace::read_bytes(&path)?;
        let _ = fs::remove_file(&path);
        Ok((String::from_utf8_lossy(&said).into_owned(), ended))
    }
}

/// Part of the line by which a test program says that a test takes long.
const SLOW: &str = "has been running for over";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_test_programs_are_taken_from_what_cargo_says() {
        let line = |kind: &str, is_test: bool, executable: &str, id: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"path+file:///w/app{id}","manifest_path":"/w/app/Cargo.toml",
                "target":{{"kind":["{kind}"],"name":"it"}},"profile":{{"test":{is_test}}},"executable":{executable}}}"#
            )
        };
        let choice =
            |line: &str| test_program(line).map(|it| format!("{} {}", it.package_name, it.choice));
        assert_eq!(
            choice(&line("test", true, r#""/t/it""#, "#0.1.0")),
            Some("app --test it".into())
        );
        assert_eq!(
            choice(&line("lib", true, r#""/t/it""#, "#my-app@0.1.0")),
            Some("my-app --lib".into())
        );
        assert_eq!(
            choice(&line("proc-macro", true, r#""/t/it""#, "#0.1.0")),
            Some("app --lib".into())
        );
        assert_eq!(choice(&line("bin", false, r#""/t/it""#, "#0.1.0")), None);
        assert_eq!(choice(&line("test", true, "null", "#0.1.0")), None);
        assert_eq!(choice("   Compiling app"), None);
    }
}
