//! `cargo xtask soak`: checks that take longer than a test may, or need a compiler that not
//! everybody has. For the night, and for changes to the write path.
//!
//! Nothing is installed here: a step whose tool is missing says so and counts as skipped.

use std::process::Command;
use std::time::Duration;

use crate::install;
use crate::steps::{NamedStep, Steps};
use crate::tools;
use crate::{
    Result, bazel, fleet, fuzz, java, platforms, programs, python, shell, toolchain, workspace,
};

/// The steps in their order.
pub(crate) const STEPS: [NamedStep; 22] = [
    (
        "stress",
        "many threads over the smallest buffer for a minute, 100,000 short threads, 3,000 forks: \
         nothing lost uncounted",
        |_| {
            // They take a few seconds in `test`.
            let tests = "--test=stress --test=idle --test=fork --test=signals_sessions --test=threads --test=fork_locks";
            let args = format!(
                "--release --package=protolog-rt {tests} --features=log,tracing,compression --"
            );
            tests_with(&args, &[("PROTOLOG_STRESS_SECONDS", "60"), ("PROTOLOG_SOAK", "1")])
        },
    ),
    (
        "kill",
        "processes that record or stream are killed, some hundred times: nothing committed is lost, \
         and the newest messages of a ring are left",
        |_| {
            let recorder = "--release --package=protolog-rt --test=recorder --test=always_on_killed --test=pinned_killed -- kill:: newest:: killed";
            tests_with(recorder, &[(ROUNDS, "400")])?;
            // Each way of setting up a session, so that it is as many in all.
            let crash = "--release --package=protolog-rt --test=crash --features=compression --";
            tests_with(crash, &[(ROUNDS, "100")])?;
            let tool =
                "--release --package=protolog-tool --test=java_runtime --test=record -- killed";
            tests_with(tool, &[(ROUNDS, "50")])
        },
    ),
    (
        "producer",
        "many programs with Perfetto's tracing service for PROTOLOG_SOAK_SECONDS, by default 180: sessions, services and programs come and go, and each trace has what was logged",
        |_| {
            let test = "--release --package=protolog-rt --test=producer -- soak::";
            const SECONDS: &str = "PROTOLOG_SOAK_SECONDS";
            let seconds = std::env::var(SECONDS).unwrap_or_else(|_| "180".to_owned());
            tests_with(test, &[(SECONDS, &seconds)])
        },
    ),
    (
        "java",
        "the Java runtime: 10 million messages over the smallest buffer, by every collector, 100,000 threads of each kind, and each place failing once for want of memory or stack",
        |_| {
            java::fail_everywhere()?;
            let tests = "--release --package=protolog-tool --test=java_runtime -- stress:: threads:: idle::";
            let (messages, threads) = ("PROTOLOG_JAVA_MESSAGES", "PROTOLOG_JAVA_THREADS");
            tests_with(tests, &[(messages, "10000000"), (threads, "100000")])
        },
    ),
    (
        "oldest",
        "the tools build with the oldest Rust that they promise, the runtime and `protolog-control` for glibc, musl and Android on aarch64",
        |skipped| {
            toolchain::check_promise(&toolchain::TOOLS, skipped)?;
            platforms::check_all(skipped)
        },
    ),
    (
        "damage",
        "500 damaged copies of a trace: never fewer rows or texts than in trace_processor",
        |_| {
            let web_dist = python::environment().web_dist;
            let web_dist = ("PERFETTO_WEB_DIST", web_dist.to_str().unwrap_or_default());
            let copies = ("PROTOLOG_DAMAGED_COPIES", "500");
            tests_with("--package=protolog-reader --test=it damage:: --", &[copies, web_dist])
        },
    ),
    (
        "properties",
        "whatever is thrown at sources, traces, dictionaries and settings, they are survived: other inputs than in `test` each time, PROPTEST_CASES of each, by default 5,000",
        |_| properties(),
    ),
    ("loom", "the models of the write path, with more preemptions than in `test`", |_| {
        models(Some(3))
    }),
    ("asan", "tests of the runtime and its shared memory under AddressSanitizer", asan),
    ("valgrind", "unit tests of the runtime and its shared memory under memcheck", valgrind),
    ("miri", "the parts of the write path that Miri can run", miri),
    (
        "rust",
        "real crates with log calls anywhere, rewritten and compiled: more of them than in `test`",
        |_| of_tool("--test=rust real --", ("PROTOLOG_REAL_RUST", "all")),
    ),
    (
        "matrix",
        "notes of log calls in programs, in every way of building: none lost, none doubled",
        |_| of_tool("--test=binary matrix --", ("PROTOLOG_MATRIX", "all")),
    ),
    (
        "jdk",
        "log calls in all sources of a JDK, a large module compiled before and after, and 10,000 constant expressions",
        |_| of_tool("--release --test=java -- real:: constants::", IN_FULL),
    ),
    (
        "kotlin",
        "log calls in the sources of Kotlin's libraries, which are compiled and run before and after",
        |_| of_tool("--release --test=kotlin -- real::", IN_FULL),
    ),
    ("groups", "500 generated classes of groups in each language, as read and as compiled", |_| {
        of_tool("--test=groups --", IN_FULL)
    }),
    (
        "bazel",
        "the example of integrations/bazel, built by Bazel with the tool as its worker, runs",
        |skipped| {
            let lacks = install::lacks(&tools::BAZEL, "the example of Bazel", skipped);
            if lacks { Ok(()) } else { bazel::run() }
        },
    ),
    (
        "engines",
        "Spark, with two workers as processes, has the answers of `read-log`, and ClickHouse reads its tables",
        engines,
    ),
    (
        "archives",
        "every trace that the tests make comes back from an archive, as lines and as a trace; and for PROTOLOG_SOAK_SECONDS, by default 180, programs and exporters are killed",
        |_| archives(),
    ),
    (
        "deny",
        "cargo-deny finds no advisory, for which it needs the network, and nothing else in any `Cargo.lock`",
        deny,
    ),
    (
        "bench",
        "the programs of `bench` that `test` does not build compile, without warnings",
        |_| lint_benches(),
    ),
    ("fuzz", "each fuzz target for PROTOLOG_FUZZ_SECONDS, by default 60", fuzz::run),
];

