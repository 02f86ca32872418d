//! Archives of classes, by which compilers that run on the JVM start in half of the time.
//!
//! A compiler of Java or Kotlin spends most of a short run on loading and verifying its own
//! classes. The JVM can keep them as it has them in memory, in a file that later runs map. The
//! file is made at the first run for a JDK, below `target/tools`, and serves all test programs.
//!
//! Invariants: whoever finds an archive finds a whole one; several who need it make it once.
//! Without one, or with one of another JDK, a compiler does the same, and says the same.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::UNIX_EPOCH;

use crate::{temp_dir, workspace_root};

/// The options of the JVM, each with `prefix` before it, by which the program `name` maps its
/// archive. `run` has it compile something small into a directory, with more options of the JVM;
/// its classes are those of the archive. None if there is no archive.
pub(crate) fn options(
    name: &str,
    java: &Path,
    prefix: &str,
    run: impl FnOnce(&Path, &[String]) -> Command,
) -> Option<[String; 2]> {
    let archive = find_or_make(name, java, |dir, archive| {
        run(dir, &with_archive(prefix, "ArchiveClassesAtExit", archive))
    });
    archive.map(|archive| with_archive(prefix, "SharedArchiveFile", &archive))
}

/// The JVM warns of an archive that it can't use on standard output, where nobody expects it.
fn with_archive(prefix: &str, option: &str, archive: &Path) -> [String; 2] {
    [format!("{prefix}-XX:{option}={}", archive.display()), format!("{prefix}-Xlog:disable")]
}

fn find_or_make(
    name: &str,
    java: &Path,
    run: impl FnOnce(&Path, &Path) -> Command,
) -> Option<PathBuf> {
    let folder = workspace_root().join("target/tools/class-archives");
    let archive = folder.join(format!("{name}-{}.jsa", stamp(java)?));
    if archive.exists() {
        return Some(archive);
    }
    fs::create_dir_all(&folder).ok()?;
    let lock = File::create(folder.join(format!("{name}.lock"))).ok()?;
    lock.lock().ok()?;
    if !archive.exists() {
        let (work, unfinished) = (temp_dir(), archive.with_extension("unfinished"));
        let _ = fs::remove_file(&unfinished);
        let mut command = run(work.path(), &unfinished);
        // The JVM refuses some compilers, and says why where nobody looks: they run without.
        let _ = command.stdin(Stdio::null()).output().ok()?;
        fs::rename(&unfinished, &archive).ok()?;
    }
    Some(archive)
}

/// Tells JDKs apart: the JVM takes no archive but its own.
fn stamp(java: &Path) -> Option<String> {
    let java = fs::canonicalize(java).ok()?;
    let release = java.ancestors().map(|dir| dir.join("release")).find(|file| file.is_file());
    let changed = fs::metadata(release.unwrap_or(java)).ok()?.modified().ok()?;
    Some(changed.duration_since(UNIX_EPOCH).ok()?.as_secs().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{javac, tool};

    #[test]
    fn a_compiler_with_its_archive_says_what_it_says_without() {
        let (Some(mut with), Some(java)) = (javac(), tool("javac")) else { return };
        let archive = stamp(&java).map(|stamp| format!("javac-{stamp}.jsa")).unwrap();
        let mapped = with.get_args().map(|it| it.to_string_lossy().into_owned());
        assert!(mapped.into_iter().any(|it| it.ends_with(&archive)), "{with:?}");
        let dir = temp_dir();
        let source = dir.path().join("A.java");
        fs::write(&source, "class A { int a = \"\"; }\n").unwrap();
        let said = |javac: &mut Command| javac.arg(&source).output().unwrap();
        let (one, other) = (said(&mut with), said(&mut Command::new(java)));
        assert_eq!(
            (one.status, one.stdout, &one.stderr),
            (other.status, other.stdout, &other.stderr)
        );
        assert!(String::from_utf8_lossy(&one.stderr).contains("incompatible types"));
    }

    #[test]
    fn an_archive_of_another_jdk_is_left_aside() {
        let Some(java) = tool("java") else { return };
        let dir = temp_dir();
        let archive = dir.path().join("other.jsa");
        fs::write(&archive, "of another").unwrap();
        let options = with_archive("", "SharedArchiveFile", &archive);
        let output = Command::new(java).args(options).arg("--version").output().unwrap();
        let (version, errors) = (String::from_utf8_lossy(&output.stdout), output.stderr);
        assert!(output.status.success() && errors.is_empty(), "{version}");
        assert_eq!(version.lines().count(), 3, "{version}");
    }
}
