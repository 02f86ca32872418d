//! `cargo xtask test`: everything that is tested, in steps.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::beside::Beside;
use crate::steps::Steps;
use crate::tools::{self, Tool};
use crate::{
    Result, bridges, demo, instructions, java, java_25, kotlin, maven, platforms, programs, python,
    shell, soak, tidy, toolchain, workspace,
};

/// The steps in their order, each with what it checks.
pub(crate) const STEPS: [(&str, &str); 15] = [
    ("tools", "the toolchain is new enough; what the other steps need is there, or is installed"),
    ("format", "rustfmt would change nothing"),
    ("lints", "clippy has nothing to say"),
    ("tidy", "the project's own rules: see xtask/src/tidy"),
    ("tests", "all tests of the workspace but those of the next step, several programs at a time"),
    (
        "browser",
        "the page of `view` in Chromium: it shows, counts, follows and lets nothing in; the Perfetto UI shows what we add for it",
    ),
    ("features", "what the runtime can do besides, each with its feature"),
    ("instructions", "a log call takes no more instructions than the table in bench says"),
    ("loom", "the models of the write path hold, however threads take turns"),
    ("doctests", "the examples in the documentation compile and run"),
    ("rustdoc", "the documentation builds without warnings"),
    (
        "oldest",
        "the libraries build with the oldest Rust that they promise, the runtime for Android; \
         its tests pass on musl",
    ),
    (
        "java",
        "the Java tests pass; the bridges from other loggers, as jars, record what those are given; the Maven project \
         builds, and logs",
    ),
    ("python", "test data that scripts make is what they make"),
    ("demo", "the demo runs to its end, on a small tree"),
];

/// All that the runtime can do besides.
const FEATURES: &str = "protolog-rt/log,protolog-rt/tracing,protolog-rt/compression";

/// The time that a step may take: twice what all take together on two cores.
const LIMIT: Duration = Duration::from_secs(40 * 60);

/// The test program that drives a browser.
const BROWSER_TESTS: &str = "view";
/// Those of its tests that open the Perfetto UI.
const PERFETTO_TESTS: &str = "perfetto::";

/// Runs the steps named in `only`, all if it is empty. The step `tools` always runs.
pub(crate) fn run(only: &[String], install: bool) -> Result<()> {
    let wanted: Vec<String> =
        if only.is_empty() { Vec::new() } else { [&["tools".to_owned()], only].concat() };
    let mut steps = Steps::new(&wanted).with_limit(LIMIT);
    let mut have = Have::default();
    steps.run("tools", |skipped| have.prepare(install, skipped));
    steps.run("format", |skipped| {
        have.with(&tools::RUSTFMT, "the format", skipped, || {
            cargo(&["fmt", "--all", "--check", "--", "--color=never"])
        })
    });
    steps.run("lints", |skipped| have.with(&tools::CLIPPY, "the lints", skipped, lint));
    steps.run("tidy", |skipped| {
        have.with(&tools::GIT, "the project's own rules", skipped, tidy::run)
    });
    steps.run("tests", |skipped| {
        let all = ["--lib", "--bins", "--tests", "--examples"];
        have.test_programs(&[&["test", "--locked", "--workspace"], &all[..]].concat(), skipped)
    });
    steps.run("browser", |skipped| {
        // By itself: it is slow to draw beside others, and its figures would be those of all together. The Perfetto UI wants all cores.
        let page =
            ["test", "--locked", "--package", "protolog-tool", "--test", BROWSER_TESTS, "--"];
        have.test(&[&page[..], &["--skip", PERFETTO_TESTS]].concat(), skipped)?;
        have.test(&[&page[..], &["--test-threads", "1", PERFETTO_TESTS]].concat(), skipped)
    });
    // It has target directories of its own. Beside the tests, it would make what waits for the clock wait longer.
    let oldest = wanted.is_empty().then(|| Beside::start("oldest", install));
    steps.run("features", |skipped| have.test_features(skipped));
    steps.run("instructions", |skipped| {
        let missing = have.lacks(&tools::VALGRIND, "the instructions of calls", skipped);
        if missing { Ok(()) } else { instructions::compare(install, skipped) }
    });
    steps.run("loom", |_| soak::models(None));
    steps.run("doctests", |skipped| {
        have.test(&["test", "--locked", "--workspace", "--no-fail-fast", "--doc"], skipped)
    });
    steps.run("rustdoc", |_| {
        // With private items, whose docs are for who works on it: all of the public ones are in there too.
        let doc = ["doc", "--locked", "--workspace", "--no-deps", "--document-private-items"];
        shell::run(shell::cargo(&doc).env("RUSTDOCFLAGS", "-D warnings"))
    });
    steps.run("oldest", |skipped| {
        if let Some(begun) = oldest {
            return begun?.finish(skipped);
        }
        toolchain::check_promise(&toolchain::LIBRARIES, install, skipped)?;
        let has_musl = !have.lacks(&tools::MUSL, "tests on musl", skipped);
        platforms::check(has_musl, install, skipped)
    });
    steps.run("java", |skipped| have.test_java(install, skipped));
    steps.run("python", |skipped| have.reproduce_test_data(skipped));
    steps.run("demo", |_| {
        // Built as the tests were: a release build of the tool alone takes longer than many steps.
        demo::run(Some(workspace::root().join("examples/java")), demo::Profile::Dev, install)
    });
    steps.finish(!tools::in_ci())
}

