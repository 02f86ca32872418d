//! Packages of PyPI and npm: each is taken only if it has the checksum that is written down in this
//! project.
//!
//! A registry, or a proxy between it and us, can hand out anything under a name and a version.
//! Debian's packages are checked by apt, against lists that Debian signs; toolchains by rustup,
//! against the checksums of a manifest that it gets by HTTPS; crates by cargo, against
//! `Cargo.lock`.
//!
//! Invariant: nothing that was fetched is run or unpacked before its checksum was compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, shell, workspace};

/// A package of npm's registry, of one version.
pub(crate) struct NpmPackage {
    /// Its name and version as npm takes them.
    pub(crate) name: &'static str,
    /// The file that npm makes of it.
    pub(crate) archive: &'static str,
    /// SHA-512 of that file.
    pub(crate) checksum: &'static str,
}

/// Files of one package, in a folder of their own under `target/tools`.
pub(crate) struct NpmFiles {
    folder: &'static str,
    package: NpmPackage,
    files: &'static [&'static str],
}

/// The Kotlin compiler: jars that `java` runs, from the npm package that has the whole
/// distribution. Debian's package would install some two hundred others, a graphical toolkit among
/// them, for one test. Taken are the compiler, the jars that it and its programs need to run, and
/// sources to put log calls into.
pub(crate) const KOTLIN: NpmFiles = NpmFiles {
    folder: "kotlin",
    package: NpmPackage {
        name: "kotlin-compiler@2.4.20",
        archive: "kotlin-compiler-2.4.20.tgz",
        checksum: "205e4854cecba4f840fe7b47410a5a56dd72c6969a428bed11560bcaa58cb9a2\
               ebd177a52cf3e6effb0ce872e1b5c4638e3a12b0aec8ee53f693360990ccbbdf",
    },
    files: &[
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
    ],
};

/// axe-core: rules for the needs of assistive technology, which a test runs in the page of `view`.
pub(crate) const AXE: NpmFiles = NpmFiles {
    folder: "axe",
    package: NpmPackage {
        name: "axe-core@4.14.1",
        archive: "axe-core-4.14.1.tgz",
        checksum: "1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b73\
               4f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5",
    },
    files: &["package/axe.min.js", "package/LICENSE"],
};

impl NpmFiles {
    fn dir(&self) -> PathBuf {
        workspace::tools_dir().join(self.folder)
    }

    /// Returns true if the files of this version are unpacked.
    pub(crate) fn is_there(&self) -> bool {
        workspace::is_complete(&self.dir(), self.package.checksum)
    }

    /// Fetches them; the tests know their place.
    pub(crate) fn fetch(&self) -> Result<()> {
        let dir = self.dir();
        workspace::empty_dir(&dir)?;
        self.package.unpack(&dir, self.files, 1)?;
        workspace::complete(&dir, self.package.checksum)
    }
}

impl NpmPackage {
    /// Fetches it and unpacks `files` into `dir`, without the first `strip` parts of their paths.
    pub(crate) fn unpack(&self, dir: &Path, files: &[&str], strip: usize) -> Result<()> {
        let Self { name, archive, checksum } = self;
        let mut fetch = Command::new("npm");
        fetch.args(["pack", "--silent", name]).current_dir(dir);
        shell::run_without_output(&mut fetch).map_err(|problem| {
            format!("can't fetch {name} from npm's registry\n{problem}\nhelp: check `npm ping`, or run with `--no-install`")
        })?;
        check(&dir.join(archive), checksum)?;
        let mut unpack = Command::new("tar");
        unpack.args(["-xzf", archive]).arg(format!("--strip-components={strip}")).args(files);
        shell::run_without_output(unpack.current_dir(dir))?;
        let path = dir.join(archive);
        fs::remove_file(&path)
            .map_err(|error| format!("can't remove `{}`: {error}", path.display()))
    }
}

/// A command by which an environment's `python` installs the packages of `list`. Each line of the
/// list has its version and its checksums, and the list is complete: pip looks for nothing else.
pub(crate) fn pip_install(python: &Path, list: &Path) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    // A package without a wheel for this machine would be built by code that has no checksum.
    pip.args(["--require-hashes", "--only-binary=:all:", "--requirement"]).arg(list);
    pip
}

/// An error unless `file` has this SHA-512 checksum.
fn check(file: &Path, checksum: &str) -> Result<()> {
    let found = workspace::checksum("sha512sum", file)?;
    if found == checksum {
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
        assert!(check(&file, &"0".repeat(128)).unwrap_err().contains("is not what it was"));
        fs::remove_file(&file).unwrap();
    }

    /// A wheel of one empty module, in a folder that pip takes for a registry. It is of one date,
    /// and so the same each time.
    const MAKE_WHEEL: &str = "\
import hashlib, sys, zipfile
path = sys.argv[1] + '/sample-1.0-py3-none-any.whl'
files = {
    'sample.py': '',
    'sample-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\\nName: sample\\nVersion: 1.0\\n',
    'sample-1.0.dist-info/WHEEL': 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n',
    'sample-1.0.dist-info/RECORD': '',
}
with zipfile.ZipFile(path, 'w') as wheel:
    for name, text in files.items():
        wheel.writestr(zipfile.ZipInfo(name, (2008, 1, 1, 0, 0, 0)), text)
print(hashlib.sha256(open(path, 'rb').read()).hexdigest())
";

    #[test]
    fn pip_takes_no_wheel_but_those_of_the_checksums() {
        let python = workspace::tools_dir().join("venv/bin/python");
        if !python.exists() {
            assert!(!crate::install::in_ci(), "no Python environment");
            return;
        }
        let dir = std::env::temp_dir().join(format!("xtask-wheel-{}", std::process::id()));
        workspace::empty_dir(&dir).unwrap();
        let checksum =
            shell::read(Command::new(&python).args(["-c", MAKE_WHEEL]).arg(&dir)).unwrap();
        let install = |line: &str| {
            let list = dir.join("list.txt");
            fs::write(&list, line).unwrap();
            let mut pip = pip_install(&python, &list);
            pip.args(["--no-index", "--find-links"]).arg(&dir).arg("--target").arg(dir.join("it"));
            shell::read(&mut pip)
        };
        let with = |checksum: &str| format!("sample==1.0 --hash=sha256:{checksum}\n");
        // Each digit is another one, for any checksum.
        let other: String =
            checksum.trim().chars().map(|digit| if digit == '0' { '1' } else { '0' }).collect();
        let refused = install("sample==1.0\n").unwrap_err();
        assert!(refused.contains("Hashes are required"), "{refused}");
        let refused = install(&with(&other)).unwrap_err();
        assert!(refused.contains("DO NOT MATCH"), "{refused}");
        assert!(!dir.join("it/sample.py").exists());
        install(&with(checksum.trim())).unwrap();
        assert!(dir.join("it/sample.py").exists());
        fs::remove_dir_all(&dir).unwrap();
    }
}