/// Tests of the runtime and its shared memory that are compiled anew for AddressSanitizer, but for
/// one that reads words between statics.
const ASAN: &str = "--lib --test=allocation --test=dynamic --test=fork --test=idle --test=limits \
    --test=loss --test=sampling --test=session --test=signals --test=signals_sessions \
    --test=stress -- --skip=a_note_that_was_moved";

/// Runs the steps named in `only`, all if it is empty.
pub(crate) fn run(only: &[String]) -> Result<()> {
    Steps::run_all(only, &STEPS).finish(true)
}

/// The variable by which tests of the tool do all that they can.
const IN_FULL: (&str, &str) = ("PROTOLOG_SOAK", "1");

/// The number of processes that are killed.
const ROUNDS: &str = "PROTOLOG_KILL_ROUNDS";

fn of_tool(args: &str, variable: (&str, &str)) -> Result<()> {
    tests_with(&format!("--package=protolog-tool {args}"), &[variable])
}

/// Runs cargo's tests with these words and variables, and shows their output.
fn tests_with(args: &str, variables: &[(&str, &str)]) -> Result<()> {
    let mut test = shell::cargo(&["test", "--locked"]);
    test.args(args.split(' ')).arg("--nocapture").envs(variables.iter().copied());
    shell::run(&mut test)
}

/// Runs the tests that make their inputs, with inputs that nobody has seen.
fn properties() -> Result<()> {
    const CASES: &str = "PROPTEST_CASES";
    let cases = std::env::var(CASES).unwrap_or_else(|_| "5000".to_owned());
    let programs = [
        "--package=protolog-control --test=any --",
        "--package=protolog-reader --test=it -- any_bytes:: fast_path:: merge_overlap:: merge_random:: recording::",
        "--package=protolog-tool --lib --test=aosp --test=jar --test=java --test=kotlin --test=rust -- \
         rewrite:: response:: pairs:: hostile:: invariants:: any::",
        "--package=protolog-protozero --test=it --",
        "--package=protolog-protozero-build --test=it -- conformance_messages",
        "--package=protolog-viewer-config --test=dictionary -- properties::",
    ];
    programs.iter().try_for_each(|args| tests_with(args, &[(CASES, &cases)]))
}

