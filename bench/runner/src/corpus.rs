//! Much real Java to measure with: the sources of OpenJDK 17, with log calls put into a twentieth
//! of the files.
//!
//! The rule that finds a place for a call looks at lines, not at syntax: behind a line that can
//! only be the head of a method (a modifier first, then a type, a name, a parameter list, `{`
//! last). It is the same on every machine. The calls parse and have constant templates and
//! arguments of the right types; nobody compiles the result.

pub(super) mod kotlin;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::{Result, shell, tools, workspace};

/// Calls per changed file, at most.
const CALLS: usize = 8;
/// One file in so many gets calls.
const EVERY: usize = 20;
/// Written last, so that an interrupted preparation is repeated; the text changes with the rule.
const STAMP: (&str, &str) =
    ("prepared", "one file in 20, at most 8 calls, in methods; three arguments\n");

/// The prepared sources.
pub(super) struct Corpus {
    /// Everything else is relative to it.
    pub(super) dir: PathBuf,
    /// All files of the language, sorted; in Java, the group enum among them.
    pub(super) files: Vec<SourceFile>,
}

/// One of the sources.
#[derive(Clone, Debug)]
pub(super) struct SourceFile {
    /// Relative to the directory.
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) calls: usize,
}

/// The enum that the calls name.
pub(super) const GROUPS_CLASS: &str = "bench.BenchLog";
pub(super) const GROUPS_SOURCE: &str = "bench/BenchLog.java";
const GROUPS_TEXT: &str = "package bench;

/** The groups of the bench. */
public enum BenchLog implements dev.protolog.IProtoLogGroup {
    MAIN(true, true, \"Main\");

    private final boolean enabled;
    private final boolean logToText;
    private final String tag;

    BenchLog(boolean enabled, boolean logToText, String tag) {
        this.enabled = enabled;
        this.logToText = logToText;
        this.tag = tag;
    }

    @Override public boolean isEnabled() { return enabled; }
    @Override public boolean isLogToText() { return logToText; }
    @Override public String getTag() { return tag; }
}
";

/// Unpacks the JDK's sources below `dir` and puts the calls in, unless that was done before.
pub(super) fn prepare(dir: &Path) -> Result<Corpus> {
    let stamp = dir.join(STAMP.0);
    if !fs::read_to_string(&stamp).is_ok_and(|text| text == STAMP.1) {
        let archive = tools::jdk_source().ok_or("the sources of OpenJDK 17 are not installed")?;
        workspace::empty_dir(dir)?;
        shell::run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(archive).arg(dir))?;
        change(dir).map_err(|error| format!("can't prepare `{}`: {error}", dir.display()))?;
        workspace::write(&stamp, STAMP.1)?;
    }
    measure(dir, "java").map_err(|error| format!("can't read `{}`: {error}", dir.display()))
}

fn change(dir: &Path) -> std::io::Result<()> {
    let mut changed = 0;
    for (seen, file) in sources(dir, "java")?.iter().enumerate() {
        if changed * EVERY > seen {
            continue;
        }
        let path = dir.join(file);
        // The sources hold a few files that are not UTF-8.
        let Some(text) = fs::read_to_string(&path).ok().and_then(|text| JAVA.with_calls(&text))
        else {
            continue;
        };
        fs::write(&path, text)?;
        changed += 1;
    }
    write_groups(dir)
}

fn write_groups(dir: &Path) -> std::io::Result<()> {
    let groups = dir.join(GROUPS_SOURCE);
    fs::create_dir_all(groups.parent().expect("the group enum has a package"))?;
    fs::write(groups, GROUPS_TEXT)
}

/// The files below `dir` with this extension.
fn measure(dir: &Path, extension: &str) -> std::io::Result<Corpus> {
    let measured = |path: PathBuf| {
        let content = fs::read(dir.join(&path))?;
        let calls = String::from_utf8_lossy(&content).matches(CALL).count();
        Ok(SourceFile { path, bytes: content.len() as u64, calls })
    };
    let files: std::io::Result<Vec<SourceFile>> =
        sources(dir, extension)?.into_iter().map(measured).collect();
    Ok(Corpus { dir: dir.to_path_buf(), files: files? })
}

/// Of `count` files in a row, by size, those that have together most nearly `bytes`.
pub(super) fn nearest(files: &[SourceFile], count: usize, bytes: u64) -> Vec<SourceFile> {
    let mut sorted = files.to_vec();
    sorted.sort_by(|a, b| (a.bytes, &a.path).cmp(&(b.bytes, &b.path)));
    let total = |files: &[SourceFile]| files.iter().map(|file| file.bytes).sum::<u64>();
    let windows = sorted.windows(count.clamp(1, sorted.len().max(1)));
    windows.min_by_key(|window| total(window).abs_diff(bytes)).unwrap_or_default().to_vec()
}

