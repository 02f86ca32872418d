//! Java in the build script: which sources there are, compiling them, running the tests among them.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, shell, workspace};

/// Has a JVM compile with its first compiler alone.
pub(crate) const FIRST_COMPILER: &str = "-XX:TieredStopAtLevel=1";

/// The assembler of the JDK itself, with which the tests put faults into the runtime's classes.
const ASSEMBLER: &str = "--add-exports=java.base/jdk.internal.org.objectweb.asm=ALL-UNNAMED";

/// The folders of the tests, and of what they test.
const TESTS: [&str; 3] = ["java/src", "examples/java/src", "java/test"];

/// Compiles and runs the tests; javac must have nothing to warn of.
pub(crate) fn test() -> Result<()> {
    shell::run(program(&build()?, "dev.protolog.SelfTest").arg("protolog-core/testdata"))
}

/// Has each place of the runtime fail that can for want of memory or stack, where `test` tries
/// some.
pub(crate) fn fail_everywhere() -> Result<()> {
    let classes = build()?;
    // Processes of their own: where there is no stack to close a descriptor the JDK leaves it open,
    // and each file that is opened looks at them all.
    for sessions in ["stream, ", "segments, ", "ring, ", "record, ", "forwards"] {
        shell::run(program(&classes, "dev.protolog.FaultTest").arg(sessions))?;
    }
    Ok(())
}

/// The columns of the trace of `integrations/maven` that are the same in each run.
const EXPECTED: &str = "\
D Net      sent 512 bytes to example.org
D Net      sent 1024 bytes to example.org
D Net      sent 1536 bytes to example.org
W Disk     /var is 97.5 % full
";

/// Runs that project from its jar and compares its trace.
pub(crate) fn check_trace(jar: &Path, runtime: &Path, tool: &Path) -> Result<()> {
    let trace = jar.with_extension("pftrace");
    let path = env::join_paths([jar, runtime]).map_err(|error| error.to_string())?;
    let mut java = Command::new("java");
    shell::run_quietly(java.arg("-classpath").arg(path).arg("app.Main").arg(&trace))?;
    let columns = ["read-log", "--columns", "level,tag,message"];
    let text = shell::read(Command::new(tool).args(columns).arg(&trace))?;
    if text == EXPECTED { Ok(()) } else { Err(format!("the trace says\n{text}")) }
}

/// An error unless the compiled program has its messages' texts, or has lost them where the tool
/// has processed it.
pub(crate) fn check_texts(classes: &Path, is_processed: bool) -> Result<()> {
    let bytes = workspace::read_bytes(classes.join("app/Main.class"))?;
    let text = b"bytes to";
    let has_text = bytes.windows(text.len()).any(|window| window == text);
    if has_text == is_processed { Err(format!("texts in classes: {has_text}")) } else { Ok(()) }
}

/// An error unless the sources that the tool has written for those of a project, which were
/// removed since, are gone from `folder`.
pub(crate) fn check_outputs_are_gone(folder: &Path) -> Result<()> {
    let left = shell::read(Command::new("find").arg(folder).args(["-name", "*.java"]))?;
    if left.is_empty() { Ok(()) } else { Err(format!("outputs of removed sources: {left}")) }
}

/// The path of programs, with the tool's folder first.
pub(crate) fn path_with(tool: &Path) -> OsString {
    let others = env::var_os("PATH").unwrap_or_default();
    let folder = tool.parent().map(Path::to_path_buf);
    let all = folder.into_iter().chain(env::split_paths(&others));
    env::join_paths(all).unwrap_or(others)
}

/// Compiles the tests, and gives the folder of their classes.
fn build() -> Result<PathBuf> {
    let classes = workspace::target_dir()?.join("java/tests");
    let sources = TESTS.iter().map(|folder| sources(folder)).collect::<Result<Vec<_>>>()?;
    compile_with(&classes, &sources.concat(), &TESTS, &[ASSEMBLER])?;
    Ok(classes)
}

fn program(classes: &Path, main: &str) -> Command {
    let mut java = Command::new("java");
    java.args(["-enableassertions", ASSEMBLER, "-classpath"]).arg(classes).arg(main);
    java.current_dir(workspace::root());
    java
}

/// The project's Java sources below `folder`, relative to the workspace, sorted; an error if there
/// are none.
pub fn sources(folder: &str) -> Result<Vec<PathBuf>> {
    let mut files = workspace::files()?;
    files.retain(|file| {
        file.starts_with(folder) && file.extension().is_some_and(|extension| extension == "java")
    });
    if files.is_empty() { Err(format!("no Java sources in `{folder}`")) } else { Ok(files) }
}

/// Compiles `sources` into the emptied directory `classes`. The shown command names `folders`
/// instead of each source.
pub(crate) fn compile(classes: &Path, sources: &[PathBuf], folders: &[&str]) -> Result<()> {
    compile_with(classes, sources, folders, &[])
}

fn compile_with(
    classes: &Path,
    sources: &[PathBuf],
    folders: &[&str],
    options: &[&str],
) -> Result<()> {
    workspace::empty_dir(classes)?;
    let mut javac = javac();
    javac
        .args(options)
        .args(["-encoding", "UTF-8", "-Xlint:all", "-Werror", "-d"])
        .arg(classes)
        .current_dir(workspace::root());
    let shown: Vec<String> = folders.iter().map(|folder| format!("{folder}/**/*.java")).collect();
    println!("$ {} {}", shell::line(&javac), shown.join(" "));
    shell::run_quietly(javac.args(sources))
}

/// Javac. It runs for seconds, and so takes half of the CPU time.
pub fn javac() -> Command {
    let mut javac = Command::new("javac");
    javac.arg(format!("-J{FIRST_COMPILER}"));
    javac
}