/// Lints the programs of `bench` that have no peers to compile, and the peers of those in the
/// workspace.
fn lint_benches() -> Result<()> {
    let lint = |args: &[&str]| {
        let clippy = [&["clippy", "--locked", "--all-targets"], args].concat();
        shell::run(shell::cargo(&clippy).args(["--", "-D", "warnings"]))
    };
    for name in ["control", "defmt", "experiments", "server", "user"] {
        let manifest = format!("bench/{name}/Cargo.toml");
        let target = workspace::target_dir()?.join("bench").join(name).display().to_string();
        lint(&["--release", "--manifest-path", &manifest, "--target-dir", &target])?;
    }
    lint(&["--package", "protolog-bench", "--features", "peers"])
}

/// By the Python of `PROTOLOG_ENGINES_PYTHON`, else `python3`: the engines are a gigabyte.
fn engines(skipped: &mut Vec<String>) -> Result<()> {
    const PYTHON: &str = "PROTOLOG_ENGINES_PYTHON";
    let python = std::env::var_os(PYTHON).unwrap_or_else(|| "python3".into());
    if shell::read(Command::new(&python).args(["-c", "import pyspark, chdb"])).is_err() {
        let how = format!("`pip install pyspark chdb` in a venv, and name its Python by {PYTHON}");
        install::skip(skipped, "Spark and ClickHouse", &format!("they are not there ({how})"));
        return Ok(());
    }
    fleet::test_with("engines", (PYTHON, &python))
}

/// Runs all tests with directories that stay, and then takes the traces in these through archives.
fn archives() -> Result<()> {
    let kept = workspace::target_dir()?.join("kept");
    workspace::empty_dir(&kept)?;
    let mut tests = shell::cargo(&["test", "--locked", "--workspace", "--no-fail-fast"]);
    tests.args(["--lib", "--bins", "--tests"]).env("PROTOLOG_KEPT", &kept);
    // What fails here fails in `test`, too; traces that were made by then are checked.
    let tested = shell::run(&mut tests);
    fleet::test_with("kinds", ("PROTOLOG_KEPT_BEFORE", kept.as_os_str()))?;
    fleet::test_with("archive", (IN_FULL.0, IN_FULL.1.as_ref()))?;
    workspace::empty_dir(&kept)?;
    tested
}

/// Checks all that is locked, by the rules of the `deny.toml` beside it or that of the root.
pub(crate) fn deny(skipped: &mut Vec<String>) -> Result<()> {
    if !install::found("cargo-deny") {
        let why = "cargo-deny is not installed (`cargo install --locked cargo-deny`)";
        install::skip(skipped, "advisories", why);
        return Ok(());
    }
    let root = workspace::root();
    let locks = workspace::files()?.into_iter().filter(|file| file.ends_with("Cargo.lock"));
    for manifest in locks.map(|lock| root.join(lock).with_file_name("Cargo.toml")) {
        let own = manifest.with_file_name("deny.toml");
        // Benches and fuzz targets outside the workspace are in nobody's hands but ours.
        let is_shipped = own.is_file();
        let config = if is_shipped { own } else { root.join("deny.toml") };
        let mut deny = Command::new("cargo-deny");
        deny.arg("--manifest-path").arg(&manifest).arg("--config").arg(config);
        deny.args(["check", "sources", "advisories"]);
        if is_shipped {
            deny.args(["bans", "licenses"]);
        }
        shell::run(deny.current_dir(&root))?;
    }
    Ok(())
}

/// Of the crates that the models depend on, those that run for long are optimized; others, with
/// which loom logs, are not.
const LOOM_PROFILE: [&str; 6] = [
    "--config=profile.release.package.'*'.opt-level=0",
    "--config=profile.release.package.loom.opt-level=3",
    "--config=profile.release.package.generator.opt-level=3",
    "--config=profile.release.package.scoped-tls.opt-level=3",
    "--config=profile.release.package.tracing.opt-level=3",
    "--config=profile.release.package.tracing-core.opt-level=3",
];

