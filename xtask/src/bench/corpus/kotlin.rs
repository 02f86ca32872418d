//! Real Kotlin to measure with: the sources that come with the compiler, with log calls at the start of functions, as in Java's.
//!
//! A line that can only be the head of a function with a block gets a call behind it. Nobody compiles the result.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::{CALL, CALLS, Corpus, STAMP, measure, sources, write_groups};
use crate::{Result, shell, workspace};

/// The archives, without `-sources.jar`.
const LIBRARIES: [&str; 3] = ["kotlin-stdlib", "kotlin-reflect", "kotlin-metadata-jvm"];
/// The rule, as in Java's stamp.
const RULE: &str =
    "every file with a place, at most 8 calls, in functions; a value and two arguments\n";

/// Unpacks the sources below `dir` and puts the calls in, unless that was done before.
pub(in crate::bench) fn prepare(dir: &Path) -> Result<Corpus> {
    let stamp = dir.join(STAMP.0);
    if !fs::read_to_string(&stamp).is_ok_and(|text| text == RULE) {
        workspace::empty_dir(dir)?;
        for library in LIBRARIES {
            let archive = workspace::tools_dir().join(format!("kotlin/lib/{library}-sources.jar"));
            let mut unpack = Command::new("python3");
            unpack.args(["-m", "zipfile", "-e"]).arg(archive).arg(dir.join(library));
            shell::run(&mut unpack)?;
        }
        change(dir)
            .and_then(|()| fs::write(&stamp, RULE))
            .map_err(|error| format!("can't prepare `{}`: {error}", dir.display()))?;
    }
    measure(dir, "kt").map_err(|error| format!("can't read `{}`: {error}", dir.display()))
}

fn change(dir: &Path) -> std::io::Result<()> {
    for file in sources(dir, "kt")? {
        let path = dir.join(file);
        if let Some(text) = fs::read_to_string(&path).ok().and_then(|text| with_calls(&text)) {
            fs::write(&path, text)?;
        }
    }
    write_groups(dir)
}

/// The text with imports beside the package and calls at the start of some functions; `None` where the rule finds no place.
fn with_calls(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 1024);
    let (mut imported, mut calls) = (false, 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        out.push_str(line);
        if !imported && line.starts_with("package ") && !line.contains(['/', ';']) {
            out.truncate(out.trim_end().len());
            out.push_str("; import dev.protolog.ProtoLog; import bench.BenchLog\n");
            imported = true;
        }
        if imported && calls < CALLS && is_head(line) {
            let number = index + 1;
            let indent = " ".repeat(line.len() - line.trim_start().len() + 4);
            let _ = writeln!(
                out,
                "{indent}{CALL}\"line {number} in ${{Thread.currentThread()}}: %d ns, %b\", System.nanoTime(), Thread.interrupted())"
            );
            calls += 1;
        }
    }
    (calls > 0).then_some(out)
}

/// Returns whether a line is the whole head of a function with a block.
fn is_head(line: &str) -> bool {
    let head = line.trim();
    let is_balanced = head.matches('(').count() == head.matches(')').count();
    let is_function = head.starts_with("fun ") || head.contains(" fun ");
    is_function
        && is_balanced
        && head.ends_with('{')
        && !["=", "//", "*", "\"", "->"].iter().any(|other| head.contains(other))
}

#[cfg(test)]
mod tests {
    use super::with_calls;

    #[test]
    fn calls_stand_at_the_start_of_functions() {
        let source = "\
package a.b
class C {
    private fun <T> f(a: Map<Int, T>): Int {
        return 0
    }
    fun g() = run {
    }
    val x = fun() {
    }
    fun h(
        a: Int,
    ) {
    }
}
";
        let expected =
            source.replacen("b\n", "b; import dev.protolog.ProtoLog; import bench.BenchLog\n", 1);
        let head = "T>): Int {\n";
        let call = "        ProtoLog.d(BenchLog.MAIN, \"line 3 in ${Thread.currentThread()}: %d ns, %b\", System.nanoTime(), Thread.interrupted())\n";
        let expected = expected.replacen(head, &format!("{head}{call}"), 1);
        assert_eq!(with_calls(source), Some(expected));
        assert_eq!(with_calls("package a\n\nval x = 1\n"), None);
    }
}
