//! `cargo xtask soak`: what takes longer than a test may, or needs a compiler that not everybody has. For the night, and
//! for changes to the write path.
//!
//! Nothing is installed here: a step whose tool is missing says so and counts as skipped.

use std::process::Command;
use std::time::Duration;

use crate::install::{self, Tool};
use crate::steps::Steps;
use crate::tools;
use crate::{
    Result, bazel, bench, fuzz, java, platforms, programs, python, shell, toolchain, workspace,
};

/// The steps in their order, each with what it checks.
pub(crate) const STEPS: [(&str, &str); 18] = [
    (
        "stress",
        "many threads over the smallest buffer for a minute, 100,000 short threads, 3,000 forks: \
         nothing lost uncounted",
    ),
    (
        "kill",
        "processes that record or stream are killed, some hundred times: nothing committed is lost, \
         and the newest messages of a ring are left",
    ),
    (
        "java",
        "the Java runtime: 10 million messages over the smallest buffer, by every collector, 100,000 threads of each kind, and each place failing once for want of memory or stack",
    ),
    (
        "oldest",
        "the tools build with the oldest Rust that they promise, the runtime and `protolog-control` for glibc, musl and Android on aarch64",
    ),
    ("damage", "500 damaged copies of a trace: never fewer rows or texts than in trace_processor"),
    ("loom", "the models of the write path, with more preemptions than in `test`"),
    ("asan", "tests of the runtime and its shared memory under AddressSanitizer"),
    ("valgrind", "unit tests of the runtime and its shared memory under memcheck"),
    ("miri", "the parts of the write path that Miri can run"),
    (
        "rust",
        "real crates with log calls anywhere, rewritten and compiled: more of them than in `test`",
    ),
    ("matrix", "notes of log calls in programs, in every way of building: none lost, none doubled"),
    (
        "jdk",
        "log calls in all sources of a JDK, a large module compiled before and after, and 10,000 constant expressions",
    ),
    (
        "kotlin",
        "log calls in the sources of Kotlin's libraries, which are compiled and run before and after",
    ),
    ("groups", "500 generated classes of groups in each language, as read and as compiled"),
    (
        "bazel",
        "the example of integrations/bazel, built by Bazel with the tool as its worker, runs",
    ),
    (
        "deny",
        "cargo-deny finds no advisory, for which it needs the network, and nothing else in any `Cargo.lock`",
    ),
    ("bench", "the programs of `bench` that `test` does not build compile, without warnings"),
    ("fuzz", "each fuzz target for PROTOLOG_FUZZ_SECONDS, by default 60"),
];

/// The tests of Java that are run in full.
const JAVA_FILTERS: [&str; 4] = ["--", "--nocapture", "real::", "constants::"];

/// Tests of the runtime and its shared memory that are compiled anew for AddressSanitizer.
const ASAN: [&str; 10] = [
    "--lib",
    "--test=allocation",
    "--test=dynamic",
    "--test=fork",
    "--test=idle",
    "--test=loss",
    "--test=session",
    "--test=signals",
    "--test=signals_sessions",
    "--test=stress",
];

