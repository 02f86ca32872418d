//! The time that log calls take to compile, and the size of their code. Each figure is the
//! difference between a program with 2,000 calls and one with 20, which has the logger in it. The
//! candidates are `protolog`, `log` and `tracing` with the same calls, and `protolog` with fewer
//! arguments.
//!
//! Debug builds are timed: the crate alone, after its dependencies were built. Release builds are
//! measured by the size of their executable sections, which contain neither notes nor texts.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::table;
use xtask::{Result, shell, workspace};

/// Calls in the larger program.
const CALLS: usize = 2000;
/// Calls in one function, and in the smaller program.
const PER_FUNCTION: usize = 20;
/// The text of a call about each of its arguments, before the value and after it, and the value.
const ARGUMENTS: [(&str, &str, &str); 3] =
    [("sent ", " bytes", "n"), (" to ", "", "host"), (" in ", " ms", "ms")];
/// Timed builds of each program, of which the fastest counts.
const ROUNDS: usize = 3;

/// A logger: its name, its dependency, what comes before a call's text, and how a value stands in
/// it.
type Logger = (&'static str, &'static str, [&'static str; 4], [&'static str; 3]);

const LOGGERS: [Logger; 3] = [
    (
        "protolog",
        "protolog-rt = { path = \"ROOT/protolog-rt\" }",
        [
            "protolog_rt::d!(AppLog::Net, ",
            "protolog_rt::v!(AppLog::Disk, ",
            "protolog_rt::i!(AppLog::Net, ",
            "protolog_rt::w!(AppLog::Disk, ",
        ],
        ["%d", "%s", "%f"],
    ),
    (
        "log",
        "log = \"0.4\"",
        ["log::debug!(", "log::trace!(", "log::info!(", "log::warn!("],
        ["{}", "{}", "{}"],
    ),
    (
        "tracing",
        "tracing = \"0.1\"",
        ["tracing::debug!(", "tracing::trace!(", "tracing::info!(", "tracing::warn!("],
        ["{}", "{}", "{}"],
    ),
];

/// Builds and prints the table.
pub(super) fn run() -> Result<()> {
    let mut rows = Vec::new();
    for logger in LOGGERS {
        rows.push(row(logger, ARGUMENTS.len())?);
    }
    for arguments in (1..ARGUMENTS.len()).rev() {
        rows.push(row(LOGGERS[0], arguments)?);
    }
    let with = format!("{CALLS} calls, s");
    let few = format!("{PER_FUNCTION} calls, s");
    let head = [
        "logger",
        "arguments",
        few.as_str(),
        with.as_str(),
        "difference, s",
        "code of a call, bytes",
    ];
    println!("{}", table::markdown(&head, &rows));
    Ok(())
}

/// The cost of a logger's calls with so many arguments.
fn row((name, dependency, heads, values): Logger, arguments: usize) -> Result<Vec<String>> {
    let programs = [PER_FUNCTION, CALLS].map(|calls| Program {
        name,
        dependency,
        heads,
        values: &values[..arguments],
        calls,
    });
    let mut times = [f64::INFINITY; 2];
    for program in &programs {
        program.write()?;
        program.build(false)?;
        program.build(true)?;
    }
    for _ in 0..ROUNDS {
        for (program, time) in programs.iter().zip(&mut times) {
            *time = time.min(program.timed()?);
        }
    }
    let code = |program: &Program| program.code();
    let bytes = (code(&programs[1])?.saturating_sub(code(&programs[0])?)) as f64
        / (CALLS - PER_FUNCTION) as f64;
    Ok(vec![
        name.to_owned(),
        arguments.to_string(),
        format!("{:.2}", times[0]),
        format!("{:.2}", times[1]),
        format!("{:.2}", times[1] - times[0]),
        format!("{bytes:.0}"),
    ])
}

/// A program to build.
struct Program<'a> {
    name: &'static str,
    dependency: &'static str,
    heads: [&'static str; 4],
    values: &'a [&'static str],
    calls: usize,
}

