//! The test of the jars: each bridge with the real library, on the class path, and that the same sources give the same bytes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::jar::Built;
use crate::loggers::{self, Loggers};
use crate::{Result, jar, java, shell, workspace};

const PROGRAM: &str = "java/bridges/test/app/Bridges.java";
const LOG4J_CONFIG: &str = "java/bridges/test/log4j2.xml";
/// The output of `read-log` for the program's trace, without stack frames.
const EXPECTED: &str = "java/bridges/test/expected.txt";

/// Builds the jars twice, runs a program with all bridges, and compares what its trace says.
pub(crate) fn test() -> Result<()> {
    let loggers = loggers::find()?;
    let built = jar::build("jars", Some(&loggers))?;
    for (one, other) in built.files.iter().zip(jar::build("jars-again", Some(&loggers))?.files) {
        shell::run_quietly(Command::new("cmp").arg(one).arg(other))?;
    }
    let trace = run(&built, &loggers)?;
    shell::run(&mut shell::cargo(&["build", "--locked", "--package", "protolog-tool"]))?;
    let mut read = Command::new(workspace::target_dir()?.join("debug/protologtool"));
    let text = shell::read(read.args(["read-log", "--columns", "level,tag,message"]).arg(&trace))?;
    let lines = text.lines().filter(|line| !line.contains("\tat ")).map(|line| format!("{line}\n"));
    let text: String = lines.collect();
    let actual = trace.with_extension("txt");
    fs::write(&actual, text).map_err(|error| error.to_string())?;
    shell::run(Command::new("diff").arg(workspace::root().join(EXPECTED)).arg(&actual))
}

/// Runs the program; returns its trace.
fn run(built: &Built, loggers: &Loggers) -> Result<PathBuf> {
    let dir = built.runtime().parent().unwrap_or(Path::new("")).join("test");
    workspace::empty_dir(&dir)?;
    let all =
        [vec![dir.clone()], built.files.clone(), vec![loggers.slf4j()], loggers.log4j()].concat();
    let path = env::join_paths(all).map_err(|error| error.to_string())?;
    let mut javac = java::javac();
    javac.args([
        "-encoding",
        "UTF-8",
        "-proc:none",
        "-Xlint:all",
        "-Xlint:-classfile",
        "-Werror",
        "-classpath",
    ]);
    shell::run_quietly(
        javac.arg(&path).arg("-d").arg(&dir).arg(PROGRAM).current_dir(workspace::root()),
    )?;
    let trace = dir.join("bridges.pftrace");
    let mut java = Command::new("java");
    java.arg(format!("-Dlog4j2.configurationFile={LOG4J_CONFIG}")).arg("-classpath").arg(&path);
    let printed = shell::read(java.arg("app.Bridges").arg(&trace).current_dir(workspace::root()))?;
    let expected = "false true\nfalse true\n16\n";
    if printed == expected { Ok(trace) } else { Err(format!("the program printed `{printed}`")) }
}
