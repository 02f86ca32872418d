//! The Kotlin compiler under `target/tools/kotlin`: jars that `java` runs, from the npm package that has the whole distribution.
//!
//! Debian's package would install some two hundred others, a graphical toolkit among them, for one test. The package comes from the registry
//! that npm is configured for, is of one version, and is used only if it has the checksum of that.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Result, shell, workspace};

const PACKAGE: &str = "kotlin-compiler@2.4.20";
/// The name that npm gives to what it downloads.
const ARCHIVE: &str = "kotlin-compiler-2.4.20.tgz";
/// SHA-512 of the archive.
const CHECKSUM: &str = "205e4854cecba4f840fe7b47410a5a56dd72c6969a428bed11560bcaa58cb9a2\
                        ebd177a52cf3e6effb0ce872e1b5c4638e3a12b0aec8ee53f693360990ccbbdf";
/// The parts of the distribution that are used: the compiler, what it and its programs need to run, and sources to put log calls into.
const FILES: [&str; 11] = [
    "package/build.txt",
    "package/lib/annotations-13.0.jar",
    "package/lib/kotlin-compiler.jar",
    "package/lib/kotlin-metadata-jvm-sources.jar",
    "package/lib/kotlin-reflect-sources.jar",
    "package/lib/kotlin-reflect.jar",
    "package/lib/kotlin-script-runtime.jar",
    "package/lib/kotlin-stdlib-sources.jar",
    "package/lib/kotlin-stdlib.jar",
    "package/lib/kotlin-test-sources.jar",
    "package/lib/kotlinx-coroutines-core-jvm.jar",
];

/// Returns true if the compiler of this version is unpacked.
pub(crate) fn is_there() -> bool {
    // Written last, so that an interrupted installation is repeated.
    let stamp = workspace::tools_dir().join("kotlin/complete");
    fs::read_to_string(stamp).is_ok_and(|made| made == CHECKSUM)
}

/// Makes sure of the compiler, fetching it where `install` allows it; the tests know its place. An error says why there is none.
pub(crate) fn prepare(install: bool) -> Result<()> {
    let dir = workspace::tools_dir().join("kotlin");
    if is_there() {
        println!("found: {PACKAGE} in target/tools/kotlin");
        return Ok(());
    }
    if !install {
        return Err(format!("{PACKAGE} is not in target/tools/kotlin"));
    }
    println!("needed: {PACKAGE}, to compile groups that are written in Kotlin (90 MB)");
    workspace::empty_dir(&dir)?;
    let mut fetch = Command::new("npm");
    fetch.args(["pack", "--silent", PACKAGE]).current_dir(&dir);
    shell::run_without_output(&mut fetch).map_err(|problem| {
        format!("can't fetch {PACKAGE} from npm's registry\n{problem}\nhelp: check `npm ping`, or run with `--no-install`")
    })?;
    check(&dir.join(ARCHIVE), CHECKSUM)?;
    let mut unpack = Command::new("tar");
    unpack.args(["-xzf", ARCHIVE, "--strip-components=1"]).args(FILES).current_dir(&dir);
    shell::run_without_output(&mut unpack)?;
    fs::remove_file(dir.join(ARCHIVE))
        .and_then(|()| fs::write(dir.join("complete"), CHECKSUM))
        .map_err(|error| format!("can't write `{}`: {error}", dir.display()))
}

/// An error unless `file` has this SHA-512 checksum.
pub(crate) fn check(file: &Path, checksum: &str) -> Result<()> {
    let printed = shell::read(Command::new("sha512sum").arg(file))?;
    let found = printed.split_whitespace().next().unwrap_or_default();
    // Of a name with a backslash in it, the line begins with one.
    if found.trim_start_matches('\\') == checksum {
        return Ok(());
    }
    Err(format!("`{}` is not what it was: its SHA-512 is {found}, not {checksum}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_archive_is_refused() {
        let file = std::env::temp_dir().join(format!("xtask-checksum-{}", std::process::id()));
        fs::write(&file, "abc").unwrap();
        // The example of the standard.
        let abc = "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                   2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f";
        assert_eq!(check(&file, abc), Ok(()));
        assert!(check(&file, CHECKSUM).unwrap_err().contains("is not what it was"));
        fs::remove_file(&file).unwrap();
    }
}
