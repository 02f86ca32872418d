//! The test of `integrations/maven`: Debian's Maven builds that project offline, as it is, by the
//! profile without the tool, and with a mistake.
//!
//! The runtime is installed by its jar alone, into a repository of its own whose other files are
//! links to Debian's. So nothing of the user's or of the system's is changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, jar, java, shell, tools, workspace};

const PROJECT: &str = "integrations/maven";
/// A project with no more than Maven needs, into which the fragment of `init` is pasted.
pub(crate) const EMPTY: &str = include_str!("maven/empty.xml");

struct Maven {
    dir: PathBuf,
    tool: PathBuf,
    project: PathBuf,
}

/// Builds the project in both ways, runs it, and compares the traces; then with a log call that is
/// wrong. Then an empty project with the fragment that `protologtool init` prints.
pub(crate) fn test() -> Result<()> {
    let dir = workspace::empty_target("java/maven")?;
    let tool = workspace::build_tool()?;
    let maven = Maven { tool, project: dir.join("app"), dir };
    let runtime = &jar::build_runtime("jar-for-maven")?;
    maven.prepare()?;
    maven.succeed("install:install-file", &[&format!("-Dfile={}", runtime.display())])?;
    for (args, is_processed) in [(&["-Punprocessed"][..], false), (&[], true)] {
        maven.package(args, is_processed, runtime)?;
    }
    maven.fail()?;
    let pasted = Maven { project: maven.dir.join("pasted"), ..maven };
    pasted.paste()?;
    pasted.package(&[], true, runtime)?;
    pasted.remove_sources()
}

/// Builds the project with the runtime from a repository, where nothing else has it.
pub(crate) fn resolve_from(repository: &Path) -> Result<()> {
    let dir = workspace::empty_target("java/from-repository")?;
    let tool = workspace::build_tool()?;
    let maven = Maven { tool, project: dir.join("app"), dir };
    maven.prepare()?;
    let pom = maven.project.join("pom.xml");
    let text = workspace::read(&pom)?;
    let place = format!(
        "  <repositories>\n    <repository>\n      <id>tried</id>\n      <url>file://{}</url>\n    \
         </repository>\n  </repositories>\n\n  <dependencies>\n",
        repository.display()
    );
    workspace::write(&pom, text.replacen("  <dependencies>\n", &place, 1))?;
    maven.succeed("package", &["-Daether.offline.protocols=file", "--strict-checksums"])?;
    let found = format!("repository/dev/protolog/protolog/{0}/protolog-{0}.jar", jar::VERSION);
    maven.check_trace(&maven.dir.join(found))
}

impl Maven {
    /// Copies the project, and links Debian's repository.
    fn prepare(&self) -> Result<()> {
        workspace::copy(workspace::root().join(PROJECT), &self.project)?;
        link_repository(&self.dir)
    }

    /// Makes a project out of the sources, an empty POM and what `init` prints, each part in the
    /// element that it names.
    fn paste(&self) -> Result<()> {
        workspace::empty_dir(&self.project)?;
        workspace::copy(workspace::root().join(PROJECT).join("src"), &self.project)?;
        let pom = self.project.join("pom.xml");
        workspace::write(&pom, EMPTY)?;
        let fragment = shell::read(Command::new(&self.tool).arg("init").arg(&self.project))?;
        workspace::write(&pom, put_in(EMPTY, &fragment)?)
    }

    /// A command with the tool on the path, as the fragment wants it.
    fn command(&self, goal: &str, args: &[&str]) -> Command {
        let mut command = command(&self.dir, &self.project);
        command.arg(goal).args(args).env("PATH", java::path_with(&self.tool));
        command
    }

    fn succeed(&self, goal: &str, args: &[&str]) -> Result<()> {
        shell::run_without_output(&mut self.command(goal, args))
    }

    /// Builds the project without a source, as a parent of modules is; outputs of those that were
    /// there go with them.
    fn remove_sources(&self) -> Result<()> {
        fs::remove_dir_all(self.project.join("src")).map_err(|error| error.to_string())?;
        self.succeed("package", &[])?;
        java::check_outputs_are_gone(&self.project.join("target/generated-sources"))
    }

    /// Builds the project, looks for texts in it and runs it.
    fn package(&self, args: &[&str], is_processed: bool, runtime: &Path) -> Result<()> {
        self.succeed("package", args)?;
        java::check_texts(&self.project.join("target/classes"), is_processed)?;
        self.check_trace(runtime)
    }

    /// Runs the program from its jar and reads its trace.
    fn check_trace(&self, runtime: &Path) -> Result<()> {
        java::check_trace(&self.project.join("target/app-1.0.jar"), runtime, &self.tool)
    }

    /// Builds the project with a log call that lacks an argument; the build must fail and name the
    /// place.
    fn fail(&self) -> Result<()> {
        let source = self.project.join("src/main/java/app/Main.java");
        let text = workspace::read(&source)?;
        workspace::write(&source, text.replace("full\", percent", "full\""))?;
        let output = self.command("package", &[]).output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        if !output.status.success() && said.contains("src/main/java/app/Main.java:17:") {
            Ok(())
        } else {
            Err(format!("a wrong log call: {}\n{said}", output.status))
        }
    }
}

/// Makes the repository below `dir`, whose files are links to Debian's.
pub(crate) fn link_repository(dir: &Path) -> Result<()> {
    let copy = ["-r", "-s", tools::MAVEN_REPOSITORY];
    shell::run_quietly(Command::new("cp").args(copy).arg(dir.join("repository")))
}

/// Maven in a project, with the repository below `dir`.
pub(crate) fn command(dir: &Path, project: &Path) -> Command {
    let mut command = Command::new("mvn");
    command.args(["--offline", "--quiet", "--batch-mode"]).current_dir(project);
    command.arg(format!("-Dmaven.repo.local={}", dir.join("repository").display()));
    command.env("MAVEN_OPTS", java::FIRST_COMPILER);
    command
}

/// Puts the parts of a fragment into a POM: each begins with a comment that names its element, such
/// as `<!-- <build><plugins> -->`.
pub(crate) fn put_in(pom: &str, fragment: &str) -> Result<String> {
    let mut pom = pom.to_owned();
    for part in fragment.split("<!-- ").skip(1) {
        let (heading, lines) = part.split_once("-->\n").ok_or("a heading without an end")?;
        let mut names = heading.split(['>', ':']).filter_map(|word| word.trim().strip_prefix('<'));
        let element = names.next_back().ok_or("a heading without an element")?;
        let opening = format!("<{element}>\n");
        let at = pom.find(&opening).ok_or_else(|| format!("no `{element}` in the POM"))?;
        pom.insert_str(at + opening.len(), lines);
    }
    Ok(pom)
}

#[cfg(test)]
mod tests {
    use super::put_in;

    #[test]
    fn parts_go_into_the_elements_that_they_name() {
        let pom = "<a>\n</a>\n<b>\n<c>\n</c>\n</b>\n";
        let fragment = "<!-- <a> -->\n1\n\n<!-- <b><c> -->\n2\n<!-- <b>: why -->\n3\n";
        assert_eq!(put_in(pom, fragment).unwrap(), "<a>\n1\n\n</a>\n<b>\n3\n<c>\n2\n</c>\n</b>\n");
        assert_eq!(put_in(pom, "<!-- <d> -->\n").unwrap_err(), "no `d` in the POM");
    }
}
