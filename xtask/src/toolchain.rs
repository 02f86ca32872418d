//! The Rust toolchain: said in one line, and the oldest versions that the packages promise to build
//! with.

use std::process::Command;

use crate::steps::UNAVAILABLE;
use crate::{Result, debian, install, shell, workspace};

/// The version that the tools need, and so the whole workspace.
const WORKSPACE_NEEDS: (u32, u32) = (1, 90);

/// The oldest compilers: an older one for packages that are linked into users' programs than for
/// the tools.
pub const PROMISES: [Promise; 2] = [LIBRARIES, TOOLS];

/// Packages that are linked into users' programs.
pub const LIBRARIES: Promise = Promise {
    version: "1.85",
    packages: &[
        "protolog-protozero",
        "protolog-core",
        "protolog-macros",
        "protolog-shmem",
        "protolog-recording",
        "protolog-rt",
        "protolog-control",
        "protolog-files",
        "protolog-perfetto-ipc",
        "protolog-c",
    ],
};

/// The command and its parts. Clippy refuses newer parts of the standard library in each run of the
/// tests; the compiler itself is asked by `soak`.
pub const TOOLS: Promise = Promise {
    version: "1.90",
    packages: &["protolog-viewer-config", "protolog-reader", "protolog-tool"],
};

/// A check of all that users may switch on.
const CHECK: [&str; 3] = ["check", "--locked", "--all-features"];

/// Packages that promise to build with this version of rustc.
pub struct Promise {
    /// Major and minor version, as in `rust-version`.
    pub version: &'static str,
    /// Their names.
    pub packages: &'static [&'static str],
}

/// Says which toolchain this is; an error if it is too old.
pub fn check() -> Result<()> {
    let rustc = shell::read(Command::new("rustc").arg("--version"))?;
    let cargo = shell::read(&mut shell::cargo(&["--version"]))?;
    println!("toolchain: {}, {}", rustc.trim(), cargo.trim());
    let (major, minor) = WORKSPACE_NEEDS;
    match version(&rustc) {
        Some(found) if found < WORKSPACE_NEEDS => Err(format!(
            "{} is too old, {major}.{minor} is needed\nhelp: run `rustup update stable`",
            rustc.trim()
        )),
        _ => Ok(()),
    }
}

/// Checks packages with the oldest compiler that they promise: one of rustup's, or one of Debian's.
/// Without any it is skipped.
pub fn check_promise(promise: &Promise, skipped: &mut Vec<String>) -> Result<()> {
    let Promise { version, packages } = promise;
    let packages = packages.iter().flat_map(|package| ["--package", package]);
    let no_toolchain = match find(version) {
        Ok(toolchain) => {
            let target_dir = workspace::target_dir()?.join("oldest").join(&toolchain);
            let mut check = cargo(Some(&toolchain), &CHECK);
            return shell::run(check.args(packages).env("CARGO_TARGET_DIR", target_dir));
        }
        Err(why) => why,
    };
    match debian::open(Some(version)) {
        Ok(compiler) => shell::run(compiler.cargo(&CHECK, version)?.args(packages)),
        Err(no_package) => {
            let what = format!("the build with Rust {version}, the oldest promised");
            let line = format!("{UNAVAILABLE} {what}: {no_package}, and {no_toolchain}");
            install::add_skipped(skipped, line);
            Ok(())
        }
    }
}

/// Returns true if the oldest compiler of the libraries is there.
pub fn has_oldest() -> bool {
    let version = LIBRARIES.version;
    find(version).is_ok() || debian::open(Some(version)).is_ok()
}

/// Unpacks the oldest compiler of the libraries from Debian, or else has rustup fetch it.
pub fn fetch_oldest() -> Result<()> {
    let version = LIBRARIES.version;
    debian::fetch(Some(version), false)
        .or_else(|why| fetch(version).map_err(|other| format!("{why}, and {other}")))
}

/// A `cargo` command in the workspace, of a toolchain of rustup's or of the one that runs.
pub(crate) fn cargo(toolchain: Option<&str>, args: &[&str]) -> Command {
    let Some(toolchain) = toolchain else { return shell::cargo(args) };
    let mut rustup = Command::new("rustup");
    rustup.args(["run", toolchain, "cargo"]).args(args).current_dir(workspace::root());
    rustup
}

/// The target that a compiler compiles for by itself, and its version line.
pub(crate) fn host(rustc: &mut Command) -> Result<(String, String)> {
    let verbose = shell::read(rustc.arg("-vV"))?;
    let host = verbose.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or("rustc does not say its host")?;
    Ok((host.to_owned(), verbose.lines().next().unwrap_or_default().to_owned()))
}

/// The name of rustup's toolchain of that version.
pub fn find(version: &str) -> Result<String> {
    let list = shell::read(Command::new("rustup").args(["toolchain", "list"]));
    toolchain_of(&list.unwrap_or_default(), version).map(str::to_owned).ok_or_else(|| {
        format!("rustup has no toolchain {version} (`rustup toolchain install {version}`)")
    })
}

/// Has rustup fetch a toolchain.
pub fn fetch(version: &str) -> Result<()> {
    let mut fetch = Command::new("rustup");
    fetch.args(["toolchain", "install", version, "--profile", "minimal", "--no-self-update"]);
    shell::run_without_output(&mut fetch)
}

fn toolchain_of<'a>(installed: &'a str, wanted: &str) -> Option<&'a str> {
    let names = installed.lines().filter_map(|line| line.split_whitespace().next());
    names.into_iter().find(|name| {
        let rest = name.strip_prefix(wanted);
        rest.is_some_and(|rest| rest.starts_with(['.', '-']) || rest.is_empty())
    })
}

/// Major and minor number in the output of `rustc --version`.
fn version(text: &str) -> Option<(u32, u32)> {
    debian::number(text.strip_prefix("rustc ")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_versions() {
        assert_eq!(version("rustc 1.95.0 (abc 2026-03-21)"), Some((1, 95)));
        assert_eq!(version("rustc 1.97.0-nightly (abc 2026-03-21)"), Some((1, 97)));
        assert_eq!(version("clang 19"), None);
    }

    #[test]
    fn finds_the_toolchain_of_a_version() {
        let installed =
            "stable-x86_64-unknown-linux-gnu (active, default)\n1.85.1-x86_64-unknown-linux-gnu\n";
        assert_eq!(toolchain_of(installed, "1.85"), Some("1.85.1-x86_64-unknown-linux-gnu"));
        assert_eq!(toolchain_of(installed, "1.8"), None);
        assert_eq!(toolchain_of(installed, "1.90"), None);
    }
}