/// Runs the steps named in `only`, all if it is empty.
pub(crate) fn run(only: &[String]) -> Result<()> {
    let mut steps = Steps::new(only);
    steps.run("stress", |_| stress());
    steps.run("kill", |_| {
        let mut kill = shell::cargo(&["test", "--locked", "--release", "--package=protolog-rt"]);
        kill.args(["--test=recorder", "--", "kill::", "newest::", "--nocapture"])
            .env(ROUNDS, "400");
        shell::run(&mut kill)?;
        // Each way of setting up a session, so that it is as many in all.
        let mut crash = shell::cargo(&["test", "--locked", "--release", "--package=protolog-rt"]);
        crash.args(["--test=crash", "--features=compression", "--", "--nocapture"]);
        shell::run(crash.env(ROUNDS, "100"))?;
        let mut java = shell::cargo(&["test", "--locked", "--release", "--package=protolog-tool"]);
        java.args(["--test=java_runtime", "killed::", "--", "--nocapture"]);
        shell::run(java.env(ROUNDS, "50"))
    });
    steps.run("java", |_| {
        java::fail_everywhere()?;
        let mut java = shell::cargo(&["test", "--locked", "--release", "--package=protolog-tool"]);
        java.args(["--test=java_runtime", "--", "stress::", "threads::", "idle::", "--nocapture"]);
        java.env("PROTOLOG_JAVA_MESSAGES", "10000000").env("PROTOLOG_JAVA_THREADS", "100000");
        shell::run(&mut java)
    });
    steps.run("oldest", |skipped| {
        toolchain::check_promise(&toolchain::TOOLS, skipped)?;
        platforms::check_all(skipped)
    });
    steps.run("damage", |_| {
        let environment = python::environment();
        let mut damage = shell::cargo(&["test", "--locked", "--package=protolog-reader"]);
        damage.args(["--test=damage", "--", "--nocapture"]).env(COPIES, "500");
        shell::run(damage.env("PERFETTO_WEB_DIST", &environment.web_dist))
    });
    steps.run("loom", |_| models(Some(3)));
    steps.run("asan", asan);
    steps.run("valgrind", valgrind);
    steps.run("miri", miri);
    steps.run("matrix", |_| {
        let mut matrix = shell::cargo(&["test", "--locked", "--package=protolog-tool"]);
        matrix.args(["--test=binary", "matrix", "--", "--nocapture"]).env("PROTOLOG_MATRIX", "all");
        shell::run(&mut matrix)
    });
    steps.run("rust", |_| {
        let mut crates = shell::cargo(&["test", "--locked", "--package=protolog-tool"]);
        crates.args(["--test=rust", "real", "--", "--nocapture"]).env("PROTOLOG_REAL_RUST", "all");
        shell::run(&mut crates)
    });
    steps.run("jdk", |_| shell::run(tool_test(&["--release", "--test=java"]).args(JAVA_FILTERS)));
    steps.run("kotlin", |_| {
        shell::run(&mut tool_test(&["--release", "--test=kotlin", "--", "--nocapture", "real::"]))
    });
    steps.run("groups", |_| shell::run(&mut tool_test(&["--test=groups", "--", "--nocapture"])));
    steps.run("bazel", |skipped| {
        if !install::found("bazel") {
            skip(install::skipped("the example of Bazel", &tools::BAZEL), skipped);
            return Ok(());
        }
        bazel::run()
    });
    steps.run("deny", deny);
    steps.run("bench", |_| bench::outside::lint());
    steps.run("fuzz", fuzz::run);
    steps.finish(true)
}

/// The tests of the tool that these arguments choose, in full.
fn tool_test(args: &[&str]) -> Command {
    let mut test = shell::cargo(&["test", "--locked", "--package=protolog-tool"]);
    test.args(args).env("PROTOLOG_SOAK", "1");
    test
}

/// Runs the stress tests, which take a few seconds in `test`, for a minute.
fn stress() -> Result<()> {
    let mut stress = shell::cargo(&["test", "--locked", "--release", "--package=protolog-rt"]);
    stress
        .args(["--test=stress", "--test=idle", "--test=fork", "--test=signals_sessions"])
        .args(["--test=threads", "--test=fork_locks", "--features=log,tracing,compression"])
        .args(["--", "--nocapture"])
        .env(SECONDS, "60")
        .env("PROTOLOG_SOAK", "1");
    shell::run(&mut stress)
}

/// Checks all that is locked, by the rules of `deny.toml`.
fn deny(skipped: &mut Vec<String>) -> Result<()> {
    if !install::found("cargo-deny") {
        let how = "`cargo install --locked cargo-deny`";
        skip(format!("skipped: advisories because cargo-deny is not installed ({how})"), skipped);
        return Ok(());
    }
    let root = workspace::root();
    let locks = workspace::files()?.into_iter().filter(|file| file.ends_with("Cargo.lock"));
    for manifest in locks.map(|lock| root.join(lock).with_file_name("Cargo.toml")) {
        let mut deny = Command::new("cargo-deny");
        deny.arg("--manifest-path").arg(&manifest).arg("--config").arg(root.join("deny.toml"));
        deny.args(["check", "sources", "advisories"]);
        // Benches and fuzz targets outside the workspace are in nobody's hands but ours.
        if manifest == root.join("Cargo.toml") {
            deny.args(["bans", "licenses"]);
        }
        shell::run(deny.current_dir(&root))?;
    }
    Ok(())
}

/// The seconds for which the stress test runs.
const SECONDS: &str = "PROTOLOG_STRESS_SECONDS";

