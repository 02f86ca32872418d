//! The runtime and the operators' programs, on platforms that this machine is not: checked for
//! glibc, musl and Android, and built, run and tested on musl.
//!
//! The standard library is built anew for each, which takes most of the time. So `test` checks the
//! platform that differs most, another processor with another C library; `soak` checks all.

use std::fmt::Write as _;
use std::path::Path;

use crate::debian::{self, Compiler};
use crate::{Result, install, shell, workspace};

/// Targets that each run of the tests checks: every system call is there, and of the right type.
const CHECKED: [&str; 4] =
    ["aarch64-linux-android", "aarch64-apple-darwin", "x86_64-pc-windows-gnu", "wasm32-wasip1"];
/// Targets that only `soak` checks: another one of the same system mostly has their peculiarities.
const CHECKED_SELDOM: [&str; 3] =
    ["aarch64-unknown-linux-gnu", "aarch64-unknown-linux-musl", "x86_64-pc-windows-msvc"];

/// The target with musl whose programs run on this machine.
fn musl() -> String {
    format!("{}-unknown-linux-musl", std::env::consts::ARCH)
}

/// Packages that make system calls in users' programs, and the reader.
const PACKAGES: [&str; 3] = ["protolog-rt", "protolog-control", "protolog-reader"];

/// Tests of the runtime that need no more than these packages: sessions to files, recorders,
/// sockets and memory that are shared with operators, forks. Each a file in `protolog-rt/tests`.
const TESTS: [&str; 4] = ["session.rs", "fork.rs", "control/main.rs", "recorder/main.rs"];
/// Static programs load no libraries; the others take long, and are no different on musl.
const LEFT_OUT: [&str; 4] = ["late_libraries::", "kill::", "single_step::", "ten_thousand"];

/// Packages that these tests use, and where they are.
const NEEDED: [(&str, &str); 6] = [
    ("protolog-control", "protolog-control"),
    ("protolog-core", "protolog-core"),
    ("protolog-protozero", "protozero"),
    ("protolog-reader", "protolog-reader"),
    ("protolog-rt", "protolog-rt"),
    ("protolog-testkit", "tests/kit"),
];

/// Builds the standard library too, without the part that finds names for stack traces.
const STANDARD_LIBRARY: [&str; 2] = ["-Zbuild-std=std", "-Zbuild-std-features="];

/// Checks Android and runs the tests on musl. Without a compiler of Debian's it is skipped.
pub(crate) fn check(has_musl: bool, skipped: &mut Vec<String>) -> Result<()> {
    let Some(compiler) = compiler(skipped) else { return Ok(()) };
    check_targets(&compiler, &CHECKED)?;
    if has_musl { test_on_musl(&compiler) } else { Ok(()) }
}

/// Checks all platforms. Without a compiler of Debian's it is skipped.
pub(crate) fn check_all(skipped: &mut Vec<String>) -> Result<()> {
    let Some(compiler) = compiler(skipped) else { return Ok(()) };
    check_targets(&compiler, &[&CHECKED[..], &CHECKED_SELDOM].concat())
}

fn compiler(skipped: &mut Vec<String>) -> Option<Compiler> {
    let skip = |why: String| install::skip(skipped, "the runtime on musl and Android", &why);
    debian::open(None).map_err(skip).ok()
}

fn check_targets(compiler: &Compiler, targets: &[&str]) -> Result<()> {
    let mut check = compiler.cargo(&["check", "--locked"], "platforms")?;
    check.args(STANDARD_LIBRARY);
    check.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
    check.args(targets.iter().flat_map(|target| ["--target", target]));
    shell::run(&mut check)
}

/// Runs tests of the runtime, and so sessions, in static programs.
fn test_on_musl(compiler: &Compiler) -> Result<()> {
    let dir = workspace::target_dir()?.join("oldest/musl");
    write_package(&dir)?;
    let manifest = dir.join("Cargo.toml").display().to_string();
    let mut test = compiler.cargo(&["test", "--manifest-path", &manifest], "platforms")?;
    test.args(["-Zbuild-std=std,test", STANDARD_LIBRARY[1]]);
    test.args(["--target", &musl(), "--no-fail-fast", "--tests"]);
    test.arg("--").args(LEFT_OUT.iter().flat_map(|test| ["--skip", test]));
    // Debian's musl has the objects that start a program; a message of the unwinder's asks for a
    // function of glibc's.
    let flags = format!(
        "-Clink-self-contained=no -L{} -Clink-arg=-Wl,--defsym=__fprintf_chk=fprintf",
        compiler.unwinder()?.display()
    );
    let variable = format!("CARGO_TARGET_{}", musl().to_uppercase().replace('-', "_"));
    test.env(format!("{variable}_RUSTFLAGS"), flags);
    test.env(format!("{variable}_LINKER"), "musl-gcc");
    shell::run(&mut test)
}

/// A package with these tests alone: the other tests' dependencies would take longer to compile
/// than all of this.
fn write_package(dir: &Path) -> Result<()> {
    let root = workspace::root().display().to_string();
    let mut manifest =
        "[package]\nname = \"protolog-on-musl\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
                        [workspace]\n\n[dev-dependencies]\nlibc = \"0.2\"\n"
            .to_owned();
    for (package, folder) in NEEDED {
        let name = if package == "protolog-protozero" { "protozero" } else { package };
        let _ = writeln!(
            manifest,
            "{name} = {{ package = \"{package}\", path = \"{root}/{folder}\" }}"
        );
    }
    for test in TESTS {
        let name = test.split(['.', '/']).next().unwrap_or_default();
        let path = format!("{root}/protolog-rt/tests/{test}");
        let _ = writeln!(manifest, "\n[[test]]\nname = \"{name}\"\npath = \"{path}\"");
    }
    let write = |name: &str, text: &[u8]| workspace::write(dir.join(name), text);
    // The versions that the workspace has.
    let lock = workspace::read_bytes(workspace::root().join("Cargo.lock"))?;
    write("Cargo.lock", &lock)?;
    write("src/lib.rs", b"//! Nothing: the tests are what is run.\n")?;
    write("Cargo.toml", manifest.as_bytes())
}
