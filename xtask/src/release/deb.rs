//! The tool as a package of Debian's: the program, its manual pages and completions.
//!
//! `dpkg-deb` packs a tree that is made here, and lintian looks at the result. The same tool gives
//! the same bytes: times are that of the last commit, and all files are root's.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::versions::VERSION;
use crate::{Result, shell, workspace};

/// The name of the package.
const NAME: &str = "protolog-tool";
const MAINTAINER: &str = "The protolog authors <authors@protolog.invalid>";
/// Those whose completions the tool prints, with the places where Debian's shells look.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/protologtool"),
    ("zsh", "share/zsh/vendor-completions/_protologtool"),
    ("fish", "share/fish/vendor_completions.d/protologtool.fish"),
];
const DESCRIPTION: &str = "\
structured logs that write no strings: reads and rewrites
 protologtool shows logs that programs left as Perfetto traces: as text, as
 JSON, or as a page in the browser. It recovers those of programs that died,
 merges and compares them, and switches the log groups of running programs.
 .
 It also rewrites log calls of Java, Kotlin and Rust, so that their texts stay
 out of the program and move to a dictionary.
";

/// Packs `tool`; returns the package.
pub(super) fn build(tool: &Path) -> Result<PathBuf> {
    let dir = workspace::target_dir()?.join("release/debian");
    let root = dir.join("root");
    workspace::empty_dir(&dir)?;
    let program = root.join("usr/bin/protologtool");
    workspace::write(&program, workspace::read_bytes(tool)?)?;
    shell::run_quietly(Command::new("strip").arg("--strip-unneeded").arg(&program))?;
    write_pages(tool, &root)?;
    for (shell, place) in COMPLETIONS {
        let text = shell::read(Command::new(tool).args(["completions", shell]))?;
        workspace::write(root.join("usr").join(place), text)?;
    }
    let date = shell::read(last_commit().arg("--format=%aD"))?;
    let docs = root.join("usr/share/doc").join(NAME);
    let changelog = format!(
        "{NAME} ({VERSION}) unstable; urgency=medium\n\n  * See CHANGELOG.md in the sources.\n\n -- {MAINTAINER}  {date}"
    );
    write_compressed(&docs.join("changelog"), changelog)?;
    workspace::write(docs.join("copyright"), copyright())?;
    write_control(&root, &program)?;
    shell::run_quietly(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(&root))?;
    shell::run_quietly(Command::new("chmod").arg("755").arg(&program))?;
    let package = dir.join(format!("{NAME}_{VERSION}_{}.deb", architecture()?));
    let mut pack = Command::new("dpkg-deb");
    pack.args(["--root-owner-group", "--build"]).arg(&root).arg(&package);
    let seconds = shell::read(last_commit().arg("--format=%at"))?;
    shell::run_without_output(pack.env("SOURCE_DATE_EPOCH", seconds.trim()))?;
    Ok(package)
}

/// Has lintian look at the package, and tries the files in it.
pub(super) fn check(package: &Path) -> Result<()> {
    let mut lintian = Command::new("lintian");
    lintian.args(["--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0"]);
    shell::run(lintian.arg(package))?;
    try_installed(package, &package.with_file_name("installed"))
}

/// Git, asked for the last commit.
fn last_commit() -> Command {
    let mut git = Command::new("git");
    git.args(["log", "-1"]).current_dir(workspace::root());
    git
}

/// Unpacks the package, and prints the version of its program and the number of its pages.
fn try_installed(package: &Path, root: &Path) -> Result<()> {
    shell::run_quietly(Command::new("dpkg-deb").arg("--extract").arg(package).arg(root))?;
    let said = shell::read(Command::new(root.join("usr/bin/protologtool")).arg("--version"))?;
    let pages = fs::read_dir(root.join("usr/share/man/man1")).map_err(|error| error.to_string())?;
    println!("{}, with {} manual pages", said.trim(), pages.count());
    Ok(())
}

/// Writes the pages of the tool and of all its commands: each page names those below it.
fn write_pages(tool: &Path, root: &Path) -> Result<()> {
    let dir = root.join("usr/share/man/man1");
    let mut open = vec![String::new()];
    let mut seen = BTreeSet::new();
    while let Some(command) = open.pop() {
        if !seen.insert(command.clone()) {
            continue;
        }
        let page = shell::read(Command::new(tool).arg("man").args(command.split_whitespace()))?;
        open.extend(commands_below(&page, &command));
        let name = format!("protologtool {command}").trim().replace(' ', "-");
        write_compressed(&dir.join(format!("{name}.1")), page)?;
    }
    Ok(())
}

/// The commands that a page refers to, below its own; not `help`, which is no page.
fn commands_below(page: &str, command: &str) -> Vec<String> {
    let start = format!("protologtool {command}").trim().replace(' ', "-") + "-";
    let plain = page.replace("\\-", "-");
    let names = plain.lines().filter_map(|line| line.strip_suffix("(1)")?.strip_prefix(&start));
    let names = names.filter(|name| *name != "help");
    names.map(|name| format!("{command} {name}").trim().to_owned()).collect()
}

/// Writes a text and compresses it, without a name and a time.
fn write_compressed(file: &Path, text: String) -> Result<()> {
    workspace::write(file, text)?;
    shell::run_quietly(Command::new("gzip").args(["-9", "-n"]).arg(file))
}

fn copyright() -> String {
    format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: protolog\nSource: {}\n\nFiles: *\nCopyright: 2026 The protolog authors\n\
         License: Apache-2.0\n\nLicense: Apache-2.0\n On Debian systems, the full text is in\n \
         /usr/share/common-licenses/Apache-2.0.\n",
        env!("CARGO_PKG_REPOSITORY")
    )
}

/// Writes the control file that dpkg reads, and the checksums of all files.
fn write_control(root: &Path, program: &Path) -> Result<()> {
    let size = fs::metadata(program).map_or(0, |metadata| metadata.len() / 1024);
    let control = format!(
        "Package: {NAME}\nVersion: {VERSION}\nArchitecture: {}\nMaintainer: {MAINTAINER}\n\
         Installed-Size: {size}\nDepends: libc6 (>= 2.34), libgcc-s1\nSection: devel\n\
         Priority: optional\nHomepage: {}\nDescription: {DESCRIPTION}",
        architecture()?,
        env!("CARGO_PKG_REPOSITORY"),
    );
    workspace::write(root.join("DEBIAN/control"), control)?;
    let list = "find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum";
    let sums = shell::read(Command::new("sh").args(["-c", list]).current_dir(root))?;
    workspace::write(root.join("DEBIAN/md5sums"), sums)
}

fn architecture() -> Result<String> {
    let printed = shell::read(Command::new("dpkg").arg("--print-architecture"))?;
    Ok(printed.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_the_commands_below_its_own() {
        let page = ".TP\nprotologtool\\-read\\-log(1)\nprotologtool\\-help(1)\nprotologtool(1)\n";
        assert_eq!(commands_below(page, ""), ["read-log"]);
        let page = "protologtool\\-configuration\\-trace(1)\n";
        assert_eq!(commands_below(page, "configuration"), ["configuration trace"]);
        assert_eq!(commands_below(page, "top"), [""; 0]);
    }
}
