//! The programs that the project needs beside Rust: found, installed where that is allowed, named where it is not.
//!
//! Debian packages are installed when the user is root; Rust components through rustup. Nothing is installed silently:
//! what and why is printed first.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::{Result, shell};

/// Something that must be on the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    /// Its name in messages.
    pub(crate) name: &'static str,
    /// Its purpose, as in "to …".
    pub(crate) why: &'static str,
    present: fn() -> bool,
    source: Source,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    /// Packages, by their names with blanks between them.
    Debian(&'static str),
    Rustup(&'static str),
}

use Source::{Debian, Rustup};

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
    why: "build the Maven project of integrations/maven",
    present: || found("mvn") && maven_has_plugins(),
    source: Debian(
        "maven libexec-maven-plugin-java libmaven-compiler-plugin-java libmaven-install-plugin-java libmaven-jar-plugin-java \
         libmaven-resources-plugin-java libsurefire-java",
    ),
};
pub(crate) const NPM: Tool = Tool {
    name: "npm",
    why: "fetch the Kotlin compiler",
    // It serves only to fetch: nothing is missing where that was done.
    present: || found("npm") || crate::kotlin::is_there(),
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

impl Tool {
    /// Returns true if it is on the machine.
    pub(crate) fn is_present(&self) -> bool {
        (self.present)()
    }
}

/// Makes sure of `wanted`, installing what is missing where `install` allows it and the means are there. Returns those
/// that are still missing after saying so in one line.
pub(crate) fn prepare(wanted: &[Tool], install: bool) -> Vec<Tool> {
    let missing: Vec<Tool> = wanted.iter().copied().filter(|tool| !(tool.present)()).collect();
    let names = |tools: &[Tool]| tools.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ");
    if missing.is_empty() {
        println!("found: {}", names(wanted));
        return missing;
    }
    if install && let Err(problem) = install_all(&missing) {
        println!("{problem}");
    }
    let missing: Vec<Tool> = missing.into_iter().filter(|tool| !(tool.present)()).collect();
    if !missing.is_empty() {
        println!(
            "missing: {} (install with: {})",
            names(&missing),
            commands(&missing).join(" && ")
        );
    }
    missing
}

/// The line about what is not checked without `tool`.
pub(crate) fn skipped(what: &str, tool: &Tool) -> String {
    format!(
        "skipped: {what} because {} is not installed ({})",
        tool.name,
        commands(&[*tool]).join(" && ")
    )
}

/// Says that `what` is not checked and why, now and in the summary.
pub(crate) fn skip(skipped: &mut Vec<String>, what: &str, why: &str) {
    let line = format!("skipped: {what} because {why}");
    println!("{line}");
    skipped.push(line);
}

/// The archive of the JDK's sources, where Debian puts it.
pub(crate) fn jdk_source() -> Option<PathBuf> {
    let places = ["/usr/lib/jvm/openjdk-17/lib/src.zip", "/usr/lib/jvm/openjdk-17/src.zip"];
    // A link without target does not exist: the runtime package alone leaves one.
    places.into_iter().map(PathBuf::from).find(|place| place.exists())
}

/// Returns true if a program of this name is on `PATH`.
pub(crate) fn found(name: &str) -> bool {
    let executable = |file: PathBuf| {
        fs::metadata(file)
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    env::split_paths(&env::var_os("PATH").unwrap_or_default()).any(|dir| executable(dir.join(name)))
}

/// Returns true if the system's C compiler would find a header, in the folder of all machines or in that of one.
fn has_header(name: &str) -> bool {
    let system = Path::new("/usr/include");
    let folders = fs::read_dir(system).into_iter().flatten().flatten();
    let mut places = folders.map(|folder| folder.path()).chain([system.to_path_buf()]);
    places.any(|folder| folder.join(name).exists())
}

/// Returns true in CI, where nothing may be skipped for want of a tool.
pub(crate) fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !value.is_empty())
}

/// Installs what can be installed here: Debian packages as root, Rust components with rustup.
fn install_all(missing: &[Tool]) -> Result<()> {
    let apt = is_root() && found("apt-get");
    let mut packages = Vec::new();
    let mut components = Vec::new();
    for tool in missing {
        match tool.source {
            Debian(names) if apt => packages.extend(names.split(' ')),
            Rustup(component) if found("rustup") => components.push(component),
            _ => continue,
        }
        println!("needed: {}, to {}", tool.name, tool.why);
    }
    if !components.is_empty() {
        let mut add = Command::new("rustup");
        shell::run_without_output(add.args(["component", "add"]).args(components))?;
    }
    if packages.is_empty() {
        return Ok(());
    }
    // Debian's tools say hundreds of lines, even when they are asked not to.
    let apt = |args: &[&str]| {
        let mut apt = Command::new("apt-get");
        shell::run_without_output(apt.args(args).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update", "-qq"])?;
    let mut install = vec!["install", "-qq", "--yes", "--no-install-recommends"];
    install.extend(packages);
    apt(&install)
}

/// The commands with which a person would install these.
fn commands(tools: &[Tool]) -> Vec<String> {
    let (mut debian, mut rustup) = (Vec::new(), Vec::new());
    for tool in tools {
        match tool.source {
            Debian(package) => debian.push(package),
            Rustup(component) => rustup.push(component),
        }
    }
    let line = |command: &str, names: Vec<&str>| {
        (!names.is_empty()).then(|| format!("{command} {}", names.join(" ")))
    };
    [line("apt-get install", debian), line("rustup component add", rustup)]
        .into_iter()
        .flatten()
        .collect()
}

/// True where packages can be installed.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0)
}

/// The repository that Debian's packages of Maven plugins fill.
pub(crate) const MAVEN_REPOSITORY: &str = "/usr/share/maven-repo";

fn maven_has_plugins() -> bool {
    let plugins = ["compiler", "install", "jar", "resources", "surefire"]
        .map(|name| format!("org/apache/maven/plugins/maven-{name}-plugin"));
    let repository = Path::new(MAVEN_REPOSITORY);
    let exec = repository.join("org/codehaus/mojo/exec-maven-plugin");
    exec.is_dir() && plugins.iter().all(|plugin| repository.join(plugin).is_dir())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_programs_on_the_path_only() {
        assert!(found("sh"));
        assert!(!found("no-such-program"));
    }

    #[test]
    fn says_how_to_install() {
        assert_eq!(
            commands(&[JAVA, CLIPPY, NODE]),
            ["apt-get install default-jdk-headless nodejs", "rustup component add clippy"]
        );
        assert_eq!(
            skipped("the Java tests", &JAVA),
            "skipped: the Java tests because a JDK is not installed (apt-get install default-jdk-headless)"
        );
    }

    #[test]
    fn what_is_missing_without_leave_to_install_is_handed_back() {
        let absent =
            Tool { name: "absent", why: "test", present: || false, source: Debian("absent") };
        let missing = prepare(&[CC, absent], false);
        assert_eq!(missing.iter().map(|tool| tool.name).collect::<Vec<_>>(), ["absent"]);
    }
}