/// The tools that the machine has.
#[derive(Default)]
struct Have {
    missing: Vec<Tool>,
    python: Option<python::Environment>,
}

impl Have {
    fn test_java(&self, install: bool, skipped: &mut Vec<String>) -> Result<()> {
        if self.lacks(&tools::JAVA, "the Java tests", skipped) {
            return Ok(());
        }
        java::test()?;
        bridges::test(install, skipped)?;
        self.with(&tools::MAVEN, "the Maven project", skipped, maven::test)
    }

    fn test_features(&self, skipped: &mut Vec<String>) -> Result<()> {
        // In the whole workspace, so that dependencies are those that are built already.
        let all = ["test", "--locked", "--workspace", "--no-fail-fast", "--features", FEATURES];
        let tests = ["bridge", "bridge_targets", "fork_locks"].map(|test| ["--test", test]);
        self.test(&[&all[..], tests.as_flattened()].concat(), skipped)?;
        self.test(&[&all[..], &["--doc", "bridge"]].concat(), skipped)
    }

    fn prepare(&mut self, install: bool, skipped: &mut Vec<String>) -> Result<()> {
        toolchain::check()?;
        let wanted = [
            tools::CC,
            tools::GIT,
            tools::RUSTFMT,
            tools::CLIPPY,
            tools::JAVA,
            tools::JDK_SOURCE,
            tools::MAVEN,
            tools::NPM,
            tools::MUSL,
            tools::NODE,
            tools::PYTHON,
            tools::VALGRIND,
            tools::ZSH,
            tools::FISH,
            tools::CHROMIUM,
            tools::LNAV,
            tools::TMUX,
            tools::LESS,
        ];
        self.missing = tools::prepare(&wanted, install);
        let has_python = self.missing.iter().all(|tool| tool.name != tools::PYTHON.name);
        match python::prepare(install && has_python) {
            Ok(environment) => self.python = Some(environment),
            Err(problem) if tools::in_ci() => return Err(problem),
            Err(problem) => {
                println!("missing: {problem}");
                let why = problem.lines().next().unwrap_or_default();
                skipped.push(format!("skipped: all that Perfetto's own code judges because {why}"));
            }
        }
        for prepare in [kotlin::prepare, java_25::prepare] {
            if let Err(why) = prepare(install) {
                // The tests of that report that they were skipped.
                if tools::in_ci() {
                    return Err(why);
                }
                println!("missing: {why}");
            }
        }
        if tools::in_ci() && !self.missing.is_empty() {
            let names: Vec<&str> = self.missing.iter().map(|tool| tool.name).collect();
            return Err(format!("in CI nothing may be missing: {}", names.join(", ")));
        }
        Ok(())
    }

    /// Does `check` if `tool` is there; else `what` counts as skipped.
    fn with(
        &self,
        tool: &Tool,
        what: &str,
        skipped: &mut Vec<String>,
        check: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        if self.lacks(tool, what, skipped) { Ok(()) } else { check() }
    }

