//! Real Kotlin to measure with: the sources that come with the compiler, with log calls at the
//! start of functions, as in Java's.
//!
//! A line that can only be the head of a function with a block gets a call behind it. Nobody
//! compiles the result.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Corpus, Rule, STAMP, measure, sources, write_groups};
use xtask::{Result, shell, workspace};

/// The archives, without `-sources.jar`.
const LIBRARIES: [&str; 3] = ["kotlin-stdlib", "kotlin-reflect", "kotlin-metadata-jvm"];
/// The rule in words, as in Java's stamp.
const STAMPED: &str =
    "every file with a place, at most 8 calls, in functions; a value and two arguments\n";

const KOTLIN: Rule = Rule {
    is_package: |line| line.starts_with("package ") && !line.contains(['/', ';']),
    imports: "; import dev.protolog.ProtoLog; import bench.BenchLog\n",
    is_head,
    call: |number| {
        format!(
            "\"line {number} in ${{Thread.currentThread()}}: %d ns, %b\", System.nanoTime(), Thread.interrupted())"
        )
    },
};

/// Unpacks the sources below `dir` and puts the calls in, unless that was done before.
pub(crate) fn prepare(dir: &Path) -> Result<Corpus> {
    let stamp = dir.join(STAMP.0);
    if !fs::read_to_string(&stamp).is_ok_and(|text| text == STAMPED) {
        workspace::empty_dir(dir)?;
        for library in LIBRARIES {
            let archive = workspace::tools_dir().join(format!("kotlin/lib/{library}-sources.jar"));
            let mut unpack = Command::new("python3");
            unpack.args(["-m", "zipfile", "-e"]).arg(archive).arg(dir.join(library));
            shell::run(&mut unpack)?;
        }
        change(dir)
            .and_then(|()| fs::write(&stamp, STAMPED))
            .map_err(|error| format!("can't prepare `{}`: {error}", dir.display()))?;
    }
    measure(dir, "kt").map_err(|error| format!("can't read `{}`: {error}", dir.display()))
}

fn change(dir: &Path) -> std::io::Result<()> {
    for file in sources(dir, "kt")? {
        let path = dir.join(file);
        if let Some(text) = fs::read_to_string(&path).ok().and_then(|text| KOTLIN.with_calls(&text))
        {
            fs::write(&path, text)?;
        }
    }
    write_groups(dir)
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
    use super::KOTLIN;

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
        assert_eq!(KOTLIN.with_calls(source), Some(expected));
        assert_eq!(KOTLIN.with_calls("package a\n\nval x = 1\n"), None);
    }
}