/// Runs loom's models, in a target directory of their own, since the flag concerns every package.
pub(crate) fn models(preemptions: Option<u32>) -> Result<()> {
    let target_dir = workspace::target_dir()?.join("loom");
    let packages = ["--package=protolog-rt", "--package=protolog-shmem", "--test=loom"];
    let args = [&["test", "--locked", "--release"], &packages[..], &LOOM_PROFILE].concat();
    // A bound of one's own is for those who have the time.
    let limit = preemptions.map_or(programs::LIMIT, |_| Duration::from_secs(24 * 60 * 60));
    programs::run(&args, &[], limit, |command| {
        command
            .env("RUSTFLAGS", "--cfg loom")
            // The models run for seconds: optimizing across crates takes longer than it saves.
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
            .env("CARGO_TARGET_DIR", &target_dir);
        if let Some(preemptions) = preemptions {
            command.env("LOOM_MAX_PREEMPTIONS", preemptions.to_string());
        }
    })
}

/// Statics have red zones between them, the notes of calls included, as in a user's program that is
/// built like this.
fn asan(skipped: &mut Vec<String>) -> Result<()> {
    let Some(target) = nightly("AddressSanitizer", skipped) else { return Ok(()) };
    let mut test = toolchain::cargo(Some("nightly"), &["test", "--locked"]);
    // Values that statics refer to are made once and kept for the life of the process, here and in
    // tests. Freed memory is kept for a while, less than by default: there are tests of how much
    // memory threads leave.
    let options = "detect_leaks=0:quarantine_size_mb=8:thread_local_quarantine_size_kb=16";
    // With a target, build scripts and macros are compiled without it.
    test.args(["--package=protolog-rt", "--package=protolog-shmem", "--target", &target])
        .args(ASAN.split(' '))
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("ASAN_OPTIONS", options)
        .env("CARGO_TARGET_DIR", workspace::target_dir()?.join("asan"));
    shell::run(&mut test)
}

fn valgrind(skipped: &mut Vec<String>) -> Result<()> {
    if install::lacks(&tools::VALGRIND, "memcheck", skipped) {
        return Ok(());
    }
    let runner = r#"target."cfg(all())".runner=["valgrind","--quiet","--error-exitcode=9"]"#;
    let mut test = shell::cargo(&["test", "--locked", "--config", runner]);
    // Tests that stop a thread at each instruction would stop it at each of memcheck's.
    test.args(["--package=protolog-rt", "--package=protolog-shmem"]);
    shell::run(test.args(["--lib", "--", "--skip=stopped::"]))
}

fn miri(skipped: &mut Vec<String>) -> Result<()> {
    if nightly("Miri", skipped).is_none() {
        return Ok(());
    }
    if shell::read(&mut toolchain::cargo(Some("nightly"), &["miri", "--version"])).is_err() {
        let how = "`rustup component add miri --toolchain nightly`";
        install::skip(skipped, "Miri", &format!("nightly does not have it ({how})"));
        return Ok(());
    }
    // Miri has no clocks of the machine and no mapped memory: what remains is encoding, buffers on
    // the heap and losses.
    miri_of("protolog-rt", &["loss::", "writer::packet::", "writer::fast::"], "")?;
    // Chunks are freed and divided otherwise, and then atomics of another size lie where earlier
    // ones were. Where Miri plays weak memory it takes that for an error of its own, and ends. The
    // orders are loom's subject; data races are still found.
    let orders = "-Zmiri-disable-weak-memory-emulation";
    miri_of(
        "protolog-shmem",
        &["buffer::", "chunk::", "memory::", "page::", "reader::", "ring::"],
        orders,
    )
}

/// Runs those unit tests of a package whose names begin so.
fn miri_of(package: &str, tests: &[&str], flags: &str) -> Result<()> {
    let args = ["miri", "test", "--locked", "--package", package, "--lib", "--"];
    let mut test = toolchain::cargo(Some("nightly"), &args);
    test.args(tests).env("MIRIFLAGS", flags);
    shell::run(test.env("CARGO_TARGET_DIR", workspace::target_dir()?.join("miri")))
}

/// The target of the nightly toolchain, where there is one.
fn nightly(what: &str, skipped: &mut Vec<String>) -> Option<String> {
    let mut rustc = Command::new("rustup");
    let host = toolchain::host(rustc.args(["run", "nightly", "rustc"]));
    if host.is_err() {
        let how = "`rustup toolchain install nightly`";
        install::skip(skipped, what, &format!("rustup has no nightly toolchain ({how})"));
    }
    host.ok().map(|(host, _)| host)
}
