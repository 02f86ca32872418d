//! Java sources open files for writing by one class, `Outputs`, which has the rules on permitted
//! writes. All that is opened, renamed and removed is so by another one, `OpenDirectory`, in a
//! directory that is open, wherever its path leads by then.
//!
//! It also keeps files from being closed by interrupts: a channel of NIO is closed as soon as an
//! interrupted thread uses it, so no class but those that belong to it has one.
//!
//! And they format numbers and change case by a locale that they name. Without one it is that of
//! the JVM: in some the digits are others, so that the names of files are not those that the next
//! run looks for.

use super::{File, Finding, extension};

/// The exempt classes, and the call that each may have.
const ALLOWED: [(&str, &str); 18] = [
    ("java/src/dev/protolog/internal/files/OpenDirectory.java", "Files.createLink("),
    ("java/src/dev/protolog/internal/files/OpenDirectory.java", "Files.delete"),
    ("java/src/dev/protolog/internal/files/OpenDirectory.java", "Files.move("),
    ("java/src/dev/protolog/internal/files/OpenDirectory.java", "Files.set"),
    ("java/src/dev/protolog/internal/files/OpenDirectory.java", "FileChannel.open("),
    ("java/src/dev/protolog/internal/files/OpenDirectory.java", "FileChannel"),
    ("java/src/dev/protolog/internal/files/OpenDirectory.java", "StandardOpenOption."),
    ("java/src/dev/protolog/internal/files/Outputs.java", "FileChannel"),
    ("java/src/dev/protolog/internal/files/Outputs.java", "StandardOpenOption."),
    ("java/src/dev/protolog/internal/files/OutputFile.java", "FileChannel"),
    ("java/src/dev/protolog/internal/files/OutputFile.java", ".getChannel("),
    ("java/src/dev/protolog/internal/files/OutputFile.java", "new FileOutputStream("),
    ("java/src/dev/protolog/internal/files/OutputFile.java", "new RandomAccessFile("),
    ("java/src/dev/protolog/internal/files/OpenFiles.java", "FileChannel"),
    // By a thread that nobody interrupts.
    ("java/src/dev/protolog/internal/files/PatientOpening.java", ".getChannel("),
    // Those of sockets: see docs/design/control.md.
    ("java/src/dev/protolog/internal/files/PrivateDirectory.java", "Files.createDirector"),
    ("java/src/dev/protolog/internal/control/SocketPlace.java", "Files.createDirector"),
    ("java/src/dev/protolog/internal/control/SocketPlace.java", "Files.set"),
];

/// Names that open, make, rename or remove a file, or have it by an interruptible channel.
const FORBIDDEN: &str = "\
Files.createDirector
Files.createLink(
Files.createSymbolicLink(
Files.delete
Files.move(
Files.set
.renameTo(
.deleteOnExit(
FileChannel.open(
FileChannel
.getChannel(
StandardOpenOption.
Files.newOutputStream(
Files.newByteChannel(
Files.newBufferedWriter(
Files.write(
Files.writeString(
Files.createFile(
Files.createTempFile(
Files.copy(
new FileOutputStream(
new FileWriter(
new RandomAccessFile(";

/// Calls that take a locale first.
const FORMATS: [&str; 3] = ["String.format(", ".printf(", "new Formatter("];
/// Calls that have a form without locale only, or take one alone.
const LOCAL: [&str; 3] = [".formatted(", ".toUpperCase()", ".toLowerCase()"];
const LOCALE: &str = "Locale.";

/// A stream to a descriptor that the process has anyway.
const GIVEN: &str = "new FileOutputStream(FileDescriptor.";

/// One finding per line.
pub(super) fn check(file: &File) -> Vec<Finding> {
    if !is_runtime(file.path) {
        return Vec::new();
    }
    let lines = file.text.lines().enumerate().filter(|(_, line)| !is_comment(line));
    let found = lines.filter_map(|(index, line)| {
        let what = acts_on_file(file, line).or_else(|| has_no_locale(line))?;
        Some(Finding { line: index + 1, what })
    });
    found.collect()
}

fn acts_on_file(file: &File, line: &str) -> Option<String> {
    let is_used = |word: &&str| line.contains(*word) && !ALLOWED.contains(&(file.path, *word));
    let word = FORBIDDEN.lines().find(is_used).filter(|_| !line.contains(GIVEN))?;
    Some(format!(
        "`{word}` acts on a file; use Outputs or OpenDirectory, which have the rules for that"
    ))
}

fn has_no_locale(line: &str) -> Option<String> {
    let formats = |word: &&&str| line.split(**word).skip(1).any(|rest| !rest.starts_with(LOCALE));
    let word = FORMATS.iter().find(formats);
    let word = word.or_else(|| LOCAL.iter().find(|word| line.contains(**word)))?;
    Some(format!("`{word}` uses the locale of the JVM; name Locale.ROOT"))
}

/// True for sources of the runtime and its bridges, and not for tests.
fn is_runtime(path: &str) -> bool {
    let of_bridge = || path.starts_with("java/bridges/") && path.contains("/src/");
    extension(path) == "java" && (path.starts_with("java/src/") || of_bridge())
}

fn is_comment(line: &str) -> bool {
    ["*", "/*", "//"].iter().any(|mark| line.trim_start().starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::{ALLOWED, FORBIDDEN, check};
    use xtask::workspace;

    #[test]
    fn one_class_opens_files() {
        for word in FORBIDDEN.lines() {
            let text = format!("class A {{\n    Object a = {word}path);\n}}\n");
            let expected = [format!(
                ":2: `{word}` acts on a file; use Outputs or OpenDirectory, which have the rules for that"
            )];
            for path in ["java/src/dev/protolog/A.java", "java/bridges/jul/src/A.java"] {
                assert_eq!(found(check, path, &text), expected);
            }
            for path in ["java/test/A.java", "java/bridges/test/A.java", "a.md"] {
                assert_eq!(found(check, path, &text), [""; 0], "{path}");
            }
        }
    }

    #[test]
    fn exceptions_are_used() {
        for (path, word) in ALLOWED {
            let text = std::fs::read_to_string(workspace::root().join(path)).expect("a source");
            assert!(text.contains(word) && FORBIDDEN.lines().any(|it| it == word), "{path} {word}");
            let line = format!("class A {{ Object a = {word}; }}\n");
            assert_eq!(found(check, path, &line), [""; 0]);
        }
    }

    #[test]
    fn comments_and_given_descriptors_are_no_files() {
        let text = "/** As FileChannel. */\n// FileChannel\nout = new FileOutputStream(FileDescriptor.err);\n";
        assert_eq!(found(check, "java/src/A.java", text), [""; 0]);
    }

    #[test]
    fn a_call_names_its_locale() {
        let text = "name = String.format(\"%04d\", n);\nname = String.format(Locale.ROOT, \"%04d\", n);\n\
                    // String.format(\"%d\", n)\nword = word.toLowerCase();\n";
        let expected = [
            ":1: `String.format(` uses the locale of the JVM; name Locale.ROOT",
            ":4: `.toLowerCase()` uses the locale of the JVM; name Locale.ROOT",
        ];
        for path in ["java/src/dev/protolog/A.java", "java/bridges/jul/src/A.java"] {
            assert_eq!(found(check, path, text), expected);
        }
        for path in ["java/test/A.java", "a.md"] {
            assert_eq!(found(check, path, text), [""; 0], "{path}");
        }
    }
}