impl Program<'_> {
    fn package(&self) -> String {
        format!("compile-{}-{}-{}", self.name, self.values.len(), self.calls)
    }

    fn write(&self) -> Result<()> {
        let (package, root) = (self.package(), workspace::root().display().to_string());
        let dir = workspace::target_dir()?.join("bench").join(&package);
        let dependency = self.dependency.replace("ROOT", &root);
        let manifest = format!(
            "[package]\nname = \"{package}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{dependency}\n\n\
             [profile.release]\ncodegen-units = 1\n\n[workspace]\n"
        );
        let write = |path: &Path, text: &[u8]| workspace::write(path, text);
        let lock = workspace::root().join("Cargo.lock");
        let lock = workspace::read_bytes(&lock)?;
        write(&dir.join("Cargo.toml"), manifest.as_bytes())?;
        write(&dir.join("Cargo.lock"), &lock)?;
        write(&dir.join("src/main.rs"), self.source().as_bytes())
    }

    fn source(&self) -> String {
        let mut text = String::new();
        if self.name == "protolog" {
            text.push_str(
                "#[derive(protolog_rt::ProtoLogGroup)]\nenum AppLog {\n    Net,\n    Disk,\n}\n\n",
            );
        }
        let functions = self.calls.div_ceil(PER_FUNCTION);
        let (mut says, mut names) = (String::new(), String::new());
        for (value, (before, after, name)) in self.values.iter().zip(ARGUMENTS) {
            let _ = write!(says, "{before}{value}{after}");
            let _ = write!(names, ", {name}");
        }
        for call in 0..self.calls {
            if call % PER_FUNCTION == 0 {
                let _ = writeln!(
                    text,
                    "#[allow(unused_variables)]\nfn part{}(n: u32, host: &str, ms: f64) {{",
                    call / PER_FUNCTION
                );
            }
            let head = self.heads[call % 4];
            let _ = writeln!(text, "    {head}\"step {call}: {says}\"{names});");
            if call % PER_FUNCTION == PER_FUNCTION - 1 {
                text.push_str("}\n\n");
            }
        }
        text.push_str("fn main() {\n    let n = std::hint::black_box(1_u32);\n");
        for function in 0..functions {
            let _ = writeln!(text, "    part{function}(n, \"host\", f64::from(n));");
        }
        text.push_str("}\n");
        text
    }

    fn cargo(&self, words: &[&str]) -> Result<Command> {
        let target = workspace::target_dir()?.join("bench");
        let mut cargo = shell::cargo(words);
        cargo
            .args(["--quiet", "--manifest-path"])
            .arg(target.join(self.package()).join("Cargo.toml"))
            .arg("--target-dir")
            .arg(target.join("compile"))
            .env_remove("RUSTFLAGS");
        Ok(cargo)
    }

    fn build(&self, release: bool) -> Result<()> {
        let mut cargo = self.cargo(&["build"])?;
        if release {
            cargo.arg("--release");
        }
        shell::run_quietly(&mut cargo)
    }

    /// Seconds of a debug build of the program alone.
    fn timed(&self) -> Result<f64> {
        shell::run_quietly(&mut self.cargo(&[
            "clean",
            "--profile",
            "dev",
            "--package",
            &self.package(),
        ])?)?;
        let begun = Instant::now();
        self.build(false)?;
        Ok(begun.elapsed().as_secs_f64())
    }

    /// Bytes of executable sections of the release build.
    fn code(&self) -> Result<u64> {
        let program = workspace::target_dir()?.join("bench/compile/release").join(self.package());
        let sections = shell::read(Command::new("size").args(["-A", "-d"]).arg(program))?;
        let text = sections.lines().find_map(|line| line.strip_prefix(".text "));
        let bytes = text.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        bytes.ok_or_else(|| "no section `.text` in what `size` says".to_owned())
    }
}