/// The number of processes that are killed.
const ROUNDS: &str = "PROTOLOG_KILL_ROUNDS";

/// The number of damaged copies.
const COPIES: &str = "PROTOLOG_DAMAGED_COPIES";

/// Of the crates that the models depend on, those that run for long are optimized; others, with which loom logs, are not.
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
    // A bound of one's own is for who has the time.
    let limit = preemptions.map_or(programs::LIMIT, |_| Duration::from_secs(24 * 60 * 60));
    programs::run(&args, &[], limit, |command| {
        command
            .env("RUSTFLAGS", "--cfg loom")
            // The models run for seconds: what optimizes across crates takes longer than it saves.
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
            .env("CARGO_TARGET_DIR", &target_dir);
        if let Some(preemptions) = preemptions {
            command.env("LOOM_MAX_PREEMPTIONS", preemptions.to_string());
        }
    })
}

/// Statics have red zones between them, the notes of calls included, as in a user's program that is built like this.
fn asan(skipped: &mut Vec<String>) -> Result<()> {
    let Some(target) = nightly("AddressSanitizer", skipped) else { return Ok(()) };
    let mut test = Command::new("rustup");
    test.args(["run", "nightly", "cargo", "test", "--locked", "--package=protolog-rt"])
        .arg("--package=protolog-shmem")
        .args(ASAN)
        // With a target, build scripts and macros are compiled without it.
        .args(["--target", &target])
        .env("RUSTFLAGS", "-Zsanitizer=address")
        // Values that statics refer to are made once and kept for the life of the process, here and in tests.
        // Freed memory is kept for a while, less than by default: there are tests of how much memory threads leave.
        .env(
            "ASAN_OPTIONS",
            "detect_leaks=0:quarantine_size_mb=8:thread_local_quarantine_size_kb=16",
        )
        .env("CARGO_TARGET_DIR", workspace::target_dir()?.join("asan"))
        .current_dir(workspace::root());
    shell::run(&mut test)
}

fn valgrind(skipped: &mut Vec<String>) -> Result<()> {
    const VALGRIND: Tool = tools::VALGRIND;
    if !install::found("valgrind") {
        skip(install::skipped("memcheck", &VALGRIND), skipped);
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
    let has_miri =
        Command::new("rustup").args(["run", "nightly", "cargo", "miri", "--version"]).output();
    if !has_miri.is_ok_and(|output| output.status.success()) {
        let how = "`rustup component add miri --toolchain nightly`";
        skip(format!("skipped: Miri because nightly does not have it ({how})"), skipped);
        return Ok(());
    }
    // Miri has no clocks of the machine and no mapped memory: what remains is encoding, buffers on the heap and losses.
    miri_of("protolog-rt", &["loss::", "writer::packet::", "writer::fast::"], "")?;
    // Chunks are freed and divided otherwise, and then atomics of another size lie where earlier ones were. Where Miri plays weak memory it takes that for
    // an error of its own, and ends. The orders are loom's subject; data races are still found.
    let orders = "-Zmiri-disable-weak-memory-emulation";
    miri_of(
        "protolog-shmem",
        &["buffer::", "chunk::", "memory::", "page::", "reader::", "ring::"],
        orders,
    )
}

/// Runs those unit tests of a package whose names begin so.
fn miri_of(package: &str, tests: &[&str], flags: &str) -> Result<()> {
    let mut test = Command::new("rustup");
    test.args(["run", "nightly", "cargo", "miri", "test", "--locked", "--package", package])
        .args(["--lib", "--"])
        .args(tests)
        .env("MIRIFLAGS", flags)
        .env("CARGO_TARGET_DIR", workspace::target_dir()?.join("miri"))
        .current_dir(workspace::root());
    shell::run(&mut test)
}

/// The target of the nightly toolchain, where there is one.
fn nightly(what: &str, skipped: &mut Vec<String>) -> Option<String> {
    let version = shell::read(Command::new("rustup").args(["run", "nightly", "rustc", "-vV"]));
    let version = version.unwrap_or_default();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    if host.is_none() {
        let how = "`rustup toolchain install nightly`";
        skip(format!("skipped: {what} because rustup has no nightly toolchain ({how})"), skipped);
    }
    host.map(str::to_owned)
}

fn skip(line: String, skipped: &mut Vec<String>) {
    println!("{line}");
    skipped.push(line);
}
