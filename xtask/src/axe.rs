//! axe-core under `target/tools/axe`: rules for what assistive technology needs of a page, which a test runs in the page of `view`.

use std::fs;

use crate::registries::NpmPackage;
use crate::{Result, workspace};

const PACKAGE: NpmPackage = NpmPackage {
    name: "axe-core@4.14.1",
    archive: "axe-core-4.14.1.tgz",
    checksum: "1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b73\
               4f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5",
};

/// Returns true if the script of that version is unpacked.
pub(crate) fn is_there() -> bool {
    // Written last, so that an interrupted installation is repeated.
    let stamp = workspace::tools_dir().join("axe/complete");
    fs::read_to_string(stamp).is_ok_and(|made| made == PACKAGE.checksum)
}

/// Fetches the script; the test knows its place.
pub(crate) fn fetch() -> Result<()> {
    let dir = workspace::tools_dir().join("axe");
    workspace::empty_dir(&dir)?;
    PACKAGE.unpack(&dir, &["package/axe.min.js", "package/LICENSE"], 1)?;
    fs::write(dir.join("complete"), PACKAGE.checksum)
        .map_err(|error| format!("can't write `{}`: {error}", dir.display()))
}
