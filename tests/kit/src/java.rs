//! Compiles and runs Java with the real javac and java.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::class_archive;
use crate::{Output, kotlin, run_any, tool};

/// Compiles `sources` to class files under `out_dir`; `classpath` can be empty. The caller checks
/// the exit code, because a test may expect an error of javac. `None` without javac.
///
/// # Panics
///
/// If javac can't be started.
pub fn compile_java(out_dir: &Path, sources: &[PathBuf], classpath: &[PathBuf]) -> Option<Output> {
    let mut javac = javac()?;
    javac.arg("-d").arg(out_dir).args([
        "-encoding",
        "UTF-8",
        "-Xlint:all",
        "-proc:none",
        "-implicit:none",
    ]);
    if !classpath.is_empty() {
        javac.arg("-classpath").arg(joined(classpath));
    }
    Some(run_any(javac.args(sources)))
}

/// The compiler; `None` without javac. It runs for seconds: with the JVM's first compiler alone,
/// and an archive of its classes, it takes a third of the CPU time.
pub fn javac() -> Option<Command> {
    let program = tool("javac")?;
    let mut javac = Command::new(&program);
    javac.arg("-J-XX:TieredStopAtLevel=1");
    let archived = class_archive::options("javac", &program, "-J", |dir, options| {
        let source = dir.join("Sample.java");
        fs::write(&source, SAMPLE_JAVA).expect("write a source");
        let mut javac = Command::new(&program);
        javac.args(options).arg("-J-XX:TieredStopAtLevel=1").arg("-d").arg(dir).arg(source);
        javac
    });
    javac.args(archived.into_iter().flatten());
    Some(javac)
}

/// The Kotlin compiler, for more arguments; `None` without one. Its classes take twice the time
/// of a small source.
pub fn kotlinc() -> Option<Command> {
    let (kotlin, java) = (kotlin()?, tool("java")?);
    let with = |options: &[String]| {
        let mut compiler = Command::new(&java);
        // It runs once, so that optimizing it takes longer than it saves.
        compiler.arg("-XX:TieredStopAtLevel=1").args(options);
        compiler.arg("-cp").arg(kotlin.join("lib/kotlin-compiler.jar"));
        compiler.arg("org.jetbrains.kotlin.cli.jvm.K2JVMCompiler").arg("-kotlin-home").arg(&kotlin);
        compiler
    };
    let archived = class_archive::options("kotlinc", &java, "", |dir, options| {
        let source = dir.join("Sample.kt");
        fs::write(&source, SAMPLE_KOTLIN).expect("write a source");
        let mut compiler = with(options);
        compiler.arg("-d").arg(dir).arg(source);
        compiler
    });
    Some(with(&archived.map(Vec::from).unwrap_or_default()))
}

/// Sources that have a compiler load most of its classes.
const SAMPLE_JAVA: &str = r#"import java.util.*;
public class Sample {
    enum E { X, Y }
    record R(int a, String b) {}
    interface I<T> { T f(T t); }
    public static void main(String[] args) throws Exception {
        I<String> i = s -> s + "x";
        List<R> list = new ArrayList<>(List.of(new R(1, i.f("a"))));
        for (R r : list) {
            switch (r.b()) {
                case "a" -> System.out.println(r);
                default -> System.out.printf("%d %s%n", r.a(), E.X);
            }
        }
    }
}
"#;
const SAMPLE_KOTLIN: &str = r#"enum class G(val tag: String) { A("a"), B("b") }
data class D(val a: Int, val b: String?)
fun main(args: Array<String>) {
    val x = listOf(1, 2, 3).map { it * 2 }.filter { it > 2 }
    println("$x ${G.A.tag} ${D(1, null).b?.length ?: 0}")
    when (args.size) { 0 -> println("none") else -> println("some") }
}
"#;

/// The JVM, for more options and a class; `None` without java.
///
/// It has its first compiler alone: programs of tests end before the second has earned what it
/// takes, a third of their CPU time. Tests of what threads do beside each other run the JVM as it
/// is, for the code that users get.
pub fn java() -> Option<Command> {
    let mut java = Command::new(tool("java")?);
    java.arg("-XX:TieredStopAtLevel=1");
    Some(java)
}

/// Runs the class `main` with `args`. The caller checks the exit code. `None` without java.
///
/// # Panics
///
/// If java can't be started.
pub fn run_java(classpath: &[PathBuf], main: &str, args: &[&str]) -> Option<Output> {
    let mut java = java()?;
    java.args(["-enableassertions", "-Xshare:auto", "-classpath"]).arg(joined(classpath)).arg(main);
    Some(run_any(java.args(args)))
}

/// All `.java` files under `dir`, sorted.
///
/// # Panics
///
/// If a directory can't be read.
pub fn java_sources(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        let entries = fs::read_dir(&dir)
            .unwrap_or_else(|error| panic!("can't read `{}`: {error}", dir.display()));
        for entry in entries {
            let path = entry.expect("read a directory entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "java") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn joined(paths: &[PathBuf]) -> OsString {
    std::env::join_paths(paths).expect("join a class path")
}
