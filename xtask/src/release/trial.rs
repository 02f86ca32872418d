//! The first five commands of a new user, as the README of `protolog-rt` has them, where there are
//! packages and no copy of the repository.
//!
//! Cargo's registry is replaced by a directory: the crates that `Cargo.lock` names, and the
//! packages as they would be published. The program lies outside of this workspace, its manifest
//! has versions and nothing else, and cargo has a home of its own. So a file that a package lacks
//! is missing here too. Nothing is optimized, and crates from outside are compiled once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use super::packages::{self, Package};
use crate::{Result, java, shell, workspace};

/// The page with the commands, the program, and the output of the last command.
const PAGE: &str = "protolog-rt/README.md";
/// The number of its commands.
const COMMANDS: usize = 5;

/// A user's place.
pub(super) struct Trial {
    /// The folder of programs, outside of the workspace; removed at the end.
    dir: PathBuf,
    /// The home of cargo, with the programs that it installs.
    home: PathBuf,
    /// The folder of build outputs.
    target: PathBuf,
}

/// Runs the commands and compares the output of the last one; returns the tool that they installed.
pub(super) fn run(packages: &[Package]) -> Result<PathBuf> {
    let trial = Trial::prepare(packages, "trial")?;
    let page = workspace::read(workspace::root().join(PAGE))?;
    let commands: Vec<&str> = block(&page, "sh")?.lines().collect();
    if commands.len() != COMMANDS {
        return Err(format!("{PAGE} has {} commands, not {COMMANDS}", commands.len()));
    }
    let program = trial.dir.join("main.rs");
    workspace::write(&program, block(&page, "rust")?)?;
    // The program is there before it is run.
    let paste = "test -d src && cp ../main.rs src/main.rs";
    let (before, after) = commands.split_at(COMMANDS - 2);
    let script = [&["set -e"], before, &[paste], after].concat().join("\n");
    println!("$ {}", commands.join("\n$ "));
    let printed = shell::read(&mut trial.command("sh", &["-c", &script]))?;
    let shown = block(&page, "text")?;
    if messages(&printed) != messages(shown) {
        return Err(format!("{PAGE} shows\n{shown}but the commands print\n{printed}"));
    }
    print!("{printed}");
    let tool = trial.tool();
    trial.end().map(|()| tool)
}

impl Trial {
    /// Makes a place with packages, and takes away the build outputs of earlier ones.
    pub(super) fn prepare(packages: &[Package], name: &str) -> Result<Self> {
        let below = workspace::target_dir()?.join("release").join(name);
        let source = below.join("source");
        fill(&source, packages)?;
        let dir = env::temp_dir().join(format!("protolog-{name}-{}", std::process::id()));
        workspace::empty_dir(&dir)?;
        let trial = Self { dir, home: below.join("home"), target: below.join("target") };
        workspace::empty_dir(&trial.home)?;
        let settings = format!(
            "[source.crates-io]\nreplace-with = \"packages\"\n\n[source.packages]\ndirectory = \"{}\"\n\n\
             [net]\noffline = true\n",
            source.display()
        );
        workspace::write(trial.home.join("config.toml"), settings)?;
        // To cargo, a package of one version never changes.
        for package in packages {
            let mut remove = Command::new("find");
            remove.arg(&trial.target).args(["-path", "*/.fingerprint/*", "-name"]);
            remove
                .arg(format!("{}-*", package.name))
                .args(["-prune", "-exec", "rm", "-r", "{}", "+"]);
            if trial.target.is_dir() {
                shell::run_quietly(&mut remove)?;
            }
        }
        Ok(trial)
    }

    /// A program of the user's.
    pub(super) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.dir);
        command.env("CARGO_HOME", &self.home).env("CARGO_TARGET_DIR", &self.target);
        command.env("PATH", java::path_with(&self.tool()));
        command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
        command.env_remove("PROTOLOG_RECORDING").env_remove("CARGO");
        command
    }

    /// The installed tool.
    pub(super) fn tool(&self) -> PathBuf {
        self.home.join("bin/protologtool")
    }

    /// Removes the folder of programs.
    pub(super) fn end(self) -> Result<()> {
        fs::remove_dir_all(&self.dir)
            .map_err(|error| format!("can't remove `{}`: {error}", self.dir.display()))
    }
}

/// Fills a directory from which cargo takes packages in place of a registry: those that are locked,
/// and ours, unpacked from their archives.
fn fill(source: &Path, packages: &[Package]) -> Result<()> {
    workspace::empty_dir(source)?;
    let mut vendor = shell::cargo(&["vendor", "--quiet", "--locked", "--versioned-dirs"]);
    shell::run_without_output(vendor.arg(source))?;
    for archive in packages::pack(packages)? {
        shell::run_quietly(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(source))?;
        let checksum = workspace::checksum("sha256sum", &archive)?;
        let name = archive.file_stem().unwrap_or_default();
        let file = source.join(name).join(".cargo-checksum.json");
        workspace::write(file, format!("{{\"files\":{{}},\"package\":\"{checksum}\"}}"))?;
    }
    Ok(())
}

/// The text of the first block of a language.
fn block<'a>(page: &'a str, language: &str) -> Result<&'a str> {
    let opening = format!("```{language}\n");
    let block = page.split(&opening).nth(1).and_then(|rest| rest.split("```").next());
    block.ok_or_else(|| format!("{PAGE} has no block of `{language}`"))
}

/// The lines of a log without their times and processes.
fn messages(log: &str) -> Vec<String> {
    let cut = |line: &str| line.split_whitespace().skip(4).collect::<Vec<_>>().join(" ");
    log.lines().map(cut).filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_by_its_blocks() {
        let page = "a\n```sh\nx\ny\n```\n```rust\nz\n```\n";
        assert_eq!(block(page, "sh"), Ok("x\ny\n"));
        assert_eq!(block(page, "text").unwrap_err(), format!("{PAGE} has no block of `text`"));
        let log = "11-20 18:52:07.114  4711  4711 D Net     : sent  1\n\n";
        assert_eq!(messages(log), ["D Net : sent 1"]);
    }
}