/// All files below `dir` with the extension `end`, relative to it, sorted.
fn sources(dir: &Path, end: &str) -> std::io::Result<Vec<PathBuf>> {
    let mut open = vec![dir.to_path_buf()];
    let mut files = Vec::new();
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == end) {
                files.push(path.strip_prefix(dir).unwrap_or(&path).to_path_buf());
            }
        }
    }
    files.sort();
    Ok(files)
}

const CALL: &str = "ProtoLog.d(BenchLog.MAIN, ";

/// The rule by which calls are put into a language's sources.
struct Rule {
    is_package: fn(&str) -> bool,
    /// Beside the package.
    imports: &'static str,
    is_head: fn(&str) -> bool,
    /// The rest of a call in a line with this number.
    call: fn(usize) -> String,
}

const JAVA: Rule = Rule {
    is_package,
    imports: " import dev.protolog.ProtoLog; import bench.BenchLog;\n",
    is_head: is_method_head,
    call: |number| {
        format!(
            "\"line {number}: %d ns in %s, %b\", System.nanoTime(), Thread.currentThread(), \
             Thread.interrupted());"
        )
    },
};

impl Rule {
    /// The text with imports beside the package and calls at the start of some methods; `None`
    /// where the rule finds no place.
    fn with_calls(&self, text: &str) -> Option<String> {
        let mut out = String::with_capacity(text.len() + 1024);
        let (mut imported, mut calls) = (false, 0);
        for (index, line) in text.split_inclusive('\n').enumerate() {
            out.push_str(line);
            if !imported && (self.is_package)(line) {
                out.truncate(out.trim_end().len());
                out.push_str(self.imports);
                imported = true;
            }
            if imported && calls < CALLS && (self.is_head)(line) {
                let indent = " ".repeat(line.len() - line.trim_start().len() + 4);
                let _ = writeln!(out, "{indent}{CALL}{}", (self.call)(index + 1));
                calls += 1;
            }
        }
        (calls > 0).then_some(out)
    }
}

fn is_package(line: &str) -> bool {
    line.strip_prefix("package ")
        .is_some_and(|rest| rest.trim_end().ends_with(';') && !rest.contains("//"))
}

/// A constructor is none: there `super(…)` must stay first. It has no type before its name.
fn is_method_head(line: &str) -> bool {
    const MODIFIERS: [&str; 8] =
        ["public", "protected", "private", "static", "final", "synchronized", "native", "strictfp"];
    const OTHERS: [&str; 9] =
        ["=", "new ", " class ", " record ", " enum ", " interface ", "\"", "//", "*"];
    let head = line.trim();
    let Some((before, after)) = head.split_once('(') else {
        return false;
    };
    let words: Vec<&str> = before.split_whitespace().collect();
    let modifiers = words.iter().take_while(|word| MODIFIERS.contains(word)).count();
    let shape = line.starts_with("    ") && after.contains(')') && head.ends_with('{');
    shape
        && modifiers > 0
        && words.len() >= modifiers + 2
        && !OTHERS.iter().any(|other| head.contains(other))
}

#[cfg(test)]
mod tests {
    use super::JAVA;

    #[test]
    fn calls_stand_at_the_start_of_methods() {
        let source = "\
package a.b;
class C {
    private final int[] x = {
    };
    public C() {
        // The first statement stays first.
        super();
    }
    public int f(int y) throws E {
        return y;
    }
    public static final class D {
    }
}
";
        let expected = "\
package a.b; import dev.protolog.ProtoLog; import bench.BenchLog;
class C {
    private final int[] x = {
    };
    public C() {
        // The first statement stays first.
        super();
    }
    public int f(int y) throws E {
        ProtoLog.d(BenchLog.MAIN, \"line 9: %d ns in %s, %b\", System.nanoTime(), Thread.currentThread(), Thread.interrupted());
        return y;
    }
    public static final class D {
    }
}
";
        assert_eq!(JAVA.with_calls(source).as_deref(), Some(expected));
        assert_eq!(JAVA.with_calls("package a.b;\ninterface I {\n    void f();\n}\n"), None);
        assert_eq!(
            JAVA.with_calls("class C {\n    public void f() {\n    }\n}\n"),
            None,
            "no package, so no place for imports"
        );
    }
}
