//! `cargo xtask test`: everything that is tested, in steps.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, io};

use crate::install::{self, Tool, with};
use crate::steps::{Steps, Work};
use crate::tools::{
    AXE, CC, CHROMIUM, CLIPPY, CMAKE, COUNTED_RUST, CXX, FISH, FLEET_WHEELS, GIT, GRADLE, JAVA,
    JAVA_25, JDK_SOURCE, JQ, KOTLIN, LESS, LINTIAN, LNAV, LOGGERS, MAN, MAVEN, MUSL, NODE, NPM,
    OLDEST_RUST, OPENSSL, PKG_CONFIG, PYTHON, RUST_SOURCE, RUSTFMT, SYSTEMD, TMUX, TRACED,
    VALGRIND, WHEELS, ZSH,
};
use crate::{
    Result, bench, bridges, demo, fat_jars, fleet, gradle, instructions, java, maven, platforms,
    programs, python, release, shell, soak, toolchain, workspace,
};

/// A step of the tests: its name, what it checks, all that is installed for it, and its work.
/// Without some of its tools it checks the rest.
type TestStep = (&'static str, &'static str, &'static [Tool], Work);

/// The steps in their order.
pub(crate) const STEPS: [TestStep; 17] = [
    (
        "tools",
        "the toolchain is new enough; what the steps need is there, or is installed",
        &[],
        |_| Ok(()),
    ),
    ("format", "rustfmt would change nothing", &[RUSTFMT], |skipped| {
        let fmt = || cargo(&["fmt", "--all", "--check", "--", "--color=never"]);
        with(&RUSTFMT, "the format", skipped, fmt)
    }),
    ("lints", "clippy has nothing to say", &[CLIPPY, CC], |skipped| {
        with(&CLIPPY, "the lints", skipped, lint)
    }),
    ("tidy", "the project's own rules: see tests/tidy", &[GIT], |skipped| {
        let rules = || cargo(&["run", "--quiet", "--locked", "--bin", "protolog-tidy"]);
        with(&GIT, "the project's own rules", skipped, rules)
    }),
    (
        "tests",
        "all tests of the workspace but those of the next step, several programs at a time",
        &[
            CC, CXX, CMAKE, PKG_CONFIG, JAVA, JDK_SOURCE, NPM, NODE, PYTHON, ZSH, FISH, LNAV, TMUX,
            LESS, JQ, MAN, KOTLIN, WHEELS, JAVA_25, TRACED,
        ],
        |skipped| test_programs(&ALL_TESTS, skipped),
    ),
    (
        "features",
        "what the runtime can do besides, each with its feature",
        &[CC, NODE, PYTHON, WHEELS],
        test_features,
    ),
    (
        "instructions",
        "a log call takes no more instructions than the table in bench says",
        &[VALGRIND, COUNTED_RUST],
        |skipped| {
            let lacks = install::lacks(&VALGRIND, "the instructions of calls", skipped);
            if lacks { Ok(()) } else { instructions::compare(skipped) }
        },
    ),
    ("loom", "the models of the write path hold, however threads take turns", &[], |_| {
        soak::models(None)
    }),
    ("doctests", "the examples in the documentation compile and run", &[CC], |skipped| {
        cargo_test(&["test", "--locked", "--workspace", "--no-fail-fast", "--doc"], skipped)
    }),
    ("rustdoc", "the documentation builds without warnings", &[CC], |_| {
        // With private items, whose docs are for those who work on it: all of the public ones are
        // in there too.
        let doc = ["doc", "--locked", "--workspace", "--no-deps", "--document-private-items"];
        shell::run(shell::cargo(&doc).env("RUSTDOCFLAGS", "-D warnings"))
    }),
    (
        "oldest",
        "the libraries build with the oldest Rust that they promise, the runtime for other systems; \
         its tests pass on musl",
        &[MUSL, OLDEST_RUST, RUST_SOURCE],
        |skipped| {
            toolchain::check_promise(&toolchain::LIBRARIES, skipped)?;
            let has_musl = !install::lacks(&MUSL, "tests on musl", skipped);
            platforms::check(has_musl, skipped)
        },
    ),
    (
        "java",
        "the Java tests pass; the bridges from other loggers, as jars, record what those are given; the Maven project \
         and what `init` prints for Maven and Gradle build, and log",
        &[CC, GIT, JAVA, MAVEN, GRADLE, NPM, LOGGERS],
        test_java,
    ),
    (
        "python",
        "test data that scripts make is what they make",
        &[GIT, PYTHON, WHEELS],
        |skipped| with(&WHEELS, "making test data anew", skipped, reproduce_test_data),
    ),
    (
        "packages",
        "what would be published has all that it needs: a new user's first five commands with packages alone; the \
         tool as a package of Debian's",
        &[CC, GIT, LINTIAN],
        release::test,
    ),
    (
        "fleet",
        "archives give back what their traces have; SQL has the answers of `read-log`; a collector gets each message",
        &[CC, RUSTFMT, CLIPPY, OPENSSL, SYSTEMD, PYTHON, WHEELS, FLEET_WHEELS],
        |skipped| gather_skipped(skipped, fleet::test),
    ),
    ("demo", "the demo runs to its end, on a small tree", &demo::NEEDS, |_| {
        // Built as the tests were: a release build of the tool alone takes longer than many steps.
        demo::run(Some(workspace::root().join("examples/java")), demo::Profile::Dev, false)
    }),
    (
        "browser",
        "the page of `view` in Chromium: it shows, counts, follows and lets nothing in; the Perfetto UI shows what we add for it",
        &[CC, CHROMIUM, NPM, AXE, NODE, PYTHON, WHEELS],
        |skipped| {
            // By itself: it is slow to draw beside others. The Perfetto UI wants all cores.
            let page = ["test", "--locked", "--workspace", "--test", BROWSER_TESTS, "--"];
            cargo_test(&[&page[..], &["--skip", PERFETTO_TESTS]].concat(), skipped)?;
            cargo_test(&[&page[..], &["--test-threads", "1", PERFETTO_TESTS]].concat(), skipped)
        },
    ),
];

/// Steps for rare interleavings, compilers and platforms, for packages, and for figures, which take
/// three builds that optimize. They run when they are named, with `--all`, and in CI.
const RARE: [&str; 4] = ["instructions", "loom", "oldest", "packages"];

/// Steps that run beside the others where several are wanted. They build in directories of their
/// own, or last, and leave a processor idle now and then, as others do.
const BESIDE: [&str; 4] = ["fleet", "instructions", "java", "python"];

/// The last step, which runs by itself, when all others have ended.
const ALONE: &str = "browser";

/// The arguments by which cargo builds all tests.
const ALL_TESTS: [&str; 7] =
    ["test", "--locked", "--workspace", "--lib", "--bins", "--tests", "--examples"];

/// All that the runtime can do besides.
const FEATURES: &str = "protolog-rt/log,protolog-rt/tracing,protolog-rt/compression";

/// The time of its own that a step may take: twice what the longest takes on two busy cores.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// The test program that drives a browser.
const BROWSER_TESTS: &str = "view";
/// Those of its tests that open the Perfetto UI.
const PERFETTO_TESTS: &str = "perfetto::";

/// Runs the steps named in `only`, or all but the rare ones; the step `tools` always runs.
pub(crate) fn run(only: &[String], install: bool) -> Result<()> {
    let only = &if only.is_empty() { usual() } else { only.to_vec() };
    let is_wanted = |name: &&str| only.iter().any(|only| only == name);
    let mut beside: Vec<&str> = BESIDE.into_iter().filter(is_wanted).collect();
    if beside.len() == only.len() {
        beside.clear();
    }
    let mut wanted = [&["tools".to_owned()], &only[..]].concat();
    wanted.retain(|name| !beside.contains(&&**name));
    let mut steps = Steps::new(&wanted).with_limit(LIMIT);
    steps.run("tools", |_| prepare(only, install));
    let output = workspace::tools_dir().join("beside");
    let mut other = (!beside.is_empty()).then(|| begin_beside(&beside, &output)).transpose()?;
    for &(name, .., work) in &STEPS[1..] {
        if name == ALONE
            && let Some(mut other) = other.take()
        {
            other.wait().map_err(|error| format!("can't wait for other steps: {error}"))?;
            let said = workspace::read_bytes(&output)?;
            let said = String::from_utf8_lossy(&said);
            println!("\n== beside these: {}\n{said}", beside.join(", "));
            steps.add_summary(&beside, &said);
        }
        steps.run(name, work);
    }
    steps.finish(!install::in_ci())
}

/// Starts a run of these steps, with its output in a file.
fn begin_beside(names: &[&str], output: &Path) -> Result<Child> {
    println!("\nbeside the steps below: {}; their output follows them", names.join(", "));
    let failed = |error: io::Error| format!("can't start the steps beside others: {error}");
    workspace::write(output, "")?;
    let file = File::create(output).map_err(failed)?;
    let mut run = Command::new(env::current_exe().map_err(failed)?);
    run.args(["test", "--no-install"]).args(names).stdin(Stdio::null());
    run.stderr(file.try_clone().map_err(failed)?).stdout(file).spawn().map_err(failed)
}

/// Installs the tools that the steps named in `only` need, all if it is empty; `jar` and `bench`
/// name the tools of these commands.
pub(crate) fn setup(only: &[String]) -> Result<()> {
    toolchain::check()?;
    let mut wanted = needs(only);
    if only.iter().any(|name| name == "jar") {
        wanted.extend([JAVA, NPM, LOGGERS]);
    }
    if only.iter().any(|name| name == "bench") {
        wanted.extend(bench::needs());
    }
    if install::prepare(&distinct(wanted), true).is_empty() {
        return Ok(());
    }
    Err("not everything could be installed (the lines above say why)".to_owned())
}

/// The names of all steps.
pub(crate) fn every() -> Vec<String> {
    STEPS.iter().map(|(name, ..)| (*name).to_owned()).collect()
}

/// The names of those that run where none is named; not `tools`, which stands for the needs of all.
fn usual() -> Vec<String> {
    let is_usual = |name: &String| name != "tools" && !RARE.contains(&name.as_str());
    every().into_iter().filter(is_usual).collect()
}

/// The names that `setup` knows beside those of the steps.
pub(crate) const SETUPS: [&str; 2] = ["jar", "bench"];

/// The needs of the steps named in `only`, of all if it is empty or names `tools`.
fn needs(only: &[String]) -> Vec<Tool> {
    let is_wanted = |name: &str| only.iter().any(|only| only == name);
    let steps =
        STEPS.iter().filter(|(name, ..)| only.is_empty() || is_wanted("tools") || is_wanted(name));
    distinct(steps.flat_map(|(_, _, needs, _)| *needs).copied().collect())
}

fn distinct(tools: Vec<Tool>) -> Vec<Tool> {
    let mut distinct = Vec::new();
    for tool in tools {
        if !install::contains(&distinct, &tool) {
            distinct.push(tool);
        }
    }
    distinct
}

/// Looks for the tools of the steps named in `only`, and installs them where that is allowed.
fn prepare(only: &[String], install: bool) -> Result<()> {
    toolchain::check()?;
    let needs = needs(only);
    let is_early = install && CC.is_present() && only.iter().any(|name| name == "tests");
    let is_missing = needs.iter().any(|tool| !tool.is_present());
    let early = (is_early && is_missing).then(build_early);
    let missing = install::prepare(&needs, install);
    if let Some(Ok(mut early)) = early {
        // An error comes again when the tests run.
        let _ = early.wait();
    }
    if missing.is_empty() {
        return Ok(());
    }
    if !install {
        let setup = [&["cargo xtask setup".to_owned()], only].concat().join(" ");
        println!("help: run `{setup}` to install what is missing");
    }
    let needed = missing.iter().filter(|tool| tool.name != OLDEST_RUST.name);
    let names: Vec<&str> = needed.map(|tool| tool.name).collect();
    if install::in_ci() && !names.is_empty() {
        return Err(format!("in CI nothing may be missing: {}", names.join(", ")));
    }
    Ok(())
}

/// Starts to build the tests: while tools are installed, most of the time is that of the network.
fn build_early() -> io::Result<Child> {
    println!("meanwhile cargo builds the tests");
    let mut cargo = shell::cargo(&ALL_TESTS);
    cargo.args(["--no-run", "--quiet"]).stdin(Stdio::null());
    cargo.stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

fn test_java(skipped: &mut Vec<String>) -> Result<()> {
    if install::lacks(&JAVA, "the Java tests", skipped) {
        return Ok(());
    }
    java::test()?;
    with(&LOGGERS, "the bridges from other loggers in Java", skipped, bridges::test)?;
    with(&MAVEN, "the Maven project", skipped, maven::test)?;
    with(&MAVEN, "the jars from a repository of Maven's", skipped, release::maven)?;
    with(&MAVEN, "jars of several by Maven", skipped, fat_jars::test)?;
    with(&GRADLE, "the fragment for Gradle", skipped, gradle::test)
}

/// Each `testdata/make.py`, run into an empty folder, must make the files that are committed beside
/// it; and the methods of the Java runtime must be as their script writes them.
fn reproduce_test_data() -> Result<()> {
    let environment = python::environment();
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

fn test_features(skipped: &mut Vec<String>) -> Result<()> {
    // In the whole workspace, so that dependencies are those that are built already.
    let all = ["test", "--locked", "--workspace", "--no-fail-fast", "--features", FEATURES];
    // Without the feature that it names, a file is empty, or a part of it is.
    let mut tests = workspace::entries(workspace::root().join("protolog-rt/tests"));
    tests.retain(|it| fs::read_to_string(it).is_ok_and(|text| text.contains("feature = \"")));
    let tests = tests.iter().filter_map(|it| it.file_stem()?.to_str());
    let tests: Vec<&str> = tests.flat_map(|test| ["--test", test]).collect();
    cargo_test(&[&all[..], &tests].concat(), skipped)?;
    cargo_test(&[&all[..], &["--doc", "bridge"]].concat(), skipped)
}

/// Lints all with all features, and then the libraries alone, without those of other loggers.
fn lint() -> Result<()> {
    let clippy = ["clippy", "--locked", "--workspace"];
    let all = ["--all-targets", "--features", FEATURES, "--", "-D", "warnings"];
    cargo(&[&clippy[..], &all].concat())?;
    cargo(&[&clippy[..], &["--lib", "--", "-D", "warnings"]].concat())
}

/// Runs cargo's tests.
fn cargo_test(args: &[&str], skipped: &mut Vec<String>) -> Result<()> {
    let (variable, seed) = programs::seed();
    gather_skipped(skipped, |list| {
        shell::run(shell::cargo(args).env(SKIPPED_LIST, list).env(variable, seed))
    })
}

/// Runs the programs of cargo's tests, several at a time.
fn test_programs(args: &[&str], skipped: &mut Vec<String>) -> Result<()> {
    gather_skipped(skipped, |list| {
        let except = format!("--test {BROWSER_TESTS}");
        let (variable, seed) = programs::seed();
        programs::run(args, &[&except], programs::LIMIT, |command| {
            command.env(SKIPPED_LIST, list).env(variable, &seed);
        })
    })
}

/// The variable by which tests know where to list what they skip.
const SKIPPED_LIST: &str = "PROTOLOG_SKIPPED";

/// Gathers what tests list as skipped.
fn gather_skipped(skipped: &mut Vec<String>, test: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    // Another run may be at work, with steps beside ours.
    let list = workspace::tools_dir().join(format!("skipped-{}", std::process::id()));
    let cleared = fs::create_dir_all(workspace::tools_dir()).and_then(|()| fs::write(&list, ""));
    cleared.map_err(|error| format!("can't write `{}`: {error}", list.display()))?;
    let tested = test(&list);
    skipped.extend(fs::read_to_string(&list).unwrap_or_default().lines().map(str::to_owned));
    let _ = fs::remove_file(&list);
    tested
}

/// Each file of `made` must be in `committed`, byte for byte.
fn compare(made: &Path, committed: &Path) -> Result<()> {
    let files = workspace::entries(made);
    if files.is_empty() {
        return Err(format!("the script in `{}` made nothing", committed.display()));
    }
    files.iter().try_for_each(|file| {
        let name = file.file_name().unwrap_or_default();
        shell::run(Command::new("diff").arg(committed.join(name)).arg(file))
    })
}

fn cargo(args: &[&str]) -> Result<()> {
    shell::run(&mut shell::cargo(args))
}