    /// Returns true if `tool` is not there, so that `what` counts as skipped.
    fn lacks(&self, tool: &Tool, what: &str, skipped: &mut Vec<String>) -> bool {
        let missing = self.missing.iter().any(|missing| missing.name == tool.name);
        if missing {
            let line = tools::skipped(what, tool);
            println!("{line}");
            skipped.push(line);
        }
        missing
    }

    /// Runs cargo's tests.
    fn test(&self, args: &[&str], skipped: &mut Vec<String>) -> Result<()> {
        gather_skipped(skipped, |list| {
            let mut test = shell::cargo(args);
            self.set_variables(list, &mut test);
            shell::run(&mut test)
        })
    }

    /// Runs the programs of cargo's tests, several at a time.
    fn test_programs(&self, args: &[&str], skipped: &mut Vec<String>) -> Result<()> {
        gather_skipped(skipped, |list| {
            let except = format!("--test {BROWSER_TESTS}");
            programs::run(args, &[&except], programs::LIMIT, |command| {
                self.set_variables(list, command);
            })
        })
    }

    /// Tells tests where the judges are, and where to list what they skip.
    fn set_variables(&self, list: &Path, test: &mut Command) {
        test.env("PROTOLOG_SKIPPED", list);
        if let Some(environment) = &self.python {
            test.env("PROTOLOG_PYTHON", &environment.python)
                .env("PERFETTO_WEB_DIST", &environment.web_dist);
        }
    }

    /// Each `testdata/make.py`, run into an empty folder, must make the files that are committed beside it; and the methods of the
    /// Java runtime must be as their script writes them.
    fn reproduce_test_data(&self, skipped: &mut Vec<String>) -> Result<()> {
        let Some(environment) = &self.python else {
            skipped.push(
                "skipped: making test data anew because the Python environment is missing"
                    .to_owned(),
            );
            return Ok(());
        };
        for script in workspace::files()?.iter().filter(|file| file.ends_with("testdata/make.py")) {
            let script = workspace::root().join(script);
            let made = workspace::tools_dir().join("made");
            workspace::empty_dir(&made)?;
            shell::run(Command::new(&environment.python).arg(&script).arg(&made))?;
            compare(&made, script.parent().expect("a script lies in a folder"))?;
        }
        let overloads = workspace::root().join("java/overloads.py");
        shell::run(Command::new(&environment.python).arg(overloads).arg("--check"))
    }
}

/// Lints all with all features, and then the libraries without those of other loggers: what there is only then lies in them.
fn lint() -> Result<()> {
    let clippy = ["clippy", "--locked", "--workspace"];
    let all = ["--all-targets", "--features", FEATURES, "--", "-D", "warnings"];
    cargo(&[&clippy[..], &all].concat())?;
    cargo(&[&clippy[..], &["--lib", "--", "-D", "warnings"]].concat())
}

/// Gathers what tests list as skipped.
fn gather_skipped(skipped: &mut Vec<String>, test: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let list = workspace::tools_dir().join("skipped");
    let cleared = fs::create_dir_all(workspace::tools_dir()).and_then(|()| fs::write(&list, ""));
    cleared.map_err(|error| format!("can't write `{}`: {error}", list.display()))?;
    let tested = test(&list);
    skipped.extend(fs::read_to_string(&list).unwrap_or_default().lines().map(str::to_owned));
    tested
}

/// Each file of `made` must be in `committed`, byte for byte.
fn compare(made: &Path, committed: &Path) -> Result<()> {
    let entries =
        fs::read_dir(made).map_err(|error| format!("can't read `{}`: {error}", made.display()))?;
    let mut names: Vec<OsString> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    if names.is_empty() {
        return Err(format!("the script in `{}` made nothing", committed.display()));
    }
    for name in names {
        shell::run(Command::new("diff").arg(committed.join(&name)).arg(made.join(&name)))?;
    }
    Ok(())
}

fn cargo(args: &[&str]) -> Result<()> {
    shell::run(&mut shell::cargo(args))
}
