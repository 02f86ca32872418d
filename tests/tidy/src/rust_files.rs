//! Rust sources open, make, rename and remove files by one crate, `protolog-files`, which has the
//! rules on permitted changes (docs/design/outputs.md).
//!
//! The standard library does all of this by path, follows links, waits at pipes, and reads devices
//! that never end: inputs are read whole by `protologtool/src/system/whole.rs`. So its functions
//! are for tests, and for the few places below that have a reason.

use super::parsed::is_word;
use super::{File, Finding, extension, is_data};

/// Names that open a file in any way but by `File::open`, or change a directory.
const FORBIDDEN: &str = "
fs::read( fs::read_to_string( File::create File::options OpenOptions OFlags DirBuilder
fs::write fs::copy fs::rename fs::remove_file fs::remove_dir fs::create_dir fs::hard_link
fs::set_permissions fs::symlink( fs::unlink fs::mkdir fs::mknod unlinkat renameat linkat
mkdirat UnixListener::bind UnixDatagram::bind chown lchown tempfile libc::open libc::creat
libc::truncate libc::rename libc::unlink libc::link libc::mkdir libc::rmdir libc::mkfifo
libc::mknod libc::chmod
";

/// Places that may have one of these names, each with its reason.
const ALLOWED: [(&str, &str, &str); 17] = [
    ("protolog-control/src/peer.rs", "fs::read(", "/proc"),
    ("protolog-control/src/peer.rs", "fs::read_to_string(", "/proc"),
    ("protolog-rt/src/clock.rs", "fs::read_to_string(", "/sys"),
    ("protolog-rt/src/sys/process.rs", "fs::read(", "/proc"),
    ("protolog-rt/src/sys/time.rs", "fs::read_to_string(", "/proc"),
    ("protologtool/src/first_process.rs", "fs::read_to_string(", "/proc"),
    ("protolog-control/src/pages.rs", "OFlags", "a file in memory that the kernel has shown"),
    (
        "protolog-rt/src/control/place.rs",
        "DirBuilder",
        "directories of sockets: docs/design/control.md",
    ),
    ("protolog-rt/src/sys/file.rs", "OpenOptions", "reads a configuration, which may be a link"),
    ("protolog-rt/src/sys/file.rs", "File::options", "the same"),
    (
        "protologtool/src/command/view/admission.rs",
        "tempfile",
        "keeps a new directory of this user",
    ),
    (
        "protologtool/src/command/view/opening/redirect.rs",
        "tempfile",
        "makes it, for its user only",
    ),
    ("protologtool/src/command/view/opening/redirect.rs", "OpenOptions", "a new file in it"),
    ("protologtool/src/system/neighbour.rs", "OFlags", "reads"),
    ("protozero-build/src/config.rs", "fs::write", "code, in a build's own directory"),
    ("protologtool/src/system/whole.rs", "OFlags", "reads"),
    ("protologtool/src/system/spool.rs", "tempfile", "a file without a name"),
];

/// The crate that the rule is about.
const OPENER: &str = "protolog-files/src/";

/// One finding per use, and one for each exception that nothing uses.
pub(super) fn check(file: &File) -> Vec<Finding> {
    if !is_product(file.path) {
        return Vec::new();
    }
    let (mut used, mut findings) = (Vec::new(), Vec::new());
    for (number, line) in file.code.without_tests() {
        for name in
            FORBIDDEN.split_whitespace().filter(|name| has(line, name) || imports(line, name))
        {
            if ALLOWED.iter().any(|(path, allowed, _)| (*path, *allowed) == (file.path, name)) {
                used.push(name);
                continue;
            }
            let what = format!(
                "`{name}` acts on a path; use protolog-files, which has the rules for that"
            );
            findings.push(Finding { line: number, what });
        }
    }
    let unused =
        ALLOWED.iter().filter(|(path, name, _)| *path == file.path && !used.contains(name));
    findings.extend(unused.map(|(_, name, _)| {
        let what = format!(
            "`{name}` is not used here; remove the exception from tests/tidy/src/rust_files.rs"
        );
        Finding { line: 0, what }
    }));
    findings
}

/// True for sources of programs that people run, and not for tests, tools of this repository,
/// benches and examples.
fn is_product(path: &str) -> bool {
    let of_crate = path.split_once("/src/").is_some_and(|(name, _)| {
        !["xtask", "tests", "fuzz"].contains(&name) && !name.contains('/') && name != "bench"
    });
    let is_test = || path.ends_with("/tests.rs") || path.contains("/tests/");
    extension(path) == "rs" && of_crate && !is_test() && !is_data(path) && !path.starts_with(OPENER)
}

/// Returns whether the line has the name, which is not the end of a longer word.
fn has(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| !line[..at].chars().next_back().is_some_and(is_word))
}

/// Returns whether the line imports a function of `fs` by its own name.
fn imports(line: &str, name: &str) -> bool {
    let Some(function) = name.strip_prefix("fs::") else { return false };
    let list = line.trim_start().strip_prefix("use ").and_then(|use_| use_.split_once("fs::{"));
    list.is_some_and(|(_, list)| {
        list.split(',').any(|word| word.trim_matches([' ', '}', ';']).starts_with(function))
    })
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::{ALLOWED, FORBIDDEN, check};
    use xtask::workspace;

    const PATH: &str = "protologtool/src/command/merge.rs";

    #[test]
    fn one_crate_acts_on_paths() {
        for name in FORBIDDEN.split_whitespace() {
            let called = name.trim_end_matches('(');
            let text = format!("//! x\nfn f() {{\n    let a = std::{called}(path);\n}}\n");
            let expected = format!(
                ":3: `{name}` acts on a path; use protolog-files, which has the rules for that"
            );
            for path in [PATH, "protolog-rt/src/sys/create.rs", "viewer-config/src/lib.rs"] {
                assert_eq!(found(check, path, &text), [expected.as_str()], "{path}");
            }
            for path in [
                "protolog-files/src/output.rs",
                "protologtool/tests/cli/main.rs",
                "protolog-rt/src/writer/tests.rs",
                "xtask/src/main.rs",
                "examples/indexer/src/expect.rs",
            ] {
                assert_eq!(found(check, path, &text), [""; 0], "{path}");
            }
        }
    }

    #[test]
    fn names_by_themselves_are_imported() {
        let text = "use std::fs::{self, File, rename};\nuse std::fs::{write};\nuse a::{rename};\n";
        let acts = |line, name| {
            format!(
                ":{line}: `fs::{name}` acts on a path; use protolog-files, which has the rules for that"
            )
        };
        assert_eq!(found(check, PATH, text), [acts(1, "rename"), acts(2, "write")]);
    }

    #[test]
    fn tests_comments_and_methods_of_open_files_are_fine() {
        let text = "//! fs::write\nfn f() { file.set_permissions(a); MyFile::create(b); g(\"fs::rename\") }\n\
                    #[cfg(test)]\nmod tests {\n    fn f() { fs::write(a, b) }\n}\n";
        assert_eq!(found(check, PATH, text), [""; 0]);
        let after = format!("{text}fn g() {{ fs::copy(a, b) }}\n");
        let expected =
            ":7: `fs::copy` acts on a path; use protolog-files, which has the rules for that";
        assert_eq!(found(check, PATH, &after), [expected]);
    }

    #[test]
    fn exceptions_are_used() {
        for (path, name, _) in ALLOWED {
            assert!(workspace::root().join(path).exists(), "{path}");
            assert!(FORBIDDEN.split_whitespace().any(|it| it == name), "{name}");
            let unused = found(check, path, "//! x\n");
            let expected = format!(
                ": `{name}` is not used here; remove the exception from tests/tidy/src/rust_files.rs"
            );
            assert!(unused.contains(&expected), "{unused:?}");
        }
    }
}
