//! The Kotlin compiler under `target/tools/kotlin`: jars that `java` runs, from the npm package that has the whole distribution.
//!
//! Debian's package would install some two hundred others, a graphical toolkit among them, for one test. The package comes from the registry
//! that npm is configured for, is of one version, and is used only if it has the checksum of that.

use std::fs;

use crate::registries::NpmPackage;
use crate::{Result, workspace};

const PACKAGE: NpmPackage = NpmPackage {
    name: "kotlin-compiler@2.4.20",
    archive: "kotlin-compiler-2.4.20.tgz",
    checksum: "205e4854cecba4f840fe7b47410a5a56dd72c6969a428bed11560bcaa58cb9a2\
               ebd177a52cf3e6effb0ce872e1b5c4638e3a12b0aec8ee53f693360990ccbbdf",
};
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
    fs::read_to_string(stamp).is_ok_and(|made| made == PACKAGE.checksum)
}

/// Fetches the compiler; the tests know its place.
pub(crate) fn fetch() -> Result<()> {
    let dir = workspace::tools_dir().join("kotlin");
    workspace::empty_dir(&dir)?;
    PACKAGE.unpack(&dir, &FILES, 1)?;
    fs::write(dir.join("complete"), PACKAGE.checksum)
        .map_err(|error| format!("can't write `{}`: {error}", dir.display()))
}
