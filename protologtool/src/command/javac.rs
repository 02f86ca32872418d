//! The opinion of javac on sources that can't be parsed here, as rules of Android 17 want it. An
//! error of the syntax is javac's to report, in its own step, and code that javac accepts is a
//! defect of this tool.
//!
//! javac is run through the program that Soong provides, since a rule may run nothing else.

use crate::args::Sources;
use crate::diagnostic::{Code, Notice, Reporter, Severity};
use crate::lang::Kind;
use crate::pipeline::Processed;
use crate::system::System;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

/// The arguments between the wrapper and the source. Both stops are needed: with AOSP's
/// `should-stop.at` alone, javac 17 goes on after a file without faults, misses its imports, and
/// writes class files.
const JAVAC: [&str; 10] = [
    "javac",
    "-nowarn",
    "-Xlint:none",
    "-proc:none",
    "-sourcepath",
    "",
    "-classpath",
    "",
    "-XDshould-stop.ifNoError=PARSE",
    "-XDshould-stop.ifError=PARSE",
];

/// Returns whether javac can't parse a file either. False without `--javac-wrapper-path`, and for
/// files that were parsed.
pub(super) fn refuses(
    sources: &Sources,
    file: &mut Processed,
    reporter: &mut Reporter<'_>,
    system: &dyn System,
) -> bool {
    let Some(wrapper) = &sources.javac_wrapper_path else { return false };
    let report = file.report.iter_mut().flat_map(|report| &mut report.diagnostics);
    let mut faults = report.filter(|diagnostic| diagnostic.code == Code::Syntax).peekable();
    if Kind::of_path(&file.path) != Some(Kind::Java) || faults.peek().is_none() {
        return false;
    }
    match accepts(wrapper, &file.path, system) {
        Ok(accepted) => {
            let help = "report this as a defect of protologtool: javac accepts the file";
            faults.for_each(|fault| fault.help = accepted.then(|| help.to_owned()));
            !accepted
        }
        Err(error) => {
            let (shown, error) = (wrapper.display(), crate::output::reason(&error));
            reporter.notice(&Notice {
                severity: Severity::Warning,
                code: Code::Syntax,
                message: format!("can't run `{shown}`: {error}"),
                help: Some("check `--javac-wrapper-path`".to_owned()),
            });
            false
        }
    }
}

/// The path so that javac takes it for no more than a file: `@A.java` is a file with arguments,
/// which may name a plugin.
fn as_file(source: &Path) -> Cow<'_, Path> {
    match source.as_os_str().as_encoded_bytes().first() {
        Some(b'@' | b'-') => Path::new(".").join(source).into(),
        _ => source.into(),
    }
}

fn accepts(wrapper: &Path, source: &Path, system: &dyn System) -> io::Result<bool> {
    let source = as_file(source);
    let args: Vec<&OsStr> = JAVAC.iter().map(OsStr::new).chain([source.as_os_str()]).collect();
    system.succeeds(wrapper, &args)
}

#[cfg(test)]
mod tests {
    use super::as_file;
    use std::path::Path;

    #[test]
    fn a_source_is_no_argument() {
        let shown = |path| as_file(Path::new(path)).display().to_string();
        assert_eq!([shown("@A.java"), shown("-J.java")], ["./@A.java", "./-J.java"]);
        assert_eq!([shown("a/@A.java"), shown("/@.java")], ["a/@A.java", "/@.java"]);
    }
}
